/*
 * scoreboard: shared memory, one writer to each slot.
 *
 * The sum of retired slots has two copies.  The monitor prepares the copy that
 * is not in force, then one word puts it in force.  So a reader never waits,
 * wherever the monitor is interrupted, and adds again only if that word has
 * changed meanwhile.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "lib/mem.h"
#include "stats/scoreboard.h"

/* More than all mains and threads of the generations at one time need. */
#define SLOTS_MAX	16384
#define READ_TRIES	100

static struct scoreboard {
	/* Bit 0: the copy in force.  Lower half: the slot that is in it but not
	 * emptied yet, from 1.  Upper half: number of changes. */
	_Atomic uint64_t	state;
	int64_t			started, loaded;	/* s since 1970 */
	int64_t			conf_number;
	_Atomic bool		leaving;
	struct {
		_Atomic unsigned	shares;
		_Atomic int64_t		max, utilisation;
	}			workers;
	struct stats_slot	retired[2];
	struct stats_slot	monitor;
	_Atomic int		nslots;		/* used so far */
	struct stats_slot	slots[SLOTS_MAX];
	struct {
		_Atomic unsigned	generation;	/* 0: free */
		_Atomic size_t		open;
		_Atomic int64_t		gauges[STATS_GAUGE_COUNT];
	}			published[SLOTS_MAX];
}	*board;			/* shared memory; NULL: none */

static bool			slot_taken[SLOTS_MAX];	/* of the monitor */
static int			own_slot = SCOREBOARD_NONE;	/* of main */
/* Of a thread of a main without slots. */
static _Thread_local struct stats_slot	private_slot;

void
scoreboard_open(void)
{
	board = mem_shared(sizeof(*board));
	board->started = (int64_t)time(NULL);
	stats_use(&board->monitor);
	scoreboard_set_conf(1);
}

void
scoreboard_set_leaving(void)
{
	board->leaving = true;
}

bool
scoreboard_is_leaving(void)
{
	return board != NULL && board->leaving;
}

void
scoreboard_set_shares(unsigned n)
{
	board->workers.shares = n;
}

unsigned
scoreboard_shares(void)
{
	return board == NULL ? 0 : board->workers.shares;
}

void
scoreboard_set_utilisation(unsigned max, uint32_t utilisation)
{
	board->workers.max = max;
	board->workers.utilisation = utilisation;
}

uint64_t
scoreboard_loop_time(int slot)
{
	return slot == SCOREBOARD_NONE ? 0 : counter_read(
	    &board->slots[slot].histograms[STATS_HISTOGRAM_LOOP_LAG].sum);
}

/* The first of n free slots in a row. */
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
	int	slot = find_free((int)n), end = slot + (int)n;

	if (slot == SCOREBOARD_NONE)
		return SCOREBOARD_NONE;
	for (int i = slot; i < end; i++) {
		slot_taken[i] = true;
		board->published[i].generation = generation;
	}
	if (end > board->nslots)
		board->nslots = end;
	return slot;
}

static void
add_slot(struct stats_slot *to, const struct stats_slot *slot)
{
	for (int i = 0; i < STATS_COUNT; i++)
		to->counters[i] += counter_read(&slot->counters[i]);
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++)
		if (counter_read(&slot->histograms[i].n) != 0)
			histogram_merge(&to->histograms[i],
			    &slot->histograms[i]);
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
set_state(unsigned copy, int slot)
{
	uint64_t	n = (atomic_load(&board->state) >> 32) + 1;

	atomic_store(&board->state, n << 32 | (uint64_t)(slot + 1) << 1 | copy);
}

static void
retire_slot(int slot)
{
	unsigned	now, next;

	now = current_copy(atomic_load(&board->state));
	next = 1 - now;
	board->retired[next] = board->retired[now];
	add_slot(&board->retired[next], &board->slots[slot]);
	set_state(next, slot);
	memset(&board->slots[slot], 0, sizeof(board->slots[slot]));
	for (int i = 0; i < STATS_GAUGE_COUNT; i++)
		board->published[slot].gauges[i] = 0;
	board->published[slot].open = 0;
	set_state(next, SCOREBOARD_NONE);
}

void
scoreboard_retire(int slot, unsigned n)
{
	for (int i = slot; slot != SCOREBOARD_NONE && i < slot + (int)n; i++)
		retire_slot(i);
}

void
scoreboard_free(int slot, unsigned n)
{
	scoreboard_retire(slot, n);
	for (int i = slot; slot != SCOREBOARD_NONE && i < slot + (int)n; i++) {
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
scoreboard_attach(int slot)
{
	own_slot = slot;
	stats_use(slot == SCOREBOARD_NONE ? &private_slot :
	    &board->slots[slot]);
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
	int	slot = own_slot;

	memset(sum, 0, sizeof(*sum));
	if (slot == SCOREBOARD_NONE)
		add_slot(sum, &private_slot);
	for (int i = slot; slot != SCOREBOARD_NONE && i < slot + (int)n; i++)
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
	stats_gauges[STATS_GAUGE_WORKERS_MAX] = board->workers.max;
	stats_gauges[STATS_GAUGE_UTILISATION] = board->workers.utilisation;
}

/* Whether a gauge is added up: some have one value for all mains, and of some
 * the largest counts. */
static bool
adds_up(int gauge)
{
	switch (gauge) {
	case STATS_GAUGE_STARTED:
	case STATS_GAUGE_UPTIME:
	case STATS_GAUGE_GENERATION:
	case STATS_GAUGE_LOADED:
	case STATS_GAUGE_WORKERS_MAX:
	case STATS_GAUGE_UTILISATION:
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

/* Whether a slot is of another main of our generation that serves or drains. */
static bool
is_sibling(int slot)
{
	return slot != own_slot && board->published[slot].generation ==
	    board->published[own_slot].generation &&
	    (board->published[slot].gauges[STATS_GAUGE_WORKERS] != 0 ||
	    board->published[slot].gauges[STATS_GAUGE_DRAINING] != 0);
}

static void
merge_gauges(int slot)
{
	int64_t	*g = stats_gauges, n;
	int64_t	 open = board->published[slot].gauges[STATS_GAUGE_OPEN];

	for (int i = 0; i < STATS_GAUGE_COUNT; i++) {
		n = board->published[slot].gauges[i];
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

/* Ratios have been added up, and are to be the mean of the mains that have
 * them. */
static void
divide_ratios(int64_t *g)
{
	int64_t	n = g[STATS_GAUGE_ADVISED];

	for (int i = STATS_GAUGE_ADVICE_SAMPLE; n > 1 &&
	    i < STATS_GAUGE_WOULD_HIT_BYTES_LRU + STATS_ADVICE_COUNT; i++)
		g[i] /= n;
}

void
scoreboard_merge(void)
{
	/* A main that drains serves with the others no more. */
	stats_gauges[STATS_GAUGE_WORKERS] =
	    stats_gauges[STATS_GAUGE_DRAINING] == 0;
	stats_gauges[STATS_GAUGE_OPEN_MIN] = stats_gauges[STATS_GAUGE_OPEN];
	stats_gauges[STATS_GAUGE_OPEN_MAX] = stats_gauges[STATS_GAUGE_OPEN];
	if (own_slot == SCOREBOARD_NONE)
		return;
	for (int i = 0; i < STATS_GAUGE_COUNT; i++)
		board->published[own_slot].gauges[i] = stats_gauges[i];
	for (int i = 0; i < board->nslots; i++)
		if (is_sibling(i))
			merge_gauges(i);
	divide_ratios(stats_gauges);
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
