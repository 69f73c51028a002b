/*
 * log_names: takes lines of a log apart by their format, and counts names.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "ampedctl/log_names.h"
#include "conf/log_format.h"
#include "lib/buf.h"
#include "lib/mem.h"
#include "lib/url.h"
#include "proto/char_class.h"

struct name {
	char		*text;		/* owned */
	uint64_t	 count;
};

struct log_names {
	struct conf_log_format	*formats;
	size_t			 nformats, last;	/* last: of the last
							 * good line */
	struct buf		 line, value, url;
	void			*tree;		/* of tsearch(3) */
	struct name		**names;
	size_t			 n;
	uint64_t		 bad, left_out;
};

/* The fields of a line that are of interest, still escaped; empty: the format
 * does not have it. */
struct fields {
	struct str	by_id[LINE_FIELD_COUNT];
};

/*
 * Lines
 */

/* The end of a field: where the literal behind it begins.  A backslash and the
 * byte behind it are a part of the field. */
static const char *
find_end(const char *at, const char *end, const struct conf_log_item *behind)
{
	while (at < end) {
		if ((size_t)(end - at) >= behind->len &&
		    memcmp(at, behind->literal, behind->len) == 0)
			return at;
		at += *at == '\\' && end - at > 1 ? 2 : 1;
	}
	return NULL;
}

/* Whether a field can have this value.  A format may have few literals, so that
 * lines of other formats would match. */
static bool
is_value(enum conf_log_field field, struct str value)
{
	int64_t	number;

	if (field == LINE_PEER || field == LINE_ADDRESS)
		return memchr(value.at, ' ', value.len) == NULL;
	return field != LINE_STATUS ||
	    (value.len == 3 && str_number(value, &number));
}

/* Whether a line, with its newline, has a format; sets the fields. */
static bool
match_line(const struct conf_log_format *f, struct str line, struct fields *to)
{
	const struct conf_log_item	*item = f->items;
	const struct conf_log_item	*last = item + f->n;
	const struct conf_log_item	*behind;
	const char			*at = line.at, *stop;
	const char			*end = line.at + line.len;

	memset(to, 0, sizeof(*to));
	for (; item < last; item++) {
		if ((size_t)(end - at) < item->len ||
		    memcmp(at, item->literal, item->len) != 0)
			return false;
		at += item->len;
		if (item->field == LINE_NO_FIELD)
			continue;
		/* Of fields side by side, the first one gets all. */
		behind = item + 1;
		while (behind->len == 0)
			behind++;
		stop = find_end(at, end, behind);
		if (stop == NULL || !is_value(item->field,
		    (struct str){ at, (size_t)(stop - at) }))
			return false;
		to->by_id[item->field] = (struct str){ at,
		    (size_t)(stop - at) };
		at = stop;
	}
	return at == end;
}

static bool
find_format(struct log_names *l, struct str line, struct fields *to)
{
	if (match_line(&l->formats[l->last], line, to))
		return true;
	for (size_t i = 0; i < l->nformats; i++)
		if (i != l->last && match_line(&l->formats[i], line, to)) {
			l->last = i;
			return true;
		}
	return false;
}

/* A value without the escapes of the log, of which those in JSON begin with one
 * more backslash. */
static struct str
unescape_value(struct log_names *l, struct str s)
{
	struct buf	*to = &l->value;
	size_t		 i = 0;
	int		 high, low;

	to->len = 0;
	while (i < s.len) {
		while (i + 1 < s.len && s.at[i] == '\\')
			i++;
		high = low = -1;
		if (i > 0 && s.at[i - 1] == '\\' && s.at[i] == 'x' &&
		    s.len - i > 2) {
			high = char_class_hex(s.at[i + 1]);
			low = char_class_hex(s.at[i + 2]);
		}
		if (high >= 0 && low >= 0) {
			buf_addc(to, (char)(high << 4 | low));
			i += 3;
		} else
			buf_addc(to, s.at[i++]);
	}
	return (struct str){ to->at, to->len };
}

/*
 * Names
 */

/* The target of a GET that was answered well, still escaped; empty: there is
 * none. */
static struct str
find_target(const struct fields *f)
{
	struct str	line = f->by_id[LINE_REQUEST], method, target;
	struct str	status = f->by_id[LINE_STATUS];

	if (f->by_id[LINE_PATH].len > 0) {
		method = f->by_id[LINE_METHOD];
		target = f->by_id[LINE_PATH];
		if (method.len == 0 && line.len > 0)
			method = str_cut(&line, ' ');
	} else {
		method = str_cut(&line, ' ');
		target = str_cut(&line, ' ');
	}
	if (!str_same(method, STR("GET")) ||
	    (!str_same(status, STR("200")) && !str_same(status, STR("304"))))
		target.len = 0;
	return str_cut(&target, '?');
}

/* The host of a request, or the name of its site if that is one host; empty:
 * only the path is known. */
static struct str
find_host(const struct fields *f)
{
	struct str	host = f->by_id[LINE_HOST];

	if (host.len == 0 || str_same(host, STR("-")))
		host = f->by_id[LINE_SITE];
	if (host.len == 0 || host.at[0] == '*' || str_same(host, STR("-")) ||
	    str_same(host, STR("default")))
		return (struct str){ "", 0 };
	return host;
}

static void
add_host(struct log_names *l, const struct fields *f)
{
	struct str	host = find_host(f), port = f->by_id[LINE_PORT];
	int64_t		number;

	if (host.len == 0)
		return;
	host = unescape_value(l, host);
	buf_adds(&l->url, "http://");
	buf_add(&l->url, host.at, host.len);
	if ((host.at[host.len - 1] == ']' ||
	    memchr(host.at, ':', host.len) == NULL) &&
	    str_number(port, &number) && number > 0 && number != URL_PORT)
		buf_addf(&l->url, ":%lld", (long long)number);
}

static int
compare_texts(const void *p, const void *q)
{
	const struct name	*a = p, *b = q;

	return strcmp(a->text, b->text);
}

static void
count_name(struct log_names *l, const char *text)
{
	struct name	key = { .text = (char *)(uintptr_t)text };
	struct name	**found = tfind(&key, &l->tree, compare_texts);
	struct name	*name;

	if (found != NULL) {
		(*found)->count++;
		return;
	}
	if (l->n == LOG_NAMES_MAX) {
		l->left_out++;
		return;
	}
	name = mem_zero(sizeof(*name));
	name->text = mem_string(text);
	name->count = 1;
	l->names = mem_add_room(l->names, l->n, sizeof(*l->names));
	l->names[l->n++] = name;
	if (tsearch(name, &l->tree, compare_texts) == NULL)
		l->left_out++;		/* no memory */
}

void
log_names_add(struct log_names *l, struct str line)
{
	struct fields	f;
	struct str	target;

	l->line.len = 0;
	buf_add(&l->line, line.at, line.len);
	buf_addc(&l->line, '\n');
	if (!find_format(l, (struct str){ l->line.at, l->line.len }, &f)) {
		l->bad++;
		return;
	}
	target = find_target(&f);
	if (target.len == 0)
		return;
	l->url.len = 0;
	if (target.at[0] == '/')
		add_host(l, &f);
	target = unescape_value(l, target);
	buf_add(&l->url, target.at, target.len);
	/* Other bytes cannot stand in a URL. */
	if (!str_has_control((struct str){ l->url.at, l->url.len }) &&
	    memchr(l->url.at, ' ', l->url.len) == NULL)
		count_name(l, buf_string(&l->url));
}

/* Orders names by their counts, the largest one first. */
static int
compare_counts(const void *p, const void *q)
{
	const struct name	*const *a = p, *const *b = q;

	if ((*a)->count != (*b)->count)
		return (*a)->count > (*b)->count ? -1 : 1;
	return strcmp((*a)->text, (*b)->text);
}

void
log_names_tell(struct log_names *l, size_t most,
    void (*tell)(void *, struct str), void *context)
{
	if (l->n == 0)
		return;
	qsort(l->names, l->n, sizeof(*l->names), compare_counts);
	for (size_t i = most < l->n ? most : l->n; i-- > 0;)
		tell(context, str_of(l->names[i]->text));
}

uint64_t
log_names_bad(const struct log_names *l)
{
	return l->bad;
}

uint64_t
log_names_left_out(const struct log_names *l)
{
	return l->left_out;
}

/*
 * Formats
 */

static void
add_format(struct log_names *l, const char *text, bool json)
{
	struct conf_log_error	error;

	l->formats = mem_grow(l->formats, l->nformats + 1,
	    sizeof(*l->formats));
	l->nformats += conf_log_format_parse(&l->formats[l->nformats], text,
	    json, &error);
}

static void
add_formats(struct log_names *l, const struct conf_pairs *formats, bool json)
{
	for (size_t i = 0; i < formats->n; i++)
		add_format(l, formats->at[i].value, json);
}

struct log_names *
log_names_new(const struct conf *conf)
{
	struct log_names	*l = mem_zero(sizeof(*l));

	if (conf != NULL) {
		add_formats(l, &conf->log.formats, false);
		add_formats(l, &conf->log.json, true);
	}
#define X(id, name, json, text) add_format(l, text, json);
	CONF_LOG_FORMATS(X)
#undef X
	return l;
}

void
log_names_free(struct log_names **lp)
{
	struct log_names	*l = *lp;

	for (size_t i = 0; i < l->n; i++) {
		tdelete(l->names[i], &l->tree, compare_texts);
		free(l->names[i]->text);
		free(l->names[i]);
	}
	free(l->names);
	for (size_t i = 0; i < l->nformats; i++)
		conf_log_format_free(&l->formats[i]);
	free(l->formats);
	buf_free(&l->line);
	buf_free(&l->value);
	buf_free(&l->url);
	mem_drop(lp);
}
