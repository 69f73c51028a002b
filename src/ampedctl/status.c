/*
 * status: gets the metrics from the server and shows them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "ampedctl/metrics.h"
#include "ampedctl/screen.h"
#include "ampedctl/status.h"
#include "ampedctl/terminal.h"
#include "lib/clock.h"
#include "lib/visible.h"

#define LINES_MAX	100	/* with those of file systems */
#define SECONDS_MAX	3600

/* Returns the exit status; text has the reason if it is not 0. */
static int
fetch_metrics(struct client_target *a, struct metrics *n, struct buf *text)
{
	static const char *const	words[] = { "status" };
	struct buf			more = { 0 };
	int				status = client_ask(a, words, 1, false,
					    text, &more);

	*n = (struct metrics){ 0 };
	if (status == 0)
		metrics_parse(n, &more);
	buf_free(&more);
	return status;
}

int
status_show(struct client_target *a)
{
	struct metrics	now;
	struct buf	text = { 0 };
	int		status = fetch_metrics(a, &now, &text);

	if (status == 0) {
		text.len = 0;
		screen_draw(&text, &now, NULL, 0, SCREEN_COLUMNS,
		    LINES_MAX);
		visible_print(stdout, text.at, text.len);
	} else {
		fputs("ampedctl: ", stderr);
		visible_print(stderr, text.at, text.len);
		fputc('\n', stderr);
	}
	metrics_free(&now);
	buf_free(&text);
	return status;
}

static double
seconds_now(void)
{
	return (double)clock_us() / 1e6;
}

/* The metrics shown, and those before, for rates. */
struct top {
	struct client_target	*target;
	struct metrics	 now, before;
	double		 at, before_at;		/* seconds */
	struct buf	 error;			/* why there are none now */
};

static void
draw_top(const struct top *t)
{
	struct buf	text = { 0 };
	size_t		columns, lines;

	terminal_size(&columns, &lines);
	screen_draw(&text, &t->now, t->before.n > 0 ? &t->before : NULL,
	    t->at - t->before_at, columns, lines - 1);
	if (t->error.len > 0)
		buf_addf(&text, "%.*s\n", (int)t->error.len, t->error.at);
	terminal_show(&text);
	buf_free(&text);
}

/* If main or the server is being started again, shows that and tries again.  A
 * server that was never there is an error. */
static int
update_top(struct top *t)
{
	struct metrics	next;
	int		status = fetch_metrics(t->target, &next, &t->error);

	if (status != 0)
		return status == EX_TEMPFAIL || status == EX_PROTOCOL ||
		    (status == EX_UNAVAILABLE && t->now.n > 0) ? 0 : status;
	t->error.len = 0;
	metrics_free(&t->before);
	t->before = t->now;
	t->before_at = t->at;
	t->now = next;
	t->at = seconds_now();
	return 0;
}

static bool
parse_seconds(const char *text, double *seconds)
{
	char	*end;

	*seconds = 1;
	if (text == NULL)
		return true;
	*seconds = strtod(text, &end);
	return *end == '\0' && end != text && *seconds >= 0.1 &&
	    *seconds <= SECONDS_MAX;
}

static int
run_top(struct top *t, double seconds)
{
	int			status;
	enum terminal_event	event;

	while ((status = update_top(t)) == 0) {
		draw_top(t);
		do {
			event = terminal_wait((int)(seconds * 1000));
			if (event == TERMINAL_QUIT)
				return 0;
			/* Rates of a shorter time mean nothing, so no new
			 * metrics. */
			if (seconds_now() - t->at < 0.1)
				draw_top(t);
		} while (seconds_now() - t->at < 0.1);
	}
	return status;
}

int
status_top(struct client_target *a, const char *interval)
{
	struct top	 t = { .target = a };
	double		 seconds;
	const char	*why;
	int		 status;

	if (!parse_seconds(interval, &seconds)) {
		fprintf(stderr, "ampedctl: \"%s\" is no number of seconds from "
		    "0.1 to %d\n", interval, SECONDS_MAX);
		return EX_USAGE;
	}
	client_socket(a);			/* exits with an error before
						 * the terminal is taken */
	why = terminal_enter();
	if (why != NULL) {
		fprintf(stderr, "ampedctl: %s\n", why);
		return EX_USAGE;
	}
	status = run_top(&t, seconds);
	terminal_leave();
	if (status != 0)
		fprintf(stderr, "ampedctl: %s\n", buf_string(&t.error));
	metrics_free(&t.now);
	metrics_free(&t.before);
	buf_free(&t.error);
	return status;
}
