/*
 * accept: media ranges and their weights.
 *
 * What is malformed is passed over: a preference that is not understood is no
 * reason to refuse anything.
 */
#include <string.h>

#include "http/accept.h"

#define EXACTNESSES	4		/* of enum exactness */

/* The part of s before c, which is cut off with it; all of s without. */
static struct str
cut(struct str *s, char c)
{
	const char	*end = s->len > 0 ? memchr(s->at, c, s->len) : NULL;
	struct str	 part = *s;

	if (end == NULL) {
		s->at += s->len;
		s->len = 0;
	} else {
		part.len = (size_t)(end - s->at);
		s->at += part.len + 1;
		s->len -= part.len + 1;
	}
	return str_trim(part);
}

/* qvalue in thousandths: 0, 1, or with up to three decimals; -1: none. */
static int
thousandths(struct str s)
{
	int	value, worth = 1000;

	if (s.len == 0 || s.len > 5 || s.at[0] < '0' || s.at[0] > '1' ||
	    (s.len > 1 && s.at[1] != '.'))
		return -1;
	value = (s.at[0] - '0') * worth;
	for (size_t i = 2; i < s.len; i++) {
		if (s.at[i] < '0' || s.at[i] > '9')
			return -1;
		worth /= 10;
		value += (s.at[i] - '0') * worth;
	}
	return value > 1000 ? -1 : value;
}

/* From the parameters behind a range; -1 for a broken q. */
static int
quality(struct str parameters)
{
	struct str	parameter, name;

	while (parameters.len > 0) {
		parameter = cut(&parameters, ';');
		name = cut(&parameter, '=');
		if (str_same_nocase(name, STR("q")))
			return thousandths(parameter);
	}
	return 1000;
}

enum exactness { NOT, BY_ALL, BY_CLASS, BY_NAME };

static enum exactness
fits(struct str range, struct str type)
{
	struct str	class = type, of = range;

	if (str_same_nocase(range, type))
		return BY_NAME;
	if (str_same(range, STR("*/*")))
		return BY_ALL;
	return str_same_nocase(cut(&of, '/'), cut(&class, '/')) &&
	    str_same(of, STR("*")) ? BY_CLASS : NOT;
}

int
accept_weight(struct str accept, struct str type)
{
	enum exactness	best = NOT, now;
	struct str	element;
	int		weight = 0, q;

	if (accept.at == NULL)
		return 1;
	while (str_next(&accept, &element)) {
		now = fits(cut(&element, ';'), type);
		q = quality(element);
		if (now <= best || q == -1)
			continue;
		best = now;		/* the most exact one counts */
		weight = q == 0 ? 0 : q * EXACTNESSES + (int)now;
	}
	return weight;
}
