# Amped::Replay: the requests of a trace, played to a server, with every
# answer checked: status, length, and each byte.
#
# A trace is a line for each request (seconds, path, bytes, status, client),
# a list is a line for each file (path, size, requests), tab-separated, plain
# or gzipped.  A name stands in them as it is on disk: "%3a" is three bytes.
# What a file contains follows from its name, so nothing else is needed.
package Amped::Replay;

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use IO::Uncompress::Gunzip;
use POSIX qw(strftime);
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);

use Amped;
use Amped::Client;
use Amped::Process;

# The Internet Traffic Archive's logs are of that summer.
use constant MODIFIED => 807_000_000;

sub each_row {
	my ($file, $function) = @_;
	my $in = IO::Uncompress::Gunzip->new($file, Transparent => 1)
	    or die "$file: $IO::Uncompress::Gunzip::GunzipError\n";

	while (defined(my $line = $in->getline)) {
		chomp($line);
		last unless $function->(split(/\t/, $line));
	}
}

# Names that one of the compared servers refuses, or reads otherwise.
sub strange { return $_[0] =~ m{//|/\.} }

# A new one: reads the list and the trace, at most so many requests.
sub new {
	my ($class, $list, $trace, $most) = @_;
	my $self = bless({ sizes => {}, requests => [], left_out => 0 },
	    $class);
	my %size;

	each_row($list, sub {
		my ($path, $size) = @_;
		die "$list: no size for $path\n" unless $size =~ /\A\d+\z/;
		$size{$path} = $size;
	});
	each_row($trace, sub {
		my ($path, $status) = @_[1, 3];
		return 0 if defined($most) && @{$self->{requests}} >= $most;
		if (strange($path)) {
			$self->{left_out}++;
			return 1;
		}
		die "$trace: $path is not in $list\n"
		    unless exists($size{$path});
		$self->{sizes}{$path} = $size{$path};
		push(@{$self->{requests}}, [$path, $status]);
	});
	return $self;
}

# The files that the requests ask for, below a directory.
sub build {
	my ($self, $root) = @_;

	for my $path (sort(keys(%{$self->{sizes}}))) {
		my $bytes = Amped::content($path, $self->{sizes}{$path});
		Amped::write_file("$root$path", $bytes);
		utime(MODIFIED, MODIFIED, "$root$path");
		$self->{content}{$path} = $bytes;
	}
	$self->{tags} = {};
}

sub encode {
	my ($path) = @_;

	$path =~ s{([^A-Za-z0-9\-._~/!\$&'()*+,;=:@])}
	    {sprintf('%%%02X', ord($1))}ge;
	return $path;
}

# Plays all requests over n connections at once, which stay open or take one
# request each.  Returns requests, bytes, errors (some texts), wrong (their
# number), seconds, and the server's seconds of processor.
sub play {
	my ($self, $server, $connections, $keep) = @_;
	my $result = { requests => 0, bytes => 0, errors => [], wrong => 0 };
	my $cpu = Amped::Process::cpu_seconds($server->{pid});
	my $start = time;
	my %run = (server => $server, keep => $keep, result => $result,
	    next => 0, select => IO::Select->new, slots => {});

	local $SIG{PIPE} = 'IGNORE';
	$self->ask(\%run, {}) for 1 .. $connections;
	while ($run{select}->count > 0) {
		my @ready = $run{select}->can_read(Amped::timeout())
		    or die "the server does not answer any more\n";
		$self->take(\%run, $run{slots}{fileno($_)}) for @ready;
	}
	$result->{seconds} = time - $start;
	$result->{cpu} = Amped::Process::cpu_seconds($server->{pid}) - $cpu;
	return $result;
}

sub wrong {
	my ($run, $slot, $what) = @_;
	my $result = $run->{result};

	$result->{wrong}++;
	push(@{$result->{errors}}, "$slot->{path}: $what")
	    if @{$result->{errors}} < 10;
}

sub open_slot {
	my ($run, $slot) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $run->{server}->port) or die "connect: $@\n";

	setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);
	$socket->blocking(0);
	$slot->{socket} = $socket;
	$slot->{in} = '';
	$run->{slots}{fileno($socket)} = $slot;
	$run->{select}->add($socket);
}

sub close_slot {
	my ($run, $slot) = @_;
	my $socket = delete($slot->{socket}) // return;

	delete($run->{slots}{fileno($socket)});
	$run->{select}->remove($socket);
	close($socket);
}

# The next request on this slot, or the end of it.
sub ask {
	my ($self, $run, $slot) = @_;
	my $request = $self->{requests}[$run->{next}++];

	return close_slot($run, $slot) unless defined($request);
	my ($path, $status) = @$request;
	open_slot($run, $slot) unless defined($slot->{socket});
	@{$slot}{qw(path status)} = @$request;
	delete($slot->{answer});
	my $bytes = 'GET ' . encode($path) . ' HTTP/1.' .
	    ($run->{keep} ? "1\r\nHost: localhost\r\n" : "0\r\n") .
	    ($status == 304 ? $self->condition($path) : '') . "\r\n";
	my $sent = syswrite($slot->{socket}, $bytes) // 0;
	wrong($run, $slot, "only $sent bytes of the request went")
	    if $sent != length($bytes);
}

# By the tag if it is known, else by the date.
sub condition {
	my ($self, $path) = @_;
	my $tag = $self->{tags}{$path};

	return defined($tag) ? "If-None-Match: $tag\r\n" :
	    'If-Modified-Since: ' . strftime('%a, %d %b %Y %T GMT',
	    gmtime(MODIFIED)) . "\r\n";
}

# Adds bytes of a response, and checks it when it is complete.
sub take {
	my ($self, $run, $slot) = @_;
	my $n = sysread($slot->{socket}, $slot->{in}, 262_144,
	    length($slot->{in}));

	return if !defined($n) && $!{EAGAIN};
	if (!$n) {
		$self->ended($run, $slot);
		return $self->ask($run, $slot);
	}
	if (!$slot->{answer}) {
		my $end = index($slot->{in}, "\r\n\r\n");
		return if $end == -1;
		$slot->{answer} = Amped::Client::parse_head(
		    substr($slot->{in}, 0, $end + 4, ''));
	}
	return unless $run->{keep};
	my $length = $slot->{status} == 304 ? 0 :
	    $slot->{answer}{field}{'content-length'} // 0;
	return if length($slot->{in}) < $length;
	$self->check($run, $slot);
	$self->ask($run, $slot);
}

# The server has closed, which is right only after a connection's one request.
sub ended {
	my ($self, $run, $slot) = @_;

	if ($slot->{answer}) {
		$self->check($run, $slot);
	} else {
		wrong($run, $slot, 'no answer');
	}
	close_slot($run, $slot);
}

sub check {
	my ($self, $run, $slot) = @_;
	my ($path, $answer) = @{$slot}{qw(path answer)};
	my $result = $run->{result};
	my $body = $slot->{in};

	$slot->{in} = '';
	$result->{requests}++;
	$result->{bytes} += length($body);
	$self->{tags}{$path} = $answer->{field}{etag};
	return wrong($run, $slot, "$answer->{status}, not $slot->{status}")
	    if $answer->{status} != $slot->{status};
	return $body eq '' || wrong($run, $slot, 'a 304 with a body')
	    if $slot->{status} == 304;
	return wrong($run, $slot, 'the length is wrong')
	    if ($answer->{field}{'content-length'} // -1) !=
	    $self->{sizes}{$path} || length($body) != $self->{sizes}{$path};
	return wrong($run, $slot, 'the bytes are wrong')
	    if $body ne $self->{content}{$path};
}

1;
