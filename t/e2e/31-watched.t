#!/usr/bin/perl
# Watched directories: what has changed is served new at once, however old it
# may become, and what has not changed is not looked at again.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Load;
use Test::More;
use Time::HiRes qw(sleep time);

# How long after a change the first request comes: this is what is tested.  A
# sanitizer takes its time.
use constant AFTER => slurp(Amped::program()) =~ /__[at]san_init/ ? 0.2 : 0.02;

Amped::one_main();

# Of each kind; a release has 1,000.
my $changes = $ENV{AMPED_WATCH_CHANGES} // 5;
alarm(0) if $changes > 5;
# A busy machine may be late, which is not tested here.
my $old = "paths 100000 revalidate 1h wait 10s stale 2h negative 1h";
my $site = "\tlisting html\n\tpath /status { status on }\n" .
    "\tpath /zipped { precompressed gzip }\n";
my $place = docroot(map { ("one/$_" => "old $_\n") } qw(page sub/page));

sub start {
	my ($root, $cache, %opt) = @_;

	return Amped->start(root => $root, site => $site, global =>
	    "cache {\n\t" . ($opt{old} // $old) . "\n\t" . ($cache // 'watches 16384') .
	    "\n}\n");
}

sub count {
	my ($server, $name) = @_;
	my ($n) = $server->get('/status?text')->{body} =~ /^\Q$name\E (\d+)/m;

	return $n;
}

my $root = docroot(
    (map { ("$_/page" => "page\n") } qw(a b zipped many)),
    (map { ("hot/$_" => "hot $_\n") } 0 .. 9));
my $server = start($root);
$server->get('/a/page');
if (!count($server, 'watches')) {
	$server->stop;
	plan(skip_all => 'the file system here cannot be watched');
}

# Clients beside it, where there may be some.
sub beside {
	return Amped::many_clients(4) ? Amped::Load->new(
	    port => $server->port, clients => 2, pause => 1,
	    targets => { map { ("/hot/$_" => slurp("$root/hot/$_")) }
	    0 .. 9 }) : undef;
}

my $load = beside();

sub body { return $server->get(@_)->{body} // '' }

# Waits until main has read the events of a change that is complete, of which
# there may be several.
sub await_events {
	my ($server, $before) = @_;
	my $last = $before;

	await('all events', sub {
		my $n = count($server, 'watch-events');
		my $same = $n == $last;
		$last = $n;
		return $same && $n > $before;
	});
}

# A kind of change: what is asked for before it, the change, and whether the
# first answer after it is right.
sub right_at_once {
	my ($what, $before, $change, $is_right) = @_;
	my $wrong = 0;

	for my $i (1 .. $changes) {
		$before->($i);
		my $events = count($server, 'watch-events');
		$change->($i);
		sleep(AFTER);
		# On a machine that is busy with other tests, main may not
		# have run.
		await_events($server, $events) if $changes == 5;
		next if $is_right->($i);
		$wrong++;
		sleep(0.3);
		diag("$what: " . ($is_right->($i) ? 'the second answer is new' :
		    'so is the second'));
	}
	is($wrong, 0, "$what: the first answer is new");
}

sub replace {
	my ($name, $bytes) = @_;

	write_file("$root/$name.next", $bytes);
	rename("$root/$name.next", "$root/$name") or die "rename: $!\n";
}

right_at_once('renamed over', sub { body('/a/page') },
    sub { replace('a/page', "renamed $_[0]\n") },
    sub { body('/a/page') eq "renamed $_[0]\n" });
right_at_once('written in place', sub { body('/a/page') },
    sub { write_file("$root/a/page", "written $_[0]\n") },
    sub { body('/a/page') eq "written $_[0]\n" });
right_at_once('a large file, written in place', sub { body('/b/page') },
    sub { write_file("$root/b/page", content("b$_[0]", 100_000 + $_[0])) },
    sub { body('/b/page') eq content("b$_[0]", 100_000 + $_[0]) });
right_at_once('deleted', sub { write_file("$root/a/gone$_[0]", 'x');
    body("/a/gone$_[0]") }, sub { unlink("$root/a/gone$_[0]") },
    sub { $server->get("/a/gone$_[0]")->{status} == 404 });
right_at_once('made after a 404', sub { $server->get("/a/new$_[0]") },
    sub { write_file("$root/a/new$_[0]", "new\n") },
    sub { body("/a/new$_[0]") eq "new\n" });
right_at_once('made in a new directory after a 404',
    sub { $server->get("/a/dir$_[0]/new") },
    sub { write_file("$root/a/dir$_[0]/new", "new\n") },
    sub { body("/a/dir$_[0]/new") eq "new\n" });
right_at_once('a name with a space', sub { $server->get("/a/n%20$_[0]") },
    sub { write_file("$root/a/n $_[0]", "new\n") },
    sub { body("/a/n%20$_[0]") eq "new\n" });
SKIP: {
	skip('root reads all', 3) if $> == 0 && !Amped::ordinary_user();
	right_at_once('readable again', sub { chmod(0, "$root/a/page");
	    sleep(AFTER); $server->get('/a/page') },
	    sub { chmod(0644, "$root/a/page") },
	    sub { $server->get('/a/page')->{status} == 200 });
	right_at_once('a directory on the way is opened', sub {
	    write_file("$root/a/shut$_[0]/in/page", "shut\n");
	    chmod(0, "$root/a/shut$_[0]"); sleep(AFTER);
	    $server->get("/a/shut$_[0]/in/page") },
	    sub { chmod(0755, "$root/a/shut$_[0]") },
	    sub { body("/a/shut$_[0]/in/page") eq "shut\n" });
	right_at_once('no longer readable', sub { chmod(0644, "$root/a/page");
	    sleep(AFTER); body('/a/page') },
	    sub { chmod(0, "$root/a/page") },
	    sub { $server->get('/a/page')->{status} == 403 });
}
chmod(0644, "$root/a/page");
right_at_once('a variant is made and touched', sub {
	unlink("$root/zipped/page.gz");
	sleep(AFTER);
	body('/zipped/page', fields => ['Accept-Encoding: gzip'])
    }, sub { write_file("$root/zipped/page.gz", "zipped $_[0]\n") }, sub {
	body('/zipped/page', fields => ['Accept-Encoding: gzip']) eq
	    "zipped $_[0]\n" });
right_at_once('a variant is touched', sub {
	body('/zipped/page', fields => ['Accept-Encoding: gzip'])
    }, sub { utime(1, 1, "$root/zipped/page.gz") }, sub {
	body('/zipped/page', fields => ['Accept-Encoding: gzip']) eq "page\n"
    });
right_at_once('an entry of a listing', sub { body('/many/') },
    sub { write_file("$root/many/entry$_[0]", "x\n") },
    sub { body('/many/') =~ /entry$_[0]"/ });
right_at_once('an index', sub { unlink("$root/many/index.html");
    sleep(AFTER); body('/many/') },
    sub { write_file("$root/many/index.html", "index $_[0]\n") },
    sub { body('/many/') eq "index $_[0]\n" });
right_at_once('a directory is renamed',
    sub { write_file("$root/x/y/page", "x\n"); body('/x/y/page');
    $server->get('/z/y/page') },
    sub { rename("$root/x", "$root/z") },
    sub { $server->get('/x/y/page')->{status} == 404 &&
    body('/z/y/page') eq "x\n" && (rename("$root/z", "$root/x"),
    sleep(AFTER)) });

# A link on the way, and one at its end.
symlink('a', "$root/link") or die;
symlink('b/page', "$root/end") or die;
write_file("$root/b/page", "b\n");
sub turn {
	my ($link, $to) = @_;

	symlink($to, "$link.next") or die;
	rename("$link.next", $link) or die;
}
right_at_once('a link on the way is swapped', sub { body('/link/page') },
    sub { turn("$root/link", $_[0] % 2 ? 'b' : 'a') },
    sub { body('/link/page') eq slurp("$root/link/page") });
right_at_once('a link at the end is swapped', sub { body('/end') },
    sub { turn("$root/end", $_[0] % 2 ? 'a/page' : 'b/page') },
    sub { body('/end') eq slurp("$root/end") });
right_at_once('what a link leads to is written', sub { body('/end') },
    sub { write_file("$root/end", "end $_[0]\n") },
    sub { body('/end') eq "end $_[0]\n" });

# Nothing is looked at while nothing changes.
body("/hot/$_") for 0 .. 9;
my $looks = count($server, 'lookups');
for (1 .. 20) {
	body("/hot/$_") for 0 .. 9;
}
is(count($server, 'lookups'), $looks, 'no look while nothing changes');
write_file("$root/hot/busy$_", 'x') for 1 .. 300;
sleep(AFTER);
body("/hot/$_") for 0 .. 9;
is(count($server, 'lookups'), $looks,
    'nor at the other files of a directory that changes');
if ($load) {
	my ($right, @wrong) = $load->stop;
	is_deeply(\@wrong, [], "clients beside it: $right right answers");
}

# Events that are lost, as main does not read them: all is looked at again.
my $most = slurp('/proc/sys/fs/inotify/max_queued_events') + 0;
SKIP: {
	skip('main stands still', 3) if $most > 50_000;
	my ($main) = $server->role('main');

	write_file("$root/hot/busy", '');
	write_file("$root/hot/busier", '');
	body("/hot/$_") for 0 .. 9;
	is(count($server, 'watch-losses'), 0, 'no event was lost');
	kill('STOP', $main);
	for (1 .. $most) {
		# Equal events in a row would be one.
		utime(undef, undef, "$root/hot/busy", "$root/hot/busier");
	}
	write_file("$root/hot/3", "after the loss\n");
	kill('CONT', $main);
	await('a loss', sub { count($server, 'watch-losses') == 1 });
	is(body('/hot/3'), "after the loss\n", 'a change whose event was lost');
	write_file("$root/hot/3", "and after\n");
	sleep(AFTER);
	is(body('/hot/3'), "and after\n", 'events count again');
}
$server->stop;

# A file with a second name is not watched, and one in a directory beyond the
# limit is not watched any more: these are looked at again.
$server = start($root, 'watches 8', old => 'paths 1000 revalidate 0s');
link("$root/a/page", "$root/b/twin") or die "link: $!\n";
body('/a/page');
$looks = count($server, 'lookups');
sleep(AFTER);			# older than 0s by any clock
body('/a/page');
is(count($server, 'lookups'), $looks + 1, 'a file with a second name');
body('/hot/1');
$looks = count($server, 'lookups');
body('/hot/1');
is(count($server, 'lookups'), $looks, 'a file with one');
my $lookup = 0;
# What changes during a lookup is not watched: all are made before.
my $events = count($server, 'watch-events');
write_file("$root/deep$_/page", "deep $_\n") for 1 .. 20;
await_events($server, $events);
body("/deep$_/page") for 1 .. 19;
is(body('/deep20/page'), "deep 20\n", 'directory 20');
# Not more than once a second, and if lookups are made.
await('directories to go', sub { $server->get("/none$lookup");
    $lookup++; count($server, 'watches') <= 8 });
$server->wait_line(qr/limit of 8 watched directories is reached/);
is(scalar(() = $server->errors =~ /watched directories is reached/g), 1, 'once');
write_file("$root/deep$_/page", "new $_\n") for 1 .. 20;
sleep(AFTER);
is(join('', map { body("/deep$_/page") } 1 .. 20),
    join('', map { "new $_\n" } 1 .. 20), 'and what was watched is new');
$server->stop;

# A deploy by renames, while clients ask: each answer is one release's, and none
# is older than one that the same file has had.
if (Amped::many_clients(4)) {
	$server = start($root);
	my %bodies = map { my $i = $_; ("/new/$i" => [map { "$_ of $i\n" }
	    0 .. 3]) } 1 .. 50;
	write_file("$root/new/$_", "0 of $_\n") for 1 .. 50;
	$load = Amped::Load->new(port => $server->port, clients => 3,
	    targets => \%bodies);
	my @late;
	for my $release (1 .. 3) {
		replace("new/$_", "$release of $_\n") for 1 .. 50;
		sleep(AFTER);
		push(@late, grep { body("/new/$_") ne "$release of $_\n" }
		    1 .. 50);
	}
	is_deeply(\@late, [], 'all of a release at once');
	my ($right, @wrong) = $load->stop;
	is_deeply(\@wrong, [], "nothing else under way: $right answers");
	$server->stop;
}

# A root that is a link.
turn("$place/current", 'one');
$server = start("$place/current");
right_at_once('a linked root is swapped', sub { body('/page');
    body('/sub/page') }, sub {
	for my $name ('page', 'sub/page') {
		write_file("$place/release$_[0]/$name", "$_[0] $name\n");
	}
	turn("$place/current", "release$_[0]");
    }, sub { body('/page') eq "$_[0] page\n" &&
    body('/sub/page') eq "$_[0] sub/page\n" });
$server->stop;

done_testing();
