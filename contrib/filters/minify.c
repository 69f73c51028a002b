/*
 * minify: an example of a module for amped (amped-filters(7)): makes HTML
 * smaller.  Comments go, and white space becomes one space, but in elements
 * where it counts.
 *
 *	cc -shared -fPIC -O2 -I/usr/local/include -o minify.so minify.c
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "amped-filter.h"

static const char *const	kept[] = { "pre", "textarea", "script", "style" };

struct minify {
	const struct amped_filter_host	*host;
	char				*text;
	size_t				 len;
};

static void *
begin_file(const struct amped_filter_host *host)
{
	struct minify	*m = calloc(1, sizeof(*m));

	if (m != NULL)
		m->host = host;
	return m;
}

/* The text is taken whole, until flush_file(): an element may begin in one piece
 * and end in the next. */
static int
feed_file(void *state, const void *bytes, size_t n)
{
	struct minify	*m = state;
	char		*text = realloc(m->text, m->len + n + 1);

	if (text == NULL)
		return 1;
	memcpy(text + m->len, bytes, n);
	m->text = text;
	m->len += n;
	m->text[m->len] = '\0';
	return 0;
}

/* The element that begins here if its white space counts; NULL: none does. */
static const char *
find_kept(const char *at)
{
	size_t	n;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		n = strlen(kept[i]);
		if (strncasecmp(at + 1, kept[i], n) == 0 &&
		    !isalnum((unsigned char)at[1 + n]))
			return kept[i];
	}
	return NULL;
}

/* The end of an element, behind its last byte. */
static const char *
find_end(const char *at, const char *name)
{
	const char	*end;

	for (end = strstr(at, "</"); end != NULL; end = strstr(end + 2, "</"))
		if (strncasecmp(end + 2, name, strlen(name)) == 0)
			return end + 2 + strlen(name);
	return at + strlen(at);
}

/* Puts out what begins with <; returns what is behind that. */
static const char *
put_tag(const struct minify *m, const char *at)
{
	const char	*name = find_kept(at), *end = at + 1;

	/* A conditional comment is for a browser. */
	if (strncmp(at, "<!--", 4) == 0 && at[4] != '[') {
		end = strstr(at + 4, "-->");
		return end != NULL ? end + 3 : at + strlen(at);
	}
	if (name != NULL)
		end = find_end(at, name);
	m->host->emit(at, (size_t)(end - at));
	return end;
}

/* Whether more text cannot change what put_tag() does here. */
static int
is_certain(const char *at)
{
	const char	*name;

	if (strncmp(at, "<!--", 4) == 0)
		return at[4] == '[' || strstr(at + 4, "-->") != NULL;
	if (strchr(at, '>') == NULL)
		return 0;
	name = find_kept(at);
	return name == NULL || *find_end(at, name) != '\0';
}

/* Puts out the text, before the end as far as it is certain; returns what is
 * left. */
static const char *
put_text(const struct minify *m, int is_end)
{
	const char	*at = m->text != NULL ? m->text : "", *end;

	while (*at != '\0') {
		end = at + strcspn(at, "< \t\r\n");
		m->host->emit(at, (size_t)(end - at));
		at = end + strspn(end, " \t\r\n");
		if (!is_end && (at != end ? *at == '\0' : *at == '<' &&
		    !is_certain(at)))
			return end;
		if (at != end)
			m->host->emit(" ", 1);
		else if (*at == '<')
			at = put_tag(m, at);
	}
	return at;
}

static void
flush_file(void *state)
{
	struct minify	*m = state;
	const char	*rest;

	if (m->text == NULL)
		return;
	rest = put_text(m, 0);
	m->len -= (size_t)(rest - m->text);
	memmove(m->text, rest, m->len + 1);
}

static int
end_file(void *state)
{
	struct minify	*m = state;

	put_text(m, 1);
	free(m->text);
	free(m);
	return 0;
}

const struct amped_filter	amped_filter = {
	AMPED_FILTER_VERSION, begin_file, feed_file, end_file, flush_file
};
