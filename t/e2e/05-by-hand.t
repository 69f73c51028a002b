#!/usr/bin/perl
# "amped DIRECTORY", as one tries amped first: it lists, the terminal has the
# reason of each refusal, and an end is quiet.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot free_port run_amped said slurp write_file);
use Test::More;

my $arch = Amped::architecture();
my $root = docroot('a.txt' => "a\n", 'private.txt' => "p\n", 'sub/b.txt' => "b\n",
    '.hidden' => "h\n", 'conf' => "user nobody\n");
chmod(0600, "$root/private.txt");
chmod(0, "$root/private.txt") if $> != 0;

my $server = Amped->start(plain => 1, root => $root);
my $answer = $server->get('/');
is($answer->{status}, 200, 'a directory without index file is listed');
is((map { $_->{shown} } grep { $_->{pid} == $server->{pid} }
    $server->processes)[0], "amped: monitor $root", 'ps shows what is served');
like($answer->{body}, qr/href="sub\/"/, 'with its directories');
unlike($answer->{body}, qr/hidden/, 'but not what has a dot before it');
is($server->get('/sub/?format=json')->{status}, 200, 'as JSON, too');
is($server->get($_->[0])->{status}, $_->[1], "$_->[0]: $_->[1]") for
    ['/private.txt', 403], ['/.hidden', 403], ['/nothing', 404];
ok($server->wait_line($_->[1]), "the terminal says why $_->[0]") for
    ['it is refused', qr{403 for /private\.txt on default .*may not read}],
    ['a dot is, too', qr{403 for /\.hidden on default from .*: .* dot}],
    ['there is nothing', qr{404 for /nothing on default .*no such file}];
$server->stop;
unlike($server->errors, qr/loop lag|requests: \d/, 'no counters at the end');

# A signal to the whole process group, as of timeout(1): nothing is amiss, and
# the log has its last lines.  Who watches directories is limited by the system
# for a user, to whom other programs belong, too.
for my $signal (qw(TERM INT HUP)) {
	for my $try (1 .. 3) {
		$server = Amped->start(plain => 1, root => $root);
		is($server->get('/a.txt')->{status}, 200, 'served');
		kill($signal, -$server->{pid});
		is($server->reap, 0, "$signal to all: status 0");
		ok($server->wait_nothing_left, 'nothing is left');
		my @lines = split(/\n/, $server->errors);
		is_deeply([grep { / (?:error|warn): / &&
		    !/inotify\.max_user_instances/ } @lines], [],
		    'nothing is complained of');
		is(scalar(grep { m{"GET /a\.txt } } @lines), 1,
		    'the access log has the request');
		$server->stop;
	}
}

# A port alone is one of this host.
for my $form ('%d', ':%d') {
	my $port = free_port();
	my $text = sprintf($form, $port);
	$server = Amped->start(plain => $text, root => $root);
	is($server->port, $port, "-l $text: a port of 127.0.0.1");
	$server->stop;
}

# What cannot be served.
my ($status, $out, $err);
for my $case (["$root/none", 66, qr{serve \Q$root\E/none: No such file}],
    ["$root/conf", 66, qr{\Q$root\E/conf: it is a file, not a directory; -f}],
    ['-t', "$root/conf", 66, qr{/conf: it is a file, .*; -f names a conf}]) {
	my ($expected, $pattern) = splice(@$case, -2);
	($status, $out, $err) = run_amped(@$case);
	is($status >> 8, $expected, "@$case: exit $expected");
	like($err, $pattern, '... with the reason');
}
for my $case (['99999', '"127.0.0.1:99999": a port is a number up to 65535'],
    ['nowhere', '"nowhere": no address: '],
    ['nowhere:80', '"nowhere:80": "nowhere" is not an address']) {
	my ($address, $reason) = @$case;
	($status, $out, $err) = run_amped('-l', $address, $root);
	is($status >> 8, 64, "-l $address: exit 64");
	like($err, qr/\Aamped: \Q$reason\E[^\n]*\n\z/, '... with the reason alone');
}

SKIP: {
	skip('only root can have a directory of root', 5) if $> != 0;
	my $private = docroot('private/secret' => "s\n", 'other/page' => "o\n");
	chmod(0700, "$private/private");
	($status, $out, $err) = run_amped('-A', $arch, '-l', '127.0.0.1:0',
	    "$private/private");
	is($status >> 8, 66, 'a private directory of root: exit 66');
	like($err, qr{may not read \Q$private\E/private, .*\(chmod},
	    '... with what to do');
	my $owner = getpwnam('daemon');
	chown($owner, -1, "$private/other");
	chmod(0700, "$private/other");
	$server = Amped->start(plain => 1, root => "$private/other");
	is($server->get('/page')->{body}, "o\n",
	    'one of somebody else is served as its owner');
	$server->stop;
	chmod(0700, $private);
	chmod(0755, "$private/private");
	($status, $out, $err) = run_amped('-A', $arch, '-l', '127.0.0.1:0',
	    "$private/private");
	is($status >> 8, 66, 'below a private directory of root: exit 66');
	chmod(0755, $private);
}

done_testing();
