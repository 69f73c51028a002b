#!/usr/bin/perl
# Files that everybody asks for are looked at again and again; on a disk that
# does not keep up, who asks for another one does not wait behind all of that.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use Amped::Slowfs;
use Test::More;

Amped::one_main();

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;
plan(skip_all => 'there nobody has a queue')
    unless Amped::architecture() =~ /\A(?:amped|pipelined)\z/;

my $hot = 50;
my $from = docroot('cold' => "cold\n", map { ("hot/$_" => "hot $_\n") }
    1 .. $hot);
my $at = docroot();
my $fs = Amped::Slowfs->new($from, $at);
my $server = Amped->start(root => $at, errors => 1, global =>
    "helpers 1 max 2 share 1 queue 10\n" .
    "cache {\n\tpaths 1000 revalidate 0s stale 1h\n}\n");
my $client = $server->connect;

sub all_hot {
	return $client->all_right(1, map { ("/hot/$_" => "hot $_\n") } 1 .. $hot);
}

ok(all_hot(), 'files that will be in memory');
$fs->hold('lookup');
ok(all_hot(), 'dead: they are served');
$fs->wait_held('lookup');
ok(all_hot(), 'dead: again, with a look under way');
my $cold = $server->connect;
$cold->send("GET /cold HTTP/1.1\r\nHost: x\r\n\r\n");
ok(all_hot(), 'dead: still');
ok($cold->quiet, 'another one is waited for, not refused');
$fs->release;
is($cold->response->{body}, "cold\n", 'back: it comes');
write_file("$from/hot/1", "new\n");
await('what is new', sub {
	return $client->right(1, '/hot/1' => "new\n");
});
pass('back: what has changed is seen');
unlike($server->errors, qr/cannot look/,
    'nobody was refused, and nothing is said of it');
$server->stop;
done_testing();
