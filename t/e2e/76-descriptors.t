#!/usr/bin/perl
# No process has a descriptor that it was not given: all that each has open is
# of a kind that it is to have, and no more of that than it is to have, from the
# start on, whatever becomes of the server.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Process;
use Test::More;

Amped::looks_into_processes();

my $arch = Amped::architecture();
my $workers = { mp => 3, mt => 3 }->{$arch} // 1;
my $mains = $arch eq 'mp' ? $workers : 1;
my $threads = { mt => 1 + $workers, pipelined => 8 }->{$arch} // 1;
my $bells = { mp => $workers, mt => 3 + 2 * $workers, pipelined => 4 + 14,
    }->{$arch} // 0;
my $sanitized = slurp(Amped::program()) =~ /__[at]san_init/;
my $helpers = 3;

delete($ENV{AMPED_WORKERS});

# What a process may have: how many of each kind.
my %own = (null => 2, out => 1);	# in the foreground: its starter's
my %may = (
	'monitor' => { %own, err => 1, program => 1, pid => 1, log => 2,
	    pipe => 7, socket => 2 + $mains, door => 2, landlock => 1,
	    mountinfo => 1, eventfd => $bells, list => 1 },
	# Wakeups of libevent, words and losses; the rest is for the monitor, log
	# helpers, helpers and clients.
	'main' => { %own, changes => 1, pipe => 3 + 2 * $threads, door => 2, mountinfo => 1,
	    pagemap => 1, eventpoll => $threads, eventfd => $bells,
	    socket => 3 + $helpers, client => 2, page => 2 },
	'helper' => { %own, changes => 1, pipe => 2, socket => 1 },
	'access log' => { %own, pipe => 2, socket => 1, log => 1 },
	'error log' => { %own, pipe => 2, socket => 1, log => 1 },
	# They are forked, and end soon; what they open is a log, or a conf.
	(map { $_ => { %own, err => 1, program => 1, pipe => 5, socket => 2,
	    log => 3, conf => 1 } } 'log opener', 'conf checker',
	    'control child'),
);

my $stray = $> == 0 ? '/etc/shadow' : '/etc/passwd';
my $place = docroot(pid => '');
my $server = Amped->start(files => { page => "page\n" },
	under => ['bash', '-c', "exec \"\$0\" \"\$@\" 77<$stray 9<$stray"],
	log => "\taccess %D/access.log common\n\terror %D/error.log info",
	global => "workers $workers\npid $place/pid\nhelpers 1 max $helpers\n");
my $monitor = $server->{pid};

sub listening {
	my %inodes;

	for my $line (split(/\n/, slurp('/proc/net/tcp'))) {
		my @fields = split(' ', $line);
		$inodes{$fields[9]} = $fields[3] eq '0A' ? 'door' : 'client'
		    if @fields > 9;
	}
	return \%inodes;
}

sub kind {
	my ($to, $inodes) = @_;

	return $inodes->{$1} // 'socket' if $to =~ /\Asocket:\[(\d+)/;
	for (['null', qr{\A/dev/null\z}], ['pipe', qr/\Apipe:/],
	    ['landlock', qr/landlock/], ['eventpoll', qr/\[eventpoll\]/],
	    ['eventfd', qr/\[eventfd\]/],
	    ['list', qr{\A/memfd:amped }], ['changes', qr/inotify/],
	    ['mountinfo', qr{/mountinfo\z}],
	    ['pagemap', qr{/pagemap\z}], ['program', qr{/amped-helper\z}],
	    ['out', qr{\A$server->{dir}/out\z}],
	    ['err', qr{\A$server->{dir}/err\z}],
	    ['conf', qr{\A$server->{dir}/amped\.conf\z}],
	    ['log', qr{\A$server->{dir}/log/}], ['pid', qr{\A$place/pid\z}],
	    ['page', qr{\A$server->{root}/}]) {
		return $_->[0] if $to =~ $_->[1];
	}
	return $to;
}

# What a process has more of than it may; how many it has in all.
sub excess {
	my ($pid, $may) = @_;
	my ($inodes, %has, @wrong) = listening();
	my @fds = glob("/proc/$pid/fd/*");

	for my $fd (@fds) {
		my $to = readlink($fd) // next;
		$has{kind($to, $inodes)}++;
	}
	for my $kind (sort keys %has) {
		push(@wrong, "$has{$kind} $kind, not " . ($may->{$kind} // 0))
		    if $has{$kind} > ($may->{$kind} // 0);
	}
	return (scalar(@fds), @wrong);
}

# All that there is now, by what it is.
my %seen;
my @caught;
my $most = 0;

sub look {
	my @wrong;

	for my $process ($server->processes) {
		my $title = $process->{title} =~ s/\Aamped: //r;
		my $may = $may{$title} // next;
		# Not a child that has no title of its own yet.
		next if $title eq 'monitor' && $process->{parent} != $$ &&
		    $process->{pid} != $monitor;
		my ($n, @more) = excess($process->{pid}, $may);
		$seen{$title}++;
		$most = $n if $title eq 'main' && $n > $most;
		my @lines = map { "$title $process->{pid}: $_" } @more;
		push(@wrong, @lines);
		push(@caught, @lines) if $title =~ /opener|checker|child/;
	}
	return @wrong;
}

# Some close what they are not to have a moment after they have their title.
sub right {
	my ($when) = @_;
	my @wrong;

	is($server->get('/page')->{body}, "page\n", "$when: it serves");
	my $ok = eval { await('descriptors', sub {
	    !(@wrong = look()) }, 10) };
	ok($ok, "$when: nobody has more than is theirs") or
	    diag(join("\n", @wrong));
}

sub said { return () = slurp($server->{error}) =~ /$_[0]/g }

# Does something, and looks at all processes until it has been done.
sub during {
	my ($when, $line, $do) = @_;
	my $before = said($line);

	$do->();
	await($when, sub { look(); said($line) > $before });
	right($when);
}

right('at first');
during('with another conf', qr/is in force/, sub { kill('HUP', $monitor) });
during('with logs opened again', qr/error log has been opened again/,
    sub { kill('USR1', $monitor) });
during('with another binary', qr/takes over/, sub {
	kill('USR2', $monitor);
	($monitor) = await('the next one', sub {
		my ($pid) = slurp($server->{error}) =~
		    /process (\d+) takes over/;
		return $pid;
	});
	await('the one before to end', sub { $server->reap == 0 });
});
for (1, 2) {
	during('with another main', qr/ready: \w+ on/, sub {
		kill('KILL', ($server->role('main'))[0]);
		await('its end', sub { said(qr/starting another/) });
	});
}
during('with a conf, once more', qr/is in force/,
    sub { kill('HUP', $monitor) });
is_deeply(\@caught, [], 'nor those that come and go');
ok($seen{$_}, "there was a $_") for qw(monitor main), 'error log', 'access log',
    $arch eq 'amped' ? 'helper' : ();

# The sum that the least number of descriptors is, holds all that main has
# beside clients and files, and not much more.
write_file("$place/conf", slurp("$server->{dir}/amped.conf") =~
    s{^pid .*}{}mr);
my ($status, $out, $err) = Amped::run_command(undef, 'bash', '-c',
    'ulimit -n 20 && exec "$@"', 'bash', Amped::program(), '-A', $arch, '-D',
    '-f', "$place/conf");
my ($needed) = $err =~ /a main needs at least (\d+)/;
my %parts = reverse($err =~ /[ :](\d+) ([a-z][^,\n]*)(?=,|\n)/g);
my $extra = $parts{'for clients and their files'} +
    $parts{'for requests from the control socket'} +
    ($parts{'for helpers, live ones and stuck ones'} // 0) +
    ($parts{'for disk work without helpers'} // 0);
cmp_ok($most, '<=', $needed, "$needed are enough for $most");
cmp_ok($needed - $extra, '<=', $most + 16, "but for $extra not much more");

kill('TERM', $monitor);
ok($server->wait_nothing_left, 'it ends');
done_testing();
