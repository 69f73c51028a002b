#!/usr/bin/perl
# Queries that are allowed, each of which has a result of its own: 2,000 of them
# take no more memory than the caches may, and a file that clients ask for stays
# where it is.
# arch: one: the caches are the same in all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot slurp);
use Test::More;

use constant {
	QUERIES => 2000,
	SIZE => 10_000,		# of a result, at least
	EACH => 20,		# queries between two requests for the file
};

Amped::one_main();

my $page = content('page', SIZE + QUERIES);
my $hot = content('hot', 5000);
my $root = docroot(page => $page, hot => $hot);

# No entry is too old, so a second look-up shows that one was evicted.
my $server = Amped->start(root => $root, global => <<'END',
cache { chunks 1M; paths 200 revalidate 1d stale 2d; watches 0 }
program begin { filter /usr/bin/head -c "%{n}"; nice 0 }
chain begin { filters begin }
END
    site => "\tpath /page { chain begin by query \"n=1-1000000\" }\n" .
	"\tpath /status { status on }\n");
my ($main) = $server->role('main');
my $client = $server->connect;

sub ask {
	$client->send("GET $_[0] HTTP/1.1\r\nHost: x\r\n\r\n");
	return $client->response;
}

sub numbers { return ask('/status?text')->{body} =~ /^(\S+) (\d+)$/mg }

sub memory { return slurp("/proc/$main/status") =~ /^VmRSS:\s+(\d+)/m ? $1 : 0 }

is(ask('/hot')->{body}, $hot, 'a file') for 1, 2;
my ($wrong, $gone) = (0, 0);
my $before = memory();
for my $n (1 .. QUERIES) {
	my $size = SIZE + $n;

	$wrong++ if ask("/page?n=$size")->{body} ne substr($page, 0, $size);
	next if $n % EACH != 0;
	my %old = numbers();
	$wrong++ if ask('/hot')->{body} ne $hot;
	my %new = numbers();
	$gone++ if grep { $old{$_} != $new{$_} }
	    qw(lookups chunk-misses pathname-misses);
}
my %last = numbers();
is($wrong, 0, QUERIES . ' results and the file are right');
is($last{'chain-begin-runs'}, QUERIES, '... each made by a run');
is($gone, 0, '... and the file has stayed');
cmp_ok($last{'pathname-entries'}, '<=', 200, '... the paths within their limit');
cmp_ok($last{'chunk-bytes'}, '<=', 1 << 20, '... and the chunks');
SKIP: {
	skip('memory is not to be seen, or is of a sanitizer', 1)
	    if memory() == 0 || slurp(Amped::program()) =~ /__[at]san_init/;
	cmp_ok(memory() - $before, '<', 6 << 10, '... and all memory (KB)');
}
$server->stop;
done_testing();
