/*
 * policy_s3fifo: newcomers queue in a tenth of the cache, and all others in the
 * main queue.  A newcomer that nobody has used twice goes soon, and its key is
 * remembered: if it comes back, it comes into the main queue.  There it is
 * spared once for each use, of at most three.  Edges may stay without use, so
 * they are no newcomers: they would soon have all the room of these.
 */
#include "cache/policy.h"

/* The queues.  Other policies use MAIN, too, so the entries that they leave are
 * no newcomers. */
#define NEWCOMERS	POLICY_NEWCOMERS
#define MAIN		POLICY_MAIN
#define NEWCOMERS_SHARE	10	/* of the cache, one part in so many */
#define USES_TO_STAY	2
#define USES_MAX	3

/* The weight of an entry in the limit of newcomers. */
static size_t
weight_of(const struct cache *c, size_t bytes)
{
	return c->limit_bytes != 0 ? bytes : 1;
}

/* Subtracts a newcomer from the sum.  After another policy was in force, the
 * newcomer may not be in the sum. */
static void
count_out(struct cache *c, size_t bytes)
{
	size_t	weight = weight_of(c, bytes);

	c->order.newcomers -= weight < c->order.newcomers ? weight :
	    c->order.newcomers;
}

static bool
too_many_newcomers(const struct cache *c)
{
	size_t	limit = c->limit_bytes != 0 ? c->limit_bytes :
		    c->limit_entries;

	return c->order.newcomers > limit / NEWCOMERS_SHARE ||
	    TAILQ_EMPTY(&c->order.queues[MAIN]);
}

static void
add_entry(struct cache *c, struct cache_entry *e)
{
	struct cache_item	item = policy_describe(c, e, 1);

	if (item.edge || ghosts_take(&c->order.ghosts, item.key)) {
		policy_enqueue(c, e, MAIN);
		return;
	}
	c->order.newcomers += weight_of(c, item.bytes);
	policy_enqueue(c, e, NEWCOMERS);
}

static void
keep_entry(struct cache *c, struct cache_entry *e)
{
	policy_move(c, e, e->queue);
}

static void
leave_entry(struct cache *c, struct cache_entry *e, size_t bytes)
{
	if (e->queue == NEWCOMERS)
		count_out(c, bytes);
}

static void
promote_newcomer(struct cache *c, struct cache_entry *e, size_t bytes)
{
	count_out(c, bytes);
	e->uses = 0;
	policy_move(c, e, MAIN);
}

static bool
spare_use(uint16_t *uses)
{
	if (*uses == 0)
		return false;
	*uses = *uses > USES_MAX ? USES_MAX - 1 : *uses - 1;
	return true;
}

/* A search for a victim. */
struct search {
	unsigned		 chances;	/* left */
	struct cache_entry	*held;	/* first of the newcomers that could
					 * not go; NULL: none yet */
};

static bool
is_from_newcomers(const struct cache *c, const struct search *s)
{
	const struct cache_entry	*e;

	e = TAILQ_FIRST(&c->order.queues[NEWCOMERS]);
	return e != NULL && e != s->held && too_many_newcomers(c);
}

/* Looks at the oldest newcomer.  NULL: it stays. */
static struct cache_entry *
try_newcomer(struct cache *c, struct search *s)
{
	struct cache_entry	*e = TAILQ_FIRST(&c->order.queues[NEWCOMERS]);
	struct cache_item	 item = policy_describe(c, e, 1);

	if (e->uses >= USES_TO_STAY && s->chances > 0) {
		s->chances--;
		promote_newcomer(c, e, item.bytes);
		return NULL;
	}
	if (e->holds > 0) {
		policy_move(c, e, NEWCOMERS);
		if (s->held == NULL)
			s->held = e;
		return NULL;
	}
	ghosts_reserve(&c->order.ghosts, c->entries);
	ghosts_add(&c->order.ghosts, item.key);
	return e;
}

static struct cache_entry *
try_main(struct cache *c, struct search *s)
{
	struct cache_entry	*e = TAILQ_FIRST(&c->order.queues[MAIN]);

	if (e == NULL)
		return NULL;
	if (e->holds == 0 && (s->chances == 0 || !spare_use(&e->uses)))
		return e;
	if (e->holds == 0)
		s->chances--;
	policy_move(c, e, MAIN);
	return NULL;
}

static struct cache_entry *
find_victim(struct cache *c)
{
	struct search		 s = { .chances = POLICY_CHANCES };
	struct cache_entry	*e;

	policy_adopt(c, true);
	for (size_t left = c->entries + POLICY_CHANCES; left > 0; left--) {
		e = is_from_newcomers(c, &s) ? try_newcomer(c, &s) :
		    try_main(c, &s);
		if (e != NULL)
			return e;
	}
	e = policy_find_unheld(c, MAIN);
	return e != NULL ? e : policy_find_unheld(c, NEWCOMERS);
}

const struct cache_policy policy_s3fifo = {
	.name = "s3fifo",
	.has_newcomers = true,
	.add = add_entry,
	.keep = keep_entry,
	.victim = find_victim,
	.leave = leave_entry,
	.spare = spare_use,
};
