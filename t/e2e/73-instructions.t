#!/usr/bin/perl
# Instructions of a request for a cached file, by callgrind: all that main's
# loop does, libevent and libc included; that programs in the conf cost none
# more, nor another policy; and how many more it costs to negotiate, to have had
# the file filtered, or to be in the sample of advice.  The figures do not depend on how busy the machine is, so CI can
# hold them.
#
# They depend on compiler and library, so they are written down for some of
# them, and tell nothing elsewhere.  Where one has changed for a good reason,
# write the new one down in the same commit.
# arch: all
# plain: a sanitizer has instructions of its own
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Foreign qw(needs_program);
use List::Util qw(sum0);
use POSIX qw(uname);
use Test::More;

# A request: by compiler, system, what it was compiled with.
my %recorded = (
	'12.2.0 x86_64 -O2 -g' => 4783,
);

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $binary = slurp(Amped::program());
my ($compiler) = $binary =~ /GCC: \([^)]*\) (\d+\.\d+\.\d+)/;
my ($flags) = slurp("$build/Makefile") =~ /^CFLAGS = (.*)/m;
my $built = join(' ', $compiler // 'another', (uname())[4], $flags // '');
my $right = $recorded{$built};

needs_program('valgrind');
plan(skip_all => 'a sanitizer has instructions of its own')
    if $binary =~ /__[at]san_init/;
plan(skip_all => "no figure is known for $built") unless defined($right);
plan(skip_all => 'the other architectures run the same code')
    if Amped::architecture() ne 'sped';

my $requests = 5000;
my $page = content('page', 500);

# A server under callgrind, whose results are in a directory.
sub start {
	my ($dir, %opt) = @_;
	my $more = delete($opt{callgrind}) // [];

	chmod(0777, $dir);
	# It writes its results by itself, in the name of main.
	return Amped->start(%opt, global => "sandbox off\ncache { paths 1000 " .
	    "revalidate 1h stale 2h negative 1s }\n" . ($opt{global} // ''),
	    under => ['valgrind', '--tool=callgrind',
	    '--toggle-collect=evloop_run', @$more,
	    "--callgrind-out-file=$dir/out.%p"]);
}

# What a file of results says of each function, by file and name: instructions
# in the function itself, and how often it was called.
sub read_results {
	my ($path) = @_;
	my (%name, %found, $file, $at, $called);

	for (split(/\n/, slurp($path))) {
		if (/^(c?)(f[lien])=\((\d+)\)(?: (.*))?/) {
			my $kind = $2 eq 'fn' ? 'fn' : 'fl';
			my $name = $name{"$kind $3"} //= $4;

			$file = $name if $2 eq 'fl';
			$called = $name if $1 && $2 eq 'fn';
			next if $1 || $2 ne 'fn';
			$at = $found{$name} //= {};
			$at->{file} = $file;
		} elsif (/^calls=(\d+)/) {
			$found{$called}{calls} += $1;
		} elsif (/^[+*\-\d]\S* (\d+)$/ && $at) {
			# Behind a call it is what happens there.
			$at->{self} += $1 unless defined($called);
			undef($called);
		}
	}
	return \%found;
}

# The same of main for such requests, with these lines of conf.
sub count {
	my ($what, %conf) = @_;
	my $dir = docroot();
	my $server = start($dir, files => { page => $page }, %conf);
	my $client = $server->connect;
	my $good = 0;

	for (1 .. $requests) {
		$client->send("GET /page HTTP/1.1\r\nHost: localhost\r\n" .
		    "User-Agent: test\r\nAccept: */*\r\n\r\n");
		$good += $client->response->{body} eq $page;
	}
	is($good, $requests, "$what: answers");
	$server->stop;
	# One for each process: main's loop, and that of the program manager,
	# which has nothing to do.
	my ($found) = sort { all_of($b) <=> all_of($a) }
	    map { read_results($_) } glob("$dir/out.*");
	return $found;
}

sub all_of { return sum0(map { $_->{self} // 0 } values(%{$_[0]})) }

my $files = count('files');
my $each = int(all_of($files) / $requests);

cmp_ok($each, '<=', $right * 1.05, "$each instructions, not more than $right");
cmp_ok($each, '>=', $right * 0.95, 'nor less, or there is a new figure');

# Programs in the conf cost none.  What the loop does depends on the time that
# passes, and so does what is called less often than requests come.
sub of_request {
	my ($found, $n) = @_;

	$n //= $requests;
	return map { $_ => int($found->{$_}{self} / $n + 0.5) }
	    grep { ($found->{$_}{calls} // 0) >= $n &&
	    ($found->{$_}{file} // '') =~ m{src/(?:cache|http|proto)/} }
	    keys %$found;
}

my $dir = docroot('cgi/' => '');
my @conf = (global => "program app {\n\tfastcgi $^X\n}\n" .
    "program server {\n\tfastcgi unix:$dir/app\n}\n",
    site => "run app for *.app\npath /app { run server }\n" .
    "path /cgi { cgi $dir/cgi }\n");
my (%alone, %beside, @more);

# A machine that is so busy that seconds count has another chance: what programs
# cost is there each time.
for my $attempt (1 .. 3) {
	$files = count('files, once more') if $attempt > 1;
	%alone = of_request($files);
	%beside = of_request(count('beside programs', @conf));
	@more = grep { ($alone{$_} // 'none') ne ($beside{$_} // 'none') }
	    sort keys(%{{ %alone, %beside }});
	last unless @more;
}
cmp_ok(sum0(values(%alone)), '>', $right / 2, 'most of them are known');
is(join(', ', map { "$_ " . ($alone{$_} // 'none') . ' and ' .
    ($beside{$_} // 'none') } @more), '',
    '... and none is more beside programs');

# Negotiation and filters: instructions of a request more than of one with an
# equal head that gets a file without variants.  A dump for each kind tells.
# What is compared and copied counts, too.
use constant EACH => 1000;

sub of_variant {
	my ($found) = @_;
	my %each = of_request($found, EACH);

	return sum0(values(%each), map { int($found->{$_}{self} / EACH + 0.5) }
	    grep { /^__mem|^chain_stats|^hash_|^str_/ } keys(%$found));
}

my %head = (format => 'Accept: image/avif,image/webp,image/apng,' .
    'image/svg+xml,image/*,*/*;q=0.8', language => 'Accept-Language: ' .
    'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', coding =>
    'Accept-Encoding: gzip, deflate, br, zstd', filters => 'Accept: */*',
    unseen => 'Accept-Language: de-DE,de;q=0.9,en;q=0.NUMBER',
    several => 'Accept-Language: LANGUAGE,en-US;q=0.8,en;q=0.7');
# By kind: the file alone, what is asked for, how many more at most.
my @kinds = (
	[format => '/b.png', '/a.png', 300],
	[language => '/b.html', '/a.html', 300],
	[coding => '/b.css', '/a.css', 300],
	[coding => '/plain/a.txt', '/made_/a.txt', 300],
	[filters => '/plain/a.txt', '/upper/a.txt', 340],
	# Of the same length, in turns.
	[several => '/b.html', '/a.html', 300],
	# Each value is another one, so it is parsed; no lookup follows.
	[unseen => '/b.html', '/a.html', 5000],
);
my $root = docroot();
for my $name (qw(a.png a.png.avif a.png.webp b.png a.html a.de.html a.fr.html
    b.html a.css a.css.gz b.css made_/a.txt plain/a.txt upper/a.txt)) {
	write_file("$root/$name", substr("$name " x 500, 0, 500));
	utime(86400, 86400, "$root/$name");
}
# One that has just been written has a weak tag, until it is looked up again.
await('the files to settle', sub {
	!grep { time() - (stat($_))[10] <= 4 } glob("$root/*.* $root/*/*.*") });

# How many more each kind costs, and than what.
sub count_variants {
	my $results = docroot();
	my $server = start($results, root => $root,
	    callgrind => ['--dump-before=reply_ready'], global => <<'END',
limits { compress from 100 }
program upper { filter /usr/bin/tr a-z A-Z }
chain upper { filters upper }
END
	    site => <<'END');
	formats avif webp
	languages de fr default en
	precompressed gzip
	path /made_ { compress gzip }
	path /upper { chain upper }
	path /ready { ready on }
END
	my $client = $server->connect;
	my $number = 100;
	my $ask = sub {
		my ($kind, $target) = @_;
		my $head = $head{$kind} =~
		    s/LANGUAGE/(qw(de fr))[$number++ % 2]/re =~
		    s/NUMBER/$number++/re;

		$client->send("GET $target HTTP/1.1\r\nHost: localhost\r\n" .
		    "User-Agent: test\r\n$head\r\n\r\n");
		return $client->response;
	};

	for my $kind (@kinds) {
		my ($name, $alone, $varies) = @$kind;

		await("a strong tag of $_", sub {
			($ask->($name, $_)->{field}{etag} // '') =~ /^"/ })
		    for $alone, $varies;
		isnt($ask->($name, $varies)->{body}, slurp("$root$varies"),
		    "$varies: not the file itself");
	}
	# Each has what was counted before it dumped.
	$ask->('filters', '/ready');
	for my $kind (@kinds) {
		for my $target (@{$kind}[1, 2]) {
			$ask->($kind->[0], $target) for 1 .. EACH;
			$ask->($kind->[0], '/ready');
		}
	}
	$server->stop;
	# Only main has dumps; the first one is of what came before.
	my ($dump) = map { s/\.1\z//r } glob("$results/out.*.1");
	my @each = map { of_variant(read_results("$dump.$_")) }
	    2 .. 1 + 2 * @kinds;
	return map { [$each[2 * $_ + 1] - $each[2 * $_], $each[2 * $_]] }
	    0 .. $#kinds;
}

# Of each policy, and of a hit in the sample of advice with lru: instructions of a
# request, in one run.  A sample begins when an eighth of the memory is in use.
sub count_policies {
	my ($results, $place) = (docroot(), docroot());
	my $server = start($results, callgrind => ['--dump-before=reply_ready'],
	    files => { page => $page, map { $_ => content($_, 12000) } 1 .. 5 },
	    global => "control $place/control\ncache { chunks 320K }\n",
	    site => "path /ready { ready on }\n");
	my $client = $server->connect;
	my $ask = sub {
		my ($target, $n) = @_;

		for (1 .. $n) {
			$client->send("GET $target HTTP/1.1\r\n" .
			    "Host: localhost\r\n\r\n");
			$client->response;
		}
		# What came before is dumped.
		$client->send("GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n");
		$client->response;
	};
	my $policy = sub {
		my ($out) = (Amped::run_command(undef,
		    Amped::copy_for_all('ampedctl'), '-s', "$place/control",
		    'policy', @_))[1];
		return $out;
	};
	my @names = qw(sieve s3fifo lfu gdsf lru);

	for my $name (@names) {
		$policy->($name);
		$ask->('/page', 10);
		$ask->('/page', EACH);
	}
	$ask->("/$_", 1) for 1 .. 5;
	$ask->('/page', EACH);
	$server->stop;
	my ($dump) = map { s/\.1\z//r } glob("$results/out.*.1");
	my %each = map { $names[$_] => of_variant(read_results("$dump." .
	    2 * ($_ + 1))) } 0 .. $#names;
	$each{advice} = of_variant(read_results("$dump." . (2 * @names + 6)));
	return %each;
}

my %each = count_policies();
for my $name (qw(sieve s3fifo lfu gdsf)) {
	cmp_ok(abs($each{$name} - $each{lru}), '<=', 10,
	    "$name: $each{$name} instructions, lru $each{lru}");
}
cmp_ok($each{advice}, '<=', $each{lru} + 300,
    "in the sample: $each{advice} instructions");
cmp_ok($each{advice}, '>=', $each{lru} + 100, '... so it is in the sample');

# A bucket of the path cache may have other names, which cost some more; where
# they are is new with each server.
my @found;
for my $attempt (1 .. 3) {
	@found = count_variants();
	last unless grep { $found[$_][0] > $kinds[$_][3] } 0 .. $#kinds;
}
for my $n (0 .. $#kinds) {
	my ($name, undef, $varies, $most) = @{$kinds[$n]};
	my ($more, $alone) = @{$found[$n]};

	cmp_ok($more, '<=', $most, "$name, $varies: $more more than $alone");
}

done_testing();
