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

# Of each target: text, of (which by which), kind, bar, words; and, if it was
# measured, value and met.
sub held {
	my ($results) = @_;

	return map {
		my ($text, $own, $other, $what, $x, $kind, $bar) = @$_;
		my $value = $results->ratio('targets', $own, $other, $x, $what);
		{ text => $text, of => "$own / $other", kind => $kind,
		    bar => $bar, words => $words{$kind}->($bar),
		    defined($value) ? (value => $value,
		    met => $met{$kind}->($value, $bar) ? 1 : 0) : () };
	} @targets;
}

# A word for it.
sub verdict {
	my ($target) = @_;

	return !defined($target->{value}) ? 'not measured' :
	    $target->{met} ? 'met' : 'missed';
}

1;
