/*
 * cgi: a request has a process, and main its output.
 *
 * A program that has ended has its place until the last process that it has
 * started has ended.
 *
 * A filter with an application waits for a connection to that, and has its
 * place with it.  Its process has the connection, too, so the application is
 * told of the end of the filter as that ends.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/mem.h"
#include "programs/application.h"
#include "programs/cgi.h"
#include "programs/process.h"

#define FILE_NOT_THERE(error)						\
	((error) == ENOENT || (error) == ENOTDIR || (error) == EACCES)

#define ATTEMPTS_MAX	3	/* with applications whose files were replaced
				 * meanwhile */

struct run {
	struct process		 process;	/* first: casts rely on it */
	struct invocation	*invocation;
	int			 input;		/* of a body that comes while it
						 * runs, until main has it; else
						 * -1 */
	struct application	 application;	/* if its program has one */
	uint64_t		 version;	/* of that; 0: unknown */
	bool			 is_stale;	/* another one is needed */
	int			 nattempts;
};

static bool
has_application(const struct run *r)
{
	return r->invocation->admission->program->application != NULL;
}

static void
free_run(struct run *r)
{
	if (has_application(r))
		application_leave(&r->application, PROGRAM_STATS_LEFT);
	process_free(&r->process);
	io_close(&r->input);
	admission_end(r->invocation);
	free(r);
}

static void
leave_run(struct invocation *i)
{
	struct run	*r = i->run;

	source_close(&i->request);
	io_close(&r->input);
	if (r->process.reaper != NULL)
		process_end(&r->process);
	else
		free_run(r);
}

/* Main gets one end of a pipe. */
static bool
hand_over(struct run *r, enum program_report_kind kind, int *pipe)
{
	bool	was_told = admission_report(r->invocation,
		    &(struct program_report){ .kind = kind }, *pipe);

	io_close(pipe);
	return was_told;
}

/* The file for the notes of a filter of amped's comes before its start. */
static void
report_notes(struct run *r, int notes)
{
	if (r->invocation->request.fd != -1 &&
	    !hand_over(r, PROGRAM_NOTES, &notes))
		leave_run(r->invocation);
	io_close(&notes);
}

/* The reports are of its process, so main may have closed. */
static void
report_start(struct run *r, int output)
{
	/* A filter waits until its application is the present one. */
	if (r->invocation->timer != NULL)
		admission_run(r->invocation);
	if (r->invocation->request.fd != -1 &&
	    ((r->input != -1 && !hand_over(r, PROGRAM_INPUT, &r->input)) ||
	    !hand_over(r, PROGRAM_STARTED, &output)))
		leave_run(r->invocation);
	io_close(&output);
}

/* A script that is not there is a client's fault. */
static void
report_no_start(struct run *r, int error)
{
	const struct conf_program	*p = r->invocation->admission->program;

	admission_fail(r->invocation, error);
	if (p->command.n > 0 || !FILE_NOT_THERE(error))
		process_log_failure(&r->process, error);
}

/* Whether a filter of a pipeline was killed as the one behind it reads no more,
 * which main judges. */
static bool
is_cut(const struct run *r, int status)
{
	const struct invocation	*i = r->invocation;

	return WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE &&
	    i->admission->program->is_filter &&
	    (i->kind_of_body == PROGRAM_BODY_PIPE ||
	    i->kind_of_body == PROGRAM_BODY_OUTPUT);
}

/* Gives the process of the application back, if its answer has ended, or can be
 * dropped: else what the process does is unknown. */
static void
end_application(struct run *r, int status)
{
	bool	is_late = r->invocation->request.fd == -1;

	if (!is_late && WIFEXITED(status) && (WEXITSTATUS(status) == EX_OK ||
	    WEXITSTATUS(status) == EX_DATAERR))
		application_finish(&r->application,
		    status == 0 ? PROGRAM_STATS_ANSWERED :
		    PROGRAM_STATS_FAILED);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		application_finish(&r->application, PROGRAM_STATS_FAILED);
	else
		application_leave(&r->application, is_late ?
		    PROGRAM_STATS_LEFT : PROGRAM_STATS_FAILED);
}

/* A program that main has given up was ended from here, and is no failure. */
static void
report_end(struct run *r, int status)
{
	bool	is_wanted = r->invocation->request.fd != -1 &&
		    !is_cut(r, status);

	if (has_application(r))
		end_application(r, status);
	(void)admission_report(r->invocation, &(struct program_report){
	    .kind = PROGRAM_ENDED, .status = status }, -1);
	process_count_end(&r->process, status, !is_wanted);
	if (is_wanted)
		process_log_status(&r->process, status);
}

/*
 * Applications
 */

/* Asks for a connection; 0, or -1 with errno. */
static int
ask_application(struct run *r)
{
	r->nattempts++;
	return application_ask(&r->application);
}

/* The application's files are others than when its process began. */
static void
replace_application(struct run *r)
{
	application_replace(&r->application, r->version);
	application_finish(&r->application, PROGRAM_STATS_LEFT);
	r->is_stale = true;
}

static void	take_report(struct process *, const struct reaper_report *,
		    int output);

/* The reaper that has refused is idle: asks for another connection. */
static void
try_again(struct run *r)
{
	struct invocation	*i = r->invocation;

	r->is_stale = false;
	io_close(&r->input);
	process_free(&r->process);
	process_init(&r->process, i->admission, i->file, take_report);
	if (ask_application(r) == 0)
		return;
	admission_fail(i, errno);
	free_run(r);
}

/* The process has not started: its application has done nothing. */
static void
note_failure(struct run *r, int error)
{
	bool	is_new = error == ESTALE && has_application(r) &&
		    r->nattempts < ATTEMPTS_MAX &&
		    r->invocation->request.fd != -1;

	if (is_new) {
		replace_application(r);
		return;
	}
	if (has_application(r))
		application_finish(&r->application, PROGRAM_STATS_LEFT);
	report_no_start(r, error);
}

static void
note_end(struct run *r)
{
	struct admission	*a = r->invocation->admission;

	if (r->is_stale && r->invocation->request.fd != -1) {
		try_again(r);
		return;
	}
	free_run(r);
	admission_start(a);
}

static void
take_report(struct process *p, const struct reaper_report *report, int output)
{
	struct run	*r = (struct run *)p;

	if (report == NULL)
		note_end(r);
	else if (report->kind == REAPER_FAILED)
		note_failure(r, report->value);
	else if (report->kind == REAPER_ENDED)
		report_end(r, report->value);
	else if (report->kind == REAPER_NOTES)
		report_notes(r, output);
	else
		report_start(r, output);
}

/* 0, or -1 with errno. */
static int
start_process(struct run *r, int connection)
{
	const struct invocation	*i = r->invocation;
	struct execute		 e = { .file = i->file, .input = i->body,
				    .connection = connection,
				    .expected = r->version,
				    .input_type = S_IFREG, .has_output = true,
				    .environment = i->environment };
	int			 input[2] = { -1, -1 }, started;

	if (i->kind_of_body == PROGRAM_BODY_OUTPUT) {
		e.input_type = S_IFIFO;
		/* The other program's output was to be main's. */
		(void)fcntl(i->body, F_SETFL, 0);
	}
	if (i->kind_of_body == PROGRAM_BODY_PIPE) {
		if (pipe2(input, O_CLOEXEC) == -1)
			return -1;
		e.input = input[0];
		e.input_type = S_IFIFO;
	}
	started = process_start(&r->process, &e);
	io_close(&input[0]);
	r->input = input[1];
	return started;
}

/* The application has a connection for the filter, or has refused. */
static void
on_application(void *run, const struct program_report *report, int connection)
{
	struct run		*r = run;
	struct invocation	*i = r->invocation;
	int			 started;

	if (report == NULL || report->kind != PROGRAM_STARTED) {
		if (report != NULL && (report->kind == PROGRAM_BUSY ||
		    report->kind == PROGRAM_FAILED))
			(void)admission_report(i, report, -1);
		else
			admission_fail(i, EAGAIN);
		free_run(r);
		return;
	}
	r->version = report->version;
	started = start_process(r, connection);
	io_close(&connection);
	if (started == 0)
		return;
	note_failure(r, errno);
	free_run(r);
}

/* Returns 0 once its process starts, or its application is asked; -1 with
 * errno. */
static int
begin_run(struct run *r)
{
	struct invocation		*i = r->invocation;
	const struct conf_program	*of =
	    i->admission->program->application;

	process_init(&r->process, i->admission, i->file, take_report);
	if (of == NULL) {
		if (start_process(r, -1) == -1)
			return -1;
		admission_run(i);
		return 0;
	}
	r->application.tell = on_application;
	r->application.context = r;
	r->application.group = i->group;
	application_init(&r->application,
	    &i->admission->manager->all[of->place]);
	return ask_application(r);
}

/* The places of a filter with an application are those of the application. */
static bool
start_run(struct invocation *i)
{
	struct run	*r;

	if (i->admission->program->application == NULL &&
	    i->admission->nrunning >= i->admission->most)
		return false;
	r = mem_zero(sizeof(*r));
	r->invocation = i;
	r->input = -1;
	i->run = r;
	if (begin_run(r) == 0)
		return true;
	report_no_start(r, errno);
	free_run(r);
	return true;
}

const struct admission_kind	cgi_kind = {
	.start = start_run, .leave = leave_run
};
