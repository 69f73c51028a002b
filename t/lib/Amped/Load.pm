# Amped::Load: clients that send request after request, each in its own process,
# until they are told to stop; then they report.
#
# A failure is any wrong response, and a connection that is refused, reset, or
# closed without announcement.  So is an answer of a release, if a client had
# received a later release before this answer was asked for.
package Amped::Load;

use strict;
use warnings;

use POSIX ();
use Socket qw(AF_UNIX PF_UNSPEC SOCK_STREAM);
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);

use IO::Select;

use Amped::Client;

# Starts them.
#	port	of the server
#	clients	how many (4)
#	targets	what they ask for: target => body, or [bodies] any of which is
#		right, or a function that makes it of the query, or a pattern
#		whose first group is the release's number; undef: a 404
#	check	a function of target and answer that returns what is wrong, in
#		place of the targets' bodies
#	together	all targets change at once: an answer is of no earlier
#		release than those of the other targets, either
#	gaps	a target with releases may be absent (404) between two
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
		$self->report($theirs, @seen);
		POSIX::_exit(0);
	}
	CORE::close($theirs);
	push(@{$self->{running}}, { pid => $pid, pipe => $ours });
}

# Writes the number of right responses, then a line for each failure, and one
# for each release: when it came first, and when it was asked for last.
sub report {
	my ($self, $pipe, @seen) = @_;

	for my $key (sort(keys(%{$self->{seen}}))) {
		my $seen = $self->{seen}{$key};

		push(@seen, map { "release $key $_ @{$seen->{$_}}" }
		    sort { $a <=> $b } keys(%$seen));
	}
	my $text = join("\n", map { s/\n/ /gr } @seen);
	while ($text ne '') {
		my $n = syswrite($pipe, $text) // last;
		substr($text, 0, $n) = '';
	}
}

# Returns the number of right responses, and the failures.
sub ask {
	my ($self, $number, $pipe) = @_;
	my @targets = sort keys %{$self->{targets}};
	my ($n, $right, $client, $left, @wrong) = (0, 0, undef, 0);
	# Each begins at another place of the targets.
	my $first = int(@targets * ($number - 1) / $self->{clients});
	my $select = IO::Select->new($pipe);

	while (!$select->can_read($self->{pause} / 1000)) {
		my $target = $targets[($first + $n++) % @targets];
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
	my $asked = clock_gettime(CLOCK_MONOTONIC);
	$client->send("GET $target?$id. HTTP/1.1\r\nHost: x\r\n\r\n");
	my $answer = $client->response;
	return ($client->{reset} ? 'reset' : 'closed without an answer', 0)
	    unless $answer;
	return ('cut short', 0) if $answer->{short};
	my $stays = ($answer->{field}{connection} // '') ne 'close';
	return (undef, $stays) if $self->{gaps} && $answer->{status} == 404;
	return ("status $answer->{status}", 0)
	    if $answer->{status} != (defined($body) ? 200 : 404);
	if ($self->{check}) {
		my $why = $self->{check}->($target, $answer);
		return ($why, 0) if $why;
	} elsif (ref($body) eq 'Regexp') {
		return ('the wrong body', 0) unless $answer->{body} =~ $body;
		$self->note_release($self->{together} ? '*' : $target, $1,
		    $asked);
	} elsif (defined($body)) {
		return ('the wrong body', 0) unless
		    grep { $answer->{body} eq $_ } ref($body) ? @$body : $body;
	}
	return (undef, $stays);
}

# Notes a release that has come, and when it was asked for.
sub note_release {
	my ($self, $key, $release, $asked) = @_;
	my $seen = $self->{seen}{$key}{$release} //=
	    [clock_gettime(CLOCK_MONOTONIC), 0];

	$seen->[1] = $asked;
}

# The failures of order, of what all clients have seen: key => { release =>
# [first came, asked for last] }.
sub find_older {
	my ($seen) = @_;
	my @older;

	for my $key (sort(keys(%$seen))) {
		my ($by, $first);

		for my $release (sort { $b <=> $a } keys(%{$seen->{$key}})) {
			my ($came, $asked) = @{$seen->{$key}{$release}};

			push(@older, sprintf('%s: release %s was asked for ' .
			    '%.1f ms after release %s had come', $key, $release,
			    1000 * ($asked - $first), $by))
			    if defined($first) && $asked > $first;
			($first, $by) = ($came, $release)
			    if !defined($first) || $came < $first;
		}
	}
	return @older;
}

# Stops the clients; returns the number of right responses, and the failures.
sub stop {
	my ($self) = @_;
	my ($right, @wrong) = (0);
	my %seen;

	shutdown($_->{pipe}, 1) for @{$self->{running}};
	for my $client (splice(@{$self->{running}})) {
		local $/;
		my $pipe = $client->{pipe};
		my $said = <$pipe> // '';
		my ($n, @bad) = split(/\n/, $said);

		add_releases(\%seen, grep { /^release / } @bad);
		@bad = grep { !/^release / } @bad;

		waitpid($client->{pid}, 0);
		push(@bad, "client process ended with $?") if $?;
		push(@bad, 'a client said nothing') unless defined($n);
		$right += $n // 0;
		push(@wrong, @bad);
	}
	return ($right, @wrong, find_older(\%seen));
}

# Adds the lines of a client to what all have seen.
sub add_releases {
	my ($seen, @lines) = @_;

	for my $line (@lines) {
		my (undef, $key, $release, $came, $asked) = split(/ /, $line);
		my $all = $seen->{$key}{$release} //= [$came, $asked];

		$all->[0] = $came if $came < $all->[0];
		$all->[1] = $asked if $asked > $all->[1];
	}
}

# A test that dies leaves no client: each ends with its pipe.
sub DESTROY {
	local ($?, $!);
	waitpid($_->{pid}, 0) for map { CORE::close($_->{pipe}); $_ }
	    splice(@{$_[0]{running}});
}

1;
