#!/usr/bin/perl
# The bodies of requests for CGI programs: all of a body is there before its
# program starts, whatever its framing, its length and the client's pace.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content);
use Amped::Programs;
use Compress::Zlib ();
use Digest::SHA qw(sha256_hex);
use Test::More;

# A body beyond this length is not read, and one that waits counts.
my $most = 4 << 20;
my $programs = Amped::Programs->new;
my $dir = $programs->dir;

$programs->perl('cgi/sum', <<'END');
require Digest::SHA;
my $body = take_body();
open(my $ran, '>>', "$gate/ran");
print $ran "$ENV{QUERY_STRING}\n";
close($ran);
head();
put(join(' ', length($body), Digest::SHA::sha256_hex($body),
    $ENV{CONTENT_LENGTH} // 'none', $ENV{REQUEST_METHOD}));
END
my $server = $programs->start(program => '', global => <<"END", site =>
limits {
	bodies 24M
}
program one {
	directory $dir/cgi
	most 1
	nice 0
	within 60s
}
END
    <<"END");
	path /small { run all; body 1000 }
	path /middle { run all; body 100K }
	path /large { run all; body 4M }
	path /huge { run all; body 20M }
	path /late { run all; body within 1s }
	path /one { run one; body 1M }
END

sub request { return Amped::Programs::request(@_) }

# What "sum" says of a body.
sub sum {
	my ($body, $method) = @_;
	my $n = length($body);

	return join(' ', $n, sha256_hex($body), $n || 'none',
	    $method // 'POST');
}

# A body of none may have a length of 0.
sub is_sum {
	my ($answer, $body, $what, $method) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $is = "$answer->{status} $answer->{body}" =~ s/ 0 (\w+)\z/ none $1/r;

	is($is, '200 ' . sum($body, $method), $what);
}

# A body in pieces of some length.
sub pieces {
	my ($body, $length) = @_;

	return [unpack("(a$length)*", $body)];
}

# 4.2: each length, around what is kept in memory, in both framings.
for my $n (0, 1, 2, 1000, 4095, 4096, 65535, 65536, 65537, 131072, 1 << 20,
    $most - 1, $most) {
	my $body = content("body$n", $n);

	is_sum(my $answer = $programs->get('/large/sum', method => 'POST',
	    body => $body), $body, "4.2: a body of $n bytes");
	is($answer->{then}, 'open', '... and the connection goes on');
	is_sum($programs->get('/huge/sum', method => 'POST',
	    chunks => pieces($body, 8192)), $body, '... in chunks');
}
# 4.2: chunks of each length.
my $text = content('chunks', 100_000);
for my $length (1000, 4096, 16_384, 65_535, 65_536, 65_537, 100_000) {
	is_sum($programs->get('/large/sum', method => 'POST',
	    chunks => pieces($text, $length)), $text,
	    "4.2: chunks of $length bytes");
}
my $short = substr($text, 0, 500);
is_sum($programs->get('/large/sum', method => 'POST',
    chunks => pieces($short, 1)), $short, '4.2: chunks of 1 byte');
my $all = join('', map { chr } 0 .. 255) x 3;
is_sum($programs->get('/large/sum', method => 'POST', body => $all), $all,
    '4.2: all bytes');
is_sum($programs->get('/large/sum', method => 'POST',
    body => "0\r\n\r\nGET /z HTTP/1.1\r\n\r\n"),
    "0\r\n\r\nGET /z HTTP/1.1\r\n\r\n", '4.2: a body like a request');

# 4.1.12: methods with a body, and without.
for my $method (qw(GET POST PUT DELETE PATCH OPTIONS)) {
	is_sum($programs->get('/large/sum', method => $method,
	    body => 'abc'), 'abc', "4.3: $method with a body", $method);
	is_sum($programs->get('/large/sum', method => $method), '',
	    "4.3: $method without one", $method);
}
my $answer = $programs->get('/large/sum', method => 'HEAD', body => 'abc');
is("$answer->{status} $answer->{then}", '200 open', '4.3.3: HEAD with a body');
like($programs->get('/large/sum', method => 'BREW', body => 'abc')->{status},
    qr/\A(?:200|501)\z/, '4.3.4: a method of its own, or none');
is_sum($programs->get('/large/sum', method => 'POST', version => '1.0',
    body => 'abc'), 'abc', '4.2: a body in 1.0');
is_sum($programs->get('/large/sum', method => 'POST', version => '1.0'), '',
    '4.2: a POST of 1.0 without a length has none');
is_sum($programs->get('/large/sum', method => 'POST'), '',
    '4.2: nor has one of 1.1');

# In pieces that have nothing to do with its framing.
for my $by (1, 7, 100) {
	for my $framing (['a length', body => 'abcdefghij' x 10],
	    ['chunks', chunks => [('abcdefghij') x 10]]) {
		my ($name, @body) = @$framing;
		my $client = $programs->client;

		$client->send($_) for unpack("(a$by)*", request('/large/sum',
		    method => 'POST', @body) . request('/z'));
		is_sum($client->response, 'abcdefghij' x 10,
		    "9112 6: $name, $by bytes at a time");
		is($client->response->{body}, "z\n", '... then the next');
	}
}

# 9112 7.1: what is in chunked beside the bytes.
for my $case (['an extension', "3;a=b\r\nabc\r\n0\r\n\r\n", 'abc'],
    ['a trailer', "3\r\nabc\r\n0\r\nX-Trailer: a\r\n\r\n", 'abc'],
    ['a trailer like a field', "3\r\nabc\r\n0\r\nHost: evil\r\n" .
	'Content-Length: 9' . "\r\n\r\n", 'abc'],
    ['zeroes in front', "0003\r\nabc\r\n000\r\n\r\n", 'abc'],
    ['in capitals', "A\r\nabcdefghij\r\n0\r\n\r\n", 'abcdefghij'],
    ['no bytes', "0\r\n\r\n", '']) {
	my ($what, $bytes, $body) = @$case;
	my $client = $programs->ask('/large/sum', method => 'POST',
	    body => $bytes, fields => ['Transfer-Encoding: chunked']);

	is_sum($client->response, $body, "9112 7.1: $what");
	is(Amped::Programs::state_of($client), 'open', '... in step');
}
$answer = Amped::Programs::variables($programs->get('/cgi/env',
    method => 'POST', fields => ['Transfer-Encoding: chunked',
    'Trailer: X-One'], body => "1\r\na\r\n0\r\nX-One: b\r\n\r\n"));
is($answer->{HTTP_X_ONE}, undef, '4.1.18: a trailer is no variable');
is($answer->{CONTENT_LENGTH}, '1', '4.1.2: the length is without the coding');

# No program runs for a body that is none.
for my $case (['no number', 'x', "x\r\nabc\r\n0\r\n\r\n"],
    ['a chunk that is longer', 'longer', "3\r\nabcd\r\n0\r\n\r\n"],
    ['bare LF', 'lf', "3\nabc\n0\n\n"],
    ['a huge chunk', 'huge', "fffffffffffffffff\r\nabc"],
    ['below 0', 'below', "-3\r\nabc\r\n0\r\n\r\n"]) {
	my ($what, $query, $bytes) = @$case;
	$answer = $programs->get("/large/sum?no-$query", method => 'POST',
	    body => $bytes, fields => ['Transfer-Encoding: chunked']);
	like($answer->{status}, qr/\A4(?:00|13)\z/, "9112 7.1: $what");
	is($answer->{then}, 'closed', '... ends the connection');
}
for my $case (['length and chunked', ['Content-Length: 3',
    'Transfer-Encoding: chunked'], 400], ['two lengths',
    ['Content-Length: 3', 'Content-Length: 4'], 400], ['no length',
    ['Content-Length: x'], 400], ['another coding',
    ['Transfer-Encoding: gzip'], 501], ['below 0', ['Content-Length: -3'],
    400]) {
	my ($what, $fields, $status) = @$case;

	is($programs->get('/large/sum?no', method => 'POST', body => 'abc',
	    fields => $fields)->{status}, $status, "9112 6: $what");
}

# 10.1.1 of RFC 9110: the client waits for 100.
my $client = $programs->ask('/large/sum?expected', method => 'POST', fields =>
    ['Expect: 100-continue', 'Content-Length: 3']);
is($client->response('POST')->{status}, 100, '9110 10.1.1: go on');
$client->send('abc');
is_sum($client->response, 'abc', '... and the body arrives');
is(Amped::Programs::state_of($client), 'open', '... in step');
$client = $programs->ask('/large/sum', method => 'POST', fields =>
    ['Expect: 100-continue', 'Transfer-Encoding: chunked']);
is($client->response('POST')->{status}, 100, '9110 10.1.1: for chunks, too');
$client->send("3\r\nabc\r\n0\r\n\r\n");
is_sum($client->response, 'abc', '... which arrive');
$client = $programs->ask('/small/sum?no', method => 'POST', fields =>
    ['Expect: 100-continue', 'Content-Length: 1001']);
is($client->response('POST')->{status}, 413, '9110 10.1.1: not for too much');
$client = $programs->ask('/cgi/nothing', method => 'POST', fields =>
    ['Expect: 100-continue', 'Content-Length: 3']);
like($client->response('POST')->{status}, qr/\A(?:404|100)\z/,
    '9110 10.1.1: what is not there');
is($programs->get('/large/sum?no', method => 'POST', fields =>
    ['Expect: tea'], body => 'abc')->{status}, 417,
    '9110 10.1.1: another expectation');
my $env = Amped::Programs::variables($programs->get('/cgi/env'));
is($env->{HTTP_EXPECT}, undef, 'Expect is not there without it');

# Limits of one body.
for my $case (['small', 1000], ['middle', 100 << 10], ['large', $most]) {
	my ($path, $limit) = @$case;

	$answer = $programs->get("/$path/sum?no", method => 'POST', fields =>
	    ['Content-Length: ' . ($limit + 1)]);
	is("$answer->{status} $answer->{then}", '413 closed',
	    "limit of /$path: one byte more, by its length");
}
for my $case (['small', 1000], ['middle', 100 << 10]) {
	my ($path, $limit) = @$case;

	is_sum($programs->get("/$path/sum", method => 'POST',
	    body => 'x' x $limit), 'x' x $limit, "limit of /$path: as much");
	my $client = $programs->client;
	$client->send(request("/$path/sum?no", method => 'POST', chunks =>
	    pieces('x' x (3 * $limit), 4000)));
	is($client->response->{status}, 413, '... chunks that are too many');
}

# Bodies that end early: no program starts.
for my $case (['a length', 'abc', ['Content-Length: 5']],
    ['a chunk', "5\r\nabc", ['Transfer-Encoding: chunked']],
    ['the last chunk', "3\r\nabc\r\n",
    ['Transfer-Encoding: chunked']]) {
	my ($what, $bytes, $fields) = @$case;
	my $client = $programs->ask('/large/sum?no', method => 'POST',
	    body => $bytes, fields => $fields);

	$client->half_close;
	$answer = $client->response('POST') // { status => 'closed' };
	is($answer->{status}, 400,
	    "9112 8: incomplete: a client that ends within $what");
	$client = $programs->ask('/late/sum?no', method => 'POST',
	    body => $bytes, fields => $fields);
	is($client->response('POST')->{status}, 408,
	    '9110 15.5.9: ... that is too slow');
	ok($client->closed, '... and is not waited for');
	$client = $programs->ask('/large/sum?no', method => 'POST',
	    body => $bytes, fields => $fields);
	$client->abort;
}

# All bodies together, which takes a main with more than one client.
SKIP: {
	skip('a main of mp has one client, and may keep its body', 5)
	    if Amped::architecture() eq 'mp';
	my @waiting;
	for my $i (1, 2) {
		push(@waiting, $programs->ask('/huge/sum', method => 'POST',
		    body => 'x' x (10 << 20),
		    fields => ['Content-Length: ' . (11 << 20)]));
	}
	my $refused = eval { await('bodies to be refused', sub {
		my $answer = $programs->get('/huge/sum?no', method => 'POST',
		    body => 'x' x (5 << 20));
		return $answer if $answer->{status} != 200;
	}) };
	is($refused && $refused->{status}, 503,
	    'limits bodies: too many bytes');
	is($programs->get('/z')->{status}, 200, '... do not harm anybody else');
	$_->send('x' x (1 << 20)) for @waiting;
	is_sum($_->response, 'x' x (11 << 20),
	    '... and those that were first come in') for @waiting;
	ok(eval { await('room', sub {
		$programs->get('/huge/sum', method => 'POST',
		    body => 'x' x (10 << 20))->{status} == 200;
	}) }, '... then there is room');
}

# Uploads that take their time occupy no program: this one runs once at most.
my @slow = map { $programs->ask('/one/sum', method => 'POST', body => 'ab',
    fields => ['Content-Length: 3']) } 1 .. 10;
is_sum($programs->get('/one/sum', method => 'POST', body => 'quick'), 'quick',
    "ten slow uploads, and one that is quick: number $_") for 1 .. 3;
$_->send('c') for @slow;
is(scalar(grep { ($_->response // { body => '' })->{body} eq sum('abc') }
    @slow), 10, 'and all ten arrive');

# Programs that do otherwise with their input.
my %programs = (
	'does not read it' => "head(); put('hello');",
	'closes it' => "close(STDIN); head(); put('hello');",
	'answers before it reads' =>
	    "head(); put('hel'); take_body(); put('lo');",
	'reads a part of it' => "sysread(STDIN, my \$x, 10); head(); " .
	    "put('hello');",
	'reads it by a child' => 'waitpid(begin_child(sub { take_body() }), ' .
	    '0); head(); put("hello");',
);
for my $how (sort keys %programs) {
	for my $n (10, 100_000, 3 << 20) {
		$answer = $programs->get($programs->play($programs{$how}),
		    method => 'POST', body => 'x' x $n);
		is("$answer->{status} $answer->{body} $answer->{then}",
		    '200 hello open', "a program that $how: $n bytes");
	}
}
my $echo = $programs->play(<<'END');
head();
while (sysread(STDIN, my $bytes, 65536)) { put($bytes) }
END
for my $n (1, 65_536, 3 << 20) {
	my $body = content('echo', $n);
	$answer = $programs->get($echo, method => 'POST', body => $body);
	ok($answer->{body} eq $body && !$answer->{short},
	    "a program that sends back $n bytes as it reads them");
}
$answer = $programs->get($programs->play(<<'END'), method => 'POST',
head();
put(tell(STDIN) . ' ');
my $n = sysread(STDIN, my $x, 100);
put("$n " . (sysread(STDIN, $x, 100) // 'error'));
END
    body => 'abc');
is($answer->{body}, '0 3 0', '4.2: it begins at the first byte, and ends');
$answer = $programs->get($programs->play(
    'head(); put(sysread(STDIN, my $x, 9) // "error")'));
is($answer->{body}, '0', '4.2: without a body there is nothing to read');

# What is compressed stays so.
my $zip = Compress::Zlib::memGzip($text);
$env = Amped::Programs::variables($programs->get('/cgi/env', method => 'POST',
    body => $zip, fields => ['Content-Encoding: gzip']));
ok($env->{'-body'} eq $zip, 'gzip: the bytes are those that were sent');
is($env->{HTTP_CONTENT_ENCODING}, 'gzip', '... and the program is told');
is($env->{CONTENT_LENGTH}, length($zip), '... their length');
my $form = "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\na\0b" .
    "\r\n--x--\r\n";
$env = Amped::Programs::variables($programs->get('/cgi/env', method => 'POST',
    chunks => pieces($form, 10), fields =>
    ['Content-Type: multipart/form-data; boundary=x']));
is($env->{CONTENT_TYPE}, 'multipart/form-data; boundary=x',
    'a form of parts: its type');
is($env->{CONTENT_LENGTH}, length($form), '... and length');

# Requests with bodies in one piece.
$client = $programs->client;
my @bodies = ('a', '', 'b' x 70_000, "GET /z HTTP/1.1\r\n\r\n", 'c');
$client->send(join('', map { request('/large/sum', method => 'POST',
    body => $_), request('/z'), request('/large/sum', method => 'PUT',
    chunks => length($_) ? [$_] : []) } @bodies));
for my $body (@bodies) {
	is_sum($client->response, $body, 'a pipeline: a POST');
	is($client->response->{body}, "z\n", '... a file');
	is_sum($client->response, $body, '... a PUT', 'PUT');
}
is(Amped::Programs::state_of($client), 'open', '... and it goes on');

is(scalar(grep { /^no/ } $programs->ran), 0,
    'no program has run for a body that was refused or not complete');
is(scalar(grep { /^expected/ } $programs->ran), 1,
    '... and one for each that was');

$server->stop;
done_testing();
