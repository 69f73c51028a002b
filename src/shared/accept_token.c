/*
 * accept_token: shared memory, and a wakeup for each main.
 *
 * A main first writes what it changes, its idle flag or a holder, and then
 * reads the other.  So of two mains that change both at the same time, one sees
 * the other's change, and no token stays free while a main is idle.
 */
#include <sys/mman.h>

#include <stdatomic.h>

#include "lib/mem.h"
#include "lib/wakeup.h"
#include "shared/accept_token.h"

#define HOLDERS	2		/* two, as one main may be slow */
#define NO_MAIN	(-1)

struct shared {
	_Atomic int	holders[HOLDERS];	/* mains, or NO_MAIN */
	_Atomic bool	idle[];		/* by number of the main */
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
	t->shared = mem_shared(shared_size(mains));
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

/* Returns the first idle main that holds no token.  The first ones are
 * preferred, as their caches are warm. */
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

/* Passes a token from a main to an idle one.  If that main has got a client in
 * between, it may not look at its wakeup for long, and may have passed its
 * tokens on before it got this one.  So its flag is read again.  The number of
 * tries is limited, as the memory may hold anything. */
static void
pass_token(struct accept_token *t, int which, int from)
{
	int	next;

	for (unsigned i = 0; i <= t->nmains &&
	    atomic_compare_exchange_strong(&t->shared->holders[which], &from,
	    NO_MAIN); i++) {
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
