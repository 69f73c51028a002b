/*
 * head: the status of a response and its head, from the header cache or made
 * for the request.
 */
#include "http/conn.h"
#include "http/fields.h"
#include "http/namespace.h"
#include "http/programs/kept.h"
#include "http/programs/other.h"
#include "http/reply.h"
#include "http/tag.h"
#include "lib/compiler.h"
#include "proto/conditional.h"
#include "proto/status.h"

#define CONDITIONS							\
	(1U << FIELD_IF_MATCH | 1U << FIELD_IF_NONE_MATCH |		\
	1U << FIELD_IF_MODIFIED_SINCE |					\
	1U << FIELD_IF_UNMODIFIED_SINCE | 1U << FIELD_RANGE | OTHER_BIT | \
	KEPT_BIT)

/* A date that no client has, for If-Range. */
#define NEVER		((time_t)1 << 40)

/* Begins the head of status 200. */
static COLD void
begin_full_head(struct conn *c)
{
	fields_begin(c, 200);
	fields_add_validators(c);
	fields_add_content(c, c->request->body.end);
	buf_adds(&c->http->work, "Accept-Ranges: bytes\r\n");
}

static COLD void
make_full_head(struct conn *c)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	begin_full_head(c);
	fields_end(c);
	if (!http->caches->heads.unaligned)
		fields_pad(c);
	/* NULL: the path is another version's by now. */
	r->response.cached_head = path_info_put_head(&http->caches->paths,
	    r->path, &r->info, r->response.head_kind,
	    (struct str){ http->work.at, http->work.len }, FIELDS_DATE_AT,
	    &http->date.head);
	if (r->response.cached_head == NULL)
		r->response.head = output_copy(conn_output(c), http->work.at,
		    http->work.len);
}

static enum go
respond_full(struct conn *c)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	r->response.status = 200;
	r->body.next = 0;
	r->body.end = r->file->version.size;
	r->response.cached_head = path_info_hold_head(&http->caches->paths,
	    r->path, &r->info, r->response.head_kind, &http->date.head);
	if (r->response.cached_head == NULL)
		make_full_head(c);
	return conn_go(c, STEP_BODY);
}

/* Ends a head that is made for this request. */
static enum go
end_head(struct conn *c)
{
	const struct buf	*work = &c->http->work;

	fields_end(c);
	c->request->response.head = output_copy(conn_output(c), work->at,
	    work->len);
	return conn_go(c, STEP_BODY);
}

static void
begin_partial_head(struct conn *c, const struct cond_result *result)
{
	struct request		*r = c->request;

	r->response.status = 206;
	r->body.next = result->range[0].first;
	r->body.end = r->body.next + result->range[0].length;
	fields_begin(c, 206);
	fields_add_validators(c);
	if (result->n > 1)
		fields_add_ranges(c, result);
	else
		fields_add_range(c);
}

static void
begin_not_modified_head(struct conn *c)
{
	struct request		*r = c->request;

	r->response.status = (uint16_t)reply_why(c, WHY_NOT_MODIFIED);
	r->body.next = r->body.end = 0;
	fields_begin(c, 304);
	fields_add_validators(c);
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

/* Answers with an error page.  Conditions and ranges are about the target and
 * do not apply to it; of the conf's fields only those for errors do. */
static COLD enum go
respond_error_page(struct conn *c)
{
	struct request		*r = c->request;

	r->response.status = r->page.status;
	r->body.next = 0;
	r->body.end = r->file->version.size;
	fields_begin(c, r->response.status);
	fields_add_content(c, r->body.end);
	fields_add_always(c);
	return end_head(c);
}

static void
evaluate_conditions(struct conn *c, struct cond_result *result)
{
	struct request		*r = c->request;
	const struct parse	*p = &r->parse;
	const struct namespace	*kind = namespace_get(r->path->namespace);
	char			 etag[TAG_MAX];
	struct cond_selected	 selected = {
		.etag = { etag, tag_write(r, etag) },
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

	if (kind->undated) {
		selected.modified = NEVER;
		fields.if_modified_since.at = NULL;
		fields.if_unmodified_since.at = NULL;
	}
	/* All variants of a file have one date, so a date does not tell which
	 * variant the range is of. */
	if (kind->vary(r) != NULL && fields.if_range.len > 0 &&
	    fields.if_range.at[0] != '"')
		fields.if_range = STR("");
	/* Reserve room for both lists, so that the first does not move. */
	c->http->work.len = 0;
	buf_reserve(&c->http->work, p->size);
	fields.if_match = conn_field_list(c, FIELD_IF_MATCH);
	fields.if_none_match = conn_field_list(c, FIELD_IF_NONE_MATCH);
	if (p->method == METHOD_GET)	/* Range applies to GET only */
		fields.range = get_single_field(c, FIELD_RANGE);
	if ((p->present & KEPT_BIT) != 0)
		kept_select(kept_of(r), &selected, &fields);
	conditional_evaluate(&fields, &selected, result);
}

static enum go
refuse_condition(struct conn *c, const struct cond_result *result)
{
	return reply_error(c, reply_why(c, result->status == 416 ? WHY_RANGE :
	    WHY_CONDITION));
}

/* Begins the head of a file that is sent with a program's status. */
static void
begin_kept_head(struct conn *c)
{
	struct request		*r = c->request;
	const struct kept	*kept = kept_of(r);
	struct str		 reason = { kept->reason.at, kept->reason.len };

	if (reason.len == 0)
		reason = str_of(status_reason(kept->status));
	r->response.status = kept->status;
	fields_begin_answer(c, kept->status, reason);
	fields_add_content(c, r->body.end);
}

/* Answers with a file in place of a program's body. */
static COLD enum go
respond_kept(struct conn *c)
{
	struct request		*r = c->request;
	struct kept		*kept = kept_of(r);
	const char		*type = kept_type(kept);
	struct cond_result	 result = { .status = 200 };

	if (type != NULL)
		r->info.type = type;
	if (!kept->unconditional)
		evaluate_conditions(c, &result);
	r->response.status = 200;
	r->body.next = 0;
	r->body.end = r->file->version.size;
	if (result.status == 412 || result.status == 416)
		return refuse_condition(c, &result);
	if (kept->status != 0)
		begin_kept_head(c);
	else if (result.status == 206)
		begin_partial_head(c, &result);
	else if (result.status == 304)
		begin_not_modified_head(c);
	else
		begin_full_head(c);
	kept_replace_fields(c, r->response.status);
	return end_head(c);
}

static COLD enum go
respond_conditional(struct conn *c)
{
	struct cond_result	result;

	if ((c->request->parse.present & KEPT_BIT) != 0)
		return respond_kept(c);
	if (other_is(c->request))
		return other_refuse(c);
	evaluate_conditions(c, &result);
	switch (result.status) {
	case 200:
		return respond_full(c);
	case 206:
		begin_partial_head(c, &result);
		return end_head(c);
	case 304:
		begin_not_modified_head(c);
		return end_head(c);
	default:
		return refuse_condition(c, &result);
	}
}

enum go
head_step(struct conn *c)
{
	if (c->request->page.status != 0)
		return respond_error_page(c);
	return (c->request->parse.present & CONDITIONS) == 0 ? respond_full(c) :
	    respond_conditional(c);
}
