#!/usr/bin/perl
# amped -u and ampedctl explain about files that pass through filters: the chain,
# and the tag that the server would send.
# arch: one: who explains is one of its own
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot run_amped slurp write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;
use Time::HiRes qw(time utime);

my $all = docroot('tools/' => '', 'results/' => '', 'runs/' => '');
my $root = "$all/root";
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
chown($as_user, -1, "$all/runs", "$all/results");
my $ctl = (Amped::program() =~ s{amped\z}{ampedctl}r);

sub tool {
	my ($name, $text) = @_;

	write_file("$all/tools/$name", "#!/bin/sh\n$text\n");
	chmod(0755, "$all/tools/$name");
	return "$all/tools/$name";
}

sub put {
	my ($name, $bytes) = @_;

	write_file("$root/$name", $bytes);
	# Old enough for a strong tag.
	utime(time() - 100, time() - 100, "$root/$name");
}

my $upper = tool('upper', "echo x >> $all/runs/upper; exec tr a-z A-Z");
my $fails = tool('fails', "echo 'cannot do it' >&2; exit 3");
my $sleeps = tool('sleeps', 'exec sleep 60');
my $whoami = tool('whoami', 'exec id -un');
my $programs = Amped::Programs->new('bin/' => '');
my $app = Amped::Applications::make($programs, 'app', 'fastcgi',
    'my $data = take_data(); head(); put(lc($data));');
put('a.txt', "a text\n");
put('page.shtml', 'a <!--#include file="part" -->');
put('part', 'part');
put('long.txt', "a line\n" x 1000);

my $server = Amped->start(root => $root, errors => 1, global => <<"END",
control $all/control
cache { paths 1000 revalidate 50ms negative 50ms; results $all/results }
program upper { filter $upper; confine basic }
program tail { filter replace TEXT "TEXT and more" }
program ssi { filter ssi }
program fails { filter $fails; confine basic }
program sleeps { filter $sleeps; confine basic; answer 300ms }
program whoami { filter $whoami; confine basic }
program app { fastcgi $app; most 1; nice 0 }
program stays { filter fastcgi app }
program other { filter $whoami; confine basic@{[$> == 0 ? '; user daemon daemon' : '']} }
program head { filter /usr/bin/head -c "%{n}" }
chain both { filters upper tail }
chain upper { filters upper }
chain pages { filters ssi }
chain fails { filters fails }
chain passes { filters fails; onfail pass }
chain sleeps { filters sleeps }
chain whoami { filters whoami }
chain stays { filters stays upper stays }
chain other { filters other }
chain head { filters head }
END
    site => <<"END");
	chain both for text/plain
	chain pages for *.shtml
	path /fails { chain fails; alias $root }
	path /passes { chain passes; alias $root }
	path /sleeps { chain sleeps; alias $root }
	path /whoami { chain whoami; alias $root }
	path /stays { chain stays; alias $root }
	path /other { chain other; alias $root }
	path /head { chain head by query "n=1-1000"; alias $root }
	path /packed { chain upper; compress gzip; alias $root }
END

# What -u says: lines by their first word, and the response's fields.
sub explained {
	my ($target, @more) = @_;
	my ($status, $out, $err) = run_amped('-f', "$server->{dir}/amped.conf",
	    '-u', $target, @more);
	my %said = (text => $out, err => $err);

	is($status, 0, "$target is explained") or diag($err);
	$said{$1} = $2 while $out =~ /^(\w+) +(.*)$/mg;
	$said{field}{lc($1)} = $2 while $out =~ /^header +([\w-]+): (.*)$/mg;
	return \%said;
}

sub count_runs { return -e "$all/runs/upper" ?
    length(slurp("$all/runs/upper")) / 2 : 0 }

# URL, the filters, the field Accept-Encoding.
for my $case (['/a.txt', 'both: upper, tail'], ['/page.shtml', 'pages: ssi'],
    ['/head/a.txt?n=3', 'head: head'], ['/packed/long.txt', 'upper: upper'],
    ['/packed/long.txt', 'upper: upper', 'gzip'],
    ['/stays/a.txt', 'stays: stays, upper, stays']) {
	my ($target, $filters, $accept) = @$case;
	my @fields = $accept ? "Accept-Encoding: $accept" : ();
	my $served;

	await("the tag of $target", sub {
		$served = $server->get($target, fields => \@fields);
		return $served->{field}{etag} =~ /^"/;
	});
	my $said = explained($target, map { ('-H', $_) } @fields);
	is($said->{filters}, $filters, '... its filters');
	is($said->{err}, '', '... without a complaint');
	is($said->{status}, '200 OK', '... its status');
	my $length = length($served->{body});
	is($said->{file}, "made by filters, $length bytes" .
	    ($accept ? " of $accept" : '') . ', strong tag', '... the result');
	is($said->{field}{$_}, $served->{field}{$_}, "... its $_")
	    for qw(etag content-length content-type content-encoding vary);
	my $again = explained($target, map { ('-H', $_) } @fields,
	    "If-None-Match: $served->{field}{etag}");
	is($again->{status}, '304 Not Modified', '... a condition');
}

# A filter of the server's user, or of its own, though root explains.
is(explained("/$_/a.txt")->{field}{etag}, $server->get("/$_/a.txt")->{field}{etag},
    "the user of $_") for qw(whoami other);

# Failures.
my $said = explained('/fails/a.txt');
is($said->{status}, '500 Internal Server Error', 'a filter that fails');
like($said->{why}, qr/^a filter has failed; .*: chain fails /, '... why');
like($said->{err}, qr/fails\[\d+\]: cannot do it/, '... and what it says');
$said = explained('/passes/a.txt');
is($said->{filters}, 'passes: fails; without a result, so this is the ' .
    'unchanged file', 'the unchanged file');
is($said->{field}{etag}, $server->get('/passes/a.txt')->{field}{etag},
    '... and its tag');
is(explained('/sleeps/a.txt')->{status}, '504 Gateway Timeout', 'a late one');
$said = explained('/head/a.txt');
is($said->{filters}, 'head: head; not without a query', 'without a query');
is($said->{field}{'content-length'}, 7, '... the file');
is(explained('/head/a.txt?n=0')->{status}, '400 Bad Request', 'out of bounds');

# What explains neither keeps a result nor uses a kept one.
my $runs = count_runs();
my @kept = glob("$all/results/*/* $all/results/*");
put('b.txt', "another text\n");
is(explained('/b.txt')->{filters}, 'both: upper, tail', 'a new file');
is(count_runs(), $runs + 1, 'the filter has run');
is_deeply([glob("$all/results/*/* $all/results/*")], \@kept,
    '... and no result is kept');

# The same by the server.
my (undef, $by_ctl) = Amped::run_command(undef, $ctl, '-f',
    "$server->{dir}/amped.conf", 'explain', '/a.txt');
my $by_amped = explained('/a.txt')->{text};
s/^header +Date: .*\n//m for $by_ctl, $by_amped;
is($by_ctl, $by_amped, 'ampedctl explain says the same');

# All processes with this standard error end, those of other users too.
my $program = Amped::program();
alarm(Amped::timeout());
like(scalar(`'$program' -f '$server->{dir}/amped.conf' -u /a.txt 2>&1`),
    qr/^filters +both: /m, 'no process of an explanation stays');
alarm(0);
$server->finish;
done_testing();
