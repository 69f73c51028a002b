# Bench::Papers::Claim: what of a paper's findings holds here, in words that
# follow from the figures.
#
# A claim looks at what was measured, and says whether it agrees with the paper
# or has changed, with the numbers; nothing where it was not measured, and no
# reasons that were not measured either.  Less than SOME apart is taken for the
# same.  What is cached is held against each other by processor time, which
# depends less on what else the machine does than requests a second do.
package Bench::Papers::Claim;

use strict;
use warnings;

use Bench::Papers::Figure;
use Bench::Report;

use constant SOME => 0.1;

my @ours = qw(amped sped mp mt pipelined);

sub times_text { return Bench::Report::digits($_[0]) . ' times' }

sub per_cent { return sprintf('%.0f %%', 100 * $_[0]) }

sub list_text {
	my (@names) = @_;
	my $last = pop(@names);

	return @names ? join(', ', @names) . " and $last" : $last;
}

# Least and most of something among servers, with their names.
sub extremes {
	my ($r, $figure, $x, $what, @servers) = @_;
	my @sorted = sort { $a->[1] <=> $b->[1] } map {
		[$_, $r->value($figure, $_, $x, $what)] }
	    $r->having($figure, $x, $what, @servers);

	return @sorted > 1 ? ($sorted[0], $sorted[-1]) : ();
}

#
# One file
#

sub architecture_matters {
	my ($r) = @_;
	my ($x) = $r->at('single');
	my ($least, $most) = extremes($r, 'single', $x, 'cpu', @ours) or return;
	my $ratio = $most->[1] / $least->[1];

	return ('agrees', "For a file of $x bytes the architectures lie " .
	    per_cent($ratio - 1) . ' apart in processor time: it hardly ' .
	    'matters which.') if $ratio <= 1.25;
	# Of these two there is a claim of its own.
	return if "$most->[0] $least->[0]" eq 'amped sped';
	return ('changed', "For a file of $x bytes it does matter now: " .
	    "$most->[0] needs " . times_text($ratio) . " the processor time " .
	    "of $least->[0].");
}

sub price_of_asking {
	my ($r) = @_;
	my ($x) = $r->at('single');
	my $ratio = $r->ratio('single', 'amped', 'sped', $x, 'cpu') // return;

	return ('agrees', 'amped needs ' . per_cent($ratio - 1) . ' more ' .
	    'processor time than sped: that small price is still there.')
	    if $ratio > 1.03 && $ratio <= 1.25;
	return ('changed', 'amped needs ' . times_text($ratio) .
	    ' the processor time of sped for it.') if $ratio > 1.25;
	return ('changed', 'The price that AMPED paid for asking whether a ' .
	    'file is in memory is not to be seen: amped needs ' .
	    times_text($ratio) . ' the processor time of sped.');
}

sub apache_behind {
	my ($r) = @_;
	my ($x) = $r->at('single');
	my $ratio = $r->ratio('single', 'apache', 'amped', $x, 'cpu') // return;

	return ('agrees', 'Apache needs ' . times_text($ratio) .
	    " amped's processor time.") if $ratio > 1.25;
	return ('changed', 'Apache is not far behind any more: ' .
	    times_text($ratio) . " amped's processor time.");
}

sub bandwidth_now {
	my ($r) = @_;
	my ($first, $last) = ($r->at('single'))[0, -1];
	my $rate = $r->value('single', 'amped', $first, 'rate') // return;
	my $mb = $r->value('single', 'amped', $last, 'mb') // return;

	return ('changed', sprintf('One core and a client on another make ' .
	    '%.0f requests a second of %d bytes, and %.1f Gbit/s with %d ' .
	    'bytes; no network card is in the way here, as it was there.',
	    $rate, $first, $mb / 1000, $last));
}

#
# Traces
#

sub trace_names {
	my ($r, $where) = @_;

	return grep { /, $where\z/ } $r->at('traces');
}

sub sped_cached {
	my ($r) = @_;
	my @ratios = grep { defined } map { $r->ratio('traces', 'sped',
	    'amped', $_, 'cpu') } trace_names($r, 'cached') or return;
	my $ratio = Bench::Report::median(@ratios);

	return ($ratio > 1 + SOME ? 'changed' : 'agrees',
	    'With all files cached sped needs ' . times_text($ratio) .
	    ' the processor time of amped.');
}

sub sped_from_disk {
	my ($r) = @_;
	my @ratios = grep { defined } map { $r->ratio('traces', 'amped',
	    'sped', $_, 'rate') } trace_names($r, 'disk') or return;
	my $ratio = Bench::Report::median(@ratios);

	return ('agrees', 'With memory for half of the files amped makes ' .
	    times_text($ratio) . ' the requests of sped.') if $ratio > 1 + SOME;
	return ('changed', 'Even with memory for half of the files sped is ' .
	    'not behind: amped makes ' . times_text($ratio) . ' its ' .
	    'requests.');
}

sub others_from_disk {
	my ($r) = @_;
	my (@measured, @ahead);

	for my $x (trace_names($r, 'disk')) {
		my @others = $r->having('traces', $x, 'rate',
		    grep { $_ ne 'amped' } $r->servers('traces'));
		for my $other (@others) {
			my $ratio = $r->ratio('traces', $other, 'amped', $x,
			    'rate') // next;
			push(@measured, $x);
			push(@ahead, "$other on $x (" . times_text($ratio) .
			    ')') if $ratio > 1 + SOME;
		}
	}
	return unless @measured;
	return @ahead ? ('changed', 'From a disk more requests than amped ' .
	    'make ' . list_text(@ahead) . '.') : ('agrees',
	    'From a disk nobody is clearly ahead of amped.');
}

#
# Data sets
#

# The rate where not all fits, of that where the least is asked for.
sub kept {
	my ($r, $server) = @_;
	my ($first, $last) = ($r->at('dataset'))[0, -1];
	my $before = $r->value('dataset', $server, $first, 'rate') or return;
	my $after = $r->value('dataset', $server, $last, 'rate') // return;

	return $after / $before;
}

sub ends {
	my ($r) = @_;
	my ($first, $last) = ($r->at('dataset'))[0, -1];

	return ($first // 0) != ($last // 0) ? ($first, $last) : ();
}

sub sped_falls {
	my ($r) = @_;
	my ($first, $last) = ends($r) or return;
	my ($sped, $amped) = map { kept($r, $_) // return } qw(sped amped);
	my $text = "From $first MB of files to $last MB sped keeps " .
	    per_cent($sped) . ' of its requests, amped ' . per_cent($amped);
	my $ratio = $r->ratio('dataset', 'amped', 'sped', $last, 'rate');

	return ('agrees', "$text: at $last MB amped makes " .
	    times_text($ratio) . " sped's.") if $ratio > 1 + SOME;
	return ('changed', "$text; at $last MB amped makes " .
	    times_text($ratio) . " sped's, so sped does not fall behind.");
}

sub falls_first {
	my ($r) = @_;
	my ($first, $last) = ends($r) or return;
	my ($mp, $amped) = map { kept($r, $_) // return } qw(mp amped);
	my $ratio = $r->ratio('dataset', 'mp', 'amped', $first, 'rate');

	return ('agrees', "Already with $first MB mp makes " .
	    times_text($ratio) . " amped's requests only.") if $ratio < 0.5;
	return ('agrees', 'mp keeps ' . per_cent($mp) . ', less than amped.')
	    if $mp < $amped * (1 - SOME);
	return ('changed', 'mp keeps ' . per_cent($mp) . ', no less than ' .
	    'amped.');
}

sub cached_ahead {
	my ($r) = @_;
	my ($x) = ends($r) or return;
	my @behind;

	for my $other (qw(mp mt pipelined)) {
		my $ratio = $r->ratio('dataset', $other, 'amped', $x, 'cpu');
		push(@behind, "$other " . times_text($ratio))
		    if defined($ratio) && $ratio > 1 + SOME;
	}
	return @behind ? ('agrees', "With all in memory ($x MB) others need " .
	    'more processor time than amped: ' . list_text(@behind) .
	    ' as much.') : ();
}

sub peers_fall {
	my ($r) = @_;
	my ($first, $last) = ends($r) or return;
	my $own = $r->value('dataset', 'amped', $last, 'rate') // return;
	my %rate = map { $_ => $r->value('dataset', $_, $last, 'rate') }
	    $r->having('dataset', $last, 'rate', grep { my $s = $_;
	    !grep { $_ eq $s } @ours } $r->servers('dataset'));
	my @names = sort { $rate{$a} <=> $rate{$b} } keys %rate or return;
	my @text = map { "$_ makes " . Bench::Report::digits($rate{$_}) }
	    @names;

	return ('changed', "Of today's servers, at $last MB " .
	    list_text(@text) . ' requests a second, amped ' .
	    Bench::Report::digits($own) . '.');
}

#
# Clients
#

# Requests of a processor's second with most clients, of those at best.
sub at_most_clients {
	my ($r, $server) = @_;
	my @x = $r->at('clients');
	my @cpu = map { $r->value('clients', $server, $_, 'cpu') // () } @x;
	my $last = $r->value('clients', $server, $x[-1], 'cpu') or return;
	my ($best) = sort { $a <=> $b } @cpu;

	return $best / $last;
}

sub loops_hold {
	my ($r) = @_;
	my $most = ($r->at('clients'))[-1];
	my %kept = map { my $kept = at_most_clients($r, $_);
	    defined($kept) ? ($_ => $kept) : () } qw(amped sped mt pipelined);
	my @held = grep { exists($kept{$_}) && $kept{$_} >= 0.75 } @ours;
	my @lost = grep { exists($kept{$_}) && $kept{$_} < 0.75 } @ours;

	return ((@held ? ('agrees', list_text(@held) . (@held > 1 ? ' stay' :
	    ' stays') . " within a quarter of the best with $most clients, " .
	    'in requests of a second of processor time.') : ()),
	    (@lost ? ('changed', "With $most clients " . list_text(map {
	    "$_ keeps " . per_cent($kept{$_}) } @lost) . ' of the requests ' .
	    'of a second of processor time.') : ()));
}

sub mp_loses {
	my ($r) = @_;
	my $most = ($r->at('clients'))[-1];
	my $kept = at_most_clients($r, 'mp') // return;

	return $kept < 0.75 ? ('agrees', "mp loses: with $most clients it " .
	    'keeps ' . per_cent($kept) . ' of its best.') :
	    ('changed', "mp does not lose much: with $most clients it keeps " .
	    per_cent($kept) . ' of its best, having 256 processes at most.');
}

sub latency_of_many {
	my ($r) = @_;
	my $most = ($r->at('clients'))[-1] // return;
	my ($least, $worst) = extremes($r, 'clients', $most, 'p99',
	    $r->servers('clients')) or return;

	return ('changed', "With $most clients one of 100 requests takes " .
	    'longer than ' . Bench::Report::digits($least->[1]) . ' ms at ' .
	    "best ($least->[0]) and " . Bench::Report::digits($worst->[1]) .
	    " ms at worst ($worst->[0]).");
}

#
# WebStone
#

sub throughput_saturates {
	my ($r) = @_;
	my @x = $r->at('webstone');
	my @mb = map { $r->value('webstone', 'amped', $_, 'mb') // () } @x;

	return if @x < 2 || @mb < @x;
	my ($best) = sort { $mb[$b] <=> $mb[$a] } 0 .. $#x;
	my @mean = map { $r->value('webstone', 'amped', $_, 'mean') }
	    @x[0, -1];
	my $text = sprintf("amped's bandwidth is greatest with %d clients " .
	    '(%.1f Gbit/s); from the fewest to the most clients the mean ' .
	    'latency goes from %.2f ms to %.2f.', $x[$best],
	    $mb[$best] / 1000, @mean);

	return ($mean[1] > 2 * $mean[0] ? 'agrees' : 'changed', $text);
}

sub model_counts_less {
	my ($r) = @_;
	my $x = ($r->at('webstone'))[-1] // return;
	my ($least, $most) = extremes($r, 'webstone', $x, 'cpu', @ours) or
	    return;
	my $among = $most->[1] / $least->[1];
	my ($low, $high) = extremes($r, 'webstone', $x, 'cpu',
	    $r->servers('webstone'));
	my $all = $high->[1] / $low->[1];
	my $text = "With $x clients the architectures lie " .
	    per_cent($among - 1) . ' apart in processor time';

	return unless grep { my $s = $_; !grep { $_ eq $s } @ours }
	    $r->servers('webstone');
	return ('agrees', "$text, and all servers " . per_cent($all - 1) .
	    ': which server it is counts for more than its model.')
	    if $all - 1 > 1.5 * ($among - 1);
	return ('changed', "$text, nearly as much as all servers do (" .
	    per_cent($all - 1) . ').');
}

#
# Memory
#

sub mp_grows {
	my ($r) = @_;
	my @x = grep { defined($r->value('memory', 'mp', $_, 'memory')) }
	    $r->at('memory');

	return if @x < 2;
	my ($less, $more) = map { $r->value('memory', 'mp', $_, 'memory') }
	    @x[0, -1];
	my $each = ($more - $less) / ($x[-1] - $x[0]);
	my $left = $r->value('memory', 'mp', $x[-1], 'left');

	return ($more > 2 * $less ? 'agrees' : 'changed', sprintf('mp takes ' .
	    '%.1f MB with %d process%s and %.1f MB with %d: %.0f KB for each ' .
	    'more, and %s of 128 MB.', $less, $x[0], $x[0] > 1 ? 'es' : '',
	    $more, $x[-1], 1000 * $each, $left > 0 ?
	    sprintf('leaves %.0f', $left) : 'leaves nothing'));
}

sub mt_shares {
	my ($r) = @_;
	my ($x) = grep { defined($r->value('memory', 'mp', $_, 'memory')) &&
	    defined($r->value('memory', 'mt', $_, 'memory')) }
	    reverse($r->at('memory')) or return;
	my $ratio = $r->ratio('memory', 'mp', 'mt', $x, 'memory');

	return ($ratio > 1 + SOME ? 'agrees' : 'changed', "With $x workers " .
	    'mp takes ' . times_text($ratio) . ' the memory of mt.');
}

sub helpers_cost {
	my ($r) = @_;
	my ($x) = $r->at('memory');
	my ($amped, $sped) = map { $r->value('memory', $_, $x, 'memory') //
	    return } qw(amped sped);

	return ($amped > $sped ? 'agrees' : 'changed', sprintf('With one main ' .
	    'amped takes %.1f MB and sped %.1f; the paper reckons 3 MB for ' .
	    'two helpers.', $amped, $sped));
}

sub pipelined_shares {
	my ($r) = @_;
	my ($x) = grep { defined($r->value('memory', 'pipelined', $_,
	    'memory')) } reverse($r->at('memory')) or return;
	my $ratio = $r->ratio('memory', 'pipelined', 'amped', $x, 'memory') //
	    return;

	return ($ratio <= 1 + SOME ? 'agrees' : 'changed', "With $x workers " .
	    'pipelined takes ' . times_text($ratio) . ' the memory of amped.');
}

#
# Strategies
#

# The places of x for the least and the most of what pairs begin with, each with
# that in front.
sub ends_of_pairs {
	my ($r, $figure) = @_;
	my @groups = map { my ($first, @places) = @$_;
	    [$first, map { $_->[1] } @places] }
	    Bench::Papers::Figure::groups($r->at($figure));

	return @groups > 1 ? @groups[0, -1] : ();
}

# The median of some ratios of processor time, of what was measured.
sub times_of {
	my ($r, $figure, $server, $other, @places) = @_;

	return Bench::Report::median(map { $r->ratio($figure, $server, $other,
	    $_, 'cpu') } @places);
}

sub threads_made {
	my ($r) = @_;
	my ($small, $large) = ends_of_pairs($r, 'strategies') or return;
	my @said;

	for my $way (qw(request session)) {
		my ($of_small, $of_large) = map { my (undef, @places) = @$_;
		    times_of($r, 'strategies', $way, 'pool', @places) }
		    $small, $large;
		next unless defined($of_small) && defined($of_large);
		push(@said, ($of_small > 1 + SOME && $of_small > $of_large ?
		    'agrees' : 'changed', "A thread for each $way takes " .
		    times_text($of_small) . ' the processor time of a pool ' .
		    "for $small->[0] bytes, and " . times_text($of_large) .
		    " for $large->[0]."));
	}
	return @said;
}

sub large_are_alike {
	my ($r) = @_;
	my ($small, $large) = map {
		my ($size, @places) = @$_;
		my ($least, $most) = extremes($r, 'strategies', $places[-1],
		    'cpu', $r->servers('strategies')) or return;
		[$size, $most->[1] / $least->[1] - 1]
	} ends_of_pairs($r, 'strategies') or return;

	return ($large->[1] < $small->[1] ? 'agrees' : 'changed',
	    'With most clients the strategies lie ' . per_cent($small->[1]) .
	    " apart in processor time for $small->[0] bytes, and " .
	    per_cent($large->[1]) . " for $large->[0].");
}

# Whether a call waits, or readiness is asked for before.
sub way_of_waiting {
	my ($r) = @_;
	my (undef, $large) = ends_of_pairs($r, 'strategies') or return;
	my ($size, @places) = @$large;
	my %times = map { my $times = times_of($r, 'strategies',
	    "$_, synchronous", $_, @places); defined($times) ?
	    ($_ => $times) : () } $r->servers('strategies');
	my @ways = sort keys %times or return;

	return ((grep { abs($_ - 1) > SOME } values(%times)) ? 'agrees' :
	    'changed', "For $size bytes calls that block take, of the " .
	    'processor time of readiness, ' . list_text(map {
	    times_text($times{$_}) . " in $_" } @ways) . '.');
}

sub none_is_best {
	my ($r) = @_;
	my @places = $r->at('strategies');
	my @ways = $r->servers('strategies');
	my (%best, %worst);

	for my $x (@places) {
		my ($least) = extremes($r, 'strategies', $x, 'cpu', @ways) or
		    return;
		$best{$least->[0]}++;
		for my $way (@ways) {
			my $cpu = $r->value('strategies', $way, $x, 'cpu') //
			    next;
			my $times = $cpu / $least->[1];
			$worst{$way} = $times
			    if $times > ($worst{$way} // 0);
		}
	}
	my ($first) = sort { $worst{$a} <=> $worst{$b} } keys %worst or return;
	return ('changed', "$first is best or within " . per_cent(SOME) .
	    ' of that in processor time for all sizes and all loads.')
	    if $worst{$first} <= 1 + SOME;
	return ('agrees', 'No strategy is best for all sizes and all loads: ' .
	    list_text(map { "$_ in $best{$_}" } sort { $best{$b} <=>
	    $best{$a} || $a cmp $b } keys %best) . ' of ' . @places .
	    " needs the least processor time; $first is never behind by more " .
	    'than ' . per_cent($worst{$first} - 1) . '.');
}

sub load_and_latency {
	my ($r) = @_;
	my ($small) = ends_of_pairs($r, 'strategies') or return;
	my ($size, @places) = @$small;
	my ($way) = $r->having('strategies', $places[-1], 'mb',
	    $r->servers('strategies')) or return;
	my ($mb, $mean) = map { my $what = $_; my ($few, $many) = map {
	    $r->value('strategies', $way, $_, $what) // return }
	    @places[0, -1]; $many / $few } qw(mb mean);

	return ($mean > $mb ? 'agrees' : 'changed', "With $size bytes and " .
	    "$way, throughput grows to " . times_text($mb) . ' and latency ' .
	    'to ' . times_text($mean) . ' from the fewest to the most ' .
	    'clients.');
}

#
# Pool
#

# Of the most clients: pools by their size, with the requests of each.
sub pools {
	my ($r, $way) = @_;
	my @groups = Bench::Papers::Figure::groups($r->at('pool')) or return;
	my ($clients, @places) = @{$groups[-1]};
	my @pools = grep { defined($_->[1]) } map {
	    [$_->[0], $r->value('pool', $way, $_->[1], 'rate')] } @places;

	return @pools > 1 ? ($clients, @pools) : ();
}

sub some_threads {
	my ($r) = @_;
	my ($clients, @pools) = pools($r, 'mt') or return;
	my ($best) = sort { $b->[1] <=> $a->[1] } @pools;
	my $times = $best->[1] / $pools[0][1];

	return ($times > 1 + SOME ? 'agrees' : 'changed', "With $clients " .
	    "clients the best pool has $best->[0] threads, and makes " .
	    times_text($times) . " the requests of one with $pools[0][0].");
}

sub many_threads {
	my ($r) = @_;
	my ($clients, @pools) = pools($r, 'mt') or return;
	my $most = pop(@pools);
	my ($best) = sort { $b->[1] <=> $a->[1] } @pools;
	my $times = $most->[1] / $best->[1];

	return ($times <= 1 + SOME ? 'agrees' : 'changed', "A pool of " .
	    "$most->[0] makes " . times_text($times) . ' the requests of ' .
	    "the best smaller one, with $best->[0].");
}

#
# Activity
#

# What the paper measured of Apache: least and most per cent.
my %of_apache = (user => [20, 25], kernel => [35, 50], interrupt => [25, 40]);
# Whose time is the network's.
my @network = qw(interrupts connect read send close);

sub share {
	my ($r, $server, $x, @names) = @_;
	my $sum = 0;

	for my $name (@names) {
		$sum += $r->value('activity', $server, $x, "share $name") //
		    return undef;
	}
	return $sum;
}

# On average, as there.
sub parts_of_apache {
	my ($r) = @_;
	my @x = grep { defined($r->value('activity', 'apache', $_, 'user')) }
	    $r->at('activity') or return;
	my %now;

	for my $part (keys %of_apache) {
		$now{$part} += $r->value('activity', 'apache', $_, $part) / @x
		    for @x;
	}
	my @outside = grep { $now{$_} < $of_apache{$_}[0] - 5 ||
	    $now{$_} > $of_apache{$_}[1] + 5 } keys %now;

	return (@outside ? 'changed' : 'agrees', sprintf('Apache spends ' .
	    '%.0f %% of its processor time in user code, %.0f %% in system ' .
	    'calls and %.0f %% in interrupts.',
	    @now{qw(user kernel interrupt)}));
}

sub network_is_most {
	my ($r) = @_;
	my ($x) = $r->at('activity');
	my %share = map { my $share = share($r, $_, $x, @network);
	    defined($share) ? ($_ => $share) : () } $r->servers('activity');
	my @servers = grep { exists($share{$_}) } $r->servers('activity');
	my @less = grep { $share{$_} < 50 } @servers;

	return unless @servers;
	return (@less ? 'changed' : 'agrees', "For $x bytes the network " .
	    'takes ' . list_text(map { sprintf('%.0f %% of %s', $share{$_},
	    $_) } @servers) . '.');
}

# In us of a request.
sub own_code {
	my ($r) = @_;
	my ($x) = $r->at('activity');
	my @text = map {
		my $cpu = $r->value('activity', $_, $x, 'cpu');
		my $of_own = share($r, $_, $x, 'own code');
		my $of_file = share($r, $_, $x, qw(find contents));
		defined($cpu) && defined($of_own) ? sprintf('%.1f and %.1f ' .
		    'in %s', $cpu * $of_own / 100, $cpu * $of_file / 100, $_) :
		    ();
	} $r->servers('activity') or return;

	return ('changed', "Of a request of $x bytes the server's own code " .
	    'and its work with the file take, in us, ' . list_text(@text) .
	    '.');
}

my %claims = (
	single => [\&architecture_matters, \&price_of_asking, \&apache_behind,
	    \&bandwidth_now],
	traces => [\&sped_cached, \&sped_from_disk, \&others_from_disk],
	dataset => [\&cached_ahead, \&sped_falls, \&falls_first,
	    \&peers_fall],
	clients => [\&loops_hold, \&mp_loses, \&latency_of_many],
	webstone => [\&throughput_saturates, \&model_counts_less],
	strategies => [\&threads_made, \&large_are_alike, \&way_of_waiting,
	    \&none_is_best, \&load_and_latency],
	pool => [\&some_threads, \&many_threads],
	activity => [\&parts_of_apache, \&network_is_most, \&own_code],
	memory => [\&mp_grows, \&mt_shares, \&helpers_cost,
	    \&pipelined_shares],
);

# Two texts: what agrees with the paper, what has changed; one may be empty.
sub paragraphs {
	my ($results, $figure) = @_;
	my %text = (agrees => [], changed => []);

	for my $claim (@{$claims{$figure} // []}) {
		my @said = $claim->($results);
		while (my ($kind, $text) = splice(@said, 0, 2)) {
			push(@{$text{$kind}}, $text);
		}
	}
	return map { join('  ', @{$text{$_}}) } qw(agrees changed);
}

1;
