/*
 * head: the status of a response, and its head: a ready one from the header
 * cache, or one made for the occasion.
 */
#include <string.h>

#include "http/conn.h"
#include "http/decide.h"
#include "http/head.h"
#include "http/listing.h"
#include "http/reply.h"
#include "http/status.h"
#include "lib/hash.h"

/* Date stands right behind the status line, always at the same place for 200:
 * the header cache rewrites it there. */
#define STATUS_LINE	"HTTP/1.1 200 OK\r\nDate: "
#define DATE_AT		(sizeof(STATUS_LINE) - 1)

/* The field that takes up the slack when a head is padded. */
#define SLACK		"\r\nServer:"
#define SLACK_AT	(DATE_AT + DATE_LENGTH + sizeof(SLACK) - 1)

#define CONDITIONS							\
	(1U << FIELD_IF_MATCH | 1U << FIELD_IF_NONE_MATCH |		\
	1U << FIELD_IF_MODIFIED_SINCE |					\
	1U << FIELD_IF_UNMODIFIED_SINCE | 1U << FIELD_RANGE)

/* A date that no client can have, for If-Range. */
#define NEVER		((time_t)1 << 40)

static const char *const connection[PATHNAME_HEADS] = {
	"", "Connection: close\r\n", "Connection: keep-alive\r\n"
};

size_t
head_etag(const struct file *f, char etag[HEAD_ETAG_MOST])
{
	/* Not secret: the same file has the same tag after a restart. */
	static const struct hash_key	key = { 0, 0 };
	const struct job_version	*v = &f->version;
	const uint64_t	facts[] = { v->dev, v->ino, (uint64_t)v->size,
	    (uint64_t)v->mtime, v->mtime_ns, (uint64_t)v->ctime, v->ctime_ns };

	return (size_t)snprintf(etag, HEAD_ETAG_MOST, "%s\"%016llx\"",
	    f->facts.settled ? "" : "W/",
	    (unsigned long long)hash_bytes(&key, 0, facts, sizeof(facts)));
}

void
head_begin(struct conn *c, int status)
{
	struct buf	*b = &c->http->work;

	b->len = 0;
	if (status == 200)
		buf_add(b, STATUS_LINE, DATE_AT);
	else
		buf_addf(b, "HTTP/1.1 %d %s\r\nDate: ", status,
		    status_reason(status));
	buf_add(b, c->http->date, DATE_LENGTH);
	buf_adds(b, SLACK " amped\r\n");
	buf_adds(b, connection[c->request->variant]);
}

void
head_end(struct conn *c)
{
	buf_adds(&c->http->work, "\r\n");
}

/* What belongs to every response about this file, 304 included. */
static void
add_validators(struct conn *c)
{
	const struct request	 *r = c->request;
	const struct conf_place	 *place = r->path->rules;
	const struct conf_fields *fields = place != NULL ? &place->fields :
				    &r->site->fields;
	struct buf		 *b = &c->http->work;
	char			  etag[HEAD_ETAG_MOST], date[DATE_LENGTH];

	head_etag(r->file, etag);
	if (file_is_made(r->file))
		listing_fields(c, b);
	else {
		date_format((time_t)r->file->version.mtime, date);
		buf_adds(b, "Last-Modified: ");
		buf_add(b, date, sizeof(date));
		buf_adds(b, "\r\n");
	}
	buf_addf(b, "ETag: %s\r\n", etag);
	for (size_t i = 0; i < fields->n; i++)
		buf_addf(b, "%s: %s\r\n", fields->at[i].name,
		    fields->at[i].value);
}

static void
release_head(void *owner, void *what)
{
	struct head	*h = what;

	header_release(owner, &h);
}

static struct piece
piece_of(struct http *http, struct head *h)
{
	return (struct piece){ .at = h->at, .len = h->len,
	    .release = release_head, .owner = &http->heads, .what = h };
}

/* Lengthens a head to full lines of the cache, inside of its slack field. */
static void
pad(struct buf *b)
{
	size_t	slack = -b->len % HEADER_ALIGNMENT;

	buf_need(b, slack);
	memmove(b->at + SLACK_AT + slack, b->at + SLACK_AT, b->len - SLACK_AT);
	memset(b->at + SLACK_AT, ' ', slack);
	b->len += slack;
}

static enum go
whole(struct conn *c)
{
	struct request	*r = c->request;
	struct http	*http = c->http;
	struct head	**slot = &r->path->heads[r->variant];
	struct head	*h = NULL;

	r->status = 200;
	r->next = 0;
	r->end = r->file->version.size;
	/* The path may have become another version's since this one's. */
	if (r->path->file == r->file)
		h = header_hold(&http->heads, slot);
	if (h == NULL) {
		head_begin(c, 200);
		add_validators(c);
		buf_addf(&http->work, "Content-Type: %s\r\n"
		    "Content-Length: %lld\r\nAccept-Ranges: bytes\r\n",
		    r->path->type, (long long)r->end);
		head_end(c);
		pad(&http->work);
		if (r->path->file != r->file) {
			r->head = output_copy(conn_output(c), http->work.at,
			    http->work.len);
			return conn_go(c, STEP_BODY);
		}
		h = header_put(&http->heads, slot, http->work.at,
		    http->work.len, DATE_AT);
	}
	r->head = piece_of(http, h);
	return conn_go(c, STEP_BODY);
}

static enum go
part(struct conn *c, const struct decide_answer *answer)
{
	struct request	*r = c->request;
	struct http	*http = c->http;

	r->status = 206;
	r->next = answer->first;
	r->end = answer->first + answer->length;
	head_begin(c, 206);
	add_validators(c);
	buf_addf(&http->work, "Content-Type: %s\r\nContent-Length: %lld\r\n"
	    "Content-Range: bytes %lld-%lld/%lld\r\n", r->path->type,
	    (long long)answer->length, (long long)r->next,
	    (long long)r->end - 1, (long long)r->file->version.size);
	head_end(c);
	r->head = output_copy(conn_output(c), http->work.at, http->work.len);
	return conn_go(c, STEP_BODY);
}

static enum go
not_modified(struct conn *c)
{
	struct request	*r = c->request;
	struct http	*http = c->http;

	r->status = 304;
	r->next = r->end = 0;
	head_begin(c, 304);
	add_validators(c);
	head_end(c);
	r->head = output_copy(conn_output(c), http->work.at, http->work.len);
	return conn_go(c, STEP_BODY);
}

static struct decide_answer
ask(struct conn *c)
{
	struct request		*r = c->request;
	const struct parse	*p = &r->parse;
	char			 etag[HEAD_ETAG_MOST];
	struct decide_have	 have = {
		.etag = { etag, head_etag(r->file, etag) },
		.modified = (time_t)r->file->version.mtime,
		.now = c->http->clock->wall,
		.size = r->file->version.size,
	};
	struct decide_ask	 fields = {
		.if_match = parse_field(p, c->input, FIELD_IF_MATCH),
		.if_none_match = parse_field(p, c->input, FIELD_IF_NONE_MATCH),
		.if_modified_since = parse_field(p, c->input,
		    FIELD_IF_MODIFIED_SINCE),
		.if_unmodified_since = parse_field(p, c->input,
		    FIELD_IF_UNMODIFIED_SINCE),
		.if_range = parse_field(p, c->input, FIELD_IF_RANGE),
	};

	if (file_is_made(r->file)) {	/* it has no date to compare with */
		have.modified = NEVER;
		fields.if_modified_since.at = NULL;
		fields.if_unmodified_since.at = NULL;
	}
	/* Of two Range fields neither counts; and ranges are of GET only. */
	if ((p->repeated & 1U << FIELD_RANGE) == 0 && p->method == METHOD_GET)
		fields.range = parse_field(p, c->input, FIELD_RANGE);
	return decide(&fields, &have);
}

enum go
head_step(struct conn *c)
{
	struct decide_answer	answer = { .status = 200 };

	if ((c->request->parse.present & CONDITIONS) != 0)
		answer = ask(c);
	switch (answer.status) {
	case 200:
		return whole(c);
	case 206:
		return part(c, &answer);
	case 304:
		return not_modified(c);
	default:
		return reply_error(c, answer.status);
	}
}
