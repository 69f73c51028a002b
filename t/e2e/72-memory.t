#!/usr/bin/perl
# What a client costs main of its own memory that does nothing, or not what it
# ought to: of each kind that a limit is about; and that it is given back.
# arch: all
# plain: a sanitizer keeps what has been freed
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot need_descriptors slurp);
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Test::More;

my $clients = 600;
my $kept = 1024;		# KB that malloc may keep of what was freed

Amped::one_main();
Amped::needs_many_clients($clients);

BEGIN { need_descriptors(1000) }

Amped::looks_into_processes();
plan(skip_all => 'there is no /proc/PID/smaps_rollup')
    unless -e "/proc/$$/smaps_rollup";
plan(skip_all => 'a sanitizer keeps what has been freed')
    if slurp(Amped::program()) =~ /__[at]san_init/;

sub get { return "GET /$_[0] HTTP/1.1\r\nHost: x\r\n\r\n" }

# What each of them sends, in which state it is then, and the most that one may
# cost, in KB; about half of that was measured,
# unless that was too much.
my %kinds = (
	'idle' => { sends => get('page'), answer => 1, state => 'idle',
	    measured => 0.4, most => 1 },
	'half a head' => { sends => "GET /page HTTP/1.1\r\nHost: x\r\nX: " .
	    'x' x 4000, state => 'reading', measured => 5.1, most => 10 },
	'half a body' => { sends => "GET /page HTTP/1.1\r\nHost: x\r\n" .
	    "Content-Length: 10000\r\n\r\n" . 'x' x 5000, state => 'reading',
	    measured => 1.4, most => 3 },
	'a mapped body' => { sends => get('large'), state => 'sending',
	    measured => 1.4, most => 3 },
	'a copied body' => { sends => get('copied'), state => 'sending',
	    measured => 5.5, most => 11 },
	'300 requests' => { sends => get('hot') x 300, state => 'sending',
	    measured => 46, most => 50 },
);

my $control = docroot() . '/control';
my %files = (page => "page\n", hot => content('hot', 16_000),
    copied => content('copied', 1_000_000),
    large => content('large', 5_000_000));

# With little of the system's memory for each, and whatever they ask for in the
# caches.
sub start {
	my $server = Amped->start(files => \%files,
	    log => "\taccess off\n\terror stderr notice\n",
	    global => <<"END");
control $control
cache { chunks size 1M small 1M; paths revalidate 1h stale 1h }
limits { idle 1h; head 1h; gap 1h; body within 1h; send 1h }
transport { buffer 64K }
END
	await('the socket', sub { -S $control });
	$server->get("/$_") for sort keys(%files);
	return $server;
}

# KB that are a process's own.
sub memory {
	my ($pid) = @_;
	my ($kb) = slurp("/proc/$pid/smaps_rollup") =~
	    /^Anonymous:\s+(\d+) kB/m or die "no figure\n";

	return $kb;
}

# How many clients are in that state.
sub count {
	my ($state) = @_;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM,
	    Peer => $control) or die "$control: $!\n";
	my $select = IO::Select->new($socket);
	my $all = '';

	syswrite($socket, "status\n");
	1 while $select->can_read(Amped::timeout()) &&
	    sysread($socket, $all, 65536, length($all));
	my ($n) = $all =~ /^connections-\Q$state\E (\d+)$/m or die "$all\n";
	return $n;
}

# So many of a kind, until they are in their state.
sub crowd {
	my ($server, $kind, $n) = @_;
	my @crowd = map { $server->connect(window => 4096) } 1 .. $n;

	for my $client (@crowd) {
		$client->send($kind->{sends});
		$client->response if $kind->{answer};
	}
	await("$n that are $kind->{state}",
	    sub { count($kind->{state}) >= $n });
	return @crowd;
}

sub gone {
	my ($kind, @crowd) = @_;

	$_->abort for @crowd;
	await('them to go', sub { count($kind->{state}) == 0 });
}

sub check {
	my ($name, $kind) = @_;
	my $server = start();
	my ($main) = $server->role('main');
	my $before = memory($main);
	my @crowd = crowd($server, $kind, $clients);
	my $each = sprintf('%.1f', (memory($main) - $before) / $clients);

	cmp_ok($each, '<=', $kind->{most},
	    "$name: $each KB each, once $kind->{measured}");
	gone($kind, @crowd);
	my ($most, $after) = (int(1.1 * $before) + $kept);
	eval { await('it to be given back',
	    sub { ($after = memory($main)) <= $most }, 60) };
	cmp_ok($after, '<=', $most, "$name: given back, before it was $before");
	$server->stop;
}

check($_, $kinds{$_}) for sort keys(%kinds);
done_testing();
