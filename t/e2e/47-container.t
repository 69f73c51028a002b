#!/usr/bin/perl
# As in a container: no terminal, no service manager, and no directories but
# those that the installed files are in.
# arch: one: the monitor does it
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot run_amped slurp write_file);
use Test::More;

my $place = docroot('index.html' => "page\n");
my $run = "$place/run";
my $log = "\taccess $place/none/access.log common\n" .
    "\terror $place/none/error.log\n";

# Logs in a directory that does not exist.
my $server = Amped->start(root => $place, log => $log, errors => 1);
is($server->get('/')->{body}, "page\n", 'it serves');
kill('HUP', $server->{pid});
ok($server->wait_line(qr/read again, and is in force/), 'also after a reload');
is($server->get('/')->{body}, "page\n", '... it serves');
my $text = $server->conf_text;
write_file("$server->{dir}/amped.conf", $text =~ s{/none/access}{/typo/access}r);
kill('HUP', $server->{pid});
ok($server->wait_line(qr{error: .*/typo/access\.log: No such file}),
    'another such directory is an error then');
my $request = qr/"GET \/ HTTP\/1\.1" 200/;
ok($server->wait_line($request, $server->{out}),
    'standard output has requests');
$server->stop;
unlike($server->errors, $request, '... and standard error has none');
ok(!-e "$place/none", 'no directory is made for logs');
my $warning = "warn: there is no directory for the log $place/none/";
for my $name (qw(access error)) {
	my $line = "$warning$name.log: it goes to " .
	    ($name eq 'access' ? 'stdout' : 'stderr');
	is(scalar(grep { /\Q$line\E\z/ } split(/\n/, $server->errors)), 1,
	    "one warning about the $name log");
}
like($server->errors, qr/notice: stopping$/m, 'and the messages');

# By name: also after a reload and for another binary.
$server = Amped->start(root => $place, log => "access stdout common\n" .
    "error stderr notice\n");
my $monitor = $server->{pid};
for my $what (qw(started reloaded upgraded)) {
	kill('HUP', $monitor) if $what eq 'reloaded';
	$server->wait_line(qr/read again, and is in force/)
	    if $what eq 'reloaded';
	kill('USR2', $monitor) if $what eq 'upgraded';
	($monitor) = $server->wait_line(qr/process \d+ takes over/) =~
	    /process (\d+)/ if $what eq 'upgraded';
	is($server->reap, 0, 'the one before has ended') if $what eq 'upgraded';
	is($server->get("/?$what")->{body}, "page\n", "$what: it serves");
	ok($server->wait_line(qr/"GET \/\?$what /, $server->{out}),
	    '... access stdout');
}
kill('TERM', $monitor);
ok($server->wait_nothing_left, 'it ends');
$server->discard;

# Not in the background, where standard output is nobody's.
write_file("$place/background.conf", "log {\n\taccess stdout\n}\n" .
    "site default {\n\tlisten 127.0.0.1:0\n\troot $place\n}\n");
my ($status, $out, $err) = run_amped('-f', "$place/background.conf");
is($status >> 8, 69, 'in the background: exit 69');
like($err, qr/no log can go to stdout: .* start amped with -D$/m,
    '... and how it would do');

# Whoever starts it otherwise has made a mistake.
my $conf = "$place/amped.conf";
write_file($conf, "log {\n$log}\nsite default {\n\tlisten 127.0.0.1:0\n" .
    "\troot $place\n}\n");
for my $option (['-t'], []) {
	($status, $out, $err) = run_amped(@$option, '-f', $conf);
	is($status >> 8, 78, "amped @$option: exit 78");
	like($err, qr{:2:9: \Q$place\E/none/access\.log: No such file},
	    'the log');
}
my $in_terminal = <<'END';
use Fcntl qw(O_NOCTTY O_RDWR);
my $number = pack('i', 0);
sysopen(my $terminal, '/dev/ptmx', O_RDWR | O_NOCTTY) or exit(77);
ioctl($terminal, 0x40045431, $number) or exit(77);
ioctl($terminal, 0x80045430, $number) or exit(77);
sysopen(my $tty, '/dev/pts/' . unpack('i', $number), O_RDWR | O_NOCTTY)
    or exit(77);
open(STDERR, '>&', $tty);
my $status = system(@ARGV);
exit($status >> 8);
END
($status, $out, $err) = Amped::run_command(undef, $^X, '-e', $in_terminal,
    Amped::program(), '-D', '-f', $conf);
SKIP: {
	skip('there are no terminals', 1) if $status >> 8 == 77;
	is($status >> 8, 78, 'with a terminal: exit 78');
}

# The conf with its pid file in this directory.
sub conf_with_pid {
	my ($directory) = @_;

	write_file($conf, "pid $directory/amped.pid\nuser " .
	    Amped::ordinary_user() . "\nlog { error stderr }\n" .
	    "site default {\n\tlisten 127.0.0.1:0\n\troot $place\n}\n");
	return $conf;
}

# The directory of pid file and control socket.
SKIP: {
	skip('only root makes a directory', 12) if $> != 0;
	$server = Amped->start(root => $place, log => $log,
	    global => "pid $run/amped.pid\ncontrol $run/control\n");
	my $ctl = Amped::program() . 'ctl';
	await('the socket', sub { -S "$run/control" });
	is((stat($run))[2] & 07777, 0755, 'a directory for all to read');
	is((stat($run))[4], 0, '... of root');
	is(slurp("$run/amped.pid"), "$server->{pid}\n", 'with the pid file');
	($status, $out, $err) = Amped::run_command(undef, $ctl, '-s',
	    "$run/control", 'reload');
	is($status, 0, 'and the socket: ampedctl reload') or diag($err);
	is($server->get('/')->{body}, "page\n", 'it serves still');
	my $other = "$place/other";
	write_file("$server->{dir}/amped.conf", $server->conf_text =~
	    s{pid \Q$run\E}{pid $other}r);
	($status, $out, $err) = Amped::run_command(undef, $ctl, '-s',
	    "$run/control", 'reload');
	is($status, 0, 'another pid file: ampedctl reload') or diag($err);
	await('it', sub { -s "$other/amped.pid" });
	$server->stop;
	is_deeply([glob("$run/*"), glob("$other/*")], [],
	    'they are empty then');

	($status, $out, $err) = run_amped('-D', '-f',
	    conf_with_pid("$place/a/b"));
	is($status >> 8, 73, 'only the last directory is made: exit 73');
	like($err, qr{cannot make the pid file \Q$place\E/a/b/amped\.pid},
	    'which');
	ok(!-e "$place/a", 'none is left');
	chmod(0777, $place);
	($status, $out, $err) = run_amped('-D', '-f',
	    conf_with_pid("$place/c"));
	is($status >> 8, 73, 'none is made where others may: exit 73');
}

done_testing();
