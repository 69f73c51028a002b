#!/usr/bin/perl
# Pages that have gone from memory are noticed before main touches them: it
# never takes a major page fault, though it owns none of the files.
use strict;
use warnings;
no warnings 'portable';		# addresses

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp);
use Amped::Process;
use IO::Handle;
use POSIX ();
use Test::More;

plan(skip_all => 'page faults are everybody\'s there')
    if Amped::architecture() ne 'amped';

# Larger than what a socket takes for a client that does not read.
my %files = map { ("f$_" => content("f$_", 6_000_000)) } 0 .. 4;
my $root = docroot(%files, small => 'x' x 5000);
my @names = sort(keys(%files));

# Only what is on disk can go.
for my $name (@names, 'small') {
	open(my $fh, '+<', "$root/$name") or die "$name: $!\n";
	$fh->sync or plan(skip_all => "fsync: $!");
}

sub evict {
	return system('dd', "if=$root/$_[0]", 'iflag=nocache', 'count=0',
	    'status=none') == 0;
}

plan(skip_all => 'dd cannot evict') unless evict('small');

# Bytes that the server's processes have made the disk give.
sub from_disk {
	my ($server) = @_;
	my $n = 0;

	for my $process ($server->processes) {
		open(my $fh, '<', "/proc/$process->{pid}/io") or next;
		$n += (grep { defined } map { /^read_bytes: (\d+)/ } <$fh>)[0];
	}
	return $n;
}

my $server = Amped->start(root => $root,
    global => "cache {\n\tchunks 256K\n}\n");
my ($main) = $server->role('main');
my $faults = sub { (Amped::Process::stat_fields($main))[12] };
my $client = $server->connect;

for my $name (@names) {
	$client->send("GET /$name HTTP/1.1\r\nHost: x\r\n\r\n");
	$client->response;
}
my ($before, $disk) = ($faults->(), from_disk($server));

# Between two requests.
my $wrong = 0;
for my $round (1 .. 3) {
	evict($_) for @names;
	for my $name (@names) {
		$client->send("GET /$name HTTP/1.1\r\nHost: x\r\n\r\n");
		$wrong++ if $client->response->{body} ne $files{$name};
	}
}
is($wrong, 0, 'all answers are right');
SKIP: {
	skip('the disk does not count', 1) if $disk == 0 &&
	    from_disk($server) == 0;
	cmp_ok(from_disk($server), '>', $disk, 'they had been evicted');
}
is($faults->(), $before, 'evicted between requests: no major fault in main');

# Within a response that its client takes slowly.
my %slow = map { ($_ => $server->connect(window => 4096)) } @names;
for my $name (@names) {
	$slow{$name}->send("GET /$name HTTP/1.1\r\nHost: x\r\n\r\n");
	$slow{$name}->want(1000);
}
# That something is in memory is believed for 10 ms.
select(undef, undef, undef, 0.1);
evict($_) for @names;
$wrong = grep { $slow{$_}->response->{body} ne $files{$_} } @names;
is($wrong, 0, 'all answers are right');
is($faults->(), $before, 'evicted within a response: no major fault in main');
$server->stop;

# From under main's mappings, as when memory is short: process_madvise(2) with
# MADV_PAGEOUT.  How many pages they have afterwards, or undef.
sub push_out {
	my ($pid, $path) = @_;
	my @at = map { /^(\w+)-(\w+) .* \Q$path\E$/ ?
	    [hex($1), hex($2) - hex($1)] : () }
	    split(/\n/, slurp("/proc/$pid/maps"));
	my $handle = syscall(434, $pid + 0, 0);

	return undef if $handle < 0 || !@at;
	for my $range (@at) {
		my $iov = pack('QQ', @$range);
		my $n = syscall(440, $handle, $iov, 1, 21, 0);
		return undef if $n < 0;
	}
	POSIX::close($handle);
	my ($resident, $is_it) = (0, 0);
	for (split(/\n/, slurp("/proc/$pid/smaps"))) {
		$is_it = /\Q$path\E$/ if /^\w+-\w+ /;
		$resident += $1 if $is_it && /^Rss:\s+(\d+)/;
	}
	return $resident;
}

# What is asked for again and again is not read each time to know that it is
# there, only looked at; and sent from the file.
$server = Amped->start(root => $root);
($main) = $server->role('main');
$client = $server->connect;
sub ask {
	my ($name) = @_;

	$client->send("GET /$name HTTP/1.1\r\nHost: x\r\n\r\n");
	return $client->response->{body} eq $files{$name};
}
$wrong = 0;
for my $round (1 .. 40) {
	$wrong += !ask('f0');
	select(undef, undef, undef, 0.02);	# a proof is good for 10 ms
}
is($wrong, 0, 'asked for again and again: all answers are right');
$before = $faults->();
for my $round (1 .. 3) {
	my $left = push_out($main, "$root/f0");

	SKIP: {
		skip('nothing can be pushed out', 2) if !defined($left) ||
		    $left > 0;
		evict('f0');
		select(undef, undef, undef, 0.02);
		ok(ask('f0'), 'pushed out while it is in use: right again');
		is($faults->(), $before, '... without a major fault in main');
	}
}
$server->stop;

done_testing();
