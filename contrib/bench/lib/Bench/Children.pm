# Bench::Children: programs that load a server; none of them outlives us,
# however we end.
package Bench::Children;

use strict;
use warnings;

my %running;		# by pid
my $owner = $$;

sub add { $running{$_[0]} = 1 }

# It has been waited for.
sub gone { delete($running{$_[0]}) }

sub end_all {
	my @pids = keys %running;

	kill('KILL', @pids);
	waitpid($_, 0) for @pids;
	%running = ();
}

END {
	my $status = $?;

	end_all() if $$ == $owner;
	$? = $status;
}

1;
