#!/usr/bin/perl
# Into the background: whoever starts it gets to know whether it serves; and no
# signal is too early.
# arch: one: the monitor goes into the background
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Foreign qw(which_program);
use Amped::Process;
use Fcntl qw(O_NOCTTY O_RDWR);
use POSIX qw(:sys_wait_h);
use Test::More;

Amped::one_main();
Amped::needs_many_clients();

my $root = docroot('page' => "page\n");
my $place = docroot(err => '', out => '', log => '');
my ($conf, $pid) = map { "$place/$_" } qw(amped.conf amped.pid);
my ($types, $gate) = Amped::gate();
my $user = $> == 0 ? 'user ' . Amped::ordinary_user() : '';

# Main reads the types first: there it waits, and nobody serves yet.
write_file($conf, "$user\ntypes $types\npid $pid\nlog {\n\taccess off\n" .
    "\terror $place/log info\n}\nsite default {\n\tlisten 127.0.0.1:0\n" .
    "\troot $root\n}\n");

# Who has started it, and the server, once its main waits.
sub start {
	write_file($_, '') for "$place/log", "$place/err";
	my $starter = Amped::spawn([Amped::program(), '-A',
	    Amped::architecture(), '-f', $conf], "$place/out", "$place/err");
	my $monitor;

	await('a main', sub {
		die slurp("$place/err") if waitpid($starter, WNOHANG) != 0;
		($monitor) = map { (split(' ', slurp("$_/stat") =~
		    s/.*\) //r))[3] } grep { readable("$_/cmdline") =~
		    /\Aamped: main\0/ && started_by($_, $starter) }
		    glob('/proc/[0-9]*');
		return $monitor;
	});
	return ($starter, bless({ pid => $monitor, dir => $place,
	    out => "$place/out", err => "$place/log",
	    error => "$place/log" }, 'Amped'));
}

sub readable {
	my ($file) = @_;

	return eval { slurp($file) } // '';
}

# Whether a main's monitor is a child of that process.
sub started_by {
	my ($main, $starter) = @_;
	my @main = Amped::Process::stat_fields($main =~ s/.*\///r) or return 0;
	my @monitor = Amped::Process::stat_fields($main[4]) or return 0;

	return $monitor[4] == $starter;
}

sub status_of {
	my ($starter) = @_;

	await('who has started it to end',
	    sub { waitpid($starter, WNOHANG) == $starter });
	return $?;
}

# As soon as it serves.
{
	my ($starter, $server) = start();
	is(waitpid($starter, WNOHANG), 0, 'who starts it waits');
	is(slurp($pid), '', 'nobody has the pid file\'s number yet');
	open(my $through, '>', $gate) or die "$gate: $!\n";
	close($through);
	is(status_of($starter), 0, 'until it serves: status 0');
	is(slurp($pid), "$server->{pid}\n", 'then its number is there');
	is(slurp("$place/err"), '', 'nothing is said');
	$server->ready;
	is($server->get('/page')->{body}, "page\n", 'and it does serve');
	my @stat = Amped::Process::stat_fields($server->{pid});
	is_deeply([@stat[6, 7]], [$server->{pid}, 0], 'without a terminal');
	is(readlink("/proc/$server->{pid}/cwd"), '/', 'in /');
	kill('TERM', $server->{pid});
	ok($server->wait_nothing_left, 'it ends');
}

# What does not come to that looks bad, and leaves nothing behind.
for my $case (
	['main dies', 'KILL', sub { $_[1]->role('main') }],
	['the monitor is killed', 'KILL', sub { $_[1]{pid} }],
	['it is stopped', 'TERM', sub { $_[1]{pid} }],
	['who waits is stopped', 'INT', sub { $_[0] }],
) {
	my ($what, $signal, $whom) = @$case;
	my ($starter, $server) = start();
	kill($signal, $whom->($starter, $server));
	is(status_of($starter) >> 8, 70, "$what: exit 70");
	like(slurp("$place/err"),
	    qr/amped ended in the background before it was ready/,
	    "$what: who starts it hears of that");
	ok($server->wait_nothing_left, "$what: nobody is left");
	ok(!-s $pid, "$what: nobody's number is left") or diag(slurp($pid));
}

# At a terminal it says that it serves, and how to stop it.
SKIP: {
	my ($number, $terminal) = (pack('i', 0));
	skip('no terminals as on Linux', 1) if !sysopen($terminal,
	    '/dev/ptmx', O_RDWR | O_NOCTTY) ||
	    !ioctl($terminal, 0x40045431, $number) ||	# TIOCSPTLCK
	    !ioctl($terminal, 0x80045430, $number);	# TIOCGPTN
	my $name = '/dev/pts/' . unpack('i', $number);
	open(my $kept, '<', $name) or die "$name: $!\n";
	for my $control ('', "control $place/control\n") {
		write_file("$place/short.conf", "$user\n$control" .
		    "site default {\n\tlisten 127.0.0.1:0\n\troot $root\n}\n" .
		    "log {\n\taccess off\n\terror $place/log\n}\n");
		my $starter = Amped::spawn([Amped::program(), '-f',
		    "$place/short.conf"], "$place/out", $name);
		my $line = '';
		1 while $line !~ /\n/ &&
		    sysread($terminal, $line, 1000, length($line));
		is(status_of($starter), 0, 'it serves');
		like($line, qr/\Aamped: serving \Q$place\E\/short\.conf on /,
		    'at a terminal it says what');
		like($line, qr/ on 127\.0\.0\.1:0, in the background /, 'and where');
		my ($id) = $line =~ / as process (\d+); to stop it: /
		    or die $line;
		my $stop = $control eq '' ? "kill $id" :
		    "ampedctl -f $place/short.conf stop";
		like($line, qr/: \Q$stop\E\r\n\z/, "$stop stops it");
		kill('TERM', $id);
		await('its end', sub { !kill(0, $id) });
	}
}

# Signals before there is anybody to understand them.
SKIP: {
	my @strace = ('strace', '-D', '-qq', '-o', "$place/calls");

	skip('there is no strace', 1) unless which_program('strace');
	skip('a sanitizer does not like to be traced', 1)
	    if slurp(Amped::program()) =~ /__[at]san_init/;
	my ($status) = Amped::run_command(undef, @strace, '-e',
	    'inject=getppid:signal=CONT', 'true');
	skip('strace may not trace here', 1) if $status != 0;
	for my $signal (qw(HUP USR1 USR2)) {
		my $server = Amped->start(root => $root, unready => 1,
		    under => [@strace, '-e',
		    "inject=listen:signal=$signal:when=1"]);
		my $said = eval { $server->wait_line({ HUP => qr/is in force/,
		    USR1 => qr/has been opened again/,
		    USR2 => qr/takes over/ }->{$signal}) };
		ok($said, "$signal as soon as it listens is obeyed") or
		    diag($server->errors);
		$server->discard;
	}
}

done_testing();
