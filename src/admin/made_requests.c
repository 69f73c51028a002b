/*
 * made_requests: an architecture with one connection, which reads the bytes of
 * an explanation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "admin/made_requests.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "wait.h"

#define FILES_MAX	16	/* open files in the caches */

struct made_requests {
	struct clock		 clock;
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

struct made_requests *
made_requests_new(const struct conf *conf,
    enum submitted (*submit)(void *, struct task *), void *context)
{
	struct made_requests	*m = mem_zero(sizeof(*m));
	struct http_setup	 setup = {
		.conf = conf,
		.clock = &m->clock,
		.disk = { .submit = submit, .context = context },
		.descriptors = FILES_MAX,
	};

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
	mem_drop(mp);
}
