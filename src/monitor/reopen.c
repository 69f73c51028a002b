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
#include "monitor/component.h"
#include "monitor/error_log.h"
#include "monitor/logs.h"
#include "monitor/piped_log.h"
#include "monitor/reopen.h"
#include "monitor/spawn.h"
#include "monitor/workers.h"

#define OPEN_TIMEOUT	10000	/* ms for a file system to open a log */

/* A log that a child opens, since open(2) may wait for a file system. */
struct opening {
	pid_t			 pid;		/* of the log opener */
	struct source		 pipe;		/* brings the descriptor */
	enum log_kind		 kind;
	unsigned		 generation;	/* of an access log */
	struct timer		 timeout;
	TAILQ_ENTRY(opening)	 link;
};

static TAILQ_HEAD(, opening)	openings = TAILQ_HEAD_INITIALIZER(openings);
static bool			again;	/* all logs, once more */
static const struct reopen_calls *calls;

static const struct child_kind	log_opener = {
	.name = "log opener", .privileged = true
};

void
reopen_init(const struct reopen_calls *c)
{
	calls = c;
}

static _Noreturn void
log_opener_entry(const char *file, enum log_kind kind, int pipe)
{
	char		byte = 0;
	struct iovec	iov = { &byte, sizeof(byte) };
	int		log;

	proc_title("amped: log opener");
	proc_signals_unblock();
	log = logs_open(file);
	if (log == -1) {
		log_error("cannot open the %s %s again, going on with the one "
		    "that is open", logs_kind_name(kind), file);
		_exit(0);
	}
	logs_use_handle(&log);
	io_send_message(pipe, &iov, 1, log);
	_exit(0);
}

/* Gives a log another descriptor; its writers are replaced. */
static void
switch_log(struct generation *g, enum log_kind kind, int log)
{
	if (kind == LOG_ERRORS)
		error_log_use(log);
	else {
		/* The close does not wait: it is a handle, or no file. */
		io_close(&g->access_log);
		g->access_log = log;
		workers_replace_loggers(g);
	}
	log_notice("the %s has been opened again", logs_kind_name(kind));
}

/* Starts another program; the present one reads the rest and ends. */
static void
restart_program(struct generation *g, enum log_kind kind)
{
	int	log = piped_log_open(g, logs_name(g, kind));

	if (log == -1)
		log_error("cannot restart the log program of the %s: the "
		    "present one goes on", logs_kind_name(kind));
	else
		switch_log(g, kind, log);
}

static void
end_opening(struct opening *o)
{
	children_give_up(o->pid);
	events_close(&o->pipe);
	events_unset(&o->timeout);
	TAILQ_REMOVE(&openings, o, link);
	free(o);
	if (!TAILQ_EMPTY(&openings))
		return;
	if (again)
		reopen_begin();
	else
		calls->ended();
}

static void
give_up_opening(void *opening)
{
	struct opening	*o = opening;

	log_warnx("the %s cannot be opened again, its file system does not "
	    "answer: going on with the one that is open",
	    logs_kind_name(o->kind));
	kill(o->pid, SIGKILL);
	calls->failed(logs_kind_name(o->kind));
	end_opening(o);
}

static void
take_opened(const struct opening *o, int log)
{
	struct generation	*g = generation_find(o->generation);

	if (g == NULL && o->kind == LOG_ACCESS)
		close(log);	/* its generation has ended */
	else
		switch_log(g, o->kind, log);
}

static void
on_opened(void *opening)
{
	struct opening	*o = opening;
	char		 byte;
	int		 log = -1;

	if (io_recv_message(o->pipe.fd, &byte, sizeof(byte), &log) == 1 &&
	    log != -1)
		take_opened(o, log);
	else
		calls->failed(logs_kind_name(o->kind));
	end_opening(o);
}

static void
reopen_file(struct generation *g, enum log_kind kind)
{
	const char	*file = logs_name(g, kind);
	struct opening	*o;
	int		 pipe = -1;
	pid_t		 pid;

	pid = spawn(&log_opener, g, &pipe, NULL, NULL);
	if (pid == 0)
		log_opener_entry(file, kind, pipe);
	if (pid == -1) {
		log_error("cannot start a process that opens the %s again: it "
		    "stays as it is", logs_kind_name(kind));
		return;
	}
	o = mem_zero(sizeof(*o));
	*o = (struct opening){ .pid = pid, .kind = kind,
	    .generation = g->number };
	TAILQ_INSERT_TAIL(&openings, o, link);
	events_add(&o->pipe, pipe, on_opened, o);
	events_set(&o->timeout, OPEN_TIMEOUT, give_up_opening, o);
}

static void
reopen_log(struct generation *g, enum log_kind kind)
{
	enum logs_target	target = logs_target(logs_name(g, kind));

	if (target == LOGS_FILE)
		reopen_file(g, kind);
	else if (target == LOGS_PROGRAM)
		restart_program(g, kind);
}

/* An opening that is under way may have opened a log just before the file was
 * moved away, so all logs are opened once more after it. */
void
reopen_begin(void)
{
	struct generation	*g;

	calls->begins();
	again = !TAILQ_EMPTY(&openings);
	if (again)
		return;
	piped_log_renew();
	TAILQ_FOREACH(g, &generations.list, link)
		reopen_log(g, LOG_ACCESS);
	reopen_log(generations.serving, LOG_ERRORS);
	if (TAILQ_EMPTY(&openings))
		calls->ended();
}

static void
cancel_openings(void)
{
	struct opening	*o;

	again = false;
	while ((o = TAILQ_FIRST(&openings)) != NULL)
		end_opening(o);
}

/* Returns -1 if a log goes elsewhere. */
static int
open_program(struct generation *g, enum log_kind kind)
{
	const char	*name = logs_name(g, kind);
	int		 fd;

	if (logs_target(name) != LOGS_PROGRAM)
		return -1;
	fd = piped_log_open(g, name);
	if (fd == -1)
		fatal("cannot start %s for the %s", name, logs_kind_name(kind));
	return fd;
}

void
reopen_start_programs(struct generation *g)
{
	int	access_log = open_program(g, LOG_ACCESS);
	int	error_log = open_program(g, LOG_ERRORS);

	if (access_log != -1) {
		io_close(&g->access_log);
		g->access_log = access_log;
	}
	if (error_log != -1)
		error_log_use(error_log);
}

const struct component	reopen_component = { .stop = cancel_openings };
