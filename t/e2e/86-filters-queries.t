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
	SIZE => 10_000,		# of a result, at least
	# The policy, the limit of paths, and the queries between two requests
	# for the file: their results would fill five caches, or a fifth.
	CASES => [[lru => 1000, 500], [gdsf => 200, 20]],
	QUERIES => 2000,
};

Amped::one_main();

my $page = content('page', SIZE + QUERIES);
my $hot = content('hot', 5000);
my $root = docroot(page => $page, hot => $hot);

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
	my ($client) = @_;
	my %old = numbers($client);
	my $answer = ask($client, '/hot');
	my %new = numbers($client);

	return $answer->{body} eq $hot && !grep { $old{$_} != $new{$_} }
	    qw(lookups chunk-misses pathname-misses);
}

sub ask_many {
	my ($policy, $paths, $each) = @_;
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

	ask($client, '/hot') for 1 .. 4;
	my $before = memory($server);
	for my $n (1 .. QUERIES) {
		my $size = SIZE + $n;

		$wrong++ if ask($client, "/page?n=$size")->{body} ne
		    substr($page, 0, $size);
		$gone++ if $n % $each == 0 && !is_there($client);
	}
	my %last = numbers($client);
	is($wrong, 0, "$policy: " . QUERIES . " results are right");
	is($last{'chain-begin-runs'}, QUERIES, '... each made by a run');
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
