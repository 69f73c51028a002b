/*
 * pagemap: what of a process's memory is there, as its table of pages says.
 */
#ifndef LIB_PAGEMAP_H
#define LIB_PAGEMAP_H

#include <stddef.h>

/* A descriptor of the table, or -1: there is none.  After user_become(). */
int	pagemap_open(void);
/*
 * Bytes from the beginning of a range that have pages right now; a few us for
 * a megabyte.  All of it must be mapped.  0 also means that it cannot be told.
 * For one thread at a time.
 */
size_t	pagemap_present(int pagemap, const void *base, size_t len);

/* A page, in bytes. */
size_t	pagemap_page_size(void);

#ifdef __linux__

#include <sys/ioctl.h>

#include <stdint.h>

/* What Linux answers since 6.7 (pagemap.rst of its documentation); its headers
 * may be older than the system that we run on. */
struct pagemap_region {
	uint64_t	start, end;		/* addresses */
	uint64_t	categories;
};

/* Asks for regions whose pages are in all categories of a mask, but not in
 * those of it that are inverted; the answer is how many there are in vec. */
struct pagemap_scan {
	uint64_t	size;			/* of this */
	uint64_t	flags;
	uint64_t	start, end;		/* addresses */
	uint64_t	walk_end;		/* out: it has come so far */
	uint64_t	vec, vec_len;		/* where regions go */
	uint64_t	max_pages;		/* 0: any number */
	uint64_t	category_inverted;
	uint64_t	category_mask;
	uint64_t	category_anyof_mask;
	uint64_t	return_mask;		/* to be told of each region */
};

#define PAGEMAP_PRESENT	(UINT64_C(1) << 3)
#define PAGEMAP_IOC_SCAN	_IOWR('f', 16, struct pagemap_scan)

#endif

#endif
