# Amped::Load: clients that send request after request, each in its own process,
# until they are told to stop; then they report.
#
# A failure is any wrong response, and a connection that is refused, reset, or
# closed without announcement.
package Amped::Load;

use strict;
use warnings;

use POSIX ();
use Socket qw(AF_UNIX PF_UNSPEC SOCK_STREAM);
use Time::HiRes ();

use IO::Select;

use Amped::Client;

# Starts them.
#	port	of the server
#	clients	how many (4)
#	targets	what they ask for: target => body, or [bodies] any of which is
#		right, or a function that makes it of the query; undef: a 404
#	stay	requests on a connection, unless the server ends it (1000)
#	relayed	programs make the responses
#	pause	ms between two requests (1: other tests run beside this one)
sub new {
	my ($class, %opt) = @_;
	my $self = bless({ clients => 4, stay => 1000, pause => 1, %opt,
	    running => [] }, $class);

	$self->begin($_) for 1 .. $self->{clients};
	return $self;
}

sub begin {
	my ($self, $number) = @_;
	socketpair(my $ours, my $theirs, AF_UNIX, SOCK_STREAM, PF_UNSPEC)
	    or die "socketpair: $!\n";
	my $pid = fork() // die "fork: $!\n";

	if ($pid == 0) {
		CORE::close($ours);
		CORE::close($_->{pipe}) for @{$self->{running}};
		$SIG{ALRM} = 'DEFAULT';
		my @seen = eval { $self->ask($number, $theirs) };
		@seen = (0, "client $number: $@") if $@;
		syswrite($theirs, join("\n", map { s/\n/ /gr } @seen));
		POSIX::_exit(0);
	}
	CORE::close($theirs);
	push(@{$self->{running}}, { pid => $pid, pipe => $ours });
}

# Writes the number of right responses, then a line for each failure.
sub ask {
	my ($self, $number, $pipe) = @_;
	my @targets = sort keys %{$self->{targets}};
	my ($n, $right, $client, $left, @wrong) = (0, 0, undef, 0);
	my $select = IO::Select->new($pipe);

	while (!$select->can_read($self->{pause} / 1000)) {
		my $target = $targets[$n++ % @targets];
		my ($why, $stays) = eval {
			$client //= Amped::Client->new(port => $self->{port},
			    relayed => $self->{relayed});
			$self->one($client, $target, "$number.$n");
		};
		$why = $@ if $@;
		$why ? push(@wrong, "$number.$n $target: $why") : $right++;
		$left = $self->{stay} unless $left;
		undef($client) if $why || !$stays || --$left == 0;
		last if @wrong > 20;
	}
	return ($right, @wrong);
}

# Returns the failure or undef, and whether the connection stays open.
sub one {
	my ($self, $client, $target, $id) = @_;
	my $body = $self->{targets}{$target};

	$body = $body->("$id.") if ref($body) eq 'CODE';
	$client->send("GET $target?$id. HTTP/1.1\r\nHost: x\r\n\r\n");
	my $answer = $client->response;
	return ($client->{reset} ? 'reset' : 'closed without an answer', 0)
	    unless $answer;
	return ('cut short', 0) if $answer->{short};
	return ("status $answer->{status}", 0)
	    if $answer->{status} != (defined($body) ? 200 : 404);
	return ('the wrong body', 0) if defined($body) &&
	    !grep { $answer->{body} eq $_ } ref($body) ? @$body : $body;
	return (undef, ($answer->{field}{connection} // '') ne 'close');
}

# Stops the clients; returns the number of right responses, and the failures.
sub stop {
	my ($self) = @_;
	my ($right, @wrong) = (0);

	shutdown($_->{pipe}, 1) for @{$self->{running}};
	for my $client (splice(@{$self->{running}})) {
		local $/;
		my $pipe = $client->{pipe};
		my $said = <$pipe> // '';
		my ($n, @bad) = split(/\n/, $said);

		waitpid($client->{pid}, 0);
		push(@bad, "client process ended with $?") if $?;
		push(@bad, 'a client said nothing') unless defined($n);
		$right += $n // 0;
		push(@wrong, @bad);
	}
	return ($right, @wrong);
}

# A test that dies leaves no client: each ends with its pipe.
sub DESTROY {
	local ($?, $!);
	waitpid($_->{pid}, 0) for map { CORE::close($_->{pipe}); $_ }
	    splice(@{$_[0]{running}});
}

1;
