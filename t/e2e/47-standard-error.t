#!/usr/bin/perl
# Standard error of who starts it: in the background it is given up as soon as no
# log goes there, so that nobody waits for its end; and not before all has been
# said that who starts it is to hear.
# arch: one: the monitor gives it up
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use IO::Select;
use POSIX qw(setsid);
use Test::More;

Amped::one_main();

my $root = docroot('page' => "page\n");
my $place = docroot(map { ($_ => '') } qw(log access));
my ($conf, $pidfile) = ("$place/amped.conf", "$place/pid");
my $user = $> == 0 ? 'user ' . Amped::ordinary_user() . "\n" : '';
my @files = ("$place/access common", "$place/log info");
my $monitor;			# who is in charge

chmod(0777, $place);

sub conf {
	my ($access, $error, $more) = @_;

	write_file($conf, $user . "pid $pidfile\nlog {\n\taccess $access\n" .
	    "\terror $error\n}\nsite default {\n\tlisten 127.0.0.1:0\n" .
	    "\troot $root\n}\n" . ($more // ''));
}

# Starts it, its standard error a pipe: the end that is read, and its status.
sub start {
	pipe(my $read, my $write) or die "pipe: $!\n";
	write_file("$place/log", '');
	my $pid = fork() // die "fork: $!\n";
	if ($pid == 0) {
		setsid();
		close($read);
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>&', $write);
		open(STDERR, '>&', $write);
		exec(Amped::program(), '-f', $conf) or POSIX::_exit(127);
	}
	close($write);
	waitpid($pid, 0);
	my $status = $? >> 8;
	$monitor = $status == 0 ? slurp($pidfile) + 0 : undef;
	return ($read, $status);
}

# What it still says, to the end; undef: there is none for now.
sub rest {
	my ($read, $seconds) = @_;
	my $said = '';

	while (IO::Select->new($read)->can_read($seconds // 10)) {
		sysread($read, $said, 65536, length($said)) or return $said;
	}
	return undef;
}

sub stop {
	kill('TERM', $monitor);
	await('its end', sub { !kill(0, $monitor) });
}

# What the conf says from now on; the line of the log that tells what became of
# it.
sub change {
	my ($line, @conf) = @_;
	my $before = () = slurp("$place/log") =~ /$line/g;

	conf(@conf);
	kill('HUP', $monitor);
	await("$line", sub {
		$before < (() = slurp("$place/log") =~ /$line/g) });
}

for my $case (
	['both logs in files', @files],
	['the error log for the system', 'off', 'syslog info'],
	['the error log for a program', 'off', '"|/bin/cat" info'],
	['both for programs', '"|/bin/cat" common', '"|/bin/sleep 1000" info'],
) {
	my ($what, @logs) = @$case;
	conf(@logs);
	my ($read, $status) = start();
	is($status, 0, "$what: it serves");
	is(rest($read), '', "$what: standard error ends, nothing said");
	stop();
}

# Kept, and given up when the conf does not want it any more: by another binary,
# too.
for my $upgrade (0, 1) {
	my $what = $upgrade ? 'the next binary' : 'it';
	conf('stderr common', $files[1]);
	my ($read) = start();
	if ($upgrade) {
		kill('USR2', $monitor);
		await('the next one', sub {
			slurp("$place/log") =~ /process (\d+) takes over/ or
			    return 0;
			$monitor = $1;
			return slurp($pidfile) == $monitor;
		});
	}
	is(rest($read, 0.2), undef, "$what keeps it for a log");
	change(qr/is in force/, @files);
	is(rest($read), '', "$what gives it up with a conf without one");
	change(qr/given up.*?the conf in force stays/s, 'stderr common',
	    $files[1]);
	pass("$what takes no conf that wants it again");
	stop();
}

# Given up by the one before: the next one knows that.
conf(@files);
my ($read) = start();
is(rest($read), '', 'given up');
conf('stderr common', $files[1]);
kill('USR2', $monitor);
await('it to stay', sub { slurp("$place/log") =~
    /given up standard error.*going on with the one before/s });
pass('a binary that wants it does not take over');
stop();

# It is heard until then.
conf("$place/none/access", $files[1]);
($read, my $status) = start();
isnt($status, 0, 'a log that cannot be opened');
like(rest($read), qr/No such file or directory/, 'is told');
conf($files[0], '"|/nobody/here" info');
($read, $status) = start();
like(rest($read) // 'no end', qr{cannot run /nobody/here}, 'and so is a ' .
    'program that cannot be run');
stop() if defined($monitor);

done_testing();
