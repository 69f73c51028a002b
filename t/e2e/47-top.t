#!/usr/bin/perl
# ampedctl top in a terminal: what it shows, its keys, another size, a server
# that goes, and that the terminal is given back.
# arch: one: it shows what it is told
use strict;
use warnings;

use Fcntl qw(O_NOCTTY O_RDWR);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot);
use IO::Select;
use POSIX qw(:sys_wait_h setsid);
use Test::More;

Amped::one_main();

# Linux's numbers of these requests.
use constant {
	TIOCSPTLCK => 0x40045431,
	TIOCGPTN => 0x80045430,
	TIOCSWINSZ => 0x5414,
	TIOCSCTTY => 0x540e,
};

sysopen(my $try, '/dev/ptmx', O_RDWR | O_NOCTTY)
    or plan(skip_all => "no terminals: $!");
ioctl($try, TIOCGPTN, my $none = pack('i', 0))
    or plan(skip_all => "no terminals as on Linux: $!");
close($try);

my $place = docroot();
my $control = "$place/control";
my $program = Amped::program() =~ s{[^/]*\z}{ampedctl}r;
my $server = Amped->start(files => { page => "page\n" },
    global => "control $control\n");
await('the socket', sub { -S $control });

# It runs in a terminal of its own, of that size.
sub run_top {
	my ($rows, $columns, @words) = @_;

	sysopen(my $terminal, '/dev/ptmx', O_RDWR | O_NOCTTY)
	    or die "/dev/ptmx: $!\n";
	my $number = pack('i', 0);
	ioctl($terminal, TIOCSPTLCK, $number) or die "unlock: $!\n";
	ioctl($terminal, TIOCGPTN, $number) or die "number: $!\n";
	my $self = { terminal => $terminal, said => '', name =>
	    '/dev/pts/' . unpack('i', $number) };
	resize($self, $rows, $columns);
	$self->{pid} = fork() // die "fork: $!\n";
	return $self if $self->{pid} != 0;
	setsid();
	open(my $tty, '+<', $self->{name}) or die "$self->{name}: $!\n";
	ioctl($tty, TIOCSCTTY, 0);
	open(STDIN, '<&', $tty);
	open(STDOUT, '>&', $tty);
	open(STDERR, '>&', $tty);
	$ENV{TERM} = @words && $words[0] eq 'dumb' ? shift(@words) : 'xterm';
	exec { $program } $program, '-s', $control, 'top', @words
	    or POSIX::_exit(127);
}

sub resize {
	my ($top, $rows, $columns) = @_;

	ioctl($top->{terminal}, TIOCSWINSZ, pack('S4', $rows, $columns, 0, 0))
	    or die "size: $!\n";
}

# What it has said so far, as soon as that matches.
sub shows {
	my ($top, $pattern) = @_;

	return eval { await("$pattern on the screen",
	    sub { shows_now($top) =~ $pattern }) };
}

sub status_of {
	my ($top) = @_;
	my $status;

	await('top to end', sub {
		# Else it could wait for somebody to take what it says.
		shows_now($top);
		return waitpid($top->{pid}, WNOHANG) == $top->{pid};
	});
	$status = $? >> 8;
	shows_now($top);		# what it said between these two
	return $status;
}

# All that it has said by now.
sub shows_now {
	my ($top) = @_;
	my $select = IO::Select->new($top->{terminal});

	while ($select->can_read(0)) {
		last if !sysread($top->{terminal}, $top->{said}, 65536,
		    length($top->{said}));
	}
	return $top->{said};
}

my $top = run_top(24, 80, '0.2');
ok(shows($top, qr/\e\[\?1049h/), 'a screen of its own');
ok(shows($top, qr/amped 0\.1\.0 /), 'the title');
ok(shows($top, qr/requests +0 +0\/s  2xx 0/), 'and requests, with their rate');
$server->get('/page') for 1 .. 5;
ok(shows($top, qr/requests +5 +[\d.]+\/s  2xx 5/), 'it is live');
ok(shows($top, qr{\e\[J}), 'a whole screen');
my ($screen) = $top->{said} =~ /.*\e\[H(.*?)\e\[J/s;
is(scalar(grep { length(s/\e\[K//r) > 80 } split(/\r*\n/, $screen)), 0,
    'no line is too wide');
cmp_ok(scalar(split(/\r*\n/, $screen)), '<=', 24, 'nor are there too many');

# Another size.
$top->{said} = '';
resize($top, 10, 40);
ok(shows($top, qr/\e\[H(?:(?!\e\[H|\e\[J).)*\z|\e\[H.*?\e\[H/s), 'another size');
$top->{said} = '';
ok(shows($top, qr/\e\[H.*?\e\[H/s), 'is drawn');
($screen) = $top->{said} =~ /\e\[H(.*?)\e\[H/s;
is(scalar(grep { length(s/\e\[[KJ]//gr) > 40 } split(/\r*\n/, $screen)), 0,
    'no line is too wide');
cmp_ok(scalar(split(/\r*\n/, $screen)), '<=', 10, 'nor are there too many');
like($screen, qr/4xx.*5xx 0  aborted 0/s, 'what is too long goes on below');

# Main dies: it says so, and goes on.
resize($top, 24, 80);
$server->{errors} = 1;
my ($main) = $server->kill_role('KILL', 'main');
await('another main', sub { grep { $_ != $main } $server->role('main') });
$top->{said} = '';
ok(shows($top, qr/main died 1 times/), 'main died: it goes on');

syswrite($top->{terminal}, 'q');
is(status_of($top), 0, 'q ends it');
like($top->{said}, qr/\e\[\?1049l\z/, 'and the screen is given back');

# By a signal, too.
$top = run_top(24, 80);
ok(shows($top, qr/requests/), 'another one');
kill('TERM', $top->{pid});
is(status_of($top), 0, 'a signal ends it');
like($top->{said}, qr/\e\[\?1049l\z/, 'properly');

# The server goes, and comes again.
$top = run_top(24, 80, '0.1');
ok(shows($top, qr/requests/), 'another one');
$server->stop;
ok(shows($top, qr/no server listens at/), 'without a server it says so');
$server = Amped->start(files => { page => "page\n" },
    global => "control $control\n");
$top->{said} = '';
ok(shows($top, qr/requests +0 +0\/s(?:(?!no server).)*\e\[J\z/s),
    'and goes on with the next one');
$server->stop;
$top->{said} = '';
ok(shows($top, qr/no server listens at/), 'that has gone, too');
syswrite($top->{terminal}, 'q');
is(status_of($top), 0, 'q ends it then as well');

$top = run_top(24, 80);
is(status_of($top), 69, 'without a server from the beginning it ends');
like($top->{said}, qr/\e\[\?1049l.*no server listens at/s,
    'and says why, where it can be read');

# What makes no sense.
for my $words (['0'], ['x'], ['1', '2'], ['dumb']) {
	$top = run_top(24, 80, @$words);
	is(status_of($top), 64, "top @$words");
}

done_testing();
