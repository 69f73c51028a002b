# Bench::Workload: what is asked for, and the bars that amped has to clear:
# two tables.
package Bench::Workload;

use strict;
use warnings;

# 64 connections that stay open, access log on, unless said.
#	name	what to say on the command line
#	text	what to say of it
#	target	one file ...
#	list	... or a list: a method of Bench::Files, with its arguments
#	size	bytes of each answer; then there is a ceiling
#	warm	all of the list is asked for before it counts
#	client	more arguments for the client
#	c	connections
#	log	0: no access log
#	one	a connection for each request
#	beside	another one of the same servers, measured right after it in
#		each round: what comes at another time does not compare
#	large	only by name
#	by	a client that is not ours: wrk, curl
#	link	a link between them, of this rate
#	often	in each round, the time of which they share: what large bodies
#		cost depends on who of both ends does the work of the system,
#		which for the same server changes by a factor of two from one
#		second to the next
our @workloads = (
	{ name => '500', text => '500 bytes', target => '/500',
	    size => 500 },
	{ name => '5k', text => '5 KB', target => '/5k', size => 5_000 },
	{ name => '50k', text => '50 KB', target => '/50k', size => 50_000,
	    often => 10 },
	{ name => '500k', text => '500 KB', target => '/500k',
	    size => 500_000, often => 10 },
	{ name => '5m', text => '5 MB', target => '/5m', size => 5_000_000,
	    often => 10 },
	{ name => '5m-20', text => '20 files of 5 MB in turn',
	    list => ['large', 20], warm => 1, often => 10, large => 1 },
	(map { my ($file, $size, $text) = @$_;
	    (map { { name => "$file-$_", text => "$text, $_",
		target => "/$file", size => $size, by => $_, often => 3 } }
		qw(wrk curl)),
	    map { { name => "$file-$_", text => "$text, link of $_/s, wrk",
		target => "/$file", size => $size, by => 'wrk', link => $_,
		often => 3 } } qw(1gbit 100mbit) }
	    ['500k', 500_000, '500 KB'], ['5m', 5_000_000, '5 MB']),
	{ name => '500-nolog', text => '500 bytes, no access log',
	    target => '/500', size => 500, log => 0 },
	{ name => '5k-nolog', text => '5 KB, no access log', target => '/5k',
	    size => 5_000, log => 0 },
	{ name => '500-one', text => '500 bytes, one request a connection',
	    target => '/500', size => 500, one => 1 },
	{ name => '5k-one', text => '5 KB, one request a connection',
	    target => '/5k', size => 5_000, one => 1 },
	{ name => '500-pipe', text => '500 bytes, pipelined by 16',
	    target => '/500', size => 500, client => ['-p', 16] },
	{ name => '500-8', text => '500 bytes, 8 connections',
	    target => '/500', size => 500, c => 8 },
	{ name => '500-1000', text => '500 bytes, 1,000 connections',
	    target => '/500', size => 500, c => 1000 },
	{ name => '5k-1000', text => '5 KB, 1,000 connections',
	    target => '/5k', size => 5_000, c => 1000 },
	{ name => '500-10000', text =>
	    '500 bytes, 10,000 connections, 1 % active', target => '/500',
	    size => 500, c => 10_000, client => ['-a', 100],
	    beside => '500' },
	{ name => '500-10000-turns', text => '500 bytes, 10,000 connections, ' .
	    '1 % active, each answer on another', target => '/500',
	    size => 500, c => 10_000, client => ['-a', 100, '-t', 1],
	    beside => '500' },
	{ name => 'webstone', text => 'WebStone mix', list => ['webstone'],
	    warm => 1 },
	(map { { name => "spec$_", text => "SPECweb96 class $_, HTTP/1.0",
	    list => ['spec', $_], warm => 1, one => 1 } } 0 .. 3),
	{ name => 'nasa', text => 'NASA, 1 August 1995',
	    list => ['trace', 'nasa-950801'], warm => 1 },
	{ name => 'calgary', text => 'Calgary, 1994-95',
	    list => ['trace', 'calgary-9410-9501'], warm => 1 },
	{ name => 'epa', text => 'EPA, 30 August 1995',
	    list => ['trace', 'epa-950830-half'], warm => 1 },
	{ name => 'files-1000', text => '1,000 files of 500 bytes at random',
	    list => ['many', 1000], warm => 1, size => 500,
	    client => ['-R'] },
	{ name => 'files-100000', text =>
	    '100,000 files of 500 bytes at random', list => ['many', 100_000],
	    warm => 1, size => 500, client => ['-R'], beside => 'files-1000' },
	{ name => 'files-1000000', text =>
	    '1,000,000 files of 500 bytes at random',
	    list => ['many', 1_000_000], warm => 1, size => 500,
	    client => ['-R'], beside => 'files-1000', large => 1 },
);

# Figures of a server, from Bench::Probe.
our @probes = (
	{ name => 'connection', text => 'memory of an idle connection',
	    unit => 'bytes', c => 8000 },
	{ name => 'file', text => 'memory of a cached file of 500 bytes, ' .
	    'without them', unit => 'bytes' },
	{ name => 'start', text => 'start to first response', unit => 'ms' },
	{ name => 'idle', text => 'wake-ups in 10 s without clients',
	    unit => '' },
	{ name => 'syscalls', text => 'system calls of a request, 500 bytes',
	    unit => '' },
	{ name => 'user', text =>
	    'instructions of a request in the server, 500 bytes',
	    unit => '' },
	{ name => 'kernel', text =>
	    'instructions of a request in the kernel, 500 bytes',
	    unit => '' },
);

# What amped has to show.  A figure is "how many times better than" (the
# ceiling, the best peer), or against a value.  atleast, atmost: the bar.
#	[workload or probe, against, bar, value]
our @bars = (
	(map { [$_, 'ceiling', 'atleast', 0.92],
	    [$_, 'peer', 'atleast', 1.15] } qw(500 5k)),
	(map { [$_, 'peer', 'atleast', 1] } qw(50k 500k 5m 500k-wrk 5m-wrk
	    500k-1gbit 5m-1gbit 500k-100mbit 5m-100mbit)),
	(map { [$_, 'peer', 'atleast', 1.1] } qw(500-one 5k-one)),
	['500-pipe', 'peer', 'atleast', 2],
	['500-10000', 'beside', 'atleast', 0.9],
	['500-10000-turns', 'beside', 'atleast', 0.9],
	['connection', 'value', 'atmost', 400],
	['file', 'value', 'atmost', 512],
	['files-100000', 'cost beside', 'atmost', 1.25],
	['files-1000000', 'cost beside', 'atmost', 1.4],
	['syscalls', 'value', 'atmost', 2.1],
	['start', 'value', 'atmost', 20],
	['idle', 'value', 'atmost', 0],
);

1;
