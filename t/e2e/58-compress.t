#!/usr/bin/perl
# Compression: files beside others, and what helpers make; who gets which.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use POSIX qw(mkfifo);
use Test::More;
use Time::HiRes qw(utime);

Amped::one_main();

my $text = join('', map { "line $_ of a text that repeats itself\n" }
    1 .. 2000);
my $long = $text x 100;
my $all = docroot('outside/a.html.gz' => 'secret', 'keep/' => '');
my $root = "$all/root";
my $day = 86400;

# Bytes by gzip, which must be there: no test without it.
sub gzip {
	my ($bytes) = @_;
	my $dir = docroot(x => $bytes);

	return scalar(`gzip -nc '$dir/x'`);
}

sub gunzip {
	my ($bytes) = @_;
	my $dir = docroot(x => $bytes);

	return scalar(`gzip -dc < '$dir/x' 2>&1`);
}

sub put {
	my ($name, $bytes, $days) = @_;

	write_file("$root/$name", $bytes);
	utime($days * $day, $days * $day, "$root/$name") if defined($days);
}

put('a.txt', $text, 3);		# a new one has a weak tag for a while
put('index.html', $text);
put('d/index.html', $text, 5);
put('d/index.html.gz', gzip($text), 5);
put('other/b.css', $text);
put('off/a.txt', $text);
put('long.json', $long);
put('short.txt', 'x' x 1023);
put('enough.txt', 'x' x 1024);
put('noise.txt', join('', map { chr(int(rand(256))) } 1 .. 5000));
put('a.png', $text);
put('beside.txt', $text, 10);
put('beside.txt.gz', gzip($text), 10);
put('beside.txt.br', 'brotli, as it were', 11);
put('beside.txt.zst', 'zstandard', 9);		# older
put('gone.txt', $text, 10);
put('gone.txt.gz', gzip($text), 10);
put('empty.txt', $text, 10);
put('empty.txt.br', '', 10);
put('.hidden.txt', $text, 10);
put('odd.txt', $text, 10);
mkfifo("$root/odd.txt.br", 0666) or die "mkfifo: $!\n";
make_link('../outside/a.html.gz', 'odd.txt.zst');
mkdir("$root/odd.txt.gz");
put('link.txt', $text, 10);
make_link('beside.txt.br', 'link.txt.br');
put('closed.txt', $text, 10);
put('closed.txt.br', 'x', 10);
chmod(0, "$root/closed.txt.br");
put('app.html', $text);

sub make_link {
	my ($to, $name) = @_;

	symlink($to, "$root/$name") or die "symlink: $!\n";
}

my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
chown($as_user, -1, "$all/keep");
chmod(0755, "$all/keep");

my $site = <<"END";
	compress gzip
	precompressed br zstd gzip
	path /other { alias $root/other }
	path /off { compress off; precompressed off }
	path /app { fallback /app.html }
END
my $server = Amped->start(root => $root, site => $site, global =>
    "cache { paths 1000 revalidate 50ms negative 50ms }\n");

sub get {
	my ($target, $accept, %opt) = @_;

	push(@{$opt{fields}}, "Accept-Encoding: $accept") if defined($accept);
	return $server->get($target, %opt);
}

sub encoding {
	my ($answer) = @_;

	return $answer->{field}{'content-encoding'} // 'identity';
}

# Made ones, for a file, an index, an alias, a fallback.
for my $target (qw(/a.txt / /other/b.css /app/nothing /a.txt)) {
	my $answer = get($target, 'gzip');

	is(encoding($answer), 'gzip', "$target is compressed");
	is(gunzip($answer->{body}), $text, 'as it was');
	is($answer->{field}{vary}, 'Accept-Encoding', 'and says so');
	cmp_ok(length($answer->{body}), '<', length($text) / 5, 'small');
}
is(get('/', 'gzip')->{field}{'content-type'}, 'text/html; charset=utf-8',
    'the type is that of the file');
my $plain = get('/a.txt');
is(encoding($plain), 'identity', 'who does not ask gets the file');
is($plain->{body}, $text, 'as it is');
is($plain->{field}{vary}, 'Accept-Encoding', 'and hears that there is more');
my $packed = get('/a.txt', 'gzip');
isnt($packed->{field}{etag}, $plain->{field}{etag}, 'each has a tag');
is($packed->{field}{'last-modified'}, $plain->{field}{'last-modified'},
    'of one date');
my $head = get('/a.txt', 'gzip', method => 'HEAD');
is($head->{field}{$_}, $packed->{field}{$_}, "HEAD: $_")
    for qw(content-length content-encoding etag vary);

# Too small, of no gain, of no such type, where it is off.
for my $case (['/short.txt', 0], ['/enough.txt', 1], ['/noise.txt', 0],
    ['/a.png', 0], ['/off/a.txt', 0]) {
	my ($target, $packs) = @$case;
	my $answer = get($target, 'gzip');

	is(encoding($answer), $packs ? 'gzip' : 'identity', $target);
	is($answer->{field}{vary}, $packs ? 'Accept-Encoding' : undef,
	    'a choice or none');
	is($answer->{body}, slurp("$root$target"), 'whole') unless $packs;
}

# Beside the file.
for my $case (['br', 'br'], ['gzip, br', 'br'], ['gzip', 'gzip'],
    ['zstd', 'identity'], ['br;q=0.5, gzip', 'gzip'], ['deflate', 'identity'],
    ['*', 'br'], ['br;q=0, *', 'gzip'], ['', 'identity'],
    ['identity, br;q=0.5', 'identity']) {
	my ($accept, $want) = @$case;
	my $answer = get('/beside.txt', $accept);

	is(encoding($answer), $want, "Accept-Encoding: $accept");
	is($answer->{body}, slurp("$root/beside.txt" . ({ br => '.br',
	    gzip => '.gz' }->{$want} // '')), 'is that file');
	is($answer->{field}{'content-type'}, 'text/plain; charset=utf-8',
	    'of that type');
	is($answer->{field}{vary}, 'Accept-Encoding', 'one of several');
}
is(get('/d/', 'gzip')->{body}, slurp("$root/d/index.html.gz"),
    'an index has them as well');
is(get('/beside.txt', 'gzip;q=0, identity;q=0')->{status}, 406,
    'nothing fits');
is(get('/beside.txt', 'zstd, *;q=0')->{field}{vary}, 'Accept-Encoding',
    'for a reason');
is(get('/short.txt', 'identity;q=0')->{status}, 200,
    'without a choice there is no refusal');

# What does not count: empty, no file, out of the root, not ours to read.
is(encoding(get('/empty.txt', 'br')), 'identity', 'an empty file');
is(encoding(get('/odd.txt', $_)), 'identity', "$_ that is no file of ours")
    for qw(br zstd);
is(encoding(get('/odd.txt', 'gzip')), 'gzip', 'nor is a directory');
is(gunzip(get('/odd.txt', 'gzip')->{body}), $text, 'so it is made');
is(get('/.hidden.txt', 'gzip')->{status}, 403, 'hidden is hidden');
my $closed = get('/closed.txt', 'br');
is($closed->{status}, 200, 'one that may not be read');
is($closed->{body}, $> == 0 || $closed->{body} eq $text ? $text : 'x',
    'is done without');
is(get('/beside.txt.gz')->{field}{'content-encoding'}, undef,
    'by its own name it is a file like any other');

# It vanishes, and comes again, and is out of date, and up to date.
is(get('/gone.txt', 'gzip')->{body}, slurp("$root/gone.txt.gz"), 'there');
unlink("$root/gone.txt.gz");
await('it to be missed', sub {
	my $answer = get('/gone.txt', 'gzip');
	die "status $answer->{status}\n" if $answer->{status} != 200;
	return encoding($answer) eq 'gzip' &&
	    $answer->{field}{'last-modified'} =~ /1970/ &&
	    gunzip($answer->{body}) eq $text &&
	    get('/gone.txt', 'br, zstd')->{body} eq $text;
});
put('gone.txt.br', 'again', 10);
await('another one', sub { get('/gone.txt', 'br')->{body} eq 'again' });
put('gone.txt', "new $text", 12);
await('it to be older', sub {
	my $answer = get('/gone.txt', 'br');
	return $answer->{body} eq "new $text";
});
is(gunzip(get('/gone.txt', 'br, gzip')->{body}), "new $text",
    'and what is made is of the new version');
put('gone.txt.br', 'newer', 13);
await('it to be newer', sub { get('/gone.txt', 'br')->{body} eq 'newer' });

# Every version is compressed as itself, and no two have one tag.
my %tags;
for my $n (1 .. 5) {
	my $now = "version $n\n$text";

	put('a.txt', $now);
	await("version $n", sub {
		gunzip(get('/a.txt', 'gzip')->{body}) eq $now });
	for my $accept ('gzip', 'identity') {
		await("a settled one, $accept", sub {
			get('/a.txt', $accept)->{field}{etag} =~ /^"/ });
		$tags{get('/a.txt', $accept)->{field}{etag}}++;
	}
}
is(scalar(keys(%tags)), 10, 'ten tags');

# Conditions and ranges are about the variant.
my ($gzip, $identity) = map { get('/a.txt', $_) } qw(gzip identity);
my ($gtag, $itag) = map { $_->{field}{etag} } $gzip, $identity;
for my $case ([gzip => $gtag, 304], [gzip => $itag, 200],
    [identity => $itag, 304], [identity => $gtag, 200],
    [gzip => "$itag, $gtag", 304]) {
	my ($accept, $tag, $status) = @$case;
	my $answer = get('/a.txt', $accept, fields => ["If-None-Match: $tag"]);

	is($answer->{status}, $status, "$accept unless $tag");
	is($answer->{field}{vary}, 'Accept-Encoding', 'varies');
	is($answer->{field}{etag}, $accept eq 'gzip' ? $gtag : $itag, 'tag');
	is($answer->{field}{'content-encoding'}, undef, 'about no body')
	    if $status == 304;
}
is(get('/a.txt', 'gzip', fields => ["If-Match: $itag"])->{status}, 412,
    'a tag of another variant');
my $size = length($gzip->{body});
my $part = get('/a.txt', 'gzip', fields => ['Range: bytes=100-']);
is($part->{status}, 206, 'a range');
is($part->{field}{'content-range'}, "bytes 100-@{[$size - 1]}/$size",
    'of the variant');
is($part->{field}{'content-encoding'}, 'gzip', 'in its coding');
is(gunzip(substr($gzip->{body}, 0, 100) . $part->{body}),
    $identity->{body}, 'both parts are one');
is(get('/a.txt', 'gzip', fields => ['Range: bytes=1-2', "If-Range: $_->[0]"])
    ->{status}, $_->[1], 'If-Range') for [$gtag, 206], [$itag, 200];
is(get('/a.txt', $_, fields => ['Range: bytes=1-2',
    "If-Range: $identity->{field}{'last-modified'}"])->{status}, 200,
    'a date does not tell the variants apart') for qw(gzip identity);
is(get('/a.txt', 'gzip', fields => ["Range: bytes=$size-"])->{status}, 416,
    'beyond the variant, not beyond the file');
my $parts = get('/a.txt', 'gzip', fields => ['Range: bytes=0-1,9-9']);
is($parts->{field}{'content-encoding'}, undef, 'parts are not encoded');
like($parts->{body}, qr/\r\nContent-Encoding: gzip\r\n/, 'what is in them is');

# A large one, for many at once; main goes on meanwhile.
my @clients = map { $server->connect } 1 .. 8;
$_->send("GET /long.json HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
    for @clients;
is($server->get('/short.txt')->{status}, 200, 'others are served');
my @answers = map { $_->response('GET') } @clients;
is(scalar(grep { encoding($_) eq 'gzip' } @answers), 8, 'all get it');
ok($answers[0]{body} eq $_->{body}, 'the same') for @answers;
ok(gunzip($answers[0]{body}) eq $long, 'and it is right');

SKIP: {
	skip('there is no curl', 2) if system('command -v curl >/dev/null');
	my $url = 'http://127.0.0.1:' . $server->port . '/long.json';
	ok(`curl -s --compressed -H 'Accept-Encoding: gzip' $url` eq $long,
	    'curl --compressed');
	ok(`curl -s $url` eq $long, 'curl');
}
$server->stop;

# On disk: kept over a restart; a broken one is not served.
sub kept { return grep { !m{/\.} } glob("$all/keep/*") }

my @keep = (root => $root, site => "\tcompress gzip\n", global =>
    "cache { variants $all/keep }\n");
$server = Amped->start(@keep);
my $first = get('/long.json', 'gzip');
ok(gunzip($first->{body}) eq $long, 'with a directory');
is(scalar(kept()), 1, 'it is kept there');
$server->stop;
my ($name) = kept();
my $inode = (stat($name))[1];
$server = Amped->start(@keep);
my $second = get('/long.json', 'gzip');
ok($second->{body} eq $first->{body}, 'the same after a restart');
is($second->{field}{etag}, $first->{field}{etag}, 'by the same tag');
is((stat($name))[1], $inode, 'taken from there');
$server->stop;
truncate($name, 1000);
$server = Amped->start(@keep);
ok(get('/long.json', 'gzip')->{body} eq $first->{body},
    'a broken one is made again');
$server->stop;
chmod(0555, "$all/keep");
unlink(kept());
$server = Amped->start(@keep);
ok(get('/long.json', 'gzip')->{body} eq $first->{body},
    'nowhere to keep it: made all the same');
$server->stop;

done_testing();
