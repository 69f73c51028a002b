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
	# The policy, the limit of paths, the queries, those of them between two
	# requests for a file, that file, and the least size of a result: the
	# results in between would fill five caches, or a fifth.  Those of more
	# than `small` are files in memory, not chunks.
	CASES => [[lru => 1000, 2000, 500, hot => 10_000],
	    [gdsf => 200, 2000, 20, hot => 10_000],
	    [lru => 1000, 400, 100, large => 50_000]],
};

Amped::one_main();

my $page = content('page', 60_000);
my %hot = (hot => content('hot', 5000), large => content('large', 200_000));
my $root = docroot(page => $page, %hot);

sub ask {
	my ($client, $target) = @_;

	$client->send("GET $target HTTP/1.1\r\nHost: x\r\n\r\n");
	return $client->response;
}

sub numbers {
	return ask($_[0], '/status?text')->{body} =~ /^(\S+) (\d+)$/mg;
}

# KB of main.
sub memory {
	my ($main) = $_[0]->role('main');

	return slurp("/proc/$main/status") =~ /^VmRSS:\s+(\d+)/m ? $1 : 0;
}

# Whether the file is as it was, and in the cache.
sub is_there {
	my ($client, $file) = @_;
	my %old = numbers($client);
	my $answer = ask($client, "/$file");
	my %new = numbers($client);

	return $answer->{body} eq $hot{$file} && !grep { $old{$_} != $new{$_} }
	    qw(lookups chunk-misses pathname-misses);
}

sub ask_many {
	my ($policy, $paths, $queries, $each, $file, $least) = @_;
	# No entry is too old, so a second look-up shows that one was evicted.
	my $server = Amped->start(root => $root, global => <<"END",
cache { chunks 1M; paths $paths revalidate 1d stale 2d; watches 0; policy $policy }
program begin { filter /usr/bin/head -c "%{n}"; nice 0 }
chain begin { filters begin }
END
	    site => "\tpath /page { chain begin by query \"n=1-1000000\" }\n" .
		"\tpath /status { status on }\n");
	my $client = $server->connect;
	my ($wrong, $gone) = (0, 0);

	ask($client, "/$file") for 1 .. 4;
	my $before = memory($server);
	for my $n (1 .. $queries) {
		my $size = $least + $n;

		$wrong++ if ask($client, "/page?n=$size")->{body} ne
		    substr($page, 0, $size);
		$gone++ if $n % $each == 0 && !is_there($client, $file);
	}
	my %last = numbers($client);
	is($wrong, 0, "$policy: $queries results are right");
	is($last{'chain-begin-runs'}, $queries, '... each made by a run');
	is($gone, 0, '... and a file between them has stayed');
	cmp_ok($last{'pathname-entries'}, '<=', $paths,
	    '... the paths within their limit');
	cmp_ok($last{'chunk-bytes'}, '<=', 1 << 20, '... and the chunks');
	SKIP: {
		skip('memory is not to be seen, or is of a sanitizer', 1)
		    if $before == 0 ||
		    slurp(Amped::program()) =~ /__[at]san_init/;
		cmp_ok(memory($server) - $before, '<', 6 << 10,
		    '... and all memory (KB)');
	}
	$server->stop;
}
ask_many(@$_) for @{CASES()};
done_testing();
