/*
 * repeat_filter: a few lines with their intervals, the oldest first.
 */
#include <stdio.h>
#include <string.h>

#include "helpers/repeat_filter.h"

/* Errors and warnings.  Other lines report an administrator's actions, each of
 * which is to show. */
static bool
has_filtered_level(struct str s)
{
	static const struct str	levels[] = {
		{ "] error: ", 9 }, { "] warn: ", 8 }
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (s.len > 0 && memmem(s.at, s.len < 64 ? s.len : 64,
		    levels[i].at, levels[i].len) != NULL)
			return true;
	return false;
}

/* Cuts time and newline off a line of lib/log; false: not to be filtered. */
static bool
cut_time(struct str *line, struct str *time)
{
	if (line->len < 2 || line->at[line->len - 1] != '\n' ||
	    line->at[0] < '0' || line->at[0] > '9')
		return false;
	line->len--;
	*time = str_cut(line, ' ');
	return time->len < sizeof(((struct repeat *)0)->time) &&
	    line->len < REPEAT_FILTER_LINE_MAX && has_filtered_level(*line);
}

static struct repeat *
find_repeat(struct repeat_filter *r, struct str text)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_same(text, (struct str){ r->at[i].text, r->at[i].len }))
			return &r->at[i];
	return NULL;
}

static void
drop_repeat(struct repeat_filter *r, size_t i)
{
	r->n--;
	memmove(&r->at[i], &r->at[i + 1], (r->n - i) * sizeof(r->at[0]));
}

static void
set_time(struct repeat *e, struct str time)
{
	memcpy(e->time, time.at, time.len);
	e->time_len = time.len;
}

/* A line without repeats is replaced; NULL: all lines have repeats. */
static struct repeat *
make_room(struct repeat_filter *r)
{
	for (size_t i = 0; r->n == REPEAT_FILTER_LINES && i < r->n; i++)
		if (r->at[i].count == 0)
			drop_repeat(r, i);
	return r->n < REPEAT_FILTER_LINES ? &r->at[r->n++] : NULL;
}

bool
repeat_filter_add(struct repeat_filter *r, struct str line, int64_t now)
{
	struct str	 time;
	struct repeat	*e;

	if (!cut_time(&line, &time))
		return true;
	e = find_repeat(r, line);
	if (e != NULL && now < e->ends_at) {
		set_time(e, time);
		e->count++;
		return false;
	}
	if (e != NULL)			/* its count is due, and comes first */
		return true;
	e = make_room(r);
	if (e == NULL)
		return true;
	*e = (struct repeat){ .len = line.len,
	    .ends_at = now + REPEAT_FILTER_INTERVAL };
	memcpy(e->text, line.at, line.len);
	set_time(e, time);
	return true;
}

/* Takes the count of a line; valid until the next call. */
static uint64_t
take_count(struct repeat *e, struct str *line)
{
	static char	text[REPEAT_FILTER_LINE_MAX + 100];
	uint64_t	count = e->count;

	line->at = text;
	line->len = (size_t)snprintf(text, sizeof(text),
	    "%.*s %.*s (%llu %s more)\n", (int)e->time_len, e->time,
	    (int)e->len, e->text, (unsigned long long)count,
	    count == 1 ? "time" : "times");
	e->count = 0;
	return count;
}

bool
repeat_filter_next(struct repeat_filter *r, int64_t now, struct str *line,
    uint64_t *count)
{
	struct repeat	*e = &r->at[0];

	while (r->n > 0 && now >= e->ends_at && e->count == 0)
		drop_repeat(r, 0);
	if (r->n == 0 || now < e->ends_at)
		return false;
	*count = take_count(e, line);
	drop_repeat(r, 0);
	return true;
}

/* The name and number of a line's process, "main[7]"; empty: it is no line of
 * lib/log. */
static struct str
find_process(struct str text)
{
	const char	*end = text.len > 0 ?
			    memchr(text.at, ']', text.len) : NULL;

	return (struct str){ text.at,
	    end != NULL ? (size_t)(end - text.at) : 0 };
}

bool
repeat_filter_before(struct repeat_filter *r, struct str next,
    struct str *line, uint64_t *count)
{
	struct str	process, of;

	(void)str_cut(&next, ' ');	/* the time */
	process = find_process(next);
	for (size_t i = 0; process.len > 0 && i < r->n; i++) {
		of = find_process((struct str){ r->at[i].text, r->at[i].len });
		if (r->at[i].count == 0 || !str_same(process, of))
			continue;
		*count = take_count(&r->at[i], line);
		return true;
	}
	return false;
}

int64_t
repeat_filter_next_at(const struct repeat_filter *r)
{
	return r->n > 0 ? r->at[0].ends_at : 0;
}
