# Bench::Zipf: chooses numbers by Zipf's law: the chance of rank k is as
# 1 / k ** exponent.
package Bench::Zipf;

use strict;
use warnings;

# Ranks from 0 to n - 1.
sub new {
	my ($class, $n, $exponent) = @_;
	my @sums;		# of the weights of each rank and those before

	for my $rank (1 .. $n) {
		push(@sums, ($sums[-1] // 0) + $rank ** -$exponent);
	}
	return bless({ sums => \@sums }, $class);
}

# A rank, by rand.
sub choose {
	my ($self) = @_;
	my $sums = $self->{sums};
	my $at = rand($sums->[-1]);
	my ($low, $high) = (0, $#$sums);

	while ($low < $high) {
		my $middle = int(($low + $high) / 2);
		if ($sums->[$middle] > $at) {
			$high = $middle;
		} else {
			$low = $middle + 1;
		}
	}
	return $low;
}

1;
