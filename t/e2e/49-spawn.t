#!/usr/bin/perl
# spawn and io: threads for a connection or a request each, and operations that
# wait in the system's call.  Each way does what the others do.
# arch: one: it names its architectures itself
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot run_amped slurp write_file);
use Amped::Calls qw(count_calls);
use Amped::Load;
use List::Util qw(sum0);
use Test::More;

my $large = content('large', 4_000_000);
my %files = ('page' => "page\n", 'other' => content('other', 40_000),
    'large' => $large, 'slowly' => $large);
my $root = docroot(%files);
my $request = "GET /page HTTP/1.1\r\nHost: x\r\n\r\n";

sub start {
	my ($arch, $spawn, $io, $workers, $more) = @_;

	$workers //= 6;
	$more //= '';
	return Amped->start(by_conf => 1, root => $root,
	    global => "architecture $arch\nworkers $workers\n" .
	    "spawn $spawn\nio $io\n" .
	    "limits { head 1s }\n$more",
	    site => "\tpath /slowly {\n\t\tsend 1s\n\t}");
}

sub threads {
	my ($server) = @_;
	my ($main) = $server->role('main');

	return slurp("/proc/$main/status") =~ /^Threads:\s+(\d+)/m ? $1 : 0;
}

sub is_right {
	my ($client, $name, $what) = @_;
	my $response = $client->response // {};

	ok(($response->{body} // '') eq $files{$name}, $what);
}

sub ask_a_lot {
	my ($server) = @_;
	my $client = $server->connect;

	for my $name (qw(page other large page)) {
		$client->send("GET /$name HTTP/1.1\r\nHost: x\r\n\r\n");
		is_right($client, $name, "$name, on one connection");
	}
	$client->send($request x 20);
	is(scalar(grep { ($client->response // {})->{body} eq $files{page} }
	    1 .. 20), 20, 'requests in one packet');
	$client->close;
	is($server->get('/other')->{body}, $files{other}, 'one and no more');
}

# Each has a worker of its own meanwhile.
sub begin_slow {
	my ($server) = @_;
	my %slow = map { $_ => $server->connect(window => 4096) }
	    qw(dripper reader);

	$slow{reader}->send("GET /slowly HTTP/1.1\r\nHost: x\r\n\r\n");
	$slow{dripper}->send("GET /page HTTP/1.1\r\n");
	return %slow;
}

sub end_slow {
	my ($server, %slow) = @_;
	my ($dripper, $reader) = @slow{qw(dripper reader)};

	await('the dripper to be cut off', sub {
		!($dripper->quiet && $dripper->send('a'));
	});
	is($dripper->response->{status}, 408, 'a head has its time');
	await('the reader to be given up', sub {
		slurp($server->{access}) =~
		    m{"GET /slowly \S+ 200 (\d+)} &&
		    $1 < length($large);
	});
	$reader->abort;
}

# Idle ones make room where they have a worker each.
sub be_many {
	my ($server, $spawn, $threads) = @_;
	my @idle = map { $server->connect } 1 .. 6;

	$_->send($request) for @idle;
	is(scalar(grep { $_->response->{body} eq $files{page} } @idle), 6,
	    'as many clients as workers');
	is(threads($server), $threads + 6, 'each client has its thread')
	    if $spawn eq 'session';
	is($server->get('/page')->{body}, $files{page}, 'and one more');
	$_->close for @idle;
	await('threads to end', sub { threads($server) == $threads })
	    if $spawn ne 'pool';
}

sub reload {
	my ($server) = @_;
	my $load = Amped::Load->new(port => $server->port, stay => 20,
	    targets => { '/page' => $files{page}, '/other' => $files{other} });
	my $client = $server->connect(window => 4096);

	$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
	$client->want(1000);
	for my $n (1 .. 2) {
		kill('HUP', $server->{pid});
		await('the conf to be in force', sub {
			(() = $server->errors =~ /is in force$/mg) == $n });
	}
	is_right($client, 'large', 'a download goes on over a reload');
	my ($right, @wrong) = $load->stop;
	is_deeply(\@wrong, [], "$right requests beside reloads");
}

for (['mt', 'pool', 'synchronous'], ['mp', 'pool', 'synchronous'],
    map { my $s = $_; map { ['mt', $s, $_] } qw(reactive synchronous) }
    qw(session request)) {
	my ($arch, $spawn, $io) = @$_;

	subtest "$arch, spawn $spawn, io $io" => sub {
		my $server = start($arch, $spawn, $io);

		my $threads = threads($server);
		my %slow = begin_slow($server);
		ask_a_lot($server);
		end_slow($server, %slow);
		be_many($server, $spawn, $threads);
		reload($server);
		my $client = $server->connect;
		$client->send($request);
		is_right($client, 'page', 'before the end');
		$client->close if $spawn ne 'session';
		$server->stop($spawn eq 'session' ? 'TERM' : 'QUIT');
	};
}

# The first client lingers meanwhile, in home.
subtest 'the next client of a thread may stay' => sub {
	my $server = start('mt', 'session', 'reactive', 1);
	my ($first, $second) = ($server->connect);

	$first->send($request);
	is_right($first, 'page', 'the first client');
	$second = $server->connect;
	$second->send($request);
	await('the first client to be asked to close', sub {
		$first->send($request);
		($first->response->{field}{connection} // '') eq 'close';
	});
	my $response = $second->response;
	is($response->{body}, $files{page}, 'the second client');
	isnt($response->{field}{connection} // '', 'close',
	    '... is not asked to close');
	$_->close for $first, $second;
	$server->stop;
};

# Clients take some bytes now and then, so each operation of the server waits,
# and the last one of some of them beyond the end of an iteration.
subtest 'the end of a response that takes long' => sub {
	my $server = start('mt', 'pool', 'synchronous', 8,
	    "limits { linger 1m }\ntransport { buffer 64K }\n");
	my @clients = map { $server->connect(window => 16384 * $_) } 1 .. 8;

	$_->send("GET /large HTTP/1.0\r\n\r\n") for @clients;
	await('the responses', sub {
		!grep { $_->quiet || length($_->{in}) < length($large) }
		    @clients;
	});
	for my $i (0 .. $#clients) {
		is_right($clients[$i], 'large', "client $i");
		ok($clients[$i]->closed, '... is told the end');
	}
	$server->stop;
};

# Beside the loop's, which say that a connection has come, or that another thread
# wakes it (read).  Of several workers two might try to accept it.
subtest 'calls for a connection with one request' => sub {
	my $server = start('mt', 'pool', 'synchronous', 1);
	my ($right, $n) = (0, 50);

	$server->get('/page') for 1 .. 2;
	my $calls = count_calls($server->role('main'), sub {
		for (1 .. $n) {
			my $client = $server->connect;

			$client->send($request =~ s/\r\n\r\n/\r\nConnection: close$&/r);
			$right += $client->response->{body} eq $files{page} &&
			    $client->closed;
		}
	}, '-f');

	plan(skip_all => 'strace may not look at main') unless $calls;
	is($right, $n, 'answers under strace');
	my $sum = sum0(@$calls{grep { !/^(?:epoll_|(?:poll|read)$)/ } keys(%$calls)});
	cmp_ok($sum / $n, '<', 5.5, "$sum for $n connections")
	    or diag(explain($calls));
};

# The client waits, and is served when there may be threads again.
subtest 'no thread can be made' => sub {
	my $library = ($ENV{AMPED_BUILD} // Amped::source_dir()) .
	    '/t/lib/threads.so';
	plan(skip_all => 'a sanitizer makes threads itself')
	    if slurp(Amped::program()) =~ /__[at]san_init/;
	plan(skip_all => 'there is no t/lib/threads.so') unless -e $library;
	local $ENV{LD_PRELOAD} = $library;
	my $server = start('mt', 'session', 'reactive');

	is($server->get('/page')->{body}, $files{page}, "request $_")
	    for 1 .. 3;
	is(scalar(() = $server->errors =~
	    /cannot start a thread: clients wait/g), 1, 'the log says so once');
	$server->stop;
};

subtest 'confs' => sub {
	my $site = "site default {\n\tlisten 127.0.0.1:0\n\troot $root\n}\n";
	my $file = docroot() . '/conf';

	for my $line ('io synchronous', 'spawn session', 'spawn request') {
		for my $arch (qw(amped sped mp mt pipelined)) {
			write_file($file, "$line\n$site");
			my ($status, $out, $errors) = run_amped('-T', '-A', $arch,
			    '-f', $file);
			my $fits = $arch eq 'mt' ||
			    ($arch eq 'mp' && $line =~ /^io/);
			is($status == 0, !!$fits, "$line in $arch");
			$fits ? like($out, qr/^${\($line =~ s{ }{ +}r)} /m, 'said') :
			    like($errors, qr/^(?:amped: )?\Q$line\E \(\Q$file\E:1\): architecture $arch /, 'refused');
		}
	}
};

subtest 'other words' => sub {
	my $file = docroot() . '/conf';
	my %says = ('spawn sesion' => 'is not one of pool, session, request',
	    'io synchron' => 'is not one of reactive, synchronous');

	for my $line (sort keys %says) {
		write_file($file, "$line\n");
		my ($status, undef, $errors) = run_amped('-t', '-f', $file);
		isnt($status, 0, $line);
		like($errors, qr/\Q$says{$line}\E/, '... is refused');
	}
};

subtest 'what -T says' => sub {
	my $site = "site default {\n\tlisten 127.0.0.1:0\n\troot $root\n}\n";
	my $file = docroot() . '/conf';
	my %says = (
		'architecture amped' => ['io: a loop waits', 'a helper reads it'],
		'architecture mt' => ['spawn: threads that stay'],
		"architecture mt\nspawn session" =>
		    ['spawn: a thread starts for each connection'],
		"architecture mt\nspawn request\nio synchronous" =>
		    ['spawn: a thread starts for each request',
		    'io: a worker waits in recv', 'the worker waits for'],
		"architecture pipelined\ncache { chunks small 8K; residency mincore }" =>
		    ['of up to 8192 bytes', '(residency mincore)',
		    'a disk thread reads it'],
	);

	for my $global (sort keys %says) {
		write_file($file, "$global\n$site");
		my ($status, $out) = run_amped('-T', '-f', $file);
		is($status, 0, 'a conf');
		like($out, qr/^#.*\Q$_\E/m, $_) for @{$says{$global}};
		write_file($file, $out);
		my (undef, $again) = run_amped('-T', '-f', $file);
		like($again, qr/^# io: /m, '... and is one');
	}
};

done_testing();
