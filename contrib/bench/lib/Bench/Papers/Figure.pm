# Bench::Papers::Figure: which figures of which papers there are, what they
# showed, and how they are drawn here: a table.
package Bench::Papers::Figure;

use strict;
use warnings;

use Bench::Activity;

my $flash = 'Pai, Druschel, Zwaenepoel: Flash, an efficient and portable Web ' .
    'server (USENIX 1999)';
my $jaws = 'Hu, Schmidt: JAWS, a framework for high-performance Web servers';
my $choi = 'Choi, Kim, Ersoz, Das: a multi-threaded PIPELINED Web server ' .
    'architecture (WWW 2005)';
my $apache = 'Hu, Nanda, Yang: measurement, analysis and performance ' .
    'improvement of the Apache Web server (1997)';

my ($mb, $rate, $p99, $cpu) = (['mb', 'bandwidth', 'Mbit/s'],
    ['rate', 'rate', 'requests a second'],
    ['p99', '99 of 100 requests', 'ms at most'],
    ['cpu', 'processor time', 'us a request']);

# JAWS's strategies: a pool of threads, a thread for each session or request, or
# a process for each client, each with calls that block and without; one thread
# with readiness, or with helpers that wait for it.
my @ways = (
	['amped, asynchronous', 'amped', ''],
	['sped, reactive', 'sped', ''],
	['pipelined', 'pipelined', ''],
	(map { my ($name, $arch, $line) = @$_;
	    ([$name, $arch, $line],
	    ["$name, synchronous", $arch, "${line}io synchronous\n"]) }
	    ['pool', 'mt', ''], ['session', 'mt', "spawn session\n"],
	    ['request', 'mt', "spawn request\n"], ['mp', 'mp', '']),
);
my $mean = ['mean', 'latency', 'ms on average'];

#	name	what to say on the command line
#	paper, of	whose figure it is
#	title, x	what it is about, and the unit of its x axis; bars
#		where that is no number
#	full, quick	values of x, unless they are found out; with by, pairs
#		of values: a table of x for each of the first
#	by	the unit of the first of a pair
#	plots	what is drawn: a figure of a round, a title and a unit
#	parts	names; each server has a table of parts: the figure of a
#		round is that of the plot, and a name
#	disk	peers of interest where a disk is waited for, too
#	ours	architectures only
#	ways	in place of the servers: name, architecture, lines of conf
#	setup	how it is measured here
#	found	what the paper found, in our words
our @figures = (
	{ name => 'single', paper => $flash, of => 'figures 6 and 7',
	    title => 'One cached file, by its size', x => 'bytes',
	    full => [500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000,
		200_000], quick => [500, 5000, 50_000],
	    plots => [$mb, $rate, $cpu],
	    setup => '64 clients, a connection for each request.',
	    found => 'Where everybody asks for the same file, nothing waits ' .
		'for a disk, and the architecture made little difference; ' .
		'SPED was a little ahead of AMPED, which pays for asking ' .
		'whether the file is in memory.  What did make one was how ' .
		'much a server does for a request: Apache was far behind.' },
	{ name => 'traces', paper => $flash, of => 'figure 8',
	    title => 'Real traces', x => undef, disk => 1, plots => [$mb],
	    setup => '64 clients, a connection for each request, play a trace ' .
		'over and over: once with all its files cached, and once ' .
		'from a disk (4 heads, 5 ms, 150 MB/s) with memory for half ' .
		'of them.',
	    found => 'Flash was ahead on both traces of Rice University.  ' .
		'SPED was good on the one whose files had room in memory, ' .
		'and fell behind on the one whose files had not; MP the ' .
		'other way round.  Apache came last.' },
	{ name => 'dataset', paper => $flash, of => 'figures 9 and 10',
	    title => 'More and more files in the same memory', x => 'MB',
	    disk => 1, plots => [$mb, $p99],
	    setup => '64 clients, a connection for each request; SPECweb ' .
		'directories, asked for by Zipf, on a disk with 4 heads, ' .
		'5 ms a seek, 150 MB/s, read-ahead 128 KiB; each server ' .
		'in a memory group, page cache included.',
	    found => 'As long as all files had room in memory, SPED and AMPED ' .
		'were ahead.  Beyond that SPED fell steeply, as one wait for ' .
		'the disk is everybody\'s; AMPED, MT and MP went on serving ' .
		'what is in memory, and MP, whose processes take memory from ' .
		'the files, fell earlier than AMPED.' },
	{ name => 'clients', paper => $flash, of => 'figure 12',
	    title => 'Persistent clients', x => 'clients',
	    full => [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
	    quick => [1, 20, 300], plots => [$rate, ['p99',
		'99 of 100 requests', 'ms at most'], $cpu],
	    setup => 'All of them ask for a cached file of 5 KB, each on its ' .
		'own connection, with one request after the other.  The ' .
		'paper\'s clients were slow ones and asked for a set of ' .
		'files; these are as fast as they can.',
	    found => 'With more clients SPED, AMPED and MT first gained a ' .
		'little, as they find more to do in one turn, and then ' .
		'stayed where they were; MP lost more and more, since each ' .
		'client holds a process.' },
	{ name => 'webstone', paper => $jaws, of => 'WebStone by clients',
	    title => 'The WebStone mix', x => 'clients',
	    full => [1, 2, 5, 10, 15, 20, 30, 42, 64, 100],
	    quick => [1, 8, 42], plots => [$mb, ['mean', 'latency',
		'ms on average'], $p99],
	    setup => 'WebStone 2: 35 % of 500 bytes, 50 % of 5 KB, 14 % of ' .
		'50 KB, 0.9 % of 500 KB, 0.1 % of 5 MB; all cached, a ' .
		'connection for each request.',
	    found => 'No strategy was best for all sizes and all loads.  ' .
		'Throughput rose with the clients until the server was busy, ' .
		'from then on latency rose; threads that are made for each ' .
		'request cost much, a pool of them little.  What is cached, ' .
		'and copied or parsed once less, counted for more than the ' .
		'model of concurrency.' },
	{ name => 'strategies', paper => $jaws, of => 'figures 19 to 23',
	    title => 'Strategies by the size of a file and by load',
	    x => 'clients', by => 'bytes',
	    full => [pairs([500, 5000, 50_000, 500_000, 5_000_000],
		[1, 4, 16, 64])], quick => [pairs([500, 50_000], [1, 16])],
	    ways => \@ways, plots => [$mb, $mean, $cpu],
	    setup => 'One file, which is cached; a connection for each ' .
		'request.  mt and mp have as many threads or processes as ' .
		'there are clients.',
	    found => 'With small files and few clients, threads that are ' .
		'made for each request cost much, and a pool of them little; with ' .
		'large files the strategies came near to each other, and the ' .
		'way of I/O counted for more.  No strategy was best for all ' .
		'sizes and all loads.' },
	{ name => 'pool', paper => 'Hu, Mungee, Schmidt: principles for ' .
	    'high-performance Web servers over ATM (INFOCOM 1998)',
	    of => 'figure 13', title => 'The size of the pool',
	    x => 'threads', by => 'clients',
	    full => [pairs([4, 16, 64], [1, 2, 4, 8, 16, 32, 64, 128])],
	    quick => [pairs([16], [1, 4, 16, 64])],
	    ways => [['mt', 'mt', ''],
		['mt, synchronous', 'mt', "io synchronous\n"]],
	    plots => [$rate, $mean, $cpu],
	    setup => 'A connection for each request of a cached file of 5 KB.',
	    found => 'A pool must have some threads, and does not gain by ' .
		'many more.' },
	{ name => 'activity', paper => $apache, of => 'processor time by ' .
	    'activity and class of size',
	    title => 'Where the time goes', x => 'bytes',
	    full => [500, 5000, 50_000, 500_000, 5_000_000],
	    quick => [500, 50_000], parts => \@Bench::Activity::names,
	    plots => [$cpu, ['user', 'user code', '% of processor time'],
		['kernel', 'system calls', '% of processor time'],
		['interrupt', 'interrupts', '% of processor time'],
		['calls', 'system calls', 'of a request'],
		['samples', 'samples', 'of processor time']],
	    tables => [['share', 'processor time', '%'],
		['calls', 'system calls', 'of a request']],
	    setup => '64 clients, a connection for each request; one file, ' .
		'which is cached; an access log.  By perf(1), and calls by ' .
		'strace(1).  Packets that come in are handled within the ' .
		'call that is under way, be it of the server or of the ' .
		'client.  ' . ucfirst(join('; ', map { "$_->{name}: $_->{is}" }
		@Bench::Activity::activities)) . '.',
	    found => 'On AIX, Apache spent 20 to 25 % of its processor time ' .
		'in user code, 35 to 50 % in system calls and 25 to 40 % in ' .
		'interrupts.  With little memory the disk was the limit, ' .
		'with enough of it TCP/IP and the interrupts of the ' .
		'network.  Eight techniques gained 61 % of throughput ' .
		'(breakdown techniques).' },
	{ name => 'memory', paper => $choi, of => 'figures 2 and 3',
	    title => 'Memory of a server, and what it leaves for files',
	    x => 'workers',
	    full => [1, 2, 4, 8, 16, 32, 64, 128, 256],
	    quick => [1, 4, 16], ours => 1,
	    plots => [['memory', 'memory', 'MB'],
		['left', 'left for files', 'MB of 128']],
	    setup => 'Each has been asked for 200 files at random until all ' .
		'its caches have them.  Memory is what its processes map, ' .
		'what they share counted once, and their page tables.  ' .
		'Workers are mains of amped and sped, processes of mp, ' .
		'threads of mt and pipelines; the first two and the last ' .
		'are as many as a machine may have processors.',
	    found => 'By a model of what each architecture allocates: MP has ' .
		'a cache in each process, and with many of them nothing is ' .
		'left for files; MT shares its cache and pays for stacks ' .
		'only; SPED and AMPED need one cache for each processor, ' .
		'AMPED its helpers besides; PIPELINED one cache for all, and ' .
		'seven stacks for each processor.' },
	{ name => 'targets', paper => 'What amped has to show', of =>
	    'as ratios in one run', title => 'Targets', ours => 1,
	    x => undef, plots => [] },
);

# All pairs of these values, as texts.
sub pairs {
	my ($by, $x) = @_;

	return map { my $first = $_; map { "$first:$_" } @$x } @$by;
}

# Places of x in groups: for each of the first of pairs, that and the places;
# where there are no pairs, all in one.
sub groups {
	my (@places) = @_;
	my (@groups, %group);

	for my $place (@places) {
		my ($first, $x) = $place =~ /\A(\d+):(\d+)\z/;
		push(@groups, $group{$first // ''} = [$first])
		    unless $group{$first // ''};
		push(@{$group{$first // ''}}, [$x // $place, $place]);
	}
	return @groups;
}

sub names { return map { $_->{name} } @figures }

sub find {
	my ($name) = @_;

	return (grep { $_->{name} eq $name } @figures)[0];
}

1;
