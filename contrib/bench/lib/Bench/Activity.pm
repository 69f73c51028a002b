# Bench::Activity: what a server spends its processor time on, in the
# categories of the papers, from perf's samples and strace's counts.
#
# One table says which system calls, which functions of the kernel and which
# functions of a server are part of which activity.  A sample in the kernel
# belongs to the first activity with one of the functions on its stack, else to
# that of the system call; a sample in user code, to that of its function.
# strace tells only the name of a call: messages between processes count as
# those of clients, a write that wakes a process counts as one to a log, and a
# file that is closed counts as a connection.
package Bench::Activity;

use strict;
use warnings;

use Bench::Probe;

# name; what it is; its system calls; functions of the kernel and of servers, or
# libraries, that are part of it wherever they are called from.
our @activities = (
	{ name => 'interrupts', is => 'packets that come in, and timers',
	    kernel => qr/^(?:(?:handle|__do|do)_softirqs?|__softirqentry
		|asm_sysvec_|asm_common_interrupt|irq_exit)/x },
	{ name => 'processes', is => 'threads and processes: switches, ' .
	    'locks, messages', calls => [qw(futex clone clone3 fork vfork execve exit
		wait4 sched_yield sched_setaffinity mprotect membarrier rseq
		set_robust_list set_tid_address rt_sigprocmask rt_sigaction
		rt_sigreturn sigaltstack pipe2 eventfd2 socketpair prctl kill
		tgkill semtimedop gettid)],
	    kernel => qr/^(?:__schedule|schedule|schedule_idle|ret_from_fork
		|eventfd_|unix_(?:stream|dgram)_|pipe_(?:read|write)|futex_)/x,
	    user => qr/^(?:pthread_|__pthread_|___pthread_|__lll_
		|__GI___lll_|apr_thread_|apr_queue_|ap_queue_)/x },
	{ name => 'connect', is => 'accept a connection, set it up',
	    calls => [qw(accept accept4 getsockname getpeername setsockopt
		getsockopt fcntl ioctl socket)],
	    user => qr/accept|_setsockopt/ },
	{ name => 'wait', is => 'wait for events', calls => [qw(epoll_wait
		epoll_pwait epoll_pwait2 epoll_ctl poll ppoll select pselect6
		nanosleep clock_nanosleep restart_syscall)],
	    user => qr/^(?:event_|evmap_|epoll_|evloop_|timeout_|min_heap
		|fdevent_|ngx_epoll|ngx_event|ngx_process_events|libevent)/x },
	{ name => 'read', is => 'read the request', calls => [qw(recv recvfrom
		recvmsg read readv)],
	    kernel => qr/^(?:tcp_recvmsg|sock_read_iter|inet_recvmsg)/ },
	{ name => 'own code', is => 'parse, decide, make a head: the ' .
	    'server\'s own code', default => 1 },
	{ name => 'find', is => 'find and open the file', calls => [qw(open
		openat openat2 stat lstat fstat newstat newlstat newfstat
		newfstatat statx access
		faccessat faccessat2 readlink readlinkat statfs fstatfs
		getdents64 getcwd lseek dup dup2 dup3 inotify_add_watch
		name_to_handle_at)],
	    user => qr/^(?:pathname_|file_|stat_cache_|ngx_open_
		|ngx_http_map_uri|ap_directory_walk|ap_file_walk|apr_stat
		|apr_file_open|resolve)/x },
	{ name => 'contents', is => 'read the file, page faults',
	    calls => [qw(pread64 preadv preadv2 mmap munmap mremap madvise
		mincore brk readahead fadvise64)],
	    kernel => qr/^(?:asm_exc_page_fault|filemap_|page_cache_
		|generic_file_(?:read|splice)|shmem_file_(?:read|splice)
		|shmem_get_folio)/x,
	    user => qr/^(?:chunk_|residency_)/ },
	{ name => 'log', is => 'write the log', calls => [qw(write pwrite64)],
	    kernel => qr/^(?:generic_perform_write|\w+_file_write_iter
		|iomap_file_buffered_write)/x,
	    user => qr/^(?:access_log|log_|ngx_http_log|ngx_log|ap_log
		|ap_run_log|mod_accesslog|mod_log_config|rdns_)/x },
	{ name => 'send', is => 'send the response', calls => [qw(send sendto
		sendmsg sendmmsg sendfile writev pwritev splice tee vmsplice)],
	    kernel => qr/^(?:tcp_sendmsg|sock_write_iter|inet_sendmsg)/ },
	{ name => 'close', is => 'end the connection, close the file',
	    calls => [qw(shutdown close close_range)],
	    kernel => qr/^(?:sock_close|__sock_release|__fput|____fput
		|task_work_run)/x },
	{ name => 'other', is => 'way into the kernel and back, other calls',
	    rest => 1 },
);

our @names = map { $_->{name} } @activities;

my ($own) = map { $_->{name} } grep { $_->{default} } @activities;
my ($rest) = map { $_->{name} } grep { $_->{rest} } @activities;
my %of_call = map { my $name = $_->{name};
    map { $_ => $name } @{$_->{calls} // []} } @activities;

# As strace or a header of the kernel's spells it.
sub of_call {
	my ($call) = @_;

	return $of_call{$call} // $of_call{$call =~ s/64\z//r} // $rest;
}

# Whether a function of the kernel is the entry of a system call, and of which.
sub entered {
	my ($function) = @_;
	my ($call) = $function =~
	    /^(?:__(?:x64|arm64|se|do)_sys_|ksys_|do_)(\w+)/ or return undef;

	return $of_call{$call} // $of_call{$call =~ s/64\z//r};
}

sub first_of {
	my ($which, @texts) = @_;

	for my $activity (grep { $_->{$which} } @activities) {
		return $activity->{name}
		    if grep { $_ =~ $activity->{$which} } @texts;
	}
	return undef;
}

# The call that a function of the C library is for; another name if for none.
sub wrapped {
	my ($function) = @_;

	return $function =~
	    s/^_*(?:GI_+)?(?:libc_)?|(?:64)?(?:_nocancel)?(?:\@.*)?\z//gr;
}

# What a stack is part of, and where it was seen: in user code, in the kernel
# or in an interrupt.  Frames are function and file, the innermost first.
sub of_stack {
	my (@frames) = @_;
	my @kernel;

	push(@kernel, shift(@frames)->[0]) while @frames && $frames[0][1] =~
	    /^\[(?!vdso|vsyscall|unknown|heap|stack|anon)/;
	my ($function, $file) = @{$frames[0] // ['', '']};
	my $called = $of_call{wrapped($function)};
	if (@kernel) {
		my $name = first_of('kernel', @kernel) //
		    (grep { defined } map { entered($_) } reverse(@kernel))[0]
		    // $called // $rest;
		return ($name, $name eq $names[0] ? 'interrupt' : 'kernel');
	}
	return ($called // first_of('user', $function, $file =~ s{.*/}{}r) //
	    $own, 'user');
}

# Calls of a request by activity, from those by name.
sub counts {
	my (%calls) = @_;
	my %counts = map { $_ => 0 } @names;

	$counts{of_call($_)} += $calls{$_} for keys %calls;
	return %counts;
}

# Of a server that serves: per cent of its processor time by activity ("share
# NAME") and by where it is spent (user, kernel, interrupt), of how many samples
# of which event; calls of a request ("calls NAME", calls).  Only what perf and
# strace tell.
sub measure {
	my ($server, $seconds, $workload) = @_;
	my (%weight, %found);
	my ($sum, $samples) = (0, 0);
	my $event = Bench::Probe::samples($server, $seconds, $workload, sub {
		my ($weight, @frames) = @_;
		my ($name, $where) = of_stack(@frames);
		$weight{"share $name"} += $weight;
		$weight{$where} += $weight;
		$sum += $weight;
		$samples++;
	});

	if ($sum) {
		$found{$_} = 100 * ($weight{$_} // 0) / $sum for
		    qw(user kernel interrupt), map { "share $_" } @names;
		@found{qw(event samples)} = ($event, $samples);
	}
	my %calls = Bench::Probe::calls($server, $seconds, $workload);
	if (%calls) {
		my %counts = counts(%calls);
		$found{"calls $_"} = $counts{$_} for @names;
		$found{calls} += $_ for values(%counts);
	}
	return \%found;
}

1;
