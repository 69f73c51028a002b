#!/usr/bin/perl
# Each process is killed in turn (KILL), and each signal comes, under load: who
# notices what.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port slurp write_file);
use Amped::Load;
use IO::Socket::INET;
use Test::More;

Amped::one_main();

my $amped = Amped::architecture() eq 'amped';
my %files = map { ("f$_" => content("f$_", 300 * $_)) } 1 .. 20;
my $root = docroot(%files);
my %targets = map { ("/$_" => $files{$_}) } keys %files;
# Each request needs the disk.
my $cold = "helpers 2 max 4 share 4\ncache {\n\tpaths 10 revalidate 0s " .
    "stale 0s negative 0s\n}\n";

sub start {
	return Amped->start(root => $root, global => $cold, errors => 1, @_);
}

# Clients that come anew, and clients that stay.
sub load {
	my ($server) = @_;

	return map { Amped::Load->new(port => $server->port, clients => 2,
	    targets => \%targets, stay => $_) } 1, 1000;
}

# How many were right; what was wrong.
sub stop {
	my ($right, @wrong) = (0);

	for my $load (@_) {
		my ($n, @bad) = $load->stop;
		$right += $n;
		push(@wrong, @bad);
	}
	return ($right, @wrong);
}

# Some more requests have been answered by now.
sub go_on {
	my ($server, $n) = @_;

	for (1 .. $n // 20) {
		my ($name) = (sort keys %files)[$_ % 20];
		return 0
		    if $server->get("/$name")->{body} ne $files{$name};
	}
	return 1;
}

# Of error loggers, that are told.
sub deaths {
	return scalar(() =
	    $_[0]->errors =~ /error logger \d+ was killed by signal 9/g);
}

sub kill_again_and_again {
	my ($server, $role, $times) = @_;
	my %dead;

	for my $n (1 .. $times) {
		my $pid;
		await("a living $role", sub {
			($pid) = grep { !$dead{$_} } $server->role($role);
			return defined($pid);
		});
		kill('KILL', $pid);
		$dead{$pid} = 1;
		go_on($server, 3);
		# What the next one has taken and not written, goes with it.
		await('its death to be told', sub { deaths($server) == $n })
		    if $role eq 'error log';
	}
	await("another $role", sub {
		grep { !$dead{$_} } $server->role($role) });
}

# Helper, access logger, error logger: no client notices.
my $server = start();
for my $role ($amped ? 'helper' : (), 'access log', 'error log') {
	my @load = load($server);

	kill_again_and_again($server, $role, 5);
	my ($right, @wrong) = stop(@load);
	is_deeply(\@wrong, [], "$role killed: $right requests, all answered");
	cmp_ok($right, '>', 10, 'there was some load');
}
is(deaths($server), 5, 'the deaths of error loggers are logged');
$server->stop;
my @lines = slurp($server->{access}) =~ /"GET (\S+\?\d+\.\d+)\. /g;
cmp_ok(scalar(@lines), '>', 30, 'the log goes on');

# Main: who has a connection loses it, all who come then are served.
$server = start();
my @load = load($server);
go_on($server);
my ($main) = $server->role('main');
my @others = map { $server->role($_) } 'helper', 'access log';
kill('KILL', $main);
await('another main', sub {
	grep { $_ != $main } $server->role('main') });
ok(go_on($server), 'main killed: whoever comes is served');
my ($right, @wrong) = stop(@load);
# A refusal there is never: the monitor has the sockets.
is_deeply([grep { !/: (?:reset|closed without an answer|cut short)\z/ &&
    !/gave up|short|reset by peer/i } @wrong], [],
    'nobody is refused, or gets anything wrong');
cmp_ok(scalar(@wrong), '<=', 4, 'each client loses one request at most')
    or diag(join("\n", @wrong));
ok($server->wait_line(qr/main was killed by signal 9.*starting another/),
    'the log says so');
await('its helpers to go', sub {
	my %left = map { $_->{pid} => 1 } $server->processes;
	return !grep { $left{$_} } @others;
});
pass('its helpers have gone with it');
$server->stop;

# The reader of a conf to come: the conf before goes on.
my ($part) = Amped::gate();
$server = start();
($main) = $server->role('main');
write_file("$server->{dir}/amped.conf", "include $part\n" .
    $server->conf_text);
kill('HUP', $server->{pid});
await('a conf checker that waits', sub { $server->role('conf checker') });
$server->kill_role('KILL', 'conf checker');
ok($server->wait_line(qr/error: the conf in force stays/),
    'the reader killed: the conf before goes on');
is_deeply([$server->role('main')], [$main], 'the main, too');
ok(go_on($server), 'it serves');
$server->arguments;
kill('HUP', $server->{pid});
ok($server->wait_line(qr/is in force/), 'the next reader is heard');
$server->stop;

# The monitor: all go, and the address is free at once.
my $port = free_port();
my $sites = "site default {\n\tlisten 127.0.0.1:$port\n\troot $root\n}\n";
$server = start(sites => $sites);
@load = load($server);
go_on($server);
kill('KILL', $server->{pid});
is($server->reap & 127, 9, 'the monitor is killed');
ok($server->wait_nothing_left, 'nobody stays behind');
stop(@load);
$server->discard;
$server = start(sites => $sites);
ok(go_on($server), 'another one has the address at once');
$server->stop;

# QUIT under load: a request that was sent is answered; then nobody is there.
# TERM and INT: an end at once, with lines for all that was answered.
for my $signal ('QUIT', 'TERM', 'INT') {
	$server = start();
	@load = load($server);
	go_on($server);
	kill($signal, $server->{pid});
	is($server->reap, 0, "$signal under load: it ends well");
	ok($server->wait_nothing_left, 'and leaves nobody');
	($right, @wrong) = stop(@load);
	is_deeply([grep { !/Connection refused/ } @wrong], [],
	    'QUIT: nobody loses a request') if $signal eq 'QUIT';
	my $lines = () = slurp($server->{access}) =~ /"GET \S+\?\d+\.\d+\. /g;
	cmp_ok($lines, '>=', $right, 'each answer has its line');
	$server->discard;
	is_deeply([$server->complaints], [], 'no complaints');
}

done_testing();
