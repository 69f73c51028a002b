#!/usr/bin/perl
# Slow clients, odd ones, and very many of them.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot need_descriptors slurp);
use IO::Select;
use Test::More;

my $one = Amped::one_main_for_all();

BEGIN { need_descriptors(2000) }

my $large = content('large', 20_000_000);
my $page = content('page', 3000);
my $server = Amped->start(files => { 'large' => $large, 'page' => $page });
my $request = "GET /page HTTP/1.1\r\nHost: x\r\n\r\n";
my ($client, $answer, $right);

# Those of main, without its private ones, which may come and go: what is there
# before and after these are looked up, and is none of them.
sub sockets {
	my @before = all_sockets();
	my %private = map { (split)[6] => 1 } split(/\n/, slurp('/proc/net/unix'));
	my %after = map { $_ => 1 } all_sockets();

	return grep { $after{$_} && !$private{$_} } @before;
}

sub all_sockets {
	return map { (readlink($_) // '') =~ /^socket:\[(\d+)/ ? $1 : () }
	    map { glob("/proc/$_/fd/*") } $server->role('main');
}

my $alone = sockets();

# One byte at a time; a pipeline broken at odd places.
$client = $server->connect;
$client->send($_) for split(//, $request);
is($client->response->{body}, $page, 'one byte at a time');
my $many = $request x 20;
for my $size (7, 41, 43) {
	$client->send($_) for unpack("(a$size)*", $many);
	my @right = grep { $client->response->{body} eq $page } 1 .. 20;
	is(@right, 20, "pieces of $size bytes");
}

# Who has said all and closed that half still gets the answers.
$client = $server->connect;
$client->send($request x 3);
$client->half_close;
is($client->response->{body}, $page, 'half closed: an answer') for 1 .. 3;
ok($client->closed, 'and the end');
$client = $server->connect;
$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
$client->half_close;
ok($client->response->{body} eq $large, 'half closed: a large answer');
# The end with the request, or right behind it, also of one that has waited: it
# is told of once.
$right = 0;
for my $n (1 .. 100) {
	$client = $server->connect;
	next if $n % 3 == 0 && !$client->right(1, '/page', $page);
	$client->send($request);
	$client->half_close;
	$right += $client->response->{body} eq $page && $client->closed;
}
is($right, 100, 'an answer and the end, each time');
$client = $server->connect;
$client->send('GET /page HTTP');
$client->half_close;
ok($client->closed || $client->response->{status} == 400,
    'half a request and the end');
$client = $server->connect;
$client->half_close;
ok($client->closed, 'nothing and the end');

# Nobody wants what comes behind the last answer, but it is read: else that
# would be lost.
for my $pause (0, 1) {
	my $rest = 'x' x 5_000_000;
	$client = $server->connect;
	$client->send("PUT /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" .
	    "Content-Length: 5000000\r\n\r\n");
	if ($pause) {
		$answer = $client->response;
	}
	is($client->send($rest), length($rest), 'all of it is read');
	$answer = $client->response unless $pause;
	$client->half_close;
	ok($answer && $answer->{status} =~ /^4/ && $client->closed &&
	    !$client->{reset}, '... behind an answer, and the end');
}

# Who goes away in the middle harms nobody.
for my $how ('abort', 'close') {
	for my $n (1 .. 20) {
		$client = $server->connect;
		$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
		$client->want($n * 1000) if $n % 2;
		$client->$how;
		$client = $server->connect;
		$client->send(substr($request, 0, $n));
		$client->$how;
	}
	is($server->get('/page')->{body}, $page,
	    "the server lives on after $how");
}

# Nor is any of them kept.  That one is gone may be told with the last bytes,
# once.
undef($client);
SKIP: {
	skip('only root sees the sockets of main', 2) if $> != 0;
	check_aborts($_) for 'GET /pa', "GET /page HTTP/1.1\r\nHost: x\r\n" .
	    "Content-Length: 9\r\n\r\n123";
}

sub check_aborts {
	my ($start) = @_;

	await('nobody', sub { sockets() <= $alone });
	my @gone = map { $server->connect } 1 .. 10;
	await('them', sub { sockets() == $alone + 10 })
	    unless Amped::architecture() =~ /^m[pt]$/;
	$server->kill_role('STOP', 'main');
	$_->send($start), $_->abort for @gone;
	$server->kill_role('CONT', 'main');
	ok(eval { await('their end', sub { sockets() <= $alone }) },
	    'half a request and a reset');
}

# Somebody slow beside the fast.
my $slow = $server->connect(window => 4096);
$slow->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
$slow->want(1000);
$client = $server->connect;
$right = 0;
for (1 .. 200) {
	$client->send($request);
	$right++ if $client->response->{body} eq $page;
	$slow->fill(1000);
}
is($right, 200, 'fast ones beside a slow one');
cmp_ok(length($slow->{in}), '<', length($large), 'who is not done yet');
ok($slow->response->{body} eq $large, 'and gets all of it in the end');

# Ten large ones at once, in turns.
my @readers = map { $server->connect } 1 .. 10;
$_->send("GET /large HTTP/1.1\r\nHost: x\r\nRange: bytes=0-2999999\r\n\r\n")
    for @readers;
for my $turn (1 .. 10) {
	$_->want($turn * 200_000) for @readers;
}
is(scalar(grep { $_->response->{body} eq substr($large, 0, 3_000_000) }
    @readers), 10, 'ten downloads at once');
$_->close for @readers;

# A thousand who say nothing, or as many as there are places for; then one who
# does, then all of them.
my $n = Amped::many_clients(1000) ? 1000 : 25;
my @idle = map { $server->connect } 1 .. $n;
is($server->get('/page')->{body}, $page, "beside $n idle ones");
$_->send($request) for @idle;
is(scalar(grep { ($_->response // {})->{body} eq $page } @idle), $n,
    "$n at once");
$_->close for @idle;
is($server->get('/page')->{body}, $page, 'and after them');

$server->stop;

# At the limit of connections the one that has been idle for longest goes.
$server = Amped->start(files => { large => $large, page => $page },
    global => "limits {\n\tconnections 2\n}");
my @two = map { $server->connect } 1 .. 2;
$_->send($request) for @two;
is($_->response->{body}, $page, 'within the limit') for @two;
is($server->get('/page')->{body}, $page, 'one more: idle ones make room');
$_->send($request) for @two;
is(scalar(grep { defined($_->response) } @two), 1, 'just one of them');
# Both are busy: a third waits at the door until one of them is idle.  That is
# told of, but not each time.
for my $round (1 .. 3) {
	my @busy = map { $server->connect(window => 4096) } 1 .. 2;
	$_->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") for @busy;
	$_->want(1000) for @busy;
	my $third = $server->connect;
	$third->send($request);
	$busy[0]->response;
	is($third->response->{body}, $page,
	    "who waited at the door gets in, $round");
	$_->abort for @busy;
}
$server->{errors} = 1;
$server->stop;
is(scalar(() = $server->errors =~ /no room for more than 2 connections/g), 1,
    'that there is no room is told of once') if $one && $n == 1000;
done_testing();
