/*
 * scaled: numbers, and those with a unit: sizes and times.
 */
#include <inttypes.h>
#include <string.h>

#include "conf/setters.h"
#include "lib/need.h"
#include "lib/str.h"

struct unit {
	const char	*name;
	int64_t		 worth;
};

/* Largest first. */
static const struct unit	no_units[] = { { "", 1 }, { NULL, 0 } };
static const struct unit	size_units[] = {
	{ "G", 1 << 30 }, { "M", 1 << 20 }, { "K", 1 << 10 }, { "", 1 },
	{ NULL, 0 }
};
static const struct unit	time_units[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 },
	{ "ms", 1 }, { NULL, 0 }
};

static const struct unit *
units_of(enum conf_type type)
{
	return type == TYPE_SIZE || type == TYPE_ADMIT ? size_units :
	    type == TYPE_TIME ? time_units : no_units;
}

bool
conf_scaled_parse(enum conf_type type, const char *text, int64_t *number)
{
	const struct unit	*u = units_of(type);
	size_t			 digits = strspn(text, "0123456789");

	while (u->name != NULL && strcmp(u->name, text + digits) != 0)
		u++;
	return u->name != NULL &&
	    str_number((struct str){ text, digits }, number) &&
	    !__builtin_mul_overflow(*number, u->worth, number);
}

bool
conf_scaled_set(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	int64_t	*number = member, low, high;

	if (!conf_scaled_parse(row->type, word->text, number)) {
		conf_error(reader, word->pos, "\"%s\" is not a %s",
		    word->text, row->type == TYPE_SIZE ?
		    "size: a number, K, M or G behind it" :
		    row->type == TYPE_TIME ?
		    "time: a number with ms, s, m, h or d behind it" :
		    "number");
		return false;
	}
	need(conf_scaled_parse(row->type, row->lowest, &low));
	need(conf_scaled_parse(row->type, row->highest, &high));
	if (*number < low || *number > high) {
		conf_error(reader, word->pos,
		    "%s is out of bounds: " CONF_ROW " takes %s to %s",
		    word->text, CONF_ROW_NAME(row), row->lowest, row->highest);
		return false;
	}
	return true;
}

void
conf_scaled_print(enum conf_type type, int64_t number, struct buf *to)
{
	const struct unit	*u = units_of(type);

	if (number == 0) {
		buf_adds(to, type == TYPE_TIME ? "0s" : "0");
		return;
	}
	while (number % u->worth != 0)
		u++;
	buf_addf(to, "%" PRId64 "%s", number / u->worth, u->name);
}
