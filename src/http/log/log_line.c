/*
 * log_line: writes lines of the access log by the pieces of their format.
 * Bytes of a client are escaped, so a line stays one line.
 */
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "http/log/log_escape.h"
#include "http/log/log_line.h"
#include "http/programs/authorizer.h"
#include "http/rules.h"
#include "lib/compiler.h"
#include "lib/lines.h"
#include "lib/sockaddr.h"
#include "proto/credentials.h"

#define SENT_MAX	8192	/* bytes of a client's, escaped */
#define FIELD_MAX	1500	/* bytes of a client's field, before escapes */

/* Fields that no client can lengthen have room behind the others. */
#define LOG_LINE_MAX	(SENT_MAX + CONF_LOG_LINE_MAX +			\
    CONF_LOG_LITERAL_MAX + LOG_NUMBER_MAX)

struct line {
	struct conn	*c;
	bool		 json;
	char		*end;		/* of text of clients */
};

/* Writes a field of a line and returns where it ends. */
typedef char	*put_fn(const struct line *, const struct conf_log_item *,
		    char *to);

static char *
copy_bytes(const char *bytes, size_t n, char *to)
{
	memcpy(to, bytes, n);
	return to + n;
}

/* Writes an absent value: a dash, but nothing in JSON. */
static char *
put_absent(const struct line *l, char *to)
{
	if (!l->json)
		*to++ = '-';
	return to;
}

static char *
put_sent_text(const struct line *l, struct str s, bool spaces, char *to)
{
	if (s.len == 0)
		return put_absent(l, to);
	if (to >= l->end)
		return to;
	if (s.len > FIELD_MAX)
		s.len = FIELD_MAX;
	return l->json ? log_escape_json(s, to, l->end) :
	    log_escape_text(s, spaces, to, l->end);
}

static char *
put_text(const struct line *l, struct str s, char *to)
{
	return put_sent_text(l, s, false, to);
}

/* A request that was refused before it was read has no input. */
static char *
put_span(const struct line *l, struct span s, char *to)
{
	if (s.len == 0)
		return put_absent(l, to);
	return put_text(l, (struct str){ l->c->input + s.at, s.len }, to);
}

static char *
put_address(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_addr(l->c->session, to);
}

/* Marks the address for the access logger, which puts the name in its place.
 * No other byte of a line equals the marks. */
static char *
put_client(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	if (!l->c->http->conf->log.names)
		return log_escape_addr(l->c->session, to);
	*to++ = LINES_NAME_MARK;
	to = log_escape_addr(l->c->session, to);
	*to++ = LINES_NAME_MARK;
	return to;
}

static char *
put_nobody(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return put_absent(l, to);
}

static char *
put_known_user(const struct line *l, char *to)
{
	const struct conn	*c = l->c;
	struct credentials	 who;

	if (authorizer_user(c->request, &who.user))
		return put_sent_text(l, who.user, true, to);
	if (!credentials_read(parse_field(&c->request->parse, c->input,
	    FIELD_AUTHORIZATION), &who))
		return put_absent(l, to);
	to = put_sent_text(l, who.user, true, to);
	credentials_forget(&who);
	return to;
}

/* Writes the user if the password was right, or a program has named the user;
 * any client can send a name. */
static char *
put_user(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return l->c->request->auth.user != 0 ? put_known_user(l, to) :
	    put_absent(l, to);
}

static char *
put_time(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	*to++ = '[';
	to = copy_bytes(l->c->http->date.log, DATE_LOG_LENGTH, to);
	*to++ = ']';
	return to;
}

static char *
put_seconds(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number((uint64_t)l->c->http->clock->wall, to);
}

/* The text is kept for the other requests of the second. */
static char *
put_date(const struct line *l, const struct conf_log_item *p, char *to)
{
	static _Thread_local const char	*form;
	static _Thread_local time_t	 when;
	static _Thread_local char	 text[64];
	static _Thread_local size_t	 len;
	time_t				 now = l->c->http->clock->wall;
	struct tm			 tm;

	if (form != p->argument || when != now) {
		form = p->argument;
		when = now;
		gmtime_r(&now, &tm);
		len = strftime(text, sizeof(text), form, &tm);
	}
	return copy_bytes(text, len, to);
}

static char *
put_request(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return put_span(l, l->c->request->parse.request_line, to);
}

static char *
put_method(const struct line *l, const struct conf_log_item *p, char *to)
{
	struct str	line = parse_str(l->c->input,
			    l->c->request->parse.request_line);

	(void)p;
	return put_text(l, str_cut(&line, ' '), to);
}

static char *
put_path(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return put_span(l, l->c->request->parse.path, to);
}

static char *
put_query(const struct line *l, const struct conf_log_item *p, char *to)
{
	struct span	query = l->c->request->parse.query;

	(void)p;
	if (query.len == 0)
		return to;
	*to++ = '?';
	return put_span(l, query, to);
}

static char *
put_protocol(const struct line *l, const struct conf_log_item *p, char *to)
{
	const struct parse	*parse = &l->c->request->parse;

	(void)p;
	if (parse->target.len == 0)
		return put_absent(l, to);
	to = copy_bytes("HTTP/1.", 7, to);
	*to++ = (char)('0' + parse->minor % 10);
	return to;
}

/* The text is kept for the next line, whose status is mostly the same. */
static char *
put_status(const struct line *l, const struct conf_log_item *p, char *to)
{
	static _Thread_local unsigned	last;
	static _Thread_local char	text[LOG_NUMBER_MAX];
	unsigned			status = l->c->request->response.status;

	(void)p;
	if (status != last)
		log_escape_number(last = status, text);
	memcpy(to, text, 4);
	return to + 3;
}

static char *
put_bytes(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number((uint64_t)l->c->request->body.sent, to);
}

static char *
put_body(const struct line *l, const struct conf_log_item *p, char *to)
{
	if (l->c->request->body.sent != 0)
		return put_bytes(l, p, to);
	*to++ = '-';
	return to;
}

static uint64_t
count_sent(const struct conn *c)
{
	return c->request->response.head_sent + (uint64_t)c->request->body.sent;
}

static uint64_t
count_received(const struct conn *c)
{
	const struct request	*r = c->request;
	int64_t			 length = r->parse.content_length;
	uint64_t body = length > 0 ? (uint64_t)(length - r->discard.left) :
			    r->discard.chunked.total;

	return r->parse.size + body;
}

static char *
put_sent(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(count_sent(l->c), to);
}

static char *
put_received(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(count_received(l->c), to);
}

static char *
put_both(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(count_received(l->c) + count_sent(l->c), to);
}

static char *
put_referer(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return put_text(l, parse_field(&l->c->request->parse, l->c->input,
	    FIELD_REFERER), to);
}

static char *
put_user_agent(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return put_text(l, parse_field(&l->c->request->parse, l->c->input,
	    FIELD_USER_AGENT), to);
}

/* Whether a line of a head is that field; *value: its value. */
static bool
match_field(struct str line, struct str name, struct str *value)
{
	struct str	is = str_cut(&line, ':');

	*value = str_trim(line);
	return str_same_nocase(is, name);
}

/* The first line of a field of any name.  A refused request has the fields
 * before the one that was refused. */
static struct str
find_field(const struct parse *p, const char *head, struct str name)
{
	uint32_t	 end = p->size != 0 ? p->size : p->line_at;
	uint32_t	 at = p->request_line.at + p->request_line.len + 2;
	struct str	 value, rest;

	if (p->request_line.len == 0 || at >= end)
		return (struct str){ NULL, 0 };
	rest = (struct str){ head + at, end - at };
	while (rest.len > 0)
		if (match_field(str_cut(&rest, '\n'), name, &value)) {
			value.len -= value.len > 0 &&
			    value.at[value.len - 1] == '\r';
			return str_trim(value);
		}
	return (struct str){ NULL, 0 };
}

static char *
put_field(const struct line *l, const struct conf_log_item *p, char *to)
{
	return put_text(l, find_field(&l->c->request->parse, l->c->input,
	    str_of(p->argument)), to);
}

static char *
put_site(const struct line *l, const struct conf_log_item *p, char *to)
{
	const struct conf_site	*site = l->c->request->site;

	(void)p;
	if (site == NULL || site->names.n == 0)
		return put_absent(l, to);
	return copy_bytes(site->names.at[0], strnlen(site->names.at[0], 255),
	    to);
}

static char *
put_host(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return put_span(l, l->c->request->parse.host, to);
}

static char *
put_port(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(sockaddr_port(&conf_listener(
	    l->c->http->conf, l->c->session->listener)->addr), to);
}

/* Milliseconds since the request began, by the clock as of now: the loop's
 * clock is as of the start of the iteration. */
static uint64_t
get_elapsed_ms(const struct conn *c)
{
	struct clock	now = *c->http->clock;

	clock_update(&now);
	return now.ms > c->started_at ? (uint64_t)(now.ms - c->started_at) : 0;
}

static char *
put_microseconds(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(get_elapsed_ms(l->c) * 1000, to);
}

static char *
put_milliseconds(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(get_elapsed_ms(l->c), to);
}

static char *
put_duration(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(get_elapsed_ms(l->c) / 1000, to);
}

static char *
put_before(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	return log_escape_number(l->c->session->requests, to);
}

static char *
put_connection(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)p;
	*to++ = l->c->request->response.aborted ? 'X' : l->c->close ? '-' : '+';
	return to;
}

static char *
put_process(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)l;
	(void)p;
	return log_escape_number((uint64_t)getpid(), to);
}

static char *
put_nothing(const struct line *l, const struct conf_log_item *p, char *to)
{
	(void)l;
	(void)p;
	return to;
}

static put_fn	*const field_writers[] = {
#define FIELD(id, letter, argument, most, put, help) [LINE_##id] = put,
#include "conf/log_fields.tbl"
#undef FIELD
	[LINE_NO_FIELD] = put_nothing
};

/* Says which log the line is for. */
static char *
put_target(const struct conf_access_log *log, char *to)
{
	*to++ = LINES_LOG_MARK;
	to = log_escape_number(log->target, to);
	*to++ = LINES_LOG_MARK;
	return to;
}

static ALWAYS_INLINE void
write_line(struct conn *c, const struct conf_access_log *log, bool marked)
{
	struct http_loop		*http = c->http;
	const struct conf_log_format	*f = &log->line;
	const struct conf_log_item	*p = f->items, *end = p + f->n;
	struct line			 line = { .c = c, .json = f->json };
	char				*start, *to;

	start = http->log.reserve(http->log.context, LOG_LINE_MAX);
	if (start == NULL)
		return;
	line.end = start + SENT_MAX;
	to = marked ? put_target(log, start) : start;
	for (; p < end; p++) {
		memcpy(to, p->literal, CONF_LOG_LITERAL_MAX);
		to = field_writers[p->field](&line, p, to + p->len);
	}
	http->log.commit(http->log.context, (size_t)(to - start));
}

/* Writes to the log of the target's rules, if there is one.  A request without
 * a site goes to the log of block log. */
static NOINLINE void
write_by_rules(struct conn *c)
{
	const struct conf_rules		*rules = rules_of(c->request);
	const struct conf_access_log	*log = rules != NULL ? rules->log :
					    c->http->log.general;

	if (log != NULL && c->http->log.reserve != NULL)
		write_line(c, log, log->target != 0);
}

void
log_line_write(struct conn *c)
{
	if (c->http->log.only != NULL)
		write_line(c, c->http->log.only, false);
	else
		write_by_rules(c);
}
