# Bench::Slow: many clients of programs, each of which sends its body, or reads
# its answer, at 1 KiB/s.
package Bench::Slow;

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(sleep time);

use Amped::Client;

use constant {
	BODY => 1 << 20,	# bytes
	AT_ONCE => 1024,	# in each second
	WINDOW => 4096,		# so the system takes little of it ahead
	WAITING => 16,		# clients that have no head yet
	OPENING => 20,		# s for all to be there, and another for each
	EACH => 10,		# so many of them
	REST => 10,		# s for one answer
	MORE => 200,		# descriptors for all else
};

# Starts the program again with as many descriptors as that takes.
sub need_descriptors {
	my ($n, @command) = @_;
	my $want = $n + MORE;

	return if $ENV{AMPED_BENCH_AGAIN} ||
	    POSIX::sysconf(&POSIX::_SC_OPEN_MAX) >= $want;
	local $ENV{AMPED_BENCH_AGAIN} = 1;
	exec('/bin/sh', '-c', "ulimit -n $want; exec \"\$@\"", 'sh', $^X,
	    @command) or die "sh: $!\n";
}

#	kind	upload, download
#	n	clients
#	port	of 127.0.0.1
sub new {
	my ($class, %opt) = @_;

	return bless({ clients => [], %opt }, $class);
}

sub request {
	my ($self, $i) = @_;
	my $upload = $self->{kind} eq 'upload';

	return ($upload ? 'POST' : 'GET') .
	    " /cgi-bin/program?$self->{kind}-$i HTTP/1.1\r\n" .
	    "Host: localhost\r\n" . ($upload ? 'Content-Length: ' . BODY .
	    "\r\n" : '') . "\r\n";
}

# Reads some of the answer, if there is any: never waits.
sub hear {
	my ($client, $most) = @_;
	my $n = sysread($client->socket, my $bytes, $most // AT_ONCE);

	$client->{end} = 1 if defined($n) ? $n == 0 : !$!{EAGAIN};
	$client->{bytes} += $n // 0;
	$client->{in} = substr($client->{in} . ($bytes // ''), 0, 4096);
}

# Reads until so few have neither an answer nor an end; those that are left.
sub await_answers {
	my ($self, $most, $end, @waiting) = @_;

	while (@waiting > $most && time < $end) {
		hear($_) for @waiting;
		@waiting = grep { $_->{in} eq '' && !$_->{end} } @waiting;
		sleep(0.005);
	}
	return @waiting;
}

# Connects them all, but so that few wait for an answer at a time: a queue is
# not what is looked at.  Those that do not get so far in time are not there.
sub open_all {
	my ($self) = @_;
	my $end = time + OPENING + $self->{n} / EACH;
	my $reads = $self->{kind} eq 'download';
	my @waiting;

	for my $i (1 .. $self->{n}) {
		@waiting = $self->await_answers(WAITING - 1, $end, @waiting)
		    if $reads;
		last if time > $end;
		my $client = eval { Amped::Client->new(port => $self->{port},
		    window => WINDOW) } // last;
		$client->send($self->request($i));
		push(@{$self->{clients}}, $client);
		push(@waiting, $client);
	}
	$self->await_answers(0, $end, @waiting) if $reads;
}

# Goes on for so many seconds.
sub go {
	my ($self, $seconds) = @_;
	my $next = time;

	local $SIG{PIPE} = 'IGNORE';
	for (1 .. $seconds) {
		for my $client (grep { !$_->{end} } @{$self->{clients}}) {
			syswrite($client->socket, 'u' x AT_ONCE)
			    if $self->{kind} eq 'upload';
			hear($client);
		}
		$next += 1;
		sleep($next - time) if $next > time;
	}
}

# How many are still served: those that send have no answer yet, and those that
# read have a good one.
sub served {
	my ($self) = @_;
	my $good = $self->{kind} eq 'upload' ? qr/\A\z/ : qr{\AHTTP/1\.1 200 };

	return scalar(grep { !$_->{end} && $_->{in} =~ $good }
	    @{$self->{clients}});
}

# Bytes of the first one's answer, head included, the rest of it as fast as it
# comes; undef if it is none that reads.
sub read_one {
	my ($self) = @_;
	my $end = time + REST;
	my $client = $self->{clients}[0];

	return undef unless $self->{kind} eq 'download' && $client;
	while ($client->{bytes} < BODY && !$client->{end} && time < $end) {
		my $before = $client->{bytes};
		hear($client, 65536);
		sleep(0.001) if $client->{bytes} == $before;
	}
	return $client->{bytes};
}

sub close_all { $_[0]{clients} = [] }

1;
