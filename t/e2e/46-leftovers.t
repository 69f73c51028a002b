#!/usr/bin/perl
# Main dies over and over while a file system is dead: helpers that cannot be
# killed stay behind, but no more than its share, and the others are served.
# arch: one: only amped has helpers
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot);
use Amped::Slowfs;
use Test::More;

plan(skip_all => 'there are no helpers')
    if Amped::architecture() ne 'amped';
my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

Amped::Slowfs::alone();
my @names = map { "x$_" } 1 .. 40;
my $back = docroot(map { ($_ => "dead $_\n") } @names);
my $root = docroot('dead/' => '', map { ($_ => "alive $_\n") } @names);
my $fs = Amped::Slowfs->new($back, "$root/dead");
my $share = 2;
my $next = 0;
my $server = Amped->start(root => $root, global =>
    "helpers 1 max 4 share $share within 1s\nlimits { disk 1s }\n" .
    "cache {\n\tpaths 10 revalidate 0s stale 0s negative 0s\n}\n");

# Those that the dead one holds; what is idle is in main's hands.
sub given_up {
	return grep {
		my @fields = Amped::Process::stat_fields($_);
		($fields[3] // '') eq 'D'
	} $server->role('helper');
}

sub name { return $names[$next++ % @names] }

sub alive {
	my ($what) = @_;
	my @wrong = grep { $server->get("/$_")->{body} ne "alive $_\n" }
	    map { name() } 1 .. 6;

	is("@wrong", '', "$what: others are served");
}

is($server->get('/dead/x1')->{body}, "dead x1\n", 'both are there');
$fs->hold('all');
for my $round (1 .. 8) {
	my ($main) = $server->role('main');
	# At first some are given up; then they die with main.
	my @waiting = $server->ask(map { '/dead/' . name() } 1 .. 4);
	$fs->wait_held;
	alive("round $round");
	is($_->response->{status}, 503, "round $round: 503") for @waiting;
	kill('KILL', $main);
	await('another main', sub { my ($now) = $server->role('main');
	    $now && $now != $main });
	await('it to serve', sub {
		(eval { $server->get('/x1')->{status} } // 0) == 200 });
}
alive('at last');
my @held = given_up();
cmp_ok(scalar(@held), '<=', $share, 'no more than its share are held');
cmp_ok(scalar(@held), '>=', 1, 'some are');
$fs->release;
await('them to be gone', sub {
	my %left = map { $_ => 1 } $server->role('helper');
	return !grep { $left{$_} } @held;
});
is(await('it to be back', sub {
	my $answer = $server->get('/dead/x5');
	return $answer->{status} == 200 && $answer->{body};
}), "dead x5\n", 'it is back');
$server->{errors} = 1;			# main's, killed
$server->stop;
undef($fs);

done_testing();
