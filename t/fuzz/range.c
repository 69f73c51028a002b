/* Fuzz target of proto/conditional, ranges: eight bytes are the size of the
 * file, the others the field Range.  For a small file the result must match a
 * map of its bytes, each marked with the number of the first range that has it.
 * */
#include <string.h>

#include "lib/need.h"
#include "proto/conditional.h"

enum { SMALL = 300, UNASKED = 0 };

struct map {
	int		who[SMALL];	/* by byte; from 1 */
	int64_t		size;
	int		asked;		/* ranges so far */
};

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Inside of the file; no two overlap or touch. */
static void
check_parts(const struct cond_result *a, int64_t size)
{
	const struct byte_range	*p, *q;

	need(a->n > 0 && a->n <= COND_RANGES_MAX);
	for (p = a->range; p < a->range + a->n; p++) {
		need(p->first >= 0 && p->length > 0);
		need(p->length <= size && p->first <= size - p->length);
		for (q = a->range; q < p; q++)
			need(p->first > q->first + q->length ||
			    q->first > p->first + p->length);
	}
}

/* Digits to a number, -1 without any, with the largest number as maximum. */
static int64_t
read_number(const char **at, const char *end)
{
	int64_t	n = -1;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
		n = n == -1 ? 0 : n;
		n = n > (INT64_MAX - (**at - '0')) / 10 ? INT64_MAX :
		    n * 10 + (**at - '0');
	}
	return n;
}

/* Counts the pieces of marked bytes. */
static unsigned
split_list(const struct map *map)
{
	unsigned	n = 0;

	for (int64_t i = 0; i < map->size; i++)
		n += map->who[i] != UNASKED &&
		    (i == 0 || map->who[i - 1] == UNASKED);
	return n;
}

static void
mark_byte(struct map *map, int64_t first, int64_t last)
{
	map->asked++;
	for (; first <= last && first < map->size; first++)
		if (map->who[first] == UNASKED)
			map->who[first] = map->asked;
}

/* Marks the bytes of one range; false: not a range. */
static bool
mark_range(struct map *map, const char *at, const char *end)
{
	int64_t	a = read_number(&at, end), b;

	if (at == end || *at != '-')
		return false;
	at++;
	b = read_number(&at, end);
	if (at != end || (a == -1 && b == -1))
		return false;
	if (a == -1 && b > 0 && map->size == 0)
		return false;
	if (a == -1)
		mark_byte(map, b < map->size ? map->size - b : 0,
		    b == 0 ? -1 : map->size);
	else if (b == -1)
		mark_byte(map, a, map->size);
	else
		mark_byte(map, a, b);
	return b == -1 || a <= b;
}

/* The expected status of the field; marks its bytes. */
static int
parse_naively(struct map *map, struct str range)
{
	static const char	 unit[] = "bytes=";
	const char		*at = range.at, *end = at + range.len, *comma;
	struct str		 one;

	for (const char *u = unit; *u != '\0'; u++, at++)
		if (at == end || (*at | (*u == '=' ? 0 : 0x20)) != *u)
			return 200;
	for (; at < end; at = comma + (comma < end)) {
		comma = memchr(at, ',', (size_t)(end - at));
		if (comma == NULL)
			comma = end;
		one = str_trim((struct str){ at, (size_t)(comma - at) });
		if (one.len == 0)
			continue;
		if (!mark_range(map, one.at, one.at + one.len) ||
		    split_list(map) > COND_RANGES_MAX)
			return 200;
	}
	if (map->asked == 0)
		return 200;
	return split_list(map) > 0 ? 206 : 416;
}

/* Checks that the ranges are the marked bytes, in the order asked for. */
static void
compare_results(const struct map *map, const struct cond_result *a)
{
	int	first, last = 0;

	need(split_list(map) == a->n);
	for (unsigned i = 0; i < a->n; i++) {
		first = map->asked + 1;
		for (int64_t k = 0; k < a->range[i].length; k++) {
			int	who = map->who[a->range[i].first + k];

			need(who != UNASKED);
			if (who < first)
				first = who;
		}
		need(first > last);
		last = first;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct cond_request	ask = { .range = { NULL, 0 } };
	struct cond_selected	have = {
		.etag = STR("\"a\""), .modified = 1, .now = 2
	};
	struct cond_result	answer;
	struct map		map = { .asked = 0 };

	if (len < sizeof(have.size))
		return 0;
	memcpy(&have.size, data, sizeof(have.size));
	have.size &= INT64_MAX;
	ask.range = (struct str){
		(const char *)data + sizeof(have.size), len - sizeof(have.size)
	};
	memset(&answer, 0xa5, sizeof(answer));
	conditional_evaluate(&ask, &have, &answer);
	need(answer.status == 200 || answer.status == 206 ||
	    answer.status == 416);
	if (answer.status == 206)
		check_parts(&answer, have.size);
	if (have.size > SMALL)
		return 0;
	map.size = have.size;
	need(parse_naively(&map, ask.range) == answer.status);
	if (answer.status == 206)
		compare_results(&map, &answer);
	return 0;
}
