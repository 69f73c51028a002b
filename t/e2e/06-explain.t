#!/usr/bin/perl
# amped -u URL: how a URL would be answered, and why a refusal.
# arch: one: who explains is one of its own
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot run_amped slurp write_file);
use IO::Socket::INET;
use MIME::Base64 qw(encode_base64);
use POSIX qw(mkfifo);
use Test::More;

my $dir = docroot('www/index.html' => "index\n", 'www/a.txt' => "abc\n",
    'www/secret/s.txt' => "s\n", 'www/bare/' => '', 'www/many/x' => "x\n",
    'www/nf.html' => "none\n", 'www/b/404.html' => "none in b\n",
    'www/.git/config' => "c\n", 'other/o.txt' => "o\n",
    'www/x.bak' => "x\n", 'www/c.txt' => 'c' x 5000, 'www/c.txt.gz' => 'z',
    'www/d.txt' => 'd' x 5000,
    groups => "team: ann bob\n", passwords => 'joe:' . crypt('secret', '$5$salt') . "\n",
    'www/large' => "large\n" x 500_000);
my $www = "$dir/www";
my $user = $> == 0 ? Amped::ordinary_user() : getpwuid($>);
symlink('a.txt', "$www/in");
symlink('../other/o.txt', "$www/out");
symlink("$www/a.txt", "$www/inside");
symlink('nowhere', "$www/dangling");
mkfifo("$www/fifo", 0644);
chmod(0644, "$www/fifo");
chmod(0, "$www/secret");

# Directories of users, as the user database has them.
my ($low) = grep { $_->[2] > 0 && $_->[2] < 100 && $_->[7] =~ m{^/} }
    map { [getpwnam($_)] } qw(daemon bin sys games man mail);

my $conf = "$dir/amped.conf";
write_file($conf, ($> == 0 ? "user $user\n" : "# the one who starts it\n") .
    <<"END");
log { error stderr warn }
site example.org *.example.net {
	listen 127.0.0.1:8081
	root $www
	error 404 /nf.html
	path /many { listing json }
	path /gone { return 410 }
	path /moved { redirect 302 /a.txt }
	path /app { fallback /index.html }
	path /broken { error 404 /missing.html }
	path /other { alias $dir/other }
	path /lost { fallback /many }
}
site default {
	listen 127.0.0.1:8081 [::1]:8082
	root $dir/other
}
limits { body 1K }
site tools {
	listen 127.0.0.1:8083
	root $www
	compress on; precompressed gzip
	users public_html from 0
	allow 127.0.0.0/8
	deny 127.0.0.9
	files *.bak "*.old" { deny all }
	path /members { alias $www; auth "Me" $dir/passwords }
	files c.* "*.c" { expires 1h }
}
trust 192.0.2.0/24
site staff {
	listen 127.0.0.1:8085
	root $www
	auth "Us" $dir/passwords groups $dir/groups
	require user ann bob
	path /team { alias $www; require group team }
}
site inner {
	listen 127.0.0.1:8086
	root $www
	path /a.txt { internal on }
}
END

# The facts of an explanation, each a list of lines.
sub asked {
	my ($url, @more) = @_;
	my ($status, $out, $err) = run_amped('-u', $url, '-f', $conf, @more);
	my %facts = (out => $out);

	is($status, 0, "$url @more is explained") or diag($err);
	is($err, '', 'without complaints');
	for my $line (split(/\n/, $out)) {
		my ($fact, $text) = $line =~ /\A(\w+) +(\S.*)\z/ or
		    fail("a line with two columns: $line");
		push(@{$facts{$fact}}, $text);
	}
	return \%facts;
}

# URL, then facts and what they are: exactly, or by a pattern; undef: none.
my @cases = (
	['/a.txt', {
		request => 'GET http://example.org:8081/a.txt',
		listener => '127.0.0.1:8081',
		site => "example.org ($conf:3), by the name example.org",
		path => "no block but the site's own",
		lookup => "$www/a.txt: a file",
		file => qr/\A4 bytes, modified \w{3}, .* GMT, (?:strong|weak) tag\z/,
		status => '200 OK', why => undef, page => undef }],
	['/', { lookup => "$www/index.html: a file", status => '200 OK' }],
	['/?q=1#there', { request => 'GET http://example.org:8081/?q=1',
		status => '200 OK' }],
	['/large', { status => '200 OK', file => qr/\A3000000 bytes/ }],
	['/in', { lookup => "$www/in: a file, by links $www/a.txt",
		status => '200 OK' }],
	['http://www.example.net:8081/', {
		site => "example.org ($conf:3), by the name *.example.net" }],
	['http://127.0.0.1:8081/o.txt', {
		request => 'GET http://127.0.0.1:8081/o.txt',
		site => "default ($conf:15), as the default: no site " .
		    'of this listener is named 127.0.0.1',
		lookup => "$dir/other/o.txt: a file" }],
	['http://[::1]:8082/o.txt', { listener => '[::1]:8082',
		status => '200 OK' }],
	['http://anything:8082', { listener => '[::1]:8082',
		status => '403 Forbidden' }],
	['/many/', { path => "/many ($conf:7)",
		lookup => ["$www/many/: a directory without index.html",
		    "$www/many/: a directory, listed with 1 entries"],
		file => qr/\Amade of the directory, \d+ bytes\z/,
		status => '200 OK' }],
	['/other/o.txt', { path => "/other ($conf:12)",
		lookup => "$dir/other/o.txt: a file", status => '200 OK' }],

	['http://inner:8086/a.txt', { lookup => undef,
		status => '404 Not Found', why =>
		qr/\Aonly programs and the conf lead .*: internal on \(/ }],

	# Elsewhere, or something else.
	['/many', { lookup => "$www/many: a directory",
		status => '301 Moved Permanently',
		why => qr/\Ait names a directory .* slash/ }],
	['/moved/x', { status => '302 Found', lookup => undef,
		why => 'the conf redirects it: redirect 302 ' .
		    "/a.txt ($conf:9)" }],
	['/app/x', { status => '200 OK',
		lookup => ["$www/app/x: $www/app is not there",
		    "$www/index.html: a file"],
		page => "/index.html, by fallback /index.html ($conf:10)",
		why => 'there is no such file' }],

	['/lost/x', { status => '404 Not Found',
		lookup => ["$www/lost/x: $www/lost is not there",
		    "$www/many: a directory", "$www/nf.html: a file"],
		page => "/nf.html, by error 404 /nf.html ($conf:6)",
		why => 'there is no such file' }],

	# Refusals.
	['/none', { status => '404 Not Found', file => qr/\A5 bytes/,
		lookup => ["$www/none: is not there", "$www/nf.html: a file"],
		page => "/nf.html, by error 404 /nf.html ($conf:6)",
		why => 'there is no such file' }],
	['/broken/x', { status => '404 Not Found', file => undef,
		page => "/missing.html, by error 404 /missing.html " .
		    "($conf:11); that page cannot be had either" }],
	['/dangling', { lookup => [
		"$www/dangling: is a link to nowhere, which is not there",
		"$www/nf.html: a file"], status => '404 Not Found' }],
	['/a.txt/x', { lookup => [
		"$www/a.txt/x: $www/a.txt is a file, not a directory",
		"$www/nf.html: a file"],
		why => 'a name in its path that should be ' .
		    'a directory is a file' }],
	['/a%00b', { status => '404 Not Found',
		why => qr/a slash or a control byte/ }],
	['/bare/', { lookup => "$www/bare/: a directory without index.html",
		status => '403 Forbidden', page => undef,
		why => qr/\Ait names a directory .*: listing off \(default\)\z/ }],
	['/out', { lookup => "$www/out: is a link to ../other/o.txt, " .
		'out of the root', status => '403 Forbidden',
		why => qr/\Aa link in its path .*: links beneath \(default\)\z/ }],
	['/inside', { lookup => "$www/inside: is a link to $www/a.txt: " .
		'an absolute link is not followed', status => '403 Forbidden',
		why => qr/: links beneath \(default\)\z/ }],
	['/fifo', { lookup => "$www/fifo: is a FIFO",
		status => '403 Forbidden',
		why => 'it names neither a file nor a directory' }],
	['/.git/config', { status => '403 Forbidden', lookup => undef,
		path => undef, why => 'a name in its path begins with a dot, ' .
		    'which is never served but for /.well-known' }],
	['/../x', { status => '403 Forbidden',
		why => 'its path climbs above the root' }],
	['/%zz', { status => '400 Bad Request',
		why => qr/\Aits path is not valid/ }],
	['/gone/x', { path => "/gone ($conf:8)", lookup => undef,
		status => '410 Gone',
		why => "the conf refuses it: return 410 ($conf:8)" }],
	['/' . 'x' x 300, { status => '404 Not Found',
		why => 'a name in its path is longer than a file name ' .
		    'may be' }],
	['/' . 'x' x 9000, { status => '414 URI Too Long',
		site => undef, why => qr/\w/ }],
);
# Nobody but root may look into that directory, and root does not ask as root.
my $closed = "$www/secret is a directory with mode 0000, of user ";
push(@cases, ['/secret/s.txt', { status => '403 Forbidden',
	lookup => qr{: \Q$closed\E.*; \Q$user\E may not enter it\z},
	why => qr/\Athe server's user may not read it/ }]);

sub check {
	my ($facts, $fact, $want) = @_;
	my $got = join("\n", @{$facts->{$fact} // []});

	if (ref($want) eq 'Regexp') {
		like($got, $want, $fact);
	} else {
		is($got, ref($want) ? join("\n", @$want) : $want // '', $fact);
	}
}

for my $case (@cases) {
	my ($url, $want) = @$case;
	my $facts = asked($url);

	check($facts, $_, $want->{$_}) for sort keys %$want;
}

# With fields, and the response's.
my $facts = asked('/a.txt', '-H', 'Range: bytes=1-2', '-H', 'X-One: 1');
is($facts->{status}[0], '206 Partial Content', 'a range');
is_deeply($facts->{request}, ['GET http://example.org:8081/a.txt',
    'Range: bytes=1-2', 'X-One: 1'], 'the fields are told');
ok((grep { $_ eq 'Content-Range: bytes 1-2/4' } @{$facts->{header}}),
    'so is the head');
ok(!(grep { /\Aabc/ } @{$facts->{header}}), 'the body is not');
my ($tag) = map { /\AETag: (.*)/ } @{$facts->{header}};
my %field = (
	"If-None-Match: $tag" => ['304 Not Modified',
	    'the client already has this version of the file'],
	'If-Match: "x"' => ['412 Precondition Failed',
	    'its conditions do not hold for the file'],
	'Range: bytes=9-' => ['416 Range Not Satisfiable',
	    'the file has none of the ranges it asks for'],
	'Expect: a-miracle' => ['417 Expectation Failed',
	    'its Expect field asks for something other than 100-continue'],
	'Content-Length: 2000' => ['413 Content Too Large',
	    qr/longer than the limit: limits body 1K \(\Q$conf\E:19\)\z/],
	'Content-Length: 2' => ['400 Bad Request',
	    'its connection ended before its body was complete'],
	'No Field: 1' => ['400 Bad Request', qr/field/],
);
for my $field (sort keys %field) {
	my ($status, $why) = @{$field{$field}};

	$facts = asked('/a.txt', '-H', $field);
	check($facts, 'status', $status);
	check($facts, 'why', $why);
}
$facts = asked('http://127.0.0.1:8081/a.txt', '-H', 'Host: example.org');
like($facts->{site}[0], qr/by the name example\.org\z/, 'another Host');

# A directory without a conf; nothing needs to be free or bound.
my $taken = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
my ($status, $out, $err) = run_amped('-u', '/a.txt', '-l',
    '127.0.0.1:' . $taken->sockport, $www);
is($status, 0, 'a directory, on an address in use') or diag($err);
like($out, qr/^status +200 OK$/m, 'would be served');

# Who asks, for what, and how.
my $tools = 'http://tools:8083';
my $secret = 'Authorization: Basic ' . encode_base64('joe:secret', '');
my $gzip = 'Accept-Encoding: gzip';
for my $case (
	['/x.bak', [], status => '403 Forbidden', lookup => undef,
	    why => qr/ not allowed: files \*\.bak \*\.old \(\Q$conf\E:27\)\z/],
	['/a.txt', ['-c', '192.0.2.1'], status => '403 Forbidden', why =>
	    qr/: allow 127\.0\.0\.0\/8 \(.*:25\), deny 127\.0\.0\.9 \(.*:26\)\z/],
	['/a.txt', ['-c', '127.0.0.8'], status => '200 OK'],
	['/a.txt', ['-c', '192.0.2.1', '-H', 'X-Forwarded-For: 127.0.0.8'],
	    status => '200 OK'],
	['/a.txt', ['-c', '192.0.2.1', '-H', 'Forwarded: for'],
	    status => '400 Bad Request', why =>
	    qr/ not valid: trust 192\.0\.2\.0\/24 \(\Q$conf\E:31\)\z/],
	['/a.txt', ['-c', '::1'], status => '403 Forbidden'],
	['/a.txt', ['-c', 'unix:'], status => '403 Forbidden'],
	['/large', ['-H', $gzip], status => '200 OK',
	    lookup => ["$www/large: a file"]],
	['/a.txt', [], files => undef],
	['/c.txt', [], files => qr/\Ac\.\* \*\.c \(\Q$conf\E:29\)\z/,
	    header => qr/^Cache-Control: max-age=3600$/m],
	['/c.txt', [], file => qr/\A5000 bytes, /,
	    lookup => "$www/c.txt: a file; beside it .gz"],
	['/c.txt', ['-H', $gzip], file => qr/\A1 bytes of gzip, mod/,
	    lookup => ["$www/c.txt: a file; beside it .gz",
		"$www/c.txt.gz: a file"]],
	['/d.txt', ['-H', $gzip], file => qr/\Amade of the file, \d+ .* gzip\z/,
	    lookup => qr{/d\.txt: a file, \d+ bytes when compressed\z}],
	['/c.txt', ['-H', 'Accept-Encoding: *;q=0'],
	    status => '406 Not Acceptable',
	    why => 'it accepts none of the available codings'],
	['/~root', [], status => '301 Moved Permanently'],
	['/~no.such/', [], status => '404 Not Found',
	    lookup => '~no.such: there is no such user'],
	['/~nobody-at-all/x', [], status => '404 Not Found',
	    lookup => '~nobody-at-all: there is no such user'],
	['/members/a.txt', [], status => '401 Unauthorized', lookup => undef,
	    why => qr/: auth Me \S+ \(\Q$conf\E:28\)\z/],
	['/members/a.txt', ['-H', $secret], status => '200 OK',
	    lookup => ["$dir/passwords: the password is right",
		"$www/a.txt: a file"]],
) {
	my ($path, $more, %want) = @$case;
	my $facts = asked($tools . $path, @$more);

	check($facts, $_, $want{$_}) for sort keys %want;
}

# A right password of a user who is not let in.
for my $case (['/a.txt', qr/: require user ann bob \(\Q$conf\E:36\)\z/],
    ['/team/a.txt', qr/: require group team \(\Q$conf\E:37\)\z/]) {
	my ($path, $why) = @$case;
	my $facts = asked("http://staff:8085$path", '-H', $secret);

	check($facts, 'status', '403 Forbidden');
	check($facts, 'why', $why);
}

# A password in clear.
my $plain = asked('http://tools:8083/members/a.txt', '-H', 'user=joe:secret');
check($plain, 'status', '200 OK');
check($plain, 'request', ['GET http://tools:8083/members/a.txt',
    'with a password, as joe']);
unlike($plain->{out}, qr/secret/, 'which is not shown');

SKIP: {
	skip('there is no user with a low number', 3) unless $low;
	write_file("$dir/users.conf", "site u {\n\tlisten 127.0.0.1:8084\n" .
	    "\troot $www\n\tusers public_html from 1000\n}\n");
	my $name = $low->[0];
	(undef, my $out) = run_amped('-u', "/~$name/x", '-f',
	    "$dir/users.conf");
	like($out, qr/^lookup +~\Q$name\E: uid $low->[2] is below "users from 1000"$/m,
	    'a low uid');
	like($out, qr/^status +404 /m, '... is not to be told from nobody');
	like($out, qr/^why +its user has a lower uid .*: users public_html .*:4\)$/m,
	    '... and the directive');
}

# What cannot be explained.
my @wrong = (
	[65, qr/no site listens on 127\.0\.0\.1, port 80; there are: 127.*\Q ($conf)\E/,
	    '-u', 'http://127.0.0.1/', '-f', $conf],
	[65, qr/no site listens on 127\.0\.0\.2/,
	    '-u', 'http://127.0.0.2:8081/', '-f', $conf],
	[65, qr/no TLS: write http:.* port of a listen/, '-u', 'https://example.org/', '-f', $conf],
	[65, qr{http://}, '-u', 'example.org', '-f', $conf],
	[65, qr/space/, '-u', '/a b', '-f', $conf],
	[64, qr/^usage: /m, '-u', '/', '-H', "A: b\nC: d", '-f', $conf],
	[64, qr/^usage: /m, '-u', '/', '-H', 'A', '-f', $conf],
	[64, qr/^usage: /m, '-H', 'A: b', '-f', $conf],
	[64, qr/^usage: /m, '-c', '::1', '-f', $conf],
	[65, qr/no address/, '-u', '/', '-c', 'joe', '-f', $conf],
	[78, qr/none\.conf/, '-u', '/', '-f', "$dir/none.conf"],
);
for my $case (@wrong) {
	my ($exit, $said, @args) = @$case;

	($status, $out, $err) = run_amped(@args);
	is($status >> 8, $exit, "@args: exit $exit");
	like($err, $said, 'and says why');
	is($out, '', 'and explains nothing');
}

# A server says the same in its log, to whoever wants to know that much.
my $server = Amped->start(root => $www, site => 'path /no { return 403 }',
    log => "\taccess off\n\terror %D/error.log info");
for my $path ('/none', '/.git/x', '/no/x') {
	$server->get($path);
}
for my $line (qr{404 for /none on default from 127\.0\.0\.1: there is no such } .
    qr{file: \Q$www\E/none}, qr{403 for /\.git/x on default from 127\.0\.0\.1: } .
    qr{a name in its path begins with a dot, which .* /\.well-known},
    qr{403 for /no/x on default from 127\.0\.0\.1: the conf refuses it: } .
    qr{return 403 \(.*amped\.conf:\d+\)}) {
	ok($server->wait_line(qr{ info: $line$}, $server->{error}), "$line");
}
chmod(0755, "$www/secret");
$server->stop;

done_testing();
