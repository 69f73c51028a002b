#!/usr/bin/env perl
#
# papers: that contrib/bench/papers measures the figures that it is asked for,
# in all architectures there are, says of targets and papers what follows from
# the numbers, goes on where it stopped, and leaves nothing behind.  How fast
# anything is, is not looked at.
#
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

use lib abs_path(dirname(abs_path(__FILE__)) . '/../contrib/bench/lib');
use Amped qw(await docroot slurp write_file);
use Bench::Activity;
use Bench::Papers::Claim;
use Bench::Papers::Figure;
use Bench::Papers::Measure;
use Bench::Papers::Results;
use Bench::Papers::Sheet;
use Bench::Papers::Target;
use Bench::Probe;
use Bench::Server;
use JSON::PP qw(decode_json);

my $papers = Amped::source_dir() . '/contrib/bench/papers';
my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
-x "$build/contrib/bench/client" or
    plan(skip_all => 'the benchmark needs epoll');
my @architectures = map { $_->{name} } Bench::Server::architectures();

#
# What follows from invented numbers
#

# By server, a figure at each x, of one round or, in a list, of several.
sub invented {
	my ($figure, $what, $x, %numbers) = @_;
	my $results = Bench::Papers::Results->new;

	$results->begin($figure, x => $x, servers => [sort keys %numbers],
	    date => 'today', seconds => 1, rounds_of_each => 1);
	add($results, $figure, $what, $x, %numbers);
	return $results;
}

sub add {
	my ($results, $figure, $what, $x, %numbers) = @_;

	for my $server (sort keys %numbers) {
		for my $i (0 .. $#$x) {
			my $n = $numbers{$server}[$i];
			$results->add($figure, $server, $x->[$i],
			    { left => 0, $what => $_ }) for ref($n) ? @$n : $n;
		}
	}
}

sub verdicts {
	my ($results) = @_;

	return { map { ("$_->{text}: $_->{of}" =>
	    Bench::Papers::Target::verdict($_)) }
	    Bench::Papers::Target::held($results) };
}

my $cached = 'processor time of a request, cached, 500 bytes';
my $r = invented('targets', 'cpu', ['cached 500'],
    amped => [[10, 20, 30]], sped => [[10, 10, 30]], mp => [[11, 22, 33]],
    mt => [[10.9, 21, 32]]);
my %of = map { ("$_->{text}: $_->{of}" => $_->{value}) }
    Bench::Papers::Target::held($r);
is($of{"$cached: amped / sped"}, 1, 'the median of the ratios');
my $verdict = verdicts($r);
is($verdict->{"$cached: amped / sped"}, 'met', 'no more than sped: met');
is($verdict->{"$cached: mp / amped"}, 'met', 'a tenth more: met');
is($verdict->{"$cached: mt / amped"}, 'missed', 'less than that: missed');
is($verdict->{"$cached: pipelined / amped"}, 'not measured',
    'what was not measured is neither');
$verdict = verdicts(invented('targets', 'cpu', ['cached 500'],
    amped => [1.04], sped => [1]));
is($verdict->{"$cached: amped / sped"}, 'missed', '4 % more: missed');

my $busy = 'cached requests a second while the disk is busy';
$verdict = verdicts(invented('targets', 'rate', ['beside a busy disk'],
    amped => [5000], sped => [100], mt => [5001], pipelined => [5000]));
is($verdict->{"$busy: amped / sped"}, 'met', '50 times sped: met');
is($verdict->{"$busy: amped / mt"}, 'missed', 'less than mt: missed');
is($verdict->{"$busy: amped / pipelined"}, 'met', 'as much: met');
my $two = 'cached requests a second, two workers each, 2 clients';
$verdict = verdicts(invented('targets', 'rate', ['two workers, 2 clients'],
    amped => [100], mt => [85], pipelined => [84]));
is($verdict->{"$two: mt / amped"}, 'met', '15 % less: met');
is($verdict->{"$two: pipelined / amped"}, 'missed', '16 %: missed');
my $idle = 'memory of an idle client';
$verdict = verdicts(invented('targets', 'bytes', ['idle'], amped => [400],
    sped => [365], pipelined => [355]));
is($verdict->{"$idle: sped / amped"}, 'met', 'within a tenth: met');
is($verdict->{"$idle: pipelined / amped"}, 'missed', 'beyond: missed');

# What was tried stands on the page, for those that are missed in that run.
sub tried {
	my ($results) = @_;

	return [Bench::Papers::Sheet::html($results) =~
	    m{<b>Missed: (.*?)</b> (.*?)</p>}g];
}

my $many = 'two workers, 64 clients';
my $tried = tried(invented('targets', 'rate', [$many], amped => [100],
    pipelined => [84]));
is($tried->[0], 'cached requests a second, two workers each, 64 clients, ' .
    'pipelined / amped.', 'a target that is missed');
like($tried->[1], qr/Tried and kept: .*Tried and dropped: .*the profile/,
    '... and what was tried, and what the profile says');
is(scalar(@$tried), 2, '... alone');
is_deeply(tried(invented('targets', 'rate', [$many], amped => [100],
    pipelined => [86])), [], 'one that is met needs no explanation');
$tried = tried(invented('targets', 'rate', ['two workers, 2 clients'],
    amped => [100], mt => [84], pipelined => [84]));
like($tried->[1], qr/not been written down/, 'one that nobody has explained');
like($tried->[3], qr/four threads, .*wake-up/, 'and one beside it');
is(scalar(@$tried), 4, '... no others');
for my $key (keys(%Bench::Papers::Target::tried)) {
	ok((grep { "$_->[1] / $_->[2], $_->[4]" eq $key }
	    @Bench::Papers::Target::targets), "a target: $key");
}

# What is claimed of a figure: what agrees, and what has changed.
for my $case (
	['sped falls, as it did', 'dataset', 'rate', [10, 100],
	    { amped => [100, 90], sped => [100, 5] },
	    qr/sped keeps 5 %.* amped 90 %.*18 times sped's/, undef],
	['sped does not fall', 'dataset', 'rate', [10, 100],
	    { amped => [100, 90], sped => [100, 95] },
	    undef, qr/sped does not fall behind/],
	['mp falls first', 'dataset', 'rate', [10, 100],
	    { amped => [100, 90], mp => [100, 50] },
	    qr/mp keeps 50 %, less than amped/, undef],
	['mp never was there', 'dataset', 'rate', [10, 100],
	    { amped => [100, 90], mp => [40, 39] },
	    qr/Already with 10 MB mp makes 0.40 times/, undef],
	['mp does not', 'dataset', 'rate', [10, 100],
	    { amped => [100, 90], mp => [100, 89] }, undef,
	    qr/mp keeps 89 %, no less than amped/],
	['architectures are alike', 'single', 'cpu', [500],
	    { amped => [10], sped => [10] }, qr/lie 0 % apart/,
	    qr/not to be seen: amped needs 1 times/],
	['and not', 'single', 'cpu', [500], { amped => [10], mt => [20],
	    apache => [30] }, qr/Apache needs 3 times/,
	    qr/mt needs 2 times the processor time of amped/],
	['mp loses with clients', 'clients', 'cpu', [1, 9],
	    { mp => [10, 20], sped => [10, 10] },
	    qr/^sped stays .* mp loses: with 9 clients it keeps 50 %/, undef],
	['mp does not lose', 'clients', 'cpu', [1, 9], { mp => [9, 8] },
	    undef, qr/mp does not lose much/],
	['the model counts for less', 'webstone', 'cpu', [100],
	    { amped => [10], mt => [12], apache => [30] },
	    qr/lie 20 % apart .* all servers 200 %/, undef],
	['or not', 'webstone', 'cpu', [100], { amped => [10], mt => [20],
	    nginx => [15] }, undef, qr/lie 100 % .* nearly as much/],
	['sped is behind in what is cached', 'traces', 'cpu', ['a, cached',
	    'b, cached', 'a, disk'], { amped => [10, 10, 1],
	    sped => [12, 14, 1] }, undef, qr/sped needs 1\.30 times/],
	['and behind from a disk', 'traces', 'rate', ['a, cached', 'a, disk'],
	    { amped => [50, 50], sped => [50, 10] },
	    qr/amped makes 5 times the requests of sped.*nobody is clearly ahead/,
	    undef],
	['and not, nor is amped the first', 'traces', 'rate', ['a, disk'],
	    { amped => [50], sped => [50], apache => [60] }, undef,
	    qr/sped is not behind.*apache on a, disk \(1\.20 times\)/],
	['mp takes memory, mt does not', 'memory', 'memory', [1, 11],
	    { mp => [10, 110], mt => [10, 11] },
	    qr/10000 KB for each more, and leaves nothing.*10 times .* of mt/,
	    undef],
	['threads that are made cost, and for small files more', 'strategies',
	    'cpu', ['500:1', '500:9', '5000:1', '5000:9'],
	    { pool => [10, 10, 50, 50], request => [20, 30, 60, 60],
	    session => [20, 20, 40, 40] },
	    qr/each request takes 2\.50 .*, and 1\.20 .* 200 % .*pool in 2 and /,
	    undef],
	['and not', 'strategies', 'cpu', ['500:1', '5000:1'],
	    { pool => [10, 50], request => [10.5, 60] },
	    undef, qr/1\.05 times .* lie 5 % apart.*20 %.* pool is best or /],
	['the way of I/O counts', 'strategies', 'cpu', ['500:1', '5000:1'],
	    { mp => [10, 50], 'mp, synchronous' => [13, 40] },
	    qr/5000 bytes calls that block take.* 0\.80 times in mp\./,
	    undef],
	['a pool needs threads, not many', 'pool', 'rate', ['4:1', '4:8', '9:1',
	    '9:8', '9:64'], { mt => [1, 1, 100, 200, 180] },
	    qr/9 clients the best pool has 8 threads, .* 2 times .* 0\.90 times/,
	    undef],
	['one thread will do, and many gain', 'pool', 'rate', ['9:1', '9:8'],
	    { mt => [100, 105] }, qr/pool of 8 makes 1\.05 times/,
	    qr/1\.05 times the requests of one with 1\./],
	['nothing', 'dataset', 'rate', [10, 100], {}, undef, undef],
    ) {
	my ($name, $figure, $what, $x, $numbers, $agrees, $changed) = @$case;
	my @said = Bench::Papers::Claim::paragraphs(invented($figure, $what,
	    $x, %$numbers), $figure);

	like($said[0], $agrees // qr/\A\z/, "$name: what agrees");
	like($said[1], $changed // qr/\A\z/, "$name: what has changed");
}

# Figures of one round of a server at a place.
sub claims_of {
	my ($figure, $x, %rounds) = @_;
	my $results = Bench::Papers::Results->new;

	$results->begin($figure, x => $x, servers => [sort keys %rounds],
	    date => 'today', seconds => 1, rounds_of_each => 1);
	for my $server (keys %rounds) {
		$results->add($figure, $server, $x->[$_],
		    $rounds{$server}[$_]) for 0 .. $#$x;
	}
	return Bench::Papers::Claim::paragraphs($results, $figure);
}

my ($agrees, $changed) = claims_of('strategies', ['500:1', '500:9', '5000:1'],
    amped => [{ mb => 10, mean => 1 }, { mb => 20, mean => 4.5 },
    { mb => 1, mean => 1 }]);
like($agrees, qr/throughput grows to 2 times and latency to 4\.50 times/,
    'more clients: latency');
($agrees, $changed) = claims_of('strategies', ['500:1', '500:9', '5000:1'],
    amped => [{ mb => 10, mean => 1 }, { mb => 80, mean => 1.1 },
    { mb => 1, mean => 1 }]);
like($changed, qr/throughput grows to 8 times and latency to 1\.10 times/,
    'or throughput');

my %spent = (cpu => 20, user => 24, kernel => 40, interrupt => 36,
    (map { ("share $_" => 0) } @Bench::Activity::names), 'share send' => 30,
    'share interrupts' => 36, 'share own code' => 24, 'share find' => 10);
($agrees, $changed) = claims_of('activity', [500], apache => [\%spent]);
like($agrees, qr/24 % .* 40 % .* 36 % in interrupts\..* takes 66 % of apache/,
    'Apache spends time as it did');
like($changed, qr/4\.8 and 2\.0 in apache/, '... in us');
($agrees, $changed) = claims_of('activity', [500], apache => [{ %spent,
    user => 60, kernel => 30, interrupt => 10, 'share interrupts' => 10,
    'share own code' => 60, 'share find' => 0 }]);
is($agrees, '', 'or not');
like($changed, qr/60 % .* 30 % .* 10 % .* network takes 40 %/, '... so');

#
# Activities
#

{
	my %rows;

	push(@{$rows{$_}}, 1) for map { @{$_->{calls} // []} }
	    @Bench::Activity::activities;
	is_deeply([grep { @{$rows{$_}} > 1 } sort keys %rows], [],
	    'a system call is part of one activity');
}
my ($kernel, $entry, $libc) = ('[kernel.kallsyms]', ['do_syscall_64',
    '[kernel.kallsyms]'], '/usr/lib/libc.so.6');
for my $case (
	['a call', 'send', 'kernel', [tcp_write_xmit => $kernel],
	    [__x64_sys_sendto => $kernel], $entry, [send => $libc]],
	['a packet in a call', 'interrupts', 'interrupt',
	    [tcp_v4_rcv => $kernel], [net_rx_action => $kernel],
	    [handle_softirqs => $kernel], [__x64_sys_sendto => $kernel],
	    $entry],
	['a page of a file in a call', 'contents', 'kernel',
	    [filemap_map_pages => $kernel], [asm_exc_page_fault => $kernel],
	    [__x64_sys_writev => $kernel], $entry],
	['a file in sendfile', 'contents', 'kernel',
	    [filemap_splice_read => $kernel],
	    [__x64_sys_sendfile64 => $kernel], $entry],
	['a socket in sendfile', 'send', 'kernel', [skb_page_frag => $kernel],
	    [__x64_sys_sendfile64 => $kernel], $entry],
	['a log', 'log', 'kernel', [ext4_file_write_iter => $kernel],
	    [ksys_write => $kernel], $entry],
	['a response by write', 'send', 'kernel', [sock_write_iter => $kernel],
	    [ksys_write => $kernel], $entry],
	['a wake-up by write', 'processes', 'kernel',
	    [eventfd_write => $kernel], [ksys_write => $kernel], $entry],
	['sleep', 'processes', 'kernel', [__schedule => $kernel],
	    [__x64_sys_epoll_wait => $kernel], $entry],
	['a state', 'find', 'kernel', [vfs_fstat => $kernel],
	    [__do_sys_newfstat => $kernel], $entry],
	['the way into a call', 'close', 'kernel', $entry,
	    [__GI___shutdown => $libc]],
	['the way into something', 'other', 'kernel', $entry,
	    ['[unknown]' => '[unknown]']],
	['the C library, for a call', 'read', 'user',
	    [__libc_recv => $libc]],
	['own code', 'own code', 'user', [parse_feed => '/usr/sbin/amped']],
	['a function without a name', 'own code', 'user',
	    ['[unknown]' => '/usr/sbin/nginx'], ['[unknown]' => '[unknown]']],
	['the clock', 'own code', 'user', [__vdso_clock_gettime => '[vdso]']],
	['a library', 'wait', 'user',
	    [min_heap_shift => '/usr/lib/libevent_core-2.1.so.7']],
	['a module', 'log', 'user', ['[unknown]' =>
	    '/usr/lib/lighttpd/mod_accesslog.so']],
	['a cache', 'find', 'user', [pathname_hold => '/usr/sbin/amped']],
    ) {
	my ($name, $activity, $where, @frames) = @$case;
	is_deeply([Bench::Activity::of_stack(@frames)], [$activity, $where],
	    "$name: $activity");
}
is_deeply({ Bench::Activity::counts(recvfrom => 1, read => 0.5,
    sendfile => 2, no_such_call => 3) }, { (map { $_ => 0 }
    @Bench::Activity::names), read => 1.5, send => 2, other => 3 },
    'calls by activity');
{
	my @samples;

	open(my $from, '<', \<<'END');
    500250 cpu-clock:ppp: 
	ffffffff816bac2b vfs_read ([kernel.kallsyms])
	           f82ad read (/usr/lib/libc.so.6)

    250000 cpu-clock:ppp: 
	          1f82ad std::vector<int, 3>::f (const) (/usr/sbin/x)

END
	is(Bench::Probe::read_samples($from, sub { push(@samples, [@_]) }),
	    'cpu-clock', 'what perf counts');
	is_deeply(\@samples, [[500250, [vfs_read => '[kernel.kallsyms]'],
	    [read => '/usr/lib/libc.so.6']],
	    [250000, ['std::vector<int, 3>::f (const)' =>
	    '/usr/sbin/x']]], '... and sees');
}

for my $figure (Bench::Papers::Figure::names()) {
	ok(Bench::Papers::Measure->can($figure), "$figure can be measured");
	is(join('', Bench::Papers::Claim::paragraphs(
	    Bench::Papers::Results->new, $figure)), '',
	    '... and nothing is said of it before');
}

#
# A run
#

my $out = docroot();

sub run_papers {
	local $ENV{AMPED_TEST_TIMEOUT} = 5 * Amped::timeout();

	return Amped::run_command(undef, $^X, $papers, '-q', '-d', 0.05, '-o',
	    "$out/p", @_);
}

my ($status, $text, $errors) = run_papers('-s', join(',', @architectures),
    qw(single memory));
is($status, 0, 'a run') or diag($errors);
is($errors, '', '... without a complaint');
my $json = decode_json(slurp("$out/p.json"));
is(join(' ', sort keys %{$json->{figures}}), 'memory single',
    'the figures that were asked for');
for my $case (['single', 'rate'], ['single', 'mb'], ['single', 'cpu'],
    ['memory', 'memory']) {
	my ($name, $what) = @$case;
	my $figure = $json->{figures}{$name};
	for my $server (@architectures) {
		my @there = map { $figure->{rounds}{$server}{$_} // () }
		    @{$figure->{x}};
		ok(@there && !(grep { $_->[0]{$what} <= 0 } @there),
		    "$name: $what of $server");
	}
}
is(scalar(grep { $_->[0]{errors} } map { values(%$_) }
    values(%{$json->{figures}{single}{rounds}})), 0, 'no wrong answer');
is_deeply($json->{figures}{single}{notes}, [], 'nothing to note');
like($text, qr/^  amped(?: +[\d.]+){3}$/m, 'a table');

sub check_page {
	my ($name, @figures) = @_;
	my $page = slurp("$out/p.html");

	is(join(' ', $page =~ /<h2 id="(\w+)"/g), "@figures",
	    "$name: they are on the page");
	ok($page =~ /<svg/ && $page !~
	    /<script|<link|<img|url\(|(?:src|href)="(?!#)/,
	    '... which needs nothing else');
	is(scalar(() = $page =~ /<svg/g), scalar(() = $page =~ m{</svg>}g),
	    '... with whole pictures');
	unlike($page, qr/\b(?i:nan|inf)\b|(?:HASH|ARRAY)\(/, '... and numbers');
	return $page;
}

my $page = check_page('a run', qw(single memory));
is(scalar(() = $page =~ /<polyline /g), (3 + 2) * @architectures,
    'a line for each in each picture');
like($page, qr/The paper\./, 'what the paper found');

($status, $text, $errors) = run_papers('-k', '-s', 'amped',
    qw(single webstone));
is($status, 0, 'it goes on') or diag($errors);
my $after = decode_json(slurp("$out/p.json"));
is_deeply([@{$after->{figures}}{qw(single memory)}],
    [@{$json->{figures}}{qw(single memory)}], 'what it had is as it was');
ok($after->{figures}{webstone}{rounds}{amped}, 'what it had not is there');
check_page('going on', qw(single webstone memory));

($status, $text, $errors) = run_papers('-k', '-s', 'mt', 'pool');
is($status, 0, 'ways to serve') or diag($errors);
like($text, qr/^pool: rate, 16 clients, .*\n +1 +4 +16 +64\n/m, 'pairs');
like($text, qr/^  $_(?: +[\d.]+){4}$/m, "a row of $_")
    for 'mt', 'mt, synchronous';

SKIP: {
	my @missing = grep { !Bench::Server::which($_) } qw(perf strace);

	skip("there is no @missing", 1) if @missing;
	($status, $text, $errors) = run_papers('-s', 'amped', 'activity');
	is($status, 0, 'activities') or diag($errors);
	skip('perf or strace sees nothing here', 1)
	    if $text =~ /or sees nothing/;
	my $by_size = decode_json(slurp("$out/p.json"))->{figures}{activity}
	    {rounds}{amped};
	for my $size (sort keys %$by_size) {
		my %r = %{$by_size->{$size}[0]};
		my ($shares, $calls) = map { my $what = $_; my $sum = 0;
		    $sum += $r{"$what $_"} for @Bench::Activity::names;
		    sprintf('%.3f', $sum) } qw(share calls);
		is($shares, '100.000', "$size bytes: all of the time");
		is(sprintf('%.3f', $r{user} + $r{kernel} + $r{interrupt}),
		    '100.000', '... wherever it is spent');
		is($calls, sprintf('%.3f', $r{calls}), '... and all calls');
		cmp_ok($r{"calls $_"}, '>=', 0.5, "... those of $_")
		    for qw(connect read send close);
	}
	like($text, qr/^activity: amped, processor time, %, by bytes\n.*\n/m,
	    'a table of parts');
	like($text, qr/^  own code(?: +[\d.]+){2}$/m, '... with rows');
	check_page('activities', 'activity');
}

# A server that has one client at a time closes those who only stay: with more
# of them than it can have workers, the client would never have them all.
sub client_of {
	my ($arch, $clients) = @_;
	my $measure = Bench::Papers::Measure->new(results =>
	    Bench::Papers::Results->new, servers => [], rounds => 1,
	    seconds => 1, progress => sub { });
	my $how;

	no warnings 'redefine';
	local *Bench::Load::measure = sub {
		my (%opt) = @_;
		$how = join(' ', Bench::Load::arguments($opt{workload}));
		die "enough\n";
	};
	$measure->{figure}{name} = 'clients';
	$measure->once({ name => $arch, server => { arch => $arch } }, $clients,
	    { name => 'clients', c => $clients });
	return $how;
}

is(client_of('mp', 5000), '-c 5000 -n', 'more clients than workers: they come '
    . 'when it counts');
is(client_of('mt', 5000), '-c 5000 -n', 'in mt as well');
is(client_of('mp', 256), '-c 256', 'for as many as workers they are there');
is(client_of('pipelined', 5000), '-c 5000', 'as for all others');

for my $wrong (['figure', 'no-such'], ['server', '-s', 'no-such', 'single']) {
	my ($what, @args) = @$wrong;
	($status, undef, $errors) = run_papers(@args);
	isnt($status, 0, "no such $what");
	like($errors, qr/there is no $what no-such/, '... and it says so');
}

#
# Stopped
#

# Processes that somebody started, and those that they did.
sub descendants {
	my ($parent) = @_;
	my %children;

	for my $pid (map { m{(\d+)\z} } glob('/proc/[0-9]*')) {
		my @stat = Amped::Process::stat_fields($pid) or next;
		push(@{$children{$stat[4]}}, $pid);
	}
	my @all = @{$children{$parent} // []};
	for (my $i = 0; $i < @all; $i++) {
		push(@all, @{$children{$all[$i]} // []});
	}
	return @all;
}

sub loads {
	return grep { (Amped::Process::title($_))[1] =~ m{/bench/client } } @_;
}

# There is a report of an earlier run, which -k must not take for this one.
my $place = docroot('tmp/' => '', 'p.json' => slurp("$out/p.json"));
my $pid;
{
	local $ENV{TMPDIR} = "$place/tmp";
	$pid = Amped::spawn([$^X, $papers, '-d', 60, '-s', 'amped,sped', '-o',
	    "$place/p", 'single'], "$place/out", "$place/err");
}
my @all = await('a load', sub {
	my @found = descendants($pid);
	return loads(@found) ? \@found : undef })->@*;
cmp_ok(scalar(@all), '>', 2, 'servers and a client run');
# More of them come while it ends.
kill('INT', $pid);
await('it to end', sub {
	kill('TERM', $pid);
	return waitpid($pid, POSIX::WNOHANG()) == $pid });
isnt($?, 0, 'stopped, it has not succeeded');
ok(eval { await('them to go', sub { !grep { -d "/proc/$_" } @all }, 10) },
    'what it had started is gone') or
    diag(map { (Amped::Process::title($_))[1] . "\n" } @all);
is_deeply([glob("$place/tmp/*")], [], 'and so are its files');
like(slurp("$place/out"), qr/stopped at single: /, 'it says where it was');
ok(!-e "$place/p.json", 'nothing is left to go on with');
done_testing();
