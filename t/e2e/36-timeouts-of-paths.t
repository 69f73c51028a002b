#!/usr/bin/perl
# Times of sites and paths: how long a connection may be idle behind a request,
# a body may take, and a client may take nothing.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot);
use Test::More;
use Time::HiRes qw(time);

my $large = content('large', 30_000_000);
my $root = docroot(map { ("$_/page" => "page\n", "$_/large" => $large) }
    qw(short long));
my $server = Amped->start(root => $root, global => <<'EOT',
limits {
	idle 1h
	send 1h
	body 1M within 1h
	gap 1h
}
EOT
    site => <<'EOT');
	path /short {
		idle 1s
		send 1s
		body within 1s
	}
EOT

my $began;

# A client that has done this in both paths at once; the one of /short is to be
# closed soon, and the other one is not.
sub clients {
	my ($request, $do) = @_;
	my %client;

	$began = time;
	for my $path (qw(short long)) {
		$client{$path} = $server->connect;
		$client{$path}->send($request =~ s{PATH}{$path}r);
		$do->($client{$path}) if $do;
	}
	return @client{qw(short long)};
}

sub took {
	my ($what) = @_;
	my $seconds = time - $began;

	cmp_ok($seconds, '>', 0.9, "$what: not at once");
	cmp_ok($seconds, '<', 20, '... soon');
}

my $get = "GET /PATH/page HTTP/1.1\r\nHost: x\r\n\r\n";
my ($short, $long) = clients($get, sub {
	is($_[0]->response('GET')->{body}, "page\n", 'a page') });
ok($short->closed, 'idle: closed');
took('idle');
$long->send($get =~ s/PATH/long/r);
is($long->response('GET')->{body}, "page\n", '... the other one is open');

my $body = "GET /PATH/page HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab";
($short, $long) = clients($body);
is($short->response('GET')->{status}, 408, 'body: refused');
took('body');
$long->send('cdefghi');
is($long->response('GET')->{body}, "page\n", '... the other one is served');

($short, $long) = clients("GET /PATH/large HTTP/1.1\r\nHost: x\r\n\r\n");
$server->wait_line(qr{"GET /short/large }, $server->{access});
ok($short->response('GET')->{short}, 'send: cut off');
is($long->response('GET')->{body}, $large, '... the other one gets all');
$server->stop;
done_testing();
