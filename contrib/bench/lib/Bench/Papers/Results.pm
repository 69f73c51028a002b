# Bench::Papers::Results: what was measured for each figure, by server and by
# the place on its x axis; of each the rounds, and what follows from them.
#
# Ratios are taken within a round, where both have had the same machine, and
# then their median.
package Bench::Papers::Results;

use strict;
use warnings;

use JSON::PP ();

use Amped qw(slurp);
use Bench::Report;

sub new {
	my ($class, %machine) = @_;

	return bless({ machine => \%machine, figures => {} }, $class);
}

# What a report had, but for the machine: that of the figures is their own.
sub load {
	my ($self, $path) = @_;

	return unless -e $path;
	my $old = eval { JSON::PP->new->decode(slurp($path)) };
	die "$path is no report of papers: $@" unless ref($old) eq 'HASH' &&
	    ref($old->{figures}) eq 'HASH';
	$self->{figures} = $old->{figures};
}

# A figure begins anew: what it is measured with.
sub begin {
	my ($self, $figure, %how) = @_;

	$self->{figures}{$figure} = { %how, rounds => {}, notes => [] };
}

sub forget { delete($_[0]{figures}{$_[1]}) }

sub has { return defined($_[0]{figures}{$_[1]}) }

sub add {
	my ($self, $figure, $server, $x, $round) = @_;

	push(@{$self->{figures}{$figure}{rounds}{$server}{$x}}, $round);
}

sub note {
	my ($self, $figure, $text) = @_;
	my $notes = $self->{figures}{$figure}{notes};

	push(@$notes, $text) unless grep { $_ eq $text } @$notes;
}

# A part of a figure, if that was measured.
sub part {
	my ($self, $figure, $part) = @_;

	return ($self->{figures}{$figure} // {})->{$part};
}

sub rounds {
	my ($self, $figure, $server, $x) = @_;

	return () unless defined($x);
	my $by_server = $self->part($figure, 'rounds') // {};

	return @{($by_server->{$server} // {})->{$x} // []};
}

# The median of a figure; nothing if it was not measured.
sub value {
	my ($self, $figure, $server, $x, $what) = @_;

	return Bench::Report::median(map { $_->{$what} }
	    $self->rounds($figure, $server, $x));
}

# How many times as much one has of it as another.
sub ratio {
	my ($self, $figure, $server, $other, $x, $what) = @_;
	my @own = map { $_->{$what} } $self->rounds($figure, $server, $x);
	my @others = map { $_->{$what} } $self->rounds($figure, $other, $x);
	my $n = @own < @others ? @own : @others;

	return Bench::Report::median(map { $own[$_] / $others[$_] }
	    grep { defined($own[$_]) && $others[$_] } 0 .. $n - 1);
}

# Those that were measured, in the order of the program that asks; all of what
# there is on the x axis, in its order.
sub servers { return @{$_[0]->part($_[1], 'servers') // []} }

sub at { return @{$_[0]->part($_[1], 'x') // []} }

# Those of some that have this at a place.
sub having {
	my ($self, $figure, $x, $what, @servers) = @_;

	return grep { defined($self->value($figure, $_, $x, $what)) }
	    @servers;
}

sub json {
	my ($self, %more) = @_;

	return JSON::PP->new->canonical->pretty->encode({
	    machine => $self->{machine}, figures => $self->{figures},
	    %more });
}

1;
