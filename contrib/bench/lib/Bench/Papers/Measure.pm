# Bench::Papers::Measure: how each figure is measured; the results go to
# Bench::Papers::Results, what could not be measured is noted there.
#
# Whoever compares is loaded in turns, round by round, on one core, from
# another one; where memory is limited, one server after the other.
package Bench::Papers::Measure;

use strict;
use warnings;

use POSIX qw(strftime);

use Amped qw(docroot);
use Bench::Activity;
use Bench::Beside;
use Bench::Disk;
use Bench::Files;
use Bench::Load;
use Bench::Papers::Figure;
use Bench::Probe;
use Bench::Server;

use constant {
	MOST => 256,		# workers that amped may have
	FEW => 32,		# processes or threads, where memory is scarce
	LEFT_OF => 128,		# MB: what memory is taken from
	PROFILE => 12,		# functions
	IDLE => 8000,		# clients
	TURNS => 5,		# of each in a round, where some per cent count
};

my @disk = (4, 5000, 150);	# heads, us a seek, MB/s

#	results, servers
#	seconds, rounds, quick
#	traces	where they are; which, if not all
#	progress	a function for a text
sub new {
	my ($class, %opt) = @_;
	my $self = bless({ %opt, files => Bench::Files->new($opt{traces}) },
	    $class);

	$self->{files}->sizes;
	return $self;
}

# Those who take part in a figure.
sub who {
	my ($self, $figure) = @_;

	return map { way_of($self, @$_) } @{$figure->{ways}}
	    if $figure->{ways};
	return grep { $_->{arch} || !$figure->{ours} &&
	    (!$_->{slow} || $figure->{disk}) } @{$self->{servers}};
}

# A server as the figure has it, if its architecture takes part.
sub way_of {
	my ($self, $name, $arch, $lines) = @_;

	return map { { %$_, name => $name, lines => $lines } }
	    grep { ($_->{arch} // '') eq $arch } @{$self->{servers}};
}

sub run {
	my ($self, $name) = @_;
	my $figure = $self->{figure} = Bench::Papers::Figure::find($name);
	my @x = @{$figure->{$self->{quick} ? 'quick' : 'full'} // []};

	$self->{results}->begin($name, x => \@x,
	    date => strftime('%Y-%m-%d %H:%M', localtime),
	    seconds => $self->{seconds}, rounds_of_each => $self->{rounds},
	    servers => [map { $_->{name} } $self->who($figure)]);
	$self->$name(@x);
}

sub note { $_[0]{results}->note($_[0]{figure}{name}, $_[1]) }

sub tell {
	my ($self, $text) = @_;

	$self->{progress}->("$self->{figure}{name}: $text");
}

# Where x is found out as we go.
sub at {
	my ($self, $x) = @_;
	my $all = $self->{results}{figures}{$self->{figure}{name}}{x};

	push(@$all, $x) unless grep { $_ eq $x } @$all;
}

# mp and mt serve as many clients at once as there are workers.
sub one_each { return ($_[0]{arch} // '') =~ /^m[pt]\z/ }

sub workers {
	my ($server, $n) = @_;

	return '' unless one_each($server);
	return 'workers ' . ($n > MOST ? MOST : $n < 1 ? 1 : $n) . "\n";
}

# What start() is told of one; more: beside the usual.
sub options {
	my ($self, $server, $clients, %more) = @_;

	return { server => $server, root => $self->{files}{root}, log => 0,
	    more => workers($server, $clients) . ($server->{lines} // ''),
	    %more };
}

sub figures {
	my ($r, $clients) = @_;

	return { %$r, mb => $r->{bytes} * 8e-6 / $r->{seconds},
	    mean => 1000 * $clients / $r->{rate}, p99 => $r->{p99} / 1000,
	    p50 => $r->{p50} / 1000, slowest => $r->{slowest} / 1000 };
}

# One measurement, of a server that runs; true if there was one.  Connections
# are there before, but where a server cannot have so many.  more: other figures
# of the same round.
sub once {
	my ($self, $server, $x, $w, $list, $more) = @_;

	$w = { %$w, client => ['-n'] } if one_each($server->{server}) &&
	    $w->{c} > MOST;
	my $r = eval { Bench::Load::measure(server => $server, workload => $w,
	    seconds => $self->{seconds}, list => $list->[0],
	    lines => $list->[1]) };

	if (!$r) {
		$self->note("$server->{name}, $x: " . ($@ =~ s/\s+/ /gr));
		return 0;
	}
	$self->note("$server->{name}, $x: $r->{errors} wrong or missing " .
	    'answers') if $r->{errors};
	$self->{results}->add($self->{figure}{name}, $server->{name}, $x,
	    { %{figures($r, $w->{c})}, %{$more // {}} });
	return 1;
}

# All servers in turns at one x, in one round, or as often as the workload says.
# Whoever comes first has no advantage.
sub turn {
	my ($self, $round, $x, $w, $list) = @_;
	my @running = Bench::Server::start_all('/500',
	    sub { $self->note($_[0]) },
	    map { $self->options($_, $w->{workers} // $w->{c}) }
	    $self->who($self->{figure}));

	for my $turn (1 .. $w->{turns} // 1) {
		my $first = @running ? ($round + $turn) % @running : 0;
		for my $server (@running[$first .. $#running],
		    @running[0 .. $first - 1]) {
			$self->tell("$x, $server->{name}, round $round");
			$self->once($server, $x, $w, $list);
		}
	}
	$_->stop for @running;
}

# A round goes along all of x, so that what else the machine does for a while
# is at no one place of it.
sub sweep {
	my ($self, $workload, $list, @x) = @_;

	for my $round (1 .. $self->{rounds}) {
		$self->turn($round, $_, $workload->($_), $list) for @x;
	}
}

# Files of these sizes.
sub make_sizes {
	my ($self, @sizes) = @_;
	my $files = $self->{files};

	for my $size (@sizes) {
		$files->once("$size bytes", sub {
			$files->make("/$size", $size) });
	}
}

sub single {
	my ($self, @x) = @_;

	$self->make_sizes(@x);
	$self->sweep(sub { +{ name => $_[0], target => "/$_[0]",
	    size => $_[0], c => 64, one => 1 } }, [], @x);
}

sub clients {
	my ($self, @x) = @_;

	$self->sweep(sub { +{ name => "$_[0] clients", target => '/5k',
	    size => 5000, c => $_[0] } }, [], @x);
}

# A file of 5 KB, or of a size, each request on a connection of its own: clients
# and size or workers are those of a pair.
sub strategies {
	my ($self, @x) = @_;

	$self->make_sizes(map { /(\d+)/ } @x);
	$self->sweep(sub {
		my ($size, $clients) = split(/:/, $_[0]);
		return { name => $_[0], target => "/$size", size => $size,
		    c => $clients, one => 1 };
	}, [], @x);
}

sub pool {
	my ($self, @x) = @_;

	$self->sweep(sub {
		my ($clients, $workers) = split(/:/, $_[0]);
		return { name => $_[0], target => '/5k', size => 5000,
		    c => $clients, workers => $workers, one => 1 };
	}, [], @x);
}

sub activity {
	my ($self, @x) = @_;

	$self->make_sizes(@x);
	for my $round (1 .. $self->{rounds}) {
		for my $server ($self->who($self->{figure})) {
			eval { with_server($self->options($server, 64,
			    log => 1), '/500', sub {
				$self->spent($_[0], $_, $round) for @x;
			}); 1 } or $self->note("$server->{name}: " .
			    ($@ =~ s/\s+/ /gr));
		}
	}
}

# What a server spends its time on, with files of a size.
sub spent {
	my ($self, $running, $size, $round) = @_;
	my $w = { name => $size, target => "/$size", size => $size, c => 64,
	    one => 1 };

	$self->tell("$size, $running->{name}, round $round");
	my $spent = Bench::Activity::measure($running, $self->{seconds} < 1 ?
	    1 : $self->{seconds}, $w);
	my $event = delete($spent->{event});
	$self->note(defined($event) ? "perf looks at each so many of $event." :
	    'perf is not there, or sees nothing.');
	$self->note('strace is not there, or sees nothing.')
	    unless defined($spent->{calls});
	$self->once($running, $size, $w, [], $spent);
}

sub webstone {
	my ($self, @x) = @_;

	$self->sweep(sub { +{ name => "$_[0] clients", c => $_[0], one => 1,
	    warm => 1 } }, [$self->{files}->webstone], @x);
}

# The names of traces whose files have sizes; some: those only.
sub traces_of {
	my ($directory, @some) = @_;
	my %named = map { $_ => 1 } @some;
	my @found;

	for my $file (sort glob("$directory/*.files.tsv*")) {
		my ($name) = $file =~ m{([^/]*)\.files\.tsv};
		next if @some && !$named{$name};
		my $size = 0;
		eval { Amped::Replay::each_row($file, sub {
			$size += $_[1] =~ /\A\d+\z/ ? $_[1] : die("none\n");
			1 }); 1 } or next;
		push(@found, [$name, $size]);
	}
	return @found;
}

# The largest are left out unless they are asked for: they are about as much
# again as all others.
sub traces {
	my ($self) = @_;
	my @some = @{$self->{which} // []};
	my $most = $self->{quick} ? 60e6 : 200e6;
	my @traces = grep { @some || $_->[1] <= $most }
	    defined($self->{traces}) ? traces_of($self->{traces}, @some) : ();

	$self->note(defined($self->{traces}) ?
	    "There is no such trace in $self->{traces}." :
	    'Nobody has said where traces are (-t).') unless @traces;
	for my $trace (@traces) {
		my ($name, $size) = @$trace;
		$self->tell("$name: its files");
		my @list = $self->{files}->trace($name);
		my %w = (name => $name, c => 64, one => 1);
		# In a moment not all of it can be played.
		$list[1] = 20_000 if $self->{quick} && $list[1] > 20_000;
		$self->at("$name, cached");
		$self->sweep(sub { +{ %w, warm => 1 } }, \@list,
		    "$name, cached");
		$self->disk("/$name") or next;
		$self->at("$name, disk");
		$self->scarce("$name, disk", "/$name", int($size / 2), \%w,
		    $list[0]);
	}
}

# A disk of what is in a directory, which goes, to be attached there.
sub disk {
	my ($self, $directory) = @_;
	my $at = "$self->{files}{root}$directory";
	my $missing = Bench::Disk::missing(slow => 1);

	if ($missing) {
		$self->note("Nothing was asked for from a disk: $missing.");
		return undef;
	}
	$self->tell('a disk');
	$self->{disk} = Bench::Disk->new($at, slow => 1);
	mkdir($at) or die "$at: $!\n";
	return $self->{disk};
}

# All servers, one after the other, with so much memory, from a fresh disk.
sub scarce {
	my ($self, $x, $directory, $memory, $w, $list) = @_;
	my $at = "$self->{files}{root}$directory";

	for my $round (1 .. $self->{rounds}) {
		for my $server ($self->who($self->{figure})) {
			$self->tell("$x, $server->{name}, round $round");
			$self->{disk}->attach($at);
			eval { $self->starved($x, $server, $memory, $w,
			    $list); 1 } or $self->note("$server->{name}, $x: " .
			    ($@ =~ s/\s+/ /gr));
			$self->{disk}->detach;
		}
	}
}

# One server that answers, for as long as the function runs.
sub with_server {
	my ($options, $target, $function) = @_;
	my $running = Bench::Server->start(%$options);

	$running->ready($target);
	my @results = eval { $function->($running->whole) };
	my $failed = $@;
	$running->stop;
	die $failed if $failed;
	return $results[0];
}

# With the caches that each has by itself: larger ones would not fit.  What has
# room in memory is there when it counts: the disk becomes slow only then.
sub starved {
	my ($self, $x, $server, $memory, $w, $list) = @_;
	my %w = (%$w, client => ['-n']);

	with_server($self->options($server, FEW, large => 0,
	    memory => $memory), '/500', sub {
		my ($running) = @_;

		$running->{group}->limited or
		    die "the memory of a server cannot be limited here\n";
		Bench::Load::measure(server => $running, workload => \%w,
		    seconds => $self->{seconds} + 1, list => $_) for
		    ($self->{files}->each_once($list))[0], $list;
		$self->{disk}->speed(@disk);
		$self->once($running, $x, \%w,
		    [$self->{files}->later_half($list)]);
	});
}

sub dataset {
	my ($self) = @_;
	my ($memory, @sets) = $self->{quick} ? (48, 4, 8, 16) :
	    (96, 3, 6, 9, 12, 15, 18, 22, 26, 30, 36);
	my @directories = map { sprintf('/set/%03d', $_) } 1 .. $sets[-1];

	$self->tell('files');
	$self->{files}->spec_directories(@directories);
	$self->disk('/set') or return;
	$self->note("Servers have $memory MB of memory.");
	for my $n (@sets) {
		my $x = int($n * Bench::Files::SPEC_BYTES / 1e6 + 0.5);
		$self->at($x);
		$self->scarce($x, '/set', $memory * 1e6, { name => "$x MB",
		    c => 64, one => 1 }, ($self->{files}->zipf(50_000,
		    @directories[0 .. $n - 1]))[0]);
	}
}

sub memory {
	my ($self, @x) = @_;
	my ($list, $lines) = $self->{files}->many(200);

	for my $n (@x) {
		for my $server ($self->who($self->{figure})) {
			next if $n > 16 && !one_each($server);
			$self->tell("$n, $server->{name}");
			eval { $self->footprint($n, $server, $list,
			    6 * $lines * $n); 1 } or
			    $self->note("$server->{name}, $n: " .
			    ($@ =~ s/\s+/ /gr));
		}
	}
}

# So many requests at random that each worker has had all files.
sub footprint {
	my ($self, $n, $server, $list, $requests) = @_;
	my $mb = with_server($self->options($server, $n, large => 0,
	    more => "workers $n\n"), '/500', sub {
		my ($running) = @_;
		my $load = Bench::Load->new(server => $running, seconds => 0,
		    list => $list, lines => $requests, workload => { name =>
		    "$n workers", c => $n, warm => 1, client => ['-R'] });
		my $mb = ($running->memory + $running->page_tables) / 1e6;
		$load->end;
		$mb;
	});

	$self->{results}->add('memory', $server->{name}, $n, { memory => $mb,
	    left => $mb < LEFT_OF ? LEFT_OF - $mb : 0 });
}

#
# Targets
#

sub targets {
	my ($self) = @_;

	for my $part (qw(cached two busy idle counts)) {
		my $method = "targets_$part";
		$self->tell($part);
		eval { $self->$method; 1 } or
		    $self->note("$part: " . ($@ =~ s/\s+/ /gr));
	}
}

sub targets_cached {
	my ($self) = @_;

	for my $size (500, 5000) {
		$self->at("cached $size");
		$self->sweep(sub { +{ name => $size, c => 64, target =>
		    $size == 500 ? '/500' : '/5k', size => $size,
		    turns => TURNS } }, [], "cached $size");
	}
}

# On both cores, which the client needs, too.
sub two {
	my ($self, $clients, @who) = @_;
	my $x = "two workers, $clients clients";
	my @running = Bench::Server::start_all('/500',
	    sub { $self->note($_[0]) },
	    map { $self->options($_, 0, anywhere => 1, more => "workers 2\n") }
	    @who);

	$self->at($x);
	for my $round (1 .. TURNS * $self->{rounds}) {
		push(@running, shift(@running)) if @running;
		$self->once($_, $x, { name => $x, target => '/500',
		    c => $clients, size => 500 }) for @running;
	}
	$_->stop for @running;
}

# As many clients as mp and mt can have then, and more for the others.
sub targets_two {
	my ($self) = @_;
	my @who = $self->who($self->{figure});

	$self->two(2, @who);
	$self->two(64, grep { !one_each($_) } @who);
}

sub targets_busy {
	my ($self) = @_;
	my $x = 'beside a busy disk';
	my $root = docroot(hot => 'h' x 4000, 'cold/' => '');
	my $missing = Bench::Beside::missing();

	die "$missing\n" if $missing;
	$self->{beside} = Bench::Beside->new(root => $root,
	    seconds => $self->{seconds} < 2 ? 2 : $self->{seconds});
	$self->at($x);
	for my $round (1 .. $self->{rounds}) {
		for my $server ($self->who($self->{figure})) {
			$self->tell("$x, $server->{name}, round $round");
			my $r = $self->busy($server, $root);
			$self->{results}->add('targets', $server->{name}, $x,
			    { rate => $r->{hot}{rate}, p99 => $r->{hot}{p99},
			    alone => $r->{alone}{rate},
			    cold => $r->{cold}{rate} });
		}
	}
	delete($self->{beside});
}

# On one core, as ever: who has threads for two would be ahead by these alone.
sub busy {
	my ($self, $server, $root) = @_;

	return $self->{beside}->measure(sub {
		my $running = Bench::Server->start(%{$self->options($server,
		    FEW, root => $root, large => 0)});
		$running->ready('/hot');
		return $running->whole;
	}, 'once');
}

# Of those that can have many; in some rounds, as a page or two more or less of
# what is there for all would be counted as theirs.
sub targets_idle {
	my ($self) = @_;
	my @who = grep { !one_each($_) } $self->who($self->{figure});

	$self->at('idle');
	for my $server (map { @who } 1 .. 2 + $self->{rounds}) {
		$self->tell("idle clients, $server->{name}");
		my $bytes = with_server($self->options($server, 0), '/500',
		    sub { Bench::Probe::connection($_[0], IDLE) });
		$self->{results}->add('targets', $server->{name}, 'idle',
		    { bytes => $bytes });
	}
}

# What may explain the others: counts do not depend on who else is busy.
sub targets_counts {
	my ($self) = @_;
	my $seconds = $self->{seconds} < 1 ? $self->{seconds} : 1;

	$self->at('counts');
	for my $server ($self->who($self->{figure})) {
		$self->tell("counts, $server->{name}");
		my $r = with_server($self->options($server, 64), '/500',
		    sub { counts($_[0], $seconds) });
		$self->{results}->add('targets', $server->{name}, 'counts',
		    $r);
	}
}

sub counts {
	my ($running, $seconds) = @_;
	my %r = (syscalls =>
	    scalar(Bench::Probe::syscalls($running, $seconds)));

	@r{qw(user kernel)} = Bench::Probe::instructions($running, $seconds);
	$r{profile} = [Bench::Probe::profile($running, $seconds, PROFILE)];
	my $before = $running->switches;
	my $load = Bench::Load::measure(server => $running,
	    seconds => $seconds, workload => { name => 'counts',
	    target => '/500', c => 64 });
	$r{switches} = ($running->switches - $before) / $load->{requests};
	return \%r;
}

# Disks before directories.
sub DESTROY {
	my ($self) = @_;

	delete(@{$self}{qw(disk beside)});
}

1;
