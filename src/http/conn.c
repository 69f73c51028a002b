/*
 * conn: functions that all steps share: the change of step, waits, and what a
 * connection keeps while it waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/conn.h"
#include "http/programs/run.h"
#include "lib/compiler.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"

#define OWN_ROOM_KEPT	1024	/* bytes of own input that may stay unused */

enum go
conn_reset(struct conn *c)
{
	c->end_flags = WAIT_RESET;
	return conn_abort(c);
}

/* Drops the output: parked, a connection may have none. */
static void
drop_output(struct conn *c)
{
	struct request	*r = c->request;

	if (conn_output(c) == NULL)
		return;
	if (r != NULL && r->response.answered) {
		r->body.sent -= (int64_t)conn_output(c)->bytes;
		if (r->body.sent < 0)	/* not even the head was sent */
			r->body.sent = 0;
	}
	output_drop(conn_output(c));
}

enum go
conn_abort(struct conn *c)
{
	stats_count(STATS_ABORTED);
	if (c->request != NULL)
		c->request->response.aborted = true;
	drop_output(c);
	c->close = true;
	c->linger = false;
	c->input_len = 0;		/* the rest of the input is not read */
	return conn_go(c, c->request != NULL ? STEP_FINISH : STEP_CLOSE);
}

static NOINLINE struct str
join_lines(struct conn *c, enum parse_field f)
{
	struct buf	*b = &c->http->work;
	size_t		 start = b->len;
	struct str	 line;
	uint32_t	 at = 0;

	while (parse_next(&c->request->parse, c->input, f, &at, &line)) {
		buf_add(b, line.at, line.len);
		buf_addc(b, ',');
	}
	return (struct str){ b->at + start, b->len - start };
}

struct str
conn_field_list(struct conn *c, enum parse_field f)
{
	const struct parse	*p = &c->request->parse;

	return (p->repeated & 1U << f) != 0 ? join_lines(c, f) :
	    parse_field(p, c->input, f);
}

/* Waits for a task, at most `most` ms; several such waits share a deadline. */
static enum go
wait_for_task(struct conn *c, struct task *task, enum timeout timeout,
    int64_t *deadline, int64_t most)
{
	if (conn_has_output(c))
		return conn_send(c, c->step);
	if (*deadline == 0)
		*deadline = c->http->clock->ms + most;
	c->wait.task = task;
	return conn_wait(c, WAIT_DISK, timeout, *deadline, 0);
}

enum go
conn_wait_disk(struct conn *c, struct task *task)
{
	return wait_for_task(c, task, TIMEOUT_DISK,
	    &c->request->disk.deadline, c->http->conf->limits.disk);
}

enum go
conn_wait_refresh(struct conn *c, struct task *task)
{
	return wait_for_task(c, task, TIMEOUT_REFRESH,
	    &c->request->lookup.deadline, c->http->conf->cache.wait);
}

bool
conn_must_flush(const struct conn *c)
{
	return c->http->caches->shared && conn_has_output(c);
}

/* Clears the connection's input memory.  With shared caches the memory stays
 * and returns to the thread that allocated it: freeing another thread's memory
 * costs much more. */
static COLD void
clear_own_input(struct conn *c)
{
	if (!c->http->caches->shared) {
		buf_wipe(&c->own_input);
		return;
	}
	explicit_bzero(c->own_input.at, c->own_input.len);
	c->own_input.len = 0;
}

void
conn_clear_output(struct conn *c)
{
	if (conn_owns_output(c))
		output_free(c->output);
	else if (c->output != NULL)
		output_drop(c->output);
	c->output = c->workspace != NULL ? &c->workspace->output : NULL;
}

/* Moves the input to the connection's memory, as the next connection overwrites
 * the room. */
static NOINLINE void
move_input(struct conn *c)
{
	if (!conn_shares_input(c))
		return;
	if (c->own_input.at == NULL)		/* no larger than necessary */
		c->own_input = (struct buf){ .size = c->input_len,
		    .at = mem_get(c->input_len) };
	buf_add(&c->own_input, c->input, c->input_len);
	/* Clears all that was read: a body may have moved the head to where it
	 * is now. */
	explicit_bzero(c->read_at, c->read_len);
	c->input = c->own_input.at;
}

void
conn_keep_input(struct conn *c)
{
	if (c->input_len > 0)
		move_input(c);
	else if (c->own_input.at != NULL)
		clear_own_input(c);
}

/* Gives back the room of a READ that has brought nothing. */
static void
shrink_own_input(struct conn *c)
{
	struct buf	exact = { .size = c->input_len };

	if (c->own_input.size < 2 * c->input_len + OWN_ROOM_KEPT)
		return;
	exact.at = mem_get(exact.size);
	buf_add(&exact, c->input, c->input_len);
	buf_wipe(&c->own_input);
	c->own_input = exact;
	c->input = exact.at;
}

void
conn_park(struct conn *c)
{
	if (c->request != NULL)		/* the next connection uses scratch */
		output_detach(&c->request->response.head);
	if (!conn_owns_output(c))
		c->output = c->output->n > 0 ? output_keep(c->output) : NULL;
	else if (!conn_has_output(c)) {
		output_free(c->output);
		c->output = NULL;
	}
	/* Else heads that are made while nothing is sent would fill scratch. */
	output_drop(&c->workspace->output);
	conn_keep_input(c);
	if (c->input_len > 0)
		shrink_own_input(c);
	c->used_in = c->used_out = 0;
	c->workspace = NULL;
}

struct conn *
conn_begin(struct session *s)
{
	struct http_loop	*http = s->http;
	struct conn		*c;

	if (http->spare.nconns > 0)
		c = http->spare.conns[--http->spare.nconns];
	else
		c = mem_get(sizeof(*c));
	memset(c, 0, sizeof(*c));
	c->http = http;
	c->session = s;
	c->step = STEP_RECV;
	s->conn = c;
	return c;
}

/* Keeps a request's memory for reuse; false: enough is kept. */
static inline bool
recycle_request(struct http_loop *http, struct request *r)
{
	bool	room = http->spare.nrequests < MACHINE_BATCH_MAX;

	if (room)
		http->spare.requests[http->spare.nrequests++] = r;
	return room;
}

static COLD void
free_own_memory(struct conn *c)
{
	if (c->own_input.at != NULL)
		clear_own_input(c);
	buf_free(&c->own_input);
	if (c->recycle != NULL && !recycle_request(c->http, c->recycle))
		free(c->recycle);
	c->recycle = NULL;
}

void
conn_end(struct session *s)
{
	struct http_loop	*http = s->http;
	struct conn		*c = s->conn;

	need(c->request == NULL && !conn_owns_output(c));
	if (c->own_input.at != NULL || c->recycle != NULL)
		free_own_memory(c);
	s->conn = NULL;
	/* The caller may read this record until the next conn_begin(). */
	if (http->spare.nconns == MACHINE_BATCH_MAX)
		free(http->spare.conns[--http->spare.nconns]);
	http->spare.conns[http->spare.nconns++] = c;
}

void
conn_request_begin(struct conn *c)
{
	struct http_loop	*http = c->http;
	struct request		*r;

	if (http->spare.nrequests > 0)
		r = http->spare.requests[--http->spare.nrequests];
	else
		r = mem_get(sizeof(*r));
	parse_init(&r->parse);
	/* parse_init() leaves large buffers alone; this clears the other
	 * members. */
	memset((char *)r + sizeof(r->parse), 0, sizeof(*r) - sizeof(r->parse));
	c->request = r;
}

void
conn_request_reset(struct conn *c)
{
	struct request	*r = c->request;
	struct piece	*head = &r->response.head;

	if (r->body.chunk != NULL)
		chunk_release(&c->http->caches->chunks, &r->body.chunk);
	if (r->response.cached_head != NULL)
		header_release(&c->http->caches->heads,
		    &r->response.cached_head);
	if (head->release != NULL)
		head->release(head->owner, head->object);
	head->at = NULL;
	head->release = NULL;
	if (r->body.multipart != NULL)
		multipart_free(&r->body.multipart);
	if (r->body.file_open)
		file_release(r->file);
	r->body.file_open = false;
	if (r->file != NULL)
		file_drop(&r->file);
}

void
conn_request_end(struct conn *c)
{
	struct request	*r = c->request;

	if (r == NULL)
		return;
	conn_request_reset(c);
	if (r->path != NULL)
		pathname_release(&c->http->caches->paths, &r->path);
	if (r->auth.entry != NULL)
		auth_release(&c->http->caches->auth, &r->auth.entry);
	if (r->run != NULL)
		run_free(c);
	c->request = NULL;
	if (recycle_request(c->http, r))
		return;
	if (c->http->caches->shared && c->recycle == NULL)
		c->recycle = r;
	else
		free(r);
}
