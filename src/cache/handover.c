/*
 * handover: a list of descriptors, for caches with a lock.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache/file_private.h"
#include "cache/handover.h"
#include "lib/mem.h"

/* A descriptor that is to be passed on without the lock. */
struct file_deferred {
	STAILQ_ENTRY(file_deferred)	 link;
	int			 fd;
	struct job_range	 range;
};

/* Keeps a descriptor for file_tidy(): closing it may wait, and other threads
 * would wait for the lock. */
static void
defer_close(struct file_cache *fc, int fd, const struct job_range *range)
{
	struct file_deferred	*left;

	if (fc->ndeferred >= fc->deferred_max) {
		close(fd);
		return;
	}
	left = mem_zero(sizeof(*left));
	left->fd = fd;
	left->range = *range;
	STAILQ_INSERT_TAIL(&fc->deferred, left, link);
	fc->ndeferred++;
	fc->schedule_tidy(fc->schedule_context);
}

static void
pass_on(struct file_cache *fc, void *context, int fd,
    const struct job_range *range)
{
	if (fc->close_fd != NULL)
		fc->close_fd(context, fd, range);
	else
		close(fd);
}

void
handover_fd(struct file_cache *fc, int fd, const struct job_range *range)
{
	if (fc->cache.lock != NULL)
		defer_close(fc, fd, range);
	else
		pass_on(fc, fc->close_context, fd, range);
}

bool
handover_gives_back(const struct file *f)
{
	return file_is_transient(f) && !f->handle && !f->made &&
	    f->method != RESIDENT_NEVER;
}

void
handover_range(struct file *f, int64_t offset, uint64_t length)
{
	const struct file_cache	*fc = f->cache;
	struct job_range	 range = { .offset = offset, .length = length };
	int			 fd;

	if (f->open_file == NULL || !handover_gives_back(f))
		return;
	/* The other half is for files that must be closed. */
	if (fc->cache.lock != NULL && fc->ndeferred >= fc->deferred_max / 2)
		return;
	fd = fcntl(file_fd(f), F_DUPFD_CLOEXEC, 0);
	if (fd == -1)
		return;
	range.version = *f->open_file->version;
	handover_fd(f->cache, fd, &range);
}

void
handover_flush(struct file_cache *fc, void *context)
{
	struct file_deferred	*left, *next;

	lock_acquire(fc->cache.lock);
	left = STAILQ_FIRST(&fc->deferred);
	STAILQ_INIT(&fc->deferred);
	fc->ndeferred = 0;
	lock_release(fc->cache.lock);
	for (; left != NULL; left = next) {
		next = STAILQ_NEXT(left, link);
		pass_on(fc, context, left->fd, &left->range);
		free(left);
	}
}
