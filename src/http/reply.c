/*
 * reply: short pages made on the spot.
 */
#include <string.h>

#include "http/conn.h"
#include "http/find.h"
#include "http/head.h"
#include "http/location.h"
#include "http/reply.h"
#include "http/rules.h"
#include "http/status.h"
#include "lib/mem.h"
#include "lib/need.h"

#define NAME(method)	#method
#define ALLOW		"Allow: " REPLY_METHODS(NAME, ", ") "\r\n"
/* Seconds after which a busy server may be asked again. */
#define RETRY_AFTER	"Retry-After: 5\r\n"

static void
add_page(struct buf *page, int status, const char *sentence)
{
	buf_addf(page, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
	    "<meta charset=\"utf-8\"><title>%d %s</title></head>\n"
	    "<body><h1>%d %s</h1><p>%s</p></body></html>\n",
	    status, status_reason(status), status, status_reason(status),
	    sentence);
}

/* Sends what is in http->work, so many bytes of it a body. */
static enum go
answer(struct conn *c, int status, size_t body)
{
	struct request	*r = c->request;
	struct http	*http = c->http;
	struct piece	 piece;

	piece = output_copy(conn_output(c), http->work.at, http->work.len);
	output_add(conn_output(c), &piece);
	r->status = (uint16_t)status;
	r->answered = true;
	r->body = (int64_t)body;
	r->next = r->end = 0;
	return conn_send(c, STEP_FINISH);
}

/* Finishes the head in http->work with this page behind it, and sends it. */
static enum go
page(struct conn *c, int status)
{
	struct http	*http = c->http;
	struct buf	 text = { 0 };
	size_t		 body = 0;

	add_page(&text, status, status_sentence(status));
	head_add_type(c, rules_of(c->request), "text/html; charset=utf-8");
	buf_addf(&http->work, "Content-Length: %zu\r\n", text.len);
	head_end(c);
	if (c->request->parse.method != METHOD_HEAD) {
		buf_add(&http->work, text.at, text.len);
		body = text.len;
	}
	buf_free(&text);
	return answer(c, status, body);
}

void
reply_add_specials(struct conn *c, int status)
{
	const struct file	*file = c->request->file;
	struct buf		*b = &c->http->work;

	if (status == 405)
		buf_adds(b, ALLOW);
	else if (status == 503)
		buf_adds(b, RETRY_AFTER);
	else if (status == 416)
		buf_addf(b, "Content-Range: bytes */%lld\r\n",
		    (long long)file->version.size);
}

enum go
reply_options(struct conn *c)
{
	/* 204 says by itself that nothing follows; 200 would need a length,
	 * and would promise a text about the options. */
	head_begin(c, 204);
	buf_adds(&c->http->work, ALLOW);
	head_end(c);
	return answer(c, 204, 0);
}

enum go
reply_error(struct conn *c, int status)
{
	struct request	*r = c->request;
	const char	*instead;

	need(!r->answered && status_known(status));
	if (r->failure != 0)		/* its page cannot be had */
		status = r->failure;
	else if ((instead = rules_page(r, status)) != NULL)
		return find_instead(c, instead, status);
	head_begin(c, status);
	reply_add_specials(c, status);
	conn_request_reset(c);
	return page(c, status);
}

enum go
reply_refuse(struct conn *c, int status)
{
	c->close = c->linger = true;
	if (c->request == NULL)
		conn_request_begin(c);
	c->request->variant = 1;
	return reply_error(c, status);
}

enum go
reply_redirect(struct conn *c)
{
	const struct path	*p = c->request->path;
	int			 status = p->kind == PATHNAME_REDIRECT ?
				    p->status : 301;

	head_begin(c, status);
	location_add(c);
	conn_request_reset(c);
	return page(c, status);
}
