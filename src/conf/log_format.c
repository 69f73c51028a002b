/*
 * log_format: Apache's language of percent signs, as far as we know it.
 */
#include <string.h>
#include <strings.h>

#include "conf/log_format.h"
#include "lib/buf.h"
#include "lib/mem.h"

static const struct field {
	char		 letter;
	const char	*argument;
	size_t		 most;
} fields[] = {
#define FIELD(id, letter, argument, most, put, help) { letter, argument, most },
#include "conf/log_fields.tbl"
#undef FIELD
};

struct maker {
	struct conf_format	*format;
	struct buf		 lead;
	size_t			 most;
};

static bool
fault(struct conf_format_fault *f, size_t at, size_t len, const char *why)
{
	*f = (struct conf_format_fault){ at, len, why };
	return false;
}

/* A piece with as much of what stands before it as it takes. */
static void
add_piece(struct maker *m, enum conf_field field, char *argument)
{
	struct conf_format	*f = m->format;
	struct conf_piece	*p;
	size_t			 n = m->lead.len;

	if (n > CONF_LEAD)
		n = CONF_LEAD;
	f->pieces = mem_grow(f->pieces, f->n + 1, sizeof(*f->pieces));
	p = &f->pieces[f->n++];
	*p = (struct conf_piece){ .field = (uint8_t)field, .len = (uint8_t)n,
	    .argument = argument };
	memcpy(p->lead, buf_string(&m->lead), n);
	buf_consume(&m->lead, n);
}

static void
add_field(struct maker *m, enum conf_field field, char *argument)
{
	while (m->lead.len > CONF_LEAD)
		add_piece(m, LINE_NOTHING, NULL);
	add_piece(m, field, argument);
	if (field != LINE_NOTHING)
		m->most += fields[field].most;
}

static bool
fits(const struct field *f, char letter, const char *argument)
{
	if (f->letter != letter || (f->argument == NULL) != (argument == NULL))
		return false;
	return argument == NULL || (argument[0] != '\0' &&
	    (f->argument[0] == '\0' || strcasecmp(f->argument, argument) == 0));
}

static enum conf_field
find(char letter, const char *argument)
{
	size_t	i = 0;

	while (i < LINE_FIELDS && !fits(&fields[i], letter, argument))
		i++;
	return (enum conf_field)i;
}

static bool
knows(char letter)
{
	for (size_t i = 0; i < LINE_FIELDS; i++)
		if (fields[i].letter == letter)
			return true;
	return false;
}

/* What a text begins with, from its percent sign on; its length, or 0. */
static size_t
take_field(struct maker *m, const char *text, const char **why)
{
	size_t		 at = 1, len;
	char		*argument = NULL;
	enum conf_field	 field;

	if (text[at] == '>' || text[at] == '<')
		at++;		/* of a request that is served elsewhere */
	if (text[at] == '{') {
		len = strcspn(text + ++at, "}");
		argument = mem_zero(len + 1);
		memcpy(argument, text + at, len);
		at += len + (text[at + len] == '}');
	}
	field = find(text[at], argument);
	if (field == LINE_FIELDS) {
		*why = !knows(text[at]) ? "there is no such field" :
		    argument == NULL ? "this field needs a {word}" :
		    "this field does not take that word";
		mem_drop(&argument);
		return 0;
	}
	if (field == LINE_NOBODY && !m->format->json)
		buf_addc(&m->lead, '-');	/* it is never anything else */
	else
		add_field(m, field, argument);
	return at + 1;
}

static bool
take_all(struct maker *m, const char *text, struct conf_format_fault *f)
{
	const char	*why = NULL;
	size_t		 n;

	for (size_t i = 0; text[i] != '\0'; i += n) {
		n = 1;
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return fault(f, i, 1, "a control byte");
		if (text[i] == '%' && text[i + 1] == '%')
			n = 2;
		if (text[i] != '%' || n == 2) {
			buf_addc(&m->lead, text[i]);
			m->most++;
			continue;
		}
		n = take_field(m, text + i, &why);
		if (n == 0)
			return fault(f, i, 1 + strcspn(text + i + 1, " \"%"),
			    why);
	}
	if (m->most > CONF_FORMAT_MOST)
		return fault(f, 0, strlen(text), "it is too long");
	return true;
}

bool
conf_format_make(struct conf_format *format, const char *text, bool json,
    struct conf_format_fault *f)
{
	struct maker	m = { .format = format };
	bool		good;

	*format = (struct conf_format){ .json = json };
	good = take_all(&m, text, f);
	if (good) {
		buf_addc(&m.lead, '\n');
		add_field(&m, LINE_NOTHING, NULL);
	} else
		conf_format_free(format);
	buf_free(&m.lead);
	return good;
}

void
conf_format_free(struct conf_format *f)
{
	for (size_t i = 0; i < f->n; i++)
		mem_drop(&f->pieces[i].argument);
	mem_drop(&f->pieces);
	f->n = 0;
}
