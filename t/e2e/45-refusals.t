#!/usr/bin/perl
# What an administrator must mend leaves a line at the default grade, with site
# and file, and once a minute for each file; the counters of a main that ends do not.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port slurp);
use Test::More;

Amped::one_main();

my $all = docroot('one/closed/x' => 'x', 'one/secret' => 'x',
    'one/index.html' => "one\n", 'one/pages/' => '', 'two/secret' => 'x',
    'two/also' => 'x');
chmod(0, "$all/one/secret", "$all/one/closed", "$all/two/secret",
    "$all/two/also") == 4 or die;
plan(skip_all => 'root reads all') if $> == 0 && !Amped::ordinary_user();
my ($one, $two) = (free_port(), free_port());

sub start {
	my ($level) = @_;

	return Amped->start(listeners => 2,
	    log => "\taccess off\n\terror stderr $level\n", sites => <<"END");
site one.example {
	listen 127.0.0.1:$one
	root $all/one
	error 403 /secret
	path /lost { error 404 /pages }
	path /app { fallback /none.html }
}
site two.example {
	listen 127.0.0.1:$two
	root $all/two
	files *.bak { deny all }
}
END
}

# The lines of a level behind the time and the process.
sub lines_of {
	my ($server, $level) = @_;

	my @lines = sort($server->errors =~
	    /main\[\d+\] $level: (.*)$/mg);

	return @lines;
}

my $server = start('notice');
for (1 .. 3) {
	is($server->get("/$_", port => $one)->{status}, 403, "/$_")
	    for qw(secret closed/x);
	is($server->get("/$_", port => $two)->{status}, 403, "/$_")
	    for qw(secret also);
	is($server->get('/app/x', port => $one)->{status}, 404, 'no fallback');
	is($server->get('/a.bak', port => $two)->{status}, 403, 'denied');
	is($server->get('/none', port => $two)->{status}, 404, 'absent');
}
await('the lines', sub { lines_of($server, 'warn') == 6 });
my $denied = qr{the server's user may not read it: (?:user \S+ \(.*\): )?};
my @want = (qr{403 for /also on two\.example from 127\.0\.0\.1: $denied} .
    qr{\Q$all\E/two/also},
    qr{403 for /closed/x on one\.example from 127\.0\.0\.1: $denied} .
    qr{\Q$all\E/one/closed, a directory on the way to it},
    qr{403 for /secret on one\.example from 127\.0\.0\.1: $denied} .
    qr{\Q$all\E/one/secret}, qr{403 for /secret on two\.example from } .
    qr{127\.0\.0\.1: $denied\Q$all\E/two/secret},
    qr{on one\.example, this page cannot be had: error 403 /secret } .
    qr{\(.*amped\.conf:\d+\): the server's user may not read it: \Q$all\E} .
    qr{/one/secret}, qr{on one\.example, this page cannot be had: fallback } .
    qr{/none\.html \(.*amped\.conf:\d+\): there is no such file: \Q$all\E} .
    qr{/one/none\.html});
my @got = lines_of($server, 'warn');
is(scalar(@got), 6, 'one line of each file');
like($got[$_], qr/\A$want[$_]; this line comes once a minute at most\z/,
    'what it says') for 0 .. 5;
$server->stop;
is(scalar(lines_of($server, 'info')), 0, 'no more than notices');

# A fallback that is not there, and all reasons at info.
$server = start('info');
$server->get('/app/x', port => $one);
$server->get('/a.bak', port => $two);
$server->wait_line(qr{warn: on one\.example, this page cannot be had: fallback } .
    qr{/none\.html \(.*amped\.conf:\d+\): there is no such file: } .
    qr{\Q$all\E/one/none\.html; this line});
$server->wait_line(qr{info: 403 for /a\.bak on two\.example from 127\.0\.0\.1: } .
    qr{its client's network is not allowed: files \*\.bak \(.*:\d+\)$});
$server->stop;
unlike($server->errors, qr/responses|hits|loop lag/, 'no counters at info');

# A page that is a directory; and the counters.
$server = start('debug');
is($server->get('/lost/x', port => $one)->{status}, 404, 'no page');
$server->wait_line(qr{warn: on one\.example, this page cannot be had: error 404 } .
    qr{/pages \(.*\): it is no file});
$server->stop;
like($server->errors, qr/debug: loop lag/, 'counters at debug');
chmod(0755, "$all/one/closed");

done_testing();
