/*
 * reply: short pages made on the spot.
 */
#include <string.h>

#include "http/conn.h"
#include "http/head.h"
#include "http/reply.h"
#include "http/status.h"
#include "http/uri.h"
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
	buf_addf(&http->work, "Content-Type: text/html; charset=utf-8\r\n"
	    "Content-Length: %zu\r\n", text.len);
	head_end(c);
	if (c->request->parse.method != METHOD_HEAD) {
		buf_add(&http->work, text.at, text.len);
		body = text.len;
	}
	buf_free(&text);
	return answer(c, status, body);
}

static void
add_specials(struct conn *c, int status, const struct file *file)
{
	struct buf	*b = &c->http->work;

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

	need(!r->answered && status_known(status));
	head_begin(c, status);
	add_specials(c, status, r->file);
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
	const struct parse	*p = &c->request->parse;
	struct buf		*b = &c->http->work;
	struct str		 query = parse_str(c->input, p->query);
	char			 path[JOB_PATH_MAX], encoded[3 * JOB_PATH_MAX];
	size_t			 len;

	/* As it was understood, and encoded: what was sent may begin with "//"
	 * or "/\", which a browser takes for another host. */
	need(uri_resolve(parse_str(c->input, p->path), path, sizeof(path),
	    &len) == 0);
	uri_encode((struct str){ path, len }, encoded);
	head_begin(c, 301);
	buf_addf(b, "Location: %s/", encoded);
	if (query.len > 0) {
		buf_addc(b, '?');
		buf_add(b, query.at, query.len);
	}
	buf_adds(b, "\r\n");
	conn_request_reset(c);
	return page(c, 301);
}
