/*
 * Tests of keep: entries and paths that stay while there are others, up to their
 * share of a cache.
 */
#include <fcntl.h>
#include <stdio.h>

#include "cache/keep.h"
#include "cache/path_info.h"
#include "cache/pathname_private.h"
#include "cache/policy.h"
#include "t/unit/cache/files.h"

#define THINGS	2000
#define BYTES	10		/* of each */
#define ROOM	100		/* things that the cache has room for */
#define SHARE	(ROOM / KEEP_SHARE)

struct thing {
	struct cache_entry	entry;
	unsigned		number;
};

static struct cache	cache;
static struct thing	*things[THINGS];	/* NULL: not there */
static unsigned		nthings;		/* so far */
static struct pathname_cache	paths;
static struct header_cache	heads;

static void
drop_entry(struct cache *c, struct cache_entry *e)
{
	struct thing	*t = (struct thing *)e;

	things[t->number] = NULL;
	cache_remove(c, e, BYTES);
	free(t);
}

static void
describe_entry(const struct cache_entry *e, struct cache_item *item)
{
	item->bytes = item->whole = BYTES;
	item->key = ((const struct thing *)e)->number;
}

/* Entries in place of chunks. */
static void
begin(unsigned policy)
{
	cache_init(&cache, "test", 0, ROOM * BYTES, drop_entry);
	cache.describe = describe_entry;
	cache_set_policy(&cache, policies_all[policy]);
	nthings = 0;
}

static void
end(void)
{
	cache_drop_unheld(&cache);
	ck_assert_uint_eq(cache.entries, 0);
	ck_assert_uint_eq(cache.bytes, 0);
	ck_assert_uint_eq(keep_count(&cache), 0);
	cache_end(&cache);
}

static void
add(unsigned n, bool kept)
{
	struct thing	*t;

	for (; n > 0; n--) {
		t = mem_zero(sizeof(*t));
		t->number = nthings;
		things[nthings++] = t;
		cache_add(&cache, &t->entry, BYTES);
		if (kept)
			keep_add(&cache, &t->entry, BYTES);
		if (t->number % 3 == 0) {
			cache_hold(&t->entry);
			cache_release(&t->entry);
		}
		cache_trim(&cache);
	}
}

static unsigned
count(unsigned from, unsigned to)
{
	unsigned	n = 0;

	for (; from < to; from++)
		n += things[from] != NULL;
	return n;
}

/* Whatever comes, what is kept stays. */
START_TEST(stay)
{
	begin((unsigned)_i);
	add(SHARE, true);
	ck_assert_uint_eq(keep_count(&cache), SHARE * BYTES);
	ck_assert(!keep_take_full(&cache));
	add(1000, false);
	ck_assert_uint_eq(count(0, SHARE), SHARE);
	ck_assert_uint_eq(cache.entries, ROOM);
	/* No more than the share. */
	add(10, true);
	ck_assert_uint_eq(keep_count(&cache), SHARE * BYTES);
	ck_assert(keep_take_full(&cache));
	ck_assert(!keep_take_full(&cache));
	add(500, false);
	ck_assert_uint_eq(count(0, nthings), ROOM);
	ck_assert_uint_eq(count(0, SHARE), SHARE);
	/* One that goes by another way leaves room for another. */
	drop_entry(&cache, &things[7]->entry);
	ck_assert_uint_eq(keep_count(&cache), (SHARE - 1) * BYTES);
	add(1, true);
	ck_assert_uint_eq(keep_count(&cache), SHARE * BYTES);
	end();
}
END_TEST

/* If all others are held, what is kept goes. */
START_TEST(no_others)
{
	begin((unsigned)_i);
	add(SHARE, true);
	add(SHARE, false);
	for (unsigned i = SHARE; i < ROOM; i++)
		cache_hold_again(&things[i]->entry);
	cache_hold_again(&things[0]->entry);
	ck_assert_ptr_eq(cache_victim(&cache), &things[1]->entry);
	cache_requeue(&cache, &things[1]->entry);
	ck_assert_ptr_eq(cache_victim(&cache), &things[2]->entry);
	ck_assert_uint_eq(keep_count(&cache), SHARE * BYTES);
	for (unsigned i = 1; i < SHARE; i++)
		cache_hold_again(&things[i]->entry);
	ck_assert_ptr_null(cache_victim(&cache));
	for (unsigned i = 0; i < ROOM; i++)
		cache_release(&things[i]->entry);
	end();
}
END_TEST

/* With a lower limit, the share is less, and entries beyond it go first. */
START_TEST(lower_limit)
{
	begin((unsigned)_i);
	add(SHARE, true);
	add(SHARE, false);
	cache.limit_bytes = ROOM / 5 * BYTES;
	cache_trim(&cache);
	ck_assert_uint_eq(cache.entries, ROOM / 5);
	ck_assert_uint_eq(keep_count(&cache), ROOM / 5 / KEEP_SHARE * BYTES);
	ck_assert_uint_eq(count(SHARE, ROOM), ROOM / 5 / KEEP_SHARE);
	end();
}
END_TEST

/* A change of policy, from each to each, takes over all others. */
START_TEST(other_policy)
{
	unsigned	to = (unsigned)_i / POLICY_NUMBER;

	begin((unsigned)_i % POLICY_NUMBER);
	add(SHARE / 2, true);
	add(ROOM, false);
	policy_change(&cache, policies_all[to]);
	add(SHARE / 2, true);
	add(500, false);
	ck_assert_uint_eq(count(0, SHARE / 2), SHARE / 2);
	ck_assert_uint_eq(count(SHARE / 2 + ROOM, SHARE + ROOM), SHARE / 2);
	ck_assert_uint_eq(cache.entries, ROOM);
	ck_assert(!cache.order.foreign || to ==
	    (unsigned)_i % POLICY_NUMBER);
	end();
}
END_TEST

/*
 * Paths
 */

static void
begin_paths(unsigned policy, size_t limit)
{
	caches(1000 * KIB, RESIDENCY_AUTO);
	header_init(&heads, 4 * KIB);
	pathname_init(&paths, limit, &heads);
	cache_set_policy(&heads.cache, policies_all[policy]);
	cache_set_policy(&paths.cache, policies_all[policy]);
}

static void
end_paths(void)
{
	pathname_free(&paths);
	ck_assert_uint_eq(keep_count(&paths.cache), 0);
	header_free(&heads);
	file_free(&files);
	chunk_free(&chunks);
}

/* Paths that are files without bytes, with a head each. */
static void
ask_for(const char *form, unsigned n, bool kept)
{
	static const char	bytes[4 * HEADER_ALIGNMENT];
	struct header_date	date = { .text = "x", .len = 1, .wall = 1 };
	struct job_version	version = { .size = 0 };
	struct job_facts	facts = { .mode = S_IFREG };
	struct path_info	info = { .kind = PATHNAME_FILE };
	struct head		*h;
	struct path		*p;
	char			 name[2010];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), form, i);
		p = pathname_add(&paths, 0, str_of(name), NULL, false);
		version.ino = i + 1;
		info.file = file_new(&files, open("/dev/null", O_RDONLY |
		    O_CLOEXEC), &version, &facts);
		path_info_set(&paths, p, &info);
		if (kept)
			keep_path(&paths, p);
		h = header_put(&heads, &p->heads, 0, bytes, sizeof(bytes), 8,
		    &date);
		pathname_evict_heads(&paths);
		header_release(&heads, &h);
		pathname_release(&paths, &p);
	}
}

static unsigned
count_paths(const char *form, unsigned n, bool with_head)
{
	struct path	*p;
	unsigned	 found = 0;
	char		 name[2010];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), form, i);
		p = pathname_find(&paths, 0, str_of(name));
		found += p != NULL && (!with_head || p->heads != NULL);
	}
	return found;
}

START_TEST(paths_stay)
{
	begin_paths((unsigned)_i, ROOM);
	ask_for("/kept/%u", SHARE, true);
	ck_assert_uint_eq(keep_count(&paths.cache), SHARE);
	ask_for("/other/%u", 1000, false);
	ck_assert_uint_eq(count_paths("/kept/%u", SHARE, false), SHARE);
	ck_assert_uint_eq(paths.cache.entries, ROOM);
	ask_for("/more/%u", ROOM, true);
	ck_assert_uint_eq(keep_count(&paths.cache), SHARE);
	ck_assert(keep_take_full(&paths.cache));
	ck_assert_uint_eq(count_paths("/kept/%u", SHARE, false), SHARE);
	pathname_set_limit(&paths, ROOM / 5);
	pathname_trim(&paths);
	ck_assert_uint_le(keep_count(&paths.cache), ROOM / 5);
	ck_assert_uint_eq(paths.cache.entries, ROOM / 5);
	end_paths();
}
END_TEST

/* Heads of kept paths stay as long as there are enough others, and the cache of
 * heads keeps its limit. */
START_TEST(heads_stay)
{
	begin_paths((unsigned)_i, 1000);
	ask_for("/kept/%u", 5, true);
	ask_for("/other/%u", 300, false);
	ck_assert_uint_eq(count_paths("/kept/%u", 5, true), 5);
	ck_assert_uint_lt(heads.cache.bytes, 6 * KIB);
	ask_for("/more/%u", 300, true);
	ck_assert_uint_lt(heads.cache.bytes, 6 * KIB);
	end_paths();
}
END_TEST

/* Kept paths leave room for others, of bytes too, however long the names are. */
START_TEST(long_names)
{
	static char	form[2000];

	begin_paths((unsigned)_i, ROOM);
	memset(form, 'x', sizeof(form) - 3);
	form[0] = '/';
	strcpy(form + sizeof(form) - 3, "%u");
	ask_for(form, SHARE, true);
	ck_assert_uint_le(keep_count(&paths.cache), SHARE);
	ck_assert_uint_eq(count_paths(form, SHARE / 5, false), SHARE / 5);
	ck_assert(keep_take_full(&paths.cache));
	ask_for("/other/%u", 1000, false);
	ck_assert_uint_le(paths.cache.bytes, paths.cache.limit_bytes);
	ck_assert_uint_eq(count_paths(form, SHARE / 5, false), SHARE / 5);
	end_paths();
}
END_TEST

/* Another result, or a purge, is no longer kept; a directory never is. */
START_TEST(another_result)
{
	struct path_info	directory = { .kind = PATHNAME_DIRECTORY };
	struct path		*p;

	begin_paths(0, ROOM);
	ask_for("/%u", 1, true);
	ck_assert_uint_eq(keep_count(&paths.cache), 1);
	p = pathname_hold(&paths, 0, STR("/0"));
	keep_path(&paths, p);
	ck_assert_uint_eq(keep_count(&paths.cache), 1);
	path_info_set(&paths, p, &directory);
	ck_assert_uint_eq(keep_count(&paths.cache), 0);
	keep_path(&paths, p);
	ck_assert_uint_eq(keep_count(&paths.cache), 0);
	pathname_release(&paths, &p);
	end_paths();
}
END_TEST

/* All chunks of kept files stay, copied and mapped ones, and no others do. */
START_TEST(files_kept)
{
	struct file	*all[40];
	struct chunk	*k;

	chunk_init(&chunks, 400 * KIB, 0);
	file_init(&files, &chunks, 100, 64 * KIB, 16 * KIB, RESIDENCY_AUTO);
	for (unsigned i = 0; i < 40; i++) {
		all[i] = make(i == 0 ? 130 * KIB : 10 * KIB, true);
		ck_assert_int_eq(unlink(path), 0);
		if (i < 3)
			keep_file(all[i]);
		for (uint32_t n = 0; n < all[i]->nchunks; n++) {
			k = chunk_hold(&chunks, all[i], n);
			ck_assert_int_eq(chunk_ready(&chunks, k, 1),
			    CHUNK_READY);
			chunk_release(&chunks, &k);
		}
	}
	ck_assert_uint_gt(chunks.cache.evictions, 5);
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t n = 0; n < all[i]->nchunks; n++)
			ck_assert_ptr_nonnull(all[i]->chunks[n]);
	ck_assert_uint_gt(keep_count(&chunks.cache), 150 * KIB);
	ck_assert_uint_lt(keep_count(&chunks.cache), 152 * KIB);
	ck_assert_ptr_null(all[3]->chunks[0]);
	for (unsigned i = 0; i < 40; i++)
		file_drop(&all[i]);
	ck_assert_uint_eq(keep_count(&chunks.cache), 0);
	file_free(&files);
	chunk_free(&chunks);
}
END_TEST

/* Mappings have a limit of their own, of which kept ones get a share, so that
 * the limit holds. */
START_TEST(mappings_kept)
{
	struct file	*large, *other;
	struct chunk	*k;

	chunk_init(&chunks, 4000 * KIB, 6);
	file_init(&files, &chunks, 100, 64 * KIB, 16 * KIB, RESIDENCY_AUTO);
	large = make(640 * KIB, true);
	ck_assert_int_eq(unlink(path), 0);
	keep_file(large);
	other = make(640 * KIB, true);
	ck_assert_int_eq(unlink(path), 0);
	for (uint32_t i = 0; i < 2 * large->nchunks; i++) {
		k = chunk_hold(&chunks, i % 2 == 0 ? large : other, i / 2);
		ck_assert_int_eq(chunk_ready(&chunks, k, 1), CHUNK_READY);
		chunk_release(&chunks, &k);
		ck_assert_uint_le(chunks.mappings, 6);
		ck_assert_uint_le(chunks.kept_mappings, 3);
	}
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_ptr_nonnull(large->chunks[i]);
	ck_assert(keep_take_full(&chunks.cache));
	file_drop(&large);
	file_drop(&other);
	ck_assert_uint_eq(chunks.kept_mappings, 0);
	ck_assert_uint_eq(keep_count(&chunks.cache), 0);
	file_free(&files);
	chunk_free(&chunks);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, stay, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, no_others, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, lower_limit, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, other_policy, 0,
	    POLICY_NUMBER * POLICY_NUMBER);
	tcase_add_loop_test(tests, paths_stay, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, heads_stay, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, long_names, 0, POLICY_NUMBER);
	tcase_add_test(tests, another_result);
	tcase_add_test(tests, files_kept);
	tcase_add_test(tests, mappings_kept);
}
