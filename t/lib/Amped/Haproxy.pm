# Amped::Haproxy: HAProxy in front of several servers, whose health it checks.
package Amped::Haproxy;

use strict;
use warnings;

use IO::Socket::INET;
use IO::Socket::UNIX;
use Time::HiRes ();

use Amped;
use Amped::Process;

# Starts it, in the foreground.
#	servers	ports, by name
#	check	target of the health checks
#	inter	ms between two of them
#	fall	failed checks until a server gets no more requests
# No request is tried a second time, so each one that a server loses is seen.
sub new {
	my ($class, %opt) = @_;
	my $dir = Amped::docroot(out => '', err => '');
	my $self = bless({ %opt, dir => $dir, port => Amped::free_port() },
	    $class);
	my @servers = map { "\tserver $_ 127.0.0.1:$opt{servers}{$_}" }
	    sort keys %{$opt{servers}};

	Amped::write_file("$dir/cfg", join("\n", <<"EOT", @servers, ''));
global
	stats socket $dir/socket level admin
	maxconn 500
defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
	retries 0
listen front
	bind 127.0.0.1:$self->{port}
	balance roundrobin
	option httpchk GET $opt{check}
	http-check expect status 200
	default-server check inter $opt{inter} fall $opt{fall} rise 1
EOT
	$self->{pid} = Amped::spawn(['haproxy', '-db', '-f', "$dir/cfg"],
	    "$dir/out", "$dir/err");
	Amped::await('HAProxy', sub {
		die Amped::slurp("$dir/err") if waitpid($self->{pid}, 1) > 0;
		return -S "$dir/socket" && IO::Socket::INET->new(
		    PeerAddr => '127.0.0.1', PeerPort => $self->{port});
	});
	return $self;
}

sub port { return $_[0]{port} }

# What HAProxy says of a server: UP, DOWN and the like.
sub status {
	my ($self, $name) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => "$self->{dir}/socket")
	    or die "$self->{dir}/socket: $!\n";
	my (@names, %row);

	print $socket "show stat\n";
	while (my $line = <$socket>) {
		chomp($line);
		@names = split(/,/, $line) if $line =~ s/^# //;
		@row{@names} = split(/,/, $line, -1);
		return $row{status} if ($row{svname} // '') eq $name;
	}
	die "HAProxy does not know $name\n";
}

sub await_status {
	my ($self, $name, $wanted) = @_;

	Amped::await("$name to be $wanted",
	    sub { $self->status($name) =~ /^$wanted\b/ });
}

sub DESTROY {
	my ($self) = @_;
	local ($?, $!);

	return unless $self->{pid};
	Amped::Process::kill_session($self->{pid});
	waitpid($self->{pid}, 0);
}

1;
