#!/usr/bin/perl
# What takes long besides reading files: looking users up, listing directories,
# hashing passwords, compressing.  Everything goes by the order of events: the
# work is held, or stopped in the middle; cached files are served meanwhile; it
# goes on, and is done right.
# arch: all
use strict;
use warnings;

use Fcntl qw(O_NONBLOCK O_WRONLY);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot write_file);
use Amped::Process;
use Amped::Slowfs;
use JSON::PP qw(decode_json);
use MIME::Base64 qw(encode_base64);
use POSIX qw(mkfifo);
use Test::More;

my $amped = Amped::architecture() eq 'amped';
plan(skip_all => 'there the whole server waits, by design')
    if Amped::architecture() eq 'sped';
my $library = Amped::copy_for_all('t/lib/passwd.so');
plan(skip_all => 'there is no passwd.so: make tests') unless $library;
my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

my $joe = 20001;
my $lines = join('', map { "line $_ of a text that repeats itself\n" }
    1 .. 20_000);
my $body = content('body', 100_000);
my $slow = docroot('www/page' => "joe's page\n", 'words.txt' => $lines,
    'passwords' => '', map { ("many/entry-$_" => '', "more/entry-$_" => '') }
    1 .. 3000);
my $all = docroot('root/page' => "page\n", 'root/body' => $body,
    'root/in/page' => "within\n", passwords => '');
my $at = docroot();

system('chown', '-R', $joe, "$slow/www") == 0 or die "chown\n";
chown($joe, -1, $slow);
mkfifo("$all/fifo", 0644) or die "mkfifo: $!\n";
chmod(0644, "$all/fifo");
write_file("$all/passwd", "joe $joe $at\nslow $joe $at $all/fifo\n");

my $fs = Amped::Slowfs->new($slow, $at);
sub start {
	my (%opt) = @_;
	local $ENV{AMPED_TEST_PASSWD} = "$all/passwd";
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{ASAN_OPTIONS} = join(':', $ENV{ASAN_OPTIONS} // (),
	    'verify_asan_link_order=0');

	Amped->start(root => "$all/root", errors => 1, global =>
	    "helpers 2 max 16 within $opt{within}\n" .
	    "limits {\n\tdisk $opt{disk}\n\tcompress 4G\n}\n" .
	    "cache {\n\tpaths 1000 revalidate 1h stale 1h\n}\n",
	    site => <<"END");
	users www from $joe
	compress on
	path /slow { alias $at; listing json }
	path /in { auth In $at/passwords }
	path /costly { alias $all/root/in; auth Costly $all/passwords }
END
}

my $server = start(disk => '2m', within => '1m');
my $client = $server->connect;

sub cached {
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	ok($client->all_right(10, '/page' => "page\n", '/body' => $body),
	    "$what: cached files are served");
}

sub asked {
	my ($target, @fields) = @_;
	my $waits = $server->connect;

	$waits->send(join("\r\n", "GET $target HTTP/1.1", 'Host: x', @fields,
	    '', ''));
	return $waits;
}

# A line of a password file, and a field: everybody's password is "pass".
sub entry {
	my ($user, $rounds) = @_;

	return "$user:" . crypt('pass', "\$6\$rounds=$rounds\$saltsalt") . "\n";
}

sub as { return 'Authorization: Basic ' . encode_base64("$_[0]:pass", '') }

sub gunzip {
	my ($bytes, $into) = @_;
	my $dir = docroot(x => $bytes);

	return scalar(`gzip -dc < '$dir/x' @{[$into // '']}`);
}

# Who waits for what the file system holds, what it gets when that is free.
sub held {
	my ($what, $op, $waits) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	$fs->wait_held($op);
	cached("$what held");
	ok($waits->quiet, "$what held: who asked waits");
	$fs->release;
	return $waits->response;
}

sub entries {
	my ($answer) = @_;
	my $list = decode_json($answer->{body});

	return ref($list) eq 'HASH' ? @{$list->{entries}} : @$list;
}

# Ticks of processor time of each helper, or of each thread that may work.
sub ticks {
	my %ticks;

	for my $pid ($amped ? $server->role('helper') :
	    map { m{/task/(\d+)\z} } map { glob("/proc/$_/task/*") }
	    $server->role('main')) {
		my @stat = Amped::Process::stat_fields($pid) or next;
		$ticks{$pid} = $stat[14] + $stat[15];
	}
	return %ticks;
}

# Work that takes a helper's processor: stopped in the middle.  What is too
# fast for us is tried again, with the next one, which is to be larger.
sub stopped {
	my ($what, @tries) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my (@pids, $waits);

	for my $try (@tries) {
		my %before = ticks();

		$waits = $try->();
		await("a helper to be at work on $what", sub {
			my %now = ticks();
			@pids = grep { $now{$_} > ($before{$_} // 0) + 3 }
			    keys(%now);
			return @pids || !$waits->quiet;
		});
		kill('STOP', @pids);
		await('it to stand still', sub { !grep {
		    ((Amped::Process::stat_fields($_))[3] // 'T') ne 'T'
		    } @pids });
		# What it had said before that has come through by now.
		cached("$what stopped");
		last if $waits->quiet;
		kill('CONT', @pids);
	}
	ok($waits->quiet, "$what stopped: who asked waits");
	cached("$what still stopped");
	kill('CONT', @pids);
	return $waits->response;
}

cached('nothing is held');

# Users: their database, and their homes.
my $waits = asked('/~slow/page');
my $fifo;
await('the database to be asked',
    sub { sysopen($fifo, "$all/fifo", O_WRONLY | O_NONBLOCK) });
cached('a user database held');
ok($waits->quiet, 'a user database held: who asked waits');
write_file("$all/next", "joe $joe $at\nslow $joe $at\n");
rename("$all/next", "$all/passwd") or die "rename: $!\n";
close($fifo);
is($waits->response->{body}, "joe's page\n", 'a user database free');
$fs->hold('lookup');
is(held('a home', 'lookup', asked('/~joe/page'))->{body}, "joe's page\n",
    'a home free');

# Directories: a slow one, in the middle; a huge one.
$fs->hold('readdir', 1);
my $list = held('a directory', 'readdir', asked('/slow/many/'));
is(scalar(grep { $_->{name} =~ /^entry-/ } entries($list)), 3000,
    'a directory free: all of it');
$fs->hold('lookup', 1500);
$list = held('a huge directory', 'lookup', asked('/slow/more/'));
is(scalar(grep { $_->{name} =~ /^entry-/ } entries($list)), 3000,
    'a huge directory free: all of it');
# Passwords: a slow file of them; hashes that take their time.
write_file("$slow/passwords", entry('anna', 1000));
$fs->hold('read');
is(held('a password file', 'read', asked('/in/page', as('anna')))->{body},
    "within\n", 'a password file free');
# No thread can be stopped alone.
$amped and is(stopped('a password', map { my $rounds = $_; sub {
	write_file("$all/passwords", entry("user$rounds", $rounds));
	return asked('/costly/page', as("user$rounds"));
} } 1_000_000, 4_000_000, 16_000_000)->{body}, "within\n",
    'a password that is right in the end');

# Compression: of a slow file, of a large one.
$fs->hold('read', 300_000);
my $packed = held('a file to be compressed', 'read',
    asked('/slow/words.txt', 'Accept-Encoding: gzip'));
is($packed->{field}{'content-encoding'}, 'gzip', 'it is compressed');
ok(gunzip($packed->{body}) eq $lines, 'and right');
if ($amped) {
	my $size;

	$packed = stopped('compression', map { my $mb = $_; sub {
		$size = $mb * 1_000_000;
		write_file("$all/root/$mb.txt", "$mb\n");
		truncate("$all/root/$mb.txt", $size) or die "truncate: $!\n";
		return asked("/$mb.txt", 'Accept-Encoding: gzip');
	} } 300, 1200, 3600);
	is($packed->{field}{'content-encoding'}, 'gzip', 'it is compressed');
	is(gunzip($packed->{body}, '| wc -c') + 0, $size, 'all of it');
}
$server->stop;

# There whoever asks has a thread or a process that waits as long as it takes.
if (Amped::architecture() =~ /^m[pt]\z/) {
	done_testing();
	exit;
}

# A hash that takes minutes: given up, and nobody else has noticed.
$server = start(disk => '1s', within => '2s');
$client = $server->connect;
cached('nothing is held');
write_file("$all/passwords", 'anna:$6$rounds=999999999$saltsalt$' . 'x' x 86 .
    "\n");
$waits = asked('/costly/page', as('anna'));
my %before = ticks();
await('somebody to be at it', sub {
	my %now = ticks();
	return grep { $now{$_} > ($before{$_} // 0) + 3 } keys(%now);
});
cached('a hash of minutes');
is($waits->response->{status}, 503, 'a hash of minutes: 503');
cached('later');
# A thread stays at it, and main ends without.
if ($amped) {
	$server->wait_line(qr/helper is stuck/);
	cached('given up');
	write_file("$all/passwords", entry('anna', 1000));
	is($server->get('/costly/page', fields => [as('anna')])->{body},
	    "within\n", 'with another hash it is let in');
}
$server->stop;
done_testing();
