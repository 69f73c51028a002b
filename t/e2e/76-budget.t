#!/usr/bin/perl
# The descriptors that there may be are enough for what is done with them: many
# listening sockets, and more clients than there is room for at once, each with
# a file of its own; and so are the fewest with which it starts.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot free_port);
use IO::Select;
use IO::Socket::INET;
use Socket qw(inet_aton pack_sockaddr_in SOL_SOCKET SO_RCVBUF);
use Test::More;

# More clients than mt and mp are for.
Amped::needs_many_clients(300);
Amped::one_main_for_all();

my $doors = 98;
my $size = 1_000_000;
my @large = map { "large$_" } 1 .. 105;
my @other = map { "other$_" } 1 .. 200;
my $root = docroot(map { ($_ => 'x' x 20_000) } @large, @other);
for my $name (@large) {			# the rest is a hole
	truncate("$root/$name", $size) or die "truncate: $!\n";
}
my $arch = Amped::architecture();

sub start {
	my ($limit, $n) = @_;
	my $port = free_port();

	return Amped->start(
	    under => ['bash', '-c', "ulimit -n $limit && exec \"\$0\" \"\$@\""],
	    sites => join("\n", 'site default {',
	    (map { "\tlisten 127.0.0.$_:$port" } 1 .. $n), "\troot $root", "}\n"));
}

# All of them at once: status and length of each.
sub ask_all {
	my ($server, @names) = @_;
	my $select = IO::Select->new;
	my (%name, %got, %came);

	for my $i (0 .. $#names) {
		# Little of a response is anywhere but with the server.
		my $socket = IO::Socket::INET->new(Proto => 'tcp');
		setsockopt($socket, SOL_SOCKET, SO_RCVBUF, 4096);
		$socket->connect(pack_sockaddr_in($server->port,
		    inet_aton('127.0.0.1'))) or die "connect: $!\n";
		print $socket "GET /$names[$i] HTTP/1.1\r\nHost: x\r\n" .
		    "Connection: close\r\n\r\n";
		$name{$socket} = $names[$i];
		$got{$socket} = '';
		$select->add($socket);
	}
	while ($select->count) {
		for my $socket ($select->can_read) {
			# Slowly: so there are as many as there is room for.
			my $n = sysread($socket, $got{$socket}, 20_000,
			    length($got{$socket}));
			next if $n;
			my ($status, $body) = $got{$socket} =~
			    m{\AHTTP/1.1 (\d+).*?\r\n\r\n(.*)}s;
			$status = 'cut' if !defined($status) || ($status == 200
			    && length($body) != -s "$root/$name{$socket}");
			$came{$status}++;
			delete($got{$socket});
			$select->remove($socket);
			close($socket);
		}
	}
	return \%came;
}

sub serves {
	my ($server, $what) = @_;
	is_deeply(ask_all($server, @large, @other),
	    { 200 => @large + @other }, "$what: all are served");
	unlike($server->errors, qr/Too many open files/, "$what: with those");
	$server->stop;
}

serves(start(256, $doors), "$doors doors, 256 descriptors");

my (undef, undef, $err) = Amped::run_command(undef, 'bash', '-c',
    'ulimit -n 20 && exec "$@"', 'bash', Amped::program(), '-A', $arch, $root);
my ($least) = $err =~
    /limit of 20 open files is too low: a main needs at least (\d+)/;
like($err, qr/\b1 for listening sockets, .*\b32 for clients and their files/,
    'how many are needed, and for what');
serves(start($least, 1), "the least, $least");
(undef, undef, $err) = Amped::run_command(undef, 'bash', '-c',
    "ulimit -n @{[$least - 1]} " . '&& exec "$@"', 'bash', Amped::program(),
    '-A', $arch, $root);
like($err, qr/is too low: a main needs at least $least/, 'one less is refused');

done_testing();
