/*
 * body: the next pieces of a file, if they are in memory; else a helper's
 * task to bring them there.
 */
#include <sys/param.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "http/body.h"
#include "http/conn.h"
#include "http/find.h"
#include "http/lookup.h"
#include "http/reply.h"
#include "http/variant.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"

/* Of a body a turn's worth is put out at once, and what is left behind that (of
 * a range, if there are several) if it is no more than REST; for a client that
 * takes little, a PORTION.  What it does not take must be proved again. */
#define TAIL_MAX	(CONN_SEND_MAX - CONN_SEND_QUOTA)
#define WINDOW_MIN	(64 * 1024)

/* Up to so many bytes of memory are copied, more of a file are sent from that,
 * not from a mapping: what contrib/bench/sending measures. */
#define COPY_MAX	(16 * 1024)

#define RECENT_WRITE_S	3	/* s */

/* A range to be brought into memory: a task, and what for. */
struct load {
	struct task	 task;	/* first: casts rely on it */
	struct http_loop	*http;
	struct file	*file;		/* referred to, descriptor held */
	struct chunk	*chunk;		/* held */
	int64_t		 started_at;	/* clock ms */
	struct task	**pending;	/* NULL when this is done; or NULL */
};

static void
complete_load(struct task *e)
{
	struct load	*l = (struct load *)e;
	int64_t		 now = l->http->clock->ms;
	int		 error = e->job.error == ECANCELED ? 0 : e->job.error;

	if (l->pending != NULL)
		*l->pending = NULL;
	if (!l->http->caches->shared)
		chunk_fetch(l->chunk)->task = NULL;
	if (e->job.error == 0 && e->job.done < e->job.length)
		error = ESTALE;		/* it has shrunk */
	else if (e->job.kind == JOB_COPY && e->job.error == 0)
		error = chunk_adopt_copy(l->chunk, e->job.fd);
	else if (e->job.error == 0)
		chunk_loaded(l->chunk, now, now - l->started_at,
		    e->job.facts.in_memory);
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

/* Starts a read: the task to wait for, NULL if it was done in place.  If the
 * cache is this loop's alone, it is the chunk's, for others to join. */
static struct task *
start_load(struct http_loop *http, struct file *f, struct chunk *k)
{
	struct load	*l = mem_zero(sizeof(*l));
	struct task	*e = &l->task;

	l->http = http;
	l->file = file_refer(f);
	l->chunk = chunk_hold(&http->caches->chunks, f, chunk_slot(k));
	l->started_at = http->clock->ms;
	l->pending = &e;
	chunk_set_error(k, 0);
	if (!http->caches->shared)
		chunk_fetch(k)->task = e;
	job_init(&l->task.job, chunk_wants_copy(k) ? JOB_COPY : JOB_READ);
	l->task.job.id = ++http->caches->next_job_id;
	l->task.job.fd = file_hold(f);
	l->task.job.offset = chunk_start(k);
	l->task.job.length = chunk_len(k);
	l->task.job.version = *f->open_file->version;
	l->task.job.has_version = l->task.job.kind == JOB_COPY;
	l->task.complete = complete_load;
	l->task.free = free_load;
	stats_count(STATS_READS);
	http->disk.submit(http->disk.context, e);
	if (e != NULL)
		l->pending = NULL;
	return e;
}

static void
release_chunk(void *owner, void *object)
{
	struct chunk	*k = object;

	chunk_release(owner, &k);
}

/* One that was made for this request. */
static NOINLINE void
put_own_head(struct conn *c)
{
	struct request	*r = c->request;

	r->head_sent = (uint32_t)r->head.len;
	output_add(conn_output(c), &r->head);
	r->head.at = NULL;
	r->head.release = NULL;
}

static void
release_head(void *owner, void *object)
{
	struct head	*h = object;

	header_release(owner, &h);
}

/* A ready one, behind so many responses that there is no room for a copy. */
static NOINLINE void
ref_cached_head(struct conn *c)
{
	struct head	*h = c->request->cached_head;
	struct piece	*p = output_put(conn_output(c), header_bytes(h),
			    header_len(h));

	p->release = release_head;
	p->owner = &c->http->caches->heads;
	p->object = h;
	c->request->cached_head = NULL;
}

static void
put_cached_head(struct conn *c)
{
	struct request	*r = c->request;
	size_t		 len = header_len(r->cached_head);

	r->head_sent = (uint32_t)len;
	if (len > output_scratch_left(conn_output(c))) {
		ref_cached_head(c);
		return;
	}
	output_write(conn_output(c), header_bytes(r->cached_head), len);
	header_release(&c->http->caches->heads, &r->cached_head);
}

/* The head, once its body, or the first piece of it, is there. */
static void
put_head(struct conn *c)
{
	struct request	*r = c->request;

	if (r->answered)
		return;
	r->answered = true;
	if (r->cached_head != NULL)
		put_cached_head(c);
	else
		put_own_head(c);
}

/* What stands between the ranges of a response with several. */
static COLD void
put_part_header(struct conn *c)
{
	struct request	*r = c->request;
	struct str	 lead;

	if (!multipart_header(r->multipart, &lead))
		return;
	output_write(conn_output(c), lead.at, lead.len);
	r->body_sent += (int64_t)lead.len;
}

/* Goes on to the next of several ranges when this one has been put out. */
static COLD void
start_next_range(struct conn *c, const struct chunk *k)
{
	struct request			*r = c->request;
	const struct byte_range	*range;
	uint32_t			 index;

	if (r->next < r->end || !multipart_next(r->multipart))
		return;
	range = &r->multipart->range[r->multipart->current];
	r->next = range->first;
	r->end = r->next + range->length;
	/* A copied chunk must not go in between: no descriptor, no way back. */
	index = chunk_index(r->file, r->next);
	if (index == chunk_slot(k))
		r->chunk = chunk_hold(&c->http->caches->chunks, r->file, index);
}

/* Whether the file was written so short a time ago that it may be written again
 * while it is being sent.  What the system sends from a file are its pages as
 * they are when the client receives them; so such a file goes as a copy. */
static bool
is_just_written(const struct conn *c)
{
	int64_t	age = c->http->clock->wall - c->request->file->version.mtime;

	return age >= 0 && age < RECENT_WRITE_S;
}

/* How the next chunk is to be sent. */
static bool
can_send_file(const struct conn *c)
{
	const struct request	*r = c->request;
	int64_t length = r->multipart != NULL
			     ? r->multipart->range[r->multipart->current].length
			     : r->body_sent + r->end - r->next;

	/* The descriptor must be ours until all has been sent. */
	return length > COPY_MAX && r->file_open &&
	       c->transport->send_file != NULL &&
	       chunk_prefers_sendfile(r->chunk) && !is_just_written(c);
}

/* So much of a chunk, whose hold goes along.  What is not a copy may change in
 * the system's memory until the client has it. */
static NOINLINE void
ref_chunk(struct conn *c, struct chunk *k, const char *at, size_t len)
{
	struct request	*r = c->request;
	struct piece	*p = output_put(conn_output(c), at, len);

	p->release = release_chunk;
	p->owner = &c->http->caches->chunks;
	p->object = k;
	p->offset = (off_t)r->next;
	r->live = !file_is_copied(r->file);
	r->cork_end = r->live && is_just_written(c);
	p->file = at == NULL ? file_fd(r->file) : -1;
}

/* To copy what is small behind its head costs less than the system takes for a
 * second piece. */
static bool
should_copy(const struct conn *c, size_t len)
{
	return c->request->file->small && len <= COPY_MAX &&
	    len <= output_scratch_left(conn_output(c));
}

/* The next who asks for it may find all of it in one piece. */
static inline void
count_for_hot(struct conn *c, const char *bytes, size_t len)
{
	const struct request	*r = c->request;

	if (r->cached_head != NULL && (int64_t)len == r->end &&
	    !c->http->hot.disabled)
		hot_count(&c->http->hot, r->cached_head, bytes, len);
}

/* The part of the ready chunk that is asked for. */
static void
put_chunk(struct conn *c, bool file)
{
	struct request	*r = c->request;
	struct chunk	*k = r->chunk;
	int64_t		 at = chunk_start(k);
	int64_t		 end = at + chunk_len(k) < r->end ?
			    at + chunk_len(k) : r->end;
	const char	*bytes = file ? NULL : chunk_bytes(k) + (r->next - at);
	size_t		 len = (size_t)(end - r->next);
	bool		 copied = !file && should_copy(c, len);

	if (copied)
		count_for_hot(c, bytes, len);
	put_head(c);
	if (r->multipart != NULL)
		put_part_header(c);
	if (copied)
		output_write(conn_output(c), bytes, len);
	else
		ref_chunk(c, k, bytes, len);
	r->body_sent += end - r->next;
	r->next = end;
	r->chunk = NULL;
	r->all_taken = true;
	r->load_tried = false;
	r->attempts = 0;
	r->disk_deadline = 0;
	if (r->multipart != NULL)
		start_next_range(c, k);
	if (copied)			/* it may be the next one as well */
		chunk_release(&c->http->caches->chunks, &k);
}

/* The version is gone: start over if no byte of it has been put out. */
static COLD enum go
handle_gone(struct conn *c)
{
	struct request	*r = c->request;

	if (!r->answered)
		return find_retry(c);
	find_expire(c);
	log_info("a file has changed while it was being sent");
	return conn_abort(c);
}

/* Whether an errno says that it is not that file any more.  A handle is opened
 * by its name: the name can be gone, or be something else's by now, which the
 * kernel calls EIO.  If it has been looked for again since, it is not that. */
static bool
is_gone(const struct request *r, int error)
{
	if (error == ESTALE)
		return true;
	if (!r->file->handle || r->attempts >= REQUEST_ATTEMPTS_MAX / 2)
		return false;
	return error == ENOENT || error == EISDIR || error == ENOTDIR ||
	    (error == EIO && !r->answered);
}

static COLD enum go
reply_disk_error(struct conn *c, int error)
{
	return c->request->answered ? conn_abort(c) :
	    reply_error(c, reply_why(c, lookup_why(error)));
}

static COLD enum go
handle_load_error(struct conn *c, int error)
{
	struct request	*r = c->request;

	if (is_gone(r, error))
		return handle_gone(c);
	if (!r->answered && variant_is_namespace(r->path->namespace))
		return find_identity(c);
	return reply_disk_error(c, error);
}

/* Nobody has read it in time. */
static COLD enum go
handle_timeout(struct conn *c, enum outcome outcome)
{
	stats_count(STATS_DISK_TIMEOUTS);
	return outcome == OUTCOME_TIMED_OUT ? handle_load_error(c, ETIMEDOUT) :
	    reply_disk_error(c, ETIMEDOUT);
}

/* The next chunk must come from the disk: send what there is, then wait. */
static COLD enum go
load_chunk(struct conn *c)
{
	struct request	*r = c->request;
	struct chunk	*k = r->chunk;
	struct task	*e = c->http->caches->shared ? NULL :
			    chunk_fetch(k)->task;
	int		 error = chunk_error(k);

	if ((r->answered && conn_has_output(c)) || conn_must_flush(c))
		return conn_send(c, STEP_BODY);
	if (error != 0 && r->load_tried) {
		errno = error;
		if (!is_gone(r, error) && file_set_warned(r->file))
			log_error("cannot read the file of %.*s",
			    (int)r->path->len, r->path->name);
		if (r->answered)
			find_expire(c);
		return handle_load_error(c, error);
	}
	if (r->attempts++ == REQUEST_ATTEMPTS_MAX)
		return handle_load_error(c, EAGAIN);
	r->load_tried = true;
	if (e == NULL)
		e = start_load(c->http, r->file, k);
	/* Else it was done in place. */
	return e != NULL ? conn_wait_disk(c, e) : GO_ON;
}

/* Whether what comes next of the file is of the same version as what has been
 * sent, and as what the head says.  Before the first byte a new ctime is reason
 * to look again: a program may have written and put the mtime back.  Behind it
 * that is no reason to end: a file that is renamed or removed has one, too. */
static bool
version_holds(const struct conn *c)
{
	const struct request	*r = c->request;
	struct open_file	*d = r->file->open_file;

	if (r->answered || c->http->caches->shared)
		return file_is_unchanged(r->file, !r->answered);
	/* For one that began in this turn; the end will be compared anyway. */
	if (d->compared_in == c->http->iteration)
		return true;
	if (!file_is_unchanged(r->file, true))
		return false;
	d->compared_in = c->http->iteration;
	return true;
}

static bool
is_current(const struct conn *c)
{
	const struct request	*r = c->request;

	return r->next == r->end || !r->file_open ||
	    file_is_copied(r->file) || version_holds(c);
}

bool
body_was_current(const struct conn *c)
{
	const struct request	*r = c->request;

	return file_is_unchanged(r->file, false);
}

static bool
has_window(const struct conn *c)
{
	const struct request	*r = c->request;
	const struct output	*o = conn_output(c);
	size_t			 most = r->window;

	if (most == 0)
		most = r->end - r->next <= TAIL_MAX ? CONN_SEND_MAX
						    : CONN_SEND_QUOTA;
	/* Room for head, lead, chunk, and the lead behind the last; and not a
	 * little more than can go at once. */
	return r->next < r->end && output_has_room(o, 4) &&
	    o->bytes <= most - WINDOW_MIN;
}

/* All is in the output.  If another request has come behind this one, its
 * response may leave in the same write.  Mapped pieces do not wait for that:
 * they would have to be proved again. */
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
 * Whether the pieces that wait for the client are to be let go.  Mapped ones
 * are: after a wait they must be proved again, perhaps brought in again, and a
 * client that takes its time is not to hold pieces of the cache.  Copies need
 * no proof, and to copy them again costs a helper its time; so they stay while
 * the cache is within its limit, or if there is nothing to copy them from.
 */
static bool
should_unsend(const struct conn *c)
{
	const struct request	*r = c->request;

	if (r == NULL || r->file == NULL || !r->answered)
		return false;
	return !file_is_copied(r->file) || (!r->file->small && r->file_open &&
	    chunk_is_over(&c->http->caches->chunks));
}

void
body_unsend(struct conn *c)
{
	struct request	*r = c->request;
	size_t		 n;

	if (!should_unsend(c))
		return;
	n = output_unsend(conn_output(c), (size_t)r->body_sent);
	if (n == 0)
		return;
	/* The one behind these pieces: it is not the next one any more. */
	if (r->chunk != NULL)
		chunk_release(&c->http->caches->chunks, &r->chunk);
	r->body_sent -= (int64_t)n;
	if (r->multipart != NULL)
		r->end = multipart_seek(r->multipart, r->body_sent, &r->next);
	else
		r->next -= (int64_t)n;
	c->after_send = STEP_BODY;
	if (r->window == 0)
		r->window = CONN_SEND_QUOTA;
	if (n >= WINDOW_MIN)
		r->window = MAX(r->window / 2, WINDOW_MIN);
	r->all_taken = false;
}

/* If it has taken all of the last portion, the next may be larger. */
static void
enlarge_window(struct conn *c)
{
	struct request	*r = c->request;

	if (!r->all_taken || conn_has_output(c))
		return;
	r->all_taken = false;
	r->window *= 2;
	if (r->window >= CONN_SEND_QUOTA)
		r->window = 0;
}

/* Whether the next chunk can be sent; then it has been put out. */
static enum chunk_state
put_next_chunk(struct conn *c)
{
	struct request		*r = c->request;
	struct chunk_cache	*cc = &c->http->caches->chunks;
	enum chunk_state	 state;
	bool			 file;

	if (r->chunk == NULL)
		r->chunk = chunk_hold(cc, r->file,
		    chunk_index(r->file, r->next));
	file = can_send_file(c);
	state = file ? chunk_ready_sendfile(cc, r->chunk, c->http->clock->ms,
	    r->end) : chunk_ready(cc, r->chunk, c->http->clock->ms);
	if (state == CHUNK_READY)
		put_chunk(c, file);
	return state;
}

/* Alone, it is sent from where it stands; with others, which are copied, it is
 * one piece.  What outlasts the turn must not stand there: an output that is
 * the connection's own is not copied again. */
static bool
can_ref_hot(const struct conn *c, size_t len)
{
	const struct output	*o = conn_output(c);

	return !conn_owns_output(c) && (len > output_scratch_left(o) ||
	    (o->n == 0 && c->input_len == c->request->parse.size));
}

static void
put_hot_response(struct conn *c, struct str bytes)
{
	struct request	*r = c->request;

	r->answered = true;
	r->head_sent = (uint32_t)header_len(r->cached_head);
	r->body_sent = r->next = r->end;
	header_release(&c->http->caches->heads, &r->cached_head);
	if (r->chunk != NULL)		/* it is not to wait for the client */
		chunk_release(&c->http->caches->chunks, &r->chunk);
	if (can_ref_hot(c, bytes.len))
		output_put(conn_output(c), bytes.at, bytes.len);
	else
		output_write(conn_output(c), bytes.at, bytes.len);
}

enum go
body_step(struct conn *c)
{
	struct request		*r = c->request;
	const struct hot_response	*w = r->cached_head == NULL ? NULL :
				    hot_find(&c->http->hot, r->cached_head);
	enum outcome		 outcome = conn_outcome(c);

	if (outcome != OUTCOME_READY)
		return handle_timeout(c, outcome);
	if (r->parse.method == METHOD_HEAD)
		r->next = r->end;
	else if (w != NULL) {
		put_hot_response(c, w->bytes);
		return finish_body(c);
	}
	if (!is_current(c))
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
	if (r->next < r->end)
		return conn_send(c, STEP_BODY);
	put_head(c);
	if (r->multipart != NULL)
		put_part_header(c);
	return finish_body(c);
}
