# Amped::Process: the processes of a server, as /proc shows them.
#
# A server under test leads a session, so its processes are those of the
# session, orphans too, and its program managers, each of which leads a session
# that its programs belong to.  No function here may signal a process of another one.
package Amped::Process;

use strict;
use warnings;

use POSIX ();

# The fields of /proc/PID/stat, those behind the name from index 3; empty if
# there is no such process.
sub stat_fields {
	my ($pid) = @_;

	open(my $fh, '<', "/proc/$pid/stat") or return;
	my $line = <$fh> // return;
	my ($rest) = $line =~ /^.*\) (.*)/s or return;
	return (undef, undef, undef, split(' ', $rest));
}

# The session of a process, or undef if only its stat can tell: the call takes a
# twentieth of the time, and a condition to wait for looks at all processes, over
# and over.
my $getsid = eval { require 'syscall.ph'; SYS_getsid() };
sub session {
	my ($pid) = @_;

	return defined($getsid) ? syscall($getsid, 0 + $pid) : undef;
}

# The title, and what ps shows, which may be longer.
sub title {
	my ($pid) = @_;

	open(my $fh, '<', "/proc/$pid/cmdline") or return ('', '');
	local $/;
	my $line = <$fh> // '';
	my ($title) = $line =~ /\A([^\0]*)/;
	$line =~ s/\0+\z//;
	return ($title, $line =~ tr/\0/ /r);
}

# Whether a process is of the session, or leads one and is a child of a process
# of it.
sub is_of {
	my ($session, $pid, @stat) = @_;

	return 1 if $stat[6] == $session;
	return 0 if $stat[6] != $pid;
	my @parent = stat_fields($stat[4]);
	return @parent && $parent[6] == $session;
}

# pid, parent, title and what ps shows, of each process of a session that is no
# zombie.  The title is without the file that is behind the monitor's.
sub of_session {
	my ($session) = @_;
	my @found;

	opendir(my $dir, '/proc') or die "/proc: $!\n";
	for my $pid (sort { $a <=> $b } grep { !/\D/ } readdir($dir)) {
		my $of = session($pid) // $session;
		next if $of != $session && $of != $pid;
		my @stat = stat_fields($pid) or next;
		next if !is_of($session, $pid, @stat) || $stat[3] =~ /[ZX]/;
		my ($title, $shown) = title($pid);
		$title =~ s{\A(amped: monitor) /.*}{$1}s;
		push(@found, { pid => $pid, parent => $stat[4],
		    title => $title, shown => $shown });
	}
	return @found;
}

# Seconds of processor time of a session, dead children that were waited for
# included.
sub cpu_seconds {
	my ($session) = @_;
	my $ticks = 0;

	for my $process (of_session($session)) {
		my @stat = stat_fields($process->{pid}) or next;
		$ticks += $stat[$_] for 14 .. 17;
	}
	return $ticks / POSIX::sysconf(&POSIX::_SC_CLK_TCK);
}

sub kill_session {
	my ($session) = @_;
	my @pids = map { $_->{pid} } of_session($session);

	kill('KILL', @pids) if @pids;
}

# The processes that have a listening socket on a port of 127.0.0.1.
sub of_port {
	my ($port) = @_;
	my $local = sprintf('0100007F:%04X', $port);
	my ($inode, @pids);

	open(my $fh, '<', '/proc/net/tcp') or die "/proc/net/tcp: $!\n";
	while (my $line = <$fh>) {
		my @field = split(' ', $line);
		$inode = $field[9] if $field[1] eq $local &&
		    $field[3] eq '0A';
	}
	return () unless defined($inode);
	for my $fd (glob('/proc/[0-9]*/fd/*')) {
		next unless (readlink($fd) // '') eq "socket:[$inode]";
		my ($pid) = $fd =~ m{^/proc/(\d+)/};
		push(@pids, $pid) unless grep { $_ == $pid } @pids;
	}
	return @pids;
}

1;
