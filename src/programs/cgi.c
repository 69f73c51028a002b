/*
 * cgi: a request has a process, and main its output.
 *
 * A program that has ended has its place until the last process that it has
 * started has ended.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>

#include "lib/io.h"
#include "lib/mem.h"
#include "programs/cgi.h"
#include "programs/process.h"

#define FILE_NOT_THERE(error)						\
	((error) == ENOENT || (error) == ENOTDIR || (error) == EACCES)

struct run {
	struct process		 process;	/* first: casts rely on it */
	struct invocation	*invocation;
	int			 output;	/* until main has it */
};

static void
leave_run(struct invocation *i)
{
	struct run	*r = i->run;

	source_close(&i->request);
	io_close(&r->output);
	process_end(&r->process);
}

/* The reports are of its process, so main may have closed. */
static void
report_start(struct run *r)
{
	const struct program_report	report = { .kind = PROGRAM_STARTED };
	struct invocation		*i = r->invocation;
	bool				 was_told;

	if (i->request.fd == -1)
		return;
	was_told = admission_report(i, &report, r->output);
	io_close(&r->output);
	if (!was_told)
		leave_run(i);
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

/* A program that main has given up was ended from here, and is no failure. */
static void
report_end(struct run *r, int status)
{
	bool	is_wanted = r->invocation->request.fd != -1;

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
	io_close(&r->output);
	admission_end(r->invocation);
	free(r);
}

static void
take_report(struct process *p, const struct reaper_report *report)
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
	else
		report_start(r);
}

/* 0, or -1 with errno. */
static int
start_process(struct run *r)
{
	const struct invocation	*i = r->invocation;
	struct execute		 e = { .file = i->file, .input = i->body,
				    .input_type = S_IFREG,
				    .environment = i->environment };
	int			 output[2] = { -1, -1 }, started = -1;

	if (process_open_pipe(output) == 0) {
		e.output = output[1];
		started = process_start(&r->process, &e);
	}
	io_close(&output[1]);
	r->output = output[0];
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
