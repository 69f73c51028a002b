#!/usr/bin/perl
# What the server has counted: at a path, in every form, over crashes and confs.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot run_amped slurp write_file);
use JSON::PP qw(decode_json);
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::one_main();
Amped::needs_many_clients();

my $dir = docroot(passwords => 'joe:' . crypt('secret', '$5$salt') . "\n");
my $site = <<"END";
	path /status { status on }
	path /all { status on; allow all }
	path /known { status on; auth Status $dir/passwords }
	path /small { compress on }
END
my $server = Amped->start(files => { 'index.html' => "index\n",
    'large' => content('large', 300_000) }, site => $site,
    global => "limits { linger 0s; idle 1h }\n" .
    'cache { paths 1000 revalidate 1h stale 2h }');
my $is_amped = Amped::architecture() eq 'amped';
my $status = $server->connect;		# stays, so as not to disturb the counts

sub report {
	my ($client, $target) = @_;

	$client->send("GET $target HTTP/1.1\r\nHost: x\r\n\r\n");
	my $answer = $client->response;
	is($answer->{status}, 200, $target);
	return $answer->{body};
}

# Name, value.
sub numbers { return map { split(' ') } split(/\n/, report(@_)) }

my %before = numbers($status, '/status?text');

# Ten requests, and exactly ten more.
# A thread counts a request when its response is out: so there is one only.
my $one_thread = Amped::architecture() eq 'mt';
my $client = $one_thread ? $status : $server->connect;
for (1 .. 7) {
	$client->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	is($client->response->{status}, 200, "request $_");
}
$client->send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
is($client->response('HEAD')->{status}, 200, 'HEAD');
$client->send("GET /none HTTP/1.1\r\nHost: x\r\n\r\n");
is($client->response->{status}, 404, 'none');
$client->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
is(length($client->response->{body}), 300_000, 'a large one');
# It is counted when it is over, and who is sent it may be faster.
await('the last of them to be over',
    sub { slurp($server->{access}) =~ m{GET /large } });
my %after = numbers($status, '/status?text');
my %more = map { $_ => $after{$_} - $before{$_} }
    grep { $after{$_} =~ /^\d/ } keys %before;

# Besides these ten, the look before: it counted itself only afterwards.
is($more{requests}, 11, 'requests');
is($more{'method-get'}, 10, 'GET');
is($more{'method-head'}, 1, 'HEAD');
is($more{'status-2xx'}, 10, '2xx');
is($more{'status-4xx'}, 1, '4xx');
is($more{connections}, $one_thread ? 0 : 1, 'connections');
cmp_ok($more{bytes}, '>', 300_000, 'bytes sent');
cmp_ok($more{bytes}, '<', 320_000, '... not more than that');
is($more{'bytes-in'}, 7 * length("GET / HTTP/1.1\r\nHost: x\r\n\r\n") +
    length("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n") +
    length("GET /none HTTP/1.1\r\nHost: x\r\n\r\n") +
    length("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") +
    length("GET /status?text HTTP/1.1\r\nHost: x\r\n\r\n"),
    'bytes received: what was sent, and the question');
is($more{lookups}, 3, 'look-ups');
is($more{'job-resolve-count'}, 3, 'they were timed');
await('lines of the access log to be written, and that to be timed', sub {
	my %now = numbers($status, '/status?text');
	return $now{'job-append-count'} > 0;
});
cmp_ok($more{'pathname-hits'}, '>=', 7, 'hits');
is($after{'open-connections'}, $one_thread ? 1 : 2, 'connections now');
# On its way from one stage to the other it is in no state.
is($after{'connections-idle'}, $one_thread ? 1 : 2, 'they are idle, or were')
    if Amped::architecture() ne 'pipelined';
is($after{generation}, 1, 'the first conf');
cmp_ok($after{'chunk-bytes'}, '>', 0, 'chunks are there');
cmp_ok($after{'loop-lag-count'}, '>', $before{'loop-lag-count'},
    'iterations of the loop');

# A request that is on its way, and one that nobody takes.
my $reading = $server->connect;
$reading->send("GET / HTTP/1.1\r\n");
await('it to be seen', sub {
	my %now = numbers($status, '/status?text');
	return $now{'connections-reading'} == 1 &&
	    $now{'active-requests'} == 1;
});
$reading->close;

# The forms.
my $json = decode_json(report($status, '/status?json'));
is($json->{counters}{'status-4xx'}, 1, 'JSON: a counter');
is($json->{gauges}{generation}, 1, 'JSON: a gauge');
cmp_ok($json->{histograms}{'loop-lag'}{count}, '>', 0, 'JSON: a histogram');
my ($state, $list) = run_amped('-C');
my %listed = map { (split(/\t/))[0, 2] } grep { !/^(program|chain)-/ }
    split(/\n/, $list);
is_deeply({ map { my $kind = $_; map { ($_ => $kind =~ s/s\z//r) }
    keys %{$json->{$kind}} } qw(counters gauges histograms) }, \%listed,
    'JSON: all that amped -C lists');
is(scalar(grep { $_->{name} eq 'homes' } @{$json->{fs_queues}}),
    $is_amped ? 1 : 0, 'JSON: queues of file systems');
is_deeply($json->{$_}, [], "JSON: no $_") for qw(programs chains);

my $exposition = report($status, '/status?prometheus');
like($exposition, qr/^# TYPE amped_requests_total counter$/m,
    'for Prometheus');
like($exposition, qr/^amped_requests_total \d+$/m, 'a counter');
like($exposition, qr/^amped_responses_total\{class="4xx"\} 1\n/m, 'a label');
SKIP: {
	skip('there is no promtool', 1)
	    if system('command -v promtool > /dev/null 2>&1') != 0;
	write_file("$dir/metrics", $exposition);
	is(`promtool check metrics < $dir/metrics 2>&1`, '',
	    'promtool complains of nothing');
}
my $page = report($status, '/status');
like($page, qr/\A<!DOCTYPE html>/, 'a page');
unlike($page, qr/<script|src=|https?:/, 'that needs nothing else');
unlike($page, qr/&(?!(?:amp|lt|gt|quot|#\d+);)/, 'nor what only HTML knows');
SKIP: {
	skip('there is no xmllint', 1)
	    if system('command -v xmllint > /dev/null 2>&1') != 0;
	write_file("$dir/page.xml", $page);
	is(`xmllint --noout $dir/page.xml 2>&1`, '', 'it is well-formed');
}

SKIP: {
	skip('there is no tidy', 1)
	    if system('command -v tidy > /dev/null 2>&1') != 0;
	write_file("$dir/page.html", $page);
	my @errors = grep { / Error: / } `tidy -q -e $dir/page.html 2>&1`;
	is_deeply(\@errors, [], 'tidy finds no error');
}

# Who may ask.
is($server->get('/all')->{status}, 200, 'allow all');
is($server->get('/known')->{status}, 401, 'auth asks for a password');
is($server->get('/known', fields => ['Authorization: Basic ' .
    encode_base64('joe:secret', '')])->{status}, 200, '... and takes it');
is($server->get('/status/below')->{status}, 404, 'nothing is beneath it');
is($server->get('/status', method => 'PUT')->{status}, 405, 'only GET');
my $conf = "$server->{dir}/amped.conf";
my ($result, $said) = run_amped('-u', '/status', '-f', $conf);
like($said, qr/^status\s+200 OK\nwhy\s+the conf answers it .*: status on? \(/m,
    'amped -u tells');
($result, $said) = run_amped('-u', '/status', '-c', '192.0.2.1', '-f', $conf);
like($said, qr/^status\s+403 Forbidden\nwhy\s+.*not allowed: status on /m,
    '... why not, too');

# Main dies: nothing of what it has said is lost.
my %last = numbers($status, '/status?text');
my ($main) = $server->kill_role('KILL', 'main');
await('another main', sub { grep { $_ != $main } $server->role('main') });
await('it to serve', sub { eval { $server->get('/')->{status} == 200 } });
$status = $server->connect;
my %now = numbers($status, '/status?text');
is($now{'main-deaths'}, 1, 'that main died is counted');
is_deeply([grep { $now{$_} < $last{$_} } grep { ($listed{$_} // '') eq
    'counter' } keys %last], [], 'no counter falls when main dies');
cmp_ok($now{requests}, '>', $last{requests}, 'requests go on');
cmp_ok($now{'job-resolve-count'}, '>=', $last{'job-resolve-count'},
    'so do histograms');
is($now{started}, $last{started}, 'the server is the same one');

# Another conf: the same.
%last = numbers($status, '/status?text');
kill('HUP', $server->{pid});
$server->wait_line(qr/the conf has been read again, and is in force/);
await('the main before to end', sub { $server->role('main') == 1 });
$status = $server->connect;
%now = numbers($status, '/status?text');
is($now{reloads}, 1, 'another conf is counted');
is($now{generation}, 2, 'it is the second');
is_deeply([grep { $now{$_} < $last{$_} } grep { ($listed{$_} // '') eq
    'counter' } keys %last], [], 'no counter falls with another conf');
cmp_ok($now{requests}, '>', $last{requests}, 'requests go on');

# While one after the other comes, no answer says less than the one before.
my @falls;
for my $round (3 .. 6) {
	kill('HUP', $server->{pid});
	await("conf $round", sub {
		my $said = $server->get('/all?text')->{body} // '';
		my ($n) = $said =~ /^requests (\d+)$/m;

		push(@falls, "$n after $now{requests}") if $n < $now{requests};
		$now{requests} = $n;
		return $said =~ /^generation $round$/m;
	});
	await('the main before to end', sub { $server->role('main') == 1 });
}
is_deeply(\@falls, [], 'requests never fall');
$status = $server->connect;

# A bad one.
write_file($conf, slurp($conf) . "nonsense\n");
$server->{errors} = 1;
kill('HUP', $server->{pid});
$server->wait_line(qr/the conf in force stays/);
%now = numbers($status, '/status?text');
is($now{'reloads-failed'}, 1, 'one in vain is counted');
is($now{generation}, 6, 'and is none');

$server->stop;

done_testing();
