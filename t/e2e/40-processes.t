#!/usr/bin/perl
# Who is there, who stops how, and who is replaced when it is killed.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port timeout slurp write_file);
use IO::Select;
use IO::Socket::INET;
use Test::More;

Amped::one_main();
Amped::needs_many_clients();

my $amped = Amped::architecture() eq 'amped';
my $large = content('large', 20_000_000);
my $root = docroot('page' => "page\n", 'large' => $large,
    map { ("cold/$_" => "cold $_\n") } 1 .. 300);
my $few = "helpers 2 max 4 share 4\n";
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";

# Titles and families.
my $server = Amped->start(root => $root, global => $few);
is($server->get('/page')->{status}, 200, 'it serves');
# A child has its parent's title until it gives itself another, which may be
# seen half written.
my $helpers = $amped ? 2 : 0;
my $title = qr/\Aamped: (main|helper|(error|access) log)\z/;
my @there;
await('all of them', sub {
	@there = $server->processes;
	return 1 == (grep { $_->{title} eq 'amped: monitor' } @there) &&
	    3 + $helpers == (grep { $_->{shown} =~ $title } @there);
});
my %of;
push(@{$of{$_->{title} =~ s/\Aamped: //r}}, $_->{pid}) for @there;
is_deeply($of{monitor}, [$server->{pid}], 'one monitor, first');
is(scalar(@{$of{$_} // []}), 1, "one $_") for 'main', 'access log', 'error log';
is(scalar(@{$of{helper} // []}), $helpers, "helpers in reserve: $helpers");
is_deeply([grep { $_->{pid} != $server->{pid} &&
    $_->{parent} != $server->{pid} } @there], [],
    'all are children of the monitor');
is_deeply([sort(grep { $_ !~ $title } map { $_->{shown} } @there)],
    ["amped: monitor $server->{dir}/amped.conf"],
    'all have titles, for ps; that of the monitor has the conf');
# A name by which amped is started that is as long as a title.
my $named = Amped->start(root => $root, global => $few, under => ['/bin/sh',
    '-c', 'cd "${1%/*}" && shift && exec ./././amped "$@"', 'sh']);
await('main', sub { grep { $_->{shown} eq 'amped: main' } $named->processes });
pass('a title as long as the name of the program');
$named->stop;
SKIP: {
	skip('only root has privileges to give away', 1) if $> != 0;
	my $uid = getpwnam(Amped::ordinary_user());
	is_deeply([grep { slurp("/proc/$_->{pid}/status") !~
	    /^Uid:\s+$uid\s+$uid\s+$uid/m }
	    grep { $_->{title} ne 'amped: monitor' } $server->processes], [],
	    'none but the monitor has privileges');
}
# Many cold files at once: never more helpers than that.
my @clients = map { $server->connect } 1 .. 100;
$clients[$_]->send("GET /cold/" . ($_ + 1) . " $get") for 0 .. 99;
my $most = $server->role('helper');
is(scalar(grep { $clients[$_]->response->{body} eq 'cold ' . ($_ + 1) . "\n" }
    0 .. 99), 100, 'a hundred cold files');
my $then = $server->role('helper');
$most = $then if $then > $most;
cmp_ok($most, '<=', 4, 'within the limit of helpers');
$server->stop;

# TERM and INT stop at once, whatever is under way.
for my $signal ('TERM', 'INT') {
	$server = Amped->start(root => $root, global => $few);
	my $client = $server->connect(window => 4096);
	my $idle = $server->connect;
	$idle->send("GET /page $get");
	is($idle->response->{status}, 200, 'a connection that stays');
	$client->send("GET /large $get");
	$client->want(1000);
	$server->stop($signal);
	ok($client->response->{short}, "$signal stops at once");
	ok($idle->closed, 'idle ones are closed');
}

# QUIT after the responses under way.
$server = Amped->start(root => $root, global => $few);
my $client = $server->connect(window => 4096);
my $idle = $server->connect;
$idle->send("GET /page $get");
is($idle->response->{status}, 200, 'a connection that stays');
$client->send("GET /large $get" . "GET /page $get");
$client->want(1000);
kill('QUIT', $server->{pid});
ok($idle->closed, 'QUIT closes idle connections');
await('no more connections', sub { !IO::Socket::INET->new(
    PeerAddr => '127.0.0.1', PeerPort => $server->port) });
pass('takes no new ones');
my $answer = $client->response;
ok(!$answer->{short} && $answer->{body} eq $large,
    'finishes the response under way');
is(eval { $server->reap }, 0, 'and ends');
$server->stop;

# QUIT with nothing to do.
$server = Amped->start(root => $root, global => $few);
$server->stop('QUIT');

# TERM shortens what QUIT began.
$server = Amped->start(root => $root, global => $few);
$client = $server->connect(window => 4096);
$client->send("GET /large $get");
$client->want(1000);
kill('QUIT', $server->{pid});
await('no more connections', sub { !IO::Socket::INET->new(
    PeerAddr => '127.0.0.1', PeerPort => $server->port) });
$server->stop('TERM');

# Helpers that are killed, idle and over a job.
SKIP: {
	skip('there are no helpers', 9) unless $amped;
	my @lost;

	$server = Amped->start(root => $root, global => $few);
	await('helpers', sub { $server->role('helper') == 2 });
	# The reserve is there again before anybody needs it, unless helpers
	# die as soon as they are born.
	await('grown-up helpers', sub {
		my @pids = $server->role('helper');
		my $up = (split(' ', Amped::slurp('/proc/uptime')))[0];

		return @pids == 2 && !grep { $up -
		    (Amped::Process::stat_fields($_))[22] / 100 < 2.5 } @pids;
	});
	my %dead = map { $_ => 1 } $server->kill_role('KILL', 'helper');
	await('new ones', sub {
		2 == grep { !$dead{$_} } $server->role('helper')
	});
	pass('killed idle helpers are replaced');

	# Main hears of a request first, and of the deaths later.
	my $first = $server->connect;
	$first->send("GET /page $get");
	is($first->response->{status}, 200, 'it serves');
	my ($main) = $server->kill_role('STOP', 'main');
	await('main to stand still',
	    sub { (Amped::Process::stat_fields($main))[3] eq 'T' });
	$first->send("GET /cold/1 $get");
	$server->kill_role('KILL', 'helper');
	await('no helpers', sub { !$server->role('helper') });
	kill('CONT', $main);
	is($first->response->{body}, "cold 1\n",
	    'idle helpers killed: others come');
	for my $n (11 .. 40) {
		kill('KILL', $server->role('helper')) if $n % 5 == 0;
		push(@lost, $n)
		    if $server->get("/cold/$n")->{body} ne "cold $n\n";
	}
	is_deeply(\@lost, [], 'each is answered while helpers are killed');

	# Stopped ones hold their jobs: others are started beside them.
	my @stopped = $server->kill_role('STOP', 'helper');
	my @waiting = map { $server->connect } 1 .. @stopped + 1;
	$waiting[$_]->send('GET /cold/' . (100 + $_) . " $get")
	    for 0 .. $#waiting;
	# Which of them got the stopped ones is main's choice.
	my ($ready) = IO::Select->new(map { $_->socket } @waiting)
	    ->can_read(timeout());
	my ($first_one) = grep { $waiting[$_]->socket == $ready }
	    0 .. $#waiting;
	is($waiting[$first_one]->response->{body}, 'cold ' .
	    (100 + $first_one) . "\n", 'helpers are started on demand')
	    or diag($server->errors);
	cmp_ok(scalar($server->role('helper')), '>', @stopped, 'one more');
	# Their jobs are tried once more, by others.
	kill('KILL', @stopped);
	is(scalar(grep { $waiting[$_]->response->{body} eq
	    'cold ' . (100 + $_) . "\n" } grep { $_ != $first_one }
	    0 .. $#waiting),
	    scalar(@stopped), 'jobs of the killed are done by others');
	cmp_ok(scalar($server->role('helper')), '<=', 4, 'within the limit');

	# More jobs than there may be helpers, all of which hang and die.
	await('four helpers', sub {
		kill('STOP', $server->role('helper'));
		my $c = $server->connect;
		push(@waiting, $c);
		$c->send('GET /cold/' . (100 + $#waiting) . " $get");
		return $server->role('helper') == 4;
	});
	kill('STOP', $server->role('helper'));
	kill('KILL', $server->role('helper'));
	@lost = grep { ($waiting[$_]->response // {})->{status} !~
	    /^(200|503)$/ } @stopped + 1 .. $#waiting;
	is(@lost, 0, 'nobody is stuck when all helpers die');
	is($server->get('/cold/99')->{body}, "cold 99\n", 'and it goes on');
	$server->stop;
}

# The access logger killed: lines go on.
$server = Amped->start(root => $root, global => $few);
is($server->get('/page?before')->{status}, 200, 'before');
$server->wait_line(qr/before/, $server->{access});
my ($old) = $server->kill_role('KILL', 'access log');
is($server->get('/page?after')->{status}, 200, 'after');
ok($server->wait_line(qr/after/, $server->{access}),
    'access logger killed: the lines go on');
await('another access logger',
    sub { grep { $_ != $old } $server->role('access log') });

# Main killed: another serves.
($old) = $server->kill_role('KILL', 'main');
await('another main', sub { grep { $_ != $old } $server->role('main') });
is($server->get('/page')->{body}, "page\n", 'main killed: another serves');
is($server->get('/cold/7')->{body}, "cold 7\n", 'cold files too');
ok($server->wait_line(qr/main.*killed.*\b9\b/), 'the log says so');
await('the old helpers to go', sub { $server->role('main') == 1 &&
    $server->role('access log') == 1 && $server->role('helper') <= 4 });
$server->{errors} = 1;
$server->stop;

# The monitor killed: nobody stays, whatever they do.
$server = Amped->start(root => $root, global => $few);
$client = $server->connect(window => 4096);
$client->send("GET /large $get");
$client->want(1000);
kill('KILL', $server->{pid});
is($server->reap & 127, 9, 'the monitor is killed');
ok($server->wait_nothing_left, 'nobody stays behind');
$server->discard;

# All killed but the monitor.
$server = Amped->start(root => $root, global => $few);
is($server->get('/page')->{status}, 200, 'it serves');
kill('KILL', grep { $_ != $server->{pid} }
    map { $_->{pid} } $server->processes);
is($server->get('/page')->{body}, "page\n", 'all but the monitor killed');
$server->{errors} = 1;
$server->stop;

# A server that is only being tried goes with its terminal.
$server = Amped->start(root => $root, plain => 1);
kill('HUP', $server->{pid});
is($server->reap, 0, 'HUP ends what was started with a directory');
ok($server->wait_nothing_left, 'all of it');
$server->discard;

# Into the background.
my $dir = docroot();
my $port = free_port();
write_file("$dir/amped.conf", ($> == 0 ? 'user ' . Amped::ordinary_user() .
    "\n" : '') . "log {\n\taccess off\n\terror $dir/error.log\n}\n" .
    "site default {\n\tlisten 127.0.0.1:$port\n\troot $root\n}\n");
my ($status, $out, $err) = Amped::run_amped('-A', Amped::architecture(),
    '-f', "$dir/amped.conf");
is($status, 0, 'without -D it goes into the background') or diag($err);
my $monitor;
await('a daemon', sub {
	($monitor) = grep { (Amped::Process::title($_))[0] eq
	    "amped: monitor $dir/amped.conf" } Amped::Process::of_port($port);
});
await('the daemon to serve', sub { -e "$dir/error.log" &&
    slurp("$dir/error.log") =~ /ready/ });
is(Amped::Client->new(port => $port)->send("GET /page $get"),
    length("GET /page $get"), 'and serves');
my ($session) = (Amped::Process::stat_fields($monitor))[6];
isnt($session, (Amped::Process::stat_fields($$))[6], 'in another session');
kill('TERM', $monitor);
await('the daemon to end', sub { !Amped::Process::of_session($session) });
pass('until it is told to stop');

done_testing();
