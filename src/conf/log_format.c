/*
 * log_format: parses formats in the language of Apache's mod_log_config.
 */
#include <string.h>
#include <strings.h>

#include "conf/foreign.h"
#include "conf/log_format.h"
#include "lib/buf.h"
#include "lib/mem.h"

static const struct field {
	char		 letter;
	const char	*argument;
	size_t		 len_max;
} fields[] = {
#define FIELD(id, letter, argument, max, put, help) { letter, argument, max },
#include "conf/log_fields.tbl"
#undef FIELD
};

struct parser {
	struct conf_log_format	*format;
	struct buf		 literal;
	size_t			 len_max;
};

static bool
set_error(struct conf_log_error *f, size_t at, size_t len, const char *why)
{
	*f = (struct conf_log_error){ at, len, why };
	return false;
}

/* Adds an item with the first bytes of the literal that is pending. */
static void
add_item(struct parser *m, enum conf_log_field field, char *argument)
{
	struct conf_log_format	*f = m->format;
	struct conf_log_item	*p;
	size_t			 n = m->literal.len;

	if (n > CONF_LOG_LITERAL_MAX)
		n = CONF_LOG_LITERAL_MAX;
	f->items = mem_grow(f->items, f->n + 1, sizeof(*f->items));
	p = &f->items[f->n++];
	*p = (struct conf_log_item){ .field = (uint8_t)field, .len = (uint8_t)n,
	    .argument = argument };
	memcpy(p->literal, buf_string(&m->literal), n);
	buf_consume(&m->literal, n);
}

static void
add_field(struct parser *m, enum conf_log_field field, char *argument)
{
	while (m->literal.len > CONF_LOG_LITERAL_MAX)
		add_item(m, LINE_NO_FIELD, NULL);
	add_item(m, field, argument);
	if (field != LINE_NO_FIELD)
		m->len_max += fields[field].len_max;
}

static bool
field_matches(const struct field *f, char letter, const char *argument)
{
	if (f->letter != letter || (f->argument == NULL) != (argument == NULL))
		return false;
	return argument == NULL || (argument[0] != '\0' &&
	    (f->argument[0] == '\0' || strcasecmp(f->argument, argument) == 0));
}

static enum conf_log_field
find_field(char letter, const char *argument)
{
	size_t	i = 0;

	while (i < LINE_FIELD_COUNT &&
	    !field_matches(&fields[i], letter, argument))
		i++;
	return (enum conf_log_field)i;
}

static bool
letter_is_known(char letter)
{
	for (size_t i = 0; i < LINE_FIELD_COUNT; i++)
		if (fields[i].letter == letter)
			return true;
	return false;
}

/* Parses a field from its percent sign on; returns its length, or 0 and why. */
static size_t
parse_field(struct parser *m, const char *text, const char **why)
{
	size_t			 at = 1, len;
	char			*argument = NULL;
	enum conf_log_field	 field;

	if (text[at] == '>' || text[at] == '<')
		at++;		/* Apache: before or after a redirect */
	if (text[at] == '{') {
		len = strcspn(text + ++at, "}");
		argument = mem_zero(len + 1);
		memcpy(argument, text + at, len);
		at += len + (text[at + len] == '}');
	}
	field = find_field(text[at], argument);
	if (field == LINE_FIELD_COUNT) {
		*why = !letter_is_known(text[at]) ? "there is no such field" :
		    argument == NULL ? "this field needs a {word}" :
		    "this field does not take that word";
		mem_drop(&argument);
		return 0;
	}
	if (field == LINE_NOBODY && !m->format->json)
		buf_addc(&m->literal, '-');	/* its only value */
	else
		add_field(m, field, argument);
	return at + 1;
}

/* Returns the length of a variable of another server, and why it is none of
 * amped's; else 0. */
static size_t
find_foreign(const char *text, const char **why)
{
	size_t	len = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (text[0] != '$')
		return 0;
	*why = conf_foreign_field(text + 1, len);
	return *why != NULL ? 1 + len : 0;
}

static bool
parse_text(struct parser *m, const char *text, struct conf_log_error *f)
{
	const char	*why = NULL;
	size_t		 n;

	for (size_t i = 0; text[i] != '\0'; i += n) {
		n = find_foreign(text + i, &why);
		if (n > 0)
			return set_error(f, i, n, why);
		n = 1;
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return set_error(f, i, 1, "a control byte");
		if (text[i] == '%' && text[i + 1] == '%')
			n = 2;
		if (text[i] != '%' || n == 2) {
			buf_addc(&m->literal, text[i]);
			m->len_max++;
			continue;
		}
		n = parse_field(m, text + i, &why);
		if (n == 0)
			return set_error(f, i, 1 + strcspn(text + i + 1,
			    " \"%"), why);
	}
	if (m->len_max > CONF_LOG_LINE_MAX)
		return set_error(f, 0, strlen(text), "the format is too long");
	return true;
}

bool
conf_log_format_parse(struct conf_log_format *format, const char *text,
    bool json, struct conf_log_error *f)
{
	struct parser	m = { .format = format };
	bool		good;

	*format = (struct conf_log_format){ .json = json };
	good = parse_text(&m, text, f);
	if (good) {
		buf_addc(&m.literal, '\n');
		add_field(&m, LINE_NO_FIELD, NULL);
	} else
		conf_log_format_free(format);
	buf_free(&m.literal);
	return good;
}

void
conf_log_format_free(struct conf_log_format *f)
{
	for (size_t i = 0; i < f->n; i++)
		mem_drop(&f->items[i].argument);
	mem_drop(&f->items);
	f->n = 0;
}
