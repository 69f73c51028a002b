# Bench::Server: amped, the ceiling, and the servers of other people, each
# started on one core with the conf that conf/NAME.conf makes for it.
#
# Must not leave any of them running, however the program ends.
package Bench::Server;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IO::Socket::INET;
use POSIX ();
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);

use Amped qw(await docroot free_port slurp write_file);
use Amped::Process;
use Bench::Group;

my $bench = abs_path(dirname(abs_path(__FILE__)) . '/../..');

# The core of servers; the other one is the clients'.
our ($server_core, $client_core) = (0, 1);

use constant MODULES => '/usr/lib/apache2/modules';

# name, program, arguments for a conf; conf: another one's; slow: only of
# interest where a disk is waited for; beside: the beginning of a command that
# starts another process of it first, for the server that is to run; path and
# command: of a program that is built for one purpose, its file and what makes
# its arguments out of the same.
my @known = (
	{ name => 'ceiling' },
	{ name => 'amped', args => sub { ('-D', '-A', $ENV{AMPED_ARCH} //
	    'amped', '-f', $_[0]) } },
	{ name => 'before', conf => 'amped', args => sub { ('-D', '-A',
	    $ENV{AMPED_ARCH} // 'amped', '-f', $_[0]) } },
	{ name => 'nginx', program => 'nginx', peer => 1,
	    args => sub { ('-c', $_[0]) } },
	{ name => 'nginx-threads', program => 'nginx', conf => 'nginx',
	    threads => 1, slow => 1, args => sub { ('-c', $_[0]) } },
	{ name => 'lighttpd', program => 'lighttpd', peer => 1,
	    args => sub { ('-D', '-f', $_[0]) } },
	{ name => 'h2o', program => 'h2o', peer => 1,
	    args => sub { ('-c', $_[0]) } },
	{ name => 'apache', program => 'apache2', or => 'httpd', peer => 1,
	    args => sub { ('-DFOREGROUND', '-f', $_[0]) } },
	{ name => 'caddy', program => 'caddy', peer => 1,
	    args => sub { ('run', '--adapter', 'caddyfile', '--config',
	    $_[0]) } },
);

# A command's beginning, to be stopped when all but that command is done.
my @held = ('/bin/sh', '-c', 'kill -STOP $$; exec "$@"', 'sh');

# How programs are reached; marks of confs.
my @programs = qw(cgi most fastcgi php);

my %running;		# by pid; ended in any case
my $owner = $$;

sub which {
	my (@names) = @_;

	for my $name (grep { defined } @names) {
		for my $dir (split(/:/, $ENV{PATH}), '/usr/sbin', '/sbin') {
			return "$dir/$name" if -x "$dir/$name";
		}
	}
	return undef;
}

# A program in the build directory of another commit.
sub which_in {
	my ($dir, $name) = @_;

	return "$dir/$name" if -x "$dir/$name";
	die "there is no $dir/$name\n";
}

sub amped {
	my $path = Amped::program();

	return $path if -x $path;
	die "there is no $path: start this in the build directory, or name " .
	    "that in AMPED_BUILD\n";
}

# A program that make builds for the benchmark.
sub built {
	my ($name) = @_;
	my $path = ($ENV{AMPED_BUILD} // '.') . "/contrib/bench/$name";

	return $path if -x $path;
	die "there is no $path: \"make bench\" builds it\n";
}

sub program {
	my ($server) = @_;

	return $server->{path} if $server->{path};
	return built('ceiling') if $server->{name} eq 'ceiling';
	return $ENV{AMPED_BEFORE} && which_in($ENV{AMPED_BEFORE}, 'amped')
	    if $server->{name} eq 'before';
	return amped() if $server->{name} eq 'amped' || $server->{arch};
	return which(@{$server}{qw(program or)});
}

# All that are there, the ceiling first.  to_list: what make builds need not be
# there.
sub installed {
	my ($to_list) = @_;

	return grep { !$_->{slow} && ($to_list && !$_->{peer} &&
	    $_->{name} ne 'before' || defined(program($_))) } @known;
}

# amped, once in each of its architectures.
sub architectures {
	open(my $from, '-|', amped(), '-L') or die "amped: $!\n";
	my ($names) = do { local $/; readline($from) } =~
	    /\tarchitecture\t\t(\S+)/ or die "amped -L has no architectures\n";

	return map {
		my $arch = $_;
		{ name => $arch, arch => $arch, conf => 'amped', args => sub {
		    ('-D', '-A', $arch, '-f', $_[0]) } };
	} split(/\|/, $names);
}

# The same where a disk is waited for; those of these names, if there are any.
sub installed_slow {
	my %wanted = map { $_ => 1 } @_;

	return grep { $_->{name} ne 'ceiling' && defined(program($_)) &&
	    (!%wanted || $wanted{$_->{name}}) } @known;
}

# Those of these names, installed or not.
sub of_names {
	my %wanted = map { $_ => 1 } @_;

	return grep { $wanted{$_->{name}} } @known;
}

sub known { return map { $_->{name} } @known }

sub is_peer { return scalar(grep { $_->{name} eq $_[0] && $_->{peer} } @known) }

sub hard_limit {
	my ($hard) = slurp('/proc/self/limits') =~
	    /^Max open files\s+\S+\s+(\S+)/m;

	return $hard eq 'unlimited' ? 1_000_000 : $hard;
}

# Lines of a template with what the marks stand for.
sub conf_text {
	my ($name, %value) = @_;
	my $text = slurp("$bench/conf/$name.conf");

	$text =~ s{^@(no)?([a-z]+)@(.*\n)}
	    {($value{$2} xor $1) ? $3 : ''}mge;
	$text =~ s{@([A-Z]+)@}{$value{$1} // die "$name.conf: $1?\n"}ge;
	return $text;
}

# Starts one, and does not wait for it.
#	server	of installed()
#	root	what to serve
#	address	where; this machine's own
#	log	whether there is an access log
#	ceiling	its arguments, but for the port
#	list	whether directories are listed
#	cgi	whether files in cgi-bin are programs, by CGI
#	most	the same, with so many processes at once as that is told
#	fastcgi	whether /app is a program that stays, by FastCGI
#	php	whether files of PHP are those of a PHP-FPM
#	app	that program
#	processes	how many of it
#	large	0: not for large sets of files and many clients, but with the
#		caches that it has by itself
#	descriptors	how many each of its processes may have
#	anywhere	on any core
#	memory	bytes that it may have
#	told, more	amped's: it tells more; lines of its conf
#	timed	count from when its program is executed: what comes before,
#		of a shell that joins a control group, takes as long
sub start {
	my ($class, %opt) = @_;
	my $self = bless({ address => '127.0.0.1', %opt,
	    name => $opt{server}{name},
	    port => free_port(), dir => docroot('out' => '') }, $class);
	my $large = $opt{large} // 1;
	my $limit = $opt{descriptors} // ($large ? hard_limit() : 4096);
	my @command = (program($opt{server}));

	# Those who drop their privileges before they open logs.
	chown(scalar(getpwnam(Amped::ordinary_user())), -1, $self->{dir})
	    if $> == 0;
	if ($opt{server}{command}) {
		push(@command, $opt{server}{command}->($self));
	} elsif ($self->{name} eq 'ceiling') {
		my @args = @{$opt{ceiling}};
		my @flags = $args[0] eq '-1' ? shift(@args) : ();
		push(@command, @flags, $self->{port}, @args);
	} else {
		write_file("$self->{dir}/conf", conf_text(
		    $opt{server}{conf} // $self->{name}, %{$opt{server}},
		    (map { $_ => $opt{$_} } qw(log list told), @programs),
		    programs => scalar(grep { $opt{$_} } @programs),
		    APP => $opt{app}, PROCESSES => $opt{processes},
		    large => $large, MORE => $opt{more} // '',
		    DIR => $self->{dir}, ROOT => $opt{root},
		    ADDRESS => $self->{address}, PORT => $self->{port}, USER => Amped::ordinary_user(),
		    DESCRIPTORS => $limit, CACHED => int($limit / 2),
		    MODULES => MODULES));
		push(@command, $opt{server}{args}->("$self->{dir}/conf"));
	}
	$self->{group} = Bench::Group->new(memory => $opt{memory});
	local $ENV{HOME} = $self->{dir};
	$self->{started} = time;
	$self->{pid} = Amped::spawn(['/bin/sh', '-c',
	    $self->{group}->joining . "; ulimit -n $limit; exec \"\$@\"", 'sh',
	    $opt{anywhere} ? () : pinned($server_core),
	    $opt{server}{beside} ? $opt{server}{beside}->($self) : (),
	    $opt{timed} ? @held : (), @command],
	    "$self->{dir}/out", "$self->{dir}/out");
	$running{$self->{pid}} = $self;
	$self->release if $opt{timed};
	return $self;
}

# Lets go who was held, and counts from now.
sub release {
	my ($self) = @_;

	waitpid($self->{pid}, POSIX::WUNTRACED());
	$self->{started} = time;
	kill('CONT', $self->{pid});
}

# Starts them all at once, each as start() is told; those that answer.  Whoever
# does not is told of, and has ended.
sub start_all {
	my ($target, $failed, @options) = @_;
	my @started = map { Bench::Server->start(%$_) } @options;

	return grep {
		my $server = $_;
		eval { $server->ready($target); $server->whole } ||
		    ($failed->($@ =~ s/\s+/ /gr), 0)[1]
	} @started;
}

# A command's beginning, to run it on one core.
sub pinned {
	my ($core) = @_;

	return which('taskset') ? ('taskset', '-c', $core) : ();
}

# From here on what this process asks costs the servers' core nothing.
sub ask_from_client_core {
	my $taskset = which('taskset');

	system("$taskset -cp $client_core $$ > /dev/null 2>&1") if $taskset;
}

# One request on a connection of its own; the answer's bytes, if it came.
sub ask {
	my ($self, $target, $version) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => $self->{address},
	    PeerPort => $self->{port}) or return undef;
	my $answer = '';

	setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);
	syswrite($socket, "GET $target HTTP/1." . ($version // 1) .
	    "\r\nHost: localhost\r\n\r\n");
	while (sysread($socket, $answer, 65536, length($answer))) {
		next unless $answer =~ /\A(.*?\r\n\r\n)/s;
		my $head = $1;
		return undef unless $head =~ /^content-length:\s*(\d+)/im;
		return $answer if length($answer) >= length($head) + $1;
	}
	return undef;
}

# Waits for its first answer; the seconds since it was started.
sub ready {
	my ($self, $target) = @_;
	my $end = time + 10;

	while (time < $end) {
		return time - $self->{started} if defined($self->ask($target));
		last if waitpid($self->{pid}, POSIX::WNOHANG()) != 0;
		select(undef, undef, undef, 0.0005);
	}
	my $said = $self->said;
	$self->stop;
	die "$self->{name} does not start: $said\n";
}

# Waits for all of its workers, which amped tells of: the first has answered
# before the last has been started.
sub whole {
	my ($self) = @_;

	return $self unless $self->{server}{arch};
	await("all of $self->{name} to serve", sub {
		die "$self->{name} does not start: ", $self->said, "\n"
		    if waitpid($self->{pid}, POSIX::WNOHANG()) != 0;
		return $self->said =~ /\] notice: ready: / });
	return $self;
}

sub processes { return Amped::Process::of_session($_[0]{pid}) }

# amped's of a role.
sub role {
	my ($self, $role) = @_;

	return map { $_->{pid} } grep { $_->{title} eq "amped: $role" }
	    $self->processes;
}

# Of all of its processes, so far.
sub major_faults {
	my ($self) = @_;
	my $n = 0;

	$n += (Amped::Process::stat_fields($_->{pid}))[12] // 0
	    for $self->processes;
	return $n;
}

sub said { return slurp("$_[0]{dir}/out") }

# Lets it end by itself; all that it has said.
sub finish {
	my ($self) = @_;

	kill('TERM', $self->{pid});
	await("$self->{name} to end", sub {
		waitpid($self->{pid}, POSIX::WNOHANG()) != 0 });
	my $said = $self->said;
	$self->stop;
	return $said;
}

# us of processor.
sub used { return $_[0]{group}->used($_[0]{pid}) }

# Bytes of memory, what is shared by its processes once.
sub memory {
	my ($self) = @_;
	my $sum = 0;

	for my $process ($self->processes) {
		my $text = eval { slurp("/proc/$process->{pid}/smaps_rollup") };
		$sum += 1024 * $1 if ($text // '') =~ /^Pss:\s+(\d+)/m;
	}
	return $sum;
}

# Bytes of the tables that say where its memory is, of each process.
sub page_tables {
	my ($self) = @_;
	my $sum = 0;

	for my $process ($self->processes) {
		my $text = eval { slurp("/proc/$process->{pid}/status") };
		$sum += 1024 * $1 if ($text // '') =~ /^VmPTE:\s+(\d+)/m;
	}
	return $sum;
}

# How often one of its threads has gone to sleep.
sub switches {
	my ($self) = @_;
	my $sum = 0;

	for my $process ($self->processes) {
		for my $task (glob("/proc/$process->{pid}/task/*/status")) {
			my $text = eval { slurp($task) } // next;
			$sum += $1 if $text =~
			    /^voluntary_ctxt_switches:\s+(\d+)/m;
		}
	}
	return $sum;
}

# What it wrote would fill the disk.
sub forget_log {
	my ($self) = @_;

	truncate("$self->{dir}/access.log", 0) if -e "$self->{dir}/access.log";
}

# Programs have sessions of their own; the group is ours alone.
sub stop {
	my ($self) = @_;

	Amped::Process::kill_session($self->{pid});
	$self->{group}->end_all;
	waitpid($self->{pid}, 0);
	$self->{group}->remove;
	delete($running{$self->{pid}});
	unlink(glob("$self->{dir}/*.log"));
}

sub stop_all { $_->stop for values(%running) }

END {
	my $status = $?;

	stop_all() if $$ == $owner;
	$? = $status;
}

1;
