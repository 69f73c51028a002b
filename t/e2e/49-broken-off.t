#!/usr/bin/perl
# Responses that the end of main breaks off: each has its line in the access
# log, and the error log says how many there were and what has cut them.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await slurp);
use Test::More;

Amped::needs_many_clients(2);

# More than the sockets of both sides hold.
my $large = 64 * 1024 * 1024;
my $of_two = qr/2 responses were broken off|(?:1 response was broken off.*){2}/s;

# Starts a server with two responses under way, and an idle connection.
sub begin {
	my ($limits) = @_;
	my $server = Amped->start(files => { small => "small\n" },
	    global => "limits {\n\t$limits\n}\n",
	    log => "\taccess %D/access.log mine\n" .
	    "\tformat mine \"%U %s %X %B\"\n\terror stderr notice");

	open(my $f, '>', "$server->{root}/large") or die;
	truncate($f, $large) && close($f) or die;
	my @clients = $server->ask('/large?0', '/large?1');
	for my $client (@clients) {
		$client->want(1000);
		like($client->{in}, qr/^HTTP\S+ 200 /, 'a response begins');
	}
	return ($server, @clients);
}

sub check {
	my ($server, $what, $reason) = @_;

	await("the lines at $what", sub {
		my @lines = grep { m{^/large } } split(/\n/,
		    slurp($server->{access}));
		return @lines == 2 && (grep {
			m{^/large 200 X (\d+)$} && $1 < $large
		} @lines) == 2;
	});
	pass("$what: both are in the access log");
	$server->wait_line(qr/: \Q$reason\E$/);
	like($server->errors, $of_two, "$what: they are counted");
}

my ($server, @clients) = begin('drain 300ms');
kill('QUIT', $server->{pid});
is($server->reap, 0, 'the drain ends');
check($server, 'the end of a drain',
    "the drain's time was up (limits { drain })");
$server->discard;

($server, @clients) = begin('drain 300ms');
kill('HUP', $server->{pid});
check($server, 'a reload', "the drain's time was up (limits { drain })");
is($server->get('/small')->{body}, "small\n", 'the new main serves');
$server->stop;

($server, @clients) = begin('drain 30s');
kill('TERM', $server->{pid});
is($server->reap, 0, 'the server ends');
check($server, 'TERM', 'main was told to end at once (SIGTERM)');
$server->discard;

done_testing();
