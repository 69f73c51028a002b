#!/usr/bin/perl
# curl, with whatever it can do to a static server: every file arrives as it
# is, and nothing is sent that the client has already.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Foreign qw(checksums foreign foreign_ok needs_program);
use Digest::SHA qw(sha256_hex);
use Test::More;

needs_program('curl');

my $past = time - 86400;
my %files = (
	'large.bin' => content('large', 3_000_001), 'empty' => '',
	'page.html' => '<p>' . content('page', 60_000),
	'style.css' => "p { color: red }\n" x 4000,
	'sub/index.html' => "sub\n", 'with space%.txt' => "odd\n",
	map { ("many/$_" => content("many$_", $_ * 517)) } 1 .. 100
);
my $root = docroot(%files);
my $here = docroot();
my $out = "$here/out";
my @curl = qw(curl -q --silent --show-error --globoff);
utime($past, $past, glob("$root/*"), glob("$root/many/*"));
# A file that has been changed a moment ago has a weak tag.
await('files that are old enough', sub {
	time > (stat("$root/large.bin"))[10] + 2;
});
my $server = Amped->start(root => $root);

sub curl { return foreign_ok(shift, @curl, @_) }

# The file that curl wrote is this one.
sub is_content {
	my ($name, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is(sha256_hex(slurp($out)), sha256_hex($files{$name}), $what);
}

# The status of the answer to a request like this.
sub status {
	return (foreign(@curl, '-o', "$here/body", '-w', '%{http_code}',
	    @_))[1];
}

sub url { return $server->url("/$_[0]") }

# Whole files, as both versions and methods have them.
for my $name ('large.bin', 'empty', 'page.html', 'style.css') {
	curl("$name", '-o', $out, url($name));
	is_content($name, '... as it is');
	curl("$name, HTTP/1.0", '-0', '-o', $out, url($name));
	is_content($name, '... as it is');
	curl("$name, compressed if the server can", '--compressed', '-o',
	    $out, url($name));
	is_content($name, '... as it is');
	my ($head) = curl("HEAD of $name", '-I', url($name));
	like($head, qr/^Content-Length: @{[length($files{$name})]}\r$/m,
	    '... with its size');
}
curl('a name with odd characters', '-o', $out, url('with%20space%25.txt'));
is_content('with space%.txt', '... as it is');
curl('a directory without its slash', '-L', '-o', $out, url('sub'));
is_content('sub/index.html', '... is its index');
curl('the time of the file', '-R', '-o', $out, url('page.html'));
is((stat($out))[9], $past, '... is the time of the copy');

# Ranges.
my $large = $files{'large.bin'};
for my $range (['0-9', 0, 10], ['70000-', 70000], ['-7', -7]) {
	my ($spec, $from, $len) = @$range;
	curl("range $spec", '-r', $spec, '-o', $out, url('large.bin'));
	ok(slurp($out) eq substr($large, $from, $len // length($large)),
	    '... is that part');
}
my ($parts) = curl('two ranges', '-r', '0-9,100000-100009',
    url('large.bin'));
like($parts, qr/\r\n\r\n\Q@{[substr($large, 0, 10)]}\E\r\n.*
    \r\n\r\n\Q@{[substr($large, 100000, 10)]}\E\r\n/sx, '... are both there');

# Half a file is completed; of what has changed meanwhile, nothing is added.
my $tag = "$here/tag";
curl('the tag', '--etag-save', $tag, '-o', $out, url('large.bin'));
$tag = slurp($tag) =~ s/\s+\z//r;
like($tag, qr/\A"/, '... is strong');
write_file($out, substr($large, 0, 1_234_567));
curl('-C -', '-C', '-', '-o', $out, url('large.bin'));
is_content('large.bin', '... completes it');
write_file($out, substr($large, 0, 1_234_567));
curl('-C - with If-Range', '-C', '-', '-H', "If-Range: $tag", '-o', $out,
    url('large.bin'));
is_content('large.bin', '... completes it');
foreign(@curl, '-C', '-', '-o', $out, url('large.bin'));
is_content('large.bin', 'what is complete stays so');
write_file($out, 'half of another');
isnt((foreign(@curl, '-C', '-', '-H', 'If-Range: "another"', '-o', $out,
    url('large.bin')))[0], 0, 'half of another file is not completed');
is(slurp($out), 'half of another', '... and stays as it was');

# What the client has is not sent again.
is(status('--etag-compare', "$here/tag", url('large.bin')), 304,
    'the same tag');
is(status('-H', 'If-None-Match: "another"', url('large.bin')), 200,
    'another tag');
is(status('-z', '1 Jan 2000', url('page.html')), 200, 'a date before');
is(status('-z', '-1 Jan 2000', url('page.html')), 412, 'unless since then');
write_file($out, 'a copy');
is(status('-z', $out, url('page.html')), 304, 'a file that is younger');
utime($past - 10, $past - 10, $out);
is(status('-z', $out, url('page.html')), 200, 'a file that is older');

# A hundred files beside each other, then one after the other.
for my $how (['-Z', '--parallel-max', '20'], []) {
	my $copies = docroot();
	write_file("$here/list", join('', map { 'url = "' . url("many/$_") .
	    "\"\noutput = \"$copies/many/$_\"\n" } 1 .. 100));
	my ($connects) = curl("a hundred files @$how", @$how,
	    '--create-dirs', '-w', '%{num_connects}\n', '-K', "$here/list");
	is_deeply(checksums($copies), { map { ("many/$_" =>
	    sha256_hex($files{"many/$_"})) } 1 .. 100 },
	    '... with their checksums');
	is_deeply([split(' ', $connects)], [1, (0) x 99],
	    '... over one connection') unless @$how;
}

# A static server takes nothing in, however it is offered.
my $upload = "$root/large.bin";
for my $offer (['--data', 'a=b'], ['--data-binary', "\@$root/page.html"],
    ['-T', $upload], ['-T', $upload, '-H', 'Expect: 100-continue'],
    ['-T', "$root/page.html", '-H', 'Transfer-Encoding: chunked'],
    ['-X', 'DELETE']) {
	is(status(@$offer, url('page.html')), 405,
	    join(' ', map { s{.*/}{}r } @$offer) . ' is refused');
}
is(slurp("$root/page.html"), $files{'page.html'}, 'and the file as it was');
my ($allow) = curl('OPTIONS', '-i', '-X', 'OPTIONS', url('page.html'));
like($allow, qr/^Allow: GET, HEAD, OPTIONS\r$/m, '... tells what is allowed');

$server->stop;
done_testing();
