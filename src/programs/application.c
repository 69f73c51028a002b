/*
 * application: asks the admission of another program of the same manager.
 */
#include <errno.h>

#include "lib/io.h"
#include "lib/log.h"
#include "programs/application.h"

void
application_init(struct application *a, struct admission *of)
{
	a->of = of;
	a->request.fd = -1;
	a->request.watch = NULL;
	a->is_told = false;
}

static void
count_request(const struct application *a, enum program_stats_counter how)
{
	program_stats_add(a->of->program->number, how, 1);
}

static void
end_request(struct application *a, enum program_stats_counter how)
{
	if (a->request.fd == -1)
		return;
	count_request(a, how);
	source_close(&a->request);
}

/* The end of a process that works shows at its connection. */
static void
on_report(void *application)
{
	struct application	*a = application;
	struct program_report	 report;
	int			 connection, n;

	n = program_message_recv_report(a->request.fd, &report, &connection);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (a->is_told) {
		io_close(&connection);
		if (n != 1)
			evloop_set(a->request.watch, EVLOOP_NONE);
		return;
	}
	a->is_told = true;
	if (n != 1 || report.kind != PROGRAM_STARTED)
		end_request(a, n == 1 && report.kind == PROGRAM_BUSY ?
		    PROGRAM_STATS_REFUSED : PROGRAM_STATS_FAILED);
	a->tell(a->context, n == 1 ? &report : NULL, connection);
}

int
application_ask(struct application *a)
{
	const struct program_start	start = { .for_filter = true,
					    .group = a->group };
	int				fds[2];

	if (io_record_pipe(fds) == -1)
		return -1;
	a->is_told = false;
	count_request(a, PROGRAM_STATS_REQUESTS);
	source_watch(&a->request, a->of->manager->loop, fds[0], on_report, a);
	admission_add(a->of, &start, fds[1]);
	return 0;
}

void
application_finish(struct application *a, enum program_stats_counter how)
{
	if (a->request.fd != -1)
		(void)program_message_send_done(a->request.fd,
		    &(struct program_done){ .nanswered = 1 });
	end_request(a, how);
}

void
application_leave(struct application *a, enum program_stats_counter how)
{
	end_request(a, how);
}

void
application_replace(const struct application *a, uint64_t version)
{
	struct admission	*of = a->of;

	if (of->replaced == version || of->kind->restart == NULL)
		return;
	of->replaced = version;
	log_notice("%s: its file is another one", of->program->name);
	of->kind->restart(of);
}
