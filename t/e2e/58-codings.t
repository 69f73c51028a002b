#!/usr/bin/perl
# Compression by br, zstd and gzip: who gets which, at which level, and that it
# is the file.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Coding qw(decoded has_codings);
use Test::More;
use Time::HiRes qw(utime);

Amped::one_main();

my $root = docroot('keep/' => '');
my $text = join('', map { "line $_ of a text, " . $_ * 7919 % 1000 . "\n" }
    1 .. 5000);

plan(skip_all => 'built without br or zstd') unless has_codings();

sub put {
	my ($name, $bytes) = @_;

	write_file("$root/$name", $bytes);
	utime(86400, 86400, "$root/$name");
}

my $server;

sub get {
	my ($target, $accept, %opt) = @_;

	push(@{$opt{fields}}, "Accept-Encoding: $accept") if defined($accept);
	return $server->get($target, %opt);
}

sub coding {
	my ($answer) = @_;

	return $answer->{field}{'content-encoding'} // 'identity';
}

put('a.txt', $text);
put('gz/a.txt', $text);
put('two/a.txt', $text);
put('beside/a.txt', $text);
put('beside/a.txt.gz', 'a sibling');
$server = Amped->start(root => $root, site => <<'END_OF_SITE',
	compress on
	path /gz { compress gzip }
	path /two { compress gzip zstd }
	path /beside { precompressed gzip }
END_OF_SITE
    global => "cache { paths 1000 revalidate 50ms negative 50ms }\n");

# Path, Accept-Encoding, coding.
my @cases = (
	['/a.txt', 'br', 'br'], ['/a.txt', 'zstd', 'zstd'],
	['/a.txt', 'gzip', 'gzip'], ['/a.txt', 'deflate', 'identity'],
	['/a.txt', undef, 'identity'],
	['/a.txt', 'gzip, deflate, br, zstd', 'br'],
	['/a.txt', 'gzip, deflate, zstd', 'zstd'],
	['/a.txt', 'br;q=0.5, gzip', 'gzip'],
	['/gz/a.txt', 'gzip, br, zstd', 'gzip'],
	['/gz/a.txt', 'br, zstd', 'identity'],
	['/two/a.txt', 'gzip, br, zstd', 'zstd'],
	['/two/a.txt', 'gzip, br', 'gzip'],
	# What is there goes before what would have to be made.
	['/beside/a.txt', 'gzip, br, zstd', 'gzip'],
	['/beside/a.txt', 'zstd', 'zstd'],
);
my %tag;
for my $case (@cases, @cases) {
	my ($target, $accept, $coding) = @$case;
	my $answer = get($target, $accept);
	my $what = "$target by " . ($accept // 'nothing');

	is(coding($answer), $coding, $what);
	is($answer->{field}{vary}, 'Accept-Encoding', 'varies');
	if ($target =~ /beside/ && $coding eq 'gzip') {
		is($answer->{body}, 'a sibling', 'the file beside it');
		next;
	}
	ok(decoded($answer) eq $text, 'is the file');
	$tag{$coding}{$answer->{field}{etag} =~ s{^W/}{}r} = 1
	    if $target eq '/a.txt';
}
is(join(' ', map { scalar(keys(%$_)) } values(%tag)), '1 1 1 1',
    'each has one tag');
is(scalar(keys(%{{ map { %$_ } values(%tag) }})), 4, 'and not that of another');

# Ranges and conditions are of the variant.
for my $coding (qw(br zstd gzip)) {
	my $whole = get('/a.txt', $coding);
	my $tag = $whole->{field}{etag};
	my $head = get('/a.txt', $coding, method => 'HEAD');

	is($head->{field}{$_}, $whole->{field}{$_}, "HEAD by $coding: $_")
	    for qw(content-length content-encoding etag);
	is(get('/a.txt', $coding, fields => ["If-None-Match: $tag"])->{status},
	    304, 'a condition');
	my $part = get('/a.txt', $coding, fields => ['Range: bytes=5-']);
	is($part->{status}, 206, 'a range');
	ok($part->{body} eq substr($whole->{body}, 5), 'of it');
}

# Each version is made anew.
put('a.txt', "new $text");
for my $coding (qw(br zstd gzip)) {
	ok(eval { await("the new version by $coding", sub {
		my $answer = get('/a.txt', $coding);
		return coding($answer) eq $coding &&
		    decoded($answer) eq "new $text";
	}) }, "another version by $coding");
}
SKIP: {
	skip('there is no curl with all codings', 3) if
	    `curl -V 2>/dev/null` !~ /^Features:.* brotli .*zstd/m;
	my $url = 'http://127.0.0.1:' . $server->port . '/two/a.txt';

	ok(`curl -s --compressed -H 'Accept-Encoding: $_' $url` eq $text,
	    "curl, $_") for qw(br zstd gzip);
}
$server->stop;

# Levels, and results that are kept: each level has its own.
my %size;
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
chown($as_user, -1, "$root/keep");
for my $level ('br 0 zstd 1 gzip 1', 'br 11 zstd 19 gzip 9',
    'br 0 zstd 1 gzip 1') {
	$server = Amped->start(root => $root, site => "\tcompress on\n",
	    global => "limits { compress $level }\n" .
	    "cache { variants $root/keep }\n");
	for my $coding (qw(br zstd gzip)) {
		my $answer;

		# A version that is not settled is not kept.
		await('a strong tag', sub {
			$answer = get('/two/a.txt', $coding);
			return $answer->{field}{etag} =~ /^"/;
		});
		is(coding($answer), $coding, "$coding of $level");
		ok(decoded($answer) eq $text, 'is the file');
		push(@{$size{$coding}}, length($answer->{body}));
	}
	$server->stop;
}
for my $coding (qw(br zstd gzip)) {
	cmp_ok($size{$coding}[1], '<', $size{$coding}[0],
	    "more work makes $coding smaller");
	is($size{$coding}[2], $size{$coding}[0], 'a level is a level');
}
my @kept = glob("$root/keep/*");
is(scalar(@kept), 6, 'all are kept, and used again');

# One byte of a kept result is another: br has no sum that would tell.
my ($br) = grep { /-0\.br$/ } @kept;
my $bytes = slurp($br);
for my $at (5, length($bytes) / 2, length($bytes) - 2) {
	my $harmed = $bytes;

	substr($harmed, $at, 1) ^= "\x10";
	write_file($br, $harmed);
	$server = Amped->start(root => $root, site => "\tcompress br\n",
	    global => "limits { compress br 0 }\n" .
	    "cache { variants $root/keep }\n");
	ok(decoded(get('/two/a.txt', 'br')) eq $text,
	    "a byte of a kept result has changed at $at");
	$server->stop;
}
done_testing();
