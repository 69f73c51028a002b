/*
 * residency: the methods, none of which waits.
 */
#include <sys/mman.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache/file.h"
#include "cache/residency.h"
#include "lib/io.h"
#include "lib/pagemap.h"

/* Values of the conf's residency directive, in its order. */
enum { WANT_AUTO, WANT_FIRST_METHOD };

/* Reading verifies; the bytes are thrown away. */
static char	scratch[64 * 1024];

#define PAGES_MAX	4096	/* of one call: 16 MiB of 4 KiB pages */

static const char *const method_names[] = {
#define X(id, name) [RESIDENT_##id] = name,
	RESIDENT_METHODS(X)
#undef X
};

const char *
residency_name(enum residency_method method)
{
	return method_names[method];
}

/* mincore() tells the truth about a file to its owner only. */
static bool
mincore_works(const struct job_facts *facts)
{
	return geteuid() == facts->uid;
}

enum residency_method
residency_choose(int64_t wanted, const struct file *f,
    const struct job_facts *facts)
{
	if (facts->in_memory)
		return RESIDENT_NEVER;
	if (facts->handle)
		return RESIDENT_COPY;
	switch (wanted == WANT_AUTO ? RESIDENT_NOWAIT :
	    (enum residency_method)(wanted - WANT_FIRST_METHOD)) {
	case RESIDENT_NEVER:
		return RESIDENT_NEVER;
	case RESIDENT_NOWAIT:
		if (io_can_read_nowait(file_fd(f), (off_t)f->version.size))
			return RESIDENT_NOWAIT;
		/* FALLTHROUGH */
	case RESIDENT_MINCORE:
		if (mincore_works(facts))
			return RESIDENT_MINCORE;
		/* FALLTHROUGH */
	default:
		return RESIDENT_PREDICT;
	}
}

static enum residency_result
check_nowait(const struct file *f, off_t offset, size_t len)
{
	ssize_t	n;

	while (len > 0) {
		n = io_read_nowait(file_fd(f), scratch,
		    len < sizeof(scratch) ? len : sizeof(scratch), offset);
		if (n == -1)
			return errno == EAGAIN ? RESIDENT_NO : RESIDENT_GONE;
		if (n == 0)
			return RESIDENT_GONE;
		offset += n;
		len -= (size_t)n;
	}
	return RESIDENT_YES;
}

bool
residency_populate(void *base, size_t len)
{
#ifdef MADV_POPULATE_READ
	/* An older kernel maps the pages when they are first sent. */
	return madvise(base, len, MADV_POPULATE_READ) == 0;
#else
	(void)base;
	(void)len;
	return false;
#endif
}

static enum residency_result
check_mincore(void *base, size_t len)
{
	size_t			 page = pagemap_page_size();
	size_t			 pages = (len + page - 1) / page;
	static unsigned char	 map[PAGES_MAX];

	if (pages > sizeof(map) || mincore(base, len, (void *)map) == -1)
		return RESIDENT_NO;
	for (size_t i = 0; i < pages; i++)
		if ((map[i] & 1) == 0)
			return RESIDENT_NO;
	return RESIDENT_YES;
}

enum residency_result
residency_check(const struct file *f, void *base, off_t offset, size_t len)
{
	switch (f->method) {
	case RESIDENT_NOWAIT:
		return check_nowait(f, offset, len);
	case RESIDENT_MINCORE:
		return check_mincore(base, len);
	case RESIDENT_NEVER:
		return RESIDENT_YES;
	default:
		return RESIDENT_NO;	/* predict: trust_ms is over; copy:
					 * there is none yet */
	}
}

bool
residency_shrunk(const struct file *f)
{
	off_t	last = (off_t)f->version.size - 1;
	char	byte;

	if (f->method == RESIDENT_NOWAIT)
		return io_read_nowait(file_fd(f), &byte, 1, last) == 0;
	return f->method == RESIDENT_NEVER &&
	    pread(file_fd(f), &byte, 1, last) == 0;
}

ssize_t
residency_read(const struct file *f, void *to, off_t offset, size_t len)
{
	ssize_t	n;

	if (f->method == RESIDENT_NOWAIT)
		n = io_read_nowait(file_fd(f), to, len, offset);
	else
		n = pread(file_fd(f), to, len, offset);
	if (n == -1 && errno == EAGAIN)
		return 0;
	return n == 0 ? -1 : n;
}
