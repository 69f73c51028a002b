#!/usr/bin/perl
# An end of a connection that is the server's wish loses nothing of the last
# response, whatever the client sends meanwhile, and however many others come.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content);
use Test::More;
use Time::HiRes qw(time);

Amped::one_main();
my $size = 5_000_000;
my $large = content('large', $size);
my $page = content('page', 60_000);
my $get = "HTTP/1.1\r\nHost: x\r\n";

sub start {
	my ($limits) = @_;

	return Amped->start(files => { large => $large, page => $page },
	    global => "limits {\n$limits\n}\n");
}

# The rest of the last response, and a clean end.
sub is_whole {
	my ($client, $body, $what) = @_;
	my $answer = $client->response;

	ok(!$answer->{short} && $answer->{body} eq $body, "$what: all of it");
	ok($client->closed, "$what: then closed");
	ok(!$client->{reset}, "$what: not reset");
	$client->close;
}

my $server = start("requests 2");
for my $stray ("GET /page $get\r\n", "\r\n") {
	my $client = $server->connect(window => 65536);
	$client->send("GET /page $get\r\n");
	is($client->response->{status}, 200, 'the first of two requests');
	$client->send("GET /large $get\r\n");
	$client->want(100_000);
	$client->send($stray);
	is_whole($client, $large, 'the last of two requests');
}
# Once more, with the next request on its way when all has been handed over.
my $client = $server->connect;
$client->send("GET /page $get\r\n");
$client->response;
$client->send("GET /page $get\r\n");
await('the second response', sub {
	return Amped::slurp($server->{access}) =~
	    m{(?:.*"GET /page.*\n){2}\z};
});
$client->send("GET /page $get\r\n");
is_whole($client, $page, 'a request behind the last one');

$client = $server->connect(window => 65536);
$client->send("GET /large ${get}Connection: close\r\n\r\n");
$client->want(100_000);
$client->send("\r\n");
is_whole($client, $large, 'a stray line behind the last request');
$server->stop;

# A client that still takes the response when the time to linger is over.
$server = start("requests 1\nlinger 1s\nsend 10s");
my $body = substr($large, 0, 700_000);
Amped::write_file("$server->{root}/some", $body);
$client = $server->connect(window => 65536);
$client->send("GET /some $get\r\n");
await('all of it to be handed over', sub {
	my $answered = Amped::slurp($server->{access}) =~ m{"GET /some};

	$client->fill(20_000) unless $answered;
	return $answered;
});
my $end = time + 2.5;		# more than linger, and once more
while (time < $end) {
	$client->fill(20_000);
	select(undef, undef, undef, 0.2);
}
$client->send("\r\n");
is_whole($client, $body, 'taken for longer than linger');
$server->stop;

# There is room for a few: those who still take their last response do not have
# to make it for others.
SKIP: {
	skip('there a worker has one client', 1)
	    if Amped::architecture() =~ /^m[pt]\z/;
	$server = start("requests 1\nconnections 4\nlinger 30s");
	my @takers = map { $server->connect(window => 4096) } 1 .. 4;
	$_->send("GET /page $get\r\n") for @takers;
	await('all responses', sub {
		return (() = Amped::slurp($server->{access}) =~
		    m{"GET /page}g) == 4;
	});
	my @others = map { $server->connect } 1 .. 4;
	$_->send("GET /page $get\r\n") for @others;
	is_whole($_, $page, 'who takes its last response stays') for @takers;
	is_whole($_, $page, 'who waits has its turn') for @others;
	$server->stop;

	# Nor those who may ask for more, if somebody else can make it.  A
	# stage of pipelined does not see at once who can.
	skip('another stage has the clients', 1)
	    if Amped::architecture() eq 'pipelined';
	$server = start("connections 4\nidle 30s");
	@takers = map { $server->connect(window => 4096) } 1 .. 3;
	$_->send("GET /page $get\r\n") for @takers;
	await('all responses', sub {
		return (() = Amped::slurp($server->{access}) =~
		    m{"GET /page}g) == 3;
	});
	for (1 .. 2) {
		my $other = $server->connect;
		$other->send("GET /page $get\r\n");
		is($other->response->{body}, $page, 'one more');
	}
	for my $taker (@takers) {
		$taker->send("GET /page $get\r\n");
		is($taker->response->{body}, $page, 'not closed for others');
		$taker->close;
	}
	$server->stop;
}
done_testing();
