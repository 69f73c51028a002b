#!/usr/bin/perl
# Pages that have gone from memory are noticed before main touches them: it
# never takes a major page fault, though it owns none of the files.  Here they
# are those of files that it has no mappings of, or none that it has touched: its
# cache is smaller than one of them.  Anybody can evict these, so this one needs
# nothing; 68-mapped.t is for what it has mapped and sent.
# arch: one: only in amped does main never touch a page that is not in memory
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot);
use Amped::Process;
use IO::Handle;
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

done_testing();
