#!/usr/bin/perl
# The graphs and pages of Munin, which it makes on demand: by CGI, a process for
# each, and by FastCGI, the same programs as processes that stay.
# arch: one: an application sees requests alone
# Debian: munin libcgi-fast-perl
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot slurp write_file);
use Amped::Foreign qw(foreign_ok needs_program);
use Amped::Visitor;
use Test::More;

my $cgi = '/usr/lib/munin/cgi';
plan(skip_all => 'there is no munin-cgi-graph')
    unless -x "$cgi/munin-cgi-graph";
plan(skip_all => 'there is no CGI::Fast for Perl')
    unless eval { require CGI::Fast };
needs_program('rrdtool');

# What Munin has collected in a day.
my $top = docroot('www/z' => "z\n", map { ("$_/" => '') } qw(db/local log run
    html tmp));
my $now = time - time % 300;
my $load = "$top/db/local/host.local-load-load-g.rrd";
write_file("$top/munin.conf", <<"END");
dbdir $top/db
htmldir $top/html
logdir $top/log
rundir $top/run
cgitmpdir $top/tmp
tmpldir /etc/munin/templates
staticdir /etc/munin/static
graph_strategy cgi
html_strategy cgi
cgiurl_graph /graph
[host.local]
	address 127.0.0.1
END
write_file("$top/db/datafile", "version 2.0.73\n" . join('',
    map { "local;host.local:$_\n" } 'use_node_name yes', 'address 127.0.0.1',
    'load.graph_title Load average', 'load.graph_args --base 1000 -l 0',
    'load.graph_vlabel load', 'load.graph_category system',
    'load.graph_order load', 'load.load.label load', 'load.load.update_rate 300',
    'load.load.graph_data_size normal'));
foreign_ok('the form that the programs read', $^X, '-MMunin::Master::Utils',
    '-e', 'munin_writeconfig_storable("$ARGV[0].storable",
    munin_readconfig_raw($ARGV[0])); munin_writeconfig_storable($ARGV[1], {})',
    "$top/db/datafile", "$top/db/limits.storable");
foreign_ok('rrdtool create', 'rrdtool', 'create', $load, '--start',
    $now - 86400, '--step', 300, 'DS:42:GAUGE:600:U:U',
    map { my $kind = $_; map { "RRA:$kind:0.5:$_" } qw(1:576 6:432 24:540
    288:450) } qw(AVERAGE MIN MAX));
foreign_ok('rrdtool update', 'rrdtool', 'update', $load,
    map { my $at = $now - 86400 + 300 * $_; "$at:" . $_ % 17 / 4 } 1 .. 287);
if ($> == 0) {
	system('chown', '-R', Amped::ordinary_user(), map { "$top/$_" } qw(db
	    log run html tmp)) == 0 or die "chown\n";
}

for my $way (qw(command fastcgi)) {
	my $server = Amped->start(root => "$top/www", errors => 1,
	    global => join('', map { "program $_ {\n" .
	    "\t$way $cgi/munin-cgi-$_\n\tmost 2\n\tnice 0\n" .
	    "\tenvironment MUNIN_CONFIG $top/munin.conf\n}\n" } qw(graph
	    html)), site => join('', map { "\tpath /$_ { run $_ }\n" }
	    qw(graph html)));

	walk($way, Amped::Visitor->new($server));
	is_deeply([grep { /" 5\d\d / } $server->wait_lines(1)], [],
	    "$way: no request has failed");
	$server->stop;
}

# The width of an image.
sub width {
	my ($page) = @_;

	return $page->{body} =~ /\A\x89PNG\r\n\x1a\n/ ?
	    unpack('x16 N', $page->{body}) : 0;
}

sub walk {
	my ($way, $reader) = @_;
	my $graph = '/graph/local/host.local/load';

	for my $span (qw(day week month year)) {
		my $page = $reader->visit("$graph-$span.png");

		ok($page->{status} == 200 && width($page) > 300,
		    "$way: the graph of a $span")
		    or diag("$page->{status} $page->{body}");
	}
	my $page = $reader->visit("$graph-pinpoint=" . ($now - 7200) .
	    ",$now.png?&lower_limit=&upper_limit=&size_x=800&size_y=400");
	cmp_ok(width($page), '>', 800, "$way: of a part, larger");
	my $old = $reader->visit("$graph-day.png");
	ok($old->{fields}{'last-modified'} && $old->{fields}{expires},
	    "$way: its times");
	is($reader->visit("$graph-day.png", '-I')->{status}, 200,
	    "$way: HEAD");
	$reader->sees("$way: no graph", '/graph/local/host.local/none-day.png',
	    404);
	$reader->sees("$way: no span", "$graph-century.png", 404);
	$reader->sees("$way: the page of a host",
	    '/html/local/host.local/index.html', 200, qr/host\.local/,
	    qr/Load average|load-day\.png/);
}

done_testing();
