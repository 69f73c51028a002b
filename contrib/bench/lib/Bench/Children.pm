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

END {
	my $status = $?;

	if ($$ == $owner) {
		kill('KILL', keys %running);
		waitpid($_, 0) for keys %running;
	}
	$? = $status;
}

1;
