/*
 * accept_token: memory that mains share, and a bell for each of them.
 *
 * Who is free and who keeps a door are told one after the other, by whoever
 * changes them, and then looked at: so of two that do it at the same time one
 * sees what the other has told, and no door stays without a keeper while there
 * is somebody for it.
 */
#include <sys/mman.h>

#include <stdatomic.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "lib/wakeup.h"
#include "shared/accept_token.h"

#define KEEPERS	2		/* one may be slow */
#define NOBODY	(-1)

struct shared {
	_Atomic int	keepers[KEEPERS];	/* mains, or NOBODY */
	_Atomic bool	resting[];		/* by main */
};

struct turns {
	struct shared	*shared;
	struct bell	*bells;
	unsigned	 n;
};

static size_t
size(unsigned mains)
{
	return sizeof(struct shared) + mains * sizeof(_Atomic bool);
}

struct turns *
turns_new(unsigned mains)
{
	struct turns	*t = mem_zero(sizeof(*t));

	t->n = mains;
	t->shared = mmap(NULL, size(mains), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON, -1, 0);
	if (t->shared == MAP_FAILED)
		fatal("no memory to share");
	for (int i = 0; i < KEEPERS; i++)
		atomic_store(&t->shared->keepers[i], NOBODY);
	t->bells = mem_array(mains, sizeof(t->bells[0]));
	for (unsigned i = 0; i < mains; i++)
		bell_open(&t->bells[i]);
	return t;
}

void
turns_free(struct turns **tp)
{
	struct turns	*t = *tp;

	if (t == NULL)
		return;
	for (unsigned i = 0; i < t->n; i++)
		bell_close(&t->bells[i]);
	mem_drop(&t->bells);
	munmap(t->shared, size(t->n));
	mem_drop(tp);
}

static bool
keeps(const struct turns *t, unsigned main)
{
	for (int i = 0; i < KEEPERS; i++)
		if (atomic_load(&t->shared->keepers[i]) == (int)main)
			return true;
	return false;
}

/* The first that is free and keeps no door: so those that have worked last are
 * asked again, and what they have in their caches is of use. */
static int
somebody(const struct turns *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (atomic_load(&t->shared->resting[i]) && !keeps(t, i))
			return (int)i;
	return NOBODY;
}

static bool
take(struct turns *t, int door, int main)
{
	int	nobody = NOBODY;

	return atomic_compare_exchange_strong(&t->shared->keepers[door],
	    &nobody, main);
}

/* For as long as there is somebody; who takes it meanwhile is fine, too.  One
 * that has got a client since we looked may have handed on what it had before
 * it had this door, and may not hear its bell for long: so we look again, but
 * not for ever, whatever mains write there. */
static void
hand_on(struct turns *t, int door, int from)
{
	int	next;

	for (unsigned i = 0; i <= t->n && atomic_compare_exchange_strong(
	    &t->shared->keepers[door], &from, NOBODY); i++) {
		next = somebody(t);
		if (next == NOBODY || !take(t, door, next))
			break;
		bell_ring(&t->bells[next]);
		if (atomic_load(&t->shared->resting[next]))
			break;
		from = next;
	}
}

void
turns_work(struct turns *t, unsigned main)
{
	atomic_store(&t->shared->resting[main], false);
	for (int i = 0; i < KEEPERS; i++)
		hand_on(t, i, (int)main);
}

bool
turns_rest(struct turns *t, unsigned main)
{
	atomic_store(&t->shared->resting[main], true);
	for (int i = 0; i < KEEPERS && !keeps(t, main); i++)
		take(t, i, (int)main);
	return keeps(t, main);
}

void
turns_left(struct turns *t, unsigned main)
{
	if (t != NULL)
		turns_work(t, main);
}

int
turns_bell(const struct turns *t, unsigned main)
{
	return t->bells[main].fd;
}

void
turns_hush(const struct turns *t, unsigned main)
{
	bell_hush(&t->bells[main]);
}
