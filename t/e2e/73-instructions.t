#!/usr/bin/perl
# Instructions of a request for a cached file, by callgrind: all that main's
# loop does, libevent and libc included.  The figure does not depend on how busy
# the machine is, so CI can hold it.
#
# It depends on compiler and library, so it is written down for some of them,
# and tells nothing elsewhere.  Where it has changed for a good reason, write
# the new one down in the same commit.
# arch: all
# plain: a sanitizer has instructions of its own
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot slurp);
use Amped::Foreign qw(needs_program);
use POSIX qw(uname);
use Test::More;

# A request: by compiler, system, what it was compiled with.
my %recorded = (
	'12.2.0 x86_64 -O2 -g' => 4783,
);

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $binary = slurp(Amped::program());
my ($compiler) = $binary =~ /GCC: \([^)]*\) (\d+\.\d+\.\d+)/;
my ($flags) = slurp("$build/Makefile") =~ /^CFLAGS = (.*)/m;
my $built = join(' ', $compiler // 'another', (uname())[4], $flags // '');
my $right = $recorded{$built};

needs_program('valgrind');
plan(skip_all => 'a sanitizer has instructions of its own')
    if $binary =~ /__[at]san_init/;
plan(skip_all => "no figure is known for $built") unless defined($right);
plan(skip_all => 'the other architectures run the same code')
    if Amped::architecture() ne 'sped';

my $requests = 5000;
my $dir = docroot();
my $page = content('page', 500);

chmod(0777, $dir);
my $server = Amped->start(files => { page => $page },
    # It writes its results by itself, in the name of main.
    global => "sandbox off\n" .
    "cache { paths 1000 revalidate 1h stale 2h negative 1s }\n",
    under => ['valgrind', '--tool=callgrind', '--toggle-collect=evloop_run',
    "--callgrind-out-file=$dir/out.%p"]);
my $client = $server->connect;
my $good = 0;

for (1 .. $requests) {
	$client->send("GET /page HTTP/1.1\r\nHost: localhost\r\n" .
	    "User-Agent: test\r\nAccept: */*\r\n\r\n");
	$good += $client->response->{body} eq $page;
}
is($good, $requests, 'answers');
$server->stop;

# One for each process; only main runs such a loop.
my $all = 0;
$all += $_ for map { slurp($_) =~ /^totals: (\d+)/m } glob("$dir/out.*");
my $each = int($all / $requests);

cmp_ok($each, '<=', $right * 1.05, "$each instructions, not more than $right");
cmp_ok($each, '>=', $right * 0.95, 'nor less, or there is a new figure');

done_testing();
