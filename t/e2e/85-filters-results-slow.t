#!/usr/bin/perl
# A directory for results of filters that does not answer costs those who wait
# for it first, and nobody else.
# arch: one: only amped has helpers, which wait for the directory
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot);
use Amped::Slowfs;
use Test::More;

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;
plan(skip_all => 'there are no helpers')
    if Amped::architecture() ne 'amped';

my $from = docroot();
my $at = docroot();
chown(scalar(getpwnam(Amped::ordinary_user())), -1, $from);
chmod(0755, $from);
my $fs = Amped::Slowfs->new($from, $at);
my $root = docroot(map { ("$_.txt" => "a text\n") } 1 .. 5);
my $server = Amped->start(root => $root, site => "\tchain shout\n",
    global => "program louder { filter replace text TEXT; nice 0 }\n" .
    "chain shout { filters louder }\ncache { results $at }\n" .
    "limits { disk 1s }\nhelpers 2 max 8\n");
is($server->get('/1.txt')->{body}, "a TEXT\n", 'a filtered file');
# No result is kept, or looked for, of a file that is so young that a change may
# leave no trace.
await('the files to be old', sub { !grep { time() - (stat($_))[10] <= 4 }
    glob("$root/*") });
$fs->hold('all');
is($server->get('/2.txt')->{status}, 503, 'the directory does not answer');
is($server->get("/$_.txt")->{body}, "a TEXT\n", '... others do not wait')
    for 3, 4, 5;
is($server->get('/1.txt')->{body}, "a TEXT\n", '... nor for what is there');
$fs->release;
$server->stop;

done_testing();
