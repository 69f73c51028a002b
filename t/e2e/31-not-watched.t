#!/usr/bin/perl
# What cannot be watched is looked up again: on file systems whose files others
# change, and where the system allows no more watches.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Slowfs;
use Test::More;
use Time::HiRes qw(sleep);

plan(skip_all => 'only root mounts, and maps users') if $> != 0;
Amped::Slowfs::alone();
Amped::one_main();

# Every answer is due at once.
my $cache = "cache { paths revalidate 0s wait 10s negative 0s }\n";
my $status = "path /status { status on }\n";
my $server;

sub count {
	return ($server->get('/status?text')->{body} =~ /^$_[0] (\d+)/m)[0];
}

sub body { return $server->get($_[0])->{body} }

# Whether the second request for a file makes no lookup.
sub is_watched {
	my ($path) = @_;

	body($path);
	my $before = count('lookups');
	sleep(0.02);			# older than 0s by any clock
	body($path);
	return count('lookups') == $before;
}

my $root = docroot(map { ("d$_/page" => "page\n") } 0 .. 19);

sleep(1.2);			# the version of a younger file is not strong
$server = Amped->start(root => $root, global => $cache, site => $status);
my $here = is_watched('/d0/page');
$server->stop;

# File systems: each is mounted in a directory of the root.
my $layers = docroot('low/page' => "low\n", 'up/' => '', 'work/' => '');
my @overlay = ('-o', join(',', "lowerdir=$layers/low", "upperdir=$layers/up",
    "workdir=$layers/work"));
my @systems = (['tmpfs', 1], ['ramfs', 1], ['overlay', 0, @overlay]);

for (@systems) {
	my ($type, $watched, @options) = @$_;

	SKIP: {
		my $at = "$root/$type";
		mkdir($at, 0755);
		skip("no $type can be mounted and watched", 3) if !$here ||
		    system('mount', '-t', $type, @options, 'amped-test', $at);
		write_file("$at/page", "low\n") unless @options;
		chmod(0755, $at);
		sleep(1.2) unless @options;
		$server = Amped->start(root => $root, global => $cache,
		    site => $status);
		is(is_watched("/$type/page"), $watched ? 1 : '',
		    "$type is " . ($watched ? 'watched' : 'not watched'));
		# A change behind an overlay makes no event.
		write_file(@options ? "$layers/low/page" : "$at/page",
		    "changed\n");
		sleep(0.02);
		is(body("/$type/page"), "changed\n", 'the new file');
		$server->stop;
		system('umount', $at);
	}
}

# A namespace of users with limits of its own.
sub namespace {
	my ($name, $value) = @_;
	my $pid = fork() // die "fork: $!\n";
	my $own = readlink('/proc/self/ns/user') // '';

	if ($pid == 0) {
		close(STDERR);
		exec('unshare', '-U', 'sleep', '300') or POSIX::_exit(1);
	}
	my $ended = 0;
	await('a namespace', sub {
		$ended = waitpid($pid, POSIX::WNOHANG) != 0;
		return $ended || (readlink("/proc/$pid/ns/user") // $own) ne
		    $own && slurp("/proc/$pid/comm") eq "sleep\n";
	});
	return if $ended;
	for my $map (qw(uid_map gid_map)) {
		open(my $to, '>', "/proc/$pid/$map") or die "$map: $!\n";
		syswrite($to, "0 0 65536\n") or die "$map: $!\n";
	}
	return { pid => $pid, limited => system('nsenter', '-U', '-t', $pid,
	    'sh', '-c', "echo $value >/proc/sys/user/$name") == 0 };
}

sub with_limit {
	my ($name, $value, $test) = @_;

	SKIP: {
		my $ns = -e "/proc/sys/user/$name" ? namespace($name, $value) :
		    undef;
		skip("no $name here", 1) unless $here && $ns && $ns->{limited};
		$server = Amped->start(root => $root, global => $cache,
		    site => $status,
		    under => ['nsenter', '-U', '-t', $ns->{pid}, '--']);
		$test->();
		$server->stop;
		kill('KILL', $ns->{pid});
		waitpid($ns->{pid}, 0);
	}
}

# All directories are served, those that are watched and those that are not.
sub all_new {
	my ($what) = @_;

	body("/d$_/page") for 0 .. 19;
	write_file("$root/d$_/page", "$what $_\n") for 0 .. 19;
	sleep(0.02);
	is(join('', map { body("/d$_/page") } 0 .. 19),
	    join('', map { "$what $_\n" } 0 .. 19), "$what: new files");
}

with_limit('max_inotify_watches', 8, sub {
	all_new('few watches');
	$server->wait_line(qr/system's limit .fs.inotify.max_user_watches. is/);
	cmp_ok(count('watches'), '>', 0, 'some directories are watched');
	is(scalar(() = $server->errors =~ /is reached/g), 1, 'one line');
});
with_limit('max_inotify_instances', 0, sub {
	like($server->errors, qr/cannot watch directories: the system's limit/,
	    'a line says why nothing is watched');
	all_new('no watches');
	is(count('watches'), 0, 'no directory is watched');
});

done_testing();
