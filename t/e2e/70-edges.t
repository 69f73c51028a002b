#!/usr/bin/perl
# The first and the last part of a large file stay in memory when what is between
# them goes: other files that do not fit into the cache push out the middle only,
# and what stays is sent without a wait even if the system takes all pages of the
# file.  That takes root (t/evict).
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot);
use Test::More;

use constant { FILM => 3_000_000, MIDDLE => 1_500_000, OTHER => 12_000_000 };

my %files = map { ("film$_" => content("film$_", FILM)) } 1, 2;
my $root = docroot(%files, other => content('other', OTHER));

# Each main has caches of its own.
Amped::one_main();

# What is not on the disk yet cannot go.
for my $name (keys(%files)) {
	open(my $fh, '+<', "$root/$name") or die "$name: $!\n";
	$fh->sync or plan(skip_all => "fsync: $!");
}

# Edges may have 256 KiB: room for three.
sub start {
	my ($off) = @_;

	return Amped->start(root => $root,
	    global => "cache {\n\tchunks 8M\n$off}\n",
	    site => "\tpath /status {\n\t\tstatus on\n\t}\n",
	    log => "\taccess off\n\terror stderr info\n");
}

my $server = start('');

sub count {
	my ($name) = @_;
	my $text = $server->get('/status?text')->{body};

	return ($text =~ /^\Q$name\E +(\d+)$/m)[0];
}

sub right_part {
	my ($name, $at) = @_;
	my $got = $server->get("/$name",
	    fields => ["Range: bytes=$at-" . ($at + 999)]);

	return $got->{status} == 206 &&
	    $got->{body} eq substr($files{$name}, $at, 1000);
}

sub right_edges {
	return right_part('film1', 0) && right_part('film2', 0) &&
	    right_part('film2', FILM - 1000);
}

# Edges are there, and a part that is none is not.
sub only_middle_has_gone {
	my ($counter, $what) = @_;
	my $before = count($counter);

	ok(right_edges(), "$what: edges are right");
	is(count($counter), $before, "$what: they were there");
	ok(right_part('film1', MIDDLE), "$what: the middle is right");
	is(count($counter), $before + 1, "$what: it was not there");
}

ok(right_edges() && right_part('film1', MIDDLE), 'all are right');
is(length($server->get('/other')->{body}), OTHER, 'another file');
only_middle_has_gone('chunk-misses', 'behind another file');

SKIP: {
	my $evict = ($ENV{AMPED_BUILD} // Amped::source_dir()) . '/t/evict';
	my ($main) = $server->role('main');
	skip("there is no $evict: make tests", 4) unless -x $evict;
	open(my $said, '-|', "$evict $main $root/film1 $root/film2 2>&1")
	    or die "$evict: $!\n";
	my @left = map { /^(\d+)/ ? $1 : 1 } readline($said);
	skip('the system keeps pages that are mapped', 4)
	    if !close($said) || grep { $_ > 0 } @left;
	only_middle_has_gone('responses-waited', 'without pages');
}
is(length($server->get('/other')->{body}), OTHER, 'the other file again');
my $whole = $server->get('/film1')->{body};
ok($whole eq $files{film1}, 'a whole film, with a copy before the rest');
$server->stop;

$server = start("\toff edges\n");
ok(right_edges(), 'without the rule');
is(length($server->get('/other')->{body}), OTHER, 'another file');
my $before = count('chunk-misses');
ok(right_edges(), 'edges are right');
is(count('chunk-misses'), $before + 3, 'none of them was there');
$server->stop;

done_testing();
