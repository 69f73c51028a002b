# Bench::Surge: files with the sizes of SURGE (Barford and Crovella, 1998),
# which are asked for over a link at random times, whether or not the client has
# got what it has asked for before.
package Bench::Surge;

use strict;
use warnings;

use Bench::Children;
use Bench::Link;
use Bench::Server;
use IPC::Open2;
use List::Util qw(max sum);

use constant { LARGEST => 16 * 1024 * 1024, HEADS => 1.05 };	# of packets

# The number that a normal variable is below with that chance (Acklam's
# rational approximation would be shorter, but a search needs no constants).
sub normal {
	my ($chance) = @_;
	my ($low, $high) = (-8, 8);

	while ($high - $low > 1e-6) {
		my $at = ($low + $high) / 2;
		my ($sum, $term) = ($at, $at);
		for (my $n = 3; abs($term) > 1e-12; $n += 2) {
			$term *= $at * $at / $n;
			$sum += $term;
		}
		my $below = 0.5 + $sum * exp(-$at * $at / 2) / 2.506628275;
		($below < $chance ? $low : $high) = $at;
	}
	return $low;
}

# The size of a file, of rank 0 to 1.
sub size_of {
	my ($rank) = @_;

	return int(max(100, exp(9.357 + 1.318 * normal($rank / 0.93))))
	    if $rank < 0.93;
	my ($least, $alpha) = (133_000, 1.1);
	my $part = ($rank - 0.93) / 0.07;
	return int($least / (1 - $part *
	    (1 - ($least / LARGEST) ** $alpha)) ** (1 / $alpha));
}

# Bytes of so many files, in ascending order: lognormal, and 7 % by Pareto.
sub sizes {
	my ($n) = @_;

	return map { size_of(($_ + 0.5) / $n) } 0 .. $n - 1;
}

# A new one, of requests whose times follow from rand.
#	rate	of the link, Mbit/s
#	load	the share of it that is asked for
#	sizes	of files, whose names are numbers from 0
#	asked	these numbers
# seconds: until the last request.
sub new {
	my ($class, %opt) = @_;
	my $self = bless({ %opt, client => Bench::Server::built('arrivals') },
	    $class);
	my $each = HEADS * sum(@{$opt{sizes}}[@{$opt{asked}}]) /
	    @{$opt{asked}};
	my $pause = $each * 8 / ($opt{rate} * $opt{load});	# us, mean
	my $at = 0;

	$self->{list} = join('', map {
		$at -= $pause * log(1 - rand);
		sprintf("%d /%d\n", $at, $_);
	} @{$opt{asked}});
	$self->{seconds} = $at / 1e6;
	return $self;
}

# What the client tells of each request: target, bytes, us.
sub ask_all {
	my ($self, $server, $link) = @_;
	my $pid = open2(my $from, my $to, $link->at_client,
	    Bench::Server::pinned($Bench::Server::client_core),
	    $self->{client}, Bench::Link::ADDRESS, $server->{port});

	Bench::Children::add($pid);
	print $to $self->{list};
	close($to);
	my @lines = map { [split] } readline($from);
	waitpid($pid, 0);
	Bench::Children::gone($pid);
	die "answers are missing\n" if $? || @lines != @{$self->{asked}};
	return @lines;
}

1;
