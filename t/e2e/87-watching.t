#!/usr/bin/perl
# Programs under watch: ampedctl program, the status page and the metrics count
# what known requests came to, over several mains, a new conf and a manager that
# dies; a restart replaces processes, and no request fails.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Applications;
use Amped::Programs;
use JSON::PP qw(decode_json);
use POSIX ();
use Test::More;

Amped::needs_many_clients(8);

my $programs = Amped::Programs->new('bin/' => '', 'run/' => '');
my $dir = $programs->dir;
my $cgi = "$dir/cgi";
my $file = Amped::Applications::make($programs, 'fastcgi', 'fastcgi');
my @far = map { "unix:$dir/run/$_" } qw(gone there);
my $far = Amped::Applications->serve($file, $far[1], 2);
my $control = docroot() . '/control';
my $names = 0;

# Three mains; in pipelined three pipelines of one.
my $server = $programs->start(others => "workers 3\ncontrol $control\n" .
    "program pool {\n\tfastcgi $file\n\tmost 4\n}\n" .
    "program one {\n\tfastcgi $file\n\tmost 1\n\tqueue 0\n}\n" .
    "program late {\n\tfastcgi $file\n\tanswer 1s\n}\n" .
    "program far {\n" . join('', map { "\tfastcgi $_\n" } @far) . "}\n",
    site => "\tpath /status { status on }\n" .
    join('', map { "\tpath /$_ { run $_; body 1M }\n" }
    qw(pool one late far)));
await('the control socket', sub { -S $control });

sub play_as { return $programs->play($_[1]) =~ s{^/cgi/play}{/$_[0]}r }

sub status_of {
	my ($path, $code, %opt) = @_;

	return $programs->get(play_as($path, $code), %opt)->{status};
}

# A target whose application tells its process and waits to be let; its name.
sub waiting {
	my ($path) = @_;
	my $name = 'w' . $names++;

	return ($name, play_as($path, "tell_test('$name'); " .
	    "wait_test('$name-go'); head(); put(\$\$);"));
}

# ampedctl program with these words: status, output, errors.
sub ctl {
	my ($status, $out, $err) = Amped::run_command(undef,
	    Amped::copy_for_all('ampedctl'), '-s', $control, @_);

	return ($status >> 8, $out, $err);
}

# The numbers of a program, by their names in text.
sub numbers {
	my ($program) = @_;
	my $text = $server->get('/status?text')->{body};

	return map { /^program-\Q$program\E-(\S+) (\S+)\z/ ? ($1 => $2) : () }
	    split(/\n/, $text);
}

# Waits until the numbers of a program are these; as a test.
sub counts {
	my ($program, %wanted) = @_;
	my %is;
	my $ok = eval {
		await("the numbers of $program", sub {
			%is = numbers($program);
			return !grep { ($is{$_} // '') ne $wanted{$_} }
			    keys %wanted;
		});
		1;
	};

	ok($ok, "$program: " . join(', ', map { "$_ $wanted{$_}" }
	    sort keys %wanted)) or diag(join("\n", map { "$_ $is{$_}" }
	    grep { exists($wanted{$_}) } sort keys %is));
}

# Each way in which a request can end, once or more.
my $hello = 'head(); put($$);';
counts($_, requests => 0, processes => 0) for qw(pool one far), $cgi;
is(status_of('pool', $hello), 200, 'pool: answered') for 1 .. 2;
is(status_of('pool', 'take_body(); head();', method => 'POST',
    body => 'x' x 100_000), 200, '... with a body');
is(status_of('pool', 'put("Location: /z\n\n");'), 200,
    '... by a local redirect');
is(status_of('pool', 'take_body(); hang_up();'), 502, '... failed');
counts('pool', requests => 5, answered => 4, failed => 1, late => 0,
    refused => 0, left => 0, spooled => 100_000, limit => 4, busy => 0,
    queued => 0, 'wait-count' => 5, 'answer-count' => 4);

my ($name, $target) = waiting('one');
my $client = $programs->ask($target);
my $pid = $programs->told($name);
counts('one', busy => 1, processes => 1, idle => 0, queued => 0);
is(status_of('one', $hello), 503, 'one: refused');
$programs->let("$name-go");
is($client->response->{body}, $pid, '... answered');
counts('one', busy => 0, processes => 1, idle => 1);
($name, $target) = waiting('one');
$client = $programs->ask($target);
$pid = $programs->told($name);
$client->abort;
$programs->gone('a client leaves', $pid);
is(status_of('one', 'kill("KILL", $$); sleep(9);'), 502, '... killed');
counts('one', requests => 4, answered => 1, failed => 1, late => 0,
    refused => 1, left => 1, killed => 1, started => 2, processes => 0);
is(status_of('late', 'take_body(); sleep(60);'), 504, 'late: no answer');
counts('late', requests => 1, late => 1, failed => 0, killed => 0,
    processes => 0);

is(status_of('far', $hello), 200, 'far: answered') for 1 .. 2;
counts('far', requests => 2, answered => 2, processes => 0, started => 0,
    "server-$far[0]-connections" => 0, "server-$far[1]-connections" => 0,
    "server-$far[1]-refused-since" => 0);
my %now = numbers('far');
my $since = $now{"server-$far[0]-refused-since"};
cmp_ok($since, '>', time() - 600, '... the server that is gone: since when');
cmp_ok($since, '<=', time(), '... not later than now');
($name, $target) = waiting('far');
$client = $programs->ask($target);
$programs->told($name);
counts('far', busy => 1, "server-$far[1]-connections" => 1);
is($programs->get($programs->play('head();'))->{status}, 200,
    'a program without a name');
counts($cgi, requests => 1, answered => 1, started => 1, processes => 0);

# The same in all forms.
%now = numbers('pool');
my $json = decode_json($server->get('/status?json')->{body});
my %json = map { $_->{name} => $_ } @{$json->{programs}};
is_deeply([sort keys %json], [sort(qw(pool one late far), $cgi)], 'JSON: all');
is($json{pool}{$_}, $now{$_}, "... $_") for qw(requests answered failed
    spooled started);
is($json{pool}{wait}{count}, 5, '... a histogram');
is_deeply($json{far}{servers}, [map { { address => $far[$_],
    connections => $_, 'refused-since' => $_ == 0 ? $since : 0 } } 0 .. 1],
    '... servers');
my $metrics = (ctl('metrics'))[1];
for my $line (qq(amped_program_requests_total{program="pool"} 5),
    qq(amped_program_requests_total{program="$cgi"} 1),
    qq(amped_program_processes_killed_total{program="one"} 1),
    qq(amped_program_wait_seconds_count{program="pool"} 5),
    qq(amped_program_spooled_bytes_total{program="pool"} 100000),
    qq(amped_program_server_connections{program="far",server="$far[1]"} 1),
    qq(amped_program_server_refused_since_seconds{program="far",) .
    qq(server="$far[0]"} $since)) {
	like($metrics, qr/^\Q$line\E$/m, $line);
}
like($server->get('/status?html')->{body},
    qr{<tr><td>far</td><td>\Q$far[0]\E</td>}, 'the page has servers');

# ampedctl
my ($status, $out, $err) = ctl('program');
is_deeply([$status, $err], [0, ''], 'ampedctl program');
my ($head, %row) = map { my ($first, @rest) = split(' '); $first ne 'name' ?
    ($first => \@rest) : join(' ', $first, @rest) } split(/\n/, $out);
is($head, 'name busy limit queued procs requests failed late refused wait ' .
    'answer', '... its columns');
is_deeply([@{$row{far}}[0, 2 .. 7]], [1, 0, 0, 3, 0, 0, 0], '... a row');
is_deeply([@{$row{$cgi}}[4 .. 7]], [1, 0, 0, 0], '... by a directory');

is_deeply([ctl('program', 'pool')], [ctl('program', 'pool', 'status')],
    'status is what a name alone shows');
($status, $out, $err) = ctl('program', 'far', 'status');
is_deeply([$status, $err], [0, ''], 'ampedctl program far status');
like($out, qr/^far: servers that others have started$/m, '... what it is');
like($out, qr/^requests  3: answered 2, failed 0, /m, '... requests');
like($out, qr/^now       1 busy of \d+, 0 queued$/m, '... now');
like($out, qr/^server    \Q$far[0]\E: 0 connections; has accepted none for \d/m,
    '... a server that is gone');
like($out, qr/^server    \Q$far[1]\E: 1 connections$/m, '... one that is not');
$programs->let("$name-go");
is($client->response->{status}, 200, '... whose client is answered');
($status, $out) = ctl('program', 'one');
like($out, qr/^one: processes that stay$/m, 'ampedctl program one');
like($out, qr/^processes 0: idle 0, outdated 0; started 2, killed 1$/m,
    '... its processes');
for my $case (
    [64, qr/there is no program "none" in the conf in force/, 'none'],
    [64, qr/there is no program "none"/, 'none', 'restart'],
    [64, qr/no action "reload": the actions are status and restart/, 'one',
	'reload'],
    [71, qr/others have started far: restart the service that listens at /,
	'far', 'restart'],
    [64, qr/usage: ampedctl program /, 'one', 'restart', 'now']) {
	my ($wanted, $words, @words) = @$case;
	my ($status, $out, $err) = ctl('program', @words);
	is($status, $wanted, "program @words: exit $wanted");
	like($err, $words, '... and why');
}
is_deeply([ctl('program', $cgi, 'restart')],
    [0, "nothing to do: each request starts $cgi anew\n", ''],
    'CGI needs no restart');

# Clients that come one after the other until the test has seen enough, and the
# answers that are none.
sub visit {
	my ($n) = @_;
	my $visits = "$dir/visits-$n";
	my $target = play_as('pool', 'select(undef, undef, undef, 0.002); ' .
	    $hello);
	my $pid = fork() // die "fork: $!\n";

	return ($pid, $visits) if $pid != 0;
	my ($good, $wrong) = (0, '');
	while (!-e "$dir/enough") {
		my $answer = eval { $programs->get($target) };
		$good++ if $answer && $answer->{status} eq '200';
		$wrong .= " $answer->{status}" unless
		    $answer && $answer->{status} eq '200';
		write_file($visits, "$good") if $good == 1;
	}
	write_file($visits, "$good answers$wrong");
	POSIX::_exit(0);
}

my %old;
my @visitors = map { [visit($_)] } 1 .. 5;
for my $visitor (@visitors) {
	await('a visitor', sub { -s $visitor->[1] });
}
for my $round (1 .. 4) {
	my $pid = $programs->get(play_as('pool', $hello))->{body};
	($status, $out, $err) = ctl('program', 'pool', 'restart');
	is_deeply([$status, $out, $err], [0, 'pool restarts: new processes ' .
	    "start, and the old ones end after their requests\n", ''],
	    "restart $round");
	$programs->gone('... the old processes go', $pid);
	counts('pool', outdated => 0);
}
write_file("$dir/enough", '');
for my $visitor (@visitors) {
	waitpid($visitor->[0], 0);
	like(slurp($visitor->[1]), qr/\A[1-9]\d* answers\z/,
	    'a visitor has had no other answer than right ones');
}
ok($server->wait_line(qr/notice: pool: restarts: \d processes are to be /),
    'the log has it');
ok($server->wait_line(qr/notice: restart of a program: asked for by user /),
    '... and by whom');
counts('pool', busy => 0, queued => 0, failed => 1, killed => 0);

# A program whose client has left writes to nobody.
$client = $programs->ask($programs->play('$SIG{TERM} = sub { ' .
    'tell_test("was-told") }; tell_test("writes"); wait_test("write"); ' .
    'head() while 1;'));
$pid = $programs->told('writes');
$client->abort;
$programs->told('was-told');
$programs->let('write');
$programs->gone('a program that goes on without a client', $pid);
counts($cgi, left => 1, killed => 0, processes => 0);

# A manager outlives a reload, and goes on with all numbers.
my %before;
await('processes that all have started', sub {
	%before = numbers('pool');
	return $before{idle} == $before{processes};
});
is((ctl('reload'))[0], 0, 'reload');
counts('pool', processes => $before{processes}, busy => 0, limit => 4);
is(status_of('pool', $hello), 200, '... answered');
counts('pool', requests => $before{requests} + 1,
    processes => $before{processes});
# Another conf, another manager: counters go on, gauges do not.
write_file("$server->{dir}/amped.conf", $server->conf_text =~
    s/^(program pool \{)/$1 environment OTHER yes;/mr);
is((ctl('reload'))[0], 0, 'reload of another conf');
counts('pool', processes => 0, busy => 0, limit => 4);
is(status_of('pool', $hello), 200, '... answered');
counts('pool', requests => $before{requests} + 2, processes => 1);
$server->kill_role('KILL', 'programs');
$server->wait_line(qr/program manager was killed/);
counts('pool', processes => 0, requests => $before{requests} + 2);
await('another manager', sub { status_of('pool', $hello) eq '200' });
%now = numbers('pool');
is($now{processes}, 1, 'behind a manager that has died: one process');
is($now{limit}, 4, '... and the limit');
$far->stop;
$server->stop;
done_testing();
