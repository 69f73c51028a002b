# Amped: starts a server for a test, looks after it, and makes sure that
# nothing of it is left behind.
#
# Must not signal a process that it did not start, and must not wait for
# anything without a limit.  There are no sleeps as synchronisation: await()
# looks again and again for the event itself.
#
# The environment: AMPED_BUILD is the directory of amped and amped-helper,
# AMPED_SRC the top of the source tree, AMPED_ARCH the architecture,
# AMPED_WORKERS how many mains there are where the conf does not say,
# AMPED_TEST_TIMEOUT the seconds that await() waits at most.
package Amped;

use strict;
use warnings;

use Cwd qw(abs_path);
use Digest::SHA qw(sha256_hex);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use POSIX qw(:sys_wait_h mkfifo setsid);
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

# Whether there can be so many clients at a time, or several.  Where a worker has
# one, there will be so many of them if they are threads; if they are mains,
# there may be but one that a test can look at.
sub many_clients {
	my ($n) = @_;

	$n //= 16;
	return $n <= ($ENV{AMPED_WORKERS} // 32) if architecture() eq 'mp';
	return 1 if architecture() ne 'mt';
	return 0 if $n > 256;
	$ENV{AMPED_WORKERS} = $n if $n > ($ENV{AMPED_WORKERS} // 32);
	return 1;
}

# For a test of that many.
sub needs_many_clients {
	Test::More::plan(skip_all => 'there a worker has one client at a time')
	    unless many_clients(@_);
}

# For a test of what one main does or knows and another does not: with several
# it would look at the wrong one.
sub one_main {
	delete($ENV{AMPED_WORKERS});
	$ENV{AMPED_WORKERS} = 1 if architecture() eq 'mp';
}

# The same, for a test of several clients at a time: false where each has a main
# of its own, and so there are many.
sub one_main_for_all {
	delete($ENV{AMPED_WORKERS});
	return architecture() ne 'mp';
}

# Generous, for sanitizer builds on a busy machine: only failures wait long.
sub timeout { return $ENV{AMPED_TEST_TIMEOUT} // 30 }

# True as soon as the condition is; dies when it does not come true in time.
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

# Readable for all, whatever the umask: the server drops its privileges.
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

# A directory of a test's own, with these files.  A name with a slash at its
# end is a directory.
sub docroot {
	my (%files) = @_;
	my $dir = tempdir('amped-XXXXXXXX', TMPDIR => 1, CLEANUP => 1);

	chmod(0755, $dir);
	for my $name (sort keys %files) {
		if ($name =~ m{/\z}) {
			make_directory("$dir/$name");
		} else {
			write_file("$dir/$name", $files{$name});
		}
	}
	return $dir;
}

# Bytes that nobody confuses with another file's, nor with another part of
# the same: blocks of 256 with the name's digest and the block's number.
sub content {
	my ($name, $size) = @_;
	my $filler = sha256_hex($name) x 4;
	my $line = substr($filler, 0, 240);

	return substr(join('', map { sprintf('%015x ', $_) . $line }
	    0 .. $size / 256), 0, $size);
}

# Not one of those that Linux gives to clients: it might be another's when the
# server is there.  Nor the same for two processes, as by rand, whose seed a
# benchmark fixes.
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

# A file of media types, and a FIFO: of servers that are started from here on a
# main that reads the one waits until the other has been opened and closed.
sub gate {
	my $types = docroot(types => '') . '/types';

	$ENV{LD_PRELOAD} = ($ENV{AMPED_BUILD} // source_dir()) .
	    '/t/lib/gate.so';
	die "there is no $ENV{LD_PRELOAD}: make tests\n"
	    unless -e $ENV{LD_PRELOAD};
	$ENV{ASAN_OPTIONS} = join(':', $ENV{ASAN_OPTIONS} // (),
	    'verify_asan_link_order=0');
	mkfifo("$types.gate", 0644) or die "mkfifo: $!\n";
	return ($types, "$types.gate");
}

# Starts the test again with more descriptors, where the limit is too low.
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

# The same as another user, if one is named.
sub run_as {
	my ($user, @args) = @_;

	return run_command($user, program(), @args);
}

# Runs any command to its end; the same.
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

# In a session of its own, so that every process of it can be found later,
# orphans too.
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
#	plain	no conf: amped -l 127.0.0.1:0 DIR
#	args	more arguments
#	under	a command that runs it, with its arguments
#	program	in place of the one that was built
#	listeners	how many there are, unless one
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
	    '-A', architecture(), $self->arguments, @{$opt{args} // []}],
	    $self->{out}, $self->{err});
	push(@started, $self);
	return $self if $opt{unready};
	return $self->ready;
}

sub arguments {
	my ($self) = @_;

	return ('-l', '127.0.0.1:0', $self->{root}) if $self->{plain};
	write_file("$self->{dir}/amped.conf", $self->conf_text);
	return ('-D', '-f', "$self->{dir}/amped.conf");
}

sub conf_text {
	my ($self) = @_;
	my $log = $self->{log} //
	    "\taccess %D/access.log common\n\terror stderr info\n";
	my $site = $self->{site} // '';

	$log =~ s{%D}{$self->{dir}/log}g;
	my $global = $self->{global} // '';

	$global = "workers $ENV{AMPED_WORKERS}\n$global"
	    if $ENV{AMPED_WORKERS} && $global !~ /^workers/m;
	return join('', $> == 0 ? "user " . ordinary_user() . "\n" : (),
	    "$global\n", "log {\n$log\n}\n",
	    $self->{sites} // "site default {\n\tlisten 127.0.0.1:0\n" .
	    "\troot $self->{root}\n$site\n}\n");
}

# Whom a server that root starts should become.
sub ordinary_user {
	return (grep { defined(getpwnam($_)) } qw(www-data nobody))[0];
}

# Waits until it says where it serves.
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

# One request on a connection of its own, the answer to it.
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

# Requests that are not waited for, each on a connection of its own: those.
sub ask {
	my ($self, @targets) = @_;

	return map {
		my $client = $self->connect;
		$client->send("GET $_ HTTP/1.1\r\nHost: x\r\n\r\n");
		$client;
	} @targets;
}

# These very bytes on a connection of their own, the answer to them.
sub raw {
	my ($self, $bytes, $method) = @_;
	my $client = $self->connect;

	$client->send($bytes);
	my $answer = $client->response($method // 'GET');
	$answer->{closed} = $client->closed if $answer->{status} >= 400;
	return $answer;
}

# What it wrote to its standard error.
sub errors { return said(slurp($_[0]{err})) }

# A helper that is killed at the end, as all are, may be counting its memory for
# a sanitizer, which then says so: that is not of the server's.
sub said {
	my ($text) = @_;

	return $text =~
	    s/^==\d+==Unable to get registers from thread \d+\.\n//mgr;
}

# The first line in a file (the error output) that matches, when it comes.
sub wait_line {
	my ($self, $pattern, $file) = @_;
	my $line;

	$file //= $self->{err};
	await("a line like $pattern in $file", sub {
		return 0 unless -e $file;
		($line) = grep { $_ =~ $pattern } split(/\n/, slurp($file));
		return defined($line);
	});
	return $line;
}

# All lines of a log, as soon as there are that many.
sub wait_lines {
	my ($self, $n, $file) = @_;
	my @lines;

	$file //= $self->{access};
	await("$n lines in $file", sub {
		@lines = -e $file ? split(/\n/, slurp($file)) : ();
		return @lines >= $n;
	});
	return @lines;
}

# Process ids of a role: monitor, main, helper, log helper, error logger.
sub role {
	my ($self, $role) = @_;

	return map { $_->{pid} } grep { $_->{title} eq "amped: $role" }
	    Amped::Process::of_session($self->{pid});
}

sub processes { return Amped::Process::of_session($_[0]{pid}) }

# Sends a signal to the one process of a role, or to all of them, when there is
# one: not all are there when it begins to serve.
sub kill_role {
	my ($self, $signal, $role) = @_;
	my @pids;

	await("a $role", sub { @pids = $self->role($role) });
	kill($signal, @pids);
	return @pids;
}

# Waits for the process that was started; its status as in $?.
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

# What a server that ran well must not have said.
sub complaints {
	my ($self) = @_;
	my @lines = split(/\n/, $self->errors);

	return grep { /Sanitizer|runtime error:|failed: .*\.c:\d+/ ||
	    (!$self->{errors} && /\] error: /) } @lines;
}

# Stops it; what was wrong: it must end well, leave nobody, say nothing bad.
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

# The same as a test.
sub stop {
	my ($self, $signal) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @wrong = $self->finish($signal);

	return Test::More::ok(!@wrong,
	    'the server stops, leaves nothing behind, complains of nothing') ||
	    Test::More::diag(join("\n", @wrong));
}

# Ends what is still there of it, in whatever state.
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

# Whoever ends a test early ends its servers too.
$SIG{$_} = sub { exit(1) } for qw(HUP INT TERM);

# No test file may hang, whatever the server does.
$SIG{ALRM} = sub { die "the test took too long\n" };
alarm(10 * timeout());

1;
