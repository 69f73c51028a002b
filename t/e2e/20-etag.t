#!/usr/bin/perl
# Tags by which machines with copies of the same files agree: by time and by
# content; ranges that go on at another machine.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot write_file);
use Test::More;

Amped::one_main();
my $large = content('large', 3_000_000);
my %files = (map({ ("$_/f.txt" => content('text', 5000),
    "$_/large.bin" => $large, "$_/f.txt.gz" => 'no gzip, but a variant',
    "$_/empty" => '', "$_/page.html" => 'page') } qw(v m c)),
    'c/more.bin' => content('more', 200_000), 'list/a' => '');
my $then = 1_000_000_000;

# A server with copies of the files; its clock of files may be another.
sub machine {
	my ($seconds) = @_;
	my $root = docroot(%files);

	utime($then + $seconds, $then + $seconds,
	    map { "$root/$_" } keys %files);
	return Amped->start(root => $root,
	    global => "cache {\n\tpaths 1000 revalidate 50ms\n}\n" .
		"limits {\n\tdigest 100K\n}", site => <<"EOT");
	precompressed gzip
	path /v { etag version }
	path /m { etag modified }
	path /c { etag content; error 404 /c/page.html; compress on }
	path /c/large.bin { etag content }
	path /list { listing json; etag content }
	path /status { status on }
EOT
}

my ($one, $two, $late) = (machine(0), machine(0), machine(7));

sub tag {
	my ($server, $target, @fields) = @_;

	return $server->get($target, fields => \@fields)->{field}{etag} // '';
}

my @targets = map { ("/$_/f.txt", "/$_/large.bin", "/$_/empty",
    "/$_/page.html") } qw(v m c);

# A file that has just been made has a weak tag for a moment.
sub strong_tag {
	my ($server, $target, @fields) = @_;

	return await("a strong tag of $target", sub {
		my $tag = tag($server, $target, @fields);
		return $tag =~ /\A"/ ? $tag : undef;
	});
}

my %tag;
for my $target (@targets) {
	my @tags = map { strong_tag($_, $target) } $one, $two, $late;
	my $kind = substr($target, 1, 1);

	$tag{$target} = $tags[0];
	if ($kind eq 'v') {
		isnt($tags[0], $tags[1], "$target: another file, another tag");
	} else {
		is($tags[1], $tags[0], "$target: the copy has the same tag");
	}
	if ($kind eq 'c' && $target !~ /large/) {
		is($tags[2], $tags[0], "$target: at any time");
	} else {
		isnt($tags[2], $tags[0], "$target: but not of another time");
	}
}
is($tag{'/m/large.bin'}, $tag{'/c/large.bin'},
    'a file larger than limits digest has the tag by time');
my %seen;
is(scalar(grep { $seen{$tag{$_}}++ } grep { !m{large|/v/} } @targets), 0,
    'all other tags differ');

# Variants.
for my $dir (qw(m c)) {
	my @gz = map { strong_tag($_, "/$dir/f.txt", 'Accept-Encoding: gzip') }
	    $one, $two;

	is($gz[1], $gz[0], "$dir: variants agree");
	isnt($gz[0], $tag{"/$dir/f.txt"}, 'and have a tag of their own');
}
is(tag($one, '/list/?json'), tag($two, '/list/?json'), 'listings agree');

# A range goes on at the other machine, or not.
for my $case (['/m/large.bin', $two, 206], ['/c/f.txt', $two, 206],
    ['/c/f.txt', $late, 206], ['/c/large.bin', $two, 206],
    ['/m/large.bin', $late, 200], ['/v/large.bin', $two, 200]) {
	my ($target, $server, $status) = @$case;
	my $answer = $server->get($target, fields => ['Range: bytes=1000-',
	    "If-Range: $tag{$target}"]);

	is($answer->{status}, $status, "$target goes on: $status");
	is($answer->{body}, substr($files{$target =~ s{^/}{}r},
	    $status == 206 ? 1000 : 0), 'with these bytes');
}
is($two->get('/c/f.txt', fields => ["If-None-Match: $tag{'/c/f.txt'}"])
    ->{status}, 304, 'the other machine knows the copy');

# The file is read once for each version.
sub digests {
	my ($n) = $late->get('/status?text')->{body} =~
	    /^digests\s+(\d+)/m;
	return $n;
}
is(tag($late, '/c/f.txt'), $tag{'/c/f.txt'}, 'the tag, again');
my $before = digests();
is(tag($late, '/c/f.txt'), $tag{'/c/f.txt'}, 'and again') for 1 .. 20;
is(digests(), $before, 'the file was not read again');

# Other bytes, other tag; the first bytes again, the first tag.
my $file = "$late->{root}/c/f.txt";
write_file($file, content('other', 5000));
await('another tag', sub {
	index(tag($late, '/c/f.txt'), $tag{'/c/f.txt'}) == -1;
});
cmp_ok(digests(), '>', $before, 'the file was read') or diag($before);
write_file($file, $files{'c/f.txt'});
is(await('the first tag', sub {
	my $now = tag($late, '/c/f.txt');
	return $now eq $tag{'/c/f.txt'} ? $now : undef;
}), $tag{'/c/f.txt'}, 'the same bytes, the same tag');

# An error page has no tag, but may be asked for itself.
my $page = $one->get('/c/absent');
is("$page->{status} $page->{body}", '404 page', 'the page');
is($page->{field}{etag}, undef, 'without a tag');
is(tag($one, '/c/page.html'), $tag{'/c/page.html'}, 'by its name it has one');
for my $server ($one, $two, $late) {
	$server->stop;
}
done_testing();
