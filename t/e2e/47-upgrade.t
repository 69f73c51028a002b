#!/usr/bin/perl
# Another binary takes over (USR2), under load, and nobody notices; when it does
# not come up, the one before goes on.
# arch: one: the monitors do it; how mains drain is in 48 and 49
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port slurp write_file);
use Amped::Load;
use File::Copy qw(copy);
use IO::Socket::INET;
use Test::More;

Amped::one_main();
Amped::needs_many_clients();

my %files = ('page' => "page\n", 'other' => content('other', 40_000),
    'large' => content('large', 20_000_000));
my $root = docroot(%files);
my %targets = map { ("/$_" => $files{$_}) } qw(page other);
my $few = "helpers 2 max 4 share 4\n";
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";
my $build = Amped::program() =~ s{/amped\z}{}r;

# A place where the program is installed, as an administrator would: what comes
# anew has another inode.
sub install {
	my ($place, %opt) = @_;

	for my $name (qw(amped amped-helper)) {
		copy("$build/$name", "$place/$name.new") or die "$name: $!\n";
		write_file("$place/$name.new", $opt{script})
		    if $opt{script} && $name eq 'amped';
		chmod(0755, "$place/$name.new");
		rename("$place/$name.new", "$place/$name") or die "$name: $!\n";
	}
	return "$place/amped";
}

sub start {
	my ($place, %opt) = @_;

	return Amped->start(program => install($place), root => $root,
	    global => $few, %opt);
}

sub said { return join('', map { slurp($_) } grep { -e $_ }
    @{$_[0]}{qw(err error)}) }

# USR2 to the one in charge, until that has gone; the next one.
sub upgrade {
	my ($server, $old) = @_;
	my $status;

	kill('USR2', $old);
	await('it to take over', sub {
		said($server) =~ /monitor\[$old\] notice: process (\d+) takes/ });
	my ($new) = said($server) =~
	    /monitor\[$old\] notice: process (\d+) takes/;
	await('the one before to go', sub { !grep { $_->{pid} == $old }
	    $server->processes });
	$server->reap if $old == $server->{pid};
	return $new;
}

# Ends the one in charge: nobody may be left.
sub finish {
	my ($server, $pid, $what) = @_;

	kill('TERM', $pid);
	ok($server->wait_nothing_left, "$what: it ends, and leaves nobody");
	is_deeply([$server->complaints], [], "$what: no complaints");
	$server->discard;
}

# One that is too slow; looked at in the end.
my $slow_place = docroot();
my $slow = start($slow_place, errors => 1);
install($slow_place, script => "#!/bin/sh\nexec sleep 1000\n");
kill('USR2', $slow->{pid});

# Under load, again and again, each time another file.
my $place = docroot();
my $pid_file = docroot() . '/amped.pid';
my $server = start($place, global => "$few\npid $pid_file\n",
    log => "\taccess %D/access.log common\n\terror %D/error.log info\n");
my ($first) = $server->role('monitor');
await('a pid file', sub { -s $pid_file });
is(slurp($pid_file), "$first\n", 'the pid file names the monitor');
my @load = (Amped::Load->new(port => $server->port, clients => 2,
    targets => \%targets), Amped::Load->new(port => $server->port,
    clients => 2, targets => \%targets, stay => 1),
    Amped::Load->new(port => $server->port, clients => 1,
    targets => \%targets, pause => 5));
my $old = $first;
my $upgrades = $ENV{AMPED_TEST_UPGRADES} // 10;
alarm(0) if $ENV{AMPED_TEST_UPGRADES};
my $named = 0;
for my $n (1 .. $upgrades) {
	install($place);
	my $new = upgrade($server, $old);
	$named++ if $new != $old && slurp($pid_file) eq "$new\n";
	$old = $new;
}
my ($right, @wrong) = (0);
for my $load (@load) {
	my ($n, @bad) = $load->stop;
	$right += $n;
	push(@wrong, @bad);
}
is_deeply(\@wrong, [], "$upgrades upgrades, $right requests: all answered");
cmp_ok($right, '>', 10 * $upgrades, 'there was some load');
is($named, $upgrades, 'the pid file names each');
await('one of each', sub { $server->role('monitor') == 1 &&
    $server->role('main') == 1 && $server->role('error log') == 1 });
pass('one of each is left');
my $open = () = glob("/proc/$old/fd/*");
my $next = upgrade($server, $old);
await('no more descriptors', sub {
	my $now = () = glob("/proc/$next/fd/*");
	return $now <= $open;
});
pass('and none has more descriptors than the one before');
# The conf is read again by it, at the same port 0.
kill('HUP', $next);
$server->wait_line(qr/\[$next\] notice: .*is in force/, $server->{error});
is($server->get('/page')->{body}, "page\n", 'HUP');
finish($server, $next, 'after all');
ok(!-e $pid_file, 'the pid file is removed');
is(scalar(() = slurp($server->{access}) =~ /"GET \S+\?\d+\.\d+\. /g), $right,
    'each request has its line');

# The next one by its own conf; a slow download is finished by the one before.
$place = docroot();
$server = start($place);
my $client = $server->connect(window => 4096);
$client->send("GET /large $get");
$client->want(1000);
kill('USR2', $server->{pid});
$server->wait_line(qr/takes over/);
# A child of the next one has its title, too, until it has its own.
($next) = said($server) =~ /notice: process (\d+) takes over/;
is($server->get('/page')->{body}, "page\n", 'it serves');
ok($client->response->{body} eq $files{large},
    'a download under way is finished by the one before');
$client->close;
is($server->reap, 0, 'then that ends');
finish($server, $next, 'a download');

# An address that the next one's conf does not have any more is given up; who
# has connected there before is answered, if it asks just then.
sub sites { return join('', map { "site s$_ {\n\tlisten 127.0.0.1:$_\n" .
    "\troot $root\n}\n" } @_) }
sub give_up {
	my @ports = map { free_port() } 0, 1;
	my $server = start($place, sites => sites(@ports), listeners => 2);

	is($server->get('/page', port => $_)->{body}, "page\n", 'an address')
	    for @ports;
	$server->{sites} = sites($ports[1]);
	$server->arguments;
	my $early = $server->connect(port => $ports[0]);
	kill('USR2', $server->{pid});
	$server->wait_line(qr/monitor\[$server->{pid}\] notice: .*takes over/);
	$early->send("GET /page $get");
	my $answer = $early->response;
	await('the one before to go', sub { !grep { $_->{pid} ==
	    $server->{pid} } $server->processes });
	$server->reap;
	my ($next) = $server->role('monitor');
	is($server->get('/page', port => $ports[1])->{body}, "page\n",
	    'one that the next one has, too');
	ok(!IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $ports[0]), 'one that it has not is closed');
	finish($server, $next, 'addresses');
	return ($answer // {})->{status} // 'none';
}

# There is a quarter of a second for it, which we may miss, but not each time.
my $early;
for (1 .. 5) {
	$early = give_up();
	last if $early eq '200';
}
SKIP: {
	skip('only root blocks new connections here', 1)
	    unless Amped::may_attach_filter();
	is($early, 200, 'who was there already is answered');
}

# The one in charge is killed: all of it goes, though its parent has long gone.
$server = start($place);
$next = upgrade($server, $server->{pid});
kill('KILL', $next);
ok($server->wait_nothing_left, 'killed: nobody stays behind');
$server->discard;

# What does not come up: the one before goes on, and says why.
for my $case (
	['a bad conf', sub { write_file("$_[0]{dir}/amped.conf",
	    $_[0]->conf_text . "sight {\n}\n") }, undef,
	    qr/unknown word "sight"/, qr/ended with status 78/],
	['a program that ends', undef, "#!/bin/sh\nexit 3\n", undef,
	    qr/ended with status 3/],
	['a program that is killed', undef, "#!/bin/sh\nkill -9 \$\$\n", undef,
	    qr/was killed by signal 9/],
	['no program', undef, '', qr/cannot start \S+amped: /,
	    qr/ended with status 71/],
	['a pid file that cannot be made', sub { write_file(
	    "$_[0]{dir}/amped.conf", "pid /proc/none/pid\n" .
	    $_[0]->conf_text) }, undef, qr{cannot make the pid file /proc/none},
	    qr/ended with status 73/],
) {
	my ($what, $break, $script, $why, $how) = @$case;
	$place = docroot();
	$server = start($place, errors => 1);
	$break->($server) if $break;
	install($place, script => $script) if $script;
	unlink("$place/amped") if defined($script) && $script eq '';
	my ($main) = $server->role('main');
	kill('USR2', $server->{pid});
	ok($server->wait_line(qr/error: the new binary $how.*going on with/),
	    "$what: it goes on");
	ok($server->wait_line($why), "$what: the log says why") if $why;
	is_deeply([$server->role('main')], [$main], "$what: as it was");
	is($server->get('/page')->{body}, "page\n", "$what: it serves");
	# A good one afterwards.
	$server->arguments;
	install($place);
	$next = upgrade($server, $server->{pid});
	is($server->get('/page')->{body}, "page\n", "$what: then a good one");
	finish($server, $next, $what);
}

# A main that dies before it serves is the end of the new one only: it waits for
# a file, and is killed there.
my ($types, $gate) = Amped::gate();
$place = docroot();
$server = start($place, errors => 1);
my ($main) = $server->role('main');
write_file("$server->{dir}/amped.conf", "types $types\n" . $server->conf_text);
kill('USR2', $server->{pid});
my $new_main;
await('another main', sub {
	($new_main) = grep { $_ != $main } $server->role('main') });
is($server->get('/page')->{body}, "page\n", 'a new main that waits: it serves');
kill('KILL', $new_main);
ok($server->wait_line(qr/new binary ended with status 70 before it served/),
    'a new main that dies: so does its monitor');
$server->arguments;
# Several at once are one.
kill('USR2', $server->{pid}) for 1 .. 3;
$server->wait_line(qr/takes over/);
await('one', sub { $server->role('monitor') == 1 });
($next) = $server->role('monitor');
is($server->reap, 0, 'three USR2 at once: one upgrade');
is($server->get('/page')->{body}, "page\n", 'it serves');
finish($server, $next, 'three at once');

# QUIT for the next one alone, while it is to come: the address is that of the
# one before still, and open.
$place = docroot();
$server = start($place, errors => 1);
($main) = $server->role('main');
write_file("$server->{dir}/amped.conf", "types $types\n" . $server->conf_text);
kill('USR2', $server->{pid});
await('another main', sub {
	($next) = grep { $_ != $main } $server->role('main') });
# Its parent is the monitor; other children have that title, too, at first.
($next) = slurp("/proc/$next/stat") =~ /.*\) \S (\d+)/s;
kill('QUIT', $next);
$server->wait_line(qr/monitor\[$next\] notice: stopping/);
ok(IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->port,
    Timeout => Amped::timeout()), 'the next one is to end: nobody is kept out');
is($server->get('/page')->{body}, "page\n", 'and who comes is served');
open(my $through, '>', $gate) or die "$gate: $!\n";
close($through);
ok($server->wait_line(qr/new binary .* before it served; going on/),
    'the one before goes on');
is($server->get('/page')->{body}, "page\n", 'and still serves');
finish($server, $server->{pid}, 'QUIT meanwhile');

# The one before is killed while the next one is to come: that is in charge.
$place = docroot();
$server = start($place, errors => 1);
($main) = $server->role('main');
write_file("$server->{dir}/amped.conf", "types $types\n" . $server->conf_text);
kill('USR2', $server->{pid});
await('another main', sub {
	($new_main) = grep { $_ != $main } $server->role('main') });
kill('KILL', $server->{pid});
$server->reap;
await('the main before to go', sub {
	join(' ', $server->role('main')) eq $new_main });
open($through, '>', $gate) or die "$gate: $!\n";
close($through);
is($server->get('/page')->{body}, "page\n",
    'the one before is killed meanwhile: the next one serves');
($next) = $server->role('monitor');
finish($server, $next, 'killed meanwhile');

# In the background, started by names that are good in a certain directory only;
# the pid file says whom to signal.
$place = docroot();
install($place);
$pid_file = "$place/pid";
my $port = free_port();
write_file("$place/amped.conf", ($> == 0 ? 'user ' . Amped::ordinary_user() .
    "\n" : '') . "pid pid\nlog {\n\taccess off\n\terror error.log\n}\n" .
    "site default {\n\tlisten 127.0.0.1:$port\n\troot $root\n}\n");
my ($status, $out, $err) = Amped::run_command(undef, '/bin/sh', '-c',
    "cd $place && exec ./amped -A " . Amped::architecture() .
    ' -f amped.conf');
is($status, 0, 'in the background') or diag($err);
await('a pid file', sub { -s $pid_file });
my $daemon = slurp($pid_file) + 0;
my ($session) = (Amped::Process::stat_fields($daemon))[6];
($status, $out, $err) = Amped::run_command(undef, "$place/amped", '-f',
    "$place/amped.conf");
is($status >> 8, 69, 'a second one is refused');
like($err, qr/process $daemon has the pid file/, 'and told who serves');
install($place);
kill('USR2', $daemon);
await('another to be in charge', sub {
	my $now = slurp($pid_file) + 0;
	return $now != 0 && $now != $daemon;
});
await('the first to go', sub { !-e "/proc/$daemon" });
is((Amped::Client->new(port => $port)->send("GET /page $get")),
    length("GET /page $get"), 'the next one serves');
is((Amped::Process::stat_fields(slurp($pid_file) + 0))[6], $session,
    'in the same session');
kill('TERM', slurp($pid_file) + 0);
await('the end', sub { !Amped::Process::of_session($session) });
ok(!-e $pid_file, 'and it ends as the first would have');

# A directory is served on, at the same port.
$server = Amped->start(program => install($place), plain => 1, root => $root);
$next = upgrade($server, $server->{pid});
is($server->get('/page')->{body}, "page\n", 'amped DIR');
finish($server, $next, 'amped DIR');

# TERM while one is to come ends both.
$place = docroot();
$server = start($place);
install($place, script => "#!/bin/sh\nexec sleep 1000\n");
kill('USR2', $server->{pid});
await('the next one', sub { $server->processes > 6 ||
    grep { $_->{title} eq 'sleep' } $server->processes });
$server->stop;

# HUP while one is to come is obeyed if it does not come.
is($slow->get('/page')->{body}, "page\n", 'too slow: it serves');
kill('HUP', $slow->{pid});
ok($slow->wait_line(qr/the new binary did not come up.*going on with/),
    'too slow: it is given up');
ok($slow->wait_line(qr/is in force/), 'HUP meanwhile: obeyed afterwards');
$slow->stop;

done_testing();
