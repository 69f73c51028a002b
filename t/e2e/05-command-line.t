#!/usr/bin/perl
# Options, and what they get who write them or the conf wrong.
# arch: one: options and the conf are read before there is any
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot run_amped slurp write_file);
use IO::Socket::INET;
use Test::More;

my $dir = docroot('site/index.html' => "x\n");
my $conf = "$dir/amped.conf";

sub conf {
	my ($text) = @_;

	$text =~ s/%D/$dir/g;
	write_file($conf, $text);
}

my $good = "site default {\n\tlisten 127.0.0.1:0\n\troot %D/site\n}\n";
my ($status, $out, $err);

($status, $out, $err) = run_amped('-V');
is($status, 0, '-V');
like($out, qr/\Aamped \d+\.\d+\S*\n/, 'prints the version');

like($out, qr/^$_: \S/m, "-V: $_")
    for qw(compiler libraries architectures conf helper);

# Help and version, of each program.
for my $program (qw(amped ampedctl amped-helper)) {
	my $path = Amped::program() =~ s{amped\z}{$program}r;
	my %said;
	for my $option (qw(-h --help -V --version)) {
		($status, $out, $err) =
		    Amped::run_command(undef, $path, $option);
		is($status, 0, "$program $option: status 0");
		is($err, '', '... on standard output');
		$said{$option} = $out;
	}
	is($said{'--help'}, $said{'-h'}, "$program --help is -h");
	is($said{'--version'}, $said{'-V'}, "$program --version is -V");
	like($said{'-V'}, qr/\A$program \d+\.\d/, '... its name and version');
	my ($usage, $options) = split(/\n\n/,
	    $said{'-h'} =~ s/\n {17,}/  /gr);
	like($usage, qr/\Ausage: $program /, 'the usage');
	my %explained = map { $_ => 1 } $options =~ /^  (-\w).*\.$/mg;
	my ($flags) = $usage =~ /\[-(\w{2,})\]/;
	my @used = ($usage =~ /(?<![\w-])(-\w)\b/g,
	    map { "-$_" } split(//, $flags // ''));
	is_deeply([grep { !$explained{$_} } @used], [],
	    'each option in it is explained');
	is_deeply([grep { length > 80 } split(/\n/, $said{'-h'})], [],
	    'no line is too long');
	($status, $out, $err) = Amped::run_command(undef, $path, '--helpp');
	is($status >> 8, 64, 'another long name: exit 64');
	like($err, qr/'--helpp'.*^usage: /ms, '... with its name and the usage');
}

conf($good);
($status, $out, $err) = run_amped('-t', '-f', $conf);
is($status, 0, 'a good conf passes -t') or diag($err);
is($err, "amped: $conf is fine: 1 site on 127.0.0.1:0\n", 'and it says so');
($status, $out, $err) = run_amped('-tq', '-f', $conf);
is($status, 0, 'a good conf passes -tq');
is("$out$err", '', 'and it says nothing');
($status, $out, $err) = run_amped('-q', '-f', $conf);
is($status >> 8, 64, '-q by itself makes no sense');

# Text of a bad conf, the error word for word.
my @bad = (
	["site default {\n\tlisten 127.0.0.1:0\n\troott %D/site\n}\n", <<'END'],
%C:3:2: unknown word "roott" in block site
    roott %D/site
    ^~~~~ did you mean "root"?
END
	["cache {\n\tpaths 10 revalidate 2parsecs\n}\n$good", <<'END'],
%C:2:22: "2parsecs" is not a time: a number with ms, s, m, h or d behind it
    paths 10 revalidate 2parsecs
                        ^~~~~~~~
END
	["helpers 2 max 1000\n$good", <<'END'],
%C:1:15: 1000 is out of bounds: helpers max takes 1 to 256
    helpers 2 max 1000
                  ^~~~
END
);
for my $case (@bad) {
	my ($text, $complaint) = @$case;

	conf($text);
	$complaint =~ s/%C/$conf/g;
	$complaint =~ s/%D/$dir/g;
	($status, $out, $err) = run_amped('-t', '-f', $conf);
	is($status >> 8, 78, 'a bad conf: exit 78');
	like("$out$err", qr/\Q$complaint\E/, 'the complaint with its caret');
	my ($again, undef, $said) = run_amped('-D', '-f', $conf);
	is($again >> 8, 78, 'it does not start with it');
	like($said, qr/\Q$complaint\E/, 'and says the same');
}

# All errors at once, and a directory that is not there.
conf("usr www-data\nsite default {\n\tlisten 127.0.0.1:0\n" .
    "\troot %D/nothing\n\tindx a\n}\n");
($status, $out, $err) = run_amped('-t', '-f', $conf);
is($status >> 8, 78, 'three mistakes: exit 78');
like("$out$err", qr/^\Q$conf\E:$_:\d+: /m, "line $_ is complained of")
    for 1, 4, 5;
($status, $out, $err) = run_amped('-t', '-f', "$dir/none.conf");
is($status >> 8, 78, 'no such conf: exit 78');
like("$out$err", qr{\Q$dir/none.conf\E.*No such file}, 'and its name');

# What -T prints is a conf, and gives the same when read.
conf("cache {\n\tpaths 1234 revalidate 3s\n}\n$good");
($status, $out, $err) = run_amped('-T', '-f', $conf);
is($status, 0, '-T');
like($out, qr/\bpaths\b.*\b1234\b/, 'a value of the conf is in it');
like($out, qr/# \Q$conf\E:2$/m, 'and where it came from');
like($out, qr/\b$_\b/, "the limit \"$_\" is in it")
    for qw(connections header head idle disk chunks small max);
my $first = $out;
write_file("$dir/dump.conf", $first);
($status, $out, $err) = run_amped('-T', '-f', "$dir/dump.conf");
is($status, 0, 'its output is a conf') or diag($err);
s/[ \t]*#.*//g for $first, $out;
is($out, $first, 'with the same values');

# What makes no sense together has its reason before the usage.
for my $case (
    ['-l', '8080', qr/-l is for a directory: name the one to serve/],
    ['-l', '8080', '-f', $conf, qr/-l is for a directory: with -f, "listen"/],
    ['-f', $conf, $dir, qr/leave out -f or the directory/],
    [$dir, $dir, qr/one directory can be served/],
    ['-q', qr/-q is for -t and -T/], ['-c', '127.0.0.1', qr/are for -u/],
    ['-u', '/', '-t', qr/-u explains one URL/],
    ['-u', '/', '-H', 'A', qr/-H takes one field/]) {
	my $reason = pop(@$case);
	($status, $out, $err) = run_amped(@$case);
	is($status >> 8, 64, "@$case: exit 64");
	like($err, qr/\Aamped: [^\n]*$reason.*^usage: /ms, '... and why');
}

# Without a control socket, ampedctl says how to do without.
for my $case (['', 'that ps calls "amped: monitor"'],
    ["pid $dir/pid\n", "whose id is in $dir/pid"]) {
	my ($more, $how) = @$case;
	conf($more . $good);
	($status, $out, $err) = Amped::run_command(undef,
	    Amped::program() =~ s{amped\z}{ampedctl}r, '-f', $conf, 'stop');
	is($status >> 8, 78, 'no control socket: exit 78');
	like($err, qr/names no control socket: .*SIGTERM stops the process \Q$how/,
	    '... and how to do without');
}

($status, $out, $err) = run_amped('-Z');
is($status >> 8, 64, 'an unknown option: exit 64');
like($err, qr/^usage: /m, 'and the usage');

($status, $out, $err) = run_amped("$dir/nothing");
is($status >> 8, 66, 'DIR is not there: exit 66');
like($err, qr{\Q$dir/nothing\E}, 'and its name');

($status, $out, $err) = run_amped('-A', 'ampd', "$dir/site");
isnt($status, 0, 'an unknown architecture is refused');
like($err, qr/ampd/, 'by its name');

# A port in use: one line.
my $taken = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
my $port = $taken->sockport;
conf($good =~ s/:0/:$port/r);
for my $args (['-D', '-f', $conf], ['-l', "127.0.0.1:$port", "$dir/site"]) {
	($status, $out, $err) = run_amped(@$args);
	is($status >> 8, 69, 'a port in use: exit 69');
	my @lines = grep { /127\.0\.0\.1:$port/ } split(/\n/, $err);
	is(@lines, 1, 'one line says which') or diag($err);
	like($lines[0] // '', qr/another program.*\bss\b.*stop it/, 'and why');
}

# A port of the system's, as somebody ordinary.
SKIP: {
	my $user = Amped::ordinary_user();
	my $sysctl = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
	my $lowest = -e $sysctl ? 0 + slurp($sysctl) : 1024;
	skip('only root can become somebody ordinary', 3) if $> != 0;
	skip('port 1 is anybody\'s here', 3) if $lowest <= 1;
	conf($good =~ s/:0/:1/r);
	($status, $out, $err) = Amped::run_as($user, '-D', '-f', $conf);
	is($status >> 8, 69, 'a privileged port: exit 69');
	like($err, qr/127\.0\.0\.1:1\b/, 'the line says which');
	like($err, qr/root|CAP_NET_BIND_SERVICE/, 'and by whose leave');
}

# A directory to serve, a log, a user, a helper: each that is not there.
($status, $out, $err) = run_amped('-l', 'nowhere:x', "$dir/site");
is($status >> 8, 64, 'a bad address of a directory: exit 64');
SKIP: {
	skip('only root becomes another user', 3) if $> != 0;
	conf("user amped-nobody-has-this\n$good");
	($status, $out, $err) = run_amped('-D', '-f', $conf);
	is($status >> 8, 78, 'no such user: exit 78');
	like($err, qr/there is no user "amped-nobody-has-this"/, 'by name');
	my $user = Amped::ordinary_user();
	chmod(0700, "$dir/site");
	($status, $out, $err) = Amped::run_as($user, '-l', '127.0.0.1:0',
	    "$dir/site");
	chmod(0755, "$dir/site");
	is($status >> 8, 66, 'a directory that may not be read: exit 66')
	    or diag($err);
}
write_file("$dir/full/log", '');
conf("log {\n\taccess %D/full/log/x\n\terror stderr\n}\n$good");
($status, $out, $err) = run_amped('-t', '-f', $conf);
is($status >> 8, 78, 'a log in no directory: exit 78');
mkdir("$dir/full/dir");
conf("log {\n\taccess %D/full/dir\n\terror stderr\n}\n$good");
($status, $out, $err) = run_amped('-D', '-f', $conf);
is($status >> 8, 73, 'a log that cannot be opened: exit 73');
like($err, qr{cannot open the log \Q$dir\E/full/dir}, 'and its name');
{
	my $alone = docroot();
	system('cp', Amped::program(), "$alone/amped");
	conf($good);
	($status, $out, $err) = Amped::run_command(undef, "$alone/amped", '-D',
	    '-f', $conf);
	SKIP: {
		skip('amped is installed here', 2) if $status == 0;
		is($status >> 8, 72, 'no helper: exit 72');
		like($err, qr/cannot find amped-helper/, 'and says so');
	}
	SKIP: {
		skip('only root starts a server as another user', 4)
		    if $> != 0;
		my $user = Amped::ordinary_user();
		my $helper = Amped::program() . '-helper';
		conf("user $user\n$good");
		system('cp', $helper, "$alone/amped-helper");
		chmod(0750, "$alone/amped-helper");
		for my $option ('-t', '-D') {
			($status, $out, $err) = Amped::run_command(undef,
			    "$alone/amped", $option, '-f', $conf);
			is($status >> 8, 72, 'a helper that the user may not ' .
			    "execute, $option: exit 72");
			like($err, qr{error: user $user may not execute \Q$alone\E/amped-helper: chmod 755 it$}m,
			    'and why');
		}
	}
}

# The conf itself may be a pipe; what it includes may not.
conf($good);
for my $how ('cat "$0" | "$1" -t -f /dev/stdin', '"$1" -t -f /dev/stdin < "$0"',
    'mkfifo "$0.pipe"; cat "$0" > "$0.pipe" & "$1" -t -f "$0.pipe"; ' .
    'status=$?; rm "$0.pipe"; exit $status') {
	($status, $out, $err) = Amped::run_command(undef, '/bin/sh', '-c',
	    $how, $conf, Amped::program());
	is($status >> 8, 0, "a conf by a pipe: $how") or diag($err);
}
POSIX::mkfifo("$dir/fifo.conf", 0644) or die "mkfifo: $!\n";
conf("$good\n  include fi*.conf\n");
($status, $out, $err) = run_amped('-t', '-f', $conf);
is($status >> 8, 78, 'a FIFO is included: exit 78');
like($err, qr{:\d+:11: \Q$dir\E/fifo.conf is a FIFO, not a file$}m,
    'and its place');
unlink("$dir/fifo.conf");

# No conf at all.
($status, $out, $err) = run_amped('-t', '-f', "$dir/none.conf");
is($status >> 8, 78, 'no conf: exit 78');
is($err, "amped: cannot read $dir/none.conf: No such file or directory\n",
    'and its name');
SKIP: {
	my ($default) = (run_amped('-V'))[1] =~ /^conf: (.*)/m;
	skip('amped is installed here', 1) if -e $default;
	my $want = "amped: cannot read $default: No such file or directory; " .
	    '-f names another conf, and "amped DIRECTORY" serves a ' .
	    "directory without one\n";
	is((run_amped('-D'))[2], $want, 'the one that is meant without -f');
}

# What it could do nothing with.
conf("control %D/control\n$good");
($status, $out, $err) = Amped::run_command(undef, '/bin/sh', '-c',
    'ulimit -n 20 && exec "$@"', 'sh', Amped::program(), '-D', '-f', $conf);
is($status >> 8, 71, 'too few descriptors: exit 71');
like($err, qr/\b20 open files is too low.*ulimit -n/, 'and says so');
is_deeply([glob("$dir/control*")], [], 'no control socket is left of that');

done_testing();
