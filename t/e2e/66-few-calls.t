#!/usr/bin/perl
# What a file costs a file system that main cannot read without waiting (FUSE):
# each call may take seconds there, so there are no more than needed.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot);
use Amped::Slowfs;
use Test::More;
use Time::HiRes qw(sleep);

Amped::one_main();

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

my $slow = docroot(map { ($_ => "$_\n") } 'a' .. 'd');
my $at = docroot();
my $fs = Amped::Slowfs->new($slow, $at);
my $server = Amped->start(root => $at,
    global => "cache { paths revalidate 100ms wait 2s }\n");

# Calls by kind, with the time that a permission or an attribute is good for
# over before the next call.
sub calls {
	my ($name, %wanted) = @_;
	my %calls;

	$fs->delay('all', 10);
	$fs->count;
	is($server->get("/$name")->{body}, "$name\n", $name);
	sleep(0.1);			# what comes after the answer
	%calls = $fs->count;
	note(join(', ', map { "$calls{$_} $_" } sort(keys(%calls))));
	cmp_ok($calls{$_} // 0, '<=', $wanted{$_}, "$_: at most $wanted{$_}")
	    for sort(keys(%wanted));
	$fs->release;
}

# Files that are old enough for their versions to tell a change.
sleep(1.2);
my @first = (lookup => 1, getattr => 5, open => 2, read => 1, flush => 2);
calls($_, @first) for qw(a b);
# Looked up again, unchanged.
sleep(0.2);
calls('a', lookup => 1, getattr => 2, open => 0, read => 0, flush => 0);
$server->stop;
undef($fs);

done_testing();
