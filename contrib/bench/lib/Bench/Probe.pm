# Bench::Probe: figures of a server that are no load: memory, start, wake-ups,
# counts.  Each takes a server that has just been started and serves.
package Bench::Probe;

use strict;
use warnings;

use IPC::Open2 qw(open2);
use Time::HiRes qw(sleep time);

use Amped qw(await docroot slurp);
use Bench::Load;
use Bench::Server;

my %hot = (name => '500', target => '/500', size => 500);

# Bytes for each of so many connections that have had one answer.
sub connection {
	my ($server, $connections) = @_;

	# What is only allocated once is there already.
	Bench::Load->new(server => $server, workload => \%hot,
	    seconds => 0)->end;
	my $before = $server->memory;
	my $load = Bench::Load->new(server => $server, seconds => 0,
	    workload => { %hot, c => $connections });
	my $after = $server->memory;
	$load->end;
	return ($after - $before) / $connections;
}

# Bytes for each file that is cached, without its contents: from a thousand
# files to many.  Of those here only amped has small files in its own memory.
sub file {
	my ($server, $files, $many) = @_;
	my @memory;

	for my $n (1000, $many) {
		my ($list, $lines) = $files->many($n);
		Bench::Load->new(server => $server, seconds => 0,
		    list => $list, lines => $lines, workload =>
		    { name => "files-$n", warm => 1 })->end;
		push(@memory, $server->memory);
	}
	return ($memory[1] - $memory[0]) / ($many - 1000) -
	    ($server->{name} eq 'amped' ? 500 : 0);
}

# Wake-ups of servers in 10 s, all at the same time; it looks for so long,
# when they have got over the start and the first request.
sub idle {
	my ($seconds, @servers) = @_;

	sleep(6);
	my %before = map { $_->{name} => $_->switches } @servers;

	sleep($seconds);
	return map { $_->{name} => ($_->switches - $before{$_->{name}}) *
	    10 / $seconds } @servers;
}

sub is_traced {
	my ($thread) = @_;
	my ($status) = glob("/proc/[0-9]*/task/$thread/status");

	return 1 unless defined($status);	# it has ended
	return (eval { slurp($status) } // '') !~ /^TracerPid:\s+0$/m;
}

# System calls of a request, by strace.
sub syscalls {
	my ($server, $seconds) = @_;
	my $strace = Bench::Server::which('strace') // return;
	my $dir = docroot('out' => '', 'said' => '');
	my @pids = map { ('-p', $_->{pid}) } $server->processes;
	my @threads = map { my $pid = $_->{pid};
	    map { m{(\d+)\z} } glob("/proc/$pid/task/*") } $server->processes;
	my $load = Bench::Load->new(server => $server, workload => \%hot,
	    seconds => $seconds);
	my $pid = Amped::spawn([$strace, '-f', '-c', '-o', "$dir/out", @pids],
	    "$dir/said", "$dir/said");
	my $attached = eval { await('strace', sub {
		!grep { !is_traced($_) } @threads;
	}, 10) };
	my $result = $load->go;
	kill('INT', $pid);
	waitpid($pid, 0);
	$load->end;
	return unless $attached && $result->{requests};
	my $total = 0;
	# Share, seconds, us each, calls, perhaps errors, name.
	$total += $_ for slurp("$dir/out") =~
	    /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(?!total)\w+$/mg;
	return $total ? $total / $result->{requests} : ();
}

# Instructions of a request, in the server and in the kernel, by perf.
sub instructions {
	my ($server, $seconds) = @_;
	my $perf = Bench::Server::which('perf') // return;
	my $dir = docroot('out' => '');
	my $pids = join(',', map { $_->{pid} } $server->processes);
	my $load = Bench::Load->new(server => $server, workload => \%hot,
	    seconds => $seconds);
	# It counts while this command runs.
	my $pid = open2(my $from, my $to, $perf, 'stat', '-x', ',', '-o',
	    "$dir/out", '-e', 'instructions:u,instructions:k', '-p', $pids,
	    '--', 'sh', '-c', 'echo; read line');
	my $counts = defined(readline($from));
	my $result = $load->go;
	close($to);
	close($from);
	waitpid($pid, 0);
	$load->end;
	return unless $counts && $result->{requests};
	my ($user) = slurp("$dir/out") =~ /^(\d+),,instructions:u/m;
	my ($kernel) = slurp("$dir/out") =~ /^(\d+),,instructions:k/m;
	return map { defined($_) ? $_ / $result->{requests} : undef }
	    ($user, $kernel);
}

1;
