#!/usr/bin/perl
# Programs that authorize (FastCGI 1.0, section 6.3): what they are asked, which
# answers let a request pass, what becomes of those, and that nothing is served
# without an answer.  Each case names its rule.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await run_amped slurp write_file);
use Amped::Applications;
use Amped::Programs;
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::needs_many_clients(4);

my $password = crypt('secret', '$6$abcdefgh$');
my $basic = 'Authorization: Basic ' . encode_base64('joe:secret', '');
my $programs = Amped::Programs->new('bin/' => '', 'run/' => '',
    'users' => "joe:$password\n", 'gate/asked' => '',
    'www/a/file' => "the file\n", 'www/a/list/one' => "1\n",
    'www/a/dir/index.html' => "index\n", 'www/a/open/file' => "open\n",
    'www/far/file' => "far file\n", 'www/late/file' => "late\n",
    'www/none/file' => "none\n", 'www/role/file' => "role\n",
    'www/one/file' => "one\n", 'www/brief/file' => "brief\n",
    'www/pass/file' => "pass\n", 'www/net/file' => "net\n",
    'www/any/file' => "any\n", 'www/mixed/index.html' => "mixed\n",
    'www/fall/page' => "page\n", 'www/err/page' => "sorry\n",
    'www/front/index.app' => "secret\n", 'www/ready/x' => '',
    'www/php/file' => "php\n");
my $dir = $programs->dir;
chmod(0666, "$dir/gate/asked");

# Notes each question, and runs the lines of Perl that a field of the request
# names; without it, refuses.
my $gate = <<'END';
	if (open(my $fh, '>>', "$gate/asked")) {
		syswrite($fh, join(' ', @{$request{params}}{qw(REQUEST_METHOD
		    DOCUMENT_URI)}) . "\n");
	}
	my $case = $request{params}{HTTP_X_CASE};
	if (defined($case)) {
		my $done = do("%CASES/$case");
	} else {
		put("Status: 403 Closed\nContent-Type: text/x\n\nclosed");
	}
END
my $file = Amped::Applications::make($programs, 'gate', 'fastcgi', $gate);
my %app = map { $_ => Amped::Applications::make($programs, $_, $_,
    'put_all();') } qw(fastcgi scgi);
my %place = map { $_ => Amped::Applications::place($_ eq 'tcp' ? 'tcp' :
    'unix', "$dir/run", $_) } qw(tcp unix scgi none);
my @running = (Amped::Applications->serve($file, $place{tcp}, 2),
    Amped::Applications->serve($file, $place{unix}, 2),
    Amped::Applications->serve($app{scgi}, $place{scgi}, 2));

# The script of amped-programs(7).
my $php = '/usr/bin/php-cgi';
my ($script) = slurp(Amped::source_dir() . '/man/amped-programs.7') =~
    /^(<\?php(?:(?!^\.Ed$).)*Variable-.*?)^\.Ed$/ms;
write_file("$dir/login.php", $script);
my $by_php = -x $php ? "program php { fastcgi $php\n" .
    "environment SCRIPT_FILENAME $dir/login.php }\n" : '';
my $php_path = -x $php ? 'path /php { authorize php }' : '';

my $server = $programs->start(others => <<"END", site => <<"END2");
program gate {
	fastcgi $file
	authorization pass
	environment GREETING hello
	most 4
	nice 0
}
program brief { fastcgi $file; silence 300ms }
program far { fastcgi $place{unix} $place{tcp}; authorization pass }
program late { fastcgi $place{unix}; answer 300ms }
program one { fastcgi $file; most 1; queue 0 }
program none { fastcgi $place{none}; within 100ms }
program app { fastcgi $app{fastcgi}; environment OWN conf }
program scgi { scgi $place{scgi} }
$by_php
program env { command $dir/cgi/env; environment AUTH_OWN conf }
END
	path /a { authorize gate; listing html }
	path /a/open { authorize off }
	path /a/app { run app; body 1M }
	path /a/scgi { run scgi }
	path /a/cgi { run env }
	path /a/moved { redirect 301 /new }
	path /a/gone { return 410 }
	path /far { authorize far }
	path /far/app { run app }
	path /late { authorize late }
	path /brief { authorize brief }
	path /one { authorize one }
	path /none { authorize none }
	path /pass { authorize gate; auth Own $dir/users }
	path /net { authorize gate; deny all }
	path /any { authorize gate; auth Own $dir/users; allow 127.0.0.1
		satisfy any }
	path /mixed { authorize far }
	path /mixed/index.html { authorize gate }
	path /fall { authorize gate; fallback /fall/page }
	path /err { authorize gate; error 502 /err/page }
	path /front { authorize gate; run app for *.app
		fallback /front/index.app }
	path /ready { authorize gate; ready on }
	$php_path
END2

# What is asked since the last call.
my $seen = 0;
sub asked {
	my @all = split(/\n/, slurp("$dir/gate/asked"));
	my @new = @all[$seen .. $#all];

	$seen = @all;
	return join(', ', @new);
}

# The answer to a request about which a program is asked that runs these lines.
sub answer {
	my ($target, $code, %opt) = @_;
	my $case = $programs->play($code) =~ s/.*\?//r;

	return $programs->get($target, %opt,
	    fields => ["X-Case: $case", @{$opt{fields} // []}]);
}

sub text_of {
	my ($answer) = @_;

	return "$answer->{status} $answer->{body}" .
	    ($answer->{short} ? ' (short)' : '');
}

sub text { return text_of(answer(@_)) }

my $pass = 'put("Status: 200\n\n");';
my $what_is_served = 'before anything of the path is served: ';

# Rule: before anything of the path is served.
for (['a file', '/a/file'], ['a file that is in the cache', '/a/file'],
    ['a listing', '/a/list/'], ['an index', '/a/dir/'],
    ['a directory without its slash', '/a/list'], ['a redirect', '/a/moved'],
    ['a refusal', '/a/gone'], ['nothing that is there', '/a/no'],
    ['a program', '/a/app'], ['a probe', '/ready'],
    ['a server elsewhere', '/far/file'],
    ['a program beneath that', '/far/app']) {
	my ($what, $target) = @$_;

	asked();
	is(text_of($programs->get($target)), '403 closed',
	    "$what_is_served$what: refused");
	is(asked(), "GET $target", '... by the program, asked once');
}
is(text_of($programs->get('/a/open/file')), "200 open\n",
    'authorize off: not asked');
is(asked(), '', '... indeed');

# Rule: 200 lets the request go on.
for (['/a/file', '200 the file'], ['/a/file', '200 the file'],
    ['/a/list/', '200 .*one'], ['/a/dir/', '200 index'],
    ['/a/list', '301 '], ['/a/moved', '301 '], ['/a/gone', '410 '],
    ['/a/no', '404 '], ['/ready', '200 ready'], ['/far/file', '200 far file'],
    ['/a/app', '200 .*REQUEST_METHOD=GET']) {
	my ($target, $want) = @$_;

	like(text($target, $pass), qr/\A$want/s, "200: $target goes on");
}
for ('Status: 200 OK\nContent-Length: 5\n\nother', 'Content-Type: a/b\n\nx',
    'HTTP/1.1 200 Fine\n\n', 'Status: 200\nLocation: /z\n\n') {
	is(text('/a/file', "put(\"$_\");"), "200 the file\n",
	    "200, however it is said: " . $_);
}
my $answer = answer('/a/file', 'put("Status: 200\nX-Own: 1\n' .
    'Set-Cookie: a=b\nETag: \"x\"\n\nbody");');
ok(!exists($answer->{field}{'x-own'}) && !exists($answer->{field}{'set-cookie'})
    && $answer->{field}{etag} ne '"x"', 'fields of a 200 are ignored');
is($answer->{then}, 'open', '... and the connection goes on');
is(text('/a/file', 'put("Status: 200\n\n"); put("x" x 3_000_000);'),
    "200 the file\n", 'the content of a 200 is ignored, however long');

# Rule: what the program gets.
my $tell = 'my $p = $request{params}; tell_test("told", join("\0", ' .
    '(map { "$_=$p->{$_}" } sort keys %$p), "-role=$request{role}", ' .
    '"-flags=$request{flags}", "-pid=$$", "-body=" . take_body()));';
sub told {
	my ($target, %opt) = @_;

	unlink("$dir/gate/told");
	answer($target, $tell . $pass, %opt);
	return Amped::Programs::variables({ body => $programs->told('told') });
}
my $v = told('/a/%61pp/x?q=1', method => 'POST', body => 'the body',
    fields => ['Content-Type: text/x', 'Proxy: evil', $basic]);
is($v->{'-role'}, 2, 'the role is AUTHORIZER');
is($v->{'-body'}, '', 'there is no body');
ok(!exists($v->{$_}), "there is no $_")
    for qw(CONTENT_LENGTH PATH_INFO PATH_TRANSLATED SCRIPT_NAME HTTP_PROXY
    SCRIPT_FILENAME REMOTE_USER AUTH_TYPE HTTP_CONTENT_LENGTH);
is_deeply([@$v{qw(REQUEST_METHOD REQUEST_URI QUERY_STRING DOCUMENT_URI
    CONTENT_TYPE REMOTE_ADDR GREETING)}], ['POST', '/a/%61pp/x?q=1', 'q=1',
    '/a/app/x', 'text/x', '127.0.0.1', 'hello'],
    'the request and the block say the rest');
like($v->{HTTP_AUTHORIZATION}, qr/^Basic /, 'authorization pass: the field');
is($v->{'-flags'}, 1, 'the connection to an own process is kept');
is(told('/far/file')->{'-flags'}, 0, '... and that to a server is not');
is(told('/one/file')->{'-pid'}, told('/one/file')->{'-pid'},
    '... and the process has the next question');
is(told('/a/file', method => $_)->{REQUEST_METHOD}, $_, "asked about $_")
    for qw(HEAD OPTIONS);
is(told('/a/../a//file')->{DOCUMENT_URI}, '/a/file',
    'DOCUMENT_URI is the path whose rules they are');

# Rule: the body goes to the program that answers, and to no other.
for my $path (qw(/a/app /a/scgi /a/cgi)) {
	$v = Amped::Programs::variables(answer($path, $pass, method => 'POST',
	    chunks => ['the ', 'body']));
	is($v->{'-body'}, 'the body', "$path gets the body");
	is($v->{CONTENT_LENGTH}, 8, '... and its length');
}

# Rule: Variable-* become variables of the program that is then run.
my $names = 'put("Status: 200\nVariable-REMOTE_USER: ann\n' .
    'Variable-AUTH_METHOD: database lookup\nvariable-Shib-Id: 1 = 2\n' .
    'Variable-SERVER_SOFTWARE: theirs\nVariable-OWN: theirs\n' .
    'Variable-AUTH_OWN: theirs\nX-Variable-NO: x\n\n");';
for my $path (qw(/a/app /a/scgi /a/cgi)) {
	$v = Amped::Programs::variables(answer($path, $names));
	is($v->{AUTH_METHOD}, 'database lookup', "$path: Variable-AUTH_METHOD");
	is($v->{REMOTE_USER}, 'ann', '... Variable-REMOTE_USER');
	is($v->{Shib_Id}, $path eq '/a/cgi' ? undef : '1 = 2',
	    '... other names, but of CGI');
	is($v->{SERVER_SOFTWARE}, 'theirs', '... in place of one of amped');
	ok(!exists($v->{NO}) && !exists($v->{HTTP_X_VARIABLE_NO}),
	    '... and no other field');
}
is($v->{AUTH_OWN}, 'conf', 'the conf comes before the program, with CGI');
is(Amped::Programs::variables(answer('/a/app', $names))->{OWN}, 'conf',
    '... and with FastCGI');
is(Amped::Programs::variables(answer('/a/app', $names))->{'-role'}, 1,
    'the program that answers is a RESPONDER');
$server->wait_line(qr{ - ann \[.*"GET /a/app }, $server->{access});
pass('REMOTE_USER is the user of the access log');
answer('/a/file', 'put("Status: 200\nVariable-REMOTE_USER: bob \"x\"\n\n");');
$server->wait_line(qr{ - bob\\x20\\x22x\\x22 \[.*"GET /a/file },
    $server->{access});
pass('... with a file, too');
answer('/a/file', 'put("Status: 403\nVariable-REMOTE_USER: eve\n\n");');
answer('/a/file?last', $pass, fields => [$basic]);
$server->wait_line(qr{ - - \[.*"GET /a/file\?last }, $server->{access});
unlike(slurp($server->{access}), qr/ - eve /, '... but not with a refusal');
unlike(slurp($server->{access}), qr/ - joe /,
    '... nor is one whose password nobody has checked');
for (qw(HTTP_COOKIE HTTP-COOKIE CONTENT_LENGTH 1A), '') {
	is(answer('/a/file', "put(\"Status: 200\\nVariable-$_: x\\n\\n\");")
	    ->{status}, 502, "Variable-$_ cannot be set: 502");
}
is(answer('/a/cgi', 'put("Status: 200\nVariable-DOCUMENT_ROOT: /etc\n\n");')
    ->{status}, 502, 'nor can a directory be that the conf does not have');

# Rule: any other status with its body is the answer to the client.
for (201, 204, 301, 304, 401, 403, 404, 500, 503) {
	my $bodiless = $_ == 204 || $_ == 304;

	$answer = answer('/a/file', "put(\"Status: $_\\nX-Own: 1\\n" .
	    'Set-Cookie: a=b\nContent-Type: a/b\n\nits body");');
	is(text_of($answer), "$_ " . ($bodiless ? '' : 'its body'),
	    "status $_ is the answer");
	is("$answer->{field}{'x-own'}$answer->{field}{'set-cookie'}", '1a=b',
	    '... with its fields');
}
is(text('/a/file', 'put("Status: 401\nContent-Length: 3\n\nno!");',
    method => 'HEAD'), '401 ', '... of HEAD, without its body');
$answer = answer('/a/file', 'put("Location: http://x/login\n\n");');
is("$answer->{status} $answer->{field}{location}", '302 http://x/login',
    'a redirect is the answer');
is(answer('/err/page', 'put("Status: 502\n\nits");')->{body}, 'its',
    'pages of the conf are not for its answers');
is(length(text('/a/file', 'put("Status: 403\n\n" . "x" x 3_000_000);')),
    3_000_004, 'a long answer');
for (qw(/a/file /a/app /far/app)) {
	my $name = /far/ ? 'far' : 'gate';

	ok($server->wait_line(qr{ 403 for $_ on \S+ from \S+ the program that } .
	    qr{authorizes does not let it pass: authorize $name \(.*\)$}),
	    "the error log tells of it: $_");
}

# Rule: a refusal reads no body, and nothing of it is a request.
my $inner = "GET /a/open/file HTTP/1.1\r\nHost: x\r\n\r\n";
for ('put("Status: 403\n\nno");', 'put("Location: /a/open/file\n\n");') {
	asked();
	$answer = answer('/a/app', $_, method => 'POST', body => $inner);
	is($answer->{then}, 'closed', 'an unread body ends the connection');
	is(asked(), 'POST /a/app', '... and is no request');
}
my $client = $programs->ask('/a/app', method => 'POST', body => '',
    fields => ['Expect: 100-continue', 'Content-Length: 5']);
is($client->response->{status}, 403, 'refused before 100-continue');
$answer = answer('/a/file', $pass, body => 'body', method => 'GET');
is(text_of($answer) . $answer->{then}, "200 the file\nopen",
    'the body of a request for a file is discarded');

# Rule: a new path is authorized by its own rules.
asked();
is(text('/a/file', 'put("Location: /a/open/file\n\n");'), "200 open\n",
    'a local redirect to an open path');
is(text('/a/file', 'put($request{params}{DOCUMENT_URI} eq "/a/file" ? ' .
    '"Location: /a/app\n\n" : "Status: 403\n\nnot that");'), '403 not that',
    '... to one that is not');
is(asked(), 'GET /a/file, GET /a/file, GET /a/app', '... asks again');
is(text('/a/file', 'put("Location: /a/file\n\n");'), '502 ' .
    answer('/a/file', 'put("bad\n\n");')->{body}, '... and never for ever');
asked();
is(text('/fall/none', $pass), "200 page\n", 'a fallback');
is(asked(), 'GET /fall/none, GET /fall/page', '... is asked about, too');
is(text('/fall/none', 'put($request{params}{DOCUMENT_URI} eq "/fall/page" ? ' .
    '"Status: 403\n\nnot that" : "Status: 200\n\n");'), '403 not that',
    '... and may be refused');
$v = Amped::Programs::variables(answer('/front/none', 'my $page = ' .
    '$request{params}{DOCUMENT_URI} =~ /app/; put("Status: 200\n" . ($page ? ' .
    '"Variable-B: page" : "Variable-A: path\nVariable-B: path") . "\n\n");'));
is_deeply([@$v{qw(A B REQUEST_URI)}], ['path', 'page', '/front/none'],
    '... with what both have said, if it is a program');
asked();
is(text('/err/x', 'put("bad\n\n");'), "502 sorry\n", 'the page of an error');
is(asked(), 'GET /err/x', '... is not asked about');
asked();
is(text('/mixed/', $pass), "200 mixed\n", 'an index file with its own rule');
is(asked(), 'GET /mixed/, GET /mixed/', '... needs the answers of both');
is(text('/a/dir/', $pass), "200 index\n", '... and else is asked about');
is(asked(), 'GET /a/dir/', '... once');

# Rule: networks and passwords come before.
asked();
is($programs->get('/net/file')->{status}, 403, 'a network is refused');
is(answer('/pass/file', $pass)->{status}, 401, 'a password is missing');
is(answer('/pass/file', $pass, fields => ['Authorization: Basic ' .
    encode_base64('joe:wrong', '')])->{status}, 401, 'a password is wrong');
is(asked(), '', '... nothing is asked');
is(text('/pass/file', $pass, fields => [$basic]), "200 pass\n",
    'both a password and the program');
is(text_of($programs->get('/pass/file', fields => [$basic])), '403 closed',
    'no password stands in for the program');
$v = told('/pass/file', fields => [$basic]);
is_deeply([@$v{qw(REMOTE_USER AUTH_TYPE)}], ['joe', 'Basic'],
    'the program knows whose password it was');
is(text_of($programs->get('/any/file')), '403 closed',
    'satisfy any is about networks and passwords');
is(text('/any/file', $pass), "200 any\n", '... and is satisfied before');

# Rule: conditions, ranges and codings behind the answer.
my $tag = answer('/a/file', $pass)->{field}{etag};
is(answer('/a/file', $pass, fields => ["If-None-Match: $tag"])->{status}, 304,
    'a condition');
is($programs->get('/a/file', fields => ["If-None-Match: $tag"])->{status}, 403,
    '... does not stand in for the answer');
is(text('/a/file', $pass, fields => ['Range: bytes=4-7']), '206 file',
    'a range');
is(answer('/a/file', $pass, method => 'HEAD')->{field}{'content-length'}, 9,
    'HEAD');
is(answer('/a/file', $pass, method => 'OPTIONS')->{status}, 204, 'OPTIONS');
is(answer('/a/file', $pass, method => 'POST', body => '')->{status}, 405,
    'POST for a file is refused, as elsewhere');

# Rule: requests that follow each other wait for their own answers.
my @cases = map { $programs->play($_) =~ s/.*\?//r } $pass,
    'tell_test("slow"); wait_test("slow-go"); ' . $pass, $pass;
$client = $programs->client;
$client->send(join('', map { Amped::Programs::request('/a/file',
    fields => ["X-Case: $_"]) } @cases) . Amped::Programs::request('/z') .
    Amped::Programs::request('/a/file'));
is(text_of($client->response), "200 the file\n", 'the first of five');
$programs->told('slow');
ok($client->quiet, '... the second waits, and those behind it');
is($programs->get('/z')->{status}, 200, '... and others do not');
$programs->let('slow-go');
is(text_of($client->response), $_, '... then each has its own') for
    "200 the file\n", "200 the file\n", "200 z\n", '403 closed';

# Rule: no answer, no access.
for (['no answer' => ''], ['no head' => 'put("some text");'],
    ['an empty head' => 'put("\n");'],
    ['no status' => 'put("Variable-A: 1\n\n");'],
    ['two statuses' => 'put("Status: 200\nStatus: 200\n\n");'],
    ['a status that is none' => 'put("Status: ok\n\n");'],
    ['half a head' => 'put("Status: 200\n");'],
    ['a connection that ends' => 'put("Status: 200\n\n"); hang_up();'],
    ['a process that ends' => 'put("Status: 200\n\n"); kill("KILL", $$);'],
    ['no FastCGI' => 'record(OUTPUT, "Status: 200\n\n", version => 2);'],
    ['another request\'s' =>
	'record(OUTPUT, "Status: 200\n\n", id => $request{id} ^ 1);'],
    ['an error of the protocol' => 'put("Status: 200\n\n"); finish(0, 1);'],
    ['an unknown role' => 'finish(0, 3);']) {
	my ($what, $code) = @$_;

	is(answer('/a/file', $code)->{status}, 502, "$what: 502");
}
ok($server->wait_line(qr/ gate(?:\[\d+\])?: what it answers is not FastCGI: /),
    'another protocol is named');
ok($server->wait_line(qr/ gate(?:\[\d+\])?: it does not have the role /),
    'an unknown role is named');
ok($server->wait_line(qr{ 502 for /a/file on .* its program ended without an } .
    qr{answer: authorize gate \(\S+:\d+\): program gate: it ended}),
    '... and a failure, with the directive and the program');
is(answer('/brief/file', 'put("Status: 200\n\n"); sleep(60);')->{status}, 504,
    'no end of the answer: 504');
is(answer('/late/file', 'sleep(60);')->{status}, 504, 'late: 504');
$answer = answer('/a/file', 'finish(0, 2);');
is($answer->{status}, 503, 'overloaded: 503');
ok(exists($answer->{field}{'retry-after'}), '... and when to ask again');
is(answer('/none/file', $pass)->{status}, 502, 'nobody to ask: 502');
my $slow = $programs->play('tell_test("one"); wait_test("one-go"); ' . $pass)
    =~ s/.*\?//r;
$client = $programs->ask('/one/file', fields => ["X-Case: $slow"]);
$programs->told('one');
is(answer('/one/file', $pass)->{status}, 503, 'no room to ask: 503');
$programs->let('one-go');
is(text_of($client->response), "200 one\n", '... while the first goes on');
is(text('/a/file', 'complain("Status: 200\n\n"); put("Status: 403\n\nno");'),
    '403 no', 'what it writes to its standard error is no answer');
is(text('/a/file', $pass), "200 the file\n", 'and others go on');

# Rule: a script of PHP may be the program.
SKIP: {
	skip('there is no php-cgi', 3) unless -x $php;
	my @with = (fields => ['Cookie: token=4711']);

	is($programs->get('/php/file')->{status}, 403, 'a script refuses');
	is(text_of($programs->get('/php/file', @with)), "200 php\n",
	    '... and lets pass');
	$server->wait_line(qr{ - bob \[.*"GET /php/file }, $server->{access});
	pass('... whom it names');
}

# Rule: a client that goes ends the question.
$slow = $programs->play('tell_test("gone"); wait_test("never");') =~ s/.*\?//r;
$client = $programs->ask('/a/file', fields => ["X-Case: $slow"]);
my $pid = $programs->told('gone');
$client->abort;
$programs->gone('the process that was asked ends', $pid);

# What amped -u says, without asking.
my $conf = "$server->{dir}/amped.conf";
sub explained { return (run_amped('-f', $conf, '-u', $_[0]))[1] }
asked();
my $out = explained('/a/file');
like($out, qr/^authorize gate: fastcgi \Q$file\E, by authorize gate \(.*\)$/m,
    '-u names the program');
like($out, qr/^status +200 OK$/m, '... and goes on as if that said 200');
like($out, qr/^file +9 bytes/m, '... to the file');
unlike($out, qr/^program/m, '... which no program answers');
like(explained('/mixed/'), qr/^authorize far: fastcgi .*\nauthorize gate: /m,
    '... and each one of several');
$out = explained('/a/app/x');
like($out, qr/^authorize gate: .*^program +app: .*^variable +PATH_INFO=\/x$/ms,
    '... beside the program that answers');
unlike(explained('/a/open/file'), qr/^authorize/m, '... and none if off');
is(asked(), '', '... and asks none of them');

# What amped -t refuses.
for (['authorize gat', 'there is no program "gat": write program gat ' .
    '{ fastcgi FILE }, outside of all blocks'],
    ['authorize env', 'program env cannot authorize: only programs of ' .
    'FastCGI can'], ['authorize scgi', 'program scgi cannot authorize']) {
	my ($line, $want) = @$_;
	my $text = slurp($conf) =~ s/(path \/a \{ )authorize gate/$1$line/r;

	write_file("$dir/wrong.conf", $text);
	my ($status, undef, $err) = run_amped('-t', '-f', "$dir/wrong.conf");
	isnt($status, 0, "-t refuses $line");
	like($err, qr/\Q$want\E/, '... and says what to write');
}

for my $all (@running) {
	is($all->errors, '', 'no server has complained');
}
$server->stop;

done_testing();
