/*
 * access_log: a buffer of lines, one batch under way at a time.
 *
 * Threads may share it.  Then a line is written under the lock, from the
 * question for room to its end; all else is done by the thread of the loop,
 * which is rung for when lines are there to be sent.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

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

#define BUFFER_SIZE		(1024 * 1024)	/* bytes of lines that may wait */
#define BATCH_MAX		JOB_DATA_MAX	/* bytes to the helper at once */
#define SEND_NOW_MIN		(120 * 1024)	/* that do not wait for more: less than
					 * a batch by a line */
#define LINE_DELAY		200		/* ms that a line may wait for others */
#define WARN_INTERVAL		60000		/* ms between errors */
#define SWITCH_TIMEOUT	3000		/* ms for the batch under way, when the
					 * next helper is there */
#define FLUSH_TIMEOUT		2000		/* ms for the rest at the end */

struct access_log {
	struct evloop		*loop;
	const struct clock	*clock;
	int			 channel;
	int			 fd;		/* -1: no helper */
	int			 next_fd;		/* to go over to; -1: none */
	int64_t			 switch_by;		/* ... by then, clock ms */
	int64_t			 started_at;		/* the helper, clock ms */
	struct watch		*watch, *timer;
	struct lock		*lock;		/* of the next two; or NULL */
	struct buf		 lines;	/* lines */
	uint64_t		 dropped;	/* lines, not yet told */
	struct wakeup		 wakeup;
	struct watch		*wakeup_watch;
	struct job		 job;		/* the batch under way */
	bool			 in_flight;
	int64_t			 sent_at;		/* that batch, us */
	int64_t			 warned_at;		/* that a log fails, clock ms */
	bool			 flush;		/* lines have waited enough */
	bool			 requested;		/* for a helper */
	bool			 starting;	/* it has not been yet */
	int64_t			 answer_by;	/* ... is due, clock ms */
	struct buf		 batch;		/* its bytes */
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
	log_warnx("%llu line%s of the access log %s lost: it was slower than "
	    "they came, or could not be written to; see whether its disk, or "
	    "who else takes it, is slow or full",
	    (unsigned long long)dropped, dropped == 1 ? "" : "s",
	    dropped == 1 ? "was" : "were");
}

/* Now and then, as long as it lasts. */
static void
log_failing(struct access_log *g)
{
	if (g->warned_at != 0 && g->clock->ms - g->warned_at < WARN_INTERVAL)
		return;
	g->warned_at = g->clock->ms;
	errno = g->job.error;
	if (errno == EAGAIN)
		log_errorx("the access log cannot be written, its lines are "
		    "lost: whoever reads them from it does not, see whether "
		    "that still runs");
	else
		log_error("the access log cannot be written, its lines are "
		    "lost");
}

static void
request_helper(struct access_log *g)
{
	g->requested =
	    channel_send(g->channel, CHANNEL_WANT_ACCESS_LOGGER, -1) == 0;
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
	close(g->fd);
	g->fd = -1;
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

/* When the batch under way has been answered, or will not be: then it goes to
 * the next one, too, rather twice than not at all. */
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
		evloop_arm(g->timer, g->clock->ms);	/* the batch */
		return;
	}
	close_helper(g);
	/* The batch goes to the next one: rather twice than not at all.  One
	 * that does not live is not asked for over and over. */
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

static void
swap_bufs(struct buf *a, struct buf *b)
{
	struct buf	c = *a;

	*a = *b;
	*b = c;
}

/* How much is left.  All there is, is not copied. */
static size_t
take_lines(struct access_log *g)
{
	struct buf	*b = &g->lines;
	size_t		 n, left;

	lock_acquire(g->lock);
	n = lines_whole(b->at, b->len, BATCH_MAX);
	g->batch.len = 0;
	if (n == b->len)
		swap_bufs(b, &g->batch);
	else {
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
	g->job.data = g->batch.at;
	g->job.length = g->batch.len;
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

/* Lines wait for company, but not for long. */
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

/* There are lines now, before there were so many bytes of them. */
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
	size_t		 before = g->lines.len, now = before + n;

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
	size_t		done = (size_t)g->job.done;
	uint64_t	lost;
	bool		failed = g->job.error != 0 && done <= g->batch.len;

	g->in_flight = false;
	stats_time(
	    STATS_HISTOGRAM_JOB_DURATION_APPEND, clock_us() - g->sent_at);
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

/* Nobody has asked for it: the log has been opened again, and it is to be
 * written to from now on. */
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
	/* All of it: what is never written to costs nothing, and to grow may
	 * cost much just when there is much to do. */
	buf_reserve(&g->lines, BUFFER_SIZE);
	buf_reserve(&g->batch, BUFFER_SIZE);
	g->starting = true;
	evloop_arm(g->timer, clock->ms + CHANNEL_START_DELAY);
	return g;
}

/* Waits for the answer to the batch under way; false: there will be none. */
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

/* Somebody who ends soon after the start may have lines, but nobody yet to take
 * them. */
static void
await_helper(struct access_log *g, int64_t end)
{
	struct pollfd	p = { .fd = g->channel, .events = POLLIN };
	enum channel_message	message;
	int		fd;

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

/* All lines, to the helper there is; false: it has not taken all. */
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

/* A helper may just have died, unnoticed: then another one has the lines, but
 * once, as it may be they that it dies of. */
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
	if (g->fd != -1) {
		evloop_unwatch(&g->watch);
		close(g->fd);
	}
	evloop_unwatch(&g->timer);
	evloop_unwatch(&g->wakeup_watch);
	if (g->lock != NULL)
		wakeup_close(&g->wakeup);
	lock_free(&g->lock);
	buf_free(&g->lines);
	buf_free(&g->batch);
	mem_drop(gp);
}
