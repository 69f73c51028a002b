#!/usr/bin/perl
# A layer between machine and socket, as TLS would be one (t/layer.c): what is
# said of HTTP elsewhere holds for an amped whose connections have it, and a
# client that speaks through it.
# arch: one: the layer knows nothing of the architecture, and takes a minute in each
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped;
use Test::More;

my $layered = ($ENV{AMPED_BUILD} // Amped::source_dir()) . '/t/layered';

plan(skip_all => 'no linker that can do that') unless -x "$layered/amped";
$ENV{AMPED_BUILD} = $layered;
$ENV{AMPED_LAYER} = 1;
alarm(20 * Amped::timeout());

for my $name (qw(10-http 12-conformance 15-names 16-together 20-validators
    25-errors 37-last-response 54-answers 56-fields)) {
	my $said = qx('$^X' '-I$FindBin::Bin/../lib' '$FindBin::Bin/$name.t' 2>&1);

	# A program that skips all of its tests shows nothing.
	ok($? == 0 && $said =~ /^ok /m && $said !~ /^not ok|^1\.\.0/m, $name) ||
	    diag(grep { !/^ok / } split(/^/m, $said));
}
done_testing();
