#!/usr/bin/perl
# A file that is larger than cache admit is served, but the system does not keep
# it, nor does the cache, so it evicts no others.  Clients that take it at the
# same time share what is read.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot);
use Amped::Foreign qw(needs_program);
use Test::More;

needs_program('fincore');

use constant { MIB => 1024 * 1024, CHUNK => 64 * 1024 };
# What is not admitted is given back in parts of 2 MiB, and may have a 16th of
# the cache.
use constant { ISO => 24 * MIB, LEFT_MAX => 4 * MIB, CLIENTS => 3 };

my %files = (iso => content('iso', ISO), admitted => content('yes', MIB),
    page => content('page', 200_000));
my $root = docroot(%files);
my $control = docroot() . '/control';

# Bytes of a file that the system has in memory.
sub resident {
	my ($name) = @_;

	open(my $from, '-|', qw(fincore --bytes --noheadings --output RES),
	    "$root/$name") or die "fincore: $!\n";
	return (readline($from) =~ /(\d+)/)[0];
}

# What is not on the disk yet cannot go.
for my $name (keys(%files)) {
	open(my $fh, '+<', "$root/$name") or die "$name: $!\n";
	$fh->sync or plan(skip_all => "fsync: $!");
}
sub drop {
	my ($name) = @_;

	system('dd', "if=$root/$name", qw(iflag=nocache count=0 status=none));
	return resident($name);
}
plan(skip_all => 'the system keeps all files of this file system')
    if drop('iso') > 0;

# Each main has caches of its own.
Amped::one_main();

sub start {
	my ($cache) = @_;

	return Amped->start(root => $root,
	    global => "control $control\ncache {\n$cache}\n",
	    site => "\tpath /status {\n\t\tstatus on\n\t}\n",
	    log => "\taccess off\n\terror stderr info\n");
}

sub count {
	my ($server, $name) = @_;

	return ($server->get('/status?text')->{body} =~
	    /^\Q$name\E +(\d+)$/m)[0];
}

sub right {
	my ($server, $name) = @_;

	return $server->get("/$name")->{body} eq $files{$name};
}

my $server = start("\tchunks 16M\n\tadmit 1M\n");
ok(right($server, $_), "$_ is right") for qw(page admitted);
is(count($server, 'chunks-not-admitted'), 0, 'both are admitted');
for my $n (1 .. 3) {
	ok(right($server, 'iso'), "time $n: what is not admitted is right");
	is(count($server, 'chunks-not-admitted'), $n * ISO / CHUNK,
	    "time $n: all of its chunks are counted");
	await("the system to drop it, time $n",
	    sub { resident('iso') <= LEFT_MAX });
}
like((Amped::run_command(undef, Amped::copy_for_all('ampedctl'), '-s', $control,
    'cache'))[1], qr/^chunks not admitted: 1,152$/m, 'ampedctl says so');
cmp_ok(count($server, 'chunk-bytes'), '<', LEFT_MAX, 'the cache has little');
my $evicted = count($server, 'chunk-evictions');
is($evicted, 0, 'and has evicted nothing');
cmp_ok(resident($_), '>=', length($files{$_}), "the system keeps $_")
    for qw(page admitted);

# One client waits while another one takes all.
SKIP: {
	skip('one client at a time', 2) unless Amped::many_clients(2);
	my $slow = $server->connect(window => 65536);

	$slow->send("GET /iso HTTP/1.1\r\nHost: localhost\r\n\r\n");
	$slow->want(100_000);
	ok(right($server, 'iso'), 'right beside a client that waits');
	ok($slow->response->{body} eq $files{iso}, '... for the other, too');
}
$server->stop;

# Clients that go on together need each chunk once.
SKIP: {
	skip('one client at a time', 3) unless Amped::many_clients(CLIENTS);
	drop('iso');
	$server = start("\tchunks 256M\n\tadmit 1M\n");
	# Of lookups that overlap each would have chunks of its own.
	$server->get('/iso', fields => ['Range: bytes=0-0']);
	my @clients = map { $server->connect } 1 .. CLIENTS;

	$_->send("GET /iso HTTP/1.1\r\nHost: localhost\r\n\r\n") for @clients;
	for (my $n = MIB; $n < ISO; $n += MIB) {
		$_->want($n) for @clients;
	}
	is(scalar(grep { $_->response->{body} eq $files{iso} } @clients),
	    CLIENTS, 'clients at the same time');
	is(count($server, 'chunks-not-admitted'), ISO / CHUNK,
	    'each chunk has come once');
	$server->stop;
}

$server = start("\tchunks 16M\n\tadmit all\n");
ok(right($server, 'iso'), 'all is admitted');
is(count($server, 'chunks-not-admitted'), 0, 'which counts nothing');
is(resident('iso'), ISO, 'and stays in memory');
$server->stop;

done_testing();
