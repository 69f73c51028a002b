/*
 * error_lines: splits, counts, and keeps the last of what is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lines.h"
#include "lib/mem.h"
#include "shared/error_lines.h"

static const struct token_bucket_size	size = {
	ERROR_LINES_RATE, ERROR_LINES_BURST
};

void
error_lines_fill(struct error_lines_rate *rate, int64_t now)
{
	*rate = (struct error_lines_rate){
		.tail_at = now - ERROR_LINES_TAIL_INTERVAL
	};
	token_bucket_fill(&rate->bucket, &size, now);
}

struct error_lines_rate *
error_lines_rate_of(struct error_lines_rates *rates, size_t program,
    int64_t now)
{
	struct error_lines_rate	*rate;

	while (rates->n <= program) {
		rate = mem_get(sizeof(*rate));
		error_lines_fill(rate, now);
		rates->of = mem_grow(rates->of, rates->n + 1,
		    sizeof(*rates->of));
		rates->of[rates->n++] = rate;
	}
	return rates->of[program];
}

void
error_lines_free_rates(struct error_lines_rates *rates)
{
	while (rates->n > 0)
		free(rates->of[--rates->n]);
	mem_drop(&rates->of);
}

static void
copy_name(struct error_lines_name *to, struct str name)
{
	to->len = name.len > sizeof(to->text) ? sizeof(to->text) : name.len;
	if (to->len > 0)
		memcpy(to->text, name.at, to->len);
}

void
error_lines_name_request(struct error_lines *l, struct str target,
    struct str host)
{
	/* The log folds lines that are equal; clients choose queries. */
	copy_name(&l->target, str_cut(&target, '?'));
	copy_name(&l->host, host);
}

static void
put_line(struct error_lines *l, const char *line, size_t len)
{
	struct buf	text = { 0 };

	if (l->target.len == 0) {
		l->put(l->context, line, len);
		return;
	}
	buf_add(&text, line, len);
	buf_addf(&text, " (for %.*s on %.*s)", (int)l->target.len,
	    l->target.text, (int)l->host.len, l->host.text);
	l->target.len = 0;
	l->put(l->context, text.at, text.len);
	buf_free(&text);
}

static void
put_left_out(struct error_lines *l)
{
	char	text[80];
	int	n;

	if (l->rate->left_out == 0)
		return;
	n = snprintf(text, sizeof(text), "(%llu lines of standard error were "
	    "left out)", (unsigned long long)l->rate->left_out);
	l->rate->left_out = 0;
	l->put(l->context, text, (size_t)n);
}

/* The front is dropped seldom, as that moves all behind it. */
static void
keep_line(struct error_lines *l, const char *line, size_t len)
{
	const char	*end;

	buf_add(&l->tail, line, len);
	buf_addc(&l->tail, '\n');
	if (l->tail.len <= 2 * ERROR_LINES_TAIL)
		return;
	end = memchr(l->tail.at + l->tail.len - ERROR_LINES_TAIL, '\n',
	    ERROR_LINES_TAIL);
	buf_consume(&l->tail, (size_t)(end + 1 - l->tail.at));
}

/* A line that says how many were left out takes a token, too. */
static void
take_line(struct error_lines *l, int64_t now, const char *line, size_t len)
{
	int64_t	cost = l->rate->left_out > 0 ? 2 : 1;

	if (len == 0)
		return;
	if (token_bucket_refill(&l->rate->bucket, &size, now) < cost) {
		l->rate->left_out++;
		keep_line(l, line, len);
		return;
	}
	token_bucket_take(&l->rate->bucket, cost);
	put_left_out(l);
	put_line(l, line, len);
}

static void
take_part(struct error_lines *l, int64_t now)
{
	take_line(l, now, l->part.at, l->part.len);
	l->part.len = 0;
}

void
error_lines_add(struct error_lines *l, int64_t now, const char *at, size_t len)
{
	const char	*end = at + len, *newline;
	size_t		 n;

	while (at < end) {
		newline = memchr(at, '\n', (size_t)(end - at));
		n = (size_t)((newline != NULL ? newline : end) - at);
		if (n > ERROR_LINES_MAX - l->part.len)
			n = ERROR_LINES_MAX - l->part.len;
		buf_add(&l->part, at, n);
		at += n;
		if (at < end && *at == '\n')
			at++;
		else if (l->part.len < ERROR_LINES_MAX)
			continue;
		take_part(l, now);
	}
}

static void
put_tail(struct error_lines *l)
{
	const char	*at = l->tail.at, *end = at + l->tail.len, *newline;
	uint64_t	 n;

	if (l->tail.len > ERROR_LINES_TAIL)
		at = (const char *)memchr(end - ERROR_LINES_TAIL, '\n',
		    ERROR_LINES_TAIL) + 1;
	/* A line of another process may have told of them. */
	n = lines_count(at, (size_t)(end - at));
	l->rate->left_out -= n < l->rate->left_out ? n : l->rate->left_out;
	put_left_out(l);
	for (; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		put_line(l, at, (size_t)(newline - at));
	}
}

void
error_lines_end(struct error_lines *l, int64_t now, bool failed)
{
	take_part(l, now);
	if (failed && l->tail.len > 0 &&
	    now - l->rate->tail_at >= ERROR_LINES_TAIL_INTERVAL) {
		l->rate->tail_at = now;
		put_tail(l);
	}
	if (token_bucket_refill(&l->rate->bucket, &size, now) > 0 &&
	    l->rate->left_out > 0) {
		token_bucket_take(&l->rate->bucket, 1);
		put_left_out(l);
	}
	buf_free(&l->part);
	buf_free(&l->tail);
}
