# Bench::Help: -h and --help print the comment at the head of a program, which
# says what it does and what its options mean.
package Bench::Help;

use strict;
use warnings;

sub import {
	for my $argument (@ARGV) {
		return if $argument eq '--';
		next unless $argument =~ /\A(?:-h|--help)\z/;
		print_head($0);
		exit(0);
	}
}

# From the second line, behind #!, to the first that is no comment.
sub print_head {
	my ($program) = @_;

	open(my $fh, '<', $program) or die "$program: $!\n";
	readline($fh);
	while (my $line = readline($fh)) {
		last unless $line =~ s/\A# ?//;
		print($line);
	}
}

1;
