#!/usr/bin/perl
# A balancer asks whether the server is ready: yes, over a reload too; no, as
# soon as the server is told to end, while it serves on for a time.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot);
use Amped::Client;
use Test::More;

Amped::needs_many_clients(2);
my $root = docroot('page' => "page\n");
my $site = "path /ready { ready on }\n" .
    "path /kept { ready on; deny all }\n";

sub start {
	my ($drain) = @_;

	return Amped->start(root => $root, site => $site,
	    global => "limits { drain $drain }");
}

sub refused {
	my ($server) = @_;

	return !IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $server->port);
}

# Asks on this connection; returns status, Connection and body.
sub ask {
	my ($client, $target) = @_;

	$client->send("GET $target HTTP/1.1\r\nHost: x\r\n\r\n");
	my $answer = $client->response('GET');
	return join(' ', $answer->{status}, $answer->{field}{connection} // '-',
	    $answer->{body} =~ s/\n//r);
}

my $server = start('30s notice 1m');
my $answer = $server->get('/ready');
is("$answer->{status} $answer->{body}", "200 ready\n", 'ready');
is($answer->{field}{'cache-control'}, 'no-store', 'for now');
like($answer->{field}{'content-type'}, qr{^text/plain}, 'as text');
is($server->get('/ready/')->{status}, 200, 'with a slash, too');
is($server->get('/ready/x')->{status}, 404, 'nothing is beneath it');
is($server->get('/kept')->{status}, 403, 'allow and deny apply');
$answer = $server->get('/ready', method => 'HEAD');
is("$answer->{status} $answer->{field}{'content-length'}", '200 6', 'HEAD');

# A reload: old mains drain, but new ones serve.
my $kept = $server->connect;
is(ask($kept, '/ready'), '200 - ready', 'on a connection that stays');
kill('HUP', $server->{pid});
$server->wait_line(qr/the conf has been read again, and is in force/);
is(ask($kept, '/ready'), '200 close ready', 'ready over a reload');
$kept->close;

# The end is announced: 503, while all others are served as before.
kill('QUIT', $server->{pid});
$answer = await('503', sub {
	my $now = $server->get('/ready');
	return $now->{status} == 503 ? $now : undef;
});
is($answer->{body}, "not ready\n", 'not ready');
is($answer->{field}{'cache-control'}, 'no-store', 'not to be cached');
my $client = $server->connect;
is(ask($client, '/page'), '200 - page', 'a new client is served');
is(ask($client, '/ready'), '503 - not ready', 'and told');
is(ask($client, '/page'), '200 - page', 'and keeps its connection');
$client->close;

# A second signal ends it at once, with its minute not over.
ok($server->stop('QUIT'), 'a second signal');

# Without a signal, the time ends it.
$server = start('notice 500ms');
$client = $server->connect;
is(ask($client, '/ready'), '200 - ready', 'ready');
$client->close;
kill('QUIT', $server->{pid});
await('the doors to close', sub { refused($server) });
$server->wait_line(qr/stopping when the responses under way/);
$server->stop('QUIT');

# Without notice, there is none.
$server = start('5s');
kill('QUIT', $server->{pid});
await('the doors to close', sub { refused($server) });
unlike($server->errors, qr/serves, and is not/, 'no notice by default');
$server->stop('QUIT');
done_testing();
