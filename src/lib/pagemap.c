/*
 * pagemap: asks with PAGEMAP_SCAN, or reads the table's entries.
 */
#include <sys/param.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "lib/pagemap.h"

#define ENTRY_PRESENT	((uint64_t)1 << 63)	/* a bit of an entry */
#define ENTRIES_MAX	4096			/* in one read */

/* A process that has changed its user is not dumpable, and may not open its own
 * /proc files.  Opened before the change, the table would show the physical
 * addresses too. */
int
pagemap_open(void)
{
	int	fd = -1;

#ifdef __linux__
	int	hidden = prctl(PR_GET_DUMPABLE) != 1;

	if (hidden)
		prctl(PR_SET_DUMPABLE, 1);
	fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (hidden)
		prctl(PR_SET_DUMPABLE, 0);
#endif
	return fd;
}

size_t
pagemap_page_size(void)
{
	static size_t	size;

	if (size == 0)
		size = (size_t)sysconf(_SC_PAGESIZE);
	return size;
}

#ifdef __linux__

/* Returns the number of pages before the first absent one, or -1.  Not by the C
 * library's ioctl(): some libraries extend the request from an int, by its
 * sign, and the filter of syscall_filter.c compares all 64 bits. */
static ssize_t
scan_pages(int pagemap, const void *base, size_t pages)
{
	struct pagemap_region	absent;
	struct pagemap_scan	scan = {
		.size = sizeof(scan),
		.start = (uintptr_t)base,
		.end = (uintptr_t)base + pages * pagemap_page_size(),
		.vec = (uintptr_t)&absent,
		.vec_len = 1,
		.max_pages = 1,
		.category_inverted = PAGEMAP_PRESENT,
		.category_mask = PAGEMAP_PRESENT,
		.return_mask = PAGEMAP_PRESENT,
	};
	long			n;

	absent.start = scan.end;
	n = syscall(SYS_ioctl, pagemap, (unsigned long)PAGEMAP_IOC_SCAN, &scan);
	return n == -1 ? -1 : (ssize_t)((absent.start - scan.start) /
	    pagemap_page_size());
}

#else

static ssize_t
scan_pages(int pagemap, const void *base, size_t pages)
{
	(void)pagemap;
	(void)base;
	(void)pages;
	return -1;
}

#endif

/* The system clears an entry before it frees the page. */
static ssize_t
count_entries(int pagemap, const void *base, size_t pages)
{
	static uint64_t	entries[ENTRIES_MAX];
	size_t		size = MIN(pages, ENTRIES_MAX) * sizeof(entries[0]);
	off_t		first = (off_t)((uintptr_t)base / pagemap_page_size());
	ssize_t		n = 0;

	if (pread(pagemap, entries, size,
	    first * (off_t)sizeof(entries[0])) != (ssize_t)size)
		return 0;
	while ((size_t)n * sizeof(entries[0]) < size &&
	    (entries[n] & ENTRY_PRESENT) != 0)
		n++;
	return n;
}

size_t
pagemap_present(int pagemap, const void *base, size_t len)
{
	static bool	cannot;		/* the system has no PAGEMAP_SCAN */
	size_t		page = pagemap_page_size();
	size_t		pages = (len + page - 1) / page;
	ssize_t		n = cannot ? -1 : scan_pages(pagemap, base, pages);

	cannot = n == -1;
	if (cannot)
		n = count_entries(pagemap, base, pages);
	return MIN((size_t)n * pagemap_page_size(), len);
}
