# Bench::Load: the client, on its core, and what it says.
package Bench::Load;

use strict;
use warnings;

use IPC::Open2 qw(open2);
use JSON::PP qw(decode_json);
use POSIX ();

use Amped;
use Bench::Children;
use Bench::Others;
use Bench::Server;

# Connected and warm, and waiting to go on.
#	server, seconds, workload
#	list, lines	of Bench::Files, if the workload has one; or its own
#			member list
sub new {
	my ($class, %opt) = @_;
	my $w = $opt{workload};
	my @args = (arguments($w), '-d', $opt{seconds});

	push(@args, '-w', $opt{lines}) if $w->{warm};
	my $list = $opt{list} // $w->{list};
	push(@args, '-f', $list) if defined($list);
	push(@args, $opt{server}{port}, $w->{target} // ());
	my $self = bless({}, $class);
	$self->{pid} = open2($self->{from}, $self->{to},
	    Bench::Server::pinned($Bench::Server::client_core),
	    Bench::Server::built('client'), @args);
	Bench::Children::add($self->{pid});
	my $line = readline($self->{from}) // '';
	return $self if $line eq "ready\n";
	$self->end;
	die "$opt{server}{name}: no load for $w->{name}\n";
}

sub arguments {
	my ($w) = @_;

	return ('-c', $w->{c} // 64, $w->{one} ? '-1' : (),
	    @{$w->{client} // []});
}

# Bytes of its request.
sub length_of_request {
	my ($w, $target) = @_;
	open(my $from, '-|', Bench::Server::built('client'), '-l',
	    $w->{one} ? '-1' : (), 1, $target) or die "client: $!\n";

	return readline($from) + 0;
}

# Asks for its seconds; what came of it.  Its connections stay until end().
sub go {
	my ($self) = @_;

	syswrite($self->{to}, "go\n");
	my $line = readline($self->{from});
	return decode_json($line) if defined($line);
	$self->end;
	die "the client died\n";
}

sub end {
	my ($self) = @_;

	close($self->{to});
	close($self->{from});
	waitpid($self->{pid}, 0);
	Bench::Children::gone($self->{pid});
}

# Seconds of all processors so far, by whomever: all but idle and waiting; /proc
# counts by 10 ms.
sub busy {
	my ($user, $nice, $system, undef, undef, @more) =
	    split(' ', Amped::slurp('/proc/stat') =~ s/^cpu +//r);

	# Interrupts, and what the host took.
	return ($user + $nice + $system + $more[0] + $more[1] + $more[2]) /
	    POSIX::sysconf(&POSIX::_SC_CLK_TCK);
}

# All of that at once, as new() is told: the client's figures and, of all of
# the server's processes, the us of processor, in all and a request; others:
# how many processors were whose neither is.
sub measure {
	my (%opt) = @_;
	my ($server, $w) = @opt{qw(server workload)};
	my $load = ($w->{by} ? 'Bench::Others' : 'Bench::Load')->new(%opt);
	my ($before, $busy) = ($server->used, busy());
	my $result = $load->go;

	# What it costs to close connections is not for requests.
	$result->{used} = $server->used - $before;
	$result->{others} = (busy() - $busy - $result->{used} / 1e6 -
	    $result->{processor}) / $result->{seconds};
	$load->end;
	die "$server->{name} answered nothing of $w->{name}\n"
	    unless $result->{requests};
	$result->{cpu} = $result->{used} / $result->{requests};
	$result->{rate} = $result->{requests} / $result->{seconds};
	$result->{errors}++ if $w->{size} && !$w->{by} &&
	    $result->{bytes} != $result->{requests} * $w->{size};
	$server->forget_log;
	return $result;
}

1;
