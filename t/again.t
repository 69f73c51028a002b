#!/usr/bin/env perl
#
# again: what t/run -r makes of a test that fails, and then passes or does not.
#
# A tree of its own has t/run and tests that count how often they have been run.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp);
use Test::More;

# A test that fails in those runs, by their numbers; it has three checks, of
# which one is skipped.
sub failing_in {
	my (@runs) = @_;
	my $finding = @runs && $runs[0] eq 'sanitizer' ? shift(@runs) : '';

	return <<"END" . <<'END';
my \@failing = (@{[join(', ', @runs)]});
print "# ERROR: AddressSanitizer: heap-use-after-free\n" if '$finding';
END
open(my $fh, '+>>', "$0.runs") or die "$0.runs: $!\n";
print $fh "x";
$fh->flush;
my $n = -s $fh;
my $bad = grep { $_ == $n } @failing;
print "1..3\nok 1\nok 2 # skip no reason\n", $bad ? 'not ' : '', "ok 3\n";
END
}

# Status, last line, and lines about unsteady tests of a run of tests, which
# are given by name.
sub run_tests {
	my ($again, %tests) = @_;
	my $tree = docroot('build/amped' => '',
	    't/run' => slurp(Amped::source_dir() . '/t/run'),
	    map { ("t/$_.t" => failing_in(@{$tests{$_}})) } keys %tests);

	chmod(0755, "$tree/build/amped");
	my ($status, $out) = Amped::run_command(undef, $^X, "$tree/t/run",
	    '-b', "$tree/build", $again ? ('-r', $again) : ());
	my @lines = split(/\n/, $out);
	return [$status >> 8, $lines[-1],
	    map { s/ +/ /gr } grep { /unsteady/ } @lines];
}

my @all = (1 .. 10);
for my $case (
    ['all pass', 3, { a => [], b => [] }, [0, '4 passed, 0 failed']],
    ['one fails', 0, { a => [], b => [1] }, [1, '3 passed, 1 failed']],
    ['one fails once', 3, { a => [], b => [1] },
    [0, '4 passed, 0 failed', 'b unsteady: passes 3 times alone']],
    ['one fails twice', 3, { a => [], b => [1, 2] },
    [1, '3 passed, 1 failed']],
    ['one fails in the last run', 3, { a => [], b => [1, 4] },
    [1, '3 passed, 1 failed']],
    ['one fails always', 3, { a => \@all }, [1, '1 passed, 1 failed']],
    ['of two that fail, one passes', 2, { a => [1], b => \@all },
    [1, '3 passed, 1 failed', 'a unsteady: passes 2 times alone']],
    ['a sanitizer finds something once', 3,
    { a => ['sanitizer', 1], b => [] }, [1, '3 passed, 1 failed']],
    ['three fail once', 1, { map { $_ => [1] } 'a' .. 'c' },
    [0, '6 passed, 0 failed',
    map { "$_ unsteady: passes 1 times alone" } 'a' .. 'c']],
    ['four fail once: no chance', 1, { map { $_ => [1] } 'a' .. 'd' },
    [1, '4 passed, 4 failed']]) {
	my ($what, $again, $tests, $expected) = @$case;
	my $is = run_tests($again, %$tests);

	is_deeply([@$is[0, 1], sort(@$is[2 .. $#$is])], $expected, $what);
}

done_testing();
