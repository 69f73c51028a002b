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

use constant { AGE => 0.15, FILES => 10 };

Amped::one_main();

# Of each kind; a release has 100.
my $rounds = $ENV{AMPED_UNWATCHED_ROUNDS} // 3;
alarm(0) if $rounds > 3;

my $all = docroot('one/' => '', 'two/' => '', 'site/' => '');
my $at = docroot();
symlink('one', "$all/current") or die "symlink: $!\n";
my $age = AGE * 1000 . 'ms';
my $cache = "cache { paths revalidate $age negative $age; watches 0 }\n";
my $root = "$all/site";
# A machine that is busy with other tests may need longer than 50 ms.
my $server = Amped->start(root => $root, global =>
    $cache =~ s/negative/wait 10s negative/r, site =>
    "\tlisting html\n\tprecompressed gzip\n" .
    "\tpath /linked {\n\t\talias $all/current\n\t}\n");

sub replace {
	my ($name, $bytes) = @_;

	write_file("$root/.next", $bytes);
	rename("$root/.next", "$root/$name") or die "rename: $!\n";
}

# What is asked for, what makes the first state and the second one, and what of
# the answer tells them apart.
my $body = sub { $_[0]{body} };
my $status = sub { $_[0]{status} };
my %changes = (
	'renamed over' => { path => '/over%d', tells => $body,
	    first => sub { replace("over$_[0]", 'first') },
	    second => sub { replace("over$_[0]", 'second') } },
	'written in place' => { path => '/place%d', tells => $body,
	    first => sub { write_file("$root/place$_[0]", 'first') },
	    second => sub { write_file("$root/place$_[0]", 'other') } },
	deleted => { path => '/gone%d', tells => $status,
	    first => sub { write_file("$root/gone$_[0]", 'x') },
	    second => sub { unlink("$root/gone$_[0]") } },
	created => { path => '/new%d', tells => $status,
	    first => sub { unlink("$root/new$_[0]") },
	    second => sub { write_file("$root/new$_[0]", 'x') } },
	'made unreadable' => { path => '/mode%d', tells => $status,
	    first => sub { write_file("$root/mode$_[0]", 'x');
		chmod(0644, "$root/mode$_[0]") },
	    second => sub { chmod(0, "$root/mode$_[0]") } },
	'variant touched' => { path => '/packed%d.txt', gzip => 1,
	    tells => sub { $_[0]{field}{'content-encoding'} // 'none' },
	    first => sub { write_file("$root/packed$_[0].txt", 'text');
		write_file("$root/packed$_[0].txt.gz", 'packed');
		utime(1e9, 1e9, "$root/packed$_[0].txt.gz") },
	    second => sub { utime(undef, undef, "$root/packed$_[0].txt.gz") } },
	'variant replaced' => { path => '/twice%d.txt', gzip => 1,
	    tells => $body,
	    first => sub { write_file("$root/twice$_[0].txt", 'text');
		replace("twice$_[0].txt.gz", 'packed') },
	    second => sub { replace("twice$_[0].txt.gz", 'packed again') } },
	'entry added' => { path => '/list%d/',
	    tells => sub { $_[0]{body} =~ /entry/ ? 'listed' : 'not' },
	    first => sub { write_file("$root/list$_[0]/a", 'a');
		unlink("$root/list$_[0]/entry") },
	    second => sub { write_file("$root/list$_[0]/entry", 'x') } },
	'linked root swapped' => { path => '/linked/page%d', tells => $body,
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

# All files of a kind are brought into the caches, change, and are asked for
# when their answers have just become old.
sub old_answers {
	my ($change) = @_;
	my @old;

	$client = $server->connect;
	for my $round (1 .. $rounds) {
		my @files = map { "$round$_" } 1 .. FILES;

		$change->{first}->($_) for @files;
		sleep(AGE + 0.02) if $round == 1;
		my %was = map { ($_ => ask($change, $_)) } @files;

		$change->{second}->($_) for @files;
		sleep(AGE + 0.02);
		for my $file (@files) {
			my $now = ask($change, $file);

			push(@old, "$file: $now") if $now eq $was{$file};
		}
	}
	return \@old;
}

# Another client meanwhile, where a main can have two.
my $load = Amped::architecture() eq 'mp' ? undef : fork();
if (defined($load) && $load == 0) {
	my $busy = $server->connect;

	for (my $i = 0; getppid() != 1; $i++) {
		$busy->send("GET /other$i HTTP/1.1\r\nHost: x\r\n\r\n" .
		    "GET /over11 HTTP/1.1\r\nHost: x\r\n\r\n");
		$busy->response for 1 .. 2;
		sleep(0.001);
	}
	POSIX::_exit(0);
}
is_deeply(old_answers($changes{$_}), [], "$_: no old answer")
    for sort(keys(%changes));
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
