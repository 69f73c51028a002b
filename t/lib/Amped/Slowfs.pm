# Amped::Slowfs: a file system that a test makes slow, or dead, and alive again
# (t/slowfs.c).  The file system is unmounted with the object.
package Amped::Slowfs;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IO::Handle;
use IO::Select;
use IPC::Open2 qw(open2);
use POSIX qw(WNOHANG);

sub program {
	my $build = $ENV{AMPED_BUILD} // dirname(abs_path(__FILE__)) .
	    '/../../..';

	return "$build/t/slowfs";
}

# The reason why this system cannot have one; '' if it can.
sub missing {
	return 'FUSE needs root' if $> != 0;
	return 'there is no t/slowfs here' unless -x program();
	return 'there is no /dev/fuse here' unless open(my $fh, '+<',
	    '/dev/fuse');
	my $dir = Amped::docroot('from/' => '', 'at/' => '');
	my $fs = eval { __PACKAGE__->new("$dir/from", "$dir/at") };
	return $fs ? '' : "no FUSE here: $@";
}

# Starts the test again in a mount namespace, so that its mounts go with it.
sub alone {
	return if $ENV{AMPED_TEST_MOUNTS};
	$ENV{AMPED_TEST_MOUNTS} = 1;
	exec('unshare', '-m', '--propagation', 'private', $^X,
	    (map { "-I$_" } @INC), $0) or die "unshare: $!\n";
}

# Binds one directory to another.
sub new {
	my ($class, $directory, $at) = @_;
	my $pid = open2(my $from, my $to, program(), $directory, $at);
	my $self = bless({ pid => $pid, from => $from, to => $to, at => $at,
	    lines => [], held => [], text => '', by => $$ }, $class);

	$to->autoflush(1);
	my $line = $self->next_line;
	die "slowfs says $line\n" unless $line eq 'ready';
	return $self;
}

sub next_line {
	my ($self) = @_;

	my $end;

	while (($end = index($self->{text}, "\n")) < 0) {
		my $n = IO::Select->new($self->{from})
		    ->can_read(Amped::timeout()) ?
		    sysread($self->{from}, $self->{text}, 4096,
		    length($self->{text})) : undef;
		die "slowfs says nothing\n" unless defined($n);
		die "slowfs has ended\n" unless $n;
	}
	my $line = substr($self->{text}, 0, $end);
	substr($self->{text}, 0, $end + 1) = '';
	return $line;
}

sub command {
	my ($self, $command) = @_;

	print { $self->{to} } "$command\n";
	while ((my $line = $self->next_line) ne 'ok') {
		die "slowfs does not know: $command\n" if $line eq '?';
		push(@{$self->{held}}, $line =~ s/\Aheld //r);
	}
}

# How often each operation was asked for since the last time.
sub count {
	my ($self) = @_;

	$self->command('count');
	my @lines = grep { /^count / } @{$self->{held}};
	$self->{held} = [grep { !/^count / } @{$self->{held}}];
	return map { (split)[1, 2] } @lines;
}

# Notes all operations from now on, for asked().
sub trace { return $_[0]->command('trace') }

# The operations since the last time in their order, each with its file.
sub asked {
	my ($self) = @_;

	$self->command('count');
	my @lines = grep { /^asked / } @{$self->{held}};
	$self->{held} = [grep { !/^(?:asked|count) / } @{$self->{held}}];
	return map { s/^asked //r } @lines;
}

# Holds operations of this kind from now on.
sub hold { return $_[0]->command(join(' ', 'hold', @_[1 .. $#_])) }

sub delay { return $_[0]->command("delay $_[1] $_[2]") }

# Fails operations of this kind with EIO from now on.
sub fail { return $_[0]->command(join(' ', 'fail', @_[1 .. $#_])) }

# Answers all operations again, held ones too.
sub release {
	my ($self) = @_;

	$self->command('free');
	$self->{held} = [];
}

# Waits until an operation of this kind, or any, is held; returns its name.
sub wait_held {
	my ($self, $op) = @_;

	while (1) {
		for my $line (@{$self->{held}}) {
			my ($kind, $name) = split(/ /, $line, 2);
			return $name if !defined($op) || $kind eq $op;
		}
		push(@{$self->{held}}, $self->next_line =~ s/\Aheld //r);
	}
}

sub DESTROY {
	my ($self) = @_;
	local ($?, $!, $@);

	return unless $self->{by} == $$;
	close($self->{to});
	close($self->{from});
	waitpid($self->{pid}, 0);
}

1;
