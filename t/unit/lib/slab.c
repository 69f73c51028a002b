/*
 * Tests of lib/slab: pieces are apart, aligned, used again, and go.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/slab.h"
#include "t/unit/unit.h"

#define MANY	3000

static struct pool	pool;
static unsigned char	*piece[MANY];

static size_t
size_for(size_t i)
{
	return 1 + i * 7 % (POOL_MOST + 100);
}

static bool
has(const unsigned char *p, unsigned char byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != byte)
			return false;
	return true;
}

static void
take(size_t i)
{
	piece[i] = pool_get(&pool, size_for(i));
	memset(piece[i], (int)(i % 251), size_for(i));
}

static void
give(size_t i)
{
	ck_assert(has(piece[i], i % 251, size_for(i)));
	pool_put(&pool, piece[i], size_for(i));
}

/* Nobody writes into another's, whatever goes and comes. */
START_TEST(apart)
{
	pool_init(&pool);
	for (size_t i = 0; i < MANY; i++)
		take(i);
	for (int round = 0; round < 5; round++) {
		for (size_t i = (size_t)round; i < MANY; i += 3)
			give(i);
		for (size_t i = (size_t)round; i < MANY; i += 3)
			take(i);
	}
	for (size_t i = 0; i < MANY; i++)
		give(i);
	pool_end(&pool);
}
END_TEST

START_TEST(aligned)
{
	uintptr_t	at;

	pool_init(&pool);
	for (size_t size = 1; size <= 2 * POOL_MOST; size++)
		for (int i = 0; i < 3; i++) {
			at = (uintptr_t)pool_get(&pool, size);
			ck_assert_uint_eq(at % POOL_STEP, 0);
			if (size % POOL_ALIGNMENT == 0)
				ck_assert_uint_eq(at % POOL_ALIGNMENT, 0);
			pool_put(&pool, (void *)at, size);
		}
	pool_end(&pool);
}
END_TEST

START_TEST(zeroed)
{
	static const size_t	sizes[] = { 1, 40, POOL_MOST, POOL_MOST + 1 };
	unsigned char		*p;

	pool_init(&pool);
	for (size_t i = 0; i < 4; i++) {
		p = pool_get(&pool, sizes[i]);
		memset(p, 'x', sizes[i]);
		pool_put(&pool, p, sizes[i]);
		p = pool_zero(&pool, sizes[i]);
		ck_assert(has(p, 0, sizes[i]));
		pool_put(&pool, p, sizes[i]);
	}
	pool_end(&pool);
}
END_TEST

static int
mappings(void)
{
	FILE	*f = fopen("/proc/self/maps", "r");
	int	 c, n = 0;

	if (f == NULL)
		return 0;
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* There may be few mappings, however many blocks come and go. */
START_TEST(few_mappings)
{
	int	before;

	pool_init(&pool);
	before = mappings();
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < MANY; i++)
			piece[i] = pool_get(&pool, POOL_MOST);
		if (pool.blocks > 0)	/* else a sanitizer's */
			ck_assert_int_le(mappings() - before,
			    (int)pool.blocks / 2);
		for (size_t i = 0; i < MANY; i += 2)
			pool_put(&pool, piece[i], POOL_MOST);
		for (size_t i = 1; i < MANY; i += 2)
			pool_put(&pool, piece[i], POOL_MOST);
	}
	pool_end(&pool);
}
END_TEST

/* A block more when all are full, and none that is empty but one. */
START_TEST(blocks)
{
	size_t	n = 0, most;

	pool_init(&pool);
	while (pool.blocks < 2) {
		piece[n] = pool_get(&pool, POOL_MOST);
		if (pool.blocks == 0)
			return;		/* a sanitizer's */
		n++;
	}
	ck_assert_uint_gt(n * POOL_MOST, 60000);	/* little is lost */
	most = n - 1;
	while (n < 10 * most)
		piece[n++] = pool_get(&pool, POOL_MOST);
	ck_assert_uint_eq(pool.blocks, 10);
	for (size_t i = 0; i < most; i++)
		pool_put(&pool, piece[i], POOL_MOST);
	for (size_t i = 0; i < most; i++)
		piece[i] = pool_get(&pool, POOL_MOST);
	ck_assert_uint_eq(pool.blocks, 10);
	while (n > 0)
		pool_put(&pool, piece[--n], POOL_MOST);
	ck_assert_uint_eq(pool.blocks, 1);
	pool_end(&pool);
	ck_assert_uint_eq(pool.blocks, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, apart);
	tcase_add_test(tests, aligned);
	tcase_add_test(tests, zeroed);
	tcase_add_test(tests, few_mappings);
	tcase_add_test(tests, blocks);
}
