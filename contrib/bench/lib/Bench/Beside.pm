# Bench::Beside: clients of a cached file beside clients of a disk with heads.
#
# The disk is an ext4 file system, read-ahead 128 KiB, on a loop device with
# direct I/O, on an image that t/slowfs serves as slowly as such a disk.  Each
# server finds it fresh: nothing of it is cached.
package Bench::Beside;

use strict;
use warnings;

use Amped qw(docroot write_file);
use Bench::Disk;
use Bench::Server;
use Bench::Wrk;

use constant SIZE => 32768;		# bytes of a file on the disk

# Each file once; or the first ones most often.
my %script = (once => 'i % files + 1',
    popular => 'math.floor(files * math.random() ^ 3) + 1');

# What there has to be; '' if nothing is missing.
sub missing {
	return 'there is no wrk' unless Bench::Server::which('wrk');
	return Bench::Disk::missing(slow => 1);
}

# The disk, with more files than it can read in that time, each of them once.
#	root	what is served: a file hot, and the directory cold
#	seconds, clients	of the disk
#	heads, seek, rate	of the disk: us, MB/s
sub new {
	my ($class, %opt) = @_;
	my $self = bless({ heads => 4, seek => 8000, rate => 100,
	    clients => 16, %opt }, $class);
	my $work = docroot();
	my $bytes = 'c' x SIZE;

	$self->{files} = int(($self->{seconds} + 2) * $self->{heads} * 1e6 /
	    $self->{seek}) + 100;
	# At full speed, before it becomes slow.
	write_file("$work/files/$_", $bytes) for 1 .. $self->{files};
	$self->{disk} = Bench::Disk->new("$work/files", slow => 1);
	return $self;
}

sub bytes { return $_[0]{files} * SIZE }

sub hot {
	my ($running, $for) = @_;

	return Bench::Wrk->new(server => $running, clients => 8,
	    seconds => $for, target => '/hot')->said;
}

# What Bench::Wrk says of the cached file alone, of it beside the disk, and of
# the disk's; and how many major faults the server had.
#	start	starts a server
#	script	once, popular
sub measure {
	my ($self, $start, $script) = @_;

	$self->{disk}->attach("$self->{root}/cold",
	    @$self{qw(heads seek rate)});
	my $running = $start->();
	hot($running, 1);
	my $alone = hot($running, $self->{seconds});
	my $faults = $running->major_faults;
	my $cold = Bench::Wrk->new(server => $running,
	    clients => $self->{clients}, seconds => $self->{seconds},
	    script => <<"END");
local files = $self->{files}
local i = 0
request = function()
	i = $script{$script}
	return wrk.format('GET', '/cold/' .. i)
end
END
	my $hot = hot($running, $self->{seconds});
	$cold = $cold->said;
	$faults = $running->major_faults - $faults;
	$running->stop;
	$self->{disk}->detach;
	return { alone => $alone, hot => $hot, cold => $cold,
	    faults => $faults };
}

1;
