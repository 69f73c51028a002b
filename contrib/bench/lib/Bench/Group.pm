# Bench::Group: how much processor time a server has used, all its processes
# together, and how much memory it may have, by a control group of its own;
# version 1 or 2.
#
# Where there is none to be had, /proc tells, in steps of 10 ms for each
# process.  Must not put anything into a group but what is started for it.
package Bench::Group;

use strict;
use warnings;

use Amped qw(await slurp);
use Amped::Process;

my $n = 0;

# Where our own processes are, of one hierarchy.
sub own_path {
	my ($pattern) = @_;
	my ($path) = slurp('/proc/self/cgroup') =~ /^\d+:$pattern:(\S*)$/m;

	return ($path // '') =~ s{/\z}{}r;
}

# The directory to make groups in, and the file that tells; nothing if none.
sub place {
	for my $controllers ('cpuacct', 'cpu,cpuacct') {
		my $at = "/sys/fs/cgroup/$controllers" .
		    own_path('(?:cpu,)?cpuacct(?:,cpu)?');
		return ($at, 'cpuacct.usage') if -w "$at/cgroup.procs" &&
		    -e "$at/cpuacct.usage";
	}
	for my $mount (qw(/sys/fs/cgroup /sys/fs/cgroup/unified)) {
		my $at = $mount . own_path('');
		return ($at, 'cpu.stat') if -w "$at/cgroup.procs" &&
		    -e "$at/cpu.stat";
	}
	return;
}

# The same for memory, and the file that limits it.  In version 2 a group has
# both, but memory only if it is at the top.
sub memory_place {
	my $at = '/sys/fs/cgroup/memory' . own_path('memory');

	return ($at, 'memory.limit_in_bytes') if -w "$at/cgroup.procs";
	return ('/sys/fs/cgroup', 'memory.max');
}

# memory: at most so many bytes of it.
sub new {
	my ($class, %opt) = @_;
	my $self = bless({}, $class);
	my $name = "amped-bench-$$-" . $n++;
	my ($place, $file) = place();

	if ($opt{memory}) {
		my ($at, $limit) = memory_place();

		($place, $file) = ($at, 'cpu.stat') if $limit eq 'memory.max';
		$self->{memory} = "$at/$name" if mkdir("$at/$name");
		$self->{limited} = tell_file("$at/$name/$limit", $opt{memory});
	}
	return $self unless defined($place);
	my $dir = "$place/$name";
	return $self unless -d $dir || mkdir($dir);
	@{$self}{qw(dir file)} = ($dir, $file);
	return $self;
}

sub tell_file {
	my ($path, $text) = @_;

	open(my $fh, '>', $path) or return 0;
	return syswrite($fh, $text) && close($fh);
}

# Whether it holds to its memory.
sub limited { return $_[0]{limited} }

sub directories {
	my ($self) = @_;
	my %seen;

	return grep { defined && !$seen{$_}++ } @{$self}{qw(dir memory)};
}

# How time is told: a word for the report.
sub kind { return $_[0]{file} // '/proc' }

# A command of the shell that makes it, and what it starts, members.
sub joining {
	my ($self) = @_;

	return join('; ', ':', map { "echo \$\$ > $_/cgroup.procs" }
	    $self->directories);
}

# us so far.
sub used {
	my ($self, $session) = @_;

	return 1e6 * Amped::Process::cpu_seconds($session)
	    unless defined($self->{dir});
	my $text = slurp("$self->{dir}/$self->{file}");
	return $1 if $text =~ /^usage_usec (\d+)/m;
	return $text / 1000;
}

# Its processes, whatever session they are of; empty if there is no group.
sub processes {
	my ($self) = @_;
	my ($dir) = $self->directories or return;

	return split(' ', eval { slurp("$dir/cgroup.procs") } // '');
}

# Ends them, and those that they start meanwhile.
sub end_all {
	my ($self) = @_;
	my ($dir) = $self->directories or return;

	die "$dir is no group of ours\n"
	    unless $dir =~ m{/amped-bench-\Q$$\E-\d+\z};
	for (1 .. 100) {
		my @pids = grep { $_ > 1 && $_ != $$ } $self->processes
		    or last;
		kill('KILL', @pids);
		select(undef, undef, undef, 0.002);
	}
}

# When its processes have ended.
sub remove {
	my ($self) = @_;

	for my $dir ($self->directories) {
		eval { await('the group to be empty',
		    sub { !-d $dir || rmdir($dir) }, 5) } or
		    print STDERR "$dir is left\n";
	}
	delete(@{$self}{qw(dir memory limited)});
}

1;
