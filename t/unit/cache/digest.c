/*
 * Tests of cache/digest: slices in their order, and versions that follow.
 */
#include <errno.h>
#include <fcntl.h>

#include "cache/digest.h"
#include "t/unit/cache/files.h"

static struct job_version	version = { .ino = 1 };

static struct file *
make_file(void)
{
	struct job_facts	facts = { .mode = S_IFREG | 0644 };

	return file_new_with_digest(&files, open("/dev/null", O_RDONLY),
	    &version, &facts);
}

static void
begin(void)
{
	version.size = 2 * DIGEST_SLICE + 10;
	caches(1000 * KIB, RESIDENCY_NEVER);
}

START_TEST(slices)
{
	static const struct {
		int64_t		offset;
		uint64_t	length;
	} wanted[] = {
		{ 0, DIGEST_SLICE }, { DIGEST_SLICE, DIGEST_SLICE },
		{ 2 * DIGEST_SLICE, 10 }
	};
	struct file	*f = make_file();
	uint64_t	 length;

	for (uint64_t i = 0; i < 3; i++) {
		ck_assert(!digest_is_known(f));
		ck_assert_int_eq(digest_next(f, &length), wanted[i].offset);
		ck_assert_uint_eq(length, wanted[i].length);
		digest_add(f, wanted[i].offset, 100 + i);
		/* Another thread has read the same slice. */
		digest_add(f, wanted[i].offset, 100 + i);
	}
	ck_assert(digest_is_known(f));
	file_drop(&f);
}
END_TEST

static uint64_t
digest_of(uint64_t first, uint64_t second, uint64_t third)
{
	struct file	*f = make_file();
	uint64_t	 digest;

	digest_add(f, 0, first);
	digest_add(f, DIGEST_SLICE, second);
	digest_add(f, 2 * DIGEST_SLICE, third);
	digest = digest_get(f);
	file_drop(&f);
	return digest;
}

START_TEST(all_slices_count)
{
	uint64_t	digest = digest_of(1, 2, 3);

	ck_assert_uint_eq(digest, digest_of(1, 2, 3));
	ck_assert_uint_ne(digest, digest_of(1, 2, 4));
	ck_assert_uint_ne(digest, digest_of(4, 2, 3));
	ck_assert_uint_ne(digest, digest_of(2, 1, 3));
}
END_TEST

START_TEST(inherited)
{
	struct file	*old = make_file(), *f = make_file();

	digest_inherit(f, old);
	ck_assert(!digest_is_known(f));
	digest_add(old, 0, 1);
	digest_add(old, DIGEST_SLICE, 2);
	digest_inherit(f, old);
	ck_assert(!digest_is_known(f));
	digest_add(old, 2 * DIGEST_SLICE, 3);
	digest_inherit(f, old);
	ck_assert(digest_is_known(f));
	ck_assert_uint_eq(digest_get(f), digest_get(old));
	file_drop(&old);
	file_drop(&f);
}
END_TEST

START_TEST(without_room)
{
	struct file	*old = make_file(), *f = make(20000, true);

	ck_assert(!f->has_digest);
	digest_inherit(f, old);
	digest_inherit(old, f);
	ck_assert(!digest_is_known(f));
	ck_assert(!digest_is_known(old));
	file_drop(&old);
	file_drop(&f);
}
END_TEST

START_TEST(empty)
{
	struct file	*f;

	version.size = 0;
	f = make_file();
	ck_assert(digest_is_known(f));
	ck_assert_uint_eq(digest_get(f), 0);
	file_drop(&f);
}
END_TEST

START_TEST(error)
{
	struct file	*f = make_file();

	ck_assert_int_eq(digest_error(f), 0);
	digest_set_error(f, EIO);
	ck_assert_int_eq(digest_error(f), EIO);
	digest_set_error(f, 0);
	ck_assert_int_eq(digest_error(f), 0);
	ck_assert_ptr_null(*digest_task(f));
	file_drop(&f);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, begin, NULL);
	tcase_add_test(tests, slices);
	tcase_add_test(tests, all_slices_count);
	tcase_add_test(tests, inherited);
	tcase_add_test(tests, without_room);
	tcase_add_test(tests, empty);
	tcase_add_test(tests, error);
}
