/*
 * template: fields and escapes.
 *
 * Must not know the format of the text: the template chooses the escapes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "helpers/template.h"
#include "lib/visible.h"

#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD */

/* The years of RFC 3339 have four digits. */
#define TIME_MIN	(-62167219200LL)
#define TIME_MAX	253402300799LL

static struct tm
split_time(int64_t time)
{
	struct tm	tm = { .tm_mday = 1 };
	time_t		t = (time_t)(time < TIME_MIN ? TIME_MIN :
			    time > TIME_MAX ? TIME_MAX : time);

	gmtime_r(&t, &tm);
	return tm;
}

/*
 * Fields
 */

static void
put_title(const struct template_values *v, struct buf *to)
{
	buf_adds(to, v->title);
}

static void
put_name(const struct template_values *v, struct buf *to)
{
	buf_adds(to, v->name);
}

static void
put_size(const struct template_values *v, struct buf *to)
{
	buf_addf(to, "%" PRId64, v->size);
}

/* Two significant digits or more, rounded down. */
static void
put_human(const struct template_values *v, struct buf *to)
{
	static const char	 prefixes[] = " KMGTPE";
	const char		*prefix = prefixes;
	int64_t			 n = v->size, tenths = 0;

	for (; n >= 1024; prefix++) {
		tenths = n % 1024 * 10 / 1024;
		n /= 1024;
	}
	if (prefix == prefixes)
		buf_addf(to, "%" PRId64 " B", n);
	else if (n < 10)
		buf_addf(to, "%" PRId64 ".%" PRId64 " %ciB", n, tenths,
		    *prefix);
	else
		buf_addf(to, "%" PRId64 " %ciB", n, *prefix);
}

static void
put_time(const struct template_values *v, struct buf *to)
{
	struct tm	tm = split_time(v->time);

	buf_addf(to, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void
put_date(const struct template_values *v, struct buf *to)
{
	struct tm	tm = split_time(v->time);

	buf_addf(to, "%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min);
}

/*
 * Escapes
 */

static void
escape_none(const char *text, size_t len, struct buf *to)
{
	buf_add(to, text, len);
}

static bool
is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~", c) != NULL);
}

static void
escape_percent(const char *text, size_t len, struct buf *to)
{
	static const char	digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < len; i++) {
		unsigned char	c = (unsigned char)text[i];

		if (is_unreserved(text[i])) {
			buf_addc(to, text[i]);
			continue;
		}
		buf_addc(to, '%');
		buf_addc(to, digits[c >> 4]);
		buf_addc(to, digits[c & 15]);
	}
}

/* C0, DEL and C1. */
static bool
is_control(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0);
}

static void
add_xml(const char *text, size_t n, uint32_t c, struct buf *to)
{
	static const struct {
		char		 c;
		const char	*entity;
	} specials[] = {
		{ '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" },
		{ '"', "&quot;" }, { '\'', "&#39;" },
	};

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (text[0] == specials[i].c) {
			buf_adds(to, specials[i].entity);
			return;
		}
	if (is_control(c))
		buf_adds(to, REPLACEMENT);
	else
		buf_add(to, text, n);
}

static void
add_json(const char *text, size_t n, uint32_t c, struct buf *to)
{
	if (is_control(c)) {
		buf_addf(to, "\\u%04x", (unsigned)c);
		return;
	}
	if (text[0] == '"' || text[0] == '\\')
		buf_addc(to, '\\');
	buf_add(to, text, n);
}

static void
escape_characters(const char *text, size_t len, struct buf *to,
    void (*add)(const char *, size_t, uint32_t, struct buf *))
{
	uint32_t	c;
	size_t		n;

	for (; len > 0; text += n, len -= n) {
		n = visible_decode(text, len, &c);
		if (n > 0) {
			add(text, n, c, to);
		} else {
			buf_adds(to, REPLACEMENT);
			n = 1;
		}
	}
}

static void
escape_xml(const char *text, size_t len, struct buf *to)
{
	escape_characters(text, len, to, add_xml);
}

static void
escape_json(const char *text, size_t len, struct buf *to)
{
	escape_characters(text, len, to, add_json);
}

/*
 * The text
 */

static const struct {
	const char	*name;
	void		(*put)(const struct template_values *, struct buf *);
} fields[] = {
#define X(name) { #name, put_##name },
	TEMPLATE_FIELDS(X)
#undef X
};

static const struct {
	const char	*name;
	void		(*escape)(const char *, size_t, struct buf *);
} escapes[] = {
#define X(name) { #name, escape_##name },
	TEMPLATE_ESCAPES(X)
#undef X
};

/* Whether the text begins with this word and then that character. */
static bool
is_word(const char *text, const char *word, char behind)
{
	size_t	len = strlen(word);

	return strncmp(text, word, len) == 0 && text[len] == behind;
}

/* Appends a field to value; returns the text behind "{NAME"; NULL: unknown. */
static const char *
put_field(const char *text, const struct template_values *v, struct buf *value)
{
	size_t	n = sizeof(fields) / sizeof(fields[0]);

	if (*text++ != '{')
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (is_word(text, fields[i].name, ':') ||
		    is_word(text, fields[i].name, '}')) {
			fields[i].put(v, value);
			return text + strlen(fields[i].name);
		}
	}
	return NULL;
}

/* Appends the value, escaped; returns the text behind "}"; NULL: unknown. */
static const char *
put_escaped(const char *text, const struct buf *value, struct buf *to)
{
	size_t	n = sizeof(escapes) / sizeof(escapes[0]);

	if (*text++ == '}') {
		escape_none(value->at, value->len, to);
		return text;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_word(text, escapes[i].name, '}')) {
			escapes[i].escape(value->at, value->len, to);
			return text + strlen(escapes[i].name) + 1;
		}
	}
	return NULL;
}

bool
template_fill(const char *text, const struct template_values *v, struct buf *to)
{
	struct buf	 value = { 0 };
	const char	*percent;

	while (text != NULL && (percent = strchr(text, '%')) != NULL) {
		buf_add(to, text, (size_t)(percent - text));
		text = percent + 1;
		if (*text == '%') {
			buf_addc(to, *text++);
			continue;
		}
		value.len = 0;
		text = put_field(text, v, &value);
		if (text != NULL)
			text = put_escaped(text, &value, to);
	}
	buf_free(&value);
	if (text == NULL)
		return false;
	buf_adds(to, text);
	return true;
}
