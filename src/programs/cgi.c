/*
 * cgi: a request has a process, and main its output.
 *
 * A program that has ended has its place until the last process that it has
 * started has ended.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/mem.h"
#include "programs/cgi.h"
#include "programs/process.h"

#define FILE_NOT_THERE(error)						\
	((error) == ENOENT || (error) == ENOTDIR || (error) == EACCES)

struct run {
	struct process		 process;	/* first: casts rely on it */
	struct invocation	*invocation;
	int			 input;		/* of a body that comes while it
						 * runs, until main has it; else
						 * -1 */
};

static void
leave_run(struct invocation *i)
{
	struct run	*r = i->run;

	source_close(&i->request);
	io_close(&r->input);
	process_end(&r->process);
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

/* A program that main has given up was ended from here, and is no failure. */
static void
report_end(struct run *r, int status)
{
	bool	is_wanted = r->invocation->request.fd != -1 &&
		    !is_cut(r, status);

	(void)admission_report(r->invocation, &(struct program_report){
	    .kind = PROGRAM_ENDED, .status = status }, -1);
	process_count_end(&r->process, status, !is_wanted);
	if (is_wanted)
		process_log_status(&r->process, status);
}

static void
free_run(struct run *r)
{
	process_free(&r->process);
	io_close(&r->input);
	admission_end(r->invocation);
	free(r);
}

static void
take_report(struct process *p, const struct reaper_report *report, int output)
{
	struct run		*r = (struct run *)p;
	struct admission	*a = p->admission;

	if (report == NULL) {
		free_run(r);
		admission_start(a);
	} else if (report->kind == REAPER_FAILED)
		report_no_start(r, report->value);
	else if (report->kind == REAPER_ENDED)
		report_end(r, report->value);
	else if (report->kind == REAPER_NOTES)
		report_notes(r, output);
	else
		report_start(r, output);
}

/* 0, or -1 with errno. */
static int
start_process(struct run *r)
{
	const struct invocation	*i = r->invocation;
	struct execute		 e = { .file = i->file, .input = i->body,
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

static bool
start_run(struct invocation *i)
{
	struct run	*r;

	if (i->admission->nrunning >= i->admission->most)
		return false;
	r = mem_zero(sizeof(*r));
	r->invocation = i;
	r->input = -1;
	i->run = r;
	process_init(&r->process, i->admission, i->file, take_report);
	if (start_process(r) == 0) {
		admission_run(i);
		return true;
	}
	report_no_start(r, errno);
	free_run(r);
	return true;
}

const struct admission_kind	cgi_kind = {
	.start = start_run, .leave = leave_run
};
