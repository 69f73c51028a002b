# Bench::Report: what the figures of all rounds say; as a table, as JSON.
#
# Better means less processor time.  Ratios are taken within a round, where
# both have had the same machine, and then their median.
package Bench::Report;

use strict;
use warnings;

use JSON::PP ();

use Bench::Server;
use Bench::Workload;

# machine: facts for the head.
sub new {
	my ($class, %machine) = @_;

	return bless({ machine => \%machine, load => {}, probe => {},
	    notes => [] }, $class);
}

sub add {
	my ($self, $workload, $server, $round) = @_;

	push(@{$self->{load}{$workload}{$server}}, $round);
}

sub add_probe {
	my ($self, $probe, $server, $value) = @_;

	push(@{$self->{probe}{$probe}{$server}}, $value) if defined($value);
}

sub note {
	my ($self, $text) = @_;

	push(@{$self->{notes}}, $text)
	    unless grep { $_ eq $text } @{$self->{notes}};
}

sub median {
	my @sorted = sort { $a <=> $b } grep { defined } @_;

	return undef unless @sorted;
	return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
}

# Half of what lies between the least and the most, of the median.
sub spread {
	my @sorted = sort { $a <=> $b } grep { defined } @_;
	my $median = median(@sorted);

	return 0 unless $median;
	return ($sorted[-1] - $sorted[0]) / 2 / $median;
}

sub rounds {
	my ($self, $workload, $server, $what) = @_;

	return map { $_->{$what} } @{$self->{load}{$workload}{$server} // []};
}

# One server's figures of a workload.
sub figures {
	my ($self, $workload, $server) = @_;
	my %figure = map { $_ => median($self->rounds($workload, $server, $_)) }
	    qw(cpu rate p50 p99);

	$figure{spread} = spread($self->rounds($workload, $server, 'cpu'));
	$figure{errors} += $_
	    for $self->rounds($workload, $server, 'errors');
	return \%figure;
}

sub servers {
	my ($self, $workload) = @_;

	return grep { $self->{load}{$workload}{$_} } Bench::Server::known();
}

# How many times less processor time one needs than another.
sub better {
	my ($self, $workload, $server, $other) = @_;
	my @own = $self->rounds($workload, $server, 'cpu');
	my @others = $self->rounds($workload, $other, 'cpu');
	my $n = @own < @others ? @own : @others;

	return median(map { $others[$_] / $own[$_] }
	    grep { $own[$_] && $others[$_] } 0 .. $n - 1);
}

# How many times as much as the workload that was measured beside it.
sub beside {
	my ($self, $workload, $server) = @_;

	return median(map { $_->{beside} ? $_->{cpu} / $_->{beside} : () }
	    @{$self->{load}{$workload}{$server} // []});
}

sub best_peer {
	my ($self, $workload) = @_;
	my %cpu = map { $_ => $self->figures($workload, $_)->{cpu} }
	    grep { Bench::Server::is_peer($_) } $self->servers($workload);

	return (sort { $cpu{$a} <=> $cpu{$b} } keys %cpu)[0];
}

sub probed {
	my ($self, $probe, $server) = @_;

	return median(@{$self->{probe}{$probe}{$server} // []});
}

# The value that a bar is about, and what it was held against.
sub bar_value {
	my ($self, $of, $against) = @_;

	return ($self->probed($of, 'amped'), '') if $against eq 'value';
	return unless $self->{load}{$of}{amped};
	if ($against eq 'ceiling') {
		return ($self->better($of, 'amped', 'ceiling'),
		    'of the ceiling');
	} elsif ($against eq 'peer') {
		my $peer = $self->best_peer($of) // return;
		return ($self->better($of, 'amped', $peer),
		    "times better than $peer");
	}
	my ($w) = grep { $_->{name} eq $of } @Bench::Workload::workloads;
	my $cost = $self->beside($of, 'amped') // return;
	return $against eq 'beside' ?
	    (1 / $cost, "of the rate of $w->{beside}, by time") :
	    ($cost, "times the time of $w->{beside}");
}

# Of each bar that was measured: of, value, text, bar, kind, holds.
sub bars {
	my ($self) = @_;
	my @held;

	for my $bar (@Bench::Workload::bars) {
		my ($of, $against, $kind, $least) = @$bar;
		my ($value, $text) = $self->bar_value($of, $against);
		next unless defined($value);
		push(@held, { of => $of, text => $text, kind => $kind,
		    value => $value, bar => $least, holds =>
		    ($kind eq 'atleast' ? $value >= $least : $value <= $least)
		    ? 1 : 0 });
	}
	return @held;
}

sub text_of {
	my ($name) = @_;
	my ($found) = grep { $_->{name} eq $name } @Bench::Workload::workloads,
	    @Bench::Workload::probes;

	return $found->{text};
}

# Numbers with as many digits as mean something.
sub digits {
	my ($value) = @_;

	return '-' unless defined($value);
	return sprintf($value >= 100 || $value == int($value) ? '%.0f' :
	    $value >= 10 ? '%.1f' : '%.2f', $value);
}

# Columns of a workload's rows, the first of them its server.
our @columns = ('CPU us', '+-', 'of ceiling', 'best peer', 'beside',
    'req/s', 'p50 us', 'p99 us', 'errors');

# What they mean, behind the tables.
sub legend {
	return <<'END';
CPU us      processor time of the whole server for a request
+-          how far the rounds differ in that
of ceiling  the ceiling's time as a part of it: 1 is the ceiling
best peer   the time of the best other server as a multiple of it
beside      it as a multiple of the workload that was measured beside it
req/s       requests in a second by the clock, which the load also spends

END
}

sub row {
	my ($self, $workload, $server) = @_;
	my $f = $self->figures($workload, $server);
	my $peer = $self->best_peer($workload);

	return (digits($f->{cpu}), sprintf('%.0f%%', 100 * $f->{spread}),
	    digits($self->better($workload, $server, 'ceiling')),
	    digits(defined($peer) ?
	    $self->better($workload, $server, $peer) : undef),
	    digits($self->beside($workload, $server)),
	    sprintf('%.0f', $f->{rate}), digits($f->{p50}),
	    digits($f->{p99}), $f->{errors} || '');
}

sub workload_text {
	my ($self, $workload) = @_;
	my $text = sprintf("%-14s" . ' %10s' x @columns . "\n", $workload,
	    @columns);

	$text .= sprintf("  %-12s" . ' %10s' x @columns . "\n", $_,
	    $self->row($workload, $_)) for $self->servers($workload);
	return $text;
}

sub workloads {
	my ($self) = @_;

	return grep { $self->{load}{$_} }
	    map { $_->{name} } @Bench::Workload::workloads;
}

sub probes {
	my ($self) = @_;

	return grep { $self->{probe}{$_} }
	    map { $_->{name} } @Bench::Workload::probes;
}

sub probes_text {
	my ($self) = @_;
	my %there = map { $_ => 1 } map { keys %$_ } values %{$self->{probe}};
	my @servers = grep { $there{$_} } Bench::Server::known();
	my $text = sprintf("%-14s" . ' %10s' x @servers . "\n", '', @servers);

	for my $probe ($self->probes) {
		$text .= sprintf("%-14s" . ' %10s' x @servers . "  %s\n",
		    $probe, (map { digits($self->probed($probe, $_)) }
		    @servers), text_of($probe));
	}
	return $text;
}

sub bars_text {
	my ($self) = @_;

	return join('', map { sprintf("%-16s %8s %-36s %s %-6s %s\n", $_->{of},
	    digits($_->{value}), $_->{text}, $_->{kind} eq 'atleast' ?
	    'at least' : 'at most ', $_->{bar}, $_->{holds} ? 'holds' :
	    'does not hold') } $self->bars);
}

sub json {
	my ($self) = @_;
	my %summary;

	for my $workload ($self->workloads) {
		for my $server ($self->servers($workload)) {
			my $peer = $self->best_peer($workload);
			$summary{$workload}{$server} = {
			    %{$self->figures($workload, $server)},
			    of_ceiling => $self->better($workload, $server,
			    'ceiling'), of_best_peer => defined($peer) ?
			    $self->better($workload, $server, $peer) : undef,
			    beside => $self->beside($workload, $server) };
		}
	}
	return JSON::PP->new->canonical->pretty->encode({
	    machine => $self->{machine}, summary => \%summary,
	    rounds => $self->{load}, probes => $self->{probe},
	    bars => [$self->bars], notes => $self->{notes} });
}

1;
