/*
 * reaper: one process for each program that runs.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/io.h"
#include "lib/proc.h"
#include "programs/descendants.h"
#include "programs/reaper.h"

#define KILL_INTERVAL	50	/* ms: a process may have been started while
				 * others were killed */

struct reaper {
	int	manager;		/* pipe; -1: the program is to end */
	int	failure;		/* pipe from the leader; -1: closed */
	pid_t	leader;			/* the program's first process */
	bool	has_failed;		/* no program was started */
	int64_t	kill_at;		/* ms; 0: it may run */
};

static void
send_report(const struct reaper *r, enum reaper_report_kind kind, int value)
{
	struct reaper_report	report = { kind, value };
	const struct iovec	iov = { &report, sizeof(report) };

	/* Where the manager has gone, its end is noticed elsewhere. */
	if (r->manager != -1)
		(void)io_send_message(r->manager, &iov, 1, -1);
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
	send_report(r, r->has_failed ? REAPER_FAILED : REAPER_EXECUTED,
	    r->has_failed ? error : (int)r->leader);
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

/* Returns whether a descendant is left. */
static bool
reap_all(struct reaper *r)
{
	pid_t	pid;
	int	status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != r->leader)
			continue;
		if (r->failure != -1)
			read_failure(r);
		if (!r->has_failed)
			send_report(r, REAPER_ENDED, status);
	}
	return pid == 0;
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

/* Waits for the manager, the leader, the end of a child or the time to kill. */
static void
await_event(struct reaper *r)
{
	struct pollfd	fds[] = {
		{ .fd = r->kill_at == 0 ? r->manager : -1, .events = POLLIN },
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
	/* The manager sends nothing: it closes, or has ended. */
	if (fds[0].revents != 0)
		end_program(r);
}

static void
note_child(int signo)
{
	(void)signo;
}

/* The terminal, or the supervisor, sends its signals to all; the manager's end
 * is what counts. */
static void
set_signals(void)
{
	static const int	ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
				    SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
				    SIGXFSZ };
	struct sigaction	sa = { .sa_handler = note_child };

	proc_signals_reset();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigfillset(&sa.sa_mask);
	sigaction(SIGCHLD, &sa, NULL);
}

/* Keeps the descriptors that are named, and closes all others: those of the
 * manager would keep pipes open.  -1 with errno: that of the manager is as good
 * as before. */
static int
keep_fds(struct execute *e, int *manager)
{
	int	*kept[] = { manager, &e->output, &e->errors, &e->input };
	int	 first = STDERR_FILENO + 1, n = e->input == -1 ? 3 : 4, fd;

	for (int i = 0; i < n; i++) {
		fd = fcntl(*kept[i], F_DUPFD_CLOEXEC, first + n);
		if (fd == -1)
			return -1;
		*kept[i] = fd;
	}
	for (int i = 0; i < n; i++) {
		if (dup2(*kept[i], first + i) == -1)
			return -1;
		*kept[i] = first + i;
		(void)io_cloexec(*kept[i], true);
	}
	proc_close_from(first + n);
	return 0;
}

static _Noreturn void
fail_start(const struct reaper *r)
{
	send_report(r, REAPER_FAILED, errno);
	_exit(0);
}

static void
start_leader(struct reaper *r, const struct execute *e)
{
	pid_t	reaper = getpid();
	int	pipe[2];

	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0)
		r->leader = fork();
	else
		r->leader = -1;
	if (r->leader == 0) {
		close(pipe[0]);
		execute_program(e, reaper, pipe[1]);
	}
	if (r->leader == -1)
		fail_start(r);
	close(pipe[1]);
	r->failure = pipe[0];
}

/* All signals are blocked but while it waits. */
static _Noreturn void
run_reaper(const struct execute *what, int manager)
{
	struct execute	e = *what;
	struct reaper	r = { .manager = manager };

	set_signals();
	/* A signal to amped's group must not end what ends the program. */
	setsid();
	proc_title("amped: reaper");
	if (keep_fds(&e, &r.manager) == -1)
		fail_start(&r);
	descendants_adopt();
	start_leader(&r, &e);
	/* The program must be the only one that has these. */
	io_close(&e.output);
	io_close(&e.errors);
	io_close(&e.input);
	while (reap_all(&r)) {
		kill_late(&r);
		await_event(&r);
	}
	_exit(0);
}

int
reaper_start(const struct execute *e)
{
	int	fds[2];
	pid_t	pid;

	if (io_record_pipe(fds) == -1)
		return -1;
	proc_signals_block();
	pid = fork();
	if (pid == 0)
		run_reaper(e, fds[1]);
	proc_signals_unblock();
	io_close(&fds[1]);
	if (pid == -1)
		io_close(&fds[0]);
	return fds[0];
}

int
reaper_recv(int pipe, struct reaper_report *report)
{
	int	unused;
	ssize_t	n = io_recv_message(pipe, report, sizeof(*report), &unused, 0);

	io_close(&unused);
	return n > 0 ? 1 : (int)n;
}

void
reaper_end(int pipe)
{
	(void)shutdown(pipe, SHUT_WR);
}
