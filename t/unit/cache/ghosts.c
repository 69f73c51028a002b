/* Tests of the keys of entries that have gone. */
#include "cache/ghosts.h"
#include "t/unit/unit.h"

static struct ghosts	ghosts;

/* Keys of one bucket that differ in the bits that are kept. */
static uint64_t
key_in_bucket(uint64_t n)
{
	return n << 32 | 5;
}

START_TEST(taken_once)
{
	ck_assert(!ghosts_take(&ghosts, 7));	/* there is no room yet */
	ghosts_reserve(&ghosts, 100);
	ck_assert(!ghosts_take(&ghosts, key_in_bucket(1)));
	ghosts_add(&ghosts, key_in_bucket(1));
	ck_assert(!ghosts_take(&ghosts, key_in_bucket(2)));
	ck_assert(ghosts_take(&ghosts, key_in_bucket(1)));
	ck_assert(!ghosts_take(&ghosts, key_in_bucket(1)));
}
END_TEST

START_TEST(oldest_is_forgotten)
{
	ghosts_reserve(&ghosts, 100);
	for (uint64_t n = 1; n <= GHOSTS_BUCKET; n++)
		ghosts_add(&ghosts, key_in_bucket(n));
	/* The place of one that was taken is free. */
	ck_assert(ghosts_take(&ghosts, key_in_bucket(4)));
	ghosts_add(&ghosts, key_in_bucket(20));
	ck_assert(ghosts_take(&ghosts, key_in_bucket(1)));
	ghosts_add(&ghosts, key_in_bucket(21));
	ghosts_add(&ghosts, key_in_bucket(22));
	ck_assert(!ghosts_take(&ghosts, key_in_bucket(2)));
	for (uint64_t n = 3; n <= GHOSTS_BUCKET; n++)
		ck_assert(ghosts_take(&ghosts, key_in_bucket(n)) == (n != 4));
	for (uint64_t n = 20; n <= 22; n++)
		ck_assert(ghosts_take(&ghosts, key_in_bucket(n)));
}
END_TEST

/* A key whose kept bits are 0 is a key, too, and no empty place. */
START_TEST(zero)
{
	ghosts_reserve(&ghosts, 100);
	ck_assert(!ghosts_take(&ghosts, 9));
	ghosts_add(&ghosts, 9);
	ck_assert(ghosts_take(&ghosts, 9));
	ck_assert(!ghosts_take(&ghosts, 9));
}
END_TEST

START_TEST(grows)
{
	uint64_t	key;
	size_t		found = 0;

	ghosts_reserve(&ghosts, 100);
	ghosts_add(&ghosts, 9);
	ghosts_reserve(&ghosts, 512);		/* there is room */
	ck_assert(ghosts_take(&ghosts, 9));
	ghosts_add(&ghosts, 9);
	ghosts_reserve(&ghosts, 100000);
	ck_assert(!ghosts_take(&ghosts, 9));
	for (uint64_t n = 0; n < 50000; n++)
		ghosts_add(&ghosts, n * UINT64_C(0x9e3779b97f4a7c15));
	for (uint64_t n = 0; n < 50000; n++) {
		key = n * UINT64_C(0x9e3779b97f4a7c15);
		found += ghosts_take(&ghosts, key);
	}
	ck_assert_uint_gt(found, 45000);
}
END_TEST

static void
free_ghosts(void)
{
	ghosts_free(&ghosts);
}

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, NULL, free_ghosts);
	tcase_add_test(tests, taken_once);
	tcase_add_test(tests, oldest_is_forgotten);
	tcase_add_test(tests, zero);
	tcase_add_test(tests, grows);
}
