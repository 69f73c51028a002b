#!/usr/bin/perl
# The start of a real day: 3,000 requests, every answer checked, over
# connections that stay and over one for each request.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot);
use Amped::Replay;
use Test::More;

my $trace = "$FindBin::Bin/trace/nasa-first";
my $replay = Amped::Replay->new("$trace.files.tsv", "$trace.tsv");
my $root = docroot();

is(scalar(@{$replay->{requests}}), 3000, 'the trace is whole');
$replay->build($root);
my $server = Amped->start(root => $root,
    log => "\taccess %D/access.log combined\n\terror stderr debug\n");
for my $keep (1, 0) {
	my $how = $keep ? 'kept connections' : 'a connection each';
	my $result = $replay->play($server, 16, $keep);

	is($result->{requests}, 3000, "$how: all are answered");
	is($result->{wrong}, 0, "$how: no difference")
	    or diag(join("\n", @{$result->{errors}}));
}
is(scalar($server->wait_lines(6000)), 6000, 'a log line for each');
$server->stop;

done_testing();
