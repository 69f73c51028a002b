# Bench::Attack::Ground: the files of an attacked server, and what changes them.
#
# Each 64 bytes of a file tell its name, version, size and offset, so that a
# body shows by itself what it is made of.  What must never be sent has a mark.
# The first letter of a name is its class:
#
#	p	stays as it is
#	r	replaced by rename
#	w	written in place, with the size that it has
#	t	truncated and written in place
#	u	unlinked, and made again
#	l	a link that leads elsewhere
#	d	a file in a directory that is renamed
package Bench::Attack::Ground;

use strict;
use warnings;

use lib "$FindBin::Bin/../../t/lib";
use Amped qw(docroot slurp write_file);
use IO::Compress::Gzip qw(gzip);
use Time::HiRes qw(time usleep);

our $SECRET = 'TOP' . 'SECRET-0f8a61';
our $MEMBER = 'MEMBERS' . 'ONLY-77c3d2';
my @sizes = (1, 700, 4000, 15_000, 16_385, 50_000, 66_000, 300_000);
my $most = 2_000_000;
my $offsets = join('', map { ("\0" x 32) . sprintf("%31d\n", $_ * 64) }
    0 .. $most / 64);
# What is at a place that was written in place can be remembered for so long.
my $settles = 6;

# A file's bytes: quickly, since each body is compared with them.
sub content {
	my ($name, $version, $size) = @_;
	my $token = sprintf('%-10s v%-8d s%-9d ', $name, $version, $size);
	my $blocks = int($size / 64) + 1;

	return substr(substr($offsets, 0, $blocks * 64) |
	    (($token . "\0" x 32) x $blocks), 0, $size);
}

sub new {
	my ($class) = @_;
	my $secret = "$SECRET\n" x 20;
	my $self = bless({ outside => docroot(secret => $secret,
	    'dir/page' => $secret), variants => docroot(), version => 1,
	    root => docroot('denied/page' => $secret, 'x.bak' => $secret,
		'dir/y.bak' => $secret, '.hidden' => $secret,
		'dir/.hidden/page' => $secret, 'index.html' => "index\n",
		'members/page' => "$MEMBER\n" x 30,
		'members/free/page' => "free\n") }, $class);

	my %n = (p => 20, r => 20, w => 8, t => 8, u => 6);
	for my $kind (sort keys(%n)) {
		$self->put("$kind$_" . ($_ % 3 ? '' : '.txt'), 1,
		    $sizes[$_ % @sizes]) for 1 .. $n{$kind};
	}
	$self->put('p99', 1, $most);
	$self->put("dir/p$_", 1, 2000) for 100 .. 140;
	$self->put("d$_/d$_.txt", 1, 20_000) for 1, 2;
	symlink('p1', "$self->{root}/l$_") for 1 .. 4;
	gzip(\slurp("$self->{root}/p6.txt") => "$self->{root}/p6.txt.gz");
	$self->{at} = docroot();
	if ($> == 0) {
		my ($uid, $gid) = (getpwnam(Amped::ordinary_user()))[2, 3];
		chown($uid, $gid, $self->{variants});
		chown(1, 1, glob("$self->{outside}/{,dir/}*"));
	}
	return $self;
}

# What can be asked for, by class.
sub targets {
	my ($self) = @_;

	return map { substr($_, length($self->{root})) } grep { !-d && !/\.bak\z/ }
	    glob("$self->{root}/[prwtul]*"), glob("$self->{root}/{d?,dir}/*");
}

sub class_of { return $_[0] =~ m{([a-z])\d+[^/]*\z} ? $1 : '' }

sub put {
	my ($self, $name, $version, $size) = @_;

	write_file("$self->{root}/$name", '') if $name =~ m{/};
	write_file("$self->{root}/new", content($name =~ s{.*/}{}r, $version,
	    $size));
	rename("$self->{root}/new", "$self->{root}/$name");
}

# One change to a file or link that may change.
sub change {
	my ($self) = @_;
	my $version = ++$self->{version};
	my $root = $self->{root};
	my ($kind) = (qw(r r w w t t u l d))[rand(9)];
	my @paths = grep { !/\.gz\z/ } glob("$root/${kind}[0-9]*");
	my $path = $paths[rand(@paths)] // return;
	my $name = $path =~ s{.*/}{}r;
	my $size = $kind eq 'w' ? -s $path : $sizes[rand(@sizes)];

	return $self->write_in_place($path, $name, $version, $size)
	    if $kind =~ /[wt]/;
	if ($kind eq 'u') {
		unlink($path);
		usleep(rand(20_000));
		$self->put($name, $version, $size);
	} elsif ($kind eq 'r') {
		$self->put($name, $version, $size);
		gzip(\content($name, $version, $size) => "$root/new.gz"),
		    rename("$root/new.gz", "$path.gz")
		    if $name =~ /txt\z/ && rand() < .3;
	} elsif ($kind eq 'l') {
		symlink((qw(p1 dir/p101 ../x r2 nothing l1), $root,
		    '../' . $self->{outside} =~ s{.*/}{}r . '/secret',
		    "$self->{outside}/secret")[rand(9)], "$root/new");
		rename("$root/new", $path);
	} else {
		$self->swap_directories;
	}
}

# d1 is away, then a link to what is outside, then d1 again.
sub swap_directories {
	my ($self) = @_;
	my $root = $self->{root};

	rename("$root/d1", "$root/away") or return;
	symlink($self->{outside}, "$root/d1") or return;
	usleep(rand(10_000));
	unlink("$root/d1");
	rename("$root/d2", "$root/d1");
	usleep(rand(10_000));
	rename("$root/d1", "$root/d2");
	rename("$root/away", "$root/d1");
}

# When it begins and ends is noted: whoever asks meanwhile may get a mixture.
sub write_in_place {
	my ($self, $path, $name, $version, $size) = @_;
	my $begin = time;

	return if $begin - ((stat($path))[9] // 0) < rand(12);
	$self->note($name, $begin, $begin + 3600);
	open(my $fh, '+<:raw', $path) or return;
	if ($name =~ /\At/) {
		truncate($fh, int(rand($size)));
		usleep(rand(5000)) if rand() < .3;
		truncate($fh, 0);
	}
	syswrite($fh, content($name, $version, $size));
	close($fh);
	utime(undef, undef, $path);
	$self->note($name, $begin, time);
}

sub note {
	my ($self, $name, @times) = @_;

	write_file("$self->{at}/new", "@times");
	rename("$self->{at}/new", "$self->{at}/$name");
}

# Whether a file has not been written in place from a while before some time on.
sub was_quiet {
	my ($self, $name, $since) = @_;
	my $noted = "$self->{at}/$name";

	return 1 unless -e $noted;
	my ($begin, $end) = split(' ', slurp($noted));
	return $end + $settles < $since;
}

# What is wrong with bytes of a file from an offset on: undef if they are of one
# version; and the version.  A file that is being truncated may end early.
sub look_at {
	my ($bytes, $offset) = @_;
	my $at = -$offset % 64;

	return (undef, undef) if length($bytes) < $at + 32;
	my ($name, $version, $size) = substr($bytes, $at, 32) =~
	    /\A(\w\d+\S*) +v(\d+) +s(\d+) +\z/
	    or return ('bytes of no file: ' . quote(substr($bytes, $at, 40)));
	my $right = content($name, $version, $size);
	return (undef, "$name $version $size")
	    if substr($right, $offset, length($bytes)) eq $bytes;
	my $wrong = ($bytes ^ substr($right, $offset, length($bytes))) =~
	    /[^\0]/ ? $-[0] : 0;
	return ("bytes of $name version $version, size $size, from $offset " .
	    "on, and from " . ($offset + $wrong) . ' on: ' .
	    quote(substr($bytes, $wrong, 40)), "$name $version $size");
}

sub quote { return $_[0] =~ s/([^\x20-\x7e])/sprintf('\\x%02x', ord($1))/ger }

1;
