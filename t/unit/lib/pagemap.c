/*
 * Tests of lib/pagemap: with PAGEMAP_SCAN, and by reading the table.
 */
#include <sys/mman.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/pagemap.h"
#include "t/unit/unit.h"

enum { PAGES = 600 };		/* more than one step of the kernel's scan */

static size_t
bytes(size_t pages)
{
	return pages * pagemap_page_size();
}

static char *
map(void)
{
	char	*at = mmap(NULL, bytes(PAGES), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
#ifdef MADV_NOHUGEPAGE
	madvise(at, bytes(PAGES), MADV_NOHUGEPAGE);
#endif
	return at;
}

static void
check(int pagemap, char *at)
{
	static const size_t	gaps[] = { 0, 1, 299, 598, 599 };
	size_t			gap;

	ck_assert_uint_eq(pagemap_present(pagemap, at, bytes(PAGES)), 0);
	memset(at, 1, bytes(PAGES));
	ck_assert_uint_eq(pagemap_present(pagemap, at, bytes(PAGES)),
	    bytes(PAGES));
	ck_assert_uint_eq(pagemap_present(pagemap, at, bytes(PAGES) - 1),
	    bytes(PAGES) - 1);
	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		gap = gaps[i];
		madvise(at + bytes(gap), bytes(1), MADV_DONTNEED);
		ck_assert_uint_eq(pagemap_present(pagemap, at, bytes(PAGES)),
		    bytes(gap));
		ck_assert_uint_eq(pagemap_present(pagemap, at + bytes(gap), 1),
		    0);
		ck_assert_uint_eq(pagemap_present(pagemap, at, bytes(gap)),
		    bytes(gap));
		ck_assert_uint_eq(pagemap_present(pagemap, at + bytes(gap + 1),
		    bytes(PAGES - gap - 1)), bytes(PAGES - gap - 1));
		at[bytes(gap)] = 1;
	}
}

START_TEST(tells_what_is_there)
{
	char	*at = map();
	int	 pagemap = pagemap_open();

	if (pagemap != -1)
		check(pagemap, at);
	io_close(&pagemap);
	munmap(at, bytes(PAGES));
}
END_TEST

/* A table in a plain file fails the scan, so it is read; from then on the real
 * table is read, too. */
START_TEST(reads_where_it_cannot_ask)
{
	char		 path[] = "/tmp/amped-unit.XXXXXX", *at = map();
	const uint64_t	 there = (uint64_t)1 << 63, gone = there - 1;
	int		 made = mkstemp(path), pagemap = pagemap_open();
	off_t		 first = (off_t)((uintptr_t)at / pagemap_page_size() *
			    sizeof(there));

	ck_assert_int_ne(made, -1);
	unlink(path);
	if (pwrite(made, &there, 8, first) == 8 &&
	    pwrite(made, &gone, 8, first + 8) == 8) {
		ck_assert_uint_eq(pagemap_present(made, at, bytes(1)),
		    bytes(1));
		ck_assert_uint_eq(pagemap_present(made, at, bytes(2)),
		    bytes(1));
		ck_assert_uint_eq(pagemap_present(made, at, bytes(3)), 0);
		if (pagemap != -1)
			check(pagemap, at);
	}
	io_close(&pagemap);
	io_close(&made);
	munmap(at, bytes(PAGES));
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, tells_what_is_there);
	tcase_add_test(tests, reads_where_it_cannot_ask);
}
