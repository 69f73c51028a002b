/*
 * parse: bytes to request line and fields.
 *
 * Reads line by line, and a line when it is complete.  A field that is complete
 * and valid is read in one pass; for any other line the end is searched for
 * first, with memchr().  Three errors are refused earlier: bytes that cannot be
 * a method, a line beyond its limit, a head beyond its limit.  Decisions depend
 * on the bytes alone, never on the portions in which they came.
 *
 * Must not copy, allocate, repair, or read beyond the head.
 */
#include <sys/param.h>

#include <arpa/inet.h>

#include <string.h>

#include "lib/compiler.h"
#include "lib/need.h"
#include "lib/swar.h"
#include "proto/char_class.h"
#include "proto/parse.h"

#define METHOD_MAX	32		/* bytes; beyond: not implemented */

enum {
	STATE_START,			/* nothing seen */
	STATE_REQUEST,			/* in the request line */
	STATE_FIELDS,			/* in a field line, or the empty one */
	STATE_DONE,
	STATE_REFUSED
};

static const struct {
	const char	*name;
	size_t		 len;
} methods[METHOD_COUNT] = {
#define X(name) [METHOD_##name] = { #name, sizeof(#name) - 1 },
	PARSE_METHODS(X)
#undef X
};

static const char *const field_names[FIELD_COUNT] = {
#define X(id, name, many) name,
	PARSE_FIELDS(X)
#undef X
};

enum { MANY, ONE };
static const uint32_t once_fields = 0
#define X(id, name, many) | (uint32_t)many << FIELD_##id
	PARSE_FIELDS(X)
#undef X
    ;

/* Refuses the request.  Always false, which tells the caller to stop. */
static COLD bool
refuse_request(struct parse *p, uint16_t status, const char *why)
{
	p->state = STATE_REFUSED;
	p->status = status;
	p->why = why;
	return false;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The bits in which a text may differ from a lower-case text but for case: bit
 * 6 is set in letters, and in no other byte that field names have. */
static uint64_t
case_bits(uint64_t lower)
{
	return (lower & SWAR_ONES * 0x40) >> 1;
}

static bool
is_same_four(const char *a, const char *b)
{
	uint32_t	x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return ((x ^ y) & ~(uint32_t)case_bits(y)) == 0;
}

static bool
is_same_eight(const char *a, const char *b)
{
	uint64_t	x = swar_load(a), y = swar_load(b);

	return ((x ^ y) & ~case_bits(y)) == 0;
}

/* Whether two texts are the same but for case.  b: lower-case letters and
 * dashes, at least four bytes.  The last bytes are compared with those before
 * them. */
static bool
is_same(const char *a, const char *b, size_t len)
{
	size_t	n;

	if (len < SWAR_BYTES)
		return is_same_four(a, b) &&
		    is_same_four(a + len - 4, b + len - 4);
	for (n = 0; n + SWAR_BYTES < len; n += SWAR_BYTES)
		if (!is_same_eight(a + n, b + n))
			return false;
	return is_same_eight(a + len - SWAR_BYTES, b + len - SWAR_BYTES);
}

/* The length of [IPv6]; 0: not valid.  RFC 3986 has no other IP literal yet. */
static COLD size_t
literal_length(struct str s)
{
	char		 text[INET6_ADDRSTRLEN];
	struct in6_addr	 addr;
	const char	*end = memchr(s.at, ']', s.len);
	size_t		 len;

	if (end == NULL || (size_t)(end - s.at) > sizeof(text))
		return 0;
	len = (size_t)(end - s.at) - 1;
	memcpy(text, s.at + 1, len);
	text[len] = '\0';
	/* inet_pton() stops at a NUL and accepts the rest. */
	if (strlen(text) != len || inet_pton(AF_INET6, text, &addr) != 1)
		return 0;
	return len + 2;
}

/* The length of the host before a port; 0: not valid. */
static size_t
host_length(struct str s)
{
	size_t	n = 0;

	if (s.len > 0 && s.at[0] == '[')
		return literal_length(s);
	for (;;) {
		n += char_class_length(s.at + n, s.len - n,
		    CHAR_CLASS_HOST);
		if (s.len - n < 3 || s.at[n] != '%' ||
		    char_class_hex(s.at[n + 1]) == -1 ||
		    char_class_hex(s.at[n + 2]) == -1)
			return n;
		n += 3;
	}
}

/* The length of a host without a dot at its end. */
static size_t
name_length(const char *at, size_t host)
{
	return host > 0 && at[host - 1] == '.' ? host - 1 : host;
}

/* Whether the rest is a port; the grammar allows no digits at all. */
static bool
is_port(const char *at, const char *end)
{
	uint32_t	port = 0;

	for (; at < end && is_digit(*at) && port <= UINT16_MAX; at++)
		port = port * 10 + (uint32_t)(*at - '0');
	return at == end && port <= UINT16_MAX;
}

static bool
is_host(struct str s, uint32_t *name)
{
	size_t	n = host_length(s);

	*name = (uint32_t)name_length(s.at, n);
	if (n == 0 || n == s.len)
		return n > 0;
	return s.at[n] == ':' && is_port(s.at + n + 1, s.at + s.len);
}

bool
parse_host_valid(struct str s)
{
	uint32_t	name;

	return is_host(s, &name);
}

/* Splits a target at its first question mark. */
static void
split_query(struct parse *p, const char *head, struct span s)
{
	const char	*mark = memchr(head + s.at, '?', s.len);
	uint32_t	 n = s.len;

	if (mark != NULL) {
		n = (uint32_t)(mark - head) - s.at;
		p->query = (struct span){ s.at + n + 1, s.len - n - 1 };
	}
	p->path = (struct span){ s.at, n };
}

/* CONNECT: host and port, no path. */
static COLD bool
authority_form(struct parse *p, const char *head)
{
	struct str	s = parse_str(head, p->target);
	size_t		n = host_length(s);

	if (!is_host(s, &p->host_len) || s.len - n < 2)	/* ":" and a digit */
		return refuse_request(p, 400,
		    "target of CONNECT is not host:port");
	p->host = p->target;
	return true;
}

static COLD bool
absolute_form(struct parse *p, const char *head)
{
	struct str	s = parse_str(head, p->target);
	struct span	rest;
	uint32_t	scheme, n;

	if (s.len > 7 && is_same(s.at, "http", 4) &&
	    memcmp(s.at + 4, "://", 3) == 0)
		scheme = 7;
	else if (s.len > 8 && is_same(s.at, "https", 5) &&
	    memcmp(s.at + 5, "://", 3) == 0)
		scheme = 8;
	else
		return refuse_request(p, 400,
		    "target is neither a path nor an http URI");

	for (n = scheme; n < s.len && s.at[n] != '/' && s.at[n] != '?'; n++)
		;
	p->absolute = true;
	p->host = (struct span){ p->target.at + scheme, n - scheme };
	/* Refuses user names as well: no host has an @. */
	if (!is_host(parse_str(head, p->host), &p->host_len))
		return refuse_request(p, 400,
		    "host of the target is not valid");
	rest = (struct span){ p->target.at + n, p->target.len - n };
	split_query(p, head, rest);
	if (p->path.len == 0)	/* is "/": the scheme's last byte is one */
		p->path = (struct span){ p->target.at + scheme - 1, 1 };
	return true;
}

static bool
target_form(struct parse *p, const char *head)
{
	const char	*at = head + p->target.at;

	if (p->method == METHOD_CONNECT)
		return authority_form(p, head);
	if (at[0] == '/') {
		split_query(p, head, p->target);
		return true;
	}
	if (at[0] != '*' || p->target.len > 1)
		return absolute_form(p, head);
	if (p->method != METHOD_OPTIONS)
		return refuse_request(p, 400, "target * without OPTIONS");
	p->path = p->target;
	return true;
}

/* Reads the version behind the target. */
static bool
read_version(struct parse *p, const char *at, size_t len)
{
	if (len != 8 || memcmp(at, "HTTP/", 5) != 0 || !is_digit(at[5]) ||
	    at[6] != '.' || !is_digit(at[7]))
		return refuse_request(p, 400,
		    "request line without a valid version");
	if (at[5] != '1')
		return refuse_request(p, 505, "version is not HTTP/1");
	p->minor = (uint8_t)(at[7] - '0');
	return true;
}

static enum parse_method
method_id(const char *at, size_t len)
{
	enum parse_method	m;

	for (m = METHOD_UNKNOWN + 1; m < METHOD_COUNT; m++)
		if (methods[m].len == len &&
		    memcmp(methods[m].name, at, len) == 0)
			return m;
	return METHOD_UNKNOWN;
}

/* A complete request line whose method is len bytes long, then SP. */
static bool
read_request_line(struct parse *p, const char *head, struct span line,
    uint32_t len)
{
	const char	*at = head + line.at;
	uint32_t	 rest = line.len - len - 1;

	p->method = method_id(at, len);
	at += len + 1;
	p->target.at = line.at + len + 1;
	p->target.len = (uint32_t)(char_class_target_end(at, at + rest) - at);
	if (p->target.len == 0)
		return refuse_request(p, 400, "request line without a target");
	at += p->target.len;
	rest -= p->target.len;
	if (rest > 0 && *at != ' ')
		return refuse_request(p, 400, "target with an invalid byte");
	/*
	 * The version first: of another one it is not known what it calls a
	 * target.  (No version at all, as in HTTP/0.9, is not valid.)
	 */
	return read_version(
		   p, rest > 0 ? at + 1 : at, rest > 0 ? rest - 1 : 0) &&
	    target_form(p, head);
}

/* Searches for the end of the current line up to a place, and records how far.
 * */
static const char *
find_line_end(struct parse *p, const char *head, size_t upto)
{
	const char	*end = NULL;

	if (p->searched < upto) {
		end = memchr(head + p->searched, '\n', upto - p->searched);
		p->searched = (uint32_t)upto;
	}
	return end;
}

/* Takes the line that ends there, without CRLF. */
static bool
take_line(struct parse *p, const char *head, const char *end, struct span *line)
{
	uint32_t	len = (uint32_t)(end - head) - p->line_at;

	if (len == 0 || end[-1] != '\r')
		return refuse_request(p, 400, "line ends in LF without CR");
	*line = (struct span){ p->line_at, len - 1 };
	p->line_at += len + 1;
	p->searched = p->line_at;
	return true;
}

/* The request line as far as it has come, for the log. */
static struct span
line_so_far(const struct parse *p, const char *head, size_t upto)
{
	uint32_t	len = (uint32_t)upto - p->line_at;

	if (len > 0 && head[upto - 1] == '\r')
		len--;
	return (struct span){ p->line_at, len };
}

static bool
step_request(struct parse *p, const struct parse_limits *limits,
    const char *head, size_t len)
{
	size_t		 limit = p->line_at + MIN(limits->line, limits->head);
	size_t		 upto = MIN(len, limit), n = upto - p->line_at;
	const char	*end = find_line_end(p, head, upto);
	uint32_t	 method;

	p->request_line = line_so_far(p, head,
	    end != NULL ? (size_t)(end - head) : upto);

	/* Before the line is complete: a TLS hello may not have a line end. */
	method = (uint32_t)char_class_length(head + p->line_at,
	    MIN(n, METHOD_MAX + 1), CHAR_CLASS_TOKEN);
	if (method > METHOD_MAX)
		return refuse_request(p, 501, "method is too long");
	if (method < n && (method == 0 || head[p->line_at + method] != ' '))
		return refuse_request(
		    p, 400, "request does not start with a method");

	if (end == NULL && upto < limit)
		return false;
	if (end == NULL && limits->line <= limits->head)
		return refuse_request(p, 414, "request line is too long");
	if (end == NULL)
		return refuse_request(p, 431, "head is too long");
	p->state = STATE_FIELDS;
	return take_line(p, head, end, &p->request_line) &&
	    read_request_line(p, head, p->request_line, method);
}

/* The id of a field; FIELD_COUNT: a field that amped does not read. */
static enum parse_field
field_id(const char *name, size_t len)
{
	enum parse_field	f;

	switch (len) {
	case 4:
		f = FIELD_HOST;
		break;
	case 5:
		f = FIELD_RANGE;
		break;
	case 6:
		f = (name[0] | 0x20) == 'a' ? FIELD_ACCEPT : FIELD_EXPECT;
		break;
	case 7:
		f = FIELD_REFERER;
		break;
	case 8:
		f = (name[3] | 0x20) == 'm' ? FIELD_IF_MATCH : FIELD_IF_RANGE;
		break;
	case 10:
		f = (name[0] | 0x20) == 'c' ? FIELD_CONNECTION :
		    FIELD_USER_AGENT;
		break;
	case 13:
		f = (name[0] | 0x20) == 'i' ? FIELD_IF_NONE_MATCH :
		    FIELD_AUTHORIZATION;
		break;
	case 14:
		f = FIELD_CONTENT_LENGTH;
		break;
	case 15:
		f = (name[7] | 0x20) == 'e' ? FIELD_ACCEPT_ENCODING :
		    FIELD_ACCEPT_LANGUAGE;
		break;
	case 17:
		f = (name[0] | 0x20) == 'i' ? FIELD_IF_MODIFIED_SINCE :
		    FIELD_TRANSFER_ENCODING;
		break;
	case 19:
		f = FIELD_IF_UNMODIFIED_SINCE;
		break;
	default:
		return FIELD_COUNT;
	}
	return is_same(name, field_names[f], len) ? f : FIELD_COUNT;
}

static void
read_connection(struct parse *p, struct str value)
{
	struct str	token;

	while (str_next(&value, &token)) {
		if (str_same_nocase(token, STR("close")))
			p->close = true;
		else if (str_same_nocase(token, STR("keep-alive")))
			p->keep_alive = true;
	}
}

/* Reads a value whose meaning is needed before the head is complete. */
static bool
read_value(struct parse *p, const char *head, enum parse_field id,
    struct span value)
{
	struct str	s = parse_str(head, value);
	uint32_t	name = 0;

	switch (id) {
	case FIELD_HOST:
		/* An empty Host is valid, and names no host. */
		if (s.len > 0 && !is_host(s, &name))
			return refuse_request(p, 400, "Host is not valid");
		if (p->absolute || p->method == METHOD_CONNECT)
			return true;
		p->host = value;
		p->host_len = name;
		return true;
	case FIELD_CONNECTION:
		read_connection(p, s);
		return true;
	case FIELD_CONTENT_LENGTH:
		if (!str_number(s, &p->content_length))
			return refuse_request(
			    p, 400, "Content-Length is not valid");
		return true;
	case FIELD_TRANSFER_ENCODING:
		if (s.len == 0)
			return refuse_request(
			    p, 400, "Transfer-Encoding is empty");
		/* Another coding is refused later: the line may be folded. */
		p->chunked = str_same_nocase(s, STR("chunked"));
		return true;
	default:
		return true;
	}
}

/* Stores a field that amped reads. */
static bool
store_field(struct parse *p, const char *head, enum parse_field id,
    struct span value)
{
	uint32_t	bit = 1u << id;

	if ((p->present & bit) == 0)
		p->field[id] = value;
	else if ((once_fields & bit) != 0)
		return refuse_request(p, 400, "field is repeated");
	else
		p->repeated |= bit;
	p->present |= bit;
	return read_value(p, head, id, value);
}

/* Takes a field whose name and value are valid. */
static inline bool
take_field(struct parse *p, const char *head, const char *name,
    const char *colon, const char *end)
{
	const char		*value = colon + 1;
	enum parse_field	 id = field_id(name, (size_t)(colon - name));

	if (id == FIELD_COUNT)
		return true;
	while (value < end && is_blank(*value))
		value++;
	while (end > value && is_blank(end[-1]))
		end--;
	return store_field(p, head, id,
	    (struct span){ (uint32_t)(value - head), (uint32_t)(end - value) });
}

static bool
read_field_line(struct parse *p, const char *head, struct span line)
{
	const char	*at = head + line.at, *end = at + line.len;
	const char	*colon = char_class_end(at, CHAR_CLASS_TOKEN);

	if (is_blank(*at))
		return refuse_request(p, 400, "field line starts with a blank");
	if (colon == at || *colon != ':')
		return refuse_request(
		    p, 400, "field line without a name and a colon");
	if (char_class_value_end(colon + 1, end) != end)
		return refuse_request(p, 400, "field with a control byte");
	return take_field(p, head, at, colon, end);
}

static bool
is_line_end(const char *at, const char *end)
{
	return end - at >= 2 && at[0] == '\r' && at[1] == '\n';
}

/* Whether a field line is complete and valid; returns its colon and its end.
 * The search for the end of a name needs a last byte that no name has.  With a
 * CRLF in front, the limit of a head may lie within the line before. */
static inline bool
is_field(const char *at, const char *end, const char **colon,
    const char **line_end)
{
	if (at >= end || char_class_is(end[-1], CHAR_CLASS_TOKEN))
		return false;
	*colon = char_class_end(at, CHAR_CLASS_TOKEN);
	if (*colon == at || **colon != ':')
		return false;
	*line_end = char_class_value_end(*colon + 1, end);
	return is_line_end(*line_end, end);
}

/* The empty line: checks the fields together. */
static bool
finish_head(struct parse *p)
{
	if (p->minor >= 1 && !parse_has(p, FIELD_HOST))
		return refuse_request(p, 400, "Host is missing");
	if (parse_has(p, FIELD_TRANSFER_ENCODING) && !p->chunked)
		return refuse_request(p, 501, "transfer coding is not chunked");
	/* A proxy in front might see the next request start elsewhere. */
	if (p->chunked && parse_has(p, FIELD_CONTENT_LENGTH))
		return refuse_request(p, 400, "both Transfer-Encoding and "
		    "Content-Length");
	if (p->chunked && p->minor == 0)
		return refuse_request(p, 400, "Transfer-Encoding in HTTP/1.0");
	p->size = p->line_at;
	p->state = STATE_DONE;
	return false;
}

static bool
count_field(struct parse *p, const struct parse_limits *limits)
{
	if (p->nfields == limits->fields)
		return refuse_request(p, 431, "too many fields");
	p->nfields++;
	return true;
}

/* A line that is incomplete or not valid: finds out which, and why. */
static COLD bool
read_odd_line(struct parse *p, const struct parse_limits *limits,
    const char *head, size_t len)
{
	const char	*end = find_line_end(p, head, MIN(len, limits->head));
	struct span	 line;

	if (end == NULL && len < limits->head)
		return false;
	if (end == NULL)
		return refuse_request(p, 431, "head is too long");
	if (!take_line(p, head, end, &line))
		return false;
	if (line.len == 0)
		return finish_head(p);
	return count_field(p, limits) && read_field_line(p, head, line);
}

/*
 * Finds the end of a field line by reading the line, in one pass.  A line that
 * was incomplete is searched for its end first, from where the last search has
 * ended: so a client that sends byte by byte makes amped read each byte twice,
 * not once for each byte.
 */
static inline bool
step_field(struct parse *p, const struct parse_limits *limits,
    const char *head, size_t len)
{
	const char	*at = head + p->line_at, *colon, *end;
	const char	*most = head + MIN(len, limits->head);

	if (p->searched > p->line_at)
		return read_odd_line(p, limits, head, len);
	if (is_line_end(at, most)) {
		p->line_at += 2;
		return finish_head(p);
	}
	if (!is_field(at, most, &colon, &end))
		return read_odd_line(p, limits, head, len);
	p->line_at = p->searched = (uint32_t)(end + 2 - head);
	return count_field(p, limits) && take_field(p, head, at, colon, end);
}

/* Skips one CRLF in front: old clients send it after a body. */
static bool
step_start(struct parse *p, const char *head, size_t len)
{
	if (len == 0 || (len == 1 && head[0] == '\r'))
		return false;
	if (head[0] == '\r' && head[1] == '\n')
		p->line_at = p->searched = 2;
	p->state = STATE_REQUEST;
	return true;
}

/* False: these bytes are used up. */
static bool
run_step(struct parse *p, const struct parse_limits *limits, const char *head,
    size_t len)
{
	switch (p->state) {
	case STATE_START:
		return step_start(p, head, len);
	case STATE_REQUEST:
		return step_request(p, limits, head, len);
	case STATE_FIELDS:
		return step_field(p, limits, head, len);
	default:
		return false;
	}
}

enum parse_result
parse_feed(struct parse *p, const struct parse_limits *limits,
    const char *head, size_t len)
{
	need(limits->line < INT32_MAX && limits->head < INT32_MAX);
	while (run_step(p, limits, head, len))
		;
	switch (p->state) {
	case STATE_DONE:
		return PARSE_DONE;
	case STATE_REFUSED:
		return PARSE_REFUSED;
	default:
		return PARSE_MORE;
	}
}

void
parse_init(struct parse *p)
{
	/* present tells which of field[] are valid. */
	memset(p, 0, offsetof(struct parse, field));
	p->content_length = -1;
	p->size = 0;
	p->status = 0;
	p->why = NULL;
}

struct str
parse_field(const struct parse *p, const char *head, enum parse_field f)
{
	if (!parse_has(p, f))
		return (struct str){ NULL, 0 };
	return parse_str(head, p->field[f]);
}

bool
parse_next_line(const struct parse *p, const char *head, uint32_t *at,
    struct str *name, struct str *value)
{
	const char	*line, *colon, *end;

	need(p->state == STATE_DONE);
	if (*at == 0)
		*at = p->request_line.at + p->request_line.len + 2;
	if (*at >= p->size - 2)			/* the empty line */
		return false;
	line = head + *at;
	end = memchr(line, '\n', p->size - *at);
	colon = memchr(line, ':', (size_t)(end - line));
	*at = (uint32_t)(end + 1 - head);
	*name = (struct str){ line, (size_t)(colon - line) };
	*value = str_trim((struct str){ colon + 1,
	    (size_t)(end - 1 - (colon + 1)) });
	return true;
}

bool
parse_next(const struct parse *p, const char *head, enum parse_field f,
    uint32_t *at, struct str *value)
{
	struct str	name;

	while (parse_next_line(p, head, at, &name, value))
		if (field_id(name.at, name.len) == f)
			return true;
	return false;
}
