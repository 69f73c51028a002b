#!/usr/bin/perl
# The numbers of each chain of filters, of all mains together: in each form, and
# over a reload of the conf.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use JSON::PP qw(decode_json);
use Test::More;

my $dir = docroot('tools/x' => '');
my $control = docroot() . '/control';
my $open = "$dir/tools/open";

sub write_tool {
	my ($name, $text) = @_;

	write_file("$dir/tools/$name", "#!/bin/sh\n$text\n");
	chmod(0755, "$dir/tools/$name");
	return "$dir/tools/$name";
}

my $fails = write_tool('fails', 'exit 1');
my $gate = write_tool('gate', "until [ -e $open ]; do sleep 0.05; done; cat");
my $site = <<"END";
	path /status { status on }
	path /good { chain good; alias $dir/root; compress gzip }
	path /bad { chain bad; alias $dir/root }
	path /full { chain full; alias $dir/root }
	path /more { chain more; alias $dir/root }
END
for my $name (qw(a.txt b.txt c.txt)) {
	write_file("$dir/root/$name", "text of $name\n" x 200);
	utime(time() - 100, time() - 100, "$dir/root/$name");
}
my $server = Amped->start(root => "$dir/root", errors => 1,
    global => <<"END", site => $site);
control $control
cache { paths 1000 revalidate 1h stale 2h negative 50ms }
program good { filter replace text words }
program bad { filter $fails; confine basic }
program full { filter $gate; most 1; queue 0; confine basic }
program more { filter $gate; most 1; queue 0; optional on; confine basic }
chain good { filters good }
chain bad { filters bad }
chain full { filters full }
chain more { filters good more }
END

sub get { return $server->get(@_) }

# Of a chain: name, number.
sub numbers {
	my ($name) = @_;

	return map { /^chain-\Q$name\E-(\S+) (\S+)$/ ? ($1, $2) : () }
	    split(/\n/, get('/status?text')->{body});
}

# Hits and runs are all that is asked, however many mains there are.
for (1 .. 6) {
	is(get('/good/a.txt')->{status}, 200, "request $_");
	is(get('/good/a.txt', fields => ['Accept-Encoding: gzip'])
	    ->{field}{'content-encoding'}, 'gzip', "$_ compressed");
}
is(get('/good/a.txt', method => 'HEAD')->{status}, 200, 'HEAD');
my %good = numbers('good');
is($good{hits} + $good{runs}, 13, 'each request is a hit or a run');
cmp_ok($good{runs}, '>=', 1, 'there was a run');
cmp_ok($good{hits}, '>=', 1, 'and a hit');
# A result that is compressed may be made once more for that.
cmp_ok($good{runs}, '<=', 2, 'few runs') if Amped::architecture() ne 'mp';
is($good{'time-count'}, $good{runs}, 'each run has a time');
cmp_ok($good{'time-max'}, '>', 0, 'which is more than nothing');
is($good{$_}, 0, "none was $_") for qw(failed refused left-out);

# Failures.
is(get('/bad/a.txt')->{status}, 500, 'a filter that fails');
my %bad = numbers('bad');
is($bad{runs}, $bad{failed}, 'each of its runs has failed');
cmp_ok($bad{failed}, '>=', 1, 'there was one');
is($bad{hits}, 0, 'and no hit');

# Filters without room for one more.
SKIP: {
	skip('one client at a time', 3) if !Amped::many_clients();
	for my $case (['full', 'refused', 503], ['more', 'left-out', 200]) {
		my ($chain, $what, $status) = @$case;
		my $client = $server->connect;

		$client->send("GET /$chain/a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
		await("the run of $chain", sub {
			my $busy = get('/status?text')->{body};
			return $busy =~ /^program-$chain-busy 1$/m;
		});
		is(get("/$chain/b.txt")->{status}, $status, "$chain: $status");
		my %numbers = numbers($chain);
		is($numbers{$what}, 1, "which is $what");
		write_file($open, '');
		is($client->response('GET')->{status}, 200, 'another waits');
		unlink($open);
	}
}

# All forms have the same.
%good = numbers('good');
my ($json) = grep { $_->{name} eq 'good' }
    @{decode_json(get('/status?json')->{body})->{chains}};
is($json->{$_}, $good{$_}, "JSON: $_") for qw(runs hits failed left-out);
is($json->{time}{count}, $good{runs}, 'JSON: time');
my $metrics = get('/status?prometheus')->{body};
like($metrics, qr/^amped_chain_$_->[0]_total\{chain="good"\} $_->[1]$/m,
    "Prometheus: $_->[0]") for ['runs', $good{runs}], ['hits', $good{hits}];
like($metrics, qr/^amped_chain_time_seconds_count\{chain="good"\} $good{runs}$/m,
    'Prometheus: time');
like(get('/status')->{body},
    qr{<td>good</td><td>$good{runs}</td><td>$good{hits}</td>}, 'the page');
my @answer = Amped::run_command(undef, Amped::program() =~ s/amped\z/ampedctl/r,
    '-s', $control, 'chain');
is($answer[0], 0, 'ampedctl chain') or diag(@answer[1, 2]);
like($answer[1], qr/^name  +runs  +hits  +failed  +refused  +left-out  +recalled  +median/m,
    'its head');
like($answer[1], qr/^good  +$good{runs}  +$good{hits}  +0  +0  +0  +0  +\d/m,
    'its numbers');

# They go on in the next generation.
kill('HUP', $server->{pid});
$server->wait_line(qr/is in force/);
await('the new mains', sub { get('/good/b.txt')->{status} == 200 });
my %next = numbers('good');
cmp_ok($next{hits} + $next{runs}, '>', $good{hits} + $good{runs},
    'they go on after a reload');
$server->finish;
done_testing();
