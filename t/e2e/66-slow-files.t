#!/usr/bin/perl
# A file system that is slow, or does not answer at all, keeps nobody waiting
# but those who asked for its files.  Everything here goes by the order of
# events: while an operation is held, others are answered.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Process;
use Amped::Slowfs;
use Test::More;

Amped::one_main();

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

my $amped = Amped::architecture() eq 'amped';
my $beside = $amped || Amped::architecture() eq 'pipelined';
my $large = content('large', 1_500_000);
my $middle = content('middle', 100_000);
my @ops = qw(lookup getattr open read flush);
my $slow = docroot('small' => "small\n", 'empty' => '', 'middle' => $middle,
    'words.txt' => "words, words\n" x 5000,
    'large' => $large, 'list/one' => '1', 'list/two' => '22', 'gone' => 'x',
    map { ("fresh/$_" => "fresh $_\n") } @ops, qw(release never back late));
my $fast = docroot('page' => "page\n", 'body' => $middle,
    map { ("cold/$_" => "cold $_\n") } 0 .. 9);
my $at = docroot();
my $fs = Amped::Slowfs->new($slow, $at);
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";

sub start {
	my (%opt) = @_;

	# A copy of a file lasts so long, and is opened by name afterwards.
	return Amped->start(root => $fast, global =>
	    "cache {\n\tpaths revalidate 3s\n}\n" .
	    "helpers 2 max 12\nlimits {\n\tdisk " . ($opt{disk} // '30s') .
	    "\n}\n", site => "\tpath /slow {\n\t\talias $at\n" .
	    "\t\tlisting html\n\t\tcompress on\n\t}\n", %opt);
}

# Requests for what is in main's memory, on one connection.
sub cached {
	my ($client) = @_;

	return $client->all_right(10, '/page' => "page\n", '/body' => $middle);
}

# It serves such files at all.
my $server = start();
my $client = $server->connect;
for my $name (qw(small empty middle large large)) {
	$client->send("GET /slow/$name $get");
	my $answer = $client->response;
	is($answer->{status}, 200, $name);
	ok($answer->{body} eq slurp("$slow/$name"), "$name: all of it");
}
my $part = $server->get('/slow/large', fields => ['Range: bytes=65000-70000']);
is($part->{status}, 206, 'a range');
ok($part->{body} eq substr($large, 65000, 5001), 'the right one');
like($server->get('/slow/list/')->{body}, qr/two/, 'a listing');
is(await('it to be compressed', sub {
	$server->get('/slow/words.txt', fields => ['Accept-Encoding: gzip'])
	    ->{field}{'content-encoding'};
}), 'gzip', 'compressed');
is($server->get('/slow/words.txt')->{body}, slurp("$slow/words.txt"),
    'not compressed');
ok($server->wait_line(qr/residency method copy/),
    'the log says how');
my $again = $server->get('/slow/middle');
is($server->get('/slow/middle', fields => ['If-None-Match: ' .
    $again->{field}{etag}])->{status}, 304, 'not modified');
# One response is one version, whatever comes in its place.
my $old = $server->connect(window => 4096);
$old->send("GET /slow/large $get");
$old->want(10000);
write_file("$slow/new", content('new', 1_500_000));
rename("$slow/new", "$slow/large") or die "rename: $!\n";
await('the new one', sub { $server->get('/slow/large')->{body} eq
    content('new', 1_500_000) });
my $answer = $old->response;
ok(!$answer->{short} && $answer->{body} eq $large,
    'replaced: the response under way is the old one');
write_file("$slow/large", $large);
cmp_ok(scalar(grep { m{\A\Q$at\E/} } map { readlink($_) // () }
    glob('/proc/' . ($server->role('main'))[0] . '/fd/*')), '>', 0,
    'main has descriptors of them') if $beside;
$server->stop;
if (!$beside) {
	done_testing();
	exit;
}

# Each operation by itself.
$server = start();
$client = $server->connect;
ok(cached($client), 'cached files');
for my $op (@ops) {
	my $waits = $server->connect;

	$fs->hold($op);
	$waits->send("GET /slow/fresh/$op $get");
	$fs->wait_held($op);
	ok(cached($client), "$op held: cached files are served");
	ok($waits->quiet, "$op held: who asked waits");
	$fs->release;
	is($waits->response->{body}, "fresh $op\n", "$op free: the answer");
}
for my $op (qw(opendir readdir)) {
	my $waits = $server->connect;

	utime(undef, undef, "$slow/list");
	$fs->hold($op);
	$waits->send("GET /slow/list/ $get");
	$fs->wait_held($op);
	ok(cached($client), "$op held: cached files are served");
	ok($waits->quiet, "$op held: who asked waits");
	$fs->release;
	like($waits->response->{body}, qr/two/, "$op free: the listing");
	$server->stop;
	$server = start();
	$client = $server->connect;
	ok(cached($client), 'cached files again');
}
$fs->hold('release');
is($server->get('/slow/fresh/release')->{body}, "fresh release\n",
    'nobody waits for a release');
ok(cached($client), 'release held: cached files are served');
$fs->release;

# In the middle of a file.
my $reader = $server->connect;
$fs->hold('read', 800_000);
$reader->send("GET /slow/large $get");
$fs->wait_held('read');
$reader->want(500_000);
pass('a later read held: the first part comes');
ok(cached($client), 'a later read held: cached files are served');
$fs->release;
$answer = $reader->response;
ok(!$answer->{short} && $answer->{body} eq $large,
    'a later read free: the rest comes');

# What is known of such a file stays good while it is looked at again.
is($server->get('/slow/small')->{body}, "small\n", 'in the cache');
$fs->hold('lookup');
await('a second look', sub {
	$server->get('/slow/small')->{body} eq "small\n" or die "not served\n";
	grep { /^lookup/ } @{$fs->{held}} or
	    eval { $fs->command('delay statfs 0'); 0 };
}, 15);
is($server->get('/slow/small')->{body}, "small\n",
    'a look held: the old answer is given');
ok(cached($client), 'a look held: cached files are served');
$fs->release;
# Clients that go do not make anybody close what cannot be closed.
my @readers = map { $server->connect(window => 4096) } 1 .. 3;
$_->send("GET /slow/large $get") for @readers;
$_->want(1000) for @readers;
$fs->hold('all');
unlink("$slow/large");
$_->abort for @readers;
ok(cached($client), 'clients have gone: cached files are served');
$fs->release;
$server->stop;

# It never answers: 503, and everything else as always; then it is back.
write_file("$slow/large", $large);
$server = start(disk => '1s');
$client = $server->connect;
ok(cached($client), 'cached files');
is($server->get('/slow/middle')->{status}, 200, 'alive');
$fs->hold('all');
my @waiting = map { $server->connect } 1 .. 3;
$waiting[$_]->send('GET /slow/' . (qw(fresh/never never/there list/))[$_] .
    " $get") for 0 .. 2;
$fs->wait_held;
ok(cached($client), 'dead: cached files are served');
for my $waits (@waiting) {
	$answer = $waits->response;
	is($answer->{status}, 503, 'dead: 503');
	ok($answer->{field}{'retry-after'}, 'dead: Retry-After');
}
# With one thread for names, they wait behind those that do not come back.
$amped and is($server->get("/cold/$_")->{body}, "cold $_\n",
    'dead: other file systems go on') for 0 .. 9;
ok(cached($client), 'dead: cached files are served');
$fs->release;
is(await('it to be back', sub {
	my $answer = $server->get('/slow/fresh/never');
	return $answer->{status} == 200 && $answer->{body};
}), "fresh never\n", 'back: served without a restart');
is($server->get('/slow/fresh/back')->{body}, "fresh back\n", 'others too');

# Stopping does not wait for it.
$reader = $server->connect(window => 4096);
$reader->send("GET /slow/large $get");
$reader->want(1000);
$fs->hold('all');
my $late = $server->connect;
$late->send("GET /slow/fresh/late $get");
$fs->wait_held;
kill('TERM', $server->{pid});
is(eval { $server->reap }, 0, 'dead: it stops');
ok(!$server->role('main'), 'main too');
$fs->release;
$server->stop;

done_testing();
