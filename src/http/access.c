/*
 * access: lines in the common and the combined format, put together from
 * strings that are ready; whatever a client sent is escaped, so that a line
 * stays a line.
 */
#include <arpa/inet.h>

#include <stdio.h>
#include <string.h>

#include "http/access.h"

#define LINE_MOST	8192	/* bytes */
#define FIELD_MOST	1500	/* bytes of what a client sent, each */

struct line {
	char	*at;
	char	 text[LINE_MOST];
};

static void
add(struct line *l, const char *bytes, size_t n)
{
	memcpy(l->at, bytes, n);
	l->at += n;
}

static void
add_number(struct line *l, uint64_t n)
{
	char	digits[20], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	add(l, p, (size_t)(digits + sizeof(digits) - p));
}

static void
add_peer(struct line *l, const struct conn *c)
{
	const uint8_t	*b = c->peer.bytes;
	/* ::ffff:192.0.2.1 is an IPv4 client of an IPv6 socket. */
	static const uint8_t	v4[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
				    0xff, 0xff };

	if (c->peer.family == AF_INET6 && memcmp(b, v4, sizeof(v4)) != 0) {
		if (inet_ntop(AF_INET6, b, l->at, INET6_ADDRSTRLEN) != NULL)
			l->at += strlen(l->at);
		return;
	}
	if (c->peer.family != AF_INET && c->peer.family != AF_INET6) {
		add(l, "-", 1);
		return;
	}
	if (c->peer.family == AF_INET6)
		b += sizeof(v4);
	for (int i = 0; i < 4; i++) {
		if (i > 0)
			add(l, ".", 1);
		add_number(l, b[i]);
	}
}

static bool
plain(unsigned char byte)
{
	return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

/* In quotes; bytes that could be mistaken become \xHH. */
static void
add_quoted(struct line *l, struct str s)
{
	static const char	 hex[] = "0123456789abcdef";
	size_t			 n = s.len < FIELD_MOST ? s.len : FIELD_MOST;
	const unsigned char	*p = (const unsigned char *)s.at;

	*l->at++ = '"';
	if (s.len == 0)
		*l->at++ = '-';
	for (size_t i = 0; i < n; i++) {
		if (plain(p[i])) {
			*l->at++ = (char)p[i];
		} else {
			*l->at++ = '\\';
			*l->at++ = 'x';
			*l->at++ = hex[p[i] >> 4];
			*l->at++ = hex[p[i] & 15];
		}
		if (l->at > l->text + LINE_MOST - 4 * 1024)
			break;		/* all escapes: cut it short */
	}
	*l->at++ = '"';
}

void
access_line(struct conn *c)
{
	static struct line	 line;
	struct http		*http = c->http;
	const struct request	*r = c->request;
	struct line		*l = &line;

	if (http->log == NULL)
		return;
	l->at = l->text;
	add_peer(l, c);
	add(l, " - - [", 6);
	add(l, http->date_log, sizeof(http->date_log));
	add(l, "] ", 2);
	add_quoted(l, parse_str(c->input, r->parse.request_line));
	add(l, " ", 1);
	add_number(l, r->status);
	add(l, " ", 1);
	if (r->body == 0)
		add(l, "-", 1);
	else
		add_number(l, (uint64_t)r->body);
	if (http->conf->log.access_format == LOG_FORMAT_COMBINED) {
		add(l, " ", 1);
		add_quoted(l, parse_field(&r->parse, c->input, FIELD_REFERER));
		add(l, " ", 1);
		add_quoted(l, parse_field(&r->parse, c->input,
		    FIELD_USER_AGENT));
	}
	add(l, "\n", 1);
	http->log(http->log_context, l->text, (size_t)(l->at - l->text));
}
