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

# What is only used once, as a buffer for lines of the log, is there already.
sub warm_up {
	my ($server) = @_;
	my $load = Bench::Load->new(server => $server, workload => \%hot,
	    seconds => 0.5);

	$load->go;
	$load->end;
}

# Bytes for each of so many connections that have had one answer.
sub connection {
	my ($server, $connections) = @_;

	warm_up($server);
	my $before = $server->memory;
	my $load = Bench::Load->new(server => $server, seconds => 0,
	    workload => { %hot, c => $connections });
	my $after = $server->memory;
	$load->end;
	return ($after - $before) / $connections;
}

# Bytes for each file that is cached, without its contents: from a fifth of so
# many to all, when helpers have what they need for themselves.  Of those here
# only amped has small files in its own memory.
sub file {
	my ($server, $files, $many) = @_;
	my $few = $many / 5;
	my @memory;

	warm_up($server);
	for my $n ($few, $many) {
		my ($list, $lines) = $files->many($n);
		Bench::Load->new(server => $server, seconds => 0,
		    list => $list, lines => $lines, workload =>
		    { name => "files-$n", warm => 1 })->end;
		push(@memory, $server->memory);
	}
	return ($memory[1] - $memory[0]) / ($many - $few) -
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

# System calls of a request of a workload by their names, by strace; when what a
# server starts a moment after its first answers is there: those calls are not
# the requests'.
sub calls {
	my ($server, $seconds, $workload) = @_;
	my $strace = Bench::Server::which('strace') // return;
	my $dir = docroot('out' => '', 'said' => '');
	my $load = Bench::Load->new(server => $server, workload => $workload,
	    seconds => $seconds);

	sleep(1);
	my @pids = map { ('-p', $_->{pid}) } $server->processes;
	my @threads = map { my $pid = $_->{pid};
	    map { m{(\d+)\z} } glob("/proc/$pid/task/*") } $server->processes;
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
	# Share, seconds, us each, calls, perhaps errors, name.
	my %calls = reverse(slurp("$dir/out") =~
	    /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(?!total)(\w+)$/mg);
	return map { $_ => $calls{$_} / $result->{requests} } keys %calls;
}

# All calls of a request.
sub syscalls {
	my ($server, $seconds) = @_;
	my %calls = calls($server, $seconds, \%hot);
	my $total = 0;

	$total += $_ for values(%calls);
	return $total || ();
}

# What perf has to say of a load, with a command of its own that writes a file;
# the requests meanwhile, and that file.
sub by_perf {
	my ($server, $seconds, $workload, @command) = @_;
	my $perf = Bench::Server::which('perf') // return;
	my $dir = docroot('out' => '', 'said' => '');
	my $pids = join(',', map { $_->{pid} } $server->processes);
	my $load = Bench::Load->new(server => $server, workload => $workload,
	    seconds => $seconds);
	# It looks while this command runs; what it says of itself is nothing.
	my $pid = open2(my $from, my $to, 'sh', '-c', 'exec 2>"$0"; exec "$@"',
	    "$dir/said", $perf, @command, '-o', "$dir/out", '-p', $pids, '--',
	    'sh', '-c', 'echo; read line; exec >&2');
	my $looks = defined(readline($from));
	my $result = $load->go;
	close($to);
	close($from);
	waitpid($pid, 0);
	$load->end;
	return $looks && $result->{requests} ?
	    ($result->{requests}, "$dir/out") : ();
}

# Instructions of a request, in the server and in the kernel.
sub instructions {
	my ($server, $seconds) = @_;
	my ($requests, $out) = by_perf($server, $seconds, \%hot, 'stat', '-x',
	    ',', '-e', 'instructions:u,instructions:k') or return;
	my ($user) = slurp($out) =~ /^(\d+),,instructions:u/m;
	my ($kernel) = slurp($out) =~ /^(\d+),,instructions:k/m;

	return map { defined($_) ? $_ / $requests : undef } ($user, $kernel);
}

# The functions in which a server was most often seen: name, part of all.
sub profile {
	my ($server, $seconds, $most) = @_;
	my (undef, $out) = by_perf($server, $seconds, \%hot, 'record', '-q',
	    '-F', 999) or return;
	open(my $from, '-|', 'sh', '-c', 'perf report -q -i "$1" --stdio ' .
	    '--no-children -g none -s sym 2>/dev/null', 'sh', $out) or return;
	my @found = map { /^\s*([\d.]+)%\s+\[(.)\]\s+(\S+)/ ?
	    [$2 eq 'k' ? "$3 (kernel)" : $3, $1 / 100] : () }
	    readline($from);

	close($from);
	splice(@found, $most) if @found > $most;
	return @found;
}

# Samples of a server under a workload: a function gets the weight of each and
# its stack, the innermost first, as functions and the files that they are in.
# What is counted between two samples.
sub samples {
	my ($server, $seconds, $workload, $function) = @_;
	my (undef, $out) = by_perf($server, $seconds, $workload, 'record', '-q',
	    '-g', '-F', 1999) or return;
	open(my $from, '-|', 'sh', '-c', 'perf script -i "$1" -F ' .
	    'event,period,ip,sym,dso 2>/dev/null', 'sh', $out) or return;
	my $event = read_samples($from, $function);

	close($from);
	return $event;
}

# The same of perf's text.
sub read_samples {
	my ($from, $function) = @_;
	my $event;
	local $/ = '';

	while (my $text = readline($from)) {
		my ($head, @lines) = split(/\n/, $text);
		my ($period, $counted) = $head =~
		    /^\s*(\d+)\s+(\S+?):[a-zA-Z]*:?\s*\z/ or next;
		$event //= $counted;
		$function->($period, map { /^\s*[0-9a-f]+ (.*) \((.*)\)\z/ ?
		    [$1, $2] : () } @lines);
	}
	return $event;
}

1;
