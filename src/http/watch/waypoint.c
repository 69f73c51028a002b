/*
 * waypoint: keeps waypoints, by the numbers of their directories and by what
 * they lead to.
 */
#include <stdlib.h>
#include <string.h>

#include "helpers/notify.h"
#include "http/watch/waypoint.h"
#include "lib/mem.h"

struct waypoint_list *
waypoint_numbers(const struct waypoints *w, int number)
{
	return &w->by_number[(size_t)number & w->mask];
}

struct waypoint_list *
waypoint_targets(const struct waypoints *w, uint32_t site, unsigned kind,
    struct str target)
{
	return &w->by_target[hash_bytes(&w->key,
	    (uint64_t)site << 2 | kind, target.at, target.len) & w->mask];
}

struct waypoint *
waypoint_find(const struct waypoints *w, uint32_t site, unsigned kind,
    struct str target)
{
	struct waypoint	*p;

	LIST_FOREACH(p, waypoint_targets(w, site, kind, target), by_target)
		if (p->site == site && p->kind == kind &&
		    str_same(waypoint_target(p), target))
			break;
	return p;
}

struct waypoint *
waypoint_find_number(const struct waypoints *w, int number)
{
	struct waypoint	*p;

	LIST_FOREACH(p, waypoint_numbers(w, number), by_number)
		if (p->number == number)
			break;
	return p;
}

void
waypoint_note_event(struct waypoints *w, int number, uint32_t name)
{
	size_t	i = ++w->nevents % WAYPOINT_EVENTS_MAX;

	w->events[i].number = number;
	w->events[i].name = name;
}

/* A lookup that is under way may have found that the directory is watched. */
static void
remove_watch(struct waypoints *w, int number)
{
	waypoint_note_event(w, number, 0);
	w->removed = w->all_changed = w->nevents;
	notify_remove(w->notify, number);
}

static void
set_number(struct waypoints *w, struct waypoint *p, int number)
{
	p->number = number;
	if (number == WAYPOINT_UNWATCHED)
		return;
	w->directories += waypoint_find_number(w, number) == NULL;
	LIST_INSERT_HEAD(waypoint_numbers(w, number), p, by_number);
}

/* Ends the watch of a directory with its last waypoint. */
static void
unset_number(struct waypoints *w, struct waypoint *p)
{
	if (p->number == WAYPOINT_UNWATCHED)
		return;
	LIST_REMOVE(p, by_number);
	if (waypoint_find_number(w, p->number) != NULL)
		return;
	w->directories--;
	remove_watch(w, p->number);
}

static struct waypoint *
add_record(struct waypoints *w, uint32_t site, struct str target,
    const struct job_waypoint *from)
{
	struct waypoint	*p = mem_zero(sizeof(*p) + target.len);

	p->changed_at = INT64_MIN;
	p->site = site;
	p->kind = from->kind;
	p->name = from->name;
	p->len = (uint32_t)target.len;
	memcpy(p->target, target.at, target.len);
	set_number(w, p, from->number);
	LIST_INSERT_HEAD(waypoint_targets(w, site, p->kind, target), p,
	    by_target);
	TAILQ_INSERT_TAIL(&w->active, p, age);
	w->n++;
	return p;
}

void
waypoint_free(struct waypoints *w, struct waypoint *p)
{
	unset_number(w, p);
	LIST_REMOVE(p, by_target);
	TAILQ_REMOVE(&w->leaving, p, age);
	w->n--;
	free(p);
}

static void
set_parent(struct waypoint *p, struct waypoint *parent)
{
	if (p->parent != NULL)
		p->parent->children--;
	p->parent = parent;
	if (parent != NULL)
		parent->children++;
}

void
waypoint_schedule(struct waypoints *w)
{
	if (w->schedule != NULL)
		w->schedule(w->schedule_context);
}

/* Has a waypoint go, after the next pass. */
void
waypoint_leave(struct waypoints *w, struct waypoint *p,
    enum waypoint_state state)
{
	if (p->state == WAYPOINT_ACTIVE) {
		set_parent(p, NULL);
		TAILQ_REMOVE(&w->active, p, age);
		TAILQ_INSERT_TAIL(&w->leaving, p, age);
	}
	p->state = state;
	/* A lookup under way may note its result behind the pass. */
	waypoint_note_event(w, p->number, 0);
	w->all_changed = w->nevents;
	w->again = true;
	waypoint_schedule(w);
}

static void
revive(struct waypoints *w, struct waypoint *p)
{
	if (p->state == WAYPOINT_ACTIVE)
		return;
	p->state = WAYPOINT_ACTIVE;
	TAILQ_REMOVE(&w->leaving, p, age);
	TAILQ_INSERT_TAIL(&w->active, p, age);
}

void
waypoint_touch(struct waypoints *w, struct waypoint *p)
{
	for (; p != NULL; p = p->parent) {
		TAILQ_REMOVE(&w->active, p, age);
		TAILQ_INSERT_TAIL(&w->active, p, age);
	}
}

static struct waypoint *
find_same(const struct waypoints *w, uint32_t site, struct str target,
    const struct job_waypoint *from)
{
	struct waypoint	*p;

	if (from->kind == JOB_WAYPOINT_DIRECTORY)
		return waypoint_find(w, site, from->kind, target);
	LIST_FOREACH(p, waypoint_targets(w, site, from->kind, target),
	    by_target)
		if (p->site == site && p->kind == from->kind &&
		    p->number == from->number && p->name == from->name &&
		    str_same(waypoint_target(p), target))
			break;
	return p;
}

struct waypoint *
waypoint_note(struct waypoints *w, uint32_t site, struct str target,
    const struct job_waypoint *from, struct waypoint *parent)
{
	struct waypoint	*p = find_same(w, site, target, from);

	if (p == NULL)
		p = add_record(w, site, target, from);
	if (p->way == w->ways)		/* a way that crosses itself */
		return parent;
	p->way = w->ways;
	p->doubtful = false;
	revive(w, p);
	if (p->number != from->number) {
		unset_number(w, p);
		set_number(w, p, from->number);
	}
	set_parent(p, parent);
	return p;
}
