# Bench::Link: a link of some rate between servers and clients: two network
# namespaces, a pair of devices, and a token bucket before the clients' one.
#
# What is ours alone is the kernel's to take away: a namespace ends with its
# last process, and its devices with it.
package Bench::Link;

use strict;
use warnings;

use Amped qw(await docroot slurp);
use Bench::Children;
use Bench::Server;

my %unit = (kbit => 1e3, mbit => 1e6, gbit => 1e9);

use constant { ADDRESS => '10.9.0.1', CLIENT => '10.9.0.2',
    CONTROL => '/proc/sys/net/ipv4/tcp_congestion_control' };

# What there has to be; '' if nothing is missing.
sub missing {
	return 'root is needed' unless $> == 0;
	for my $program (qw(ip nsenter tc unshare)) {
		return "there is no $program"
		    unless Bench::Server::which($program);
	}
	return 'there are no namespaces of the network'
	    if system('unshare -n true 2> /dev/null') != 0;
	return '';
}

sub told {
	my ($command) = @_;

	system($command) == 0 or die "link: $command\n";
}

sub control {
	open(my $control, '<', CONTROL) or return '';
	return <$control> =~ s/\n//r;
}

# Goes on as the same program in a namespace of the network that is its own, with
# the congestion control of the one before: a new one has that of the system.
sub enter {
	my (@command) = @_;
	my $wanted = $ENV{AMPED_BENCH_NETWORK};

	if (defined($wanted)) {
		told('ip link set lo up');
		use_control($wanted) if $wanted ne control();
		return;
	}
	$ENV{AMPED_BENCH_NETWORK} = control();
	exec('unshare', '-n', $^X, @command) or die "unshare: $!\n";
}

# What our namespace controls congestion by, from now on.
sub use_control {
	my ($name) = @_;

	open(my $control, '>', CONTROL);
	print $control $name;
	close($control) or die "link: no congestion control $name\n";
}

sub network_of { return readlink("/proc/$_[0]/ns/net") // '' }

# rate: as tc(8) takes it.  queue: the queue's discipline in place of tbf's own,
# with as many packets as it takes by itself; its packets are those of a wire.
sub new {
	my ($class, $rate, $queue) = @_;
	my $bucket = $queue ? 'burst 32kb limit 1mb' :
	    'burst 256kb latency 50ms';
	my $pid = Amped::spawn(['unshare', '-n', 'sleep', '100000'],
	    '/dev/null', '/dev/null');

	Bench::Children::add($pid);
	await('a namespace', sub {
		network_of($pid) ne network_of($$) && network_of($pid) ne '' });
	told('ip link add link0 type veth peer name link1');
	told("ip link set link1 netns $pid");
	told('ip addr add ' . ADDRESS . '/24 dev link0');
	told('ip link set link0 up');
	told("tc qdisc add dev link0 root handle 1: tbf rate $rate $bucket");
	told("tc qdisc add dev link0 parent 1:1 $queue") if $queue;
	told("nsenter -t $pid -n ip addr add " . CLIENT . '/24 dev link1');
	told("nsenter -t $pid -n ip link set link1 up");
	return bless({ pid => $pid, rate => $rate }, $class);
}

# A command's beginning, to run it at the clients' end.
sub at_client { return ('nsenter', '-t', $_[0]{pid}, '-n') }

# Looks at the bucket's queue twenty times a second, until queue_ms().
sub watch_queue {
	my ($self) = @_;

	$self->{looks} = docroot() . '/queue';
	$self->{looker} = Amped::spawn(['sh', '-c', 'while sleep 0.05; do ' .
	    'tc -s -j qdisc show dev link0; done'], $self->{looks},
	    '/dev/null');
	Bench::Children::add($self->{looker});
}

# How long the queue has taken to be sent, in ms: median and 99th percentile of
# the looks.
sub queue_ms {
	my ($self) = @_;
	my ($number, $unit) = $self->{rate} =~ /\A([\d.]+)([kmg]bit)\z/ or
	    die "link: rate $self->{rate}\n";

	kill('KILL', $self->{looker});
	waitpid($self->{looker}, 0);
	Bench::Children::gone($self->{looker});
	my @bytes = sort { $a <=> $b } slurp($self->{looks}) =~
	    /"backlog":(\d+)/g;
	@bytes = (0) unless @bytes;
	return map { $bytes[$#bytes * $_] * 8e3 / ($number * $unit{$unit}) }
	    0.5, 0.99;
}

sub remove {
	my ($self) = @_;

	system('ip link del link0');
	kill('KILL', $self->{pid});
	waitpid($self->{pid}, 0);
	Bench::Children::gone($self->{pid});
}

1;
