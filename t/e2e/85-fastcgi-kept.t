#!/usr/bin/perl
# Connections to processes of a program that main keeps for its next requests:
# the program manager is not asked, no other main has to wait for it, and a
# process that dies meanwhile costs nobody an answer.
# A case names its rule: a section of RFC 3875, 9110 or 9112, of the
# specification of FastCGI, or of amped-programs(7) (manual), or a directive of
# amped.conf(5) (conf).  Cases that begin with ... go on with that rule.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(slurp);
use Amped::Applications;
use Amped::Programs;
use List::Util qw(min);
use Test::More;
use Time::HiRes qw(time);

Amped::needs_many_clients(8);

use constant {
	REQUESTS => 100,	# of one client, one behind the other
	CLIENTS => 6,		# that take turns, ...
	TURNS => 10,		# ... each so often
};

my $programs = Amped::Programs->new('bin/' => '');

# An application that says which process it is.  The answer ends with its
# request, so a client that has it all finds the process free.
my $file = Amped::Applications::make($programs, 'own', 'fastcgi',
    'put("Content-Type: text/plain\n\n$$\n");');
my $several = Amped::architecture() =~ /\A(?:amped|pipelined)\z/ ?
    "workers 2\n" : '';
my %own = (one => "most 1\n", full => "most 1\nqueue 0\n", worn =>
    "most 1\nrequests 20\n");
my $server = $programs->start(others => $several . join('', map {
    "program $_ {\n\tfastcgi $file\n\tnice 0\n\twithin 60s\n$own{$_}}\n" }
    sort keys %own), site => join('', map { "\tpath /$_ { run $_ }\n" }
    sort keys %own));

sub asks {
	my ($client, $path) = @_;

	$client->send(Amped::Programs::request("/$path"));
	my $answer = $client->response // return 'none';
	return $answer->{status} == 200 ? $answer->{body} + 0 :
	    "status $answer->{status}";
}

# How often managers have waited.
sub turns {
	my $sum = 0;

	for my $manager ($server->role('programs')) {
		slurp("/proc/$manager/status") =~
		    /^voluntary_ctxt_switches:\s*(\d+)/m or die;
		$sum += $1;
	}
	return $sum;
}

# Of one client one request follows the other.
my $client = $programs->client;
my $pid = asks($client, 'one');
like($pid, qr/\A\d+\z/, 'FastCGI 5.1: a process answers');
asks($client, 'one') for 1 .. 2;
my $before = turns();
my %pids = map { asks($client, 'one') => 1 } 1 .. REQUESTS;
is_deeply([keys(%pids)], [$pid], 'FastCGI 5.1: one process has all requests');
cmp_ok(turns() - $before, '<', REQUESTS / 2, '... and the manager none of '
    . 'most of them');

# It dies while it is kept.
kill('KILL', $pid);
$programs->gone('FastCGI 3.5: a process that is kept dies', $pid);
my $next = asks($client, 'one');
like($next, qr/\A\d+\z/, '... and another one answers');
isnt($next, $pid, '... in its place');

# Clients of several mains take turns: without a recall most of them would wait
# for a second, and with no queue they would be refused.
for my $path (qw(one full)) {
	my @clients = map { $programs->client } 1 .. CLIENTS;
	my ($fastest, %seen);

	# The first request of a process has it for itself.
	asks($client, $path) for 1 .. 2;
	for (1 .. TURNS) {
		my $begin = time();

		$seen{asks($_, $path)}++ for @clients;
		$fastest = min($fastest // (), time() - $begin);
	}
	is_deeply([values(%seen)], [CLIENTS * TURNS],
	    "manual LIMITS: $path: one process has the requests of all mains")
	    or diag(join(' ', %seen));
	cmp_ok($fastest, '<', 1,
	    '... and none waits until another main has kept it long enough');
}

# All requests count.
my @pids = map { asks($client, 'worn') } 1 .. 60;
is(scalar(grep { !/\A\d+\z/ } @pids), 0, 'conf requests: processes that wear answer');
my %worn;
$worn{$_}++ for @pids;
cmp_ok(scalar(keys(%worn)), '>=', 3, '... and are replaced');
is(scalar(grep { $_ > 20 } values(%worn)), 0,
    '... behind as many requests as they may have');

# The end: they go.
$server->stop;
$programs->gone('manual PHP WITHOUT A SERVICE: no process is left', keys(%worn));

done_testing();
