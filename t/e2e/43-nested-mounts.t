#!/usr/bin/perl
# Mounts in mounts: whichever of them is dead, by whatever way it is asked for,
# the others are served.
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
my $on_a = docroot('b/' => '', 'bound/' => '', 's/' => '',
    map { ($_ => "a $_\n") } @names);
my $on_b = "$on_a/b";
system('mount', '-t', 'tmpfs', 'amped-test', $on_b) == 0 or die "mount\n";
chmod(0755, $on_b);
mkdir("$on_b/$_", 0755) for qw(c d);
Amped::write_file("$on_b/$_", "b $_\n") for @names;
my $on_s = docroot('t/' => '', map { ($_ => "s $_\n") } @names);
my $on_c = docroot(map { ($_ => "c $_\n", "deep/$_" => "deep $_\n") } @names);
my $on_d = docroot(map { ($_ => "d $_\n") } @names);
# From b into c, from b up and down again, within b, to b.
symlink('c', "$on_b/link") or die "symlink: $!\n";
symlink('../b/c/deep', "$on_b/around") or die "symlink: $!\n";
symlink('x1', "$on_b/same") or die "symlink: $!\n";
symlink('b', "$on_a/to-b") or die "symlink: $!\n";
my $c = Amped::Slowfs->new($on_c, "$on_a/b/c");
my $d = Amped::Slowfs->new($on_d, "$on_a/b/d");
my $s = Amped::Slowfs->new($on_s, "$on_a/s");
my $t = Amped::Slowfs->new($on_d, "$on_a/s/t");
# What is c's, at another place, and without c's own mount point.
system('mount', '--bind', "$on_a/b/c/deep", "$on_a/bound") == 0
    or die "mount\n";

my $server = Amped->start(root => $on_a, global =>
    "helpers 2 max 12 share 2 within 1m\nlimits { disk 1s }\n" .
    "cache {\n\tpaths 10 revalidate 0s stale 0s negative 0s\n}\n",
    site => 'listing html');

my $next = 0;

sub alive {
	my ($what, %places) = @_;

	for my $place (sort keys %places) {
		my @wrong = grep {
			$server->get("$place/$_")->{body} ne
			    "$places{$place} $_\n"
		} map { $names[$next++ % @names] } 1 .. 6;
		is("@wrong", '', "$what: $place is served");
	}
}

# All held, then asked for in each of these ways; the others meanwhile.
sub dead {
	my ($what, $fs, $ways, %places) = @_;

	for my $way (@$ways) {
		$fs->hold('all');
		my @waiting = $server->ask(map { "$way/$_" } @names[0 .. 5]);
		$fs->wait_held;
		alive("$what, by $way", %places);
		is((grep { $_->response->{status} != 503 } @waiting) + 0, 0,
		    "$what, by $way: 503");
		$fs->release;
		await("$what to be back", sub {
			$server->get("$way/x9")->{status} == 200 });
	}
}

my %a = ('' => 'a');
my %b = ('/b' => 'b', '/to-b' => 'b');
my %c = ('/b/c' => 'c', '/b/link' => 'c', '/b/around' => 'deep');
my %d = ('/b/d' => 'd');
my %s = ('/s' => 's');
my %bound = ('/bound' => 'deep');

alive('all', %a, %b, %c, %d, %s, %bound);
is($server->get('/b/same')->{body}, "b x1\n", 'a link within b');
dead('c', $c, [sort(keys %c), '/bound'], %a, '/b' => 'b', %d);
dead('d', $d, [keys %d], %a, %b, %c, %bound);
# What is dead may lie in, or hold, what is not.
dead('t', $t, ['/s/t'], %a, %b, %c, %s);
dead('s', $s, ['/s'], %a, %b, %c, %d);

# Listings show what is on the way, not what is behind.
like($server->get('/b/')->{body}, qr/x17/, 'b is listed');
$c->hold('all');
my @waiting = $server->ask(('/b/') x 4);
alive('c, listed', %a, '/b' => 'b', %d);
$_->response for @waiting;
$c->release;
alive('at last', %a, %b, %c, %d, %s, %bound);
$server->stop;
system('umount', '-l', "$on_a/bound");
undef($_) for $c, $d, $t, $s;
system('umount', '-l', $on_b);

done_testing();
