#!/usr/bin/perl
# Another's client mirrors a linked site: every file arrives as it is.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot patience slurp);
use Digest::SHA qw(sha256_hex);
use File::Find qw(find);
use Test::More;

plan(skip_all => 'there is no wget')
    if system('wget --version >/dev/null 2>&1') != 0;

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
	my $status = system('timeout', patience(), 'wget', '--mirror',
	    '--no-host-directories', '--no-verbose', '--no-hsts',
	    '--tries=1', '--trust-server-names', '-e', 'robots=off',
	    '--directory-prefix', $mirror, '-o', "$server->{dir}/wget.log",
	    'http://127.0.0.1:' . $server->port . '/');

	is($status, 0, $what) or diag(slurp("$server->{dir}/wget.log"));
}

mirror('wget --mirror');
my %got;
find(sub { $got{substr($File::Find::name, length($mirror) + 1)} =
    sha256_hex(slurp($_)) if -f }, $mirror);
is_deeply(\%got, { map { ($_ => sha256_hex($files{$_})) } keys(%files) },
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
