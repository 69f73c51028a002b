#!/usr/bin/perl
# What a script of PHP gets: where Apache and nginx give it the same, so does
# amped, by the same PHP-FPM and by processes of its own.
# arch: one: what a program gets has nothing to do with who waits for it
# Debian: apache2-bin nginx-light php-fpm php-cgi
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await free_port slurp write_file);
use Amped::Client;
use Amped::Foreign qw(which_program);
use Amped::Programs;
use Test::More;

$ENV{PATH} .= ':/usr/sbin';
my %need = (apache2 => [which_program('apache2')],
    nginx => [which_program('nginx')],
    'php-fpm' => [which_program('php-fpm', map { "php-fpm$_" } qw(8.2 8.4))],
    'php-cgi' => [which_program('php-cgi')]);
for my $name (sort(keys(%need))) {
	plan(skip_all => "there is no $name") unless defined($need{$name}[0]);
}
my $modules = '/usr/lib/apache2/modules';
my $snippet = '/etc/nginx/snippets/fastcgi-php.conf';
plan(skip_all => "there is no $modules/mod_proxy_fcgi.so")
    unless -e "$modules/mod_proxy_fcgi.so";
plan(skip_all => "there is no $snippet") unless -e $snippet;

my $script = <<'END';
<?php
header('Content-Type: application/octet-stream');
foreach ($_SERVER as $name => $value)
	echo $name, '=', is_array($value) ? implode('|', $value) : $value,
	    "\0";
END
my $programs = Amped::Programs->new('www/index.php' => $script,
    'www/a.php' => $script, 'www/with space.php' => $script,
    'www/caf%C3%A9.php' =~ s/%(..)/chr(hex($1))/ger => $script,
    'www/plus+.php' => $script, 'www/sub/index.php' => $script,
    'www/sub/deep.er/b.php' => $script, 'www/text' => "text\n",
    'www/empty/' => '', 'run/' => '', 'log/' => '', 'tmp/' => '');
my $dir = $programs->dir;
my $www = $programs->www;
my $user = Amped::ordinary_user();
my $group = getgrgid((getpwnam($user))[3]);
my @pids;

# Requests: method, target, and more of Amped::Programs::request().
my @form = (fields => ['Content-Type: application/x-www-form-urlencoded'],
    body => 'x=1&y=2');
my @requests = (
	['GET', '/'],
	['GET', '/?'],
	['GET', '/?a=b'],
	['GET', '/index.php'],
	['GET', '/a.php'],
	['GET', '/a.php?'],
	['GET', '/a.php?a=b&c=d'],
	['GET', '/a.php?a'],
	['GET', '/a.php?a+b'],
	['GET', '/a.php?a=%20%2F%3f&b=%zz'],
	['GET', '/a.php?a=/../..//'],
	['GET', '/a.php?x?y'],
	['GET', '/a.php/'],
	['GET', '/a.php/info'],
	['GET', '/a.php/info/more?a=b'],
	['GET', '/a.php/info.php'],
	['GET', '/a.php/index.php/x'],
	['GET', '/a.php/with%20space%2c'],
	['GET', '/a.php/caf%C3%A9'],
	['GET', '/a.php/100%25'],
	['GET', '/a.php/%41%42'],
	['GET', '/a.php/a+b;c=d,e'],
	['GET', '/a.php/x%3fy'],
	['GET', '/with%20space.php'],
	['GET', '/with%20space.php/a%20b?c=%20'],
	['GET', '/caf%C3%A9.php'],
	['GET', '/plus+.php'],
	['GET', '/plus%2B.php/%2B'],
	['GET', '/%61.php'],
	['GET', '/sub/'],
	['GET', '/sub/?a=b'],
	['GET', '/sub/index.php/x'],
	['GET', '/sub/deep.er/b.php'],
	['GET', '/sub/../a.php'],
	['GET', '/sub/./../a.php/x'],
	['GET', '//a.php'],
	['GET', '/sub//index.php'],
	['GET', '/a.php', host => 'www.example.org'],
	['GET', '/a.php', host => 'WWW.Example.ORG'],
	['GET', '/a.php', host => 'www.example.org:8080'],
	['GET', '/a.php', host => 'other.example.org'],
	['GET', 'http://www.example.org/a.php/x?y=z', host => 'localhost'],
	['GET', '/a.php', version => '1.0'],
	['GET', '/a.php', version => '1.0', host => undef],
	['GET', '/a.php/x', version => '1.0', fields => ['X-Old: yes']],
	['HEAD', '/a.php'],
	['POST', '/a.php', @form],
	['POST', '/a.php/info?a=b', @form],
	['POST', '/', @form],
	['POST', '/a.php', body => ''],
	['POST', '/a.php', @form, chunks => ['x=1', '&y=2']],
	['PUT', '/a.php/name', fields => ['Content-Type: text/plain'],
	    body => 'text'],
	['DELETE', '/a.php/name'],
	['OPTIONS', '/a.php'],
	['PROPFIND', '/a.php/dav', fields => ['Depth: 1']],
	['GET', '/a.php', fields => ['Accept: text/html, */*;q=0.1',
	    'Accept-Language: de', 'User-Agent: test (a; b)',
	    'Referer: http://localhost/?x=y', 'X-Own: value']],
	['GET', '/a.php', fields => ['Cookie: a=b; c="d e"']],
	['GET', '/a.php', fields => ['Cookie: a=b', 'Cookie: c=d']],
	['GET', '/a.php', fields => ['X-Twice: one', 'X-Twice: two']],
	['GET', '/a.php', fields => ['X-Empty:', 'X-Spaces:   a  b  ']],
	['GET', '/a.php', fields => ['Proxy: http://evil/']],
	['GET', '/a.php', fields => ['X_Under: a', 'X.Dot: b']],
	['GET', '/a.php', fields => ['Connection: close, X-Hop',
	    'X-Hop: here']],
	['GET', '/a.php', fields => ['Authorization: Basic am9lOng=']],
	['GET', '/a.php', fields => ['If-None-Match: "x"',
	    'If-Modified-Since: Thu, 01 Jan 2015 00:00:00 GMT']],
	['GET', '/a.php', fields => ['X-Forwarded-For: 192.0.2.1',
	    'X-Forwarded-Proto: https', 'X-Forwarded-Host: evil']],
	['GET', '/none.php'],
	['GET', '/none.php/x'],
	['GET', '/sub'],
	['GET', '/a.php/a%2Fb'],
	['GET', '/a.php/%00'],
);

sub start_fpm {
	write_file("$dir/fpm.conf", "[global]\nerror_log = $dir/log/fpm\n" .
	    "daemonize = no\n[www]\nlisten = $dir/run/fpm\n" .
	    "listen.mode = 0666\npm = static\npm.max_children = 4\n" .
	    ($> == 0 ? "user = $user\ngroup = $group\n" : ''));
	write_file("$dir/log/fpm", '');
	push(@pids, Amped::spawn([path_of($need{'php-fpm'}[0]), '-n', '-F',
	    '-y', "$dir/fpm.conf"], '/dev/null', "$dir/log/fpm"));
	await('PHP-FPM', sub { slurp("$dir/log/fpm") =~ /ready to handle/ });
}

sub path_of {
	my ($name) = @_;

	return (grep { -x } map { "$_/$name" } split(/:/, $ENV{PATH}))[0];
}

# Runs a server with a conf until the test ends; its port.
sub start_server {
	my ($name, $conf, @command) = @_;
	my $port = free_port();
	my %value = (PORT => $port, DIR => $dir, WWW => $www, USER => $user,
	    GROUP => $group, MODULES => $modules, ROOT => $> == 0 ? '' : '#');

	write_file("$dir/$name.conf", $conf =~
	    s/%(PORT|DIR|WWW|USER|GROUP|MODULES|ROOT)/$value{$1}/gr);
	write_file("$dir/log/$name", '');
	push(@pids, Amped::spawn([@command, "$dir/$name.conf"], '/dev/null',
	    "$dir/log/$name"));
	await("$name to listen: see $dir/log/$name", sub {
		die slurp("$dir/log/$name") if waitpid($pids[-1], 1) > 0;
		return IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		    PeerPort => $port);
	});
	return $port;
}

END {
	local $?;

	kill('TERM', @pids);
	waitpid($_, 0) for @pids;
}

# As Debian has them: /etc/apache2/conf-available/php8.2-fpm.conf, and of nginx
# its snippet, with the location that its comments show.
my $apache = <<'END';
%ROOTUser %USER
%ROOTGroup %GROUP
ServerName www.example.org
ServerRoot %DIR
PidFile %DIR/run/apache.pid
DefaultRuntimeDir %DIR/run
Mutex file:%DIR/run
Listen 127.0.0.1:%PORT
LoadModule mpm_event_module %MODULES/mod_mpm_event.so
LoadModule authz_core_module %MODULES/mod_authz_core.so
LoadModule dir_module %MODULES/mod_dir.so
LoadModule setenvif_module %MODULES/mod_setenvif.so
LoadModule proxy_module %MODULES/mod_proxy.so
LoadModule proxy_fcgi_module %MODULES/mod_proxy_fcgi.so
StartServers 1
ErrorLog %DIR/log/apache
DocumentRoot %WWW
DirectoryIndex index.php
SetEnvIfNoCase ^Authorization$ "(.+)" HTTP_AUTHORIZATION=$1
<Directory %WWW>
	Require all granted
</Directory>
<FilesMatch ".+\.php$">
	SetHandler "proxy:unix:%DIR/run/fpm|fcgi://localhost"
</FilesMatch>
END
my $nginx = <<'END';
%ROOTuser %USER;
daemon off;
worker_processes 1;
pid %DIR/run/nginx.pid;
error_log %DIR/log/nginx;
events { }
http {
	access_log off;
	client_body_temp_path %DIR/tmp/a;
	proxy_temp_path %DIR/tmp/b;
	fastcgi_temp_path %DIR/tmp/c;
	uwsgi_temp_path %DIR/tmp/d;
	scgi_temp_path %DIR/tmp/e;
	server {
		listen 127.0.0.1:%PORT;
		server_name www.example.org;
		root %WWW;
		index index.php;
		location ~ \.php(/|$) {
			include /etc/nginx/snippets/fastcgi-php.conf;
			fastcgi_pass unix:%DIR/run/fpm;
		}
	}
}
END

start_fpm();
symlink('/etc/nginx/fastcgi.conf', "$dir/fastcgi.conf") or die "link: $!\n";
my %port = (
	apache => start_server('apache', $apache, path_of('apache2'),
	    '-DFOREGROUND', '-f'),
	nginx => start_server('nginx', $nginx, path_of('nginx'), '-e',
	    "$dir/log/nginx", '-c'),
);
my $blocks = "program fpm { fastcgi unix:$dir/run/fpm; most 4 }\n" .
    'program pool { fastcgi ' . path_of('php-cgi') . " -n; most 2 }\n";
my %amped = map { $_ => Amped->start(errors => 1, global => $blocks,
    sites => "site www.example.org {\n\tlisten 127.0.0.1:0\n\troot $www\n" .
    "\tindex index.php\n run $_ for *.php\n}\n") } qw(fpm pool);
$port{$_} = $amped{$_}->port for keys(%amped);

# What a script gets for a request from a server, with names in place of what no
# two of them can have in common.
sub ask {
	my ($name, $method, $target, %opt) = @_;
	my $client = Amped::Client->new(port => $port{$name}, relayed => 1);
	my $own = $client->socket->sockport;

	$client->send(Amped::Programs::request($target, method => $method,
	    host => 'www.example.org', %opt));
	my $answer = $client->response($method);
	my %got = map { /\A([^=]+)=(.*)\z/s ? ($1 => $2) : () }
	    split(/\0/, $answer->{status} == 200 ? $answer->{body} : '');
	delete(@got{grep { /^REQUEST_TIME/ } keys(%got)});
	for my $value (values(%got)) {
		$value = 'PORT' if $value eq $port{$name};
		$value = 'CLIENT' if $value eq $own;
	}
	$got{'-status'} = $answer->{status};
	return \%got;
}

# Where amped differs from what Apache and nginx have in common, and why: a
# pattern of program, request and variable.
my @reasons = (
	['^pool .* (USER|HOME|FCGI_ROLE)$', 'variables of PHP-FPM itself'],
	[' HTTP_CONNECTION$', 'RFC 3875, 4.1.18: a server may leave out ' .
	    'what is about the connection of its client'],
	[' (HTTP_AUTHORIZATION|PHP_AUTH_(USER|PW))$', 'RFC 3875, 4.1.18 and ' .
	    '9.2: not to programs, unless authorization pass'],
);
my %used;

sub reason {
	my ($what) = @_;

	for my $reason (@reasons) {
		next unless $what =~ /$reason->[0]/;
		$used{$reason->[0]} = 1;
		return $reason->[1];
	}
	return;
}

sub say_value { return defined($_[0]) ? "\"$_[0]\"" : 'nothing' }

# Tests the variables of one request that the two agree about.
sub compare {
	my ($name, $request, $apache, $nginx, $got) = @_;
	my $ran = !grep { $_->{'-status'} != 200 } $apache, $nginx;
	my %all = $ran ? (%$apache, %$nginx, %$got) : ('-status' => 1);
	my ($agreed, @wrong) = (0);

	for my $variable (sort(keys(%all))) {
		my ($one, $other, $own) = map { $_->{$variable} } $apache,
		    $nginx, $got;
		my $same = say_value($one) eq say_value($other);

		next unless $same;
		$agreed++ if defined($one);
		push(@wrong, "$variable: " . say_value($own) . ' and not ' .
		    say_value($one)) unless say_value($own) eq say_value($one)
		    || reason("$name $request $variable");
	}
	is("@wrong", '', "$name: $request: $agreed values are the same");
	return $agreed;
}

my $sum = 0;
for my $request (@requests) {
	my ($method, $target, %opt) = @$request;
	my $what = join(' ', $method, $target, $opt{version} // (),
	    exists($opt{host}) ? $opt{host} // 'no host' : (),
	    @{$opt{fields} // []}, $opt{chunks} ? 'chunks' : ());
	my ($apache, $nginx) = map { ask($_, @$request) }
	    qw(apache nginx);

	$sum += compare($_, $what, $apache, $nginx, ask($_, @$request))
	    for qw(fpm pool);
}
cmp_ok($sum, '>=', 2 * 18 * @requests, 'they agree about enough');
is_deeply([grep { !$used{$_} } map { $_->[0] } @reasons], [],
    'each reason is needed');

$_->stop for values(%amped);
done_testing();
