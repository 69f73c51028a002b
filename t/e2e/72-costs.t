#!/usr/bin/perl
# What a request for a cached file costs, and a connection without a request:
# counted, never timed.
# arch: all
# plain: a sanitizer allocates for itself
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot need_descriptors slurp write_file);
use Amped::Calls qw(count_calls);
use Amped::Process;
use List::Util qw(sum0);
use Test::More;
use Time::HiRes qw(sleep);

Amped::one_main();
Amped::needs_many_clients(3000);

my $pipelined = Amped::architecture() eq 'pipelined';
my $clients = 64;
my $rounds = 40;
my $idle = 5000;

BEGIN { need_descriptors(4000) }

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $sanitized = slurp(Amped::program()) =~ /__[at]san_init/;
my $dir = docroot();
my $counts = "$dir/counts";
my $page = content('page', 500);

# A number for each process that there can be: see t/lib/malloc.c.
write_file($counts, '');
truncate($counts, 8 * 4 * 1024 * 1024) or die "$counts: $!\n";
chmod(0666, $counts);

my $server = do {
	local $ENV{AMPED_TEST_MALLOC} = $counts;
	local $ENV{LD_PRELOAD} = "$build/t/lib/malloc.so";
	delete local $ENV{LD_PRELOAD} if $sanitized;

	# Nothing is looked at again meanwhile, and nobody is idle for too long.
	# Others make files where the page is, on the way: if it were watched,
	# that would wake main.
	Amped->start(files => { page => $page }, global =>
	    "cache { watches 0\n" .
	    "paths 1000 revalidate 1h stale 2h negative 1s }\n" .
	    "limits { idle 1h }\n");
};
my ($main) = $server->role('main');
my @clients = map { $server->connect } 1 .. $clients;

# A request on each connection, all there before the server looks: so it is
# certain how many it finds ready at once.  How many answers were right.
sub ask {
	my ($times) = @_;
	my $right = 0;

	for (1 .. $times) {
		kill('STOP', $main);
		await('main to stop', sub {
			(Amped::Process::stat_fields($main))[3] =~ /[tT]/ });
		$_->send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n") for @clients;
		kill('CONT', $main);
		$right += $_->response->{body} eq $page for @clients;
	}
	return $right;
}

sub allocations {
	open(my $fh, '<:raw', $counts) or die "$counts: $!\n";
	seek($fh, 8 * $main, 0);
	read($fh, my $bytes, 8) == 8 or die "$counts is too short\n";
	return unpack('Q', $bytes);
}

my $all = $clients * $rounds;

# The first of them make what is kept: caches, the log's buffers.
is(ask($rounds), $all, 'answers to begin with');

SKIP: {
	skip('a sanitizer allocates for itself', 2) if $sanitized;
	my $before = allocations();

	cmp_ok($before, '>', 100, 'allocations are counted');
	ask($rounds);
	my $made = allocations() - $before;
	# What a stage hands on must not stand in its loop's memory.
	cmp_ok($made, '<=', $pipelined ? 3 * $all : 0,
	    "none, or three, for each of $all requests: $made");
}

SKIP: {
	my $right;
	my $calls = count_calls($main, sub { $right = ask($rounds) });

	skip('strace may not look at main', 2) unless defined($calls);
	is($right, $all, 'answers under strace');
	my $total = sum0(values(%$calls));
	cmp_ok($total / $all, '<=', 2.1, "$total calls for $all requests")
	    or diag(explain($calls));
}

# Connections of one request, one after the other.
sub ask_once {
	my $right = 0;

	for (1 .. $all) {
		my $client = $server->connect;
		$client->send("GET /page HTTP/1.1\r\nHost: x\r\n" .
		    "Connection: close\r\n\r\n");
		$right += $client->response->{body} eq $page && $client->closed;
	}
	return $right;
}

SKIP: {
	skip('another thread accepts them', 2) if $pipelined;
	my $right;
	my $calls = count_calls($main, sub { $right = ask_once() });

	skip('strace may not look at main', 2) unless defined($calls);
	is($right, $all, 'answers on connections of their own');
	is($calls->{accept4}, $all, 'nobody is accepted in vain')
	    or diag(explain($calls));
}

# How often its processes have been on a processor.
sub wakings {
	my $n = 0;

	for my $process ($server->processes) {
		$n += $_ for slurp("/proc/$process->{pid}/status") =~
		    /_ctxt_switches:\s+(\d+)/g;
	}
	return $n;
}

# There is time to be let pass here: it is what the test is about.
my $quiet = eval { await('nobody to wake up', sub {
	my $before = wakings();
	sleep(1.5);
	return wakings() == $before;
}) };
ok($quiet, 'with idle connections, and nothing to do, nothing is done');
$server->stop;

# Another one, that has no lines for a log to keep.
my %files = map { sprintf("file-%04d.html", $_) => content($_, 500) }
    1 .. $idle;
$server = Amped->start(files => { page => $page, %files },
    global => "helpers 1 max 1\ncache { paths 6000 }\n",
    log => "\taccess off\n\terror stderr info\n");
is($server->get('/page')->{body}, $page, 'another server');
# A version is strong, and its directory watched for good, after a second: what
# the threads need for that once is no connection's.  Nor is what main needs to
# hear of changes above the root, where other tests make their files.
my $strong = time + 1.5;
my $above = docroot() . '-beside';
for (my $i = 0; time < $strong; $i++) {
	$server->get('/page');
	write_file($above . $i % 100, '');
	unlink($above . ($i + 50) % 100);
}
unlink(glob("$above*"));

# Bytes of memory of processes, what they share being divided.  Not that of
# programs and libraries: others share it, and come and go.
sub memory {
	my $n = 0;

	for my $pid (@_) {
		my ($kib) = slurp("/proc/$pid/smaps_rollup") =~
		    /^Pss_Anon:\s+(\d+) kB/m or return;
		$n += 1024 * $kib;
	}
	return $n;
}

SKIP: {
	my @all = map { $_->{pid} } $server->processes;
	my $before = $sanitized ? undef : eval { memory(@all) };

	skip('memory cannot be counted', 4) unless defined($before);
	my @more = map { $server->connect } 1 .. $idle;
	# Each by itself: it is not about what many at once need for a while.
	is(grep({
		$_->send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
		$_->response->{body} eq $page;
	} @more), $idle, "$idle more connections");
	my $each = int((memory(@all) - $before) / $idle);
	cmp_ok($each, '<=', 400, "bytes for an idle connection: $each");

	# A helper may come with the looks, so this is about main alone.
	my ($client, $right) = ($more[0], 0);
	($main) = $server->role('main');
	$before = memory($main);
	for my $name (sort keys %files) {
		$client->send("GET /$name HTTP/1.1\r\nHost: x\r\n\r\n");
		$right += $client->response->{body} eq $files{$name};
	}
	is($right, $idle, "$idle files");
	$each = int((memory($main) - $before) / $idle) - 500;
	cmp_ok($each, '<=', 512,
	    "bytes for a cached file, beside its contents: $each");
}

$server->stop;
done_testing();
