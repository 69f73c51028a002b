/*
 * redirect: a request whose program has answered with a path: it goes on as one
 * for that path, without a body (RFC 3875, section 6.2.2).
 *
 * The head is written anew.  Behind its first line stands the old one, which
 * the access log shows.
 */
#include <string.h>

#include "http/programs/run.h"

#define REDIRECTS_MAX	5

/* Fields about a body that is gone, and the host, which may have stood in the
 * target. */
static const char *const dropped_fields[] = {
	"Content-Length", "Content-Type", "Content-Encoding",
	"Transfer-Encoding", "Expect", "Host"
};

static bool
is_dropped(struct str name)
{
	for (size_t i = 0; i < sizeof(dropped_fields) /
	    sizeof(dropped_fields[0]); i++)
		if (str_same_nocase(name, str_of(dropped_fields[i])))
			return true;
	return false;
}

/* Writes the head of the request for the path. */
static void
write_head(const struct conn *c, struct buf *head)
{
	const struct request	*r = c->request;
	const struct parse	*p = &r->parse;
	const struct run	*run = r->run;
	struct str		 name, value;
	uint32_t		 at = 0;

	buf_addf(head, "%s ", p->method == METHOD_HEAD ? "HEAD" : "GET");
	buf_add(head, run->head.at + run->parse.location.at,
	    run->parse.location.len);
	buf_addf(head, " HTTP/1.%d\r\n", p->minor);
	if (p->host.len > 0)
		buf_addf(head, "Host: %.*s\r\n", (int)p->host.len,
		    c->input + p->host.at);
	while (parse_next_line(p, c->input, &at, &name, &value)) {
		if (is_dropped(name))
			continue;
		buf_add(head, name.at, name.len);
		buf_adds(head, ": ");
		buf_add(head, value.at, value.len);
		buf_adds(head, "\r\n");
	}
	buf_adds(head, "\r\n");
}

/* Moves a span that is behind the first line by n bytes. */
static void
move_span(struct span *s, uint32_t line, uint32_t n)
{
	if (s->at >= line)
		s->at += n;
}

/* Puts the old request line behind the new one. */
static void
insert_line(struct parse *p, struct buf *head, struct str old)
{
	uint32_t	line = p->request_line.at + p->request_line.len + 2;
	uint32_t	n = (uint32_t)old.len + 2;

	buf_reserve(head, n);
	memmove(head->at + line + n, head->at + line, head->len - line);
	memcpy(head->at + line, old.at, old.len);
	memcpy(head->at + line + old.len, "\r\n", 2);
	head->len += n;
	p->request_line = (struct span){ line, (uint32_t)old.len };
	p->size += n;
	move_span(&p->host, line, n);
	for (int i = 0; i < FIELD_COUNT; i++)
		if (parse_has(p, (enum parse_field)i))
			move_span(&p->field[i], line, n);
}

/* Puts a head in the place of the request's; what is behind that stays. */
static void
replace_input(struct conn *c, struct buf *head)
{
	size_t	old = c->request->parse.size;

	conn_keep_input(c);
	buf_add(head, c->input + old, c->input_len - old);
	buf_wipe(&c->own_input);
	c->own_input = *head;
	c->input = head->at;
	c->input_len = head->len;
}

/* Makes the request a new one, but for its head, its site and what has been
 * counted. */
static void
renew_request(struct conn *c, const struct parse *p)
{
	struct request			*r = c->request;
	const struct conf_site		*site = r->site;
	uint8_t				 n = r->local_redirects;

	conn_request_reset(c);
	pathname_release(&c->http->caches->paths, &r->path);
	if (r->auth.entry != NULL)
		auth_release(&c->http->caches->auth, &r->auth.entry);
	run_free(c);
	memset(r, 0, sizeof(*r));
	r->parse = *p;
	r->site = site;
	r->auth.counted = true;
	r->local_redirects = n + 1;
	r->response.head_kind = c->close ? 1 : p->minor == 0 ? 2 : 0;
}

enum go
redirect_begin(struct conn *c)
{
	struct request	*r = c->request;
	struct buf	 head = { 0 };
	struct str	 old = parse_str(c->input, r->parse.request_line);
	struct parse	 p = { 0 };

	if (r->local_redirects == REDIRECTS_MAX) {
		run_count(c, PROGRAM_STATS_FAILED);
		return failure_reply(c, WHY_PROGRAM_LOOP, "its redirect to a "
		    "path is the sixth of this request");
	}
	write_head(c, &head);
	parse_init(&p);
	if (parse_feed(&p, &c->http->parse_limits, head.at, head.len) !=
	    PARSE_DONE) {
		buf_wipe(&head);
		run_count(c, PROGRAM_STATS_FAILED);
		return failure_reply(c, WHY_PROGRAM_ANSWER, "its Location is "
		    "no valid path");
	}
	run_count(c, PROGRAM_STATS_ANSWERED);
	insert_line(&p, &head, old);
	replace_input(c, &head);
	renew_request(c, &p);
	return conn_go(c, STEP_AUTHORIZE);
}
