#!/usr/bin/perl
# A main that is started after a crash gets the names of another main, or the
# names that went from main to main last; but none if mains die early.  In
# 40-workers-auto.t, so does a main that a load brings.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port write_file);
use Test::More;

Amped::one_main();

my %files = map { ("f$_" => content("f$_", 3000)) } 1 .. 20;
my $root = docroot(%files);
my $place = docroot();

# The monitor's clock stands still, so each main dies early unless the test sets
# the clock on.  What is in memory is good for an hour, whatever becomes of the
# disk.
sub start {
	my ($global) = @_;

	write_file("$place/leap", pack('q', 0));
	local %ENV = (%ENV, AMPED_LEAP => "$place/leap");
	Amped::preload('leap.so');
	return Amped->start(root => $root, sites => "site default {\n" .
	    "\tlisten 127.0.0.1:" . free_port() . "\n\troot $root\n}\n",
	    global => "$global\n" .
	    "control $place/control\ncache {\n\tpaths 1000 revalidate 1h " .
	    "stale 1h negative 0s\n\twatches 0\n}\n", log => "\taccess off\n" .
	    "\terror stderr info\n");
}

# Sets the clock to so many seconds, and has the monitor look.
sub leap {
	my ($seconds) = @_;

	open(my $file, '+<:raw', "$place/leap") or die "leap: $!\n";
	syswrite($file, pack('q', 1000 * $seconds));
	Amped::run_command(undef, Amped::copy_for_all('ampedctl'), '-s',
	    "$place/control", 'version');
}

# The files that are not served.
sub missing_files {
	my ($server) = @_;

	return [grep { $server->get("/$_")->{body} ne $files{$_} }
	    sort keys %files];
}

# The same, while the files are not on the disk.
sub missing_names {
	my ($server) = @_;

	rename("$root/$_", "$root/$_.gone") or die "$_: $!\n" for keys %files;
	my $missing = missing_files($server);
	rename("$root/$_.gone", "$root/$_") or die "$_: $!\n" for keys %files;
	return $missing;
}

sub brought {
	my ($server) = @_;

	return $server->errors =~ /info: (\d+) files and variants were brought/g;
}

sub await_warm {
	my ($server, $n, $what) = @_;

	await($what, sub { @{[brought($server)]} == $n });
	is((brought($server))[-1], scalar(keys %files), "$what: all names");
}

sub kill_main {
	my ($server, $pid) = @_;

	kill('KILL', $pid);
	return await('another main', sub {
		my @others = grep { $_ != $pid } $server->role('main');
		return $others[-1];
	});
}

# The only main.
my $server = start('');
is_deeply(missing_files($server), [], 'all files');
kill('HUP', $server->{pid});
await_warm($server, 1, 'a reload');
my ($main) = await('the old main to go', sub {
	my @mains = $server->role('main');
	return @mains == 1 && $mains[0];
});
$main = kill_main($server, $main);
await_warm($server, 2, 'a crash');
is_deeply(missing_names($server), [], 'all are in memory');

# A name may be the cause of these deaths.
kill('KILL', $main);
await('another death', sub {
	my @deaths = $server->errors =~ /main was killed/g;
	return @deaths == 2;
});
leap(0.1);
is(scalar(@{missing_names($server)}), scalar(keys %files),
    'a main that follows an early death begins without names');
is_deeply(missing_files($server), [], '... and serves');
leap(11);
($main) = $server->role('main');
kill_main($server, $main);
await_warm($server, 3, 'a crash after ten seconds');
is_deeply(missing_names($server), [], 'all are in memory');
$server->{errors} = 1;
$server->stop;

# One of two, whose names are the other's.
if (Amped::architecture() !~ /^(?:mt|pipelined)\z/) {
	$server = start('workers 2');
	await('two mains', sub { $server->role('main') == 2 });
	my ($first, $second) = $server->role('main');
	kill('STOP', $second);
	is_deeply(missing_files($server), [], 'the first of two mains has all');
	kill('KILL', $second);
	await_warm($server, 1, 'a main after the second');
	kill('STOP', $first);
	is_deeply(missing_names($server), [], 'all are in its memory');
	kill('CONT', $first);
	$server->{errors} = 1;
	$server->stop;
}

done_testing();
