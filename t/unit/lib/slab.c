/*
 * Tests of lib/slab: pieces do not overlap, are aligned, reused and freed.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/slab.h"
#include "t/unit/unit.h"

#define MANY	3000

static struct slab	slab;
static unsigned char	*piece[MANY];

static size_t
size_for(size_t i)
{
	return 1 + i * 7 % (SLAB_SIZE_MAX + 100);
}

static bool
piece_is_intact(const unsigned char *p, unsigned char byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != byte)
			return false;
	return true;
}

static void
alloc_piece(size_t i)
{
	piece[i] = slab_alloc(&slab, size_for(i));
	memset(piece[i], (int)(i % 251), size_for(i));
}

static void
free_piece(size_t i)
{
	ck_assert(piece_is_intact(piece[i], i % 251, size_for(i)));
	slab_free(&slab, piece[i], size_for(i));
}

/* Pieces keep their contents while others are allocated and freed. */
START_TEST(apart)
{
	slab_init(&slab);
	for (size_t i = 0; i < MANY; i++)
		alloc_piece(i);
	for (int round = 0; round < 5; round++) {
		for (size_t i = (size_t)round; i < MANY; i += 3)
			free_piece(i);
		for (size_t i = (size_t)round; i < MANY; i += 3)
			alloc_piece(i);
	}
	for (size_t i = 0; i < MANY; i++)
		free_piece(i);
	slab_destroy(&slab);
}
END_TEST

START_TEST(aligned)
{
	uintptr_t	at;

	slab_init(&slab);
	for (size_t size = 1; size <= 2 * SLAB_SIZE_MAX; size++)
		for (int i = 0; i < 3; i++) {
			at = (uintptr_t)slab_alloc(&slab, size);
			ck_assert_uint_eq(at % SLAB_STEP, 0);
			if (size % SLAB_ALIGNMENT == 0)
				ck_assert_uint_eq(at % SLAB_ALIGNMENT, 0);
			slab_free(&slab, (void *)at, size);
		}
	slab_destroy(&slab);
}
END_TEST

START_TEST(zeroed)
{
	static const size_t sizes[] = {1, 40, SLAB_SIZE_MAX, SLAB_SIZE_MAX + 1};
	unsigned char		*p;

	slab_init(&slab);
	for (size_t i = 0; i < 4; i++) {
		p = slab_alloc(&slab, sizes[i]);
		memset(p, 'x', sizes[i]);
		slab_free(&slab, p, sizes[i]);
		p = slab_alloc_zero(&slab, sizes[i]);
		ck_assert(piece_is_intact(p, 0, sizes[i]));
		slab_free(&slab, p, sizes[i]);
	}
	slab_destroy(&slab);
}
END_TEST

static int
count_mappings(void)
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

/* The number of mappings stays small while blocks come and go. */
START_TEST(few_mappings)
{
	int	before;

	slab_init(&slab);
	before = count_mappings();
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < MANY; i++)
			piece[i] = slab_alloc(&slab, SLAB_SIZE_MAX);
		if (slab.blocks > 0)	/* none with a sanitizer */
			ck_assert_int_le(count_mappings() - before,
			    (int)slab.blocks / 2);
		for (size_t i = 0; i < MANY; i += 2)
			slab_free(&slab, piece[i], SLAB_SIZE_MAX);
		for (size_t i = 1; i < MANY; i += 2)
			slab_free(&slab, piece[i], SLAB_SIZE_MAX);
	}
	slab_destroy(&slab);
}
END_TEST

/* A block is added when all are full; of empty blocks one stays. */
START_TEST(blocks)
{
	size_t	n = 0, max;

	slab_init(&slab);
	while (slab.blocks < 2) {
		piece[n] = slab_alloc(&slab, SLAB_SIZE_MAX);
		if (slab.blocks == 0)
			return;		/* with a sanitizer */
		n++;
	}
	ck_assert_uint_gt(n * SLAB_SIZE_MAX, 60000);	/* little is lost */
	max = n - 1;
	while (n < 10 * max)
		piece[n++] = slab_alloc(&slab, SLAB_SIZE_MAX);
	ck_assert_uint_eq(slab.blocks, 10);
	for (size_t i = 0; i < max; i++)
		slab_free(&slab, piece[i], SLAB_SIZE_MAX);
	for (size_t i = 0; i < max; i++)
		piece[i] = slab_alloc(&slab, SLAB_SIZE_MAX);
	ck_assert_uint_eq(slab.blocks, 10);
	while (n > 0)
		slab_free(&slab, piece[--n], SLAB_SIZE_MAX);
	ck_assert_uint_eq(slab.blocks, 1);
	slab_destroy(&slab);
	ck_assert_uint_eq(slab.blocks, 0);
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
