/*
 * error_log: the monitor's side of the scribe: there is always one, and the
 * last words are its.
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "monitor/private.h"

#define YOUNG		1000	/* ms, and how long until there is another */

void
scribes_start(struct monitor *m)
{
	int	pipe = -1;
	pid_t	pid = spawn(m, NULL, ROLE_ERROR_LOGGER, &pipe);

	if (pid == 0)
		spawn_helper(m, NULL, pipe, ROLE_ERROR_LOGGER);
	if (pid == -1)
		log_error("cannot start the scribe; what is said meanwhile "
		    "waits for it");
	m->scribe.pid = pid == -1 ? 0 : pid;
	m->scribe.pipe = pipe;
	m->scribe.born = monitor_now();
	m->scribe.due = pid == -1 ? m->scribe.born + YOUNG : 0;
}

/* The one before is not waited for: its log may be on a dead file system.  A
 * byte says to it that there is another, so that it does not read on for as
 * long as something comes. */
void
scribes_replace(struct monitor *m)
{
	if (m->scribe.pipe != -1 && write(m->scribe.pipe, "", 1) == -1)
		log_warn("the scribe does not hear that there is another");
	if (m->scribe.pid != 0) {
		children_add(
		    &m->children, m->scribe.pid, ROLE_ERROR_LOGGER, 0, -1);
		children_give_up(&m->children, m->scribe.pid);
	}
	io_close(&m->scribe.pipe);
	scribes_start(m);
}

void
scribes_died(struct monitor *m, const char *how)
{
	int64_t	now = monitor_now();

	log_warnx("scribe %ld %s; the next one goes on", (long)m->scribe.pid,
	    how);
	io_close(&m->scribe.pipe);
	m->scribe.pid = 0;
	m->scribe.due = now - m->scribe.born >= YOUNG ? now : now + YOUNG;
}

/* All has been said.  Last words of this process go the straight way, unless
 * that makes it wait. */
void
scribes_end(struct monitor *m)
{
	struct pollfd	p = { .fd = monitor_signal_fd(), .events = POLLIN };
	int64_t		end = monitor_now() + KILL_TIMEOUT, left;
	unsigned char	byte;
	int		error;

	if (m->scribe.pid == 0)
		scribes_start(m);
	io_close(&m->scribe.pipe);
	while (m->scribe.pid != 0 &&
	    waitpid(m->scribe.pid, NULL, WNOHANG) != m->scribe.pid) {
		left = end - monitor_now();
		if (left <= 0) {
			kill(m->scribe.pid, SIGKILL);
			return;
		}
		poll(&p, 1, (int)left);
		while (read(p.fd, &byte, 1) == 1)
			;
	}
	log_losses(-1);
	error = io_open_again(m->setup->error_log, O_WRONLY | O_APPEND);
	if (error != -1)
		dup2(error, STDERR_FILENO);
	io_close(&error);
}
