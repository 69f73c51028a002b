#!/usr/bin/perl
# The site that bootstrap serves, amped's manual: to a mirroring client and to
# a browser every link leads somewhere.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot patience slurp);
use Test::More;

plan(skip_all => 'there is no mandoc')
    if system('command -v mandoc >/dev/null 2>&1') != 0;

my $src = Amped::source_dir();
my $site = docroot();
my @pages = sort glob("$src/man/*.[1-9]");
is(system("$src/contrib/site", $site, @pages), 0, 'the site is made');
my $server = Amped->start(root => $site);
my $url = 'http://127.0.0.1:' . $server->port . '/';

for my $page (@pages) {
	my ($name) = $page =~ m{([^/]+)\z};
	my ($about) = slurp($page) =~ /^\.Nd (.*)/m;
	my $index = $server->get('/')->{body};

	like($index, qr/<a href="\Q$name\E\.html">/, "the index has $name");
	like($index, qr/<dd>\Q$about\E/, "and says what it is about");
}

SKIP: {
	skip('there is no wget', 2)
	    if system('wget --version >/dev/null 2>&1') != 0;
	my $mirror = docroot();
	is(system('timeout', patience(), 'wget', '--mirror',
	    '--page-requisites', '--no-host-directories', '--no-verbose',
	    '--no-hsts', '--tries=1', '-P', $mirror,
	    '-o', "$server->{dir}/wget.log", $url), 0, 'wget --mirror')
	    or diag(slurp("$server->{dir}/wget.log"));
	is_deeply([names($mirror)], [names($site)], 'wget got all of it');
}

sub names {
	my ($dir) = @_;

	return sort map { s{.*/}{}r } glob("$dir/*");
}

SKIP: {
	my ($browser) = grep { system("command -v $_ >/dev/null 2>&1") == 0 }
	    qw(chromium chromium-browser google-chrome);
	skip('there is no chromium', 2) unless defined($browser);
	my $home = docroot();
	my $page = `timeout @{[patience()]} $browser --headless --no-sandbox \\
	    --disable-gpu --disable-dev-shm-usage --no-first-run \\
	    --user-data-dir=$home --dump-dom \\
	    $url 2>$server->{dir}/browser.log`;
	is($?, 0, $browser) or diag(slurp("$server->{dir}/browser.log"));
	like($page, qr/The manual/, 'a browser shows it');
}

# Lines are in the order of the requests: with this one, all are there.
$server->get('/?last');
$server->wait_line(qr{/\?last }, $server->{access});
is_deeply([grep { !/" (?:200|304) / } $server->wait_lines(@pages + 1)], [],
    'no request failed');
$server->stop;
done_testing();
