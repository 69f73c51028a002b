/*
 * Unit test of cache/limits: caches that are full get a part of their limits,
 * step by step, and all of them again.
 */
#include <stdio.h>

#include "cache/auth.h"
#include "cache/limits.h"
#include "cache/pathname.h"
#include "t/unit/cache/files.h"

#define MANY	1000
#define LARGE	16		/* MiB of chunks */
#define MIB	(1024 * KIB)

static struct header_cache	heads;
static struct pathname_cache	paths;
static struct auth_cache	logins;

static const struct limits	whole = { MANY, MANY, 2 * MIB, LARGE * MIB };

static void
fill_paths_and_logins(void)
{
	struct auth_entry	*g;
	struct path		*p;
	char			 name[20];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p = pathname_add(&paths, 1, str_of(name), NULL, false);
		pathname_release(&paths, &p);
		g = auth_add(&logins, STR("/f"), str_of(name), STR("pw"));
		auth_release(&logins, &g);
	}
}

/* Each is a mapping of 64 KiB. */
static struct file *
fill_chunks(void)
{
	struct file	*f = make(LARGE * MIB, true);
	struct chunk	*k;

	for (uint32_t i = 0; i < f->nchunks; i++) {
		k = chunk_hold(&chunks, f, i);
		(void)chunk_ready(&chunks, k, 0);
		chunk_release(&chunks, &k);
	}
	return f;
}

/* Returns the number of steps. */
static int
approach(const struct limits *wanted)
{
	size_t	npaths = paths.cache.entries, nlogins = logins.cache.entries;
	size_t	bytes = chunks.cache.bytes;
	int	steps = 1;

	while (limits_approach(wanted, &paths, &chunks, &logins)) {
		ck_assert_uint_ge(paths.cache.entries + 65, npaths);
		ck_assert_uint_ge(logins.cache.entries + 65, nlogins);
		ck_assert_uint_ge(chunks.cache.bytes + 5 * MIB, bytes);
		npaths = paths.cache.entries;
		nlogins = logins.cache.entries;
		bytes = chunks.cache.bytes;
		ck_assert_int_lt(steps++, 1000);
	}
	return steps;
}

static void
check_within(const struct limits *l)
{
	ck_assert_uint_le(paths.cache.entries, l->paths);
	ck_assert_uint_le(logins.cache.entries, l->logins);
	ck_assert_uint_le(chunks.cache.bytes, l->chunks);
	ck_assert_uint_eq(paths.cache.limit_entries, l->paths);
	ck_assert_uint_eq(logins.cache.limit_entries, l->logins);
	ck_assert_uint_eq(chunks.cache.limit_bytes, l->chunks);
	ck_assert_uint_eq(heads.cache.limit_bytes, l->heads);
}

START_TEST(parts)
{
	const struct limits	 part = { MANY / 4, MANY / 4, MIB / 2,
				    LARGE * MIB / 4 };
	struct file		*f;

	caches(whole.chunks, RESIDENCY_AUTO);
	header_init(&heads, whole.heads);
	pathname_init(&paths, whole.paths, &heads);
	auth_init(&logins, whole.logins);
	fill_paths_and_logins();
	f = fill_chunks();
	ck_assert_uint_gt(paths.cache.entries, MANY * 9 / 10);
	ck_assert_uint_gt(chunks.cache.bytes, whole.chunks * 9 / 10);
	ck_assert_int_gt(approach(&part), 5);
	check_within(&part);
	/* Higher limits hold at once, and so do those that nobody needs. */
	ck_assert_int_eq(approach(&whole), 1);
	check_within(&whole);
	fill_paths_and_logins();
	ck_assert_uint_gt(paths.cache.entries, MANY * 9 / 10);
	file_drop(&f);
	pathname_free(&paths);
	header_free(&heads);
	auth_free(&logins);
	file_free(&files);
	chunk_free(&chunks);
	unlink(path);
}
END_TEST

/* What is held cannot go: no step is to be tried for ever. */
START_TEST(held)
{
	const struct limits	 part = { MANY / 4, MANY / 4, MIB / 2, MIB };
	struct file		*f;
	struct path		*p[MANY / 2];
	struct chunk		*k[LARGE * MIB / (64 * KIB)];
	char			 name[20];

	caches(whole.chunks, RESIDENCY_AUTO);
	header_init(&heads, whole.heads);
	pathname_init(&paths, whole.paths, &heads);
	auth_init(&logins, whole.logins);
	f = make(LARGE * MIB, true);
	for (uint32_t i = 0; i < f->nchunks; i++) {
		k[i] = chunk_hold(&chunks, f, i);
		(void)chunk_ready(&chunks, k[i], 0);
	}
	for (int i = 0; i < MANY / 2; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p[i] = pathname_add(&paths, 1, str_of(name), NULL, false);
	}
	ck_assert_int_lt(approach(&part), 5);
	ck_assert_uint_eq(paths.cache.entries, MANY / 2);
	ck_assert_uint_gt(chunks.cache.bytes, whole.chunks * 9 / 10);
	for (uint32_t i = 0; i < f->nchunks; i++)
		chunk_release(&chunks, &k[i]);
	for (int i = 0; i < MANY / 2; i++)
		pathname_release(&paths, &p[i]);
	(void)approach(&part);
	check_within(&part);
	file_drop(&f);
	pathname_free(&paths);
	header_free(&heads);
	auth_free(&logins);
	file_free(&files);
	chunk_free(&chunks);
	unlink(path);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_test(t, held);
	tcase_add_test(t, parts);
}
