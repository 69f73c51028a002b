#!/usr/bin/perl
# Pictures beside pictures, in formats that the client names in Accept.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use Test::More;
use Time::HiRes qw(utime);

Amped::one_main();

my $chrome = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';
my $root = docroot();

sub put {
	my ($name, $time) = @_;

	write_file("$root/$name", "the bytes of $name\n");
	utime($time // 86400, $time // 86400, "$root/$name");
}

put($_) for qw(a.png a.png.avif a.png.jxl a.png.webp b.jpg b.jpg.webp
    page.html page.html.avif one/a.png one/a.png.avif one/a.png.webp
    off/a.png off/a.png.webp s.svg s.svg.gz s.svg.webp alone.png);
put('old.png', 90000);
put('old.png.avif');
my $server = Amped->start(root => $root, site => <<'END_OF_SITE',
	formats avif jxl webp
	precompressed gzip
	path /one { formats webp }
	path /off { formats off }
END_OF_SITE
    global => "cache { paths 1000 revalidate 50ms negative 50ms }\n");

sub get {
	my ($target, $accept, @fields) = @_;

	push(@fields, "Accept: $accept") if defined($accept);
	return $server->get($target, fields => \@fields);
}

# Target, Accept, the file that is sent, its type, Vary.
my $png = 'image/png';
my $all = 'Accept';
my @cases = (
	['/a.png', $chrome, 'a.png.avif', 'image/avif', $all],
	['/a.png', undef, 'a.png', $png, $all],
	['/a.png', '*/*', 'a.png', $png, $all],
	['/a.png', 'image/*', 'a.png', $png, $all],
	['/a.png', 'image/webp,*/*', 'a.png.webp', 'image/webp', $all],
	['/a.png', 'image/png,image/jxl', 'a.png.jxl', 'image/jxl', $all],
	['/a.png', 'image/png,image/jxl;q=0.9', 'a.png', $png, $all],
	['/a.png', 'image/avif;q=0.5,image/webp;q=0.6', 'a.png.webp',
	    'image/webp', $all],
	['/a.png', 'image/avif;q=0,image/*', 'a.png', $png, $all],
	['/a.png', 'text/html', 'a.png', $png, $all],
	['/a.png', 'IMAGE/WEBP', 'a.png.webp', 'image/webp', $all],
	['/b.jpg', $chrome, 'b.jpg.webp', 'image/webp', $all],
	['/b.jpg', 'image/avif', 'b.jpg', 'image/jpeg', $all],
	['/one/a.png', $chrome, 'one/a.png.webp', 'image/webp', $all],
	['/off/a.png', $chrome, 'off/a.png', $png, undef],
	['/alone.png', $chrome, 'alone.png', $png, undef],
	['/page.html', 'image/avif', 'page.html', 'text/html; charset=utf-8',
	    undef],
	['/a.png.avif', undef, 'a.png.avif', 'image/avif', undef],
	['/old.png', $chrome, 'old.png', $png, undef],
	['/s.svg', $chrome, 's.svg.webp', 'image/webp', $all],
	['/s.svg', 'image/svg+xml', 's.svg', 'image/svg+xml',
	    "$all, Accept-Encoding"],
);
for my $case (@cases, @cases) {
	my ($target, $accept, $file, $type, $vary) = @$case;
	my $answer = get($target, $accept);
	my $what = "$target, Accept: " . ($accept // 'none');

	is($answer->{body}, "the bytes of $file\n", $what);
	is($answer->{field}{'content-type'}, $type, '... its type');
	is($answer->{field}{vary}, $vary, '... Vary');
	is($answer->{field}{'content-encoding'}, undef, '... no coding');
}

# One in another coding depends on both.
my $answer = get('/s.svg', 'image/svg+xml', 'Accept-Encoding: gzip');
is($answer->{body}, "the bytes of s.svg.gz\n", 'a coding');
is($answer->{field}{vary}, 'Accept, Accept-Encoding', '... and Vary');

# Tags, conditions, ranges and HEAD are of the picture that is sent.
my $tag = get('/a.png', $chrome)->{field}{etag};
isnt($tag, get('/a.png')->{field}{etag}, 'each has a tag of its own');
is(get('/a.png', $chrome, "If-None-Match: $tag")->{status}, 304, 'not modified');
is(get('/a.png', 'image/png', "If-None-Match: $tag")->{status}, 200,
    '... not for another one');
$answer = get('/a.png', $chrome, 'Range: bytes=13-');
is("$answer->{status} $answer->{body}", "206 a.png.avif\n", 'a range');
$answer = $server->get('/a.png', method => 'HEAD',
    fields => ["Accept: $chrome"]);
is($answer->{field}{'content-type'}, 'image/avif', 'HEAD');

# What comes and goes beside a picture.
put('alone.png.webp');
ok(eval { await('a format that comes', sub {
	get('/alone.png', $chrome)->{body} =~ /webp/ }) }, 'a format comes');
unlink("$root/alone.png.webp");
ok(eval { await('a format that goes', sub {
	get('/alone.png', $chrome)->{body} eq "the bytes of alone.png\n" }) },
    '... and goes');
put('a.png', 90000);
ok(eval { await('the newer picture', sub {
	get('/a.png', $chrome)->{body} eq "the bytes of a.png\n" }) },
    'a picture that is newer than the others');
is(get('/missing.png', $chrome)->{status}, 404, 'what is not there');
$server->stop;

done_testing();
