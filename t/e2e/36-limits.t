#!/usr/bin/perl
# Who is slow on purpose is cut off by a deadline, whatever else it does; who
# wants too much gets it later.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content);
use Test::More;
use Time::HiRes qw(time);

my $one = Amped::one_main_for_all();

my $large = content('large', 3_000_000);
my $begun = "GET /page HTTP/1.1\r\nHost: x\r\n";
my $body = "${begun}Content-Length: 1000\r\n\r\n";

my $server = Amped->start(files => { large => $large, page => "page\n" },
    global => <<'END');
limits {
	head 2s
	body 1M within 2s
	gap 1s
	send 2s
}
END

# A byte now and then, as long as it is taken; the answer to that.
sub drip {
	my ($byte, @clients) = @_;
	my %left = map { $_ => $_ } @clients;

	await('the drippers to be cut off', sub {
		for my $client (values(%left)) {
			next if $client->quiet && $client->send($byte);
			delete($left{$client});
		}
		return !%left;
	});
	return map { $_->response } @clients;
}

my %slow;
for my $what ('head', 'body', 'gap in head', 'gap in body') {
	$slow{$what} = $server->connect;
	$slow{$what}->send($what =~ /head/ ? $begun : $body);
}
# Large enough for no socket's buffers.
my $reader = $server->connect(window => 4096);
$reader->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
my $before = time;
my ($head, $posted) = drip('a', @slow{qw(head body)});
is($head->{status}, 408, 'who drips a head is cut off');
is($posted->{status}, 408, 'who drips a body is cut off');
for my $what ('gap in head', 'gap in body') {
	is($slow{$what}->response->{status}, 408, "$what: cut off");
	ok($slow{$what}->closed, "$what: closed");
}
cmp_ok(time - $before, '>', 0.9, 'not at once');
# What is there already may still come, but not all of it.
await('the reader to be given up', sub {
	return slurp_log() =~ m{"GET /large HTTP/1.1" 200 (\d+)} &&
	    $1 < 3_000_000;
});
$reader->abort;
is($server->get('/page')->{body}, "page\n", 'others are served');
$server->stop;

sub slurp_log { return Amped::slurp($server->{access}) }

# A pace: 400 KB at once, the rest of 600 KB at 100 KB a second.
$server = Amped->start(files => { large => substr($large, 0, 600_000),
    page => "page\n" },
    global => "limits {\n\tpace 100000 after 400000\n\tsend 5s\n}\n");
my @paced = map { $server->connect } 1 .. 3;
$before = time;
$_->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") for @paced;
is($server->get('/page')->{body}, "page\n", 'beside paced ones');
is($_->response->{body}, substr($large, 0, 600_000), 'all of it') for @paced;
my $took = time - $before;
cmp_ok($took, '>', 1.7, 'not faster than it may');
$server->stop;

# Of one address: so many connections ...
$server = Amped->start(files => { page => "page\n" },
    global => "limits {\n\tconnections address 3\n}\n");
my $request = "GET /page HTTP/1.1\r\nHost: x\r\n\r\n";
my @three = map { $server->connect } 1 .. 3;
for my $client (@three) {
	$client->send($request);
	is($client->response->{body}, "page\n", 'within the limit');
}
for my $says ('', $request) {
	my $fourth = $server->connect;
	$fourth->send($says);
	my $answer = $fourth->response;
	is($answer->{status}, 429, 'one too many');
	is($answer->{field}{'retry-after'}, 5, 'may come back');
	ok($fourth->closed, 'closed at once');
	ok(!$fourth->{reset}, 'without a reset');
	$fourth->close;
}
# More of them than there are places for clients.
my @crowd = map { $server->connect } 1 .. 200;
is(scalar(grep { $_->response->{status} == 429 } @crowd), 200,
    'all of a crowd');
$_->close for @crowd;
$three[0]->close;
await('a place', sub { $server->get('/page')->{status} == 200 });
my @told = $server->errors =~ /127\.0\.0\.1 has more than 3 connections/g;
is(scalar(@told), 1, 'told once') if $one;
$server->stop;

# Those who are turned away hold no place, however long they stay.
$server = Amped->start(files => { large => $large }, global =>
    "limits {\n\tconnections 3 address 1\n\tlinger 1m\n}\n");
my $busy = $server->connect(window => 4096);
$busy->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
$busy->want(1000);
@crowd = map { $server->connect } 1 .. 20;
is(scalar(grep { $_->response->{status} == 429 } @crowd), 20,
    'all of them are told');
is($busy->response->{body}, $large, 'who was there before goes on');
$server->stop;

# ... and so many requests; then the connection goes on.
$server = Amped->start(files => { page => "page\n" },
    global => "limits {\n\trate 1 burst 5\n}\n");
my $client = $server->connect;
$client->send($request x 7);
my @seen = map { $client->response } 1 .. 7;
is(join(' ', map { $_->{status} } @seen),
    '200 200 200 200 200 429 429', 'a burst');
is($seen[6]{field}{'retry-after'}, 1, 'when to ask again');
ok(!exists($seen[6]{field}{connection}), 'the connection stays');
await('the end of it, each request on a connection of its own', sub {
	return $server->get('/page')->{status} == 429;
});
await('one more', sub {
	$client->send($request);
	return $client->response->{status} == 200;
});
$server->stop;
done_testing();
