#!/usr/bin/perl
# Every error status: when, its page, and whether the connection goes on.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot);
use Test::More;

my $root = docroot('a.txt' => "a\n", 'dir/x' => "x\n",
    map { ("cold$_" => "cold\n") } 1 .. 9);
my $server = Amped->start(root => $root, global => <<'END');
limits {
	idle 1s
	head 1s
	disk 1s
}
helpers 1 max 1
END

# A file without end, which costs nothing to make.
open(my $huge, '>', "$root/huge") or die;
my $is_huge = truncate($huge, 2 ** 40);
close($huge);

# Begun now, looked at in the end: they take their second meanwhile.
my %late;
for my $begun ('G', 'GET /a.txt HTTP/1.1', "GET /a.txt HTTP/1.1\r\nHost: x\r\n",
    '') {
	$late{$begun} = $server->connect;
	$late{$begun}->send($begun);
}

my $x = "Host: x\r\n";
# What, request, status, 1 if the connection is closed.
my @cases = (
	# the request line
	['no version', "GET /a.txt\r\n\r\n", 400, 1],
	['two blanks', "GET  /a.txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['a blank behind', "GET /a.txt HTTP/1.1 \r\n$x\r\n", 400, 1],
	['a blank before', " GET /a.txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['a blank in the target', "GET /a txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['a tab', "GET\t/a.txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['no method', "/a.txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['not a token', "G(T /a.txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['http in lower case', "GET /a.txt http/1.1\r\n$x\r\n", 400, 1],
	['no digits', "GET /a.txt HTTP/1.x\r\n$x\r\n", 400, 1],
	['long digits', "GET /a.txt HTTP/1.10\r\n$x\r\n", 400, 1],
	['a control', "GET /a\x01.txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['a NUL', "GET /a\0.txt HTTP/1.1\r\n$x\r\n", 400, 1],
	['eight bits', "GET /\xe9 HTTP/1.1\r\n$x\r\n", 400, 1],
	['bare LF', "GET /a.txt HTTP/1.1\n$x\n", 400, 1],
	['bare CR', "GET /a.txt HTTP/1.1\r$x\r\n\r\n", 400, 1],
	['noise', "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 400, 1],
	# fields
	['no colon', "GET / HTTP/1.1\r\n${x}Field\r\n\r\n", 400, 1],
	['a blank before the colon', "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400,
	    1],
	['no name', "GET / HTTP/1.1\r\n$x: y\r\n\r\n", 400, 1],
	['a folded line', "GET / HTTP/1.1\r\n${x}A: b\r\n c\r\n\r\n", 400, 1],
	['a blank first', "GET / HTTP/1.1\r\n A: b\r\n$x\r\n", 400, 1],
	['bare LF in fields', "GET / HTTP/1.1\r\n${x}A: b\nC: d\r\n\r\n", 400,
	    1],
	['bare CR in a field', "GET / HTTP/1.1\r\n${x}A: b\rC: d\r\n\r\n", 400,
	    1],
	['NUL in a field', "GET / HTTP/1.1\r\n${x}A: b\0c\r\n\r\n", 400, 1],
	['a control in a field', "GET / HTTP/1.1\r\n${x}A: \x7f\r\n\r\n", 400,
	    1],
	['a bracket in a name', "GET / HTTP/1.1\r\n${x}A[: b\r\n\r\n", 400, 1],
	# framing
	(map { ["Content-Length $_",
	    "POST / HTTP/1.1\r\n${x}Content-Length: $_\r\n\r\n", 400, 1] }
	    '+5', '-1', '5 5', '5, 5', '0x5', '', '5.0', '9' x 30),
	['two lengths', "POST / HTTP/1.1\r\n${x}Content-Length: 1\r\n" .
	    "Content-Length: 1\r\n\r\n", 400, 1],
	['length and coding', "POST / HTTP/1.1\r\n${x}Content-Length: 1\r\n" .
	    "Transfer-Encoding: chunked\r\n\r\n", 400, 1],
	['chunked not last', "POST / HTTP/1.1\r\n${x}Transfer-Encoding: " .
	    "chunked, identity\r\n\r\n", qr/400|501/, 1],
	['a coding in 1.0', "POST / HTTP/1.0\r\nTransfer-Encoding: chunked" .
	    "\r\n\r\n", 400, 1],
	['an unknown coding', "POST / HTTP/1.1\r\n${x}Transfer-Encoding: foo" .
	    "\r\n\r\n", qr/400|501/, 1],
	# names
	['what is forbidden', "GET /.htaccess HTTP/1.1\r\n$x\r\n", 403, 0],
	['a directory', "GET /dir/ HTTP/1.1\r\n$x\r\n", 403, 0],
	['what is not there', "GET /no-such HTTP/1.1\r\n$x\r\n", 404, 0],
	['not there, HEAD', "HEAD /no-such HTTP/1.1\r\n$x\r\n", 404, 0],
	# methods
	(map { ["$_", "$_ /a.txt HTTP/1.1\r\n$x\r\n", 405, 0] }
	    qw(POST PUT DELETE TRACE PATCH)),
	['CONNECT', "CONNECT x:80 HTTP/1.1\r\n$x\r\n", 501, 1],
	['an unknown method', "BREW /a.txt HTTP/1.1\r\n$x\r\n", 501, 0],
	['a method in lower case', "get /a.txt HTTP/1.1\r\n$x\r\n", 501, 0],
	# conditions, ranges
	['If-Match', "GET /a.txt HTTP/1.1\r\n${x}If-Match: \"x\"\r\n\r\n", 412,
	    0],
	['a range beyond', "GET /a.txt HTTP/1.1\r\n${x}Range: bytes=2-\r\n\r\n",
	    416, 0],
	['an expectation', "GET /a.txt HTTP/1.1\r\n${x}Expect: tea\r\n\r\n",
	    417, undef],
	# limits
	['a long target', "GET /" . 'a' x 9000 . " HTTP/1.1\r\n$x\r\n", 414, 1],
	['a long query', "GET /?" . 'a' x 9000 . " HTTP/1.1\r\n$x\r\n", 414, 1],
	['without end', 'GET /' . 'a' x 20000, 414, 1],
	['a long field', "GET / HTTP/1.1\r\n${x}A: " . 'a' x 20000 .
	    "\r\n\r\n", 431, 1],
	['a long field name', "GET / HTTP/1.1\r\n${x}" . 'a' x 20000, 431, 1],
	['many fields', "GET / HTTP/1.1\r\n$x" . "A: b\r\n" x 101 . "\r\n",
	    431, 1],
	# versions
	(map { ["HTTP/$_", "GET /a.txt HTTP/$_\r\n$x\r\n", 505, 1] }
	    '2.0', '0.9', '3.0'),
);

sub is_page {
	my ($answer, $status, $method) = @_;
	my $field = $answer->{field};

	like($field->{'content-type'} // '', qr{\Atext/html; *charset=utf-8\z}i,
	    'a page of HTML');
	cmp_ok($field->{'content-length'}, '<', 1000, 'a short one');
	ok(!exists($field->{$_}), "without $_") for qw(last-modified etag);
	if ($method eq 'HEAD') {
		is($answer->{body}, '', 'no body for HEAD');
	} else {
		is(length($answer->{body}), $field->{'content-length'},
		    'of its length');
		like($answer->{body}, qr/$status/, 'with the status');
		unlike($answer->{body}, qr/BREW|htaccess|no-such/,
		    'that repeats nothing of the request');
	}
}

for my $case (@cases) {
	my ($what, $request, $status, $closed) = @$case;
	my $client = $server->connect;
	my ($method) = $request =~ /^(HEAD)/;

	$client->send($request);
	my $answer = $client->response($method //= 'GET');
	like($answer->{status}, qr/\A(?:$status)\z/, "$what: $status");
	is_page($answer, $answer->{status}, $method);
	is($answer->{field}{allow}, 'GET, HEAD, OPTIONS', 'says what is allowed')
	    if $answer->{status} == 405;
	next if !defined($closed);
	if ($closed) {
		is($answer->{field}{connection}, 'close', 'says it closes');
		ok($client->closed, 'and closes');
	} else {
		$client->send("GET /a.txt HTTP/1.1\r\n$x\r\n");
		is(eval { $client->response->{body} }, "a\n",
		    'the connection goes on');
	}
}

# A body that is not wanted is never taken for a request.
my $inner = "GET /none-of-this HTTP/1.1\r\nHost: x\r\n\r\n";
my $size = length($inner);
for my $framing ("Content-Length: $size\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n" . sprintf("%x\r\n", $size)) {
	my $client = $server->connect;
	my @statuses;

	$client->send("POST /a.txt HTTP/1.1\r\n$x$framing$inner");
	while (my $answer = eval { $client->response }) {
		push(@statuses, $answer->{status});
		last if $client->closed;
	}
	is_deeply(\@statuses, [405], 'a body is not a request');
}

# A large body that nobody reads: the answer is seen all the same.
my $client = $server->connect;
$client->send("PUT /a.txt HTTP/1.1\r\n${x}Content-Length: 9000000\r\n\r\n" .
    'x' x 300_000);
is(eval { $client->response->{status} }, 405, 'an answer before a large body');

# 408: the head does not come; nothing at all: closed without a word.
for my $begun (sort(keys(%late))) {
	if ($begun eq '') {
		ok($late{$begun}->closed, 'idle: closed');
		next;
	}
	my $answer = $late{$begun}->response;
	is($answer->{status}, 408, 'a head that does not end: 408');
	is_page($answer, 408, 'GET');
	is($answer->{field}{connection}, 'close', 'says it closes');
	ok($late{$begun}->closed, 'and closes');
}
# The limit counts from the first byte, not from later bytes.
$client = $server->connect;
my $n = 0;
$client->send('GET / HTTP/1.1');
await('the timeout', sub {
	$client->send("\r\nX: " . 'y' x ++$n) if $client->quiet;
	return !$client->quiet;
}, 10);
is($client->response->{status}, 408, 'a head that drips in: 408');

# 503: the disk does not answer.
SKIP: {
	skip('without helpers everybody waits', 4)
	    if Amped::architecture() ne 'amped';
	is($server->get('/cold1')->{status}, 200, 'a helper works');
	$server->kill_role('STOP', 'helper');
	my $answer = $server->get('/cold2');
	is($answer->{status}, 503, 'no helper works: 503');
	like($answer->{field}{'retry-after'} // '', qr/\A\d+\z/,
	    'says when to come again');
	is_page($answer, 503, 'GET');
	is($server->get('/cold1')->{status}, 200,
	    'what is remembered is served');
	$server->kill_role('CONT', 'helper');
	await('the disk again',
	    sub { $server->get('/cold2')->{status} == 200 });
}

SKIP: {
	skip 'there are no such files here', 2 unless $is_huge;
	is($server->get('/huge')->{status}, 403, 'a file that is too large');
	is($server->get('/a.txt')->{status}, 200, 'the others are served');
}

$server->stop;
done_testing();
