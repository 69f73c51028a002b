#!/usr/bin/perl
# Pages of the conf for all errors, one for several: also for requests that are
# malformed, too long or too late, and before their site is known.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot);
use Test::More;

my $root = docroot('a.txt' => "a\n", 'dir/x' => "x\n", 'err.html' => "err\n",
    'b.html' => "site b\n", 'a.txt.gz' => 'gz');
my $all = '400 401 403 404 405 406 408 410 412 413 414 416 417 429 431 451 ' .
    '500 501 502 503 504 505';
my $server = Amped->start(root => $root, global => <<'EOT', sites => <<"EOT2");
limits {
	head 1s
	body 10
}
program fails { fastcgi unix:/not-there/socket; within 0s }
EOT
site b {
	listen 127.0.0.1:0
	root $root
	error 404 /b.html
}
site default {
	listen 127.0.0.1:0
	root $root
	precompressed gzip
	error $all /err.html
	path /gone { return 410 }
	path /law { return 451 }
	path /fails { run fails }
	path /bare { return 403; error 403 404 /not-there.html }
}
EOT2
my $late = $server->connect;
$late->send("GET /a.txt HTTP/1.1\r\nHo");

# Sends these bytes on a new connection; returns the response.
sub ask {
	my ($bytes) = @_;
	my $client = $server->connect;

	$client->send($bytes);
	return $client->response($bytes =~ /^(\w+)/);
}

my $x = "Host: x\r\n";
my @cases = (
	['malformed', "GET /a.txt\r\n\r\n", 400, 1],
	['without Host', "GET /a.txt HTTP/1.1\r\n\r\n", 400, 1],
	['a bad field of b', "GET / HTTP/1.1\r\nHost: b\r\nA b\r\n\r\n", 400, 1],
	['a bad chunk', "POST / HTTP/1.1\r\n${x}Transfer-Encoding: chunked" .
	    "\r\n\r\nxyz\r\n", qr/400|405/, 1],
	['forbidden', "GET /.x HTTP/1.1\r\n$x\r\n", 403, 0],
	['absent', "GET /no HTTP/1.1\r\n$x\r\n", 404, 0],
	['a method', "PUT /a.txt HTTP/1.1\r\n$x\r\n", 405, 0],
	['no coding', "GET /a.txt HTTP/1.1\r\n${x}" .
	    "Accept-Encoding: gzip;q=0, identity;q=0\r\n\r\n", 406, 0],
	['gone', "GET /gone HTTP/1.1\r\n$x\r\n", 410, 0],
	['a condition', "GET /a.txt HTTP/1.1\r\n${x}If-Match: \"x\"\r\n\r\n",
	    412, 0],
	['a body', "GET /a.txt HTTP/1.1\r\n${x}Content-Length: 11\r\n\r\n", 413,
	    1],
	['a target', 'GET /' . 'a' x 9000 . " HTTP/1.1\r\n$x\r\n", 414, 1],
	['a range', "GET /a.txt HTTP/1.1\r\n${x}Range: bytes=9-\r\n\r\n", 416,
	    0],
	['tea', "GET /a.txt HTTP/1.1\r\n${x}Expect: tea\r\n\r\n", 417, 0],
	['a header', "GET / HTTP/1.1\r\n${x}A: " . 'a' x 20000 . "\r\n\r\n",
	    431, 1],
	['the law', "GET /law HTTP/1.1\r\n$x\r\n", 451, 0],
	['CONNECT', "CONNECT x:80 HTTP/1.1\r\n$x\r\n", 501, 1],
	['a program that fails', "GET /fails HTTP/1.1\r\n$x\r\n", 502, 0],
	['the future', "GET / HTTP/2.0\r\n$x\r\n", 505, 1],
);
for my $case (@cases) {
	my ($what, $bytes, $status, $closes) = @$case;
	my $answer = ask($bytes);

	like($answer->{status}, qr/\A$status\z/, $what);
	is($answer->{body}, "err\n", 'the page');
	is($answer->{field}{etag}, undef, 'which is not the target');
	is($answer->{field}{connection} // '', $closes ? 'close' : '',
	    'the connection');
	is($answer->{field}{'content-range'}, $status eq '416' ?
	    'bytes */2' : undef, 'the length of the target');
}
is(ask("GET /no HTTP/1.1\r\nHost: b\r\n\r\n")->{body}, "site b\n",
    'another site has its own');
like(ask("GET / HTTP/1.1\r\nHost: b\r\n${x}A b\r\n\r\n")->{body},
    qr/^err/, 'but no host is known of what is malformed');
my $answer = ask("GET /bare/ HTTP/1.1\r\n$x\r\n");
is($answer->{status}, 403, 'a page that is not there');
like($answer->{body}, qr/403 Forbidden/, 'has the short one for it');
$answer = $late->response('GET');
is("$answer->{status} $answer->{body}", "408 err\n", 'too late');
$server->stop;
done_testing();
