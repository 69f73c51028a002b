#!/usr/bin/perl
# Helpers that do not come back: whom that may harm, how it ends, what is told.
#
# A helper that is stopped before it gets a job is as good as one that waits
# for a file system that does not answer.
# arch: one: only amped has helpers
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp);
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use IO::Select;
use Amped::Slowfs;
use Test::More;

Amped::one_main();

plan(skip_all => 'there are no helpers')
    if Amped::architecture() ne 'amped';

# With mounts of its own where that is allowed; they go with the test.
Amped::Slowfs::alone()
    if $> == 0 && system('unshare -m true 2>/dev/null') == 0;
my $mounts = $ENV{AMPED_TEST_MOUNTS};
my $root = docroot('page' => "page\n", 'other/' => '',
    map { ("cold/$_" => "cold $_\n") } 1 .. 40);

# Another file system: mounted beneath the root, or one that is there already.
my $other;
if ($mounts) {
	system('mount', '-t', 'tmpfs', 'amped-test', "$root/other") == 0
	    or die "mount\n";
	chmod(0755, $other = "$root/other");
	symlink('other', "$root/link");
} elsif (-w '/dev/shm' && (stat('/dev/shm'))[0] != (stat($root))[0]) {
	$other = tempdir('amped-XXXXXXXX', DIR => '/dev/shm', CLEANUP => 1);
	chmod(0755, $other);
}
if ($other) {
	Amped::write_file("$other/$_", "other $_\n") for 1 .. 20;
}

sub start {
	my (%opt) = @_;
	my $server = Amped->start(root => $root, global =>
	    "helpers 2 max 4 share 2 within $opt{within}\n" .
	    "limits { disk 1s }\n", site => $other && !$mounts ?
	    "path /other { alias $other }" : '');

	await('helpers', sub { $server->role('helper') == 2 });
	is($server->get('/page')->{status}, 200, 'it serves');
	return $server;
}

# Those that are there, which are idle.
sub stop_helpers {
	my ($server) = @_;
	my @pids = $server->kill_role('STOP', 'helper');

	await('helpers to stand still', sub { !grep {
	    ((Amped::Process::stat_fields($_))[3] // '') ne 'T' } @pids });
	return @pids;
}

# Given up, killed, and replaced; nobody is told a lie meanwhile.
my $server = start(within => '2s');
my @stuck = stop_helpers($server);
my @asking = $server->ask(map { "/cold/$_" } 1 .. 3);
is($server->get('/page')->{body}, "page\n", 'what is cached is still served');
for my $client (@asking) {
	my $answer = $client->response;
	is($answer->{status}, 503, 'the disk does not answer');
	ok($answer->{field}{'retry-after'}, 'try again later');
}
$server->wait_line(qr/helper is stuck.*cold\/1.*is killed/);
$server->wait_line(qr/helper is stuck.*cold\/2.*is killed/);
await('them to be dead', sub {
	my %left = map { $_ => 1 } $server->role('helper');
	return !grep { $left{$_} } @stuck;
});
is($server->get("/cold/$_")->{body}, "cold $_\n", 'service is back')
    for 1 .. 3;
$server->stop;

# Those that come back by themselves go on.
$server = start(within => '1m');
@stuck = stop_helpers($server);
@asking = $server->ask(map { "/cold/$_" } 1 .. 2);
is($_->response->{status}, 503, 'the disk does not answer') for @asking;
kill('CONT', @stuck);
is($server->get("/cold/$_")->{body}, "cold $_\n", 'it is back') for 1 .. 3;
is_deeply([grep { my $pid = $_; grep { $_ == $pid } @stuck }
    $server->role('helper')], \@stuck, 'with the same helpers');
unlike($server->errors, qr/helper is stuck/, 'none was abandoned');
$server->stop;

# One file system does not answer: the other one does.
SKIP: {
	skip('there is no other file system', 16) unless $other;
	$server = start(within => '1m');
	is($server->get('/other/1')->{body}, "other 1\n", 'both are there');
	@stuck = stop_helpers($server);
	@asking = $server->ask(map { "/other/$_" } 2 .. 4);
	is($server->get("/cold/$_")->{body}, "cold $_\n", 'the other answers')
	    for 1 .. 10;
	ok(!IO::Select->new(map { $_->socket } @asking)->can_read(0),
	    'no more helpers than its share for the first');
	is($server->get('/other/1')->{body}, "other 1\n",
	    'what is cached of it is served');
	is($_->response->{status}, 503, 'else it does not answer')
	    for @asking;
	kill('CONT', @stuck);
	is($server->get("/other/$_")->{body}, "other $_\n", 'it is back')
	    for 2 .. 4;
	$server->stop;
	like($server->errors, qr/jobs-dropped: 1$/m,
	    'the job that nobody waited for any more was dropped');
}

# A link from one to the other is the other's trouble.
SKIP: {
	skip('mounting is not allowed here', 6) unless $mounts;
	$server = start(within => '1m');
	is($server->get('/link/5')->{body}, "other 5\n", 'a link to another');
	is($server->get('/other/6')->{body}, "other 6\n", 'the other itself');
	$server->stop;
	# One that is mounted while we run is noticed.
	$server = start(within => '1m');
	system('mount', '-t', 'tmpfs', 'amped-test', "$root/cold") == 0
	    or die "mount\n";
	chmod(0755, "$root/cold");
	Amped::write_file("$root/cold/50", "on top\n");
	is($server->get('/cold/50')->{body}, "on top\n", 'a new mount');
	is($server->get('/cold/1')->{status}, 404, 'hides what was there');
	@stuck = stop_helpers($server);
	@asking = $server->ask('/cold/2', '/cold/3');
	is($server->get('/other/7')->{body}, "other 7\n",
	    'and is another file system');
	kill('CONT', @stuck);
	$_->response for @asking;
	$server->stop;
	system('umount', "$root/cold");
}

# The end does not wait for them, and main's helpers go with it.
$server = start(within => '1m');
@stuck = stop_helpers($server);
$server->ask('/cold/11', '/cold/12');
my ($old) = $server->kill_role('KILL', 'main');
await('another main', sub { grep { $_ != $old } $server->role('main') });
await('the stuck helpers to go', sub {
	my %left = map { $_ => 1 } $server->role('helper');
	return !grep { $left{$_} } @stuck;
});
is($server->get('/cold/11')->{body}, "cold 11\n", 'main killed: it serves');
await('helpers', sub { $server->role('helper') >= 2 });
stop_helpers($server);
@asking = $server->ask('/cold/13', '/cold/14');
is($server->get('/cold/11')->{body}, "cold 11\n", 'the jobs are under way');
$server->{errors} = 1;
$server->stop;
unlike($server->errors, qr/do not end/, 'the end did not wait for helpers');
like($server->errors, qr/: loop lag: \d+ in all, mean \d+ us, longest \d+ us; /,
    'how long turns took is told');
like($server->errors, qr/: helper queue: \d+ tasks, \d+ at most$/m,
    'how long the queue was');
like($server->errors, qr/: service time of resolve: \d+ in all, /,
    'how long jobs took');

# Killed over and over: no client notices.
my $kills = Amped::source_dir() . '/contrib/bench/kills';
is(system($^X, $kills, '-n', 300, '-j', 1500, '-g', 400_000), 0,
    '300 helpers killed over 1500 requests');

system('umount', "$root/other") if $mounts;
done_testing();
