#!/usr/bin/env perl
#
# bench: that contrib/bench/run counts what it says, with the ceiling and amped
# for a moment, and that breakdown compares what it says.  How fast anything is,
# is not looked at.
#
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

use lib abs_path(dirname(abs_path(__FILE__)) . '/../contrib/bench/lib');
use Amped qw(await docroot slurp write_file);
use Bench::Load;
use Bench::Report;
use Bench::Server;
use JSON::PP qw(decode_json);

my $bench = Amped::source_dir() . '/contrib/bench';
my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
-x "$build/contrib/bench/client" or
    plan(skip_all => 'the benchmark needs epoll');

# A server that gives one answer to all, and what the client makes of it.
sub answered {
	my ($answer, %workload) = @_;
	my $dir = docroot(answer => $answer);
	my $w = { name => 'test', target => '/x', %workload };
	my ($ceiling) = grep { $_->{name} eq 'ceiling' }
	    Bench::Server::installed();
	my $server = Bench::Server->start(server => $ceiling, ceiling =>
	    [$w->{one} ? '-1' : (), "$dir/answer",
	    Bench::Load::length_of_request($w, '/x')]);

	await('the ceiling', sub { IO::Socket::INET->new(
	    PeerAddr => '127.0.0.1', PeerPort => $server->{port}) });
	my $result = eval {
		my $load = Bench::Load->new(server => $server,
		    workload => $w, seconds => 0.1);
		my $counted = $load->go;
		$load->end;
		$counted;
	};
	$server->stop;
	return $result;
}

my $good = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

for my $case (['kept', c => 3], ['one each', c => 3, one => 1],
    ['pipelined', c => 3, client => ['-p', 16]],
    ['few active', c => 30, client => ['-a', 3, '-t', 1]]) {
	my ($name, @workload) = @$case;
	my $r = answered($good, @workload);

	ok($r && $r->{requests} > 3 && $r->{errors} == 0 &&
	    $r->{bytes} == 5 * $r->{requests}, "$name: all counted");
	ok($r && $r->{p50} > 0 && $r->{p50} <= $r->{p99} &&
	    $r->{p99} <= 1.1 * $r->{slowest} + 1, "$name: percentiles");
}
my $large = "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" .
    'x' x 9_000_000;
my $r = answered($large, c => 3);
is($r && $r->{bytes} / $r->{requests}, 9_000_000, 'a large one is all there');
{
	# Its error is what we want.
	open(my $stderr, '>&', \*STDERR);
	open(STDERR, '>', '/dev/null');
	my @bad = map { scalar(answered($_)) } ($good =~ s/200/404/r,
	    $good =~ s/Content-Length/Length/r);
	open(STDERR, '>&', $stderr);
	is($bad[0], undef, 'another status is no answer');
	is($bad[1], undef, 'nor is one without a length');
}

# At random a third of a list would not be asked for.
{
	my @names = map { "/$_" } 1 .. 100;
	my $root = docroot((map { $_ => "x\n" } @names),
	    list => join('', map { "$_\n" } @names));
	my ($amped) = grep { $_->{name} eq 'amped' }
	    Bench::Server::installed();
	my $server = Bench::Server->start(server => $amped, log => 1,
	    root => $root);

	$server->ready('/1');
	Bench::Load->new(server => $server, seconds => 1, list => "$root/list",
	    lines => 100, workload => { name => 'test', warm => 1, c => 3,
	    client => ['-R'] })->end;
	my %seen = await('the log', sub {
		my %n = map { $_ => 1 } slurp("$server->{dir}/access.log") =~
		    m{"GET (/\S+)}g;
		return keys(%n) == 100 && \%n;
	})->%*;
	is(join(' ', sort keys %seen), join(' ', sort @names),
	    'all of a list is warm, though it be asked for at random');
	$server->stop;
}

# What is told to each server, with and without all that may be there.
for my $name (qw(amped nginx lighttpd h2o apache caddy)) {
	my @values = map { $_ => 'x' } qw(DIR ROOT ADDRESS PORT USER DESCRIPTORS
	    CACHED MODULES MORE APP PROCESSES);
	my ($without, $with) = map { my $is = $_; Bench::Server::conf_text(
	    $name, @values, map { $_ => $is } qw(log list large threads told
	    programs cgi most fastcgi php)) } 0, 1;

	unlike("$without$with", qr/@/, "$name: no mark is left");
	isnt($with, $without, '... and it makes a difference');
	isnt(Bench::Server::conf_text($name, @values, list => 1),
	    Bench::Server::conf_text($name, @values),
	    '... so do listings alone');
}
my $group = Bench::Group->new(memory => 50_000_000);
SKIP: {
	skip('no groups here', 1) unless $group->limited;
	is(system('/bin/sh', '-c', $group->joining .
	    "; exec $^X -e '\$x = q(x) x 200_000_000' 2>/dev/null") & 127, 9,
	    'who is in it has so much memory and no more') or
	    diag("it ended by $?");
}
$group->remove;

my $report = Bench::Report->new;
for my $cpu ([4, 8, 6], [8, 12, 12], [100, 12, 9]) {
	$report->add('500', $_->[0], { cpu => $_->[1], rate => 1, p50 => 1,
	    p99 => 1, errors => 0 }) for ['ceiling', $cpu->[0]],
	    ['nginx', $cpu->[1]], ['h2o', $cpu->[1] + 1], ['amped', $cpu->[2]];
}
is($report->figures('500', 'amped')->{cpu}, 9, 'the median');
is($report->figures('500', 'amped')->{spread}, 1 / 3, 'the spread');
is($report->best_peer('500'), 'nginx', 'the best peer');
is($report->better('500', 'amped', 'ceiling'), 2 / 3,
    'the median of the ratios, not the ratio of the medians');
is_deeply([map { [$_->{bar}, $_->{holds}] } $report->bars],
    [[0.92, 0], [1.15, 1]], 'bars that hold and do not');

my $out = docroot();
my ($status, $text, $errors) = Amped::run_command(undef, $^X, "$bench/run",
    '-r', 2, '-d', 0.05, '-s', 'ceiling,amped', '-o', "$out/b", '500',
    '500-one', '500-pipe', 'webstone', 'nasa', 'start');
is($status, 0, 'a run') or diag($errors);
like($text, qr/^# nasa is left out: /m, 'what is missing is said');
like($text, qr/^\Q$_\E  +\w.*\w/m, "what $_ means")
    for grep { !/us$|errors/ } @Bench::Report::columns;
my $json = decode_json(slurp("$out/b.json"));
for my $workload (qw(500 500-one 500-pipe webstone)) {
	my @rounds = @{$json->{rounds}{$workload}{amped} // []};
	is(scalar(@rounds), 2, "$workload: two rounds");
	is(scalar(grep { $_->{errors} == 0 && $_->{cpu} > 0 } @rounds), 2,
	    "$workload: time without errors");
}
ok($json->{summary}{500}{amped}{of_ceiling} > 0, 'a ratio to the ceiling');
ok(!defined($json->{summary}{webstone}{amped}{of_ceiling}),
    'none where there is none');
my $page = slurp("$out/b.html");
is(scalar(() = $page =~ /<svg/g), scalar(() = $page =~ m{</svg>}g),
    'pictures are whole');
ok($page =~ /<svg/ && $page !~ /<script|(?:src|href)=/, 'and the page alone');

# The studies of breakdown: all that it compares is there, and was measured.
($status, $text, $errors) = Amped::run_command(undef, $^X, "$bench/breakdown",
    '-r', 1, '-d', 0.05, '-s', '500,20000', '-o', "$out/d", 'caches');
is($status, 0, 'a breakdown') or diag($errors);
$json = decode_json(slurp("$out/d.json"));
is(join(' ', keys %{$json->{rounds}}), 'caches', 'what was asked for');
my %ways = %{$json->{rounds}{caches}};
is(scalar(keys %ways), 8, 'eight combinations of three caches');
for my $way (sort keys %ways) {
	my @rounds = map { @$_ } values(%{$ways{$way}});
	ok(@rounds == 2 && !(grep { $_->{cpu} <= 0 || $_->{rate} <= 0 }
	    @rounds), "$way: time, at each size");
	like($text, qr/^\Q$way\E(?: +[\d.]+){2}$/m, "$way: in the table");
}
$page = slurp("$out/d.html");
is(scalar(() = $page =~ /<polyline /g), 4 * 8,
    'a line for each way in each picture');
ok($page !~ /<script|(?:src|href)=/ && $page !~ /nan|inf\b/i,
    'and the page alone');
($status, $text) = Amped::run_command(undef, $^X, "$bench/breakdown", '-l');
for my $study (qw(caches alignment transport techniques steps)) {
	like($text, qr/^$study$/m, "there is $study");
}
for my $line ($text =~ /^\t.{28} (\S.*)/mg) {
	my $conf = docroot(conf => "$line\nuser " . Amped::ordinary_user() .
	    "\nsite a.org {\nlisten 127.0.0.1:0\nroot /\n}\n");
	my ($wrong, undef, $why) = Amped::run_amped('-t', '-f', "$conf/conf");
	is($wrong, 0, $line) or diag($why);
}

# One of eight techniques is off in each row; what is off costs calls.
($status, $text, $errors) = Amped::run_command(undef, $^X, "$bench/breakdown",
    '-r', 1, '-d', 0.05, '-s', 500, '-o', "$out/t", 'techniques');
is($status, 0, 'techniques') or diag($errors);
$json = decode_json(slurp("$out/t.json"));
like($text, qr/^$_ .*\d$/m, "technique $_") for 1 .. 8;
like($text, qr/^# $_ /m, "... and what that says") for 1 .. 8;
SKIP: {
	my %calls = %{$json->{calls}{techniques}{500} // {}};

	skip('no strace here', 4) unless %calls;
	my ($all, $read, $ask, $look) = map { my $n = $_;
	    (map { $calls{$_} } grep { /^\Q$n\E/ } sort keys %calls)[0] }
	    'all', 1, 3, 7;
	cmp_ok($all->{find} + $all->{contents}, '<', 0.5,
	    'a cached file is not asked for');
	cmp_ok($read->{contents}, '>=', 0.5, '... without copies it is read');
	cmp_ok($ask->{find}, '>=', 0.5, '... without states it is looked at');
	cmp_ok($look->{find}, '>', $ask->{find}, '... without paths, all is');
}

# Where all files fit, each policy misses each file once; a scan costs one path
# in a hundred at most.
{
	my $trace = Amped::source_dir() . "/t/e2e/trace/nasa-first";
	my %asked;

	open(my $fh, '<', "$trace.tsv") or die "$trace.tsv: $!\n";
	for (1 .. 1000) {
		$asked{(split(/\t/, readline($fh)))[1]} = 1;
	}
	my $hits = sprintf('%.1f', (1000 - keys(%asked)) / 10);
	my ($status, $text, $errors) = Amped::run_command(undef, $^X,
	    "$bench/policies", '-n', 1000, '-p', '10,100', '-s', '1000,2000',
	    "$trace.files.tsv", "$trace.tsv");
	is($status, 0, 'policies') or diag($errors);
	is(scalar(() = $text =~
	    /^  (?:lru|sieve|s3fifo|lfu|gdsf) +(?:\S+ +){4}\Q$hits\E /mg), 10,
	    'all misses are first ones') or diag($text);
	is(scalar(() = $text =~ /^met    \w+, paths asked for twice/mg), 5,
	    'a scan evicts little') or diag($text);

	# Other caches: each policy hits half, and a scan evicts the half.
	my $other = docroot('contrib/bench/caches' => <<'END');
#!/bin/sh
case $1 in
scan)	echo lru 100 50 ;;
*)	for policy in lru sieve s3fifo lfu gdsf; do
		echo $policy 10 100 50 100 50 50
	done
esac
END
	chmod(0755, "$other/contrib/bench/caches");
	local $ENV{AMPED_BUILD} = $other;
	($status, $text) = Amped::run_command(undef, $^X, "$bench/policies",
	    '-n', 1000, '-p', 10, "$trace.files.tsv", "$trace.tsv");
	is($status >> 8, 1, 'a bar is missed') or diag($text);
	like($text, qr/^MISSED lru, paths asked for twice/m, '... which one');
}

# -h of each program explains each option of its usage.
for my $program (grep { -x && -f } glob("$bench/*")) {
	my ($name) = $program =~ m{([^/]+)\z};
	my ($status, $help, $errors) = Amped::run_command(undef, $^X, $program,
	    '-h');
	is($status, 0, "$name -h") or diag($errors);
	my ($usage, $text) = $help =~ /\A\Q$name\E: [^\n]+\n\n((?:\t[^\n]*\n)+)(.*)/s;
	my @options = ($usage =~ /(?<=[\[ ])-(\w)/g,
	    map { split(//, $_) } $usage =~ /\[-(\w{2,})\]/g);
	cmp_ok(scalar(@options), '>', 2, 'its options');
	is_deeply([grep { $text !~ /(?:^\t|; )-\Q$_\E[\t:]/m } @options], [],
	    '... are explained');
}

# In a directory without a build the lists are there, or the reason.
for my $case (['run', 0, 'servers: ceiling, amped'], ['breakdown', 0, 'caches'],
    ['papers', 1, 'start this in the build directory']) {
	my ($name, $expected, $words) = @$case;
	my ($status, $text, $errors) = Amped::run_command(undef, '/bin/sh', '-c',
	    'cd "$0" && env -u AMPED_BUILD "$@"', docroot(), $^X,
	    "$bench/$name", '-l');
	is($status != 0, $expected != 0, "$name -l, elsewhere") or
	    diag($errors);
	like("$text$errors", qr/\Q$words\E/, "... $words");
}
done_testing();
