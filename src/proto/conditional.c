/*
 * conditional: the conditions and ranges of a request.
 *
 * For GET and HEAD, when the status would be 200 without them.  The caller
 * decides whether the method allows ranges.
 */
#include <string.h>

#include "proto/conditional.h"
#include "proto/date.h"

enum range_kind { RANGE_IGNORED, RANGE_SATISFIABLE, RANGE_UNSATISFIABLE };

static bool
is_present(struct str s)
{
	return s.at != NULL;
}

static bool
is_weak(struct str tag)
{
	return str_starts(tag, STR("W/"));
}

/* The tag in quotes, without the W/ of a weak one. */
static struct str
opaque_tag(struct str tag)
{
	if (is_weak(tag))
		str_skip(&tag, 2);
	return tag;
}

static bool
is_separator(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

/*
 * Cuts the next tag, as sent, off the front of a list; false: there is no valid
 * tag.  str_next() does not fit: a backslash in a tag has no meaning.
 */
static bool
next_tag(struct str *list, struct str *tag)
{
	const char	*end;
	struct str	 s;

	while (list->len > 0 && is_separator(list->at[0]))
		str_skip(list, 1);
	s = opaque_tag(*list);
	if (s.len < 2 || s.at[0] != '"')
		return false;
	end = memchr(s.at + 1, '"', s.len - 1);
	if (end == NULL)
		return false;
	*tag = (struct str){ list->at, (size_t)(end + 1 - list->at) };
	str_skip(list, tag->len);
	s = str_trim(*list);
	return s.len == 0 || s.at[0] == ',';
}

bool
conditional_match(struct str list, struct str etag, bool strong)
{
	struct str	tag;

	if (str_same(list, STR("*")))
		return true;
	if (strong && is_weak(etag))
		return false;
	while (next_tag(&list, &tag))
		if (str_same(strong ? tag : opaque_tag(tag), opaque_tag(etag)))
			return true;
	return false;
}

/* The status that the preconditions demand, in the order of RFC 9110, section
 * 13.2.2; 0: none. */
static int
check_preconditions(const struct cond_request *ask,
    const struct cond_selected *have)
{
	time_t	date;

	if (is_present(ask->if_match)) {
		if (!conditional_match(ask->if_match, have->etag, true))
			return 412;
	} else if (is_present(ask->if_unmodified_since) &&
	    date_parse(ask->if_unmodified_since, have->now, &date) &&
	    have->modified > date)
		return 412;

	if (is_present(ask->if_none_match))
		return conditional_match(ask->if_none_match, have->etag,
		    false) ? 304 : 0;
	/* A date in the future says nothing about the client's copy. */
	if (is_present(ask->if_modified_since) &&
	    date_parse(ask->if_modified_since, have->now, &date) &&
	    date <= have->now && have->modified <= date)
		return 304;
	return 0;
}

/* Whether a range would fit to the client's copy. */
static bool
check_if_range(struct str s, const struct cond_selected *have)
{
	time_t	date;

	if (!is_present(s))
		return true;
	if (date_parse(s, have->now, &date))
		/* A file may change twice in the second of its mtime. */
		return date == have->modified && have->modified < have->now;
	return s.len > 0 && !is_weak(have->etag) && str_same(s, have->etag);
}

/* Reads digits; a number that is too large becomes INT64_MAX. */
static bool
parse_position(struct str s, int64_t *n)
{
	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] < '0' || s.at[i] > '9')
			return false;
	if (!str_number(s, n))
		*n = INT64_MAX;
	return true;
}

/* "-5": the last five bytes. */
static enum range_kind
parse_suffix(struct str digits, struct byte_range *part, int64_t size)
{
	int64_t	n;

	if (!parse_position(digits, &n))
		return RANGE_IGNORED;
	if (n == 0)
		return RANGE_UNSATISFIABLE;
	/* An empty file satisfies "-5", but Content-Range cannot say so. */
	if (size == 0)
		return RANGE_IGNORED;
	part->length = n < size ? n : size;
	part->first = size - part->length;
	return RANGE_SATISFIABLE;
}

/* "2-3" or "2-". */
static enum range_kind
parse_from_to(struct str from, struct str to, struct byte_range *part,
    int64_t size)
{
	int64_t	first, last = INT64_MAX;

	if (!parse_position(from, &first) ||
	    (to.len > 0 && !parse_position(to, &last)) || last < first)
		return RANGE_IGNORED;
	if (first >= size)
		return RANGE_UNSATISFIABLE;
	part->first = first;
	part->length = (last < size ? last + 1 : size) - first;
	return RANGE_SATISFIABLE;
}

static enum range_kind
parse_range(struct str s, struct byte_range *part, int64_t size)
{
	const char	*dash = memchr(s.at, '-', s.len);
	struct str	 from, to;

	if (dash == NULL)
		return RANGE_IGNORED;
	from = (struct str){ s.at, (size_t)(dash - s.at) };
	to = (struct str){ dash + 1, s.len - from.len - 1 };
	return from.len == 0 ? parse_suffix(to, part, size) :
	    parse_from_to(from, to, part, size);
}

/* Whether two ranges overlap or are adjacent. */
static bool
ranges_touch(const struct byte_range *a, const struct byte_range *b)
{
	return a->first <= b->first + b->length &&
	    b->first <= a->first + a->length;
}

static void
unite_ranges(struct byte_range *a, const struct byte_range *b)
{
	int64_t	end = a->first + a->length, other = b->first + b->length;

	if (b->first < a->first)
		a->first = b->first;
	a->length = (end > other ? end : other) - a->first;
}

/*
 * Adds a range, united with all ranges that it touches, in the place of the
 * first of these.  One pass is enough: the present ranges do not touch each
 * other, so whatever the union has gained touches none of the rest.  False:
 * there are too many ranges.
 */
static bool
add_range(struct cond_result *a, const struct byte_range *part)
{
	struct byte_range	united = *part;
	unsigned		n = 0, home = COND_RANGES_MAX;

	for (unsigned i = 0; i < a->n; i++) {
		if (!ranges_touch(&a->range[i], part)) {
			a->range[n++] = a->range[i];
			continue;
		}
		unite_ranges(&united, &a->range[i]);
		if (home == COND_RANGES_MAX)
			home = n++;
	}
	if (home == COND_RANGES_MAX)
		home = n++;
	a->n = n;
	if (home == COND_RANGES_MAX)
		return false;
	a->range[home] = united;
	return true;
}

/* A list with an element that is not a range is ignored as a whole. */
static enum range_kind
parse_ranges(struct str s, struct cond_result *a, int64_t size)
{
	static const struct str	unit = { "bytes=", 6 };
	enum range_kind		result = RANGE_IGNORED, one;
	struct byte_range	part;
	struct str		range;

	if (s.len < unit.len ||
	    !str_same_nocase((struct str){ s.at, unit.len }, unit))
		return RANGE_IGNORED;
	str_skip(&s, unit.len);
	while (str_next(&s, &range)) {
		one = parse_range(range, &part, size);
		if (one == RANGE_IGNORED ||
		    (one == RANGE_SATISFIABLE && !add_range(a, &part)))
			return RANGE_IGNORED;
		if (result != RANGE_SATISFIABLE)
			result = one;
	}
	return result;
}

void
conditional_evaluate(const struct cond_request *ask,
    const struct cond_selected *have, struct cond_result *a)
{
	static const int	status[] = {
		[RANGE_IGNORED] = 200, [RANGE_SATISFIABLE] = 206,
		[RANGE_UNSATISFIABLE] = 416
	};

	a->n = 0;
	a->status = check_preconditions(ask, have);
	if (a->status != 0)
		return;
	a->status = 200;
	if (is_present(ask->range) && check_if_range(ask->if_range, have))
		a->status = status[parse_ranges(ask->range, a, have->size)];
}
