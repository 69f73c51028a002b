#!/usr/bin/perl
# Answers of programs that pass through filters: bytes that come while the
# program runs, filters and programs that fail, and clients that leave.
# arch: all
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped;
use Amped::Programs;
use Test::More;

my $programs = Amped::Programs->new('bin/' => '');
my $dir = $programs->dir;

# Filters as scripts; one waits for the test.
sub tool { return $programs->script("bin/$_[0]", "#!/bin/sh\n$_[1]\n") }

my %tool = (
	upper => 'exec tr a-z A-Z',
	fails => 'cat > /dev/null; echo cannot >&2; exit 3',
	dies => 'kill -SEGV $$',
	breaks => 'head -c 1000; exit 3',
	endless => 'exec cat /dev/zero',
	hangs => 'exec sleep 60',
	stalls => 'head -c 10; exec sleep 60',
	last => 'exec cat',
	begin => 'exec head -c 4',
	leaves => 'setsid sleep 60 2> /dev/null & exec cat',
);
my %own = (endless => 'result 100K', hangs => 'answer 300ms',
    stalls => 'answer 300ms');
my $filters = join('', map { "program $_ { filter " . tool($_, $tool{$_}) .
    '; confine basic; nice 0; ' . ($own{$_} // '') .
    " }\nchain $_ { filters $_ }\n" } sort keys %tool);
my $gated = tool('gated', "echo \$\$ > '%GATE/'\$NAME.new; " .
    "mv '%GATE/'\$NAME.new '%GATE/'\$NAME; " .
    "until [ -e '%GATE/pass' ]; do sleep 0.05; done; exec cat");

my $server = $programs->start(program => "\tmost 8\n\thold 64K\n",
    others => $filters . <<"END",
program replaces { filter replace a b; nice 0 }
program gated {
	filter $gated
	environment NAME gated
	most 1
	queue 0
	confine basic
	nice 0
}
program may {
	filter $gated
	environment NAME may
	most 1
	queue 0
	optional on
	confine basic
	nice 0
}
program left { filter $gated; environment NAME filter; confine basic }
chain three { filters upper replaces last }
chain streams { filters replaces }
chain passes { filters fails; onfail pass }
chain late { filters upper hangs; onfail pass }
chain cut { filters last begin }
chain gated { filters gated }
chain may { filters may upper }
chain mays { filters may }
chain left { filters left }
program quick { directory $dir/cgi; nice 0; silence 1s; most 4 }
END
    site => join('', map { "\tpath /$_ { run all; chain $_ }\n" }
    (sort keys %tool), qw(three streams passes late cut gated may mays left)) .
    "\tpath /quick { run quick; chain upper }\n\tpath /status { status on }\n");

# What a program at that path is to do; the target.
sub play { return $programs->play($_[1]) =~ s{^/cgi}{/$_[0]}r }

sub cat { return $programs->cat($_[1]) =~ s{^/cgi}{/$_[0]}r }

my $type = 'Content-Type: text/plain';
my $text = "$type\nETag: \"x\"\nContent-Length: 7\n\na text\n";

# A large one, to a slow client, and a length that the program has named.
my $large = join('', map { "line $_ of many\n" } 1 .. 100_000);
my $target = cat('three', "$type\nContent-Length: " . length($large) .
    "\n\n$large");
my $answer = $programs->get($target);
ok($answer->{body} eq uc($large), 'a large one') or diag(length($answer->{body}));
is($answer->{then}, 'open', '... in step');
my $slow = $programs->ask($target, window => 4096);
$slow->want(2000);
is(sha256_hex($slow->response->{body}), sha256_hex(uc($large)),
    '... also slowly');
is($programs->get(cat('upper', "$type\nContent-Length: 3\n\nabcdef"))->{body},
    'ABC', 'no more than its length says');

# Bytes come as they are written.
my $client = $programs->ask(play('streams', 'head(); put("a."); ' .
    'wait_test("go"); put("a");'));
$client->fill until $client->{in} =~ /b\./ || $client->{end};
like($client->{in}, qr/b\./, 'the begin has come while the program pauses');
$programs->let('go');
is($client->response->{body}, 'b.b', '... and then the rest');

# Failures before the response has begun.
for my $case (['fails', 500], ['dies', 500], ['hangs', 504]) {
	my ($path, $status) = @$case;
	my $failed = $programs->get(cat($path, $text));

	is("$failed->{status} $failed->{then}", "$status open",
	    "/$path: $status");
}
$server->wait_line(qr/warn: fails\[\d+\]: cannot/);
$server->wait_line(qr/filter fails: \/fails\/cat: failed/);
$server->wait_line(qr/filter hangs: \/hangs\/cat: ended, since .* 300 ms/);
for my $path (qw(passes late)) {
	$answer = $programs->get(cat($path, $text));
	is("$answer->{body} $answer->{field}{etag} " .
	    "$answer->{field}{'content-length'} $answer->{then}",
	    "a text\n \"x\" 7 open", "$path: the answer as it was");
}
is($programs->get(cat('passes', "$type\n\n" . 'x' x 200_000))->{status}, 500,
    '... but for more than is held');

# Failures in the middle.
$answer = $programs->get(cat('breaks', "$type\n\n$large"));
ok($answer->{status} == 500 || $answer->{short}, 'a filter that breaks off');
for my $path (qw(endless stalls)) {
	$client = $programs->ask(cat($path, "$type\n\n$large"));
	is($client->response->{short}, 1, "/$path: the client notices");
	ok($client->closed, '... as the connection ends');
}
$server->wait_line(qr/filter endless: \/endless\/cat: it writes more than 102/);
$answer = $programs->get(cat('leaves', $text));
is("$answer->{body} $answer->{short}", "a text\n 0",
    'a process that is left does not hold it up');

# Failures of the program.
my $begun = 'head(); put("abc");';
is($programs->get(play('quick', "$begun wait_test('never');"))->{status}, 504,
    'a program that pauses for too long');
$answer = $programs->get(play('upper', "$begun kill('KILL', \$\$);"));
ok($answer->{status} == 502 || $answer->{short}, 'one that dies');
$answer = $programs->get(cat('upper', "$type\nContent-Length: 9\n\nabc"));
ok($answer->{status} == 502 || $answer->{short}, 'one that writes too little');

# A filter that needs no more ends the program that writes on, and its place is
# free; a program that writes for ever has no longer for HEAD.
my $endless = 'head(); tell_test("%s"); while (1) { put("abcde"); ' .
    'select(undef, undef, undef, 0.1) }';
$client = $programs->ask(play('begin', sprintf($endless, 'unread')));
is($client->response->{body}, 'abcd', 'a filter that needs no more');
$programs->gone('... ends the program', $programs->told('unread'));
is(Amped::Programs::state_of($client), 'open', '... in step');
$client = $programs->ask(play('quick', sprintf($endless, 'head')),
    method => 'HEAD');
is($client->response('HEAD')->{status}, 200, 'HEAD of an endless answer');
$programs->gone('... ends the program', $programs->told('head'));
$answer = $programs->get(cat('cut', "$type\n\n$large"));
is("$answer->{body} $answer->{then}", 'line open',
    'a filter whose output is not read');
unlike($server->errors, qr/last\[\d+\]/, '... is no failure');

# A client that leaves.
$client = $programs->ask(play('left', 'head(); put("x"); ' .
    'tell_test("left"); wait_test("never");'));
my @pids = ($programs->told('left'), $programs->told('filter') =~ /(\d+)/);
$client->abort;
$programs->gone('a client that leaves ends program and filters', @pids);

# No place.
sub check_places {
	my $first = $programs->ask(cat('gated', "$type\n\nfirst"));
	my $may = $programs->ask(cat('may', "$type\n\nmay"));

	$programs->told($_) for qw(gated may);
	is($programs->get(cat('gated', "$type\n\nnext"))->{status}, 503,
	    'no more filters run than may');
	is($programs->get(cat('may', "$type\n\nnext"))->{body}, 'NEXT',
	    'one that is optional is left out');
	$answer = $programs->get(cat('mays', $text));
	is("$answer->{body} $answer->{field}{etag}", "a text\n \"x\"",
	    '... or all of them');
	$programs->let('pass');
	is($first->response->{body}, 'first', 'the first one goes on');
	is($may->response->{body}, 'MAY', '... and that with an optional one');
}
check_places() if Amped::many_clients();

# The numbers of chains.
my $numbers = $programs->get('/status?text')->{body};
like($numbers, qr/^chain-$_$/m, "chain $_") for 'three-runs 2',
    'three-failed 0', 'fails-failed 1', 'late-failed 1', 'upper-failed 0',
    'cut-failed 0', 'left-time-count 1', 'upper-time-count 4',
    Amped::many_clients() ? ('gated-refused 1', 'mays-left-out 1') : ();
like($numbers, qr/^program-last-killed\S* 0$/m, 'none of its filters is killed');
like($numbers, qr/^program-endless-failed 1$/m, 'one that writes too much');
$server->finish;
done_testing();
