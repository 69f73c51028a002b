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

#define ROOM		(1024 * 1024)	/* bytes of lines that may wait */
#define BATCH		JOB_DATA_MAX	/* bytes to the helper at once */
#define EAGER		(120 * 1024)	/* that do not wait for more: less than
					 * a batch by a line */
#define DELAY		200		/* ms that a line may wait for others */
#define TELL		60000		/* ms between complaints */
#define HANDOVER	3000		/* ms for the batch under way, when the
					 * next helper is there */
#define PARTING		2000		/* ms for the rest at the end */

struct logger {
	struct evloop		*loop;
	const struct clock	*clock;
	int			 control;
	int			 fd;		/* -1: no helper */
	int			 next;		/* to go over to; -1: none */
	int64_t			 over;		/* ... by then, clock ms */
	int64_t			 born;		/* the helper, clock ms */
	struct watch		*watch, *timer;
	struct lock		*lock;		/* of the next two; or NULL */
	struct buf		 waiting;	/* lines */
	uint64_t		 dropped;	/* lines, not yet told */
	struct bell		 bell;
	struct watch		*rung;
	struct job		 job;		/* the batch under way */
	bool			 flying;
	int64_t			 given;		/* that batch, us */
	int64_t			 told;		/* that a log fails, clock ms */
	bool			 due;		/* lines have waited enough */
	bool			 asked;		/* for a helper */
	bool			 settling;	/* it has not been yet */
	int64_t			 answer;	/* ... is due, clock ms */
	struct buf		 batch;		/* its bytes */
};

static void
add_dropped(struct logger *g, uint64_t n)
{
	lock_take(g->lock);
	g->dropped += n;
	lock_release(g->lock);
}

static void
tell_dropped(struct logger *g)
{
	uint64_t	dropped;

	lock_take(g->lock);
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
tell_failing(struct logger *g)
{
	if (g->told != 0 && g->clock->ms - g->told < TELL)
		return;
	g->told = g->clock->ms;
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
ask(struct logger *g)
{
	g->asked = control_send(g->control, CONTROL_WANT_LOGGER, -1) == 0;
	g->answer = g->clock->ms + CONTROL_ANSWER;
	evloop_arm(g->timer, g->asked ? g->answer :
	    g->clock->ms + CONTROL_RETRY);
}

static void	answered(void *);
static void	timer(void *);

static void
leave_helper(struct logger *g)
{
	evloop_unwatch(&g->watch);
	close(g->fd);
	g->fd = -1;
	g->flying = false;
}

static void
take_helper(struct logger *g, int fd)
{
	g->fd = fd;
	g->born = g->clock->ms;
	g->watch = evloop_watch(g->loop, fd, answered, g);
	evloop_set(g->watch, EVLOOP_READ);
}

/* When the batch under way has been answered, or will not be: then it goes to
 * the next one, too, rather twice than not at all. */
static void
go_over(struct logger *g)
{
	int	next = g->next;

	if (next == -1 || (g->flying && g->clock->ms < g->over))
		return;
	g->next = -1;
	leave_helper(g);
	take_helper(g, next);
}

static void
drop_helper(struct logger *g)
{
	if (g->fd == -1)
		return;
	if (g->next != -1) {
		g->over = 0;
		go_over(g);
		evloop_arm(g->timer, g->clock->ms);	/* the batch */
		return;
	}
	leave_helper(g);
	/* The batch goes to the next one: rather twice than not at all.  One
	 * that does not live is not asked for over and over. */
	if (g->clock->ms - g->born >= CONTROL_RETRY)
		ask(g);
	else
		evloop_arm(g->timer, g->clock->ms + CONTROL_RETRY);
}

static void
fly(struct logger *g)
{
	g->given = clock_us();
	if (wire_send_request(g->fd, &g->job) == 0)
		g->flying = true;
	else
		drop_helper(g);
}

static void
swap(struct buf *a, struct buf *b)
{
	struct buf	c = *a;

	*a = *b;
	*b = c;
}

/* How much is left.  All there is, is not copied. */
static size_t
take_lines(struct logger *g)
{
	struct buf	*b = &g->waiting;
	size_t		 n, left;

	lock_take(g->lock);
	n = lines_whole(b->at, b->len, BATCH);
	g->batch.len = 0;
	if (n == b->len)
		swap(b, &g->batch);
	else {
		buf_add(&g->batch, b->at, n);
		buf_cut(b, n);
	}
	left = b->len;
	lock_release(g->lock);
	return left;
}

static bool
load(struct logger *g)
{
	size_t	left = take_lines(g);

	if (g->batch.len == 0)
		return false;
	g->due = false;
	if (left > 0)
		evloop_arm(g->timer, g->clock->ms + DELAY);
	job_init(&g->job, JOB_APPEND);
	g->job.data = g->batch.at;
	g->job.length = g->batch.len;
	return true;
}

static size_t
waiting(struct logger *g)
{
	size_t	n;

	lock_take(g->lock);
	n = g->waiting.len;
	lock_release(g->lock);
	return n;
}

/* Lines wait for company, but not for long. */
static bool
worth_it(struct logger *g)
{
	return g->due || g->batch.len > 0 || waiting(g) >= EAGER;
}

static void
send_next(struct logger *g)
{
	if (g->flying || g->fd == -1 || !worth_it(g))
		return;
	if (g->batch.len > 0 || load(g))
		fly(g);
}

char *
logger_room(void *context, size_t most)
{
	struct logger	*g = context;

	lock_take(g->lock);
	if (g->waiting.len + most > ROOM) {
		g->dropped++;
		lock_release(g->lock);
		stats_count(STATS_LOG_DROPPED);
		return NULL;
	}
	return g->waiting.at + g->waiting.len;
}

/* There are lines now, before there were so many bytes of them. */
static void
more(struct logger *g, size_t before, size_t now)
{
	if (before == 0 && !g->settling)
		evloop_arm(g->timer, g->clock->ms + DELAY);
	if (now >= EAGER && g->settling)
		timer(g);
	else if (now >= EAGER)
		send_next(g);
}

void
logger_access(void *context, size_t n)
{
	struct logger	*g = context;
	size_t		 before = g->waiting.len, now = before + n;

	g->waiting.len = now;
	lock_release(g->lock);
	if (g->lock == NULL)
		more(g, before, now);
	else if (before == 0 || (before < EAGER && now >= EAGER))
		bell_ring(&g->bell);
}

static void
rung(void *context)
{
	struct logger	*g = context;

	bell_hush(&g->bell);
	more(g, 0, waiting(g));
}

static void
batch_done(struct logger *g)
{
	size_t		done = (size_t)g->job.done;
	uint64_t	lost;
	bool		failed = g->job.error != 0 && done <= g->batch.len;

	g->flying = false;
	stats_time(STATS_HISTOGRAM_SERVICE_APPEND, clock_us() - g->given);
	if (failed) {
		lost = lines_count(g->batch.at + done, g->batch.len - done);
		add_dropped(g, lost);
		stats_add(STATS_LOG_DROPPED, lost);
	}
	g->batch.len = 0;
	if (failed)
		tell_failing(g);
	else
		tell_dropped(g);
}

static void
answered(void *context)
{
	struct logger	*g = context;

	int		 n = wire_recv_reply(g->fd, &g->job);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1) {
		drop_helper(g);
		return;
	}
	if (g->flying)
		batch_done(g);
	go_over(g);
	send_next(g);
}

static void
timer(void *context)
{
	struct logger	*g = context;

	g->due = true;
	g->settling = false;
	if (g->fd == -1 && g->asked && g->clock->ms < g->answer)
		evloop_arm(g->timer, g->answer);
	else if (g->fd == -1)
		ask(g);
	go_over(g);
	if (g->next != -1)
		evloop_arm(g->timer, g->over);
	send_next(g);
}

/* Nobody has asked for it: the log has been opened again, and it is to be
 * written to from now on. */
static void
join_next(struct logger *g, int fd)
{
	io_close(&g->next);
	g->next = fd;
	g->over = g->clock->ms + HANDOVER;
	evloop_arm(g->timer, g->over);
	go_over(g);
}

void
logger_join(struct logger *g, int fd)
{
	g->asked = false;
	if (fd != -1 && io_nonblock(fd) == -1)
		io_close(&fd);
	if (g->fd != -1 && fd != -1)
		join_next(g, fd);
	else if (fd != -1)
		take_helper(g, fd);
	else if (g->fd == -1)
		evloop_arm(g->timer, g->clock->ms + CONTROL_RETRY);
	send_next(g);
}

void
logger_share(struct logger *g)
{
	g->lock = lock_new();
	bell_open(&g->bell);
	g->rung = evloop_watch(g->loop, g->bell.fd, rung, g);
	evloop_set(g->rung, EVLOOP_READ);
}

struct logger *
logger_new(struct evloop *loop, const struct clock *clock, int control)
{
	struct logger	*g = mem_zero(sizeof(*g));

	g->loop = loop;
	g->clock = clock;
	g->control = control;
	g->fd = g->next = -1;
	g->timer = evloop_timer(loop, timer, g);
	/* All of it: what is never written to costs nothing, and to grow may
	 * cost much just when there is much to do. */
	buf_need(&g->waiting, ROOM);
	buf_need(&g->batch, ROOM);
	g->settling = true;
	evloop_arm(g->timer, clock->ms + CONTROL_SETTLE);
	return g;
}

/* Waits for the answer to the batch under way; false: there will be none. */
static bool
await(struct logger *g, int64_t left)
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
left_until(int64_t end)
{
	int64_t	now = clock_ms();

	return end > now ? end - now : 0;
}

/* Somebody who ends soon after the start may have lines, but nobody yet to take
 * them. */
static void
await_helper(struct logger *g, int64_t end)
{
	struct pollfd	p = { .fd = g->control, .events = POLLIN };
	enum control	message;
	int		fd;

	if (g->fd == -1 && !g->asked)
		ask(g);
	while (g->fd == -1 && g->asked && g->batch.len + waiting(g) > 0 &&
	    poll(&p, 1, (int)left_until(end)) == 1 &&
	    control_recv(g->control, &message, &fd) == 1) {
		if (message == CONTROL_LOGGER)
			logger_join(g, fd);
		else
			io_close(&fd);
	}
}

static void
tell_left(struct logger *g)
{
	uint64_t	lost;

	lock_take(g->lock);
	lost = lines_count(g->waiting.at, g->waiting.len) +
	    lines_count(g->batch.at, g->batch.len);
	lock_release(g->lock);
	add_dropped(g, lost);
	tell_dropped(g);
}

/* All lines, to the helper there is; false: it has not taken all. */
static bool
give_rest(struct logger *g, int64_t end)
{
	do {
		g->due = true;
		send_next(g);
	} while (g->flying && left_until(end) > 0 &&
	    await(g, left_until(end)));
	return g->batch.len + waiting(g) == 0;
}

/* A helper may just have died, unnoticed: then another one has the lines, but
 * once, as it may be they that it dies of. */
void
logger_finish(struct logger *g)
{
	int64_t	end = clock_ms() + PARTING;

	go_over(g);
	io_close(&g->next);
	g->due = true;
	await_helper(g, end);
	if (!give_rest(g, end) && left_until(end) > 0) {
		drop_helper(g);
		await_helper(g, end);
		give_rest(g, end);
	}
	tell_left(g);
}

void
logger_free(struct logger **gp)
{
	struct logger	*g = *gp;

	logger_finish(g);
	if (g->fd != -1) {
		evloop_unwatch(&g->watch);
		close(g->fd);
	}
	evloop_unwatch(&g->timer);
	evloop_unwatch(&g->rung);
	if (g->lock != NULL)
		bell_close(&g->bell);
	lock_free(&g->lock);
	buf_free(&g->waiting);
	buf_free(&g->batch);
	mem_drop(gp);
}
