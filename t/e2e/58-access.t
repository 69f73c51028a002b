#!/usr/bin/perl
# Who may ask: networks, passwords, names of files.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot write_file);
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::one_main();

my $secrets = docroot();
my $passwords = "$secrets/passwords";

sub entry {
	my ($user, $password) = @_;

	return "$user:" . crypt($password, '$6$rounds=1000$saltsalt') . "\n";
}

sub as {
	my ($user, $password) = @_;

	return ['Authorization: Basic ' . encode_base64("$user:$password", '')];
}

write_file($passwords, "# users\n" . entry('anna', 'pass:word') .
    entry("b\xc3\xb6b \"x\"", "\xc3\xa4") .
    "old:\$apr1\$saltsalt\$tBUxmNTHzLKKWPOXPJ5ZR0\n");
my %files = map { $_ => "$_\n" } qw(index.html a.txt a.bak net/a.txt
    net/open/a.txt closed/a.txt in/index.html in/a.txt in/out/a.txt
    dir/index.json two/a.key page.html fb/page.key);
my $server = Amped->start(files => \%files, site => <<"END",
	deny 127.0.0.3
	error 403 /page.html
	path /net { allow 127.0.0.2 }
	path /net/open { allow 127.0.0.2 127.0.0.3 all }
	path /net/open/index.html { deny all }
	path /closed { allow 192.0.2.0/24; deny all }
	path /in { auth "Members only" $passwords; listing html; index none }
	path /in/out { auth off }
	path /two { auth Two $passwords; deny 127.0.0.2 }
	path /dir { index index.html index.json }
	path /fb { fallback /fb/page.key }
	path /gone { auth Gone $secrets/none }
	path /away { redirect 302 /in/; auth Away $passwords }
	files *.bak *.old { deny all; allow 127.0.0.2 }
	files *.json { deny all }
	files *.key { auth Key $passwords }
END
    global => "cache {\n\tlogins keep 1h\n}", errors => 1, unready => 1);
is($server->reap, 78 << 8, 'a password file that is not there is a mistake');
like($server->errors, qr{none: No such file}, 'that is told of');
$server->discard;

write_file("$secrets/none", '');
$server = Amped->start(files => \%files, site => $server->{site},
    global => $server->{global}, errors => 1);
unlink("$secrets/none");

# From, target, status.
my @networks = (
	['127.0.0.1', '/a.txt', 200], ['127.0.0.3', '/a.txt', 403],
	['127.0.0.3', '/none', 403], ['127.0.0.3', '/', 403],
	['127.0.0.1', '/net/a.txt', 403], ['127.0.0.2', '/net/a.txt', 200],
	['127.0.0.3', '/net/a.txt', 403], ['127.0.0.1', '/net', 403],
	['127.0.0.1', '/net/none', 403], ['127.0.0.2', '/net/none', 404],
	['127.0.0.1', '/net/open/a.txt', 200],
	['127.0.0.3', '/net/open/a.txt', 200],
	['127.0.0.1', '/net/open/../a.txt', 403],
	['127.0.0.1', '/net/open/index.html', 403],
	['127.0.0.1', '/net/open/', 403],
	['127.0.0.1', '/n%65t//a.txt', 403],
	['127.0.0.1', '/closed/a.txt', 403], ['127.0.0.1', '/closed/', 403],
	['127.0.0.1', '/a.bak', 403], ['127.0.0.2', '/a.bak', 200],
	['127.0.0.1', '/a.b%61k', 403], ['127.0.0.1', '//./a.bak?x', 403],
	['127.0.0.1', '/none.bak', 403], ['127.0.0.1', '/in/out/x.old', 403],
	['127.0.0.1', '/a.bak/', 404],
	['127.0.0.1', '/dir/', 403], ['127.0.0.1', '/dir/index.json', 403],
	['127.0.0.1', '/dir', 301],
);
for my $case (@networks) {
	my ($from, $target, $status) = @$case;

	for my $method ('GET', 'GET', 'HEAD') {
		my $answer = $server->get($target, from => $from,
		    method => $method);
		is($answer->{status}, $status, "$method $target from $from");
		is($answer->{body}, "page.html\n", 'the page is for all')
		    if $status == 403 && $method eq 'GET';
	}
	is($server->get($target, from => $from, method => 'OPTIONS')->{status},
	    $status == 403 ? 403 : 204, 'OPTIONS is no way around');
}

# Target, who, password, status; each wrong one once, so it is not remembered.
my $verified = 0;
my @passwords = (
	['/in/a.txt', undef, undef, 401], ['/in/none', undef, undef, 401],
	['/in', undef, undef, 401], ['/in/', undef, undef, 401],
	['/away', undef, undef, 401], ['/fb/none', undef, undef, 401],
	['/two/a.key', undef, undef, 401],
	['/in/a.txt', 'anna', 'pass:word', 200],
	['/in/none', 'anna', 'pass:word', 404],
	['/in/', 'anna', 'pass:word', 200], ['/in', 'anna', 'pass:word', 301],
	['/away', 'anna', 'pass:word', 302],
	['/fb/none', 'anna', 'pass:word', 200],
	['/two/a.key', 'anna', 'pass:word', 200],
	['/in/a.txt', "b\xc3\xb6b \"x\"", "\xc3\xa4", 200],
	['/in/a.txt', 'anna', 'pass', 401], ['/in/a.txt', 'anna', '', 401],
	['/in/a.txt', 'Anna', 'pass:word', 401],
	['/in/none', 'nobody', 'pass:word', 401],
	['/in/a.txt', 'old', 'password', 401],
	['/in/out/a.txt', undef, undef, 200],
	['/in/out/a.txt', 'anna', 'wrong', 200],
	['/in/out/none', undef, undef, 404],
);
my (%seen, $denied);
for my $case (@passwords) {
	my ($target, $user, $password, $status) = @$case;
	my @who = defined($user) ? (fields => as($user, $password)) : ();
	my $answer = $server->get($target, @who);

	is($answer->{status}, $status, "$target, " . ($user // 'nobody'));
	like($answer->{field}{'www-authenticate'} // '',
	    $status == 401 ? qr/^Basic realm="[\w ]+", charset="UTF-8"$/ :
	    qr/^$/, 'what it takes');
	$verified++ if defined($user) && $target !~ /out/ &&
	    !$seen{"$user:$password"}++;
}
is($server->get('/two/a.key', from => '127.0.0.2',
    fields => as('anna', 'pass:word'))->{status}, 403,
    'a password does not help against a network');
is($server->get('/gone/a', fields => as('anna', 'pass:word'))->{status}, 500,
    'a password file that has gone');
$verified++;
$server->wait_line(qr{error: .*cannot verify passwords by .*/none: No such});
is($server->get('/in/a.txt', fields => [@{as('anna', 'x')},
    @{as('anna', 'pass:word')}])->{status}, 400, 'two opinions on who it is');
is($server->get('/in/a.txt', fields => [$_])->{status}, 401, $_)
    for 'Authorization: Digest x', 'Authorization: Basic ====',
    'Authorization: Basic YW5uYQ==', 'Authorization:';

# On one connection, with bodies, one behind the other.
my $client = $server->connect;
my $right = as('anna', 'pass:word')->[0];
$client->send(join('', map { "GET $_ HTTP/1.1\r\nHost: x\r\n" .
    "Content-Length: 3\r\n\r\nabc" } "/in/a.txt", "/a.txt",
    "/in/a.txt HTTP/1.1\r\n$right\r\nX: y") =~
    s{X: y HTTP/1.1}{X: y}r);
is($client->response->{status}, $_, "$_ in a row") for 401, 200, 200;

# Warm or cold, range or condition: the same.
my $etag = $server->get('/in/a.txt', fields => [$right])->{field}{etag};
for my $field ("If-None-Match: $etag", 'Range: bytes=0-1', 'If-Match: "x"') {
	is($server->get('/in/a.txt', fields => [$field])->{status}, 401,
	    "$field is no password");
}
is($server->get('/in/a.txt', fields => [$right, "If-None-Match: $etag"])->
    {status}, 304, 'who may know, may know that it is the same');

# curl knows how to ask.
SKIP: {
	my $curl = `curl --version 2>/dev/null` or skip('there is no curl', 2);
	my $url = 'http://127.0.0.1:' . $server->port . '/in/a.txt';

	is(scalar(`curl -s -u anna:pass:word '$url'`), "in/a.txt\n", 'curl');
	is(scalar(`curl -s -o /dev/null -w '%{http_code}' '$url'`), 401,
	    'curl without a password');
}

# The logs: who it was, if that is certain; failures, without their password.
$server->wait_line(qr{^127\.0\.0\.1 - anna \[.*"GET /in/a.txt}, $server->{access});
$server->wait_line(qr{ - b\\xc3\\xb6b\\x20\\x22x\\x22 \[}, $server->{access});
my $refused = $server->wait_line(qr{"GET /in/none HTTP/1.1" 401},
    $server->{access});
like($refused, qr{ - - \[}, 'a name that may not be true');
$server->wait_line(qr{notice: authentication failed for user "nobody" } .
    qr{from 127\.0\.0\.1 on default/in/none$});
$server->wait_line(qr{notice: authentication failed for user "Anna" });
$server->wait_line(qr{info: 403 for /none on default from 127\.0\.0\.3: its } .
    qr{client's network is not allowed: .*\(.*amped\.conf:\d+\)$});
$server->wait_line(qr{warn: .*/passwords: user "old" is refused: crypt});
unlike($server->errors, qr/pass:word/, 'no password in the log');
$server->stop;
like($server->errors, qr/ verifications: $verified$/m,
    'each password was verified once');
like($server->errors, qr/ requests-denied: [1-9]\d+$/m, 'refusals are counted');

# A file that changes, where nothing is kept.
$server = Amped->start(files => \%files, site => "auth X $passwords",
    global => "cache {\n\tlogins keep 0s\n}");
sub status { return $server->get('/a.txt', fields => as(@_))->{status} }
is(status('anna', 'pass:word'), 200, 'a right password');
write_file($passwords, entry('anna', 'new') . entry('carl', 'c'));
is(status('anna', 'pass:word'), 401, 'that of yesterday');
is(status('anna', 'new'), 200, 'the new one');
is(status('carl', 'c'), 200, 'a new user');
write_file($passwords, entry('carl', 'c'));
is(status('anna', 'new'), 401, 'a user who has gone');
write_file($passwords, '');
is(status('carl', 'c'), 401, 'all have gone');
$server->stop;
like($server->errors, qr/ verifications: 6$/m, 'looked up each time');

done_testing();
