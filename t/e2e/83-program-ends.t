#!/usr/bin/perl
# How CGI programs end, and what their client, the log and others get to see of
# that: queue, timeouts, clients that go, whole trees of processes, a killed
# manager, reload and stop.
# A case names its rule: a section of RFC 3875, 9110 or 9112, of the
# specification of FastCGI, or of amped-programs(7) (manual), or a directive of
# amped.conf(5) (conf).  Cases that begin with ... go on with that rule.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content slurp write_file);
use Amped::Programs;
use Test::More;

Amped::needs_many_clients(8);

my $manager = 'programs';	# as ps shows it
my $programs = Amped::Programs->new;
my $dir = $programs->dir;
my $names = 0;

# Blocks of programs, each with a path of its own.
my %blocks = (
	one => "most 1\nqueue 2\nwithin 60s\n",
	full => "most 1\nqueue 0\n",
	late => "most 1\nqueue 10\nwithin 300ms\n",
	slow => "answer 1s\n",
	mute => "silence 300ms\n",
	held => "hold 16M\n",
	little => "hold 64K\n",
	env => "environment GREETING first\n",
);
my $server = $programs->start(program => "most 20\n",
    others => join('', map { "program $_ {\n\tdirectory $dir/cgi\n" .
    "nice 0\n$blocks{$_}}\n" } sort keys %blocks),
    site => join('', map { "\tpath /$_ { run $_ }\n" } sort keys %blocks));

# Lines of Perl as a target of another block than that of /cgi.
sub play_as {
	my ($name, $code) = @_;

	return $programs->play($code) =~ s{^/cgi}{/$name}r;
}

# A target whose program tells its process and waits to be let; its name.
sub waiting {
	my ($block, $code) = @_;
	my $name = 'w' . $names++;

	return ($name, play_as($block, "tell_test('$name');" . ($code // '') .
	    "wait_test('$name-go'); head(); put('$name');"));
}

sub let { $programs->let("$_[0]-go") }

# The answer of a client that waited.
sub body_of {
	my $answer = $_[0]->response // return 'closed';

	return "$answer->{status} " . ($answer->{status} == 200 ?
	    $answer->{body} : '');
}

sub works {
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $answer = $programs->get($programs->cat(
	    "Content-Type: text/plain\n\nfine"));

	is("$answer->{status} $answer->{body}", '200 fine', $what);
}

# The queue.
my ($first, $target) = waiting('one');
my $running = $programs->ask($target);
my $pid = $programs->told($first);
my %waits;
for (1 .. 3) {
	my ($name, $target) = waiting('one');
	$waits{$name} = $programs->ask($target);
}
my $refused;
await('a refusal', sub {
	($refused) = grep { !$waits{$_}->quiet } keys %waits;
	return defined($refused);
});
my $answer = delete($waits{$refused})->response;
is($answer->{status}, 503, 'manual LIMITS: a queue of two: the third is refused');
like($answer->{field}{'retry-after'} // '', qr/\A[1-9]\d*\z/,
    '... and told when to ask again');
ok(!(grep { !$waits{$_}->quiet } keys %waits), '... the others wait');
ok(!(grep { $programs->has_told($_) } keys %waits), '... and do not run yet');
is($programs->get('/z')->{status}, 200, 'manual LIMITS: files do not wait');
works('nor do programs of another block');
let($_) for $first, keys %waits;
is(body_of($running), "200 $first", 'manual LIMITS: the one that ran answers');
is(body_of($waits{$_}), "200 $_", 'then one that waited')
    for sort keys %waits;
ok(!$programs->has_told($refused), 'manual LIMITS: the one that was refused has not run');

($first, $target) = waiting('full');
$running = $programs->ask($target);
$pid = $programs->told($first);
is($programs->get($target)->{status}, 503, 'manual LIMITS: no queue at all: 503 at once');
is($programs->get('/full/nothing')->{status}, 404,
    '9110 15.5.5: what is not there needs no queue');
let($first);
is(body_of($running), "200 $first", 'manual LIMITS: the one that runs is not disturbed');

($first, $target) = waiting('late');
$running = $programs->ask($target);
$pid = $programs->told($first);
my ($second, $other) = waiting('late');
$answer = $programs->get($other);
is($answer->{status}, 503, 'manual LIMITS: one that waits too long: 503');
ok($answer->{field}{'retry-after'}, '... and when to ask again');
is($answer->{then}, 'open', '... on a connection that goes on');
ok(!$programs->has_told($second), '... whose program has never run');
let($first);
is(body_of($running), "200 $first", 'manual LIMITS: the one that runs is not disturbed');

# Files beside a program that is stuck, whose place none else takes.
($first, $target) = waiting('cgi');
$running = $programs->ask($target);
$pid = $programs->told($first);
my $client = $programs->client;
is($client->right(200, '/z', "z\n"), 200, 'manual LIMITS: many files beside a stuck program');
ok($running->quiet, '... which has not answered meanwhile');
$running->abort;
$programs->gone('manual LIMITS: a client that goes before the answer: the program ends',
    $pid);

# Timeouts: to the first byte, and between two.  A program that is slow to begin
# is ended before it tells of itself.
($first, $target) = waiting('slow');
$answer = $programs->get($target);
is($answer->{status}, 504, '9110 15.6.5: no answer in time: 504');
is($answer->{then}, 'open', '... on a connection that goes on');
ok($server->wait_line(qr/504 for \Q$target\E/), '... with a line in the log');
$programs->gone('... and the program ends',
    $programs->has_told($first) ? $programs->told($first) : ());
($first, $target) = waiting('mute', 'put("Content-Type: text/plain\n");');
$answer = $programs->get($target);
is($answer->{status}, 504, '9110 15.6.5: half a head, and silence: 504');
$programs->gone('... and the program ends', $programs->told($first));
($first, $target) = waiting('mute',
    'put("Content-Type: text/plain\n\nbegun");');
$answer = $programs->get($target);
is($answer->{status}, 200, '9112 8: a head, and silence');
is($answer->{body}, 'begun', '... has what came before it');
ok($answer->{short}, '... is not complete');
is($answer->{then}, 'closed', '... and the connection ends');
$programs->gone('... as does the program', $programs->told($first));
$answer = $programs->get($target, version => '1.0');
is("$answer->{body} $answer->{then}", 'begun closed', '... so in 1.0');

# Clients that go.  A program that ignores TERM is killed a little later.
my @left;
for my $case (['after the head', 'head();'], ['within the body',
    'head(); put("x" x 100_000);'], ['before the head', ''],
    ['whose program ignores signals', '$SIG{$_} = "IGNORE" ' .
    'for qw(TERM HUP INT PIPE);']) {
	my ($what, $code) = @$case;
	my ($name, $target) = waiting('cgi', $code);
	my $client = $programs->ask($target);

	push(@left, [$what, $programs->told($name)]);
	$client->want(1000) if $code =~ /put/;
	$client->abort;
}
$programs->gone("manual LIMITS: a client goes: $_->[0]", $_->[1]) for @left;
works('manual LIMITS: others go on');

# One that closes looks like one that sends no more, and has a second; a request
# that it has sent behind the first one changes nothing.  This test waits less
# than `answer`.
@left = ();
for my $case (['before the head', ''],
    ['after the head', 'head();', qr/\r\n\r\n\z/],
    ['within the body', 'head(); put("x" x 100_000 . "y");', qr/y\r\n\z/],
    ['whose program ignores signals', '$SIG{$_} = "IGNORE" ' .
    'for qw(TERM HUP INT PIPE);'],
    ['whose program has a daemon', 'require POSIX; waitpid(begin_child(' .
    'sub { POSIX::setsid(); begin_child(sub { close(STDOUT); ' .
    'wait_test("never") }); exit(0) }), 0);']) {
	my ($what, $code, $seen) = @$case;
	my ($name, $target) = waiting('cgi', $code);
	my $client = $programs->ask($target);

	push(@left, [$what, $programs->told($name)]);
	# Else the system would reset the connection.
	$client->fill until !$seen || $client->{in} =~ $seen || $client->{end};
	$client->send(Amped::Programs::request('/z')) if $code eq '';
	$client->close;
}
$programs->gone("manual LIMITS: a client closes: $_->[0]", $_->[1]) for @left;
($first, $target) = waiting('full');
$running = $programs->ask($target);
$pid = $programs->told($first);
$running->close;
$programs->gone('... and so does the only one that may run', $pid);
$target = play_as('full', 'head(); put("next");');
ok(eval { await('its place',
    sub { $programs->get($target)->{body} eq 'next' }) },
    '... whose place is free then');

# Clients that send no more and read.
($first, $target) = waiting('cgi');
$running = $programs->ask($target);
$pid = $programs->told($first);
$running->half_close;
let($first);
is(body_of($running), "200 $first", 'manual LIMITS: a client that sends no more: an answer');
$running = $programs->ask($programs->play('head(); for (1 .. 6) { ' .
    'put($_); select(undef, undef, undef, 0.3); }'));
$running->half_close;
is(body_of($running), '200 123456', '... of any duration, if it goes on');

# All that a program has started ends with it.
my %children = (
	'a child' => "begin_child(sub { \$child->() });",
	'a child that ignores TERM' => "begin_child(sub { \$SIG{TERM} = " .
	    "'IGNORE'; \$child->() });",
	'a child with a session of its own' => "begin_child(sub { " .
	    "POSIX::setsid(); \$child->() });",
	'a daemon' => "waitpid(begin_child(sub { POSIX::setsid(); " .
	    "begin_child(sub { \$child->() }); exit(0) }), 0);",
	'a child of a child' => "begin_child(sub { begin_child(sub { " .
	    "\$child->() }); \$child->() });",
);

# The names by which a program tells of itself and of its child, and its target.
# The child stays.  The program answers when the child is there, or never.
sub with_child {
	my ($what, $answers) = @_;
	my ($leader, $child) = map { 'c' . $names++ } 1, 2;
	my $gate = $answers ? $child : 'never';
	my $target = $programs->play('require POSIX; my $child = sub { ' .
	    "close(STDOUT); tell_test('$child'); wait_test('never') };" .
	    "$children{$what}; tell_test('$leader'); wait_test('$gate');" .
	    "head(); put('done');");

	return ($leader, $child, $target);
}

@left = ();
for my $what (sort keys %children) {
	my ($leader, $child, $target) = with_child($what, 0);
	my $client = $programs->ask($target);

	push(@left, [$what, map { $programs->told($_) } $leader, $child]);
	$client->abort;
}
$programs->gone("manual LIMITS: $_->[0] ends when the client goes", @$_[1, 2]) for @left;
@left = ();
for my $what (sort keys %children) {
	my ($leader, $child, $target) = with_child($what, 1);

	$answer = $programs->get($target);
	is("$answer->{status} $answer->{body} $answer->{then}",
	    '200 done open', "manual LIMITS: a program that leaves $what behind answers");
	push(@left, [$what, $programs->told($child)]);
}
$programs->gone("... which ends: $_->[0]", $_->[1]) for @left;

# An answer ends with the output, or soon after its program.
$answer = $programs->get($programs->play(<<'END'));
begin_child(sub { tell_test('keeper'); wait_test('never') });
wait_test('keeper');
head();
put('whole');
END
is("$answer->{status} $answer->{body} $answer->{short} $answer->{then}",
    '200 whole 0 open', 'manual LIMITS: a child that keeps the output does not hold it up');
$programs->gone('... and ends', $programs->told('keeper'));
($first, $target) = waiting('cgi', 'head(); put("all"); close(STDOUT); ' .
    'open(STDOUT, ">", "/dev/null");');
$answer = $programs->get($target);
is("$answer->{status} $answer->{body} $answer->{short} $answer->{then}",
    '200 all 0 open', '3875 6: output that is closed ends the answer');
$programs->gone('... and the program', $programs->told($first));
($first, $target) = waiting('cgi', 'close(STDOUT); ' .
    'open(STDOUT, ">", "/dev/null");');
is($programs->get($target)->{status}, 502, '3875 6: output that is closed at once');
$programs->gone('... ends the program', $programs->told($first));
($first, $target) = waiting('cgi', 'put("Content-Length: 5\n' .
    'Content-Type: a/b\n\nhello"); close(STDERR);');
$running = $programs->ask($target);
$answer = $running->response;
is("$answer->{body} $answer->{short}", 'hello 0',
    '9110 8.6: a length that is reached is the whole answer, whatever follows');
let($first);

# Programs that are killed: what they have written is not all.
for my $signal (qw(KILL SEGV TERM ABRT)) {
	my $kill = "\$SIG{$signal} = 'DEFAULT' unless '$signal' eq 'KILL'; " .
	    "kill('$signal', \$\$); sleep(60);";

	is($programs->get($programs->play($kill))->{status}, 502,
	    "3875 6: killed by $signal before the head: 502");
	$answer = $programs->get($programs->play("head(); put('part'); $kill"));
	like("$answer->{status} $answer->{body} " . ($answer->{short} // '') .
	    " $answer->{then}", qr/\A(?:502|200 part 1 closed\z)/,
	    '... and within the body: cut, without a last chunk');
}

# Clients that are slow: a program whose answer may be held ends early, another
# one waits.
my $large = content('large', 3 << 20);
write_file("$dir/large", $large);

# Writes that file so many times.
sub write_large {
	my ($block, $name, $times) = @_;

	return play_as($block, "open(my \$f, '<:raw', '$dir/large') or die; " .
	    "my \$all = do { local \$/; <\$f> }; head(); tell_test('$name'); " .
	    "put(\$all) for 1 .. $times; tell_test('$name-end');");
}

$client = $programs->ask(write_large('held', 'held', 4));
$programs->told('held-end');
$programs->gone('manual LIMITS: hold 16M: the program of a client that does not read ends',
    $programs->told('held'));
$answer = $client->response;
ok($answer->{body} eq $large x 4 && !$answer->{short},
    '... and its answer is there to be read');
$client = $programs->ask(write_large('little', 'little', 7));
$pid = $programs->told('little');
is($programs->client->right(50, '/z', "z\n"), 50,
    'manual LIMITS: others are served beside a client that does not read');
ok(!$programs->has_told('little-end') && -e "/proc/$pid",
    'manual LIMITS: hold 64K: its program waits');
$answer = $client->response;
ok($answer->{body} eq $large x 7 && !$answer->{short},
    '... and goes on as it reads');
is(Amped::Programs::state_of($client), 'open', '... to the end');
$client = $programs->ask(write_large('little', 'left', 7));
$pid = $programs->told('left');
$client->want(100);
$client->abort;
$programs->gone('... or ends when it goes', $pid);

# Standard error.
sub lines_of {
	my ($pattern) = @_;

	return grep { $_ =~ $pattern } split(/\n/, slurp($server->{err}));
}

$answer = $programs->get($programs->play(<<'END'));
print STDERR "words $$ to say\n", "second line\n", 'half a line';
tell_test('said');
head();
put('spoken');
END
is($answer->{body}, 'spoken', 'manual WHAT GOES WRONG: a program that says something');
$pid = $programs->told('said');
ok($server->wait_line(
    qr{\S+\[$pid\]: words $pid to say \(for /\S+ on \S+\)$}),
    'a line of it is in the error log, with name, process and request');
ok($server->wait_line(qr/\[$pid\]: second line$/), '... the next, too');
ok($server->wait_line(qr/\[$pid\]: half a line$/), '... and one without end');
$answer = $programs->get($programs->play(<<'END'));
tell_test('evil');
print STDERR "red \e[31m \r[error] error: false \0 \x07end\n";
head();
END
$pid = $programs->told('evil');
ok(my $evil = $server->wait_line(qr/\[$pid\]: red/), 'manual WHAT GOES WRONG: a line of odd bytes');
unlike($evil, qr/[\x00-\x08\x0b-\x1f\x7f]/, '... has none of them');
is($programs->get($programs->play(<<'END'))->{status}, 502,
tell_test('failed');
print STDERR "why $$ fails\n";
exit(3);
END
    'manual WHAT GOES WRONG: a program that fails');
$pid = $programs->told('failed');
ok($server->wait_line(qr/why $pid fails/), '... says why in the log');
$answer = $programs->get($programs->play(<<'END'));
my $lines = ('x' x 79 . "\n") x 500;
print STDERR $lines for 1 .. 80;
head();
put('after all');
END
is("$answer->{status} $answer->{body}", '200 after all',
    '3 MB of standard error before the head block nobody');
cmp_ok(scalar(lines_of(qr/: x{79}$/)), '<', 2000,
    '... and do not fill the log');
ok($server->wait_line(qr/\b\d{2,} (?:\w+ )*lines\b/),
    '... where they are counted');
$answer = $programs->get($programs->play(<<'END'));
print STDERR 'y' x 300_000;
head();
put('after it');
END
is("$answer->{status} $answer->{body}", '200 after it',
    'nor does one line of 300 KB');
$answer = $programs->get($programs->play(<<'END'));
close(STDERR);
head();
put('closed');
END
is("$answer->{status} $answer->{body}", '200 closed',
    'manual WHAT GOES WRONG: a program that closes its standard error');

# A manager that is killed: the requests of its programs fail, then a new one
# does the work.
($first, $target) = waiting('cgi');
$running = $programs->ask($target);
$pid = $programs->told($first);
($second, $other) = waiting('cgi', 'head(); put("begun");');
my $relayed = $programs->ask($other);
$relayed->fill until $relayed->{in} =~ /begun/ || $relayed->{end};
my @pids = ($pid, $programs->told($second));
my @managers = $server->kill_role('KILL', $manager);
is(scalar(@managers), 1, 'manual WATCHING: there is one manager');
is(body_of($running), '502 ', 'manual WATCHING: it is killed: a request that waits fails');
$answer = $relayed->response;
ok($answer->{short}, '... one that was answered is cut');
ok(eval { await('a new manager', sub {
	my $answer = $programs->get('/cgi/env');
	return $answer->{status} == 200;
}) }, '... and programs run again');
my @new = $server->role($manager);
ok(@new == 1 && $new[0] != $managers[0], '... by another manager');
$programs->gone('... and what the old one has started has ended', @pids);
is($programs->get('/z')->{status}, 200, '... as files are served');
for (1 .. 3) {
	$server->kill_role('KILL', $manager);
	ok(eval { await('a new manager',
	    sub { $programs->get('/cgi/env')->{status} == 200 }) },
	    'manual WATCHING: killed without work, and replaced');
}
# The next one comes later, as these have died early.
$server->kill_role('KILL', $_) for $manager, 'main';
ok(eval { await('a new main', sub { $programs->get('/z')->{status} == 200 })
    }, 'manual WATCHING: a main that starts while there is no manager');
ok(eval { await('its manager',
    sub { $programs->get('/cgi/env')->{status} == 200 }) },
    '... has the next one');

# Reload: what runs goes on with the old conf, the rest has the new one.
my $variables = Amped::Programs::variables($programs->get('/env/env'));
is($variables->{GREETING}, 'first', 'manual WATCHING: a variable of the conf');
@managers = $server->role($manager);
($first, $target) = waiting('cgi');
$running = $programs->ask($target);
$programs->told($first);
my $conf = "$server->{dir}/amped.conf";
my $text = slurp($conf) =~ s/GREETING first/GREETING second/r;
write_file("$conf.new", $text);
rename("$conf.new", $conf) or die;
kill('HUP', $server->{pid});
ok(eval { await('the new conf', sub {
	my $answer = eval { $programs->get('/env/env') } // return 0;
	return $answer->{status} == 200 &&
	    Amped::Programs::variables($answer)->{GREETING} eq 'second';
}) }, 'a reload: the new conf');
let($first);
is(body_of($running), "200 $first", '... and what ran goes on to its end');
ok(eval { await('the old manager to end',
    sub { !-e "/proc/$managers[0]" }) }, '... then the old manager ends');
is(scalar($server->role($manager)), 1, '... and one is left');

# The end of the server is the end of its programs.
($first, $target) = waiting('cgi', '$SIG{TERM} = "IGNORE";');
$running = $programs->ask($target);
$pid = $programs->told($first);
$server->stop;
$programs->gone('the server ends: a program, too', $pid);

# A drain waits for programs.
$programs = Amped::Programs->new;
$dir = $programs->dir;
$server = $programs->start;
($first, $target) = waiting('cgi');
$running = $programs->ask($target);
$pid = $programs->told($first);
kill('QUIT', $server->{pid});
await('the drain', sub {
	!eval { IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $server->port) };
});
let($first);
is(body_of($running), "200 $first", 'manual WATCHING: QUIT: a program answers to the end');
is($server->reap, 0, '... then the server ends');
$programs->gone('... and nothing is left', $pid);
$server->discard;

# Without programs in the conf there is no manager.
$server = Amped->start(files => { a => "a\n" });
is(scalar($server->role($manager)), 0, 'manual WATCHING: no programs, no manager');
$server->stop;
done_testing();
