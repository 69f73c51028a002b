/*
 * process: reports of the reaper, lines of standard error.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "programs/process.h"
#include "stats/program_stats.h"

#define ERRORS_SIZE	(16 * 1024)	/* bytes of standard error at a time */
#define ERRORS_READS	64		/* times: a pipe holds 1M at most */

static int64_t
get_time(const struct process *p)
{
	return p->admission->manager->clock.ms;
}

/*
 * Lines
 */

static void
put_line(void *process, const char *line, size_t len)
{
	const struct process	*p = process;

	if (p->pid == 0)
		log_warnx("%s: %.*s", p->name, (int)len, line);
	else
		log_warnx("%s[%ld]: %.*s", p->name, (long)p->pid, (int)len,
		    line);
}

/* An unnamed program is called by its file. */
static char *
make_name(const struct conf_program *p, struct str file)
{
	struct buf	 text = { 0 };
	char		*name;

	if (p->name != NULL)
		buf_adds(&text, p->name);
	else
		buf_add(&text, file.at, file.len);
	name = mem_string(buf_string(&text));
	buf_free(&text);
	return name;
}

static void
add_line(struct process *p, const char *line)
{
	int64_t	now = get_time(p);

	error_lines_add(&p->lines, now, "\n", 1);
	error_lines_add(&p->lines, now, line, strlen(line));
	error_lines_add(&p->lines, now, "\n", 1);
}

/* Returns false at the end, or if there is nothing yet. */
static bool
read_errors(struct process *p)
{
	char	bytes[ERRORS_SIZE];
	ssize_t	n = read(p->errors.fd, bytes, sizeof(bytes));

	if (n > 0)
		error_lines_add(&p->lines, get_time(p), bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		source_close(&p->errors);
	return n > 0;
}

static void
on_errors(void *process)
{
	read_errors(process);
}

/* Reads what the pipe holds; a process that is left may write on for ever. */
static void
read_held_errors(struct process *p)
{
	for (int k = 0; k < ERRORS_READS && p->errors.fd != -1; k++)
		if (!read_errors(p))
			return;
}

void
process_log_failure(struct process *p, int error)
{
	char	text[160];

	snprintf(text, sizeof(text), "cannot be started: %s%s", strerror(error),
	    error != ENOEXEC ? "" : "; its first line must be #! and an "
	    "interpreter that is there");
	add_line(p, text);
}

void
process_count_end(const struct process *p, int status, bool was_told)
{
	int	signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (signo != 0 && !(was_told && (signo == SIGTERM ||
	    signo == SIGKILL)))
		program_stats_add(p->admission->program->number,
		    PROGRAM_STATS_KILLED, 1);
}

void
process_log_status(struct process *p, int status)
{
	char	text[80];

	if (status == 0)
		return;
	p->has_failed = true;
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "was killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "ended with status %d",
		    WEXITSTATUS(status));
	read_held_errors(p);
	add_line(p, text);
}

/*
 * Beginning and end
 */

static void
on_reaper(void *process)
{
	struct process		*p = process;
	struct reaper_report	 report;
	int			 n = reaper_recv(p->reaper.fd, &report);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 1 && report.kind == REAPER_EXECUTED) {
		p->pid = report.value;
		evloop_set(p->errors.watch, EVLOOP_READ);
	}
	p->tell(p, n == 1 ? &report : NULL);
}

int
process_open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
	if (io_nonblock(fd[0]) == 0)
		return 0;
	io_close(&fd[0]);
	io_close(&fd[1]);
	return -1;
}

void
process_init(struct process *p, struct admission *a, struct str file,
    void (*tell)(struct process *, const struct reaper_report *))
{
	*p = (struct process){ .admission = a, .tell = tell,
	    .reaper.fd = -1, .errors.fd = -1,
	    .lines = { .rate = &a->rate, .put = put_line, .context = p },
	    .name = make_name(a->program, file) };
}

int
process_start(struct process *p, const struct execute *what)
{
	struct manager	*m = p->admission->manager;
	struct execute	 e = *what;
	int		 errors[2], pipe;

	if (process_open_pipe(errors) == -1)
		return -1;
	e.conf = m->conf;
	e.program = p->admission->program;
	e.errors = errors[1];
	if (e.output == -1)
		e.output = errors[1];
	pipe = reaper_start(&e);
	io_close(&errors[1]);
	if (pipe == -1) {
		io_close(&errors[0]);
		return -1;
	}
	source_watch(&p->reaper, m->loop, pipe, on_reaper, p);
	/* Lines have the process id, which the reaper tells. */
	source_add(&p->errors, m->loop, errors[0], on_errors, p);
	p->admission->nprocesses++;
	program_stats_add(e.program->number, PROGRAM_STATS_STARTED, 1);
	admission_publish(p->admission);
	return 0;
}

void
process_end(const struct process *p)
{
	reaper_end(p->reaper.fd);
}

void
process_free(struct process *p)
{
	read_held_errors(p);
	error_lines_end(&p->lines, get_time(p), p->has_failed);
	admission_await_rest(p->admission);
	if (p->reaper.fd != -1)
		p->admission->nprocesses--;
	admission_publish(p->admission);
	source_close(&p->reaper);
	source_close(&p->errors);
	free(p->name);
}
