#!/usr/bin/perl
# What a CGI program is started with: its variables, by each section of RFC
# 3875 that says what they are; which file of a path is the program; and that no
# program is sent as a file.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(run_amped slurp write_file);
use Amped::Programs;
use MIME::Base64 qw(encode_base64);
use Test::More;

my $programs = Amped::Programs->new(
	'www/a.php' => "<?php secret\n",
	'www/shut.php' => "<?php secret\n",
	'www/dir/index.php' => "<?php secret\n",
	'www/dir.php/b.php' => "<?php secret\n", 'www/text' => "text\n",
	'www/sub/c.php' => "<?php secret\n", 'www/off/a.php' => "<?php open\n",
	'www/a.php~' => "<?php old\n", 'www/empty/x' => "x\n",
	'www/a b.php' => "<?php secret\n",
	'www/images/logo.php' => "<?php secret\n",
	'cgi/closed' => "#!/bin/sh\necho secret\n", 'cgi/sub/deep/' => '',
	'cgi/lost' => "#!/nowhere/interpreter\nsecret\n",
	'outside' => "#!/bin/sh\nprintf 'Content-Type: a/b\\n\\nsecret'\n",
	'secrets/users' => 'joe:' . crypt('secret', '$5$salt') . "\n");
my $dir = $programs->dir;
my $env = "$dir/cgi/env";
my $www = $programs->www;

chmod(0755, "$dir/outside", "$dir/cgi/lost");
$programs->script($_, slurp($env)) for qw(cgi/sub/deep/env bin/env
    cgi/indexed/index.php cgi/shut cgi/sub/shut);
symlink('../outside', "$dir/cgi/out");
symlink('../../outside', "$dir/cgi/sub/out");
symlink("$dir/outside", "$dir/cgi/absolute");
symlink('/bin', "$dir/cgi/binaries");
symlink('nothing', "$dir/cgi/dangling");
$ENV{AMPED_TEST_SECRET} = 'inherited';
$ENV{LD_LIBRARY_PATH} //= '';

my $auth = 'Authorization: Basic ' . encode_base64('joe:secret', '');
my $server = $programs->start(others => <<"END", site => <<"END");
program env {
	command $dir/bin/env
	environment GREETING "hello there"
	environment EMPTY ""
	nice 3
	files 64
	memory 512M
}
program pass {
	command $dir/bin/env one "two words"
	authorization pass
	nice 5
}
program php {
	command $dir/bin/env
	nice 3
}
END
	run php for "*.php"
	index index.html index.php
	path /app { run env }
	path /app/inner { run pass }
	path /pass { run pass }
	path /own { run env; auth "Own" $dir/secrets/users }
	path /own-pass { run pass; auth "Own" $dir/secrets/users }
	path /off { run off }
	path /images { run off }
	path /cgi/nested { run env }
	files shut shut.php { deny all }
END
my $port = $server->port;
my $user = $> == 0 ? getpwnam(Amped::ordinary_user()) : $>;
my $nice = qr/\A(?:5|${\(5 + getpriority(0, 0))})\z/;
# SCHED_BATCH, unless this has another policy than SCHED_OTHER itself.
my $policy = (split(' ', slurp('/proc/self/stat') =~ s/.*\)//sr))[38] || 3;
my $post = [method => 'POST', body => 'abc'];

# Section of RFC 3875 or the promise, what, target, request, and variables: a
# text, a pattern ("" if it is not there), undef: must not be there.  A name
# that begins with - is no variable: see "env".
my @cases = (
	['4.1.1', 'no authentication, no AUTH_TYPE', '/app', [],
	    AUTH_TYPE => undef],
	['4.1.1', 'nor from what a client says', '/app', [fields => [$auth]],
	    AUTH_TYPE => undef, REMOTE_USER => undef],
	['4.1.1', 'nor where it is passed', '/pass', [fields => [$auth]],
	    AUTH_TYPE => undef, REMOTE_USER => undef],
	['4.1.1', 'own authentication', '/own', [fields => [$auth]],
	    AUTH_TYPE => 'Basic', REMOTE_USER => 'joe',
	    HTTP_AUTHORIZATION => undef],
	['4.1.11', 'the user of a path with more behind', '/own/x',
	    [fields => [$auth]], REMOTE_USER => 'joe', PATH_INFO => '/x'],
	['9.2', 'Authorization is hidden', '/app', [fields => [$auth]],
	    HTTP_AUTHORIZATION => undef],
	['9.2', 'and passed on demand', '/pass', [fields => [$auth]],
	    HTTP_AUTHORIZATION => qr/\ABasic \S+\z/],
	['9.2', 'beside own authentication', '/own-pass',
	    [fields => [$auth]], HTTP_AUTHORIZATION => qr/\ABasic /,
	    REMOTE_USER => 'joe'],
	['9.2', 'a Bearer is a password', '/app',
	    [fields => ['Authorization: Bearer abc']],
	    HTTP_AUTHORIZATION => undef],
	['9.2', 'a Bearer that is passed', '/pass',
	    [fields => ['Authorization: Bearer abc']],
	    HTTP_AUTHORIZATION => 'Bearer abc', AUTH_TYPE => undef],

	['4.1.2', 'no body, no CONTENT_LENGTH', '/app', [],
	    CONTENT_LENGTH => undef, '-body' => ''],
	['4.1.2', 'its length', '/app', $post, CONTENT_LENGTH => '3',
	    '-body' => 'abc'],
	['4.1.2', 'a length of 0', '/app', [method => 'POST', body => ''],
	    CONTENT_LENGTH => '0', '-body' => ''],
	['4.1.2', 'without the coding', '/app', [method => 'POST',
	    chunks => ['ab', 'cde']], CONTENT_LENGTH => '5',
	    '-body' => 'abcde', HTTP_TRANSFER_ENCODING => undef],
	['4.1.2', 'not as a field', '/app', $post,
	    HTTP_CONTENT_LENGTH => undef],
	['4.1.2', 'of a GET', '/app', [body => 'abc'],
	    CONTENT_LENGTH => '3', '-body' => 'abc'],

	['4.1.3', 'none', '/app', $post, CONTENT_TYPE => undef],
	['4.1.3', 'as it was sent', '/app', [@$post, fields =>
	    ['Content-Type: Text/Plain; charset="X y"']],
	    CONTENT_TYPE => 'Text/Plain; charset="X y"',
	    HTTP_CONTENT_TYPE => undef],
	['4.1.3', 'of a form', '/app', [@$post, fields =>
	    ['Content-Type: application/x-www-form-urlencoded']],
	    CONTENT_TYPE => 'application/x-www-form-urlencoded'],

	['4.1.4', 'the version', '/app', [], GATEWAY_INTERFACE => 'CGI/1.1'],

	['4.1.5', 'none', '/app', [], PATH_INFO => undef,
	    SCRIPT_NAME => '/app'],
	['4.1.5', 'none behind a file', '/cgi/env', [], PATH_INFO => undef,
	    SCRIPT_NAME => '/cgi/env'],
	['4.1.5', 'a slash', '/app/', [], PATH_INFO => '/',
	    SCRIPT_NAME => '/app'],
	['4.1.5', 'a slash behind a file', '/cgi/env/', [], PATH_INFO => '/',
	    SCRIPT_NAME => '/cgi/env'],
	['4.1.5', 'a slash at its end', '/app/a/b/', [],
	    PATH_INFO => '/a/b/'],
	['4.1.5', 'decoded', '/app/a%20b%3fc', [], PATH_INFO => '/a b?c'],
	['4.1.5', 'decoded once', '/app/%2541%252f', [],
	    PATH_INFO => '/%41%2f'],
	['4.1.5', 'eight bits', '/app/%c3%a4%ff', [],
	    PATH_INFO => "/\xc3\xa4\xff"],
	['4.1.5', 'a plus is a plus', '/app/a+b', [], PATH_INFO => '/a+b'],
	['4.1.5', 'a parameter', '/app/a;b=c', [], PATH_INFO => '/a;b=c'],
	['4.1.5', 'a blank and a quote, of any use to a shell',
	    "/app/\$(id)'%60id%60", [], PATH_INFO => "/\$(id)'`id`"],
	['4.1.5', 'dots are resolved', '/app/a/./b/../c', [],
	    PATH_INFO => '/a/c'],
	['4.1.5', 'escaped dots, too', '/app/a/%2e%2e/c', [],
	    PATH_INFO => '/c'],
	['4.1.5', 'dots that are none', '/app/a...b/c..', [],
	    PATH_INFO => '/a...b/c..'],
	['4.1.5', 'a name with a dot', '/app/a/.git/.b', [],
	    PATH_INFO => '/a/.git/.b'],
	['4.1.5', 'two slashes', '/app//a', [], PATH_INFO => qr{\A//?a\z}],
	['4.1.5', 'a long one', '/app/' . 'a' x 1000, [],
	    PATH_INFO => '/' . 'a' x 1000],
	['4.1.5', 'like a program', '/app/env.php', [],
	    PATH_INFO => '/env.php'],
	['4.1.5', 'like a file that is there', '/app/text', [],
	    PATH_INFO => '/text'],

	['4.1.6', 'none', '/app', [], PATH_TRANSLATED => undef],
	['4.1.6', 'beneath the root', '/app/a/b', [],
	    PATH_TRANSLATED => "$www/a/b"],
	['4.1.6', 'behind a file', '/cgi/env/a%20b', [],
	    PATH_TRANSLATED => "$www/a b"],
	['4.1.6', 'never outside', '/app/a/../b', [],
	    PATH_TRANSLATED => "$www/b"],

	['4.1.7', 'none is empty', '/app', [], QUERY_STRING => ''],
	['4.1.7', 'an empty one', '/app?', [], QUERY_STRING => ''],
	['4.1.7', 'raw', '/app?a=%20b+c&d=%zz%00', [],
	    QUERY_STRING => 'a=%20b+c&d=%zz%00'],
	['4.1.7', 'with a question mark', '/app?a?b/../c', [],
	    QUERY_STRING => 'a?b/../c'],
	['4.1.7', 'behind a file', '/cgi/env/x?y', [],
	    QUERY_STRING => 'y', PATH_INFO => '/x'],
	['4.4', 'the file is an argument', '/a.php/x?a', [],
	    '-args' => "$www/a.php"],
	['4.4', 'no arguments of a query', '/app?a+b', [], '-args' => '',
	    QUERY_STRING => 'a+b'],
	['4.4', 'nor options', '/cgi/env?-s+-d', [], '-args' => ''],
	['the conf', 'its arguments', '/pass?a+b', [],
	    '-args' => 'one|two words'],

	['4.1.8', 'the client', '/app', [], REMOTE_ADDR => '127.0.0.1',
	    REMOTE_PORT => qr/\A\d+\z/],
	['4.1.8', 'another', '/app', [from => '127.0.0.2'],
	    REMOTE_ADDR => '127.0.0.2'],
	['4.1.8', 'not what a field says', '/app',
	    [fields => ['X-Forwarded-For: 192.0.2.1']],
	    REMOTE_ADDR => '127.0.0.1',
	    HTTP_X_FORWARDED_FOR => '192.0.2.1'],
	['4.1.9', 'no name server is asked', '/app', [],
	    REMOTE_HOST => undef],
	['4.1.10', 'nor ident', '/app', [], REMOTE_IDENT => undef],
	['4.1.11', 'no user', '/app', [], REMOTE_USER => undef],

	(map { ['4.1.12', $_, '/app', [method => $_, $_ eq 'GET' ? () :
	    (body => 'x')], REQUEST_METHOD => $_] } qw(GET POST PUT DELETE
	    PATCH OPTIONS)),

	['4.1.13', 'decoded', '/%61pp/x', [], SCRIPT_NAME => '/app',
	    PATH_INFO => '/x'],
	['4.1.13', 'of a directory beneath', '/cgi/sub/deep/env/x/y', [],
	    SCRIPT_NAME => '/cgi/sub/deep/env', PATH_INFO => '/x/y',
	    SCRIPT_FILENAME => "$dir/cgi/sub/deep/env"],
	['4.1.13', 'of the longest path', '/app/inner/x', [],
	    SCRIPT_NAME => '/app/inner', PATH_INFO => '/x'],
	['4.1.13', 'by whole segments', '/app/innermost', [],
	    SCRIPT_NAME => '/app', PATH_INFO => '/innermost'],
	['4.1.13', 'one within the path of another', '/cgi/nested/x', [],
	    SCRIPT_NAME => '/cgi/nested', PATH_INFO => '/x',
	    GREETING => 'hello there'],

	['4.1.14', 'the host', '/app', [host => 'example.org'],
	    SERVER_NAME => 'example.org'],
	['4.1.14', 'without its port', '/app', [host => 'example.org:81'],
	    SERVER_NAME => 'example.org', HTTP_HOST => 'example.org:81'],
	['4.1.14', 'in capitals', '/app', [host => 'Example.ORG'],
	    SERVER_NAME => 'example.org', HTTP_HOST => 'Example.ORG'],
	['4.1.14', 'IPv6', '/app', [host => '[::1]:80'],
	    SERVER_NAME => qr/\A\[?::1\]?\z/],
	['4.1.14', 'IPv4', '/app', [host => '127.0.0.1'],
	    SERVER_NAME => '127.0.0.1'],
	['4.1.14', 'none, in 1.0', '/app', [host => undef,
	    version => '1.0'], SERVER_NAME => qr/\A[\w.:\[\]-]+\z/,
	    HTTP_HOST => undef],
	['4.1.14', 'an empty one', '/app', [host => ''],
	    SERVER_NAME => qr/\A[\w.:\[\]-]+\z/],
	['4.1.15', "the listener's, not the client's", '/app',
	    [host => 'x:81'], SERVER_PORT => $port],
	['4.1.16', 'of 1.1', '/app', [], SERVER_PROTOCOL => 'HTTP/1.1'],
	['4.1.16', 'of 1.0', '/app', [version => '1.0'],
	    SERVER_PROTOCOL => 'HTTP/1.0'],
	['4.1.17', 'the software', '/app', [],
	    SERVER_SOFTWARE => qr{\Aamped\b}],

	['4.1.18', 'a field', '/app', [fields => ['X-One: a b  c ']],
	    HTTP_X_ONE => 'a b  c'],
	['4.1.18', 'in any case', '/app', [fields => ['x-oNE: a']],
	    HTTP_X_ONE => 'a'],
	['4.1.18', 'an empty one', '/app', [fields => ['X-One:']],
	    HTTP_X_ONE => qr/\A\z/],
	['4.1.18', 'with digits', '/app', [fields => ['X-2: a']],
	    HTTP_X_2 => 'a'],
	['4.1.18', 'several', '/app', [fields => ['X-One: a', 'X-Two: b',
	    'x-one: c,d']], HTTP_X_ONE => 'a, c,d', HTTP_X_TWO => 'b'],
	['4.1.18', 'cookies', '/app', [fields => ['Cookie: a=1',
	    'Cookie: b=2; c=3']], HTTP_COOKIE => 'a=1; b=2; c=3'],
	['4.1.18', 'eight bits', '/app', [fields => ["X-One: \xe4"]],
	    HTTP_X_ONE => "\xe4"],
	['4.1.18', 'what a shell would do', '/app', [fields =>
	    ['User-Agent: () { :;}; echo shocked']],
	    HTTP_USER_AGENT => '() { :;}; echo shocked'],
	['4.1.18', 'conditions are the program\'s', '/app', [fields =>
	    ['If-None-Match: *', 'Range: bytes=0-1']],
	    HTTP_IF_NONE_MATCH => '*', HTTP_RANGE => 'bytes=0-1'],
	['4.1.18', 'codings, too', '/app', [fields =>
	    ['Accept-Encoding: gzip']], HTTP_ACCEPT_ENCODING => 'gzip'],
	['4.1.18', 'a name with an underscore', '/app', [fields =>
	    ['X_One: a']], HTTP_X_ONE => undef],
	['4.1.18', 'that would be another', '/app', [fields =>
	    ['X-One: a', 'X_One: b', 'X-One: c']], HTTP_X_ONE => 'a, c'],
	['4.1.18', 'in the other order', '/app', [fields =>
	    ['X_One: b', 'X-One: a']], HTTP_X_ONE => 'a'],
	['4.1.18', 'other bytes of a name', '/app', [fields =>
	    ['X.One: a', 'X!One: b', 'X~One: c', 'X*One: d']],
	    HTTP_X_ONE => undef, 'HTTP_X.ONE' => undef],
	['4.1.18', 'what is of this connection', '/app', [fields =>
	    ['Connection: keep-alive, X-Mine', 'Keep-Alive: 1', 'TE: trailers',
	    'Upgrade: h2c']], HTTP_CONNECTION => undef,
	    HTTP_KEEP_ALIVE => undef, HTTP_TE => undef,
	    HTTP_UPGRADE => undef],
	['httpoxy', 'Proxy', '/app', [fields => ['Proxy: http://evil:1/']],
	    HTTP_PROXY => undef],
	['httpoxy', 'in capitals', '/app', [fields => ['PROXY: evil']],
	    HTTP_PROXY => undef],
	['httpoxy', 'by a command of its own', '/pass', [fields =>
	    ['proxy: evil']], HTTP_PROXY => undef],
	['9.2', 'what is for a proxy', '/pass', [fields =>
	    ['Proxy-Authorization: Basic abc', 'Proxy-Connection: close']],
	    HTTP_PROXY_AUTHORIZATION => undef, HTTP_PROXY_CONNECTION => undef],
	['4.1.18', 'fields like variables', '/app', [fields =>
	    ['Path: /evil', 'LD-Preload: /evil.so', 'Remote-User: root',
	    'Script-Filename: /etc/passwd', 'IFS: x']],
	    PATH => qr{\A(?!.*evil)/}, LD_PRELOAD => undef, IFS => undef,
	    REMOTE_USER => undef, SCRIPT_FILENAME => qr{\A(?!.*passwd)},
	    HTTP_REMOTE_USER => 'root'],

	['extensions', 'the target as it came', '/app/a/../%62?q=%20', [],
	    REQUEST_URI => '/app/a/../%62?q=%20'],
	['extensions', 'the scheme', '/app', [], REQUEST_SCHEME => 'http',
	    HTTPS => undef],
	['extensions', 'not by a field', '/app', [fields => ['HTTPS: on']],
	    HTTPS => undef],
	['extensions', 'the root', '/app', [], DOCUMENT_ROOT => $www],
	['extensions', 'the path', '/app/%61/b?c', [],
	    DOCUMENT_URI => qr{\A/app(?:/a/b)?\z}],
	['extensions', 'the address', '/app', [],
	    SERVER_ADDR => '127.0.0.1'],
	['extensions', 'for PHP', '/a.php', [], REDIRECT_STATUS => '200'],
	['extensions', 'not for a PHP in a directory', '/cgi/env', [],
	    REDIRECT_STATUS => undef],
	['extensions', 'the file', '/cgi/env/x', [],
	    SCRIPT_FILENAME => $env],

	['the conf', 'a variable', '/app', [], GREETING => 'hello there',
	    EMPTY => qr/\A\z/],
	['the conf', "not another's", '/pass', [], GREETING => undef],
	['the conf', 'nothing is inherited', '/app', [],
	    AMPED_TEST_SECRET => undef, HOME => undef, LANG => undef,
	    AMPED_BUILD => undef, LD_LIBRARY_PATH => undef],
	['the conf', 'but PATH', '/app', [], PATH => qr{/bin\b}],
	['the conf', 'nice', '/pass', [], '-nice' => $nice],
	['processes', 'do not preempt main', '/app', [], '-policy' => $policy],
	['the conf', 'files', '/app', [], '-files' => 64],
	['the conf', 'memory', '/app', [], '-memory' => 512 << 20],
	['7.2', 'the directory of a script', '/cgi/sub/deep/env', [],
	    '-cwd' => "$dir/cgi/sub/deep"],
	['7.2', 'that of a file', '/sub/c.php', [], '-cwd' => "$www/sub"],
	['processes', 'the user', '/app', [], '-uid' => $user],
	['processes', 'no other descriptors', '/app', [], '-fds' => ''],
	['processes', 'none in a program of a directory', '/cgi/env', $post,
	    '-fds' => ''],
	['processes', 'a group of its own, no terminal', '/app', [],
	    '-leads' => 1],
	# The least of the programs that share it.
	['processes', 'a nice session', '/app', [],
	    '-session' => qr/\A(?:3|none)\z/],
	['processes', 'no privileges', '/app', [], '-privs' => 1],
	# Perl itself ignores FPE, and nothing else.
	['processes', 'signals', '/app', [], '-caught' => qr/\A(?:80)?\z/,
	    '-blocked' => ''],

	# The split: the first regular file on the way.
	['3.3', 'an interpreter', '/a.php', [], SCRIPT_NAME => '/a.php',
	    SCRIPT_FILENAME => "$www/a.php", PATH_INFO => undef],
	['3.3', 'a path behind', '/a.php/x/y', [], SCRIPT_NAME => '/a.php',
	    PATH_INFO => '/x/y', SCRIPT_FILENAME => "$www/a.php"],
	['3.3', 'only a slash', '/a.php/', [], SCRIPT_NAME => '/a.php',
	    PATH_INFO => '/'],
	['3.3', 'a program behind a program', '/a.php/b.php', [],
	    SCRIPT_NAME => '/a.php', PATH_INFO => '/b.php'],
	['3.3', 'a directory with such a name', '/dir.php/b.php/x', [],
	    SCRIPT_NAME => '/dir.php/b.php', PATH_INFO => '/x'],
	['3.3', 'a name with a blank', '/a%20b.php/c', [],
	    SCRIPT_NAME => '/a b.php', SCRIPT_FILENAME => "$www/a b.php"],
	['3.3', 'an index', '/dir/?q', [], SCRIPT_NAME => '/dir/index.php',
	    SCRIPT_FILENAME => "$www/dir/index.php", QUERY_STRING => 'q',
	    REQUEST_URI => '/dir/?q', PATH_INFO => undef],
	['3.3', 'a POST to an index', '/dir/', $post, '-body' => 'abc',
	    SCRIPT_NAME => '/dir/index.php'],
	['3.3', 'where a script is named twice', '/cgi/env/cgi/env', [],
	    SCRIPT_NAME => '/cgi/env', PATH_INFO => '/cgi/env'],
);

# What is wrong with variables, of those that a case names.
sub wrong {
	my ($is, %must) = @_;

	return map {
		my ($have, $want) = ($is->{$_}, $must{$_});
		(!defined($want) ? !defined($have) : ref($want) ?
		    ($have // '') =~ $want : defined($have) && $have eq $want)
		    ? () : "$_: " . ($have // 'none');
	} sort keys %must;
}

for my $time (1, 2) {
	for my $case (@cases) {
		my ($section, $what, $target, $request, %must) = @$case;

		# Once more with what is known by now of its path.
		next if $time == 2 && $section ne '3.3' && $section ne '4.1.13';
		my $answer = eval { $programs->get($target, @$request) };
		my @wrong = !$answer ? $@ : $answer->{status} != 200 ?
		    $answer->{status} :
		    wrong(Amped::Programs::variables($answer), %must);
		is("@wrong", '', "$section: $what" .
		    ($time == 2 ? ', again' : ''));
	}
}

# 4.1: nothing beside what has a name there, in the list of extensions or in
# the conf.
my %known = map { $_ => 1 } qw(CONTENT_LENGTH CONTENT_TYPE GATEWAY_INTERFACE
    PATH_INFO PATH_TRANSLATED QUERY_STRING REMOTE_ADDR REQUEST_METHOD
    SCRIPT_NAME SERVER_NAME SERVER_PORT SERVER_PROTOCOL SERVER_SOFTWARE
    REQUEST_URI REQUEST_SCHEME SCRIPT_FILENAME DOCUMENT_ROOT DOCUMENT_URI
    SERVER_ADDR REMOTE_PORT REDIRECT_STATUS HTTP_HOST GREETING EMPTY PATH);
my $all = Amped::Programs::variables($programs->get('/app/x?y', @$post,
    fields => ['Content-Type: a/b']));
is_deeply([grep { !/^-/ && !$known{$_} } sort keys %$all], [],
    '4.1: no other variables');

# No program of these runs.  A status that is a pattern: more than one would be
# right.
my @refused = (
	['4.1.5', 'a slash in PATH_INFO', '/app/a%2fb', qr/40[04]/],
	['4.1.5', 'in capitals', '/cgi/env/a%2Fb', qr/40[04]/],
	['4.1.5', 'a NUL', '/app/a%00b', qr/40[04]/],
	['4.1.5', 'a NUL behind a name', '/a.php%00.txt', qr/40[04]/],
	['4.1.5', 'a newline', '/app/a%0ab', qr/40[04]/],
	['4.1.5', 'a CR', '/cgi/env/%0d', qr/40[04]/],
	['4.1.5', 'no escape', '/app/%zz', 400],
	['4.1.5', 'above the root', '/app/../../x', qr/40[034]/],
	['4.1.5', 'behind a file', '/cgi/env/..c', 403],
	['3.3', 'above the path', '/app/%2e%2e/nothing', 404],
	['3.3', 'a file that is not there', '/cgi/nothing', 404],
	['3.3', 'with a path behind', '/cgi/nothing/x', 404],
	['3.3', 'a directory', '/cgi/sub', qr/40[34]/],
	['3.3', 'with its slash', '/cgi/sub/', qr/40[34]/],
	['3.3', 'without an index, though one is there', '/cgi/indexed/', 403],
	['3.3', 'the directory itself', '/cgi/', qr/40[34]/],
	['3.3', 'without a slash', '/cgi', qr/40[34]/],
	['3.3', 'one that may not be executed', '/cgi/closed', 403],
	['3.3', 'with a path behind', '/cgi/closed/x', 403],
	['3.3', 'a link that leads out', '/cgi/out', qr/40[34]/],
	['3.3', 'out of a directory beneath', '/cgi/sub/out', qr/40[34]/],
	['3.3', 'an absolute link', '/cgi/absolute', qr/40[34]/],
	['3.3', 'a link to a directory', '/cgi/binaries/sh', qr/40[34]/],
	['3.3', 'a link to nothing', '/cgi/dangling', qr/40[34]/],
	['3.3', 'no PHP there', '/nothing.php', 404],
	['3.3', 'with a path behind', '/nothing.php/x', 404],
	['3.3', 'a file that is none, and a path', '/text/a.php', 404],
	['3.3', 'a path behind a file', '/text/x', 404],
	['3.3', 'another name', '/a.PHP', 404],
	['3.3', 'no index', '/empty/', 403],
	['own authentication', 'no password', '/own', 401],
	['own authentication', 'with a body', '/own/x', 401,
	    method => 'POST', body => 'abc'],
	['an interpreter that is not there', 'as a script', '/cgi/lost',
	    qr/50[02]/],
	['9112 3.2', 'no Host', '/app', 400, host => undef],
	['9112 3.2', 'a Host that is none', '/app', 400, host => 'x y'],
	['9112 3.2', 'a Host with a slash', '/app', 400, host => 'x/../y'],
	['9112 3.2', 'an IPv6 address without an end', '/app', 400,
	    host => '[::1'],
	['4.1.18', 'a line that is folded', '/app', 400,
	    fields => ["X-One: a\r\n b"]],
	['9110 9.3.6', 'CONNECT', '/app', qr/40[05]|501/, method => 'CONNECT'],
	['9110 9.3.8', 'TRACE', '/app', qr/405|501/, method => 'TRACE'],
	['9110 9.1', 'POST to a file', '/text', 405, method => 'POST',
	    body => 'abc'],
	['9110 9.1', 'PUT to a file', '/text', 405, method => 'PUT',
	    body => 'abc'],
	['9110 9.1', 'POST where no programs are', '/off/a.php', 405,
	    method => 'POST', body => 'abc'],
);
my $before = scalar($programs->ran);
for my $case (@refused) {
	my ($section, $what, $target, $status, @request) = @$case;
	my $answer = eval { $programs->get($target, @request) } //
	    { status => $@, body => '' };

	like($answer->{status}, ref($status) ? qr/\A(?:$status)\z/ :
	    qr/\A$status\z/, "$section: $what");
	unlike($answer->{body}, qr/secret/, '... and nothing is shown');
}
is(scalar($programs->ran), $before, 'no program ran for any of them');

# The log says once a minute of each program that is not there, and of each file
# that may not be executed, without "log error debug".
my %lines = (
	"notice: 404 for /cgi/nothing on default from 127.0.0.1: there is no " .
	    "such file: $dir/cgi/nothing" => 'one that is not there',
	"notice: 404 for /nothing.php on default from 127.0.0.1: there is no " .
	    "such file: $www/nothing.php" => 'a script that is not there',
	"warn: 403 for /cgi/closed on default from 127.0.0.1: it names a " .
	    'program that the server\'s user may not execute: ' =>
	    'one that may not be executed',
);
for my $line (sort keys %lines) {
	ok($server->wait_line(qr/ \Q$line\E.*; this line comes once a minute/),
	    "a line: $lines{$line}");
}
my @said = grep { / notice: 404 for \/cgi\// }
    Amped::whole_lines($server->{err});
is(@said, 1, '... one of all that are not there') or diag(@said);
@said = grep { / warn: 403 for \/cgi\/closed/ }
    Amped::whole_lines($server->{err});
is(@said, 1, '... one of a file, whatever path is behind it') or diag(@said);
like($said[0], qr{/closed, which needs chmod a\+rx;}, '... with a remedy');

# The source of a program is never sent.
my @as_of_files = ([fields => ['Range: bytes=0-4']],
    [fields => ['If-None-Match: "x"']], [method => 'HEAD'],
    [fields => ['Accept-Encoding: gzip']],
    [fields => ['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT']]);
for my $target ('/a.php', '/sub/c.php', '/dir/', '/dir/index.php',
    '/dir.php/b.php', '/a%2ephp', '/%61.php', '//a.php', '/./a.php',
    '/A/../a.php') {
	for my $request ([], $target eq '/a.php' || $target eq '/dir/' ?
	    @as_of_files : ()) {
		my $answer = $programs->get($target, @$request);

		is($answer->{status}, 200, "$target runs: @{[map { ref ? @$_ :
		    $_ } @$request]}");
		unlike($answer->{body}, qr/<\?php/, '... and is not shown');
		my @fields = @{$answer->{field}}{qw(etag last-modified)};
		ok(!grep({ defined } @fields), '... nor is its version');
	}
}
for my $target ('/cgi/env', '/cgi/closed', '/cgi/out', '/cgi/sub/deep/env') {
	my $answer = $programs->get($target, fields => ['Range: bytes=0-9']);

	unlike($answer->{body}, qr/#!/, "$target is not shown");
}
is($programs->get($_)->{status}, 403, "$_ is closed by its name")
    for map { ("/$_", "/$_/", "/$_/x.html") } qw(shut.php cgi/shut
    cgi/sub/shut);
is($programs->get('/cgi/env/shut/x')->{status}, 403,
    '... also if it may be path info');
is($programs->get('/app/shut/x')->{status}, 200,
    '... but not where a path names no file');
is($programs->get('/off/a.php')->{body}, "<?php open\n",
    'run off: a file again, as the conf says');
is($programs->get('/a.php~')->{body}, "<?php old\n",
    'a name that no pattern has is a file');
is(scalar(grep { /~/ } $programs->ran), 0, '... and does not run');

# Files become programs, and the other way round, as files change.
$programs->script('cgi/new', slurp($env));
chmod(0644, "$dir/cgi/new");
Amped::await('it to be refused',
    sub { $programs->get('/cgi/new')->{status} == 403 });
chmod(0755, "$dir/cgi/new");
ok(eval { Amped::await('it to run',
    sub { $programs->get('/cgi/new')->{status} == 200 }) },
    'a script that may be executed from now on');
unlink("$dir/cgi/new");
ok(eval { Amped::await('it to be gone',
    sub { $programs->get('/cgi/new')->{status} == 404 }) },
    'one that is gone');
unlink("$www/dir/index.php");
write_file("$www/dir/index.html", "a file\n");
ok(eval { Amped::await('the other index',
    sub { $programs->get('/dir/')->{body} eq "a file\n" }) },
    'an index that is a file from now on');

$server->stop;

# What a user meets who gets the conf wrong.  Lines, and what the message says.
my @wrong = (
	['a program that is not there', 'path /a { run nothing }', '',
	    qr/nothing/],
	['neither command nor directory', 'path /a { run p }',
	    'program p { most 1 }', qr/command|directory/],
	['both of them', 'path /a { run p }',
	    "program p { command $env; directory $dir/cgi }",
	    qr/command|directory/],
	['a relative command', 'path /a { run p }',
	    'program p { command bin/env }', qr/absolute|bin\/env/],
	['a command that is not there', 'path /a { run p }',
	    'program p { command /nowhere/x }', qr{/nowhere/x}],
	['a directory that is not there', 'path /a { cgi /nowhere/x }', '',
	    qr{/nowhere/x}],
	['two of a name', 'path /a { run p }',
	    ("program p { command $env }\n" x 2), qr/\bp\b/],
	['a name that is none', 'path /a { run p }',
	    "program p { command $env; environment A=B c }", qr/A=B/],
	['a number that is none', 'path /a { run p }',
	    "program p { command $env; most many }", qr/many/],
	['nice below 0', 'path /a { run p }',
	    "program p { command $env; nice -5 }", qr/-5/],
	['a pattern, and a directory', "path /a { run p for \"*.x\" }",
	    "program p { directory $dir/cgi }", qr/directory|\bp\b/],
);
for my $case (@wrong) {
	my ($what, $rule, $global, $says) = @$case;
	my $conf = "$dir/wrong.conf";

	write_file($conf, "$global\nsite default {\n\tlisten 127.0.0.1:0\n" .
	    "\troot $www\n\t$rule\n}\n");
	my ($status, $out, $err) = run_amped('-t', '-f', $conf);
	isnt($status, 0, "-t: $what");
	like($err, qr/\Q$conf\E:\d+.*$says/, '... says where, and of what');
}

# amped -u tells which program would run.
my $user_line = $> == 0 ? 'user ' . Amped::ordinary_user() . "\n" : '';
write_file("$dir/good.conf", $user_line . <<"END");
log { error stderr warn }
program php { command $dir/bin/env }
site default {
	listen 127.0.0.1:0
	root $www
	run php for "*.php"
	path /cgi { cgi $dir/cgi }
	path /off { run off }
	path /front { fallback /a.php }
}
END
my ($status, $out, $err) = run_amped('-t', '-f', "$dir/good.conf");
is($status, 0, '-t: a conf with programs') or diag($err);
for my $case (['/a.php/x', qr/\bphp\b/], ['/cgi/env/x', qr{cgi/env}],
    ['/off/a.php', qr/200 OK/],
    ['/front/none', qr{^page +/a\.php, by fallback /a\.php \([^)]*\)$}m], ['/cgi/closed', qr/403/],
    ['/cgi/', qr{^lookup .*/cgi/: a directory$}m],
    ['/cgi/nothing', qr/404/]) {
	my ($url, $says) = @$case;

	($status, $out, $err) = run_amped('-f', "$dir/good.conf", '-u', $url);
	like($out, $says, "-u $url") or diag($err);
	unlike($out . $err, qr/secret|Sanitizer/, '... shows nothing of it');
}
is(scalar(grep { m{/cgi/env/x$} } $programs->ran), 1,
    '-u has run no program');

done_testing();
