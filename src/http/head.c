/*
 * head: the status of a response and its head, from the header cache or made
 * for the request.
 */
#include <string.h>

#include "http/conn.h"
#include "http/head.h"
#include "http/listing.h"
#include "http/reply.h"
#include "http/rules.h"
#include "http/variant.h"
#include "lib/compiler.h"
#include "lib/hash.h"
#include "proto/conditional.h"
#include "proto/status.h"

/* Date follows the status line at once, at the same place in each head of
 * status 200, where the header cache rewrites it. */
#define STATUS_LINE	"HTTP/1.1 200 OK\r\nDate: "
#define DATE_AT		(sizeof(STATUS_LINE) - 1)

/* The field that is lengthened when a head is padded. */
#define SLACK		"\r\nServer:"
#define SLACK_AT	(DATE_AT + DATE_LENGTH + sizeof(SLACK) - 1)

/* A tag has 64 bits in digits of six bits: each response carries it, and each
 * cached head stores it. */
#define ETAG_DIGITS	11
static const char etag_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz0123456789-_";

#define CONDITIONS							\
	(1U << FIELD_IF_MATCH | 1U << FIELD_IF_NONE_MATCH |		\
	1U << FIELD_IF_MODIFIED_SINCE |					\
	1U << FIELD_IF_UNMODIFIED_SINCE | 1U << FIELD_RANGE)

/* A date that no client has, for If-Range. */
#define NEVER		((time_t)1 << 40)

static const char *const connection_fields[PATHNAME_HEADS] = {
	"", "Connection: close\r\n", "Connection: keep-alive\r\n"
};

size_t
head_etag(const struct file *f, char etag[HEAD_ETAG_MAX])
{
	/* The key is no secret: a file has the same tag after a restart. */
	static const struct hash_key	key = { 0, 0 };
	const struct job_version	*v = &f->version;
	const uint64_t	facts[] = { v->dev, v->ino, (uint64_t)v->size,
	    (uint64_t)v->mtime, v->mtime_ns, (uint64_t)v->ctime, v->ctime_ns };
	uint64_t	bits = hash_bytes(&key, 0, facts, sizeof(facts));
	size_t		n = 0;

	if (!f->strong) {
		etag[n++] = 'W';
		etag[n++] = '/';
	}
	etag[n++] = '"';
	for (int i = 0; i < ETAG_DIGITS; i++, bits >>= 6)
		etag[n++] = etag_digits[bits & 63];
	etag[n++] = '"';
	etag[n] = '\0';
	return n;
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
	buf_add(b, c->http->date_text, DATE_LENGTH);
	buf_adds(b, SLACK " ");
	buf_adds(b, c->http->server);
	buf_adds(b, "\r\n");
	buf_adds(b, connection_fields[c->request->head_kind]);
}

void
head_end(struct conn *c)
{
	buf_adds(&c->http->work, "\r\n");
}

static void
add_media_type(struct buf *b, const struct conf_rules *rules, const char *type)
{
	buf_adds(b, type);
	if (rules != NULL && rules->charset != NULL && mime_wants_charset(type))
		buf_addf(b, "; charset=%s", rules->charset);
}

void
head_add_type(struct conn *c, const struct conf_rules *rules, const char *type)
{
	struct buf	*b = &c->http->work;

	buf_adds(b, "Content-Type: ");
	add_media_type(b, rules, type);
	buf_adds(b, "\r\n");
	if (rules == NULL || rules->nosniff)
		buf_adds(b, "X-Content-Type-Options: nosniff\r\n");
}

/* Adds fields that every response about the file has, 304 included. */
static void
add_validators(struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules = r->path->rules;
	struct buf		*b = &c->http->work;
	char			 etag[HEAD_ETAG_MAX], date[DATE_LENGTH];
	int64_t			 age = rules_max_age(rules, r->info.type);

	head_etag(r->file, etag);
	variant_add_vary(b, r);
	if (listing_is_page(r->path->namespace))
		listing_add_fields(c, b);
	else {
		date_format((time_t)r->file->version.mtime, date);
		buf_adds(b, "Last-Modified: ");
		buf_add(b, date, sizeof(date));
		buf_adds(b, "\r\n");
	}
	buf_addf(b, "ETag: %s\r\n", etag);
	if (age != -1)
		buf_addf(b, "Cache-Control: max-age=%lld\r\n",
		    (long long)age);
	buf_adds(b, rules->field_lines);
}

/* Pads a head to whole cache lines, inside of its slack field. */
static void
pad_head(struct buf *b)
{
	size_t	slack = -b->len % HEADER_ALIGNMENT;

	buf_reserve(b, slack);
	memmove(b->at + SLACK_AT + slack, b->at + SLACK_AT, b->len - SLACK_AT);
	memset(b->at + SLACK_AT, ' ', slack);
	b->len += slack;
}

static COLD void
make_full_head(struct conn *c)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	head_begin(c, 200);
	add_validators(c);
	head_add_type(c, r->path->rules, r->info.type);
	variant_add_coding(&http->work, r);
	buf_addf(&http->work, "Content-Length: %lld\r\n"
	    "Accept-Ranges: bytes\r\n", (long long)r->end);
	head_end(c);
	if (!http->caches->heads.unaligned)
		pad_head(&http->work);
	/* NULL: the path is another version's by now. */
	r->cached_head = path_info_put_head(&http->caches->paths, r->path,
	    &r->info, r->head_kind,
	    (struct str){ http->work.at, http->work.len }, DATE_AT,
	    &http->date);
	if (r->cached_head == NULL)
		r->head = output_copy(conn_output(c), http->work.at,
		    http->work.len);
}

static enum go
respond_full(struct conn *c)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	r->status = 200;
	r->next = 0;
	r->end = r->file->version.size;
	r->cached_head = path_info_hold_head(&http->caches->paths, r->path,
	    &r->info, r->head_kind, &http->date);
	if (r->cached_head == NULL)
		make_full_head(c);
	return conn_go(c, STEP_BODY);
}

static void
add_range(struct conn *c)
{
	const struct request	*r = c->request;

	head_add_type(c, r->path->rules, r->info.type);
	variant_add_coding(&c->http->work, r);
	buf_addf(&c->http->work, "Content-Length: %lld\r\n"
	    "Content-Range: bytes %lld-%lld/%lld\r\n",
	    (long long)(r->end - r->next), (long long)r->next,
	    (long long)r->end - 1, (long long)r->file->version.size);
}

static void
add_ranges(struct conn *c, const struct cond_result *result)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;
	uint64_t		 n = http->boundary_count++;
	struct buf		 fields = { 0 };

	/* Content-Encoding is about the parts, not the multipart around
	 * them. */
	buf_adds(&fields, "Content-Type: ");
	add_media_type(&fields, r->path->rules, r->info.type);
	buf_adds(&fields, "\r\n");
	variant_add_coding(&fields, r);
	r->multipart = multipart_new(result, buf_string(&fields),
	    r->file->version.size,
	    hash_bytes(&http->boundary_key, 0, &n, sizeof(n)));
	buf_free(&fields);
	buf_addf(&http->work, "Content-Type: multipart/byteranges; "
	    "boundary=%s\r\nContent-Length: %lld\r\n", r->multipart->boundary,
	    (long long)r->multipart->length);
}

static enum go
respond_partial(struct conn *c, const struct cond_result *result)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	r->status = 206;
	r->next = result->range[0].first;
	r->end = r->next + result->range[0].length;
	head_begin(c, 206);
	add_validators(c);
	if (result->n > 1)
		add_ranges(c, result);
	else
		add_range(c);
	head_end(c);
	r->head = output_copy(conn_output(c), http->work.at, http->work.len);
	return conn_go(c, STEP_BODY);
}

static enum go
respond_not_modified(struct conn *c)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	r->status = (uint16_t)reply_why(c, WHY_NOT_MODIFIED);
	r->next = r->end = 0;
	head_begin(c, 304);
	add_validators(c);
	head_end(c);
	r->head = output_copy(conn_output(c), http->work.at, http->work.len);
	return conn_go(c, STEP_BODY);
}

struct str
head_list(struct conn *c, enum parse_field f)
{
	const struct parse	*p = &c->request->parse;
	struct buf		*b = &c->http->work;
	size_t			 start = b->len;
	struct str		 line;
	uint32_t		 at = 0;

	if ((p->repeated & 1U << f) == 0)
		return parse_field(p, c->input, f);
	while (parse_next(p, c->input, f, &at, &line)) {
		buf_add(b, line.at, line.len);
		buf_addc(b, ',');
	}
	return (struct str){ b->at + start, b->len - start };
}

/* The value of a field that is no list; if it is sent twice, neither is
 * valid. */
static struct str
get_single_field(const struct conn *c, enum parse_field f)
{
	const struct parse	*p = &c->request->parse;

	return (p->repeated & 1U << f) != 0 ? STR("") :
	    parse_field(p, c->input, f);
}

/* Answers with an error page.  Conditions, ranges and fields of the conf are
 * about the target and do not apply to it. */
static COLD enum go
respond_error_page(struct conn *c)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	r->status = r->page_status;
	r->next = 0;
	r->end = r->file->version.size;
	head_begin(c, r->status);
	reply_add_status_fields(c, r->status);
	head_add_type(c, r->path->rules, r->info.type);
	buf_addf(&http->work, "Content-Length: %lld\r\n", (long long)r->end);
	head_end(c);
	r->head = output_copy(conn_output(c), http->work.at, http->work.len);
	return conn_go(c, STEP_BODY);
}

static void
evaluate_conditions(struct conn *c, struct cond_result *result)
{
	struct request		*r = c->request;
	const struct parse	*p = &r->parse;
	char			 etag[HEAD_ETAG_MAX];
	struct cond_selected	 selected = {
		.etag = { etag, head_etag(r->file, etag) },
		.modified = (time_t)r->file->version.mtime,
		.now = c->http->clock->wall,
		.size = r->file->version.size,
	};
	struct cond_request	 fields = {
		.if_modified_since = get_single_field(c,
		    FIELD_IF_MODIFIED_SINCE),
		.if_unmodified_since = get_single_field(c,
		    FIELD_IF_UNMODIFIED_SINCE),
		.if_range = get_single_field(c, FIELD_IF_RANGE),
	};

	if (listing_is_page(r->path->namespace)) {	/* has no date */
		selected.modified = NEVER;
		fields.if_modified_since.at = NULL;
		fields.if_unmodified_since.at = NULL;
	}
	/* All variants of a file have one date, so a date does not tell which
	 * variant the range is of. */
	if (variant_has_siblings(r) && fields.if_range.len > 0 &&
	    fields.if_range.at[0] != '"')
		fields.if_range = STR("");
	/* Reserve room for both lists, so that the first does not move. */
	c->http->work.len = 0;
	buf_reserve(&c->http->work, p->size);
	fields.if_match = head_list(c, FIELD_IF_MATCH);
	fields.if_none_match = head_list(c, FIELD_IF_NONE_MATCH);
	if (p->method == METHOD_GET)	/* Range applies to GET only */
		fields.range = get_single_field(c, FIELD_RANGE);
	conditional_evaluate(&fields, &selected, result);
}

static COLD enum go
respond_conditional(struct conn *c)
{
	struct cond_result	result;

	evaluate_conditions(c, &result);
	switch (result.status) {
	case 200:
		return respond_full(c);
	case 206:
		return respond_partial(c, &result);
	case 304:
		return respond_not_modified(c);
	default:
		return reply_error(c, reply_why(c, result.status == 416 ?
		    WHY_RANGE : WHY_CONDITION));
	}
}

enum go
head_step(struct conn *c)
{
	if (c->request->page_status != 0)
		return respond_error_page(c);
	return (c->request->parse.present & CONDITIONS) == 0 ? respond_full(c) :
	    respond_conditional(c);
}
