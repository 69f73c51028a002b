#!/usr/bin/perl
# Processes of programs that stay outlive a reload, unless it is about them, and
# the death of main; and what an upgrade does to them.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await slurp write_file);
use Amped::Applications;
use Amped::Load;
use Amped::Programs;
use Test::More;

Amped::needs_many_clients(12);

use constant POOL => 5;

my $manager = 'programs';	# as ps shows it
my $programs = Amped::Programs->new('bin/' => '');
my $dir = $programs->dir;
my $names = 0;

# An application that says which process it is, perhaps when the test says so.
# It reads all of a request: one that is unread when it dies would begin again.
my $file = Amped::Applications::make($programs, 'own', 'fastcgi', <<'END');
take_body();
my ($name) = $request{params}{QUERY_STRING} =~ /^wait=(\w+)/;
tell_test($name) if defined($name);
wait_test("$name-go") if defined($name);
my $length = length("$$\n");
put("Content-Type: text/plain\nContent-Length: $length\n\n$$\n");
END
my $block = "program own {\n\tfastcgi $file\n\tmost " . POOL . "\n\tnice 0\n" .
    "\twithin 60s\n}\n";
my $control = $programs->dir . '/control';
my $server = $programs->start(others => "control $control\n$block",
    site => "\tpath /own { run own }\n");
my ($global, $site) = @{$server}{qw(global site)};

# A request that waits for let(): its name and its client.
sub hold {
	my $name = 'h' . $names++;
	my $client = $programs->ask("/own?wait=$name");

	return [$name, $client, $programs->told($name)];
}

# Lets requests go on, and checks that each has the answer of its process.
sub finish {
	my ($what, @held) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	$programs->let(map { "$_->[0]-go" } @held);
	is_deeply([map { my $answer = $_->[1]->response // {};
	    ($answer->{status} // 'none') . ' ' . ($answer->{body} // '') }
	    @held], [map { "200 $_->[2]\n" } @held], $what);
	# A drain waits for connections.
	$_->[1] = undef for @held;
}

# The processes of the pool.
sub pool {
	my ($what, $n) = @_;
	my @held = map { hold() } 1 .. $n // POOL;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	finish($what, @held);
	return sort map { $_->[2] } @held;
}

# Whether the manager has read that each request is done.
sub nothing_runs {
	return (Amped::run_command(undef, Amped::copy_for_all('ampedctl'),
	    '-s', $control, 'metrics'))[1] =~
	    /^amped_program_busy\{program="own"\} 0$/m;
}

sub in_force { return scalar(() = $server->errors =~ /is in force$/mg) }

sub reload {
	my (%opt) = @_;
	my $n = in_force();
	my $conf = "$server->{dir}/amped.conf";

	%$server = (%$server, %opt);
	write_file("$conf.new", $server->conf_text);
	rename("$conf.new", $conf) or die "$conf: $!\n";
	kill('HUP', $server->{pid});
	await('the conf to be in force', sub { in_force() > $n });
}

sub parent { return slurp("/proc/$_[0]/stat") =~ /.*\) \S (\d+)/s ? $1 : 0 }

# The manager of a process: the parent of its reaper.
sub manager_of { return parent(parent($_[0])) }

# The manager of the pool, and that of programs of which nothing stays.
sub two_managers {
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	ok(eval { await($what, sub { $server->role($manager) == 2 }) }, $what)
	    or diag(join(' ', $server->role($manager)));
}

# Reloads under load: of three generations that drain, one has a request.
my @pids = pool('as many processes as requests');
two_managers('one manager has them, another one what does not stay');
my $first = manager_of($pids[0]);
my $load = Amped::Load->new(port => $server->port, clients => 3, stay => 3,
    targets => { '/own' => [map { "$_\n" } @pids], '/z' => "z\n" });
my @held;
for my $n (1 .. 6) {
	push(@held, hold()) if $n <= 3;
	reload(site => "$site\tpath /gone$n { return 410 }\n" .
	    "\tpath /more { root $dir/cases }\n");
	is($programs->get("/gone$n")->{status}, 410, "reload $n is in force");
}
finish('requests of three generations before are answered', @held);
my ($right, @wrong) = $load->stop;
is_deeply(\@wrong, [], "$right requests under load: no error, and processes " .
    'that were there before');
cmp_ok($right, '>', 12, '... there was some load');
is_deeply([pool('all answer')], \@pids, 'the processes are the same');
is(manager_of($pids[0]), $first, '... as is their manager');
two_managers('... and the other one is replaced: the roots have changed');

# The death of main.
for my $n (1 .. 2) {
	# A client has its answer before the manager reads that it is done.
	ok(eval { await('no request to run', \&nothing_runs) }, 'none runs');
	$server->kill_role('KILL', 'main');
	ok(eval { await('another main', sub {
		(eval { $programs->get('/own')->{status} } // 0) == 200
	}) }, 'main is killed: another one');
}
is_deeply([pool('all answer')], \@pids, '... has the processes of before');
is(manager_of($pids[0]), $first, '... and their manager');

# The death of the manager, which two generations have.
my $old = hold();
reload(site => $site);
my $new = hold();
kill('KILL', $first);
for my $held ($old, $new) {
	my $answer = $held->[1]->response;
	is($answer->{status}, 502, 'the manager is killed: a request fails');
}
$programs->gone('its processes end', @pids);
ok(eval { await('a new manager', sub {
	return $programs->get('/own')->{status} == 200;
}) }, 'another one has other processes');
@pids = pool('all answer');
my $second = manager_of($pids[0]);
isnt($second, $first, '... and is another one');
reload(site => "$site\tpath /gone { return 410 }\n");
is_deeply([pool('all answer')], \@pids, '... which outlive a reload');
is(manager_of($pids[0]), $second, '... as does the manager');
two_managers('... and two are left');

# A reload that is about the program.
$old = hold();
reload(global => $global =~ s/\tnice 0\n/\tnice 0\n\tenvironment A b\n/r);
$new = hold();
ok(!grep({ $_ == $new->[2] } @pids), 'another block: other processes');
my $third = manager_of($new->[2]);
isnt($third, $second, '... and another manager');
finish('... a request of before goes on', $old);
finish('... beside one of now', $new);
$programs->gone('... then the processes of before end', @pids);
ok(eval { await('the manager to go', sub { !-e "/proc/$second" }) },
    '... and their manager');
# What was said once before is another conf than that of now.
reload(global => $global);
my ($pid) = pool('the block of before: a request is answered', 1);
isnt(manager_of($pid), $third, '... by one more manager');

# A conf with an error changes nothing.
@pids = pool('all answer');
my $conf = "$server->{dir}/amped.conf";
write_file($conf, $server->conf_text . "nonsense\n");
kill('HUP', $server->{pid});
ok($server->wait_line(qr/error: the conf in force stays/), 'a wrong conf');
is_deeply([pool('all answer')], \@pids, '... changes no process');
# Nor does one without programs.
reload(global => '', site => '');
$programs->gone('no programs: no process', @pids);
ok(eval { await('no manager', sub { !$server->role($manager) }) },
    '... and no manager');
reload(global => $global, site => $site);

# Another binary has processes of its own.
@pids = pool('all answer');
$old = hold();
my ($monitor) = $server->role('monitor');
kill('USR2', $monitor);
my $upgraded;
await('the upgrade', sub {
	($upgraded) = $server->errors =~ /process (\d+) takes over$/m;
});
ok(eval { await('other processes', sub {
	my $answer = eval { $programs->get('/own') } // return 0;
	return $answer->{status} == 200 &&
	    !grep { "$_\n" eq $answer->{body} } @pids;
}) }, 'an upgrade: other processes');
finish('... and a request of before goes on', $old);
is($server->reap, 0, '... then the monitor before ends');
$programs->gone('... and its processes', @pids);
kill('TERM', $upgraded);
ok($server->wait_nothing_left, 'the server ends: nothing is left');
is_deeply([$server->complaints], [], '... without complaints');
$server->discard;
done_testing();
