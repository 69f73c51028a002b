/*
 * access: lines in the common and the combined format, put together from
 * strings that are ready; whatever a client sent is escaped, so that a line
 * stays a line.
 */
#include <string.h>

#include "http/access.h"
#include "http/credentials.h"
#include "http/text.h"

#define LINE_MOST	8192	/* bytes */
#define REST		2048	/* of them, for what is no text of clients */
#define FIELD_MOST	1500	/* bytes of what a client sent, each */

struct line {
	char	*at;
	char	*end;
};

static void
add(struct line *l, const char *bytes, size_t n)
{
	memcpy(l->at, bytes, n);
	l->at += n;
}

/* In quotes; bytes that could be mistaken become \xHH. */
static void
add_quoted(struct line *l, struct str s)
{
	if (s.len > FIELD_MOST)
		s.len = FIELD_MOST;
	*l->at++ = '"';
	if (s.len == 0)
		*l->at++ = '-';
	l->at = text_escape(s, "\"", l->at, l->end);
	*l->at++ = '"';
}

/* Who has proved to be who; others can say what they like. */
static void
add_user(struct line *l, struct conn *c)
{
	const struct request	*r = c->request;
	struct credentials	 who;

	if (!r->known || !credentials_read(parse_field(&r->parse, c->input,
	    FIELD_AUTHORIZATION), &who)) {
		add(l, "-", 1);
		return;
	}
	l->at = text_escape(who.user, "\" ", l->at, l->end - LINE_MOST / 2);
	credentials_forget(&who);
}

void
access_line(struct conn *c)
{
	struct http		*http = c->http;
	const struct request	*r = c->request;
	struct line		 line, *l = &line;
	char			*start;

	if (http->log_room == NULL ||
	    (start = http->log_room(http->log_context, LINE_MOST)) == NULL)
		return;
	line.end = start + LINE_MOST - REST;
	l->at = text_peer(c, start);
	add(l, " - ", 3);
	add_user(l, c);
	add(l, " [", 2);
	add(l, http->date_log, sizeof(http->date_log));
	add(l, "] ", 2);
	add_quoted(l, parse_str(c->input, r->parse.request_line));
	add(l, " ", 1);
	l->at = text_number(r->status, l->at);
	add(l, " ", 1);
	if (r->body == 0)
		add(l, "-", 1);
	else
		l->at = text_number((uint64_t)r->body, l->at);
	if (http->conf->log.access_format == LOG_FORMAT_COMBINED) {
		add(l, " ", 1);
		add_quoted(l, parse_field(&r->parse, c->input, FIELD_REFERER));
		add(l, " ", 1);
		add_quoted(l, parse_field(&r->parse, c->input,
		    FIELD_USER_AGENT));
	}
	add(l, "\n", 1);
	http->log(http->log_context, (size_t)(l->at - start));
}
