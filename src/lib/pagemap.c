/*
 * pagemap: by the question for it, or by reading the table's entries.
 */
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "lib/pagemap.h"

#define PRESENT		((uint64_t)1 << 63)	/* an entry of it */
#define PAGES		4096			/* read at once */

/* Who has changed its user is hidden from that user, and from itself.  Opened
 * before the change the table would also tell where in memory the pages are. */
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
pagemap_page(void)
{
	static size_t	size;

	if (size == 0)
		size = (size_t)sysconf(_SC_PAGESIZE);
	return size;
}

#ifdef __linux__

/* For the first page that is not there: the number of such regions, or -1. */
static int
ask(int pagemap, const void *base, size_t pages)
{
	struct pagemap_region	absent;
	struct pagemap_question	question = {
		.size = sizeof(question),
		.start = (uintptr_t)base,
		.end = (uintptr_t)base + pages * pagemap_page(),
		.vec = (uintptr_t)&absent,
		.vec_len = 1,
		.max_pages = 1,
		.category_inverted = PAGEMAP_PRESENT,
		.category_mask = PAGEMAP_PRESENT,
		.return_mask = PAGEMAP_PRESENT,
	};

	return ioctl(pagemap, PAGEMAP_ASK, &question);
}

#else

static int
ask(int pagemap, const void *base, size_t pages)
{
	(void)pagemap;
	(void)base;
	(void)pages;
	return -1;
}

#endif

/* An entry goes before the page does. */
static bool
read_present(int pagemap, const void *base, size_t pages)
{
	static uint64_t	entries[PAGES];
	size_t		size = pages * sizeof(entries[0]);
	off_t		first = (off_t)((uintptr_t)base / pagemap_page());

	if (pages > PAGES || pread(pagemap, entries, size,
	    first * (off_t)sizeof(entries[0])) != (ssize_t)size)
		return false;
	for (size_t i = 0; i < pages; i++)
		if ((entries[i] & PRESENT) == 0)
			return false;
	return true;
}

bool
pagemap_present(int pagemap, const void *base, size_t len)
{
	static bool	cannot;		/* be asked */
	size_t		pages = (len + pagemap_page() - 1) / pagemap_page();
	int		n = cannot ? -1 : ask(pagemap, base, pages);

	if (n != -1)
		return n == 0;
	cannot = true;
	return read_present(pagemap, base, pages);
}
