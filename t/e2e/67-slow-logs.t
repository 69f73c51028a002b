#!/usr/bin/perl
# A log that cannot be written to, or not now, holds up nobody: lines are lost,
# counted, and the count is in the error log when it is over.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Slowfs;
use Fcntl qw(O_NONBLOCK O_RDONLY);
use POSIX qw(mkfifo);
use Test::More;

Amped::one_main();

# Lines of more than 1 KiB: a thousand of them are more than main keeps.
my $long = 'x' x 1400;
my $root = docroot('page' => "page\n");

sub start {
	my ($log) = @_;

	return Amped->start(root => $root, errors => 1, log =>
	    "\taccess $log common\n\terror stderr debug\n");
}

# So many requests, one behind the other on one connection: all answered.
sub ask {
	my ($server, $n, $query) = @_;

	return $server->connect->right($n, "/page?$query" => "page\n");
}

# How many lines were lost, as soon as the error log says so; there is room made
# meanwhile, as what waits fills that again.
sub lost {
	my ($server, $make_room) = @_;
	my $line;

	await('the count of lost lines', sub {
		$make_room->() if $make_room;
		ask($server, 1, 'after');
		($line) = $server->errors =~ /(\d+) lines? of the access log/;
		return defined($line);
	});
	return $line;
}

# A pipe that is not read.
my $dir = docroot();
mkfifo("$dir/fifo", 0666) or die "mkfifo: $!\n";
sysopen(my $reader, "$dir/fifo", O_RDONLY | O_NONBLOCK) or die "fifo: $!\n";
my $server = start("$dir/fifo");
is(ask($server, 400, $long), 400, 'a FIFO that nobody reads: served');
$server->wait_line(qr/access log cannot be written/);
pass('the error log says that lines are lost');
my ($text, $n) = ('', 0);
await('the pipe to be empty', sub {
	while (sysread($reader, $text, 65536)) {
		$n += $text =~ tr/\n//;
	}
	return 1;
});
my $lost = lost($server, sub { 1 while sysread($reader, $text, 65536) });
cmp_ok($lost, '>', 0, "read again: $lost lines were lost");
cmp_ok($lost, '<=', 400, 'not more than there were');
# Whoever read it goes, and comes again.
close($reader);
is(ask($server, 50, 'gone'), 50, 'its reader has gone: served');
sysopen($reader, "$dir/fifo", O_RDONLY | O_NONBLOCK) or die "fifo: $!\n";
await('lines again', sub {
	ask($server, 1, 'back');
	return sysread($reader, $text, 65536) && $text =~ /\?back /;
});
pass('read again: lines come');
$server->stop;

# A disk that is full.
SKIP: {
	my $mount = docroot();

	skip('only root can make a small disk', 4) if $> != 0 ||
	    system('mount', '-t', 'tmpfs', '-o', 'size=64k', 'amped-test',
	    $mount) != 0;
	my $ended = eval {
		$server = start("$mount/access.log");
		is(ask($server, 200, $long), 200, 'a full disk: served');
		$server->wait_line(qr/access log cannot be written.*No space/);
		$lost = lost($server, sub {
			truncate("$mount/access.log", 0) or
			    die "truncate: $!\n";
		});
		cmp_ok($lost, '>', 0, "room again: $lost lines were lost");
		await('lines again', sub {
			return slurp("$mount/access.log") =~ /\?after /;
		});
		pass('room again: lines are written');
		$server->stop;
	};
	my $why = $@;
	system('umount', '-l', $mount);
	die $why unless $ended;
}

# A file system that does not answer.
SKIP: {
	my $missing = Amped::Slowfs::missing();
	my ($from, $at) = (docroot('access.log' => ''), docroot());

	skip($missing, 6) if $missing;
	my $fs = Amped::Slowfs->new($from, $at);
	$server = start("$at/access.log");
	is(ask($server, 1, 'before'), 1, 'a file system that answers');
	$server->wait_line(qr/\?before /, "$from/access.log");
	$fs->hold('all');
	is(ask($server, 1, 'first'), 1, 'dead: served');
	$fs->wait_held;
	is(ask($server, 1000, $long), 1000, 'dead: served, and served');
	$fs->release;
	$server->wait_line(qr/\?first /, "$from/access.log");
	pass('back: what there was room for is written');
	# Main tells of losses when it has something to write; that may be lost
	# as well, and takes its time, so it is asked for less and less often.
	my ($asked, $turn) = (0, 0);
	await('each line to be there, or counted as lost', sub {
		my $n = () = slurp("$from/access.log") =~
		    /\?(?:$long|after) /g;

		$n += $_ for $server->errors =~
		    /(\d+) lines? of the access log/g;
		return 1 if $n == 1000 + $asked;
		$turn++;
		$asked += ask($server, 1, 'after') unless $turn & ($turn - 1);
		return 0;
	});
	pass('each line is there or counted as lost');
	cmp_ok(lost($server), '>', 0, 'some were lost');
	$server->stop;
}

done_testing();
