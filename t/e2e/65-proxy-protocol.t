#!/usr/bin/perl
# The PROXY protocol, as HAProxy and stunnel speak it: the client is the one
# that they name, also after a reload and when another binary has taken over; a
# connection without a header ends.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port slurp);
use Amped::Client;
use Amped::Foreign qw(foreign which_program);
use Amped::Proxy;
use Test::More;

my $port = free_port();
my $root = docroot(page => 'page', 'closed/page' => 'closed');
my $server = Amped->start(
    # A worker that has one client must have another one for the next.
    global => (Amped::architecture() =~ /\Am[pt]\z/ ? "workers 8\n" : '') .
    "trust 127.0.0.1\nlimits { head 1s; gap 1s }\n",
    sites => "site default {\n\tlisten 127.0.0.1:$port proxy\n" .
    "\troot $root\n\tpath /closed { deny 127.0.0.66 127.0.0.1 }\n}\n");
my $n = 0;

sub client_of {
	my ($target) = @_;
	my ($client) = $server->wait_line(qr/"GET \Q$target\E /,
	    $server->{access}) =~ /^(\S+)/;

	return $client;
}

sub names_client {
	my ($proxy, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $target = '/page?' . ++$n;

	is($proxy->get($target, from => '127.0.0.5')->{body}, 'page', $what);
	is(client_of($target), '127.0.0.5', '... for its client');
}

my @proxies;
for my $version (1, 2) {
	SKIP: {
		skip('there is no haproxy', 1) unless which_program('haproxy');
		my $proxy = Amped::Proxy->start('haproxy',
		    to => "127.0.0.1:$port", version => $version);
		names_client($proxy, "haproxy, version $version: a page");
		is($proxy->get('/closed/page', from => $_->[0])->{status},
		    $_->[1], "... $_->[0] gets $_->[1]")
		    for ['127.0.0.5', 200], ['127.0.0.66', 403];
		$proxy->get('/page?' . ++$n, from => '127.0.0.5',
		    fields => ['X-Forwarded-For: 127.0.0.9']);
		is(client_of("/page?$n"), '127.0.0.5',
		    '... a forged field is not believed');
		push(@proxies, $proxy);
	}
}

# A header of the client's own is a part of its request, and not valid there.
if (@proxies) {
	my $client = Amped::Client->new(port => $proxies[0]->port,
	    from => '127.0.0.5');
	$client->send("PROXY TCP4 127.0.0.9 127.0.0.1 1 80\r\n" .
	    "GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
	is($client->response->{status}, 400, 'a forged header is no request');
}

SKIP: {
	skip('there is no stunnel, openssl or curl', 1)
	    if grep { !which_program($_) } qw(stunnel openssl curl);
	my $cert = docroot() . '/both.pem';
	foreign(qw(openssl req -x509 -newkey rsa:2048 -nodes -days 2
	    -subj /CN=localhost -keyout), $cert, '-out', "$cert.crt");
	Amped::write_file($cert, slurp($cert) . slurp("$cert.crt"));
	my $proxy = Amped::Proxy->start('stunnel', cert => $cert,
	    to => "127.0.0.1:$port", version => 1);
	my ($status, $out) = foreign(qw(curl -q -sk --interface 127.0.0.5),
	    'https://127.0.0.1:' . $proxy->port . '/page?tls');
	is($out, 'page', 'stunnel: a page by TLS');
	is(client_of('/page?tls'), '127.0.0.5', '... for its client');
	$proxy->stop;
}

# Without a header: at once, late, cut off, and from one who is not trusted.
my %without = (
	'a request' => ["GET /page HTTP/1.1\r\nHost: x\r\n\r\n",
	    'there is none'],
	'nothing' => ['', 'it took too long'],
	'half a header' => ["PROXY TCP4 127.0.0.5 127.0", 'it took too long'],
	'a stranger' => ["PROXY TCP4 127.0.0.9 127.0.0.1 1 80\r\n" .
	    "GET /page HTTP/1.1\r\nHost: x\r\n\r\n", 'is not trusted',
	    '127.0.0.5'],
);
for my $what (sort keys %without) {
	my ($bytes, $line, $from) = @{$without{$what}};
	my $client = Amped::Client->new(port => $port,
	    from => $from // '127.0.0.1');

	$client->send($bytes) if length($bytes);
	is($client->response, undef, "$what: closed without a response");
	ok($server->wait_line(qr/no right header of the PROXY .*\Q$line\E/),
	    "... and the log says: $line");
}

# It goes on so.
kill('HUP', $server->{pid});
$server->wait_line(qr/is in force$/);
names_client($_, 'after a reload: a page') for @proxies;
my $old = $server->{pid};
kill('USR2', $old);
my ($new) = $server->wait_line(qr/process \d+ takes over/) =~
    /process (\d+) takes/;
await('the one before to go', sub { !grep { $_->{pid} == $old }
    $server->processes });
$server->reap;
names_client($_, 'by another binary: a page') for @proxies;
kill('TERM', $new);
ok($server->wait_nothing_left, 'it ends, and leaves nobody');
is_deeply([$server->complaints], [], 'it complains of nothing');
$server->discard;
done_testing();
