#!/usr/bin/perl
# The policies of the caches, with a cache of chunks for a part of the files and
# one of paths for a tenth of the requests: every answer of a real day is right,
# and the conf's policy is the one that works, for gdsf has other hits than lru.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot);
use Amped::Replay;
use Test::More;

use constant REQUESTS => 1000;

my $trace = "$FindBin::Bin/trace/nasa-first";
my $replay = Amped::Replay->new("$trace.files.tsv", "$trace.tsv", REQUESTS);
my $root = docroot();
my %misses;

$replay->build($root);
for my $policy (qw(lru sieve s3fifo lfu gdsf)) {
	my $server = Amped->start(root => $root,
	    global => "cache { paths 100; chunks 1M; policy $policy }\n",
	    log => "\taccess off\n\terror stderr debug\n");
	my $result = $replay->play($server, 8, 1);

	is($result->{requests}, REQUESTS, "$policy: all are answered");
	is($result->{wrong}, 0, "$policy: no difference")
	    or diag(join("\n", @{$result->{errors}}));
	$server->stop;
	my ($paths) = $server->errors =~ /pathname cache: (\d+) entries/;
	my ($bytes, $misses) = $server->errors =~
	    /chunk cache: \d+ entries, (\d+) bytes, \d+ hits, (\d+) misses/;
	cmp_ok($paths, '<=', 100, "$policy: not too many paths");
	cmp_ok($bytes, '<=', 1 << 20, "$policy: nor too many bytes");
	$misses{$policy} = $misses;
}
SKIP: {
	skip('each main has a few requests, and room enough', 1)
	    if Amped::architecture() eq 'mp';
	isnt($misses{gdsf}, $misses{lru}, 'another order')
	    or diag(explain(\%misses));
}

done_testing();
