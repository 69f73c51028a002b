# Bench::Papers::Target: what amped has to show beside its other architectures,
# as ratios in one run.
package Bench::Papers::Target;

use strict;
use warnings;

# what: which is divided by which, of what, where; of the figure "targets".
#	[text, architecture, divided by, figure, at, kind, bar]
our @targets = (
	(map { ["processor time of a request, cached, $_ bytes", 'amped',
	    'sped', 'cpu', "cached $_", 'atmost', 1.03] } 500, 5000),
	(map { my $other = $_; map { ["processor time of a request, cached, " .
	    "$_ bytes", $other, 'amped', 'cpu', "cached $_", 'atleast', 1.1] }
	    500, 5000 } qw(mp mt pipelined)),
	(map { ['cached requests a second while the disk is busy', 'amped',
	    $_, 'rate', 'beside a busy disk', 'atleast', 1] }
	    qw(mt pipelined)),
	['cached requests a second while the disk is busy', 'amped', 'sped',
	    'rate', 'beside a busy disk', 'atleast', 50],
	(map { ['cached requests a second, two workers each, 2 clients', $_,
	    'amped', 'rate', 'two workers, 2 clients', 'atleast', 0.85] }
	    qw(mt pipelined)),
	['cached requests a second, two workers each, 64 clients', 'pipelined',
	    'amped', 'rate', 'two workers, 64 clients', 'atleast', 0.85],
	(map { ['memory of an idle client', $_, 'amped', 'bytes', 'idle',
	    'within', 0.1] } qw(sped pipelined)),
);

# What was tried for a target that may be missed, and what the profile says: by
# whom it is about, and where.
our %tried = (
	'pipelined / amped, two workers, 2 clients' =>
	    'Each request goes through four threads, and with one client of a ' .
	    'pipeline at a time each of them sleeps until it is handed that.  ' .
	    'Tried and kept: bells that nobody reads, a client that stays ' .
	    'watched while others have it, and one that comes back without ' .
	    'waking anybody: 9 system calls of a request for 17, and three ' .
	    'wake-ups for four.  Tried and dropped: to give way once before ' .
	    'going to sleep, which made 5.3 switches of a request of 3.4.  ' .
	    'The profile has three quarters of the time in the kernel, and ' .
	    'most of what amped has not there is waking and switching: 35,000 ' .
	    'instructions of the kernel for 18,000, some 6,000 for each ' .
	    'wake-up.  Stages that are threads cannot have fewer; only ' .
	    'several clients share them.',
	'pipelined / amped, two workers, 64 clients' =>
	    'A request is handed over four times.  Tried and kept: to ring ' .
	    'once for all that a turn has handed over (4.6 system calls of a ' .
	    'request for 11.2), to go on watching a client by edge while ' .
	    'others have it (2.7), to give memory back to the thread that has ' .
	    'allocated it (300 instructions), and that pipelines leave ' .
	    'clients to each other.  Tried and dropped: a processor for each ' .
	    'pipeline (0.42 of the rate of amped for 0.66), ' .
	    'to give way once before going to sleep (as many calls as it ' .
	    'spares, twice the switches), and locks that spin (nothing to be ' .
	    'seen).  What is left in the profile beside what amped does: locks ' .
	    'of the caches, seven of a request, some 700 instructions and a ' .
	    'tenth of the time; the machine, which is entered in each stage, ' .
	    '700; memory, 400.',
);

my $unknown = 'What explains it has not been written down yet.';

my %met = (
	atmost => sub { $_[0] <= $_[1] },
	atleast => sub { $_[0] >= $_[1] },
	within => sub { abs($_[0] - 1) <= $_[1] },
);
my %words = (
	atmost => sub { "at most $_[0]" },
	atleast => sub { "at least $_[0]" },
	within => sub { sprintf('%g to %g', 1 - $_[0], 1 + $_[0]) },
);

# Of each target: text, of (which by which), kind, bar, words; if it was
# measured, value and met; and if it was missed, what was tried.
sub held {
	my ($results) = @_;

	return map {
		my ($text, $own, $other, $what, $x, $kind, $bar) = @$_;
		my $value = $results->ratio('targets', $own, $other, $x, $what);
		my $met = defined($value) && $met{$kind}->($value, $bar);
		{ text => $text, of => "$own / $other", kind => $kind,
		    bar => $bar, words => $words{$kind}->($bar),
		    defined($value) ? (value => $value, met => $met ? 1 : 0) :
		    (), defined($value) && !$met ? (tried =>
		    $tried{"$own / $other, $x"} // $unknown) : () };
	} @targets;
}

# A word for it.
sub verdict {
	my ($target) = @_;

	return !defined($target->{value}) ? 'not measured' :
	    $target->{met} ? 'met' : 'missed';
}

1;
