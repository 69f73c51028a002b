/*
 * Tests of the policies: each names the same victims, one after the other, as a
 * plain statement of its rules, of which an entry is a row of a table and a
 * queue an order of numbers.
 *
 * The streams: uniform requests; requests as those of the web, few things often
 * and small things more often; a loop; a scan through such requests.  Things
 * are held for a while at random, and removed.  In half of the runs one thing in
 * thirty is an edge.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/policy.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "t/unit/unit.h"

#define THINGS		1000
#define STEPS		100000
#define HELD_MAX	20
#define GHOST_BUCKETS	64
#define LIMIT_ENTRIES	200
#define LIMIT_BYTES	2000000

struct thing {
	struct cache_entry	 entry;
	unsigned		 number;
};

/* What both sides are told. */
static struct cache		 cache;
static struct thing		*things[THINGS];	/* NULL: not there */
static size_t			 size_of[THINGS];	/* bytes */
static unsigned			 victims[THINGS], nvictims;	/* of a step */
static uint64_t			 randomness;
static bool			 with_edges;

/* The plain side. */
static struct {
	unsigned	holds, uses;	/* uses since they were counted */
	unsigned	times;
	unsigned	queue;
	uint64_t	rank;
	bool		there;
} plain[THINGS];
static struct list {		/* a queue */
	unsigned	at[THINGS], n;
	size_t		size;
} lists[POLICY_QUEUES];
static uint64_t		clock_rank;
static int		hand;		/* sieve's; -1: the oldest */
static uint64_t		ghosts[GHOST_BUCKETS][GHOSTS_BUCKET];
static unsigned		nghosts[GHOST_BUCKETS];

static unsigned
below(unsigned n)
{
	randomness = randomness * UINT64_C(6364136223846793005) + 1;
	return (unsigned)(randomness >> 33) % n;
}

static size_t
weight_of(unsigned number)
{
	return cache.limit_bytes != 0 ? size_of[number] : 1;
}

static uint64_t
key_of(unsigned number)
{
	return (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool
is_edge(unsigned number)
{
	return with_edges && number % 30 == 3;
}

/*
 * Queues of the plain side
 */

static void
take_out(unsigned number)
{
	struct list	*l = &lists[plain[number].queue];
	unsigned	 i;

	for (i = 0; l->at[i] != number; i++)
		need(i < l->n);
	memmove(l->at + i, l->at + i + 1, (--l->n - i) * sizeof(l->at[0]));
	l->size -= weight_of(number);
}

static void
put_in(unsigned number, unsigned queue)
{
	struct list	*l = &lists[queue];

	plain[number].queue = queue;
	l->at[l->n++] = number;
	l->size += weight_of(number);
}

static void
put_last(unsigned number, unsigned queue)
{
	take_out(number);
	put_in(number, queue);
}

static int
first_of(unsigned queue)
{
	return lists[queue].n == 0 ? -1 : (int)lists[queue].at[0];
}

/* The one behind another in a queue; -1: none. */
static int
next_of(int number)
{
	const struct list	*l = &lists[plain[number].queue];
	unsigned		 i;

	for (i = 0; l->at[i] != (unsigned)number; i++)
		need(i < l->n);
	return i + 1 < l->n ? (int)l->at[i + 1] : -1;
}

static size_t
count_there(void)
{
	size_t	n = 0;

	for (unsigned i = 0; i < POLICY_QUEUES; i++)
		n += lists[i].n;
	return n;
}

static bool
is_plain_over(void)
{
	size_t	sum = 0;

	for (unsigned i = 0; i < POLICY_QUEUES; i++)
		sum += lists[i].size;
	return sum > (cache.limit_bytes != 0 ? cache.limit_bytes :
	    cache.limit_entries);
}

static int
first_unheld(unsigned queue)
{
	int	i = first_of(queue);

	while (i != -1 && plain[i].holds > 0)
		i = next_of(i);
	return i;
}

/*
 * The plain policies
 */

static int
lru_victim(void)
{
	unsigned	chances = POLICY_CHANCES;
	int		i;

	for (size_t left = count_there(); left > 0; left--) {
		i = first_of(0);
		if (plain[i].holds == 0 && plain[i].uses == 0)
			return i;
		if (plain[i].holds == 0 && chances-- == 0)
			return i;
		plain[i].uses = 0;
		put_last((unsigned)i, 0);
	}
	return first_unheld(0);
}

/* The hand is a thing, which it has not looked at yet. */
static int
sieve_victim(void)
{
	unsigned	chances = POLICY_CHANCES;
	int		i;

	for (size_t left = 2 * count_there(); left > 0; left--) {
		i = hand != -1 ? hand : first_of(0);
		if (plain[i].holds == 0 &&
		    (plain[i].uses == 0 || chances-- == 0)) {
			hand = i;
			return i;
		}
		if (plain[i].holds == 0)
			plain[i].uses = 0;
		hand = next_of(i);
	}
	return -1;
}

static void
sieve_leaves(unsigned number)
{
	if (hand == (int)number)
		hand = next_of((int)number);
}

static void
haunt(unsigned number)
{
	unsigned	bucket = (unsigned)(key_of(number) % GHOST_BUCKETS);

	if (nghosts[bucket] == GHOSTS_BUCKET)
		memmove(ghosts[bucket], ghosts[bucket] + 1,
		    (--nghosts[bucket]) * sizeof(ghosts[0][0]));
	ghosts[bucket][nghosts[bucket]++] = key_of(number);
}

static bool
was_ghost(unsigned number)
{
	unsigned	bucket = (unsigned)(key_of(number) % GHOST_BUCKETS);

	for (unsigned i = 0; i < nghosts[bucket]; i++)
		if (ghosts[bucket][i] == key_of(number)) {
			memmove(ghosts[bucket] + i, ghosts[bucket] + i + 1,
			    (--nghosts[bucket] - i) * sizeof(ghosts[0][0]));
			return true;
		}
	return false;
}

/* Queue 0 is that of newcomers, queue 1 the main one. */
static int
s3fifo_victim(void)
{
	size_t		limit = cache.limit_bytes != 0 ? cache.limit_bytes :
			    cache.limit_entries;
	unsigned	chances = POLICY_CHANCES;
	int		i, held = -1;

	for (size_t left = count_there() + POLICY_CHANCES; left > 0; left--) {
		i = first_of(0);
		if (i != -1 && i != held && (lists[0].size > limit / 10 ||
		    first_of(1) == -1)) {
			if (plain[i].uses > 1 && chances > 0) {
				chances--;
				plain[i].uses = 0;
				put_last((unsigned)i, 1);
			} else if (plain[i].holds > 0) {
				if (held == -1)
					held = i;
				put_last((unsigned)i, 0);
			} else {
				haunt((unsigned)i);
				return i;
			}
			continue;
		}
		i = first_of(1);
		if (i == -1)
			continue;
		if (plain[i].holds == 0) {
			if (plain[i].uses == 0 || chances == 0)
				return i;
			chances--;
			if (plain[i].uses > 3)
				plain[i].uses = 3;
			plain[i].uses--;
		}
		put_last((unsigned)i, 1);
	}
	i = first_unheld(1);
	return i != -1 ? i : first_unheld(0);
}

/* The whole number k, from 8 to 29, for which 2^k is at most uses * 2^33 / size. */
static unsigned
gdsf_class(unsigned number)
{
	uint64_t	uses = plain[number].times + (uint64_t)1;
	unsigned	k = 8;

	while (k < 29 && (UINT64_C(2) << k) * size_of[number] <= uses << 33)
		k++;
	return k;
}

static unsigned
lfu_class(unsigned number)
{
	unsigned	k = 0;

	while (2U << k <= plain[number].times + 1)
		k++;
	return k;
}

/* A rank is the clock and the weight, in steps of a sixteenth of the weight. */
static void
set_rank(unsigned number, unsigned class)
{
	uint64_t	step = UINT64_C(1) << class;

	plain[number].rank = (clock_rank + 16 * step) / step * step;
}

/* The one of least rank, if need be of those that are not held; of several the
 * largest, and of these the oldest. */
static int
find_least(bool unheld)
{
	int		least = -1;
	unsigned	number;

	for (unsigned q = 0; q < POLICY_QUEUES; q++)
		for (unsigned i = 0; i < lists[q].n; i++) {
			number = lists[q].at[i];
			if (unheld && plain[number].holds > 0)
				continue;
			if (least == -1 ||
			    plain[number].rank < plain[least].rank)
				least = (int)number;
		}
	return least;
}

static void
lru_keeps(unsigned number)
{
	put_last(number, plain[number].queue);
}

static void
sieve_keeps(unsigned number)
{
	hand = next_of((int)number);
}

static void
keep_ranked(unsigned number, unsigned (*class_of)(unsigned))
{
	plain[number].times += plain[number].uses;
	if (plain[number].times > 63)
		plain[number].times = 63;
	plain[number].uses = 0;
	set_rank(number, class_of(number));
	put_last(number, class_of(number));
}

static int
ranked_victim(unsigned (*class_of)(unsigned))
{
	int	least;

	for (int chance = 0; chance < POLICY_CHANCES; chance++) {
		least = find_least(false);
		clock_rank = plain[least].rank;
		if (plain[least].holds == 0 && plain[least].uses == 0)
			return least;
		keep_ranked((unsigned)least, class_of);
	}
	return find_least(true);
}

static void
gdsf_keeps(unsigned number)
{
	keep_ranked(number, gdsf_class);
}

static void
lfu_keeps(unsigned number)
{
	keep_ranked(number, lfu_class);
}

static int
gdsf_victim(void)
{
	return ranked_victim(gdsf_class);
}

static int
lfu_victim(void)
{
	return ranked_victim(lfu_class);
}

static void
queue_new(unsigned number)
{
	put_in(number, 0);
}

static void
s3fifo_new(unsigned number)
{
	put_in(number, is_edge(number) || was_ghost(number));
}

static void
gdsf_new(unsigned number)
{
	set_rank(number, gdsf_class(number));
	put_in(number, gdsf_class(number));
}

static void
lfu_new(unsigned number)
{
	set_rank(number, 0);
	put_in(number, 0);
}

static const struct {
	const struct cache_policy	*policy;
	void				(*new)(unsigned);
	int				(*victim)(void);
	void				(*keeps)(unsigned);	/* a victim */
	void				(*leaves)(unsigned);
} pairs[] = {
	{ &policy_lru, queue_new, lru_victim, lru_keeps, NULL },
	{ &policy_sieve, queue_new, sieve_victim, sieve_keeps, sieve_leaves },
	{ &policy_s3fifo, s3fifo_new, s3fifo_victim, lru_keeps, NULL },
	{ &policy_lfu, lfu_new, lfu_victim, lfu_keeps, NULL },
	{ &policy_gdsf, gdsf_new, gdsf_victim, gdsf_keeps, NULL },
};

#define PAIRS	((int)(sizeof(pairs) / sizeof(pairs[0])))

/*
 * Both sides
 */

static void
drop_thing(struct cache *c, struct cache_entry *e)
{
	struct thing	*t = (struct thing *)e;

	victims[nvictims++] = t->number;
	things[t->number] = NULL;
	cache_remove(c, e, size_of[t->number]);
	free(t);
}

static void
describe_thing(const struct cache_entry *e, struct cache_item *item)
{
	unsigned	number = ((const struct thing *)e)->number;

	item->bytes = item->whole = size_of[number];
	item->key = key_of(number);
	item->edge = is_edge(number);
}

/* Whether the edges have a part in 32 of the limit, or less. */
static bool
are_edges_few(void)
{
	size_t	edges = 0;

	for (unsigned i = 0; i < THINGS; i++)
		if (is_edge(i) && plain[i].there)
			edges += size_of[i];
	return 32 * edges <= cache.limit_bytes;
}

/* The victim of the policy; an edge among few stays, and the policy names
 * another, up to 32 times. */
static int
plain_victim(int pair)
{
	int	i = pairs[pair].victim();

	for (int kept = 0; kept < 32; kept++) {
		if (i == -1 || !is_edge((unsigned)i) || !are_edges_few())
			break;
		pairs[pair].keeps((unsigned)i);
		i = pairs[pair].victim();
	}
	return i;
}

static void
drop_plain(int pair, unsigned number)
{
	if (pairs[pair].leaves != NULL)
		pairs[pair].leaves(number);
	take_out(number);
	plain[number].there = false;
}

static void
trim_both(int pair, unsigned step)
{
	unsigned	n = 0;
	int		i;

	nvictims = 0;
	cache_trim(&cache);
	while (is_plain_over() && (i = plain_victim(pair)) != -1) {
		if (n == nvictims || victims[n] != (unsigned)i)
			ck_abort_msg("%s, step %u: %d should go",
			    pairs[pair].policy->name, step, i);
		drop_plain(pair, (unsigned)i);
		n++;
	}
	if (n != nvictims)
		ck_abort_msg("%s, step %u: %u should stay",
		    pairs[pair].policy->name, step, victims[n]);
}

static void
add_both(int pair, unsigned number, unsigned step)
{
	struct thing	*t = mem_zero(sizeof(*t));

	t->number = number;
	things[number] = t;
	plain[number].holds = 1;
	plain[number].uses = plain[number].times = 0;
	plain[number].there = true;
	pairs[pair].new(number);
	cache_add(&cache, &t->entry, size_of[number]);
	cache_hold_again(&t->entry);
	trim_both(pair, step);
}

static void
hold_both(int pair, unsigned number, unsigned step)
{
	if (things[number] == NULL) {
		add_both(pair, number, step);
		return;
	}
	cache_hold(&things[number]->entry);
	plain[number].holds++;
	plain[number].uses++;
}

static void
release_both(unsigned number)
{
	cache_release(&things[number]->entry);
	plain[number].holds--;
}

static void
remove_both(int pair, unsigned number)
{
	if (things[number] == NULL || plain[number].holds > 0)
		return;
	drop_plain(pair, number);
	drop_thing(&cache, &things[number]->entry);
}

/* Requests of the web: by Zipf, and larger things are rarer. */
static unsigned
popular(unsigned step)
{
	unsigned	bits = below(10);

	(void)step;
	return ((1U << bits) - 1 + below(1U << bits)) % THINGS;
}

static unsigned
any(unsigned step)
{
	(void)step;
	return below(THINGS / 2);
}

static unsigned
loop(unsigned step)
{
	return step % (LIMIT_ENTRIES + 50);
}

static unsigned
scanned(unsigned step)
{
	return step / 1000 % 3 == 2 ? THINGS / 2 + step % (THINGS / 2) :
	    popular(step) / 2;
}

static unsigned (*const streams[])(unsigned) = { any, popular, loop, scanned };

#define STREAMS	((int)(sizeof(streams) / sizeof(streams[0])))

static void
begin_both(int pair, bool by_bytes)
{
	cache_init(&cache, "test", by_bytes ? 0 : LIMIT_ENTRIES,
	    by_bytes ? LIMIT_BYTES : 0, drop_thing);
	cache_set_policy(&cache, pairs[pair].policy);
	cache.describe = describe_thing;
	memset(plain, 0, sizeof(plain));
	memset(nghosts, 0, sizeof(nghosts));
	memset(lists, 0, sizeof(lists));
	clock_rank = 0;
	hand = -1;
	randomness = 77;
	for (unsigned i = 0; i < THINGS; i++)
		size_of[i] = (100U << below(12)) + below(100) + i;
}

static void
end_both(void)
{
	for (unsigned i = 0; i < THINGS; i++)
		if (things[i] != NULL)
			things[i]->entry.holds = 0;
	nvictims = 0;
	cache_drop_unheld(&cache);
	ck_assert_uint_eq(cache.entries, 0);
	ck_assert_uint_eq(cache.bytes, 0);
	ck_assert_uint_eq(cache.edges, 0);
	ck_assert_uint_eq(cache.order.newcomers, 0);
	cache_end(&cache);
}

/* The loop's number is a policy and a stream, without edges or with them. */
START_TEST(equal)
{
	int		pair = _i / STREAMS % PAIRS;
	unsigned	(*stream)(unsigned) = streams[_i % STREAMS];
	unsigned	held[HELD_MAX], nheld = 0, number;

	with_edges = _i >= PAIRS * STREAMS;
	begin_both(pair, with_edges || _i % 2 == 1);
	for (unsigned step = 0; step < STEPS; step++) {
		if (nheld == HELD_MAX)
			while (nheld > 0)
				release_both(held[--nheld]);
		number = stream(step);
		hold_both(pair, number, step);
		if (below(10) == 0)
			held[nheld++] = number;
		else
			release_both(number);
		if (below(100) == 0)
			remove_both(pair, below(THINGS));
	}
	ck_assert_uint_gt(cache.evictions, 1000);
	while (nheld > 0)
		release_both(held[--nheld]);
	end_both();
}
END_TEST

/* All are held: there is no victim, and the search for one ends. */
START_TEST(all_held)
{
	begin_both(_i, false);
	for (unsigned i = 0; i < LIMIT_ENTRIES + 50; i++)
		add_both(_i, i, i);
	ck_assert_uint_eq(cache.entries, LIMIT_ENTRIES + 50);
	ck_assert_uint_eq(cache.evictions, 0);
	release_both(7);
	trim_both(_i, 0);
	ck_assert_ptr_null(things[7]);
	ck_assert_uint_eq(cache.evictions, 1);
	end_both();
}
END_TEST

/* A victim that is to stay is not the next one, and all others can go. */
START_TEST(kept)
{
	struct cache_entry	*e, *next;

	begin_both(_i, false);
	for (unsigned i = 0; i < 100; i++) {
		add_both(_i, i, i);
		release_both(i);
	}
	e = cache_victim(&cache);
	cache_requeue(&cache, e);
	for (unsigned i = 0; i < 99; i++) {
		next = cache_victim(&cache);
		ck_assert_ptr_nonnull(next);
		if (i == 0)
			ck_assert_ptr_ne(next, e);
		drop_thing(&cache, next);
	}
	ck_assert_uint_eq(cache.entries, 1);
	end_both();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, equal, 0, 2 * PAIRS * STREAMS);
	tcase_add_loop_test(tests, all_held, 0, PAIRS);
	tcase_add_loop_test(tests, kept, 0, PAIRS);
}
