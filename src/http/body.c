/*
 * body: puts out the next pieces of a file if they are in memory, and else has
 * a helper bring them there.
 */
#include <sys/param.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "http/body.h"
#include "http/conn.h"
#include "http/find.h"
#include "http/hints/hints.h"
#include "http/namespace.h"
#include "http/reply.h"
#include "http/tasks.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"

/* Bytes of a body that are put out at a time: CONN_SEND_MAX, since to be woken
 * costs more than most sends.  When BUSY bytes of large bodies went in this
 * millisecond, CONN_SEND_QUOTA, and behind that the rest of the body (of a
 * range, if there are several) if that is no more than TAIL_MAX.  For a client
 * that takes less, a smaller window: bytes that the client does not take must
 * be proved again. */
#define BUSY		(2 * CONN_SEND_MAX)
#define TAIL_MAX	(2 * CONN_SEND_QUOTA)
#define WINDOW_STEP	(64 * 1024)
#define REST_MAX	(2 * WINDOW_STEP) /* goes with a smaller window */

/* Bytes after which a file that is being sent is compared with its version
 * again: a client is to learn of a change before it has received all. */
#define COMPARE_STEP	(1024 * 1024)

/* Up to so many bytes are copied into the output.  More bytes of a file are
 * sent from the file and not from a mapping: contrib/bench/sending measures
 * both. */
#define COPY_MAX	(16 * 1024)

#define RECENT_WRITE_S	3

/* A task that brings a range of a file into memory. */
struct load {
	struct task		 task;	/* first member: casts rely on it */
	struct http_loop	*http;
	struct file		*file;	/* referred to; descriptor held */
	struct chunk		*chunk;	/* held */
	int64_t			 started_at;	/* clock ms */
};

static void
complete_load(struct task *e)
{
	struct load	*l = (struct load *)e;
	int64_t		 now = l->http->clock->ms;
	int		 error = e->job.error == ECANCELED ? 0 : e->job.error;

	if (!l->http->caches->shared)
		chunk_fetch(l->chunk)->task = NULL;
	if (e->job.error == 0 && e->job.range.done < e->job.range.length)
		error = ESTALE;		/* the file has shrunk */
	else if (e->job.kind == JOB_COPY && e->job.error == 0)
		error = chunk_adopt_copy(l->chunk, e->job.fd);
	else if (e->job.error == 0)
		chunk_loaded(l->chunk, now, now - l->started_at,
		    e->job.read.was_in_memory);
	chunk_set_error(l->chunk, error);
}

static void
free_load(struct task *e)
{
	struct load	*l = (struct load *)e;

	if (e->job.kind == JOB_COPY && e->job.error == 0)
		close(e->job.fd);
	chunk_release(&l->http->caches->chunks, &l->chunk);
	file_release(l->file);
	file_drop(&l->file);
	free(l);
}

/* Submits a read of the chunk that the response needs next: a task to wait for,
 * or NULL if it was completed at once.  In caches of one loop the task is the
 * chunk's, for others to join. */
static struct task *
start_load(struct conn *c)
{
	struct http_loop	*http = c->http;
	const struct request	*r = c->request;
	struct file		*f = r->file;
	struct chunk		*k = r->body.chunk;
	struct load		*l = mem_zero(sizeof(*l));
	struct task		*e = &l->task;
	struct job		*job = &e->job;

	tasks_init(http, e, chunk_wants_copy(k) ? JOB_COPY : JOB_READ,
	    complete_load, free_load);
	l->http = http;
	l->file = file_refer(f);
	l->chunk = chunk_hold_again(&http->caches->chunks, k);
	l->started_at = http->clock->ms;
	e->large = http->order.by_size && r->response.answered &&
	    r->body.end - r->body.next > ORDER_SMALL_MAX;
	chunk_set_error(k, 0);
	if (!http->caches->shared)
		chunk_fetch(k)->task = e;
	job->fd = file_hold(f);
	job->range.offset = chunk_start(k);
	job->range.length = chunk_len(k);
	job->range.version = *f->open_file->version;
	if (r->response.answered)
		job->range.version.ctime = JOB_CTIME_ANY;
	e->background = session_is_background(c->session);
	if (job->kind == JOB_COPY)
		job->copy.has_version = true;
	stats_count(STATS_READS);
	return tasks_submit(http, e) == SUBMITTED_PENDING ? e : NULL;
}

static void
release_chunk(void *owner, void *object)
{
	struct chunk	*k = object;

	chunk_release(owner, &k);
}

/* Puts out a head that was made for this request. */
static NOINLINE void
put_own_head(struct conn *c)
{
	struct request	*r = c->request;

	r->response.head_sent = (uint32_t)r->response.head.len;
	output_add(conn_output(c), &r->response.head);
	r->response.head.at = NULL;
	r->response.head.release = NULL;
}

static void
release_head(void *owner, void *object)
{
	struct head	*h = object;

	header_release(owner, &h);
}

/* Puts out a cached head by reference, when scratch has no room for a copy. */
static NOINLINE void
ref_cached_head(struct conn *c)
{
	struct head	*h = c->request->response.cached_head;
	struct piece	*p = output_put(conn_output(c), header_bytes(h),
			    header_len(h));

	p->release = release_head;
	p->owner = &c->http->caches->heads;
	p->object = h;
	c->request->response.cached_head = NULL;
}

static void
put_cached_head(struct conn *c)
{
	struct request	*r = c->request;
	size_t		 len = header_len(r->response.cached_head);

	r->response.head_sent = (uint32_t)len;
	if (len > output_scratch_left(conn_output(c))) {
		ref_cached_head(c);
		return;
	}
	output_write(conn_output(c), header_bytes(r->response.cached_head),
	    len);
	header_release(&c->http->caches->heads, &r->response.cached_head);
}

/* Puts out the head, when the first piece of its body is ready, too. */
static void
put_head(struct conn *c)
{
	struct request	*r = c->request;

	if (r->response.answered)
		return;
	r->response.answered = true;
	if (r->response.cached_head != NULL)
		put_cached_head(c);
	else
		put_own_head(c);
}

/* Puts out the part header between ranges of a multipart response. */
static COLD void
put_part_header(struct conn *c)
{
	struct request	*r = c->request;
	struct str	 lead;

	if (!multipart_header(r->body.multipart, &lead))
		return;
	output_write(conn_output(c), lead.at, lead.len);
	r->body.sent += (int64_t)lead.len;
}

/* Goes on to the next range when this one has been put out. */
static COLD void
start_next_range(struct conn *c, struct chunk *k)
{
	struct request		*r = c->request;
	const struct byte_range	*range;

	if (r->body.next < r->body.end || !multipart_next(r->body.multipart))
		return;
	range = &r->body.multipart->range[r->body.multipart->current];
	r->body.next = range->first;
	r->body.end = r->body.next + range->length;
	/* The same chunk goes on: between the ranges a copied chunk could be
	 * evicted, and without a descriptor it could not be read again. */
	if (chunk_index(r->file, r->body.next) == chunk_slot(k))
		r->body.chunk = chunk_hold_again(&c->http->caches->chunks, k);
}

/* Whether the file was written a moment ago, so that it may be written again
 * while it is being sent.  sendfile(2) sends the pages of a file as they are
 * when the client receives them; send(2) copies, and so sends such a file. */
static bool
is_just_written(const struct conn *c)
{
	int64_t	age = c->http->clock->wall - c->request->file->version.mtime;

	return age >= 0 && age < RECENT_WRITE_S;
}

/* Whether the next chunk can be sent by sendfile(2). */
static bool
can_send_file(const struct conn *c)
{
	const struct request	*r = c->request;
	const struct multipart	*m = r->body.multipart;
	int64_t			 length = m != NULL ?
				    m->range[m->current].length :
				    r->body.sent + r->body.end - r->body.next;

	/* The descriptor must stay held until all is sent. */
	return length > COPY_MAX && r->body.file_open &&
	    (c->session->kind == NULL || !c->session->kind->no_files) &&
	    chunk_prefers_sendfile(r->body.chunk) && !is_just_written(c);
}

/* Puts out a part of a chunk by reference; the piece takes over the hold.  A
 * chunk that is not a copy may change until the client has received it:
 * r->body.live. */
static NOINLINE void
ref_chunk(struct conn *c, struct chunk *k, const char *at, size_t len)
{
	struct request	*r = c->request;
	struct piece	*p = output_put(conn_output(c), at, len);

	p->release = release_chunk;
	p->owner = &c->http->caches->chunks;
	p->object = k;
	p->offset = (off_t)r->body.next;
	r->body.live = !file_is_copied(r->file);
	r->body.cork_end = r->body.live && is_just_written(c);
	p->file = at == NULL ? file_fd(r->file) : -1;
}

/* Whether to copy the bytes behind their head: a copy of few bytes costs less
 * than a second piece costs the system. */
static bool
should_copy(const struct conn *c, size_t len)
{
	return c->request->file->small && len <= COPY_MAX &&
	    len <= output_scratch_left(conn_output(c));
}

/* Puts out the part of the ready chunk that the request asks for. */
static void
put_chunk(struct conn *c, bool file)
{
	struct request	*r = c->request;
	struct chunk	*k = r->body.chunk;
	int64_t		 at = chunk_start(k);
	int64_t		 end = at + chunk_len(k) < r->body.end ?
			    at + chunk_len(k) : r->body.end;
	const char	*bytes = file ? NULL :
			    chunk_bytes(k) + (r->body.next - at);
	size_t		 len = (size_t)(end - r->body.next);
	bool		 copied = !file && should_copy(c, len);

	put_head(c);
	if (r->body.multipart != NULL)
		put_part_header(c);
	if (copied)
		output_write(conn_output(c), bytes, len);
	else
		ref_chunk(c, k, bytes, len);
	r->body.sent += end - r->body.next;
	r->body.next = end;
	r->body.chunk = NULL;
	r->body.all_taken = true;
	r->body.load_tried = false;
	r->disk.attempts = 0;
	r->disk.deadline = 0;
	if (r->body.multipart != NULL)
		start_next_range(c, k);
	if (copied)			/* the next chunk may be this one */
		chunk_release(&c->http->caches->chunks, &k);
}

/* Handles a version that has gone: starts over if none of it was put out. */
static COLD enum go
handle_gone(struct conn *c)
{
	struct request	*r = c->request;

	if (!r->response.answered)
		return find_retry(c);
	find_expire(c);
	log_info("closing a connection: its file has changed while it "
	    "was being sent");
	return conn_abort(c);
}

/* Whether an errno says that the version has gone.  A handle is opened by the
 * name of the file.  The name may have gone, or be another file's by now, which
 * the kernel reports as EIO.  If the name was looked up again since, the error
 * is another one. */
static bool
is_gone(const struct request *r, int error)
{
	if (error == ESTALE)
		return true;
	if (!r->file->handle || r->disk.attempts >= REQUEST_ATTEMPTS_MAX / 2)
		return false;
	return error == ENOENT || error == EISDIR || error == ENOTDIR ||
	    (error == EIO && !r->response.answered);
}

static COLD enum go
reply_disk_error(struct conn *c, int error)
{
	return c->request->response.answered ? conn_abort(c) :
	    reply_error(c, reply_why(c, why_of_error(error)));
}

static COLD enum go
handle_load_error(struct conn *c, int error)
{
	struct request	*r = c->request;

	if (is_gone(r, error))
		return handle_gone(c);
	if (!r->response.answered && namespace_is_variant(r->path->namespace))
		return find_identity(c);
	return reply_disk_error(c, error);
}

/* Handles a read that was not complete in time. */
static COLD enum go
handle_timeout(struct conn *c, enum outcome outcome)
{
	stats_count(STATS_DISK_TIMEOUTS);
	return outcome == OUTCOME_TIMED_OUT ? handle_load_error(c, ETIMEDOUT) :
	    reply_disk_error(c, ETIMEDOUT);
}

/* Has the next chunk brought into memory; pending output is sent first. */
static COLD enum go
load_chunk(struct conn *c)
{
	struct request	*r = c->request;
	struct chunk	*k = r->body.chunk;
	struct task	*e = c->http->caches->shared ? NULL :
			    chunk_fetch(k)->task;
	int		 error = chunk_error(k);

	if ((r->response.answered && conn_has_output(c)) || conn_must_flush(c))
		return conn_send(c, STEP_BODY);
	if (error != 0 && r->body.load_tried) {
		errno = error;
		if (!is_gone(r, error) && file_set_warned(r->file))
			log_error("cannot read the file of %.*s",
			    (int)r->path->len, r->path->name);
		if (r->response.answered)
			find_expire(c);
		return handle_load_error(c, error);
	}
	if (r->disk.attempts++ == REQUEST_ATTEMPTS_MAX)
		return handle_load_error(c, EAGAIN);
	if (!r->response.answered && !r->body.load_tried &&
	    !session_is_background(c->session))
		stats_count(STATS_RESPONSES_WAITED);
	r->body.load_tried = true;
	hints_note_wait(c, e != NULL);
	if (e == NULL)
		e = start_load(c);
	else if (e->background && !session_is_background(c->session) &&
	    c->http->disk.promote != NULL)
		c->http->disk.promote(e);
	/* NULL: the task was completed at once. */
	return e != NULL ? conn_wait_disk(c, e) : GO_ON;
}

/* Whether the file still is of the version that the head names.  Before the
 * first byte a new ctime is a reason to look again: a program may have written
 * and put the mtime back.  Later it is no reason to end: a file that is renamed
 * or removed has a new ctime, too. */
static bool
version_holds(const struct conn *c)
{
	const struct request	*r = c->request;
	struct open_file	*d = r->file->open_file;

	if (r->response.answered || c->http->caches->shared)
		return file_is_unchanged(r->file, !r->response.answered);
	/* One comparison serves all responses that begin before the clock is
	 * updated.  The end of a response has its own. */
	if (d->compared_in == c->http->clock->updates)
		return true;
	if (!file_is_unchanged(r->file, true))
		return false;
	d->compared_in = c->http->clock->updates;
	return true;
}

static bool
is_current(struct conn *c)
{
	struct request	*r = c->request;

	r->body.compared = r->body.sent;
	return !r->body.file_open || file_is_copied(r->file) ||
	    version_holds(c);
}

/* Whether the file is to be compared before anything else is put out. */
static bool
should_compare(const struct request *r)
{
	return r->body.next < r->body.end && (!r->response.answered ||
	    r->body.sent - r->body.compared >= COMPARE_STEP);
}

bool
body_was_current(const struct conn *c)
{
	const struct request	*r = c->request;

	return file_is_unchanged(r->file, false);
}

/* Whether others are to have their turn sooner. */
static bool
is_busy(const struct http_loop *http)
{
	return http->large.at == http->clock->ms && http->large.bytes >= BUSY;
}

/* A window with fewer bytes gets one more chunk. */
static size_t
window_min(const struct conn *c)
{
	const struct request	*r = c->request;
	size_t			 most = CONN_SEND_MAX;
	int64_t			 left = r->body.end - r->body.next;
	int64_t			 rest = r->body.multipart == NULL ? left :
				    r->body.multipart->length - r->body.sent;

	if (is_busy(c->http) && left > TAIL_MAX)
		most = CONN_SEND_QUOTA;
	most -= WINDOW_STEP - 1;
	return r->body.window == 0 || rest <= REST_MAX ? most :
	    MIN(most, r->body.window);
}

/* Counts a window behind which the body goes on. */
static void
count_window(struct conn *c)
{
	struct http_loop	*http = c->http;

	if (http->large.at != http->clock->ms)
		http->large.bytes = 0;
	http->large.at = http->clock->ms;
	http->large.bytes += conn_output(c)->bytes;
}

static bool
has_window(const struct conn *c)
{
	const struct request	*r = c->request;
	const struct output	*o = conn_output(c);

	/* Room for a head, a part header, a chunk, and a last part header.  No
	 * more is put out when little could be sent at once. */
	return r->body.next < r->body.end && output_has_room(o, 4) &&
	    (o->bytes == 0 || o->bytes < window_min(c));
}

/* Ends the body.  If another request has come, its response may go in the same
 * write.  Mapped pieces do not wait for that: they would have to be proved
 * again. */
static enum go
finish_body(struct conn *c)
{
	const struct request	*r = c->request;

	if (c->input_len > r->parse.size && !c->close && !c->http->draining &&
	    file_is_copied(r->file))
		return conn_go(c, STEP_FINISH);
	return conn_send(c, STEP_FINISH);
}

/*
 * Whether pieces that the client does not accept now are to be taken back.
 *
 * Mapped pieces are: after a wait they must be proved again and perhaps read
 * again, and a slow client must not hold pieces of the cache, but for the next
 * chunk of a file that is not admitted, while such chunks have room.  Copies
 * need no proof, and a helper's time was paid for them.  So they stay while the
 * cache is within its limit, or if there is nothing to copy from.
 */
static bool
should_unsend(const struct conn *c)
{
	const struct request	*r = c->request;

	if (r == NULL || r->file == NULL || !r->response.answered)
		return false;
	return !file_is_copied(r->file) || (!r->file->small &&
	    r->body.file_open && chunk_is_over(&c->http->caches->chunks));
}

void
body_unsend(struct conn *c)
{
	struct request		*r = c->request;
	struct chunk_cache	*cc = &c->http->caches->chunks;
	size_t			 n;

	if (!should_unsend(c))
		return;
	n = output_unsend(conn_output(c), (size_t)r->body.sent);
	if (n == 0)
		return;
	/* The held chunk comes after these pieces, and so is no longer the
	 * next. */
	if (r->body.chunk != NULL)
		chunk_release(cc, &r->body.chunk);
	r->body.sent -= (int64_t)n;
	if (r->body.multipart != NULL)
		r->body.end = multipart_seek(r->body.multipart, r->body.sent,
		    &r->body.next);
	else
		r->body.next -= (int64_t)n;
	if (r->body.next < r->body.end && transient_may_wait(cc, r->file))
		r->body.chunk = chunk_hold(cc, r->file,
		    chunk_index(r->file, r->body.next));
	c->after_send = STEP_BODY;
	/* Most clients take as much the next time. */
	r->body.window = (uint32_t)c->used_out + WINDOW_STEP;
	r->body.all_taken = false;
}

/* Doubles the window when the client has taken all of the last one. */
static void
enlarge_window(struct conn *c)
{
	struct request	*r = c->request;

	if (!r->body.all_taken || conn_has_output(c))
		return;
	r->body.all_taken = false;
	r->body.window *= 2;
	if (r->body.window >= CONN_SEND_MAX)
		r->body.window = 0;
}

/* The end of the bytes to be looked at together: of the window; for a client
 * that takes all of it, of the body. */
static int64_t
look_end(const struct request *r)
{
	int64_t	end = r->body.next + r->body.window;

	return r->body.window == 0 ? r->body.end :
	    MIN(end + REST_MAX, r->body.end);
}

/* Puts out the next chunk if it is in memory; returns its state. */
static enum chunk_state
put_next_chunk(struct conn *c)
{
	struct request		*r = c->request;
	struct chunk_cache	*cc = &c->http->caches->chunks;
	int64_t			 now = c->http->clock->ms;
	enum chunk_state	 state;
	bool			 file;

	if (r->body.chunk == NULL)
		r->body.chunk = chunk_hold(cc, r->file,
		    chunk_index(r->file, r->body.next));
	file = can_send_file(c);
	state = file ? chunk_ready_sendfile(cc, r->body.chunk, now,
	    look_end(r)) : chunk_ready(cc, r->body.chunk, now);
	if (state == CHUNK_READY)
		put_chunk(c, file);
	return state;
}

enum go
body_step(struct conn *c)
{
	struct request	*r = c->request;
	enum outcome	 outcome = conn_outcome(c);
	bool		 compared;

	if (is_failure(outcome))
		return handle_timeout(c, outcome);
	if (r->parse.method == METHOD_HEAD)
		r->body.next = r->body.end;
	compared = should_compare(r);
	if (compared && !is_current(c))
		return handle_gone(c);
	enlarge_window(c);
	while (has_window(c)) {
		switch (put_next_chunk(c)) {
		case CHUNK_READY:
			break;
		case CHUNK_ABSENT:
			return load_chunk(c);
		default:
			return handle_gone(c);
		}
	}
	if (r->body.next < r->body.end) {
		count_window(c);
		return conn_send(c, STEP_BODY);
	}
	/* The last part: a change since the first one ends the response. */
	if (r->response.answered && !compared && !is_current(c))
		return handle_gone(c);
	put_head(c);
	if (r->body.multipart != NULL)
		put_part_header(c);
	return finish_body(c);
}
