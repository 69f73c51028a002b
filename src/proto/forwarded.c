/*
 * forwarded: reads lists of hops from the first element to the last.  At any
 * time the client is the last hop that is not trusted, or else the first.
 */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string.h>

#include "proto/char_class.h"
#include "proto/forwarded.h"
#include "proto/parse.h"

#define NODE_MAX	64		/* bytes of an address with its port */

struct element {
	struct str	hop, scheme, host;	/* at NULL: absent */
};

/* Whether a text is a port: digits, or a word that begins with "_". */
static bool
is_port(struct str s)
{
	int64_t	port;

	return (s.len > 1 && s.at[0] == '_') ||
	    (str_number(s, &port) && port <= UINT16_MAX);
}

static bool
read_ipv6(const char *text, struct forwarded_hop *hop)
{
	struct in6_addr	a;

	if (inet_pton(AF_INET6, text, &a) != 1)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&a)) {
		hop->family = AF_INET;
		memcpy(hop->addr, a.s6_addr + 12, 4);
		return true;
	}
	hop->family = AF_INET6;
	memcpy(hop->addr, &a, sizeof(a));
	return true;
}

/* Reads [IPv6], with or without a port. */
static bool
read_literal(char *text, struct forwarded_hop *hop)
{
	char	*end = strchr(text, ']');

	if (end == NULL || (end[1] != '\0' && (end[1] != ':' ||
	    !is_port(str_of(end + 2)))))
		return false;
	*end = '\0';
	return read_ipv6(text + 1, hop);
}

/* Reads an IPv4 address, with or without a port, or an IPv6 address without
 * brackets, which X-Forwarded-For has. */
static bool
read_plain(char *text, struct forwarded_hop *hop)
{
	char	*colon = strchr(text, ':');

	if (colon != NULL && strchr(colon + 1, ':') != NULL)
		return read_ipv6(text, hop);
	if (colon != NULL && !is_port(str_of(colon + 1)))
		return false;
	if (colon != NULL)
		*colon = '\0';
	hop->family = AF_INET;
	return inet_pton(AF_INET, text, hop->addr) == 1;
}

/* Reads a hop; one that is hidden, or not understood, is unknown. */
static struct forwarded_hop
read_hop(struct str s)
{
	struct forwarded_hop	hop = { 0 };
	char			text[NODE_MAX];

	if (str_starts(s, STR("unix:"))) {
		hop.family = AF_UNIX;
		return hop;
	}
	if (s.len == 0 || s.len >= sizeof(text) ||
	    memchr(s.at, '\0', s.len) != NULL)
		return hop;
	memcpy(text, s.at, s.len);
	text[s.len] = '\0';
	if (!(text[0] == '[' ? read_literal(text, &hop) :
	    read_plain(text, &hop)))
		hop = (struct forwarded_hop){ 0 };
	return hop;
}

/* Takes the next element's hop; returns whether this is the client. */
static bool
take_hop(struct forwarded *f, struct str text)
{
	struct forwarded_hop	hop = read_hop(text);

	f->n++;
	if (f->behind > 0 && f->trusts(f->context, &hop)) {
		f->behind++;
		return false;
	}
	f->client = hop;
	f->behind = 1;
	return true;
}

static void
skip_blanks(struct str *s)
{
	while (s->len > 0 && (s->at[0] == ' ' || s->at[0] == '\t'))
		str_skip(s, 1);
}

/* Cuts a quoted string off the front.  Escapes stay: no value that matters
 * needs one. */
static bool
cut_quoted(struct str *s, struct str *value)
{
	for (size_t i = 1; i < s->len; i++) {
		if (s->at[i] == '\\')
			i++;
		else if (s->at[i] == '"') {
			*value = (struct str){ s->at + 1, i - 1 };
			str_skip(s, i + 1);
			return true;
		}
	}
	return false;
}

/* Cuts a value without quotes, which may have the colons and brackets of an
 * address: many proxies do not quote these. */
static bool
cut_word(struct str *s, struct str *value)
{
	size_t	n = 0;

	while (n < s->len && (char_class_is(s->at[n], CHAR_CLASS_TOKEN) ||
	    memchr(":[]", s->at[n], 3) != NULL))
		n++;
	*value = (struct str){ s->at, n };
	str_skip(s, n);
	return n > 0;
}

/* Cuts NAME=VALUE off the front. */
static bool
cut_pair(struct str *s, struct str *name, struct str *value)
{
	size_t	n = char_class_length(s->at, s->len, CHAR_CLASS_TOKEN);

	if (n == 0 || n == s->len || s->at[n] != '=')
		return false;
	*name = (struct str){ s->at, n };
	str_skip(s, n + 1);
	return s->len > 0 && s->at[0] == '"' ? cut_quoted(s, value) :
	    cut_word(s, value);
}

/* Keeps a value; false: the element has the name already. */
static bool
keep_pair(struct element *e, struct str name, struct str value)
{
	struct str	*to = str_same_nocase(name, STR("for")) ? &e->hop :
			    str_same_nocase(name, STR("proto")) ? &e->scheme :
			    str_same_nocase(name, STR("host")) ? &e->host :
			    NULL;

	if (to == NULL)
		return true;
	if (to->at != NULL)
		return false;
	*to = value;
	return true;
}

/* Cuts an element, up to its comma, off the front; *n: its pairs. */
static bool
cut_element(struct str *s, struct element *e, size_t *n)
{
	struct str	name, value;

	*e = (struct element){ 0 };
	for (*n = 0;; ++*n) {
		skip_blanks(s);
		while (s->len > 0 && s->at[0] == ';') {
			str_skip(s, 1);
			skip_blanks(s);
		}
		if (s->len == 0 || s->at[0] == ',')
			return true;
		if (!cut_pair(s, &name, &value) || !keep_pair(e, name, value))
			return false;
		skip_blanks(s);
		if (s->len > 0 && s->at[0] != ';' && s->at[0] != ',')
			return false;
	}
}

bool
forwarded_add(struct forwarded *f, struct str line)
{
	struct element	e;
	size_t		n;

	for (;;) {
		if (!cut_element(&line, &e, &n))
			return false;
		if (n > 0 && take_hop(f, e.hop)) {
			f->scheme = forwarded_scheme(e.scheme);
			f->host = forwarded_host(e.host);
		}
		if (line.len == 0 || f->n > FORWARDED_HOPS_MAX)
			return f->n <= FORWARDED_HOPS_MAX;
		str_skip(&line, 1);
	}
}

bool
forwarded_add_for(struct forwarded *f, struct str line)
{
	struct str	hop;

	while (f->n <= FORWARDED_HOPS_MAX && forwarded_next(&line, &hop))
		take_hop(f, hop);
	return f->n <= FORWARDED_HOPS_MAX;
}

/* Quotes have no meaning here: a client's quote must not hide the comma that a
 * proxy adds behind it. */
bool
forwarded_next(struct str *line, struct str *element)
{
	while (line->len > 0) {
		*element = str_trim(str_cut(line, ','));
		if (element->len > 0)
			return true;
	}
	return false;
}

struct str
forwarded_scheme(struct str s)
{
	return str_same_nocase(s, STR("https")) ? STR("https") :
	    str_same_nocase(s, STR("http")) ? STR("http") :
	    (struct str){ NULL, 0 };
}

struct str
forwarded_host(struct str s)
{
	return s.len > 0 && parse_host_valid(s) ? s : (struct str){ NULL, 0 };
}
