#!/usr/bin/perl
# Many requests that come in the same moment, of all kinds, each on a connection
# of its own: each gets its own answer, whatever the others are.  The server is
# stopped until all are there, so that it sees them in the same turn.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot);
use MIME::Base64 qw(encode_base64);
use Test::More;

plan(skip_all => 'there each client has a main of its own')
    unless Amped::one_main_for_all();
Amped::needs_many_clients(100);

my $large = join('', map { "$_ " } 1 .. 60_000);
my %files = (map { ("f$_" => "file $_\n" x ($_ + 1)) } 0 .. 49);
my $root = docroot(%files, 'large' => $large, 'inner/page' => "inner\n",
    'passwords' => 'user:' . crypt('secret', '$6$ampedsalt$') . "\n");
my $server = Amped->start(root => $root, site => "\tpath /inner {\n" .
    "\t\tauth realm $root/passwords\n\t}\n");
my $login = 'Authorization: Basic ' . encode_base64('user:secret', '');

sub get {
	my ($path, @fields) = @_;

	return join('', map { "$_\r\n" } "GET $path HTTP/1.1", 'Host: x',
	    @fields) . "\r\n";
}

# Of each: what is sent, then the answers, status and body.
my @kinds = (
	(map { [get("/f$_"), [200, $files{"f$_"}]] } 0 .. 19),
	[get('/none'), [404]],
	[get('/f1') . get('/none') . get('/f2'), [200, $files{f1}], [404],
	    [200, $files{f2}]],
	[get('/large'), [200, $large]],
	[get('/f3', 'Content-Length: 3000') . ('b' x 3000) . get('/f4'),
	    [200, $files{f3}], [200, $files{f4}]],
	(map { [get("/f$_", 'Content-Length: 90000') . ('b' x 90_000) .
	    get('/f4'), [200, $files{"f$_"}], [200, $files{f4}]] } 13 .. 16),
	[get('/f5', 'Content-Length: 3000') . ('b' x 100)],
	[substr(get('/f6'), 0, 20)],
	[get('/inner/page', $login), [200, "inner\n"]],
	[get('/inner/page'), [401]],
	[get('/f7', 'Range: bytes=2-3'), [206, substr($files{f7}, 2, 2)]],
	["POST /f8 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", [405]],
	["OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", [204]],
	["nonsense\r\n\r\n", [400]],
	[get('/f9', 'X-Long: ' . ('l' x 7000)), [200, $files{f9}]],
	[get('/f10', 'Connection: close'), [200, $files{f10}]],
	[get('/f11', 'Connection: close') . ('z' x 100_000),
	    [200, $files{f11}]],
	(map { [get("/f$_"), [200, $files{"f$_"}]] } 12 .. 49),
);
# Of those that send a part, the rest.
my %rest = ('/f5' => 'b' x 2900, '/f6' => substr(get('/f6'), 20));

sub path_of { return ($_[0][0] =~ m{\A\S+ (\S+)})[0] // '' }

sub answered {
	my ($client, $what, @answers) = @_;
	my @wrong;

	for my $answer (@answers) {
		my ($status, $body) = @$answer;
		my $got = $client->response;
		push(@wrong, "$got->{status} in place of $status")
		    if $got->{status} != $status;
		push(@wrong, 'another body')
		    if defined($body) && $got->{body} ne $body;
	}
	is_deeply(\@wrong, [], $what);
}

sub halt {
	my ($how) = @_;

	kill($how, $server->role('main'));
}

# So many paths that it is worth to fetch what several need, together.
my $asker = $server->connect;
for my $hundred (0 .. 82) {
	$asker->send(join('', map { get("/none/$hundred/$_") } 0 .. 99));
	$asker->response for 0 .. 99;
}
$asker->close;

# Once with cold caches, and then with warm ones; in another order each time.
for my $round (1 .. 4) {
	my @order = map { $kinds[($_ * 31 + $round * 7) % @kinds] } 0 .. $#kinds;
	my @clients = map { $server->connect } @order;
	my @gone = map { $server->connect } 1 .. 3;

	# They are let in, and idle.
	for my $client (@clients, @gone) {
		$client->send(get('/f0'));
		$client->response;
	}
	halt('STOP');
	for my $i (0 .. $#order) {
		$clients[$i]->send($order[$i][0]);
		$gone[$i / 20]->send(get('/f20')) if $i % 20 == 10 && $i < 60;
	}
	$_->abort for @gone;
	halt('CONT');
	for my $i (0 .. $#order) {
		my ($sent, @answers) = @{$order[$i]};
		my $path = path_of($order[$i]);

		if (exists($rest{$path}) && !@answers) {
			$clients[$i]->send($rest{$path});
			@answers = ([200, $files{substr($path, 1)}]);
		}
		answered($clients[$i], "round $round, $path", @answers);
	}
	$_->close for @clients;
}

# A drain finds them on their way.
my @clients = map { $server->connect } 0 .. 19;
for my $client (@clients) {
	$client->send(get('/f0'));
	$client->response;
}
halt('STOP');
$clients[$_]->send(get("/f$_")) for 0 .. $#clients;
kill('QUIT', $server->{pid});
halt('CONT');
answered($clients[$_], "in a drain, /f$_", [200, $files{"f$_"}])
    for 0 .. $#clients;
$_->close for @clients;
is($server->reap, 0, 'and that was all');
$server->stop;
done_testing();
