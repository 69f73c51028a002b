#!/usr/bin/perl
# Listings of directories: what is in them, what is not, and what they cost.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use JSON::PP qw(decode_json);
use POSIX qw(mkfifo);
use Test::More;
use Time::HiRes qw(utime);

Amped::one_main();

my $many = 20_000;

# Names that would break out of one place or another; all can be asked for.
my @odd = ('plain.txt', 'with space', '"quoted"', "it's", '<script>alert(1)',
    '&amp;', '100%', '%41', '%{name}', 'a?b#c', 'a:b', 'semi;colon',
    'javascript:alert(1)', "\xc3\xa9", "\xff\xfe", "\xe2\x80\xaereversed",
    '+plus', '~', 'x' x 255, '--', '*', '\\back', "{\"json\":\"\\u0041\"}");
my $all = docroot('outside/secret' => "secret\n");
my $root = "$all/root";
write_file("$root/odd/$_", "content of $_\n") for @odd;
write_file("$root/odd/sub/$_", "$_\n") for 'one', '..two';
write_file("$root/odd/$_", "hidden\n") for '.dot', 'copy.bak', 'copy~',
    "new\nline", "\e[31m", '.well-known/x';
write_file("$root/<i>&\"'/in", "in\n");
write_file("$root/indexed/index.html", "index\n");
write_file("$root/indexed/other", "other\n");
write_file("$root/off/file", "off\n");
write_file("$root/off/json/file", "json\n");
write_file("$root/html/" . ('x' x 250) . $_, $_) for 1 .. 200;
write_file("$root/empty/.nothing", '');
write_file("$root/sizes/$_->[0]", 'x' x $_->[1])
    for ['b', 300], ['a', 2000], ['d', 10], ['c', 10];
my $day = 86400;
utime($day, $_->[1] * $day, "$root/sizes/$_->[0]") or die "utime: $!\n"
    for ['b', 4], ['a', 3], ['d', 2], ['c', 1];
write_file("$root/links/file", "file\n");
symlink('file', "$root/links/in");
symlink('../odd', "$root/links/dir");
symlink('../../outside/secret', "$root/links/out");
symlink('../../outside', "$root/links/outdir");
symlink("$all/outside/secret", "$root/links/absolute");
symlink('nothing', "$root/links/dangling");
symlink('loop', "$root/links/loop");
mkfifo("$root/links/fifo", 0666) or die "mkfifo: $!\n";
write_file("$root/sorry.html", "sorry\n");
write_file("$all/outside/$_", "$_\n") for 'x.bak', 'y.o', 'sub/in', 'sub/y.o';
write_file("$all/elsewhere/there/file", "there\n");
write_file(sprintf('%s/many/%05d.txt', $root, $_), '') for 1 .. $many + 1;

my $server = Amped->start(root => $root, global =>
    "helpers 1 max 1\nlimits { listing $many }\n" .
    "cache { paths 1000 revalidate 50ms negative 50ms }\n", site => <<"END");
	listing html json
	hide *.bak
	hide ?*~ pattern-without-match
	error 403 /sorry.html
	path /off {
		listing off
	}
	path /off/json {
		listing json
		hide f?le
	}
	path /html {
		listing html
	}
	path /alias {
		alias $all/outside
		hide *.o
		fallback /indexed/index.html
	}
	path /there {
		root $all/elsewhere
		expires text/html 10m
		nosniff off
	}
END

my @json = ('Accept: application/json');

sub decoded {
	my ($text) = @_;

	$text =~ s/%([0-9A-F]{2})/chr(hex($1))/ge;
	return $text;
}

# The rows of a page: link, what stands for it, size, date.
sub rows {
	my ($answer) = @_;
	my ($body) = $answer->{body} =~ m{<tbody>\n(.*)</tbody>}s;

	return map { [m{\A<tr><td><a\ href="([^"<>&]*)">(.*)</a></td>
	    <td>(.*)</td><td>(.*)</td></tr>\z}x] } split(/\n/, $body // '');
}

sub names {
	return map { decoded($_->[0]) } rows(@_);
}

# In HTML: every link leads to the right file, no name is more than a name.
my $page = $server->get('/odd/');
is($page->{status}, 200, 'a directory is listed');
is($page->{field}{'content-type'}, 'text/html; charset=utf-8', 'in HTML');
is($page->{field}{vary}, 'Accept', 'or else');
is($page->{field}{'x-content-type-options'}, 'nosniff', 'which is sure');
ok(!exists($page->{field}{'last-modified'}), 'without a date');
my @rows = rows($page);
is_deeply([map { decoded($_->[0]) } @rows], ['../', 'sub/', sort @odd],
    'all that can be asked for, and nothing else');
is(scalar(grep { @$_ != 4 } @rows), 0, 'each row is whole');
for my $row (@rows[2 .. $#rows]) {
	my $answer = $server->get("/odd/$row->[0]");

	is($answer->{body}, 'content of ' . decoded($row->[0]) . "\n",
	    'a link leads to its file');
}
unlike($page->{body}, qr/<script/, 'no name is markup');
is(scalar(() = $page->{body} =~ /javascript:/g), 1, 'nor a scheme');
like($page->{body}, qr{<bdi>&lt;script&gt;alert\(1\)</bdi>}, 'but text');
ok(utf8::decode(my $copy = $page->{body}), 'the page is UTF-8');
like($page->{body}, qr/\A<!DOCTYPE html>\n<html lang="en">/, 'HTML 5');
like($page->{body}, qr/<meta name="viewport"/, 'for small screens too');
like($page->{body}, qr/td:first-child \{[^}]* width: 100%/,
    'names have all the room that there is');

# The pages for errors and redirects look the same.
my ($head, $style) = $page->{body} =~ m{\A(.*?)<title>.*?<style>\n(.*?)^table }ms;
like($style, qr/color-scheme: light dark/, 'dark where the system is');
for my $target ('/nothing', '/odd', '/%zz') {
	my $body = $server->get($target)->{body};

	like($body, qr{\A\Q$head\E<title>(?:301|404|400) [\w ]+</title>\n},
	    "the page for $target begins alike");
	like($body, qr{<style>\n\Q$style\E</style></head>\n<body><h1>},
	    'and has the same style');
}
my $answer = $server->get('/%3Ci%3E&%22\'/');
like($answer->{body}, qr{<title>/&lt;i&gt;&amp;&quot;&#39;/</title>},
    'a title is text');
like($answer->{body}, qr{<h1>/&lt;i&gt;&amp;&quot;&#39;/</h1>},
    'and so is a heading');
is_deeply([names($server->get('/odd/sub/'))], ['../', 'one'],
    'a directory below');
is_deeply([names($server->get('/empty/'))], ['../'], 'an empty one');
is_deeply([grep { m{/\z} } names($server->get('/'))],
    [map { "$_/" } sort('<i>&"\'', qw(odd indexed off html empty sizes links
    many))], 'the root has no way up');
is($server->get('/odd')->{field}{location}, '/odd/', 'a slash comes first');
is_deeply([names($server->get('/links/'))], ['../', 'dir/', 'file', 'in'],
    'no link that leads out, nothing that is no file');
is($server->get('/links/dir/plain.txt')->{status}, 200,
    'a link leads where it says');

# Where it is off, or there is an index.
is($server->get('/indexed/')->{body}, "index\n", 'the index comes first');
$answer = $server->get('/off/');
is($answer->{status}, 403, 'off in a path');
is($answer->{body}, "sorry\n", 'with the page for that');
is($server->get('/off/json/')->{body}, "[\n\n]\n", 'on below it');
$answer = $server->get('/html/', fields => \@json);
like($answer->{field}{'content-type'}, qr{^text/html}, 'in one form only');
ok(!exists($answer->{field}{vary}), 'which does not vary');
is($server->get('/nothing/')->{status}, 404, 'nothing is not listed');

# Where a path stands for another directory.
$answer = $server->get('/alias/');
is_deeply([names($answer)], ['../', 'sub/', 'secret'],
    'an alias, without what its site and it hide');
like($answer->{body}, qr{<h1>/alias/</h1>}, 'by the name of its path');
$answer = $server->get('/alias/sub/');
is_deeply([names($answer)], ['../', 'in'], 'a directory below');
like($answer->{body}, qr{<h1>/alias/sub/</h1>}, 'by its name');
is($server->get('/alias/sub/in')->{body}, "sub/in\n", 'what it leads to');
is($server->get('/alias')->{field}{location}, '/alias/', 'a slash first');
is($server->get('/alias/none/')->{body}, "index\n", 'nothing: the fallback');
$answer = $server->get('/there/');
is_deeply([names($answer)], ['../', 'file'], 'another root');
is($answer->{field}{'cache-control'}, 'max-age=600', 'by the rules there');
ok(!exists($answer->{field}{'x-content-type-options'}), 'all of them');

# In JSON.
$page = $server->get('/odd/', fields => \@json);
is($page->{field}{'content-type'}, 'application/json', 'in JSON');
is($page->{field}{vary}, 'Accept', 'by Accept');
is($server->get('/odd/', fields => ['Accept: text/html;q=0.1', @json])
    ->{body}, $page->{body}, 'whose lines are one list');
my $list = decode_json($page->{body});
is_deeply([map { decoded($_->{href}) } @$list], ['sub/', sort @odd],
    'the same entries');
my ($entry) = grep { $_->{name} eq '<script>alert(1)' } @$list;
is($entry->{kind}, 'file', 'of a kind');
is($entry->{size}, length("content of <script>alert(1)\n"), 'of a size');
like($entry->{mtime}, qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, 'of a date');
is($list->[0]{kind}, 'directory', 'a directory');
is($list->[0]{size}, undef, 'has no size');
for my $name (@odd) {
	my $text = $name;

	next unless utf8::decode($text);
	is(scalar(grep { $_->{name} eq $text } @$list), 1, 'a name is there');
}

# Order.
my %orders = ('' => 'abcd', '?sort=name' => 'abcd',
    '?sort=name&order=desc' => 'dcba', '?sort=size' => 'cdba',
    '?sort=size&order=desc' => 'abdc', '?sort=date' => 'cdab',
    '?order=desc&sort=date' => 'badc', '?sort=nonsense' => 'abcd');
for my $query (sort keys %orders) {
	my @names = names($server->get("/sizes/$query"));

	is(join('', @names), "../$orders{$query}", "ordered by '$query'");
}
is(join('', map { $_->{name} } @{decode_json($server->get(
    '/sizes/?sort=size', fields => \@json)->{body})}), 'cdba',
    'JSON in order');
my ($row) = grep { $_->[0] eq 'a' } rows($server->get('/sizes/'));
is($row->[2], '1.9 KiB', 'a size for people');
like($row->[3], qr/datetime="1970-01-04T00:00:00Z">1970-01-04 00:00</,
    'a date for both');

# As any file: HEAD, conditions, ranges.
$page = $server->get('/html/');
my $tag = $page->{field}{etag};
cmp_ok(length($page->{body}), '>', 65536, 'a page of several chunks');
is(scalar(rows($page)), 201, 'is whole');
$head = $server->get('/html/', method => 'HEAD');
is($head->{field}{'content-length'}, length($page->{body}), 'HEAD');
is($head->{field}{etag}, $tag, 'the tag stays');
is($server->get('/html/', fields => ["If-None-Match: $tag"])->{status}, 304,
    'a known page');
$answer = $server->get('/html/', fields => ['Range: bytes=65000-66000',
    "If-Range: $tag"]);
is($answer->{status}, 206, 'a range');
is($answer->{body}, substr($page->{body}, 65000, 1001), 'the right one');

# What changes is seen.
sub becomes {
	my ($what, $wanted) = @_;

	await($what, sub { $server->get('/html/')->{body} =~ $wanted });
	pass($what);
}
write_file("$root/html/new.txt", 'x' x 10);
becomes('a new file', qr{>new\.txt<.*<td>10 B</td>});
isnt($server->get('/html/')->{field}{etag}, $tag, 'another tag');
write_file("$root/html/new.txt", 'x' x 100);
becomes('a file that grows', qr{>new\.txt<.*<td>100 B</td>});
rename("$root/html/new.txt", "$root/html/newer.txt");
becomes('another name', qr{>newer\.txt<});
unlink("$root/html/newer.txt");
await('the first page again',
    sub { $server->get('/html/')->{body} eq $page->{body} });
is($server->get('/html/')->{field}{etag}, $tag, 'with the first tag');
write_file("$root/html/index.html", "an index\n");
await('an index', sub { $server->get('/html/')->{body} eq "an index\n" });
unlink("$root/html/index.html");
await('the listing again',
    sub { $server->get('/html/')->{body} eq $page->{body} });

# All those pages are gone, but for the last.
my ($main) = $server->role('main');
sub pages_open {
	return grep { (readlink($_) // '') =~ /amped-list/ }
	    glob("/proc/$main/fd/*");
}
SKIP: {
	skip('nobody can look into the server', 1)
	    unless readlink("/proc/$main/fd/0");
	cmp_ok(scalar(pages_open()), '<=', 1, 'old pages are given back');
}

# A large one, while others are served.
is($server->get('/odd/plain.txt')->{status}, 200, 'something cached');
SKIP: {
	skip('without helpers everybody waits', 4)
	    if Amped::architecture() ne 'amped';
	my ($helper) = $server->kill_role('STOP', 'helper');
	my $client = $server->connect;

	await('the helper to stand still',
	    sub { (Amped::Process::stat_fields($helper))[3] eq 'T' });
	$client->send("GET /many/ HTTP/1.1\r\nHost: x\r\n\r\n");
	is($server->get('/odd/plain.txt')->{body}, "content of plain.txt\n",
	    'others are answered') for 1, 2;
	ok($client->quiet, 'while a listing is being made');
	kill('CONT', $helper);
	is($client->response->{status}, 200, 'which comes in the end');
}
$page = $server->get('/many/');
@rows = rows($page);
my @files = grep { defined($_->[0]) && $_->[0] =~ /\A\d{5}\.txt\z/ } @rows;
is(scalar(@files), $many, "$many entries");
is_deeply([map { $_->[0] } @files], [sort map { $_->[0] } @files],
    'in order');
like($page->{body}, qr{There is more: .* \Q$many\E entries},
    'and that there is more');
$list = decode_json($server->get('/many/', fields => \@json)->{body});
is(scalar(@$list), $many + 1, 'the same in JSON');
ok($list->[-1]{more}, 'with the same end');
unlink("$root/many/" . sprintf('%05d.txt', 1));
await('all of them', sub {
	$page = $server->get('/many/');
	return $page->{body} !~ /There is more/;
});
is(scalar(rows($page)), $many + 1, 'as many as there may be');

$server->stop;

# By hand.
open(my $out, '-|', Amped::program() . '-helper', 'list', $root, 'sizes/',
    '[cd]') or die "amped-helper: $!\n";
is_deeply([map { chomp; $_ } <$out>], ['kind list', 'error 0', 'done 2',
    'file 1970-01-04T00:00:00Z 2000 a', 'file 1970-01-05T00:00:00Z 300 b'],
    'what a helper says');
close($out);

done_testing();
