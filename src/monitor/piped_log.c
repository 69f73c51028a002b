/*
 * piped_log: the monitor's side of the programs that read logs.
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

#define BACKOFF_LEAST	1000	/* ms until one that ends is started again */
#define BACKOFF_MOST	60000	/* ... if it does so over and over */
#define YOUNG		10000	/* ms */
#define ROOM		(1024 * 1024)	/* bytes in its pipe, if they can be */
#define WORDS		64	/* of a command */

/* Words at blanks; what is between two ' is one. */
static void
split(char *text, char *words[WORDS + 1])
{
	size_t	n = 0;
	char	quote;

	for (text += strspn(text, "| "); *text != '\0' && n < WORDS;
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
open_standard(const struct monitor *m)
{
	return io_open_again(m->setup->standard.fd, O_WRONLY | O_APPEND);
}

/* What it has to say is for the error log, by the scribe as all of that, unless
 * it reads the log: it would hear itself, over and over. */
static void
choose_errors(
    struct monitor *m, const struct generation *g, const struct program *p)
{
	int	fd = m->errors.words[1];

	if (p->of_errors)
		fd = standard_is_for(&m->setup->standard, g->conf) ?
		    open_standard(m) : -1;
	if (fd == -1)
		fd = open("/dev/null", O_WRONLY);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
}

/* Who starts us is to hear of it, even where its words are for nobody. */
static _Noreturn void
tell_failure(const struct monitor *m, const struct program *p, const char *name)
{
	int	saved = errno;

	if (p->of_errors)
		dup2(open_standard(m), STDERR_FILENO);
	errno = saved;
	fatal("cannot run %s, which is to read a log", name);
}

static _Noreturn void
be_program(struct monitor *m, const struct generation *g, struct program *p)
{
	char	*words[WORDS + 1], *text = mem_string(p->text);

	split(text, words);
	if (dup2(p->pipe[0], STDIN_FILENO) == -1)
		fatal("%s: its pipe", p->text);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
	proc_signals_unblock();
	choose_errors(m, g, p);
	execv(words[0], words);
	tell_failure(m, p, words[0]);
}

static void
start(struct monitor *m, struct generation *g, struct program *p)
{
	int	unused = -1;

	p->due = 0;
	p->born = monitor_now();
	p->pid = spawn(m, g, ROLE_LOG_PROGRAM, &unused);
	if (p->pid == 0)
		be_program(m, g, p);
	io_close(&unused);
	if (p->pid != -1)
		return;
	log_error("cannot start %s, which is to read a log", p->text);
	p->pid = 0;
	p->due = p->born + BACKOFF_LEAST;
}

static int
open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
#ifdef F_SETPIPE_SZ
	/* Less will do. */
	(void)fcntl(fd[1], F_SETPIPE_SZ, ROOM);
#endif
	return io_nonblock(fd[1]);
}

static bool
is_left(const struct program *p)
{
	return p->pipe[1] == -1;
}

/* By that conf. */
static bool
reads_errors(const struct generation *g, const char *text)
{
	return strcmp(g->conf->log.error.to, text) == 0;
}

int
programs_log(struct monitor *m, struct generation *g, const char *text)
{
	bool		 of_errors = reads_errors(g, text);
	struct program	*p;

	TAILQ_FOREACH(p, &m->programs, link)
		if (!is_left(p) && strcmp(p->text, text) == 0 &&
		    p->of_errors == of_errors)
			return fcntl(p->pipe[1], F_DUPFD_CLOEXEC, 3);
	p = mem_zero(sizeof(*p));
	if (open_pipe(p->pipe) == -1) {
		free(p);
		return -1;
	}
	p->text = mem_string(text);
	p->of_errors = of_errors;
	TAILQ_INSERT_TAIL(&m->programs, p, link);
	start(m, g, p);
	return fcntl(p->pipe[1], F_DUPFD_CLOEXEC, 3);
}

static void
drop(struct monitor *m, struct program *p)
{
	TAILQ_REMOVE(&m->programs, p, link);
	io_close(&p->pipe[0]);
	io_close(&p->pipe[1]);
	free(p->text);
	free(p);
}

/* Its input ends as soon as nobody else has the pipe. */
static void
leave(struct monitor *m, struct program *p)
{
	io_close(&p->pipe[0]);
	io_close(&p->pipe[1]);
	p->due = 0;
	if (p->pid == 0)
		drop(m, p);
}

static void
start_later(struct program *p, const char *how)
{
	int64_t	now = monitor_now();

	p->backoff = now - p->born >= YOUNG || p->backoff == 0 ?
	    BACKOFF_LEAST : p->backoff * 2;
	if (p->backoff > BACKOFF_MOST)
		p->backoff = BACKOFF_MOST;
	p->due = now + p->backoff;
	log_errorx("%s, which is to read a log, %s: starting it again in %d s; "
	    "until then its lines wait, and are lost when there is no room",
	    p->text, how, p->backoff / 1000);
}

bool
programs_died(struct monitor *m, pid_t pid, const char *how)
{
	struct program	*p;

	TAILQ_FOREACH(p, &m->programs, link)
		if (p->pid == pid)
			break;
	if (p == NULL)
		return false;
	p->pid = 0;
	if (is_left(p))
		drop(m, p);
	else
		start_later(p, how);
	return true;
}

static bool
is_wanted(const struct monitor *m, const struct program *p)
{
	const struct generation	*g;

	TAILQ_FOREACH(g, &m->generations, link)
		if (reads_errors(g, p->text) == p->of_errors && (p->of_errors ||
		    (g->conf->log.access.to != NULL &&
		    strcmp(g->conf->log.access.to, p->text) == 0)))
			return true;
	return false;
}

void
programs_look(struct monitor *m)
{
	struct program	*p, *next;
	int64_t		 now = monitor_now();

	for (p = TAILQ_FIRST(&m->programs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (!is_left(p) && !is_wanted(m, p))
			leave(m, p);
		else if (p->due != 0 && now >= p->due)
			start(m, m->serving, p);
	}
}

int64_t
programs_due(const struct monitor *m)
{
	const struct program	*p;
	int64_t			 at = 0;

	TAILQ_FOREACH(p, &m->programs, link)
		if (p->due != 0 && (at == 0 || p->due < at))
			at = p->due;
	return at;
}

void
programs_renew(struct monitor *m)
{
	struct program	*p;

	TAILQ_FOREACH(p, &m->programs, link)
		if (p->pid != 0)
			leave(m, p);
		else if (p->due != 0)
			p->due = monitor_now();
}

void
programs_forget(struct monitor *m)
{
	struct program	*p;

	TAILQ_FOREACH(p, &m->programs, link) {
		io_close(&p->pipe[0]);
		io_close(&p->pipe[1]);
	}
}

static void
reap(struct monitor *m)
{
	struct program	*p, *next;

	for (p = TAILQ_FIRST(&m->programs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (waitpid(p->pid, NULL, WNOHANG) == p->pid)
			drop(m, p);
	}
}

static void
await_end(struct monitor *m)
{
	struct pollfd	p = { .fd = monitor_signal_fd(), .events = POLLIN };
	int64_t		end = monitor_now() + KILL_TIMEOUT, left;
	unsigned char	byte;

	for (reap(m); !TAILQ_EMPTY(&m->programs); reap(m)) {
		left = end - monitor_now();
		if (left <= 0)
			return;
		poll(&p, 1, (int)left);
		while (read(p.fd, &byte, 1) == 1)
			;
	}
}

void
programs_end(struct monitor *m)
{
	struct program	*p, *next;

	if (TAILQ_EMPTY(&m->programs))
		return;
	/* Ours may be one of their pipes. */
	dup2(m->setup->standard.fd, STDERR_FILENO);
	io_close(&m->setup->error_log);
	for (p = TAILQ_FIRST(&m->programs); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		leave(m, p);
	}
	await_end(m);
	TAILQ_FOREACH(p, &m->programs, link)
		kill(p->pid, SIGTERM);
	await_end(m);
	while ((p = TAILQ_FIRST(&m->programs)) != NULL) {
		kill(p->pid, SIGKILL);
		drop(m, p);
	}
}
