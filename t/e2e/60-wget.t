#!/usr/bin/perl
# Another's client mirrors a linked site: every file arrives as it is.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot);
use Amped::Foreign qw(checksums foreign_ok needs_program);
use Digest::SHA qw(sha256_hex);
use Test::More;

needs_program('wget');

my %files = (
	'index.html' => '<a href="sub/">sub</a> <a href="other">other</a> ' .
	    join(' ', map { "<img src=\"images/$_.png\">" } 1 .. 12) .
	    ' <a href="with%20space.txt">space</a>' .
	    ' <a href="100%25.txt">percent</a>',
	'sub/index.html' => '<a href="deeper/page.html">deeper</a> ' .
	    '<link rel="stylesheet" href="../style.css">',
	'sub/deeper/page.html' => '<a href="../../large.bin">large</a> ' .
	    '<a href="/">home</a>',
	'other/index.html' => '<a href="../empty.txt">empty</a>',
	'style.css' => "body { background: url(images/1.png) }\n",
	'large.bin' => content('large', 3_000_000), 'empty.txt' => '',
	'with space.txt' => "space\n", '100%.txt' => "percent\n",
	map { ("images/$_.png" => content("png$_", $_ * 7001)) } 1 .. 12
);
my $server = Amped->start(files => \%files);
my $mirror = docroot();

sub mirror {
	my ($what) = @_;

	foreign_ok($what, 'wget', '--mirror', '--no-host-directories',
	    '--no-verbose', '--no-hsts', '--tries=1', '--trust-server-names',
	    '-e', 'robots=off', '--directory-prefix', $mirror, $server->url);
}

mirror('wget --mirror');
is_deeply(checksums($mirror),
    { map { ($_ => sha256_hex($files{$_})) } keys(%files) },
    'every file has its checksum');
my @failed = grep { $_ !~ m{" (200|301) } } $server->wait_lines(
    scalar(keys(%files)));
is_deeply(\@failed, [], 'no request failed');

# Again: a page that has not changed is where wget stops.
mirror('a second time');
ok($server->wait_line(qr{"(GET|HEAD) / [^"]*" 304 }, $server->{access}),
    'what has not changed is not sent again');

$server->stop;
done_testing();
