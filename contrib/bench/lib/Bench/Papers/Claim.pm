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

my %claims = (
	single => [\&architecture_matters, \&price_of_asking, \&apache_behind,
	    \&bandwidth_now],
	traces => [\&sped_cached, \&sped_from_disk, \&others_from_disk],
	dataset => [\&cached_ahead, \&sped_falls, \&falls_first,
	    \&peers_fall],
	clients => [\&loops_hold, \&mp_loses, \&latency_of_many],
	webstone => [\&throughput_saturates, \&model_counts_less],
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
