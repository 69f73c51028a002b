# Bench::Group: how much processor time a server has used, all its processes
# together, by a control group of its own; version 1 or 2.
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

sub new {
	my ($class) = @_;
	my ($place, $file) = place();
	my $self = bless({}, $class);

	return $self unless defined($place);
	my $dir = "$place/amped-bench-$$-" . $n++;
	return $self unless mkdir($dir);
	@{$self}{qw(dir file)} = ($dir, $file);
	return $self;
}

# How time is told: a word for the report.
sub kind { return $_[0]{file} // '/proc' }

# A command of the shell that makes it, and what it starts, members.
sub joining {
	my ($self) = @_;

	return defined($self->{dir}) ? "echo \$\$ > $self->{dir}/cgroup.procs" :
	    ':';
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

# When its processes have ended.
sub remove {
	my ($self) = @_;
	my $dir = delete($self->{dir}) // return;

	eval { await('the group to be empty', sub { !-d $dir || rmdir($dir) },
	    5) } or print STDERR "$dir is left\n";
}

1;
