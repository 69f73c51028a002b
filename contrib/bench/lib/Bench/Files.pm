# Bench::Files: the files that are served, made when they are first wanted,
# and lists of targets among them.
#
# All are a year old and more, so no server takes them for files that may
# still change.  What is random has a fixed seed.
package Bench::Files;

use strict;
use warnings;

use File::Basename qw(basename);
use File::Path qw(make_path);
use POSIX qw(strftime);

use Amped;
use Amped::Replay;

use constant MODIFIED => Amped::Replay::MODIFIED;

my %size = ('/500' => 500, '/5k' => 5_000, '/50k' => 50_000,
    '/500k' => 500_000, '/5m' => 5_000_000);

# Per mille, of WebStone 2.
my %webstone = ('/500' => 350, '/5k' => 500, '/50k' => 140, '/500k' => 9,
    '/5m' => 1);

# Poisson with mean 5 over the nine files of a class, per 10,000.
my @poisson = (350, 876, 1460, 1825, 1825, 1521, 1086, 679, 378);
my $spec_directories = 10;

sub new {
	my ($class, $traces) = @_;

	umask(022);
	return bless({ root => Amped::docroot(), lists => Amped::docroot(),
	    traces => $traces, made => {}, owner => $$ }, $class);
}

# Much faster than File::Temp, which looks at each file.
sub DESTROY {
	my ($self) = @_;
	local $?;

	system('rm', '-rf', glob("$self->{root}/*")) if $$ == $self->{owner};
}

sub make {
	my ($self, $name, $size) = @_;
	my $path = "$self->{root}$name";

	open(my $fh, '>:raw', $path) or die "$path: $!\n";
	print $fh $size > 4096 ? Amped::content($name, $size) :
	    substr("$name " x ($size / (length($name) + 1) + 1), 0, $size);
	close($fh) or die "$path: $!\n";
	utime(MODIFIED, MODIFIED, $path);
}

sub list {
	my ($self, $name, @targets) = @_;
	my $path = "$self->{lists}/$name";

	Amped::write_file($path, join('', map { "$_\n" } @targets));
	return ($path, scalar(@targets));
}

# A list without repetitions.
sub each_once {
	my ($self, $list) = @_;
	my %seen;

	return $self->list(basename($list) . '-once', grep { !$seen{$_}++ }
	    split(/\n/, Amped::slurp($list)));
}

# A list from its middle on, and then what is before.
sub later_half {
	my ($self, $list) = @_;
	my @lines = split(/\n/, Amped::slurp($list));
	my @before = splice(@lines, 0, @lines / 2);

	return $self->list(basename($list) . '-later', @lines, @before);
}

sub shuffled {
	my (@list) = @_;

	srand(5);
	for (my $i = @list - 1; $i > 0; $i--) {
		my $j = int(rand($i + 1));
		@list[$i, $j] = @list[$j, $i];
	}
	return @list;
}

# Makes a set, once.
sub once {
	my ($self, $set, $function) = @_;

	return if $self->{made}{$set}++;
	print STDERR "files: $set\r" if -t STDERR;
	$function->();
}

sub sizes {
	my ($self) = @_;

	$self->once('sizes', sub {
		$self->make($_, $size{$_}) for sort keys %size;
	});
}

sub webstone {
	my ($self) = @_;

	$self->sizes;
	return $self->list('webstone', shuffled(map { ($_) x
	    $webstone{$_} } sort keys %webstone));
}

# So many directories of SPECweb96: nine files in each of four classes.
sub spec_directories {
	my ($self, @directories) = @_;

	for my $dir (@directories) {
		make_path("$self->{root}$dir");
		for my $i (map { $_ * 10 + 1 .. $_ * 10 + 9 } 0 .. 3) {
			my ($class, $n) = (int($i / 10), $i % 10);
			$self->make("$dir/class${class}_$n",
			    int(102.4 * 10 ** $class * $n + 0.5));
		}
	}
}

# A class of SPECweb96.
sub spec {
	my ($self, $class) = @_;
	my @directories = map { sprintf('/spec/dir%05d', $_) }
	    1 .. $spec_directories;
	my @names;

	$self->once('SPECweb96', sub {
		$self->spec_directories(@directories);
	});
	for my $n (1 .. 9) {
		push(@names, ("class${class}_$n") x $poisson[$n - 1]);
	}
	srand(96);
	return $self->list("spec$class", map { $directories[rand(@directories)]
	    . "/$_" } shuffled(@names));
}

use constant SPEC_BYTES => 45 * 102.4 * 1111;	# of a directory

# Requests for all classes as SPECweb96 mixes them, in so many directories, the
# n-th of which is asked for 1/n times as often as the first, as SPECweb99 has
# it.  They are made elsewhere (spec_directories).
sub zipf {
	my ($self, $requests, @directories) = @_;
	my @class = ((0) x 35, (1) x 50, (2) x 14, 3);
	my @number = map { ($_) x $poisson[$_ - 1] } 1 .. 9;
	my ($sum, @until) = (0);

	push(@until, $sum += 1 / $_) for 1 .. @directories;
	srand(99);
	return $self->list('zipf', map {
		my $at = rand($sum);
		my ($i) = grep { $until[$_] > $at } 0 .. $#until;
		"$directories[$i]/class$class[rand(@class)]_" .
		    $number[rand(@number)];
	} 1 .. $requests);
}

# So many files of 5 MB.
sub large {
	my ($self, $n) = @_;
	my @names = map { "/5m.$_" } 1 .. $n;

	$self->once("$n of 5 MB", sub {
		$self->make($_, $size{'/5m'}) for @names;
	});
	return $self->list("large$n", @names);
}

# So many files of 500 bytes, a thousand in a directory.
sub many {
	my ($self, $n) = @_;
	my @names = map { sprintf('/many/%04d/%07d', $_ / 1000, $_) }
	    0 .. $n - 1;

	$self->once("$n files", sub {
		for my $i (0 .. $n - 1) {
			make_path("$self->{root}/many/" .
			    sprintf('%04d', $i / 1000)) if $i % 1000 == 0;
			$self->make($names[$i], 500)
			    unless -e "$self->{root}$names[$i]";
		}
	});
	return $self->list("many$n", @names);
}

# Files and requests of a trace; nothing if it is not there.
sub trace {
	my ($self, $name) = @_;
	my ($files) = glob("$self->{traces}/$name.files.tsv*");
	my ($trace) = glob("$self->{traces}/$name.trace.tsv*");

	return unless defined($files) && defined($trace);
	my $replay = Amped::Replay->new($files, $trace);
	my $since = 'If-Modified-Since: ' .
	    strftime('%a, %d %b %Y %T GMT', gmtime(MODIFIED));
	$self->once($name, sub {
		for my $path (sort keys %{$replay->{sizes}}) {
			my ($dir) = "/$name$path" =~ m{(.*)/};
			make_path("$self->{root}$dir");
			$self->make("/$name$path", $replay->{sizes}{$path});
		}
	});
	return $self->list($name, map { "/$name" .
	    Amped::Replay::encode($_->[0]) . ($_->[1] == 304 ? "\t$since" :
	    '') } @{$replay->{requests}});
}

1;
