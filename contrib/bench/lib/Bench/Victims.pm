# Bench::Victims: clients of programs that are killed, which know what each
# answer has to be, and sort those that come.
#
# An answer is "right", "refused" (502, 503), "cut" (and right so far) or "lost"
# (none, as the connection has ended); else it is a fault.
package Bench::Victims;

use strict;
use warnings;

use IO::Select;
use JSON::PP qw(decode_json encode_json);
use POSIX ();
use Time::HiRes qw(sleep time);

use Amped::Client;

use constant {
	FAULTS => 20,		# of one client, which then ends
	AHEAD => 3,		# requests at a time
	BODY => 200_000,	# bytes of one, at most
	PAUSE => 0.05,		# s behind a refusal
	SLACK => 1,		# s between a death and what is seen of it
};

# Starts them.
#	port, clients
#	patience	s for each answer
#	targets		what they ask for: programs, which say the query, and
#			the body; and /file
#	file		which says that
sub new {
	my ($class, %opt) = @_;
	my $self = bless({ %opt, running => [], faults => [], lost => [] },
	    $class);

	$self->begin($_) for 1 .. $self->{clients};
	return $self;
}

sub begin {
	my ($self, $number) = @_;

	pipe(my $hear, my $tell) or die "pipe: $!\n";
	pipe(my $told, my $stop) or die "pipe: $!\n";
	# The same for the same seed, another one for each.
	my $seed = int(rand(2 ** 31));
	my $pid = fork() // die "fork: $!\n";
	if ($pid == 0) {
		close($_) for $hear, $stop,
		    map { @$_{qw(hear stop)} } @{$self->{running}};
		$SIG{PIPE} = 'IGNORE';
		srand($seed);
		my $seen = eval { $self->ask($number, $told) } //
		    { faults => ["client $number: $@"] };
		syswrite($tell, encode_json($seen));
		POSIX::_exit(0);
	}
	push(@{$self->{running}}, { pid => $pid, hear => $hear,
	    stop => $stop });
}

# Requests that are sent at once.
sub make_requests {
	my ($self, $number, $count) = @_;
	my @targets = @{$self->{targets}};
	my $n = rand() < 0.3 ? 1 + int(rand(AHEAD)) : 1;

	return map {
		my $target = $targets[rand(@targets)];
		my $id = sprintf('%d.%d', $number, $$count++);
		my $body = $n == 1 && $target ne '/file' && rand() < 0.4 ?
		    substr("$id " x (1 + BODY / length($id)), 0,
		    int(BODY ** rand())) : '';
		{ id => $id, body => $body, target => $target,
		    expected => $target eq '/file' ? $self->{file} :
		    "$id\n$body",
		    bytes => ($body eq '' ? 'GET' : 'POST') .
		    " $target?$id HTTP/1.1\r\nHost: x\r\n" . ($body eq '' ?
		    '' : 'Content-Length: ' . length($body) . "\r\n") .
		    "\r\n$body" };
	} 1 .. $n;
}

# What an answer is, and a fault beside that.
sub sort_answer {
	my ($request, $answer) = @_;
	my ($status, $body) = @{$answer}{qw(status body)};

	if ($status != 200) {
		return ('refused') if $request->{target} ne '/file' &&
		    ($status == 502 || $status == 503);
		return ('wrong', $status == 504 ? 'hangs: 504' :
		    "status $status");
	}
	return ('right') if $body eq $request->{expected} && !$answer->{short};
	return ('cut') if $answer->{short} &&
	    $body eq substr($request->{expected}, 0, length($body));
	return ('wrong', 'the body is not its own: ' . length($body) .
	    ' bytes in place of ' . length($request->{expected}) .
	    ', it begins with ' . substr($body, 0, 40) =~ s/\n/\\n/gr);
}

# Asks until a pipe closes: how many of each sort, faults, and when answers were
# lost.
sub ask {
	my ($self, $number, $told) = @_;
	my %seen = (sorts => {}, faults => [], lost => []);
	my $end = IO::Select->new($told);
	my ($client, $count) = (undef, 0);

	until ($end->can_read(0) || @{$seen{faults}} > FAULTS) {
		my @requests = $self->make_requests($number, \$count);

		# Main may have been killed as soon as it had answered.
		$client //= Amped::Client->new(port => $self->{port},
		    relayed => 1, timeout => $self->{patience});
		my $began = $client->{since} //= time;
		eval { $client->send(join('', map { $_->{bytes} }
		    @requests)); 1 } or push(@{$seen{faults}}, $@);
		for my $request (@requests) {
			last if $client->{closing};
			my $sort = $self->take($client, $request, \%seen);

			$seen{sorts}{$sort}++;
			push(@{$seen{lost}}, [$request->{id}, $began, time])
			    if $sort eq 'lost';
			$client->{closing} ||= $sort !~ /^(?:right|refused)/;
			$client->{since} = time;
			sleep(PAUSE) if $sort eq 'refused';
		}
		undef($client) if $client->{closing};
	}
	return \%seen;
}

# The next answer.
sub take {
	my ($self, $client, $request, $seen) = @_;
	my $answer = eval { $client->response };
	my $why = $@;
	my ($sort, $fault) = ('lost');

	if ($answer) {
		($sort, $fault) = sort_answer($request, $answer);
		$client->{closing} ||= ($answer->{field}{connection} // '') eq
		    'close';
	} elsif ($why =~ /^gave up/) {
		($sort, $fault) = ('wrong', "hangs: $why");
	} elsif ($client->{end} && $why =~ /chunk/) {
		$sort = 'cut';
	} elsif ($why && $why !~ /^a response ends within its head/) {
		($sort, $fault) = ('wrong', $why);
	}
	push(@{$seen->{faults}}, "$request->{target}?$request->{id}: $fault")
	    if defined($fault);
	return $sort;
}

# Ends them; how many answers there were of each sort.
sub stop {
	my ($self) = @_;
	my %sorts = (right => 0);

	close($_->{stop}) for @{$self->{running}};
	for my $client (splice(@{$self->{running}})) {
		local $/;
		my $from = $client->{hear};
		my $seen = eval { decode_json(readline($from) // '') } //
		    { faults => ['a client has died'] };

		waitpid($client->{pid}, 0);
		$sorts{$_} += $seen->{sorts}{$_}
		    for keys %{$seen->{sorts} // {}};
		push(@{$self->{faults}}, @{$seen->{faults}});
		push(@{$self->{lost}}, @{$seen->{lost} // []});
	}
	return \%sorts;
}

# What must not be, once they have ended; answers may be lost only when one of
# these was killed, at those times.
sub faults {
	my ($self, @deaths) = @_;

	return (@{$self->{faults}}, map { "$_->[0] was lost without a cause" }
	    grep { my (undef, $from, $to) = @$_; !grep { $_ > $from - SLACK &&
	    $_ < $to + SLACK } @deaths } @{$self->{lost}});
}

1;
