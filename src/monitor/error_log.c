/*
 * error_log: the monitor's side of the error logger, which ends after
 * all lines of mains and helpers.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/error_log.h"
#include "monitor/generation.h"

#define MIN_LIFETIME	1000	/* ms, and the delay of the next one */

static struct {
	int		 log;		/* a handle if the log is a file */
	int		 pipe;		/* its end tells the process to end */
	struct child	*child;		/* NULL: none */
	int64_t		 started_at;	/* ms */
	struct timer	 restart;
} logger = { .log = -1, .pipe = -1 };

static void	start_logger(void *);

static void
reopen_log(struct generation *unused)
{
	(void)unused;
	child_reopen_log(&logger.log, "error log");
}

static void
run_logger(struct generation *g, void *unused, int pipe)
{
	(void)unused;
	child_execute(g, CHILD_ERROR_LOGGER, pipe, logger.log);
}

/* A logger whose pipe is closed was told to end. */
static void
logger_died(void *unused, const struct child *c)
{
	(void)unused;
	logger.child = NULL;
	if (logger.pipe == -1)
		return;
	log_warnx("error logger %ld %s; starting another", (long)c->pid,
	    c->how);
	io_close(&logger.pipe);
	events_set(&logger.restart, clock_ms() - logger.started_at >=
	    MIN_LIFETIME ? 0 : MIN_LIFETIME, start_logger, NULL);
}

static const struct child_kind	kind = {
	.name = "error logger", .lasting = true, .prepare = reopen_log,
	.run = run_logger, .died = logger_died
};

/* Starts a logger, if there is none. */
static void
start_logger(void *unused)
{
	(void)unused;
	if (logger.child != NULL)
		return;
	logger.child = child_start(&kind, generations.serving, NULL,
	    &logger.pipe);
	logger.started_at = clock_ms();
	events_unset(&logger.restart);
	if (logger.child != NULL)
		return;
	log_error("cannot start the error logger; lines wait in its pipe, and "
	    "are lost when that is full");
	events_set(&logger.restart, MIN_LIFETIME, start_logger, NULL);
}

/* The present error logger is not waited for: its log may be on a dead file
 * system.  A byte tells it that another one reads the pipe, so that it stops
 * reading while lines still come. */
void
error_log_use(int log)
{
	/* The close does not wait: the descriptor is a handle, or no file. */
	io_close(&logger.log);
	logger.log = log;
	if (logger.pipe != -1 && write(logger.pipe, "", 1) == -1)
		log_warn("cannot tell the old error logger that another one "
		    "takes over; both read lines for a while");
	child_give_up(&logger.child);
	io_close(&logger.pipe);
	start_logger(NULL);
}

void
error_log_close(void)
{
	io_close(&logger.log);
}

static void
close_descriptors(void)
{
	io_close(&logger.pipe);
}

/* Waits until all lines are written, for a second at most.  Later lines of this
 * process go straight to the log, if that can be opened. */
static void
await_logger(void)
{
	int	error;

	start_logger(NULL);
	io_close(&logger.pipe);
	child_await(&kind);
	if (logger.child != NULL) {
		child_kill(logger.child);
		return;
	}
	log_count_drops(-1);
	error = io_reopen(logger.log, O_WRONLY | O_APPEND);
	if (error != -1)
		dup2(error, STDERR_FILENO);
	io_close(&error);
}

const struct component	error_log_component = {
	.end = await_logger, .leave = close_descriptors
};
