/*
 * error_writer: words, then how many were lost.
 *
 * Waits for the log as long as that takes, so that all others need not.  What
 * is said again and again is counted (repeat_filter.h); all else is written as
 * it is.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "helpers/error_writer.h"
#include "helpers/log_sink.h"
#include "helpers/repeat_filter.h"
#include "lib/clock.h"
#include "lib/lines.h"
#include "lib/log.h"
#include "lib/visible.h"

#define RETRY	1000			/* ms, for a log that fails */

/* A read takes all that is in the pipe, and so ends where a line ends, if this
 * is as large as a pipe can be made. */
static char	batch[1024 * 1024];

struct scribe {
	struct outlet	*log;
	uint64_t	 lost;		/* lines, not yet told */
	bool		 failing;	/* the log, at the last try */
	struct repeats	 repeats;
};

static void
write_lines(void *context, const char *at, size_t len)
{
	struct scribe	*s = context;
	size_t		 done = 0;

	while ((s->failing = outlet_write(s->log, at, len, &done) == -1)) {
		/* A FIFO was opened so as not to wait for its reader. */
		if (errno != EAGAIN)
			break;
		outlet_wait(s->log, RETRY);
	}
	if (s->failing)
		s->lost += lines_count(at + done, len - done);
}

static void
count_losses(struct scribe *s, int losses)
{
	char	bytes[4096];
	ssize_t	n;

	while ((n = read(losses, bytes, sizeof(bytes))) > 0)
		s->lost += (uint64_t)n;
}

/* A line that may fail as well: then it was not one of those lost. */
static void
tell_losses(struct scribe *s)
{
	uint64_t	n = s->lost;

	if (n == 0)
		return;
	s->lost = 0;
	log_warnx("%llu line%s of the error log %s lost: it was slower than "
	    "they came, or could not be written to; see whether its disk, or "
	    "who else takes it, is slow or full, or give it a higher grade",
	    (unsigned long long)n, n == 1 ? "" : "s", n == 1 ? "was" : "were");
	if (s->failing)
		s->lost = n;
}

/* Those that are not just counted, as many as stand together at once. */
static void
hear(struct scribe *s, struct str all)
{
	int64_t		 ms = clock_ms();
	const char	*from = all.at;
	struct str	 line;

	for (; all.len > 0; all.at += line.len, all.len -= line.len) {
		line.at = all.at;
		line.len = lines_first(all.at, all.len);
		if (repeats_hear(&s->repeats, line, ms))
			continue;
		if (all.at > from)
			write_lines(s, from, (size_t)(all.at - from));
		from = all.at + line.len;
	}
	if (all.at > from)
		write_lines(s, from, (size_t)(all.at - from));
}

/* What has come; false: nothing. */
static bool
write_words(struct scribe *s, int words)
{
	ssize_t	n = read(words, batch, sizeof(batch));

	/* Libraries and programs say what they like. */
	if (n > 0)
		visible_text(batch, (size_t)n);
	if (n > 0)
		hear(s, (struct str){ batch, (size_t)n });
	return n > 0;
}

/* Those that are due by then.  One that is lost is as many as it tells of. */
static void
tell_repeats(struct scribe *s, int64_t by)
{
	struct str	line;
	uint64_t	more;

	while (repeats_tell(&s->repeats, by, &line, &more)) {
		write_lines(s, line.at, line.len);
		if (s->failing)
			s->lost += more - 1;
	}
}

/* ms until something is to be done without being woken. */
static int
patience(const struct scribe *s)
{
	int64_t	due = repeats_due(&s->repeats), left = due - clock_ms();

	if (due == 0)
		return s->lost > 0 ? RETRY : -1;
	return left < 0 ? 0 : s->lost > 0 && left > RETRY ? RETRY : (int)left;
}

/* A byte in place of the end: another one is there, and reads what comes. */
static bool
is_replaced(int pipe)
{
	char	byte;

	return read(pipe, &byte, sizeof(byte)) == 1;
}

void
scribe_run(int pipe, int words, int losses, struct outlet *log)
{
	struct scribe	s = { .log = log };
	struct pollfd	p[] = {
		{ .fd = pipe, .events = POLLIN },
		{ .fd = words, .events = POLLIN },
		{ .fd = losses, .events = POLLIN },
	};
	bool		over = pipe == -1, more = true, late;

	log_sink(write_lines, &s);
	while (more || !over) {
		late = !over && poll(p, sizeof(p) / sizeof(p[0]),
		    patience(&s)) == 0;
		if (!over && p[0].revents != 0 && is_replaced(pipe))
			break;
		over = over || p[0].revents != 0;
		/* What is read next was said before these. */
		count_losses(&s, losses);
		tell_repeats(&s, clock_ms());
		more = write_words(&s, words);
		if (late || !s.failing)
			tell_losses(&s);
	}
	tell_repeats(&s, INT64_MAX);
	if (s.lost > 0 && !s.failing)
		tell_losses(&s);
	log_sink(NULL, NULL);
}
