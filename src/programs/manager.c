/*
 * manager: requests for programs, from their START to their last report.
 *
 * The manager never waits for a program, a disk or main: a reaper does all that
 * may take time.
 */
#include <sys/queue.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "loop/evloop.h"
#include "programs/error_lines.h"
#include "programs/manager.h"
#include "programs/reaper.h"
#include "shared/program_message.h"

#define STARTS_MAX	16		/* messages in one iteration */
#define ERRORS_SIZE	(16 * 1024)	/* bytes of standard error at a time */
#define REST_MS		1000		/* after a program's last line */
#define ERRORS_READS	64		/* times: a pipe holds 1M at most */
#define FILE_NOT_THERE(error)						\
	((error) == ENOENT || (error) == ENOTDIR || (error) == EACCES)

/* A descriptor that is watched. */
struct source {
	int		 fd;		/* owned; -1: closed */
	struct watch	*watch;
};

/* A request for a program.  It waits until it has a reaper. */
struct invocation {
	struct admission	*admission;
	struct source		 request;	/* to main */
	bool			 awaits_body;
	int			 body;		/* -1: none, or not yet */
	char			*texts;		/* owned until it runs; has the
						 * next two */
	struct str		 file, environment;
	struct watch		*timer;		/* while it waits */
	struct source		 reaper;	/* fd -1: it waits */
	int			 output;	/* until main has it */
	struct source		 errors;	/* standard error */
	struct error_lines	 lines;
	char			*name;		/* for lines */
	pid_t			 pid;		/* 0: not known yet */
	bool			 has_failed;
	TAILQ_ENTRY(invocation)	 link;
};

TAILQ_HEAD(invocations, invocation);

/* The invocations of one program of the conf. */
struct admission {
	struct manager			*manager;
	const struct conf_program	*program;
	size_t				 most;		/* may run */
	struct invocations		 waiting;	/* the oldest first */
	size_t				 nwaiting, nrunning;
	struct error_lines_rate		 rate;
	struct watch			*rest;		/* timer: lines left
							 * out are told of */
};

struct manager {
	const struct conf	*conf;
	struct clock		 clock;
	struct evloop		*loop;
	struct source		 mains;
	struct admission	*admissions;	/* by number of the program */
	size_t			 ninvocations;
	_Atomic int64_t		 warned_at;	/* ms: of a bad message */
	char			*buffer;	/* for a START */
};

/* The caller sets the event. */
static void
add_source(struct manager *m, struct source *s, int fd,
    void (*on_readable)(void *), void *context)
{
	s->fd = fd;
	s->watch = evloop_watch(m->loop, fd, on_readable, context);
}

static void
watch_source(struct manager *m, struct source *s, int fd,
    void (*on_readable)(void *), void *context)
{
	add_source(m, s, fd, on_readable, context);
	evloop_set(s->watch, EVLOOP_READ);
}

static int64_t
get_time(const struct invocation *i)
{
	return i->admission->manager->clock.ms;
}

static void
close_source(struct source *s)
{
	evloop_unwatch(&s->watch);
	io_close(&s->fd);
}

/*
 * The end
 */

static void
free_invocation(struct invocation *i)
{
	struct manager	*m = i->admission->manager;

	close_source(&i->request);
	close_source(&i->reaper);
	close_source(&i->errors);
	io_close(&i->body);
	io_close(&i->output);
	evloop_unwatch(&i->timer);
	free(i->texts);
	free(i->name);
	free(i);
	m->ninvocations--;
	if (m->ninvocations == 0 && m->mains.fd == -1)
		evloop_stop(m->loop);
}

static void
drop_waiting(struct invocation *i)
{
	struct admission	*a = i->admission;

	TAILQ_REMOVE(&a->waiting, i, link);
	a->nwaiting--;
	free_invocation(i);
}

/* Main has closed the request, or is not understood. */
static void
leave_request(struct invocation *i)
{
	if (i->reaper.fd == -1) {
		drop_waiting(i);
		return;
	}
	close_source(&i->request);
	io_close(&i->output);
	reaper_end(i->reaper.fd);
}

static void
send_report(const struct invocation *i, const struct program_report *report)
{
	/* Main may have gone, which the socket's watch tells. */
	if (i->request.fd != -1)
		(void)program_message_send_report(i->request.fd, report, -1);
}

/* The last report. */
static void
refuse_busy(struct invocation *i)
{
	int64_t	seconds = (i->admission->program->within + 999) / 1000;

	send_report(i, &(struct program_report){ .kind = PROGRAM_BUSY,
	    .retry_after = seconds > 0 ? (uint32_t)seconds : 1 });
	drop_waiting(i);
}

static void
report_failure(struct invocation *i, int error)
{
	send_report(i, &(struct program_report){ .kind = PROGRAM_FAILED,
	    .error = error });
}

/*
 * Lines
 */

static void
put_line(void *invocation, const char *line, size_t len)
{
	const struct invocation	*i = invocation;

	if (i->pid == 0)
		log_warnx("%s: %.*s", i->name, (int)len, line);
	else
		log_warnx("%s[%ld]: %.*s", i->name, (long)i->pid, (int)len,
		    line);
}

/* An unnamed program is called by its file. */
static char *
make_name(const struct invocation *i)
{
	const struct conf_program	*p = i->admission->program;
	struct buf			 text = { 0 };
	char				*name;

	if (p->name != NULL)
		buf_adds(&text, p->name);
	else
		buf_add(&text, i->file.at, i->file.len);
	name = mem_string(buf_string(&text));
	buf_free(&text);
	return name;
}

static void
add_line(struct invocation *i, const char *line)
{
	int64_t	now = get_time(i);

	error_lines_add(&i->lines, now, "\n", 1);
	error_lines_add(&i->lines, now, line, strlen(line));
	error_lines_add(&i->lines, now, "\n", 1);
}

/* Returns false at the end, or if there is nothing yet. */
static bool
read_errors(struct invocation *i)
{
	char	bytes[ERRORS_SIZE];
	ssize_t	n = read(i->errors.fd, bytes, sizeof(bytes));

	if (n > 0)
		error_lines_add(&i->lines, get_time(i), bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_source(&i->errors);
	return n > 0;
}

static void
on_errors(void *invocation)
{
	read_errors(invocation);
}

static void
put_rest(void *admission, const char *line, size_t len)
{
	const struct conf_program	*p =
	    ((const struct admission *)admission)->program;

	log_warnx("%s: %.*s", p->name != NULL ? p->name : p->directory,
	    (int)len, line);
}

/* Lines are left out that no later one tells of. */
static void
await_rest(struct admission *a)
{
	if (a->rate.left_out > 0)
		evloop_arm(a->rest, a->manager->clock.ms + REST_MS);
}

static void
on_rest(void *admission)
{
	struct admission	*a = admission;
	struct error_lines	 none = { .rate = &a->rate, .put = put_rest,
				    .context = a };

	error_lines_end(&none, a->manager->clock.ms, false);
	await_rest(a);
}

/* Reads what the pipe holds; a process that is left may write on for ever. */
static void
read_held_errors(struct invocation *i)
{
	for (int k = 0; k < ERRORS_READS && i->errors.fd != -1; k++)
		if (!read_errors(i))
			return;
}

static void
end_lines(struct invocation *i)
{
	read_held_errors(i);
	error_lines_end(&i->lines, get_time(i), i->has_failed);
	await_rest(i->admission);
}

/*
 * The program
 */

static void	start_waiting(struct admission *);

/* Returns whether main has been told. */
static bool
report_start(struct invocation *i, int pid)
{
	const struct program_report	report = { .kind = PROGRAM_STARTED };
	int				error;

	i->pid = pid;
	evloop_set(i->errors.watch, EVLOOP_READ);
	if (i->request.fd == -1)
		return true;
	error = program_message_send_report(i->request.fd, &report, i->output);
	io_close(&i->output);
	return error == 0;
}

/* A program that main has given up was ended from here, and is no failure. */
static void
report_end(struct invocation *i, int status)
{
	char	text[80];

	send_report(i, &(struct program_report){ .kind = PROGRAM_ENDED,
	    .status = status });
	if (status == 0 || i->request.fd == -1)
		return;
	i->has_failed = true;
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "was killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "ended with status %d",
		    WEXITSTATUS(status));
	read_held_errors(i);
	add_line(i, text);
}

/* A script that is not there is a client's fault. */
static void
report_no_start(struct invocation *i, int error)
{
	char	text[160];

	report_failure(i, error);
	if (i->admission->program->command.n == 0 && FILE_NOT_THERE(error))
		return;
	snprintf(text, sizeof(text), "cannot be started: %s%s", strerror(error),
	    error != ENOEXEC ? "" : "; its first line must be #! and an "
	    "interpreter that is there");
	add_line(i, text);
}

static void
end_invocation(struct invocation *i)
{
	struct admission	*a = i->admission;

	end_lines(i);
	free_invocation(i);
	a->nrunning--;
	start_waiting(a);
}

static void
on_reaper(void *invocation)
{
	struct invocation	*i = invocation;
	struct reaper_report	 report;
	int			 n = reaper_recv(i->reaper.fd, &report);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		end_invocation(i);
	else if (report.kind == REAPER_FAILED)
		report_no_start(i, report.value);
	else if (report.kind == REAPER_ENDED)
		report_end(i, report.value);
	else if (!report_start(i, report.value))
		leave_request(i);
}

/* 0, or -1 with errno. */
static int
open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
	if (io_nonblock(fd[0]) == 0)
		return 0;
	io_close(&fd[0]);
	io_close(&fd[1]);
	return -1;
}

/* 0, or -1 with errno. */
static int
start_reaper(struct invocation *i)
{
	struct manager	*m = i->admission->manager;
	int		 output[2] = { -1, -1 }, errors[2] = { -1, -1 };
	int		 pipe = -1;

	if (open_pipe(output) == 0 && open_pipe(errors) == 0)
		pipe = reaper_start(&(struct execute){
		    .conf = m->conf, .program = i->admission->program,
		    .file = i->file, .environment = i->environment,
		    .body = i->body, .output = output[1],
		    .errors = errors[1] });
	io_close(&output[1]);
	io_close(&errors[1]);
	i->output = output[0];
	if (pipe == -1) {
		io_close(&errors[0]);
		return -1;
	}
	watch_source(m, &i->reaper, pipe, on_reaper, i);
	/* Lines have the process id, which the reaper tells. */
	add_source(m, &i->errors, errors[0], on_errors, i);
	return 0;
}

/* An invocation whose reaper does not start ends here. */
static void
start_invocation(struct invocation *i)
{
	i->name = make_name(i);
	i->lines = (struct error_lines){ .rate = &i->admission->rate,
	    .put = put_line, .context = i };
	if (start_reaper(i) == -1) {
		report_no_start(i, errno);
		end_lines(i);
		drop_waiting(i);
		return;
	}
	evloop_unwatch(&i->timer);
	io_close(&i->body);
	mem_drop(&i->texts);
	TAILQ_REMOVE(&i->admission->waiting, i, link);
	i->admission->nwaiting--;
	i->admission->nrunning++;
}

/* Starts as many as may run, but those whose bodies have not come. */
static void
start_waiting(struct admission *a)
{
	struct invocation	*i, *next;

	for (i = TAILQ_FIRST(&a->waiting);
	    i != NULL && a->nrunning < a->most; i = next) {
		next = TAILQ_NEXT(i, link);
		if (!i->awaits_body)
			start_invocation(i);
	}
}

/*
 * Main
 */

/* Main sends a body, if it has announced one, and then closes. */
static void
on_request(void *invocation)
{
	struct invocation	*i = invocation;
	int			 body = -1, n;

	n = program_message_recv_body(i->request.fd, &body);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1 || !i->awaits_body) {
		io_close(&body);
		leave_request(i);
		return;
	}
	i->body = body;
	i->awaits_body = false;
	start_waiting(i->admission);
}

static void
on_late(void *invocation)
{
	refuse_busy(invocation);
}

static struct invocation *
add_invocation(struct admission *a, const struct program_start *start,
    int request)
{
	struct invocation	*i = mem_zero(sizeof(*i));
	struct manager		*m = a->manager;
	size_t			 file = start->file.len;

	i->admission = a;
	i->body = i->output = i->reaper.fd = i->errors.fd = -1;
	i->awaits_body = start->has_body != 0;
	/* One behind the other, as in the message. */
	i->texts = mem_get(file + start->environment.len + 1);
	memcpy(i->texts, start->file.at, file);
	memcpy(i->texts + file, start->environment.at, start->environment.len);
	i->file = (struct str){ i->texts, file };
	i->environment = (struct str){ i->texts + file,
	    start->environment.len };
	watch_source(m, &i->request, request, on_request, i);
	i->timer = evloop_timer(m->loop, on_late, i);
	evloop_arm(i->timer, m->clock.ms + a->program->within);
	TAILQ_INSERT_TAIL(&a->waiting, i, link);
	a->nwaiting++;
	m->ninvocations++;
	return i;
}

static void
take_start(struct manager *m, const struct program_start *start, int request)
{
	struct admission	*a;
	struct invocation	*i;

	if (start->program >= m->conf->nprograms) {
		log_errorx("main asks for program %lu, which the conf does not "
		    "have", (unsigned long)start->program);
		io_close(&request);
		return;
	}
	a = &m->admissions[start->program];
	i = add_invocation(a, start, request);
	if (a->nrunning + a->nwaiting > a->most + (size_t)a->program->queue)
		refuse_busy(i);
	else
		start_waiting(a);
}

static void
on_mains(void *manager)
{
	struct manager		*m = manager;
	struct program_start	 start;
	int			 request, n;

	for (int k = 0; k < STARTS_MAX; k++) {
		n = program_message_recv_start(m->mains.fd, m->buffer, &start,
		    &request);
		if (n == 1)
			take_start(m, &start, request);
		else if (n == -1 && errno == EBADMSG &&
		    log_is_due(&m->warned_at, m->clock.ms))
			log_errorx("main sends what is no request for a "
			    "program, or descriptors are exhausted");
		else if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		else if (n == 0 || errno != EBADMSG)
			break;
	}
	if (n == 1 || (n == -1 && errno == EBADMSG))
		return;
	close_source(&m->mains);
	if (m->ninvocations == 0)
		evloop_stop(m->loop);
}

static size_t
count_most(const struct conf_program *p)
{
	long	processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (p->most > 0)
		return (size_t)p->most;
	return processors > 0 ? 2 * (size_t)processors : 2;
}

static void
make_admissions(struct manager *m)
{
	struct admission	*a;

	m->admissions = mem_array(m->conf->nprograms + 1,
	    sizeof(*m->admissions));
	for (size_t i = 0; i < m->conf->nprograms; i++) {
		a = &m->admissions[i];
		a->manager = m;
		a->program = &m->conf->programs[i];
		a->most = count_most(a->program);
		TAILQ_INIT(&a->waiting);
		error_lines_fill(&a->rate, m->clock.ms);
		a->rest = evloop_timer(m->loop, on_rest, a);
	}
}

static void
free_admissions(struct manager *m)
{
	for (size_t i = 0; i < m->conf->nprograms; i++)
		evloop_unwatch(&m->admissions[i].rest);
	mem_drop(&m->admissions);
}

/* SIGCHLD: the system reaps the reapers, whose pipes tell enough. */
static void
set_signals(void)
{
	static const int	ignored[] = { SIGCHLD, SIGHUP, SIGINT, SIGPIPE,
				    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
				    SIGXFSZ };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	proc_signals_unblock();
}

void
manager_run(const struct conf *conf, int socket)
{
	struct manager	m = { .conf = conf };

	set_signals();
	m.loop = evloop_new(&m.clock);
	evloop_stop_timing(m.loop);
	make_admissions(&m);
	m.buffer = mem_get(PROGRAM_MESSAGE_MAX);
	watch_source(&m, &m.mains, socket, on_mains, &m);
	evloop_run(m.loop);
	free_admissions(&m);
	evloop_free(&m.loop);
	mem_drop(&m.buffer);
}
