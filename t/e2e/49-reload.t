#!/usr/bin/perl
# The conf is read again: nobody notices, but that it is in force; and when it
# cannot be, nothing has changed.  AMPED_TEST_RELOADS: how many under load.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port timeout slurp write_file);
use Amped::Load;
use Amped::Slowfs;
use IO::Socket::INET;
use Test::More;

Amped::one_main();

my $large = content('large', 20_000_000);
my %files = ('page' => "page\n", 'large' => $large,
    'other' => content('other', 40_000));
my @roots = map { docroot(%files, 'which' => "root $_\n") } 0, 1;
my $few = "helpers 2 max 4 share 4\n";
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";
my $logs = "\taccess %D/access.log common\n\terror stderr debug\n";

sub site { return "site default {\n\tlisten $_[0]\n\troot $_[1]\n}\n" }

# Another conf for the server; never half of it.
sub rewrite {
	my ($server, %opt) = @_;
	my $file = "$server->{dir}/amped.conf";

	%$server = (%$server, %opt);
	write_file("$file.new", $server->conf_text);
	rename("$file.new", $file) or die "$file: $!\n";
}

sub in_force {
	my ($server) = @_;

	# The error logger of the log before may still have taken a line.
	return scalar(() = join('', map { -e $_ ? slurp($_) : () }
	    @{$server}{qw(err error)}) =~ /is in force$/mg);
}

# Has it read again, and waits for that.
sub reload {
	my ($server, %opt) = @_;
	my $n = in_force($server);

	rewrite($server, %opt);
	kill('HUP', $server->{pid});
	await('the conf to be in force', sub { in_force($server) > $n });
}

sub descriptors {
	my @open = glob("/proc/$_[0]/fd/*");

	return scalar(@open);
}

# Under load: clients that stay, and clients that come anew each time; the root
# changes with each reload.
my $reloads = $ENV{AMPED_TEST_RELOADS} // 50;
alarm(0) if $ENV{AMPED_TEST_RELOADS};
my $port = free_port();
my $server = Amped->start(global => $few, log => $logs,
    sites => site("127.0.0.1:$port", $roots[0]));
await('all of it', sub { $server->role('monitor') == 1 &&
    $server->role('access log') == 1 });
my $before = descriptors($server->{pid});
my %targets = ('/page' => "page\n", '/other' => $files{other},
    '/which' => ["root 0\n", "root 1\n"]);
my @load = (Amped::Load->new(port => $port, clients => 2,
    targets => \%targets), Amped::Load->new(port => $port, clients => 2,
    targets => \%targets, stay => 1), Amped::Load->new(port => $port,
    clients => 1, targets => \%targets, pause => 5));
my $late = 0;
for my $n (1 .. $reloads) {
	reload($server, sites => site("127.0.0.1:$port", $roots[$n % 2]));
	my $which = $server->get('/which', port => $port);
	$late++ if $which->{body} ne 'root ' . $n % 2 . "\n";
}
my ($right, @wrong) = (0);
for my $load (@load) {
	my ($n, @bad) = $load->stop;
	$right += $n;
	push(@wrong, @bad);
}
is_deeply(\@wrong, [], "$reloads reloads, $right requests: all answered");
cmp_ok($right, '>=', $reloads, 'there was some load');
is($late, 0, 'who comes when it is in force has it');
await('the mains before to go', sub { $server->role('main') == 1 &&
    $server->role('access log') == 1 && $server->role('helper') <= 4 });
pass('one main is left');
await('few descriptors',
    sub { descriptors($server->{pid}) <= $before + 1 });
pass('the monitor has as many descriptors as before, and one hot list');
$server->stop;
is(scalar(() = slurp($server->{access}) =~ /"GET \S+\?\d+\.\d+\. /g), $right,
    'each request has a line');

# A conf that is wrong: as -t says it.
$server = Amped->start(global => $few, log => $logs, errors => 1,
    root => $roots[0]);
my ($main) = $server->role('main');
my $good = $server->conf_text;
write_file("$server->{dir}/amped.conf", $good . "sight {\n\troot /nowhere\n}\n");
my ($status, $out, $err) = Amped::run_amped('-t', '-f',
    "$server->{dir}/amped.conf");
kill('HUP', $server->{pid});
$server->wait_line(qr/error: the conf in force stays/);
isnt($status, 0, 'a wrong conf');
my $said = join('', map { "$_\n" } map { /\] error: (.*)/ ? $1 : () }
    split(/\n/, $server->errors));
is($said, $err . "the conf in force stays: reload 1 has failed\n",
    'HUP says what -t says') or diag($server->errors);
kill('HUP', $server->{pid});
ok($server->wait_line(qr/error: the conf in force stays: reload 2 has failed$/),
    'and once more, with its own verdict');
is_deeply([$server->role('main')], [$main], 'and changes nothing');
is($server->get('/page')->{body}, "page\n", 'it serves');
# Nor does main's death then.
kill('KILL', $main);
await('another main', sub { my @pids = $server->role('main');
    @pids == 1 && $pids[0] != $main });
is($server->get('/which')->{body}, "root 0\n",
    'another main has the conf before');
# A conf that is not there.
unlink("$server->{dir}/amped.conf");
kill('HUP', $server->{pid});
$server->wait_line(qr/amped\.conf: No such file/);
is($server->get('/page')->{status}, 200, 'a conf that is not there');
# A user, and a log, that are not there.
rewrite($server, log => "\taccess %D/no/such/dir common\n\terror stderr debug");
kill('HUP', $server->{pid});
ok($server->wait_line(qr{error: .*/no/such/dir: No such}),
    'a log that cannot be opened');
rewrite($server, log => $logs);
SKIP: {
	skip('only root becomes another user', 1) if $> != 0;
	write_file("$server->{dir}/amped.conf",
	    $server->conf_text =~ s/^user .*/user amped-nobody-has-this/mr);
	kill('HUP', $server->{pid});
	ok($server->wait_line(qr/error: .*there is no user "amped-nobody/),
	    'a user that there is not');
}
is(in_force($server), 0, 'none of them in force');
reload($server);
is($server->get('/page')->{status}, 200, 'and at last a good one');
$server->stop;

# Addresses: one stays, one comes, one goes.
my @ports = map { free_port() } 1 .. 3;
sub both { return join('', map { site("127.0.0.1:$_", $roots[0]) =~
    s/default/"s$_.example"/r } @_) }
$server = Amped->start(global => $few, log => $logs, errors => 1,
    listeners => 2, sites => both(@ports[0, 1]));
# Clients of one that stays and of one that goes.
sub others_listen {
	my $stays = $server->connect(port => $ports[1]);
	my $gone = $server->connect(port => $ports[0]);
	ok((!grep { !$_->all_right(1, '/page' => "page\n") } $stays, $gone),
	    'two addresses');
	# Main hears of their next requests, and of somebody at the door, when
	# it has been told to drain already.
	my ($main) = $server->kill_role('STOP', 'main');
	await('main to stand still',
	    sub { (Amped::Process::stat_fields($main))[3] eq 'T' });
	$_->send("GET /page $get") for $stays, $gone;
	my $late_one = $server->connect(port => $ports[0]);
	$late_one->send("GET /page $get");
	rewrite($server, sites => both(@ports[1, 2]));
	kill('HUP', $server->{pid});
	$server->wait_line(qr/ready: .*:$ports[2]/);
	kill('CONT', $main);
	is($stays->response->{body}, "page\n", 'a connection is answered');
	is($gone->response->{body}, "page\n",
	    'even one to an address that has gone');
	is($late_one->response->{body}, "page\n",
	    'even one that nobody has accepted yet');
}
if (Amped::many_clients()) {
	others_listen();
} else {
	reload($server, sites => both(@ports[1, 2]));
}
await('the conf to be in force', sub { in_force($server) == 1 });
is($server->get('/page', port => $_)->{status}, 200, 'an address')
    for @ports[1, 2];
await('the other to be closed', sub { !IO::Socket::INET->new(
    PeerAddr => '127.0.0.1', PeerPort => $ports[0]) });
pass('the other address is closed');
# One that is taken: by another program, or by ourselves.
my $taken = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
rewrite($server, sites => both($ports[1], $taken->sockport));
kill('HUP', $server->{pid});
ok($server->wait_line(qr/cannot listen on \S+: another program does/),
    'an address that is taken');
rewrite($server, sites => site("*:$ports[1]", $roots[0]));
kill('HUP', $server->{pid});
my $own = "cannot listen on *:$ports[1] while this server does on " .
    "127.0.0.1:$ports[1]: that needs a restart";
ok($server->wait_line(qr/\Q$own\E/), 'an address that needs a restart');
is($server->get('/page', port => $_)->{status}, 200, 'as before')
    for @ports[1, 2];
$server->stop;

# One that is given up has its door for a moment still: it can be had again at
# once, by the next conf, and by another server.
$server = Amped->start(global => $few, log => $logs, listeners => 2,
    sites => both(@ports[0, 1]));
rewrite($server, sites => both($ports[1]));
kill('HUP', $server->{pid});
await('the next one to serve', sub {
	(() = slurp($server->{err}) =~ /notice: ready: /g) == 3 });
rewrite($server, sites => both(@ports[0, 1]));
kill('HUP', $server->{pid});
await('the conf to be in force', sub { in_force($server) == 2 });
is($server->get('/page', port => $ports[0])->{status}, 200,
    'an address again');
kill('QUIT', $server->{pid});
$server->wait_line(qr/finishing the responses/);
my $another = Amped->start(global => $few, log => $logs, listeners => 2,
    sites => both(@ports[0, 1]));
is($server->reap, 0, 'the one before ends');
is($another->get('/page', port => $ports[0])->{status}, 200,
    'another server at the same address');
$another->stop;
$server->stop;

# Logs, limits and helpers change.
$server = Amped->start(global => $few, root => $roots[0],
    log => "\taccess %D/access.log common\n\terror stderr debug\n");
is($server->get('/page?before')->{status}, 200, 'a request');
reload($server, global => "helpers 3 max 4 share 4\nlimits {\n\tline 256\n}\n",
    log => "\taccess %D/second.log combined\n\terror %D/error.log debug\n");
is($server->get('/' . 'x' x 300)->{status}, 414, 'a limit');
is($server->get('/page?after')->{status}, 200, 'a request');
ok($server->wait_line(qr/after.*"-" "-"/, "$server->{dir}/log/second.log"),
    'another access log, in another form');
await('lines in another error log', sub {
	$server->get('/' . 'x' x 300);
	return -e $server->{error} &&
	    slurp($server->{error}) =~ / main\[\d+\] info: 414/;
});
my $before_that = $server->errors;
$server->get('/' . 'x' x 300) for 1 .. 20;
await('those, too', sub {
	20 < (() = slurp($server->{error}) =~ / info: 414/g) });
is($server->errors, $before_that, 'and no more in the one before');
SKIP: {
	skip('there are no helpers', 1)
	    unless Amped::architecture() eq 'amped';
	await('helpers', sub { $server->role('helper') == 3 });
	pass('another number of helpers');
}
# Back to standard error.
reload($server, log => "\taccess stderr common\n\terror stderr debug\n");
is($server->get('/page?stderr')->{status}, 200, 'a request');
ok($server->wait_line(qr/"GET \/page\?stderr/), 'back to standard error');
$server->stop;

# Mains that drain, while the conf is read again and again.
$server = Amped->start(global => $few, log => $logs, root => $roots[0]);
my @slow;
for my $n (0 .. 3) {
	my $slow = $server->connect(window => 4096);
	$slow->send("GET /large $get");
	$slow->want(1000);
	push(@slow, $slow);
	reload($server, root => $roots[($n + 1) % 2]);
}
await('the mains', sub { $server->role('main') == 5 });
pass('four mains drain, one serves');
is($server->get('/which')->{body}, "root 0\n", 'that with the last conf');
is(scalar(grep { my $a = $_->response; my $right = !$a->{short} &&
    $a->{body} eq $large; $_->close; $right } @slow), 4,
    'slow downloads are finished by the mains before');
await('one main', sub { $server->role('main') == 1 });
# Many at once.
kill('HUP', $server->{pid}) for 1 .. 100;
rewrite($server, root => $roots[1]);
kill('HUP', $server->{pid});
await('the last conf', sub {
	$server->get('/which')->{body} eq "root 1\n" });
pass('100 HUP at once');
await('one main', sub { $server->role('main') == 1 &&
    !$server->role('conf checker') });
# TERM while mains drain, QUIT too.
$slow[0] = $server->connect(window => 4096);
$slow[0]->send("GET /large $get");
$slow[0]->want(1000);
reload($server);
$server->stop('TERM');
$server = Amped->start(global => $few, log => $logs, root => $roots[0]);
$slow[0] = $server->connect(window => 4096);
$slow[0]->send("GET /large $get");
$slow[0]->want(1000);
reload($server);
kill('QUIT', $server->{pid});
is($slow[0]->response->{body} eq $large, 1, 'QUIT while a main drains');
$slow[0]->close;
is($server->reap, 0, 'and then it ends');
$server->stop;

# A main that dies while it drains: the log says so, nobody else is hurt.
$server = Amped->start(global => $few, log => $logs, root => $roots[0],
    errors => 1);
($main) = $server->role('main');
$slow[0] = $server->connect(window => 4096);
$slow[0]->send("GET /large $get");
$slow[0]->want(1000);
reload($server);
kill('KILL', $main);
ok($server->wait_line(qr/old main was killed by signal 9.*are lost/),
    'a main that dies while it drains');
ok($slow[0]->response->{short}, 'its clients lose it');
is($server->get('/page')->{status}, 200, 'others do not');
is(in_force($server), 1, 'one conf in force');
$server->stop;

# A main that ends already when TERM comes, but waits for its access logger: no
# fault.
$server = Amped->start(global => $few, log => $logs, root => $roots[0]);
is($server->get('/page?before')->{status}, 200, 'a request');
$server->wait_line(qr/before/, $server->{access});
($main) = $server->role('main');
my @stopped = $server->kill_role('STOP', 'access log');
is($server->get('/page?late')->{status}, 200, 'a line that is not taken');
reload($server);
$server->wait_line(qr/main\[$main\] debug: log-lines-dropped/);
kill('TERM', $server->{pid});
await('it to be told', sub { $server->errors =~ /notice: stopping/ });
kill('CONT', @stopped);
$server->stop;

# A drain that takes too long.
$server = Amped->start(global => "$few\nlimits {\n\tdrain 100ms\n}\n",
    log => $logs, root => $roots[0]);
$slow[0] = $server->connect(window => 4096);
$slow[0]->send("GET /large $get");
$slow[0]->want(1000);
reload($server);
await('one main', sub { $server->role('main') == 1 });
ok($slow[0]->response->{short}, 'drain ends a download that takes longer');
$server->stop;

# A new main that does not come up: it waits for a file, and is killed there.
my ($types) = Amped::gate();
$server = Amped->start(global => $few, log => $logs, root => $roots[0],
    errors => 1);
($main) = $server->role('main');
my $new;
rewrite($server, global => "$few\ntypes $types\n");
kill('HUP', $server->{pid});
await('another main', sub {
	($new) = grep { $_ != $main } $server->role('main') });
is($server->get('/page')->{status}, 200,
    'while another main is to come, the one before serves');
kill('HUP', $server->{pid});
kill('KILL', $new);
ok($server->wait_line(qr/new main was killed by signal 9.*before it served/),
    'a new main that dies: the log says so');
await('yet another', sub {
	grep { $_ != $main && $_ != $new } $server->role('main') });
pass('a HUP meanwhile is not forgotten');
kill('KILL', grep { $_ != $main } $server->role('main'));
await('the one before only', sub {
	join(' ', $server->role('main')) eq $main });
is($server->get('/page')->{status}, 200, 'the one before goes on');
reload($server, global => $few);
is($server->get('/page')->{status}, 200, 'a good one then');
$server->stop;

# A file system that does not answer has the access log: the monitor hears of
# everything else meanwhile.
SKIP: {
	my $missing = Amped::Slowfs::missing();
	my ($from, $at) = (docroot('access.log' => ''), docroot());

	skip($missing, 11) if $missing;
	my $fs = Amped::Slowfs->new($from, $at);
	$server = Amped->start(global => $few, root => $roots[0], errors => 1,
	    log => "\taccess $at/access.log common\n\terror stderr debug\n");
	is($server->get('/page?before')->{status}, 200, 'a request');
	$server->wait_line(qr/before/, "$from/access.log");
	$fs->hold('all');
	kill('USR1', $server->{pid});
	await('somebody to wait for it', sub { $server->role('log opener') });
	kill('HUP', $server->{pid});
	await('somebody to wait for it', sub { $server->role('conf checker') });
	($main) = $server->kill_role('KILL', 'main');
	await('another main', sub { my @pids = $server->role('main');
	    @pids == 1 && $pids[0] != $main });
	is($server->get('/page?dead')->{body}, "page\n",
	    'the log is dead, USR1, HUP, main killed: the next one serves');
	$fs->release;
	# For the main before, unless that has gone by then.
	ok($server->wait_line(qr/access log has been opened again|in force/),
	    'back: it is opened again');
	await('the conf to be in force', sub { in_force($server) == 1 });
	is($server->get('/page?after')->{status}, 200, 'the conf is read again');
	ok($server->wait_line(qr/after/, "$from/access.log"), 'lines come');
	ok($server->wait_line(qr/dead/, "$from/access.log"),
	    'those of meanwhile, too');
	$fs->hold('all');
	kill('USR1', $server->{pid});
	kill('HUP', $server->{pid});
	await('somebody to wait for it', sub { $server->role('log opener') &&
	    $server->role('conf checker') });
	kill('TERM', $server->{pid});
	is(eval { $server->reap }, 0, 'dead again: the monitor ends');
	is(scalar(grep { (Amped::Process::title($_))[0] =~ /\Aamped/ }
	    Amped::Process::of_port($server->port)), 0,
	    'and nobody has its port');
	$fs->release;
	ok($server->wait_nothing_left, 'back: nobody is left');
	$server->discard;
}

done_testing();
