#!/usr/bin/perl
# RFC 9110 and 9112 to the letter.  A case is one connection: what is sent, and
# what must come back; it runs in one piece, and again one byte at a time.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot);
use Test::More;

my $text = content('text', 1000);
my $root = docroot('a' => $text, 'z' => "z\n", 'dir/index.html' => "dir\n",
    'empty' => '', 'index.html' => "index\n");
my $now = 'Sun, 06 Nov 1994 08:49:37 GMT';
my $before = 'Sun, 06 Nov 1994 08:49:36 GMT';
my $after = 'Sun, 06 Nov 1994 08:49:38 GMT';
my $future = 'Fri, 01 Jan 2100 00:00:00 GMT';

utime(784_111_777, 784_111_777, map { "$root/$_" } qw(a empty)) == 2 or die;
my $server = Amped->start(root => $root, global => <<'END');
limits {
	line 1K
	header 2K
	fields 20
	body 1000 within 20s
}
cache {
	paths 1000 revalidate 50ms
}
END
my $tag;
await('a strong tag', sub {
	($tag) = ($server->get('/a')->{field}{etag} // '') =~ /\A("\S+")\z/;
});

# A request of 1.1: its line without the version, fields.
sub request {
	my ($line, @fields) = @_;

	return join("\r\n", "$line HTTP/1.1", 'Host: x', @fields, '', '');
}

sub get { return request('GET /a', @_) }
sub chunked { return get('Transfer-Encoding: chunked') . $_[0] }
sub range { return get("Range: bytes=$_[0]") }

my $zero = "0\r\n\r\n";
my $next = request('GET /z');
my $hidden = request('GET /none');	# must never be seen as a request

# Section, what, bytes (several: each after the answer to the one before),
# statuses and whether the connection is open or closed afterwards; then of
# the last response: body => bytes, or a field => what it must match (undef:
# must not be there).  once: only in one piece.  half: then the client
# half-closes.
my @cases = (
	# The message, its first line.
	['9112 2.1', 'the least of 1.1', "GET /a HTTP/1.1\r\nHost:x\r\n\r\n",
	    '200 open', body => $text],
	['9112 2.2', 'an empty line in front', "\r\n" . get(), '200 open'],
	['9112 2.2', 'an empty line in between', get() . "\r\n" . get(),
	    '200 200 open'],
	['9112 2.2', 'two empty lines', "\r\n\r\n" . get(), '400 close'],
	['9112 2.2', 'bare LF in front', "\n" . get(), '400 close'],
	['9112 2.2', 'bare LF behind the request line',
	    "GET /a HTTP/1.1\nHost: x\r\n\r\n", '400 close'],
	['9112 2.2', 'bare LF everywhere', "GET /a HTTP/1.1\nHost: x\n\n",
	    '400 close'],
	['9112 2.2', 'bare LF behind a field',
	    "GET /a HTTP/1.1\r\nHost: x\n\r\n", '400 close'],
	['9112 2.2', 'bare LF at the end', "GET /a HTTP/1.1\r\nHost: x\r\n\n",
	    '400 close'],
	['9112 2.2', 'bare CR in the request line',
	    "GET /a\rHTTP/1.1\r\nHost: x\r\n\r\n", '400 close'],
	['9112 2.2', 'bare CR in a field', get("A: b\rC: d"), '400 close'],
	['9112 2.2', 'bare CR before CRLF', get("A: b\r"), '400 close'],
	['9112 2.2', 'a blank before the first field',
	    "GET /a HTTP/1.1\r\n A: b\r\nHost: x\r\n\r\n", '400 close'],
	['9112 2.2', 'a TLS hello', "\x16\x03\x01\x02\x00\x01", '400 close'],
	['9112 2.2', 'bytes of HTTP/2', "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	    '505 close'],
	(map { ['9112 2.3', "version $_", "GET /a $_\r\nHost: x\r\n\r\n",
	    '400 close'] } 'http/1.1', 'HTTP/1', 'HTTP/1.', 'HTTP/1.10',
	    'HTTP/01.1', 'HTTP/1.1 ', 'HTTP /1.1', 'HTTP/1,1', 'HTTP/+1.1',
	    'HTTP/-1.1', 'HTTP', 'ICY/1.1', "HTTP/1.1\t", 'HTTP/x.1'),
	(map { ['9110 15.6.6', "HTTP/$_", "GET /a HTTP/$_\r\nHost: x\r\n\r\n",
	    '505 close'] } '0.9', '2.0', '3.1', '9.9'),
	['9110 6.2', 'a later 1.x', "GET /a HTTP/1.9\r\nHost: x\r\n\r\n",
	    '200 open'],
	['9112 2.3', 'the answer to 1.0 says 1.1', "GET /a HTTP/1.0\r\n\r\n",
	    '200 close', body => $text],
	['9112 3', 'no version', "GET /a\r\n\r\n", '400 close'],
	['9112 3', 'a blank first', ' ' . get(), '400 close'],
	['9112 3', 'two blanks before the target', request('GET  /a'),
	    '400 close'],
	['9112 3', 'two blanks behind it', request('GET /a '), '400 close'],
	['9112 3', 'a tab', request("GET\t/a"), '400 close'],
	['9112 3', 'no target', request('GET '), '400 close'],
	['9112 3', 'a blank in the target', request('GET /a b'), '400 close'],
	['9112 3', 'only CRLF behind the method', "GET\r\n\r\n", '400 close'],
	['9112 3.1', 'a method that is no token', request('G(T /a'),
	    '400 close'],
	['9112 3.1', 'no method', request('/a'), '400 close'],
	['9112 3.2', 'a fragment', request('GET /a#b'), '400 close'],
	['9112 3.2', 'a NUL', request("GET /a\0"), '400 close'],
	['9112 3.2', 'a control byte', request("GET /\x1b"), '400 close'],
	['9112 3.2', 'DEL', request("GET /\x7f"), '400 close'],
	['9112 3.2', 'eight bits', request("GET /\xe4"), '400 close'],
	['9112 3.2', 'a relative target', request('GET a'), '400 close'],
	['9112 3.2.1', 'a query', request('GET /a?b=c'), '200 open',
	    body => $text],
	['9112 3.2.2', 'absolute', request('GET http://x/a'), '200 open'],
	['9112 3.2.2', 'absolute, other Host',
	    "GET http://x/a HTTP/1.1\r\nHost: y\r\n\r\n", '200 open'],
	['9112 3.2.2', 'absolute without a path', request('GET http://x'),
	    '200 open', body => "index\n"],
	['9112 3.2.2', 'absolute in upper case', request('GET HTTP://X:80/a'),
	    '200 open'],
	['9112 3.2.2', 'absolute and no Host',
	    "GET http://x/a HTTP/1.1\r\n\r\n", '400 close'],
	['9110 4.2.1', 'absolute without a host', request('GET http:///a'),
	    '400 close'],
	['9110 4.2.4', 'a user name', request('GET http://u@x/a'),
	    '400 close'],
	['9112 3.2', 'another scheme', request('GET ftp://x/a'), '400 close'],
	['9112 3.2.3', 'GET of an authority', request('GET x:80'),
	    '400 close'],
	['9112 3.2.4', 'GET of *', request('GET *'), '400 close'],
	['9110 15.5.15', 'a long target', request('GET /' . 'a' x 1024),
	    '414 close'],

	# Host.
	['9112 3.2', 'no Host', "GET /a HTTP/1.1\r\n\r\n", '400 close'],
	['9112 3.2', 'no Host in 1.0', "GET /a HTTP/1.0\r\n\r\n", '200 close'],
	['9112 3.2', 'two of them', get('Host: x'), '400 close'],
	['9112 3.2', 'two in 1.0',
	    "GET /a HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", '400 close'],
	(map { ['9112 3.2', "Host: $_", "GET /a HTTP/1.1\r\nHost: $_\r\n\r\n",
	    '400 close'] } 'x y', 'x/', 'u@x', 'http://x', 'x:y',
	    'x:80:80', 'x:65536', ':80', '[::1', '::1', '[v1.x]', 'x#', 'x?',
	    "x\\y", '%zz', "\xe4"),
	(map { ['9110 7.2', "Host: $_", "GET /a HTTP/1.1\r\nHost: $_\r\n\r\n",
	    '200 open'] } '', 'x:', 'X:0080', 'x.', '127.0.0.1:80',
	    '[::1]:80', 'a_b-c.d', 'x,y'),

	# Fields.
	['9110 5.1', 'names in any case',
	    "GET /a HTTP/1.1\r\nhOST: x\r\nRANGE: bytes=0-1\r\n\r\n",
	    '206 open'],
	['9112 5.1', 'a blank before the colon', get('A : b'), '400 close'],
	['9112 5.1', 'a tab before the colon', get("A\t: b"), '400 close'],
	['9112 5.1', 'a blank in Content-Length',
	    get('Content-Length : 5') . 'abcde', '400 close'],
	['9112 5.1', 'blanks around a value', get("Range: \t bytes=0-1 \t"),
	    '206 open'],
	['9112 5', 'no colon', get('Field'), '400 close'],
	['9112 5', 'no name', get(': b'), '400 close'],
	['9110 5.1', 'a name that is no token', get('A(: b'), '400 close'],
	['9110 5.1', 'a name of eight bits', get("\xe4: b"), '400 close'],
	['9110 5.5', 'a value of eight bits', get("A: \xe4"), '200 open'],
	['9110 5.5', 'an empty value', get('A:'), '200 open'],
	['9110 5.5', 'a NUL', get("A: b\0c"), '400 close'],
	['9110 5.5', 'a control byte', get("A: b\x01"), '400 close'],
	['9112 5.2', 'a folded line', get("A: b\r\n c"), '400 close'],
	['9112 5.2', 'folded with a tab', get("A: b\r\n\tc"), '400 close'],
	['9112 5.2', 'a folded Transfer-Encoding',
	    get("Transfer-Encoding:\r\n chunked") . $zero, '400 close'],
	['9112 5.2', 'one folded behind a coding',
	    get("Transfer-Encoding: gzip,\r\n chunked") . $zero, '400 close'],
	['9112 6.1', 'an empty Transfer-Encoding',
	    get('Transfer-Encoding:') . $zero . $hidden, '400 close'],
	['6585 5', 'a long field', get('A: ' . 'b' x 2048), '431 close'],
	['6585 5', 'many fields', get(('A: b') x 20), '431 close'],

	# Where a body ends.
	['9112 6.2', 'a length', get('Content-Length: 5') . 'abcde' . $next,
	    '200 200 open', body => "z\n"],
	['9112 6.2', 'a length of 0', get('Content-Length: 0') . $next,
	    '200 200 open', body => "z\n"],
	['9112 6.2', 'a body like a request',
	    get('Content-Length: ' . length($hidden)) . $hidden, '200 open'],
	['9112 6.2', 'a body of HEAD',
	    request('HEAD /a', 'Content-Length: 3') . 'abc', '200 open'],
	['9112 6.2', 'a body in 1.0',
	    "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n" .
	    "Content-Length: 3\r\n\r\nabc", '200 open'],
	['9112 6.2', 'as much as may be',
	    get('Content-Length: 1000') . 'a' x 1000 . $next, '200 200 open'],
	(map { ['9112 6.3', "Content-Length: $_",
	    get("Content-Length: $_") . 'a' x 10 . $hidden, '400 close'] }
	    '', '+5', '-5', '5 5', '5, 5', '5,5', '5;', '0x5', '5.0', '1e1',
	    'a', "5\x0b", '9223372036854775808', '18446744073709551621'),
	['9112 6.3', 'two equal lengths',
	    get('Content-Length: 5', 'Content-Length: 5') . 'abcde',
	    '400 close'],
	['9112 6.3', 'two other lengths',
	    get('Content-Length: 5', 'Content-Length: 0') . $hidden,
	    '400 close'],
	['9112 6.3', 'length and coding',
	    get('Content-Length: 5', 'Transfer-Encoding: chunked') . $zero .
	    $hidden, '400 close'],
	['9112 6.3', 'coding and length',
	    get('Transfer-Encoding: chunked', 'Content-Length: 5') . $zero .
	    $hidden, '400 close'],
	['9112 6.1', 'a coding in 1.0',
	    "GET /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n$zero",
	    '400 close'],
	['9112 7', 'a coding in upper case',
	    get('Transfer-Encoding: CHUNKED') . $zero . $next, '200 200 open'],
	(map { ['9112 6.1', "Transfer-Encoding: $_",
	    get("Transfer-Encoding: $_") . $zero . $hidden, '501 close'] }
	    'identity', 'gzip', 'gzip, chunked', 'chunked, gzip',
	    'chunked, chunked', 'chunked,', ',chunked', 'xchunked',
	    'chunked;q=1', '"chunked"', 'chunked x'),
	['9112 6.1', 'two codings', get('Transfer-Encoding: chunked',
	    'Transfer-Encoding: chunked') . $zero . $hidden, '400 close'],
	['9112 6.1', 'two codings, one unknown', get('Transfer-Encoding: x',
	    'Transfer-Encoding: chunked') . $zero . $hidden, '400 close'],
	['9112 6.1', 'a vertical tab before chunked',
	    get("Transfer-Encoding: \x0bchunked") . $zero, '400 close'],
	['9112 6.1', 'a name that is nearly it',
	    get('Transfer_Encoding: chunked') . $next, '200 200 open'],
	['9110 15.5.14', 'a length beyond', get('Content-Length: 1001'),
	    '413 close'],
	['9110 15.5.14', 'a length far beyond',
	    get('Content-Length: 9223372036854775807'), '413 close'],

	# Chunks.
	['9112 7.1', 'empty', chunked($zero . $next), '200 200 open'],
	['9112 7.1', 'two chunks',
	    chunked("3\r\nabc\r\nA\r\n0123456789\r\n$zero$next"),
	    '200 200 open', body => "z\n"],
	['9112 7.1', 'a chunk like a request',
	    chunked(sprintf("%x\r\n", length($hidden)) . "$hidden\r\n$zero"),
	    '200 open'],
	['9112 7.1', 'zeros in front', chunked("0003\r\nabc\r\n000\r\n\r\n"),
	    '200 open'],
	(map { my ($what, $bytes) = @$_;
	    ['9112 7.1', $what, chunked($bytes . $hidden), '400 close'] }
	    ['no size', "\r\n"], ['0x', "0x3\r\nabc\r\n$zero"],
	    ['a sign', "+3\r\nabc\r\n$zero"], ['minus', "-3\r\nabc\r\n$zero"],
	    ['no digit', "g\r\n"], ['a blank first', " 3\r\nabc\r\n$zero"],
	    ['a blank behind', "3 \r\nabc\r\n$zero"],
	    ['a blank behind the last', "0 \r\n\r\n"],
	    ['an underscore', "1_0\r\n"], ['a NUL', "3\0\r\nabc\r\n$zero"],
	    ['bare LF behind the size', "3\nabc\r\n$zero"],
	    ['bare LF behind the chunk', "3\r\nabc\n$zero"],
	    ['bare LF behind the last', "0\n\r\n"],
	    ['bare LF at the end', "0\r\n\n"],
	    ['bare CR behind the size', "3\rabc\r\n$zero"],
	    ['CR CR LF', "3\r\r\nabc\r\n$zero"],
	    ['more than it says', "3\r\nabcd\r\n$zero"],
	    ['less than it says', "4\r\nabc\r\n$zero"],
	    ['no CRLF behind the chunk', "3\r\nabc$zero"],
	    ['two bytes for CRLF', "3\r\nabcXX$zero"]),
	['9112 7.1', 'a size that overflows',
	    chunked("10000000000000003\r\nabc\r\n$zero$hidden"), '413 close'],
	['9112 7.1', 'the largest size', chunked("ffffffffffffffff\r\n"),
	    '413 close'],
	['9110 15.5.14', 'chunks beyond', chunked(('64' . "\r\n" . 'a' x 100 .
	    "\r\n") x 10 . $zero), '413 close'],
	['9112 7.1.1', 'extensions',
	    chunked("3;a;b=c;d=\"e;f\"\r\nabc\r\n0;x\r\n\r\n$next"),
	    '200 200 open'],
	['9112 7.1.1', 'blanks around them',
	    chunked("3 ;\ta = b\r\nabc\r\n$zero$next"), '200 200 open'],
	['9112 7.1.1', 'bare LF in an extension',
	    chunked("3;a\nabc\r\n$zero$hidden"), '400 close'],
	['9112 7.1.1', 'bare CR in an extension',
	    chunked("3;a\rb\r\nabc\r\n$zero$hidden"), '400 close'],
	['9112 7.1.1', 'LF in quotes',
	    chunked("3;a=\"\n\"\r\nabc\r\n$zero$hidden"), '400 close'],
	['9112 7.1.1', 'CRLF in a quoted string',
	    chunked("3;a=\"\r\n\"\r\nabc\r\n$zero$hidden"), '400 close'],
	['9112 7.1.1', 'CRLF behind a backslash in one',
	    chunked("3;a=\"\\\r\n\"\r\nabc\r\n$zero$hidden"), '400 close'],
	['9112 7.1.1', 'a quoted string without an end',
	    chunked("3;a=\"\r\nabc\r\n$zero$hidden"), '400 close'],
	['9112 7.1.1', 'a NUL in an extension',
	    chunked("3;\0\r\nabc\r\n$zero"), '400 close'],
	['9112 7.1.2', 'a trailer',
	    chunked("0\r\nA: b\r\nX-Sum: 1\r\n\r\n$next"), '200 200 open'],
	['9110 6.5.1', 'a trailer that frames',
	    chunked("0\r\nContent-Length: 50\r\n\r\n$next"), '200 200 open'],
	['9112 7.1.2', 'a trailer without a colon',
	    chunked("0\r\nA\r\n\r\n"), '400 close'],
	['9112 7.1.2', 'a request for a trailer', chunked("0\r\n$hidden"),
	    '400 close'],
	['9112 7.1.2', 'bare LF in a trailer',
	    chunked("0\r\nA: b\n\r\n$hidden"), '400 close'],
	['9112 7.1.2', 'a folded trailer',
	    chunked("0\r\nA: b\r\n c\r\n\r\n"), '400 close'],
	['6585 5', 'a trailer of many fields',
	    chunked("0\r\n" . "A: b\r\n" x 21 . "\r\n"), '431 close'],
	['9112 8', 'half a body, and the end',
	    get('Content-Length: 5') . 'abc', '400 close', half => 1],
	['9112 8', 'half a chunk, and the end', chunked("5\r\nabc"),
	    '400 close', half => 1],

	# Methods.
	['9110 9.3.2', 'HEAD', request('HEAD /a'), '200 open',
	    'content-length' => qr/\A1000\z/, body => ''],
	['9110 9.3.2', 'HEAD of nothing', request('HEAD /none'), '404 open',
	    body => ''],
	(map { ['9110 15.5.6', $_, request("$_ /a"), '405 open',
	    allow => qr/\AGET, HEAD, OPTIONS\z/] }
	    qw(POST PUT DELETE TRACE PATCH)),
	['9110 15.5.6', 'POST with a body',
	    request('POST /a', 'Content-Length: 5') . 'abcde' . $hidden,
	    '405 close', allow => qr/GET/],
	['9110 15.5.6', 'PUT in chunks',
	    request('PUT /a', 'Transfer-Encoding: chunked') . "3\r\nabc\r\n" .
	    $zero . $hidden, '405 close'],
	(map { ['9110 9.1', "$_ is unknown", request("$_ /a"), '501 open'] }
	    'BREW', 'get', 'Get', 'GETS', 'GE', 'PROPFIND', 'X' x 32),
	['9110 9.1', 'a method too long to be one',
	    request('X' x 33 . ' /a'), '501 close'],
	['9110 9.3.6', 'CONNECT', request('CONNECT x:443') . $hidden,
	    '501 close'],
	['9112 3.2.3', 'CONNECT without a port', request('CONNECT x'),
	    '400 close'],
	['9110 9.3.7', 'OPTIONS *', request('OPTIONS *'), '204 open',
	    allow => qr/\AGET, HEAD, OPTIONS\z/, 'content-length' => undef],
	['9110 9.3.7', 'OPTIONS of a path', request('OPTIONS /a'), '204 open',
	    allow => qr/\AGET, HEAD, OPTIONS\z/],
	['9110 9.3.7', 'OPTIONS of what is not there', request('OPTIONS /none'),
	    '204 open', allow => qr/\AGET, HEAD, OPTIONS\z/],
	['9112 3.2.4', 'the target * of GET', request('GET *'), '400 close'],
	['9110 9.3.7', 'OPTIONS with a body',
	    request('OPTIONS *', 'Content-Length: 3') . 'abc' . $next,
	    '204 200 open'],
	['9112 3.2.4', 'OPTIONS of **', request('OPTIONS **'), '400 close'],

	# Expect.
	['9110 10.1.1', 'before a body', [get('Expect: 100-continue',
	    'Content-Length: 3'), "abc$next"], '100 200 200 open'],
	['9110 10.1.1', 'in any case', [get('Expect: 100-CONTINUE',
	    'Transfer-Encoding: chunked'), $zero], '100 200 open'],
	['9110 10.1.1', 'with the body', get('Expect: 100-continue',
	    'Content-Length: 3') . 'abc', '200 open', once => 1],
	['9110 10.1.1', 'without a body', get('Expect: 100-continue'),
	    '200 open'],
	['9110 10.1.1', 'in 1.0', "GET /a HTTP/1.0\r\nExpect: 100-continue\r\n" .
	    "Content-Length: 3\r\n\r\nabc", '200 close'],
	['9110 10.1.1', 'a body that is too large', get(
	    'Expect: 100-continue', 'Content-Length: 1001'), '413 close'],
	['9110 10.1.1', 'a method that does not work', request('PUT /a',
	    'Expect: 100-continue', 'Content-Length: 3'), '405 close'],
	['9110 15.5.18', 'something else', get('Expect: tea'), '417 open'],
	['9110 15.5.18', 'that and more', get('Expect: 100-continue',
	    'Expect: tea'), '417 open'],

	# Persistence, closing.
	['9112 9.3', 'stays', get() . get(), '200 200 open',
	    connection => undef],
	['9112 9.6', 'close', get('Connection: close') . $hidden, '200 close',
	    connection => qr/\Aclose\z/],
	['9112 9.6', 'Close', get('Connection: Close'), '200 close'],
	['9110 7.6.1', 'close in a list', get('Connection: x, close ,y'),
	    '200 close'],
	['9110 7.6.1', 'close on the second line', get('Connection: x',
	    'Connection: close'), '200 close'],
	['9110 7.6.1', 'not quite close', get('Connection: closed'),
	    '200 open'],
	['9112 9.3', 'close wins', get('Connection: keep-alive, close'),
	    '200 close'],
	['9112 9.3', '1.0 closes', "GET /a HTTP/1.0\r\n\r\n", '200 close',
	    connection => qr/\Aclose\z/],
	['9112 9.3', '1.0 stays on request',
	    "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", '200 open',
	    connection => qr/\Akeep-alive\z/],
	['9112 9.3.2', 'a pipeline', get() x 5 . $next, '200 ' x 6 . 'open',
	    body => "z\n"],
	['9112 9.3.2', 'errors among them, in order', get() .
	    request('GET /none') . request('BREW /a') . request('HEAD /a') .
	    request('PUT /a') . request('GET /dir') . range('5000-') .
	    get('If-Match: "x"') . $next,
	    '200 404 501 200 405 301 416 412 200 open', body => "z\n"],
	['9112 9.3.2', 'the last is broken', get() . get() . "GET /a\r\n\r\n" .
	    $hidden, '200 200 400 close'],
	['9112 9.6', 'a half-closed client', get() . $next, '200 200 close',
	    half => 1, body => "z\n"],
	['9112 9.6', 'half-closed in a pipeline with an error',
	    get() . get('A : b') . $hidden, '200 400 close', half => 1],
	['9112 9.6', 'more to come behind an error', "BAD\r\n" . 'x' x 5000,
	    '400 close'],

	# Conditions.
	['9110 13.1.1', 'If-Match', get("If-Match: $tag"), '200 open'],
	['9110 13.1.1', 'If-Match: *', get('If-Match: *'), '200 open'],
	['9110 13.1.1', '* of nothing', request('GET /none', 'If-Match: *'),
	    '404 open'],
	['9110 13.1.1', 'another', get('If-Match: "x"'), '412 open'],
	['9110 13.1.1', 'a list', get("If-Match: \"x\", $tag"), '200 open'],
	['9110 13.1.1', 'strongly', get("If-Match: W/$tag"), '412 open'],
	['9110 5.3', 'over lines', get('If-Match: "x"', "If-Match: $tag"),
	    '200 open'],
	['9110 13.1.2', 'If-None-Match', get("If-None-Match: $tag"),
	    '304 open', etag => qr/\A\Q$tag\E\z/, body => ''],
	['9110 13.1.2', 'with HEAD',
	    request('HEAD /a', "If-None-Match: $tag"), '304 open'],
	['9110 13.1.2', 'If-None-Match: *', get('If-None-Match: *'),
	    '304 open'],
	['9110 13.1.2', 'weakly', get("If-None-Match: W/$tag"), '304 open'],
	['9110 8.8.3.2', 'w/ is no prefix', get("If-None-Match: w/$tag"),
	    '200 open'],
	['9110 5.6.1', 'empty elements', get("If-None-Match: ,\"x\" ,, $tag,"),
	    '304 open'],
	['9110 8.8.3', 'a comma in a tag', get("If-None-Match: \"a, $tag"),
	    '200 open'],
	['9110 5.3', 'over lines', get('If-None-Match: "x"',
	    "If-None-Match: \"y\", $tag"), '304 open'],
	(map { ['9110 5.6.7', $_, get("If-Modified-Since: $_"), '304 open'] }
	    $now, $after, 'Sunday, 06-Nov-94 08:49:37 GMT',
	    'Sun Nov  6 08:49:37 1994'),
	(map { ['9110 13.1.3', "If-Modified-Since: $_",
	    get("If-Modified-Since: $_"), '200 open'] } $before, $future, '',
	    'yesterday', 'Sun, 06 Nov 1994 08:49:37', '784111777',
	    'Sun, 06 Nov 1994 08:49:37 +0000', 'Sun, 31 Feb 1994 08:49:37 GMT',
	    'Sunday, 06-Nov-1994 08:49:37 GMT', "$now, $now"),
	['9110 13.1.3', 'twice', get("If-Modified-Since: $now",
	    "If-Modified-Since: $now"), '200 open'],
	(map { ['9110 13.1.4', "If-Unmodified-Since: $_->[0]",
	    get("If-Unmodified-Since: $_->[0]"), "$_->[1] open"] }
	    [$now, 200], [$after, 200], [$before, 412], ['then', 200],
	    ['Saturday, 05-Nov-94 08:49:37 GMT', 412],
	    ['Sat Nov  5 08:49:37 1994', 412]),
	['9110 13.2.2', '1 before 2', get("If-Match: $tag",
	    "If-Unmodified-Since: $before"), '200 open'],
	['9110 13.2.2', '1 before 3', get('If-Match: "x"',
	    "If-None-Match: $tag"), '412 open'],
	['9110 13.2.2', '2 before 3', get("If-Unmodified-Since: $before",
	    "If-None-Match: $tag"), '412 open'],
	['9110 13.2.2', '3 after 1', get("If-Match: $tag",
	    "If-None-Match: $tag"), '304 open'],
	['9110 13.2.2', '3 in place of 4', get('If-None-Match: "x"',
	    "If-Modified-Since: $now"), '200 open'],
	['9110 13.2.2', '3 in place of 4, too', get("If-None-Match: $tag",
	    "If-Modified-Since: $before"), '304 open'],
	['9110 13.2.2', '4 after 2', get("If-Unmodified-Since: $now",
	    "If-Modified-Since: $now"), '304 open'],
	['9110 13.2.2', '5 after 3', get("If-None-Match: $tag",
	    'Range: bytes=0-1'), '304 open'],
	['9110 13.2.2', '5 after 1', get('If-Match: "x"', 'Range: bytes=0-1'),
	    '412 open'],
	['9110 13.2.1', 'an error comes first', request('GET /none',
	    'If-Match: "x"'), '404 open'],
	['9110 13.2.1', 'not for OPTIONS', request('OPTIONS /a',
	    'If-Match: "x"'), '204 open'],

	# Ranges.
	['9110 14.3', 'Accept-Ranges', get(), '200 open',
	    'accept-ranges' => qr/\Abytes\z/],
	(map { my ($range, $at, $n) = @$_;
	    ['9110 14.1.2', $range, range($range), '206 open',
	    body => substr($text, $at, $n), 'content-range' =>
	    sprintf('bytes %d-%d/1000', $at, $at + $n - 1)] }
	    ['0-4', 0, 5], ['0-0', 0, 1], ['5-', 5, 995], ['-5', 995, 5],
	    ['999-', 999, 1], ['990-5000', 990, 10], ['-5000', 0, 1000],
	    ['0-99999999999999999999', 0, 1000], [' 1-2 ,', 1, 2]),
	['9110 14.1', 'the unit in upper case', get('Range: BYTES=0-1'),
	    '206 open'],
	(map { ['9110 14.2', $_, range($_), '416 open',
	    'content-range' => qr{\Abytes \*/1000\z}] } '1000-', '1000-2000',
	    '-0', '99999999999999999999-', '1000-,2000-,-0'),
	(map { ['9110 14.2', "bytes=$_ is none", range($_), '200 open',
	    'content-range' => undef, body => $text] } '', '-', '5', '5-4',
	    'a-b', '+1-2', '1-2x', '--1', '1-2-3', '0-1,x', '0-1;3-4',
	    '0 - 1', '0x0-0x1'),
	['9110 14.2', 'another unit', get('Range: lines=0-1'), '200 open'],
	['9110 14.2', 'two fields', get(('Range: bytes=0-1') x 2),
	    '200 open'],
	['9110 14.2', 'not for HEAD',
	    request('HEAD /a', 'Range: bytes=0-1'), '200 open',
	    'content-length' => qr/\A1000\z/],
	['9110 14.2', 'of nothing', request('GET /none', 'Range: bytes=0-'),
	    '404 open'],
	['9110 14.1.2', 'of an empty file',
	    request('GET /empty', 'Range: bytes=0-'), '416 open',
	    'content-range' => qr{\Abytes \*/0\z}],
	['9110 15.3.7.2', 'several', range('1-2,5-6'), '206 open',
	    'content-range' => undef,
	    'content-type' => qr{\Amultipart/byteranges; boundary=\w+\z}],
	['9110 15.3.7.2', 'one that is left of several', range('1-2,5000-'),
	    '206 open', 'content-range' => qr{\Abytes 1-2/1000\z},
	    body => substr($text, 1, 2)],
	['9110 15.3.7.2', 'overlapping', range('5-9,0-5'), '206 open',
	    'content-range' => qr{\Abytes 0-9/1000\z}],
	['9110 15.3.7.2', 'adjacent', range('0-4,5-9'), '206 open',
	    'content-range' => qr{\Abytes 0-9/1000\z}],
	['9110 14.2', 'the same over and over', range(join(',', ('0-') x 99)),
	    '206 open', 'content-range' => qr{\Abytes 0-999/1000\z}],
	['9110 14.2', 'too many', range(join(',', map { $_ * 2 . '-' .
	    $_ * 2 } 0 .. 99)), '200 open', body => $text],
	(map { ['9110 13.1.5', "If-Range: $_->[0]", get('Range: bytes=0-1',
	    "If-Range: $_->[0]"), "$_->[1] open"] } [$tag, 206], [$now, 206],
	    ['"x"', 200], ["W/$tag", 200], [$before, 200], [$after, 200],
	    ['x', 200], ['', 200], ["$tag, \"x\"", 200]),
	['9110 13.1.5', 'before 416', get('Range: bytes=5000-',
	    'If-Range: "x"'), '200 open'],
	['9110 13.1.5', 'without a range', get('If-Range: "x"'), '200 open'],

	# What every response must have.
	['9110 6.6.1', 'Date', get(), '200 open', date => qr/GMT\z/],
	['9110 8.8.2', 'Last-Modified', get(), '200 open',
	    'last-modified' => $now],
	['9110 15.4.5', 'a 304 has what a 200 has', get('If-None-Match: *'),
	    '304 open', 'last-modified' => $now, date => qr/GMT\z/,
	    'content-type' => undef],
	['9110 10.2.2', 'Location', request('GET /dir?q'), '301 open',
	    location => '/dir/?q'],
	['9110 8.6', 'the length of nothing', request('GET /empty'),
	    '200 open', 'content-length' => '0'],
);

# What comes back, in the words of the table; the last response.
sub play {
	my ($case, $by) = @_;
	my (undef, undef, $bytes, $want, %opt) = @$case;
	my @stages = ref($bytes) ? @$bytes : ($bytes);
	my @methods = $stages[0] =~ m{^(\w+) \S+ HTTP}mg;
	my $client = $server->connect;
	my ($answer, @seen);

	for my $status (grep { /\d/ } split(/ /, $want)) {
		send_pieces($client, shift(@stages), $by) if @stages;
		$client->half_close if $opt{half} && !@seen;
		$answer = $client->response($methods[@seen]);
		push(@seen, $answer ? $answer->{status} : 'nothing');
		return ("@seen", $answer) if $seen[-1] ne $status;
		die "a body that is too short\n" if $answer->{short};
	}
	return ("@seen " . state($client, $want), $answer);
}

sub send_pieces {
	my ($client, $bytes, $by) = @_;

	for my $piece (unpack("(a$by)*", $bytes)) {
		last if $client->send($piece) < length($piece);
	}
}

# Whether it goes on, in step with us, by asking for something once more.
sub state {
	my ($client, $want) = @_;

	return $client->closed ? 'close' : 'more bytes' if $want =~ /close/;
	$client->send(request('GET /z'));
	my $answer = $client->response;
	return 'close' unless defined($answer);
	return $answer->{status} == 200 && $answer->{body} eq "z\n" ? 'open' :
	    "out of step: $answer->{status}";
}

# What is wrong with the last response.
sub wrong {
	my ($answer, %opt) = @_;
	my @wrong;

	delete(@opt{qw(once half)});
	push(@wrong, 'another body')
	    if defined($opt{body}) && $answer->{body} ne $opt{body};
	delete($opt{body});
	for my $name (sort(keys(%opt))) {
		my ($is, $must) = ($answer->{field}{$name}, $opt{$name});
		next if !defined($is) && !defined($must);
		next if defined($is) && defined($must) &&
		    (ref($must) ? $is =~ $must : $is eq $must);
		push(@wrong, "$name: " . ($is // 'none'));
	}
	return @wrong;
}

cmp_ok(scalar(@cases), '>=', 150, scalar(@cases) . ' cases');
for my $case (@cases) {
	my ($section, $what, undef, $want, %opt) = @$case;

	$what =~ s/([^\x20-\x7e])/sprintf('\\x%02x', ord($1))/ge;
	# A layer (13-layer.t) always brings one byte at a time.
	next if $opt{once} && $ENV{AMPED_LAYER};
	for my $by (65536, $opt{once} ? () : 1) {
		my ($is, $answer) = eval { play($case, $by) };
		my @wrong = defined($is) && $is eq $want ?
		    wrong($answer, %opt) : ();
		is(join(', ', $is // $@, @wrong), $want, "RFC $section: $what" .
		    ($by == 1 ? ', byte by byte' : ''));
	}
}

$server->stop;
done_testing();
