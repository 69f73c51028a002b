/*
 * accept: media ranges, codings, languages, and their weights.
 *
 * A malformed element is ignored: a preference that is not understood is no
 * reason to refuse a request.
 */
#include <string.h>

#include "proto/accept.h"

#define EXACTNESSES	4		/* values of enum exactness */

/* A qvalue in thousandths: 0, 1, or with up to three decimals; -1: invalid. */
static int
parse_qvalue(struct str s)
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

/* The q in the parameters of a media range, in thousandths; -1: invalid. */
static int
read_quality(struct str parameters)
{
	struct str	parameter, name;

	while (parameters.len > 0) {
		parameter = str_trim(str_cut(&parameters, ';'));
		name = str_trim(str_cut(&parameter, '='));
		if (str_same_nocase(name, STR("q")))
			return parse_qvalue(parameter);
	}
	return 1000;
}

enum exactness { NOT, BY_ALL, BY_CLASS, BY_NAME };

static enum exactness
match_type(struct str range, struct str type)
{
	struct str	class = type, of = range;

	if (str_same_nocase(range, type))
		return BY_NAME;
	if (str_same(range, STR("*/*")))
		return BY_ALL;
	return str_same_nocase(str_trim(str_cut(&of, '/')),
	    str_trim(str_cut(&class, '/'))) &&
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
		now = match_type(str_trim(str_cut(&element, ';')), type);
		q = read_quality(element);
		if (now <= best || q == -1)
			continue;
		best = now;		/* the most exact range counts */
		weight = q == 0 ? 0 : q * EXACTNESSES + (int)now;
	}
	return weight;
}

bool
accept_is_by_name(int weight)
{
	return weight % EXACTNESSES == BY_NAME;
}

/* x-gzip is an old name of gzip (RFC 9110, section 8.4.1.3). */
static bool
is_coding(struct str name, struct str coding)
{
	return str_same_nocase(name, coding) ||
	    (str_same(coding, STR("gzip")) &&
	    str_same_nocase(name, STR("x-gzip")));
}

int
accept_coding(struct str accept, struct str coding)
{
	struct str	element, name;
	int		by_name = -1, by_all = -1, q;

	while (str_next(&accept, &element)) {
		name = str_trim(str_cut(&element, ';'));
		q = read_quality(element);
		if (is_coding(name, coding) && q > by_name)
			by_name = q;
		else if (str_same(name, STR("*")) && q > by_all)
			by_all = q;
	}
	return by_name != -1 ? by_name : by_all;
}

/* Whether a text begins with all subtags of another. */
static bool
has_subtags(struct str text, struct str first)
{
	return first.len > 0 && text.len >= first.len &&
	    (text.len == first.len || text.at[first.len] == '-') &&
	    str_same_nocase((struct str){ text.at, first.len }, first);
}

/* Whether the longest range that covers a tag has q=0; of two equal ranges the
 * greater q counts. */
static bool
is_refused(struct str accept, struct str tag)
{
	struct str	element, range;
	size_t		longest = 0;
	int		best = -1, q;

	for (int i = 0; i < ACCEPT_RANGES_MAX && str_next(&accept, &element);
	    i++) {
		range = str_trim(str_cut(&element, ';'));
		if (range.len < longest || !has_subtags(tag, range))
			continue;
		q = read_quality(element);
		if (q == -1 || (range.len == longest && q <= best))
			continue;
		best = q;
		longest = range.len;
	}
	return best == 0;
}

static uint32_t
find_refused(struct str accept, const char *const tags[], size_t n)
{
	uint32_t	refused = 0;

	for (size_t i = 0; i < n; i++)
		if (tags[i] != NULL && is_refused(accept, str_of(tags[i])))
			refused |= 1U << i;
	return refused;
}

static size_t
find_longest(struct str range, const char *const tags[], size_t n,
    uint32_t refused)
{
	size_t	longest = 0, found = n;

	for (size_t i = 0; i < n; i++) {
		if (tags[i] == NULL || (refused & 1U << i) != 0 ||
		    !has_subtags(range, str_of(tags[i])) ||
		    strlen(tags[i]) <= longest)
			continue;
		longest = strlen(tags[i]);
		found = i;
	}
	return found;
}

size_t
accept_language(struct str accept, const char *const tags[], size_t n)
{
	uint32_t	refused = find_refused(accept, tags, n);
	struct str	element, range;
	size_t		best = n, found;
	int		weight = 0, q;

	for (int i = 0; i < ACCEPT_RANGES_MAX && str_next(&accept, &element);
	    i++) {
		range = str_trim(str_cut(&element, ';'));
		q = read_quality(element);
		if (q <= weight)
			continue;
		found = find_longest(range, tags, n, refused);
		if (found == n)
			continue;
		best = found;
		weight = q;
	}
	return best;
}
