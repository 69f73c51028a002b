#!/usr/bin/perl
# Files that are deleted or replaced while the server has them open: helpers
# close them, and none stays open, whoever is killed meanwhile.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Test::More;

Amped::one_main();

Amped::looks_into_processes();
plan(skip_all => 'who has which file is not to be seen here')
    unless defined(readlink("/proc/$$/fd/0"));

use constant { FILES => 30, SIZE => 200_000, ROUNDS => 3,
    LARGE => 40_000_000 };

my $amped = Amped::architecture() eq 'amped';
my $root = docroot();
my $server = Amped->start(root => $root, global => "helpers 2 max 4 share 4\n" .
    "cache {\n\tpaths revalidate 0s stale 0s negative 0s\n}\n");
my $client = $server->connect;

# Requests by one connection; how many were wrong.
sub wrong {
	my ($status, $version) = @_;
	my $n = 0;

	for my $i (1 .. FILES) {
		$client->send("GET /f$i HTTP/1.1\r\nHost: x\r\n\r\n");
		my $answer = $client->response;
		$n++ if $answer->{status} != $status || ($status == 200 &&
		    $answer->{body} ne content("f$i $version", SIZE));
	}
	return $n;
}

# Our files that have no name any more, open or mapped.
sub kept {
	my $n = 0;

	for my $pid (map { $_->{pid} } $server->processes) {
		$n += grep { /^\Q$root\E.*\(deleted\)/ }
		    map { readlink($_) // '' } glob("/proc/$pid/fd/*");
		open(my $maps, '<', "/proc/$pid/maps") or next;
		$n += grep { /\Q$root\E.*\(deleted\)/ } <$maps>;
	}
	return $n;
}

sub put_files {
	my ($version) = @_;

	for my $i (1 .. FILES) {
		write_file("$root/new", content("f$i $version", SIZE));
		rename("$root/new", "$root/f$i") or die "rename: $!\n";
	}
}

put_files(0);
is(wrong(200, 0), 0, 'files that are mapped');
for my $round (1 .. ROUNDS) {
	put_files($round);
	cmp_ok(kept(), '>', 0, 'replaced files are kept, until somebody asks');
	is(wrong(200, $round), 0, 'the new ones are sent');
	ok(eval { await('the old ones to go', sub { kept() == 0 }) },
	    'and none of the old ones is open') or diag(kept());
}

# One of many pieces.
write_file("$root/large", '');
truncate("$root/large", LARGE) or die "truncate: $!\n";
$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
is(length($client->response->{body}), LARGE, 'a large one');
unlink("$root/large");
$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
is($client->response->{status}, 404, 'deleted');
ok(eval { await('it to go', sub { kept() == 0 }) }, 'it is not open any more');

unlink(map { "$root/f$_" } 1 .. FILES);
is(wrong(404), 0, 'deleted');
ok(eval { await('them to go', sub { kept() == 0 }) }, 'nor are those');

SKIP: {
	skip('there are no helpers', 2) unless $amped;
	my $bad = 0;

	for my $round (1 .. ROUNDS) {
		put_files("killed $round");
		for my $i (1 .. FILES) {
			kill('KILL', $server->role('helper')) if $i % 7 == 0;
			$client->send("GET /f$i HTTP/1.1\r\nHost: x\r\n\r\n");
			$bad++ if $client->response->{body} ne
			    content("f$i killed $round", SIZE);
		}
	}
	is($bad, 0, 'helpers that are killed meanwhile');
	unlink(map { "$root/f$_" } 1 .. FILES);
	wrong(404);
	ok(eval { await('them to go', sub { kept() == 0 }) },
	    'keep nothing open, nor does main for them');
}

# All of this is over before the last line is said.
my $err = $server->{err};
kill('TERM', $server->{pid});
$server->reap;
my ($closes) = slurp($err) =~ /main.* closes: (\d+)$/m;
cmp_ok($closes // 0, '>=', (ROUNDS + 1) * FILES, 'each was given to be closed');
ok(!$amped || slurp($err) =~ /service time of close: /, 'by a helper');
$server->stop;

done_testing();
