#!/usr/bin/perl
# What is on disk is what is served: the first request after `revalidate` gets no
# answer of before a change, if the disk is healthy; if it does not answer, that
# request gets the old answer, and the others do not wait.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Slowfs;
use Test::More;
use Time::HiRes qw(sleep time);

use constant { AGE => 0.15, FEW => 30 };

Amped::one_main();

# Of each kind; a release has 1,000.
my $changes = $ENV{AMPED_UNWATCHED_CHANGES} // FEW;
my $at_once = $changes > FEW ? 50 : 10;
alarm(0) if $changes > FEW;

my $all = docroot('one/' => '', 'two/' => '', 'site/busy' => 'x');
my $at = docroot();
symlink('one', "$all/current") or die "symlink: $!\n";
my $age = AGE * 1000 . 'ms';
my $cache = "cache { paths revalidate $age negative $age; watches 0 }\n";
my $root = "$all/site";
my $server = Amped->start(root => $root, global => $cache, site =>
    "\tlisting html\n\tprecompressed gzip\n" .
    "\tpath /status { status on }\n" .
    "\tpath /linked {\n\t\talias $all/current\n\t}\n");

# How often the server has given an old answer, as it says: when the disk has
# not answered within `wait`, which is the default of 50 ms here.
sub admitted {
	return ($server->get('/status?text')->{body} =~
	    /^old-answers (\d+)/m)[0];
}

sub replace {
	my ($name, $bytes) = @_;

	write_file("$root/.next", $bytes);
	rename("$root/.next", "$root/$name") or die "rename: $!\n";
}

# What is asked for, what makes the first state and the second one, and what of
# the answer tells them apart.
my $body = sub { $_[0]{body} };
my $status = sub { $_[0]{status} };
my %kinds = (
	'renamed over' => { path => '/over%s', tells => $body,
	    first => sub { replace("over$_[0]", 'first') },
	    second => sub { replace("over$_[0]", 'second') } },
	'written in place' => { path => '/place%s', tells => $body,
	    first => sub { write_file("$root/place$_[0]", 'first') },
	    second => sub { write_file("$root/place$_[0]", 'other') } },
	deleted => { path => '/gone%s', tells => $status,
	    first => sub { write_file("$root/gone$_[0]", 'x') },
	    second => sub { unlink("$root/gone$_[0]") } },
	created => { path => '/new%s', tells => $status,
	    first => sub { unlink("$root/new$_[0]") },
	    second => sub { write_file("$root/new$_[0]", 'x') } },
	'made unreadable' => { path => '/mode%s', tells => $status,
	    first => sub { write_file("$root/mode$_[0]", 'x');
		chmod(0644, "$root/mode$_[0]") },
	    second => sub { chmod(0, "$root/mode$_[0]") } },
	'variant touched' => { path => '/packed%s.txt', gzip => 1,
	    tells => sub { $_[0]{field}{'content-encoding'} // 'none' },
	    first => sub { write_file("$root/packed$_[0].txt", 'text');
		write_file("$root/packed$_[0].txt.gz", 'packed');
		utime(1e9, 1e9, "$root/packed$_[0].txt.gz") },
	    second => sub { utime(undef, undef, "$root/packed$_[0].txt.gz") } },
	'variant replaced' => { path => '/twice%s.txt', gzip => 1,
	    tells => $body,
	    first => sub { write_file("$root/twice$_[0].txt", 'text');
		replace("twice$_[0].txt.gz", 'packed') },
	    second => sub { replace("twice$_[0].txt.gz", 'packed again') } },
	'entry added' => { path => '/list%s/',
	    tells => sub { $_[0]{body} =~ /entry/ ? 'listed' : 'not' },
	    first => sub { write_file("$root/list$_[0]/a", 'a');
		unlink("$root/list$_[0]/entry") },
	    second => sub { write_file("$root/list$_[0]/entry", 'x') } },
	'linked root swapped' => { path => '/linked/page%s', tells => $body,
	    first => sub { write_file("$all/one/page$_[0]", 'first');
		write_file("$all/two/page$_[0]", 'second'); swap('one') },
	    second => sub { swap('two') } },
);

sub swap {
	my ($to) = @_;

	symlink($to, "$all/next") && rename("$all/next", "$all/current") or
	    die "swap: $!\n";
}

my $client;

sub ask {
	my ($change, $i) = @_;
	my $path = sprintf($change->{path}, $i);

	$client->send("GET $path HTTP/1.1\r\nHost: x\r\n" .
	    ($change->{gzip} ? "Accept-Encoding: gzip\r\n" : '') . "\r\n");
	return $change->{tells}->($client->response);
}

# Brings files of a kind into the caches, changes them all, and asks for each
# when its answer has just become old: these are as many changes as files.
# Returns the answers that are as before.
sub old_answers {
	my ($change) = @_;
	my @old;

	$client = $server->connect;
	for my $round (1 .. $changes / $at_once) {
		my @files = map { "$round.$_" } 1 .. $at_once;
		my (%was, %asked);

		$change->{first}->($_) for @files;
		sleep(AGE + 0.02) if $round == 1;
		for my $file (@files) {
			$was{$file} = ask($change, $file);
			$asked{$file} = time;
		}
		$change->{second}->($_) for @files;
		for my $file (@files) {
			my $pause = $asked{$file} + AGE + 0.02 - time;

			sleep($pause) if $pause > 0;
			my $now = ask($change, $file);
			push(@old, "$file: $now") if $now eq $was{$file};
		}
	}
	return @old;
}

# Another client meanwhile, where a main can have two.
my $load = Amped::architecture() eq 'mp' ? undef : fork();
if (defined($load) && $load == 0) {
	my $busy = $server->connect;

	for (my $i = 0; getppid() != 1; $i++) {
		$busy->send("GET /other$i HTTP/1.1\r\nHost: x\r\n\r\n" .
		    "GET /busy HTTP/1.1\r\nHost: x\r\n\r\n");
		$busy->response for 1 .. 2;
		sleep(0.001);
	}
	POSIX::_exit(0);
}
for my $kind (sort(keys(%kinds))) {
	my $before = admitted();
	my @old = old_answers($kinds{$kind});
	my $late = admitted() - $before;

	# On a machine that is busy with other tests the disk may be late.
	diag("$kind: the disk was late $late times") if $late;
	cmp_ok(scalar(@old), '<=', $changes > FEW ? 0 : $late,
	    "$kind: of $changes first answers after a change none is old") or
	    diag(join("\n", @old));
}
if (defined($load)) {
	kill('KILL', $load);
	waitpid($load, 0);
}
$server->stop;

my $missing = Amped::Slowfs::missing();

# Where the disk does not answer.
SKIP: {
	skip($missing, 1) if $missing;
	skip('there the disk is waited for in place', 1)
	    unless Amped::architecture() =~ /^(amped|pipelined)$/;
	my $slow = docroot('a' => "a\n", 'b' => "b\n");
	my $fs = Amped::Slowfs->new($slow, $at);

	$server = Amped->start(root => $root, global =>
	    "cache { paths revalidate $age wait 2s }\n",
	    site => "\tpath /slow {\n\t\talias $at\n\t}\n");
	is($server->get("/slow/$_")->{body}, "$_\n", $_) for qw(a b);
	sleep(AGE + 0.02);
	$fs->hold('all');
	write_file("$slow/a", "new\n");
	for my $name (qw(a b)) {
		my $start = time;
		is($server->get("/slow/$name")->{body}, "$name\n",
		    "$name held: the old answer");
		cmp_ok(time - $start, '>=', 1.9, 'after the wait');
		$start = time;
		is($server->get("/slow/$name")->{body}, "$name\n", 'again')
		    for 1 .. 3;
		cmp_ok(time - $start, '<', 1.9, 'without a wait');
	}
	$fs->release;
	is(await('the new one', sub {
		my $now = $server->get('/slow/a')->{body};
		return $now ne "a\n" && $now;
	}), "new\n", 'free: the new answer');
	$server->stop;
}

done_testing();
