#!/usr/bin/perl
# order by-size: a response of which much is left has a low priority in the
# system's queues, and no other has; contents are right.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot);
use POSIX ();
use Socket qw(SOL_SOCKET);
use Test::More;

use constant { SO_PRIORITY => 12, PIDFD_OPEN => 434, PIDFD_GETFD => 438 };
use constant { LOW => 2, LARGE => 12_000_000 };	# more than sockets hold

plan(skip_all => 'priorities are seen by root, on Linux')
    unless $> == 0 && $^O eq 'linux';

# Of all sockets of mains, those that are not 0; undef: none can be seen.
sub priorities {
	my ($server) = @_;
	my $seen = 0;
	my @found;

	for my $pid ($server->role('main')) {
		my $process = syscall(PIDFD_OPEN, $pid, 0);
		return undef if $process == -1;
		for my $fd (map { m{(\d+)\z} } glob("/proc/$pid/fd/*")) {
			my $copy = syscall(PIDFD_GETFD, $process, $fd + 0, 0);
			next if $copy == -1;
			$seen = 1;
			open(my $fh, '+<&=', $copy) or die "fdopen: $!\n";
			my $value = getsockopt($fh, SOL_SOCKET, SO_PRIORITY);
			my $priority = $value ? unpack('i', $value) : 0;
			push(@found, $priority) if $priority;
		}
		POSIX::close($process);
	}
	return $seen ? "@found" : undef;
}

my %content = (large => content('large', LARGE), page => content('page', 3000));
my $root = docroot(%content);

# Asks for files on one connection, and takes the large one late.
sub check_order {
	my ($server, $low) = @_;
	my $client = $server->connect;
	my $get = "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n";

	$client->send(sprintf($get, 'page'));
	is($client->response->{body}, $content{page}, 'a page');
	is(priorities($server), '', 'it is a small one');
	$client->send(sprintf($get, 'large'));
	await('the response to fill its socket', sub {
	    priorities($server) eq LOW }) if $low;
	my $got = $client->response->{body};
	ok($got eq $content{large}, 'a large file');
	$client->send(sprintf($get, 'page'));
	is($client->response->{body}, $content{page}, 'a page behind it');
	is(priorities($server), '', 'it is small again');
	$client->close;
}

my $server = Amped->start(root => $root,
    global => "order by-size\n");
plan(skip_all => 'sockets of other processes cannot be seen')
    unless defined(priorities($server));
check_order($server, 1);
$server->finish;

$server = Amped->start(root => $root);
check_order($server, 0);
$server->finish;

done_testing();
