#!/usr/bin/perl
# What administrators do with logs, with the programs that they have: rotate
# them while requests are answered, split them by site, count with awk.
# arch: one: the monitor opens logs again
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Foreign qw(foreign_ok which_program);
use Test::More;

$ENV{PATH} .= ':/usr/sbin:/sbin';

my $root = docroot('page' => "page\n");
my $server = Amped->start(root => $root,
    log => "\taccess %D/access.log vcombined\n\terror %D/error.log info\n");
my $log = $server->{access};
my $asked = 0;

# So many requests on one connection; how many were answered well.
sub ask {
	my ($n, $query) = @_;
	my $client = $server->connect;
	my $good = 0;

	for my $i (1 .. $n) {
		$client->send("GET /page?$query-$i HTTP/1.1\r\nHost: x\r\n" .
		    "User-Agent: some \"one\"\r\n\r\n");
		$good += $client->response->{body} eq "page\n";
	}
	$asked += $n;
	return $good;
}

# As a package rotates them, but more often.
sub rotate {
	my ($turn) = @_;
	my $dir = "$server->{dir}/log";
	my @clients = $server->ask(("/page?before-$turn") x 4);

	$asked += 4;
	write_file("$server->{dir}/rotate", "$dir/*.log {\n" .
	    ($> == 0 ? "\tsu root root\n" : '') .
	    "\trotate 99\n\tmissingok\n\tnotifempty\n\tsharedscripts\n" .
	    "\tpostrotate\n\t\tkill -USR1 $server->{pid}\n\tendscript\n}\n");
	foreign_ok("logrotate, $turn", 'logrotate', '-f', '-s',
	    "$server->{dir}/state", "$server->{dir}/rotate");
	is((grep { $_->response->{body} eq "page\n" } @clients), 4,
	    'who is being served meanwhile');
	is(ask(200, "turn$turn"), 200, 'who comes then');
	# The error logger before may still be the one who hears that.
	await('both logs to be opened again', sub {
		my $all = join('', map { slurp($_) }
		    glob("$server->{error}*"));
		return 2 * $turn == (() = $all =~
		    /the (?:access|error) log has been opened again/g);
	});
	# Nor does main write to the new one at once.
	await("lines in $log", sub {
		ask(1, "last$turn");
		return -e $log && slurp($log) =~ /\?last$turn-1 /;
	});
	pass('who comes behind that is in the new one');
}

SKIP: {
	skip('there is no logrotate', 14) unless which_program('logrotate');
	rotate($_) for 1 .. 3;
	$server->stop;
	my $all = join('', map { slurp($_) } glob("$log*"));
	is(($all =~ tr/\n//), $asked, 'each request has its line, in one file');
}
$server->stop unless defined($server->{status});

$server = Amped->start(root => $root,
    log => "\taccess %D/access.log vcombined\n\terror %D/error.log info\n");
$log = $server->{access};
is(ask(50, 'tools'), 50, 'requests');
$server->stop;
SKIP: {
	skip('there is no split-logfile', 2)
	    unless which_program('split-logfile');
	my $dir = docroot();

	foreign_ok('split-logfile', 'sh', '-c',
	    'cd "$1" && split-logfile < "$2"', 'sh', $dir, $log);
	my ($one) = glob("$dir/default:*.log");
	my $lines = () = slurp($one // $log) =~ /^127\.0\.0\.1 - - \[/mg;
	is($lines, 50, 'a file for a site, in the combined format');
}
my ($sum) = foreign_ok('awk', 'awk',
    '$10 == 200 && $7 == "\"GET" { n++ } END { print n }', $log);
is($sum, "50\n", 'fields by their numbers');

done_testing();
