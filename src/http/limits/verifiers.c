/*
 * verifiers: a list of addresses, each with a list of what waits.
 *
 * There are no more addresses in it than verifications, so that a walk costs
 * nothing beside one of those.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "http/limits/verifiers.h"
#include "lib/mem.h"
#include "lib/need.h"

struct asker {
	struct address_key	 name;
	struct verifier_list	 list;		/* that wait */
	size_t			 waiting;
	int64_t			 busy;
	TAILQ_ENTRY(asker)	 link;
};

void
verifiers_init(struct verifiers *vs, size_t most)
{
	memset(vs, 0, sizeof(*vs));
	TAILQ_INIT(&vs->askers);
	TAILQ_INIT(&vs->called);
	vs->most = most;
}

void
verifiers_free(struct verifiers *vs)
{
	need(TAILQ_EMPTY(&vs->askers) && TAILQ_EMPTY(&vs->called));
	lock_free(&vs->lock);
}

static struct asker *
find(const struct verifiers *vs, const struct address_key *name)
{
	struct asker	*a;

	TAILQ_FOREACH(a, &vs->askers, link)
		if (a->name.network == name->network &&
		    a->name.len == name->len)
			return a;
	return NULL;
}

static struct asker *
find_or_add(struct verifiers *vs, const struct address_key *name)
{
	struct asker	*a = find(vs, name);

	if (a != NULL)
		return a;
	a = mem_zero(sizeof(*a));
	a->name = *name;
	TAILQ_INIT(&a->list);
	TAILQ_INSERT_TAIL(&vs->askers, a, link);
	return a;
}

/* It has had its turn. */
static void
take_slot(struct verifiers *vs, struct asker *a)
{
	a->busy++;
	atomic_fetch_add(&vs->busy, 1);
	TAILQ_REMOVE(&vs->askers, a, link);
	TAILQ_INSERT_TAIL(&vs->askers, a, link);
}

static bool
has_slot(const struct verifiers *vs, int64_t own,
    const struct verifiers_room *room)
{
	return atomic_load(&vs->busy) < room->all && own < room->share;
}

static enum verifier_state
judge(const struct verifiers *vs, const struct address_key *name,
    const struct verifiers_room *room)
{
	const struct asker	*a = find(vs, name);
	size_t			 waiting = a != NULL ? a->waiting : 0;

	if (waiting == 0 && has_slot(vs, a != NULL ? a->busy : 0, room))
		return VERIFIER_BEGUN;
	return waiting < vs->most - vs->waiting ? VERIFIER_WAITS :
	    VERIFIER_REFUSED;
}

bool
verifiers_takes(struct verifiers *vs, const struct address_key *name,
    const struct verifiers_room *room)
{
	bool	takes;

	lock_take(vs->lock);
	takes = judge(vs, name, room) != VERIFIER_REFUSED;
	lock_release(vs->lock);
	return takes;
}

enum verifier_state
verifiers_enter(struct verifiers *vs, struct verifier *v,
    const struct address_key *name, const void *home,
    const struct verifiers_room *room)
{
	enum verifier_state	state;

	lock_take(vs->lock);
	state = v->state = judge(vs, name, room);
	v->home = home;
	if (state != VERIFIER_REFUSED)
		v->asker = find_or_add(vs, name);
	if (state == VERIFIER_BEGUN)
		take_slot(vs, v->asker);
	if (state == VERIFIER_WAITS) {
		TAILQ_INSERT_TAIL(&v->asker->list, v, link);
		v->asker->waiting++;
		vs->waiting++;
	}
	lock_release(vs->lock);
	return state;
}

static void
stop_waiting(struct verifiers *vs, struct verifier *v)
{
	TAILQ_REMOVE(&v->asker->list, v, link);
	v->asker->waiting--;
	vs->waiting--;
}

void
verifiers_leave(struct verifiers *vs, struct verifier *v)
{
	struct asker	*a = v->asker;

	lock_take(vs->lock);
	if (v->state == VERIFIER_WAITS)
		stop_waiting(vs, v);
	else {
		need(a->busy > 0);
		a->busy--;
		atomic_fetch_sub(&vs->busy, 1);
	}
	if (v->state == VERIFIER_CALLED)
		TAILQ_REMOVE(&vs->called, v, link);
	if (a->busy == 0 && a->waiting == 0) {
		TAILQ_REMOVE(&vs->askers, a, link);
		free(a);
	}
	lock_release(vs->lock);
}

/* Of the address whose turn it is, the one that has waited for longest. */
static struct verifier *
next(const struct verifiers *vs, const struct verifiers_room *room)
{
	const struct asker	*a;

	TAILQ_FOREACH(a, &vs->askers, link)
		if (a->waiting > 0 && has_slot(vs, a->busy, room))
			return TAILQ_FIRST(&a->list);
	return NULL;
}

bool
verifiers_call(struct verifiers *vs, const struct verifiers_room *room,
    const void **home)
{
	struct verifier	*v;

	lock_take(vs->lock);
	v = next(vs, room);
	if (v != NULL) {
		stop_waiting(vs, v);
		take_slot(vs, v->asker);
		v->state = VERIFIER_CALLED;
		TAILQ_INSERT_TAIL(&vs->called, v, link);
		*home = v->home;
	}
	lock_release(vs->lock);
	return v != NULL;
}

static struct verifier *
find_called(const struct verifiers *vs, const void *home)
{
	struct verifier	*v;

	TAILQ_FOREACH(v, &vs->called, link)
		if (v->home == home)
			break;
	return v;
}

struct verifier *
verifiers_begin(struct verifiers *vs, const void *home)
{
	struct verifier	*v;

	lock_take(vs->lock);
	v = find_called(vs, home);
	if (v != NULL) {
		TAILQ_REMOVE(&vs->called, v, link);
		v->state = VERIFIER_BEGUN;
	}
	lock_release(vs->lock);
	return v;
}

static struct verifier *
find_waiting(const struct verifiers *vs, const void *home)
{
	const struct asker	*a;
	struct verifier		*v;

	TAILQ_FOREACH(a, &vs->askers, link)
		TAILQ_FOREACH(v, &a->list, link)
			if (v->home == home)
				return v;
	return NULL;
}

struct verifier *
verifiers_first(struct verifiers *vs, const void *home)
{
	struct verifier	*v;

	lock_take(vs->lock);
	v = find_called(vs, home);
	if (v == NULL)
		v = find_waiting(vs, home);
	lock_release(vs->lock);
	return v;
}
