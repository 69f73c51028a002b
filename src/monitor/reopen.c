/*
 * reopen: opens logs again, each by a child.  The child sends the descriptor
 * that it has opened; if it cannot open the log, it logs why and sends nothing.
 */
#include <sys/uio.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/control_server.h"
#include "monitor/error_log.h"
#include "monitor/helpers.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/piped_log.h"
#include "monitor/reopen.h"

#define OPEN_TIMEOUT	10000	/* ms for a file system to open a log */

/* A log that a child opens, since open(2) may wait for a file system. */
struct opening {
	struct child		*child;		/* the log opener, whose pipe
						 * brings the descriptor */
	unsigned		 log;
	unsigned		 generation;	/* of an access log */
	TAILQ_ENTRY(opening)	 link;
};

static TAILQ_HEAD(, opening)	openings = TAILQ_HEAD_INITIALIZER(openings);

static void
run_log_opener(struct generation *g, void *opening, int pipe)
{
	const struct opening	*o = opening;
	const char		*file = logs_name(g, o->log);
	char			 byte = 0;
	struct iovec		 iov = { &byte, sizeof(byte) };
	int			 fd;

	proc_title("amped: log opener");
	proc_signals_unblock();
	fd = logs_open(file);
	if (fd == -1) {
		log_error("cannot open the %s %s again, going on with the one "
		    "that is open", logs_kind_name(o->log), file);
		_exit(0);
	}
	logs_use_handle(&fd);
	io_send_message(pipe, &iov, 1, fd);
	_exit(0);
}

/* Gives a log another descriptor; its writers are replaced. */
static void
switch_log(struct generation *g, unsigned log, int fd)
{
	if (log == LOG_ERRORS)
		error_log_use(fd);
	else {
		/* The close does not wait: it is a handle, or no file. */
		io_close(&g->access_logs[log - LOG_ACCESS]);
		g->access_logs[log - LOG_ACCESS] = fd;
		for (unsigned i = 0; i < g->nworkers; i++)
			helpers_replace_logger(&g->workers[i]);
	}
	log_notice("the %s has been opened again", logs_kind_name(log));
}

/* Starts another program; the present one reads the rest and ends. */
static void
restart_program(struct generation *g, unsigned log)
{
	int	fd = piped_log_open(g, logs_name(g, log));

	if (fd == -1)
		log_error("cannot restart the log program of the %s: the "
		    "present one goes on", logs_kind_name(log));
	else
		switch_log(g, log, fd);
}

static void
end_opening(struct opening *o)
{
	child_give_up(&o->child);
	TAILQ_REMOVE(&openings, o, link);
	free(o);
	if (TAILQ_EMPTY(&openings) && !due.reopen)
		control_server_reopened();
}

static void
give_up_opening(void *opening)
{
	struct opening	*o = opening;

	log_warnx("the %s cannot be opened again, its file system does not "
	    "answer: going on with the one that is open",
	    logs_kind_name(o->log));
	child_kill(o->child);
	control_server_reopen_failed(logs_kind_name(o->log));
	end_opening(o);
}

static void
on_opened(void *opening)
{
	struct opening		*o = opening;
	struct generation	*g;
	char			 byte;
	int			 fd = -1;

	TAILQ_FOREACH(g, &generations.list, link)
		if (g->number == o->generation)
			break;
	if (io_recv_message(o->child->pipe.fd, &byte, sizeof(byte), &fd,
	    0) != 1 || fd == -1)
		control_server_reopen_failed(logs_kind_name(o->log));
	else if (g != NULL || o->log == LOG_ERRORS)
		switch_log(g, o->log, fd);
	else
		close(fd);		/* its generation has ended */
	end_opening(o);
}

static const struct child_kind	log_opener = {
	.name = "log opener", .privileged = true, .run = run_log_opener,
	.on_readable = on_opened, .on_timeout = give_up_opening,
	.timeout = OPEN_TIMEOUT
};

static void
reopen_file(struct generation *g, unsigned log)
{
	struct opening	*o = mem_zero(sizeof(*o));

	*o = (struct opening){ .log = log, .generation = g->number };
	o->child = child_start(&log_opener, g, o, NULL);
	if (o->child == NULL) {
		log_error("cannot start a process that opens the %s again: it "
		    "stays as it is", logs_kind_name(log));
		free(o);
		return;
	}
	TAILQ_INSERT_TAIL(&openings, o, link);
}

static void
reopen_log(struct generation *g, unsigned log)
{
	enum logs_target	target = logs_target(logs_name(g, log));

	if (target == LOGS_FILE)
		reopen_file(g, log);
	else if (target == LOGS_PROGRAM)
		restart_program(g, log);
}

bool
reopen_is_busy(void)
{
	return !TAILQ_EMPTY(&openings);
}

void
reopen_begin(void)
{
	struct generation	*g;

	piped_log_renew();
	TAILQ_FOREACH(g, &generations.list, link)
		for (unsigned log = LOG_ACCESS; log < logs_count(g); log++)
			reopen_log(g, log);
	reopen_log(generations.serving, LOG_ERRORS);
	if (!reopen_is_busy())
		control_server_reopened();
}

static void
cancel_openings(void)
{
	struct opening	*o;

	while ((o = TAILQ_FIRST(&openings)) != NULL)
		end_opening(o);
}

/* Starts the program of a log; returns -1 if that goes elsewhere. */
static int
open_program(struct generation *g, unsigned log)
{
	const char	*name = logs_name(g, log);
	int		 fd;

	if (logs_target(name) != LOGS_PROGRAM)
		return -1;
	fd = piped_log_open(g, name);
	if (fd == -1)
		fatal("cannot start %s for the %s", name, logs_kind_name(log));
	return fd;
}

void
reopen_start_loggers(struct generation *g)
{
	int	error_log, fd;

	for (size_t i = 0; i < g->naccess_logs; i++) {
		fd = open_program(g, LOG_ACCESS + (unsigned)i);
		if (fd == -1)
			continue;
		io_close(&g->access_logs[i]);
		g->access_logs[i] = fd;
	}
	error_log = open_program(g, LOG_ERRORS);
	if (error_log != -1)
		io_close(&prepared.error_log);
	error_log_use(error_log != -1 ? error_log : prepared.error_log);
}

const struct component	reopen_component = { .stop = cancel_openings };
