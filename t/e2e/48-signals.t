#!/usr/bin/perl
# What signals are good for: logs that are opened again, a conf that is read
# again, an end that nobody notices; all of it under load.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port timeout slurp write_file);
use Amped::Load;
use Amped::Process;
use Test::More;
use Time::HiRes qw(time);

Amped::one_main();

# Clients of one main, and as many at its door.
my $many = Amped::many_clients(60) ? 50 : 1;

my $large = content('large', 20_000_000);
my $root = docroot('page' => "page\n", 'other' => content('other', 5000),
    'large' => $large);
my %pages = ('/page' => "page\n", '/other' => content('other', 5000));
my $few = "helpers 2 max 4 share 4\n";
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";

# All lines of a log, of those that were moved away, too.
sub lines_of {
	my ($log) = @_;

	return map { split(/\n/, Amped::said(slurp($_))) } glob("$log*");
}

sub count_lines {
	my ($pattern, $log) = @_;

	return scalar(grep { $_ =~ $pattern } lines_of($log));
}

# USR1 under load: each request has its line, once, wherever the file is.
my $rotations = 20;
my $server = Amped->start(root => $root, global => $few,
    log => "\taccess %D/access.log common\n\terror %D/error.log info\n");
my $load = Amped::Load->new(port => $server->port, clients => 3,
    targets => { %pages, '/nothing' => undef }, pause => 1);
for my $n (1 .. $rotations) {
	await('lines', sub { -s $server->{access} && -s $server->{error} });
	for my $log (@{$server}{qw(access error)}) {
		rename($log, "$log.$n") or die "$log: $!\n";
	}
	kill('USR1', $server->{pid});
	await("rotation $n", sub {
		return count_lines(qr/access log has been opened again/,
		    $server->{error}) == $n &&
		    count_lines(qr/error log has been opened again/,
		    $server->{error}) == $n;
	});
}
my ($right, @wrong) = $load->stop;
is_deeply(\@wrong, [], 'USR1: nobody notices');
$server->stop;
cmp_ok($right, '>', 100, "there was some load: $right");
my (%times, $refused);
$times{$_}++ for map { /"GET \S+\?(\d+\.\d+)\. / ? $1 : () }
    lines_of($server->{access});
is(scalar(keys %times), $right, 'each request has its line');
is_deeply([grep { $times{$_} != 1 } keys %times], [], 'once');
is(count_lines(qr/\] info: .*\/nothing\?/, $server->{error}),
    count_lines(qr{"GET /nothing\?}, $server->{access}),
    'and each refusal has its own in the error log');
is_deeply([grep { !/\A\d{4}-\S+ \w[\w ]*\[\d+\] \w+: / }
    lines_of($server->{error})], [], 'lines are whole');
is(scalar(grep { -s $_ } glob("$server->{access}.*")), $rotations,
    'each file has some');

# One that cannot be opened again is kept.
$server = Amped->start(root => $root, global => $few, errors => 1);
is($server->get('/page?first')->{status}, 200, 'a request');
$server->wait_line(qr/first/, $server->{access});
rename($server->{access}, "$server->{access}.1");
mkdir($server->{access}) or die "$server->{access}: $!\n";
kill('USR1', $server->{pid});
my $kept = "error: cannot open the access log $server->{access} again, " .
    'going on with the one that is open: ';
ok($server->wait_line(qr/\Q$kept/),
    'a log that cannot be opened again: it says so');
is($server->get('/page?second')->{status}, 200, 'a request');
ok($server->wait_line(qr/second/, "$server->{access}.1"), 'and is kept');
rmdir($server->{access});
kill('USR1', $server->{pid});
$server->wait_line(qr/access log has been opened again/);
is($server->get('/page?third')->{status}, 200, 'a request');
ok($server->wait_line(qr/third/, $server->{access}), 'until it can');

# A new access logger goes where the old one went; many signals at once.
my ($old) = $server->kill_role('KILL', 'access log');
await('another access logger',
    sub { grep { $_ != $old } $server->role('access log') });
kill('USR1', $server->{pid}) for 1 .. 200;
await('one access logger', sub { !$server->role('log opener') &&
    $server->role('access log') == 1 && $server->role('error log') == 1 });
is($server->get('/page?fourth')->{status}, 200, 'a request');
ok($server->wait_line(qr/fourth/, $server->{access}), '200 USR1 at once');
$server->stop;

# QUIT in the very moment in which requests come: on connections that were told
# that they stay, and on such as nobody has accepted yet.
$server = Amped->start(root => $root, global => $few);
my @stay = map { $server->connect } 1 .. $many;
is(scalar(grep { $_->all_right(1, %pages) } @stay), $many, 'they stay');
my ($main) = stand_still($server);
$_->send("GET /other $get") for @stay;
my @new = $server->ask(('/page') x $many);
kill('QUIT', $server->{pid});
$server->wait_line(qr/notice: stopping/);
kill('CONT', $main);
is(scalar(grep { is_last($_, $pages{'/other'}) } @stay), $many,
    'QUIT: a request that comes just then is answered, as the last one');
is(scalar(grep { is_last($_, "page\n") } @new), $many,
    'so are those who were at the door');
is(eval { $server->reap }, 0, 'then it ends');
$server->stop;

# All of its processes at once, as from a terminal: main is told twice, or has
# gone before the monitor has heard of it, which that tells.
for my $round (1 .. 5) {
	$server = Amped->start(root => $root, errors => 1,
	    global => "$few\nlimits {\n\tdrain 1h\n}\n");
	kill('QUIT', map { $_->{pid} } $server->processes);
	is(eval { $server->reap }, 0, "QUIT for all, $round");
	is_deeply([grep { /\] error: / && !/main ended with status 0;/ }
	    split(/\n/, $server->errors)], [], '... no other complaints');
	$server->stop;
}

# The signal may have been first, or not: each is right.
sub is_last {
	my ($client, $body) = @_;
	my $answer = $client->response;
	my $right = $answer && $answer->{body} eq $body && $client->closed &&
	    !$client->{reset};

	$client->close;
	return $right;
}

sub stand_still {
	my ($server) = @_;
	my ($main) = $server->kill_role('STOP', 'main');

	await('main to stand still',
	    sub { (Amped::Process::stat_fields($main))[3] =~ /[tT]/ });
	return $main;
}

# A slow download ends well within drain, or else ends it.
for my $drain ('1h', '100ms') {
	$server = Amped->start(root => $root,
	    global => "$few\nlimits {\n\tdrain $drain\n}\n");
	my $slow = $server->connect(window => 4096);
	$slow->send("GET /large $get");
	$slow->want(1000);
	kill('QUIT', $server->{pid});
	is($server->reap, 0, "drain $drain: over after that")
	    if $drain eq '100ms';
	my $answer = $slow->response;
	is($answer->{short} ? 'short' : $answer->{body} eq $large,
	    $drain eq '100ms' ? 'short' : 1, "drain $drain: a slow download");
	$slow->close;
	is($server->reap, 0, "drain $drain: the end");
	$server->stop;
}

# Main ends before it has an access logger to take its lines: it waits for one.
$server = Amped->start(root => $root, global => $few, errors => 1);
is($server->get('/page?with')->{status}, 200, 'a request');
$server->wait_line(qr/with/, $server->{access});
kill('STOP', $server->{pid});
my ($helper) = $server->kill_role('KILL', 'access log');
is($server->get('/page?without')->{status}, 200, 'without an access logger');
$server->kill_role('QUIT', 'main');
$server->wait_line(qr/finishing the responses/);
kill('CONT', $server->{pid});
ok($server->wait_line(qr/without/, $server->{access}),
    'who ends before there is an access logger waits for one');
$server->stop;

# Main asks for helpers and ends before it has got them, as when a signal meets
# all of them at once: that is no reason for a warning.  The monitor is to hear
# the question before it hears of the end, so what it hears last before it is
# stopped is a signal, behind which the next in turn is main.
sub sleeps {
	my ($pid) = @_;

	return slurp("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s*(\d+)/m
	    ? $1 : 0;
}

# How many processes it talks to: those of its sockets that are no network's.
sub pipes_of {
	my ($pid) = @_;
	my %net = map { $_ => 1 } map { (split)[9] // () }
	    split(/\n/, slurp("/proc/$pid/net/tcp"));

	return scalar(grep { /\Asocket:\[(\d+)\]/ && !$net{$1} }
	    map { readlink($_) // () } glob("/proc/$pid/fd/*"));
}

SKIP: {
	skip('only root sees the pipes of main', 2) if $> != 0;
	$server = Amped->start(root => $root, global => $few, errors => 1);
	my ($asking) = $server->role('main');
	my $reserve = Amped::architecture() eq 'amped' ? 2 : 0;
	await('its helpers', sub { $server->role('access log') == 1 &&
	    $server->role('helper') == $reserve &&
	    pipes_of($asking) == 3 + $server->role('helper') });
	my $pipes = pipes_of($asking);
	my $slept = sleeps($server->{pid});
	kill('CHLD', $server->{pid});
	await('the monitor to have heard that', sub {
	    sleeps($server->{pid}) > $slept &&
	    (Amped::Process::stat_fields($server->{pid}))[3] eq 'S' });
	kill('STOP', $server->{pid});
	await('the monitor to stand still', sub {
	    (Amped::Process::stat_fields($server->{pid}))[3] =~ /[tT]/ });
	$server->kill_role('KILL', 'access log');
	await('main to have noticed', sub { pipes_of($asking) < $pipes });
	await('main to have nothing more to do', sub {
	    (Amped::Process::stat_fields($asking))[3] eq 'S' });
	# One that has died young is asked for a little later.
	$slept = sleeps($asking);
	await('main to have asked', sub { sleeps($asking) > $slept });
	kill('KILL', $asking);
	await('main to be gone', sub {
	    (Amped::Process::stat_fields($asking))[3] =~ /Z/ });
	kill('CONT', $server->{pid});
	$server->wait_line(qr/main was killed by signal 9/);
	is_deeply([grep { /does not take/ } split(/\n/, $server->errors)], [],
	    'who ends before it has its helpers is not told to be in the way');
	$server->stop;
}

# Main dies: another serves at once, the log says what it was at; and if it
# dies again and again, the next ones take their time.  What a busy machine or
# a sanitizer adds is not ours, nor is what a watch of a directory with many names
# takes: one try out of ten must be quick, which is 50 ms, or less than it took
# there to start the server and to get the page.
my $quick = 0;
for my $try (1 .. 10) {
	$server->stop if $try > 1;
	my $before = time;
	$server = Amped->start(root => $root, global => $few, errors => 1);
	$server->get('/page');
	my $start = time - $before;
	my $killed = time;
	my ($victim) = $server->kill_role('SEGV', 'main');
	await('main to be gone', sub { !kill(0, $victim) });
	my $begun = time;
	my $page = $server->get('/page')->{body};
	my $took = time - $begun;

	$quick = $page eq "page\n" && ($took < 0.05 || $took < $start);
	note(sprintf('started in %.0f ms, gone in %.0f ms, again in %.0f ms',
	    $start * 1000, ($begun - $killed) * 1000, $took * 1000));
	last if $quick;
}
ok($quick, 'main dies: another serves within 50 ms');
ok($server->wait_line(qr/\Amain: error: bug: SIGSEGV (while at \w|between two)/),
    'the log says what it was at');
ok($server->wait_line(qr/main was killed by signal 11/), 'and that it died');
my %killed;
my $begun = time;
for my $n (1 .. 4) {
	await('another main', sub { my @pids = $server->role('main');
	    @pids == 1 && !$killed{$pids[0]} });
	$killed{$_} = 1 for $server->kill_role('KILL', 'main');
}
is($server->get('/page')->{body}, "page\n", 'killed four times more');
cmp_ok(time - $begun, '>=', 0.1 + 0.2 + 0.4 + 0.8,
    'each takes twice as long as the one before');
$server->stop;

done_testing();
