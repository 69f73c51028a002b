#!/usr/bin/perl
# GET and HEAD, types, lengths, connections that stay, pipelines, Host.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content);
use Digest::SHA qw(sha256_hex);
use Test::More;

my %files = (
	'index.html' => "<p>index</p>\n",
	'a.txt' => "a\n",
	'style.css' => "p { margin: 0 }\n",
	'script.js' => "void 0;\n",
	'PICTURE.PNG' => content('png', 300),
	'data.json' => "{}\n",
	'icon.svg' => "<svg/>\n",
	'noextension' => "plain\n",
	'empty.html' => '',
	'large.bin' => content('large', 20_000_000),
	(map { ("p/$_.txt" => content("p$_", $_ * 731)) } 0 .. 19),
);
# Around the borders of what is kept behind a head, and of chunks.
for my $size (16383, 16384, 16385, 65535, 65536, 65537, 131072, 200001) {
	$files{"size/$size"} = content("size$size", $size);
}
my $server = Amped->start(files => \%files);
my $answer;

# name, type
my @types = (
	['index.html', qr{\Atext/html; *charset=utf-8\z}i],
	['a.txt', qr{\Atext/plain; *charset=utf-8\z}i],
	['style.css', qr{\Atext/css(;|\z)}],
	['script.js', qr{\A(text|application)/javascript(;|\z)}],
	['PICTURE.PNG', qr{\Aimage/png\z}],
	['data.json', qr{\Aapplication/json\z}],
	['icon.svg', qr{\Aimage/svg\+xml\z}],
	['noextension', qr{\Aapplication/octet-stream\z}],
	['empty.html', qr{\Atext/html(;|\z)}],
);
for my $case (@types) {
	my ($name, $type) = @$case;

	$answer = $server->get("/$name");
	is($answer->{status}, 200, "GET /$name");
	is($answer->{body}, $files{$name}, 'its content');
	like($answer->{field}{'content-type'}, $type, 'its type');
	my $head = $server->get("/$name", method => 'HEAD');
	is($head->{status}, 200, 'HEAD');
	delete($_->{field}{date}) for $answer, $head;
	is_deeply($head->{field}, $answer->{field}, 'has the same fields');
	ok($head->{closed}, 'and no body');
}

for my $name (sort(grep { m{^size/} } keys(%files)), 'large.bin') {
	for my $time (1, 2) {
		$answer = $server->get("/$name");
		is($answer->{field}{'content-length'}, length($files{$name}),
		    "length of $name");
		is(sha256_hex($answer->{body}), sha256_hex($files{$name}),
		    "checksum of $name, time $time");
	}
}

# Version, Connection field: does the connection stay?
my @connections = (
	['1.1', undef, 1], ['1.1', 'close', 0], ['1.1', 'keep-alive', 1],
	['1.1', 'Close', 0], ['1.1', 'foo, close', 0], ['1.1', 'foo', 1],
	['1.0', undef, 0], ['1.0', 'keep-alive', 1], ['1.0', 'Keep-Alive', 1],
	['1.0', 'close', 0], ['1.0', 'keep-alive, close', 0],
);
for my $case (@connections) {
	my ($version, $word, $stays) = @$case;
	my $what = "HTTP/$version, " . ($word // 'no Connection');
	my $client = $server->connect;
	my $request = "GET /a.txt HTTP/$version\r\nHost: x\r\n" .
	    (defined($word) ? "Connection: $word\r\n" : '') . "\r\n";

	$client->send($request);
	$answer = $client->response;
	is($answer->{body}, "a\n", $what);
	my $said = $answer->{field}{connection} // '';
	if ($stays) {
		is($said, $version eq '1.0' ? 'keep-alive' : '',
		    'says that it stays');
		$client->send($request);
		is($client->response->{body}, "a\n", 'stays');
	} else {
		is($said, 'close', 'says that it closes') if $version eq '1.1';
		ok($client->closed, 'closes');
	}
}

# A hundred in one write, answers in order; errors among them.
sub pipeline {
	my ($what, @wanted) = @_;
	my $client = $server->connect;
	my $bytes = join('', map { "$_->[0] HTTP/1.1\r\nHost: x\r\n" .
	    ($_->[3] // '') . "\r\n" } @wanted);
	my @wrong;

	$client->send($bytes);
	for my $wanted (@wanted) {
		my ($request, $status, $body) = @$wanted;
		$answer = $client->response($request =~ /^(\w+)/);
		if (!defined($answer)) {
			push(@wrong, "closed before $request");
			last;
		}
		push(@wrong, "$request: $answer->{status}") if
		    $answer->{status} != $status ||
		    defined($body) && $answer->{body} ne $body;
	}
	is_deeply(\@wrong, [], $what);
	ok($client->quiet, 'the connection stands');
}

my @plain = map { my $n = $_ % 20;
    ["GET /p/$n.txt", 200, $files{"p/$n.txt"}] } 1 .. 100;
pipeline('a hundred requests in one write', @plain);
my @mixed = (
	["GET /nothing", 404], ["HEAD /p/3.txt", 200, ''],
	["GET /p", 301], ["GET /.hidden", 403],
	["GET /p/4.txt", 304, '', "If-None-Match: *\r\n"],
	["GET /p/5.txt", 206, substr($files{'p/5.txt'}, 1, 2),
	    "Range: bytes=1-2\r\n"],
	["GET /p/5.txt", 412, undef, "If-Match: \"no\"\r\n"],
	["GET /size/200001", 200, $files{'size/200001'}],
	["HEAD /nothing", 404, ''],
);
pipeline('errors and others among them',
    map { ($plain[$_], $mixed[$_ % @mixed]) } 0 .. 49);
pipeline('many large ones',
    (["GET /size/200001", 200, $files{'size/200001'}]) x 30);

# The answers before a broken request arrive, nothing behind it.
my $client = $server->connect;
$client->send(("GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n" x 5) .
    "GET broken\r\n\r\n" . "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
is_deeply([map { $client->response->{status} } 1 .. 6],
    [(200) x 5, 400], 'a broken request behind good ones');
ok($client->closed, 'is the last');

# The empty line that some clients send behind a request (RFC 9112, 2.2).
is($server->raw("\r\nGET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n")->{status}, 200,
    'an empty line before a request');

# Forms of the target and rules of Host: request, status.
my @hosts = (
	["GET http://x/a.txt HTTP/1.1\r\nHost: x", 200],
	["GET http://x/a.txt HTTP/1.1\r\nHost: other", 200],
	["GET HTTP://x:80/a.txt?q HTTP/1.1\r\nHost: x", 200],
	["GET http://x HTTP/1.1\r\nHost: x", 200],
	["GET http://x/a.txt HTTP/1.0", 200],
	["GET http:///a.txt HTTP/1.1\r\nHost: x", 400],
	["GET ftp://x/a.txt HTTP/1.1\r\nHost: x", 400],
	["GET a.txt HTTP/1.1\r\nHost: x", 400],
	["GET * HTTP/1.1\r\nHost: x", 400],
	["GET /a.txt HTTP/1.1", 400],
	["GET http://x/a.txt HTTP/1.1", 400],
	["GET /a.txt HTTP/1.0", 200],
	["GET /a.txt HTTP/1.1\r\nHost: x\r\nHost: x", 400],
	["GET /a.txt HTTP/1.1\r\nHost: x y", 400],
	["GET /a.txt HTTP/1.1\r\nHost: x/y", 400],
	["GET /a.txt HTTP/1.1\r\nHost: u\@x", 400],
	["GET /a.txt HTTP/1.1\r\nHost: x:port", 400],
	["GET /a.txt HTTP/1.1\r\nHost: x:80", 200],
	["GET /a.txt HTTP/1.1\r\nHost: [::1]:80", 200],
	["GET /a.txt HTTP/1.1\r\nHost: [::1", 400],
	["GET /a.txt HTTP/1.1\r\nhOsT:x", 200],
	["GET /a.txt?x=/../..&y HTTP/1.1\r\nHost: x", 200],
);
for my $case (@hosts) {
	my ($request, $status) = @$case;

	$answer = $server->raw("$request\r\n\r\n");
	is($answer->{status}, $status, $request =~ s/\r\n/ | /gr);
	ok($answer->{closed}, 'closed') if $status == 400;
}

$server->stop;
done_testing();
