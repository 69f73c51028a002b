/*
 * fs_queues: each queue in order of arrival, and the queues by round robin.
 */
#include <sys/sysmacros.h>

#include <stdio.h>
#include <stdlib.h>

#include "disk/fs_queues.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "shared/mounts.h"
#include "stats/stats.h"

#define ALIASES_MAX	16
/* Ids of queues that are not of one file system. */
#define ID_UNKNOWN	UINT64_MAX	/* device number 0 */
#define ID_HOMES	(UINT64_MAX - 1)
#define ID_VARIANTS	(UINT64_MAX - 2)
#define ID_OFF_MOUNT	(UINT64_MAX - 3)
#define ID_MEMORY	(UINT64_MAX - 4)	/* files without a name */
#define QUEUES_MAX	64		/* more: idle queues are freed */

struct fs_queue {
	struct fs_queues	*all;
	uint64_t		 fs;		/* device number, or ID_... */
	struct task_queue	 tasks;
	size_t			 helpers;	/* working for the queue */
	size_t			 limit;		/* of these */
	bool			 is_special;	/* not of one file system */
	TAILQ_ENTRY(fs_queue)	 link;
};

struct fs_queues {
	struct mounts	*mounts;
	size_t		 limit;		/* helpers of a queue */
	size_t		 tasks_max;	/* of a queue and class */
	size_t		 queued;	/* tasks in all queues */
	TAILQ_HEAD(, fs_queue)	 list;		/* the next to serve first */
	size_t			 count;		/* queues in the list */
	struct fs_queue		*off_mount;	/* tasks that left a mount */
	struct fs_queue		*homes;		/* tasks with a user */
	struct fs_queue		*variants;	/* tasks with a cache_dir */
	/* Device numbers of stat() that the table of mounts does not have, as
	 * btrfs and overlayfs make them. */
	struct {
		uint64_t	 fs;
		struct fs_queue	*fs_queue;
	}			 aliases[ALIASES_MAX];
	unsigned		 naliases;	/* ever learnt */
};

static struct fs_queue *
add_queue(struct fs_queues *all, uint64_t fs, bool is_special)
{
	struct fs_queue	*q = mem_zero(sizeof(*q));

	q->all = all;
	q->fs = fs;
	q->limit = all->limit;
	q->is_special = is_special;
	task_queue_init(&q->tasks, all->tasks_max);
	TAILQ_INSERT_TAIL(&all->list, q, link);
	all->count++;
	return q;
}

/* The empty queue that was served longest ago; NULL: none. */
static struct fs_queue *
find_idle(const struct fs_queues *all)
{
	struct fs_queue	*q;

	TAILQ_FOREACH(q, &all->list, link)
		if (!q->is_special && q->tasks.n == 0 && q->helpers == 0)
			return q;
	return NULL;
}

static void
drop_queue(struct fs_queue *q)
{
	struct fs_queues	*all = q->all;

	for (unsigned i = 0; i < ALIASES_MAX; i++)
		if (all->aliases[i].fs_queue == q)
			all->aliases[i].fs_queue = NULL;
	TAILQ_REMOVE(&all->list, q, link);
	all->count--;
	free(q);
}

/* Frees idle queues first, since automounted file systems come and go. */
static struct fs_queue *
queue_of(struct fs_queues *all, uint64_t fs)
{
	struct fs_queue	*q;

	TAILQ_FOREACH(q, &all->list, link)
		if (q->fs == fs && !q->is_special)
			return q;
	while (all->count >= QUEUES_MAX && (q = find_idle(all)) != NULL)
		drop_queue(q);
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
fs_queues_add_alias(const struct disk_task *t)
{
	const struct job	*job = &t->task->job;
	uint64_t		 fs = job->find.version.dev;
	struct fs_queues	*all = t->fs_queue->all;
	unsigned		 i;

	if (job->kind != JOB_RESOLVE || job->error != 0 ||
	    t->fs_queue == all->homes || t->fs_queue->fs == fs ||
	    mounts_has(all->mounts, fs) || find_alias(all, fs) != NULL)
		return;
	i = all->naliases++ % ALIASES_MAX;
	all->aliases[i].fs = fs;
	all->aliases[i].fs_queue = t->fs_queue;
}

/* The table of mounts precedes the aliases: a new file system may have got the
 * number of an alias. */
static struct fs_queue *
queue_of_device(struct fs_queues *all, uint64_t fs)
{
	struct fs_queue	*q = mounts_has(all->mounts, fs) ? NULL :
			    find_alias(all, fs);

	return q != NULL ? q : queue_of(all, fs);
}

/* Also has the helper stay on the mount that is known.  A path that is a mount
 * point itself may be a file. */
static struct fs_queue *
queue_of_path(struct fs_queues *all, struct job_find *f)
{
	uint64_t	fs;
	size_t		mount_len;
	bool		known;

	fs = mounts_find(all->mounts, f->root, f->path, &known, &mount_len);
	f->same_mount = known &&
	    (mount_len == 0 || f->path[mount_len] != '\0');
	f->mount_len = f->same_mount ? (uint32_t)mount_len : 0;
	return queue_of(all, fs);
}

static struct fs_queue *
queue_of_directory(struct fs_queues *all, const char *directory)
{
	size_t	mount_len;
	bool	known;

	mounts_refresh(all->mounts);
	return queue_of(all, mounts_find(all->mounts, directory, "", &known,
	    &mount_len));
}

/* The first job for a file in a directory is the only one without a device. */
static struct fs_queue *
queue_of_spool(struct fs_queues *all, const struct job_spool *s)
{
	return s->directory != NULL ? queue_of_directory(all, s->directory) :
	    s->device == 0 ? queue_of(all, ID_MEMORY) :
	    queue_of_device(all, s->device);
}

static struct fs_queue *
choose_queue(struct fs_queues *all, struct job *job)
{
	size_t	mount_len;
	bool	known;

	if (job_has_range(job->kind))
		return queue_of_device(all, job->range.version.dev);
	if (job->kind == JOB_SPOOL)
		return queue_of_spool(all, &job->spool);
	if (job->kind == JOB_STORE)
		return queue_of_directory(all, job->store.directory);
	if (job_finds(job->kind) && job->find.user != NULL)
		return all->homes;
	if (job->kind == JOB_COMPRESS && job->compress.cache_dir != NULL)
		return all->variants;
	mounts_refresh(all->mounts);
	if (job_finds(job->kind))
		return queue_of_path(all, &job->find);
	/* A file of the conf, which may be a link to any mount. */
	return queue_of(all, mounts_find(all->mounts, job->verify.file, "",
	    &known, &mount_len));
}

struct disk_task *
fs_queues_add(struct fs_queues *all, struct task *task)
{
	struct fs_queue		*q = choose_queue(all, &task->job);
	struct disk_task	*t = mem_zero(sizeof(*t));

	t->task = task;
	t->fs_queue = q;
	if (!task_queue_add(&q->tasks, t)) {
		fs_queues_end(t);
		return NULL;
	}
	task->record = t;
	all->queued++;
	return t;
}

struct task *
fs_queues_end(struct disk_task *t)
{
	struct task	*task = t->task;

	free(t);
	return task;
}

void
fs_queues_requeue(struct disk_task *t)
{
	task_queue_push_front(&t->fs_queue->tasks, t);
	t->fs_queue->all->queued++;
}

void
fs_queues_reclassify(struct disk_task *t)
{
	struct fs_queues	*all = t->fs_queue->all;
	struct job		*job = &t->task->job;

	job->find.same_mount = false;
	job->find.mount_len = 0;
	job->error = 0;
	t->fs_queue = all->off_mount;
	task_queue_push(&all->off_mount->tasks, t);
	all->queued++;
}

void
fs_queues_remove(struct disk_task *t)
{
	task_queue_remove(&t->fs_queue->tasks, t);
	t->fs_queue->all->queued--;
}

void
fs_queues_promote(struct disk_task *t)
{
	task_queue_promote(&t->fs_queue->tasks, t);
}

struct disk_task *
fs_queues_pop(struct fs_queues *all)
{
	struct fs_queue	*q;

	TAILQ_FOREACH(q, &all->list, link)
		if (q->tasks.n > 0 && q->helpers < q->limit)
			break;
	if (q == NULL)
		return NULL;
	TAILQ_REMOVE(&all->list, q, link);
	TAILQ_INSERT_TAIL(&all->list, q, link);
	all->queued--;
	q->helpers++;
	return task_queue_pop(&q->tasks);
}

void
fs_queues_release(struct fs_queue *q)
{
	need(q->helpers > 0);
	q->helpers--;
}

/* No device has the number of a special queue. */
uint64_t
fs_queues_id(const struct fs_queue *q)
{
	return q->is_special || q->fs != 0 ? q->fs : ID_UNKNOWN;
}

struct fs_queue *
fs_queues_reserve(struct fs_queues *all, uint64_t id)
{
	struct fs_queue	*q;

	TAILQ_FOREACH(q, &all->list, link)
		if (q->is_special && q->fs == id)
			break;
	if (q == NULL)
		q = queue_of(all, id != ID_UNKNOWN ? id : 0);
	q->helpers++;
	return q;
}

struct disk_task *
fs_queues_pop_any(struct fs_queues *all)
{
	struct fs_queue	*q;

	TAILQ_FOREACH(q, &all->list, link)
		if (q->tasks.n > 0)
			break;
	if (q == NULL)
		return NULL;
	all->queued--;
	return task_queue_pop(&q->tasks);
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
	const struct fs_queue	*q;
	size_t			 left, n = 0;

	TAILQ_FOREACH(q, &all->list, link) {
		left = q->helpers < q->limit ? q->limit - q->helpers : 0;
		n += q->tasks.n < left ? q->tasks.n : left;
	}
	return n;
}

/* Writes the device number, or the name of a special queue. */
static void
print_name(const struct fs_queue *q, char *text, size_t size)
{
	const struct fs_queues	*all = q->all;
	const char		*name = q == all->homes ? "homes" :
				    q == all->variants ? "variants" :
				    q == all->off_mount ? "off-mount" :
				    q->fs == ID_MEMORY ? "memory" : "unknown";

	if (q->is_special || q->fs == 0 || q->fs == ID_MEMORY)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "%u:%u", major(q->fs), minor(q->fs));
}

void
fs_queues_measure(const struct fs_queues *all)
{
	const struct fs_queue	*q;
	struct stats_fs_queue	*to;

	stats_nfs_queues = 0;
	TAILQ_FOREACH(q, &all->list, link) {
		if (stats_nfs_queues == STATS_FS_QUEUES_MAX)
			break;
		to = &stats_fs_queues[stats_nfs_queues++];
		print_name(q, to->name, sizeof(to->name));
		to->queued = (int64_t)q->tasks.n;
		to->helpers = (int64_t)q->helpers;
		to->limit = (int64_t)q->limit;
	}
}

void
fs_queues_set_limits(struct fs_queues *all, size_t limit, size_t tasks_max)
{
	struct fs_queue	*q;

	all->limit = limit;
	all->tasks_max = tasks_max;
	TAILQ_FOREACH(q, &all->list, link) {
		q->limit = limit;
		q->tasks.max = tasks_max;
	}
	/* Half a limit: such tasks may be for a file system whose own queue
	 * is at its limit. */
	all->off_mount->limit = (limit + 1) / 2;
}

struct fs_queues *
fs_queues_new(struct mounts *mounts, size_t limit, size_t tasks_max)
{
	struct fs_queues	*all = mem_zero(sizeof(*all));

	all->mounts = mounts;
	all->limit = limit;
	all->tasks_max = tasks_max;
	TAILQ_INIT(&all->list);
	all->homes = add_queue(all, ID_HOMES, true);
	all->variants = add_queue(all, ID_VARIANTS, true);
	all->off_mount = add_queue(all, ID_OFF_MOUNT, true);
	fs_queues_set_limits(all, limit, tasks_max);
	return all;
}

void
fs_queues_free(struct fs_queues **ap)
{
	struct fs_queue	*q;

	need((*ap)->queued == 0);
	while ((q = TAILQ_FIRST(&(*ap)->list)) != NULL)
		drop_queue(q);
	mem_drop(ap);
}
