#!/usr/bin/env perl
#
# Tests of several mains: one queue of clients, limits over all of them, one
# that dies, a conf read again, and no client who notices.
# arch: all
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await run_amped write_file);
use Amped::Client;
use POSIX ();
use Test::More;

$SIG{PIPE} = 'IGNORE';

my %files = (a => "content of a\n");

plan(skip_all => 'there a worker has one client at a time: 71-turns')
    if Amped::architecture() eq 'mp';
plan(skip_all => 'there workers are threads of one main')
    if Amped::architecture() =~ /^(?:mt|pipelined)\z/;

sub set_workers {
	my ($server, $n) = @_;
	my $conf = "$server->{dir}/amped.conf";
	my $text = Amped::slurp($conf);

	$text =~ s/^workers \w+$/workers $n/m or die "no workers in $conf\n";
	write_file($conf, $text);
}

sub requests {
	my ($server, $n) = @_;

	return scalar(grep { $server->get('/a')->{body} eq $files{a} } 1 .. $n);
}

# Clients that come one after the other until the parent has seen enough, and
# their failures: none may be refused, reset or answered wrong.
sub visitors {
	my ($server) = @_;
	my $file = "$server->{dir}/visits";
	my $pid = fork() // die "fork: $!\n";

	return ($pid, $file) if $pid != 0;
	my ($good, $bad, $wrong) = (0, 0, '');
	while (!-e "$file-enough") {
		my $fine = eval { $server->get('/a')->{body} eq $files{a} };
		$fine ? $good++ : $bad++;
		$wrong = $@ || 'another body' unless $fine;
		write_file($file, "$good $bad") if $good == 1;
	}
	write_file($file, "$good $bad $wrong");
	POSIX::_exit(0);
}

sub end_visits {
	my ($pid, $file, $what) = @_;

	write_file("$file-enough", '');
	waitpid($pid, 0);
	my ($good, $bad, $wrong) = split(/ /, Amped::slurp($file), 3);
	cmp_ok($good, '>', 0, "there were clients while $what");
	is($bad, 0, "... of whom none noticed") or diag($wrong);
}

subtest 'the conf' => sub {
	my $dir = Amped::docroot(%files);
	my %said = (0 => qr/out of bounds/, 257 => qr/out of bounds/,
	    many => qr/neither a number nor auto/);

	for my $n (sort keys %said) {
		write_file("$dir/conf", "workers $n\nsite default {\n" .
		    "\tlisten 127.0.0.1:0\n\troot $dir\n}\n");
		my ($status, undef, $err) = run_amped('-t', '-f', "$dir/conf");
		isnt($status, 0, "workers $n is refused");
		like($err, $said{$n}, '... which says why');
	}
	write_file("$dir/conf", "workers 3\nlimits { connections 2 }\n" .
	    "site default {\n\tlisten 127.0.0.1:0\n\troot $dir\n}\n");
	my ($status, undef, $err) = run_amped('-t', '-f', "$dir/conf");
	isnt($status, 0, 'fewer connections than workers are refused');
	like($err, qr/workers is 3, more than connections/, '... which says why');
	write_file("$dir/conf", "workers auto\nsite default {\n" .
	    "\tlisten 127.0.0.1:0\n\troot $dir\n}\n");
	my ($fine, $out) = run_amped('-T', '-f', "$dir/conf");
	is($fine, 0, 'auto is fine');
	like($out, qr/^workers +auto /m, '... and printed as it reads');
};

subtest 'so many mains' => sub {
	my $server = Amped->start(files => \%files, global => 'workers 3');

	is(scalar($server->role('main')), 3, 'as the conf says');
	is(requests($server, 50), 50, 'they serve');
	is($server->role('main'), 3, 'all stay');
	$server->stop;
};

subtest 'limits of an address' => sub {
	my $server = Amped->start(files => \%files, global => <<'END');
workers 3
limits { connections address 4; idle 1m }
END
	my @clients = map { $server->connect } 1 .. 4;

	for (@clients) {
		$_->send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
		is($_->response->{status}, 200, 'one that it may have');
	}
	for (1 .. 10) {
		is($server->get('/a')->{status}, 429, 'one more, whoever has it');
	}
	# The dead have no connections.
	my @mains = $server->kill_role(KILL => 'main');
	$server->{errors} = 1;
	await('others in their place', sub {
		my @now = $server->role('main');
		return @now == 3 && !grep { my $p = $_;
		    grep { $_ == $p } @mains } @now;
	});
	await('to be let in', sub {
		return eval { $server->get('/a')->{status} == 200 };
	});
	$server->stop;
};

subtest 'the rate of an address' => sub {
	my $server = Amped->start(files => \%files, global => <<'END');
workers 3
limits { rate 1 burst 20 }
END
	my $begun = time;
	my $good = grep { $server->get('/a')->{status} == 200 } 1 .. 60;

	cmp_ok($good, '>=', 20, 'as many as may come at once');
	cmp_ok($good, '<=', 20 + time - $begun + 1, '... over all mains');
	$server->stop;
};

subtest 'one that dies' => sub {
	my $server = Amped->start(files => \%files, global => 'workers 3',
	    errors => 1);
	my @before = $server->role('main');
	my @visit = visitors($server);

	await('a visit', sub { -s $visit[1] });
	# Stopped, it has nobody who could notice that it dies.
	kill('STOP', $before[0]);
	my $client = $server->connect;
	$client->send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
	is($client->response->{body}, $files{a},
	    'while one stands still, others serve');
	# Beyond what it has more than that one, too.
	my @crowd = $server->ask(('/a') x 40);
	is(scalar(grep { $_->response->{body} eq $files{a} } @crowd), 40,
	    'a crowd, too');
	kill('CONT', $before[0]);
	end_visits(@visit, 'one stood still');
	kill('KILL', $before[0]);
	await('another in its place', sub {
		my @now = $server->role('main');
		return @now == 3 && !grep { $_ == $before[0] } @now;
	});
	my @now = $server->role('main');
	for my $pid (@before[1, 2]) {
		ok(scalar(grep { $_ == $pid } @now), 'the others go on');
	}
	is(requests($server, 20), 20, 'all serve');
	$server->stop;
};

subtest 'read again, with other numbers' => sub {
	my $server = Amped->start(files => \%files, global => 'workers 2');
	my @visit = visitors($server);

	await('a visit', sub { -s $visit[1] });
	for my $n (4, 1, 3) {
		my $seen = () = $server->errors =~ /and is in force/g;
		set_workers($server, $n);
		kill('HUP', $server->{pid});
		await('the conf to be in force', sub {
			my $now = () = $server->errors =~ /and is in force/g;
			return $now > $seen;
		});
		await("$n mains", sub { $server->role('main') == $n });
	}
	end_visits(@visit, 'their number changed');
	$server->stop;
};

subtest 'signals' => sub {
	for my $signal (qw(TERM QUIT)) {
		my $server = Amped->start(files => \%files,
		    global => 'workers 3');
		requests($server, 5);
		$server->stop($signal);
	}
	my $server = Amped->start(files => \%files, global => 'workers 3');
	is(requests($server, 5), 5, 'requests');
	$server->wait_lines(5);
	rename($server->{access}, "$server->{access}.1");
	kill('USR1', $server->{pid});
	await('another log', sub { -e $server->{access} });
	$server->wait_line(qr/access log has been opened again/);
	is(requests($server, 30), 30, 'more of them');
	await('all lines, in one file or the other', sub {
		my $all = join('', map { Amped::slurp($_) }
		    $server->{access}, "$server->{access}.1");
		return 35 == grep { /^127\.0\.0\.1 .* 200 13$/ }
		    split(/\n/, $all);
	});
	$server->stop;
};

subtest 'one whose loop does not turn' => sub {
	my $server = Amped->start(files => \%files, errors => 1,
	    global => "workers 3\nwatchdog 500ms");
	my @before = $server->role('main');

	kill('STOP', $before[1]);
	await('another in its place', sub {
		my @now = $server->role('main');
		return @now == 3 && !grep { $_ == $before[1] } @now;
	});
	is(scalar(grep { my $p = $_; grep { $_ == $p } @before[0, 2] }
	    $server->role('main')), 2, 'the others go on');
	is(requests($server, 20), 20, 'all serve');
	$server->stop;
};

subtest 'another binary' => sub {
	my $server = Amped->start(files => \%files, global => 'workers 2');
	my @visit = visitors($server);

	await('a visit', sub { -s $visit[1] });
	kill('USR2', $server->{pid});
	is($server->reap, 0, 'the one before ends well');
	await('one monitor, two mains', sub {
		return $server->role('monitor') == 1 &&
		    $server->role('main') == 2;
	});
	end_visits(@visit, 'it took over');
	is(requests($server, 10), 10, 'it serves');
	$server->kill_role(TERM => 'monitor');
	ok($server->wait_nothing_left, 'and ends');
	$server->discard;
};

# Each has caches of its own, and all are meant.
subtest 'a purge' => sub {
	my $control = Amped::docroot() . '/control';
	my $server = Amped->start(files => \%files, global => <<"END");
workers 3
control $control
cache { paths 100 revalidate 1h stale 1h }
END
	my $ctl = Amped::program() =~ s{[^/]*\z}{ampedctl}r;

	is(requests($server, 60), 60, 'it is in their caches');
	write_file("$server->{root}/a", "other content\n");
	my ($status, $said) = Amped::run_command(undef, $ctl, '-s', $control,
	    'purge', '/a', '/none');
	is($status, 0, 'purge');
	is($said, "/a: purged\n/none: purged\n", 'nobody knows how many');
	is(scalar(grep { $server->get('/a')->{body} eq "other content\n" }
	    1 .. 60), 60, 'no main has what there was');
	my ($fine) = Amped::run_command(undef, $ctl, '-s', $control,
	    'status');
	is($fine, 0, 'status');
	$server->stop;
};

subtest 'the monitor dies' => sub {
	my $server = Amped->start(files => \%files, global => 'workers 3');

	is(requests($server, 5), 5, 'requests');
	kill('KILL', $server->{pid});
	$server->reap;
	ok($server->wait_nothing_left, 'nobody is left behind');
	$server->discard;
};

subtest 'what is counted' => sub {
	my $server = Amped->start(files => \%files, global => <<'END',
workers 3
END
	    site => "\tpath /status { status on }");
	my @clients = map { $server->connect } 1 .. 6;

	for (@clients) {
		$_->send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
		$_->response;
	}
	# Those of other mains are a second old.
	await('all connections to be counted', sub {
		my $text = $server->get('/status?text')->{body};
		my %now = $text =~ /^(\S+) (\d+)$/mg;
		return ($now{workers} // 0) == 3 && $now{requests} >= 6 &&
		    $now{'open-connections'} == 7 &&
		    $now{'open-connections-min'} <= 2 &&
		    $now{'open-connections-max'} >= 3;
	});
	pass('connections add up, and who has the most');
	$server->stop;
};

done_testing();
