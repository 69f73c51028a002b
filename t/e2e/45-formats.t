#!/usr/bin/perl
# The forms of the access log's lines: those that there are, and each field in
# one of a conf's own; JSON that is JSON, whatever a client sends.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot write_file);
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::one_main();

my $root = docroot('a.txt' => "twelve bytes", 'private/x' => 'x');
my $beside = docroot();
my $time = qr{\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\ \+0000\]};

sub start {
	my ($form, $rest, %opt) = @_;

	# Where the log is, is not to be looked for in a format.
	write_file("$beside/format", $rest // '');
	return Amped->start(root => $root, unready => 1,
	    log => "\taccess %D/access.log $form\n" .
	    "\tinclude $beside/format\n\terror stderr warn\n", %opt);
}

sub served {
	my (%opt) = @_;
	my $port = Amped::free_port();
	my $server = start($opt{form}, $opt{rest}, sites =>
	    "site www.example.org *.example.org {\n" .
	    "\tlisten 127.0.0.1:$port\n\troot $root\n$opt{site}\n}\n");

	$server->{ports} = [$port];
	Amped::await('it to serve', sub { eval { $server->connect } });
	return $server;
}

# vcombined, as Debian has it.
my $server = served(form => 'vcombined', site => '');
my $port = $server->port;
my $client = $server->connect;
$client->send("GET /a.txt?q HTTP/1.1\r\nHost: b.example.org\r\n" .
    "Referer: http://x/\r\nUser-Agent: test/1 (x)\r\n\r\n");
my $answer = $client->response;
my ($line) = $server->wait_lines(1);
like($line, qr{\Awww\.example\.org:$port\ 127\.0\.0\.1\ -\ -\ $time
    \ "GET\ /a\.txt\?q\ HTTP/1\.1"\ 200\ (\d+)\ "http://x/"
    \ "test/1\ \(x\)"\z}x, 'vcombined');
my ($sent) = $line =~ / 200 (\d+) /;
cmp_ok($sent // 0, '>', 12 + 100, 'counts the head as well');
$server->stop;

# Each field.
my $hash = crypt('secret', '$2b$04$abcdefghijklmnopqrstuu');
write_file("$beside/passwords", "joe blow:$hash\n");
my @fields = qw(%h %a %l %u %t %{sec}t %{%Y-%m-%d}t %r %m %U %q %H %s %>s %b %B
    %O %I %S %{Referer}i %{user-agent}i %{X-Own}i %{X-None}i %v %V %p %D %T
    %{s}T %{ms}T %{us}T %k %X %P %%);
$server = served(form => 'mine',
    rest => "\tformat mine \"" . join('|', @fields) . '"',
    site => "\tpath /private {\n\t\tauth here $beside/passwords\n\t}");
$port = $server->port;
$client = $server->connect;
my $request = "GET /private/x?a=b HTTP/1.1\r\nHost: www.example.org:$port\r\n" .
    "Referer: r\r\nX-Own:  it is mine \r\nX-Own: not this\r\n" .
    "User-Agent: agent\r\nAuthorization: Basic " .
    encode_base64('joe blow:secret', '') . "\r\n\r\n";
$client->send($request);
$answer = $client->response;
is($answer->{status}, 200, 'with a password');
my ($pid) = $server->role('main');
$client->send("HEAD /none HTTP/1.0\r\n\r\n");
is($client->response('HEAD')->{status}, 404, 'and another one');
my @lines = $server->wait_lines(2);
my %is;
@is{@fields} = split(/\|/, $lines[0], -1);
my %want = ('%h' => '127.0.0.1', '%a' => '127.0.0.1', '%l' => '-',
    '%u' => 'joe\\x20blow', '%r' => 'GET /private/x?a=b HTTP/1.1',
    '%m' => 'GET', '%U' => '/private/x', '%q' => '?a=b', '%H' => 'HTTP/1.1',
    '%s' => 200, '%>s' => 200, '%b' => 1, '%B' => 1,
    '%I' => length($request), '%{Referer}i' => 'r',
    '%{user-agent}i' => 'agent', '%{X-Own}i' => 'it is mine',
    '%{X-None}i' => '-', '%v' => 'www.example.org',
    '%V' => "www.example.org:$port", '%p' => $port, '%k' => 0, '%X' => '+',
    '%P' => $pid, '%%' => '%');
for my $field (sort keys %want) {
	is($is{$field}, $want{$field}, $field);
}
like($is{'%t'}, qr{\A$time\z}, '%t');
cmp_ok(abs($is{'%{sec}t'} - time), '<', 600, '%{sec}t');
like($is{'%{%Y-%m-%d}t'}, qr{\A\d{4}-\d\d-\d\d\z}, '%{...}t');
is($is{'%S'}, $is{'%I'} + $is{'%O'}, '%S is %I and %O');
is($is{'%O'}, length($answer->{head}) + length($answer->{body}),
    '%O: head and body');
cmp_ok($is{'%D'}, '>=', 1000 * $is{'%{ms}T'}, '%D and %{ms}T agree');
is($is{'%T'}, int($is{'%{ms}T'} / 1000), '%T are seconds') or diag($lines[0]);
@is{@fields} = split(/\|/, $lines[1], -1);
is_deeply([@is{qw(%m %q %H %s %b %B %v %V %k %X %u %{X-Own}i)}],
    ['HEAD', '', 'HTTP/1.0', 404, '-', 0, 'www.example.org', '-', 1, '-', '-',
    '-'], 'with what is not there');
$server->stop;

# A client that goes away in the midst of its response; one that sends too
# much.
write_file("$root/large", 'x' x 50_000_000);
$server = served(form => 'mine', site => '',
    rest => "\tformat mine \"%X %s %O %r %I\"");
$client = $server->connect;
$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
$client->close;
($line) = $server->wait_lines(1);
like($line, qr{\AX 200 \d+ GET /large}, 'a broken connection');
cmp_ok((split(/ /, $line))[2], '<', 50_000_000, 'not all was sent');
$client = $server->connect;
my $long = 'y' x 1_400;
$client->send("GET /$long HTTP/1.1\r\nHost: x\r\nX: $long\r\n\r\n");
is($client->response->{status}, 404, 'a long line');
$client->send("POST /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n" .
    'abcde');
is($client->response->{status}, 405, 'with a body');
@lines = $server->wait_lines(3);
is($lines[1], "+ 404 " . (split(/ /, $lines[1]))[2] . " GET /$long HTTP/1.1 " .
    (length("GET /$long HTTP/1.1\r\nHost: x\r\nX: $long\r\n\r\n")), 'is there');
like($lines[2], qr{ @{[length("POST /a.txt HTTP/1.1\r\nHost: x\r\n" .
    "Content-Length: 5\r\n\r\nabcde")]}\z}, 'the body has come, too');
$server->stop;

# JSON, built in and of one's own, from all bytes that may be in a field.
$server = served(form => 'json', site => '');
my @agents = ('plain', 'quote " and \\ backslash', "caf\xc3\xa9", "caf\xe9",
    "\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf", "\xf0\x9f\x98\x80 \xe2\x82",
    join('', map { chr } 0x20 .. 0x7e, 0x80 .. 0xff), '</script>', "tab\tx");
my $log = $server->{access};
my $said = 0;
# Of several threads the next one may have its line first.
my $in_order = sub { $server->wait_lines(++$said)
    if Amped::architecture() eq 'mt' };
for my $agent (@agents) {
	$client = $server->connect;
	$client->send("GET /a.txt?\"<>'%00 HTTP/1.1\r\nHost: x\r\n" .
	    "User-Agent: $agent\r\nReferer: $agent\r\n\r\n");
	$client->response;
	$in_order->();
}
# And what is none at all.
my @odd = ("\x00\x01\"\\\xff\r\n\r\n", "GET /\xe9\"\\\x1b HTTP/1.1\r\n\r\n",
    "GET /\"\\ HTTP/1.1\r\nHost: \"x\\\r\n\r\n");
for my $bytes (@odd) {
	$client = $server->connect;
	$client->send($bytes);
	$client->response;
	$in_order->();
}
@lines = $server->wait_lines(@agents + @odd);
my @said = map { eval { JSON::PP->new->utf8->decode($_) } } @lines;
is(scalar(@said), @agents + @odd, 'each line is JSON') or diag($@);
is($said[0]{$_->[0]}, $_->[1], "json: $_->[0]") for (['client', '127.0.0.1'],
    ['user', ''], ['site', 'www.example.org'], ['host', 'x'],
    ['method', 'GET'], ['path', '/a.txt'], ['status', 200], ['bytes', 12],
    ['protocol', 'HTTP/1.1'], ['agent', 'plain'], ['connection', '+']);
is($said[1]{agent}, 'quote " and \\x5c backslash', 'quotes, backslash');
is($said[2]{agent}, "caf\x{e9}", 'UTF-8');
is($said[3]{agent}, 'caf\\xe9', 'what is not UTF-8');
is($said[4]{agent}, '\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xc0\\xaf',
    'what looks like it');
is($said[5]{agent}, "\x{1f600} \\xe2\\x82", 'a part of it');
is($said[8]{agent}, 'tab\\x09x', 'a control byte');
$server->stop;

$server = served(form => 'mine', site => '', rest =>
    "\tformat json mine \"{\\\"agent\\\":\\\"%{User-Agent}i\\\"}\"");
$client = $server->connect;
$client->send("GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: a\"b\xe9\r\n\r\n");
$client->response;
@lines = $server->wait_lines(1);
is(JSON::PP->new->utf8->decode($lines[0])->{agent}, 'a"b\\xe9',
    'of one\'s own, too');
$server->stop;

# More than a line has room for: what a client sent is cut, not what a conf
# says.
$server = served(form => 'mine', site => '', rest => "\tformat json mine \"{" .
    join(',', map { "\\\"f$_\\\":\\\"%{X}i\\\"" } 1 .. 20) .
    ",\\\"status\\\":%s}\"");
$client = $server->connect;
$client->send("GET /a.txt HTTP/1.1\r\nHost: x\r\nX: " . "\xe9" x 2000 .
    "\r\n\r\n");
is($client->response->{status}, 200, 'a very long line');
@lines = $server->wait_lines(1);
is(JSON::PP->new->utf8->decode($lines[0])->{status}, 200, 'is JSON still');
cmp_ok(length($lines[0]), '<', 16_000, 'and has an end');
$server->stop;

done_testing();
