#!/usr/bin/perl
# What a supervisor has of it: a pid file, notifications, a watchdog, sockets
# that are passed.
# arch: one: the monitor talks to supervisors
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port timeout slurp write_file);
use Amped::Foreign qw(which_program);
use Amped::Load;
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use Socket qw(SOCK_DGRAM);
use Test::More;
use Time::HiRes qw(time);

Amped::one_main();
Amped::needs_many_clients();

my $root = docroot('page' => "page\n");
my $few = "helpers 2 max 4 share 4\n";
my %page = ('/page' => "page\n");

# A supervisor's socket, and what has come to it so far.
sub supervisor {
	my ($name) = @_;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM,
	    Local => $name =~ s/\A@/\0/r) or die "$name: $!\n";

	chmod(0777, $name);
	return { socket => $socket, heard => [] };
}

# The next message that matches, after those that have been taken.
sub hear {
	my ($supervisor, $pattern) = @_;
	my $end = time + timeout();

	while (1) {
		while (defined(my $text = shift(@{$supervisor->{heard}}))) {
			return $text if $text =~ $pattern;
		}
		die "nothing like $pattern was heard\n" if time > $end ||
		    !IO::Select->new($supervisor->{socket})
		    ->can_read($end - time);
		$supervisor->{socket}->recv(my $text, 4096);
		push(@{$supervisor->{heard}}, $text);
	}
}

# What is there by now.
sub all_heard {
	my ($supervisor) = @_;
	my @all = splice(@{$supervisor->{heard}});

	while (IO::Select->new($supervisor->{socket})->can_read(0)) {
		$supervisor->{socket}->recv(my $text, 4096);
		push(@all, $text);
	}
	return @all;
}

sub rewrite {
	my ($server, $text) = @_;

	write_file("$server->{dir}/new", $text);
	rename("$server->{dir}/new", "$server->{dir}/amped.conf");
}

# The environment of whoever may have got it; what the kernel has is that of
# the start, so only those count that were started by the server.
sub environment_of {
	my ($server, $variable) = @_;

	await('the last that starts', sub { $server->role('access log') });
	return grep { slurp("/proc/$_/environ") =~ /(?:\A|\0)$variable=/ }
	    map { $server->role($_) } 'helper', 'access log', 'error log';
}

sub no_child_has {
	my ($server, $variable, $what) = @_;

	SKIP: {
		skip('only root sees the environment of children', 1)
		    if $> != 0;
		is_deeply([environment_of($server, $variable)], [], $what);
	}
}

# Notifications, by a name in the file system and by one that is not.
my $place = docroot();
chmod(0777, $place);
for my $name ("$place/notify", "\@amped-test-$$") {
	my $supervisor = supervisor($name);
	my $server = do {
		local $ENV{NOTIFY_SOCKET} = $name;
		Amped->start(root => $root, global => $few, errors => 1);
	};
	my $text = hear($supervisor, qr/^READY=1$/m);
	like($text, qr{^STATUS=serving 1 site on http://127\.0\.0\.1:}m,
	    'READY, and what is served');
	is($server->get('/page')->{body}, "page\n", 'and it does');
	no_child_has($server, 'NOTIFY_SOCKET', 'no child has the socket');
	my $before = time;
	kill('HUP', $server->{pid});
	$text = hear($supervisor, qr/^RELOADING=1$/m);
	my ($usec) = $text =~ /^MONOTONIC_USEC=(\d+)$/m;
	my $uptime = (split(' ', slurp('/proc/uptime')))[0];
	cmp_ok($usec / 1e6, '>', $uptime - (time - $before) - 5,
	    'RELOADING, and when') if defined($usec);
	ok(defined($usec) && $usec / 1e6 < $uptime + 1, 'not in the future');
	hear($supervisor, qr/^READY=1$/m);
	$server->wait_line(qr/is in force/);
	rewrite($server, $server->conf_text . "sight {\n}\n");
	kill('HUP', $server->{pid});
	hear($supervisor, qr/^RELOADING=1$/m);
	$text = hear($supervisor, qr/^READY=1$/m);
	like($text, qr/^STATUS=.*unknown word "sight".*serving 1 site/m,
	    'a bad conf: READY, and what is wrong');
	rewrite($server, "include $place/none*\nlog {\n\taccess " .
	    "$place/no/log\n}\n" . $server->conf_text);
	kill('HUP', $server->{pid});
	like(hear($supervisor, qr/^READY=1$/m), qr/^STATUS=.*could not be/m,
	    'another bad one');
	kill('QUIT', $server->{pid});
	my ($most) = hear($supervisor, qr/^STOPPING=1$/m) =~
	    /^EXTEND_TIMEOUT_USEC=(\d+)$/m;
	cmp_ok($most, '>', 30e6, 'STOPPING, and how long that may take');
	is($server->reap, 0, 'it ends');
	is(scalar(grep { /WATCHDOG/ } all_heard($supervisor)), 0,
	    'no watchdog was asked for');
	$server->stop;
}

# Nobody there any more: it serves all the same.
{
	my $name = "$place/gone";
	supervisor($name);
	local $ENV{NOTIFY_SOCKET} = $name;
	my $server = Amped->start(root => $root, global => $few);
	ok($server->wait_line(qr/warn: cannot notify the supervisor at \Q$name\E/),
	    'nobody hears: a warning');
	is($server->get('/page')->{body}, "page\n", 'it serves');
	$server->stop;
}

# USR2: the next one is the main process.
{
	my $supervisor = supervisor("$place/usr2");
	my $server = do {
		local $ENV{NOTIFY_SOCKET} = "$place/usr2";
		local $ENV{WATCHDOG_USEC} = 24_000_000;
		Amped->start(root => $root, global => $few);
	};
	hear($supervisor, qr/^READY=1$/m);
	kill('USR2', $server->{pid});
	my ($next) = hear($supervisor, qr/^MAINPID=/m) =~ /^MAINPID=(\d+)$/m;
	isnt($next, $server->{pid}, 'MAINPID is another process');
	hear($supervisor, qr/^READY=1$/m);
	hear($supervisor, qr/^WATCHDOG=1$/m);
	is($server->reap, 0, 'the one before ends');
	is_deeply([grep { /STOPPING/ } all_heard($supervisor)], [],
	    'without a word of its own');
	is_deeply([$server->role('monitor')], [$next], 'that is it');
	kill('TERM', $next);
	hear($supervisor, qr/^STOPPING=1$/m);
	ok($server->wait_nothing_left, 'it ends');
	$server->discard;
}

# The watchdog: main's loop feeds it; when that stands still, main is replaced,
# and the feeding goes on.  Times are as long as a busy machine may need.
{
	my $supervisor = supervisor("$place/watchdog");
	my $server = do {
		local $ENV{NOTIFY_SOCKET} = "$place/watchdog";
		local $ENV{WATCHDOG_USEC} = 8_000_000;
		Amped->start(root => $root, global => $few, errors => 1);
	};
	hear($supervisor, qr/^WATCHDOG=1$/m) for 1 .. 3;
	pass('the loop feeds the watchdog');
	no_child_has($server, 'WATCHDOG_USEC', 'no child has its time');
	my ($main) = $server->kill_role('STOP', 'main');
	await('main to stand still',
	    sub { (Amped::Process::stat_fields($main))[3] eq 'T' });
	all_heard($supervisor);
	ok($server->wait_line(qr/error: main's event loop does not turn/),
	    'a stopped main: it is noticed');
	# One may be on its way while main is stopped.
	cmp_ok(scalar(grep { /WATCHDOG/ } all_heard($supervisor)), '<=', 1,
	    'and not fed for');
	ok($server->wait_line(qr/main was killed by signal 9/), 'ended');
	hear($supervisor, qr/^WATCHDOG=1$/m);
	is($server->get('/page')->{body}, "page\n", 'another one serves');
	$server->stop;
}

# The same by the conf; and one that can still say where it was, if a busy
# machine lets it go on before it is killed: one try out of ten.
{
	my $said;
	for my $try (1 .. 10) {
		$said = watchdog_of_conf();
		last if $said;
	}
	ok($said, 'one that goes on says what it was at');
}

sub watchdog_of_conf {
	my $server = Amped->start(root => $root, errors => 1,
	    global => "$few\nwatchdog 2s\n");
	is($server->get('/page')->{body}, "page\n", 'watchdog of the conf');
	my ($main) = $server->kill_role('STOP', 'main');
	await('it to be told', sub { slurp("/proc/$main/status") =~
	    /^(?:Shd|Sig)Pnd:\s+\w*[2367abef]\w\n/m ||
	    !$server->role('main') });
	kill('CONT', $main);
	await('another main', sub { my @pids = $server->role('main');
	    @pids == 1 && $pids[0] != $main });
	is($server->get('/page')->{body}, "page\n", 'another one serves');
	$server->stop;
	return $server->errors =~ /error: bug: SIGABRT /;
}

# A pid file: while it serves, by one at a time, and whatever was left before.
{
	my $file = "$place/amped.pid";
	my %opt = (root => $root, errors => 1, global => "$few\npid $file\n");
	write_file($file, "1\n234\n");	# of who died over it
	my $server = Amped->start(%opt);
	await('the pid file', sub { slurp($file) eq "$server->{pid}\n" });
	pass('a stale one is no obstacle');
	write_file("$server->{dir}/second.conf", $server->conf_text);
	my ($status, $out, $err) = Amped::run_amped('-D', '-f',
	    "$server->{dir}/second.conf");
	is($status >> 8, 69, 'a second start: exit 69');
	like($err, qr/process $server->{pid} has the pid file \Q$file\E/,
	    'it says who serves');
	is($server->get('/page')->{body}, "page\n", 'and that goes on');
	is(slurp($file), "$server->{pid}\n", 'its pid file, too');
	# What cannot serve leaves none behind.
	my $conf = slurp("$server->{dir}/second.conf") =~
	    s/^pid .*/pid $file.none/mr =~ s/:0$/":" . $server->port/emr;
	write_file("$server->{dir}/second.conf", $conf);
	($status, $out, $err) = Amped::run_amped('-D', '-f',
	    "$server->{dir}/second.conf");
	is($status >> 8, 69, 'its address is taken');
	ok(!-e "$file.none", 'no pid file is left of that');
	# Another name.
	rewrite($server, $server->conf_text =~ s/^pid .*/pid $file.2/mr);
	kill('HUP', $server->{pid});
	await('the other pid file', sub { -e "$file.2" &&
	    slurp("$file.2") eq "$server->{pid}\n" });
	await('the first to go', sub { !-e $file });
	pass('HUP: another pid file');
	$server->stop;
	ok(!-e "$file.2", 'the end: none');
	# Killed: the next one takes it.
	$server = Amped->start(%opt);
	await('the pid file', sub { -s $file });
	kill('KILL', $server->{pid});
	$server->reap;
	ok($server->wait_nothing_left, 'killed');
	$server->discard;
	ok(-e $file, 'it is left');
	$server = Amped->start(%opt);
	await('the pid file', sub { slurp($file) eq "$server->{pid}\n" });
	# Who removes it does no harm, nor does whoever puts another there.
	unlink($file);
	write_file($file, "4711\n");
	$server->stop;
	is(slurp($file), "4711\n", 'somebody else\'s is left alone');
	unlink($file);
	symlink("$place/target", $file);
	($status, $out, $err) = Amped::run_amped('-D', '-f',
	    "$server->{dir}/amped.conf");
	is($status >> 8, 73, 'a link is not followed: exit 73');
	ok(!-e "$place/target", 'nothing is made at its end');
	# Nor is what is no pid file written to, or removed: by mistake, or when
	# whoever may write there has put another's file there.
	my $listens = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
	    Listen => 1);
	my $taken = slurp("$server->{dir}/amped.conf") =~
	    s/:0$/":" . $listens->sockport/emr;
	for my $text ("root:x:0\n", '4711', '12 monkeys', "-1\n",
	    '1' x 100) {
		my $again = $text eq '4711' ? "$file.again" : undef;

		unlink($file);
		write_file($file, $text);
		link($file, $again) if $again;
		for my $conf ($server->conf_text, $taken) {
			write_file("$server->{dir}/amped.conf", $conf);
			($status, $out, $err) = Amped::run_amped('-D', '-f',
			    "$server->{dir}/amped.conf");
			is($status >> 8, 73, 'another file: exit 73');
			like($err, qr/exists and is no pid file/,
			    '... and it is said');
			ok(-e $file && slurp($file) eq $text, '... it stays');
		}
		unlink($again) if $again;
	}
}

# Sockets that are passed, as systemd does: on 3 and so on.
sub activate {
	my ($sockets, %opt) = @_;
	my $script = docroot() . '/activate';
	my $command = join(' ', 'LISTEN_FDS=' . @$sockets,
	    'LISTEN_PID=$$', 'exec "$@"', map { $_ + 3 . '<&' .
	    $sockets->[$_]->fileno } 0 .. $#$sockets);
	local $^F = 1000;

	write_file($script, "#!/bin/bash\n$command\n");
	chmod(0755, $script);
	return Amped->start(root => $root, under => [$script], %opt);
}

# One that is inherited, out of the way of those numbers.
sub listening {
	local $^F = 1000;
	my @low = map { IO::Socket::INET->new(Proto => 'tcp') } 1 .. 12;
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
	    LocalPort => $_[0] // 0, Listen => 100) or die "listen: $@\n";

	return $socket;
}

sub site { return "site default {\n\tlisten 127.0.0.1:$_[0]\n\troot $root\n}\n" }

{
	my @sockets = (listening(), listening());
	my @ports = map { $_->sockport } @sockets;
	# Whoever has come before it was started is served.
	my $early = Amped::Client->new(port => $ports[0]);
	$early->send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
	my $server = activate(\@sockets, global => $few,
	    sites => site($ports[0]));
	is($early->response->{body}, "page\n", 'passed: who waits is served');
	$early->close;
	is($server->port, $ports[0], 'on that port');
	ok($server->wait_line(qr{warn: a socket for 127\.0\.0\.1:$ports[1] was passed, but no site}),
	    'one that the conf does not have: a warning');
	no_child_has($server, 'LISTEN_FDS', 'no child hears of them');
	# Nobody else could bind them: the conf to come can have them.
	my $load = Amped::Load->new(port => $ports[0], clients => 2,
	    targets => \%page);
	rewrite($server, $server->conf_text =~ s/^(\tlisten .*)/$1\n\tlisten 127.0.0.1:$ports[1]/mr);
	kill('HUP', $server->{pid});
	$server->wait_line(qr/is in force/);
	is($server->get('/page', port => $ports[1])->{body}, "page\n",
	    'HUP: it is used');
	rewrite($server, $server->conf_text =~ s/:$ports[0]/:$ports[1]/r);
	my ($right, @wrong) = $load->stop;
	is_deeply(\@wrong, [], 'nobody notices');
	kill('HUP', $server->{pid});
	await('that conf', sub { 2 == (() = $server->errors =~ /is in force/g) });
	rewrite($server, $server->conf_text);
	kill('HUP', $server->{pid});
	await('that conf', sub { 3 == (() = $server->errors =~ /is in force/g) });
	is($server->get('/page', port => $ports[0])->{body}, "page\n",
	    'given up, and taken again');
	# The next binary has both.
	kill('USR2', $server->{pid});
	$server->wait_line(qr/takes over/);
	is($server->reap, 0, 'USR2');
	my ($next) = $server->role('monitor');
	is($server->get('/page', port => $ports[0])->{body}, "page\n",
	    'the next one has it');
	rewrite($server, $server->conf_text =~ s/:$ports[0]/:$ports[1]/r);
	kill('HUP', $next);
	$server->wait_line(qr/monitor\[$next\] notice: .*is in force/);
	is($server->get('/page', port => $ports[1])->{body}, "page\n",
	    'the other, too');
	kill('TERM', $next);
	ok($server->wait_nothing_left, 'the end');
	$server->discard;
}

# By systemd's own program, which starts it when somebody comes.
SKIP: {
	my $activator = which_program('systemd-socket-activate');
	skip('there is no systemd-socket-activate', 3) unless $activator;
	my $port = free_port();
	my $server = Amped->start(root => $root, global => $few, unready => 1,
	    sites => site($port), under => [$activator, '-l',
	    "127.0.0.1:$port", '--fdname=web']);
	my $client;
	await('it to listen', sub {
		$client = eval { Amped::Client->new(port => $port) } });
	$client->send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
	is($client->response->{body}, "page\n", 'systemd-socket-activate');
	kill('HUP', $server->{pid});
	$server->wait_line(qr/is in force/);
	is($server->get('/page', port => $port)->{body}, "page\n", 'and HUP');
	$server->stop;
}

# As somebody ordinary, at a port that only root can bind.
SKIP: {
	my $start = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
	skip('only root can bind it for another', 3) if $> != 0;
	skip('any port is anybody\'s here', 3)
	    if -e $start && slurp($start) < 1024;
	my $socket;
	for my $port (reverse(600 .. 1023)) {
		last if eval { $socket = listening($port) };
	}
	skip('no such port is free', 3) unless $socket;
	my $user = Amped::ordinary_user();
	my $port = $socket->sockport;
	my $dir = docroot();
	write_file("$dir/amped.conf", "log {\n\taccess off\n" .
	    "\terror stderr info\n}\n" . site($port));
	my $script = "$dir/activate";
	write_file($script, "#!/bin/bash\nLISTEN_FDS=1 LISTEN_PID=\$\$ exec " .
	    Amped::program_for_all() . ' -D -A ' . Amped::architecture() .
	    " -f $dir/amped.conf 3<&" . $socket->fileno . "\n");
	chmod(0755, $script);
	local $^F = 1000;
	write_file("$dir/$_", '') for qw(out err);
	my $pid = Amped::spawn([$script], "$dir/out", "$dir/err", $user);
	my $server = bless({ pid => $pid, dir => $dir, err => "$dir/err",
	    out => "$dir/out", error => "$dir/err" }, 'Amped');
	$server->ready;
	is($server->port, $port, "$user serves port $port");
	is($server->get('/page')->{body}, "page\n", 'it does');
	kill('HUP', $pid);
	$server->wait_line(qr/is in force/);
	is($server->get('/page')->{body}, "page\n", 'over HUP, too');
	$server->stop;
}

# What is no listening socket is closed, with a line.
{
	my $file = "$place/file";
	write_file($file, '');
	local $^F = 1000;
	open(my $fh, '<', $file) or die "$file: $!\n";
	my $server = activate([$fh], global => $few);
	ok($server->wait_line(qr/warn: descriptor 3, which was passed, is no/),
	    'no socket: a warning');
	is($server->get('/page')->{body}, "page\n", 'it serves');
	$server->stop;
}

done_testing();
