#!/usr/bin/perl
# Files that shrink, vanish, change, are replaced or become directories between
# any two steps, and disks that fail at any: on a file system that is held, or
# fails, just there.  A response is one version, or it ends short and closes;
# the next one shows what there is now.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot write_file);
use Amped::Slowfs;
use Test::More;
use Time::HiRes qw(sleep);

Amped::one_main();
Amped::needs_many_clients();

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

# Several pieces, one that is not small, one that is.
use constant { LARGE => 600_000, WHOLE => 400_000, SMALL => 12_000 };

my $size = LARGE;
my $day = 86400;
my $back = docroot('page' => "page\n");
my $root = docroot();
my $fs = Amped::Slowfs->new($back, $root);
my $get = "HTTP/1.1\r\nHost: x\r\n\r\n";
sub start {
	my ($revalidate) = @_;

	return Amped->start(root => $root, errors => 1,
	    site => 'listing html', global => "helpers 2 max 8\n" .
	    "limits {\n\tdisk 1m\n}\ncache {\n\tpaths 1000 " .
	    "revalidate $revalidate stale $revalidate negative 0s\n}\n");
}

my $server;

sub put {
	my ($name, $bytes, $days) = @_;

	write_file("$back/$name", $bytes);
	utime($days * $day, $days * $day, "$back/$name") or die "utime: $!\n";
	return $bytes;
}

# What happens to a file, and how it is answered from then on.
my %event = (
	shrinks => sub {
		my ($name, $old) = @_;
		my $left = int($size / 6);
		truncate("$back/$name", $left) or die "truncate: $!\n";
		return (200, substr($old, 0, $left));
	},
	grows => sub {
		my ($name, $old) = @_;
		return (200, put($name, $old . 'more', 11));
	},
	vanishes => sub {
		my ($name) = @_;
		unlink("$back/$name") or die "unlink: $!\n";
		return (404);
	},
	changes => sub {
		my ($name) = @_;
		return (200, put($name, content("new $name", $size), 11));
	},
	'is replaced' => sub {
		my ($name) = @_;
		my $new = put('next', content("new $name", $size + 7), 11);
		rename("$back/next", "$back/$name") or die "rename: $!\n";
		return (200, $new);
	},
	'becomes a directory' => sub {
		my ($name) = @_;
		unlink("$back/$name") or die "unlink: $!\n";
		mkdir("$back/$name") or die "mkdir: $!\n";
		return (301);
	},
);
# Where it happens: what is held, and from where on.
my @steps = (['lookup'], ['getattr'], ['open'], ['later open', 'open', 1],
    ['read'], ['later read', 'read', 200_000], ['flush'], ['again']);
# One piece comes with its lookup: the last getattr compares what was read.
my @small_steps = (['lookup'], ['getattr'], ['open'], ['read'],
    ['last getattr', 'getattr', 3], ['flush'], ['again']);
my @whole_steps = (['later read', 'read', 200_000],
    ['last getattr', 'getattr', 3]);

# One version, whole, and then the connection stands; or a part of one, and it
# closes; or it is refused as it will be from now on.
sub is_one_version {
	my ($what, $client, $answer, $status, @versions) = @_;
	my $body = $answer->{body};

	if ($answer->{status} != 200) {
		# To the kernel, what becomes something else between its lookup
		# and its open fails, as a disk does.
		$status = 500 if $what =~ /^becomes .* at open/ &&
		    $answer->{status} == 500;
		return is($answer->{status}, $status, "$what: as it is now");
	}
	if (!$answer->{short}) {
		return ok(scalar(grep { defined($_) && $_ eq $body }
		    @versions), "$what: one version, whole");
	}
	ok($body eq substr($versions[0], 0, length($body)),
	    "$what: ends short, within one version");
	ok($client->closed, "$what: and closes");
}

# Whether the next request must see what there is now: if everything is looked
# at for each, or if this one has seen that something was wrong.
sub next_sees {
	my ($revalidate, $answer) = @_;

	return $revalidate eq '0s' || $answer->{status} != 200 ||
	    $answer->{short};
}

sub happens {
	my ($revalidate, $event, $where, @hold) = @_;
	my $what = "$event at $where, $revalidate, $size bytes";
	my $name = $what =~ tr/ ,/-/dr;
	my $old = put($name, content($name, $size), 10);
	my $client = $server->connect;

	if ($where eq 'again') {
		$server->get("/$name");
		# It is looked at again when it is older than 0 ms.
		sleep(0.01);
		@hold = ('lookup');
	}
	$fs->hold(@hold ? @hold : $where);
	$client->send("GET /$name $get");
	$fs->wait_held;
	my ($status, $new) = $event{$event}->($name, $old);
	$fs->release;
	my $answer = $client->response;
	is_one_version($what, $client, $answer, $status, $old, $new);
	sleep(0.01);
	my $next = $server->get("/$name");
	return is_one_version("$what: the next", $client, $next, 200, $old,
	    $new) unless next_sees($revalidate, $answer);
	is($next->{status}, $status, "$what: the next: $status");
	ok(!$next->{short} && $next->{body} eq $new,
	    "$what: the next: the new bytes") if defined($new);
}

# With 10m nothing is looked at again by itself: what is wrong must be noticed.
for my $revalidate ('10m', '0s') {
	$server->stop if $server;
	$server = start($revalidate);
	for ([LARGE, @steps], [WHOLE, @whole_steps], [SMALL, @small_steps]) {
		($size, my @where) = @$_;
		for my $step (@where) {
			next if $step->[0] eq 'again' && $revalidate ne '0s';
			happens($revalidate, $_, @$step)
			    for sort(keys(%event));
		}
	}
}
$size = LARGE;
unlike($server->errors, qr/cannot read/, 'none of that is an error');

my $marks = 0;

# How often the log has told of this one, when all is in it so far.
sub told {
	my ($name) = @_;
	my $mark = '/mark-' . $marks++;

	$server->get($mark);
	$server->wait_line(qr/404 for $mark on default from/);
	return scalar(grep { /(?:error|warn): cannot .*\Q$name\E/ }
	    split(/\n/, $server->errors));
}

# What the disk cannot do: 500, told once; then it can.
for my $op (qw(lookup getattr open read)) {
	my $name = "EIO-at-$op";
	my $bytes = put($name, content($name, $size), 10);

	$fs->fail($op);
	for my $time (1 .. 3) {
		my $answer = $server->get("/$name");
		is($answer->{status}, 500, "$name: 500");
		ok($answer->{closed}, 'as it was asked for');
	}
	$fs->release;
	is(told($name), 1, "$name: told once");
	ok($server->get("/$name")->{body} eq $bytes, "$name: it is back");
	is($server->get('/page')->{body}, "page\n", 'the server lives');
}
for my $op (qw(opendir readdir)) {
	my $name = "EIO-at-$op";

	write_file("$back/$name/entry", '');
	$fs->fail($op);
	is($server->get("/$name/")->{status}, 500, "$name: 500") for 1 .. 3;
	$fs->release;
	is(told($name), 1, "$name: told once");
	like($server->get("/$name/")->{body}, qr/entry/, "$name: it is back");
}
my $bytes = put('EIO-later', content('EIO-later', $size), 10);
$fs->fail('read', 500_000);
for my $time (1 .. 3) {
	my $client = $server->connect;
	$client->send("GET /EIO-later $get");
	my $answer = $client->response;
	is($answer->{status}, 200, 'EIO in the middle: it had begun');
	ok($answer->{short} && $client->closed, 'it ends short, and closes');
	ok($answer->{body} eq substr($bytes, 0, length($answer->{body})),
	    'what came is right');
}
$fs->release;
is(told('EIO-later'), 1, 'EIO in the middle: told once');
ok($server->get('/EIO-later')->{body} eq $bytes, 'it is back');
$bytes = put('EIO-flush', content('EIO-flush', $size), 10);
$fs->fail('flush');
ok($server->get('/EIO-flush')->{body} eq $bytes,
    'what cannot be closed has been read');
$fs->release;
$server->stop;
undef($fs);			# before its directory goes

done_testing();
