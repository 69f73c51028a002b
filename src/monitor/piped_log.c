/*
 * piped_log: the monitor's side of log programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/error_log.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/piped_log.h"

#define BACKOFF_MIN	1000		/* ms until a program is restarted */
#define BACKOFF_MAX	60000		/* ms, if it keeps ending early */
#define MIN_LIFETIME	10000		/* ms */
#define WORDS_MAX	64		/* of a command */

struct piped_log {
	char			*command;	/* owned, as in the conf */
	bool			 has_errors;	/* true: the error log */
	int			 pipe[2];	/* -1: closed */
	struct child		*program;	/* NULL: none runs */
	int64_t			 started_at;	/* ms */
	struct timer		 restart;
	int			 backoff;	/* ms */
	TAILQ_ENTRY(piped_log)	 link;
};

static TAILQ_HEAD(, piped_log)	logs = TAILQ_HEAD_INITIALIZER(logs);
static int			input;	/* of the program that is started: the
					 * log's own are closed in children */

/* Splits a command at blanks; text between two ' is one word. */
static void
split_words(char *text, char *words[WORDS_MAX + 1])
{
	size_t	n = 0;
	char	quote;

	for (text += strspn(text, "| "); *text != '\0' && n < WORDS_MAX;
	    text += strspn(text, " ")) {
		quote = *text == '\'' ? '\'' : ' ';
		text += quote == '\'';
		words[n++] = text;
		text += strcspn(text, (char []){ quote, '\0' });
		if (*text != '\0')
			*text++ = '\0';
	}
	words[n] = NULL;
}

static int
open_standard_error(void)
{
	return io_reopen(prepared.standard_error.fd, O_WRONLY | O_APPEND);
}

/* Sends the program's output to the error logger.  The output of a program that
 * reads the error log goes elsewhere, or the program would read it again and
 * again. */
static void
redirect_output(const struct generation *g, const struct piped_log *p)
{
	int	fd = logs_errors.lines[1];

	if (p->has_errors)
		fd = standard_error_is_for(g->conf) ? open_standard_error() :
		    -1;
	if (fd == -1)
		fd = open("/dev/null", O_WRONLY);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
}

/* Reports to standard error even if the program's output goes to /dev/null: a
 * user who starts amped is to see the error. */
static _Noreturn void
report_failure(const struct piped_log *p, const char *name)
{
	int	saved = errno;

	if (p->has_errors)
		dup2(open_standard_error(), STDERR_FILENO);
	errno = saved;
	fatal("cannot run the log program %s", name);
}

static void
run_program(struct generation *g, void *log, int unused)
{
	const struct piped_log	*p = log;
	char			*words[WORDS_MAX + 1];

	(void)unused;
	split_words(mem_string(p->command), words);
	if (dup2(input, STDIN_FILENO) == -1)
		fatal("%s: its pipe", p->command);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
	proc_signals_unblock();
	redirect_output(g, p);
	execv(words[0], words);
	report_failure(p, words[0]);
}

static void	program_died(void *, const struct child *);
static void	start_again(void *);

/* The conf names it. */
static const struct child_kind	kind = {
	.name = "log program", .lasting = true, .run = run_program,
	.died = program_died
};

static void
start_program(struct generation *g, struct piped_log *p)
{
	int	unused = -1;

	events_unset(&p->restart);
	p->started_at = clock_ms();
	input = fcntl(p->pipe[0], F_DUPFD_CLOEXEC, 0);
	if (input != -1)
		p->program = child_start(&kind, g, p, &unused);
	io_close(&input);
	io_close(&unused);
	if (p->program != NULL)
		return;
	log_error("cannot start a process for the log program %s: trying it "
	    "again", p->command);
	events_set(&p->restart, BACKOFF_MIN, start_again, p);
}

static void
start_again(void *log)
{
	start_program(generations.serving, log);
}

static bool
is_closed(const struct piped_log *p)
{
	return p->pipe[1] == -1;
}

/* Whether a command is the error log of that generation. */
static bool
is_error_log(const struct generation *g, const char *command)
{
	return strcmp(g->conf->log.error.to, command) == 0;
}

int
piped_log_open(struct generation *g, const char *command)
{
	bool			 has_errors = is_error_log(g, command);
	struct piped_log	*p;

	TAILQ_FOREACH(p, &logs, link)
		if (!is_closed(p) && strcmp(p->command, command) == 0 &&
		    p->has_errors == has_errors)
			return fcntl(p->pipe[1], F_DUPFD_CLOEXEC, 3);
	p = mem_zero(sizeof(*p));
	if (logs_open_pipe(p->pipe) == -1) {
		free(p);
		return -1;
	}
	p->command = mem_string(command);
	p->has_errors = has_errors;
	TAILQ_INSERT_TAIL(&logs, p, link);
	start_program(g, p);
	return fcntl(p->pipe[1], F_DUPFD_CLOEXEC, 3);
}

/* Closes the pipe, and frees the log when its program has ended: that finds the
 * end of its input when no writer is left. */
static void
close_log(struct piped_log *p)
{
	io_close(&p->pipe[0]);
	io_close(&p->pipe[1]);
	events_unset(&p->restart);
	if (p->program != NULL)
		return;
	TAILQ_REMOVE(&logs, p, link);
	free(p->command);
	free(p);
}

static void
set_restart(struct piped_log *p, const char *how)
{
	p->backoff = clock_ms() - p->started_at >= MIN_LIFETIME ||
	    p->backoff == 0 ? BACKOFF_MIN : p->backoff * 2;
	if (p->backoff > BACKOFF_MAX)
		p->backoff = BACKOFF_MAX;
	events_set(&p->restart, p->backoff, start_again, p);
	log_errorx("log program %s %s: starting it again in %d s; until then "
	    "its lines wait in the pipe, and are lost when that is full",
	    p->command, how, p->backoff / 1000);
}

static void
program_died(void *log, const struct child *c)
{
	struct piped_log	*p = log;

	p->program = NULL;
	if (is_closed(p))
		close_log(p);
	else
		set_restart(p, c->how);
}

static bool
is_wanted(const struct piped_log *p)
{
	const struct generation	*g;

	TAILQ_FOREACH(g, &generations.list, link)
		if (is_error_log(g, p->command) == p->has_errors &&
		    (p->has_errors || logs_find(g, p->command) != LOG_ERRORS))
			return true;
	return false;
}

void
piped_log_close_unused(void)
{
	struct piped_log	*p, *next;

	for (p = TAILQ_FIRST(&logs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (!is_closed(p) && !is_wanted(p))
			close_log(p);
	}
}

void
piped_log_renew(void)
{
	struct piped_log	*p, *next;

	for (p = TAILQ_FIRST(&logs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (p->program != NULL)
			close_log(p);
		else
			events_set(&p->restart, 0, start_again, p);
	}
}

static void
close_descriptors(void)
{
	struct piped_log	*p;

	TAILQ_FOREACH(p, &logs, link) {
		io_close(&p->pipe[0]);
		io_close(&p->pipe[1]);
	}
}

/* Closes all logs, and gives each program a moment to read the rest. */
static void
await_programs(void)
{
	struct piped_log	*p, *next;

	if (TAILQ_EMPTY(&logs))
		return;
	/* Standard error may be the pipe of a program. */
	dup2(prepared.standard_error.fd, STDERR_FILENO);
	error_log_close();
	for (p = TAILQ_FIRST(&logs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		close_log(p);
	}
	child_await(&kind);
	TAILQ_FOREACH(p, &logs, link)
		kill(p->program->pid, SIGTERM);
	child_await(&kind);
	while ((p = TAILQ_FIRST(&logs)) != NULL) {
		child_kill(p->program);
		child_release(&p->program);
		close_log(p);
	}
}

const struct component	piped_log_component = {
	.end = await_programs, .leave = close_descriptors
};
