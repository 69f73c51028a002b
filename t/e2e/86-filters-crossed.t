#!/usr/bin/perl
# Chains for answers that have the same filters, or the same programs, in
# opposite order: an answer that would wait for ever gets 503 at once, and the
# others go on.  Chains for files cannot wait for each other.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

Amped::needs_many_clients();

my $programs = Amped::Programs->new('bin/' => '');
my $www = $programs->www;
my $control = Amped::docroot() . '/control';

# A request says for which word of the test the program waits before it answers,
# and for which one in the midst of its answer.
my $file = Amped::Applications::make($programs, 'app', 'fastcgi', <<'CODE');
	my $data = $request{role} == 3 ? take_data() : take_body();
	my $word = $request{role} == 3 ? '' : $request{params}{QUERY_STRING};
	if ($word ne '') {
		tell_test("at-$word");
		wait_test($word);
	}
	head();
	put($word . $data);
	wait_test("end-$word") if $word ne '';
CODE

# No wait of the test is to end by a time.
my $one = 'most 1; within 10m; nice 0';
my %chains = (ab => 'a gate1 b', ba => 'b gate2 a', bc => 'b gate2 may',
    gate1 => 'gate1', gate2 => 'gate2', one => 'a b', two => 'b a',
    x => 'of-x', y => 'of-y');
my @names = sort keys %chains;
my $server = $programs->start(program => "\tmost 16\n", others => <<"CONF" .
control $control
program a { filter /bin/cat; $one }
program b { filter /bin/cat; $one }
program gate1 { filter /bin/cat; $one }
program gate2 { filter /bin/cat; $one }
program may { filter /bin/cat; $one; optional on }
program x { fastcgi $file; $one }
program y { fastcgi $file; $one }
program of-x { filter fastcgi x; within 10m }
program of-y { filter fastcgi y; within 10m }
CONF
    join('', map { "chain $_ { filters $chains{$_} }\n" } @names),
    site => join('', map { "\tpath /$_ { run all; chain $_ }\n" }
    grep { !/^(?:one|two|x|y)\z/ } @names) . <<"SITE");
	path /x-y { run x; chain y }
	path /y-x { run y; chain x }
	path /one { chain one; alias $www }
	path /two { chain two; alias $www }
SITE

# Files: a filter keeps no place while another one runs.
write_file("$www/$_.txt", "$_\n") for 1 .. 6;
my @files = map { $programs->ask("/one/$_.txt"), $programs->ask("/two/$_.txt") }
    1 .. 6;
is_deeply([map { $_->response('GET')->{status} } @files], [(200) x 12],
    'files pass through both chains');

sub queued {
	my ($program) = @_;
	my @answer = Amped::run_command(undef, Amped::program() =~
	    s/amped\z/ampedctl/r, '-s', $control, 'metrics');

	return $answer[1] =~
	    /^amped_program_queued\{program="$program"\} (\d+)$/m ? $1 : -1;
}

sub await_queue {
	my ($program, $n) = @_;

	await("$n in the queue of $program", sub { queued($program) == $n });
}

my $plays = 0;

# Has an answer of a program pass through a chain, and keep its places until the
# test says so; the client, and the test's word.
sub ask_long {
	my ($chain) = @_;
	my $word = 'long' . $plays++;
	my $target = $programs->play("head(); put('$word'); " .
	    "tell_test('at-$word'); wait_test('$word')");
	my $client = $programs->ask($target =~ s{^/cgi}{/$chain}r);

	# The first byte comes out once all filters run.
	$client->fill until $client->{in} =~ /$word/ || $client->{end};
	return ($client, $word);
}

sub ask_short {
	my ($chain) = @_;

	return $programs->ask($programs->cat("Content-Type: text/plain\n\nok")
	    =~ s{^/cgi}{/$chain}r);
}

# The one that waits in the middle of its chain is let on before the other.
for my $case (['ba', 503, 'crossed chains'], ['bc', 200, 'others']) {
	my ($chain, $status, $name) = @$case;
	my ($first, $word1) = ask_long('gate1');
	my ($second, $word2) = ask_long('gate2');
	my $ab = ask_short('ab');

	await_queue('gate1', 1);
	my $other = ask_short($chain);
	await_queue('gate2', 1);
	$programs->let($word1);
	await_queue('b', 1);
	$programs->let($word2);
	my $answer = $other->response('GET');
	is($answer->{status}, $status, "$name: $status");
	is($ab->response('GET')->{body}, 'ok', '... and the other is whole');
	$_->response('GET') for $first, $second;
}
$server->wait_line(qr/ a: an answer gets no place, .* a and b would wait/);

# Programs that answer, and are filters of each other's answers.
my $xy = $programs->ask('/x-y?x');
my $yx = $programs->ask('/y-x?y');
$programs->told("at-$_") for qw(x y);
$programs->let('x');
await_queue('y', 1);
$programs->let('y');
is($yx->response('GET')->{status}, 503, 'crossed programs: 503');
$programs->let('end-x');
is($xy->response('GET')->{body}, 'x', '... and the other is whole');
$server->wait_line(qr/ x: an answer gets no place, .* x and y would wait/);

# Many, without order.
$programs->let('z', 'end-z');
my @all = map { $programs->ask("/$_") } ('x-y?z', 'y-x?z') x 8;
my %got;
$got{$_->response('GET')->{status}}++ for @all;
is(($got{200} // 0) + ($got{503} // 0), 16, 'all get an answer') or
    diag(join(' ', %got));
ok($got{200}, '... some of them 200');
$server->finish;
done_testing();
