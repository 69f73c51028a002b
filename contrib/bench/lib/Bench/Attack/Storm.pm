# Bench::Attack::Storm: what happens to an attacked server beside requests: each
# function is a part of a round, one event of it.
package Bench::Attack::Storm;

use strict;
use warnings;

use IO::Socket::UNIX;
use POSIX ();
use Socket qw(SOCK_STREAM);
use Time::HiRes qw(time usleep);

use lib "$FindBin::Bin/../../t/lib";
use Amped qw(slurp write_file);
use Bench::Attack::Client;

sub pick { return $_[rand(@_)] }

# The processes of the server, by the word that their title ends with.
sub processes {
	my ($r, $title) = @_;

	return map { $_->{pid} } grep { $_->{title} =~ $title &&
	    $_->{pid} != $r->{monitor} } $r->{server}->processes;
}

sub change {
	my ($r) = @_;

	$r->{ground}->change;
	usleep(pick(0, 1000, 20_000));
	return;
}

# Another conf, or one with an error, which leaves the one in force.
sub reload {
	my ($r) = @_;
	my $server = $r->{server};

	usleep(rand(400_000));
	return if processes($r, qr/: main/) > 4 * $r->{conf}{workers};
	@$server{qw(global sites)} = ($r->{conf}->global, $r->{conf}->sites);
	$server->{sites} .= pick("nonsense\n", "site x {\n", "\0\n")
	    if rand() < .2;
	write_file("$server->{dir}/next", $server->conf_text);
	rename("$server->{dir}/next", "$server->{dir}/amped.conf");
	kill('HUP', $r->{monitor}) for 1 .. pick(1, 1, 2, 5);
	kill('USR1', $r->{monitor}) if rand() < .2;
	return;
}

sub kill_some {
	my ($r, $title) = @_;
	my @pids = processes($r, $title);

	kill('KILL', rand() < .3 ? @pids : pick(@pids)) if @pids;
	return;
}

sub helpers {
	my ($r) = @_;

	usleep(rand(300_000));
	kill_some($r, rand() < .8 ? qr/: helper/ : qr/: (?:access|error) log/);
}

sub mains {
	my ($r) = @_;

	usleep(500_000 + rand(2_000_000));
	kill_some($r, qr/: main/);
}

sub freeze {
	my ($r) = @_;
	my @pids = processes($r, qr/./);
	my $pid = pick(@pids) // return;

	kill('STOP', $pid);
	usleep(rand(100_000));
	kill('CONT', $pid);
	usleep(rand(200_000));
	return;
}

# A command of ampedctl; those that end the server come at the end of a round.
sub command {
	my ($r) = @_;
	my @files = map { pick(@{$r->{files}}) } 1 .. pick(1, 3, 20);

	return pick(qw(check conf metrics status version reopen),
	    'status json', 'purge *', "purge @files", 'purge /dir/*',
	    "preload @files", 'preload /denied/page /x.bak /dir/ /nothing',
	    "explain $files[0]", "explain\tRange: bytes=0-9\t$files[0]",
	    'explain /denied/page', $r->{conf}{reload} ? 'reload' : 'version');
}

# By the socket; some commands are spoilt, and some answers not waited for.  The
# monitor gives a line and a command up that are not through after a time.
sub control {
	my ($r) = @_;
	my $line = command($r) . "\n";
	my $spoilt = rand() < .2;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM,
	    Peer => $r->{conf}{socket}) or return $r->{conf}{mains} ? () :
	    "no control socket: $!";
	my $answer = '';
	my $begun = time;

	usleep(rand(100_000));
	$line = Bench::Attack::Client::mutate($line) . pick('', "\n") if $spoilt;
	return if $line =~ /^(?:stop|drain)/;
	syswrite($socket, $line);
	return if rand() < .1;
	shutdown($socket, 1) if rand() < .3 || $spoilt;
	do {
		Bench::Attack::Client::wait_busy($socket, 'read',
		    $r->{monitor}) or return "hang: no answer to $line";
	} while (sysread($socket, $answer, 65536, length($answer)));
	return 'a secret at the control socket, ' . $line
	    if index($answer, $Bench::Attack::Ground::SECRET) >= 0;
	return if $spoilt || $r->{conf}{mains} || time - $begun > 9 || $answer =~
	    /\A(?:ok|absent|busy|conf)\b.*^\.\n\z/ms;
	return "the answer to $line: " . substr($answer, 0, 200);
}

# Wrong passwords on several connections, and right ones among them.
sub flood {
	my ($r) = @_;
	my $conf = $r->{conf};
	my @wrong;

	my @clients = map { eval { client($r) } // () } 1 .. ($r->{few} ? 3 : 10);
	for my $i (0 .. $#clients) {
		my $right = $i % 4 == 1;
		my $request = { method => 'GET', right => $right,
		    target => '/members/page', bytes =>
		    "GET /members/page HTTP/1.1\r\nHost: x\r\n" .
		    Bench::Attack::Client::authorization($right) .
		    "\r\n\r\n" };
		$clients[$i]{asked} = $request;
		$clients[$i]->send($request->{bytes});
	}
	for my $client (@clients) {
		my $request = $client->{asked};
		my $answer = eval { $client->response('GET') };
		push(@wrong, $@) if $@ =~ /hang/;
		next unless $answer;
		$r->{count}++;
		$client->check($answer, $request);
		push(@wrong, @{$client->{findings}});
		push(@wrong, "$answer->{status} for a " . ($request->{right} ?
		    'right' : 'wrong') . ' password') if $answer->{status} !=
		    ($request->{right} ? 200 : 401) &&
		    !$conf->explains($answer->{status});
	}
	return @wrong;
}

sub client {
	my ($r) = @_;

	return Bench::Attack::Client->new(%$r, findings => [], count => \my $n);
}

# Clients that say half of something, or take nothing, or little, and leave
# with a reset.
sub crowd {
	my ($r) = @_;
	my $n = $r->{few} ? 3 : pick(10, 40, 80);
	my @wrong;
	my @clients = map { eval { client($r) } // () } 1 .. $n;
	my $get = "GET /p99 HTTP/1.1\r\nHost: x\r\n\r\n";

	for my $client (@clients) {
		$client->{timeout} = 1;
		syswrite($client->socket, pick("GET /p1 HTTP/1.1\r\nHo",
		    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\nx",
		    'G', '', $get, $get x 100, $get =~ s/p99/r5/r x 300,
		    "GET /p6.txt HTTP/1.1\r\nHost: x\r\n" .
		    "Accept-Encoding: gzip\r\n\r\n" x 30));
	}
	for (1 .. pick(1, 5, 20)) {
		usleep(100_000);
		for my $client (@clients) {
			next if rand() < .5;
			sysread($client->socket, my $bytes, pick(1, 1000, 60_000))
			    or next;
			push(@wrong, 'a secret to a slow client') if
			    index($bytes, $Bench::Attack::Ground::SECRET) >= 0;
		}
	}
	rand() < .7 ? $_->abort : $_->close for @clients;
	return @wrong;
}

1;
