#!/usr/bin/perl
# HUP from each architecture to each other one, under load: no request is lost,
# reset or wrong.  AMPED_TEST_CHANGES: how many; the 20 pairs take turns.
# arch: one: it is about all of them
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port slurp write_file);
use Amped::Load;
use Test::More;

my @names = qw(amped sped mp mt pipelined);
my $large = content('large', 1_000_000);
my %files = ('page' => "page\n", 'other' => content('other', 40_000));
my $port = free_port();
my $root = docroot(%files, 'large' => $large);

sub global {
	my ($name) = @_;
	# In mp and mt a client has a worker of its own.
	my $workers = $name eq 'mp' || $name eq 'mt' ? 8 : 1;

	return "architecture $name\nworkers $workers\n" .
	    "helpers 2 max 4 share 4\n";
}

# So many changes: rounds by one step, by two, by three and by four have each
# ordered pair once, and end where they began.
sub walk {
	my ($changes) = @_;
	my @walk = (0);

	for my $n (0 .. $changes - 1) {
		my $step = 1 + int($n / @names) % $#names;

		push(@walk, ($walk[-1] + $step) % @names);
	}
	return map { $names[$_] } @walk;
}

my $pairs = @names * $#names;
my ($first, @walk) = walk($ENV{AMPED_TEST_CHANGES} // $pairs);
alarm(0) if $ENV{AMPED_TEST_CHANGES};
my $server = Amped->start(by_conf => 1, global => global($first),
    sites => "site default {\n\tlisten 127.0.0.1:$port\n\troot $root\n}\n");
my %targets = ('/page' => "page\n", '/other' => $files{other});
my @load = map { Amped::Load->new(port => $port, targets => \%targets,
    %$_) } { clients => 2, stay => 1 }, { clients => 2, stay => 50 },
    { clients => 1, pause => 5 };

# A download that has begun goes on where it is.
sub begin_download {
	my $client = $server->connect(window => 4096);

	$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
	$client->want(1000);
	return $client;
}

my ($before, $n) = ($first, 0);
my (%pairs, @wrong);
for my $name (@walk) {
	my $client = begin_download();

	$server->{global} = global($name);
	write_file("$server->{dir}/new", $server->conf_text);
	rename("$server->{dir}/new", "$server->{dir}/amped.conf") or die $!;
	kill('HUP', $server->{pid});
	$n++;
	await("$name after $before to be in force", sub {
		(() = $server->errors =~ /is in force$/mg) == $n });
	my ($serves) = $server->errors =~ /.*ready: (\w+) on /s;
	push(@wrong, "$before to $name: $serves serves") if $serves ne $name;
	my $response = $client->response;
	push(@wrong, "$before to $name: the download")
	    if $response->{short} || $response->{body} ne $large;
	$client->close;
	$pairs{"$before $name"}++;
	$before = $name;
}
is_deeply([values(%pairs)], [(@walk / $pairs) x $pairs],
    'each to each other one as often') if @walk % $pairs == 0;
is_deeply(\@wrong, [], 'each serves, and each finishes a download');

my ($right, @bad) = (0);
for my $load (@load) {
	my ($answered, @failures) = $load->stop;
	$right += $answered;
	push(@bad, @failures);
}
is_deeply(\@bad, [], @walk . " changes, $right requests: all answered");
cmp_ok($right, '>', @walk, 'there was some load');
await('the mains before to go', sub { $server->role('main') == 1 &&
    $server->role('access log') == 1 });
$server->stop;
is(scalar(() = slurp($server->{access}) =~ /"GET \S+\?\d+\.\d+\. /g), $right,
    'each request has a line');

done_testing();
