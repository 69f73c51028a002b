# Amped: starts a server for a test, and ends all its processes.
#
# Must not signal a process that it did not start, and must not wait without a
# limit.  await() polls for an event, so no test sleeps.
#
# The environment: AMPED_BUILD is the directory of amped and amped-helper,
# AMPED_SRC the top of the source tree, AMPED_ARCH the architecture,
# AMPED_WORKERS the number of mains where the conf has none, AMPED_TEST_TIMEOUT
# the seconds that await() waits at most, AMPED_LAYER that the server has
# t/layer.c, AMPED_TEST_SHORT that long lists are tried in part, AMPED_STRATEGY
# directives before those of each conf, as "spawn session; io synchronous" with
# the architecture mt.
package Amped;

use strict;
use warnings;

use Cwd qw(abs_path);
use Digest::SHA qw(sha256_hex);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use POSIX qw(:sys_wait_h mkfifo setsid);
use Socket qw(SOL_SOCKET);
use Test::More ();
use Time::HiRes qw(time);

use Amped::Client;
use Amped::Process;

our @EXPORT_OK = qw(await content docroot free_port need_descriptors
    timeout run_amped said slurp write_file);

my $here = dirname(abs_path(__FILE__));
my @started;		# servers that still run
my $command;		# the process that run_command() waits for
my $ended_by_parent = $$;	# a forked client must not end them

sub source_dir { return $ENV{AMPED_SRC} // abs_path("$here/../..") }

sub program {
	my $build = $ENV{AMPED_BUILD} // source_dir();
	return "$build/amped";
}

sub architecture { return $ENV{AMPED_ARCH} // 'amped' }

# Whether the server can have n clients at a time.  Where a worker has one
# client, the number of threads is raised to n; that of mains is not.
sub many_clients {
	my ($n) = @_;

	$n //= 16;
	return $n <= ($ENV{AMPED_WORKERS} // 32) if architecture() eq 'mp';
	return 1 if architecture() ne 'mt';
	return 0 if $n > 256;
	$ENV{AMPED_WORKERS} = $n if $n > ($ENV{AMPED_WORKERS} // 32);
	return 1;
}

# Skips a test about what /proc shows of main and helpers, which have made
# themselves undumpable.
sub looks_into_processes {
	Test::More::plan(skip_all => 'only root looks into other processes')
	    if $> != 0;
}

# Whether this user may give a socket a filter, as a server does that leaves an
# address: some systems keep that for root.
sub may_attach_filter {
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
	    Listen => 1);
	my $all = pack('S C C L', 6, 0, 0, 0xffffffff);	# of struct sock_filter
	my $program = pack('S x![P] P', 1, $all);	# struct sock_fprog

	return setsockopt($socket, SOL_SOCKET, 26, $program);
}

# Skips a test unless there can be so many clients.
sub needs_many_clients {
	Test::More::plan(skip_all => 'there a worker has one client at a time')
	    unless many_clients(@_);
}

# For a test of state that one main has and another has not.
sub one_main {
	delete($ENV{AMPED_WORKERS});
	$ENV{AMPED_WORKERS} = 1 if architecture() eq 'mp';
}

# As one_main(), for a test of several clients at a time; false where each of
# them has its own main.
sub one_main_for_all {
	delete($ENV{AMPED_WORKERS});
	return architecture() ne 'mp';
}

# Seconds; long enough for a sanitizer build on a busy machine.
sub timeout { return $ENV{AMPED_TEST_TIMEOUT} // 30 }

# Waits until the condition is true; returns its value, or dies after a timeout.
sub await {
	my ($what, $condition, $seconds) = @_;
	my $end = time + ($seconds // timeout());
	my $pause = 0.002;

	while (1) {
		my $value = $condition->();
		return $value if $value;
		die "gave up waiting for $what\n" if time > $end;
		select(undef, undef, undef, $pause);
		$pause *= 1.5 if $pause < 0.05;
	}
}

sub slurp {
	my ($path) = @_;

	open(my $fh, '<:raw', $path) or die "$path: $!\n";
	local $/;
	my $all = <$fh>;
	return $all // '';
}

# Readable for all users, as the server drops its privileges.
sub write_file {
	my ($path, $bytes) = @_;
	my $dir = dirname($path);

	make_directory($dir);
	open(my $fh, '>:raw', $path) or die "$path: $!\n";
	print $fh $bytes or die "$path: $!\n";
	close($fh) or die "$path: $!\n";
	chmod(0644, $path);
}

sub make_directory {
	my ($dir) = @_;
	my @made = make_path($dir);

	chmod(0755, @made) if @made;
}

# A temporary directory with these files.  A name with a slash at its end is a
# directory.
sub docroot {
	my (%files) = @_;
	my $dir = tempdir('amped-XXXXXXXX', TMPDIR => 1, CLEANUP => 1);

	chmod(0755, $dir);
	for my $name (sort keys %files) {
		if ($name =~ m{/\z}) {
			make_directory("$dir/$name");
		} else {
			write_file("$dir/$name", $files{$name});
			# A new file has a weak tag at first, and then another.
			utime(time - 10, time - 10, "$dir/$name");
		}
	}
	return $dir;
}

# Bytes that differ between files and between parts of a file: blocks of 256
# with the name's digest and the block's number.
sub content {
	my ($name, $size) = @_;
	my $filler = sha256_hex($name) x 4;
	my $line = substr($filler, 0, 240);

	return substr(join('', map { sprintf('%015x ', $_) . $line }
	    0 .. $size / 256), 0, $size);
}

# A port outside of those that Linux gives to clients, which another process may
# take before the server does.  Not by rand, whose seed a benchmark fixes, so
# that two processes would get the same port.
my $ports = 0;

sub free_port {
	my $socket;

	for (1 .. 100) {
		$socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
		    LocalPort => 10000 + ($$ * 97 + $ports++) % 22000,
		    Listen => 1, ReuseAddr => 1) and return $socket->sockport;
	}
	die "no free port: $@\n";
}

# Has programs that are started from here on load a library of t/lib first.
sub preload {
	my ($name) = @_;

	$ENV{LD_PRELOAD} = ($ENV{AMPED_BUILD} // source_dir()) .
	    "/t/lib/$name";
	die "there is no $ENV{LD_PRELOAD}: make tests\n"
	    unless -e $ENV{LD_PRELOAD};
	$ENV{ASAN_OPTIONS} = join(':', $ENV{ASAN_OPTIONS} // (),
	    'verify_asan_link_order=0');
}

# For servers that are started from here on: a main that reads a file of media
# types waits until a FIFO has been opened and closed.
sub gate {
	my $types = docroot(types => '') . '/types';

	preload('gate.so');
	mkfifo("$types.gate", 0644) or die "mkfifo: $!\n";
	return ($types, "$types.gate");
}

# Starts the test again with more descriptors, if the limit is too low.
sub need_descriptors {
	my ($n) = @_;
	my $have = POSIX::sysconf(&POSIX::_SC_OPEN_MAX);

	return if $have >= $n;
	Test::More::plan(skip_all => "needs $n descriptors, has $have")
	    if $ENV{AMPED_TEST_AGAIN};
	$ENV{AMPED_TEST_AGAIN} = 1;
	exec('/bin/sh', '-c', "ulimit -Sn $n; exec \"\$\@\"", 'sh', $^X,
	    (map { "-I$_" } @INC), $0) or die "sh: $!\n";
}

# Runs a command line of amped to its end; status, output, errors.
sub run_amped { return run_as(undef, @_) }

# As run_amped(), as another user if one is named.
sub run_as {
	my ($user, @args) = @_;

	return run_command($user, defined($user) ? program_for_all() :
	    program(), @args);
}

# Copies of what make has built, for users who may not enter the build
# directory: root's home may be above it.  undef: it is not built.
my %copied;

sub copy_for_all {
	my ($name) = @_;
	my $from = ($ENV{AMPED_BUILD} // source_dir()) . "/$name";
	my ($base) = $name =~ m{([^/]+)\z};

	return undef unless -e $from;
	return $copied{$base} if $copied{$base};
	$copied{dir} //= docroot();
	copy($from, "$copied{dir}/$base") or die "$copied{dir}/$base: $!\n";
	chmod(0755, "$copied{dir}/$base");
	return $copied{$base} = "$copied{dir}/$base";
}

sub program_for_all {
	copy_for_all('amped-helper');
	return copy_for_all('amped');
}

# Runs any command to its end; status, output, errors.
sub run_command {
	my ($user, @command) = @_;
	my $dir = docroot(out => '', err => '');
	my $status;

	$command = spawn(\@command, "$dir/out", "$dir/err", $user);
	eval {
		await("@command to end", sub {
			return 0 unless waitpid($command, WNOHANG) == $command;
			$status = $?;
			return 1;
		});
	} or do {
		my $why = $@;
		end_command();
		die $why, slurp("$dir/err");
	};
	undef($command);
	return ($status, slurp("$dir/out"), slurp("$dir/err"));
}

sub end_command {
	Amped::Process::kill_session($command);
	waitpid($command, 0);
	undef($command);
}

# Starts a session, so that all processes of it can be found, orphans too.
sub spawn {
	my ($command, $out, $err, $user) = @_;
	my $pid = fork() // die "fork: $!\n";

	return $pid if $pid != 0;
	setsid();
	open(STDIN, '<', '/dev/null');
	open(STDOUT, '>>', $out);
	open(STDERR, '>>', $err);
	POSIX::setuid(scalar(getpwnam($user))) if defined($user);
	no warnings 'exec';
	exec { $command->[0] } @$command
	    or print STDERR "$command->[0]: $!\n";
	POSIX::_exit(127);
}

# Starts a server.
#	files	contents by name, for a document root of its own
#	root	a document root that there is already
#	site	lines for its one site
#	global	lines outside of the site
#	log	in place of the log block's lines; %D is its directory
#	sites	in place of the one site
#	plain	no conf: amped -l 127.0.0.1:0 DIR; or the address, if not 1
#	args	more arguments
#	by_conf	the conf chooses the architecture
#	under	a command that runs amped, with its arguments
#	program	in place of the amped that was built
#	listeners	the number of listeners, if not one
#	errors	lines of level error are expected
#	unready	do not wait for it to serve
#	err	its standard error, in place of a file
sub start {
	my ($class, %opt) = @_;
	my $self = bless({ %opt, dir => docroot() }, $class);

	make_directory("$self->{dir}/log");
	$self->{root} //= docroot(%{$opt{files} // {}});
	$self->{out} = "$self->{dir}/out";
	$self->{err} //= "$self->{dir}/err";
	write_file($self->{$_}, '') for qw(out err);
	$self->{access} = "$self->{dir}/log/access.log";
	$self->{error} = "$self->{dir}/log/error.log";
	$self->{pid} = spawn([@{$opt{under} // []}, $opt{program} // program(),
	    $opt{by_conf} ? () : ('-A', architecture()), $self->arguments, @{$opt{args} // []}],
	    $self->{out}, $self->{err});
	push(@started, $self);
	return $self if $opt{unready};
	return $self->ready;
}

sub arguments {
	my ($self) = @_;

	return ('-l', $self->{plain} eq '1' ? '127.0.0.1:0' : $self->{plain},
	    $self->{root}) if $self->{plain};
	write_file("$self->{dir}/amped.conf", $self->conf_text);
	return ('-D', '-f', "$self->{dir}/amped.conf");
}

sub conf_text {
	my ($self) = @_;
	my $log = $self->{log} //
	    "\taccess %D/access.log common\n\terror stderr debug\n";
	my $site = $self->{site} // '';

	$log =~ s{%D}{$self->{dir}/log}g;
	my $global = $self->{global} // '';

	$global = "workers $ENV{AMPED_WORKERS}\n$global"
	    if $ENV{AMPED_WORKERS} && $global !~ /^workers/m;
	$global = "$ENV{AMPED_STRATEGY}\n$global"
	    if $ENV{AMPED_STRATEGY} && !$self->{by_conf};
	return join('', $> == 0 ? "user " . ordinary_user() . "\n" : (),
	    "$global\n", "log {\n$log\n}\n",
	    $self->{sites} // "site default {\n\tlisten 127.0.0.1:0\n" .
	    "\troot $self->{root}\n$site\n}\n");
}

# The user that a server started by root becomes.
sub ordinary_user {
	return (grep { defined(getpwnam($_)) } qw(www-data nobody))[0];
}

# Waits until the server's log says where it serves.
sub ready {
	my ($self) = @_;
	my @at;

	await('the server to be ready', sub {
		my $ended = waitpid($self->{pid}, WNOHANG);
		die "the server ended ($?): " . slurp($self->{err})
		    if $ended == $self->{pid};
		my $said = join('', map { -e $_ ? slurp($_) : () }
		    @{$self}{qw(out err error)});
		my %seen;
		@at = grep { !$seen{$_}++ } $said =~
		    m{^.*http://\d+\.\d+\.\d+\.\d+:(\d+)/.*\n}mg;
		return @at >= ($self->{listeners} // 1);
	});
	$self->{ports} = \@at;
	return $self;
}

sub port { return $_[0]{ports}[$_[1] // 0] }

sub url { return 'http://127.0.0.1:' . $_[0]->port . ($_[1] // '/') }

sub connect {
	my ($self, %opt) = @_;

	return Amped::Client->new(port => $self->port, %opt);
}

# Sends a request on a new connection; returns the response.
sub get {
	my ($self, $target, %opt) = @_;
	my $method = $opt{method} // 'GET';
	my @fields = @{$opt{fields} // []};
	my $client = $self->connect(map { $opt{$_} ? ($_ => $opt{$_}) : () }
	    qw(port from));

	unshift(@fields, 'Host: ' . ($opt{host} // 'localhost'))
	    unless grep { /^host:/i } @fields;
	$client->send(join("\r\n", "$method $target HTTP/1.1", @fields,
	    'Connection: close', '', ''));
	my $answer = $client->response($method);
	$answer->{closed} = $client->closed;
	return $answer;
}

# Sends requests, each on a new connection; returns the connections.
sub ask {
	my ($self, @targets) = @_;

	return map {
		my $client = $self->connect;
		$client->send("GET $_ HTTP/1.1\r\nHost: x\r\n\r\n");
		$client;
	} @targets;
}

# Sends these bytes on a new connection; returns the response.
sub raw {
	my ($self, $bytes, $method) = @_;
	my $client = $self->connect;

	$client->send($bytes);
	my $answer = $client->response($method // 'GET');
	$answer->{closed} = $client->closed if $answer->{status} >= 400;
	return $answer;
}

# The server's standard error.
sub errors { return said(slurp($_[0]{err})) }

# A helper that is killed at the end may be in its sanitizer's leak check, which
# then reports that; such lines are not the server's.
sub said {
	my ($text) = @_;

	return $text =~
	    s/^==\d+==Unable to get registers from thread \d+\.\n//mgr;
}

# Waits for the first line of a file (the error output) that matches.
sub wait_line {
	my ($self, $pattern, $file) = @_;
	my $line;

	$file //= $self->{err};
	await("a line like $pattern in $file", sub {
		($line) = grep { $_ =~ $pattern } whole_lines($file);
		return defined($line);
	});
	return $line;
}

# Waits for so many lines of a log; returns all.
sub wait_lines {
	my ($self, $n, $file) = @_;
	my @lines;

	$file //= $self->{access};
	await("$n lines in $file", sub {
		@lines = whole_lines($file);
		return @lines >= $n;
	});
	return @lines;
}

# Those of a file that may be there, and may be written to meanwhile: a page of
# what is written can be seen before the next one.
sub whole_lines {
	my ($file) = @_;

	return -e $file ? slurp($file) =~ /^(.*)\n/mg : ();
}

# Process ids of a role: monitor, main, helper, access log, error log.
sub role {
	my ($self, $role) = @_;

	return map { $_->{pid} } grep { $_->{title} eq "amped: $role" }
	    Amped::Process::of_session($self->{pid});
}

sub processes { return Amped::Process::of_session($_[0]{pid}) }

# Sends a signal to the processes of a role, once there is one: some start after
# the server is ready.
sub kill_role {
	my ($self, $signal, $role) = @_;
	my @pids;

	await("a $role", sub { @pids = $self->role($role) });
	kill($signal, @pids);
	return @pids;
}

# Waits for the process that was started; returns its status as in $?.
sub reap {
	my ($self) = @_;

	return $self->{status} if defined($self->{status});
	await('the server to end', sub {
		return 0 unless waitpid($self->{pid}, WNOHANG) == $self->{pid};
		$self->{status} = $?;
		return 1;
	});
	return $self->{status};
}

sub wait_nothing_left {
	my ($self) = @_;

	return eval { await('its processes to go',
	    sub { !Amped::Process::of_session($self->{pid}) }, 10) };
}

# The log lines that a server without errors does not write.
sub complaints {
	my ($self) = @_;
	my @lines = split(/\n/, $self->errors);

	return grep { /Sanitizer|runtime error:|failed: .*\.c:\d+/ ||
	    (!$self->{errors} && /\] error: /) } @lines;
}

# Stops the server; returns what was wrong: its status, processes that are left,
# bad log lines.
sub finish {
	my ($self, $signal) = @_;
	my @wrong;

	kill($signal // 'TERM', $self->{pid}) unless defined($self->{status});
	my $status = eval { $self->reap };
	push(@wrong, $@ || ()) unless defined($status);
	push(@wrong, "status $status") if $status;
	push(@wrong, 'left behind: ' . join(', ', map { $_->{title} }
	    $self->processes)) unless $self->wait_nothing_left;
	push(@wrong, $self->complaints);
	$self->discard;
	return @wrong;
}

# Stops the server, as a test.
sub stop {
	my ($self, $signal) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @wrong = $self->finish($signal);

	return Test::More::ok(!@wrong,
	    'the server stops, leaves nothing behind, complains of nothing') ||
	    Test::More::diag(join("\n", @wrong));
}

# Kills all processes that are left.
sub discard {
	my ($self) = @_;

	Amped::Process::kill_session($self->{pid});
	waitpid($self->{pid}, 0) unless defined($self->{status});
	@started = grep { $_ != $self } @started;
}

END {
	if ($$ == $ended_by_parent) {
		my $status = $?;
		end_command() if defined($command);
		for my $server (@started) {
			Test::More::diag("the server said:\n", $server->errors);
			$server->discard;
		}
		$? = $status;
	}
}

# A test that ends early ends its servers.
$SIG{$_} = sub { exit(1) } for qw(HUP INT TERM);

# No test file may hang.
$SIG{ALRM} = sub { die "the test took too long\n" };
alarm(10 * timeout());

1;
