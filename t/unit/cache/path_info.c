/* Tests of path_info: which result is kept, and what goes with it. */
#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>

#include "cache/chunk.h"
#include "cache/path_info.h"
#include "conf/conf.h"
#include "t/unit/unit.h"

#define TRIED	(1U << 3)

static const struct header_date	date = { "d", 1, 0 };
static struct header_cache	heads;
static struct pathname_cache	paths;
static struct chunk_cache	chunks;
static struct file_cache	files;

static uint32_t
variant_namespace(uint32_t space, unsigned variant)
{
	return space + 100 + variant;
}

static void
init_caches(void)
{
	chunk_init(&chunks, 100000, 0);
	file_init(&files, &chunks, 10, 4096, 100, RESIDENCY_AUTO);
	header_init(&heads, 100000);
	pathname_init(&paths, 100, &heads);
	paths.variant_namespace = variant_namespace;
}

static void
free_caches(void)
{
	pathname_free(&paths);
	header_free(&heads);
	lock_free(&paths.cache.lock);
	ck_assert_uint_eq(files.cache.entries, 0);
}

static struct path *
add_path(uint32_t space)
{
	return pathname_add(&paths, space, STR("/a"), NULL, false);
}

/* An empty file, which needs no descriptor. */
static struct file *
get_version(int64_t mtime, bool settled)
{
	struct job_version	v = { .mtime = mtime };
	struct job_facts	facts = { .mode = S_IFREG | 0644,
				    .in_memory = true, .strong = settled };

	return file_new(&files, open("/dev/null", O_RDONLY), &v, &facts);
}

static void
find_version(struct path *p, int64_t mtime, uint32_t variants, int64_t looked)
{
	path_info_found(&paths, p, &(struct path_info){ .kind = PATHNAME_FILE,
	    .file = get_version(mtime, true), .variants = variants,
	    .checked_at = looked }, TRIED);
}

static void
put_head(struct path *p)
{
	struct head	*h;
	char		 bytes[32] = "";

	h = header_put(&heads, &p->heads, 0, bytes, sizeof(bytes), 0, &date);
	header_release(&heads, &h);
}

static bool
has_heads(const struct path *p)
{
	return p->heads != NULL;
}

START_TEST(answer_takes_heads_along)
{
	struct path	*p = add_path(0);

	put_head(p);
	path_info_set(&paths, p, &(struct path_info){
	    .kind = PATHNAME_DIRECTORY });
	ck_assert(!has_heads(p));
	ck_assert_uint_eq(heads.cache.entries, 0);
	pathname_release(&paths, &p);
}
END_TEST

/* The limit of heads holds for any number of paths, and if all heads are used.
 * */
START_TEST(heads_are_limited)
{
	static const struct path_info	a;
	struct path			*p[50];
	struct head			*h;
	char				 bytes[32] = "";

	heads.cache.limit_bytes = 1000;
	for (int i = 0; i < 50; i++) {
		p[i] = add_path(i);
		h = path_info_put_head(&paths, p[i], &a, 0, (struct str){ bytes,
		    sizeof(bytes) }, 0, &date);
		header_release(&heads, &h);
		ck_assert(has_heads(p[i]));
		ck_assert_uint_le(heads.cache.bytes, 1000);
		for (int k = 0; k < i && _i == 1; k++) {
			h = path_info_hold_head(&paths, p[k], &a, 0, &date);
			if (h != NULL)
				header_release(&heads, &h);
		}
	}
	ck_assert_uint_gt(heads.cache.entries, 10);
	for (int i = 0; i < 50; i++)
		pathname_release(&paths, &p[i]);
}
END_TEST

/* With no_reuse a result is expired at once; its contents and heads stay. */
START_TEST(anew)
{
	struct path		*p = add_path(0);
	struct path_info	a = { .kind = PATHNAME_FILE, .checked_at = 2000 };
	struct job_version	 v = { .mtime = 5 };

	paths.no_reuse = true;
	find_version(p, 5, 0, 1000);
	ck_assert_int_eq(p->checked_at, PATHNAME_EXPIRED);
	put_head(p);
	path_info_confirm(&paths, p, &v, &a, 0);
	ck_assert_int_eq(p->checked_at, PATHNAME_EXPIRED);
	ck_assert(has_heads(p));
	paths.no_reuse = false;
	path_info_confirm(&paths, p, &v, &a, 0);
	ck_assert_int_eq(p->checked_at, 2000);
	ck_assert(has_heads(p));
	pathname_release(&paths, &p);
}
END_TEST

/* Copies the info of a path, and releases all that the copy holds. */
static struct path_info
get_info(const struct path *p)
{
	struct path_info	a = { .kind = 0 };

	path_info_get(&paths, p, 0, &a);
	if (a.source == FILE_OPEN && a.file != NULL)
		file_release(a.file);
	file_drop(&a.file);
	return a;
}

/* The file stays where it is if a variant may be wanted in its place. */
START_TEST(variant_wanted)
{
	struct path		*p = add_path(0);
	struct path_info	 a = { .kind = 0 };

	find_version(p, 5, 6, 1000);
	path_info_get(&paths, p, 2, &a);
	ck_assert_int_eq(a.kind, PATHNAME_FILE);
	ck_assert_uint_eq(a.variants, 6);
	ck_assert_ptr_null(a.file);
	ck_assert_ptr_null(a.chunk);
	path_info_get(&paths, p, 1, &a);
	ck_assert_ptr_eq(a.file, p->file);
	if (a.source == FILE_OPEN)
		file_release(a.file);
	file_drop(&a.file);
	pathname_release(&paths, &p);
}
END_TEST

/* A program keeps its split, and is fresh and stale as other results are. */
START_TEST(program)
{
	struct path_info	a;
	struct path		*p;

	p = add_path(0);
	find_version(p, 1, TRIED, 10);
	put_head(p);
	path_info_set(&paths, p, &(struct path_info){
	    .kind = PATHNAME_PROGRAM, .split = JOB_PATH_MAX - 1,
	    .name_number = 3, .checked_at = 20 });
	path_info_get(&paths, p, 0, &a);
	ck_assert_int_eq(a.kind, PATHNAME_PROGRAM);
	ck_assert_uint_eq(a.split, JOB_PATH_MAX - 1);
	ck_assert_uint_eq(a.name_number, 3);
	ck_assert_int_eq(a.checked_at, 20);
	ck_assert_ptr_null(a.file);
	ck_assert_ptr_null(p->heads);
	/* The disk fails: it is used on, until it is too old. */
	ck_assert(path_info_fail(&paths, p, &(struct path_info){
	    .kind = PATHNAME_REFUSED }, 20, 1U << PATHNAME_PROGRAM));
	path_info_get(&paths, p, 0, &a);
	ck_assert_int_eq(a.kind, PATHNAME_PROGRAM);
	path_info_fail(&paths, p, &(struct path_info){
	    .kind = PATHNAME_REFUSED }, 21, 1U << PATHNAME_PROGRAM);
	path_info_get(&paths, p, 0, &a);
	ck_assert_int_eq(a.kind, PATHNAME_REFUSED);
	pathname_release(&paths, &p);
}
END_TEST

/* A record has no room for more: there may be a million. */
START_TEST(size)
{
	ck_assert_uint_le(sizeof(struct path), 64);
}
END_TEST

/* Variants that were tried with a version stay as they are. */
START_TEST(tried)
{
	struct path	*p = add_path(0);

	find_version(p, 5, 1 | TRIED, 10);
	path_info_drop_variants(&paths, p, TRIED);
	ck_assert_uint_eq(get_info(p).variants, 1);
	find_version(p, 5, 2 | TRIED, 20);
	ck_assert_uint_eq(get_info(p).variants, 2);
	find_version(p, 6, 2 | TRIED, 30);
	ck_assert_uint_eq(get_info(p).variants, 2 | TRIED);
	path_info_confirm(&paths, p, &(struct job_version){ .mtime = 6 },
	    &(struct path_info){ .variants = 1, .checked_at = 40 }, TRIED);
	ck_assert_uint_eq(get_info(p).variants, 1 | TRIED);
	ck_assert_int_eq(get_info(p).checked_at, 40);
	/* Another version has been found meanwhile. */
	path_info_confirm(&paths, p, &(struct job_version){ .mtime = 5 },
	    &(struct path_info){ .variants = 2, .checked_at = 50 }, TRIED);
	ck_assert_uint_eq(get_info(p).variants, 1 | TRIED);
	ck_assert_int_eq(get_info(p).checked_at, 40);
	pathname_release(&paths, &p);
}
END_TEST

/* Variants expire with another version only, and only those that exist. */
START_TEST(variants_expire)
{
	struct path *p = add_path(0), *first = add_path(100),
		    *second = add_path(101);

	find_version(p, 5, 1, 10);
	find_version(first, 5, 0, 11);
	find_version(second, 5, 0, 11);
	find_version(p, 5, 1, 20);
	ck_assert_int_eq(get_info(first).checked_at, 11);
	find_version(p, 6, 1, 30);
	ck_assert_int_eq(get_info(first).checked_at, PATHNAME_EXPIRED);
	ck_assert_int_eq(get_info(second).checked_at, 11);
	pathname_release(&paths, &p);
	pathname_release(&paths, &first);
	pathname_release(&paths, &second);
}
END_TEST

/* An older result is kept for a while; each series of failures is reported
 * once. */
START_TEST(fails)
{
	struct path	*p = add_path(0);
	struct path_info	 a = { .kind = PATHNAME_REFUSED, .status = 500,
			    .checked_at = 100 };
	unsigned	 files_only = 1U << PATHNAME_FILE;

	find_version(p, 5, 0, 50);
	ck_assert(path_info_fail(&paths, p, &a, 50, files_only));
	ck_assert_int_eq(get_info(p).kind, PATHNAME_FILE);
	ck_assert(!path_info_fail(&paths, p, &a, 51, files_only));
	ck_assert_int_eq(get_info(p).kind, PATHNAME_REFUSED);
	ck_assert_int_eq(get_info(p).status, 500);
	find_version(p, 5, 0, 200);
	ck_assert(path_info_fail(&paths, p, &a, 50, 1U << PATHNAME_REFUSED));
	ck_assert_int_eq(get_info(p).status, 500);
	pathname_release(&paths, &p);
}
END_TEST

/* Look-ups of several threads overlap: the one begun last counts. */
START_TEST(crossed)
{
	struct path	*p = add_path(0);
	bool		 shared = _i == 1;

	if (shared)
		paths.cache.lock = lock_new();
	find_version(p, 6, 0, 50);
	find_version(p, 5, 0, 49);
	ck_assert_int_eq(p->file->version.mtime, shared ? 6 : 5);
	path_info_set(&paths, p, &(struct path_info){ .kind = PATHNAME_REFUSED,
	    .status = 404, .checked_at = 48 });
	ck_assert_int_eq(get_info(p).kind, shared ? PATHNAME_FILE :
	    PATHNAME_REFUSED);
	find_version(p, 7, 0, 50);
	ck_assert_int_eq(p->file->version.mtime, 7);
	/* But an expired result is older than any. */
	path_info_expire(&paths, p, p->file);
	find_version(p, 8, 0, 10);
	ck_assert_int_eq(p->file->version.mtime, 8);
	pathname_release(&paths, &p);
}
END_TEST

/* But for a file that is closed and not in memory. */
START_TEST(lost)
{
	struct job_version	 v = { .mtime = 6, .size = 5000 };
	struct job_facts	 facts = { .mode = S_IFREG, .in_memory = true };
	struct path		*p = add_path(0);
	bool			 gone = _i == 1;

	paths.cache.lock = lock_new();
	path_info_found(&paths, p, &(struct path_info){ .kind = PATHNAME_FILE,
	    .checked_at = 50, .file = file_new(&files,
	    open("/dev/null", O_RDONLY), &v, &facts) }, 0);
	if (gone)
		cache_drop_unheld(&files.cache);
	ck_assert(file_is_sendable(p->file) == !gone);
	find_version(p, 5, 0, 49);
	ck_assert_int_eq(p->file->version.mtime, gone ? 5 : 6);
	pathname_release(&paths, &p);
}
END_TEST

START_TEST(expires)
{
	struct path	*p = add_path(0);
	struct file	*old;

	find_version(p, 5, 0, 10);
	old = file_refer(p->file);
	find_version(p, 6, 0, 20);
	path_info_expire(&paths, p, old);
	ck_assert_int_eq(get_info(p).checked_at, 20);
	path_info_expire(&paths, p, p->file);
	ck_assert_int_eq(get_info(p).checked_at, PATHNAME_EXPIRED);
	file_drop(&old);
	pathname_release(&paths, &p);
}
END_TEST

/* A head belongs to one version and its variants. */
START_TEST(heads_of_another)
{
	struct path	*p = add_path(0);
	struct path_info	 a = { .kind = 0 };
	struct head	*h;
	struct str	 bytes = { "                               ", 32 };

	find_version(p, 5, 1, 10);
	path_info_get(&paths, p, 0, &a);
	ck_assert_ptr_null(path_info_hold_head(&paths, p, &a, 0, &date));
	if (_i == 0)
		find_version(p, 6, 1, 20);
	else
		path_info_drop_variants(&paths, p, 1);
	ck_assert_ptr_null(path_info_put_head(&paths, p, &a, 0, bytes, 0,
	    &date));
	file_drop(&a.file);
	path_info_get(&paths, p, 0, &a);
	h = path_info_put_head(&paths, p, &a, 0, bytes, 0, &date);
	ck_assert_ptr_nonnull(h);
	header_release(&heads, &h);
	h = path_info_hold_head(&paths, p, &a, 0, &date);
	ck_assert_ptr_nonnull(h);
	header_release(&heads, &h);
	file_drop(&a.file);
	pathname_release(&paths, &p);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, init_caches, free_caches);
	tcase_add_test(tests, answer_takes_heads_along);
	tcase_add_loop_test(tests, heads_are_limited, 0, 2);
	tcase_add_test(tests, anew);
	tcase_add_test(tests, variant_wanted);
	tcase_add_test(tests, program);
	tcase_add_test(tests, size);
	tcase_add_test(tests, tried);
	tcase_add_test(tests, variants_expire);
	tcase_add_test(tests, fails);
	tcase_add_loop_test(tests, crossed, 0, 2);
	tcase_add_loop_test(tests, lost, 0, 2);
	tcase_add_test(tests, expires);
	tcase_add_loop_test(tests, heads_of_another, 0, 2);
}
