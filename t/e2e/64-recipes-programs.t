#!/usr/bin/perl
# The recipes of amped-programs(7): each conf is one, and does what the page
# says.  In place of PHP there is an application that names the file.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot free_port run_amped slurp write_file);
use Amped::Applications;
use Amped::Programs;
use MIME::Base64 qw(encode_base64);
use Test::More;

my $page = slurp(Amped::source_dir() . '/man/amped-programs.7');
my $password = crypt('secret', '$6$abcdefgh$');
my $backend = (qx(git --exec-path 2> /dev/null) =~ s/\n\z//r) .
    '/git-http-backend';

my $basic = 'Basic ' . encode_base64('joe:secret', '');

my %conf;
while ($page =~ /^\.\\" conf (\w+)\n\.Bd -literal[^\n]*\n(.*?)^\.Ed$/msg) {
	$conf{$1} = $2 =~ s/\\e/\\/gr =~ s/\\&//gr;
}
my ($script) = $page =~ /^\.Bd -literal[^\n]*\n(#!.*?)^\.Ed$/ms;
my ($login) = $page =~ /^\.\\" script login\n\.Bd [^\n]*\n(.*?)^\.Ed$/ms;

# What a recipe serves, below a directory of the test, and requests: target,
# status, and what the body must match; with a password or the value of
# Authorization before these.
my %site = ('srv/www/example.org/index.php' => "<?php secret\n",
    'srv/www/example.org/a.php' => "<?php secret\n",
    'srv/www/example.org/page.html' => "page\n",
    'srv/www/example.org/b.inc' => "secret\n",
    'srv/www/example.org/uploads/c.php' => "<?php open\n");
my %wiki = ('usr/share/dokuwiki/doku.php' => "<?php secret\n",
    'usr/share/dokuwiki/feed.php' => "<?php secret\n",
    'usr/share/dokuwiki/inc/a.php' => "<?php secret\n",
    'var/plugins/a.css' => "css\n");
my %mediawiki = ('usr/share/mediawiki/index.php' => "<?php secret\n",
    'usr/share/mediawiki/load.php' => "<?php secret\n",
    'usr/share/mediawiki/includes/a.php' => "<?php secret\n",
    'srv/www/wiki/' => '', 'var/lib/mediawiki/images/a.png' => "png\n",
    'var/lib/mediawiki/images/a.php' => "<?php open\n");
my %recipes = (
	dokuwiki => { files => \%wiki, ask => [['/', 200, '/doku\.php$'],
		['/doku.php/notes/first', 200, '/doku\.php$'],
		['/feed.php', 200, '/feed\.php$'], ['/inc/a.php', 404],
		['/plugins/a.css', 200, '^css'] ] },
	mediawiki => { files => \%mediawiki, ask => [
		['/', 200, '/index\.php$'],
		['/wiki/Main_Page', 200, '/index\.php$'],
		['/w/', 200, '/index\.php$'],
		['/w/load.php/x', 200, '/load\.php$'],
		['/w/includes/a.php', 404], ['/w/images/a.png', 200, '^png'],
		['/w/images/a.php', 200, '^<\?php open'] ] },
	cgit => { files => { 'srv/www/git/page' => "page\n",
	    'usr/lib/cgit/cgit.cgi' => "#!/bin/sh\n" .
	    'echo "Content-Type: text/plain"; echo; ' .
	    'echo "cgit $SCRIPT_NAME $PATH_INFO"' . "\n",
	    'usr/share/cgit/cgit.css' => "css\n" }, ask => [
		['/cgit', 200, '^cgit /cgit $'],
		['/cgit/a.git/tree/.x', 200, '^cgit /cgit /a.git/tree/\.x$'],
		['/cgit-css/cgit.css', 200, '^css'],
		['/page', 200, '^page'] ] },
	fpm => { files => \%site, ask => [['/', 200, '/index\.php$'],
		['/a.php/x', 200, '/a\.php$'], ['/page.html', 200, '^page'],
		['/some/post', 200, '/index\.php$'], ['/b.inc', 403],
		['/uploads/c.php', 200, '^<\?php open'] ] },
	pool => { files => \%site, ask => [['/', 200, '/index\.php$'],
		['/a.php', 200, '/a\.php$'], ['/page.html', 200, '^page'],
		['/none.php', 404] ] },
	downloads => { files => { %site,
	    'srv/www/example.org/x.php' => '',
	    'srv/www/example.org/y.php' => '',
	    'srv/files/report.pdf' => "report\n",
	    'srv/protected/report.pdf' => "protected\n" }, ask => [
		['/x.php', 200, '^report$'], ['/y.php', 200, '^protected$'],
		['/protected/report.pdf', 404], ['/a.php', 404],
		['/page.html', 200, '^page'] ] },
	cgi => { files => { 'srv/www/example.org/page.html' => "page\n",
	    'usr/lib/cgi-bin/hello' => $script =~ s/\\e/\\/gr }, ask => [
		['/page.html', 200, '^page'],
		['/cgi-bin/hello', 200, '^Hello 127\.0\.0\.1$'] ] },
	authorizer => { files => { 'srv/www/example.org/page' => "page\n",
	    'srv/www/example.org/members/page' => "of members\n",
	    'srv/www/example.org/members/how-to-join/page' => "join\n",
	    'usr/lib/cgi-bin/who' => "#!/bin/sh\n" .
	    'echo "Content-Type: text/plain"; echo; echo "by $REMOTE_USER"',
	    'usr/local/lib/login' => $login =~ s/\\e/\\/gr }, ask => [
		['/page', 200, '^page'],
		['/members/page', 401, '^Who are you'],
		['Bearer 8157', '/members/page', 200, '^of members'],
		['Bearer 8158', '/members/page', 401],
		['Bearer 4711', '/members/cgi-bin/who', 200, '^by bob$'],
		['/members/cgi-bin/who', 401],
		['/members/how-to-join/page', 200, '^join'] ] },
	gitweb => { files => { 'srv/www/git/page' => "page\n",
	    'usr/share/gitweb/gitweb.cgi' => "#!/bin/sh\n" .
	    'echo "Content-Type: text/plain"; echo; ' .
	    'echo "gitweb $SCRIPT_NAME $PATH_INFO $QUERY_STRING"' . "\n",
	    'usr/share/gitweb/static/gitweb.css' => "css\n" }, ask => [
		['/gitweb/?p=a.git', 200,
		    '^gitweb /gitweb/gitweb\.cgi  p=a\.git$'],
		['/gitweb/gitweb.cgi/a.git', 200, ' /a\.git $'],
		['/gitweb/static/gitweb.css', 200, '^css'],
		['/page', 200, '^page'] ] },
	git => { files => { 'srv/git/a' => '', 'srv/www/git/page' => "page\n" },
	    ask => [['/git/a.git/info/refs?service=git-upload-pack', 401],
		[$basic, '/git/a.git/info/refs?service=git-upload-pack', 200,
		    'git-upload-pack'],
		[$basic, '/git/a.git/info/refs?service=git-receive-pack', 200,
		    'git-receive-pack'],
		['/page', 200, '^page'] ] },
);
is_deeply([sort(keys(%conf))], [sort(keys(%recipes))],
    'each conf of the page is tried');

for my $name (sort(keys(%recipes))) {
	SKIP: {
		skip('there is no git-http-backend', 1)
		    if $name eq 'git' && !-x $backend;
		skip('there is no FCGI of Perl', 1)
		    if $name eq 'authorizer' && !eval { require FCGI };
		try_recipe($name, $recipes{$name});
	}
}

# Lines of an application that names a file: one for each way, or another that
# it may not name.
sub name_file {
	my ($dir) = @_;

	return 'my ($file) = $request{params}{SCRIPT_NAME} =~ m{(\w)\.php}; ' .
	    'put("Content-Type: application/pdf\n" . ($file eq "y" ? ' .
	    '"X-Accel-Redirect: /protected/report.pdf" : "X-Sendfile: ' .
	    $dir . '/srv/" . ($file eq "x" ? "files/report.pdf" : ' .
	    '"protected/report.pdf")) . "\n\n");';
}

# Makes what a recipe has beside its files; what must be kept meanwhile.
sub prepare {
	my ($name, $programs) = @_;
	my $dir = $programs->dir;
	my $file = Amped::Applications::make($programs, 'php-cgi', 'fastcgi',
	    $name eq 'downloads' ? name_file($dir) :
	    'head(); put($request{params}{SCRIPT_FILENAME});');

	if ($name eq 'git') {
		system('git', 'init', '-q', '--bare', "$dir/srv/git/a.git");
		system('chown', '-R', Amped::ordinary_user(), "$dir/srv/git")
		    if $> == 0;
	}
	chmod(0755, $_) for grep { -e } glob("$dir/usr/lib/cgi-bin/*"),
	    "$dir/usr/local/lib/login", "$dir/usr/share/gitweb/gitweb.cgi",
	    "$dir/usr/lib/cgit/cgit.cgi";
	symlink("$dir/var/plugins", "$dir/usr/share/dokuwiki/plugins")
	    if $name eq 'dokuwiki';
	return $conf{$name} !~ /php-fpm/ ? undef : Amped::Applications->serve(
	    $file, "unix:$dir/run/php/php-fpm.sock", 1);
}

sub try_recipe {
	my ($name, $recipe) = @_;
	my $port = free_port();
	my $programs = Amped::Programs->new(%{$recipe->{files}}, 'bin/' => '',
	    'run/php/' => '', 'etc/members' => "joe:$password\n");
	my $dir = $programs->dir;
	my $keep = prepare($name, $programs);
	my $text = $conf{$name};

	$text =~ s{(?<=\s)/usr/bin/php-cgi$}{$dir/bin/php-cgi}m;
	$text =~ s{(?<=\s)/usr/lib/git-core/git-http-backend}{$backend};
	$text =~ s{(?<=[\s:])/(srv|etc|run|var|usr/local|usr/lib/cgi-bin|
	    usr/lib/cgit|usr/share)\b(?:/amped)?}{$dir/$1}gx;
	$text =~ s{(listen )\S+}{${1}127.0.0.1:$port};
	my $server = Amped->start(sites => $text, listeners => 1);
	for my $ask (@{$recipe->{ask}}) {
		check($server, $name, @$ask);
	}
	my ($status, undef, $err) = run_amped('-t', '-f',
	    "$server->{dir}/amped.conf");
	is($status, 0, "$name: amped -t finds nothing") or diag($err);
	unlike($err, qr/warn:/, "$name: ... nor has a warning");
	$server->stop;
}

sub check {
	my ($server, $name, @ask) = @_;
	my $with = $ask[0] =~ m{\A/} ? undef : shift(@ask);
	my ($target, $status, $pattern) = @ask;
	my $client = $server->connect(relayed => 1);
	my $answer;

	$client->send(Amped::Programs::request($target, host => 'example.org',
	    fields => [defined($with) ? "Authorization: $with" : ()]));
	$answer = $client->response;

	is($answer->{status}, $status, "$name: $target: $status");
	like($answer->{body}, qr/$pattern/m, "$name: $target: $pattern")
	    if defined($pattern);
}

done_testing();
