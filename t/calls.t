#!/usr/bin/env perl
#
# calls: files call each other in one direction, by reading the objects.
#
# Two files that call each other, by way of others or not, cannot be understood
# one after the other.  A reference to a function or to data counts as a call.
#
use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use Amped::Source qw(find_files fine);

# The circles that there may be, each with its reason.
my %circles = (
	'src/cache/chunk.c src/cache/file.c' =>
	    'one module: chunks are what is in memory of a file',
	'src/cache/path_info.c src/cache/pathname.c' =>
	    'one module: what a path is, and the table of paths',
);

my $build = $ENV{AMPED_BUILD} // "$FindBin::Bin/../build";
chdir($build) or die "$build: $!\n";

my @objects = find_files(qr/\.o\z/, 'src', 'helpers');
my (%defined_in, %wanted_by, %calls);

sub source {
	my ($object) = @_;

	return $object =~ s/\.o\z/.c/r;
}

for my $object (@objects) {
	open(my $nm, '-|', 'nm', '-g', $object) or die "nm: $!\n";
	while (my $line = <$nm>) {
		my ($kind, $name) = $line =~ /(\S) (\S+)$/ or next;
		if ($kind eq 'U') {
			push(@{$wanted_by{$object}}, $name);
		} elsif ($name ne 'main') {
			$defined_in{$name} = $object;
		}
	}
	close($nm) or die "nm $object\n";
}
for my $object (@objects) {
	for my $name (@{$wanted_by{$object}}) {
		my $other = $defined_in{$name} // next;
		push(@{$calls{$object}{$other}}, $name) if $other ne $object;
	}
}
cmp_ok(scalar(keys %calls), '>', 100, 'objects call each other');

# What is reached from where, itself only if there is a circle.
my %reached;

for my $object (@objects) {
	my @todo = keys %{$calls{$object}};
	while (defined(my $next = pop(@todo))) {
		push(@todo, keys %{$calls{$next}})
		    if !$reached{$object}{$next}++;
	}
}

my %found;
for my $object (@objects) {
	next if !$reached{$object}{$object};
	my @circle = grep { $reached{$object}{$_} && $reached{$_}{$object} }
	    @objects;
	$found{join(' ', map { source($_) } sort @circle)} = \@circle;
}
fine('no circle of calls between files',
    map { show_circle($found{$_}) } grep { !$circles{$_} } sort keys %found);
fine('no circle is excused that is not there',
    grep { !$found{$_} } sort keys %circles);

sub show_circle {
	my ($circle) = @_;
	my @lines;

	for my $from (@$circle) {
		for my $to (grep { $calls{$from}{$_} } @$circle) {
			push(@lines, source($from) . ' -> ' . source($to) .
			    ": @{$calls{$from}{$to}}");
		}
	}
	return @lines;
}

done_testing();
