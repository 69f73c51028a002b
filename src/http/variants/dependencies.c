/*
 * dependencies: a list of results, the latest first, in buckets; and a list of
 * results that are kept until a lookup comes.
 */
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>

#include "http/variants/dependencies.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/lock.h"
#include "lib/mem.h"

#define BUCKETS	1024

struct result {
	uint64_t		 inode;
	struct buf		 names;
	LIST_ENTRY(result)	 link;		/* in its bucket */
	TAILQ_ENTRY(result)	 order;
};

struct kept {
	uint32_t		 namespace;
	struct buf		 name;
	struct dependencies_made made;
	TAILQ_ENTRY(kept)	 order;
};

struct dependencies {
	struct lock		*lock;		/* NULL: one loop */
	TAILQ_HEAD(kept_list, kept) kept;	/* the oldest first */
	size_t			 nkept;
	LIST_HEAD(, result)	 buckets[BUCKETS];
	TAILQ_HEAD(result_list, result) all;	/* the latest first */
	size_t			 n;
};

bool
dependencies_sum(struct str lines, uint64_t *sum, struct buf *names)
{
	struct job_version	v;
	struct str		line;
	unsigned		n = 0;

	for (; lines.len > 0; n++) {
		line = str_cut(&lines, '\n');
		if (n == DEPENDENCIES_FILES_MAX ||
		    !job_take_version(&line, &v) ||
		    names->len + line.len + 1 > JOB_PATH_MAX / 2)
			return false;
		*sum = job_sum_version(*sum, &v);
		buf_add(names, line.at, line.len);
		buf_addc(names, '\0');
	}
	return true;
}

struct dependencies *
dependencies_new(bool shared)
{
	struct dependencies	*all = mem_zero(sizeof(*all));

	if (shared)
		all->lock = lock_new();
	TAILQ_INIT(&all->all);
	TAILQ_INIT(&all->kept);
	return all;
}

static void
drop_result(struct dependencies *all, struct result *n)
{
	LIST_REMOVE(n, link);
	TAILQ_REMOVE(&all->all, n, order);
	buf_free(&n->names);
	free(n);
	all->n--;
}

static void
drop_kept(struct dependencies *all, struct kept *k)
{
	TAILQ_REMOVE(&all->kept, k, order);
	all->nkept--;
	dependencies_drop_made(&k->made);
	buf_free(&k->name);
	free(k);
}

void
dependencies_free(struct dependencies **allp)
{
	struct dependencies	*all = *allp;

	while (!TAILQ_EMPTY(&all->all))
		drop_result(all, TAILQ_FIRST(&all->all));
	while (!TAILQ_EMPTY(&all->kept))
		drop_kept(all, TAILQ_FIRST(&all->kept));
	lock_free(&all->lock);
	mem_drop(allp);
}

static struct result *
find_result(struct dependencies *all, uint64_t inode)
{
	struct result	*n;

	LIST_FOREACH(n, &all->buckets[inode % BUCKETS], link)
		if (n->inode == inode)
			return n;
	return NULL;
}

void
dependencies_add(struct dependencies *all, uint64_t inode, struct str names)
{
	struct result	*n;

	if (names.len == 0)
		return;
	lock_acquire(all->lock);
	n = find_result(all, inode);
	if (n != NULL)
		drop_result(all, n);
	else if (all->n == DEPENDENCIES_MAX)
		drop_result(all, TAILQ_LAST(&all->all, result_list));
	n = mem_zero(sizeof(*n));
	n->inode = inode;
	buf_add(&n->names, names.at, names.len);
	LIST_INSERT_HEAD(&all->buckets[inode % BUCKETS], n, link);
	TAILQ_INSERT_HEAD(&all->all, n, order);
	all->n++;
	lock_release(all->lock);
}

void
dependencies_each(struct dependencies *all, uint64_t inode,
    void (*call)(const char *name, void *context), void *context)
{
	const struct result	*n;

	lock_acquire(all->lock);
	n = find_result(all, inode);
	for (size_t at = 0; n != NULL && at < n->names.len;
	    at += strlen(n->names.at + at) + 1)
		call(n->names.at + at, context);
	lock_release(all->lock);
}

/*
 * Results that are kept
 */

void
dependencies_drop_made(struct dependencies_made *made)
{
	io_close(&made->fd);
	buf_free(&made->notes);
	buf_free(&made->key);
}

static struct kept *
find_kept(struct dependencies *all, uint32_t namespace, struct str name)
{
	struct kept	*k;

	TAILQ_FOREACH(k, &all->kept, order)
		if (k->namespace == namespace && str_same(name,
		    (struct str){ k->name.at, k->name.len }))
			break;
	return k;
}

void
dependencies_keep(struct dependencies *all, uint32_t namespace,
    struct str name, struct dependencies_made *made)
{
	struct kept	*k;

	lock_acquire(all->lock);
	k = find_kept(all, namespace, name);
	if (k == NULL && all->nkept == DEPENDENCIES_MADE_MAX)
		k = TAILQ_FIRST(&all->kept);
	if (k != NULL)
		drop_kept(all, k);
	k = mem_zero(sizeof(*k));
	k->namespace = namespace;
	buf_add(&k->name, name.at, name.len);
	k->made = *made;
	TAILQ_INSERT_TAIL(&all->kept, k, order);
	all->nkept++;
	lock_release(all->lock);
	*made = (struct dependencies_made){ .fd = -1 };
}

uint64_t
dependencies_kept(struct dependencies *all, uint32_t namespace,
    struct str name)
{
	const struct kept	*k;
	uint64_t		 inode;

	lock_acquire(all->lock);
	k = find_kept(all, namespace, name);
	inode = k != NULL ? k->made.version.ino : 0;
	lock_release(all->lock);
	return inode;
}

static bool
is_current(const struct dependencies_made *made,
    const struct job_version *found)
{
	return !made->too_much &&
	    memcmp(&made->version, found, sizeof(*found)) == 0;
}

bool
dependencies_take(struct dependencies *all, uint32_t namespace,
    struct str name, const struct job_version *found, uint64_t noted,
    struct dependencies_made *made)
{
	struct kept	*k;
	bool		 takes;

	lock_acquire(all->lock);
	k = find_kept(all, namespace, name);
	takes = k != NULL && (k->made.version.ino == noted ||
	    is_current(&k->made, found));
	if (takes) {
		*made = k->made;
		made->is_current = is_current(made, found);
		k->made = (struct dependencies_made){ .fd = -1 };
		drop_kept(all, k);
	}
	lock_release(all->lock);
	return takes;
}
