/*
 * cgi_head: the head of a program's answer.
 *
 * Reads line by line, and a line when it is complete.  Decisions depend on the
 * bytes alone, never on the portions in which they came.
 *
 * Must not copy, allocate or repair: a line of an answer that one reader takes
 * for two is how one client's program writes another client's response.
 */
#include <string.h>

#include "lib/need.h"
#include "proto/cgi_head.h"
#include "proto/char_class.h"

enum {
	STATE_FIRST,			/* the first line, maybe HTTP/1.x NNN */
	STATE_FIELDS,
	STATE_DONE,
	STATE_REFUSED
};

/* Refuses the head.  Always false, which tells the caller to stop. */
static bool
refuse_head(struct cgi_head *h, const char *why)
{
	h->state = STATE_REFUSED;
	h->why = why;
	return false;
}

static struct span
get_span(const char *head, struct str s)
{
	return (struct span){ (uint32_t)(s.at - head), (uint32_t)s.len };
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads a status and its reason. */
static bool
read_status(struct cgi_head *h, const char *head, struct str value)
{
	const char	*s = value.at;

	if (value.len < 3 || !is_digit(s[0]) || !is_digit(s[1]) ||
	    !is_digit(s[2]) || (value.len > 3 && s[3] != ' '))
		return refuse_head(h, "its status is not a number of three "
		    "digits");
	h->status = (uint16_t)((s[0] - '0') * 100 + (s[1] - '0') * 10 +
	    (s[2] - '0'));
	if (h->status < 200 || h->status > 599)
		return refuse_head(h, "its status is not one of 200 to 599");
	str_skip(&value, 3);
	value = str_trim(value);
	h->reason = get_span(head, value);
	return true;
}

static bool
read_type(struct cgi_head *h, const char *head, struct str value)
{
	h->type = get_span(head, value);
	return true;
}

static bool
read_location(struct cgi_head *h, const char *head, struct str value)
{
	if (value.len == 0)
		return refuse_head(h, "its Location is empty");
	h->location = get_span(head, value);
	return true;
}

static bool
read_file(struct cgi_head *h, const char *head, struct str value)
{
	h->file = get_span(head, value);
	return true;
}

static bool
read_path(struct cgi_head *h, const char *head, struct str value)
{
	h->path = get_span(head, value);
	return true;
}

static bool
read_length(struct cgi_head *h, const char *head, struct str value)
{
	(void)head;
	return str_number(value, &h->length) ||
	    refuse_head(h, "its Content-Length is not a number");
}

static bool
read_coding(struct cgi_head *h, const char *head, struct str value)
{
	(void)head;
	(void)value;
	return refuse_head(h, "it has Transfer-Encoding, which is the "
	    "server's");
}

/* The fields that are read.  One of the first five must be there; a line of
 * HTTP stands for the first. */
enum { SEEN_STATUS = 1, SEEN_ANY = 31, SEEN_LENGTH = 32 };

static const struct {
	const char	*name;
	const char	*twice;
	bool		(*read)(struct cgi_head *, const char *head,
			    struct str value);
} fields[] = {
	{ "Status", "it has two statuses", read_status },
	{ "Content-Type", "it has two fields Content-Type", read_type },
	{ "Location", "it has two fields Location", read_location },
	{ "X-Sendfile", "it has two fields X-Sendfile", read_file },
	{ "X-Accel-Redirect", "it has two fields X-Accel-Redirect",
	    read_path },
	{ "Content-Length", "it has two fields Content-Length", read_length },
	{ "Transfer-Encoding", "", read_coding },
};

static bool
read_known(struct cgi_head *h, const char *head, struct str name,
    struct str value)
{
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!str_is(name, fields[i].name))
			continue;
		if ((h->seen & 1U << i) != 0)
			return refuse_head(h, fields[i].twice);
		h->seen |= 1U << i;
		return fields[i].read(h, head, value);
	}
	return true;
}

/* Whether a line is HTTP/1.x and more, as programs write that expect no server
 * between them and the client. */
static bool
is_status_line(struct str line)
{
	return str_starts(line, STR("HTTP/1.")) && line.len >= 9 &&
	    is_digit(line.at[7]) && line.at[8] == ' ';
}

static bool
read_status_line(struct cgi_head *h, const char *head, struct str line)
{
	h->seen |= SEEN_STATUS;
	h->fields_at = h->searched;
	str_skip(&line, 9);
	return read_status(h, head, str_trim(line));
}

static bool
read_field(struct cgi_head *h, const char *head, struct str line)
{
	struct str	name = line, value;

	name.len = char_class_length(line.at, line.len, CHAR_CLASS_TOKEN);
	if (name.len == 0 || name.len == line.len || line.at[name.len] != ':')
		return refuse_head(h, "a line of its head has no name with a "
		    "colon behind it");
	if (h->nfields++ == CGI_HEAD_FIELDS_MAX)
		return refuse_head(h, "its head has more than 500 fields");
	value = line;
	str_skip(&value, name.len + 1);
	return read_known(h, head, name, str_trim(value));
}

/* Handles the empty line. */
static bool
end_head(struct cgi_head *h)
{
	if ((h->seen & SEEN_ANY) == 0)
		return refuse_head(h, "its head has none of Content-Type, "
		    "Location and Status");
	if ((h->seen & SEEN_LENGTH) == 0)
		h->length = -1;
	h->size = h->searched;
	h->state = STATE_DONE;
	return false;
}

/* Reads a complete line, which is without its end; false: it is the last, or
 * refused. */
static bool
read_line(struct cgi_head *h, const char *head, struct str line)
{
	bool	first = h->state == STATE_FIRST;

	h->state = STATE_FIELDS;
	if (line.len == 0)
		return end_head(h);
	if (char_class_length(line.at, line.len, CHAR_CLASS_VALUE) < line.len)
		return refuse_head(h, "its head has a control byte");
	if (first && is_status_line(line))
		return read_status_line(h, head, line);
	return read_field(h, head, line);
}

enum cgi_head_result
cgi_head_feed(struct cgi_head *h, const char *head, size_t len)
{
	const char	*end;
	struct str	 line;

	while (h->state < STATE_DONE && h->searched < len) {
		end = memchr(head + h->searched, '\n', len - h->searched);
		h->searched = end == NULL ? (uint32_t)len :
		    (uint32_t)(end + 1 - head);
		if (h->searched > CGI_HEAD_MAX ||
		    (end == NULL && len >= CGI_HEAD_MAX)) {
			refuse_head(h, "its head is longer than 64 KiB");
			break;
		}
		if (end == NULL)
			break;
		line = (struct str){ head + h->line_at,
		    (size_t)(end - head) - h->line_at };
		if (line.len > 0 && line.at[line.len - 1] == '\r')
			line.len--;
		h->line_at = h->searched;
		if (!read_line(h, head, line))
			break;
	}
	return h->state == STATE_DONE ? CGI_HEAD_DONE :
	    h->state == STATE_REFUSED ? CGI_HEAD_REFUSED : CGI_HEAD_MORE;
}

bool
cgi_head_next(const struct cgi_head *h, const char *head, uint32_t *at,
    struct str *name, struct str *value)
{
	struct str	rest, line;

	need(h->state == STATE_DONE);
	if (*at == 0)
		*at = h->fields_at;
	rest = (struct str){ head + *at, h->size - *at };
	line = str_cut(&rest, '\n');
	*at = h->size - (uint32_t)rest.len;
	if (line.len > 0 && line.at[line.len - 1] == '\r')
		line.len--;
	*name = str_cut(&line, ':');
	*value = str_trim(line);
	return name->len > 0;
}

bool
cgi_head_is_local(const struct cgi_head *h, const char *head)
{
	const char	*path = head + h->location.at;

	return h->location.len > 0 && h->nfields == 1 && h->status == 0 &&
	    path[0] == '/' && (h->location.len == 1 || path[1] != '/');
}

/* Fields that the server puts out in another way, or acts upon. */
static const char *const own_fields[] = {
	"Status", "Content-Length", "Connection", "Keep-Alive", "Trailer",
	"Upgrade", "Date", "Server", "Proxy-Connection", "X-Sendfile",
	"X-Accel-Redirect", "X-Accel-Buffering", "X-Accel-Charset",
	"X-Accel-Expires", "X-Accel-Limit-Rate"
};

bool
cgi_head_is_own(struct str name)
{
	return str_is_among(name, own_fields,
	    sizeof(own_fields) / sizeof(own_fields[0]));
}
