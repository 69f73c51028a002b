/*
 * policy_lfu: the weight of a use is the number of uses so far, of whatever
 * size the entry is.
 */
#include "cache/policy.h"
#include "cache/ranks.h"

static unsigned
class_of(const struct cache *c, const struct cache_entry *e)
{
	(void)c;
	return RANKS_LFU + 31U - (unsigned)__builtin_clz(e->times + 1U);
}

static void
add_entry(struct cache *c, struct cache_entry *e)
{
	ranks_add(c, e, RANKS_LFU);
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

const struct cache_policy policy_lfu = {
	.name = "lfu",
	.add = add_entry,
	.keep = keep_entry,
	.victim = find_victim,
	.spare = policy_spare_half,
};
