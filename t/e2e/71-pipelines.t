#!/usr/bin/perl
# Tests of pipelined: nobody is heard late, and pipelines share their clients.
# In turns of each thread, and with everything that may come together:
# t/unit/loop/stages.c.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content slurp);
use IO::Select;
use Test::More;
use Time::HiRes qw(time);

plan(skip_all => 'there are no stages')
    if Amped::architecture() ne 'pipelined';

my %files = (page => content('page', 3000), large => content('large', 300_000));
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";

# Who has nothing to do may lie there for a second: one that had to wait for
# that each time would need ten times as long.
sub soon {
	my ($what, $requests, $do) = @_;
	my $begun = time;

	is($do->(), $requests, $what);
	cmp_ok(time - $begun, '<', $requests / 10, '... and none had to wait');
}

sub by_turns {
	my ($target, @clients) = @_;
	my $right = 0;

	$right += $clients[$_ % @clients]->right(1, "/$target",
	    $files{$target}) for 1 .. 300;
	return $right;
}

for my $workers (1, 2) {
	my $server = Amped->start(files => \%files,
	    global => "workers $workers");
	my @clients = map { $server->connect } 1 .. 5;
	my $few = "workers $workers";

	soon("$few: one after the other", 300, sub {
		return $clients[0]->right(300, '/page', $files{page}) });
	soon("$few: several by turns", 300,
	    sub { return by_turns('page', @clients) });
	soon("$few: large ones, for which there is no room", 300,
	    sub { return by_turns('large', @clients) });
	# The next one while the one before is somewhere.
	soon("$few: behind each other", 300, sub {
		my $right = 0;
		$clients[1]->send("GET /page $get") for 1 .. 300;
		for (1 .. 300) {
			my $answer = $clients[1]->response // last;
			$right += $answer->{body} eq $files{page};
		}
		return $right;
	});
	# The end with it, or right behind.
	soon("$few: closed behind", 300, sub {
		my $right = 0;
		for my $n (1 .. 300) {
			my $client = $server->connect;
			$right += $client->right(1, '/page', $files{page})
			    if $n % 3 == 0;
			$client->send("GET /page $get");
			$client->half_close;
			my $answer = $client->response // last;
			$right++ if $answer->{body} eq $files{page} &&
			    $client->closed;
		}
		return $right - 100;
	});
	$server->stop;
}

# At the limit the next one has the place of one that is idle.
my $server = Amped->start(files => \%files,
    global => "workers 1\nlimits { connections 3 }");
my @idle = map { $server->connect } 1 .. 3;

$_->right(1, '/page', $files{page}) for @idle;
soon('who comes gets the place of who is idle', 100, sub {
	my $right = 0;
	for (1 .. 100) {
		push(@idle, $server->connect);
		$right += $idle[-1]->right(1, '/page', $files{page});
		shift(@idle) if @idle > 10;
	}
	return $right;
});
$server->stop;

# Descriptors in each epoll of a process, the most first; idle clients stay
# where they read.
sub watched {
	my ($pid) = @_;
	my @n;

	for my $fd (glob("/proc/$pid/fd/*")) {
		next if (readlink($fd) // '') !~ /eventpoll/;
		(my $info = $fd) =~ s{/fd/}{/fdinfo/};
		push(@n, scalar(() = slurp($info) =~ /^tfd:/mg));
	}
	return sort { $b <=> $a } @n;
}

$server = Amped->start(files => \%files, global => "workers 2");
my ($main) = $server->role('main');
my @all = map { $server->connect } 1 .. 80;
# Twice: only then it is sure where each waits.
for (1 .. 2) {
	is(scalar(grep { $_->right(1, '/page', $files{page}) } @all), 80,
	    'clients');
}
SKIP: {
	my @n = eval { watched($main) };
	skip('what is watched cannot be seen', 1) if !@n;
	# Who is left a client has 2 ms for it.
	skip('a sanitizer makes them slow', 1)
	    if slurp(Amped::program()) =~ /__[at]san_init/;
	await('all to be watched', sub {
		@n = watched($main);
		return $n[0] + $n[1] >= 80 });
	# Hardly more than an eighth apart, if nobody is slow.
	cmp_ok($n[1], '>=', 20, "shared by both: $n[0], $n[1]");
}
$server->stop;
done_testing();
