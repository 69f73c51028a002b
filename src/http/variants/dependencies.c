/*
 * dependencies: a list of results, the latest first, in buckets.
 */
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>

#include "http/variants/dependencies.h"
#include "lib/buf.h"
#include "lib/lock.h"
#include "lib/mem.h"

#define BUCKETS	1024

struct result {
	uint64_t		 inode;
	struct buf		 names;
	LIST_ENTRY(result)	 link;		/* in its bucket */
	TAILQ_ENTRY(result)	 order;
};

struct dependencies {
	struct lock		*lock;		/* NULL: one loop */
	LIST_HEAD(, result)	 buckets[BUCKETS];
	TAILQ_HEAD(result_list, result) all;	/* the latest first */
	size_t			 n;
};

/* Parses a number and the space behind it; false: there is none. */
static bool
take_number(struct str *line, uint64_t *number)
{
	struct str	word = str_cut(line, ' ');
	char		text[20], *end;

	if (word.len == 0 || word.len >= sizeof(text))
		return false;
	memcpy(text, word.at, word.len);
	text[word.len] = '\0';
	*number = strtoull(text, &end, 16);
	return *end == '\0';
}

/* Parses a line, which keeps the name; false: it is none. */
static bool
take_version(struct str *line, struct job_version *v)
{
	uint64_t	n[7];

	for (size_t i = 0; i < 7; i++)
		if (!take_number(line, &n[i]))
			return false;
	*v = (struct job_version){ .dev = n[0], .ino = n[1],
	    .size = (int64_t)n[2], .mtime = (int64_t)n[3],
	    .ctime = (int64_t)n[4], .mtime_ns = (uint32_t)n[5],
	    .ctime_ns = (uint32_t)n[6] };
	return line->len > 0 && line->at[0] == '/' &&
	    memchr(line->at, '\0', line->len) == NULL;
}

uint64_t
dependencies_sum(struct str lines, uint64_t sum, struct buf *names)
{
	struct job_version	v;
	struct str		line;
	unsigned		n = 0;

	while (lines.len > 0 && n < DEPENDENCIES_FILES_MAX) {
		line = str_cut(&lines, '\n');
		if (!take_version(&line, &v) ||
		    names->len + line.len + 1 > JOB_PATH_MAX / 2)
			continue;
		sum = job_sum_version(sum, &v);
		buf_add(names, line.at, line.len);
		buf_addc(names, '\0');
		n++;
	}
	return sum;
}

struct dependencies *
dependencies_new(bool shared)
{
	struct dependencies	*all = mem_zero(sizeof(*all));

	if (shared)
		all->lock = lock_new();
	TAILQ_INIT(&all->all);
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

void
dependencies_free(struct dependencies **allp)
{
	struct dependencies	*all = *allp;

	while (!TAILQ_EMPTY(&all->all))
		drop_result(all, TAILQ_FIRST(&all->all));
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
