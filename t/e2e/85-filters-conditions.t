#!/usr/bin/perl
# Conditions, ranges and Vary of what filters make: as of a file of these bytes
# that has no date.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use Amped::Coding qw(decoded);
use Test::More;
use Time::HiRes qw(time utime);

Amped::one_main();

my $root = docroot();
my $text = join('', map { "line $_ of a text\n" } 1 .. 400);

sub put {
	my ($name, $bytes) = @_;

	write_file("$root/$name", $bytes);
	# Old enough for a strong tag.
	utime(time() - 100, time() - 100, "$root/$name");
}

put('a.txt', $text);
put('part', $text);
put('page.shtml', '<!--#include file="part" -->');
my $server = Amped->start(root => $root, global => <<'END', site => <<"END_OF_SITE");
cache { paths 1000 revalidate 50ms negative 50ms }
program upper { filter /usr/bin/tr a-z A-Z }
program ssi { filter ssi }
program head { filter /usr/bin/head -c "%{n}" }
chain upper { filters upper }
chain pages { filters ssi upper }
chain head { filters head upper }
END
	expires */* 1h
	header add X-Own y
	path /plain { chain upper; alias $root }
	path /pages { chain pages for *.shtml; alias $root }
	path /packed { chain upper; compress gzip; alias $root }
	path /head { chain head by query "n=1-9999"; compress gzip;
		alias $root }
END_OF_SITE

# What a case asks for: path, coding (or none), bytes of it.
my @results = (['/plain/a.txt', undef], ['/pages/page.shtml', undef],
    ['/packed/a.txt', undef], ['/packed/a.txt', 'gzip'],
    ['/head/a.txt?n=7000', undef], ['/head/a.txt?n=7000', 'gzip']);

# Fields (%T: the tag), status, the part of the body; undef: all of it.
my $date = 'Sun, 06 Nov 1994 08:49:37 GMT';
my $later = 'Fri, 06 Nov 2099 08:49:37 GMT';
my @cases = (
	# It has no date, so what asks for one is ignored.
	["If-Modified-Since: $date", 200], ["If-Modified-Since: $later", 200],
	["If-Unmodified-Since: $date", 200],
	["If-Unmodified-Since: $later", 200],
	['If-None-Match: %T', 304], ['If-None-Match: W/%T', 304],
	['If-None-Match: "x", %T, "y"', 304], ['If-None-Match: *', 304],
	['If-None-Match: "x"', 200],
	["If-None-Match: \"x\"\r\nIf-Modified-Since: $later", 200],
	["If-None-Match: %T\r\nIf-Modified-Since: $date", 304],
	['If-Match: %T', 200], ['If-Match: "x", %T', 200], ['If-Match: *', 200],
	['If-Match: W/%T', 412], ['If-Match: "x"', 412],
	["If-Match: %T\r\nIf-Unmodified-Since: $date", 200],
	["If-Match: %T\r\nIf-None-Match: %T", 304],
	['Range: bytes=0-0', 206, [0, 1]], ['Range: bytes=5-', 206, [5]],
	['Range: bytes=-7', 206, [-7]], ['Range: bytes=5-9', 206, [5, 5]],
	['Range: bytes=99999-', 416], ['Range: lines=1-2', 200],
	["Range: bytes=5-9\r\nIf-Range: %T", 206, [5, 5]],
	["Range: bytes=5-9\r\nIf-Range: W/%T", 200],
	["Range: bytes=5-9\r\nIf-Range: \"x\"", 200],
	["Range: bytes=5-9\r\nIf-Range: $later", 200],
	["Range: bytes=5-9\r\nIf-None-Match: %T", 304],
	["Range: bytes=5-9\r\nIf-Match: %T", 206, [5, 5]],
	["Range: bytes=5-9\r\nIf-Match: \"x\"", 412],
);

for my $result (@results) {
	my ($target, $coding) = @$result;
	my @accept = $coding ? "Accept-Encoding: $coding" : ();
	my $what = $target . ($coding ? " by $coding" : '');
	my $varies = $target =~ /packed|head/ ? 'Accept-Encoding' : undef;
	my $whole;

	await("a settled $what", sub {
		$whole = $server->get($target, fields => \@accept);
		return $whole->{field}{etag} =~ /^"/;
	});
	is($whole->{field}{'content-encoding'}, $coding, $what);
	is(decoded($whole), uc(substr($text, 0, $target =~ /n=(\d+)/ ? $1 :
	    length($text))), '... is what the filter makes');
	is($whole->{field}{'last-modified'}, undef, '... without a date');
	for my $case (@cases) {
		my ($fields, $status, $part) = @$case;
		my @fields = (@accept, split(/\r\n/,
		    $fields =~ s/%T/$whole->{field}{etag}/gr));

		for my $method (qw(GET HEAD)) {
			# A range is for GET only.
			my $want = $method eq 'HEAD' && ($status == 206 ||
			    $status == 416) ? 200 : $status;
			my $answer = $server->get($target, method => $method,
			    fields => \@fields);
			my $name = "$method $what: " . $fields =~ s/\r\n/, /gr;

			is($answer->{status}, $want, $name);
			is($answer->{field}{vary}, $varies, '... Vary')
			    if $want != 416 && $want != 412;
			next if $want >= 400;
			is($answer->{field}{$_}, $whole->{field}{$_}, "... $_")
			    for qw(etag cache-control x-own);
			is($answer->{body} // '', $part && $want == 206 ?
			    substr($whole->{body}, $part->[0],
			    $part->[1] // length($text)) : $want == 200 &&
			    $method eq 'GET' ? $whole->{body} : '', '... bytes');
		}
	}

	# Several ranges.
	my $several = $server->get($target, fields => [@accept,
	    'Range: bytes=0-4, 20-29, -3']);
	is($several->{status}, 206, "$what: several ranges");
	my ($mark) = $several->{field}{'content-type'} =~
	    m{^multipart/byteranges; ?boundary=(\S+)$};
	my $size = length($whole->{body});
	my @parts = $several->{body} =~ m{--\Q$mark\E\r\n(?:[^\r]+\r\n)*?
	    Content-Range:\ (bytes\ [^\r]+)\r\n(?:[^\r]+\r\n)*?\r\n
	    (.*?)\r\n(?=--\Q$mark\E)}gsxi;
	is_deeply(\@parts, [map { ("bytes $_->[0]-$_->[1]/$size",
	    substr($whole->{body}, $_->[0], $_->[1] - $_->[0] + 1)) } [0, 4],
	    [20, 29], [$size - 3, $size - 1]], '... each with its bytes');
	# The coding is that of the parts, not of the multipart.
	is(scalar(() = $several->{body} =~ /^Content-Encoding: gzip\r$/mg),
	    $coding ? 3 : 0, '... and its coding');
	is($server->get($target, method => 'POST', fields => ['Content-Length: 0'])
	    ->{status}, 405, '... no POST');
}

# The tag of one representation is none of another.
my ($plain, $packed) = map { $server->get('/packed/a.txt', fields => [$_]) }
    'Accept-Encoding: identity', 'Accept-Encoding: gzip';
is($server->get('/packed/a.txt', fields => ['Accept-Encoding: gzip',
    'Range: bytes=1-', "If-Range: $plain->{field}{etag}"])->{status}, 200,
    'If-Range of another coding');
is($server->get('/packed/a.txt', fields => ['Accept-Encoding: gzip',
    "If-None-Match: $plain->{field}{etag}"])->{status}, 200,
    'If-None-Match of another coding');
is($server->get('/packed/a.txt', fields => ['Accept-Encoding: identity',
    "If-None-Match: $packed->{field}{etag}"])->{status}, 200,
    '... and the other way round');
isnt($server->get('/head/a.txt?n=7000')->{field}{etag},
    $server->get('/head/a.txt?n=6999')->{field}{etag}, 'a tag of each query');
$server->finish;
done_testing();
