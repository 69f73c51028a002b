/*
 * error_writer: writes lines, then the number of lines that were lost.
 *
 * This process waits for the log so that no other process has to.  Repeated
 * lines are counted (repeat_filter.h), all others are written as they are, or
 * as JSON (json_lines.h).
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "helpers/error_writer.h"
#include "helpers/json_lines.h"
#include "helpers/log_sink.h"
#include "helpers/repeat_filter.h"
#include "lib/clock.h"
#include "lib/lines.h"
#include "lib/log.h"
#include "lib/visible.h"

#define RETRY_INTERVAL	1000		/* ms, if a write fails */

/* As large as a pipe can be: one read() empties the pipe, so the data ends with
 * a line. */
static char	buffer[1024 * 1024];

struct error_writer {
	struct log_sink		*sink;
	uint64_t		 dropped;	/* lines, not yet reported */
	bool			 failing;	/* the last write failed */
	struct repeat_filter	 filter;
	struct buf		 json;		/* the lines being written */
};

static void
write_lines(void *context, const char *at, size_t len)
{
	struct error_writer	*w = context;
	size_t			 done = 0;

	if (w->sink->json) {
		w->json.len = 0;
		json_lines_add(&w->json, (struct str){ at, len });
		at = w->json.at;
		len = w->json.len;
	}
	while ((w->failing = log_sink_write(w->sink, at, len, &done) == -1)) {
		/* A FIFO is open non-blocking, as it may have no reader. */
		if (errno != EAGAIN)
			break;
		log_sink_wait(w->sink, RETRY_INTERVAL);
	}
	if (w->failing)
		w->dropped += lines_count(at + done, len - done);
}

static void
count_drops(struct error_writer *w, int drops)
{
	char	bytes[4096];
	ssize_t	n;

	while ((n = read(drops, bytes, sizeof(bytes))) > 0)
		w->dropped += (uint64_t)n;
}

/* The report itself may fail, and does not count as a lost line then. */
static void
log_drops(struct error_writer *w)
{
	uint64_t	n = w->dropped;

	if (n == 0)
		return;
	w->dropped = 0;
	log_warnx("%llu line%s of the error log %s lost: writing to the log "
	    "failed, or was slower than the lines came; see whether its disk "
	    "or the program behind it is full or slow, or raise its level",
	    (unsigned long long)n, n == 1 ? "" : "s", n == 1 ? "was" : "were");
	if (w->failing)
		w->dropped = n;
}

/* Writes the count of a repeated line.  If the write fails, all lines that it
 * counts are lost. */
static void
write_repeat(struct error_writer *w, struct str line, uint64_t more)
{
	write_lines(w, line.at, line.len);
	if (w->failing)
		w->dropped += more - 1;
}

/* Writes the lines from one place up to another; returns the latter. */
static const char *
write_up_to(struct error_writer *w, const char *from, const char *to)
{
	if (to > from)
		write_lines(w, from, (size_t)(to - from));
	return to;
}

/* Writes the lines that the filter passes, behind the counts of their process;
 * adjacent ones at once. */
static void
write_filtered(struct error_writer *w, struct str all)
{
	int64_t		 ms = clock_ms();
	const char	*from = all.at;
	struct str	 line, counted;
	uint64_t	 more;

	for (; all.len > 0; all.at += line.len, all.len -= line.len) {
		line.at = all.at;
		line.len = lines_first(all.at, all.len);
		if (!repeat_filter_add(&w->filter, line, ms)) {
			write_up_to(w, from, all.at);
			from = all.at + line.len;
			continue;
		}
		while (repeat_filter_before(&w->filter, line, &counted,
		    &more)) {
			from = write_up_to(w, from, all.at);
			write_repeat(w, counted, more);
		}
	}
	write_up_to(w, from, all.at);
}

/* Reads and writes lines from the pipe; false: it was empty. */
static bool
write_new_lines(struct error_writer *w, int lines)
{
	ssize_t	n = read(lines, buffer, sizeof(buffer));

	/* Lines of libraries and programs may have any bytes. */
	if (n > 0)
		visible_text(buffer, (size_t)n);
	if (n > 0)
		write_filtered(w, (struct str){ buffer, (size_t)n });
	return n > 0;
}

/* Writes the counts that are due by then. */
static void
write_repeats(struct error_writer *w, int64_t by)
{
	struct str	line;
	uint64_t	more;

	while (repeat_filter_next(&w->filter, by, &line, &more))
		write_repeat(w, line, more);
}

/* ms for poll(): until counts or a report of lost lines are due; -1: none. */
static int
poll_timeout(const struct error_writer *w)
{
	int64_t	next_at = repeat_filter_next_at(&w->filter);
	int64_t	left = next_at - clock_ms();

	if (next_at == 0)
		return w->dropped > 0 ? RETRY_INTERVAL : -1;
	if (left < 0)
		return 0;
	return w->dropped > 0 && left > RETRY_INTERVAL ? RETRY_INTERVAL :
	    (int)left;
}

/* A byte in place of EOF: another error logger has started. */
static bool
is_replaced(int pipe)
{
	char	byte;

	return read(pipe, &byte, sizeof(byte)) == 1;
}

void
error_writer_run(int pipe, int lines, int drops, struct log_sink *sink)
{
	struct error_writer	w = { .sink = sink };
	struct pollfd		p[] = {
		{ .fd = pipe, .events = POLLIN },
		{ .fd = lines, .events = POLLIN },
		{ .fd = drops, .events = POLLIN },
	};
	bool		over = pipe == -1, more = true, late;

	log_set_output(write_lines, &w);
	while (more || !over) {
		late = !over && poll(p, sizeof(p) / sizeof(p[0]),
		    poll_timeout(&w)) == 0;
		if (!over && p[0].revents != 0 && is_replaced(pipe))
			break;
		over = over || p[0].revents != 0;
		/* Drops first: the lines read next are older. */
		count_drops(&w, drops);
		write_repeats(&w, clock_ms());
		more = write_new_lines(&w, lines);
		if (late || !w.failing)
			log_drops(&w);
	}
	write_repeats(&w, INT64_MAX);
	if (w.dropped > 0 && !w.failing)
		log_drops(&w);
	log_set_output(NULL, NULL);
	buf_free(&w.json);
}
