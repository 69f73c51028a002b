# Bench::Machine: what the figures depend on beside the servers.
package Bench::Machine;

use strict;
use warnings;

use Amped qw(slurp);
use POSIX ();

# Of this network namespace: one of its own may have another.
use constant CONGESTION => '/proc/sys/net/ipv4/tcp_congestion_control';

sub processor {
	my ($model) = -r '/proc/cpuinfo' ?
	    slurp('/proc/cpuinfo') =~ /^model name\s*:\s*(.*)/m : ();

	return $model // (POSIX::uname())[4];
}

# For the head of a report.
sub facts {
	my $congestion = -r CONGESTION ? slurp(CONGESTION) : 'unknown';

	chomp($congestion);
	return (system => join(' ', (POSIX::uname())[0, 2, 4]),
	    processor => processor(), 'congestion control' => $congestion);
}

1;
