#!/usr/bin/perl
# What a file costs a file system that main cannot read without waiting (FUSE):
# each call may take seconds there, so there are no more than Apache makes for
# the same request (2.4, AllowOverride None).
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot slurp);
use Amped::Slowfs;
use List::Util qw(sum0);
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(sleep);

use constant { APACHE => 10, APACHE_DEEP => 22, APACHE_HEAD => 9,
    APACHE_LARGE => 12, LARGER => 35 };

Amped::one_main();

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

my $slow = docroot((map { ($_ => "$_\n") } qw(a b c d x/y/z/e x/y/z/f x/y/e
    x/y/f)), (map { ($_ => 'x' x 300_000) } qw(large large.html other part old
    head slow)), larger => 'x' x 600_000);
my $at = docroot();
my $fs = Amped::Slowfs->new($slow, $at);
my $server = Amped->start(root => $at, site => 'compress on;',
    global => "cache { paths revalidate 100ms wait 2s }\n");

# Calls of all kinds and by kind, with the time that a permission or an attribute
# is good for over before the next call.
sub calls {
	my ($method, $name, $max, %wanted) = @_;
	my $field = delete($wanted{field});
	my $status = delete($wanted{status}) // 200;
	my (%calls, @asked);

	$fs->delay('all', 10);
	$fs->asked;
	my $answer = $server->get("/$name", method => $method,
	    fields => [$field // ()]);
	is($answer->{status}, $status,
	    join(', ', "$method $name", $field // ()));
	is($answer->{body}, slurp("$slow/$name"), 'its body')
	    if $method eq 'GET' && $status == 200;
	sleep(0.1);			# what comes after the answer
	@asked = $fs->asked;
	$calls{(split)[0]}++ for @asked;
	cmp_ok(sum0(values(%calls)), '<=', $max, "at most $max calls") or
	    diag(join(', ', @asked));
	cmp_ok($calls{$_} // 0, '<=', $wanted{$_}, "$_: at most $wanted{$_}")
	    for sort(keys(%wanted));
	$fs->release;
}

# Files that are old enough for their versions to tell a change.
sleep(1.2);
$fs->trace;
my @first = (lookup => 1, getattr => 4, open => 1, read => 1, flush => 1);
calls('GET', $_, APACHE, @first) for qw(a b);
calls('GET', $_, APACHE_DEEP, @first, lookup => 4, getattr => 7)
    for qw(x/y/z/e x/y/z/f);
calls('HEAD', 'c', APACHE_HEAD, @first, read => 0);
# Looked up again, unchanged.
sleep(0.2);
calls('GET', 'a', 3, lookup => 1, getattr => 2, open => 0, read => 0,
    flush => 0);

# Of a file that is larger than `small` all bytes come with the lookup, too,
# whoever asks, unless a helper will compress it, or the client may have it.
my @large = (lookup => 1, getattr => 4, open => 1, read => 3, flush => 1);
calls('GET', 'large', APACHE_LARGE, @large);
calls('GET', 'large.html', APACHE_LARGE, @large);
calls('GET', 'other', APACHE_LARGE, @large, field => 'Accept-Encoding: gzip');
calls('GET', 'part', APACHE_LARGE, @large, field => 'Range: bytes=9-99',
    status => 206);
calls('GET', 'old', APACHE_HEAD, @large, read => 0, status => 304,
    field => 'If-Modified-Since: ' . strftime('%a, %d %b %Y %H:%M:%S GMT',
    gmtime(time())));
calls('HEAD', 'head', APACHE_HEAD, @large, read => 0);

# Of one of more than two chunks, each chunk is another job.
calls('GET', 'larger', LARGER, lookup => 1, open => 4);

# Attributes take 1.5 s.
$fs->delay('getattr', 1500);
is($server->get('/slow')->{status}, 200, 'a large file, getattr takes 1.5 s');
$fs->release;
$server->stop;
undef($fs);

if (Amped::architecture() ne 'amped') {	# the others wait for two threads
	done_testing();
	exit;
}

# Six at once where attributes take seconds: all are answered within the time
# that the disk has.
$fs = Amped::Slowfs->new($slow, $at);
$server = Amped->start(root => $at);
$fs->delay('getattr', 1500);
my @clients = map { $server->connect } 1 .. 6;
my @names = ('a', 'b', 'c', 'd', 'x/y/e', 'x/y/f');
$clients[$_]->send("GET /$names[$_] HTTP/1.1\r\nHost: x\r\n\r\n") for 0 .. 5;
is_deeply([map { $_->response->{status} } @clients], [(200) x 6],
    'six at once, getattr takes 1.5 s');
$fs->release;
undef(@clients);
$server->stop;
undef($fs);

done_testing();
