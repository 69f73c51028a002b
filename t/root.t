#!/usr/bin/env perl
#
# root: the package in a fresh Debian of its own: installed, used, upgraded,
# removed and purged, by the tests that come with it.  First by hand, as in a
# container; what it leaves is looked for among all files.  Then, where
# systemd-nspawn is, under systemd.
#
# It needs root, debootstrap, and a mirror in the system's own sources.  The
# Debian is made anew each time, unless AMPED_TEST_ROOTS names a directory to
# keep it in.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp write_file);
use Amped::Foreign qw(needs_program which_program);
use Amped::Package qw(command_ok deb_file make_deb plain_build quietly);
use File::Copy qw(copy);
use Test::More;

my @tests = qw(serve reload rotate conf-test otherwise upgrade taken-port
    purge);
my $tests = Amped::source_dir() . '/contrib/debian/tests';
my @nspawn = qw(systemd-nspawn --quiet --register=no --keep-unit
    --private-network --boot);

# In namespaces of its own, with a network that is lo alone (SIOCSIFFLAGS) and
# no process that is not of the root: what is started ends with the command.
my $enter = <<'END';
exec unshare --mount --net --pid --fork --kill-child sh -ec '
    perl -MSocket -e "my \$up = pack(q(a16 s x14), q(lo), 0x41);
	socket(S, AF_INET, SOCK_DGRAM, 0) && ioctl(S, 0x8914, \$up) ||
	die qq(lo: \$!\n)"
    mount -t proc proc "$1/proc"
    exec chroot "$@"' sh "$@"
END

plain_build();
alarm(1700);
plan(skip_all => 'only root can make a root') if $> != 0;
needs_program(qw(apt-get debootstrap unshare));
is_deeply([sort(map { s{.*/}{}r } grep { -x } glob("$tests/*"))],
    [sort(@tests)], 'the tests are known');
is(join(' ', slurp("$tests/control") =~ /^Tests: (.*)/mg), "@tests",
    '... to everybody');
my $deb = deb_file(make_deb(), 'amped_*.deb');
my $root = make_root();
my $boots = which_program('systemd-nspawn');
copy($deb, "$root/amped.deb") or die "$root/amped.deb: $!\n";
need('what it depends on', 'cp -R "$2" "$1/tests"; chroot "$1" sh -ec \'
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -s --no-install-recommends /amped.deb curl logrotate |
	sed -n "s/^Inst \([^ ]*\) .*/\1/p" | grep -vx amped > /needed
    apt-get install -q -y --no-install-recommends $(cat /needed)
    rm /needed
    $0 apt-get install -q -y --no-install-recommends --download-only \
	systemd-sysv procps\' "$3"', $root, $tests, $boots ? 'env' : ':');

by_hand();
under_systemd() if Test::More->builder->is_passing;
done_testing();

# Without it there is nothing to test.
sub need {
	my ($what, $line, @arguments) = @_;
	my ($status, $said) = quietly($line, @arguments);
	my ($last) = $said =~ /([^\n]*)\n?\z/;

	return if $status == 0;
	diag($said);
	SKIP: {
		skip("$what: $last", 1);
	}
	done_testing();
	exit(0);
}

# The mirror that the system itself uses, and its release.
sub mirror {
	my $release = -e '/etc/os-release' ? slurp('/etc/os-release') : '';
	my ($suite) = $release =~ /^VERSION_CODENAME=(\w+)$/m;
	my (undef, $said) = quietly('apt-get indextargets --format ' .
	    '\'$(CODENAME) $(REPO_URI)\' "Created-By: Packages"');
	my ($uri) = defined($suite) ? $said =~ /^$suite (\S+)$/m : ();

	need('apt knows of no mirror', 'false') unless defined($uri);
	return ($suite, $uri);
}

sub make_root {
	my $root = docroot();
	my $kept = $ENV{AMPED_TEST_ROOTS} // $root;
	my ($suite, $uri) = mirror();

	if (!-e "$kept/$suite.tar") {
		need('debootstrap', 'debootstrap --variant=minbase "$@"',
		    $suite, $root, $uri);
		need('tar', 'tar -C "$1" -cf "$2" .', $root, "$kept/$suite.tar")
		    if $kept ne $root;
	} else {
		need('tar', 'tar -C "$1" -xf "$2"', $root, "$kept/$suite.tar");
	}
	write_file("$root/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n");
	chmod(0755, "$root/usr/sbin/policy-rc.d");
	return $root;
}

sub by_hand {
	my $before = files();

	in_root('the package is installed', 'dpkg --install /amped.deb');
	for my $name (@tests) {
		in_root("$name, by hand", 'exec "/tests/$1"', $name);
		last unless Test::More->builder->is_passing;
	}
	my $after = files();
	is_deeply([grep { !$before->{$_} } sort(keys(%$after))], [],
	    'purged, it leaves nothing');
	is_deeply([grep { !$after->{$_} } sort(keys(%$before))], [],
	    'and has taken nothing with it');
}

sub in_root {
	my ($what, $line, @arguments) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	local %ENV = (PATH => '/usr/sbin:/usr/bin:/sbin:/bin', HOME => '/root',
	    DEBIAN_FRONTEND => 'noninteractive', LC_ALL => 'C.UTF-8',
	    TMPDIR => '/tmp');

	command_ok($what, $enter, $root, 'sh', '-c', $line, 'sh', @arguments);
}

# All but what apt and dpkg remember, and what others write into.
sub files {
	my ($status, $list) = quietly('cd "$1" && find . -print', $root);

	die $list if $status != 0;
	return { map { $_ => 1 } grep { !m{^\./(?:tests/|tmp/.|
	    var/lib/(?:apt|dpkg|logrotate|systemd/deb-systemd)|
	    var/cache/(?:apt|debconf|ldconfig)|var/log/(?!amped))}x }
	    split(/\n/, $list) };
}

# The same once more in a system that has been booted, by a unit that shuts it
# down when it has done.
sub under_systemd {
	SKIP: {
		skip('there is no systemd-nspawn', 1) unless $boots;
		in_root('systemd', 'apt-get install -q -y ' .
		    '--no-install-recommends --no-download systemd-sysv procps');
		write_file("$root/run-tests", <<'END');
dpkg --install /amped.deb > /results/install 2>&1 || exit
touch /results/installed
for name; do
	"/tests/$name" > "/results/$name.said" 2>&1 || break
	touch "/results/$name.passed"
done
{
	systemctl status --no-pager --full amped
	cat /var/log/amped/error.log
} > /results/status 2>&1
END
		write_file("$root/etc/systemd/system/run-tests.service", <<"END");
[Unit]
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
ExecStart=-/bin/sh /run-tests @tests
[Install]
WantedBy=multi-user.target
END
		unlink("$root/usr/sbin/policy-rc.d");
		my ($status, $said) = quietly('mkdir "$1/results"; ' .
		    'systemctl --root="$1" -q enable run-tests; shift; ' .
		    'exec timeout -k 5 250 "$@"', $root, @nspawn, "--directory=$root");
		skip("no system starts here: $said", 1)
		    unless -e "$root/results/install";
		ok(-e "$root/results/installed", 'installed under systemd') or
		    diag(slurp("$root/results/install"));
		for my $name (@tests) {
			ok(-e "$root/results/$name.passed",
			    "$name, under systemd") and next;
			diag(map { -e $_ ? slurp($_) : () }
			    map { "$root/results/$_" } "$name.said", 'status');
			last;
		}
	}
}
