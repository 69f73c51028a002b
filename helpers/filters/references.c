/*
 * references: reads tags as browsers do, as far as is needed: names of tags,
 * attributes, comments, and the text of scripts and styles, which has no tags.
 *
 * A page may have any bytes.  What is overlooked costs a hint and no more.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/filters/references.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/str.h"

struct reader {
	const char	*at, *end;
};

struct tag {
	struct str	name;
	struct str	src, href, rel;
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void
skip_space(struct reader *r)
{
	while (r->at < r->end && is_space(*r->at))
		r->at++;
}

/* Goes behind a text; without it, to the end. */
static void
skip_behind(struct reader *r, const char *text)
{
	size_t	len = strlen(text);

	while ((size_t)(r->end - r->at) >= len &&
	    strncasecmp(r->at, text, len) != 0)
		r->at++;
	r->at = (size_t)(r->end - r->at) >= len ? r->at + len : r->end;
}

/* Takes bytes up to a space or one of these. */
static struct str
take_word(struct reader *r, const char *ends)
{
	const char	*from = r->at;

	while (r->at < r->end && !is_space(*r->at) && (*r->at == '\0' ||
	    strchr(ends, *r->at) == NULL))
		r->at++;
	return (struct str){ from, (size_t)(r->at - from) };
}

/* Takes the value behind a "=", with or without quotes. */
static struct str
take_value(struct reader *r)
{
	const char	*from, *quote;

	skip_space(r);
	if (r->at == r->end || (*r->at != '"' && *r->at != '\''))
		return take_word(r, ">");
	from = r->at + 1;
	quote = memchr(from, *r->at, (size_t)(r->end - from));
	r->at = quote != NULL ? quote + 1 : r->end;
	return (struct str){ from, quote != NULL ? (size_t)(quote - from) : 0 };
}

static void
set_attribute(struct tag *t, struct str name, struct str value)
{
	if (str_same_nocase(name, STR("src")))
		t->src = value;
	else if (str_same_nocase(name, STR("href")))
		t->href = value;
	else if (str_same_nocase(name, STR("rel")))
		t->rel = value;
}

/* Takes the attributes of a tag, and its end. */
static void
take_attributes(struct reader *r, struct tag *t)
{
	struct str	name;

	for (;;) {
		skip_space(r);
		if (r->at == r->end || *r->at == '>')
			break;
		name = take_word(r, "=>");
		skip_space(r);
		if (r->at < r->end && *r->at == '=') {
			r->at++;
			set_attribute(t, name, take_value(r));
		}
	}
	if (r->at < r->end)
		r->at++;
}

/* Takes the next tag; false: the page has no more. */
static bool
take_tag(struct reader *r, struct tag *t)
{
	const char	*at = r->at < r->end ? memchr(r->at, '<',
			    (size_t)(r->end - r->at)) : NULL;

	memset(t, 0, sizeof(*t));
	if (at == NULL)
		return false;
	r->at = at + 1;
	if (r->end - r->at >= 3 && memcmp(r->at, "!--", 3) == 0) {
		skip_behind(r, "-->");
		return true;
	}
	t->name = take_word(r, ">");
	take_attributes(r, t);
	if (str_same_nocase(t->name, STR("script")))
		skip_behind(r, "</script");
	else if (str_same_nocase(t->name, STR("style")))
		skip_behind(r, "</style");
	return true;
}

/* Whether a link is to a style, by one of the words in rel. */
static bool
is_style(const struct tag *t)
{
	struct reader	r;

	if (t->rel.len == 0)
		return false;
	r = (struct reader){ t->rel.at, t->rel.at + t->rel.len };
	for (skip_space(&r); r.at < r.end; skip_space(&r))
		if (str_same_nocase(take_word(&r, ""), STR("stylesheet")))
			return true;
	return false;
}

/* The name that a tag has, or an empty one. */
static struct str
get_name(const struct tag *t)
{
	if (str_same_nocase(t->name, STR("img")) ||
	    str_same_nocase(t->name, STR("script")))
		return str_trim(t->src);
	if (str_same_nocase(t->name, STR("link")) && is_style(t))
		return str_trim(t->href);
	return (struct str){ NULL, 0 };
}

/* Adds a name as a line; false: it cannot be one. */
static bool
add_name(struct str name, struct buf *to)
{
	const struct str	escape = STR("&amp;");

	if (name.len == 0 || name.len > REFERENCES_NAME_MAX ||
	    str_has_control(name))
		return false;
	for (; name.len > 0; str_skip(&name, 1)) {
		buf_addc(to, name.at[0]);
		if (str_starts(name, escape))
			str_skip(&name, escape.len - 1);
	}
	buf_addc(to, '\n');
	return true;
}

void
references_find(const char *page, size_t len, struct buf *to)
{
	struct reader	r = { page, page + len };
	struct tag	t;
	size_t		before = to->len;
	unsigned	n = 0;

	while (n < REFERENCES_MAX && take_tag(&r, &t)) {
		if (str_same_nocase(t.name, STR("base")) && t.href.len > 0) {
			to->len = before;
			return;
		}
		n += add_name(get_name(&t), to);
	}
}

int
references_list(int fd, bool *in_memory)
{
	struct buf	 names = { 0 };
	char		*page = mem_get(REFERENCES_PAGE_MAX);
	ssize_t		 n = io_read_all_at(fd, page, REFERENCES_PAGE_MAX,
			    0);
	int		 to = n == -1 ? -1 : anon_file_open(in_memory);

	if (to != -1) {
		references_find(page, (size_t)n, &names);
		if (names.len > 0 &&
		    io_write_all(to, names.at, names.len) == -1)
			io_close(&to);
	}
	buf_free(&names);
	mem_drop(&page);
	return to;
}
