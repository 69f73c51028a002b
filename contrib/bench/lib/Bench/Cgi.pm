# Bench::Cgi: programs of CGI/1.1 and FastCGI, servers with such programs, and
# what is left of either.
#
# A process is a program's if its executable file is one of ours, whatever
# session it is in and whoever is its parent.  That is for counting only: must
# not signal a process, which is the business of Bench::Server.
package Bench::Cgi;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use List::Util qw(sum0);
use Time::HiRes qw(clock_gettime);

use Amped qw(await docroot slurp write_file);
use Amped::Client;
use Amped::Process;
use Bench::Gateways;
use Bench::Server;

my $bench = abs_path(dirname(abs_path(__FILE__)) . '/../..');

sub compile {
	my ($to, $from) = @_;
	my $cc = $ENV{CC} // 'cc';

	system("$cc -std=c11 -O2 -D_GNU_SOURCE -static -o '$to' " .
	    "'$bench/$from.c'") == 0
	    or die "$from.c cannot be built with \"$cc -static\"\n";
	chmod(0755, $to);
}

# A root with a small file, programs in cgi-bin, and beside it what starts them
# without a server.
sub new {
	my ($class) = @_;
	my $self = bless({ root => docroot('file' => 'f' x 500,
	    'hello.php' => "<?php echo \"hello\\n\";\n",
	    'cgi-bin/started' => ''), tools => docroot() }, $class);

	$self->{bin} = abs_path("$self->{root}/cgi-bin");
	for my $name (qw(hello program app)) {
		compile("$self->{bin}/$name", "cgi/$name");
	}
	for my $name (qw(spawn relay)) {
		$self->{$name} = "$self->{tools}/$name";
		compile($self->{$name}, $name);
	}
	$self->forget;
	return $self;
}

# Of the programs that told: their queries.
sub started { return split("\n", slurp("$_[0]{bin}/started")) }

sub forget {
	my ($self) = @_;

	write_file("$self->{bin}/started", '');
	chmod(0666, "$self->{bin}/started");
}

# Processes of programs, by their number.
sub running {
	my ($self) = @_;
	my $bin = $self->{bin};

	return grep { (readlink("/proc/$_/exe") // '') =~ m{\A\Q$bin\E/} }
	    map { m{(\d+)\z} } glob('/proc/[0-9]*');
}

# One that answers with a file and with a program, of its kind (Gateways.pm).
sub start {
	my ($self, $server, %more) = @_;
	my $kind = $server->{kind};
	my $running = Bench::Server->start(server => $server,
	    root => $self->{root}, log => 0, large => 0,
	    Bench::Gateways::told($kind, "$self->{bin}/app"), %more);
	my $said = '';

	$running->ready('/file') unless $server->{command};
	eval { await('a program', sub {
		($said = eval { ask($running, $Bench::Gateways::hello{$kind})
		    } // '') =~ /\AHTTP.1\.1 200 .*^hello$/ms }, 5) } and
	    return $running;
	my ($first) = $said =~ /\A([^\r\n]*)/;
	$said = $running->said;
	$running->stop;
	die "$server->{name} starts no program: $first\n$said";
}

# One request on a connection that is to end with its answer: all of that which
# comes within so many seconds.
sub ask {
	my ($running, $target, $seconds) = @_;
	my $client = Amped::Client->new(port => $running->{port},
	    timeout => $seconds // 10);

	$client->send("GET $target HTTP/1.1\r\nHost: localhost\r\n" .
	    "Connection: close\r\n\r\n");
	eval { $client->fill } until $client->{end} || $@;
	return $client->{in};
}

# Processes of the server, without those of programs.
sub own_processes {
	my ($self, $running) = @_;
	my %program = map { $_ => 1 } $self->running;
	my $php = abs_path(Bench::Gateways::php_fpm() // '') // '';
	my @all = $running->{group}->processes;

	@all = map { $_->{pid} } $running->processes unless @all;
	return grep { !$program{$_} &&
	    (readlink("/proc/$_/exe") // '') ne $php &&
	    ((Amped::Process::stat_fields($_))[3] // 'Z') ne 'Z' } @all;
}

# Processes that have ended and that the server does not wait for.
sub zombies {
	my ($self, $running) = @_;
	my %parent = map { $_ => 1 } $self->own_processes($running);

	return grep {
		my @stat = Amped::Process::stat_fields($_);
		@stat && $stat[3] eq 'Z' && $parent{$stat[4]};
	} map { m{(\d+)\z} } glob('/proc/[0-9]*');
}

# Open descriptors of the server, without amped's helpers, which are as many as
# are needed, and main's sockets to them.
sub descriptors {
	my ($self, $running) = @_;
	my (@helpers, @open);

	for my $pid ($self->own_processes($running)) {
		my ($title) = Amped::Process::title($pid);
		if ($title eq 'amped: helper') {
			push(@helpers, $pid);
		} else {
			push(@open, glob("/proc/$pid/fd/*"));
		}
	}
	return @open - @helpers;
}

# Bytes of files without a name that the server has open.
sub spooled {
	my ($self, $running) = @_;
	my %size;

	for my $fd (map { glob("/proc/$_/fd/*") }
	    $self->own_processes($running)) {
		next unless (readlink($fd) // '') =~ m{\A/.* \(deleted\)\z};
		my ($dev, $ino, $size) = (stat($fd))[0, 1, 7];
		$size{"$dev $ino"} = $size if defined($size);
	}
	return sum0(values(%size));
}

# us of processor of each process of the server, by its clock: what its children
# have used is not in there.
sub clocks {
	my ($self, $running) = @_;
	my %us;

	for my $pid ($self->own_processes($running)) {
		# As clock_getcpuclockid(3) has it: ~pid << 3 | 2.
		my $seconds = clock_gettime(-8 * $pid - 6);

		$us{$pid} = 1e6 * $seconds if $seconds >= 0;
	}
	return \%us;
}

# us that those who are there before and after have used between: whoever comes
# and goes is on the way to be a program.
sub used_between {
	my ($before, $after) = @_;

	return sum0(map { $after->{$_} - $before->{$_} }
	    grep { exists($after->{$_}) } keys %$before);
}

1;
