/*
 * collect: takes in the body of a request for a program.
 *
 * A program is started when its body is whole, so a client that sends none of
 * it holds no program; unless the conf says that the program is to have the
 * body as it comes (feed.c).
 */
#include <sys/param.h>

#include "http/fields.h"
#include "http/park.h"
#include "http/programs/run.h"
#include "http/reply.h"

/* Bytes of framing for each byte of a body in chunks. */
#define FRAMING_MAX	8

static enum go
refuse_body(struct conn *c, enum why why)
{
	run_body_drop(c);
	return reply_error_close(c, reply_why(c, why));
}

/* Has a body go to a file on a disk if it is long for one in memory, or others
 * leave no room there. */
static void
choose_place(struct conn *c, int64_t more)
{
	struct run		*run = c->request->run;
	struct caches		*caches = c->http->caches;
	const struct conf	*conf = c->http->conf;

	if (conf->limits.spool == NULL || run->body.on_disk ||
	    (run->body.counted + more <= conf->limits.spool_from &&
	    caches->bodies + more <= conf->limits.bodies))
		return;
	run->body.on_disk = true;
	caches->bodies -= run->body.counted;
	caches->spooled += run->body.counted;
}

/* Counts bytes among the bodies of all requests; false: there are too many. */
static bool
count_bytes(struct conn *c, int64_t n)
{
	struct run		*run = c->request->run;
	struct caches		*caches = c->http->caches;
	const struct conf	*conf = c->http->conf;

	choose_place(c, n);
	run->body.counted += n;
	if (run->body.on_disk) {
		caches->spooled += n;
		return caches->spooled <= conf->limits.spool_max;
	}
	caches->bodies += n;
	return caches->bodies <= conf->limits.bodies;
}

static int64_t
body_limit(const struct conn *c)
{
	return ((const struct conf_rules *)c->request->path->rules)->run.body;
}

/* Whether the program gets the body as it comes.  SCGI begins with the length
 * of a body. */
static bool
is_fed(const struct request *r)
{
	const struct conf_program	*program = r->run->program;

	return program->stream && (r->parse.content_length > 0 ||
	    program->protocol != CONF_SCGI);
}

/* Begins a body: what its length says against it comes before a byte is
 * read. */
static enum go
begin_body(struct conn *c)
{
	struct request	*r = c->request;
	int64_t		 length = r->parse.content_length;

	r->run->body.begun = true;
	r->discard.deferred = false;
	if (length <= 0 && !r->parse.chunked)
		return conn_go(c, STEP_START);
	if (length > body_limit(c))
		return refuse_body(c, WHY_PROGRAM_BODY);
	if (is_fed(r)) {
		r->run->body.is_fed = r->run->body.comes = true;
		return conn_go(c, STEP_START);
	}
	if (length > 0 && !count_bytes(c, length))
		return refuse_body(c, WHY_BODIES);
	return GO_ON;
}

/* Consumes bytes of the body; *used: how many are. */
static enum chunked_result
consume_body(struct conn *c, const char *bytes, size_t len, size_t *used)
{
	struct request		*r = c->request;
	struct buf		*to = &r->run->body.bytes;
	struct chunked_limits	 limits = c->http->chunked_limits;

	if (r->parse.chunked) {
		limits.body = (uint64_t)(FRAMING_MAX * body_limit(c)) +
		    limits.line + limits.trailer;
		return chunked_take(&r->discard.chunked, &limits, bytes, len,
		    used, to);
	}
	*used = (size_t)MIN((int64_t)len, r->discard.left);
	buf_add(to, bytes, *used);
	r->discard.left -= (int64_t)*used;
	return r->discard.left == 0 ? CHUNKED_DONE : CHUNKED_MORE;
}

bool
collect_exceeds(const struct conn *c)
{
	const struct run	*run = c->request->run;

	return run->body.length + (int64_t)run->body.bytes.len > body_limit(c);
}

enum chunked_result
collect_input(struct conn *c)
{
	size_t			head = c->request->parse.size, used;
	enum chunked_result	result;

	result = consume_body(c, c->input + head, c->input_len - head, &used);
	recv_drop_body(c, used);
	return result;
}

/* Whether a body in chunks is within the limits, after so many more bytes. */
static enum why
check_chunks(struct conn *c, size_t more)
{
	if (!c->request->parse.chunked)
		return WHY_NONE;
	if (collect_exceeds(c))
		return WHY_PROGRAM_BODY;
	return count_bytes(c, (int64_t)more) ? WHY_NONE : WHY_BODIES;
}

/* Takes the bytes of the body that are in the input. */
static enum go
take_body(struct conn *c)
{
	struct request		*r = c->request;
	struct run		*run = r->run;
	size_t			 before = run->body.bytes.len;
	enum chunked_result	 result;
	enum why		 why;

	result = collect_input(c);
	if (result == CHUNKED_REFUSED) {
		run_body_drop(c);
		return reply_error_close(c, r->discard.chunked.status);
	}
	why = check_chunks(c, run->body.bytes.len - before);
	if (why != WHY_NONE)
		return refuse_body(c, why);
	run->body.whole = result == CHUNKED_DONE;
	if (run->body.bytes.len >= RUN_BODY_KEPT ||
	    (run->body.whole && run->body.bytes.len > 0))
		return conn_go(c, STEP_SPOOL);
	return run->body.whole ? conn_go(c, STEP_START) :
	    recv_body_wait(c);
}

/* Answers an invented request in place of the program. */
static COLD enum go
reply_would_run(struct conn *c)
{
	int	status = reply_why(c, WHY_PROGRAM);

	c->close = true;		/* its body is not read */
	c->request->response.head_kind = 1;
	fields_begin(c, status);
	buf_adds(&c->http->work, "Content-Length: 0\r\n");
	fields_end(c);
	return reply_send_work(c, status, 0);
}

enum go
collect_step(struct conn *c)
{
	struct run	*run = c->request->run;
	enum go		 go;

	if (!recv_body_came(c, &go))
		return go;
	if (run->body.whole)
		return conn_go(c, STEP_START);
	if (session_is_invented(c->session))
		return reply_would_run(c);
	if (!run->body.begun) {
		go = begin_body(c);
		if (c->step != STEP_COLLECT)
			return go;
	}
	return take_body(c);
}
