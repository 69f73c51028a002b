/*
 * verifiers: a list of queues, one for each address that has entries.
 *
 * There are no more queues than entries, so a walk through them is cheap
 * compared with a verification.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "http/limits/verifiers.h"
#include "lib/mem.h"
#include "lib/need.h"

struct client_queue {
	struct address_key		name;
	struct verifier_list		entries;	/* waiting */
	size_t				waiting;
	int64_t				busy;
	TAILQ_ENTRY(client_queue)	link;
};

void
verifiers_init(struct verifiers *vs, size_t waiting_max)
{
	memset(vs, 0, sizeof(*vs));
	TAILQ_INIT(&vs->queues);
	TAILQ_INIT(&vs->assigned);
	vs->waiting_max = waiting_max;
}

void
verifiers_set_max(struct verifiers *vs, size_t waiting_max)
{
	lock_acquire(vs->lock);
	vs->waiting_max = waiting_max;
	lock_release(vs->lock);
}

void
verifiers_free(struct verifiers *vs)
{
	need(TAILQ_EMPTY(&vs->queues) && TAILQ_EMPTY(&vs->assigned));
	lock_free(&vs->lock);
}

static struct client_queue *
find_queue(const struct verifiers *vs, const struct address_key *name)
{
	struct client_queue	*a;

	TAILQ_FOREACH(a, &vs->queues, link)
		if (a->name.network == name->network &&
		    a->name.len == name->len)
			return a;
	return NULL;
}

static struct client_queue *
find_or_add_queue(struct verifiers *vs, const struct address_key *name)
{
	struct client_queue	*a = find_queue(vs, name);

	if (a != NULL)
		return a;
	a = mem_zero(sizeof(*a));
	a->name = *name;
	TAILQ_INIT(&a->entries);
	TAILQ_INSERT_TAIL(&vs->queues, a, link);
	return a;
}

/* Takes a slot for an address, which moves to the end of the list. */
static void
take_slot(struct verifiers *vs, struct client_queue *a)
{
	a->busy++;
	atomic_fetch_add(&vs->busy, 1);
	TAILQ_REMOVE(&vs->queues, a, link);
	TAILQ_INSERT_TAIL(&vs->queues, a, link);
}

static bool
has_slot(const struct verifiers *vs, int64_t own,
    const struct verifiers_limits *limits)
{
	return atomic_load(&vs->busy) < limits->total &&
	    own < limits->per_client;
}

static enum verifier_state
decide_state(const struct verifiers *vs, const struct address_key *name,
    const struct verifiers_limits *limits)
{
	const struct client_queue	*a = find_queue(vs, name);
	size_t				 waiting = a != NULL ? a->waiting : 0;

	if (waiting == 0 && has_slot(vs, a != NULL ? a->busy : 0, limits))
		return VERIFIER_RUNNING;
	return waiting + vs->waiting < vs->waiting_max ? VERIFIER_QUEUED :
	    VERIFIER_REFUSED;
}

bool
verifiers_accepts(struct verifiers *vs, const struct address_key *name,
    const struct verifiers_limits *limits)
{
	bool	takes;

	lock_acquire(vs->lock);
	takes = decide_state(vs, name, limits) != VERIFIER_REFUSED;
	lock_release(vs->lock);
	return takes;
}

enum verifier_state
verifiers_add(struct verifiers *vs, struct verifier_entry *v,
    const struct address_key *name, const void *owner,
    const struct verifiers_limits *limits)
{
	enum verifier_state	state;

	lock_acquire(vs->lock);
	state = v->state = decide_state(vs, name, limits);
	v->owner = owner;
	if (state != VERIFIER_REFUSED)
		v->queue = find_or_add_queue(vs, name);
	if (state == VERIFIER_RUNNING)
		take_slot(vs, v->queue);
	if (state == VERIFIER_QUEUED) {
		TAILQ_INSERT_TAIL(&v->queue->entries, v, link);
		v->queue->waiting++;
		vs->waiting++;
	}
	lock_release(vs->lock);
	return state;
}

static void
unqueue_entry(struct verifiers *vs, struct verifier_entry *v)
{
	TAILQ_REMOVE(&v->queue->entries, v, link);
	v->queue->waiting--;
	vs->waiting--;
}

void
verifiers_remove(struct verifiers *vs, struct verifier_entry *v)
{
	struct client_queue	*a = v->queue;

	lock_acquire(vs->lock);
	if (v->state == VERIFIER_QUEUED)
		unqueue_entry(vs, v);
	else {
		need(a->busy > 0);
		a->busy--;
		atomic_fetch_sub(&vs->busy, 1);
	}
	if (v->state == VERIFIER_ASSIGNED)
		TAILQ_REMOVE(&vs->assigned, v, link);
	if (a->busy == 0 && a->waiting == 0) {
		TAILQ_REMOVE(&vs->queues, a, link);
		free(a);
	}
	lock_release(vs->lock);
}

/* The first entry of the first address that may have a slot. */
static struct verifier_entry *
next_entry(const struct verifiers *vs, const struct verifiers_limits *limits)
{
	const struct client_queue	*a;

	TAILQ_FOREACH(a, &vs->queues, link)
		if (a->waiting > 0 && has_slot(vs, a->busy, limits))
			return TAILQ_FIRST(&a->entries);
	return NULL;
}

bool
verifiers_assign(struct verifiers *vs, const struct verifiers_limits *limits,
    const void **owner)
{
	struct verifier_entry	*v;

	lock_acquire(vs->lock);
	v = next_entry(vs, limits);
	if (v != NULL) {
		unqueue_entry(vs, v);
		take_slot(vs, v->queue);
		v->state = VERIFIER_ASSIGNED;
		TAILQ_INSERT_TAIL(&vs->assigned, v, link);
		*owner = v->owner;
	}
	lock_release(vs->lock);
	return v != NULL;
}

static struct verifier_entry *
find_assigned(const struct verifiers *vs, const void *owner)
{
	struct verifier_entry	*v;

	TAILQ_FOREACH(v, &vs->assigned, link)
		if (v->owner == owner)
			break;
	return v;
}

struct verifier_entry *
verifiers_start_next(struct verifiers *vs, const void *owner)
{
	struct verifier_entry	*v;

	lock_acquire(vs->lock);
	v = find_assigned(vs, owner);
	if (v != NULL) {
		TAILQ_REMOVE(&vs->assigned, v, link);
		v->state = VERIFIER_RUNNING;
	}
	lock_release(vs->lock);
	return v;
}

static struct verifier_entry *
find_waiting(const struct verifiers *vs, const void *owner)
{
	const struct client_queue	*a;
	struct verifier_entry		*v;

	TAILQ_FOREACH(a, &vs->queues, link)
		TAILQ_FOREACH(v, &a->entries, link)
			if (v->owner == owner)
				return v;
	return NULL;
}

struct verifier_entry *
verifiers_first(struct verifiers *vs, const void *owner)
{
	struct verifier_entry	*v;

	lock_acquire(vs->lock);
	v = find_assigned(vs, owner);
	if (v == NULL)
		v = find_waiting(vs, owner);
	lock_release(vs->lock);
	return v;
}
