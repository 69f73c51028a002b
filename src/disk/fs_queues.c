/*
 * fs_queues: first come, first served, and one lane after the other.
 */
#include <sys/sysmacros.h>

#include <stdio.h>
#include <stdlib.h>

#include "disk/fs_queues.h"
#include "disk/task_queue.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "shared/mounts.h"
#include "stats/stats.h"

#define ALIASES	16
/* Names. */
#define UNKNOWN	UINT64_MAX		/* no number */
#define USERS	(UINT64_MAX - 1)
#define KEEPS	(UINT64_MAX - 2)
#define STRAYS	(UINT64_MAX - 3)
#define LANES	64		/* from then on idle ones are forgotten */

struct lane {
	struct lanes		*all;
	uint64_t		 fs;
	struct backlog		 backlog;
	size_t			 held, share;
	bool			 special;	/* of no one file system */
	TAILQ_ENTRY(lane)	 link;
};

struct lanes {
	struct mounts		*mounts;
	size_t			 share, most;
	size_t			 queued;	/* in all */
	TAILQ_HEAD(, lane)	 list;		/* the next turn's first */
	size_t			 count;		/* of lanes */
	struct lane		*strays;
	struct lane		*users;		/* homes: who knows where? */
	struct lane		*keeps;		/* between two file systems */
	/* What stat calls file systems that the table calls otherwise, as
	 * btrfs and overlayfs do. */
	struct {
		uint64_t	 fs;
		struct lane	*lane;
	}			 aliases[ALIASES];
	unsigned		 learnt;
};

static struct lane *
lane_new(struct lanes *all, uint64_t fs, bool special)
{
	struct lane	*l = mem_zero(sizeof(*l));

	l->all = all;
	l->fs = fs;
	l->share = all->share;
	l->special = special;
	backlog_init(&l->backlog, all->most);
	TAILQ_INSERT_TAIL(&all->list, l, link);
	all->count++;
	return l;
}

/* The one whose last turn was longest ago, of those that nobody is in. */
static struct lane *
idle(const struct lanes *all)
{
	struct lane	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (!l->special && l->backlog.n == 0 && l->held == 0)
			return l;
	return NULL;
}

static void
forget(struct lane *l)
{
	struct lanes	*all = l->all;

	for (unsigned i = 0; i < ALIASES; i++)
		if (all->aliases[i].lane == l)
			all->aliases[i].lane = NULL;
	TAILQ_REMOVE(&all->list, l, link);
	all->count--;
	free(l);
}

/* File systems come and go, automounted ones all the time. */
static struct lane *
lane_of(struct lanes *all, uint64_t fs)
{
	struct lane	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->fs == fs && !l->special)
			return l;
	while (all->count >= LANES && (l = idle(all)) != NULL)
		forget(l);
	return lane_new(all, fs, false);
}

static struct lane *
alias(const struct lanes *all, uint64_t fs)
{
	for (unsigned i = 0; i < ALIASES; i++)
		if (all->aliases[i].lane != NULL && all->aliases[i].fs == fs)
			return all->aliases[i].lane;
	return NULL;
}

void
lanes_learn(struct lanes *all, const struct task *e)
{
	uint64_t	fs = e->job.version.dev;
	unsigned	i;

	if (e->job.kind != JOB_RESOLVE || e->job.error != 0 ||
	    e->lane == all->users || e->lane->fs == fs ||
	    mounts_has(all->mounts, fs) || alias(all, fs) != NULL)
		return;
	i = all->learnt++ % ALIASES;
	all->aliases[i].fs = fs;
	all->aliases[i].lane = e->lane;
}

/* A number that was another name for one file system may be that of a new one
 * by now. */
static struct lane *
lane_by_number(struct lanes *all, uint64_t fs)
{
	struct lane	*l = mounts_has(all->mounts, fs) ? NULL :
			    alias(all, fs);

	return l != NULL ? l : lane_of(all, fs);
}

static struct lane *
choose(struct lanes *all, struct job *job)
{
	uint64_t	 fs;
	bool		 known;

	if (job->root == NULL)
		return lane_by_number(all, job->version.dev);
	if (job->user != NULL)
		return all->users;
	if (job->keep != NULL)
		return all->keeps;
	mounts_refresh(all->mounts);
	fs = mounts_find(all->mounts, job->root,
	    job->path != NULL ? job->path : "", &known, &job->enter);
	/* What has no path is the conf's, which may lead anywhere; what is
	 * itself mounted may be a file, and leads nowhere. */
	job->stay = known && job->path != NULL &&
	    (job->enter == 0 || job->path[job->enter] != '\0');
	return lane_of(all, fs);
}

bool
lanes_add(struct lanes *all, struct task *e)
{
	struct lane	*l = choose(all, &e->job);

	if (!backlog_add(&l->backlog, e))
		return false;
	e->lane = l;
	all->queued++;
	return true;
}

void
lanes_again(struct task *e)
{
	backlog_put_first(&e->lane->backlog, e);
	e->lane->all->queued++;
}

void
lanes_stray(struct lanes *all, struct task *e)
{
	e->job.stay = false;
	e->job.enter = 0;
	e->job.error = 0;
	e->lane = all->strays;
	backlog_put(&all->strays->backlog, e);
	all->queued++;
}

void
lanes_remove(struct task *e)
{
	backlog_remove(&e->lane->backlog, e);
	e->lane->all->queued--;
}

void
lanes_hurry(struct task *e)
{
	backlog_remove(&e->lane->backlog, e);
	e->background = false;
	backlog_put(&e->lane->backlog, e);
}

struct task *
lanes_next(struct lanes *all)
{
	struct lane	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->backlog.n > 0 && l->held < l->share)
			break;
	if (l == NULL)
		return NULL;
	TAILQ_REMOVE(&all->list, l, link);
	TAILQ_INSERT_TAIL(&all->list, l, link);
	all->queued--;
	l->held++;
	return backlog_next(&l->backlog);
}

void
lanes_release(struct lane *l)
{
	need(l->held > 0);
	l->held--;
}

/* Those that are of no one file system have numbers that none has. */
uint64_t
lanes_name(const struct lane *l)
{
	return l->special || l->fs != 0 ? l->fs : UNKNOWN;
}

struct lane *
lanes_hold(struct lanes *all, uint64_t name)
{
	struct lane	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->special && l->fs == name)
			break;
	if (l == NULL)
		l = lane_of(all, name != UNKNOWN ? name : 0);
	l->held++;
	return l;
}

struct task *
lanes_any(struct lanes *all)
{
	struct lane	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->backlog.n > 0)
			break;
	if (l == NULL)
		return NULL;
	all->queued--;
	return backlog_next(&l->backlog);
}

size_t
lanes_waiting(const struct lanes *all)
{
	return all->queued;
}

size_t
lanes_count(const struct lanes *all)
{
	return all->count;
}

size_t
lanes_ready(const struct lanes *all)
{
	const struct lane	*l;
	size_t			 left, n = 0;

	TAILQ_FOREACH(l, &all->list, link) {
		left = l->held < l->share ? l->share - l->held : 0;
		n += l->backlog.n < left ? l->backlog.n : left;
	}
	return n;
}

/* As the system numbers it, or what is special. */
static void
print_name(const struct lane *l, char *text, size_t size)
{
	const struct lanes	*all = l->all;
	const char		*name = l == all->users ? "users" :
				    l == all->keeps ? "kept" :
				    l == all->strays ? "strays" : "unknown";

	if (l->special || l->fs == 0)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "%u:%u", major(l->fs), minor(l->fs));
}

void
lanes_measure(const struct lanes *all)
{
	const struct lane	*l;
	struct stats_lane	*to;

	stats_nlanes = 0;
	TAILQ_FOREACH(l, &all->list, link) {
		if (stats_nlanes == STATS_LANES)
			break;
		to = &stats_lanes[stats_nlanes++];
		print_name(l, to->name, sizeof(to->name));
		to->queued = (int64_t)l->backlog.n;
		to->held = (int64_t)l->held;
		to->share = (int64_t)l->share;
	}
}

struct lanes *
lanes_new(struct mounts *mounts, size_t share, size_t most)
{
	struct lanes	*all = mem_zero(sizeof(*all));

	all->mounts = mounts;
	all->share = share;
	all->most = most;
	TAILQ_INIT(&all->list);
	all->users = lane_new(all, USERS, true);
	all->keeps = lane_new(all, KEEPS, true);
	all->strays = lane_new(all, STRAYS, true);
	/* They may be jobs of one that holds its own share already. */
	all->strays->share = (share + 1) / 2;
	return all;
}

void
lanes_free(struct lanes **ap)
{
	struct lane	*l;

	need((*ap)->queued == 0);
	while ((l = TAILQ_FIRST(&(*ap)->list)) != NULL)
		forget(l);
	mem_drop(ap);
}
