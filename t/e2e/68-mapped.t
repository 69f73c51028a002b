#!/usr/bin/perl
# Pages that have gone from memory, though main has them mapped and has just
# sent them, are noticed before it touches them again: no major page fault in
# main, whatever is evicted between any two requests.  Memory pressure does
# that; t/evict does it at will, which takes root.  68-evicted.t is for what it
# has no mappings of.  That something is in memory may be believed
# for 10 ms, so each time more than that passes first.
# arch: one: only in amped does main never touch a page that is not in memory
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot);
use Amped::Process;
use IO::Handle;
use Test::More;
use Time::HiRes qw(sleep);

plan(skip_all => 'page faults are everybody\'s there')
    if Amped::architecture() ne 'amped';

my $evict = ($ENV{AMPED_BUILD} // Amped::source_dir()) . '/t/evict';
plan(skip_all => "there is no $evict: make tests") unless -x $evict;

my %files = map { ("f$_" => content("f$_", 300_000 * $_)) } 1 .. 3;
# More than what a socket takes for a client that does not read.
my %slow = map { ("s$_" => content("s$_", 6_000_000)) } 1 .. 2;
my $root = docroot(%files, %slow);
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";

# Only what is on disk can go.
for my $name (keys(%files), keys(%slow)) {
	open(my $fh, '+<', "$root/$name") or die "$name: $!\n";
	$fh->sync or plan(skip_all => "fsync: $!");
}

my $server = Amped->start(root => $root);
my ($main) = $server->role('main');
my $faults = sub { (Amped::Process::stat_fields($main))[12] };
my $client = $server->connect;

# Longer than a proof is good for; how many pages are still in memory.
sub evicted {
	my (@names) = @_;
	my $left = 0;

	sleep(0.02);
	open(my $said, '-|', $evict, $main, map { "$root/$_" } @names)
	    or die "$evict: $!\n";
	while (my $line = <$said>) {
		$left += (split(' ', $line))[0];
	}
	close($said) or return undef;
	return $left;
}

sub right {
	my ($client, $name, $whole) = @_;

	$client->send("GET /$name $get");
	return $client->response->{body} eq $whole;
}

right($client, $_, $files{$_}) or die "$_: wrong\n" for sort(keys(%files));
my $left = evicted(sort(keys(%files)));
if (!defined($left) || $left > 0) {
	$server->discard;
	plan(skip_all => 'here nothing can be evicted that is mapped');
}

# Between two requests for the same, which are hot.
my ($before, $wrong, $gone) = ($faults->(), 0, 0);
for my $round (1 .. 20) {
	for my $name (sort(keys(%files))) {
		$wrong++ unless right($client, $name, $files{$name});
		$gone++ if (evicted($name) // 1) == 0;
		$wrong++ unless right($client, $name, $files{$name});
	}
}
is($wrong, 0, 'all answers are right');
cmp_ok($gone, '>', 0, "they had been evicted ($gone times of 60)");
is($faults->(), $before, 'evicted between requests: no major fault in main');

# What is asked for again and again is not read each time to know that it is
# there, only looked at; and sent from the file.
($before, $wrong) = ($faults->(), 0);
for my $round (1 .. 40) {
	$wrong++ unless right($client, 'f3', $files{f3});
	sleep(0.02);			# a proof is good for 10 ms
}
is($wrong, 0, 'asked for again and again: all answers are right');
for my $round (1 .. 3) {
	SKIP: {
		skip('it was not evicted', 1) if (evicted('f3') // 1) > 0;
		ok(right($client, 'f3', $files{f3}),
		    'evicted while it is in use: right again');
	}
}
is($faults->(), $before, '... without a major fault in main');

# A part of one at a time, of chunks that have been proved one by one.
($before, $wrong) = ($faults->(), 0);
for my $round (1 .. 20) {
	my ($at, $other) = (37_000 * $round, 150_000);

	evicted('f3');
	$wrong++ if $server->get('/f3', fields => ["Range: bytes=$at-" .
	    ($at + 99)])->{body} ne substr($files{f3}, $at, 100);
	evicted('f3') if $round % 2;
	$wrong++ if $server->get('/f3', fields => ["Range: bytes=$other-"])
	    ->{body} ne substr($files{f3}, $other);
}
is($wrong, 0, 'all parts are right');
is($faults->(), $before, 'evicted between ranges: no major fault in main');

# Within responses that their clients take slowly, while others ask for the
# same files.
($before, $wrong) = ($faults->(), 0);
for my $round (1 .. 5) {
	my %reader = map { ($_ => $server->connect(window => 4096)) }
	    sort(keys(%slow));

	for my $name (sort(keys(%slow))) {
		$reader{$name}->send("GET /$name $get");
		$reader{$name}->want(1000);
	}
	for my $part (1 .. 4) {
		evicted(keys(%slow));
		$reader{$_}->want(1_000_000 * $part) for sort(keys(%slow));
		$wrong++ if $server->get('/s1', fields =>
		    ["Range: bytes=${part}00000-${part}00009"])->{body} ne
		    substr($slow{s1}, $part * 100_000, 10);
	}
	evicted(keys(%slow));
	for my $name (sort(keys(%slow))) {
		$wrong++ if $reader{$name}->response->{body} ne $slow{$name};
	}
}
is($wrong, 0, 'all answers are right');
is($faults->(), $before, 'evicted within responses: no major fault in main');
$server->stop;

done_testing();
