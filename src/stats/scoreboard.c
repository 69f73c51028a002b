/*
 * scoreboard: shared memory, one writer to each part.
 *
 * What ended mains have counted is kept twice: one copy is in force, and the
 * other is made ready before one word says that it is in force from now on.
 * So wherever the monitor may be interrupted, who adds up need not wait for it;
 * only when that word has changed meanwhile it is done anew.
 */
#include <sys/mman.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "lib/log.h"
#include "stats/scoreboard.h"

#define PARTS	16384		/* more than there can be generations at once, with
				 * as many mains or threads as there may be */
#define TRIES	100

static struct board {
	/* Which copy; the part that is in it and not empty yet, from 1; and,
	 * in the upper half, how often that has changed. */
	_Atomic uint64_t	state;
	int64_t			started, loaded;	/* since 1970 */
	int64_t			number;			/* of the conf */
	struct stats_part	past[2];
	struct stats_part	monitor;
	_Atomic int		used;		/* parts that ever were, from
						 * the first */
	struct stats_part	parts[PARTS];
	struct {
		_Atomic unsigned	generation;	/* 0: nobody's */
		_Atomic size_t		open;
		_Atomic int64_t		gauges[STATS_GAUGE_COUNT];
	}			views[PARTS];
}	*board;			/* shared; NULL: there is none */

static bool			taken[PARTS];	/* the monitor's */
static int			part_of_us = BOARD_NONE;	/* main's */
/* Of a thread of a main without parts. */
static _Thread_local struct stats_part	own;

void
board_open(void)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON | MAP_NORESERVE, -1, 0);
	if (board == MAP_FAILED)
		fatal("no memory to share");
	board->started = (int64_t)time(NULL);
	stats_count_in(&board->monitor);
	board_conf(1);
}

/* The first of so many in a row that are free. */
static int
find(int n)
{
	int	free = 0;

	for (int i = 0; i < PARTS && board != NULL; i++) {
		free = taken[i] ? 0 : free + 1;
		if (free == n)
			return i + 1 - n;
	}
	return BOARD_NONE;
}

int
board_take(unsigned generation, unsigned n)
{
	int	part = find((int)n), end = part + (int)n;

	if (part == BOARD_NONE)
		return BOARD_NONE;
	for (int i = part; i < end; i++) {
		taken[i] = true;
		board->views[i].generation = generation;
	}
	if (end > board->used)
		board->used = end;
	return part;
}

static void
add(struct stats_part *to, const struct stats_part *part)
{
	for (int i = 0; i < STATS_COUNT; i++)
		to->counters[i] += tally_read(&part->counters[i]);
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++)
		if (tally_read(&part->histograms[i].n) != 0)
			histogram_join(&to->histograms[i],
			    &part->histograms[i]);
}

static unsigned
copy_of(uint64_t state)
{
	return state & 1;
}

static int
emptied(uint64_t state)
{
	return (int)((uint32_t)state >> 1) - 1;
}

static void
set_state(unsigned copy, int part)
{
	uint64_t	n = (atomic_load(&board->state) >> 32) + 1;

	atomic_store(&board->state, n << 32 | (uint64_t)(part + 1) << 1 | copy);
}

static void
keep(int part)
{
	unsigned	now, next;

	now = copy_of(atomic_load(&board->state));
	next = 1 - now;
	board->past[next] = board->past[now];
	add(&board->past[next], &board->parts[part]);
	set_state(next, part);
	memset(&board->parts[part], 0, sizeof(board->parts[part]));
	for (int i = 0; i < STATS_GAUGE_COUNT; i++)
		board->views[part].gauges[i] = 0;
	board->views[part].open = 0;
	set_state(next, BOARD_NONE);
}

void
board_keep(int part, unsigned n)
{
	for (int i = part; part != BOARD_NONE && i < part + (int)n; i++)
		keep(i);
}

void
board_give(int part, unsigned n)
{
	board_keep(part, n);
	for (int i = part; part != BOARD_NONE && i < part + (int)n; i++) {
		board->views[i].generation = 0;
		taken[i] = false;
	}
}

void
board_conf(int64_t number)
{
	board->number = number;
	board->loaded = (int64_t)time(NULL);
}

void
board_use(int part)
{
	part_of_us = part;
	stats_count_in(part == BOARD_NONE ? &own : &board->parts[part]);
}

void
board_use_thread(unsigned number)
{
	stats_thread_in(part_of_us == BOARD_NONE ? &own :
	    &board->parts[part_of_us + (int)number]);
}

static void
sum_once(struct stats_part *sum, uint64_t state)
{
	*sum = board->past[copy_of(state)];
	add(sum, &board->monitor);
	add(sum, &own);
	for (int i = 0; i < board->used; i++)
		if (i != emptied(state))
			add(sum, &board->parts[i]);
}

void
board_sum_main(struct stats_part *sum, unsigned n)
{
	int	part = part_of_us;

	memset(sum, 0, sizeof(*sum));
	if (part == BOARD_NONE)
		add(sum, &own);
	for (int i = part; part != BOARD_NONE && i < part + (int)n; i++)
		add(sum, &board->parts[i]);
}

void
board_sum(struct stats_part *sum)
{
	uint64_t	state;

	if (board == NULL) {
		memcpy(sum->counters, stats, sizeof(sum->counters));
		memcpy(sum->histograms, stats_histograms,
		    sizeof(sum->histograms));
		return;
	}
	for (int i = 0; i < TRIES; i++) {
		state = atomic_load(&board->state);
		sum_once(sum, state);
		atomic_thread_fence(memory_order_acquire);
		if (state == atomic_load(&board->state))
			break;
	}
}

void
board_measure(time_t now)
{
	if (board == NULL)
		return;
	stats_gauges[STATS_GAUGE_STARTED] = board->started;
	stats_gauges[STATS_GAUGE_UPTIME] = (int64_t)now - board->started;
	stats_gauges[STATS_GAUGE_GENERATION] = board->number;
	stats_gauges[STATS_GAUGE_LOADED] = board->loaded;
}

/* Of these there is but one for all, or it is the largest that counts. */
static bool
adds_up(int gauge)
{
	switch (gauge) {
	case STATS_GAUGE_STARTED:
	case STATS_GAUGE_UPTIME:
	case STATS_GAUGE_GENERATION:
	case STATS_GAUGE_LOADED:
	case STATS_GAUGE_DRAINING:
	case STATS_GAUGE_ADDRESSES:
	case STATS_GAUGE_LANES:
	case STATS_GAUGE_QUEUED_MOST:
	case STATS_GAUGE_LEAST_OPEN:
	case STATS_GAUGE_MOST_OPEN:
		return false;
	default:
		return true;
	}
}

/* Another main of our generation, which has begun to serve. */
static bool
beside_us(int part)
{
	return part != part_of_us && board->views[part].generation ==
	    board->views[part_of_us].generation &&
	    board->views[part].gauges[STATS_GAUGE_WORKERS] != 0;
}

static void
join(int part)
{
	int64_t	*g = stats_gauges, n;
	int64_t	 open = board->views[part].gauges[STATS_GAUGE_OPEN];

	for (int i = 0; i < STATS_GAUGE_COUNT; i++) {
		n = board->views[part].gauges[i];
		if (adds_up(i))
			g[i] += n;
		else if (i == STATS_GAUGE_QUEUED_MOST && n > g[i])
			g[i] = n;
	}
	if (open < g[STATS_GAUGE_LEAST_OPEN])
		g[STATS_GAUGE_LEAST_OPEN] = open;
	if (open > g[STATS_GAUGE_MOST_OPEN])
		g[STATS_GAUGE_MOST_OPEN] = open;
}

void
board_join(void)
{
	stats_gauges[STATS_GAUGE_WORKERS] = 1;
	stats_gauges[STATS_GAUGE_LEAST_OPEN] = stats_gauges[STATS_GAUGE_OPEN];
	stats_gauges[STATS_GAUGE_MOST_OPEN] = stats_gauges[STATS_GAUGE_OPEN];
	if (part_of_us == BOARD_NONE)
		return;
	for (int i = 0; i < STATS_GAUGE_COUNT; i++)
		board->views[part_of_us].gauges[i] = stats_gauges[i];
	for (int i = 0; i < board->used; i++)
		if (beside_us(i))
			join(i);
}

void
board_tell_open(size_t n)
{
	if (part_of_us != BOARD_NONE)
		board->views[part_of_us].open = n;
}

size_t
board_least_open(void)
{
	size_t	n, least = SIZE_MAX;

	for (int i = 0; part_of_us != BOARD_NONE && i < board->used; i++) {
		n = beside_us(i) ? board->views[i].open : SIZE_MAX;
		if (n < least)
			least = n;
	}
	return least;
}
