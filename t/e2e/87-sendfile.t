#!/usr/bin/perl
# Files and paths that programs name in place of a body: X-Sendfile and
# X-Accel-Redirect, by all protocols.  A case is what a program writes, and what
# must come of it at the client.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content slurp);
use Amped::Applications;
use Amped::Programs;
use MIME::Base64 qw(encode_base64);
use Test::More;

my $text = "0123456789abcdefghij\n";
my $big = content('big', 5_000_000);
my $programs = Amped::Programs->new('files/a.txt' => $text,
    'files/sub/b c.bin' => 'b', 'files/sub/page.html' => "<p>\n",
    'files/100%.txt' => 'percent', "files/\xc3\xa9.txt" => 'accent',
    'files/big.bin' => $big, 'files/.hidden' => 'secret', 'files/e' => '',
    '.deep/d.txt' => 'deep', 'files-2/n' => 'no',
    'other/s' => 'secret', 'www/in/report.pdf' => 'report',
    'www/in/note.txt' => "note\n" x 500, 'www/in/d/index.html' => 'index',
    'www/in/r s.txt' => 'blank', 'www/open/o.txt' => "open\n",
    'www/closed/c.txt' => 'closed', 'www/sorry.html' => "sorry\n",
    'bin/' => '', 'run/' => '', 'hot/' => '',
    'passwords' => 'joe:' . crypt('secret', '$5$salt') . "\n");
my $dir = $programs->dir;
symlink("$dir/other/s", "$dir/files/absolute");
symlink('../other/s', "$dir/files/climbs");
symlink('a.txt', "$dir/files/stays");
symlink("$dir/other", "$dir/files/way");
my %file = map { $_ => Amped::Applications::make($programs, $_, $_) }
    qw(fastcgi scgi);
my $where = Amped::Applications::place('unix', "$dir/run", 's');
my $scgi = Amped::Applications->serve($file{scgi}, $where, 2);
chown(scalar(getpwnam(Amped::ordinary_user())), -1, "$dir/hot") if $> == 0;
my $server = $programs->start(program => "\tsendfile $dir/files/ $dir/.deep\n",
    others => <<"END", site => <<"END2");
program plain { directory $dir/cgi; nice 0 }
program fast { fastcgi $file{fastcgi}; sendfile $dir/files; nice 0; most 1 }
program scgi { scgi $where; sendfile $dir/files }
cache { hotlist $dir/hot/list every 1s }
END
	header X-Conf yes
	expires text/plain 10m
	compress on
	path /plain { run plain }
	path /fast { run fast }
	path /scgi { run scgi }
	path /mended { run all; error 404 /sorry.html }
	path /in { internal on; header X-In yes }
	path /in/note.txt { header X-Note yes }
	path /open { header X-Open yes; fallback /in/report.pdf }
	path /closed { auth "Me" $dir/passwords; internal on }
	path /gone { error 404 /in/report.pdf }
END2
my $t = "Content-Type: text/plain\n";
my $file = "X-Sendfile: $dir/files";
my $accel = 'X-Accel-Redirect: ';

my $old = 'Sun, 06 Nov 1994 08:49:37 GMT';
my $new = 'Fri, 01 Jan 2038 00:00:00 GMT';
my $tag = $programs->get($programs->cat("$t$file/a.txt\n\n"))->{field}{etag};
like($tag, qr/\A(?:W\/)?"[^"]+"\z/, 'a file has a tag');
# It is weak while the file is young.
$tag =~ s{\AW/}{};
my $has_tag = qr{\A(?:W/)?\Q$tag\E\z};

sub asks { return [fields => [@_]] }

# Rule, what, head, options of the request, status; then body => bytes, a field
# => what it must match (undef: must not be there), head => 1: also as HEAD.
my @cases = (
	# A file: what comes of head and body.
	['lighttpd', 'a file', "$t$file/a.txt\n", [], 200, head => 1,
	    body => $text, 'content-type' => 'text/plain', etag => $has_tag,
	    'content-length' => 21, 'accept-ranges' => 'bytes',
	    'last-modified' => qr/GMT/, 'x-sendfile' => undef,
	    'transfer-encoding' => undef, 'x-conf' => 'yes'],
	['lighttpd', 'an empty one', "$t$file/e\n", [], 200, head => 1,
	    body => '', 'content-length' => 0],
	['lighttpd', 'a large one', "$t$file/big.bin\n", [], 200,
	    body => $big],
	['mod_xsendfile', 'alone in the head, its type by the name',
	    "$file/sub/page.html\n", [], 200, body => "<p>\n",
	    'content-type' => 'text/html', 'x-content-type-options' =>
	    'nosniff'],
	['mod_xsendfile', 'the body and its length are dropped',
	    "$t${file}/a.txt\nContent-Length: 3\n\nbody", [], 200,
	    body => $text, 'content-length' => 21],
	['mod_xsendfile', 'a body of a megabyte', "$t$file/a.txt\n\n" .
	    'x' x (1 << 20), [], 200, body => $text],
	['lighttpd', 'all fields are the program\'s', "Content-Type: a/b\n" .
	    "Content-Disposition: attachment; filename=\"x\"\nCache-Control: " .
	    "private\nSet-Cookie: a=1\nSet-Cookie: b=2\nX-Own: 1\nVary: " .
	    "Cookie\nExpires: $old\n$file/a.txt\n", [], 200, head => 1,
	    'content-type' => 'a/b', 'content-disposition' =>
	    'attachment; filename="x"', 'cache-control' => 'private',
	    'set-cookie' => "a=1\nb=2", 'x-own' => 1, vary => 'Cookie',
	    expires => $old],
	['promise', 'expires is not for it', "$t$file/a.txt\n", [], 200,
	    'cache-control' => undef],
	['promise', 'a field of the conf gives way', "$t${file}/a.txt\n" .
	    "X-Conf: mine\n", [], 200, 'x-conf' => 'mine'],
	['promise', 'no X-Accel field passes', "$t${file}/a.txt\n" .
	    "X-Accel-Buffering: no\nX-Accel-Expires: 5\n", [], 200,
	    'x-accel-buffering' => undef, 'x-accel-expires' => undef],
	['promise', 'a coding of the program\'s stays', "$t${file}/a.txt\n" .
	    "Content-Encoding: gzip\n", asks('Accept-Encoding: gzip'), 200,
	    body => $text, 'content-encoding' => 'gzip'],
	['9110 9.3.3', 'POST, answered by a file', "$t$file/a.txt\n",
	    [method => 'POST', body => 'abc'], 200, body => $text],
	['9110 9.3.7', 'OPTIONS, too', "$t$file/a.txt\n",
	    [method => 'OPTIONS'], 200, body => $text],
	['9110 9.3.4', 'PUT in chunks', "$t$file/a.txt\n",
	    [method => 'PUT', chunks => ['abc']], 200, body => $text],
	['9112 9.3', 'to 1.0', "$t$file/a.txt\n", [version => '1.0'], 200,
	    body => $text, 'content-length' => 21],

	# Its status.
	['lighttpd', 'another status', "Status: 404 Not here\n$t$file/a.txt\n",
	    asks('Range: bytes=0-1', "If-None-Match: $tag"), 404, head => 1,
	    body => $text],
	['lighttpd', '201', "Status: 201 Made\n$t$file/a.txt\n", [], 201,
	    body => $text],
	['mod_xsendfile', '206 is made of the request', "Status: 206\n$t" .
	    "Content-Range: bytes 0-1/9\n$file/a.txt\n", [], 200,
	    body => $text, 'content-range' => undef],
	['9110 15.3.5', '204 has no file', "Status: 204\n$file/a.txt\n", [],
	    204, body => '', 'content-length' => undef],

	# Ranges and conditions.
	['9110 14.2', 'a range', "$t$file/a.txt\n", asks('Range: bytes=3-5'),
	    206, body => '345', 'content-range' => 'bytes 3-5/21',
	    'content-type' => 'text/plain', 'x-conf' => 'yes'],
	['9110 14.2', 'the last bytes', "$t$file/a.txt\n",
	    asks('Range: bytes=-3'), 206, body => "ij\n"],
	['9110 14.2', 'of a large file', "$t$file/big.bin\n",
	    asks('Range: bytes=4000000-4000009'), 206,
	    body => substr($big, 4_000_000, 10)],
	['9110 14.6', 'several', "Content-Type: a/b; c=d\n$file/a.txt\n",
	    asks('Range: bytes=0-0,5-5'), 206, 'content-type' =>
	    qr{\Amultipart/byteranges}, body =>
	    qr{Content-Type: a/b; c=d\r\n.*\r\n0\r\n.*a/b; c=d.*\r\n5\r\n}s],
	['9110 15.5.17', 'beyond the end', "$t$file/a.txt\n",
	    asks('Range: bytes=99-'), 416, 'content-range' => 'bytes */21',
	    'x-own' => undef],
	['9110 14.2', 'is for GET alone', "$t$file/a.txt\n", [method => 'POST',
	    body => 'a', fields => ['Range: bytes=3-5']], 200, body => $text],
	['9110 14.3', 'is refused by the program', "$t${file}/a.txt\n" .
	    "Accept-Ranges: none\n", asks('Range: bytes=3-5'), 200,
	    body => $text, 'accept-ranges' => 'none'],
	['9110 13.1.5', 'If-Range, the tag', "$t${file}/a.txt\nETag: \"t\"\n",
	    asks('Range: bytes=3-5', 'If-Range: "t"'), 206, body => '345'],
	['9110 13.1.5', 'another tag', "$t${file}/a.txt\nETag: \"t\"\n",
	    asks('Range: bytes=3-5', 'If-Range: "u"'), 200, body => $text],
	['9110 13.1.2', 'If-None-Match', "$t${file}/a.txt\nX-Own: 1\n" .
	    "Content-Disposition: x\n", asks("If-None-Match: $tag"), 304,
	    head => 1, body => '', etag => $has_tag, 'x-own' => 1,
	    'content-type' => undef, 'content-disposition' => undef],
	['9110 13.1.2', 'another', "$t$file/a.txt\n",
	    asks('If-None-Match: "x"'), 200, body => $text],
	['9110 13.1.2', 'for POST', "$t$file/a.txt\n", [method => 'POST',
	    body => '', fields => ["If-None-Match: $tag"]], 200,
	    body => $text],
	['9110 13.1.2', 'the tag of the program', "$t${file}/a.txt\n" .
	    "ETag: \"mine\"\n", asks('If-None-Match: "mine"'), 304,
	    etag => '"mine"'],
	['9110 13.1.2', 'and not that of the file', "$t${file}/a.txt\n" .
	    "ETag: \"mine\"\n", asks("If-None-Match: $tag"), 200,
	    etag => '"mine"'],
	['9110 13.1.1', 'If-Match', "$t$file/a.txt\n", asks('If-Match: "x"'),
	    412],
	['9110 13.1.3', 'If-Modified-Since', "$t$file/a.txt\n",
	    asks("If-Modified-Since: $new"), 200, body => $text],
	['9110 13.1.3', 'the date of the program', "$t${file}/a.txt\n" .
	    "Last-Modified: $old\n", asks("If-Modified-Since: $old"), 304,
	    'last-modified' => $old],
	['9110 13.1.4', 'If-Unmodified-Since', "$t$file/a.txt\n",
	    asks("If-Unmodified-Since: $old"), 412],

	# Names.
	['lighttpd', 'a blank', "$t$file/sub/b c.bin\n", [], 200,
	    body => 'b'],
	['lighttpd', 'escaped', "$t$file/sub/b%20c.b%69n\n", [], 200,
	    body => 'b'],
	['lighttpd', 'an escaped percent sign', "$t$file/100%25.txt\n", [],
	    200, body => 'percent'],
	['lighttpd', 'a percent sign that is no escape', "$t$file/100%.txt\n",
	    [], 200, body => 'percent'],
	['lighttpd', 'eight bits', "$t$file/\xc3\xa9.txt\n", [], 200,
	    body => 'accent'],
	['lighttpd', 'slashes and dots', "$t$file//./sub/./page.html\n", [],
	    200, body => "<p>\n"],
	['promise', 'the second directory, with a dot',
	    "${t}X-Sendfile: $dir/.deep/d.txt\n", [], 200, body => 'deep'],
	['promise', 'a link that stays', "$t$file/stays\n", [], 200,
	    body => $text],
	['promise', 'no file', "$t${file}/none\nX-Own: 1\n", [], 404,
	    'x-own' => undef, body => qr/<h1>404/],
	['promise', 'a directory', "$t$file/sub\n", [], 404],
	['promise', 'with a slash', "$t$file/sub/\n", [], 404],
	['promise', 'beneath a file', "$t$file/a.txt/x\n", [], 404],
	['promise', 'dots that lead out', "$t$file/../other/s\n", [], 404],
	['promise', 'dots that lead back', "$t$file/sub/../a.txt\n", [], 404],
	['promise', 'escaped dots', "$t$file/%2e%2E/other/s\n", [], 404],
	['promise', 'an escaped slash between', "$t$file/..%2fother%2fs\n", [],
	    404],
	['promise', 'a NUL', "$t$file/a.txt%00.pdf\n", [], 404],
	['promise', 'a line end', "$t$file/a.txt%0a\n", [], 404],
	['promise', 'a name that begins alike', "${t}X-Sendfile: " .
	    "$dir/files-2/n\n", [], 404],
	['promise', 'elsewhere', "${t}X-Sendfile: /etc/passwd\n", [], 404],
	['promise', 'the directory itself', "${t}X-Sendfile: $dir/files\n", [],
	    404],
	['promise', 'not from / on', "${t}X-Sendfile: files/a.txt\n", [], 404],
	['promise', 'a relative name upwards', "${t}X-Sendfile: ../a.txt\n",
	    [], 404],
	['promise', 'too long', "$t$file/" . 'x' x 5000 . "\n", [], 404],
	['promise', 'hidden', "$t$file/.hidden\n", [], 404],
	['promise', 'a link that is absolute', "$t$file/absolute\n", [], 404],
	['promise', 'a link that climbs', "$t$file/climbs\n", [], 404],
	['promise', 'a link on the way', "$t$file/way/s\n", [], 404],
	['promise', 'two names', "$t$file/a.txt\n$file/e\n", [], 502],
	['promise', 'none', "${t}X-Sendfile:\n\nhello", [], 200,
	    body => 'hello'],

	# Paths of the site.
	['nginx', 'a path', "Content-Type: a/b\n$accel/in/report.pdf\n\nbody",
	    [], 200, head => 1, body => 'report', 'content-type' => 'a/b',
	    'x-in' => 'yes', 'x-conf' => 'yes', 'content-length' => 6,
	    'x-accel-redirect' => undef],
	['nginx', 'its type by the name', "$accel/in/report.pdf\n", [], 200,
	    'content-type' => 'application/pdf'],
	['nginx', 'what is kept', "${t}Content-Disposition: x\nSet-Cookie: " .
	    "a=1\nSet-Cookie: b=2\nCache-Control: private\nExpires: $old\n" .
	    "Accept-Ranges: none\nX-Own: 1\nETag: \"x\"\nLast-Modified: " .
	    "$old\n$accel/in/report.pdf\n", asks('Range: bytes=0-0'), 200,
	    'content-disposition' => 'x', 'set-cookie' => "a=1\nb=2",
	    'cache-control' => 'private', expires => $old, 'accept-ranges' =>
	    'none', 'x-own' => undef, etag => qr/\A(?:W\/)?".{11}"\z/,
	    'last-modified' => qr/20\d\d/],
	['nginx', 'a status is not', "Status: 403\n$t$accel/in/report.pdf\n",
	    [], 200, body => 'report'],
	['nginx', 'a query', "$t$accel/in/report.pdf?a=b\n", [], 200,
	    body => 'report'],
	['nginx', 'escaped', "$t$accel/in/r%20s.txt\n", [], 200,
	    body => 'blank'],
	['nginx', 'not escaped', "$t$accel/in/r s.txt\n", [], 200,
	    body => 'blank'],
	['nginx', 'a range', "$t$accel/in/report.pdf\n",
	    asks('Range: bytes=0-1'), 206, body => 're'],
	['nginx', 'POST becomes GET', "$t$accel/in/report.pdf\n",
	    [method => 'POST', body => 'abc'], 200, body => 'report'],
	['nginx', 'an index', "$t$accel/in/d/\n", [], 200, body => 'index'],
	['nginx', 'a path that is not internal', "$t$accel/open/o.txt\n", [],
	    200, body => "open\n", 'x-open' => 'yes'],
	['nginx', 'no file', "$t$accel/in/none\n", [], 404],
	['nginx', 'a fallback', "${t}$accel/open/none\n", [], 200,
	    body => 'report', 'content-type' => 'text/plain'],
	['nginx', 'a password of the path', "$t$accel/closed/c.txt\n", [],
	    401],
	['nginx', 'that is right', "$t$accel/closed/c.txt\n",
	    asks('Authorization: Basic ' . encode_base64('joe:secret', '')),
	    200, body => 'closed'],
	['promise', 'a compressed variant', "$t$accel/in/note.txt\n",
	    asks('Accept-Encoding: gzip'), 200, 'content-encoding' => 'gzip',
	    vary => 'Accept-Encoding', 'content-type' => 'text/plain'],
	['nginx', 'no path', "$t${accel}in/report.pdf\n", [], 502],
	['nginx', 'a URL', "$t${accel}http://localhost/in/report.pdf\n", [],
	    502],
	['nginx', 'out of the root', "$t$accel/../other/s\n", [], qr/40[034]/],
	['nginx', 'to a program', "${t}Set-Cookie: a=1\n$accel" .
	    $programs->cat("Content-Type: c/d\nSet-Cookie: b=2\n\nlast") .
	    "\n", [], 200, body => 'last', 'content-type' => 'c/d',
	    'set-cookie' => qr/\A(?:a=1\nb=2|b=2\na=1)\z/],
	['nginx', 'to one that names a path', "${t}Set-Cookie: a=1\n$accel" .
	    $programs->cat("$accel/in/report.pdf\n\n") . "\n", [], 200,
	    body => 'report', 'set-cookie' => 'a=1', 'content-type' =>
	    'text/plain'],
	['nginx', 'to one that names a file', "${t}Set-Cookie: a=1\n$accel" .
	    $programs->cat("$t$file/a.txt\n\n") . "\n", [], 200,
	    body => $text, 'set-cookie' => 'a=1'],
	['promise', 'both: the file', "$t$file/a.txt\n$accel/in/report.pdf\n",
	    [], 200, body => $text],
	['nginx', 'X-Accel fields are removed', "${t}X-Accel-Buffering: no\n" .
	    "X-Accel-Limit-Rate: 1\nX-Accel-Expires: 1\nX-Accel-Charset: x\n" .
	    "\nhello", [], 200, body => 'hello', map { ("x-accel-$_" =>
	    undef) } qw(buffering limit-rate expires charset)],
);

# What is wrong with an answer.
sub wrong {
	my ($answer, $status, %must) = @_;
	my ($body) = delete(@must{qw(body head)});
	my @wrong;

	push(@wrong, "status $answer->{status}")
	    unless $answer->{status} =~ /\A(?:$status)\z/;
	push(@wrong, 'another body: ' . substr($answer->{body}, 0, 60))
	    if defined($body) && (ref($body) ? $answer->{body} !~ $body :
	    $answer->{body} ne $body);
	push(@wrong, 'cut') if $answer->{short};
	push(@wrong, "the connection is $answer->{then}")
	    if $answer->{then} !~ /\A(?:open|closed)\z/;
	for my $name (sort keys %must) {
		my ($is, $want) = ($answer->{field}{$name}, $must{$name});
		push(@wrong, "$name: " . ($is // 'none')) unless
		    !defined($want) ? !defined($is) : defined($is) &&
		    (ref($want) ? $is =~ $want : $is eq $want);
	}
	return join('; ', @wrong);
}

cmp_ok(scalar(@cases), '>=', 90, scalar(@cases) . ' cases');
for my $case (@cases) {
	my ($rule, $what, $output, $options, $status, %must) = @$case;
	my $target = $programs->cat($output =~ /\n\n/ ? $output : "$output\n");

	is(wrong($programs->get($target, @$options), $status, %must), '',
	    "$rule: $what");
	is(wrong($programs->get($target, @$options, method => 'HEAD'),
	    $status, %must, body => ''), '', '... and HEAD') if $must{head};
}

# Each protocol: the program is free before its client has the file.
for my $path (qw(fast scgi)) {
	my $play = sub { return $programs->play($_[0]) =~ s{^/cgi/play}
	    {/$path}r };
	my $slow = $programs->ask($play->("put(\"$t$file/big.bin\\n\\n\");" .
	    'put("body");'), window => 4096);
	my $answer = $programs->get($play->('head(); put("free");'));

	is($answer->{body}, 'free', "$path: the program is free again");
	$answer = $slow->response;
	ok($answer->{status} == 200 && $answer->{body} eq $big,
	    '... and the slow client has its file');
	$answer = $programs->get($play->(
	    "put(\"Content-Type: a/b\\n$accel/in/report.pdf\\n\\n\");"));
	is("$answer->{status} $answer->{body} $answer->{field}{'content-type'}",
	    '200 report a/b', '... and of a path');
	$answer = $programs->get($play->(
	    "put(\"$file/a.txt\\n\\n\");"), fields => ['Range: bytes=1-2']);
	is("$answer->{status} $answer->{body}", '206 12', '... and a range');
}

# A program may go on behind its head; it is not ended for that.
my $behind = $programs->play("put(\"$file/a.txt\\n\\n\"); " .
    'wait_test("on"); tell_test("done"); exit(3);');
my $client = $programs->ask($behind);
ok($client->quiet, 'what a program does behind its head is waited for');
$programs->let('on');
$programs->told('done');
is($client->response->{body}, $text, '... and is done when the file comes');

# A path that is internal.
for my $target (qw(/in/report.pdf /in /in/ /in/none /in/d/ /closed/c.txt)) {
	for my $method (qw(GET HEAD OPTIONS POST)) {
		is($programs->get($target, method => $method)->{status},
		    $method eq 'POST' ? 405 : 404,
		    "$method $target from outside");
	}
}
is($programs->get('/in/note.txt')->{field}{'x-note'}, 'yes',
    'a path within it is not');
my $answer = $programs->get('/gone/x');
is("$answer->{status} $answer->{body}", '404 report', 'a page of an error is');
is($programs->get('/open/none')->{body}, 'report', '... and a fallback');
is($programs->get($programs->cat("Location: /in/report.pdf\n\n"))->{body},
    'report', '... and a local redirect');

# Loops are bounded.
my $chain = '/in/report.pdf';
$chain = $programs->cat("$accel$chain\n\n") for 1 .. 5;
is($programs->get($chain)->{body}, 'report', 'five in a row');
$chain = $programs->cat("$accel$chain\n\n");
is($programs->get($chain)->{status}, 502, '... and no sixth');
my $number = $programs->{cases};
is($programs->get($programs->cat("$accel/cgi/cat?$number\n\n"))->{status}, 502,
    'one to itself');

# The page of an error is that of the target's path.
my $none = $programs->cat("$file/none\n\n") =~ s{^/cgi}{/mended}r;
is($programs->get($none)->{body}, "sorry\n", 'no file, and a page for that');
$none = $programs->cat("$file/../x\n\n") =~ s{^/cgi}{/mended}r;
is($programs->get($none)->{body}, "sorry\n", 'no name, and a page for that');

# Where the conf names no directory.
my $plain = $programs->cat("$t$file/a.txt\n\nbody") =~ s{^/cgi}{/plain}r;
for my $time (1 .. 3) {
	$answer = $programs->get($plain);
	is("$answer->{status} $answer->{body} " .
	    ($answer->{field}{'x-sendfile'} // 'none'), '200 body none',
	    "without sendfile, $time");
}

# A file that changes, comes and goes, as each other one.
my $live = $programs->cat("$file/live\n\n");
is($programs->get($live)->{status}, 404, 'a file that is not there yet');
for my $version (qw(one two)) {
	Amped::write_file("$dir/files/live.new", $version);
	rename("$dir/files/live.new", "$dir/files/live");
	await("the file to be $version", sub {
		$programs->get($live)->{body} eq $version });
	pass("the file is $version");
}
unlink("$dir/files/live");
await('the file to be gone', sub { $programs->get($live)->{status} == 404 });
pass('the file has gone');

# No URL leads to a file of X-Sendfile.
is($programs->get($programs->cat("$t$file/a.txt\n\n"))->{status}, 200,
    'a file in the cache');
is($server->get('/open/o.txt')->{status}, 200, 'and one with a URL');
unlink("$dir/hot/list");
await('a list of hot names', sub { -s "$dir/hot/list" });
like(slurp("$dir/hot/list"), qr{/open/o\.txt$}m,
    'the list of hot names has the one with a URL');
unlike(slurp("$dir/hot/list"), qr{files/}, 'and not the other one');

my $log = $server->errors;
my $refused = 'the file of X-Sendfile, /etc/passwd, is beneath no directory ' .
    'of sendfile';
my $absent = 'the file that program all has named: there is no such file: ' .
    "$dir/files/none";
like($log, qr{warn: 404 for .*: program all: $refused},
    'a name that may not be named is logged');
like($log, qr{warn: .* this file cannot be had: \Q$absent\E},
    'a file that is not there is logged');
like($log, qr{this file cannot be had: .* a link in its path .*climbs},
    'a link that leads out is logged');
my %left_out;
$left_out{$_}++ for $log =~
    /main\[(\d+)\] warn: program plain: X-Sendfile is left out: /g;
is(join(' ', values(%left_out)) =~ s/ 1//gr, 1,
    'a field that is left out is logged once by each main');
$server->stop;
$scgi->stop;
done_testing();
