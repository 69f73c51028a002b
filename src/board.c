/*
 * board: shared memory, one writer to each part.
 *
 * Who adds up may meet the monitor just as it moves numbers: a sequence, odd
 * meanwhile, tells, and then it is done anew, but not for ever.
 */
#include <sys/mman.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "board.h"
#include "lib/log.h"

#define PARTS	24		/* more than there can be reigns at once */
#define TRIES	100

static struct board {
	atomic_uint		sequence;
	int64_t			started, loaded;	/* since 1970 */
	int64_t			number;			/* of the conf */
	struct stats_part	past;		/* and the monitor's own */
	struct stats_part	parts[PARTS];
}	*board;			/* shared; NULL: there is none */

static bool			taken[PARTS];	/* the monitor's */
static struct stats_part	own;		/* of a main without a part */

void
board_open(void)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON, -1, 0);
	if (board == MAP_FAILED)
		fatal("no memory to share");
	board->started = (int64_t)time(NULL);
	stats_count_in(&board->past);
	board_conf(1);
}

int
board_take(void)
{
	for (int i = 0; i < PARTS; i++) {
		if (taken[i] || board == NULL)
			continue;
		taken[i] = true;
		return i;
	}
	return BOARD_NONE;
}

static void
add_histogram(struct histogram *to, const struct histogram *h)
{
	for (int i = 0; i < HISTOGRAM_STEPS; i++)
		to->count[i] += h->count[i];
	to->n += h->n;
	to->sum += h->sum;
	if (h->most > to->most)
		to->most = h->most;
}

/* What is 0 is left alone: it may be somebody else's to count. */
static void
add(struct stats_part *to, const struct stats_part *part)
{
	for (int i = 0; i < STATS_COUNT; i++)
		if (part->counters[i] != 0)
			to->counters[i] += part->counters[i];
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++)
		if (part->histograms[i].n != 0)
			add_histogram(&to->histograms[i],
			    &part->histograms[i]);
}

void
board_keep(int part)
{
	struct stats_part	*p;

	if (part == BOARD_NONE)
		return;
	p = &board->parts[part];
	atomic_fetch_add(&board->sequence, 1);
	add(&board->past, p);
	memset(p, 0, sizeof(*p));
	atomic_fetch_add(&board->sequence, 1);
}

void
board_give(int part)
{
	board_keep(part);
	if (part != BOARD_NONE)
		taken[part] = false;
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
	stats_count_in(part == BOARD_NONE ? &own : &board->parts[part]);
}

static void
sum_once(struct stats_part *sum)
{
	memset(sum, 0, sizeof(*sum));
	add(sum, &board->past);
	add(sum, &own);
	for (int i = 0; i < PARTS; i++)
		add(sum, &board->parts[i]);
}

void
board_sum(struct stats_part *sum)
{
	unsigned	before;

	if (board == NULL) {
		memcpy(sum->counters, stats, sizeof(sum->counters));
		memcpy(sum->histograms, stats_histograms,
		    sizeof(sum->histograms));
		return;
	}
	for (int i = 0; i < TRIES; i++) {
		before = atomic_load(&board->sequence);
		sum_once(sum);
		atomic_thread_fence(memory_order_acquire);
		if (before % 2 == 0 && before == atomic_load(&board->sequence))
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
