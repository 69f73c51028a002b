/*
 * absents: a ring of hashes.
 */
#include "cache/absents.h"
#include "lib/mem.h"

void
absents_init(struct absents *a, size_t max)
{
	*a = (struct absents){ .max = max };
	a->hashes = mem_array(max, sizeof(a->hashes[0]));
}

void
absents_free(struct absents *a)
{
	mem_drop(&a->hashes);
}

void
absents_add(struct absents *a, uint32_t hash)
{
	uint32_t	oldest;

	if (a->n == a->max)
		(void)absents_take(a, &oldest);
	a->hashes[(a->first + a->n++) % a->max] = hash;
}

bool
absents_take(struct absents *a, uint32_t *hash)
{
	if (a->n == 0)
		return false;
	*hash = a->hashes[a->first];
	a->first = (a->first + 1) % a->max;
	a->n--;
	return true;
}
