#!/usr/bin/perl
# Last-Modified and ETag, conditions, ranges.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot);
use Test::More;

my $text = content('text', 1000);
my $large = content('large', 200_000);
my $root = docroot('f.txt' => $text, 'large.bin' => $large, 'empty' => '',
    'new.txt' => "new\n");
my $then = 1_000_000_000;
my $date = 'Sun, 09 Sep 2001 01:46:40 GMT';
my $earlier = 'Sun, 09 Sep 2001 01:46:39 GMT';
my $later = 'Sun, 09 Sep 2001 01:46:41 GMT';

utime($then, $then, map { "$root/$_" } qw(f.txt large.bin empty)) == 3 or die;
my $server = Amped->start(root => $root,
    global => "cache {\n\tpaths 1000 revalidate 50ms\n}");

# A file that has just been made may have a weak tag, for a moment.
my $tag;
await('a strong tag', sub {
	($tag) = ($server->get('/f.txt')->{field}{etag} // '') =~
	    /\A("[\x21\x23-\x7e]+")\z/;
});
my $answer = $server->get('/f.txt');
is($answer->{field}{'last-modified'}, $date, 'Last-Modified');
is($answer->{field}{etag}, $tag, 'the tag stays');
my $other = $server->get('/large.bin')->{field}{etag};
isnt($other, $tag, 'another file has another');
is($server->get('/f.txt', method => 'HEAD')->{field}{etag}, $tag,
    'HEAD tells it too');

# Fields, status.
my @conditions = (
	["If-None-Match: $tag", 304], ["If-None-Match: W/$tag", 304],
	["If-None-Match: \"x\", $tag", 304], ["If-None-Match: *", 304],
	["If-None-Match: \"x\",W/$tag , \"y\"", 304],
	['If-None-Match: "x"', 200], ["If-None-Match: x$tag", 200],
	['If-None-Match: ""', 200],
	["If-Modified-Since: $date", 304], ["If-Modified-Since: $later", 304],
	["If-Modified-Since: $earlier", 200],
	['If-Modified-Since: Sunday, 09-Sep-01 01:46:40 GMT', 304],
	['If-Modified-Since: Sun Sep  9 01:46:40 2001', 304],
	['If-Modified-Since: yesterday', 200],
	['If-Modified-Since: Sun, 09 Sep 2001 01:46:60 GMT x', 200],
	["If-None-Match: \"x\"\r\nIf-Modified-Since: $later", 200],
	["If-None-Match: $tag\r\nIf-Modified-Since: $earlier", 304],
	["If-None-Match: \"x\"\r\nIf-None-Match: W/$tag, \"y\"", 304],
	["If-None-Match: $tag\r\nIf-None-Match: \"x\"", 304],
	["If-None-Match: \"x\"\r\nIf-None-Match: \"y\"", 200],
	["If-Match: \"x\"\r\nIf-Match:\r\nIf-Match: $tag", 200],
	["If-Match: \"x\"\r\nIf-None-Match: \"y\"\r\nIf-Match: $tag\r\n" .
	    "If-None-Match: $tag", 304],
	["If-Match: $tag", 200], ['If-Match: *', 200],
	["If-Match: \"x\", $tag", 200], ['If-Match: "x"', 412],
	["If-Match: W/$tag", 412],
	["If-Unmodified-Since: $date", 200],
	["If-Unmodified-Since: $earlier", 412],
	["If-Match: $tag\r\nIf-Unmodified-Since: $earlier", 200],
	["If-Match: \"x\"\r\nIf-None-Match: $tag", 412],
	["If-Match: $tag\r\nIf-None-Match: $tag", 304],
);
for my $case (@conditions) {
	my ($fields, $status) = @$case;

	for my $method ('GET', 'HEAD') {
		$answer = $server->get('/f.txt', method => $method,
		    fields => [split(/\r\n/, $fields)]);
		is($answer->{status}, $status,
		    "$method, " . $fields =~ s/\r\n/ | /r);
		is($answer->{field}{etag}, $tag, 'with the tag')
		    if $status != 412;
		is($answer->{body}, $method eq 'GET' ? $text : '', 'and all')
		    if $status == 200;
	}
}
$answer = $server->get('/f.txt', fields => ["If-None-Match: $tag"]);
ok($answer->{closed}, 'a 304 has no body');
ok(!exists($answer->{field}{'content-length'}) ||
    $answer->{field}{'content-length'} == 1000, 'nor a false length');

# Range, status, first, last.
my @ranges = (
	['bytes=0-4', 206, 0, 4], ['bytes=0-0', 206, 0, 0],
	['bytes=5-', 206, 5, 999], ['bytes=-5', 206, 995, 999],
	['bytes=999-', 206, 999, 999], ['bytes=0-999', 206, 0, 999],
	['bytes=990-99999', 206, 990, 999], ['bytes=-99999', 206, 0, 999],
	['bytes=0-99999999999999999999', 206, 0, 999],
	['BYTES=1-2', 206, 1, 2],
	['bytes=1000-', 416], ['bytes=1000-2000', 416], ['bytes=-0', 416],
	['bytes=99999999999999999999-', 416],
	['bytes=5-2', 200], ['bytes=', 200], ['bytes=-', 200],
	['bytes=a-b', 200], ['bytes=1', 200], ['bytes=+1-2', 200],
	['bytes=1-2x', 200], ['lines=1-2', 200], ['bytes 1-2', 200],
);
for my $case (@ranges) {
	my ($range, $status, $first, $last) = @$case;

	$answer = $server->get('/f.txt', fields => ["Range: $range"]);
	is($answer->{status}, $status, $range);
	if ($status == 206) {
		is($answer->{field}{'content-range'},
		    "bytes $first-$last/1000", 'says which part');
		is($answer->{body}, substr($text, $first, $last - $first + 1),
		    'the part');
		is($answer->{field}{etag}, $tag, 'the tag of the whole');
	} elsif ($status == 416) {
		is($answer->{field}{'content-range'}, 'bytes */1000',
		    'says how much there is');
	} else {
		is($answer->{body}, $text, 'the whole');
		ok(!exists($answer->{field}{'content-range'}), 'no part');
	}
}
$answer = $server->get('/f.txt', method => 'HEAD',
    fields => ['Range: bytes=0-4']);
is($answer->{status}, 200, 'ranges are of GET only');
is($answer->{field}{'content-length'}, 1000, 'HEAD tells of the whole');
is($server->get('/empty', fields => ['Range: bytes=0-'])->{status}, 416,
    'a range of nothing');
is($server->get('/nothing', fields => ['Range: bytes=0-'])->{status}, 404,
    'a range of what is not there');

# Several ranges: what must come, by first and last byte.
my @several = (
	['bytes=1-2,4-5', [1, 2], [4, 5]],
	['bytes=900-,0-0', [900, 999], [0, 0]],
	['bytes=0-0,5000-,-1', [0, 0], [999, 999]],
	['bytes=0-4,8-9,3-8,20-29', [0, 9], [20, 29]],
	['bytes=' . join(',', map { $_ * 20 . '-' . $_ * 20 } 0 .. 15),
	    map { [$_ * 20, $_ * 20] } 0 .. 15],
);
for my $case (@several) {
	my ($range, @parts) = @$case;

	is_parts($server->get('/f.txt', fields => ["Range: $range"]),
	    'text/plain; charset=utf-8', $text, @parts);
}
sub is_parts {
	my ($answer, $type, $whole, @parts) = @_;
	my ($boundary) = ($answer->{field}{'content-type'} // '') =~
	    m{\Amultipart/byteranges; boundary=([0-9a-f]{16})\z};
	my $size = length($whole);

	is($answer->{status}, 206, 'several parts');
	ok(defined($boundary), 'a boundary') or return;
	ok(!exists($answer->{field}{'content-range'}), 'no range of them all');
	is($answer->{field}{etag}, $tag, 'the tag') if $size == 1000;
	my $want = join('', map { "--$boundary\r\nContent-Type: $type\r\n" .
	    "Content-Range: bytes $_->[0]-$_->[1]/$size\r\n\r\n" .
	    substr($whole, $_->[0], $_->[1] - $_->[0] + 1) . "\r\n" } @parts) .
	    "--$boundary--\r\n";
	ok($answer->{body} eq $want, 'these parts');
	is($answer->{field}{'content-length'}, length($want), 'its length');
}
is_parts($server->get('/large.bin', fields => ['Range: bytes=' .
    '150000-199999,0-9,65530-65550,20-29,131000-131200']),
    'application/octet-stream', $large, [150_000, 199_999], [0, 9],
    [65530, 65550], [20, 29], [131_000, 131_200]);
is_parts($server->get('/f.txt', fields => ['Range: bytes=1-2,4-5',
    "If-Range: $tag"]), 'text/plain; charset=utf-8', $text, [1, 2], [4, 5]);
isnt($server->get('/f.txt', fields => ['Range: bytes=1-2,4-5'])->
    {field}{'content-type'}, $server->get('/f.txt',
    fields => ['Range: bytes=1-2,4-5'])->{field}{'content-type'},
    'another response, another boundary');
# No parts after all: fields, status, body.
for my $case (
    [['Range: bytes=0-4,5-9'], 206, substr($text, 0, 10)],
    [['Range: bytes=3-4,5000-'], 206, substr($text, 3, 2)],
    [['Range: bytes=1000-,-0'], 416],
    [['Range: bytes=1-2,4-5,x'], 200, $text],
    [['Range: bytes=1-2,4-5', 'If-Range: "x"'], 200, $text],
    [['Range: bytes=1-2,4-5', "If-None-Match: $tag"], 304, ''],
    [['Range: bytes=' . join(',', map { $_ * 2 . '-' . $_ * 2 } 0 .. 16)],
    200, $text]) {
	my ($fields, $status, $body) = @$case;

	$answer = $server->get('/f.txt', fields => $fields);
	is($answer->{status}, $status, join(' | ', @$fields));
	is($answer->{body}, $body, 'its body') if defined($body);
	unlike($answer->{field}{'content-type'} // '', qr/multipart/,
	    'no parts');
}

# Across the borders of chunks.
for my $case ([65530, 65550], [65536, 131071], [0, 65536], [131071, 131072],
    [1, 199_999], [199_999, 199_999]) {
	my ($first, $last) = @$case;

	$answer = $server->get('/large.bin',
	    fields => ["Range: bytes=$first-$last"]);
	is($answer->{status}, 206, "$first to $last of a large file");
	ok($answer->{body} eq substr($large, $first, $last - $first + 1),
	    'the part');
}

# If-Range, status.
for my $case ([$tag, 206], [$date, 206], ['"x"', 200], ["W/$tag", 200],
    [$earlier, 200], [$later, 200], ['x', 200]) {
	my ($if, $status) = @$case;

	$answer = $server->get('/f.txt',
	    fields => ['Range: bytes=1-3', "If-Range: $if"]);
	is($answer->{status}, $status, "If-Range: $if");
	is($answer->{body}, $status == 206 ? substr($text, 1, 3) : $text,
	    'its body');
}
is($server->get('/f.txt', fields => ['Range: bytes=5000-', 'If-Range: "x"'])
    ->{status}, 200, 'If-Range comes before 416');
is($server->get('/f.txt', fields => ['Range: bytes=1-2',
    "If-None-Match: $tag"])->{status}, 304, 'a condition before the range');

$server->stop;
done_testing();
