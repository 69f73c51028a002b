#!/usr/bin/perl
# Where logs go beside files: to the system's log, and to programs; that none
# of them holds up anybody, and that what is lost is counted; names in place of
# addresses; errors that are said again and again.
# arch: one: main does not know where the two loggers write
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port slurp write_file);
use Amped::Process;
use IO::Socket::UNIX;
use Socket qw(MSG_DONTWAIT SOCK_DGRAM);
use Test::More;

my $root = docroot('page' => "page\n");
my $dir = docroot();
chmod(0777, $dir);		# for whoever the server becomes

sub start {
	my ($log, %opt) = @_;
	my $port = free_port();
	my $server = Amped->start(root => $root, unready => 1, log => $log,
	    sites => "site default {\n\tlisten 127.0.0.1:$port\n" .
	    "\troot $root\n}\n", %opt);

	$server->{ports} = [$port];
	await('it to serve', sub { eval { $server->connect } });
	return $server;
}

sub ask {
	my ($server, $n, $query) = @_;

	return $server->connect->right($n, "/page?$query" => "page\n");
}

# With another log block from now on.
sub with_log {
	my ($server, $log) = @_;

	$server->{log} = $log;
	$server->arguments;
	kill('HUP', $server->{pid});
}

# The system's log: a socket that we read.
sub listen_at {
	my ($name) = @_;

	unlink($name);
	my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM,
	    Local => $name) or die "$name: $!\n";
	chmod(0666, $name);
	return $socket;
}

my $heard = '';

sub heard {
	my ($socket, $pattern) = @_;

	await("the system's log to have $pattern", sub {
		my $line;

		$heard .= "$line\n"
		    while defined($socket->recv($line, 65536, MSG_DONTWAIT));
		return $heard =~ $pattern;
	});
	return 1;
}

my $socket = listen_at("$dir/log");
my $log = "\taccess syslog:$dir/log combined facility local3 tag web\n" .
    "\terror syslog:$dir/log info\n";
my $server = start($log);
is(ask($server, 1, 'first'), 1, 'syslog: served');
my $stamp = qr{\w{3} [ \d]\d [\d:]{8}};
ok(heard($socket, qr{^<158>$stamp web: 127\.0\.0\.1 .*/page\?first}m),
    'a line of the access log');
ok(heard($socket, qr{^<29>.{15} amped: monitor\[\d+\] notice: ready}m),
    'one of the error log');
is($server->errors, '', 'nothing elsewhere');
close($socket);
is(ask($server, 1, 'lost'), 1, 'nobody is there: served');
kill('USR1', $server->{pid});
await('the loss to be noticed', sub {
	ask($server, 1, 'lost');
	return $server->role('access log') && $server->role('error log');
});
$socket = listen_at("$dir/log");
await('lines again', sub {
	ask($server, 1, 'again');
	my $line;
	$heard .= "$line\n"
	    while defined($socket->recv($line, 65536, MSG_DONTWAIT));
	return $heard =~ /page\?again/;
});
pass('another one: lines go there');
is(ask($server, 3000, 'x' x 500), 3000, 'it does not read: served');
ok(heard($socket, qr/access log were lost/), 'how many were lost is told');
with_log($server, "\taccess syslog:$dir/log facility local4\n" .
    "\terror %D/error.log info\n");
$server->wait_line(qr/has been read again/, $server->{error});
await('the other facility', sub {
	ask($server, 1, 'other');
	my $line;
	$heard .= "$line\n"
	    while defined($socket->recv($line, 65536, MSG_DONTWAIT));
	return $heard =~ m{^<166>.{15} amped: .*\?other}m;
});
pass('HUP: another facility, and another error log');
$server->stop;
close($socket);
SKIP: {
	skip('there is a /dev/log', 1) if -e '/dev/log';
	$server = start("\taccess syslog common\n\terror stderr info\n",
	    errors => 1);
	ask($server, 1, 'x');
	$server->wait_line(qr/access log cannot be written.*No such file/);
	pass('no system\'s log at all: it is said');
	$server->stop;
}

# A program: one that appends to a file what it reads, and says when it begins
# and ends.
write_file("$dir/keep", <<'END');
#!/bin/sh
echo "begin $*" >> "$1.life"
cat >> "$1"
echo "end" >> "$1.life"
END
chmod(0755, "$dir/keep");

sub lives {
	my ($name) = @_;
	my $text = -e "$dir/$name.life" ? slurp("$dir/$name.life") : '';
	my $begun = () = $text =~ /^begin/mg;
	my $ended = () = $text =~ /^end/mg;

	return "$begun $ended";
}

sub await_lives {
	my ($name, $lives) = @_;

	return await("$name to have begun and ended $lives",
	    sub { lives($name) eq $lives });
}

$server = start("\taccess \"|$dir/keep $dir/a 'two words'\" common\n" .
    "\terror \"| $dir/keep $dir/e\" info\n");
is(ask($server, 1, 'one'), 1, 'program: served');
$server->wait_line(qr/\?one /, "$dir/a");
$server->wait_line(qr/notice: ready/, "$dir/e");
like(slurp("$dir/a.life"), qr{\Abegin $dir/a two words$}m, 'its arguments');
is($server->errors, '', 'nothing elsewhere');
kill('USR1', $server->{pid});
ok(await_lives($_, '2 1'), "USR1: $_ begins again") for qw(a e);
is(ask($server, 1, 'two'), 1, 'served');
$server->wait_line(qr/\?two /, "$dir/a");
with_log($server, $server->{log});
$server->wait_line(qr/has been read again/, "$dir/e");
is(lives($_), '2 1', "HUP with the same conf: $_ goes on") for qw(a e);
is(ask($server, 1, 'three'), 1, 'served');
$server->wait_line(qr/\?three /, "$dir/a");

# It dies: another one, and nothing is lost.
my ($child) = grep { $_->{shown} =~ m{keep $dir/a} }
    $server->processes;
ok($child, 'it is one of the server\'s processes');
kill('KILL', $child->{pid});
$server->wait_line(qr/log program .* was killed/, "$dir/e");
is(ask($server, 1, 'four'), 1, 'killed: served');
ok(await('another one', sub { lives('a') =~ /\A3 / }),
    'another one is started');
$server->wait_line(qr/\?four /, "$dir/a");
pass('nothing is lost');
with_log($server, "\taccess \"|$dir/keep $dir/b\" common\n" .
    "\terror \"|$dir/keep $dir/e\" info\n");
await('another program', sub { lives('b') eq '1 0' && ask($server, 1, 'b') &&
    slurp("$dir/b") =~ /\?b / });
pass('HUP: another program');
is(ask($server, 500, 'last'), 500, 'served');
$server->stop('QUIT');
is(() = slurp("$dir/b") =~ /\?last /g, 500, 'all is there at the end');
like(slurp("$dir/e"), qr/notice: stopping/, 'the last words, too');
is((split(/ /, lives('b')))[1], 1, 'and it has ended');

# One that says what it reads, and is there for another log at first, or not at
# all: it must not hear itself.  tee writes there first, so what it has said is
# back before what is said next.
SKIP: {
	my ($tee) = grep { -x } qw(/usr/bin/tee /bin/tee);

	skip('there is no tee', 6) unless $tee;
	for my $access ('off', "\"|$tee -a $dir/own\" common") {
		my $own = "\terror \"|$tee -a $dir/own\" info\n";
		my $file = "\terror %D/error.log info\n";
		my $readings = 0;
		my %before;
		# The access logger of who serves now, when it is the only one.
		my $next = sub {
			return await('an access logger', sub {
				my @now = $server->role('access log');

				return @now == 1 && !$before{$now[0]}++ &&
				    $now[0];
			});
		};

		write_file("$dir/own", '');
		chmod(0666, "$dir/own");
		$server = start("\taccess off\n$file");
		$server->wait_line(qr/notice: ready/, $server->{error});
		for my $error ($file, $own) {
			$next->();
			with_log($server, "\taccess $access\n$error");
			$readings++;
			await('it to be in force', sub {
				$readings <= (() = (slurp($server->{error}) .
				    slurp("$dir/own")) =~ /read again, and/g);
			});
		}
		my $killed = $next->();
		kill('KILL', $killed);
		$server->wait_line(qr/access logger $killed was killed/, "$dir/own");
		$server->stop;
		for my $once ("access logger $killed was killed",
		    'stopping') {
			is(() = slurp("$dir/own") =~ /$once/g, 1,
			    "it does not hear itself: $once");
		}
	}
}

# One that does not read, one that cannot be run, one that ends at once.
$server = start("\taccess \"|/bin/sleep 1000\" common\n\terror stderr info\n",
    errors => 1);
is(ask($server, 4000, 'x' x 1000), 4000, 'it does not read: served');
$server->wait_line(qr/access log cannot be written/);
pass('and it is said');
is(eval { kill('TERM', $server->{pid}); $server->reap }, 0, 'it ends');
$server->stop;
write_file("$dir/not", "no program\n");
chmod(0755, "$dir/not");
$server = start("\taccess \"|$dir/not\" common\n\terror stderr info\n",
    errors => 1);
$server->wait_line(qr{cannot run the log program $dir/not: Exec});
$server->wait_line(qr{log program .* ended with status 1: starting}m);
is(ask($server, 1, 'x'), 1, 'no program: served');
$server->stop;

# The monitor is killed: whoever reads finds the end.
unlink("$dir/a.life");
$server = start("\taccess \"|$dir/keep $dir/a\" common\n" .
    "\terror stderr info\n", errors => 1);
await_lives('a', '1 0');
kill('KILL', $server->{pid});
is($server->reap & 127, 9, 'the monitor is killed');
ok($server->wait_nothing_left, 'nobody stays behind');
ok(await_lives('a', '1 1'), 'it came to the end');
$server->discard;

# Names: the table of hosts has one for this address.
my $name = gethostbyaddr(pack('C4', 127, 0, 0, 1), Socket::AF_INET());
SKIP: {
	skip('127.0.0.1 has no name', 4) unless $name;
	$server = start("\taccess %D/access.log mine\n\tnames on\n" .
	    "\tformat mine \"%h %a %s %r\"\n\terror stderr info\n");
	is(ask($server, 3, 'named'), 3, 'names: served');
	my @lines = $server->wait_lines(3);
	is($lines[$_], "$name 127.0.0.1 200 GET /page?named HTTP/1.1",
	    "line $_") for 0 .. 2;
	$server->stop;
}

# The same error again and again: of a file that a conf includes many times.
$server = start("\taccess off\n\terror %D/error.log info\n");
$server->wait_line(qr/notice: ready/, $server->{error});
write_file("$dir/wrong.conf", "wrong\n");
write_file("$server->{dir}/amped.conf", "include $dir/wrong.conf\n" x 50);
kill('HUP', $server->{pid});
my $line = qr{error: \Q$dir\E/wrong\.conf:1:1: unknown word};
$server->wait_line(qr/$line .*\((\d+) times? more\)/, $server->{error});
my @said = slurp($server->{error}) =~ /$line (.*)/g;
is(@said, 2, 'an error that is repeated is there once, and counted');
like($said[1], qr/\(49 times more\)\z/, 'as often as it was said');
$server->stop;

done_testing();
