#!/usr/bin/perl
# What a CGI program answers: heads, bodies, statuses and redirects.  A case is
# what a program writes, and what must come of it at the client.  Those that are
# right run as GET of 1.1, as HEAD, and as GET of 1.0, the others as GET.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content slurp);
use Amped::Programs;
use Compress::Zlib ();
use Test::More;

my $programs = Amped::Programs->new('www/page' => "page\n",
    'www/page.html' => "<p>page\n", 'www/secret/x' => "secret\n",
    'www/sorry.html' => "sorry\n");
my $server = $programs->start(program => '', site => <<"END");
	compress on
	path /secret { return 403 }
	path /pages { run all; error 404 /sorry.html }
END
my $t = "Content-Type: text/plain\n";
my $text = content('text', 1000);
my $zip = Compress::Zlib::memGzip($text x 4);
my $long = content('long', 3 << 20);

# Section of RFC 3875 or the promise, what, output, status (pattern: more than
# one would be right); then body => bytes, a field => what it must match
# (undef: must not be there), cut => the body ends early, once => only as GET
# of 1.1.
my @cases = (
	# Documents.
	['6.2.1', 'a document', "$t\nhello", 200, body => 'hello',
	    'content-type' => 'text/plain'],
	['6.2.1', 'CR LF', "Content-Type: text/plain\r\n\r\nhello", 200,
	    body => 'hello', 'content-type' => 'text/plain'],
	['6.2.1', 'both', "Content-Type: text/plain\r\nX-A: b\n\r\nhello", 200,
	    body => 'hello', 'x-a' => 'b'],
	['6.2.1', 'LF at the end of CR LF',
	    "Content-Type: text/plain\r\n\nhello", 200, body => 'hello'],
	['6.2.1', 'no body', "$t\n", 200, body => ''],
	['6.2.1', 'a body that begins with lines', "$t\n\n\r\n\nhello", 200,
	    body => "\n\r\n\nhello"],
	['6.2.1', 'a body like a head', "$t\nStatus: 404\n\nhello", 200,
	    body => "Status: 404\n\nhello"],
	['6.2.1', 'a body like chunks', "$t\n5\r\nhello\r\n0\r\n\r\n", 200,
	    body => "5\r\nhello\r\n0\r\n\r\n"],
	['6.2.1', 'all bytes', "$t\n" . join('', map { chr } 0 .. 255), 200,
	    body => join('', map { chr } 0 .. 255)],
	['6.2.1', 'a long body', "$t\n$long", 200, body => $long],
	['6.2.1', 'exactly 64 KiB', "$t\n" . substr($long, 0, 65536 -
	    length($t) - 1), 200, body => substr($long, 0, 65535 -
	    length($t))],

	# A length.
	['9110 8.6', 'a length', "${t}Content-Length: 5\n\nhello", 200,
	    body => 'hello', 'content-length' => '5'],
	['9110 8.6', 'of 0', "${t}Content-Length: 0\n\n", 200, body => '',
	    'content-length' => '0'],
	['9110 8.6', 'of a long body', "${t}Content-Length: " . length($long) .
	    "\n\n$long", 200, body => $long],
	['9110 8.6', 'more than it says', "${t}Content-Length: 3\n\nhello",
	    200, body => 'hel', 'content-length' => '3'],
	['9110 8.6', 'much more', "${t}Content-Length: 3\n\nhel$long", 200,
	    body => 'hel'],
	['9110 8.6', 'a body of length 0', "${t}Content-Length: 0\n\nhello",
	    200, body => ''],
	['9110 8.6', 'less than it says', "${t}Content-Length: 9\n\nhello",
	    200, body => 'hello', cut => 1, once => 1],
	['9110 8.6', 'nothing of it', "${t}Content-Length: 9\n\n", 200,
	    body => '', cut => 1, once => 1],
	(map { ['9110 8.6', "a length \"$_\"",
	    "${t}Content-Length: $_\n\nhello", 502] } '', '-5', '+5', '5x',
	    '0x5', '5 5', '5, 5', '5.0', 'five', '99999999999999999999'),
	['9110 8.6', 'two equal lengths', "${t}Content-Length: 5\n" .
	    "Content-Length: 5\n\nhello", 502],
	['9110 8.6', 'two other lengths', "${t}Content-Length: 5\n" .
	    "content-length: 3\n\nhello", 502],
	(map { ['9112 6.1', "Transfer-Encoding: $_",
	    "${t}Transfer-Encoding: $_\n\n5\r\nhello\r\n0\r\n\r\n", 502] }
	    'chunked', 'identity', 'gzip, chunked'),
	['9112 6.1', 'and a length', "${t}Transfer-Encoding: chunked\n" .
	    "Content-Length: 5\n\nhello", 502],

	# Status.
	['6.3.3', 'a status', "Status: 404 Not Found\n$t\nhello", 404,
	    body => 'hello', status => undef],
	['6.3.3', 'behind', "${t}Status: 404 Not Found\n\nhello", 404,
	    body => 'hello'],
	['6.3.3', '200', "Status: 200 OK\n$t\nhello", 200, body => 'hello'],
	['6.3.3', 'without a text', "Status: 404\n$t\nhello", 404,
	    body => 'hello'],
	['6.3.3', 'a blank for a text', "Status: 404 \n$t\nhello", 404],
	['6.3.3', 'another text', "Status: 404 Gone fishing!\n$t\nhello", 404],
	['6.3.3', 'a colon in it', "Status: 500 a: b\n$t\nhello", 500],
	['6.3.3', 'without a blank', "Status:404\n$t\nhello", 404],
	['6.3.3', 'in any case', "sTATUS: 404 x\ncontent-TYPE: a/b\n\nhello",
	    404, 'content-type' => 'a/b'],
	(map { ['6.3.3', "$_", "Status: $_ x\n$t\nhello", $_,
	    body => 'hello'] } 201, 203, 299, 400, 401, 409, 418, 422, 451,
	    500, 503, 599),
	['6.3.3', '204', "Status: 204 No Content\n\n", 204, body => '',
	    'content-length' => undef, 'transfer-encoding' => undef],
	['6.3.3', '204 with a body', "Status: 204\n$t\nhello", 204,
	    body => ''],
	['6.3.3', '204 with a length', "Status: 204\nContent-Length: 5\n\n" .
	    'hello', 204, body => '', 'content-length' => undef],
	['6.3.3', '204 with a long body', "Status: 204\n$t\n$long", 204,
	    body => ''],
	['6.3.3', '304', "Status: 304 Not Modified\nETag: \"a\"\n\n", 304,
	    body => '', etag => '"a"', 'transfer-encoding' => undef],
	['6.3.3', '304 with a body', "Status: 304\n$t\nhello", 304,
	    body => ''],
	(map { ['6.3.3', "a status \"$_\"", "Status: $_\n$t\nhello", 502] }
	    '', 'OK', '20', '2000', '0200', '-200', '+200', '099', '600',
	    '999', '4o4', '200OK', ' '),
	(map { ['9110 15.2', "$_ is not the last", "Status: $_\n$t\nhello",
	    502] } '100 Continue', '101 Switching Protocols', '103'),
	['6.3', 'two of Status', "Status: 200\nStatus: 404\n$t\nhello", 502],
	['6.3', 'two equal ones', "Status: 200\nStatus: 200\n$t\nhello", 502],

	# A status line, as programs write that begin their own answer.
	['no NPH', 'a status line', "HTTP/1.1 404 Not Found\n$t\nhello", 404,
	    body => 'hello'],
	['no NPH', 'of 1.0', "HTTP/1.0 200 OK\r\n$t\nhello", 200,
	    body => 'hello'],
	['no NPH', 'without a text', "HTTP/1.1 404\n$t\nhello", 404],
	['no NPH', 'its Connection', "HTTP/1.1 200 OK\n${t}Connection: " .
	    "close\n\nhello", 200, body => 'hello'],
	['no NPH', 'and a Status', "HTTP/1.1 200 OK\nStatus: 404\n$t\nhello",
	    qr/404|502/],
	['no NPH', 'no number', "HTTP/1.1 OK\n$t\nhello", 502],
	['no NPH', 'interim', "HTTP/1.1 103 Early Hints\nLink: a\n\n" .
	    "HTTP/1.1 200 OK\n$t\nhello", 502],
	['no NPH', 'not in front', "${t}HTTP/1.1 200 OK\n\nhello", 502],
	['no NPH', '2.0', "HTTP/2 200\n$t\nhello", 502],

	# The lines of a head.
	['6.3', 'no head', 'hello', 502],
	['6.3', 'many bytes without a head', $text x 100, 502],
	['6.3', 'nothing at all', '', 502],
	['6.3', 'an empty line', "\n", 502],
	['6.3', 'an empty line, and a body', "\nhello", 502],
	['6.3', 'an empty line before the head', "\n$t\nhello", 502],
	['6.3', 'half a head', $t, 502],
	['6.3', 'half a line', 'Content-Type: text/pl', 502],
	['6.3', 'half an end', "Content-Type: a/b\r\n\r", 502],
	['6.3', 'a location, and half a head', "Location: http://x/\n", 502],
	['6.3', 'no field of CGI', "X-A: b\n\nhello", 502],
	['6.3', 'two types', "$t${t}\nhello", 502],
	['6.3', 'two locations', "Location: http://a/\nLocation: http://a/\n" .
	    "\n", 502],
	['6.3', 'a line that goes on', "${t}X-A: b\n c\n\nhello", 502],
	['6.3', 'by a tab', "${t}X-A: b\n\tc\n\nhello", 502],
	['6.3', 'the first line of all', " $t\nhello", 502],
	['6.3', 'a blank before the colon', "${t}X-A : b\n\nhello", 502],
	['6.3', 'a tab before it', "${t}X-A\t: b\n\nhello", 502],
	['6.3', 'no colon', "${t}field\n\nhello", 502],
	['6.3', 'no name', "${t}: b\n\nhello", 502],
	['6.3', 'a name that is no token', "${t}X(A): b\n\nhello", 502],
	['6.3', 'a name of eight bits', "${t}X\xe4: b\n\nhello", 502],
	['6.3', 'a bare CR', "${t}X-A: b\rX-B: c\n\nhello", 502],
	['6.3', 'a CR before CR LF', "${t}X-A: b\r\r\n\nhello", 502],
	['6.3', 'bare CRs for ends', "Content-Type: a/b\r\rhello", 502],
	['6.3', 'a NUL', "${t}X-A: b\0c\n\nhello", 502],
	['6.3', 'a NUL in a name', "${t}X\0: b\n\nhello", 502],
	['6.3', 'an empty value', "${t}X-A:\n\nhello", 200, 'x-a' => ''],
	['6.3', 'blanks around a value', "${t}X-A: \t b c \t \n\nhello", 200,
	    'x-a' => 'b c'],
	['6.3', 'a colon in a value', "${t}X-A: b: c\n\nhello", 200,
	    'x-a' => 'b: c'],
	['6.3', '60 KiB of fields', $t . join('', map { "X-$_: " .
	    'a' x 1000 . "\n" } 1 .. 60) . "\nhello", 200, body => 'hello',
	    'x-60' => 'a' x 1000],
	['6.3', '70 KiB of fields', $t . join('', map { "X-$_: " .
	    'a' x 1000 . "\n" } 1 .. 70) . "\nhello", 502],
	['6.3', '70 KiB of one field', "${t}X-A: " . 'a' x 71680 .
	    "\n\nhello", 502],
	['6.3', '70 KiB without an end', "${t}X-A: " . 'a' x 71680, 502],
	['6.3', '400 fields', $t . join('', map { "X-$_: a\n" } 1 .. 400) .
	    "\nhello", 200, body => 'hello', 'x-400' => 'a'],
	['6.3', '501 fields', $t . join('', map { "X-$_: a\n" } 1 .. 501) .
	    "\nhello", 502],

	# Fields that pass, and others.
	['6.3.4', 'several cookies', "${t}Set-Cookie: a=1\nX-A: b\n" .
	    "Set-Cookie: b=2; Path=/\nset-cookie: c=3\n\nhello", 200,
	    'set-cookie' => "a=1\nb=2; Path=/\nc=3"],
	['6.3.4', 'validators', "${t}ETag: \"a\"\nLast-Modified: Sun, 06 Nov " .
	    "1994 08:49:37 GMT\n\nhello", 200, etag => '"a"',
	    'last-modified' => 'Sun, 06 Nov 1994 08:49:37 GMT'],
	['6.3.4', 'caching', "${t}Cache-Control: no-store\nVary: Cookie\n" .
	    "Pragma: no-cache\n\nhello", 200, 'cache-control' => 'no-store',
	    vary => qr/Cookie/, pragma => 'no-cache'],
	['6.3.4', 'a challenge', "Status: 401\n${t}WWW-Authenticate: Basic " .
	    "realm=\"x\"\n\nhello", 401, body => 'hello',
	    'www-authenticate' => 'Basic realm="x"'],
	['6.3.4', 'Allow', "Status: 405\n${t}Allow: GET\n\nhello", 405,
	    allow => 'GET'],
	['6.3.4', 'a part', "Status: 206\n${t}Content-Range: bytes 0-4/9\n\n" .
	    'hello', 206, body => 'hello', 'content-range' =>
	    'bytes 0-4/9'],
	['6.3.1', 'a type with parameters',
	    "Content-Type: text/html; charset=\"x\"\n\nhello", 200,
	    'content-type' => 'text/html; charset="x"'],
	['6.3.4', 'one Date, one Server', "${t}Date: Sun, 06 Nov 1994 " .
	    "08:49:37 GMT\nServer: mine\n\nhello", 200, body => 'hello'],
	['9110 7.6.1', 'what is of a connection', "${t}Keep-Alive: " .
	    "timeout=1\nTrailer: X-A\nUpgrade: h2c\nConnection: x\n\nhello",
	    200, body => 'hello', 'keep-alive' => undef, trailer => undef,
	    upgrade => undef],
	['9110 7.6.1', 'Connection: close is of the program',
	    "${t}Connection: close\n\nhello", 200, body => 'hello'],
	['9110 8.4', 'a coding', "${t}Content-Encoding: gzip\n\n$zip", 200,
	    body => $zip, 'content-encoding' => 'gzip'],

	# Redirects of the client.
	['6.2.3', 'a redirect', "Location: http://x.example/a?b\n\n", 302,
	    location => 'http://x.example/a?b'],
	['6.2.3', 'with a fragment', "Location: http://x.example/a#b\n\n", 302,
	    location => 'http://x.example/a#b'],
	['6.2.3', 'of another scheme', "Location: mailto:a\@x.example\n\n",
	    302, location => 'mailto:a@x.example'],
	['6.2.3', 'with a type', "Location: https://x.example/\n$t\n", 302,
	    location => 'https://x.example/'],
	['6.2.4', 'with a document', "Location: http://x.example/\n$t\nhello",
	    302, location => 'http://x.example/', body => 'hello'],
	(map { ['6.2.4', "by $_", "Status: $_ x\nLocation: http://x.example/" .
	    "\n$t\nhello", $_, location => 'http://x.example/',
	    body => 'hello'] } 301, 303, 307, 308, 201),
	['6.2.3', 'a path with a status', "Status: 303 See Other\n" .
	    "Location: /page\n\n", 303, location => '/page'],
	['6.2.3', 'with more fields', "Location: http://x.example/\n" .
	    "Set-Cookie: a=1\n\n", 302, 'set-cookie' => 'a=1'],
	['6.3.2', 'an empty one', "Location:\n\n", 502],
	['6.3.2', 'a CR in it', "Location: http://x/\rSet-Cookie: a\n\n",
	    502],

	# Redirects within the server.
	['6.2.2', 'to a file', "Location: /page\n\n", 200, body => "page\n",
	    location => undef, etag => qr/"/],
	['6.2.2', 'CR LF', "Location: /page\r\n\r\n", 200, body => "page\n"],
	['6.2.2', 'to a file with a query', "Location: /page?a=b\n\n", 200,
	    body => "page\n"],
	['6.2.2', 'escaped', "Location: /%70age.html\n\n", 200,
	    body => "<p>page\n", 'content-type' => qr{\Atext/html}],
	['6.2.2', 'to nothing', "Location: /nothing\n\n", 404],
	['6.2.2', 'to what is refused', "Location: /secret/x\n\n", 403],
	['6.2.2', 'out of the root', "Location: /../../../etc/passwd\n\n",
	    qr/40[034]|502/],
	['6.2.2', 'with dots', "Location: /a/../page\n\n", 200,
	    body => "page\n"],
	['6.2.2', 'a bad escape', "Location: /%zz\n\n", qr/400|50[02]/],
	['6.2.2', 'a blank in it', "Location: /a b\n\n", qr/40[04]|50[02]/],
);

# What a client got, and what of it is wrong.
sub wrong {
	my ($case, $answer, %how) = @_;
	my (undef, undef, undef, $status, %must) = @$case;
	my ($cut, $body) = delete(@must{qw(cut body once)});
	my @wrong;

	push(@wrong, "status $answer->{status}")
	    unless $answer->{status} =~ /\A(?:$status)\z/;
	push(@wrong, 'another body of ' . length($answer->{body}))
	    if defined($body) && !$how{head} && $answer->{body} ne $body;
	push(@wrong, 'not cut') if $cut && (!$answer->{short} ||
	    $answer->{then} ne 'closed');
	push(@wrong, 'cut') if !$cut && $answer->{short};
	push(@wrong, "the connection is $answer->{then}")
	    if $answer->{then} !~ /\A(?:open|closed)\z/;
	push(@wrong, 'a body') if $how{head} && $answer->{body} ne '';
	push(@wrong, 'chunks for 1.0') if $how{old} && $answer->{chunked};
	for my $name (sort keys %must) {
		my ($is, $want) = ($answer->{field}{$name}, $must{$name});
		next if $how{head} && $name eq 'transfer-encoding';
		push(@wrong, "$name: " . ($is // 'none')) unless
		    !defined($want) ? !defined($is) : defined($is) &&
		    (ref($want) ? $is =~ $want : $is eq $want);
	}
	return @wrong;
}

cmp_ok(scalar(@cases), '>=', 120, scalar(@cases) . ' cases');
for my $case (@cases) {
	my ($section, $what, $output, $status, %must) = @$case;
	my $target = $programs->cat($output);

	$what =~ s/([^\x20-\x7e])/sprintf('\\x%02x', ord($1))/ge;
	my @others = (['HEAD', head => 1, method => 'HEAD'],
	    ['1.0', old => 1, version => '1.0']);
	@others = () if $must{once} || $status eq '502';
	for my $how (['GET'], @others) {
		my ($name, %opt) = @$how;
		my $answer = eval { $programs->get($target, %opt) };
		my @wrong = $answer ? wrong($case, $answer, %opt) : $@;

		is("@wrong", '', "$section: $what, $name");
	}
}

# 6.2.2: a redirect within the server is a GET of that path, without a body.
my $to_env = $programs->cat("Location: /cgi/env/x?a=%20b\n\n");
for my $request ([], [method => 'POST', body => 'abc',
    fields => ['Content-Type: a/b']], [method => 'PUT', chunks => ['abc']]) {
	my $answer = $programs->get($to_env, @$request);
	my $is = Amped::Programs::variables($answer);
	my $what = $request->[1] // 'GET';

	is($answer->{status}, 200, "6.2.2: $what to another program");
	is($is->{REQUEST_METHOD}, 'GET', '... is a GET');
	is($is->{PATH_INFO}, '/x', '... of that path');
	is($is->{SCRIPT_NAME}, '/cgi/env', '... whose name is its own');
	is($is->{QUERY_STRING}, 'a=%20b', '... and query');
	is($is->{CONTENT_LENGTH}, undef, '... without a body');
	is($is->{CONTENT_TYPE}, undef, '... and its type');
	is($is->{'-body'}, '', '... of which there is nothing to read');
	is($answer->{then}, 'open', '... and the connection goes on');
}
# Links of a chain: each is a program that leads to the one before.
my $chain = '/page';
$chain = $programs->cat("Location: $chain\n\n") for 1 .. 5;
is($programs->get($chain)->{body}, "page\n", '6.2.2: five in a row');
$chain = $programs->cat("Location: $chain\n\n");
like($programs->get($chain)->{status}, qr/\A50\d\z/, '... and no sixth');
my $number = $programs->{cases};
my $loop = $programs->cat("Location: /cgi/cat?$number\n\n");
my $answer = $programs->get($loop);
like($answer->{status}, qr/\A50\d\z/, 'one to itself is an error');
is($answer->{then}, 'open', '... for this request only');
$answer = $programs->get($programs->cat("Location: /page\n\n"),
    fields => ['If-None-Match: *']);
like($answer->{status}, qr/\A(?:200|304)\z/,
    '6.2.2: with conditions, of the file or none');

# Statuses and bodies of programs are theirs; an error of the server's is not.
my $own = $programs->cat("Status: 404\n$t\nmine") =~ s{/cgi}{/pages}r;
is($programs->get($own)->{body}, 'mine', 'a 404 of the program is its own');
is($programs->get('/pages/nothing')->{body}, "sorry\n",
    'one of the server has the page of the conf');
like($programs->get($programs->cat(''))->{body}, qr/<h1>502/,
    'a 502 has a page');

# The type and the coding of a program: nothing is added, nothing coded twice.
$answer = $programs->get($programs->cat("$t\n" . $text x 20),
    fields => ['Accept-Encoding: gzip']);
is($answer->{field}{'content-encoding'} ?
    Compress::Zlib::memGunzip($answer->{body}) : $answer->{body},
    $text x 20, 'a body that a server with compress on may compress');
$answer = $programs->get($programs->cat("${t}Content-Encoding: gzip\n\n$zip"),
    fields => ['Accept-Encoding: gzip']);
ok($answer->{body} eq $zip && $answer->{field}{'content-encoding'} eq 'gzip',
    'one that is compressed already is left as it is');

# A program that writes when it likes.
my $drip = $programs->play(<<'END');
for my $byte (split(//, "Content-Type: text/plain\r\nX-A: b\r\n\r\nhello")) {
	put($byte);
	select(undef, undef, undef, 0.001);
}
END
$answer = $programs->get($drip);
is("$answer->{status} $answer->{field}{'x-a'} $answer->{body}", '200 b hello',
    'an answer that drips in');
my $split = $programs->play(<<'END');
put("Content-Type: text/plain\n");
tell_test('line');
wait_test('on');
put("\nfirst");
tell_test('begun');
wait_test('further');
put(' second');
END
my $client = $programs->ask($split);
$programs->told('line');
ok($client->quiet, 'nothing is sent of half a head');
$programs->let('on');
$client->fill until $client->{in} =~ /first/ || $client->{end};
like($client->{in}, qr/\AHTTP\S+ 200 .*first/s,
    'the first part is sent before there is another');
ok($client->{in} !~ /second/, '... which is not there yet');
$programs->let('further');
$answer = $client->response;
is($answer->{body}, 'first second', 'then comes the other');
is(Amped::Programs::state_of($client), 'open', 'and the connection goes on');

# 304 and HEAD: a program that writes more than anybody reads can end.
my $much = $programs->play(<<'END');
put("Status: 304\n\n");
put('x' x 65536) for 1 .. 100;
END
is($programs->get($much)->{then}, 'open', 'a 304 with 6 MB of body');

# Exit statuses: of no meaning behind a whole answer.
for my $status (0, 1, 99, 255) {
	my $target = $programs->play("head(); put('hello'); exit($status)");
	my $answer = $programs->get($target);

	is("$answer->{status} $answer->{body} $answer->{short} " .
	    $answer->{then}, '200 hello 0 open', "exit status $status");
	$answer = $programs->get($programs->play("exit($status)"));
	is($answer->{status}, 502, '... and without an answer');
}

# A connection with all kinds of requests, in one piece.
my $hello = $programs->cat("$t\nhello");
my $exact = $programs->cat("${t}Content-Length: 5\n\nexact");
my $bad = $programs->cat('bad');
my @row = (['/page', 200, "page\n"], [$hello, 200, 'hello'],
    [$exact, 200, 'exact'], ['/page', 200, "page\n"], [$bad, 502],
    [$hello, 200, 'hello'], ['/nothing', 404], ['/cgi/nothing', 404],
    [$exact, 200, 'exact'], ['/page', 200, "page\n"]);
$client = $programs->client;
$client->send(join('', map { Amped::Programs::request($_->[0]) } @row));
for my $case (@row) {
	my ($target, $status, $body) = @$case;
	my $answer = $client->response // { status => 'none' };

	is($answer->{status}, $status, "$target in a row");
	is($answer->{body}, $body, '... with its body') if defined($body);
}
is(Amped::Programs::state_of($client), 'open', 'and the connection goes on');
$answer = $programs->get($hello, fields => ['Connection: close']);
is("$answer->{body} $answer->{short} $answer->{then}", 'hello 0 closed',
    'a client that wants it closed');
$answer = $programs->get($exact, version => '1.0',
    fields => ['Connection: keep-alive']);
is("$answer->{body} $answer->{then}", 'exact open',
    '1.0 stays, where a length says where the body ends');

# The access log.
my ($line) = $server->wait_line(qr{"GET \Q$hello\E HTTP/1\.1" 200 },
    $server->{access});
like($line, qr/" 200 [5-9]\d*$|" 200 1\d$/, 'the log has status and bytes');
ok($server->wait_line(qr{"GET \Q$bad\E HTTP/1\.1" 502 }, $server->{access}),
    'and those of a 502');
ok($server->wait_line(qr{502 for /cgi/cat\?\d}),
    'the error log says why');

$server->stop;
done_testing();
