/*
 * accept_token: memory that mains share, and a wakeup for each of them.
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

#define HOLDERS	2		/* one may be slow */
#define NO_MAIN	(-1)

struct shared {
	_Atomic int	holders[HOLDERS];	/* mains, or NOBODY */
	_Atomic bool	idle[];		/* by main */
};

struct accept_token {
	struct shared	*shared;
	struct wakeup	*wakeups;
	unsigned	 nmains;
};

static size_t
shared_size(unsigned mains)
{
	return sizeof(struct shared) + mains * sizeof(_Atomic bool);
}

struct accept_token *
accept_token_new(unsigned mains)
{
	struct accept_token	*t = mem_zero(sizeof(*t));

	t->nmains = mains;
	t->shared = mmap(NULL, shared_size(mains), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON, -1, 0);
	if (t->shared == MAP_FAILED)
		fatal("no memory to share");
	for (int i = 0; i < HOLDERS; i++)
		atomic_store(&t->shared->holders[i], NO_MAIN);
	t->wakeups = mem_array(mains, sizeof(t->wakeups[0]));
	for (unsigned i = 0; i < mains; i++)
		wakeup_open(&t->wakeups[i]);
	return t;
}

void
accept_token_free(struct accept_token **tp)
{
	struct accept_token	*t = *tp;

	if (t == NULL)
		return;
	for (unsigned i = 0; i < t->nmains; i++)
		wakeup_close(&t->wakeups[i]);
	mem_drop(&t->wakeups);
	munmap(t->shared, shared_size(t->nmains));
	mem_drop(tp);
}

static bool
is_holder(const struct accept_token *t, unsigned main)
{
	for (int i = 0; i < HOLDERS; i++)
		if (atomic_load(&t->shared->holders[i]) == (int)main)
			return true;
	return false;
}

/* The first that is free and keeps no door: so those that have worked last are
 * asked again, and what they have in their caches is of use. */
static int
find_idle(const struct accept_token *t)
{
	for (unsigned i = 0; i < t->nmains; i++)
		if (atomic_load(&t->shared->idle[i]) && !is_holder(t, i))
			return (int)i;
	return NO_MAIN;
}

static bool
take_token(struct accept_token *t, int i, int main)
{
	int	none = NO_MAIN;

	return atomic_compare_exchange_strong(&t->shared->holders[i],
	    &none, main);
}

/* For as long as there is somebody; who takes it meanwhile is fine, too.  One
 * that has got a client since we looked may have handed on what it had before
 * it had this door, and may not hear its wakeup for long: so we look again, but
 * not for ever, whatever mains write there. */
static void
pass_token(struct accept_token *t, int which, int from)
{
	int	next;

	for (unsigned i = 0; i <= t->nmains && atomic_compare_exchange_strong(
	    &t->shared->holders[which], &from, NO_MAIN); i++) {
		next = find_idle(t);
		if (next == NO_MAIN || !take_token(t, which, next))
			break;
		wakeup_set(&t->wakeups[next]);
		if (atomic_load(&t->shared->idle[next]))
			break;
		from = next;
	}
}

void
accept_token_busy(struct accept_token *t, unsigned main)
{
	atomic_store(&t->shared->idle[main], false);
	for (int i = 0; i < HOLDERS; i++)
		pass_token(t, i, (int)main);
}

bool
accept_token_idle(struct accept_token *t, unsigned main)
{
	atomic_store(&t->shared->idle[main], true);
	for (int i = 0; i < HOLDERS && !is_holder(t, main); i++)
		take_token(t, i, (int)main);
	return is_holder(t, main);
}

void
accept_token_main_died(struct accept_token *t, unsigned main)
{
	if (t != NULL)
		accept_token_busy(t, main);
}

int
accept_token_fd(const struct accept_token *t, unsigned main)
{
	return t->wakeups[main].fd;
}

void
accept_token_reset_fd(const struct accept_token *t, unsigned main)
{
	wakeup_reset(&t->wakeups[main]);
}
