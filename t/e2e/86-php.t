#!/usr/bin/perl
# PHP of other people: processes of php-cgi that amped keeps, and PHP-FPM, which
# loses no request when it reloads.
# arch: pair
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content free_port slurp write_file);
use Amped::Foreign qw(which_program);
use Amped::Programs;
use JSON::PP qw(decode_json);
use Test::More;

Amped::needs_many_clients(8);

my @cgi = map { which_program($_) // () } qw(php-cgi php-cgi8.2 php-cgi8.4);
my ($fpm) = which_program('php-fpm', map { "php-fpm$_" } qw(8.2 8.4));
plan(skip_all => 'there is neither php-cgi nor php-fpm') unless @cgi || $fpm;

my $programs = Amped::Programs->new('run/' => '', 'fpm.log' => '',
    'www/about.php' => <<'END', 'www/upload.php' => <<'END',
<?php
header('Content-Type: application/json');
echo json_encode(array('server' => $_SERVER, 'get' => $_GET,
    'post' => $_POST, 'cookie' => $_COOKIE, 'pid' => getmypid(),
    'cwd' => getcwd(), 'env' => getenv('GREETING'),
    'sapi' => php_sapi_name()));
END
<?php
$file = $_FILES['file'];
echo $file['name'], ' ', $file['size'], ' ',
    hash_file('sha256', $file['tmp_name']);
END
    'www/raw.php' => '<?php echo hash("sha256", ' .
    'file_get_contents("php://input"));',
    'www/status.php' => '<?php http_response_code(418); echo "tea";',
    'www/go.php' => '<?php header("Location: /elsewhere", true, 303);',
    'www/wrong.php' => '<?php ini_set("display_errors", 0); error_log("told to the log"); nothing();',
    'www/much.php' => '<?php for ($i = 0; $i < 500; $i++) ' .
    'echo str_repeat("x", 10000);',
    'www/pid.php' => '<?php usleep(2000); echo getmypid();',
    'www/sub/index.php' => '<?php echo "index ", $_SERVER["PATH_INFO"] ?? "";',
    'www/file.php' => '<?php header("Content-Type: application/pdf"); ' .
    'header("X-Sendfile: " . dirname(__DIR__) . "/files/report"); echo "no";',
    'www/path.php' => '<?php header("Content-Type: application/pdf"); ' .
    'header("X-Accel-Redirect: /in/report"); echo "no";',
    'files/report' => '0123456789', 'www/in/report' => 'report',
    'www/text' => "text\n");
my $dir = $programs->dir;
my $www = $programs->www;
my $fpm_pid;

sub path_of {
	my ($name) = @_;

	return (grep { -x } map { "$_/$name" } split(/:/, $ENV{PATH}))[0];
}

# Starts PHP-FPM with its socket; the directives of its block.
sub start_fpm {
	my ($socket) = @_;
	my $user = $> == 0 ? 'user = ' . Amped::ordinary_user() .
	    "\ngroup = " . getgrgid((getpwnam(Amped::ordinary_user()))[3]) .
	    "\nlisten.mode = 0666\n" : '';

	write_file("$dir/fpm.conf", "[global]\nerror_log = $dir/fpm.log\n" .
	    "daemonize = no\nprocess_control_timeout = 5s\n[www]\n$user" .
	    "listen = $socket\npm = static\npm.max_children = 2\n" .
	    "php_admin_flag[display_errors] = off\n");
	$fpm_pid = Amped::spawn([path_of($fpm), '-n', '-F', '-y',
	    "$dir/fpm.conf"], '/dev/null', "$dir/fpm.log");
	await('PHP-FPM to be ready', sub {
		die slurp("$dir/fpm.log") if waitpid($fpm_pid, 1) == $fpm_pid;
		return slurp("$dir/fpm.log") =~ /ready to handle/;
	});
}

END {
	if ($fpm_pid) {
		local $?;
		kill('TERM', $fpm_pid);
		waitpid($fpm_pid, 0);
	}
}

my %block;
$block{pool} = 'fastcgi ' . path_of($cgi[0]) . " -n -d display_errors=0\n" .
    "\tmost 2\n" if @cgi;
if ($fpm) {
	start_fpm("$dir/run/fpm");
	$block{fpm} = "fastcgi unix:$dir/run/fpm\n\tmost 8\n";
}
my $server = $programs->start(others => join('', map { "program $_ {\n" .
    "\t$block{$_}\tenvironment GREETING \"hello there\"\n\twithin 60s\n" .
    "\tsendfile $dir/files\n}\n" } sort keys %block),
    site => "\tpath /in { internal on }\n" . join('', map {
    "\tpath /$_ { alias $www; index index.php; run $_ for *.php; " .
    "body 16M }\n" } sort keys %block));

sub about { return decode_json($programs->get(@_)->{body}) }

# The body of a form with a file, and its boundary.
sub form {
	my ($bytes) = @_;

	return "--limit\r\nContent-Disposition: form-data; name=\"file\"; " .
	    "filename=\"a.bin\"\r\nContent-Type: application/octet-stream\r\n" .
	    "\r\n$bytes\r\n--limit--\r\n";
}

my $bytes = content('upload', 1_500_000);
my $form = form($bytes);
my $sum = sha256_hex($bytes);
my @kind = ('Content-Type: multipart/form-data; boundary=limit');
for my $name (sort keys %block) {
	my $got = about("/$name/about.php/more/of%20it?a=b%20c&d=e",
	    fields => ['Cookie: one=1', 'Cookie: two=2', 'X-Own: x',
	    'Proxy: evil']);
	my $v = $got->{server};

	is_deeply($got->{get}, { a => 'b c', d => 'e' }, "$name: \$_GET");
	is_deeply($got->{cookie}, { one => 1, two => 2 }, '... cookies');
	is($got->{sapi}, $name eq 'pool' ? 'cgi-fcgi' : 'fpm-fcgi',
	    '... by FastCGI');
	is_deeply([@$v{qw(SCRIPT_NAME PHP_SELF PATH_INFO SCRIPT_FILENAME
	    REQUEST_URI QUERY_STRING REQUEST_METHOD SERVER_PROTOCOL
	    REMOTE_ADDR HTTP_X_OWN GREETING)}],
	    ["/$name/about.php", "/$name/about.php/more/of it",
	    '/more/of it', "$www/about.php",
	    "/$name/about.php/more/of%20it?a=b%20c&d=e", 'a=b%20c&d=e',
	    'GET', 'HTTP/1.1', '127.0.0.1', 'x', 'hello there'],
	    '... $_SERVER');
	is($got->{env}, 'hello there', '... getenv()');
	is($got->{cwd}, $www, '... the script\'s directory');
	ok(!exists($v->{HTTP_PROXY}), '... no HTTP_PROXY');
	is_deeply(about("/$name/about.php", method => 'POST',
	    body => 'x=1&y=a+b', fields =>
	    ['Content-Type: application/x-www-form-urlencoded'])->{post},
	    { x => 1, y => 'a b' }, "$name: \$_POST");
	is($programs->get("/$name/upload.php", method => 'POST',
	    body => $form, fields => [@kind])->{body},
	    "a.bin 1500000 $sum", "$name: an upload with its length");
	is($programs->get("/$name/upload.php", method => 'POST', fields =>
	    [@kind], chunks => [unpack('(a70000)*', $form)])->{body},
	    "a.bin 1500000 $sum", '... and in chunks');
	is($programs->get("/$name/raw.php", method => 'PUT',
	    chunks => [unpack('(a70000)*', $bytes)])->{body}, $sum,
	    '... and by PUT');
	my $answer = $programs->get("/$name/status.php");
	is("$answer->{status} $answer->{body}", '418 tea', "$name: a status");
	$answer = $programs->get("/$name/file.php",
	    fields => ['Range: bytes=2-4']);
	is("$answer->{status} $answer->{body} $answer->{field}{'content-type'}",
	    '206 234 application/pdf', '... a file of X-Sendfile');
	$answer = $programs->get("/$name/path.php");
	is("$answer->{status} $answer->{body} $answer->{field}{'content-type'}",
	    '200 report application/pdf', '... a path of X-Accel-Redirect');
	$answer = $programs->get("/$name/go.php");
	is("$answer->{status} $answer->{field}{location}", '303 /elsewhere',
	    '... a redirect');
	is(length($programs->get("/$name/much.php")->{body}), 5_000_000,
	    "$name: a large answer");
	is($programs->get("/$name/wrong.php")->{status}, 500,
	    "$name: an error of PHP: 500");
	ok($server->wait_line(qr/ $name(?:\[\d+\])?: .*told to the log/),
	    '... with a line of the script in the log');
	is($programs->get("/$name/sub/")->{body}, 'index ', "$name: an index");
	is($programs->get("/$name/none.php")->{status}, 404,
	    "$name: no such file: 404");
	is($programs->get("/$name/text")->{body}, "text\n",
	    "$name: other files are files");
}

# Many requests at once, for processes that are fewer.
sub load {
	my ($path, $n, $meanwhile) = @_;
	my (@clients, %got, %pids);

	for my $i (1 .. $n) {
		push(@clients, $programs->ask($path));
		$meanwhile->() if $i == int($n / 2);
	}
	for my $client (@clients) {
		my $answer = $client->response;
		$got{$answer->{status}}++;
		$pids{$answer->{body}} = 1;
	}
	return (\%got, keys(%pids));
}

for my $name (sort keys %block) {
	my ($got, @pids) = load("/$name/pid.php", 60, sub {});
	is_deeply($got, { 200 => 60 }, "$name: all are answered");
	cmp_ok(scalar(@pids), '<=', 2, '... by two processes');
}
if ($fpm) {
	my %before = map { $_ => 1 } (load('/fpm/pid.php', 20, sub {}))[1 .. 2];
	my ($got, $again) = ({}, 0);

	# New processes show that it has reloaded.
	await('PHP-FPM to reload', sub {
		my ($all, @pids) = load('/fpm/pid.php', 40,
		    sub { kill('USR2', $fpm_pid) unless $again++ });
		$got->{$_} += $all->{$_} for keys %$all;
		return grep { !$before{$_} } @pids;
	});
	is_deeply([keys(%$got)], [200],
	    'PHP-FPM reloads: no request is lost');
}
$server->stop;

done_testing();
