/*
 * waypoint: keeps waypoints, by what they lead to and in the order of age.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/pathname.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/watch/directory.h"
#include "http/watch/waypoint.h"
#include "lib/clock.h"
#include "lib/mem.h"

const void *
waypoint_root(const struct path *path)
{
	const struct conf_rules		*rules = path->rules;
	const struct conf_program	*program;

	program = rules_directory_program(rules);
	return program != NULL ? (const void *)program : rules->action;
}

struct waypoint_list *
waypoint_targets(const struct waypoints *w, const void *root, unsigned kind,
    struct str target)
{
	return &w->by_target[hash_bytes(&w->key,
	    (uint64_t)(uintptr_t)root + kind, target.at, target.len) & w->mask];
}

struct waypoint *
waypoint_find(const struct waypoints *w, const void *root, unsigned kind,
    struct str target)
{
	struct waypoint	*p;

	LIST_FOREACH(p, waypoint_targets(w, root, kind, target), by_target)
		if (p->root == root && p->kind == kind &&
		    str_same(waypoint_target(p), target))
			break;
	return p;
}

static struct waypoint *
add_record(struct waypoints *w, const struct path *path, struct str target,
    const struct job_waypoint *from, bool absent)
{
	struct waypoint	*p = mem_zero(sizeof(*p) + target.len);

	p->changed_at = INT64_MIN;
	p->root = waypoint_root(path);
	p->site = namespace_site(path->namespace);
	p->kind = from->kind;
	p->name = from->name;
	p->absent = absent;
	p->len = (uint32_t)target.len;
	memcpy(p->target, target.at, target.len);
	LIST_INIT(&p->children);
	p->since = w->nevents;
	directory_add(w, from->number, p);
	LIST_INSERT_HEAD(waypoint_targets(w, p->root, p->kind, target), p,
	    by_target);
	TAILQ_INSERT_TAIL(&w->active, p, age);
	w->n++;
	w->bytes += sizeof(*p) + p->len;
	return p;
}

void
waypoint_free(struct waypoints *w, struct waypoint *p)
{
	directory_remove(w, p);
	LIST_REMOVE(p, by_target);
	TAILQ_REMOVE(&w->leaving, p, age);
	w->n--;
	w->bytes -= sizeof(*p) + p->len;
	free(p);
}

static void
set_parent(struct waypoint *p, struct waypoint *parent)
{
	if (p->parent != NULL)
		LIST_REMOVE(p, siblings);
	p->parent = parent;
	if (parent != NULL)
		LIST_INSERT_HEAD(&parent->children, p, siblings);
}

void
waypoint_schedule(struct waypoints *w)
{
	if (w->schedule != NULL)
		w->schedule(w->schedule_context);
}

/* By the exact time: the clocks of other threads must not be ahead of it. */
static void
note_time(struct waypoints *w)
{
	if (w->change.event == w->nevents)
		return;
	w->change.event = w->nevents;
	w->change.at = clock_us() / 1000;
	waypoint_schedule(w);
}

void
waypoint_change(struct waypoints *w, struct waypoint *p)
{
	note_time(w);
	p->changed_at = w->change.at;
	w->changed = w->again = true;
	w->hidden = w->nevents;
}

static void
leave_alone(struct waypoints *w, struct waypoint *p, enum waypoint_state state)
{
	if (p->state == WAYPOINT_ACTIVE) {
		set_parent(p, NULL);
		TAILQ_REMOVE(&w->active, p, age);
		TAILQ_INSERT_TAIL(&w->leaving, p, age);
	}
	p->state = state;
	p->left_in = w->pass.number;
	if (state == WAYPOINT_CHANGED)
		waypoint_change(w, p);
	/* A lookup under way may note its result behind the pass. */
	if (p->directory != NULL)
		*directory_way_mark(w, p->directory->number) = w->nevents;
	w->again = true;
}

void
waypoint_leave_children(struct waypoints *w, struct waypoint *p,
    enum waypoint_state state)
{
	struct waypoint	*q;

	/* One without children leaves, and is its parent's child no more. */
	while (!LIST_EMPTY(&p->children)) {
		for (q = p; !LIST_EMPTY(&q->children);)
			q = LIST_FIRST(&q->children);
		leave_alone(w, q, state);
	}
}

void
waypoint_leave(struct waypoints *w, struct waypoint *p,
    enum waypoint_state state)
{
	waypoint_leave_children(w, p, state);
	leave_alone(w, p, state);
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

static int
get_number(const struct waypoint *p)
{
	return p->directory != NULL ? p->directory->number :
	    WAYPOINT_UNWATCHED;
}

static struct waypoint *
find_same(const struct waypoints *w, const void *root, struct str target,
    const struct job_waypoint *from)
{
	struct waypoint	*p;

	if (from->kind == JOB_WAYPOINT_DIRECTORY)
		return waypoint_find(w, root, from->kind, target);
	LIST_FOREACH(p, directory_entries(w, from->number, from->name),
	    by_entry)
		if (p->directory->number == from->number &&
		    p->name == from->name && p->root == root &&
		    p->kind == from->kind &&
		    str_same(waypoint_target(p), target))
			break;
	return p;
}

static void
change_directory(struct waypoints *w, struct waypoint *p)
{
	w->nevents++;
	waypoint_change(w, p);
	waypoint_leave_children(w, p, WAYPOINT_CHANGED);
}

struct waypoint *
waypoint_note(struct waypoints *w, const struct path *path, struct str target,
    const struct job_waypoint *from, struct waypoint *parent, bool absent)
{
	struct waypoint	*p = find_same(w, waypoint_root(path),
			    target, from);

	if (p == NULL)
		p = add_record(w, path, target, from, absent);
	if (p->way == w->ways)		/* a way that crosses itself */
		return parent;
	p->way = w->ways;
	if (p->doubtful || p->state != WAYPOINT_ACTIVE)
		p->since = w->nevents;
	p->doubtful = false;
	revive(w, p);
	if (get_number(p) != from->number) {
		/* The event of that is on its way. */
		if (p->directory != NULL)
			change_directory(w, p);
		p->since = w->nevents;
		directory_remove(w, p);
		directory_add(w, from->number, p);
	}
	set_parent(p, parent);
	return p;
}
