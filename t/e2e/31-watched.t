#!/usr/bin/perl
# Watched directories: what has changed is served new at once, however old it
# may become, and what has not changed is not looked at again.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Foreign qw(which_program);
use Amped::Load;
use List::Util qw(sum0);
use Test::More;
use Time::HiRes qw(sleep time);

# How long after a change the first request comes: this is what is tested.  A
# sanitizer takes its time.
use constant {
	AFTER => slurp(Amped::program()) =~ /__[at]san_init/ ? 0.2 : 0.02,
	FEW => 5,
};

Amped::one_main();

# Of each kind; a release has 1,000, of which so many are made at once.
my $changes = $ENV{AMPED_WATCH_CHANGES} // FEW;
my $at_once = $changes > FEW ? 25 : FEW;
alarm(0) if $changes > FEW;
# A busy machine may be late, which is not tested here.
my $old = "paths 100000 revalidate 1h wait 10s stale 2h negative 1h";
my $site = "\tlisting html\n\tpath /status { status on }\n" .
    "\tpath /zipped { precompressed gzip }\n";
my $place = docroot(map { ("one/$_" => "0 $_\n") } qw(page sub/page));

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

my @slots = 0 .. $at_once - 1;
my $root = docroot(
    (map { ("$_/page" => "page\n") } qw(a b many)),
    (map { ("a/$_" => "page\n", "b/$_" => "page\n", "zipped/$_" => "page\n",
    "many$_/page" => "page\n", "x$_/y/page" => "x\n") } @slots),
    (map { ("hot/$_" => "hot $_\n") } 0 .. 9));
my $server = start($root);
$server->get('/a/page');
if (!count($server, 'watches')) {
	$server->stop;
	plan(skip_all => 'the file system here cannot be watched');
}

# Clients beside it, where there may be some.
sub beside {
	my ($server, %opt) = @_;

	return Amped::many_clients(4) ? Amped::Load->new(
	    port => $server->port, clients => 3, pause => 1, %opt) : undef;
}

sub end_load {
	my ($load, $what) = @_;

	return unless $load;
	my ($right, @wrong) = $load->stop;
	is_deeply(\@wrong, [], "$what: $right right answers");
}

my $load = beside($server, targets => { map { ("/hot/$_" => "hot $_\n") }
    0 .. 9 });

# On a connection that stays, which is faster.
my $client;

sub get {
	my ($path, $field) = @_;
	my $answer;

	for (1 .. 2) {
		$client //= $server->connect;
		$client->send("GET $path HTTP/1.1\r\nHost: x\r\n" .
		    ($field ? "$field\r\n" : '') . "\r\n");
		$answer = $client->response;
		undef($client) if !$answer ||
		    ($answer->{field}{connection} // '') eq 'close';
		last if $answer;
	}
	return $answer;
}

sub body { return get(@_)->{body} // '' }

sub status { return get(@_)->{status} }

sub stop {
	undef($client);
	$server->stop;
}

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

# For how many seconds a process has been ready to run, and had no processor.
sub starved {
	my ($pid) = @_;

	return sum0(map { (split(' ', slurp($_)))[1] }
	    glob("/proc/$pid/task/*/schedstat")) / 1e9;
}

# A kind of change: what is made before it, and asked for; the change, and
# whether the first answer after it is right.  Each change has a number and, of
# those that are made at once, a slot of its own.
sub right_at_once {
	my ($what, %do) = @_;
	my $n = $do{at_once} // $at_once;
	my ($main) = $server->role('main');
	my ($wrong, $again) = (0, 3);

	for (my ($i, $left) = (1, $changes); $left > 0; $i += $n, $left -= $n) {
		my (@wrong, %at);
		my $starved = starved($main);
		my @all = map { [$_, $_ % $at_once] } $i .. $i + $n - 1;

		if ($do{make}) {
			$do{make}->(@$_) for @all;
			sleep(AFTER);
		}
		$do{ask}->(@$_) for @all;
		for my $one (@all) {
			$do{change}->(@$one);
			$at{$one} = time;
		}
		for my $one (@all) {
			my $pause = $at{$one} + AFTER - time;

			sleep($pause) if $pause > 0;
			push(@wrong, $one) unless $do{right}->(@$one);
		}
		next unless @wrong;
		sleep(0.3);
		$starved = starved($main) - $starved;
		diag("$what: " . @wrong . ' old answers; main was starved for ' .
		    "$starved s; later " . (grep({ !$do{right}->(@$_) } @wrong) ?
		    'too' : 'new'));
		# On a machine that is busy with other tests.
		if ($changes == FEW && $starved > AFTER / 2 && $again-- > 0) {
			$left += $n;
		} else {
			$wrong += @wrong;
		}
	}
	is($wrong, 0, "$what: the first answer is new");
}

sub replace {
	my ($name, $bytes) = @_;

	write_file("$root/$name.next", $bytes);
	rename("$root/$name.next", "$root/$name") or die "rename: $!\n";
}

sub turn {
	my ($link, $to) = @_;

	symlink($to, "$link.next") or die "symlink: $!\n";
	rename("$link.next", $link) or die "rename: $!\n";
}

sub ask_slot { return body("/a/$_[1]") }

right_at_once('renamed over', ask => \&ask_slot,
    change => sub { replace("a/$_[1]", "renamed $_[0]\n") },
    right => sub { ask_slot(@_) eq "renamed $_[0]\n" });
right_at_once('written in place', ask => \&ask_slot,
    change => sub { write_file("$root/a/$_[1]", "written $_[0]\n") },
    right => sub { ask_slot(@_) eq "written $_[0]\n" });
sub large { return content("b$_[0]", 100_000 + $_[0]) }

right_at_once('a large file, written in place',
    ask => sub { body("/b/$_[1]") },
    change => sub { write_file("$root/b/$_[1]", large(@_)) },
    right => sub { body("/b/$_[1]") eq large(@_) });
right_at_once('deleted',
    make => sub { write_file("$root/a/gone$_[0]", 'x') },
    ask => sub { body("/a/gone$_[0]") },
    change => sub { unlink("$root/a/gone$_[0]") },
    right => sub { status("/a/gone$_[0]") == 404 });
right_at_once('made after a 404', ask => sub { status("/a/new$_[0]") },
    change => sub { write_file("$root/a/new$_[0]", "new\n") },
    right => sub { body("/a/new$_[0]") eq "new\n" });
right_at_once('made in a new directory after a 404',
    ask => sub { status("/a/dir$_[0]/new") },
    change => sub { write_file("$root/a/dir$_[0]/new", "new\n") },
    right => sub { body("/a/dir$_[0]/new") eq "new\n" });
right_at_once('a name with a space', ask => sub { status("/a/n%20$_[0]") },
    change => sub { write_file("$root/a/n $_[0]", "new\n") },
    right => sub { body("/a/n%20$_[0]") eq "new\n" });
SKIP: {
	skip('root reads all', 3) if $> == 0 && !Amped::ordinary_user();
	right_at_once('readable again',
	    make => sub { chmod(0, "$root/a/$_[1]") }, ask => \&ask_slot,
	    change => sub { chmod(0644, "$root/a/$_[1]") },
	    right => sub { status("/a/$_[1]") == 200 });
	right_at_once('a directory on the way is opened',
	    make => sub { write_file("$root/a/shut$_[0]/in/page", "shut\n");
		chmod(0, "$root/a/shut$_[0]") },
	    ask => sub { status("/a/shut$_[0]/in/page") },
	    change => sub { chmod(0755, "$root/a/shut$_[0]") },
	    right => sub { body("/a/shut$_[0]/in/page") eq "shut\n" });
	right_at_once('no longer readable',
	    make => sub { chmod(0644, "$root/a/$_[1]") }, ask => \&ask_slot,
	    change => sub { chmod(0, "$root/a/$_[1]") },
	    right => sub { status("/a/$_[1]") == 403 });
	chmod(0644, map { "$root/a/$_" } @slots);
}

# The event comes when the mapping ends.
my $map = 'import mmap, sys
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 0)
m[0:4] = b"%04d" % int(sys.argv[2])';
SKIP: {
	skip('there is no python3', 1) unless which_program('python3');
	right_at_once('written by a mapping', ask => \&ask_slot, at_once => 1,
	    make => sub { write_file("$root/a/$_[1]", "0000\n") },
	    change => sub { system('python3', '-c', $map, "$root/a/$_[1]",
		$_[0]) == 0 or die "python3\n" },
	    right => sub { ask_slot(@_) eq sprintf("%04d\n", $_[0]) });
}

sub ask_zipped {
	return body("/zipped/$_[1]", 'Accept-Encoding: gzip');
}

right_at_once('a variant is made',
    make => sub { unlink("$root/zipped/$_[1].gz") }, ask => \&ask_zipped,
    change => sub { write_file("$root/zipped/$_[1].gz", "zipped $_[0]\n") },
    right => sub { ask_zipped(@_) eq "zipped $_[0]\n" });
right_at_once('a variant is touched',
    make => sub { utime(undef, undef, "$root/zipped/$_[1].gz") },
    ask => \&ask_zipped,
    change => sub { utime(1, 1, "$root/zipped/$_[1].gz") },
    right => sub { ask_zipped(@_) eq "page\n" });
right_at_once('an entry of a listing', ask => sub { body("/many$_[1]/") },
    change => sub { write_file("$root/many$_[1]/entry$_[0]", "x\n") },
    right => sub { body("/many$_[1]/") =~ /entry$_[0]"/ });
right_at_once('an index',
    make => sub { unlink("$root/many$_[1]/index.html") },
    ask => sub { body("/many$_[1]/") },
    change => sub { write_file("$root/many$_[1]/index.html", "index $_[0]\n") },
    right => sub { body("/many$_[1]/") eq "index $_[0]\n" });
right_at_once('a directory is renamed',
    make => sub { rename("$root/z$_[1]", "$root/x$_[1]") },
    ask => sub { body("/x$_[1]/y/page"); status("/z$_[1]/y/page") },
    change => sub { rename("$root/x$_[1]", "$root/z$_[1]") },
    right => sub { status("/x$_[1]/y/page") == 404 &&
	body("/z$_[1]/y/page") eq "x\n" });

# A link on the way, and one at its end.
for my $slot (@slots) {
	symlink('a', "$root/link$slot") or die "symlink: $!\n";
	symlink("b/$slot", "$root/end$slot") or die "symlink: $!\n";
	write_file("$root/b/$slot", "b\n");
}
right_at_once('a link on the way is swapped',
    ask => sub { body("/link$_[1]/$_[1]") },
    change => sub { turn("$root/link$_[1]",
	readlink("$root/link$_[1]") eq 'a' ? 'b' : 'a') },
    right => sub { body("/link$_[1]/$_[1]") eq
	slurp("$root/link$_[1]/$_[1]") });
right_at_once('a link at the end is swapped', ask => sub { body("/end$_[1]") },
    change => sub { turn("$root/end$_[1]",
	readlink("$root/end$_[1]") =~ /^a/ ? "b/$_[1]" : "a/$_[1]") },
    right => sub { body("/end$_[1]") eq slurp("$root/end$_[1]") });
right_at_once('what a link leads to is written',
    ask => sub { body("/end$_[1]") },
    change => sub { write_file("$root/end$_[1]", "end $_[0]\n") },
    right => sub { body("/end$_[1]") eq "end $_[0]\n" });

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
end_load($load, 'clients beside it');

# A request that main reads late gets no old answer: events go first.
SKIP: {
	skip('other threads answer', 1)
	    unless Amped::architecture() =~ /^(amped|sped)$/;
	my ($main) = $server->role('main');
	my $late = 0;

	for my $i (1 .. 10) {
		body('/hot/5');
		for (1 .. 3) {
			write_file("$root/hot/busy", $_);
			sleep(0.001);
		}
		kill('STOP', $main);
		write_file("$root/hot/5", "late $i\n");
		$client->send("GET /hot/5 HTTP/1.1\r\nHost: x\r\n\r\n");
		sleep(0.01);		# as long as main reads no events
		kill('CONT', $main);
		$late++ if $client->response->{body} ne "late $i\n";
	}
	is($late, 0, 'no old answer by a main that is late');
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
stop();

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
stop();

# A deploy by renames, while clients ask: no answer is older than one that the
# same file has had.
$server = start($root);
my $numbered = qr/\A(\d+) of page\n\z/;
write_file("$root/new/$_", "0 of page\n") for 1 .. 50;
$load = beside($server, targets => { map { ("/new/$_" => $numbered) }
    1 .. 50 });
my @late;
for my $release (1 .. 3) {
	replace("new/$_", "$release of page\n") for 1 .. 50;
	sleep(AFTER);
	push(@late, grep { body("/new/$_") ne "$release of page\n" } 1 .. 50);
}
is_deeply(\@late, [], 'all of a release at once');
end_load($load, 'a deploy by renames');

# Files of one release change together: once a client has had one of a release,
# no file that is asked for later is of the release before.
my @names = ('page', 'sub/page', map { ("$_", "sub/$_") } 1 .. 10);

sub make_release {
	my ($dir, $release) = @_;

	write_file("$dir/$_", "$release of page\n") for @names;
}

# By renames of the directory, between which there is none.
make_release("$root/live", 0);
$load = beside($server, together => 1, gaps => 1,
    targets => { map { ("/live/$_" => $numbered) } @names });
right_at_once('a directory is replaced', at_once => 1,
    make => sub { make_release("$root/next", $_[0]) },
    ask => sub { body('/live/page') }, change => sub {
	rename("$root/live", "$root/before$_[0]") &&
	    rename("$root/next", "$root/live") or die "rename: $!\n";
    }, right => sub { body('/live/page') eq "$_[0] of page\n" &&
	body('/live/sub/page') eq "$_[0] of page\n" });
end_load($load, 'directories of one release each');
stop();

# By a swap of a root that is a link.
make_release("$place/one", 0);
turn("$place/current", 'one');
$server = start("$place/current");

# What a lookup has found is known of all paths that are asked for later, even
# while main reads many events together.
my $mixed = 0;
for my $i (1 .. 20) {
	make_release("$place/early$i", $i);
	write_file("$place/early$i/cold$i", "cold\n");
	body('/page');
	for (1 .. 3) {
		write_file("$place/current/busy", 'x');
		sleep(0.001);
	}
	turn("$place/current", "early$i");
	$mixed++ if status("/cold$i") == 200 && body('/page') ne
	    "$i of page\n";
}
is($mixed, 0, 'no old answer once a lookup has found a new file');
make_release("$place/one", 0);
turn("$place/current", 'one');
sleep(AFTER);
$load = beside($server, together => 1,
    targets => { map { ("/$_" => $numbered) } @names });
right_at_once('a linked root is swapped', at_once => 1,
    make => sub { make_release("$place/release$_[0]", $_[0]) },
    ask => sub { body('/page'); body('/sub/page') },
    change => sub { turn("$place/current", "release$_[0]") },
    right => sub { body('/page') eq "$_[0] of page\n" &&
	body('/sub/page') eq "$_[0] of page\n" });
end_load($load, 'roots of one release each');
stop();

done_testing();
