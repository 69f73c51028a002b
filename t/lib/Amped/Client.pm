# Amped::Client: a strict HTTP client.
#
# The client reads a response by its framing, and dies if the response is
# malformed or late.
package Amped::Client;

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP SHUT_WR SOCK_STREAM SOL_SOCKET SO_LINGER SO_RCVBUF
    TCP_NODELAY);
use Time::HiRes qw(time);

# The bytes on the wire differ by this one, if the server has t/layer.c.
my $key = exists($ENV{AMPED_LAYER}) ? "\x5a" : undef;
my $token = qr/[!#\$%&'*+\-.^_`|~0-9A-Za-z]+/;
# Fields that a response has once at most, also one that a program makes.
my $single = qr/\A(?:connection|content-length|content-type|date|location|server|
    transfer-encoding)\z/x;
my $date = qr/(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),\ [0-3]\d
    \ (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ \d{4}
    \ [0-2]\d:[0-5]\d:[0-6]\d\ GMT/x;

# relayed: a program makes the responses, so their bodies may be in chunks, and
# a field may stand there several times; its values are lines then.
sub new {
	my ($class, %opt) = @_;
	my $socket = IO::Socket::INET->new(Proto => 'tcp', Type => SOCK_STREAM)
	    or die "socket: $@\n";
	my $address = Socket::pack_sockaddr_in($opt{port},
	    Socket::inet_aton('127.0.0.1'));

	local $SIG{PIPE} = 'IGNORE';
	# Before connecting, for a window that stays small.
	setsockopt($socket, SOL_SOCKET, SO_RCVBUF, $opt{window})
	    if $opt{window};
	bind($socket, Socket::pack_sockaddr_in(0,
	    Socket::inet_aton($opt{from}))) or die "bind: $!\n"
	    if $opt{from};
	CORE::connect($socket, $address) or die "connect: $!\n";
	setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);
	$socket->blocking(0);
	return bless({ socket => $socket, in => '', end => 0,
	    relayed => $opt{relayed},
	    timeout => $opt{timeout} // Amped::timeout() }, $class);
}

sub socket { return $_[0]{socket} }

sub wait_for {
	my ($self, $how, $what) = @_;
	my $select = IO::Select->new($self->{socket});
	my @ready = $how eq 'write' ? $select->can_write($self->{timeout})
	    : $select->can_read($self->{timeout});

	die "gave up waiting for $what\n" unless @ready;
}

# From bytes to those on the wire, or back.
sub code {
	my ($bytes) = @_;

	return defined($key) ? "$bytes" ^ $key x length($bytes) : $bytes;
}

# Sends bytes; returns how many were sent before the server closed.
sub send {
	my ($self, $bytes) = @_;
	my $sent = 0;

	$bytes = code($bytes);
	local $SIG{PIPE} = 'IGNORE';
	while ($sent < length($bytes)) {
		my $n = syswrite($self->{socket}, $bytes,
		    length($bytes) - $sent, $sent);
		if (defined($n)) {
			$sent += $n;
		} elsif ($!{EAGAIN}) {
			$self->wait_for('write', 'the server to read');
		} else {
			last;
		}
	}
	return $sent;
}

# Reads at least one byte, or to the end.
sub fill {
	my ($self, $most) = @_;

	$self->wait_for('read', 'the server to answer');
	my $at = length($self->{in});
	my $n = sysread($self->{socket}, $self->{in}, $most // 262144, $at);
	return if !defined($n) && $!{EAGAIN};
	substr($self->{in}, $at) = code(substr($self->{in}, $at))
	    if $n && defined($key);
	$self->{reset} = 1 unless defined($n);
	$self->{end} = 1 unless $n;
}

sub want {
	my ($self, $bytes) = @_;

	$self->fill until length($self->{in}) >= $bytes || $self->{end};
}

# Reads the next response, to a request of this method; undef if the server
# closed.
sub response {
	my ($self, $method) = @_;
	my ($head, $answer, $length);

	$self->fill until $self->{in} =~ /\r\n\r\n/ || $self->{end};
	return undef if $self->{in} eq '';
	($head) = $self->{in} =~ /\A(.*?\r\n\r\n)/s
	    or die "a response ends within its head: $self->{in}\n";
	substr($self->{in}, 0, length($head)) = '';
	$answer = parse_head($head, $self->{relayed});
	$length = body_length($answer, $method // 'GET', $self->{relayed});
	return $self->take_chunks($answer)
	    if $answer->{field}{'transfer-encoding'} && !defined($length);
	if (defined($length)) {
		$self->want($length);
	} else {
		$self->fill until $self->{end};
		$length = length($self->{in});
	}
	$answer->{short} = length($self->{in}) < $length ? 1 : 0;
	$answer->{body} = substr($self->{in}, 0, $length, '');
	return $answer;
}

# Reads a body in chunks; it is short if the last one is missing.
sub take_chunks {
	my ($self, $answer) = @_;
	my $size;

	@{$answer}{qw(body short chunked)} = ('', 1, 1);
	do {
		$self->fill until $self->{in} =~ /\n/ || $self->{end};
		return $answer if $self->{in} eq '';
		$self->{in} =~ s/\A([0-9A-Fa-f]+)\r\n//
		    or die 'no size of a chunk: ' .
		    substr($self->{in}, 0, 80) . "\n";
		$size = hex($1);
		$self->want($size + 2);
		my $have = length($self->{in}) < $size ? length($self->{in}) :
		    $size;
		$answer->{body} .= substr($self->{in}, 0, $have, '');
		return $answer if $have < $size || $self->{in} eq '';
		$self->{in} =~ s/\A\r\n// or die "a chunk has no end\n";
	} while ($size > 0);
	$answer->{short} = 0;
	return $answer;
}

# Sends n requests for a target, one after the other; returns how many responses
# have that body.
sub right {
	my ($self, $times, $target, $body) = @_;
	my $right = 0;

	for (1 .. $times) {
		$self->send("GET $target HTTP/1.1\r\nHost: x\r\n\r\n");
		my $answer = $self->response // last;
		$right++ if $answer->{status} == 200 &&
		    $answer->{body} eq $body;
	}
	return $right;
}

# Requests these targets n times; returns whether the responses have these
# bodies.
sub all_right {
	my ($self, $times, %bodies) = @_;

	for (1 .. $times) {
		for my $target (sort keys %bodies) {
			return 0
			    unless $self->right(1, $target, $bodies{$target});
		}
	}
	return 1;
}

sub parse_head {
	my ($head, $relayed) = @_;
	my ($status, @lines) = split(/\r\n/, $head);
	my %answer = (head => $head, field => {});

	$status =~ m{\AHTTP/1\.1 ([1-5]\d\d) ([\x20-\x7e]*)\z}
	    or die "not a status line: $status\n";
	@answer{qw(status reason)} = ($1, $2);
	for my $line (@lines) {
		my ($name, $value) = $line =~
		    /\A($token):[ \t]*([^\r\n]*?)[ \t]*\z/
		    or die "not a field line: $line\n";
		$name = lc($name);
		die "a second $name\n" if exists($answer{field}{$name}) &&
		    (!$relayed || $name =~ $single);
		die "bad bytes in $name\n" if $value =~ /[^\t\x20-\x7e]/;
		$answer{field}{$name} = join("\n",
		    $answer{field}{$name} // (), $value);
	}
	for my $name (qw(date last-modified)) {
		my $value = $answer{field}{$name} // next;
		die "bad $name: $value\n" unless $value =~ /\A$date\z/;
	}
	die "no Date:\n$head" unless exists($answer{field}{date}) ||
	    $answer{status} =~ /^1/;
	return \%answer;
}

# The length of the body; undef: up to the end of the connection.
sub body_length {
	my ($answer, $method, $relayed) = @_;
	my $length = $answer->{field}{'content-length'};
	my $coding = $answer->{field}{'transfer-encoding'};

	die "a transfer coding\n" if defined($coding) && (!$relayed ||
	    $coding ne 'chunked' || defined($length) ||
	    $answer->{status} =~ /^(?:1..|204|304)/);
	die "bad Content-Length: $length\n"
	    if defined($length) && $length !~ /\A\d+\z/;
	return 0 if $method eq 'HEAD' ||
	    $answer->{status} =~ /^(?:1..|204|304)/;
	return $length;
}

# True when the server has closed, or closes in time, without another byte.
sub closed {
	my ($self) = @_;

	$self->fill until $self->{end} || $self->{in} ne '';
	return $self->{in} eq '';
}

# True if nothing has come so far, and the connection is open.
sub quiet {
	my ($self) = @_;
	my $select = IO::Select->new($self->{socket});

	$self->fill if $select->can_read(0);
	return $self->{in} eq '' && !$self->{end};
}

sub half_close { shutdown($_[0]{socket}, SHUT_WR) }

sub close { CORE::close($_[0]{socket}) }

# Closes the connection with a reset.
sub abort {
	my ($self) = @_;

	setsockopt($self->{socket}, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
	CORE::close($self->{socket});
}

1;
