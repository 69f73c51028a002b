/*
 * repeat_filter: a few lines, the oldest first, each with when it is over.
 */
#include <stdio.h>
#include <string.h>

#include "helpers/repeat_filter.h"

/* Grades that are worth it: whoever does something wants to see that it is
 * done, as often as it is. */
static bool
is_complaint(struct str s)
{
	static const struct str	grades[] = {
		{ "] error: ", 9 }, { "] warn: ", 8 }
	};

	for (size_t i = 0; i < sizeof(grades) / sizeof(grades[0]); i++)
		if (s.len > 0 && memmem(s.at, s.len < 64 ? s.len : 64,
		    grades[i].at, grades[i].len) != NULL)
			return true;
	return false;
}

/* Cuts the time off a line of lib/log, and its end; false: it is another. */
static bool
take_time(struct str *line, struct str *time)
{
	if (line->len < 2 || line->at[line->len - 1] != '\n' ||
	    line->at[0] < '0' || line->at[0] > '9')
		return false;
	line->len--;
	*time = str_cut(line, ' ');
	return time->len < sizeof(((struct repeat *)0)->time) &&
	    line->len < REPEATS_LINE && is_complaint(*line);
}

static struct repeat *
find(struct repeats *r, struct str text)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_same(text, (struct str){ r->at[i].text, r->at[i].len }))
			return &r->at[i];
	return NULL;
}

static void
forget(struct repeats *r, size_t i)
{
	r->n--;
	memmove(&r->at[i], &r->at[i + 1], (r->n - i) * sizeof(r->at[0]));
}

static void
keep_time(struct repeat *e, struct str time)
{
	memcpy(e->time, time.at, time.len);
	e->time_len = time.len;
}

/* One that has nothing to tell gives way; if all have, nothing is kept. */
static struct repeat *
make_room(struct repeats *r)
{
	for (size_t i = 0; r->n == REPEATS_KEPT && i < r->n; i++)
		if (r->at[i].more == 0)
			forget(r, i);
	return r->n < REPEATS_KEPT ? &r->at[r->n++] : NULL;
}

bool
repeats_hear(struct repeats *r, struct str line, int64_t now)
{
	struct str	 time;
	struct repeat	*e;

	if (!take_time(&line, &time))
		return true;
	e = find(r, line);
	if (e != NULL && now < e->until) {
		keep_time(e, time);
		e->more++;
		return false;
	}
	if (e != NULL)			/* is to be told first */
		return true;
	e = make_room(r);
	if (e == NULL)
		return true;
	*e = (struct repeat){ .len = line.len, .until = now + REPEATS_WITHIN };
	memcpy(e->text, line.at, line.len);
	keep_time(e, time);
	return true;
}

bool
repeats_tell(struct repeats *r, int64_t now, struct str *line, uint64_t *more)
{
	static char		 text[REPEATS_LINE + 100];
	const struct repeat	*e = &r->at[0];

	while (r->n > 0 && now >= e->until && e->more == 0)
		forget(r, 0);
	if (r->n == 0 || now < e->until)
		return false;
	*more = e->more;
	line->at = text;
	line->len = (size_t)snprintf(text, sizeof(text),
	    "%.*s %.*s (%llu %s more)\n", (int)e->time_len, e->time,
	    (int)e->len, e->text, (unsigned long long)e->more,
	    e->more == 1 ? "time" : "times");
	forget(r, 0);
	return true;
}

int64_t
repeats_due(const struct repeats *r)
{
	return r->n > 0 ? r->at[0].until : 0;
}
