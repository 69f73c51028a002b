/*
 * admission: the queue of a program, whatever its kind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "programs/admission.h"
#include "programs/crossing.h"
#include "stats/program_stats.h"

#define REST_MS		1000	/* after a program's last line */

/*
 * Lines that are left out
 */

static void
put_rest(void *admission, const char *line, size_t len)
{
	const struct admission	*a = admission;

	log_warnx("%s: %.*s", conf_program_label(a->program), (int)len, line);
}

void
admission_await_rest(struct admission *a)
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
	admission_await_rest(a);
}

void
admission_publish(const struct admission *a)
{
	size_t	program = a->program->number;

	program_stats_set(program, PROGRAM_STATS_GAUGE_BUSY, a->nrunning);
	program_stats_set(program, PROGRAM_STATS_GAUGE_QUEUED, a->nwaiting);
	program_stats_set(program, PROGRAM_STATS_GAUGE_PROCESSES,
	    a->nprocesses);
}

void
admission_open(struct admission *a, struct manager *m,
    const struct conf_program *program, const struct admission_kind *kind)
{
	*a = (struct admission){ .manager = m, .program = program,
	    .kind = kind, .most = conf_program_most(program) };
	TAILQ_INIT(&a->waiting);
	TAILQ_INIT(&a->running);
	error_lines_fill(&a->rate, m->clock.ms);
	a->rest = evloop_timer(m->loop, on_rest, a);
	program_stats_set(program->number, PROGRAM_STATS_GAUGE_LIMIT, a->most);
	if (kind->open != NULL)
		kind->open(a);
}

void
admission_close(struct admission *a)
{
	if (a->kind->close != NULL)
		a->kind->close(a);
	evloop_unwatch(&a->rest);
}

void
admission_release(struct manager *m)
{
	m->nheld--;
	if (m->nheld == 0 && m->is_ending)
		evloop_stop(m->loop);
}

/*
 * The end
 */

void
admission_set_kept(struct invocation *i, bool may_be_kept)
{
	struct admission	*a = i->admission;

	a->nkept += (size_t)may_be_kept - (size_t)i->may_be_kept;
	i->may_be_kept = may_be_kept;
}

void
admission_end(struct invocation *i)
{
	struct admission	*a = i->admission;

	admission_set_kept(i, false);
	if (i->timer == NULL) {
		TAILQ_REMOVE(&a->running, i, link);
		a->nrunning--;
	} else {
		TAILQ_REMOVE(&a->waiting, i, link);
		a->nwaiting--;
	}
	source_close(&i->request);
	io_close(&i->body);
	evloop_unwatch(&i->timer);
	free(i->texts);
	free(i);
	admission_publish(a);
	admission_release(a->manager);
}

bool
admission_report(const struct invocation *i,
    const struct program_report *report, int output)
{
	return i->request.fd != -1 && program_message_send_report(
	    i->request.fd, report, output) == 0;
}

void
admission_fail(const struct invocation *i, int error)
{
	(void)admission_report(i, &(struct program_report){
	    .kind = PROGRAM_FAILED, .error = error }, -1);
}

/* Main has closed the request, is not understood, or has been refused. */
static void
leave_request(struct invocation *i)
{
	if (i->run != NULL)
		i->admission->kind->leave(i);
	else
		admission_end(i);
}

static void
refuse_busy(struct invocation *i)
{
	int64_t	seconds = (i->admission->program->within + 999) / 1000;

	(void)admission_report(i, &(struct program_report){
	    .kind = PROGRAM_BUSY,
	    .retry_after = seconds > 0 ? (uint32_t)seconds : 1 }, -1);
	leave_request(i);
}

/* Whether more run or wait than may.  Where main may only keep what it has, a
 * recall will tell. */
static bool
is_too_full(const struct admission *a)
{
	return a->nrunning - a->nkept + a->nwaiting >
	    a->most + (size_t)a->program->queue;
}

/* Main answers a recall: a request goes on. */
static void
note_use(struct invocation *i)
{
	struct admission	*a = i->admission;

	admission_set_kept(i, false);
	while (a->nwaiting > 0 && is_too_full(a))
		refuse_busy(TAILQ_LAST(&a->waiting, invocations));
	admission_start(a);
}

/* Why none can run; that of a filter waits for a place of its application. */
static int
get_error(const struct admission *a)
{
	const struct conf_program	*of = a->program->application;

	return of != NULL ? a->manager->all[of->place].error : a->error;
}

/* An invocation that waits and has a run tries to get what it is to have. */
static void
on_late(void *invocation)
{
	struct invocation	*i = invocation;
	int			 error = get_error(i->admission);

	if (error == 0 && i->run != NULL && !i->admission->program->is_filter)
		error = ETIMEDOUT;
	if (error == 0) {
		refuse_busy(i);
		return;
	}
	/* ETIMEDOUT of a filter would be the time of its run. */
	if (error == ETIMEDOUT && (i->for_filter ||
	    i->admission->program->is_filter))
		error = ENOTCONN;
	admission_fail(i, error);
	leave_request(i);
}

/*
 * The beginning
 */

void
admission_start(struct admission *a)
{
	struct invocation	*i, *next;

	for (i = TAILQ_FIRST(&a->waiting); i != NULL; i = next) {
		next = TAILQ_NEXT(i, link);
		if (i->awaits_body || i->run != NULL)
			continue;
		if (!a->kind->start(i))
			return;
	}
}

void
admission_run(struct invocation *i)
{
	struct admission	*a = i->admission;

	evloop_unwatch(&i->timer);
	io_close(&i->body);
	mem_drop(&i->texts);
	TAILQ_REMOVE(&a->waiting, i, link);
	a->nwaiting--;
	TAILQ_INSERT_TAIL(&a->running, i, link);
	a->nrunning++;
	admission_publish(a);
}

static void
take_body(struct invocation *i)
{
	int	body = -1, n;

	n = program_message_recv_body(i->request.fd, &body);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1) {
		leave_request(i);
		return;
	}
	i->body = body;
	i->awaits_body = false;
	admission_start(i->admission);
}

/* Main sends a body, if it has announced one, perhaps that a recall finds it at
 * work, and that it has read the answer, and then closes. */
static void
on_request(void *invocation)
{
	struct invocation		*i = invocation;
	const struct admission_kind	*kind = i->admission->kind;
	struct program_done		 done;
	int				 n;

	if (i->awaits_body) {
		take_body(i);
		return;
	}
	n = program_message_recv_done(i->request.fd, &done);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 1 && i->timer == NULL && done.nanswered == 0)
		note_use(i);
	else if (n == 1 && i->timer == NULL && kind->finish != NULL)
		kind->finish(i, &done);
	else
		leave_request(i);
}

/* Whether a filter of an answer would wait for ever, which is logged.  Requests
 * for programs have no place while they wait. */
static bool
is_crossed(const struct invocation *i)
{
	struct admission		*a = i->admission;
	const struct conf_program	*other;

	if (!a->program->is_filter && !i->for_filter)
		return false;
	other = crossing_find(i);
	if (other != NULL && log_is_due(&a->crossed_at, a->manager->clock.ms))
		log_warnx("%s: an answer gets no place, since answers that "
		    "have places of %s and %s would wait for each other: let "
		    "all chains have their filters in the same order, and no "
		    "two programs be filters of each other's answers",
		    a->program->name, a->program->name, other->name);
	return other != NULL;
}

void
admission_add(struct admission *a, const struct program_start *start,
    int request)
{
	struct invocation	*i = mem_zero(sizeof(*i));
	struct manager		*m = a->manager;
	size_t			 file = start->file.len;

	i->admission = a;
	i->body = -1;
	i->kind_of_body = start->body;
	i->for_filter = start->for_filter;
	i->group = start->group;
	i->awaits_body = start->body == PROGRAM_BODY_FILE ||
	    start->body == PROGRAM_BODY_OUTPUT;
	/* One behind the other, as in the message. */
	i->texts = mem_get(file + start->environment.len + 1);
	if (file > 0)
		memcpy(i->texts, start->file.at, file);
	if (start->environment.len > 0)
		memcpy(i->texts + file, start->environment.at,
		    start->environment.len);
	i->file = (struct str){ i->texts, file };
	i->environment = (struct str){ i->texts + file,
	    start->environment.len };
	source_watch(&i->request, m->loop, request, on_request, i);
	i->timer = evloop_timer(m->loop, on_late, i);
	evloop_arm(i->timer, m->clock.ms + a->program->within);
	TAILQ_INSERT_TAIL(&a->waiting, i, link);
	a->nwaiting++;
	m->nheld++;
	admission_publish(a);
	if (is_too_full(a) || is_crossed(i))
		refuse_busy(i);
	else
		admission_start(a);
}
