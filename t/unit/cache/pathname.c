/*
 * Tests of the pathname cache.
 */
#include <stdio.h>
#include <string.h>

#include "cache/path_info.h"
#include "t/unit/unit.h"

static const struct path_info	directory = { .kind = PATHNAME_DIRECTORY,
				    .checked_at = 1000 };
static struct header_cache	heads;
static struct pathname_cache	paths;

static void
init_caches(void)
{
	header_init(&heads, 100000);
	pathname_init(&paths, 100, &heads);
}

static void
free_caches(void)
{
	pathname_free(&paths);
	header_free(&heads);
}

START_TEST(found_again)
{
	struct path	*p, *q;

	ck_assert_ptr_null(pathname_hold(&paths, 1, STR("/a")));
	p = pathname_add(&paths, 1, STR("/a"), NULL, false);
	ck_assert_int_eq(p->kind, PATHNAME_UNKNOWN);
	q = pathname_hold(&paths, 1, STR("/a"));
	ck_assert_ptr_eq(p, q);
	/* Another site, another case, another length: another path. */
	ck_assert_ptr_null(pathname_hold(&paths, 2, STR("/a")));
	ck_assert_ptr_null(pathname_hold(&paths, 1, STR("/A")));
	ck_assert_ptr_null(pathname_hold(&paths, 1, STR("/aa")));
	path_info_set(&paths, p, &(struct path_info){ .kind = PATHNAME_REFUSED,
	    .status = 404, .checked_at = 77 });
	ck_assert_int_eq(q->status, 404);
	ck_assert_int_eq(q->checked_at, 77);
	pathname_release(&paths, &p);
	pathname_release(&paths, &q);
	ck_assert_uint_eq(paths.cache.hits, 1);
	ck_assert_uint_eq(paths.cache.misses, 4);
}
END_TEST

/* The number of paths in its bucket from a base to its variant. */
static int
way_to_variant(const struct path *base, const struct path *variant)
{
	int	n = 0;

	for (; base != NULL && base != variant; base = base->next)
		n++;
	return base != NULL ? n : -1;
}

START_TEST(variants)
{
	const uint32_t	 ns = 1 | 5U << PATHNAME_SITE_BITS;
	struct path	*base = pathname_add(&paths, 1, STR("/a"), NULL, false);
	struct path	*v, *p = base;
	char		 name[20];

	ck_assert(!pathname_switch(&paths, &p, ns));
	ck_assert_ptr_eq(p, base);
	v = pathname_add(&paths, ns, STR("/a"), NULL, false);
	ck_assert_ptr_ne(v, base);
	pathname_release(&paths, &v);
	/* The table grows, and each bucket is divided. */
	for (int i = 0; i < 90; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		v = pathname_add(&paths, i % 2 == 0 ? 1 : ns, str_of(name),
		    NULL, false);
		pathname_release(&paths, &v);
	}
	ck_assert(pathname_switch(&paths, &p, ns));
	ck_assert_uint_eq(base->holds, 0);
	v = pathname_hold(&paths, ns, STR("/a"));
	ck_assert_ptr_eq(p, v);
	ck_assert_uint_eq(v->holds, 2);
	ck_assert_uint_eq(v->uses, 2);
	/* Those who want the base do not pass the variant. */
	ck_assert_int_gt(way_to_variant(base, v), 0);
	ck_assert(!pathname_switch(&paths, &v, 1 | 6U << PATHNAME_SITE_BITS));
	/* And back. */
	ck_assert(pathname_switch(&paths, &p, 1));
	ck_assert_ptr_eq(p, base);
	pathname_release(&paths, &p);
	pathname_release(&paths, &v);
}
END_TEST

/* A base that comes again stands before its variants, too. */
START_TEST(base_comes_after_its_variant)
{
	const uint32_t	 ns = 1 | 5U << PATHNAME_SITE_BITS;
	struct path	*v = pathname_add(&paths, ns, STR("/a"), NULL, false);
	struct path	*base = pathname_add(&paths, 1, STR("/a"), NULL, false);

	ck_assert_int_gt(way_to_variant(base, v), 0);
	ck_assert(pathname_switch(&paths, &base, ns));
	ck_assert_ptr_eq(base, v);
	pathname_release(&paths, &base);
	pathname_release(&paths, &v);
}
END_TEST

/* A variant is of no use without its base, so the base does not go first. */
START_TEST(variant_goes_before_its_base)
{
	const uint32_t	 ns = 1 | 5U << PATHNAME_SITE_BITS;
	struct path	*base, *v;
	char		 name[20];
	int		 there = 0;

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		base = pathname_add(&paths, 1, str_of(name), NULL, false);
		v = pathname_add(&paths, ns, str_of(name), NULL, false);
		pathname_release(&paths, &base);
		pathname_release(&paths, &v);
	}
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		v = pathname_hold(&paths, ns, str_of(name));
		if (v == NULL)
			continue;
		there++;
		base = v;
		ck_assert(pathname_switch(&paths, &base, 1));
		pathname_release(&paths, &base);
	}
	ck_assert_int_gt(there, 0);
}
END_TEST

START_TEST(many)
{
	struct path	*p, *held = pathname_add(&paths, 1, STR("/held"), NULL,
			    false);
	char		 name[20];
	int		 there = 0;

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p = pathname_add(&paths, 1, str_of(name), NULL, false);
		pathname_release(&paths, &p);
		ck_assert_uint_le(paths.cache.entries, 101);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p = pathname_hold(&paths, 1, str_of(name));
		if (p != NULL) {
			there++;
			pathname_release(&paths, &p);
		}
	}
	ck_assert_int_gt(there, 90);
	ck_assert_int_lt(there, 101);
	p = pathname_hold(&paths, 1, STR("/held"));
	ck_assert_ptr_eq(p, held);
	pathname_release(&paths, &p);
	pathname_release(&paths, &held);
}
END_TEST

/* The table grows with its paths, and all of them are found at any time. */
/* Asks for paths, each so often, as requests do that look them up first. */
static void
ask_for(int from, int to, int times)
{
	struct path	*p, *q;
	char		 name[20];

	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p = q = pathname_add(&paths, 1, str_of(name), NULL, false);
		pathname_hold_again(&paths, q);
		pathname_release(&paths, &q);
		pathname_release(&paths, &p);
		for (int again = 1; again < times; again++) {
			p = pathname_hold(&paths, 1, str_of(name));
			pathname_release(&paths, &p);
		}
	}
}

/* What was asked for once goes first. */
START_TEST(once)
{
	struct path	*p;
	char		 name[20];

	ask_for(0, 50, 2);
	ask_for(50, 130, 1);
	ck_assert_uint_eq(paths.cache.entries, 100);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p = pathname_hold(&paths, 1, str_of(name));
		ck_assert_ptr_nonnull(p);
		pathname_release(&paths, &p);
	}
}
END_TEST

START_TEST(grows)
{
	struct pathname_cache	 large;
	struct path		*p;
	char			 name[20];

	pathname_init(&large, 100000, &heads);
	for (int n = 0; n < 3000; n++) {
		snprintf(name, sizeof(name), "/%d", n);
		p = pathname_add(&large, 1, str_of(name), NULL, false);
		pathname_release(&large, &p);
		ck_assert_uint_le(large.nbuckets, (size_t)n + 64);
		ck_assert_uint_ge(large.nbuckets, large.cache.entries);
		for (int i = n % 100; i <= n; i += 100) {
			snprintf(name, sizeof(name), "/%d", i);
			p = pathname_hold(&large, 1, str_of(name));
			ck_assert_ptr_nonnull(p);
			pathname_release(&large, &p);
		}
	}
	pathname_free(&large);
}
END_TEST

/* The table grows up to its limit, and does not shrink. */
START_TEST(grows_to_its_limit)
{
	struct path	*p;
	char		 name[20];

	for (int n = 0; n < 1000; n++) {
		snprintf(name, sizeof(name), "/%d", n);
		p = pathname_add(&paths, 1, str_of(name), NULL, false);
		pathname_release(&paths, &p);
	}
	ck_assert_uint_eq(paths.nbuckets, 100);
}
END_TEST

/* Long names count by their bytes. */
START_TEST(long_names)
{
	struct path	*p;
	char		 name[4000];

	memset(name, 'x', sizeof(name));
	for (int i = 0; i < 100; i++) {
		snprintf(name, 20, "/%d", i);
		p = pathname_add(&paths, 1,
		    (struct str){ name, sizeof(name) }, NULL, false);
		pathname_release(&paths, &p);
	}
	ck_assert_uint_le(paths.cache.bytes, 100 * 512 + 5000);
}
END_TEST

static struct path *
is_of_length(size_t len, int number)
{
	char	name[1000];

	memset(name, 'x', sizeof(name));
	snprintf(name, 20, "/%d", number);
	return pathname_add(&paths, 1, (struct str){ name, len }, NULL, false);
}

/* Paths with names of one length after the other, some of each of which stay,
 * take no more memory than all lengths at once. */
START_TEST(one_length_after_another)
{
	static struct path	*stay[10000];
	struct path		*p;
	size_t			 n = 0;

	free_caches();
	header_init(&heads, 100000);
	pathname_init(&paths, 20000, &heads);
	for (size_t len = 20; len < 900; len += 8)
		for (int i = 0; i < 5000; i++) {
			p = is_of_length(len, i);
			if (i % 100 == 0)
				stay[n++] = p;
			else
				pathname_release(&paths, &p);
		}
	/* Blocks are of 64 KiB. */
	ck_assert_uint_le(paths.slab.blocks >> 4,
	    2 * paths.cache.limit_bytes >> 20);
	while (n > 0)
		pathname_release(&paths, &stay[--n]);
}
END_TEST

static bool
is_in_namespace_two(void *n, const struct path *p)
{
	++*(int *)n;
	return p->namespace == 2;
}

START_TEST(forgotten)
{
	struct path	*p, *held = pathname_add(&paths, 2, STR("/held"), NULL,
			    false);
	char		 name[20];
	size_t		 at = 0;
	int		 seen = 0;

	path_info_set(&paths, held, &directory);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p = pathname_add(&paths, 1 + i % 2, str_of(name), NULL, false);
		pathname_release(&paths, &p);
	}
	while (pathname_forget(&paths, &at, is_in_namespace_two, &seen))
		continue;
	ck_assert_int_eq(seen, 41);
	ck_assert_uint_eq(paths.cache.entries, 21);
	ck_assert_ptr_null(pathname_hold(&paths, 2, STR("/1")));
	p = pathname_hold(&paths, 1, STR("/2"));
	ck_assert_ptr_nonnull(p);
	pathname_release(&paths, &p);
	/* A held path stays, and becomes UNKNOWN. */
	p = pathname_hold(&paths, 2, STR("/held"));
	ck_assert_ptr_eq(p, held);
	ck_assert_int_eq(p->kind, PATHNAME_UNKNOWN);
	pathname_release(&paths, &p);
	pathname_release(&paths, &held);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, init_caches, free_caches);
	tcase_add_test(tests, found_again);
	tcase_add_test(tests, variants);
	tcase_add_test(tests, base_comes_after_its_variant);
	tcase_add_test(tests, variant_goes_before_its_base);
	tcase_add_test(tests, many);
	tcase_add_test(tests, once);
	tcase_add_test(tests, grows);
	tcase_add_test(tests, grows_to_its_limit);
	tcase_add_test(tests, long_names);
	tcase_add_test(tests, one_length_after_another);
	tcase_add_test(tests, forgotten);
}
