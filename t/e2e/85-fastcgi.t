#!/usr/bin/perl
# Programs that speak FastCGI, as processes that amped keeps and as servers that
# others start, and SCGI: what they are asked, how their answers are read, right
# ones and wrong ones, and what becomes of them.
# A case names its rule: a section of RFC 3875, 9110 or 9112, of the
# specification of FastCGI, or of amped-programs(7) (manual), or a directive of
# amped.conf(5) (conf).  Cases that begin with ... go on with that rule.
# arch: pair
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content run_amped slurp write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

Amped::needs_many_clients(8);

$ENV{AMPED_TEST_SECRET} = 'inherited';

my $programs = Amped::Programs->new('www/sub/c.app' => "secret\n",
    'bin/' => '', 'run/' => '');
my $dir = $programs->dir;
my $www = $programs->www;
my %file = map { $_ => Amped::Applications::make($programs, $_, $_) }
    qw(fastcgi scgi);
my $names = 0;

# Servers that the test starts, and where they listen: the protocol, and kinds
# of places.
my %elsewhere = (
	unix => ['fastcgi', 'unix'], tcp => ['fastcgi', 'tcp'],
	scgi => ['scgi', 'unix'], scgitcp => ['scgi', 'tcp'],
	two => ['fastcgi', 'unix', 'tcp'], later => ['fastcgi', 'unix'],
	none => ['fastcgi', 'unix'],
);
my (%where, %running);
for my $name (sort keys %elsewhere) {
	my ($protocol, @kinds) = @{$elsewhere{$name}};
	my $n = 0;

	$where{$name} = [map { Amped::Applications::place($_, "$dir/run",
	    "$name" . $n++) } @kinds];
	next if $name eq 'none' || $name eq 'later';
	$running{$name} = [map { Amped::Applications->serve($file{$protocol},
	    $_, 3) } @{$where{$name}}];
}

# Own processes, with what differs from the others.
my %own = (own => "most 4\n", single => "most 1\nanswer 1s\nsilence 1s\n",
    few => "most 1\nrequests 2\n", brief => "most 1\nidle 1s\n",
    aged => "most 1\nlife 1s\n",
    full => "most 1\nqueue 0\n", slow => "most 1\nhold 64K\n");
my $blocks = join('', (map { "program $_ {\n\tfastcgi $file{fastcgi} one\n" .
    "\tenvironment GREETING \"hello there\"\n$own{$_}}\n" } sort keys %own),
    map { my $name = $_; "program $name {\n" . join('', map {
    "\t$elsewhere{$name}[0] $_\n" } @{$where{$name}}) .
    "\tenvironment GREETING \"hello there\"\n\tmost 8\n" .
    ($name eq 'none' ? "\twithin 300ms\n" : "\twithin 60s\n") . "}\n" }
    sort keys %elsewhere);
write_file("$dir/bin/dies", "#!/bin/sh\necho I am dying >&2\nexit 3\n");
chmod(0755, "$dir/bin/dies");

my $server = $programs->start(others => "$blocks\nprogram dies {\n" .
    "\tfastcgi $dir/bin/dies\n\twithin 300ms\n}\n", site => join('',
    map { "\tpath /$_ { run $_; body 16M }\n" } sort(keys(%own),
    keys(%elsewhere), 'dies')) .
    "\tpath /sub { run own for *.app }\n");

# Lines of Perl for the application of a path.
sub play_as { return $programs->play($_[1]) =~ s{^/cgi/play}{/$_[0]}r }

sub answer_of {
	my ($answer) = @_;

	return "$answer->{status} $answer->{body}" .
	    ($answer->{short} ? ' (short)' : '');
}

sub asks {
	my ($path, $code, %opt) = @_;

	return answer_of($programs->get(play_as($path, $code), %opt));
}

sub status_of {
	my ($path, $code) = @_;

	return $programs->get(play_as($path, $code))->{status};
}

sub about {
	my ($path, %opt) = @_;

	return Amped::Programs::variables($programs->get(
	    play_as($path, 'put_all();'), %opt));
}

sub works {
	my ($path, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is(asks($path, 'head(); put("fine");'), '200 fine', "$path: $what");
}

# A target whose application tells its process and waits to be let; its name.
sub waiting {
	my ($path, $code) = @_;
	my $name = 'w' . $names++;

	return ($name, play_as($path, "tell_test('$name'); " . ($code // '') .
	    "wait_test('$name-go'); head(); put('$name');"));
}

sub let { $programs->let(map { "$_-go" } @_) }

# What all of them have in common.
my $large = content('large', 3_000_000);
my $digest = sha256_hex($large);
my $sums = 'require Digest::SHA; head(); ' .
    'put(Digest::SHA::sha256_hex(take_body()));';
my $plays = 'put("Content-Type: text/plain\n\n" . ("0123456789" x 400_000));';
for my $path (qw(own unix tcp scgi scgitcp)) {
	my $scgi = $path =~ /^scgi/;
	my $v = about($path, method => 'POST', body => 'hello',
	    fields => ['X-Own: a', 'X-Own: b', 'Proxy: evil',
	    'Content-Type: text/x']);

	is($v->{'-body'}, 'hello', "3875 4.2: $path: the body");
	is_deeply([@$v{qw(REQUEST_METHOD SERVER_PROTOCOL GATEWAY_INTERFACE
	    CONTENT_LENGTH CONTENT_TYPE HTTP_X_OWN SCRIPT_NAME GREETING)}],
	    ['POST', 'HTTP/1.1', 'CGI/1.1', 5, 'text/x', 'a, b', "/$path",
	    'hello there'], '... variables of the request and the block');
	ok(!exists($v->{HTTP_PROXY}), '... without HTTP_PROXY');
	is(about($path)->{'-body'}, '', '... no body');
	is(about($path, method => 'PUT', chunks => ['ab', 'c'])->{'-body'},
	    'abc', '... a body in chunks');
	is(about($path, fields => ['X-Long: ' . 'x' x 3000])->{HTTP_X_LONG},
	    'x' x 3000, '... a long variable');
	is(about($path, method => 'POST', body => '')->{CONTENT_LENGTH},
	    0, '... an empty body');
	is($v->{'-first'}, $scgi ? 'CONTENT_LENGTH' : 'none',
	    '... and what SCGI puts first');
	is($v->{SCGI}, '1', '... and its version') if $scgi;
	is($v->{'-flags'}, 0, '... asks to keep no connection with a body');
	is(about($path)->{'-flags'}, $path eq 'own' ? 1 : 0,
	    '... and others of own processes only');
	is(asks($path, $sums, method => 'POST', body => $large),
	    "200 $digest", "3875 4.2: $path: a large body");
	is(asks($path, $sums, method => 'POST', chunks => [unpack('(a99999)*',
	    $large)]), "200 $digest", '... in chunks');
	is(length(asks($path, $plays)), 4_000_004, "3875 6.2.1: $path: a large answer");
	is(asks($path, 'put("Status: 404 None\nContent-Type: a/b\n\nx");'),
	    '404 x', "3875 6.3.3: $path: a status");
	is(asks($path, 'put("Location: /z\n\n");'), "200 z\n",
	    "3875 6.2.2: $path: a local redirect");
	is(asks($path, 'head(); put("x");', method => 'HEAD'), '200 ',
	    "3875 4.3.2: $path: HEAD");
	is(status_of($path, 'put("no head");'), 502, "3875 6.2: $path: no head: 502");
	is(status_of($path, 'take_body(); hang_up();'), 502,
	    "3875 6.2: $path: the connection ends at once: 502");
	is(asks($path, 'put("Content-Type: a/b\nContent-Length: 9\n\nabc"); ' .
	    'hang_up();'), '200 abc (short)', '... or in the answer: cut');
	is(asks($path, 'head(); put("abc"); take_body(); hang_up();'),
	    $scgi ? '200 abc' : '200 abc (short)',
	    '... which is how SCGI ends and FastCGI does not');
	works($path, 'and others go on');
}

# What only FastCGI has.
for my $path (qw(own unix tcp)) {
	is(asks($path, 'record(OUTPUT, "Content-Type: a/b\n\nab", ' .
	    "pad => \$_), record(OUTPUT, 'c', pad => \$_) for $_; finish();"),
	    '200 abc', "FastCGI 3.3: $path: padding of $_ bytes") for 0, 1, 7, 255;
	is(asks($path, 'record(OUTPUT, "Content-Type: a/b\n\nabc", ' .
	    'pieces => 1); record(OUTPUT, "def", pieces => 3); ' .
	    'record(END_REQUEST, "\0" x 8, pieces => 1); ' .
	    '$request{ended} = 1; take_body();'), '200 abcdef',
	    "FastCGI 3.3: $path: records in pieces");
	is(asks($path, 'record(11, "\0" x 8, id => 0); record(99, "x" x 99); ' .
	    'record(OUTPUT, "other\n\n", id => 7); head(); put("fine");'),
	    '200 fine', '... records that are not for this request');
	is(asks($path, 'record(OUTPUT, ""); head(); put("a"); ' .
	    'record(OUTPUT, ""); record(ERRORS, ""); finish();'), '200 a',
	    '... ends of streams');
	is(asks($path, 'head(); put("a"); finish(7);'), '200 a',
	    '... a status of the application');
	is(status_of($path, 'record(OUTPUT, "x", version => 2);'), 502,
	    '... another version: 502');
	is(status_of($path, "take_body(); finish(0, $_);"), 502,
	    "... protocol status $_: 502") for 1, 3;
	my $busy = $programs->get(play_as($path,
	    'take_body(); finish(0, 2);'));
	is($busy->{status}, 503, '... overloaded: 503');
	like($busy->{field}{'retry-after'} // '', qr/\A[1-9]\d*\z/,
	    '... and when to ask again');
	is(asks($path, 'head(); put("early");', method => 'POST',
	    body => $large), '200 early', "FastCGI 6.2: $path: an answer before the body");
	is(asks($path, 'head(); put("early"); finish();', method => 'POST',
	    body => $large), '200 early', '... and its end, too');
	is(asks($path, 'complain("one\ntw"); head(); complain("o\nthree"); ' .
	    'put("x");'), '200 x', "FastCGI 5.3: $path: errors");
	for my $line ("one \\(for /$path\\S* on \\S+\\)", 'two', 'three') {
		ok($server->wait_line(qr/ $path(?:\[\d+\])?: $line$/m),
		    "... as lines of the log: $line");
	}
	works($path, 'and others go on');
}

# Own processes: kept, replaced, ended.
my $v = about('single');
my $pid = $v->{'-pid'};
is($v->{'-inherited'}, 'nothing', 'FastCGI 2.3: an own process inherits no environment');
is(about('single')->{'-pid'}, $pid, '... and has the next request, too');
for (1 .. 3) {
	$v = about('single', method => 'POST', body => 'x' x 100_000);
	is($v->{'-pid'}, $pid, '... and one with a body');
	is(length($v->{'-body'}), 100_000, '... has all of it');
	is(about('single')->{'-pid'}, $pid, '... and one behind it');
}
is(asks('single', 'print STDERR "plain\n"; head(); put("x");'), '200 x',
    '... may write to its standard error');
ok($server->wait_line(qr/ single\[$pid\]: plain$/m),
    '... with its process id in the log');
is(status_of('single', 'exit(3);'), 502,
    'FastCGI 3.5: a process that ends before it answers: 502');
$programs->gone('... is gone', $pid);
works('single', 'is replaced');
is(asks('single', 'head(); put("abc"); kill("KILL", $$);'),
    '200 abc (short)', 'FastCGI 3.5: one that is killed in its answer: cut');
works('single', 'is replaced');
my ($name, $target) = waiting('single');
my $answer = $programs->get($target);
is($answer->{status}, 504, '9110 15.6.5: one that does not answer: 504');
$programs->gone('... is ended', $programs->told($name));
($name, $target) = waiting('single', 'head(); put("begun");');
$answer = $programs->get($target);
is(answer_of($answer), '200 begun (short)', 'conf silence: one that falls silent: cut');
$programs->gone('... is ended', $programs->told($name));
for my $code ('', 'head(); put("x" x 100_000);') {
	($name, $target) = waiting('own', $code);
	my $client = $programs->ask($target);
	$pid = $programs->told($name);
	$client->want(1000) if $code ne '';
	$client->abort;
	$programs->gone('manual LIMITS: a client goes: the process ends', $pid);
}
my %few = map { about('few')->{'-pid'} => 1 } 1 .. 4;
is(scalar(keys(%few)), 2, 'conf requests: two requests each, with "requests 2"');
$pid = about('brief')->{'-pid'};
$programs->gone('conf idle: a process without requests ends after "idle"', $pid);
works('brief', 'starts again');
$pid = about('aged')->{'-pid'};
$programs->gone('conf life: life 1s: a process ends at that age', $pid);
works('aged', 'another one starts');
for (1 .. 2) {
	$answer = $programs->get('/dies');
	like($answer->{status}, qr/\A50[23]\z/, 'manual WHAT GOES WRONG: a program that dies at once');
}
ok($server->wait_line(qr/ dies(?:\[\d+\])?: I am dying$/m),
    '... says why in the log');

# As many as most, and then the queue.
(my $first, $target) = waiting('full');
my $running = $programs->ask($target);
$programs->told($first);
is($programs->get($target)->{status}, 503, 'manual LIMITS: no queue: 503 at once');
let($first);
is(answer_of($running->response), "200 $first", '... the first goes on');
my @own;
for (1 .. 4) {
	my ($name, $target) = waiting('own');
	push(@own, [$name, $programs->ask($target)]);
	$programs->told($name);
}
my %pids = map { $programs->told($_->[0]) => 1 } @own;
is(scalar(keys(%pids)), 4, 'manual LIMITS: four requests at once have four processes');
($name, $target) = waiting('own');
my $fifth = $programs->ask($target);
is($programs->get('/z')->{status}, 200, 'manual LIMITS: files do not wait');
ok(!$programs->has_told($name), '... while the fifth waits');
let($own[0][0]);
is(answer_of($own[0][1]->response), "200 $own[0][0]", '... for the first');
ok($pids{$programs->told($name)}, '... and gets its process');
let($name, map { $_->[0] } @own);
is(answer_of($_->[1]->response), "200 $_->[0]", '... all answer')
    for @own[1 .. 3], [$name, $fifth];

# A client that is slower than its application, which waits.
my $slow = $programs->ask(play_as('slow', 'head(); for (1 .. 200) { ' .
    'put("x" x 65536); } tell_test("written"); '), window => 65536);
$slow->want(1000);
works('own', 'beside a client that is slow');
ok(!$programs->has_told('written'), 'manual LIMITS: the application waits for its client');
is(length($slow->response->{body}), 200 * 65536, '... who gets all of it');

# Servers: the least busy one, another one, none.
my @two;
for (1 .. 6) {
	my ($name, $target) = waiting('two');
	push(@two, [$name, $programs->ask($target)]);
	$programs->told($name);
}
my @counts = map { my $s = $_; scalar(grep { my $pid = $programs->told(
    $_->[0]); grep { $_ == $pid } @{$s->{pids}} } @two) } @{$running{two}};
is_deeply(\@counts, [3, 3], 'conf fastcgi: two servers share the requests');
let(map { $_->[0] } @two);
is(answer_of($_->[1]->response), "200 $_->[0]", '... all answer') for @two;
$running{two}[0]->stop;
works('two', 'one server refuses: the other one answers') for 1 .. 3;
$answer = $programs->get('/none');
is($answer->{status}, 502, 'manual WHAT GOES WRONG: no server within its time: 502');
ok($server->wait_line(qr/No such file or directory/), '... with the reason');
my $waits = $programs->ask(play_as('later', 'head(); put("there");'));
ok($waits->quiet, 'conf within: no server: a request waits');
$running{later} = [Amped::Applications->serve($file{fastcgi},
    $where{later}[0], 1)];
is(answer_of($waits->response), '200 there', '... until there is one');

# Files are the business of "run NAME for PATTERN".
$v = Amped::Programs::variables($programs->get('/sub/c.app/x?' .
    (play_as('own', 'put_all();') =~ s/.*\?//r)));
is_deeply([@$v{qw(SCRIPT_NAME PATH_INFO SCRIPT_FILENAME)}],
    ['/sub/c.app', '/x', "$www/sub/c.app"], '3875 4.1.5: a program for files by name');

# What amped -u says.
my %said = (own => "fastcgi $file{fastcgi}", unix =>
    "fastcgi $where{unix}[0]", two => 'fastcgi ' . join(', ',
    @{$where{two}}), scgi => "scgi $where{scgi}[0]");
for my $path (sort keys %said) {
	my (undef, $out) = run_amped('-f', "$server->{dir}/amped.conf", '-u',
	    "/$path/a");
	like($out, qr/^program +$path: \Q$said{$path}\E$/m, "manual WATCHING: -u: $path");
	like($out, qr/^variable +PATH_INFO=\/a$/m, '... and its variables');
}

for my $all (map { @$_ } values %running) {
	is($all->errors, '', 'FastCGI 3.3: no server has complained');
}

# The end: own processes go.
my @left = map { about($_)->{'-pid'} } qw(own single);
$server->stop;
$programs->gone('manual PHP WITHOUT A SERVICE: no own process is left', @left);

done_testing();
