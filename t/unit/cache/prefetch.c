/* Tests of cache/prefetch: where each level leads, and that nothing changes. */
#include <string.h>

#include "cache/path_info.h"
#include "cache/prefetch.h"
#include "t/unit/cache/files.h"

static const struct header_date	date = { "d", 1, 0 };
static struct header_cache	heads;
static struct pathname_cache	paths;

static void
init_caches(void)
{
	caches(1024 * KIB, RESIDENCY_AUTO);
	header_init(&heads, 100000);
	pathname_init(&paths, 1000, &heads);
	/* A fixed key, so that the order in each bucket is certain. */
	paths.key = (struct hash_key){ 1, 2 };
}

static void
free_caches(void)
{
	pathname_free(&paths);
	header_free(&heads);
	file_free(&files);
	chunk_free(&chunks);
}

/* Holds a path with a file of a size, copied if it is small. */
static struct path *
path_of(const char *name, size_t size, bool with_head)
{
	struct path	*p = pathname_add(&paths, 1, str_of(name), NULL, false);
	struct file	*f = make(size, true);
	struct chunk	*k = chunk_hold(&chunks, f, 0);
	struct path_info	 a = { .kind = PATHNAME_FILE, .file = f };
	struct head	*h;
	char		 bytes[64] = "";

	unlink(path);
	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
	chunk_release(&chunks, &k);
	path_info_set(&paths, p, &a);
	if (with_head) {
		h = path_info_put_head(&paths, p, &a, 0,
		    (struct str){ bytes, sizeof(bytes) }, 0, &date);
		header_release(&heads, &h);
	}
	return p;
}

/* Goes through all levels; what the second and the third lead to. */
static void
expect(const char *name, const void *second, const void *third)
{
	struct prefetch	a;

	prefetch_begin(&a, &paths, 1, str_of(name));
	ck_assert_ptr_nonnull(a.at);
	prefetch_next(&a);
	ck_assert_ptr_eq(a.at, second);
	prefetch_next(&a);
	ck_assert_ptr_eq(a.at, third);
	for (int i = 2; i < PREFETCH_LEVELS; i++)
		prefetch_next(&a);
	ck_assert_ptr_null(a.at);
}

START_TEST(links)
{
	struct path	*p = path_of("/small", 500, _i > 0);

	expect("/small", p, p->file);
	expect("/none", NULL, NULL);
	ck_assert_uint_eq(p->holds, 1);
	ck_assert_uint_eq(p->file->references, 1);
	ck_assert_uint_eq(paths.cache.hits + paths.cache.misses, 0);
	p->uses = 0;
	expect("/small", p, p->file);
	ck_assert_uint_eq(p->uses, 0);
	pathname_release(&paths, &p);
}
END_TEST

/* A mapped file, an empty one, and what is no file. */
START_TEST(without_copy)
{
	struct path	*large = path_of("/large", 200 * KIB, true);
	struct path	*unknown = pathname_add(&paths, 1, STR("/unknown"),
			    NULL, false);

	expect("/large", large, large->file);
	expect("/unknown", unknown, NULL);
	pathname_release(&paths, &large);
	pathname_release(&paths, &unknown);
}
END_TEST

/* Behind others in its bucket, and while buckets are split. */
START_TEST(crowded)
{
	struct path	*p;
	struct prefetch	 a;
	char		 name[20];
	int		 found = 0;

	for (int i = 0; i < 900; i++) {
		snprintf(name, sizeof(name), "/%d", i);
		p = pathname_add(&paths, 1, str_of(name), NULL, false);
		path_info_set(&paths, p, &(struct path_info){
		    .kind = PATHNAME_FILE, .file = make(0, true) });
		unlink(path);
		for (int j = 0; j <= i; j += 50) {
			snprintf(name, sizeof(name), "/%d", j);
			prefetch_begin(&a, &paths, 1, str_of(name));
			prefetch_next(&a);
			ck_assert_ptr_nonnull(a.at);
			prefetch_next(&a);
			ck_assert_ptr_nonnull(a.at);
			found += j == i && a.at == p->file;
		}
		pathname_release(&paths, &p);
	}
	ck_assert_int_ge(found, 17);	/* of 18: tags may be alike */
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, init_caches, free_caches);
	tcase_add_loop_test(tests, links, 0, 2);
	tcase_add_test(tests, without_copy);
	tcase_add_test(tests, crowded);
}
