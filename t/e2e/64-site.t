#!/usr/bin/perl
# The site that bootstrap serves, amped's manual: to a mirroring client and to
# a browser every link leads somewhere.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot slurp);
use Amped::Foreign qw(browse checksums foreign_ok needs_program
    which_program);
use Test::More;

needs_program('mandoc');

my $src = Amped::source_dir();
my $site = docroot();
my @pages = sort glob("$src/man/*.[1-9]");
is(system("$src/contrib/site", $site, @pages), 0, 'the site is made');
my $server = Amped->start(root => $site);

for my $page (@pages) {
	my ($name) = $page =~ m{([^/]+)\z};
	my ($about) = slurp($page) =~ /^\.Nd (.*)/m;
	my $index = $server->get('/')->{body};

	like($index, qr/<a href="\Q$name\E\.html">/, "the index has $name");
	like($index, qr/<dd>\Q$about\E/, "and says what it is about");
}

SKIP: {
	skip('there is no wget', 2) unless which_program('wget');
	my $mirror = docroot();
	foreign_ok('wget --mirror', 'wget', '--mirror', '--page-requisites',
	    '--no-host-directories', '--no-verbose', '--no-hsts', '--tries=1',
	    '-P', $mirror, $server->url);
	is_deeply(checksums($mirror), checksums($site), 'wget got all of it');
}

SKIP: {
	my $page = browse($server->url) // skip('there is no chromium', 2);
	like($page, qr/The manual/, 'a browser shows it');
}

# Lines are in the order of the requests: with this one, all are there.
$server->get('/?last');
$server->wait_line(qr{/\?last }, $server->{access});
is_deeply([grep { !/" (?:200|304) / } $server->wait_lines(@pages + 1)], [],
    'no request failed');
$server->stop;
done_testing();
