# Amped::Applications: programs that speak FastCGI or SCGI, and do what a test
# says.
#
# An application runs the lines of Perl that its query names, as "play" of
# Amped::Programs does: as a process that amped starts and keeps, or as a server
# that the test starts.  It writes and reads records itself, so lines can also
# write wrong ones.
package Amped::Applications;

use strict;
use warnings;

use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Test::More ();

use Amped;

# What both begin with.  %request: params, and what is known of its course.
my $begin = <<'END';
no warnings 'redefine';
our ($connection, %request);
END

# What both end with.
my $common = <<'END';
$SIG{PIPE} = 'IGNORE';

sub get_bytes {
	my ($n) = @_;
	my $all = '';
	while (length($all) < $n) {
		sysread($connection, $all, $n - length($all), length($all))
		    or return;
	}
	return $all;
}

sub send_raw {
	my ($bytes) = @_;
	while ($bytes ne '') {
		my $n = syswrite($connection, $bytes, 65536) // return;
		substr($bytes, 0, $n, '');
	}
}

sub hang_up {
	shutdown($connection, 2);
	$request{ended} = 1;
}

# All that the application was given, as "env" of Amped::Programs says it.
sub put_all {
	put("Content-Type: application/octet-stream\n\n" . join("\0",
	    (map { "$_=$request{params}{$_}" } sort keys %{$request{params}}),
	    "-pid=$$", "-flags=$request{flags}", "-first=$request{first}",
	    "-role=$request{role}",
	    '-inherited=' . ($ENV{AMPED_TEST_SECRET} // 'nothing'),
	    '-body=' . take_body()));
}

sub play {
	%PLAY
	print STDERR $@ if $@;
	take_body();
	finish() unless $request{ended};
}

open(my $listener, '+<&=', 0) or die "no socket: $!\n";
while (accept($connection, $listener)) {
	while (take_request()) {
		alarm(%LIFE);
		play();
		last unless $request{flags} & 1;
	}
	close($connection);
}
END

my %scripts = (
	fastcgi => <<'END',
use constant { BEGIN_REQUEST => 1, END_REQUEST => 3, PARAMS => 4, INPUT => 5,
    OUTPUT => 6, ERRORS => 7, DATA => 8 };

# A record, padded to eight bytes; in pieces, if so many bytes are asked for.
sub record {
	my ($type, $content, %opt) = @_;
	my $pad = $opt{pad} // -length($content) % 8;
	my $bytes = pack('CCnnCC', $opt{version} // 1, $type,
	    $opt{id} // $request{id}, length($content), $pad, 0) .
	    $content . "\xff" x $pad;

	send_raw($bytes) unless $opt{pieces};
	while ($opt{pieces} && $bytes ne '') {
		send_raw(substr($bytes, 0, $opt{pieces}, ''));
		select(undef, undef, undef, 0.001);
	}
}

sub put {
	my ($bytes) = @_;
	record(OUTPUT, substr($bytes, 0, 65528, '')) while $bytes ne '';
}

sub complain { record(ERRORS, $_[0]) }

# Ends the answer, with a status and one of the protocol.
sub finish {
	my ($status, $protocol) = @_;

	record(END_REQUEST, pack('NCx3', $status // 0, $protocol // 0));
	$request{ended} = 1;
}

sub get_record {
	my ($type, $id, $len, $pad) =
	    unpack('xCnnCx', get_bytes(8) // return);
	my $content = get_bytes($len) // return;

	get_bytes($pad) // return;
	return ($type, $id, $content);
}

sub take_body {
	my $all = '';
	until ($request{whole}) {
		my ($type, undef, $content) = get_record() or return $all;
		$request{whole} = $content eq '' if $type == INPUT;
		$all .= $content;
	}
	return $all;
}

# The file that an application in the role of a filter gets behind the body.
sub take_data {
	my $all = '';
	take_body();
	until ($request{has_data}) {
		my ($type, undef, $content) = get_record() or return $all;
		die "record of type $type\n" unless $type == DATA;
		$request{has_data} = $content eq '';
		$all .= $content;
	}
	return $all;
}

sub take_length {
	my ($from) = @_;
	my $n = unpack('C', $$from);

	return unpack($n < 128 ? 'C' : 'N',
	    substr($$from, 0, $n < 128 ? 1 : 4, '')) & 0x7fffffff;
}

sub take_request {
	my ($type, $id, $content) = get_record() or return 0;
	my $params = '';

	die "record of type $type\n" unless $type == BEGIN_REQUEST;
	%request = (id => $id, flags => unpack('xxC', $content),
	    role => unpack('n', $content), first => 'none');
	while (1) {
		(my ($type), undef, $content) = get_record() or return 0;
		die "record of type $type\n" unless $type == PARAMS;
		last if $content eq '';
		$params .= $content;
	}
	while ($params ne '') {
		my ($name, $value) = (take_length(\$params),
		    take_length(\$params));
		$name = substr($params, 0, $name, '');
		$request{params}{$name} = substr($params, 0, $value, '');
	}
	return 1;
}
END
	scgi => <<'END',
sub put { send_raw($_[0]) }
sub finish { hang_up() }

sub take_body {
	my $left = $request{left};
	$request{left} = 0;
	return get_bytes($left) // '';
}

sub take_request {
	my ($len, $c) = ('');
	$len .= $c while ($c = get_bytes(1) // return 0) =~ /\d/;
	die "no netstring\n" unless $c eq ':';
	my $head = get_bytes($len) // return 0;
	my @texts = split(/\0/, $head, -1);
	die "no comma\n" unless (get_bytes(1) // '') eq ',';
	%request = (flags => 0, role => 'none', first => $texts[0],
	    left => $texts[1],
	    params => { @texts[0 .. $#texts - 1] });
	return 1;
}
END
);

# Writes the application of a protocol to bin/NAME; its file.  code: lines that
# it runs for each request, in place of those that the query names.
sub make {
	my ($programs, $name, $protocol, $code) = @_;

	$code //= 'my $done = do("%CASES/$request{params}{QUERY_STRING}");';
	return $programs->perl("bin/$name", $begin . $scripts{$protocol} .
	    ($common =~ s/%PLAY/$code/r));
}

# Where a server may listen: unix:FILE in a directory, or ADDRESS:PORT.
sub place {
	my ($kind, $dir, $name) = @_;

	return $kind eq 'unix' ? "unix:$dir/$name" :
	    '127.0.0.1:' . Amped::free_port();
}

# Starts an application as a server, with so many processes.
sub serve {
	my ($class, $file, $where, $n) = @_;
	my $self = bless({ pids => [], dir => Amped::docroot(err => '') },
	    $class);
	my $socket;

	if ($where =~ /^unix:(.*)/) {
		unlink($1);
		$socket = IO::Socket::UNIX->new(Local => $1, Listen => 64)
		    // die "$where: $!\n";
		chmod(0666, $1);
	} else {
		$socket = IO::Socket::INET->new(LocalAddr => $where,
		    Listen => 64, ReuseAddr => 1) // die "$where: $!\n";
	}
	push(@{$self->{pids}}, $self->spawn($file, $socket))
	    for 1 .. $n // 1;
	close($socket);
	return $self;
}

sub spawn {
	my ($self, $file, $socket) = @_;
	my $pid = fork() // die "fork: $!\n";

	return $pid if $pid != 0;
	POSIX::dup2(fileno($socket), 0);
	open(STDERR, '>>', "$self->{dir}/err");
	exec($file) or POSIX::_exit(127);
}

# What its processes have complained of.
sub errors { return Amped::slurp("$_[0]{dir}/err") }

sub stop {
	my ($self) = @_;

	kill('KILL', @{$self->{pids}});
	waitpid($_, 0) for @{$self->{pids}};
	$self->{pids} = [];
}

sub DESTROY {
	my ($self) = @_;
	local $?;

	$self->stop;
}

1;
