#!/usr/bin/perl
# A file system whose server hangs, or is gone, while main has its files: main
# goes on, stops, and is replaced when it dies, whatever it has open.
# arch: one: only amped has helpers
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot);
use Amped::Slowfs;
use Test::More;

Amped::one_main();

plan(skip_all => 'there are no helpers')
    if Amped::architecture() ne 'amped';
my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

Amped::Slowfs::alone();
my $back = docroot(map { ("f$_" => content("f$_", $_ % 2 ? 10 : 600_000)) }
    1 .. 40);
my $root = docroot('dead/' => '', map { ("c$_" => "c$_\n") } 1 .. 40);
symlink('dead', "$root/link") or die "symlink: $!\n";
my $fs = Amped::Slowfs->new($back, "$root/dead");
my $next = 1;

sub start {
	my ($within, $cache) = @_;

	return Amped->start(root => $root, global => "helpers 2 max 8 " .
	    "within $within\nlimits { disk 1s }\n" .
	    "cache {\n\tpaths 10 revalidate 0s stale 0s\n\t$cache\n}\n",
	    site => 'listing html');
}

# What is elsewhere, and has to be looked for by a helper each time.
sub alive {
	my ($server, $what) = @_;
	my @wrong = grep {
		$server->get("/c$_")->{body} ne "c$_\n"
	} map { $next++ % 40 + 1 } 1 .. 8;

	is("@wrong", '', "$what: others are served");
}

# Its files are closed all the time, for there is no room for them.
my $server = start('1m', 'chunks 64K');
for my $round (1 .. 8) {
	my @waiting = $server->ask(map { "/dead/f" . (7 * $_ * $round % 40
	    + 1) } 1 .. 12);

	$fs->hold('all') if $round % 2;
	$fs->hold($_) for $round % 2 ? () : qw(flush release);
	alive($server, "round $round");
	$fs->release;
	my @wrong = grep { $_->{status} != 200 && $_->{status} != 503 }
	    map { $_->response } @waiting;
	is(scalar(@wrong), 0, "round $round: all of them have an answer");
}
$server->stop;

# All helpers that its queue may have are given up; it comes back.
$server = start('2s', 'chunks 64M');
is($server->get('/dead/f1')->{body}, content('f1', 10), 'its files');
is($server->get('/link/f3')->{body}, content('f3', 10), 'by a link, too');
$fs->hold('all');
my @waiting = $server->ask((map { "/dead/f$_" } 10 .. 19),
    (map { "/link/f$_" } 20 .. 25), '/');
alive($server, 'held');
is($_->response->{status}, 503, 'held: 503') for @waiting;
await('helpers to be given up', sub { my @told = $server->errors =~
    /helper is stuck/g; @told >= 4 });
alive($server, 'given up');
$fs->release;
is(await('it to be back', sub {
	my $answer = $server->get('/dead/f5');
	return $answer->{status} == 200 && $answer->{body};
}), content('f5', 10), 'back');
is($server->get('/link/f7')->{body}, content('f7', 10), 'by a link, too');

# Main is killed while it has them.
is($server->get("/dead/f$_")->{status}, 200, "f$_") for 2, 4, 6;
my ($main) = $server->role('main');
isnt(scalar(grep { m{/dead/} } map { readlink($_) // () }
    glob("/proc/$main/fd/*")), 0, 'main has some of them');
$fs->hold('all');
kill('KILL', $main);
await('another main', sub { my ($now) = $server->role('main');
    $now && $now != $main });
await('it to serve', sub { eval { $server->get('/c1')->{status} == 200 } });
alive($server, 'another main');
$fs->release;

# Its server dies.
is($server->get("/dead/f$_")->{status}, 200, "f$_") for 8, 9;
kill('KILL', $fs->{pid});
@waiting = $server->ask(map { "/dead/f$_" } 8, 9, 30 .. 35);
alive($server, 'no server');
$_->response for @waiting;
cmp_ok($server->get('/dead/f36')->{status}, '>=', 500, 'no server: 5xx');
alive($server, 'no server, later');
$server->{errors} = 1;			# main's, killed, and the disk's
$server->stop;
system('umount', '-l', "$root/dead");

done_testing();
