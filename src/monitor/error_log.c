/*
 * error_log: the monitor's side of the error logger.  The monitor replaces one
 * that dies, and ends it last, after all lines.
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "monitor/private.h"

#define MIN_LIFETIME	1000	/* ms, and the delay of the next one */

void
error_log_start(struct monitor *m)
{
	int	pipe = -1;
	pid_t	pid = spawn(m, NULL, ROLE_ERROR_LOGGER, &pipe);

	if (pid == 0)
		spawn_helper(m, NULL, pipe, ROLE_ERROR_LOGGER);
	if (pid == -1)
		log_error("cannot start the error logger; lines wait in its "
		    "pipe, and are lost when that is full");
	m->error_logger.pid = pid == -1 ? 0 : pid;
	m->error_logger.pipe = pipe;
	m->error_logger.started_at = monitor_now();
	m->error_logger.next_at = pid == -1 ?
	    m->error_logger.started_at + MIN_LIFETIME : 0;
}

/* The present error logger is not waited for: its log may be on a dead file
 * system.  A byte tells it that another one reads the pipe, so that it stops
 * reading while lines still come. */
void
error_log_replace(struct monitor *m)
{
	if (m->error_logger.pipe != -1 &&
	    write(m->error_logger.pipe, "", 1) == -1)
		log_warn("cannot tell the old error logger that another one "
		    "takes over; both read lines for a while");
	if (m->error_logger.pid != 0) {
		children_add(&m->children, m->error_logger.pid,
		    ROLE_ERROR_LOGGER, 0, -1);
		children_give_up(&m->children, m->error_logger.pid);
	}
	io_close(&m->error_logger.pipe);
	error_log_start(m);
}

void
error_log_died(struct monitor *m, const char *how)
{
	int64_t	now = monitor_now();

	log_warnx("error logger %ld %s; starting another",
	    (long)m->error_logger.pid, how);
	io_close(&m->error_logger.pipe);
	m->error_logger.pid = 0;
	m->error_logger.next_at =
	    now - m->error_logger.started_at >= MIN_LIFETIME ?
	    now : now + MIN_LIFETIME;
}

/* Waits until all lines are written, for a second at most.  Later lines of this
 * process go straight to the log, if that can be opened. */
void
error_log_end(struct monitor *m)
{
	struct pollfd	p = { .fd = monitor_signal_fd(), .events = POLLIN };
	int64_t		end = monitor_now() + KILL_TIMEOUT, left;
	unsigned char	byte;
	int		error;

	if (m->error_logger.pid == 0)
		error_log_start(m);
	io_close(&m->error_logger.pipe);
	while (m->error_logger.pid != 0 &&
	       waitpid(m->error_logger.pid, NULL, WNOHANG) !=
		   m->error_logger.pid) {
		left = end - monitor_now();
		if (left <= 0) {
			kill(m->error_logger.pid, SIGKILL);
			return;
		}
		poll(&p, 1, (int)left);
		while (read(p.fd, &byte, 1) == 1)
			;
	}
	log_count_drops(-1);
	error = io_reopen(m->setup->error_log, O_WRONLY | O_APPEND);
	if (error != -1)
		dup2(error, STDERR_FILENO);
	io_close(&error);
}
