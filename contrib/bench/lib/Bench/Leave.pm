# Bench::Leave: clients that leave before their program, and behind it, has
# answered, and what is left of what was begun for them.
package Bench::Leave;

use strict;
use warnings;

use List::Util qw(max);
use Time::HiRes qw(sleep time);

use Amped qw(await);
use Amped::Client;
use Amped::Process;
use Bench::Cgi;
use Bench::Slow;

use constant {
	EACH => 2,		# clients of each kind, at once
	BODY => 100_000,	# bytes, of every other request: more than a
				# server keeps in memory by itself
	GRACE => 5,		# s until all is to be gone
	PATIENCE => 20,		# s for programs to start, or to go
	HEAD => 2,		# s for its head to come
};

# When they leave: in the body, and before, in and behind the head; and of which
# programs.
my @kinds = map { my $how = $_; map { [$how, $_] } qw(body before in after) }
    qw(fork daemon stubborn);

# How they leave: without a word more, and by an end that does not say whether
# they still listen.
our @ways = qw(reset close);

# Clients that leave at once.
sub batch { return EACH * @kinds }

sub request {
	my ($how, $when, $i) = @_;
	my $has_body = $i % 2 || $when eq 'body';

	return ($has_body ? 'POST' : 'GET') .
	    " /cgi-bin/program?$how-$when-$i HTTP/1.1\r\nHost: localhost\r\n" .
	    ($has_body ? 'Content-Length: ' . BODY . "\r\n\r\n" .
	    'u' x ($when eq 'body' ? BODY * 3 / 4 : BODY) : "\r\n");
}

# Some ask, and leave when their programs are so far; how many have started.
sub leave_once {
	my ($cgi, $running, $way) = @_;
	my (@clients, @hear, $n);
	my $most = EACH * grep { $_->[1] ne 'body' } @kinds;

	$cgi->forget;
	for my $i (1 .. EACH) {
		for my $kind (@kinds) {
			my $client = Amped::Client->new(
			    port => $running->{port});
			eval { $client->send(request(@$kind, $i)) };
			push(@clients, $client);
			push(@hear, $client) if $kind->[1] eq 'after';
		}
	}
	eval { await('programs', sub { ($n = $cgi->started) >= $most },
	    PATIENCE) };
	# What is unread would be a reset; some servers wait for more of it.
	eval { await('the heads', sub {
		Bench::Slow::hear($_) for @hear;
		return !grep { $_->{in} !~ /begun/ } @hear;
	}, HEAD) };
	$way eq 'reset' ? $_->abort : $_->close for @clients;
	return $n;
}

sub processes {
	my ($cgi, $running) = @_;

	return scalar($cgi->running) + scalar($cgi->zombies($running));
}

# Of amped: those that have no program stay for ten seconds.
sub reapers {
	my ($cgi, $running) = @_;

	return scalar(grep { (Amped::Process::title($_))[0] eq
	    'amped: reaper' } $cgi->own_processes($running));
}

# At least so many clients, unless programs do not start any more; what is left
# GRACE s behind the last of them, and the s until no process is, which a busy
# machine may need; descriptors when idle reapers have ended as well.
sub measure {
	my ($cgi, $running, $way, $n) = @_;
	my ($asked, $started) = (0, 0);

	Bench::Cgi::ask($running, '/cgi-bin/hello') for 1 .. 20;
	sleep(0.5);
	eval { await('reapers to go', sub { !reapers($cgi, $running) },
	    PATIENCE) };
	my ($descriptors, $spooled) = ($cgi->descriptors($running),
	    $cgi->spooled($running));
	while ($asked < $n && $started == $asked * 3 / 4) {
		$started += leave_once($cgi, $running, $way);
		$asked += batch();
	}
	my $left = time;
	sleep(GRACE);
	my %is = (processes => processes($cgi, $running),
	    spooled => max(0, $cgi->spooled($running) - $spooled));
	eval { await('processes to go', sub { !processes($cgi, $running) },
	    PATIENCE) };
	$is{gone} = time - $left - GRACE;
	eval { await('reapers to go', sub { !reapers($cgi, $running) },
	    PATIENCE) };
	$is{descriptors} = max(0, $cgi->descriptors($running) - $descriptors);
	return { %is, asked => $asked, started => $started,
	    of => $asked * 3 / 4 };
}

1;
