/*
 * directory: keeps directories by their numbers, and ends their watches.
 */
#include <stdlib.h>

#include "helpers/notify.h"
#include "http/watch/directory.h"
#include "http/watch/waypoint.h"
#include "lib/mem.h"

static struct directory_list *
get_bucket(const struct waypoints *w, int number)
{
	return &w->by_number[(size_t)number & w->mask];
}

struct waypoint_list *
directory_entries(const struct waypoints *w, int number, uint32_t name)
{
	return &w->by_entry[hash_bytes(&w->key, (uint64_t)number, &name,
	    sizeof(name)) & w->mask];
}

struct directory *
directory_find(const struct waypoints *w, int number)
{
	struct directory	*d;

	LIST_FOREACH(d, get_bucket(w, number), link)
		if (d->number == number)
			break;
	return d;
}

struct directory *
directory_hear(struct waypoints *w, int number)
{
	struct directory	*d = directory_find(w, number);

	if (d != NULL)
		return d;
	d = mem_zero(sizeof(*d));
	d->number = number;
	d->heard_at = w->nevents;
	LIST_INIT(&d->waypoints);
	LIST_INSERT_HEAD(get_bucket(w, number), d, link);
	TAILQ_INSERT_TAIL(&w->unknown, d, unknown);
	w->directories++;
	return d;
}

/* A lookup under way may have been told that the directory is watched. */
void
directory_end(struct waypoints *w, struct directory *d)
{
	*directory_end_mark(w, d->number) = ++w->nevents;
	notify_remove(w->notify, d->number);
	TAILQ_REMOVE(&w->unknown, d, unknown);
	LIST_REMOVE(d, link);
	w->directories--;
	free(d);
}

void
directory_end_unknown(struct waypoints *w)
{
	const struct watching	*oldest = TAILQ_FIRST(&w->lookups);
	struct directory	*d;

	while ((d = TAILQ_FIRST(&w->unknown)) != NULL &&
	    (oldest == NULL || d->heard_at <= oldest->since))
		directory_end(w, d);
}

void
directory_add(struct waypoints *w, int number, struct waypoint *p)
{
	struct directory	*d;

	if (number == WAYPOINT_UNWATCHED)
		return;
	d = directory_hear(w, number);
	if (LIST_EMPTY(&d->waypoints))
		TAILQ_REMOVE(&w->unknown, d, unknown);
	d->absences += p->absent;
	p->directory = d;
	LIST_INSERT_HEAD(&d->waypoints, p, in_directory);
	LIST_INSERT_HEAD(directory_entries(w, number, p->name), p, by_entry);
}

void
directory_remove(struct waypoints *w, struct waypoint *p)
{
	struct directory	*d = p->directory;

	if (d == NULL)
		return;
	p->directory = NULL;
	d->absences -= p->absent;
	LIST_REMOVE(p, in_directory);
	LIST_REMOVE(p, by_entry);
	if (!LIST_EMPTY(&d->waypoints))
		return;
	TAILQ_INSERT_TAIL(&w->unknown, d, unknown);
	directory_end(w, d);
}
