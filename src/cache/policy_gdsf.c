/*
 * policy_gdsf: the weight of a use is the number of uses so far divided by the
 * bytes that it takes to have the entry hit.  So for each large file that goes,
 * many small ones stay, and many more requests are hit.
 */
#include "cache/policy.h"
#include "cache/ranks.h"
#include "lib/need.h"

/* Class n is for 2^(CLASS_0 - n) bytes to a use: from 32 MiB to 16 bytes. */
#define CLASS_0		33

static unsigned
log2_of(uint64_t n)
{
	return 63U - (unsigned)__builtin_clzll(n);
}

static unsigned
class_of(const struct cache *c, const struct cache_entry *e)
{
	uint64_t	whole = policy_describe(c, e, 1).whole;
	uint64_t	uses = e->times + (uint64_t)1;
	unsigned	class;

	need(whole > 0);
	class = log2_of((uses << CLASS_0) / whole | 1);
	if (class < RANKS_GDSF)
		return RANKS_GDSF;
	return class < RANKS_CLASSES ? class : RANKS_CLASSES - 1;
}

static void
add_entry(struct cache *c, struct cache_entry *e)
{
	ranks_add(c, e, class_of(c, e));
}

static void
keep_entry(struct cache *c, struct cache_entry *e)
{
	ranks_keep(c, e, class_of);
}

static struct cache_entry *
find_victim(struct cache *c)
{
	return ranks_victim(c, class_of);
}

const struct cache_policy policy_gdsf = {
	.name = "gdsf",
	.add = add_entry,
	.keep = keep_entry,
	.victim = find_victim,
	.spare = policy_spare_half,
};
