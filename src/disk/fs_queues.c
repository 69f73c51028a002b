/*
 * fs_queues: first come, first served, and one queue after the other.
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

#define ALIASES_MAX	16
/* Names. */
#define ID_UNKNOWN	UINT64_MAX		/* no number */
#define ID_HOMES	(UINT64_MAX - 1)
#define ID_VARIANTS	(UINT64_MAX - 2)
#define ID_OFF_MOUNT	(UINT64_MAX - 3)
#define QUEUES_MAX	64		/* from then on idle ones are forgotten */

struct fs_queue {
	struct fs_queues		*all;
	uint64_t		 fs;
	struct task_queue		 tasks;
	size_t			 helpers, limit;
	bool			 is_special;	/* of no one file system */
	TAILQ_ENTRY(fs_queue)	 link;
};

struct fs_queues {
	struct mounts		*mounts;
	size_t			 limit, tasks_max;
	size_t			 queued;	/* in all */
	TAILQ_HEAD(, fs_queue)	 list;		/* the next turn's first */
	size_t			 count;		/* of queues */
	struct fs_queue		*off_mount;
	struct fs_queue		*homes;		/* homes: who knows where? */
	struct fs_queue		*variants;		/* between two file systems */
	/* What stat calls file systems that the table calls otherwise, as
	 * btrfs and overlayfs do. */
	struct {
		uint64_t	 fs;
		struct fs_queue	*fs_queue;
	}			 aliases[ALIASES_MAX];
	unsigned		 naliases;
};

static struct fs_queue *
add_queue(struct fs_queues *all, uint64_t fs, bool special)
{
	struct fs_queue	*l = mem_zero(sizeof(*l));

	l->all = all;
	l->fs = fs;
	l->limit = all->limit;
	l->is_special = special;
	task_queue_init(&l->tasks, all->tasks_max);
	TAILQ_INSERT_TAIL(&all->list, l, link);
	all->count++;
	return l;
}

/* The one whose last turn was longest ago, of those that nobody is in. */
static struct fs_queue *
find_idle(const struct fs_queues *all)
{
	struct fs_queue	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (!l->is_special && l->tasks.n == 0 && l->helpers == 0)
			return l;
	return NULL;
}

static void
drop_queue(struct fs_queue *l)
{
	struct fs_queues	*all = l->all;

	for (unsigned i = 0; i < ALIASES_MAX; i++)
		if (all->aliases[i].fs_queue == l)
			all->aliases[i].fs_queue = NULL;
	TAILQ_REMOVE(&all->list, l, link);
	all->count--;
	free(l);
}

/* File systems come and go, automounted ones all the time. */
static struct fs_queue *
queue_of(struct fs_queues *all, uint64_t fs)
{
	struct fs_queue	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->fs == fs && !l->is_special)
			return l;
	while (all->count >= QUEUES_MAX && (l = find_idle(all)) != NULL)
		drop_queue(l);
	return add_queue(all, fs, false);
}

static struct fs_queue *
find_alias(const struct fs_queues *all, uint64_t fs)
{
	for (unsigned i = 0; i < ALIASES_MAX; i++)
		if (all->aliases[i].fs_queue != NULL &&
		    all->aliases[i].fs == fs)
			return all->aliases[i].fs_queue;
	return NULL;
}

void
fs_queues_add_alias(struct fs_queues *all, const struct task *e)
{
	uint64_t	fs = e->job.version.dev;
	unsigned	i;

	if (e->job.kind != JOB_RESOLVE || e->job.error != 0 ||
	    e->fs_queue == all->homes || e->fs_queue->fs == fs ||
	    mounts_has(all->mounts, fs) || find_alias(all, fs) != NULL)
		return;
	i = all->naliases++ % ALIASES_MAX;
	all->aliases[i].fs = fs;
	all->aliases[i].fs_queue = e->fs_queue;
}

/* A number that was another name for one file system may be that of a new one
 * by now. */
static struct fs_queue *
queue_of_device(struct fs_queues *all, uint64_t fs)
{
	struct fs_queue	*l = mounts_has(all->mounts, fs) ? NULL :
			    find_alias(all, fs);

	return l != NULL ? l : queue_of(all, fs);
}

static struct fs_queue *
choose_queue(struct fs_queues *all, struct job *job)
{
	uint64_t	 fs;
	bool		 known;

	if (job->root == NULL)
		return queue_of_device(all, job->version.dev);
	if (job->user != NULL)
		return all->homes;
	if (job->cache_dir != NULL)
		return all->variants;
	mounts_refresh(all->mounts);
	fs = mounts_find(all->mounts, job->root,
	    job->path != NULL ? job->path : "", &known, &job->mount_len);
	/* What has no path is the conf's, which may lead anywhere; what is
	 * itself mounted may be a file, and leads nowhere. */
	job->same_mount = known && job->path != NULL &&
	    (job->mount_len == 0 || job->path[job->mount_len] != '\0');
	return queue_of(all, fs);
}

bool
fs_queues_add(struct fs_queues *all, struct task *e)
{
	struct fs_queue	*l = choose_queue(all, &e->job);

	if (!task_queue_add(&l->tasks, e))
		return false;
	e->fs_queue = l;
	all->queued++;
	return true;
}

void
fs_queues_requeue(struct task *e)
{
	task_queue_push_front(&e->fs_queue->tasks, e);
	e->fs_queue->all->queued++;
}

void
fs_queues_reclassify(struct fs_queues *all, struct task *e)
{
	e->job.same_mount = false;
	e->job.mount_len = 0;
	e->job.error = 0;
	e->fs_queue = all->off_mount;
	task_queue_push(&all->off_mount->tasks, e);
	all->queued++;
}

void
fs_queues_remove(struct task *e)
{
	task_queue_remove(&e->fs_queue->tasks, e);
	e->fs_queue->all->queued--;
}

void
fs_queues_promote(struct task *e)
{
	task_queue_remove(&e->fs_queue->tasks, e);
	e->background = false;
	task_queue_push(&e->fs_queue->tasks, e);
}

struct task *
fs_queues_pop(struct fs_queues *all)
{
	struct fs_queue	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->tasks.n > 0 && l->helpers < l->limit)
			break;
	if (l == NULL)
		return NULL;
	TAILQ_REMOVE(&all->list, l, link);
	TAILQ_INSERT_TAIL(&all->list, l, link);
	all->queued--;
	l->helpers++;
	return task_queue_pop(&l->tasks);
}

void
fs_queues_release(struct fs_queue *l)
{
	need(l->helpers > 0);
	l->helpers--;
}

/* Those that are of no one file system have numbers that none has. */
uint64_t
fs_queues_id(const struct fs_queue *l)
{
	return l->is_special || l->fs != 0 ? l->fs : ID_UNKNOWN;
}

struct fs_queue *
fs_queues_reserve(struct fs_queues *all, uint64_t name)
{
	struct fs_queue	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->is_special && l->fs == name)
			break;
	if (l == NULL)
		l = queue_of(all, name != ID_UNKNOWN ? name : 0);
	l->helpers++;
	return l;
}

struct task *
fs_queues_pop_any(struct fs_queues *all)
{
	struct fs_queue	*l;

	TAILQ_FOREACH(l, &all->list, link)
		if (l->tasks.n > 0)
			break;
	if (l == NULL)
		return NULL;
	all->queued--;
	return task_queue_pop(&l->tasks);
}

size_t
fs_queues_waiting(const struct fs_queues *all)
{
	return all->queued;
}

size_t
fs_queues_count(const struct fs_queues *all)
{
	return all->count;
}

size_t
fs_queues_ready(const struct fs_queues *all)
{
	const struct fs_queue	*l;
	size_t			 left, n = 0;

	TAILQ_FOREACH(l, &all->list, link) {
		left = l->helpers < l->limit ? l->limit - l->helpers : 0;
		n += l->tasks.n < left ? l->tasks.n : left;
	}
	return n;
}

/* As the system numbers it, or what is special. */
static void
print_name(const struct fs_queue *l, char *text, size_t size)
{
	const struct fs_queues	*all = l->all;
	const char		*name = l == all->homes ? "users" :
				    l == all->variants ? "kept" :
				    l == all->off_mount ? "strays" : "unknown";

	if (l->is_special || l->fs == 0)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "%u:%u", major(l->fs), minor(l->fs));
}

void
fs_queues_measure(const struct fs_queues *all)
{
	const struct fs_queue	*l;
	struct stats_fs_queue	*to;

	stats_nfs_queues = 0;
	TAILQ_FOREACH(l, &all->list, link) {
		if (stats_nfs_queues == STATS_FS_QUEUES_MAX)
			break;
		to = &stats_fs_queues[stats_nfs_queues++];
		print_name(l, to->name, sizeof(to->name));
		to->queued = (int64_t)l->tasks.n;
		to->helpers = (int64_t)l->helpers;
		to->limit = (int64_t)l->limit;
	}
}

struct fs_queues *
fs_queues_new(struct mounts *mounts, size_t share, size_t most)
{
	struct fs_queues	*all = mem_zero(sizeof(*all));

	all->mounts = mounts;
	all->limit = share;
	all->tasks_max = most;
	TAILQ_INIT(&all->list);
	all->homes = add_queue(all, ID_HOMES, true);
	all->variants = add_queue(all, ID_VARIANTS, true);
	all->off_mount = add_queue(all, ID_OFF_MOUNT, true);
	/* They may be jobs of one that holds its own share already. */
	all->off_mount->limit = (share + 1) / 2;
	return all;
}

void
fs_queues_free(struct fs_queues **ap)
{
	struct fs_queue	*l;

	need((*ap)->queued == 0);
	while ((l = TAILQ_FIRST(&(*ap)->list)) != NULL)
		drop_queue(l);
	mem_drop(ap);
}
