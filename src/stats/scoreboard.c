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

#define SLOTS_MAX	16384		/* more than there can be generations at once, with
				 * as many mains or threads as there may be */
#define READ_TRIES	100

static struct scoreboard {
	/* Which copy; the part that is in it and not empty yet, from 1; and,
	 * in the upper half, how often that has changed. */
	_Atomic uint64_t	state;
	int64_t			started, loaded;	/* since 1970 */
	int64_t			conf_number;			/* of the conf */
	struct stats_slot	retired[2];
	struct stats_slot	monitor;
	_Atomic int		nslots;		/* parts that ever were, from
						 * the first */
	struct stats_slot	slots[SLOTS_MAX];
	struct {
		_Atomic unsigned	generation;	/* 0: nobody's */
		_Atomic size_t		open;
		_Atomic int64_t		gauges[STATS_GAUGE_COUNT];
	}			published[SLOTS_MAX];
}	*board;			/* shared; NULL: there is none */

static bool			slot_taken[SLOTS_MAX];	/* the monitor's */
static int			own_slot = SCOREBOARD_NONE;	/* main's */
/* Of a thread of a main without parts. */
static _Thread_local struct stats_slot	private_slot;

void
scoreboard_open(void)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON | MAP_NORESERVE, -1, 0);
	if (board == MAP_FAILED)
		fatal("no memory to share");
	board->started = (int64_t)time(NULL);
	stats_use(&board->monitor);
	scoreboard_set_conf(1);
}

/* The first of so many in a row that are free. */
static int
find_free(int n)
{
	int	free = 0;

	for (int i = 0; i < SLOTS_MAX && board != NULL; i++) {
		free = slot_taken[i] ? 0 : free + 1;
		if (free == n)
			return i + 1 - n;
	}
	return SCOREBOARD_NONE;
}

int
scoreboard_alloc(unsigned generation, unsigned n)
{
	int	part = find_free((int)n), end = part + (int)n;

	if (part == SCOREBOARD_NONE)
		return SCOREBOARD_NONE;
	for (int i = part; i < end; i++) {
		slot_taken[i] = true;
		board->published[i].generation = generation;
	}
	if (end > board->nslots)
		board->nslots = end;
	return part;
}

static void
add_slot(struct stats_slot *to, const struct stats_slot *part)
{
	for (int i = 0; i < STATS_COUNT; i++)
		to->counters[i] += counter_read(&part->counters[i]);
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++)
		if (counter_read(&part->histograms[i].n) != 0)
			histogram_merge(&to->histograms[i],
			    &part->histograms[i]);
}

static unsigned
current_copy(uint64_t state)
{
	return state & 1;
}

static int
emptied_slot(uint64_t state)
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
retire_slot(int part)
{
	unsigned	now, next;

	now = current_copy(atomic_load(&board->state));
	next = 1 - now;
	board->retired[next] = board->retired[now];
	add_slot(&board->retired[next], &board->slots[part]);
	set_state(next, part);
	memset(&board->slots[part], 0, sizeof(board->slots[part]));
	for (int i = 0; i < STATS_GAUGE_COUNT; i++)
		board->published[part].gauges[i] = 0;
	board->published[part].open = 0;
	set_state(next, SCOREBOARD_NONE);
}

void
scoreboard_retire(int part, unsigned n)
{
	for (int i = part; part != SCOREBOARD_NONE && i < part + (int)n; i++)
		retire_slot(i);
}

void
scoreboard_free(int part, unsigned n)
{
	scoreboard_retire(part, n);
	for (int i = part; part != SCOREBOARD_NONE && i < part + (int)n; i++) {
		board->published[i].generation = 0;
		slot_taken[i] = false;
	}
}

void
scoreboard_set_conf(int64_t number)
{
	board->conf_number = number;
	board->loaded = (int64_t)time(NULL);
}

void
scoreboard_attach(int part)
{
	own_slot = part;
	stats_use(
	    part == SCOREBOARD_NONE ? &private_slot : &board->slots[part]);
}

void
scoreboard_attach_thread(unsigned number)
{
	stats_use_thread(own_slot == SCOREBOARD_NONE ? &private_slot :
	    &board->slots[own_slot + (int)number]);
}

static void
sum_once(struct stats_slot *sum, uint64_t state)
{
	*sum = board->retired[current_copy(state)];
	add_slot(sum, &board->monitor);
	add_slot(sum, &private_slot);
	for (int i = 0; i < board->nslots; i++)
		if (i != emptied_slot(state))
			add_slot(sum, &board->slots[i]);
}

void
scoreboard_sum_main(struct stats_slot *sum, unsigned n)
{
	int	part = own_slot;

	memset(sum, 0, sizeof(*sum));
	if (part == SCOREBOARD_NONE)
		add_slot(sum, &private_slot);
	for (int i = part; part != SCOREBOARD_NONE && i < part + (int)n; i++)
		add_slot(sum, &board->slots[i]);
}

void
scoreboard_sum(struct stats_slot *sum)
{
	uint64_t	state;

	if (board == NULL) {
		memcpy(sum->counters, stats, sizeof(sum->counters));
		memcpy(sum->histograms, stats_histograms,
		    sizeof(sum->histograms));
		return;
	}
	for (int i = 0; i < READ_TRIES; i++) {
		state = atomic_load(&board->state);
		sum_once(sum, state);
		atomic_thread_fence(memory_order_acquire);
		if (state == atomic_load(&board->state))
			break;
	}
}

void
scoreboard_measure(time_t now)
{
	if (board == NULL)
		return;
	stats_gauges[STATS_GAUGE_STARTED] = board->started;
	stats_gauges[STATS_GAUGE_UPTIME] = (int64_t)now - board->started;
	stats_gauges[STATS_GAUGE_GENERATION] = board->conf_number;
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
	case STATS_GAUGE_FS_QUEUES:
	case STATS_GAUGE_QUEUED_MAX:
	case STATS_GAUGE_OPEN_MIN:
	case STATS_GAUGE_OPEN_MAX:
		return false;
	default:
		return true;
	}
}

/* Another main of our generation, which has begun to serve. */
static bool
is_sibling(int part)
{
	return part != own_slot && board->published[part].generation ==
	    board->published[own_slot].generation &&
	    board->published[part].gauges[STATS_GAUGE_WORKERS] != 0;
}

static void
merge_gauges(int part)
{
	int64_t	*g = stats_gauges, n;
	int64_t	 open = board->published[part].gauges[STATS_GAUGE_OPEN];

	for (int i = 0; i < STATS_GAUGE_COUNT; i++) {
		n = board->published[part].gauges[i];
		if (adds_up(i))
			g[i] += n;
		else if (i == STATS_GAUGE_QUEUED_MAX && n > g[i])
			g[i] = n;
	}
	if (open < g[STATS_GAUGE_OPEN_MIN])
		g[STATS_GAUGE_OPEN_MIN] = open;
	if (open > g[STATS_GAUGE_OPEN_MAX])
		g[STATS_GAUGE_OPEN_MAX] = open;
}

void
scoreboard_merge(void)
{
	stats_gauges[STATS_GAUGE_WORKERS] = 1;
	stats_gauges[STATS_GAUGE_OPEN_MIN] = stats_gauges[STATS_GAUGE_OPEN];
	stats_gauges[STATS_GAUGE_OPEN_MAX] = stats_gauges[STATS_GAUGE_OPEN];
	if (own_slot == SCOREBOARD_NONE)
		return;
	for (int i = 0; i < STATS_GAUGE_COUNT; i++)
		board->published[own_slot].gauges[i] = stats_gauges[i];
	for (int i = 0; i < board->nslots; i++)
		if (is_sibling(i))
			merge_gauges(i);
}

void
scoreboard_publish_open(size_t n)
{
	if (own_slot != SCOREBOARD_NONE)
		board->published[own_slot].open = n;
}

size_t
scoreboard_min_open(void)
{
	size_t	n, least = SIZE_MAX;

	for (int i = 0; own_slot != SCOREBOARD_NONE && i < board->nslots; i++) {
		n = is_sibling(i) ? board->published[i].open : SIZE_MAX;
		if (n < least)
			least = n;
	}
	return least;
}
