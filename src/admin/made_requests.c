/*
 * made_requests: an architecture with one connection, which reads the bytes of
 * an explanation.  While filters run, nothing else happens.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "admin/made_requests.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "loop/backends.h"
#include "loop/evloop.h"
#include "wait.h"

#define FILES_MAX	16	/* open files in the caches */
#define BACKENDS_MAX	1	/* filters of a file run one by one */

struct made_requests {
	struct clock		 clock;
	struct evloop		*loop;		/* of filters; NULL: none run */
	struct backends		 drivers;	/* of the loop */
	struct http_loop	*http;
	struct workspace	*workspace;
};

static const char	end_of_head[] = "\r\n\r\n";

static bool
has_whole_head(struct explanation *e)
{
	return strstr(buf_string(&e->head), end_of_head) != NULL;
}

/* Keeps the head and ends the connection behind it: the file is not read to its
 * end. */
static void
keep_head(struct explanation *e, struct wait *w)
{
	if (strncmp(buf_string(&e->head), "HTTP/1.1 1", 10) == 0)
		buf_free(&e->head);	/* an interim response: 100 */
	if (has_whole_head(e)) {
		w->n = -1;
		w->error = EPIPE;
		return;
	}
	for (int i = 0; i < w->niov; i++)
		if (!has_whole_head(e))	/* the body may not be in memory */
			buf_add(&e->head, w->iov[i].iov_base,
			    w->iov[i].iov_len);
	w->n = (ssize_t)w->size;
}

/* A wait for time ends at once: the clock is set to its deadline. */
static void
satisfy_wait(struct explanation *e, struct wait *w, struct clock *clock)
{
	w->outcome = OUTCOME_READY;
	if (w->kind == WAIT_READ)
		w->n = (ssize_t)buf_take(&e->request, w->room, w->size);
	else if (w->kind == WAIT_WRITE && (w->flags & WAIT_LATER) == 0)
		keep_head(e, w);
	else {
		need(w->kind == WAIT_TIME || w->kind == WAIT_WRITE);
		if (w->kind == WAIT_TIME)
			clock->ms = w->deadline;
		w->outcome = OUTCOME_NONE;
	}
}

/* Ends the loop when the run of filters has ended. */
static bool
end_loop(void *context)
{
	struct made_requests	*m = context;

	if (backends_rest(&m->drivers))
		evloop_stop(m->loop);
	return false;
}

/* Runs filters to their end: the run is freed meanwhile. */
static enum submitted
run_filters(void *context, struct filter_run *run)
{
	struct made_requests	*m = context;

	if (m->drivers.filter(m->drivers.context, run) == SUBMITTED_PENDING)
		evloop_run(m->loop);
	return SUBMITTED_COMPLETED;
}

static void
open_drivers(struct made_requests *m, const struct conf *conf,
    const int *managers)
{
	m->loop = evloop_new(&m->clock);
	evloop_stop_timing(m->loop);
	evloop_on_iteration(m->loop, end_loop, m);
	backends_open(&m->drivers, m->loop, &m->clock, managers,
	    conf->nmanagers, BACKENDS_MAX, (size_t)conf->limits.held);
}

struct made_requests *
made_requests_new(const struct conf *conf, const int *managers,
    enum submitted (*submit)(void *, struct task *), void *context)
{
	struct made_requests	*m = mem_zero(sizeof(*m));
	struct http_setup	 setup = {
		.conf = conf,
		.clock = &m->clock,
		.disk = { .submit = submit, .context = context },
		.descriptors = FILES_MAX,
	};

	if (managers != NULL) {
		open_drivers(m, conf, managers);
		setup.backends = (struct backends){ .filter = run_filters,
		    .context = m };
	}
	m->http = http_new(&setup);
	m->workspace = machine_new_workspaces(1);
	machine_set_crash_context();
	clock_update(&m->clock);
	m->workspace->size = MACHINE_INPUT_SIZE;
	m->workspace->room = mem_get(m->workspace->size);
	return m;
}

void
made_requests_run(struct made_requests *m, struct explanation *e,
    const struct sockaddr *from, size_t listener)
{
	struct session	*p = explain_new(m->http, e, from, listener);
	struct wait	*w;

	while ((w = machine_run(p, m->workspace, STAGES_ALL))->kind !=
	    WAIT_CLOSE)
		satisfy_wait(e, w, &m->clock);
	machine_free(&p);
}

void
made_requests_free(struct made_requests **mp)
{
	struct made_requests	*m = *mp;

	free(m->workspace->room);
	free(m->workspace);
	http_free(&m->http);
	if (m->loop != NULL) {
		backends_close(&m->drivers);
		evloop_free(&m->loop);
	}
	mem_drop(mp);
}
