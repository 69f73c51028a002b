#!/usr/bin/env perl
#
# Tests of "workers ... max": another main under load, which begins warm, one
# fewer when the load has gone, no client that notices, limits that stay what the
# conf says, and a reload that keeps the number.  The monitor's clock is set on
# by the test alone: by a second when main has worked for so long, however fast
# the machine is.
# arch: all
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port run_amped slurp write_file);
use Amped::Client;
use Amped::Load;
use POSIX ();
use Test::More;

use constant { PATHS => 1001, LARGE => 8 << 20, BATCH => 500 };

$SIG{PIPE} = 'IGNORE';
delete($ENV{AMPED_WORKERS});

my $changes = Amped::architecture() =~ /^(?:amped|sped)\z/;
my %files = (a => "content of a\n", large => content('large', LARGE));
my $place = docroot(leap => pack('q', 0));

sub check {
	my ($global, @args) = @_;

	write_file("$place/conf", "$global\nsite default {\n" .
	    "\tlisten 127.0.0.1:0\n\troot $place\n}\n");
	return run_amped('-f', "$place/conf", @args);
}

subtest 'the conf' => sub {
	my %wrong = ('workers 1 max 0' => qr/out of bounds/,
	    'workers 1 max 257' => qr/out of bounds/,
	    'workers 1 max many' => qr/neither a number nor auto nor off/,
	    'workers 3 max 2' => qr/workers is 3, more than workers max/,
	    "workers 1 max 3\nlimits { connections 2 }" =>
		qr/workers max is 3, more than connections/);

	for my $conf (sort keys %wrong) {
		my ($status, undef, $err) = check($conf, '-t', '-A', 'amped');
		isnt($status, 0, "$conf is refused");
		like($err, $wrong{$conf}, '... which says why');
	}
	for my $max (qw(3 auto off)) {
		my ($status, $out) = check("workers 1 max $max", '-T');
		like($out, qr/^workers +1 max $max /m, "max $max is fine");
	}
	my ($status, undef, $err) = check("architecture sped\n" .
	    'workers 1 max 2', '-t', '-A', Amped::architecture());
	if ($changes) {
		is($status, 0, 'the architecture takes max');
	} else {
		isnt($status, 0, 'the architecture does not take max');
		like($err, qr/has a fixed number of workers/, '... says why');
	}
};

sub start {
	my ($global) = @_;
	my $dir = docroot(%files);

	local %ENV = (%ENV, AMPED_LEAP => "$place/leap");
	Amped::preload('leap.so');
	# Hot names have a port, so it must not be 0.
	return Amped->start(root => $dir, sites => "site default {\n" .
	    "\tlisten 127.0.0.1:" . free_port() . "\n\troot $dir\n}\n",
	    log => "\taccess off\n" .
	    "\terror stderr info\n", global => "$global\n" .
	    "control $place/control\ncache { paths " . PATHS .
	    " revalidate 1h stale 1h; watches 0 }\n" .
	    "limits { connections 400; idle 1h; drain 1h }");
}

sub ctl {
	my ($out) = (Amped::run_command(undef,
	    Amped::copy_for_all('ampedctl'), '-s', "$place/control",
	    @_))[1];
	return $out;
}

# A metric, or the sum of its values; undef while there is none.
sub metric {
	my ($name) = @_;

	return ctl('metrics') =~ /^amped_\Q$name\E (\S+)$/m ? $1 : undef;
}

# Sets the monitor's clock on by so many seconds, and has the monitor look: it
# has done so when it takes the next command.
my $ahead = 0;

sub leap {
	my ($seconds) = @_;

	$ahead += 1000 * $seconds;
	open(my $file, '+<:raw', "$place/leap") or die "leap: $!\n";
	syswrite($file, pack('q', $ahead));
	ctl('version');
}

sub fork_child {
	my ($run) = @_;
	my $pid = fork() // die "fork: $!\n";

	return $pid if $pid != 0;
	eval { $run->() };
	POSIX::_exit(0);
}

# A second of the monitor's, in which the loops are busy.
sub work {
	my $before = metric('loop_lag_seconds_sum');

	await('main to work for a second', sub {
		return metric('loop_lag_seconds_sum') - $before > 0.9;
	});
	leap(1);
}

# Keeps a main busy: asks for so many files at a time that to throw the answers
# away is by far less work than to make them.
sub press {
	my ($server) = @_;
	my $batch = Amped::Client::code(
	    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n" x BATCH);
	my ($client, $left, $in);

	while (1) {
		$client = $server->connect;
		$left = '';
		while (1) {
			$left = $batch if $left eq '';
			my $n = syswrite($client->socket, $left);
			$left = substr($left, $n) if $n;
			last if !defined($n) && !$!{EAGAIN};
			$client->wait_for('read', 'answers')
			    if !defined($n);
			my $got = sysread($client->socket, $in, 1 << 20);
			last if defined($got) ? $got == 0 : !$!{EAGAIN};
		}
	}
}

sub await_mains {
	my ($server, $n) = @_;

	return await("$n mains", sub { $server->role('main') == $n },
	    2 * Amped::timeout());
}

subtest 'under load' => sub {
	plan(skip_all => 'there the number of workers is fixed')
	    unless $changes;
	my $server = start('workers 1 max 2');
	my %seen = (port => $server->port, targets => { '/a' => $files{a} });
	my $coming = Amped::Load->new(%seen, clients => 1, stay => 1,
	    pause => 20);
	my $staying = Amped::Load->new(%seen, clients => 4, stay => 1 << 30,
	    pause => 20);

	is(scalar($server->role('main')), 1, 'at first the least');
	is(metric('workers_max'), 2, 'Prometheus knows the most');
	is(metric('cache_entries_limit{cache="pathname"}'), PATHS,
	    'one main has all of a limit');
	my @load = map { fork_child(sub { press($server) }) } 1 .. 2;
	my ($first) = $server->role('main');
	my $looks = 0;
	while (metric('workers_added_total') == 0 && $looks++ < 20) {
		work();
	}
	await_mains($server, 2);
	cmp_ok($looks, '<', 20, 'load brings another');
	cmp_ok($looks, '>', 3, '... that lasts');
	# What others have published is a second old.
	await('clients of both', sub {
		return (metric('worker_open_connections_min') // 0) > 0;
	});
	pass('the clients that stay go to the new one, too');
	await('both to have a part of the limits', sub {
		return (metric('cache_entries_limit{cache="pathname"}') // 0)
		    == PATHS && metric('open_connections_limit') == 400;
	});
	pass('together they have the same limits');
	$server->wait_line(qr/info: [1-9]\d* files and variants were brought/);
	kill('STOP', $first);
	rename("$server->{root}/a", "$server->{root}/b") or die "a: $!\n";
	is($server->get('/a')->{body}, $files{a}, 'the new one begins with ' .
	    'the names of the first in memory');
	rename("$server->{root}/b", "$server->{root}/a") or die "a: $!\n";
	kill('CONT', $first);
	like($server->wait_line(qr/workers: /), qr/\ the\ loops\ of\ 1\ main
	    \ have\ been\ busy\ for\ (?:[789]\d|100)\ %\ of\ the\ time:
	    \ 2\ of\ at\ most\ 2\ now/x, 'a line says why');
	like(ctl('status'), qr/^workers +2 of 2, loops busy \d+%; 1 added, 0/m,
	    'ampedctl status');
	kill('KILL', @load);
	waitpid($_, 0) for @load;

	kill('HUP', $server->{pid});
	$server->wait_line(qr/and is in force/);
	await('mains of the new conf', sub {
		return $server->role('main') == 2 && (metric('workers') // 0)
		    == 2;
	});
	pass('a reload keeps their number');

	# Some of these are at the main that will end.
	my @slow = map { $server->connect } 1 .. 6;
	$_->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") for @slow;
	my @idle = $server->ask(('/a') x 6);
	is(scalar(grep { $_->response->{body} eq $files{a} } @idle), 6,
	    'clients that stay');
	await('little to do for a minute', sub {
		leap(31);
		return metric('workers_retired_total') == 1;
	});
	$server->wait_line(qr/: 1 of at most 2 now/);
	pass('without load, one fewer');
	is(scalar(grep { $_->response->{body} eq $files{large} } @slow), 6,
	    'responses under way are finished');
	my $again = 0;
	for my $client (@idle) {
		$client->send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
		my $answer = $client->response;
		$again++ if $answer ? $answer->{body} eq $files{a} :
		    !$client->{reset};
	}
	is($again, 6, 'clients between two requests are answered, or told');
	$_->close for @slow, @idle;
	await_mains($server, 1);
	await('the limits to be the last one\'s', sub {
		return (metric('workers') // 0) == 1 &&
		    metric('cache_entries_limit{cache="pathname"}') == PATHS;
	});
	pass('the one that is left has all of a limit');
	is(metric('workers_added_total'), 1, 'added');
	is(metric('workers_retired_total'), 1, 'retired');
	unlike($server->errors, qr/main (?:died|exited|was killed)|lost/,
	    'that is no death');

	for my $load ($coming, $staying) {
		my ($right, @wrong) = $load->stop;
		cmp_ok($right, '>', 0, 'there were clients all the time');
		is_deeply(\@wrong, [], '... who lost nothing');
	}
	$server->stop;
};

# The one that serves stays, and gets all.
subtest 'a main that has died' => sub {
	plan(skip_all => 'there the number of workers is fixed')
	    unless $changes;
	my $server = start('workers 2 max 3');
	my $conf = "$server->{dir}/amped.conf";

	write_file($conf, slurp($conf) =~ s/^workers 2/workers 1/mr);
	kill('HUP', $server->{pid});
	$server->wait_line(qr/and is in force/);
	await_mains($server, 2);
	leap($_) for (31) x 6, 27;	# the load is low since the fifth
	my ($stays) = $server->role('main');
	$server->{errors} = 1;
	for my $death (1 .. 6) {
		await('a main to die', sub {
			kill('KILL', grep { $_ != $stays }
			    $server->role('main'));
		});
		await('its death', sub {
			metric('main_deaths_total') == $death;
		});
		# The first is started again at once, the others later.
		leap(0.05 * 2 ** ($death - 1)) if $death > 1 && $death < 6;
	}
	is(metric('workers_retired_total'), 0, 'not a minute yet');
	leap(1);
	is(metric('workers_retired_total'), 1, 'one fewer');
	await('the limits to be the other one\'s', sub {
		return (metric('workers') // 0) == 1 &&
		    metric('cache_entries_limit{cache="pathname"}') == PATHS;
	});
	is_deeply([$server->role('main')], [$stays], 'the other one serves');
	is($server->get('/a')->{body}, $files{a}, '... clients');
	$server->stop;
};

done_testing();
