#!/usr/bin/perl
# Files that are written in place, with the size that they had: what is sent is
# of one version, and so is what a client puts together with If-Range.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content);
use POSIX ();
use Test::More;

Amped::one_main();
my $day = 86400;
my %size = (small => 3000, middle => 40_000, large => 300_000,
    huge => 8_000_000);
my %files = map { $_ => content($_, $size{$_}) } keys(%size);
my $server = Amped->start(files => \%files,
    global => "cache {\n\tpaths 1000 revalidate 1m stale 1m\n}\n");

# The same inode and size, other bytes and time.
sub write_in_place {
	my ($name, $days, $word) = @_;
	my $bytes = content("$name of $days" . ($word // ''), $size{$name});

	open(my $fh, '+<:raw', "$server->{root}/$name") or die "$name: $!\n";
	print $fh $bytes or die "$name: $!\n";
	close($fh) or die "$name: $!\n";
	utime($days * $day, $days * $day, "$server->{root}/$name")
	    or die "utime: $!\n";
	return $bytes;
}

# Of the small one main has a copy, which is as old as revalidate allows.
for my $name (qw(middle large)) {
	write_in_place($name, 1000);
	my $old;
	# Looked at, mapped, and sent from the file.
	$old = $server->get("/$name") for 1 .. 3;
	my $new = write_in_place($name, 1001);
	my $answer = $server->get("/$name");
	ok($answer->{body} eq $new, "$name: the new bytes, at once");
	isnt($answer->{field}{etag}, $old->{field}{etag}, "$name: a new tag");

	my $newer = write_in_place($name, 1002);
	my $client = $server->connect;
	$client->send("GET /$name HTTP/1.1\r\nHost: x\r\n" .
	    "Range: bytes=1000-1999\r\n" .
	    "If-Range: $answer->{field}{etag}\r\n\r\n");
	$answer = $client->response;
	is($answer->{status}, 200, "$name: a range of the old one is no more");
	ok($answer->{body} eq $newer, "$name: all of the new one");
	$client->close;

	my $same = write_in_place($name, 1002, 'once more');
	$old = $answer;
	$answer = $server->get("/$name");
	ok($answer->{body} eq $same, "$name: written at the same time");
	isnt($answer->{field}{etag}, $old->{field}{etag}, "$name: a new tag");
}

# While it is being sent: not all of it comes.
write_in_place('huge', 1000);
$server->get('/huge') for 1 .. 2;
my $client = $server->connect(window => 65536);
$client->send("GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
$client->want(100_000);
my $new = write_in_place('huge', 1001);
my $answer = $client->response;
ok($answer->{short}, 'changed in the middle: it ends short');
$client->close;
$answer = $server->get('/huge');
ok($answer->{body} eq $new, 'and the next one has the new bytes');

# Again and again while it is asked for: main itself lives on.
my @mains = sort($server->role('main'));
my $writer = fork() // die "fork: $!\n";
if ($writer == 0) {
	open(my $fh, '+<:raw', "$server->{root}/large") or POSIX::_exit(1);
	for (1 .. 3000) {
		sysseek($fh, 0, 0);
		syswrite($fh, 'x' x 100);
		select(undef, undef, undef, 0.0003);
	}
	POSIX::_exit(0);
}
my $asked = 0;
while (waitpid($writer, POSIX::WNOHANG) == 0) {
	eval { $server->get('/large') };
	$asked++;
}
cmp_ok($asked, '>', 10, 'asked for while it is written');
is_deeply([sort($server->role('main'))], \@mains, 'main is the same');

# One that has just been written goes as a copy: what comes of it stays as it
# was when it was compared.
my $bytes = content('now', $size{large});
Amped::write_file("$server->{root}/now", $bytes);
$server->get('/now') for 1 .. 3;
my $reader = $server->connect;
$reader->send("GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
Amped::await('the response to be logged', sub {
	return (() = Amped::slurp($server->{access}) =~
	    m{"GET /now HTTP/1.1" 200}g) == 4;
});
open(my $fh, '+<:raw', "$server->{root}/now") or die "now: $!\n";
print $fh 'x' x $size{large} or die "now: $!\n";
close($fh) or die "now: $!\n";
$answer = $reader->response;
ok($answer->{body} eq $bytes, 'sent before it was written again: as it was');
$server->stop;
done_testing();
