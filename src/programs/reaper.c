/*
 * reaper: the process, and the messages that the manager sends to it.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "programs/descendants.h"
#include "programs/reaper.h"
#include "programs/result.h"
#include "shared/program_message.h"

#define UNSEALED	126	/* exit status of such a filter */
#define KILL_INTERVAL	50	/* ms: a process may have been started while
				 * others were killed */

/* Where the manager's descriptors are in a reaper. */
enum { MANAGER_FD = STDERR_FILENO + 1, ERRORS_FD, FIRST_FREE_FD };

/* A START: behind it are both texts, whose lengths it has. */
struct start_head {
	uint64_t	expected;	/* version */
	uint32_t	program;	/* index in conf->programs */
	uint32_t	input_type, has_output, file, environment;
};

/* Both are shorter than a START.  A connection goes before its START, as a
 * message has one descriptor at most. */
static const char	end_message[1], connection_message[2];

struct reaper {
	const struct conf	*conf;
	pid_t			 pid;		/* its own */
	char			*buffer;	/* for a START; owned */
	bool			 has_manager;
	int			 failure;	/* pipe from the leader; -1:
						 * closed */
	int			 output, notes;	/* until the manager has them */
	int			 result;	/* of a filter, to be sealed;
						 * -1: none */
	int			 connection;	/* for the next START, or -1 */
	uint64_t		 version;	/* of the files of the leader */
	pid_t			 leader;	/* the program's first process;
						 * 0: idle */
	bool			 has_failed;	/* no program was started */
	int64_t			 kill_at;	/* ms; 0: it may run */
};

static void
send_report(const struct reaper *r, enum reaper_report_kind kind, int value,
    int fd)
{
	struct reaper_report	report = { kind, value, r->version };
	const struct iovec	iov = { &report, sizeof(report) };

	/* Where the manager has gone, its end is noticed elsewhere. */
	if (r->has_manager)
		(void)io_send_message(MANAGER_FD, &iov, 1, fd);
}

static void
report_start(struct reaper *r)
{
	if (r->notes != -1)
		send_report(r, REAPER_NOTES, 0, r->notes);
	send_report(r, REAPER_EXECUTED, (int)r->leader, r->output);
	io_close(&r->notes);
	io_close(&r->output);
}

/* The end without an error: the program has begun. */
static void
read_failure(struct reaper *r)
{
	int	error = 0;
	ssize_t	n = read(r->failure, &error, sizeof(error));

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	io_close(&r->failure);
	r->has_failed = n == sizeof(error);
	if (r->has_failed)
		send_report(r, REAPER_FAILED, error, -1);
	else
		report_start(r);
}

/* A result that may still be changed is a failure. */
static void
report_end(struct reaper *r, enum reaper_report_kind kind, int status)
{
	if (r->result != -1 && result_seal(r->result) == -1) {
		dprintf(ERRORS_FD, "its result is still mapped: %s\n",
		    strerror(errno));
		status = UNSEALED << 8;
	}
	send_report(r, kind, status, -1);
}

static void
end_program(struct reaper *r)
{
	descendants_signal(r->leader, SIGTERM);
	descendants_signal(r->leader, SIGCONT);
	r->kill_at = clock_ms() + REAPER_GRACE;
}

static void
kill_late(struct reaper *r)
{
	if (r->kill_at == 0 || clock_ms() < r->kill_at)
		return;
	descendants_signal(r->leader, SIGKILL);
	r->kill_at = clock_ms() + KILL_INTERVAL;
}

/* The next program finds nothing of this one. */
static void
forget_program(struct reaper *r)
{
	io_close(&r->failure);
	io_close(&r->output);
	io_close(&r->notes);
	io_close(&r->result);
	r->leader = 0;
	r->has_failed = false;
	r->kill_at = 0;
}

static void
become_idle(struct reaper *r)
{
	forget_program(r);
	send_report(r, REAPER_IDLE, 0, -1);
}

/* Most programs end after all processes that they have started: is_last. */
static void
end_leader(struct reaper *r, int status, bool is_last)
{
	if (r->failure != -1)
		read_failure(r);
	if (!r->has_failed)
		report_end(r, is_last ? REAPER_ENDED_IDLE : REAPER_ENDED,
		    status);
	if (is_last && r->has_failed)
		become_idle(r);
	else if (is_last)
		forget_program(r);
}

/* Returns whether the program has ended with all that it has started. */
static bool
reap_all(struct reaper *r)
{
	pid_t	pid;
	int	status, leader_status = 0;
	bool	has_leader = false;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != r->leader)
			continue;
		leader_status = status;
		has_leader = true;
	}
	if (has_leader)
		end_leader(r, leader_status, pid == -1);
	else if (pid == -1)
		become_idle(r);
	return pid == -1;
}

static int
get_timeout(const struct reaper *r, struct timespec *timeout)
{
	int64_t	left = r->kill_at - clock_ms();

	if (r->kill_at == 0)
		return -1;
	if (left < 0)
		left = 0;
	timeout->tv_sec = left / 1000;
	/* The clock may lag by a tick. */
	timeout->tv_nsec = left % 1000 * 1000000 + 999999;
	return 0;
}

/*
 * The beginning of a program
 */

/* The reaper waits until the leader has executed the program, or has failed: a
 * copy of its memory would cost more than all else that it does. */
static void
start_leader(struct reaper *r, const struct execute *e)
{
	pid_t	leader;
	int	pipe[2];

	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == -1)
		return;
	leader = vfork();
	if (leader == 0)
		execute_program(e, r->pid, pipe[1]);
	r->leader = leader;
	close(pipe[1]);
	r->failure = pipe[0];
}

/* A filter over a file writes to files. */
static int
open_files(struct reaper *r, struct execute *e)
{
	if (result_open(&r->result, &r->output) == -1)
		return -1;
	e->output = r->result;
	return e->program->is_own && e->connection == -1 ?
	    result_open(&e->notes, &r->notes) : 0;
}

/* Returns the writing end, which is to be the program's alone, or -1. */
static int
open_pipe(struct reaper *r, struct execute *e)
{
	int	output[2];

	if (pipe2(output, O_CLOEXEC | O_NONBLOCK) == -1)
		return -1;
	(void)fcntl(output[1], F_SETFL, 0);
	e->output = output[1];
	r->output = output[0];
	return output[1];
}

static void
start_program(struct reaper *r, struct execute *e)
{
	int	pipe = -1;

	e->conf = r->conf;
	e->notes = -1;
	e->output = e->errors = ERRORS_FD;
	r->leader = -1;
	/* The program before this one may have set others. */
	(void)fcntl(ERRORS_FD, F_SETFL, 0);
	if (execute_prepare(e) == -1)
		;
	else if (!e->has_output || (e->program->is_filter &&
	    e->input_type == S_IFREG ?
	    open_files(r, e) == 0 : (pipe = open_pipe(r, e)) != -1))
		start_leader(r, e);
	r->version = e->version;
	execute_clear(e);
	io_close(&e->notes);
	if (r->leader == -1) {
		send_report(r, REAPER_FAILED, errno, -1);
		become_idle(r);
	}
	io_close(&pipe);
}

/* Takes a START; the manager's word is good. */
static void
take_start(struct reaper *r, int input)
{
	struct start_head	head;
	struct execute		e = { .input = input,
				    .connection = r->connection };

	memcpy(&head, r->buffer, sizeof(head));
	e.expected = head.expected;
	e.program = &r->conf->programs[head.program];
	e.input_type = head.input_type;
	e.has_output = head.has_output != 0;
	e.file = (struct str){ r->buffer + sizeof(head), head.file };
	e.environment = (struct str){ e.file.at + head.file,
	    head.environment };
	start_program(r, &e);
	io_close(&r->connection);
}

/* An END that comes to an idle reaper is of a program that has ended by
 * itself. */
static void
recv_message(struct reaper *r)
{
	int	input;
	ssize_t	n = io_recv_message(MANAGER_FD, r->buffer, PROGRAM_MESSAGE_MAX,
		    &input, 0);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		r->has_manager = false;
	if (r->leader != 0)
		end_program(r);
	else if (n >= (ssize_t)sizeof(struct start_head))
		take_start(r, input);
	else if (n == sizeof(connection_message)) {
		io_close(&r->connection);
		r->connection = input;
		return;
	}
	io_close(&input);
}

/* Waits for the manager, the leader, the end of a child or the time to kill. */
static void
await_event(struct reaper *r)
{
	struct pollfd	fds[] = {
		{ .fd = r->kill_at == 0 ? MANAGER_FD : -1, .events = POLLIN },
		{ .fd = r->failure, .events = POLLIN }
	};
	struct timespec	timeout;
	sigset_t	none;

	sigemptyset(&none);
	if (ppoll(fds, 2, get_timeout(r, &timeout) == 0 ? &timeout : NULL,
	    &none) <= 0)
		return;
	if (fds[1].revents != 0)
		read_failure(r);
	if (fds[0].revents != 0)
		recv_message(r);
}

static void
drop_signal(int signo)
{
	(void)signo;
}

/* The terminal, or the supervisor, sends its signals to all; the manager's end
 * is what counts.  A signal that is caught has its default in the program, as
 * one that is ignored has not. */
static void
set_signals(void)
{
	static const int	dropped[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
				    SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
				    SIGXFSZ, SIGCHLD };
	struct sigaction	sa = { .sa_handler = drop_signal };

	proc_signals_reset();
	sigfillset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		sigaction(dropped[i], &sa, NULL);
}

/* Closes all that are the manager's: they would keep its pipes open. */
static int
keep_fds(int manager, int errors)
{
	manager = fcntl(manager, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	errors = fcntl(errors, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	if (manager == -1 || errors == -1 ||
	    dup2(manager, MANAGER_FD) == -1 || dup2(errors, ERRORS_FD) == -1)
		return -1;
	proc_close_from(FIRST_FREE_FD);
	return io_cloexec(MANAGER_FD, true) | io_cloexec(ERRORS_FD, true);
}

static _Noreturn void
refuse_programs(int manager)
{
	struct reaper_report	report = { REAPER_FAILED, errno, 0 };
	const struct iovec	iov = { &report, sizeof(report) };

	(void)io_send_message(manager, &iov, 1, -1);
	_exit(1);
}

/* All signals are blocked but while it waits. */
static _Noreturn void
run_reaper(const struct conf *conf, int manager, int errors)
{
	struct reaper	r = { .conf = conf, .pid = getpid(),
			    .has_manager = true, .failure = -1, .output = -1,
			    .notes = -1, .result = -1, .connection = -1 };

	set_signals();
	/* A signal to the manager's group must not end its reapers. */
	setpgid(0, 0);
	proc_title("amped: reaper");
	if (keep_fds(manager, errors) == -1)
		refuse_programs(manager);
	r.buffer = mem_get(PROGRAM_MESSAGE_MAX);
	descendants_adopt();
	while (r.has_manager || r.leader != 0) {
		if (r.leader != 0 && reap_all(&r))
			continue;
		kill_late(&r);
		await_event(&r);
	}
	_exit(0);
}

/*
 * The manager's functions
 */

int
reaper_fork(const struct conf *conf, int errors, pid_t *pid)
{
	int	fds[2];

	if (io_record_pipe(fds) == -1)
		return -1;
	proc_signals_block();
	*pid = fork();
	if (*pid == 0)
		run_reaper(conf, fds[1], errors);
	proc_signals_unblock();
	io_close(&fds[1]);
	if (*pid == -1)
		io_close(&fds[0]);
	return fds[0];
}

static int
send_short(int pipe, const char *message, size_t n, int fd)
{
	const struct iovec	iov = { (void *)(uintptr_t)message, n };

	return io_send_message(pipe, &iov, 1, fd);
}

int
reaper_start(int pipe, const struct conf *conf, const struct execute *e)
{
	struct start_head	head = {
		.expected = e->expected,
		.program = (uint32_t)(e->program - conf->programs),
		.input_type = e->input_type, .has_output = e->has_output,
		.file = (uint32_t)e->file.len,
		.environment = (uint32_t)e->environment.len
	};
	const struct iovec	iov[] = {
		{ &head, sizeof(head) },
		{ (void *)(uintptr_t)e->file.at, e->file.len },
		{ (void *)(uintptr_t)e->environment.at, e->environment.len },
	};

	return e->connection != -1 && send_short(pipe, connection_message,
	    sizeof(connection_message), e->connection) == -1 ? -1 :
	    io_send_message(pipe, iov, 3, e->input);
}

int
reaper_recv(int pipe, struct reaper_report *report, int *output)
{
	ssize_t	n = io_recv_message(pipe, report, sizeof(*report), output, 0);

	/* The end before it has read a START comes first, its report behind
	 * that. */
	if (n == -1 && errno == ECONNRESET)
		n = io_recv_message(pipe, report, sizeof(*report), output, 0);
	return n > 0 ? 1 : (int)n;
}

void
reaper_end(int pipe)
{
	(void)send_short(pipe, end_message, sizeof(end_message), -1);
}
