# Bench::Others: clients that are not ours, as a load: wrk and curl, which copy
# what they get and so may be slower than the server.
package Bench::Others;

use strict;
use warnings;

use List::Util qw(max sum0);
use Time::HiRes qw(time);

use Bench::Server;
use Bench::Wrk;

use constant CLIENTS => 64;

sub missing {
	my ($w) = @_;

	return Bench::Server::which($w->{by}) ? '' : "there is no $w->{by}";
}

# As Bench::Load; prefix: a command's beginning.
sub new {
	my ($class, %opt) = @_;

	return bless({ %opt, prefix => [@{$opt{prefix} // []},
	    Bench::Server::pinned($Bench::Server::client_core)] }, $class);
}

# Answers that are half there when it ends count as half of one.
sub go {
	my ($self) = @_;
	my ($user, $system, $began) = ((times)[2, 3], time);
	my $result = $self->{workload}{by} eq 'wrk' ? $self->wrk :
	    $self->curl;

	$result->{seconds} = time - $began;
	$result->{processor} = sum0((times)[2, 3]) - $user - $system;
	$result->{requests} = $result->{bytes} / $self->{workload}{size};
	return $result;
}

sub wrk {
	my ($self) = @_;
	my $seconds = max(1, int($self->{seconds}));
	my $said = Bench::Wrk->new(server => $self->{server},
	    clients => CLIENTS, seconds => $seconds,
	    prefix => $self->{prefix},
	    target => $self->{workload}{target})->said;

	return { bytes => $said->{mb} * 1e6 * $seconds,
	    errors => $said->{errors}, map { $_ => 1000 * $said->{$_} }
	    qw(p50 p99) };
}

# So many at once, and again until the time is over.
sub curl {
	my ($self) = @_;
	my ($server, $w) = @{$self}{qw(server workload)};
	my $end = time + $self->{seconds};
	my $n = CLIENTS * ($w->{size} < 1e6 ? 10 : 1);
	my ($bytes, $errors, @took) = (0, 0);

	while (time < $end) {
		open(my $from, '-|', @{$self->{prefix}}, 'curl', '-sZ', '--no-progress-meter',
		    '--parallel-max', CLIENTS, '-o', '/dev/null', '-w',
		    '%{http_code} %{size_download} %{time_total}\n',
		    "http://$server->{address}:$server->{port}" .
		    "$w->{target}?[1-$n]") or die "curl: $!\n";
		while (my $line = readline($from)) {
			my ($status, $size, $took) = split(' ', $line);

			$bytes += $size;
			$errors++ unless $status == 200 &&
			    $size == $w->{size};
			push(@took, 1e6 * $took);
		}
		close($from);
	}
	@took = sort { $a <=> $b } @took;
	return { bytes => $bytes, errors => $errors,
	    p50 => $took[@took * 0.5], p99 => $took[@took * 0.99] };
}

sub end { }

1;
