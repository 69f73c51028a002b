#!/usr/bin/perl
# cache { keep PATTERN }: files that stay in the caches whatever else comes, up
# to half of them, with each policy; after a reload, too.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port);
use Test::More;

use constant { KEPT => 20, OTHERS => 150, BATCH => 50 };

# Each main of several has caches of its own.
Amped::one_main();

my %files = map { ("kept/$_" => content("kept$_", 4000 + $_),
    "more/$_" => content("more$_", 4000 + $_)) } 1 .. 40;
$files{"other/$_"} = content("other$_", 6000 + $_) for 1 .. OTHERS;
$files{"$_.example/page"} = content($_, 500) for qw(a b);
$files{'index.html'} = content('index', 3000);
my $root = docroot(%files);
my $place = docroot();
my $port = free_port();		# names for the next main have it
my @kept = ('/', map { "/kept/$_" } 1 .. KEPT);
my @others = map { "/other/$_" } 1 .. OTHERS;

sub ctl {
	my ($out) = (Amped::run_command(undef,
	    Amped::copy_for_all('ampedctl'), '-s', "$place/control", @_))[1];
	return $out;
}

sub metric {
	my ($name) = @_;

	return (ctl('metrics') =~ /^\Q$name\E (\S+)$/m)[0];
}

# Requests, many at a time; returns how many answers were wrong.
sub ask {
	my ($server, @targets) = @_;
	my $wrong = 0;

	while (my @some = splice(@targets, 0, BATCH)) {
		my $client = $server->connect(port => $port);
		$client->send(join('', map { "GET $_ HTTP/1.1\r\n" .
		    "Host: a\r\n\r\n" } @some));
		for my $target (@some) {
			my $answer = $client->response;
			my $name = $target eq '/' ? 'index.html' :
			    substr($target, 1);
			$wrong++ unless $answer->{status} == 200 &&
			    $answer->{body} eq $files{$name};
		}
		$client->close;
	}
	return $wrong;
}

# How many lookups and how many chunks these requests have had to wait for.
sub count_misses {
	my ($server, @targets) = @_;
	my @names = ('amped_lookups_total',
	    'amped_cache_misses_total{cache="chunk"}');
	my @before = map { metric($_) } @names;

	is(ask($server, @targets), 0, 'all answers are right');
	return map { metric($names[$_]) - $before[$_] } 0, 1;
}

sub start {
	my ($policy, $keep, $where) = @_;

	$where //= "root $root";
	return Amped->start(root => $root, sites => "site default {\n" .
	    "\tlisten 127.0.0.1:$port\n\t$where\n}\n",
	    global => "control $place/control\ncache {\n\tchunks 320K\n" .
	    "\tpaths 100 revalidate 1h stale 1h\n\twatches 0\n" .
	    "\tpolicy $policy\n\tkeep $keep\n}\n",
	    log => "\taccess off\n\terror stderr info\n");
}

for my $policy (qw(lru s3fifo gdsf)) {
	my $server = start($policy, '/ "/kept/*"');

	is(metric('amped_cache_kept_paths'), 0, "$policy: nothing is kept yet");
	is(ask($server, @kept), 0, 'all answers are right');
	is(metric('amped_cache_kept_paths'), KEPT + 1, 'all are kept');
	cmp_ok(metric('amped_cache_kept_bytes'), '>', 83_000, 'with bytes');
	like(ctl('cache'), qr/^kept: 8\d KiB of chunks, of so many paths: 21$/m,
	    'ampedctl shows it');
	is(ask($server, @others, reverse @others), 0, 'all answers are right');
	is_deeply([count_misses($server, @kept)], [0, 0],
	    'what is kept is there');
	cmp_ok((count_misses($server, @others))[1], '>', 50, 'others are not');
	# Another policy keeps them, too.
	ctl('policy', 'sieve');
	is(ask($server, @others, @others), 0, 'all answers are right');
	is_deeply([count_misses($server, @kept)], [0, 0],
	    'with another policy, too');
	is(ctl('purge', '/kept/*'), "/kept/*: 20 purged\n", 'a purge');
	is(metric('amped_cache_kept_paths'), 1, '... is one of kept files, too');
	ctl('preload', '/kept/1', '/kept/2');
	is(metric('amped_cache_kept_paths'), 3, 'and they come back');
	$server->stop;
	unlike($server->errors, qr/cache is kept/, 'there was room');
}

# More than half: the rest are files like others.
my $server = start('lru', '"/kept/*" "/more/*"');
is(ask($server, map { ("/kept/$_", "/more/$_") } 1 .. 40), 0,
    'very many to be kept');
cmp_ok(metric('amped_cache_kept_bytes'), '<=', 160 * 1024, 'are half at most');
cmp_ok(metric('amped_cache_kept_paths'), '<=', 50, '... of the paths, too');
for my $cache (qw(chunk pathname)) {
	await("a line about the $cache cache", sub {
		ask($server, '/other/1');
		return $server->errors =~
		    /cache: half of the $cache cache is kept: no more files/;
	});
}
is(ask($server, @others), 0, 'others are served');
cmp_ok(metric('amped_cache_bytes{cache="chunk"}'), '<=', 320 * 1024,
    'the cache keeps its limit');
my ($status, $out) = Amped::run_amped('-T', '-f', "$server->{dir}/amped.conf");
like($out, qr{^\s*keep\s+/kept/\* /more/\* }m, '-T shows what is kept');
$server->stop;

# Other spellings of a path are paths of their own.  Clients choose these, and
# must not use up the share of the files.
$server = start('lru', '"/kept/*"');
my $odd = $server->connect(port => $port);
for my $i (1 .. 70) {
	my $target = '/kept/' . './' x ($i + 700) . '1';

	$odd->send("GET $target HTTP/1.1\r\nHost: a\r\n\r\n");
	is($odd->response->{status}, 200, 'an odd spelling') if $i == 1;
	$odd->response if $i > 1;
}
$odd->close;
is(metric('amped_cache_kept_paths'), 0, 'other spellings are not kept');
cmp_ok(metric('amped_cache_bytes{cache="pathname"}'), '<=', 100 * 512,
    'the cache of paths keeps its limit');
is(ask($server, map { "/kept/$_" } 1 .. KEPT), 0, 'all answers are right');
is(metric('amped_cache_kept_paths'), KEPT, 'but the files are');
$server->stop;

# So are those with a host that clients make up, unless it has files.
$server = start('lru', '"/kept/*" /page', "root $root/%host\n" .
    "\tpath /kept {\n\t\troot $root\n\t}");
my $many = $server->connect(port => $port);
my @statuses = map {
	my ($target, $host) = @$_;

	$many->send("GET $target HTTP/1.1\r\nHost: $host\r\n\r\n");
	$many->response->{status};
} ['/page', 'a.example'], ['/page', 'b.example'],
    map { ['/kept/1', "h$_.example"] } 1 .. 20;
$many->close;
is("@statuses", join(' ', (200) x 22), 'all hosts get answers');
is(metric('amped_cache_kept_paths'), 2, 'but two have a path that is kept');
$server->stop;

# A new main brings them first.
$server = start('lru', '"/kept/*"');
is(ask($server, map { "/kept/$_" } 1 .. KEPT), 0, 'all answers are right');
is(ask($server, (@others) x 2), 0, 'all answers are right');
ctl('reload');
await('what is kept to come back', sub {
    metric('amped_cache_kept_paths') == KEPT });
$server->stop;

# Patterns that match nothing, and everything.
for my $keep ('/none', '"*"') {
	$server = start('lru', $keep);
	is(ask($server, @others, @kept), 0, "keep $keep: all answers are right");
	is(metric('amped_cache_kept_paths'), $keep eq '/none' ? 0 : 50,
	    '... and so many are kept');
	$server->stop;
}

# Patterns that are none.
for my $case (['a', 'a pattern of paths begins with / or \*'],
    ['/a%20b', 'the pattern of a path is written decoded, without %'],
    ['', '"keep" needs a value|keep']) {
	my ($keep, $why) = @$case;

	Amped::write_file("$place/conf", "cache { keep $keep }\n" .
	    "site default { listen 127.0.0.1:0; root $root; }\n");
	my ($status, undef, $err) = Amped::run_amped('-t', '-f',
	    "$place/conf");
	isnt($status, 0, "keep $keep: an error");
	like($err, qr/$why/, '... which says why');
}

done_testing();
