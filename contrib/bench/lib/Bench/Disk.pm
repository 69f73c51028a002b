# Bench::Disk: an ext4 file system with chosen files, on a loop device with
# direct I/O, of which nothing is in memory whenever it is attached; as fast as
# the disk beneath it, or as slow as t/slowfs makes one.  Gone with the object.
package Bench::Disk;

use strict;
use warnings;

use File::Find qw(find);

use Amped qw(docroot);
use Amped::Slowfs;
use Bench::Server;

# What is missing here for one; '' if nothing is.
sub missing {
	my (%opt) = @_;

	return 'loop devices need root' if $> != 0;
	for my $program (qw(mkfs.ext4 losetup)) {
		return "there is no $program"
		    unless Bench::Server::which($program);
	}
	return $opt{slow} ? Amped::Slowfs::missing() : '';
}

sub run {
	system(@_) == 0 or die "@_ failed\n";
}

# Made of a directory, which goes; slow: through t/slowfs.
sub new {
	my ($class, $files, %opt) = @_;
	my ($n, $bytes) = (1000, 64 * 1048576);
	my $dir = docroot('disk/' => '', 'disk/disk' => '', 'at/' => '');

	find({ no_chdir => 1, wanted => sub {
		$n++;
		$bytes += ((-s $_) + 4096) * 1.2 if -f $_;
	} }, $files);
	run('mkfs.ext4', '-q', '-F', '-O', '^has_journal', '-N', $n,
	    '-d', $files, "$dir/disk/disk", int($bytes / 1048576) . 'M');
	run('rm', '-rf', $files);
	my $self = bless({ image => "$dir/disk/disk", by => $$ }, $class);
	if ($opt{slow}) {
		$self->{slow} = Amped::Slowfs->new("$dir/disk", "$dir/at");
		$self->{image} = "$dir/at/disk";
	}
	return $self;
}

# Gives files without bytes those of another file.  All have the same blocks, so
# they take no room, but each has pages of its own in memory.
sub share {
	my ($self, $model, @names) = @_;
	my ($bytes) = qx(debugfs -R 'stat $model' $self->{image} 2>/dev/null) =~
	    /Size: (\d+)/;
	my @dump = qx(debugfs -R 'inode_dump $model' $self->{image} 2>/dev/null);
	my @words = unpack('x40 V15', pack('H*', join('', map {
	    /^\d+  ((?:[0-9a-f]{4} ){8})/ ? $1 =~ s/ //gr : () } @dump)));
	my @fields = ((map { "block[$_]" } 0 .. 11),
	    map { "block[$_]" } qw(IND DIND TIND));

	# A tree without levels is in the inode as a whole.
	die "$model is in too many pieces\n"
	    unless @words == 15 && $words[1] >> 16 == 0;
	open(my $to, '|-', "debugfs -w -f - $self->{image} > /dev/null 2>&1")
	    or die "debugfs: $!\n";
	for my $name (@names) {
		print $to "sif $name flags 0x80000\nsif $name size $bytes\n",
		    map { "sif $name $fields[$_] $words[$_]\n" } 0 .. 14;
	}
	close($to) or die "debugfs failed\n";
}

# From now on a slow one has so many heads, us a seek, MB/s; or is fast.
sub speed {
	my ($self, @speed) = @_;

	@speed = (0, 0, 1) unless @speed;
	$self->{slow}->command("disk @speed") if $self->{slow};
}

# Read-only, with a read-ahead of 128 KiB; speed as there.
sub attach {
	my ($self, $at, @speed) = @_;

	chomp(my $loop = `losetup -f --show -r --direct-io=on $self->{image}`);
	die "no loop device\n" unless $loop;
	@$self{qw(loop at)} = ($loop, $at);
	run('blockdev', '--setra', 256, $loop);		# of 512 bytes
	run('mount', '-o', 'ro', $loop, $at);
	$self->speed(@speed);
}

sub detach {
	my ($self) = @_;
	my $loop = delete($self->{loop}) // return;

	# Who is stopped by a signal to all finds it gone already.
	local $SIG{PIPE} = 'IGNORE';
	eval { $self->speed };
	system('umount', '-l', $self->{at});
	system('losetup', '-d', $loop);
}

sub DESTROY {
	my ($self) = @_;
	local ($?, $!, $@);

	$self->detach if $self->{by} == $$;
}

1;
