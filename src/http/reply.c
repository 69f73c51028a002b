/*
 * reply: makes short responses.
 */
#include <string.h>

#include "http/conn.h"
#include "http/fields.h"
#include "http/location.h"
#include "http/page.h"
#include "http/log/refusal.h"
#include "http/programs/run.h"
#include "http/reply.h"
#include "http/rules.h"
#include "proto/status.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/scoreboard.h"

static void
add_page(struct buf *page, int status, const char *sentence)
{
	buf_addf(page, PAGE_BEGIN "<title>%d %s</title>\n"
	    "<style>\n" PAGE_STYLE "</style></head>\n"
	    "<body><h1>%d %s</h1><p>%s</p></body></html>\n",
	    status, status_reason(status), status, status_reason(status),
	    sentence);
}

enum go
reply_send_work(struct conn *c, int status, size_t body)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;

	output_write(conn_output(c), http->work.at, http->work.len);
	r->response.status = (uint16_t)status;
	r->response.answered = true;
	r->body.sent = (int64_t)body;
	r->response.head_sent = (uint32_t)(http->work.len - body);
	r->body.next = r->body.end = 0;
	return conn_send(c, STEP_FINISH);
}

/* Ends the head in http->work, adds a short page and sends both. */
static enum go
send_page(struct conn *c, int status)
{
	struct http_loop	*http = c->http;
	struct buf		 text = { 0 };
	size_t			 body = 0;

	add_page(&text, status, status_sentence(status));
	fields_add_type(c, rules_of(c->request), "text/html; charset=utf-8");
	buf_addf(&http->work, "Content-Length: %zu\r\n", text.len);
	fields_add_always(c);
	fields_end(c);
	if (c->request->parse.method != METHOD_HEAD) {
		buf_add(&http->work, text.at, text.len);
		body = text.len;
	}
	buf_free(&text);
	return reply_send_work(c, status, body);
}

int
reply_why(struct conn *c, enum why why)
{
	struct request	*r = c->request;

	/* The reason for the error stays, if its page cannot be had either. */
	if (r != NULL && r->page.status == 0 && why != WHY_NONE)
		r->response.why = (uint8_t)why;
	return why_status(why);
}

enum go
reply_options(struct conn *c)
{
	/* A 204 has no body by definition.  A 200 would need Content-Length,
	 * and would promise a text about the options. */
	fields_begin(c, 204);
	fields_add_allow(c);
	fields_add_always(c);
	fields_end(c);
	return reply_send_work(c, 204, 0);
}

enum go
reply_internal_redirect(struct conn *c, const char *page, int failure)
{
	struct request	*r = c->request;

	r->page.target_rules = rules_of(r);
	conn_request_reset(c);
	if (r->path != NULL)
		pathname_release(&c->http->caches->paths, &r->path);
	r->page.name = page;
	r->lookup.no_variants = false;
	r->page.status = (uint16_t)failure;
	r->lookup.done = false;
	r->disk.attempts = 0;
	r->auth.passed = 0;
	if (r->run != NULL)	/* programs are asked about the page, too */
		r->run->authorized.next = 0;
	return conn_go(c, STEP_AUTHORIZE);
}

/* The conf's page for a status.  A request that cannot be understood is taken
 * as one without a host; a client with too many connections costs no more. */
static const char *
find_page(struct conn *c, int status)
{
	struct request	*r = c->request;
	const char	*page;

	if (r->site != NULL)
		return rules_error_page(r, status);
	if (c->session->opening == OPENING_REFUSED)
		return NULL;
	r->site = conf_find_site(c->http->conf, c->session->listener, NULL, 0);
	page = rules_error_page(r, status);
	if (page == NULL)
		r->site = NULL;
	return page;
}

void
reply_leave_body(struct conn *c)
{
	if (!c->request->discard.deferred)
		return;
	c->close = c->linger = true;
	c->request->response.head_kind = 1;
}

enum go
reply_error(struct conn *c, int status)
{
	struct request	*r = c->request;
	const char	*page;

	need(!r->response.answered && status_known(status));
	reply_leave_body(c);
	if (r->page.status == 0) {
		rules_choose(c);
		refusal_log(c, status);
		if (r->file != NULL)
			r->page.size = r->file->version.size;
		page = find_page(c, status);
		if (page != NULL)
			return reply_internal_redirect(c, page, status);
	} else {			/* the error page cannot be had */
		refusal_log_page(c);
		status = r->page.status;
	}
	fields_begin(c, status);
	conn_request_reset(c);
	return send_page(c, status);
}

enum go
reply_error_close(struct conn *c, int status)
{
	c->close = c->linger = true;
	if (c->request == NULL)
		conn_request_begin(c);
	c->request->response.head_kind = 1;
	return reply_error(c, status);
}

enum go
reply_redirect(struct conn *c)
{
	const struct path_info	*a = &c->request->info;
	bool			 is_rule = a->kind == PATHNAME_REDIRECT;
	int			 status = reply_why(c, is_rule ? WHY_REDIRECT :
				    WHY_SLASH);

	if (is_rule)
		status = a->status;
	fields_begin(c, status);
	location_add(c);
	conn_request_reset(c);
	return send_page(c, status);
}

enum go
reply_ready(struct conn *c)
{
	struct buf	*work = &c->http->work;
	enum why	 why = scoreboard_is_leaving() ? WHY_LEAVING :
			    WHY_READY;
	int		 status = reply_why(c, why);
	struct str	 text = why == WHY_READY ? STR("ready\n") :
			    STR("not ready\n");

	fields_begin(c, status);
	fields_add_type(c, rules_of(c->request), "text/plain");
	buf_addf(work, "Cache-Control: no-store\r\n"
	    "Content-Length: %zu\r\n", text.len);
	fields_end(c);
	if (c->request->parse.method == METHOD_HEAD)
		text.len = 0;
	buf_add(work, text.at, text.len);
	conn_request_reset(c);
	return reply_send_work(c, status, text.len);
}
