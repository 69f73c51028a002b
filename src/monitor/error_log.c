/*
 * error_log: the monitor's side of the error logger, which ends after
 * all lines of mains and helpers.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "monitor/component.h"
#include "monitor/error_log.h"
#include "monitor/generation.h"
#include "monitor/monitor.h"
#include "monitor/spawn.h"

#define MIN_LIFETIME	1000	/* ms, and the delay of the next one */

static struct {
	int		log;		/* a handle if the log is a file */
	int		pipe;		/* its end tells the process to end */
	pid_t		pid;		/* 0: none */
	int64_t		started_at;	/* ms */
	struct timer	restart;
	bool		ending;
} logger = { .log = -1, .pipe = -1 };

static void
reopen_log(struct generation *unused)
{
	(void)unused;
	spawn_reopen_log(&logger.log, "error log");
}

static const struct child_kind	kind = {
	.name = "error logger", .lasting = true, .prepare = reopen_log
};

static void
start_again(void *unused)
{
	(void)unused;
	error_log_start();
}

static void
logger_died(void *unused, const struct child *c)
{
	(void)unused;
	logger.pid = 0;
	if (logger.ending)
		return;
	log_warnx("error logger %ld %s; starting another", (long)c->pid,
	    c->how);
	io_close(&logger.pipe);
	events_set(&logger.restart, clock_ms() - logger.started_at >=
	    MIN_LIFETIME ? 0 : MIN_LIFETIME, start_again, NULL);
}

void
error_log_start(void)
{
	int	pipe = -1;
	pid_t	pid;

	if (logger.pid != 0)
		return;
	pid = spawn(&kind, generations.serving, &pipe, logger_died, NULL);
	if (pid == 0)
		spawn_helper(generations.serving, HELPER_ERROR_LOG, pipe,
		    logger.log);
	if (pid == -1)
		log_error("cannot start the error logger; lines wait in its "
		    "pipe, and are lost when that is full");
	logger.pid = pid == -1 ? 0 : pid;
	logger.pipe = pipe;
	logger.started_at = clock_ms();
	events_unset(&logger.restart);
	if (pid == -1)
		events_set(&logger.restart, MIN_LIFETIME, start_again, NULL);
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
	if (logger.pid != 0) {
		children_disown(logger.pid, true);
		children_give_up(logger.pid);
	}
	io_close(&logger.pipe);
	logger.pid = 0;
	error_log_start();
}

int
error_log_get(void)
{
	return logger.log;
}

void
error_log_close(void)
{
	io_close(&logger.log);
}

static void
take_setup(struct monitor_setup *setup)
{
	logger.log = setup->error_log;
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

	error_log_start();
	logger.ending = true;
	io_close(&logger.pipe);
	children_await(&kind);
	if (logger.pid != 0) {
		kill(logger.pid, SIGKILL);
		return;
	}
	log_count_drops(-1);
	error = io_reopen(logger.log, O_WRONLY | O_APPEND);
	if (error != -1)
		dup2(error, STDERR_FILENO);
	io_close(&error);
}

const struct component	error_log_component = {
	.setup = take_setup, .leave = close_descriptors, .end = await_logger
};
