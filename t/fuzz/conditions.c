/*
 * Fuzz target of proto/conditional, conditions.  Input: a byte, the seconds
 * since the file changed; a byte, whether its tag is weak; then one field a
 * line, in the order of struct cond_request; an empty line is an absent field.
 * Range is always there, to show the effect of If-Range.  The result must agree
 * with a second, slower statement of the rules.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/need.h"
#include "proto/conditional.h"
#include "proto/date.h"

#define MODIFIED	784111777
#define TAG		"\"a\""

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Ends the line in place, and goes to the next one. */
static struct str
take_line(char **rest)
{
	char		*at = *rest;
	struct str	 line = { at, strcspn(at, "\n") };

	*rest += line.len + (at[line.len] != '\0');
	at[line.len] = '\0';
	return line.len > 0 ? line : (struct str){ NULL, 0 };
}

/* Whether a list of tags has a tag before its first invalid element. */
static bool
is_listed(const char *at, bool weak_too)
{
	const char	*tag;
	size_t		 len;

	if (strcmp(at, "*") == 0)
		return true;
	for (;;) {
		tag = at + strspn(at, " \t,");
		at = strncmp(tag, "W/", 2) == 0 ? tag + 2 : tag;
		if (at[0] != '"' || strchr(at + 1, '"') == NULL)
			return false;
		len = strcspn(at + 1, "\"") + 2;
		if (at[len + strspn(at + len, " \t")] != ',' &&
		    at[len + strspn(at + len, " \t")] != '\0')
			return false;
		if (len == strlen(TAG) && memcmp(at, TAG, len) == 0 &&
		    (weak_too || at == tag))
			return true;
		at += len;
	}
}

static bool
read_date(struct str s, const struct cond_selected *have, time_t *date)
{
	return s.at != NULL && date_parse(s, have->now, date);
}

/* RFC 9110, 13.2.2, step by step. */
static int
evaluate_naively(const struct cond_request *ask,
    const struct cond_selected *have, bool weak)
{
	time_t	date;

	if (ask->if_match.at != NULL &&
	    strcmp(ask->if_match.at, "*") != 0 &&
	    (weak || !is_listed(ask->if_match.at, false)))
		return 412;
	if (ask->if_match.at == NULL &&
	    read_date(ask->if_unmodified_since, have, &date) &&
	    have->modified > date)
		return 412;
	if (ask->if_none_match.at != NULL &&
	    is_listed(ask->if_none_match.at, true))
		return 304;
	if (ask->if_none_match.at == NULL &&
	    read_date(ask->if_modified_since, have, &date) &&
	    have->modified <= date && date <= have->now)
		return 304;
	if (ask->if_range.at == NULL)
		return 206;
	if (read_date(ask->if_range, have, &date))
		return date == have->modified && date < have->now ? 206 : 200;
	return !weak && strcmp(ask->if_range.at, TAG) == 0 ? 206 : 200;
}

static void
check_result(char *text, unsigned age, bool weak)
{
	struct cond_request	ask = { .range = STR("bytes=0-0") };
	struct cond_result	answer;
	struct cond_selected	have = {
		.etag = weak ? STR("W/" TAG) : STR(TAG),
		.modified = MODIFIED, .now = MODIFIED + age, .size = 100
	};

	ask.if_match = take_line(&text);
	ask.if_none_match = take_line(&text);
	ask.if_modified_since = take_line(&text);
	ask.if_unmodified_since = take_line(&text);
	ask.if_range = take_line(&text);
	memset(&answer, 0xa5, sizeof(answer));
	conditional_evaluate(&ask, &have, &answer);
	need(answer.status == evaluate_naively(&ask, &have, weak));
	need(answer.status != 206 || (answer.n == 1 &&
	    answer.range[0].first == 0 && answer.range[0].length == 1));

	/* Strong equality implies weak equality. */
	need(!conditional_match(ask.if_match, have.etag, true) ||
	    conditional_match(ask.if_match, have.etag, false));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char	*text;

	/* No field has a NUL: proto/parse refuses it. */
	if (len < 2 || memchr(data + 2, '\0', len - 2) != NULL)
		return 0;
	text = malloc(len - 1);
	need(text != NULL);
	memcpy(text, data + 2, len - 2);
	text[len - 2] = '\0';
	check_result(text, data[0], data[1] & 1);
	free(text);
	return 0;
}
