/*
 * piped_log: the monitor's side of log programs.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/private.h"

#define BACKOFF_MIN	1000		/* ms until a program is restarted */
#define BACKOFF_MAX	60000		/* ms, if it keeps ending early */
#define MIN_LIFETIME	10000		/* ms */
#define PIPE_SIZE	(1024 * 1024)	/* bytes, if the system allows */
#define WORDS_MAX	64		/* of a command */

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
open_standard_error(const struct monitor *m)
{
	return io_reopen(m->setup->standard_error.fd, O_WRONLY | O_APPEND);
}

/* Sends the program's output to the error logger.  The output of a program that
 * reads the error log goes elsewhere, or the program would read it again and
 * again. */
static void
redirect_output(struct monitor *m, const struct generation *g,
    const struct piped_log *p)
{
	int	fd = m->error_pipe.lines[1];

	if (p->has_errors)
		fd = standard_error_is_for(&m->setup->standard_error, g->conf) ?
		    open_standard_error(m) : -1;
	if (fd == -1)
		fd = open("/dev/null", O_WRONLY);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
}

/* Reports to standard error even if the program's output goes to /dev/null: a
 * user who starts amped is to see the error. */
static _Noreturn void
report_failure(const struct monitor *m, const struct piped_log *p,
    const char *name)
{
	int	saved = errno;

	if (p->has_errors)
		dup2(open_standard_error(m), STDERR_FILENO);
	errno = saved;
	fatal("cannot run the log program %s", name);
}

static _Noreturn void
log_program_entry(struct monitor *m, const struct generation *g,
    struct piped_log *p)
{
	char	*words[WORDS_MAX + 1], *text = mem_string(p->command);

	split_words(text, words);
	if (dup2(p->pipe[0], STDIN_FILENO) == -1)
		fatal("%s: its pipe", p->command);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
	proc_signals_unblock();
	redirect_output(m, g, p);
	execv(words[0], words);
	report_failure(m, p, words[0]);
}

static void
start_program(struct monitor *m, struct generation *g, struct piped_log *p)
{
	int	unused = -1;

	p->next_at = 0;
	p->started_at = monitor_now();
	p->pid = spawn(m, g, ROLE_LOG_PROGRAM, &unused);
	if (p->pid == 0)
		log_program_entry(m, g, p);
	io_close(&unused);
	if (p->pid != -1)
		return;
	log_error("cannot start a process for the log program %s: trying it "
	    "again", p->command);
	p->pid = 0;
	p->next_at = p->started_at + BACKOFF_MIN;
}

static int
open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
#ifdef F_SETPIPE_SZ
	/* A smaller pipe will do. */
	(void)fcntl(fd[1], F_SETPIPE_SZ, PIPE_SIZE);
#endif
	return io_nonblock(fd[1]);
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
piped_log_open(struct monitor *m, struct generation *g, const char *command)
{
	bool			 has_errors = is_error_log(g, command);
	struct piped_log	*p;

	TAILQ_FOREACH(p, &m->piped_logs, link)
		if (!is_closed(p) && strcmp(p->command, command) == 0 &&
		    p->has_errors == has_errors)
			return fcntl(p->pipe[1], F_DUPFD_CLOEXEC, 3);
	p = mem_zero(sizeof(*p));
	if (open_pipe(p->pipe) == -1) {
		free(p);
		return -1;
	}
	p->command = mem_string(command);
	p->has_errors = has_errors;
	TAILQ_INSERT_TAIL(&m->piped_logs, p, link);
	start_program(m, g, p);
	return fcntl(p->pipe[1], F_DUPFD_CLOEXEC, 3);
}

static void
free_log(struct monitor *m, struct piped_log *p)
{
	TAILQ_REMOVE(&m->piped_logs, p, link);
	io_close(&p->pipe[0]);
	io_close(&p->pipe[1]);
	free(p->command);
	free(p);
}

/* Closes the pipe: the program finds the end of its input when no writer is
 * left. */
static void
close_log(struct monitor *m, struct piped_log *p)
{
	io_close(&p->pipe[0]);
	io_close(&p->pipe[1]);
	p->next_at = 0;
	if (p->pid == 0)
		free_log(m, p);
}

static void
schedule_restart(struct piped_log *p, const char *how)
{
	int64_t	now = monitor_now();

	p->backoff = now - p->started_at >= MIN_LIFETIME || p->backoff == 0 ?
	    BACKOFF_MIN : p->backoff * 2;
	if (p->backoff > BACKOFF_MAX)
		p->backoff = BACKOFF_MAX;
	p->next_at = now + p->backoff;
	log_errorx("log program %s %s: starting it again in %d s; until then "
	    "its lines wait in the pipe, and are lost when that is full",
	    p->command, how, p->backoff / 1000);
}

bool
piped_log_died(struct monitor *m, pid_t pid, const char *how)
{
	struct piped_log	*p;

	TAILQ_FOREACH(p, &m->piped_logs, link)
		if (p->pid == pid)
			break;
	if (p == NULL)
		return false;
	p->pid = 0;
	if (is_closed(p))
		free_log(m, p);
	else
		schedule_restart(p, how);
	return true;
}

static bool
is_wanted(const struct monitor *m, const struct piped_log *p)
{
	const struct generation	*g;

	TAILQ_FOREACH(g, &m->generations, link)
		if (is_error_log(g, p->command) == p->has_errors &&
		    (p->has_errors || (g->conf->log.access.to != NULL &&
		    strcmp(g->conf->log.access.to, p->command) == 0)))
			return true;
	return false;
}

void
piped_log_tick(struct monitor *m)
{
	struct piped_log	*p, *next;
	int64_t			 now = monitor_now();

	for (p = TAILQ_FIRST(&m->piped_logs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (!is_closed(p) && !is_wanted(m, p))
			close_log(m, p);
		else if (p->next_at != 0 && now >= p->next_at)
			start_program(m, m->serving, p);
	}
}

int64_t
piped_log_next_at(const struct monitor *m)
{
	const struct piped_log	*p;
	int64_t			 at = 0;

	TAILQ_FOREACH(p, &m->piped_logs, link)
		if (p->next_at != 0 && (at == 0 || p->next_at < at))
			at = p->next_at;
	return at;
}

void
piped_log_renew(struct monitor *m)
{
	struct piped_log	*p;

	TAILQ_FOREACH(p, &m->piped_logs, link)
		if (p->pid != 0)
			close_log(m, p);
		else if (p->next_at != 0)
			p->next_at = monitor_now();
}

void
piped_log_close_all(struct monitor *m)
{
	struct piped_log	*p;

	TAILQ_FOREACH(p, &m->piped_logs, link) {
		io_close(&p->pipe[0]);
		io_close(&p->pipe[1]);
	}
}

static void
reap_programs(struct monitor *m)
{
	struct piped_log	*p, *next;

	for (p = TAILQ_FIRST(&m->piped_logs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (waitpid(p->pid, NULL, WNOHANG) == p->pid)
			free_log(m, p);
	}
}

static void
await_programs(struct monitor *m)
{
	struct pollfd	p = { .fd = monitor_signal_fd(), .events = POLLIN };
	int64_t		end = monitor_now() + KILL_TIMEOUT, left;
	unsigned char	byte;

	for (reap_programs(m); !TAILQ_EMPTY(&m->piped_logs); reap_programs(m)) {
		left = end - monitor_now();
		if (left <= 0)
			return;
		poll(&p, 1, (int)left);
		while (read(p.fd, &byte, 1) == 1)
			;
	}
}

void
piped_log_end(struct monitor *m)
{
	struct piped_log	*p, *next;

	if (TAILQ_EMPTY(&m->piped_logs))
		return;
	/* Standard error may be the pipe of a program. */
	dup2(m->setup->standard_error.fd, STDERR_FILENO);
	io_close(&m->setup->error_log);
	for (p = TAILQ_FIRST(&m->piped_logs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		close_log(m, p);
	}
	await_programs(m);
	TAILQ_FOREACH(p, &m->piped_logs, link)
		kill(p->pid, SIGTERM);
	await_programs(m);
	while ((p = TAILQ_FIRST(&m->piped_logs)) != NULL) {
		kill(p->pid, SIGKILL);
		free_log(m, p);
	}
}
