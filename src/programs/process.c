/*
 * process: reapers and their reports, lines of standard error.
 */
#include <sys/param.h>
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
#include "programs/descendants.h"
#include "programs/process.h"
#include "stats/program_stats.h"

#define ERRORS_SIZE	(16 * 1024)	/* bytes of standard error at a time */
#define ERRORS_READS	64		/* times: a pipe holds 1M at most */
#define IDLE_MS		10000		/* until a reaper that has no program
					 * ends */
#define SWEEP_MIN_MS	10		/* between two sweeps; doubles ... */
#define SWEEP_MAX_MS	2000		/* ... up to this: the children of a
					 * reaper that dies come later than the
					 * end of its pipe */

/* A reaper, as the manager has it. */
struct reaper_pipe {
	struct manager			*manager;
	struct source			 reports, errors;
	struct process			*process;	/* NULL: it is idle */
	pid_t				 pid;
	struct watch			*kill;		/* timer, or NULL */
	int64_t				 idle_since;
	TAILQ_ENTRY(reaper_pipe)	 link;		/* if it is idle */
	TAILQ_ENTRY(reaper_pipe)	 all_link;
};

TAILQ_HEAD(reaper_pipes, reaper_pipe);

struct idle_reapers {
	struct reaper_pipes		 list;		/* the latest first */
	struct watch			*expiry;	/* timer */
	bool				 is_armed;
	struct reaper_pipes		 all;		/* idle or not */
	/* A reaper with a program has died: what comes to the manager is
	 * ended. */
	struct watch			*sweep;		/* timer */
	int64_t				 sweep_in;	/* ms; 0: not armed */
};

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

/* Returns false if there is nothing yet; a reaper keeps the pipe open. */
static bool
read_errors(struct process *p)
{
	char	bytes[ERRORS_SIZE];
	ssize_t	n = read(p->reaper->errors.fd, bytes, sizeof(bytes));

	if (n > 0)
		error_lines_add(&p->lines, get_time(p), bytes, (size_t)n);
	else if (n == 0)
		source_close(&p->reaper->errors);
	return n > 0;
}

static void
on_errors(void *reaper)
{
	struct reaper_pipe	*r = reaper;

	read_errors(r->process);
}

/* Reads what the pipe holds; a process that is left may write on for ever. */
static void
read_held_errors(struct process *p)
{
	for (int k = 0; k < ERRORS_READS && p->reaper != NULL &&
	    p->reaper->errors.fd != -1; k++)
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

	/* SIGPIPE: nobody reads its output any more. */
	if (signo != 0 && !(was_told && (signo == SIGTERM ||
	    signo == SIGKILL || signo == SIGPIPE)))
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
 * Reapers
 */

static void
free_reaper(struct reaper_pipe *r)
{
	if (r->kill != NULL)
		evloop_unwatch(&r->kill);
	source_close(&r->reports);
	source_close(&r->errors);
	TAILQ_REMOVE(&r->manager->idle->all, r, all_link);
	free(r);
}

static void
set_expiry(struct idle_reapers *idle)
{
	const struct reaper_pipe	*oldest = TAILQ_LAST(&idle->list,
					    reaper_pipes);

	idle->is_armed = oldest != NULL;
	if (idle->is_armed)
		evloop_arm(idle->expiry, oldest->idle_since + IDLE_MS);
}

static void
on_expiry(void *manager)
{
	struct manager		*m = manager;
	struct reaper_pipe	*r;

	while ((r = TAILQ_LAST(&m->idle->list, reaper_pipes)) != NULL &&
	    r->idle_since <= m->clock.ms - IDLE_MS) {
		TAILQ_REMOVE(&m->idle->list, r, link);
		free_reaper(r);
	}
	set_expiry(m->idle);
}

/* The latest is used again first, so that those above the need expire. */
static void
add_idle(struct reaper_pipe *r)
{
	struct idle_reapers	*idle = r->manager->idle;

	r->process = NULL;
	if (r->kill != NULL)
		evloop_cancel(r->kill);
	r->idle_since = r->manager->clock.ms;
	evloop_set(r->errors.watch, EVLOOP_NONE);
	TAILQ_INSERT_HEAD(&idle->list, r, link);
	if (!idle->is_armed)
		set_expiry(idle);
}

/* Takes the reaper from a process that has ended. */
static void
leave_reaper(struct process *p, bool is_idle)
{
	struct reaper_pipe	*r = p->reaper;

	read_held_errors(p);
	p->reaper = NULL;
	p->admission->nprocesses--;
	admission_publish(p->admission);
	if (is_idle && r->errors.fd != -1)
		add_idle(r);
	else
		free_reaper(r);
}

static void
lose_idle(struct reaper_pipe *r)
{
	TAILQ_REMOVE(&r->manager->idle->list, r, link);
	free_reaper(r);
}

/* The reaper, or what is not yet the program, hangs in a file system. */
static void
on_kill(void *reaper)
{
	struct reaper_pipe	*r = reaper;

	if (r->process != NULL && r->process->pid == 0)
		kill(r->pid, SIGKILL);
}

/* Tells that a process has ended with all that it has started. */
static void
end_process(struct process *p, bool is_idle)
{
	leave_reaper(p, is_idle);
	p->tell(p, NULL, -1);
}

/*
 * Processes whose reaper has died
 */

static bool
is_reaper(const void *manager, pid_t pid)
{
	const struct manager		*m = manager;
	const struct reaper_pipe	*r;

	TAILQ_FOREACH(r, &m->idle->all, all_link)
		if (r->pid == pid)
			return true;
	return false;
}

/* Goes on until the last one has found nothing. */
static void
on_sweep(void *manager)
{
	struct manager		*m = manager;
	struct idle_reapers	*idle = m->idle;
	bool			 found = descendants_kill_strangers(is_reaper,
				    m);

	if (!found && idle->sweep_in == SWEEP_MAX_MS) {
		idle->sweep_in = 0;
		admission_release(m);
		return;
	}
	idle->sweep_in = MIN(2 * idle->sweep_in, SWEEP_MAX_MS);
	evloop_arm(idle->sweep, m->clock.ms + idle->sweep_in);
}

/* The manager stays for that. */
static void
begin_sweep(struct manager *m)
{
	if (m->idle->sweep_in == 0)
		m->nheld++;
	m->idle->sweep_in = SWEEP_MIN_MS;
	evloop_arm(m->idle->sweep, m->clock.ms + SWEEP_MIN_MS);
}

/* An idle reaper says nothing, but ends. */
static void
on_report(void *reaper)
{
	struct reaper_pipe	*r = reaper;
	struct process		*p = r->process;
	struct reaper_report	 report;
	bool			 is_last;
	int			 output, n;

	n = reaper_recv(r->reports.fd, &report, &output);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (p == NULL) {
		lose_idle(r);
		return;
	}
	if (n != 1)
		begin_sweep(r->manager);
	if (n != 1 || report.kind == REAPER_IDLE) {
		end_process(p, n == 1);
		return;
	}
	if (report.kind == REAPER_EXECUTED) {
		p->pid = report.value;
		evloop_set(r->errors.watch, EVLOOP_READ);
	}
	is_last = report.kind == REAPER_ENDED_IDLE;
	if (is_last)
		report.kind = REAPER_ENDED;
	p->tell(p, &report, output);
	if (is_last)
		end_process(p, true);
}

/* NULL with errno. */
static struct reaper_pipe *
new_reaper(struct manager *m)
{
	struct reaper_pipe	*r;
	int			 errors[2], reports;
	pid_t			 pid;

	if (pipe2(errors, O_CLOEXEC) == -1)
		return NULL;
	reports = io_nonblock(errors[0]) == -1 ? -1 :
	    reaper_fork(m->conf, errors[1], &pid);
	io_close(&errors[1]);
	if (reports == -1) {
		io_close(&errors[0]);
		return NULL;
	}
	r = mem_zero(sizeof(*r));
	r->manager = m;
	r->pid = pid;
	TAILQ_INSERT_HEAD(&m->idle->all, r, all_link);
	source_watch(&r->reports, m->loop, reports, on_report, r);
	/* Lines have the process id, which the reaper tells. */
	source_add(&r->errors, m->loop, errors[0], on_errors, r);
	return r;
}

/* Frees a reaper that has ended, with errno set to why, if it has said that. */
static void
free_ended(struct reaper_pipe *r)
{
	int			error = errno, output;
	struct reaper_report	report;

	if (reaper_recv(r->reports.fd, &report, &output) == 1 &&
	    report.kind == REAPER_FAILED)
		error = report.value;
	io_close(&output);
	free_reaper(r);
	errno = error;
}

/* Takes the reaper; false with errno if it has ended. */
static bool
start_by(struct process *p, struct reaper_pipe *r, const struct execute *e)
{
	if (reaper_start(r->reports.fd, r->manager->conf, e) == -1) {
		free_ended(r);
		return false;
	}
	p->reaper = r;
	r->process = p;
	p->admission->nprocesses++;
	program_stats_add(e->program->number, PROGRAM_STATS_STARTED, 1);
	admission_publish(p->admission);
	return true;
}

void
process_open_idle(struct manager *m)
{
	m->idle = mem_zero(sizeof(*m->idle));
	TAILQ_INIT(&m->idle->list);
	TAILQ_INIT(&m->idle->all);
	m->idle->expiry = evloop_timer(m->loop, on_expiry, m);
	m->idle->sweep = evloop_timer(m->loop, on_sweep, m);
	descendants_adopt();
}

void
process_close_idle(struct manager *m)
{
	struct reaper_pipe	*r;

	while ((r = TAILQ_FIRST(&m->idle->list)) != NULL)
		lose_idle(r);
	evloop_unwatch(&m->idle->expiry);
	evloop_unwatch(&m->idle->sweep);
	mem_drop(&m->idle);
}

/*
 * Beginning and end
 */

void
process_init(struct process *p, struct admission *a, struct str file,
    void (*tell)(struct process *, const struct reaper_report *, int))
{
	*p = (struct process){ .admission = a, .tell = tell,
	    .lines = { .rate = &a->rate, .put = put_line, .context = p },
	    .name = make_name(a->program, file) };
}

/* The value of a variable; empty: there is none. */
static struct str
find_variable(struct str variables, const char *name)
{
	size_t		len = strlen(name);
	struct str	text;

	while (variables.len > 0) {
		text = str_cut(&variables, '\0');
		if (text.len > len && memcmp(text.at, name, len) == 0)
			return (struct str){ text.at + len, text.len - len };
	}
	return (struct str){ NULL, 0 };
}

/* An idle reaper may have ended just now. */
int
process_start(struct process *p, const struct execute *what)
{
	struct manager		*m = p->admission->manager;
	struct execute		 e = *what;
	struct reaper_pipe	*r;

	e.program = p->admission->program;
	error_lines_name_request(&p->lines,
	    find_variable(e.environment, "REQUEST_URI="),
	    find_variable(e.environment, "SERVER_NAME="));
	while ((r = TAILQ_FIRST(&m->idle->list)) != NULL) {
		TAILQ_REMOVE(&m->idle->list, r, link);
		if (start_by(p, r, &e))
			return 0;
	}
	r = new_reaper(m);
	return r != NULL && start_by(p, r, &e) ? 0 : -1;
}

void
process_end(const struct process *p)
{
	struct reaper_pipe	*r = p->reaper;

	if (r == NULL)
		return;
	reaper_end(r->reports.fd);
	if (p->pid != 0)
		return;
	if (r->kill == NULL)
		r->kill = evloop_timer(r->manager->loop, on_kill, r);
	evloop_arm(r->kill, r->manager->clock.ms + REAPER_GRACE);
}

void
process_free(struct process *p)
{
	error_lines_end(&p->lines, get_time(p), p->has_failed);
	admission_await_rest(p->admission);
	free(p->name);
}
