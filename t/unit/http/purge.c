/*
 * Unit test of http/purge.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"
#include "http/namespace.h"
#include "http/purge.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

static struct http_loop	*http;
static struct conf_site	 sites[2];

static void
add_target(uint32_t space, const char *name)
{
	struct path	*p = pathname_add(&http->caches->paths, space,
			    str_of(name), NULL, false);

	path_info_set(&http->caches->paths, p,
	    &(struct path_info){ .kind = PATHNAME_DIRECTORY });
	pathname_release(&http->caches->paths, &p);
}

static void
init_loop(void)
{
	http = mem_zero(sizeof(*http));
	http->caches = mem_zero(sizeof(*http->caches));
	header_init(&http->caches->heads, 100000);
	pathname_init(&http->caches->paths, 5000, &http->caches->heads);
	sites[1].number = 1;
	add_target(0, "/a");
	add_target(0, "/%61");
	add_target(namespace_of(0, NAMESPACE_VARIANT, 0), "/a");
	add_target(0, "/a/");
	add_target(0, "/a/b");
	add_target(0, "/ab");
	add_target(0, "/A");
	add_target(1, "/a");
}

static void
free_loop(void)
{
	pathname_free(&http->caches->paths);
	header_free(&http->caches->heads);
	mem_drop(&http->caches);
	mem_drop(&http);
}

static const struct {
	const char	*target;
	int		 site;		/* -1: all */
	size_t		 count, left;
} cases[] = {
	{ "/a", 0, 2, 5 },		/* in both spellings; the variant */
	{ "/%61", 0, 2, 5 },
	{ "/./x/../a", 0, 2, 5 },
	{ "/a?query", 0, 2, 5 },
	{ "/a*", 0, 5, 2 },
	{ "/a/*", 0, 2, 6 },
	{ "/*", 0, 6, 1 },
	{ "/*", 1, 1, 7 },
	{ "/*", -1, 7, 0 },
	{ "/none", 0, 0, 8 },
	{ "/a", 1, 1, 7 },
};

START_TEST(purges)
{
	struct purge	p;

	ck_assert_ptr_null(purge_begin(&p, cases[_i].site == -1 ? NULL :
	    &sites[cases[_i].site], str_of(cases[_i].target)));
	while (purge_continue(http, &p))
		continue;
	ck_assert_uint_eq(p.count, cases[_i].count);
	ck_assert_uint_eq(http->caches->paths.cache.entries, cases[_i].left);
}
END_TEST

START_TEST(nonsense)
{
	struct purge	p;

	ck_assert_ptr_nonnull(purge_begin(&p, NULL, STR("/%zz")));
	ck_assert_ptr_nonnull(purge_begin(&p, NULL, STR("/../a")));
	ck_assert_ptr_nonnull(purge_begin(&p, NULL, STR("*")));
	ck_assert_ptr_nonnull(purge_begin(&p, NULL, STR("")));
}
END_TEST

/* A walk through many paths takes several calls. */
START_TEST(a_part_at_once)
{
	struct purge	p;
	int		turns = 1;
	char		name[20];

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		add_target(1, name);
	}
	ck_assert_ptr_null(purge_begin(&p, NULL, STR("/*")));
	while (purge_continue(http, &p))
		turns++;
	ck_assert_int_gt(turns, 4);
	ck_assert_uint_eq(p.count, 7 + 3000);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, init_loop, free_loop);
	tcase_add_loop_test(tests, purges, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, nonsense);
	tcase_add_test(tests, a_part_at_once);
}
