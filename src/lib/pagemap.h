/*
 * pagemap: which pages of this process are in memory (/proc/self/pagemap).
 */
#ifndef LIB_PAGEMAP_H
#define LIB_PAGEMAP_H

#include <stddef.h>

/* Opens the page table; -1: the system has none.  Call after user_become(). */
int	pagemap_open(void);
/*
 * Returns how many bytes from base on are in memory without a gap; 0 also where
 * the system does not tell.  The whole range must be mapped.  Takes a few us
 * for a megabyte; for one thread at a time.
 */
size_t	pagemap_present(int pagemap, const void *base, size_t len);

size_t	pagemap_page_size(void);	/* bytes */

#ifdef __linux__

#include <sys/ioctl.h>

#include <stdint.h>

/* PAGEMAP_SCAN of Linux 6.7 (Documentation/admin-guide/mm/pagemap.rst), stated
 * here since the headers may be older than the running system. */
struct pagemap_region {
	uint64_t	start, end;		/* addresses */
	uint64_t	categories;
};

/* Asks for the regions whose pages are in all categories of category_mask, with
 * the sense of category_inverted reversed; returns how many vec holds. */
struct pagemap_scan {
	uint64_t	size;			/* of this struct */
	uint64_t	flags;
	uint64_t	start, end;		/* addresses */
	uint64_t	walk_end;		/* out: end of the scan */
	uint64_t	vec, vec_len;		/* array for the regions */
	uint64_t	max_pages;		/* 0: any number */
	uint64_t	category_inverted;
	uint64_t	category_mask;
	uint64_t	category_anyof_mask;
	uint64_t	return_mask;		/* categories in each region */
};

#define PAGEMAP_PRESENT	(UINT64_C(1) << 3)
#define PAGEMAP_IOC_SCAN	_IOWR('f', 16, struct pagemap_scan)

#endif

#endif
