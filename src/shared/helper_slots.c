/*
 * helper_slots: shared memory.  The monitor reads it after the end of its
 * writer, so there is no lock.
 */
#include <sys/mman.h>

#include "lib/mem.h"
#include "shared/helper_slots.h"

struct slot {
	uint64_t	pipe;		/* 0: the slot is free */
	uint64_t	fs_queue;
};

struct helper_slots {
	struct slot	*slots;		/* shared */
	size_t		 count;
};

struct helper_slots *
helper_slots_new(size_t count)
{
	struct helper_slots	*l = mem_zero(sizeof(*l));

	l->count = count;
	l->slots = mem_shared(count * sizeof(*l->slots));
	return l;
}

void
helper_slots_free(struct helper_slots **lp)
{
	munmap((*lp)->slots, (*lp)->count * sizeof(*(*lp)->slots));
	mem_drop(lp);
}

static int
find_slot(const struct helper_slots *l, uint64_t pipe)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->slots[i].pipe == pipe)
			return (int)i;
	return -1;
}

uint64_t
helper_slots_find(const struct helper_slots *l, uint64_t pipe)
{
	int	slot = pipe != 0 ? find_slot(l, pipe) : -1;

	return slot != -1 ? l->slots[slot].fs_queue : 0;
}

void
helper_slots_clear(struct helper_slots *l)
{
	for (size_t i = 0; i < l->count; i++)
		l->slots[i] = (struct slot){ 0, 0 };
}

int
helper_slots_take(struct helper_slots *l, uint64_t pipe)
{
	int	slot = find_slot(l, 0);

	if (slot != -1)
		l->slots[slot] = (struct slot){ .pipe = pipe };
	return slot;
}

void
helper_slots_release(struct helper_slots *l, int slot)
{
	if (slot != -1)
		l->slots[slot] = (struct slot){ 0, 0 };
}

void
helper_slots_set(struct helper_slots *l, int slot, uint64_t fs_queue)
{
	if (slot != -1)
		l->slots[slot].fs_queue = fs_queue;
}
