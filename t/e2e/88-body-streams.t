#!/usr/bin/perl
# Programs with "stream on": they get the body of a request as it comes, and
# answer meanwhile.  What happens when they, or their clients, do otherwise.
# A case names its rule: a section of RFC 3875, 9110 or 9112, of the
# specification of FastCGI, or of amped-programs(7) (manual), or a directive of
# amped.conf(5) (conf).  Cases that begin with ... go on with that rule.
# arch: all
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content slurp);
use Amped::Applications;
use Amped::Programs;
use Test::More;

Amped::needs_many_clients(8);

my $programs = Amped::Programs->new('bin/' => '', 'run/' => '',
    'files/a' => 'a file', 'www/in/x' => 'a page');
my $dir = $programs->dir;
my %file = map { $_ => Amped::Applications::make($programs, $_, $_) }
    qw(fastcgi scgi);
my %where = map { $_ => Amped::Applications::place('unix', "$dir/run", $_) }
    qw(fastcgi scgi);
my @servers = map { Amped::Applications->serve($file{$_}, $where{$_}, 2) }
    sort keys %where;
my $server = $programs->start(program => "\tstream on\n\tmost 8\n" .
    "\tsendfile $dir/files\n",
    others => join('', map { "program $_ {\n\t$_ $where{$_}\n" .
    "\tstream on\n\twithin 60s\n}\n" } sort keys %where) .
    "program own {\n\tfastcgi $file{fastcgi}\n\tstream on\n\tmost 2\n" .
    "\twithin 60s\n\tnice 0\n}\n" .
    "program quick {\n\tdirectory $dir/cgi\n\tnice 0\n\tstream on\n" .
    "\tanswer 1s\n\tsilence 1s\n\tmost 8\n}\n",
    global => "limits {\n\tbodies 64K\n\tgap 5s\n\tlinger 1s\n" .
    "\tbody 1M within 5m\n}\n",
    site => join('', map { "\tpath /$_ { run $_; body 64M }\n" }
    qw(fastcgi own scgi quick)) .
    "\tpath /small { run all; body 1000 }\n" .
    "\tpath /late { run all; body within 1s }\n");

# Lines of Perl for the program of a path.
sub play_as {
	my ($path, $code) = @_;
	my $target = $programs->play($code);

	return $path =~ /^(?:own|fastcgi|scgi)\z/ ?
	    $target =~ s{^/cgi/play}{/$path}r : $target =~ s{^/cgi}{/$path}r;
}

sub pieces { return [unpack("(a$_[1])*", $_[0])] }

sub sum { return length($_[0]) . ' ' . sha256_hex($_[0]) }

my $sum = 'require Digest::SHA; my $b = take_body(); head(); ' .
    'put(length($b) . " " . Digest::SHA::sha256_hex($b));';

# Each length, far beyond what may be kept, in both framings.
for my $path (qw(cgi own fastcgi scgi)) {
	my $target = play_as($path, $sum);

	for my $n (1, 5000, 65_536, 1 << 20) {
		my $body = content("body$n", $n);
		my $answer = $programs->get($target, method => 'POST',
		    body => $body);

		is("$answer->{body} $answer->{then}", sum($body) . ' open',
		    "3875 4.2: $path: a body of $n bytes");
		next if $path eq 'scgi' && $n > 65_000;	# is kept
		$answer = $programs->get($target, method => 'POST', chunks =>
		    pieces($body, 30_000));
		is("$answer->{body} $answer->{then}", sum($body) . ' open',
		    '... in chunks');
	}
	is($programs->get($target)->{body}, sum(''), "3875 4.2: $path: no body");
}

# The length, if it is known.
my $tells = 'head(); my $n = $ENV{CONTENT_LENGTH} // "none"; ' .
    'put("$n " . take_body());';
is($programs->get(play_as('cgi', $tells), method => 'POST', body => 'abc')
    ->{body}, '3 abc', '3875 4.1.2: CONTENT_LENGTH of a body with a length');
is($programs->get(play_as('cgi', $tells), method => 'POST',
    chunks => ['ab', 'c'])->{body}, 'none abc', '... and none of chunks');
$tells =~ s/\$ENV\{/\$request{params}{/;
is($programs->get(play_as('fastcgi', $tells), method => 'POST',
    chunks => ['ab', 'c'])->{body}, 'none abc', '... in FastCGI, either');
is($programs->get(play_as('scgi', $tells), method => 'POST',
    chunks => ['ab', 'c'])->{body}, '3 abc', '... but in SCGI there is');

# A conversation: each side waits for the other.
my %reads = (cgi => 'sysread(STDIN, $in, 100)', own => '$in = (get_record())[2]',
    fastcgi => '$in = (get_record())[2]', scgi =>
    '$in = get_bytes(4); $request{left} -= 4');
for my $path (sort keys %reads) {
	my $client = $programs->ask(play_as($path, 'my $in; head(); ' .
	    "for my \$i (1 .. 3) { $reads{$path}; put(\"<\$in>\"); }"),
	    method => 'POST', fields => ['Content-Length: 12']);
	my $came = '';

	for my $word (qw(one. two. six.)) {
		$client->send($word);
		$came .= "<$word>";
		$client->fill until $client->{in} =~ /<\Q$word\E>/ ||
		    $client->{end};
	}
	is($client->response->{body}, $came, "manual BODIES THAT COME: $path: a conversation");
	is(Amped::Programs::state_of($client), 'open', '... and it goes on');
}

# The program runs before the body is there, and sees its end.
my $client = $programs->ask($programs->play('tell_test("runs"); ' .
    'my $b = take_body(); head(); put("[$b]");'), method => 'POST',
    fields => ['Content-Length: 6'], body => 'abc');
ok($programs->told('runs'), 'manual BODIES THAT COME: the program runs before the body is whole');
$client->send('def');
is($client->response->{body}, '[abcdef]', '... and gets the rest');

# Expect: 100-continue.
$client = $programs->ask($programs->play('tell_test("expects"); ' .
    'wait_test("go"); my $b = take_body(); head(); put("[$b]");'),
    method => 'POST', fields => ['Expect: 100-continue', 'Content-Length: 3']);
is($client->response('POST')->{status}, 100, '9110 10.1.1: go on, says the server');
ok($programs->told('expects'), '... when the program runs');
$client->send('abc');
$programs->let('go');
is($client->response->{body}, '[abc]', '... and the body arrives');
is(Amped::Programs::state_of($client), 'open', '... in step');
is($programs->get('/small/play?0', method => 'POST', fields =>
    ['Expect: 100-continue', 'Content-Length: 1001'])->{status}, 413,
    '... but not for too much');

# Sends to a server that may read no more; returns how many bytes it took
# until it has not taken any for a while.
sub stuff {
	my ($client, $most) = @_;
	my ($sent, $idle) = (0, 0);

	while ($sent < $most && $idle < 5) {
		my $n = syswrite($client->socket, 'x' x 65536);
		$sent += $n // 0;
		$idle = defined($n) ? 0 : $idle + 1;
		select(undef, undef, undef, 0.02) unless defined($n);
	}
	return $sent;
}

# A program that does not read: the client must wait, and memory is bounded.
SKIP: {
	skip('the layer changes each byte', 2) if exists($ENV{AMPED_LAYER});
	$client = $programs->ask($programs->play('tell_test("stuffed"); ' .
	    'wait_test("unstuff"); my $n = length(take_body()); head(); ' .
	    'put($n);'), method => 'POST',
	    fields => ['Content-Length: ' . (12 << 20)]);
	$programs->told('stuffed');
	my $sent = stuff($client, 12 << 20);
	cmp_ok($sent, '<', 11 << 20, 'manual BODIES THAT COME: a program that does not read stops ' .
	    "its client, after $sent bytes");
	$programs->let('unstuff');
	$client->send('x' x ((12 << 20) - $sent));
	is($client->response->{body}, 12 << 20, '... until it does');
}

# The program does not read all, or none.
my %ends = (
	'does not read' => 'head(); put("hello");',
	'reads a part' => 'sysread(STDIN, my $x, 10); head(); put("hello");',
	'closes it' => 'close(STDIN); head(); put("hello");',
	'closes it and goes on' => 'close(STDIN); head(); put("hell"); ' .
	    'select(undef, undef, undef, 0.1); put("o");',
);
for my $how (sort keys %ends) {
	for my $n (10, 1 << 20) {
		my $answer = $programs->get($programs->play($ends{$how}),
		    method => 'POST', body => 'x' x $n);

		is("$answer->{status} $answer->{body}", '200 hello',
		    "3875 4.2: a program that $how: $n bytes");
		like($answer->{then}, qr/\A(?:open|closed)\z/,
		    '... and what follows is in step');
	}
}
is($programs->get($programs->play('exit(3);'), method => 'POST',
    body => 'x' x 100_000)->{status}, 502, '3875 6.2: a program that just ends: 502');
for my $path (qw(own fastcgi scgi)) {
	my $answer = $programs->get(play_as($path, 'head(); put("hello"); ' .
	    'finish();'), method => 'POST', body => 'x' x (1 << 20));

	is("$answer->{status} $answer->{body}", '200 hello',
	    "FastCGI 6.2: $path: an answer before the body");
	is($programs->get(play_as($path, $sum), method => 'POST',
	    body => 'next')->{body}, sum('next'), '... and the next request');
}

# A page or a file in place of an answer.  The rest of the body is no request.
my %instead = ('Location: /z' => "z\n", "X-Sendfile: $dir/files/a" => 'a file',
    'X-Accel-Redirect: /in/x' => 'a page');
for my $line (sort keys %instead) {
	my $play = $programs->play("put('$line' . \"\\n\\n\");");

	is($programs->get($play, method => 'POST', body => 'x' x 100_000)
	    ->{body}, $instead{$line}, "3875 6.2: $line");
	$client = $programs->ask($play, method => 'POST', fields =>
	    ['Content-Length: 100']);
	is($client->response->{body}, $instead{$line},
	    '... before there is a body');
	$client->send(Amped::Programs::request('/in/x'));
	ok($client->closed, '... which is not taken for the next request');
}

# Late programs and clients.
for my $path (qw(quick)) {
	$client = $programs->ask(play_as($path, 'wait_test("never");'),
	    method => 'POST', fields => ['Content-Length: 100'], body => 'x' x 100);
	is($client->response->{status}, 504, '9110 15.6.5: a program that does not answer');
	$client = $programs->ask(play_as($path, $sum), method => 'POST',
	    fields => ['Content-Length: 6'], body => 'abc');
	select(undef, undef, undef, 1.5);	# longer than answer
	$client->send('def');
	is($client->response->{body}, sum('abcdef'),
	    'manual BODIES THAT COME: a program has its time from the last byte on');
}
my $waits = 'tell_test("$ENV{QUERY_STRING}"); my $b = take_body(); head(); ' .
    'put("whole");';
for my $case (['/late/play', 408, '9110 15.5.9: the body is late'],
    ['/cgi/play', 408, '9110 15.5.9: the next byte is late']) {
	my ($path, $status, $what) = @$case;
	my $target = $programs->play($waits);
	my ($n) = $target =~ /(\d+)\z/;

	$client = $programs->ask("$path?$n", method => 'POST',
	    fields => ['Content-Length: 6'], body => 'abc');
	my $pid = $programs->told($n);
	is($client->response->{status}, $status, $what);
	ok($client->closed, '... ends the connection');
	$programs->gone('... and the program', $pid);
}

# Clients that leave, and how their programs end.
for my $case (['resets', sub { $_[0]->abort }], ['ends its output',
    sub { $_[0]->half_close }]) {
	my ($what, $leave) = @$case;
	my $target = $programs->play($waits);
	my ($n) = $target =~ /(\d+)\z/;

	$client = $programs->ask($target, method => 'POST',
	    fields => ['Content-Length: 6'], body => 'abc');
	my $pid = $programs->told($n);
	$leave->($client);
	$programs->gone("manual LIMITS: a client that $what in its body ends the program",
	    $pid);
	is($client->response->{status}, 400, '... and gets 400')
	    if $what =~ /output/;
}
my $target = $programs->play('$SIG{TERM} = sub { tell_test("term"); exit }; ' .
    'tell_test("traps"); take_body(); wait_test("never");');
$client = $programs->ask($target, method => 'POST',
    fields => ['Content-Length: 6'], body => 'abc');
$programs->told('traps');
$client->abort;
ok($programs->told('term'), 'manual LIMITS: it is told by SIGTERM');

# Bodies that become too long, or are none.
for my $case (['/small/play', ['x' x 900, 'x' x 200], 413, 'too long'],
    ['/cgi/play', undef, 400, 'wrong chunks']) {
	my ($path, $chunks, $status, $what) = @$case;
	my $target = $programs->play($waits);
	my ($n) = $target =~ /(\d+)\z/;

	$client = $programs->ask("$path?$n", method => 'POST',
	    fields => ['Transfer-Encoding: chunked'], body => "1\r\na\r\n");
	my $pid = $programs->told($n);
	$client->send($chunks ? join('', map { sprintf("%x\r\n%s\r\n",
	    length($_), $_) } @$chunks) : "zz\r\n");
	is($client->response->{status}, $status, "manual LIMITS: a body in chunks: $what");
	$programs->gone('... ends the program', $pid);
}
$client = $programs->ask(play_as('small', 'head(); put("begun"); ' .
    'take_body();'), method => 'POST',
    fields => ['Transfer-Encoding: chunked'], body => "1\r\na\r\n");
$client->fill until $client->{in} =~ /begun/ || $client->{end};
$client->send(sprintf("%x\r\n%s\r\n", 2000, 'x' x 2000));
ok($client->response->{short}, 'manual LIMITS: too long behind the begin of an answer: cut');
is($programs->get('/small/play?0', method => 'POST', fields =>
    ['Content-Length: 1001'])->{status}, 413, '9110 15.5.14: too long by its length');

# Both ways at once, more than anybody holds.
my $echo = 'head(); while (sysread(STDIN, my $b, 65536)) { put($b) }';
my $much = content('echo', 4 << 20);
$client = $programs->ask($programs->play($echo), method => 'POST',
    fields => ['Content-Length: ' . length($much)]);
my $sent = 0;
while ($sent < length($much)) {
	my $n = $client->send(substr($much, $sent, 262_144)) or last;
	$sent += $n;
	$client->fill until length($client->{in}) > $sent - 1_000_000 ||
	    $client->{end};
}
my $answer = $client->response;
ok(!$answer->{short} && $answer->{body} eq $much,
    'manual BODIES THAT COME: a program that sends back what it reads, of a client that reads');
is(Amped::Programs::state_of($client), 'open', '... and the connection');

$server->stop;
$_->stop for @servers;
done_testing();
