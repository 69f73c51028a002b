/*
 * access_log: a buffer of lines, and one batch in flight at a time.
 *
 * Threads may share the log.  Then a line is written under the lock, from
 * access_log_reserve() to access_log_commit(); all else is done by the loop's
 * thread, which is woken when there are lines to send.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "helpers/wire.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/lines.h"
#include "lib/lock.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/wakeup.h"
#include "loop/access_log.h"
#include "shared/channel.h"
#include "stats/stats.h"

#define BUFFER_SIZE	(1024 * 1024)	/* bytes of waiting lines */
#define BATCH_MAX	JOB_DATA_MAX	/* bytes of one batch */
/* Bytes that are sent without waiting for more lines: a full batch, less a
 * line. */
#define SEND_NOW_MIN	(120 * 1024)
#define LINE_DELAY	200		/* ms that a line waits for others */
#define WARN_INTERVAL	60000		/* ms between warnings */
#define SWITCH_TIMEOUT	3000		/* ms for the batch in flight, before
					 * the next access logger takes over */
#define FLUSH_TIMEOUT	2000		/* ms for the last lines */

struct access_log {
	struct evloop		*loop;
	const struct clock	*clock;
	int			 channel;	/* to the monitor */
	int			 fd;		/* access logger; -1: none */
	int			 next_fd;	/* its successor; -1: none */
	int64_t			 switch_by;	/* to it, clock ms */
	int64_t			 started_at;	/* fd is used since, clock ms */
	struct watch		*watch, *timer;
	struct lock		*lock;		/* of lines and dropped; NULL:
						 * one thread */
	struct buf		 lines;		/* not yet in a batch */
	uint64_t		 dropped;	/* lines, not yet logged */
	struct wakeup		 wakeup;	/* set by other threads */
	struct watch		*wakeup_watch;
	struct buf		 batch;		/* in flight, or to be sent */
	struct job		 job;		/* of the batch */
	bool			 in_flight;	/* the batch */
	int64_t			 sent_at;	/* the batch, us */
	int64_t			 warned_at;	/* of failure, clock ms */
	bool			 flush;		/* LINE_DELAY is over */
	bool			 requested;	/* an access logger */
	int64_t			 answer_by;	/* to that, clock ms */
	bool			 starting;	/* nothing requested yet */
};

static void
add_dropped(struct access_log *g, uint64_t n)
{
	lock_acquire(g->lock);
	g->dropped += n;
	lock_release(g->lock);
}

static void
log_dropped(struct access_log *g)
{
	uint64_t	dropped;

	lock_acquire(g->lock);
	dropped = g->dropped;
	g->dropped = 0;
	lock_release(g->lock);
	if (dropped == 0)
		return;
	log_warnx("%llu line%s of the access log %s lost: the log was too "
	    "slow, or could not be written; see whether its disk, or the "
	    "program that reads it, is slow or full",
	    (unsigned long long)dropped, dropped == 1 ? "" : "s",
	    dropped == 1 ? "was" : "were");
}

static void
log_failing(struct access_log *g)
{
	if (g->warned_at != 0 && g->clock->ms - g->warned_at < WARN_INTERVAL)
		return;
	g->warned_at = g->clock->ms;
	errno = g->job.error;
	if (errno == EAGAIN)
		log_errorx("the access log cannot be written, its lines are "
		    "lost: the program that reads it does not; see whether "
		    "the program still runs");
	else
		log_error("the access log cannot be written, its lines are "
		    "lost");
}

static void
request_helper(struct access_log *g)
{
	g->requested = channel_send(g->channel, CHANNEL_WANT_ACCESS_LOGGER,
	    -1) == 0;
	g->answer_by = g->clock->ms + CHANNEL_TIMEOUT;
	evloop_arm(g->timer, g->requested ? g->answer_by :
	    g->clock->ms + CHANNEL_RETRY);
}

static void	on_answer(void *);
static void	on_timer(void *);

static void
close_helper(struct access_log *g)
{
	evloop_unwatch(&g->watch);
	io_close(&g->fd);
	g->in_flight = false;
}

static void
use_helper(struct access_log *g, int fd)
{
	g->fd = fd;
	g->started_at = g->clock->ms;
	g->watch = evloop_watch(g->loop, fd, on_answer, g);
	evloop_set(g->watch, EVLOOP_READ);
}

/* Switches to the next access logger when no batch is in flight, or when its
 * answer is overdue: then the next one gets the batch again, because a line
 * written twice is better than a lost one. */
static void
switch_helper(struct access_log *g)
{
	int	next_fd = g->next_fd;

	if (next_fd == -1 || (g->in_flight && g->clock->ms < g->switch_by))
		return;
	g->next_fd = -1;
	close_helper(g);
	use_helper(g, next_fd);
}

static void
lose_helper(struct access_log *g)
{
	if (g->fd == -1)
		return;
	if (g->next_fd != -1) {
		g->switch_by = 0;
		switch_helper(g);
		evloop_arm(g->timer, g->clock->ms);	/* sends the batch */
		return;
	}
	close_helper(g);
	/* The next access logger gets the batch.  One that has died at once is
	 * not requested again at once. */
	if (g->clock->ms - g->started_at >= CHANNEL_RETRY)
		request_helper(g);
	else
		evloop_arm(g->timer, g->clock->ms + CHANNEL_RETRY);
}

static void
send_batch(struct access_log *g)
{
	g->sent_at = clock_us();
	if (wire_send_request(g->fd, &g->job) == 0)
		g->in_flight = true;
	else
		lose_helper(g);
}

/* Moves whole lines into the batch, and returns how many bytes are left.  If
 * all fit, the buffers are swapped, not copied. */
static size_t
take_lines(struct access_log *g)
{
	struct buf	*b = &g->lines, lines;
	size_t		 n, left;

	lock_acquire(g->lock);
	n = lines_whole(b->at, b->len, BATCH_MAX);
	g->batch.len = 0;
	if (n == b->len) {
		lines = *b;
		*b = g->batch;
		g->batch = lines;
	} else {
		buf_add(&g->batch, b->at, n);
		buf_consume(b, n);
	}
	left = b->len;
	lock_release(g->lock);
	return left;
}

static bool
load_batch(struct access_log *g)
{
	size_t	left = take_lines(g);

	if (g->batch.len == 0)
		return false;
	g->flush = false;
	if (left > 0)
		evloop_arm(g->timer, g->clock->ms + LINE_DELAY);
	job_init(&g->job, JOB_APPEND);
	g->job.append.bytes = (struct str){ g->batch.at, g->batch.len };
	return true;
}

static size_t
lines_len(struct access_log *g)
{
	size_t	n;

	lock_acquire(g->lock);
	n = g->lines.len;
	lock_release(g->lock);
	return n;
}

static bool
is_worth_sending(struct access_log *g)
{
	return g->flush || g->batch.len > 0 || lines_len(g) >= SEND_NOW_MIN;
}

static void
send_next(struct access_log *g)
{
	if (g->in_flight || g->fd == -1 || !is_worth_sending(g))
		return;
	if (g->batch.len > 0 || load_batch(g))
		send_batch(g);
}

char *
access_log_reserve(void *context, size_t max)
{
	struct access_log	*g = context;

	lock_acquire(g->lock);
	if (g->lines.len + max > BUFFER_SIZE) {
		g->dropped++;
		lock_release(g->lock);
		stats_count(STATS_LOG_LINES_DROPPED);
		return NULL;
	}
	return g->lines.at + g->lines.len;
}

/* The buffer has grown from `before` bytes to `now`. */
static void
lines_added(struct access_log *g, size_t before, size_t now)
{
	if (before == 0 && !g->starting)
		evloop_arm(g->timer, g->clock->ms + LINE_DELAY);
	if (now >= SEND_NOW_MIN && g->starting)
		on_timer(g);
	else if (now >= SEND_NOW_MIN)
		send_next(g);
}

void
access_log_commit(void *context, size_t n)
{
	struct access_log	*g = context;
	size_t			 before = g->lines.len, now = before + n;

	g->lines.len = now;
	lock_release(g->lock);
	if (g->lock == NULL)
		lines_added(g, before, now);
	else if (before == 0 || (before < SEND_NOW_MIN && now >= SEND_NOW_MIN))
		wakeup_set(&g->wakeup);
}

static void
on_wakeup(void *context)
{
	struct access_log	*g = context;

	wakeup_reset(&g->wakeup);
	lines_added(g, 0, lines_len(g));
}

static void
batch_done(struct access_log *g)
{
	size_t		done = (size_t)g->job.append.done;
	uint64_t	lost;
	bool		failed = g->job.error != 0 && done <= g->batch.len;

	g->in_flight = false;
	stats_time(STATS_HISTOGRAM_JOB_DURATION_APPEND,
	    clock_us() - g->sent_at);
	if (failed) {
		lost = lines_count(g->batch.at + done, g->batch.len - done);
		add_dropped(g, lost);
		stats_add(STATS_LOG_LINES_DROPPED, lost);
	}
	g->batch.len = 0;
	if (failed)
		log_failing(g);
	else
		log_dropped(g);
}

static void
on_answer(void *context)
{
	struct access_log	*g = context;

	int		 n = wire_recv_reply(g->fd, &g->job);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1) {
		lose_helper(g);
		return;
	}
	if (g->in_flight)
		batch_done(g);
	switch_helper(g);
	send_next(g);
}

static void
on_timer(void *context)
{
	struct access_log	*g = context;

	g->flush = true;
	g->starting = false;
	if (g->fd == -1 && g->requested && g->clock->ms < g->answer_by)
		evloop_arm(g->timer, g->answer_by);
	else if (g->fd == -1)
		request_helper(g);
	switch_helper(g);
	if (g->next_fd != -1)
		evloop_arm(g->timer, g->switch_by);
	send_next(g);
}

/* An access logger that was not requested: the log has been opened again, and
 * this one writes to the new file. */
static void
join_next(struct access_log *g, int fd)
{
	io_close(&g->next_fd);
	g->next_fd = fd;
	g->switch_by = g->clock->ms + SWITCH_TIMEOUT;
	evloop_arm(g->timer, g->switch_by);
	switch_helper(g);
}

void
access_log_join(struct access_log *g, int fd)
{
	g->requested = false;
	if (fd != -1 && io_nonblock(fd) == -1)
		io_close(&fd);
	if (g->fd != -1 && fd != -1)
		join_next(g, fd);
	else if (fd != -1)
		use_helper(g, fd);
	else if (g->fd == -1)
		evloop_arm(g->timer, g->clock->ms + CHANNEL_RETRY);
	send_next(g);
}

void
access_log_share(struct access_log *g)
{
	g->lock = lock_new();
	wakeup_open(&g->wakeup);
	g->wakeup_watch = evloop_watch(g->loop, g->wakeup.fd, on_wakeup, g);
	evloop_set(g->wakeup_watch, EVLOOP_READ);
}

struct access_log *
access_log_new(struct evloop *loop, const struct clock *clock, int channel)
{
	struct access_log	*g = mem_zero(sizeof(*g));

	g->loop = loop;
	g->clock = clock;
	g->channel = channel;
	g->fd = g->next_fd = -1;
	g->timer = evloop_timer(loop, on_timer, g);
	/* At full size now: pages not yet written cost nothing, and a growing
	 * buffer would be copied under load. */
	buf_reserve(&g->lines, BUFFER_SIZE);
	buf_reserve(&g->batch, BUFFER_SIZE);
	g->starting = true;
	evloop_arm(g->timer, clock->ms + CHANNEL_START_DELAY);
	return g;
}

/* Waits for the answer to the batch in flight; false: it does not come. */
static bool
await_answer(struct access_log *g, int64_t left)
{
	struct pollfd	p = { .fd = g->fd, .events = POLLIN };
	int		n = poll(&p, 1, (int)left);

	if (n == 1)
		n = wire_recv_reply(g->fd, &g->job);
	if (n == 1)
		batch_done(g);
	return n == 1 || (n == -1 && errno == EINTR);
}

static int64_t
time_left(int64_t end)
{
	int64_t	now = clock_ms();

	return end > now ? end - now : 0;
}

/* A main that ends soon after its start may have lines, but no access logger
 * yet. */
static void
await_helper(struct access_log *g, int64_t end)
{
	struct pollfd		p = { .fd = g->channel, .events = POLLIN };
	enum channel_message	message;
	int			fd;

	if (g->fd == -1 && !g->requested)
		request_helper(g);
	while (g->fd == -1 && g->requested && g->batch.len + lines_len(g) > 0 &&
	    poll(&p, 1, (int)time_left(end)) == 1 &&
	    channel_recv(g->channel, &message, &fd) == 1) {
		if (message == CHANNEL_ACCESS_LOGGER)
			access_log_join(g, fd);
		else
			io_close(&fd);
	}
}

static void
drop_rest(struct access_log *g)
{
	uint64_t	lost;

	lock_acquire(g->lock);
	lost = lines_count(g->lines.at, g->lines.len) +
	    lines_count(g->batch.at, g->batch.len);
	lock_release(g->lock);
	add_dropped(g, lost);
	log_dropped(g);
}

/* Sends all lines to the access logger; false: some are left. */
static bool
send_rest(struct access_log *g, int64_t end)
{
	do {
		g->flush = true;
		send_next(g);
	} while (g->in_flight && time_left(end) > 0 &&
	    await_answer(g, time_left(end)));
	return g->batch.len + lines_len(g) == 0;
}

/* If the access logger turns out to have died, one more is tried; only one,
 * because these lines may be the cause. */
void
access_log_finish(struct access_log *g)
{
	int64_t	end = clock_ms() + FLUSH_TIMEOUT;

	switch_helper(g);
	io_close(&g->next_fd);
	g->flush = true;
	await_helper(g, end);
	if (!send_rest(g, end) && time_left(end) > 0) {
		lose_helper(g);
		await_helper(g, end);
		send_rest(g, end);
	}
	drop_rest(g);
}

void
access_log_free(struct access_log **gp)
{
	struct access_log	*g = *gp;

	access_log_finish(g);
	evloop_unwatch(&g->watch);
	io_close(&g->fd);
	evloop_unwatch(&g->timer);
	evloop_unwatch(&g->wakeup_watch);
	if (g->lock != NULL)
		wakeup_close(&g->wakeup);
	lock_free(&g->lock);
	buf_free(&g->lines);
	buf_free(&g->batch);
	mem_drop(gp);
}
