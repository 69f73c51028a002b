#!/usr/bin/perl
# The access log in both formats, the error log in its levels.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot said slurp);
use Test::More;

Amped::one_main();

my $root = docroot('a.txt' => "twelve bytes", 'empty' => '', 'dir/x' => 'x');
my $time = qr{\[\d\d/(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/
    \d{4}:\d\d:\d\d:\d\d\ [+-]\d{4}\]}x;

# Request, what stands behind the time in a common line; bytes of an error
# page are as they are.
my @cases = (
	["GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"GET /a\.txt HTTP/1\.1" 200 12}],
	["HEAD /a.txt HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"HEAD /a\.txt HTTP/1\.1" 200 -}],
	["GET /a.txt?q=1 HTTP/1.0\r\n\r\n",
	    qr{"GET /a\.txt\?q=1 HTTP/1\.0" 200 12}],
	["GET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"GET /empty HTTP/1\.1" 200 -}],
	["GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"GET /nothing HTTP/1\.1" 404 \d+}],
	["GET /dir HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"GET /dir HTTP/1\.1" 301 \d+}],
	["GET /a.txt HTTP/1.1\r\nHost: x\r\nRange: bytes=2-4\r\n\r\n",
	    qr{"GET /a\.txt HTTP/1\.1" 206 3}],
	["GET /a.txt HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n",
	    qr{"GET /a\.txt HTTP/1\.1" 304 -}],
	["GET http://x/a.txt HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"GET http://x/a\.txt HTTP/1\.1" 200 12}],
	["BREW /a.txt HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"BREW /a\.txt HTTP/1\.1" 501 \d+}],
	# What strangers send stays within its quotes and its line.
	["GET /\"x\"\\ HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"(GET /\\x22x\\x22\\x5c HTTP/1\.1|[^"]*)" 40[04] \d+}],
	["GET /\xe9\x1b[2J HTTP/1.1\r\nHost: x\r\n\r\n",
	    qr{"[\x20-\x21\x23-\x7e]*" 400 \d+}],
	["\x00\x01\x02\n\"\r\n\r\n", qr{"[\x20-\x21\x23-\x7e]*" 400 \d+}],
);
my $server = Amped->start(root => $root);
my @lines;
for my $case (@cases) {
	my ($request) = @$case;
	my ($method) = $request =~ /^(HEAD)/;
	my $client = $server->connect;

	$client->send($request);
	$client->response($method);
	# Else another worker's line might come before it.
	@lines = $server->wait_lines(@lines + 1);
}
is(@lines, @cases, 'one line for each request');
for my $n (0 .. $#cases) {
	like($lines[$n], qr{\A127\.0\.0\.1 - - $time $cases[$n][1]\z},
	    $lines[$n]);
}
# A connection that asks nothing leaves no line.
$server->connect->close;
is($server->get('/a.txt?last')->{status}, 200, 'the last');
$server->wait_line(qr/last/, $server->{access});
is(scalar($server->wait_lines(1)), @cases + 1, 'no line without a request');
$server->stop;

# Combined; pipelined requests in order; the lines are there after the end.
$server = Amped->start(root => $root,
    log => "\taccess %D/access.log combined\n\terror %D/error.log debug\n");
my $client = $server->connect;
my @fields = (
	['Referer: http://x/y', 'User-Agent: test/1',
	    '"http://x/y" "test/1"'],
	['', '', '"-" "-"'],
	['Referer:', 'User-Agent: a"b\\c', '"-" "a\\x22b\\x5cc"'],
	["Referer: \xc3\xa9\xff", "User-Agent: tab\there",
	    '"\\xc3\\xa9\\xff" "tab\\x09here"'],
);
$client->send(join('', map { join("\r\n", 'GET /a.txt HTTP/1.1', 'Host: x',
    (grep { $_ ne '' } @$_[0, 1]), '', '') } @fields));
is($client->response->{status}, 200, 'fields') for @fields;
$client->send('GET /a.txt HTTP/1.1');	# never finished
$server->stop;
@lines = split(/\n/, slurp($server->{access}));
for my $i (0 .. $#fields) {
	my $behind = quotemeta("\"GET /a.txt HTTP/1.1\" 200 12 $fields[$i][2]");
	like($lines[$i] // '', qr{\A127\.0\.0\.1 - - $time $behind\z},
	    "combined: $fields[$i][2]");
}

# The error log's lines.
my @errors = split(/\n/, said(slurp($server->{error})));
my $line = qr{\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}
    \ \w[\w ]*\[\d+\]:?\ (error|warn|notice|info|debug):\ .+\z}x;
is_deeply([grep { $_ !~ $line } @errors], [], 'the form of the error log');
ok((grep { /notice: .*ready/ } @errors), 'says when it is ready');
ok((grep { /notice: .*stopping/ } @errors), 'says when it stops');
like($errors[-1], qr/monitor\[\d+\] notice: stopped\z/, '... and has stopped');
is($server->errors, '', 'nothing on standard error then');

# Only from a level on.
$server = Amped->start(root => $root, unready => 1,
    log => "\taccess off\n\terror stderr error\n",
    sites => "site default {\n\tlisten 127.0.0.1:" .
    (my $port = Amped::free_port()) . "\n\troot $root\n}\n");
await('it to serve', sub { eval { Amped::Client->new(port => $port) } });
is($server->get('/a.txt', port => $port)->{status}, 200, 'it serves');
ok(!-e $server->{access}, 'access off: no log');
$server->stop;
is($server->errors, '', 'grade error: nothing but errors');

# To standard error; the built-in site of a directory logs there.
$server = Amped->start(root => $root,
    log => "\taccess stderr common\n\terror stderr notice\n");
is($server->get('/a.txt?here')->{status}, 200, 'a request');
ok($server->wait_line(qr{\A127\.0\.0\.1 .*"GET /a\.txt\?here}),
    'a line on standard error');
$server->stop;

done_testing();
