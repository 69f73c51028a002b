#!/usr/bin/perl
# Advice on the policies of the caches, and policy auto: what ampedctl, the
# status page and Prometheus say, the change with its line in the log, and each
# answer right meanwhile.  One request in eight is for a large file, and these do
# not fit, so gdsf hits more than lru.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot);
use Time::HiRes qw(time);
use Test::More;

use constant { SMALL => 80, LARGE => 40, BATCH => 100 };

# Each main of several would have few of the requests.
Amped::one_main();

my %files;
$files{"small$_"} = content("small$_", 3000 + $_) for 1 .. SMALL;
$files{"large$_"} = content("large$_", 15000 + $_) for 1 .. LARGE;
my $root = docroot(%files);
my $place = docroot();
my $random = 12345;

sub ctl {
	my ($out) = (Amped::run_command(undef,
	    Amped::copy_for_all('ampedctl'), '-s', "$place/control",
	    @_))[1];
	return $out;
}

sub below {
	my ($n) = @_;

	$random = ($random * 1103515245 + 12345) % (1 << 31);
	return int($random / 65536) % $n;
}

sub next_file {
	return below(8) == 0 ? 'large' . (1 + below(LARGE))
	    : 'small' . (1 + below(SMALL));
}

# Requests, many at a time; returns how many answers were wrong.
sub ask {
	my ($server, $n) = @_;
	my $wrong = 0;

	for (1 .. $n / BATCH) {
		my @names = map { next_file() } 1 .. BATCH;
		my $client = $server->connect;
		$client->send(join('', map { "GET /$_ HTTP/1.1\r\n" .
		    "Host: a\r\n\r\n" } @names));
		for my $name (@names) {
			my $answer = $client->response;
			$wrong++ unless $answer->{status} == 200 &&
			    $answer->{body} eq $files{$name};
		}
		$client->close;
	}
	return $wrong;
}

# Asks until a function says that it is enough.
sub ask_until {
	my ($server, $enough) = @_;
	my ($until, $wrong) = (time() + 4 * Amped::timeout(), 0);

	while (!$enough->() && time() < $until) {
		$wrong += ask($server, 1000);
	}
	return $wrong;
}

sub metric {
	my ($name) = @_;

	return (ctl('metrics') =~ /^\Q$name\E (\S+)$/m)[0];
}

sub start {
	my ($policy) = @_;

	return Amped->start(root => $root,
	    global => "control $place/control\ncache {\n\tchunks 320K\n" .
	    "\tpolicy $policy\n\tadvice on every 100ms\n}\n",
	    site => "\tpath /status {\n\t\tstatus on\n\t}\n",
	    log => "\taccess off\n\terror stderr info\n");
}

my $server = start('lru');
like(ctl('cache'), qr/^chunk .*^policy: lru; .*no advice yet/ms,
    'at first there is no advice');
is(metric('amped_cache_advised'), 0, 'nor for Prometheus');
is(ask_until($server, sub { metric('amped_cache_advised') }), 0,
    'all answers are right');
my $text = ctl('cache');
like($text, qr/^$_ +[\d.]+ % +[\d.]+ %/m, "there is a line for $_")
    for qw(lru sieve s3fifo lfu gdsf), 'memory x 0.5', 'memory x 2';
like($text, qr/^lru .*present$/m, 'the present one is marked');
my ($lru) = metric('amped_cache_would_hit_ratio{policy="lru",size="1"}');
my ($gdsf) = metric('amped_cache_would_hit_ratio{policy="gdsf",size="1"}');
cmp_ok($gdsf, '>', $lru + 0.05, 'gdsf would hit more');
cmp_ok(abs($lru - metric('amped_cache_hit_lately_ratio')), '<=', 0.02,
    'and of lru is foretold what it hits');
my $page = $server->get('/status?html')->{body};
like($page, qr{What other policies would hit.*<b>lru</b>.*class="meter"}s,
    'the page has bars');
is(metric('amped_cache_policy_changes_total'), 0, 'the policy stays');
$server->stop;
unlike($server->errors, qr/the policy is/, 'and no line says otherwise');

$server = start('auto');
is(metric('amped_cache_policy{policy="lru"}'), 1, 'auto begins with lru');
is(ask_until($server, sub { !metric('amped_cache_policy{policy="lru"}') }), 0,
    'all answers are right while it changes');

# All others hit more than lru here, lfu as much as gdsf, so which of them is
# ahead when the first epoch ends is chance.
my ($better) = grep { metric("amped_cache_policy{policy=\"$_\"}") }
    qw(gdsf lfu sieve s3fifo);
ok($better, 'to one that hits more') or diag(ctl('cache'));
cmp_ok(metric('amped_cache_policy_changes_total'), '>', 0, 'which is counted');
my $misses = metric('amped_cache_misses_total{cache="chunk"}');
is(ask($server, 2000), 0, 'and behind that');
cmp_ok(metric('amped_cache_misses_total{cache="chunk"}') - $misses, '<',
    2000 * (1 - $lru), 'which misses less');
like(ctl('cache'), qr/^policy: (?!lru)\w+; changed by auto so often: [1-9]/m,
    'ampedctl says so');
$server->stop;
like($server->errors, qr/cache: policy $better would hit [\d.]+ % of requests, (?x:
    )\w+ hits [\d.]+ %: the policy is $better now/, 'and the log, with figures');

$server = Amped->start(root => $root,
    global => "control $place/control\ncache {\n\tchunks 320K\n" .
    "\tpolicy sieve\n\tadvice off\n}\n");
is(ask($server, 1000), 0, 'without advice');
is(metric('amped_cache_advised'), 0, 'there is none');
like(ctl('cache'), qr/^policy: sieve;/m, 'but the policy is shown');
$server->stop;

# An administrator changes the policy, while clients get what they ask for.
$server = Amped->start(root => $root,
    global => "control $place/control\ncache {\n\tchunks 320K\n" .
    "\tpolicy sieve\n\tadvice off every 100ms\n}\n",
    log => "\taccess off\n\terror stderr info\n");
my $was = 'sieve';
for my $is (qw(lru gdsf gdsf s3fifo lfu auto)) {
	my $now = $is eq 'auto' ? 'auto (at present lfu)' : $is;
	is(ctl('policy', $is), "the policy of the caches was $was, and is " .
	    "$now until the next reload\n", "from $was to $is");
	is(ask($server, 1000), 0, "$is: all answers are right");
	ok($is eq 'auto' || metric("amped_cache_policy{policy=\"$is\"}"),
	    'it is shown');
	$was = $is;
}
is(ask_until($server, sub { metric('amped_cache_advised') }), 0,
    'auto begins to find out');
for my $word ('', 'LRU', 'lru ', '../lru', "l\xffru", 'x' x 10000) {
	my ($status, undef, $err) = Amped::run_command(undef,
	    Amped::copy_for_all('ampedctl'), '-s', "$place/control", 'policy',
	    $word);
	is($status >> 8, 64, 'no policy');
	like($err, qr/there is no policy "(?s:.*)"; there are lru, sieve, (?x:
	    )s3fifo, lfu, gdsf, auto$/, '... and which ones there are');
}
like(ctl('policy', 'lru'), qr/ was auto \(at present \w+\), and is lru /,
    'from auto');
is(ask($server, 1000), 0, 'all answers are right');
ctl('reload');
like(ctl('cache'), qr/^policy: sieve;/m, 'a reload brings back that of the conf');
$server->stop;
is(() = $server->errors =~ /ampedctl policy: the policy of the caches was /g, 7,
    'each has a line in the log');

done_testing();
