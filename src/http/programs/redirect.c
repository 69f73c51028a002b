/*
 * redirect: a request whose program has answered with a path: it goes on as one
 * for that path, without a body (RFC 3875, section 6.2.2; X-Accel-Redirect).
 *
 * The head is written anew.  Behind its first line stands the old one, which
 * the access log shows.
 */
#include <string.h>

#include "http/programs/kept.h"
#include "http/programs/run.h"
#include "proto/char_class.h"

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
	return str_is_among(name, dropped_fields,
	    sizeof(dropped_fields) / sizeof(dropped_fields[0]));
}

/* Whether a status leaves room for a file. */
static bool
may_have_file(int status)
{
	return status != 204 && status != 205 && status != 304;
}

enum run_next
redirect_choose(const struct run *run)
{
	const struct cgi_head	*p = &run->parse;

	if (cgi_head_is_local(p, run->head.at))
		return RUN_LOCAL;
	if (p->file.len > 0 && run->program->sendfile.n > 0 &&
	    may_have_file(p->status))
		return RUN_FILE;
	return p->path.len > 0 ? RUN_PATH : RUN_RELAY;
}

/* The path, as the program has written it. */
static struct str
get_path(const struct run *run)
{
	const struct span	*s = run->next == RUN_PATH ?
				    &run->parse.path : &run->parse.location;

	return (struct str){ run->head.at + s->at, s->len };
}

/* Adds a path as a target, with an escape for each byte that no target has. */
static void
add_target(struct str path, struct buf *head)
{
	size_t	n;

	while (path.len > 0) {
		n = char_class_length(path.at, path.len, CHAR_CLASS_TARGET);
		buf_add(head, path.at, n);
		str_skip(&path, n);
		if (path.len == 0)
			break;
		buf_addf(head, "%%%02X", (unsigned)(unsigned char)path.at[0]);
		str_skip(&path, 1);
	}
}

/* Writes the head of the request for the path. */
static void
write_head(const struct conn *c, struct buf *head)
{
	const struct request	*r = c->request;
	const struct parse	*p = &r->parse;
	struct str		 path = get_path(r->run), name, value;
	uint32_t		 at = 0;

	buf_addf(head, "%s ", p->method == METHOD_HEAD ? "HEAD" : "GET");
	if (r->run->next == RUN_PATH)
		add_target(path, head);
	else
		buf_add(head, path.at, path.len);
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
	struct run			*run = r->run;
	uint8_t				 n = r->local_redirects;

	conn_request_reset(c);
	pathname_release(&c->http->caches->paths, &r->path);
	if (r->auth.entry != NULL)
		auth_release(&c->http->caches->auth, &r->auth.entry);
	run_leave(c);
	memset(r, 0, sizeof(*r));
	r->parse = *p;
	r->site = site;
	r->auth.counted = true;
	r->local_redirects = n + 1;
	r->run = run;
	kept_note(r);
	r->response.head_kind = c->close ? 1 : p->minor == 0 ? 2 : 0;
}

/* Reads the head of the request for the path; false: that is no path. */
static bool
make_head(const struct conn *c, struct parse *p, struct buf *head)
{
	if (get_path(c->request->run).at[0] != '/')
		return false;
	write_head(c, head);
	parse_init(p);
	return parse_feed(p, &c->http->parse_limits, head->at, head->len) ==
	    PARSE_DONE;
}

enum go
redirect_begin(struct conn *c)
{
	struct request	*r = c->request;
	struct buf	 head = { 0 };
	struct str	 old;
	struct parse	 p = { 0 };

	feed_leave(c);
	if (r->run->next == RUN_FILE)
		return sendfile_begin(c);
	if (r->local_redirects == REDIRECTS_MAX)
		return failure_reply(c, WHY_PROGRAM_LOOP, "its redirect to a "
		    "path is the sixth of this request");
	old = parse_str(c->input, r->parse.request_line);
	if (!make_head(c, &p, &head)) {
		buf_wipe(&head);
		return failure_reply(c, WHY_PROGRAM_ANSWER, "its %s is no "
		    "valid path", r->run->next == RUN_PATH ?
		    "X-Accel-Redirect" : "Location");
	}
	run_count(c, PROGRAM_STATS_ANSWERED);
	if (r->run->next == RUN_PATH)
		kept_new(c, false);
	insert_line(&p, &head, old);
	replace_input(c, &head);
	renew_request(c, &p);
	return conn_go(c, STEP_AUTHORIZE);
}
