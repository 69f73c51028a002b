/*
 * Tests of edges: which chunks are edges, what stays of a large file, and the
 * copies in place of mappings.
 */
#include <sys/mman.h>

#include <fcntl.h>

#include "cache/edges.h"
#include "cache/keep.h"
#include "cache/policy.h"
#include "lib/io.h"
#include "lib/pagemap.h"
#include "t/unit/cache/files.h"

#define CHUNK	((size_t)64 * KIB)
#define CHUNKS	130		/* of a file, which is closed slowly */
#define ROOM	(40 * CHUNK)	/* edges may have one chunk */
#define FILMS	10

static void
begin_caches(size_t limit)
{
	chunk_init(&chunks, limit, 0);
	file_init(&files, &chunks, 0, CHUNK, 16 * KIB, RESIDENCY_AUTO);
	files.cache.limit_bytes = 0;	/* for files without names */
}

static void
end_caches(void)
{
	chunk_free(&chunks);
}

/* A file of so many chunks, all of zeros. */
static struct file *
make_empty(uint32_t nchunks)
{
	struct job_version	version = { .size =
				    (int64_t)(nchunks * CHUNK) };
	struct job_facts	facts = { .in_memory = true };

	return file_new(&files, open("/dev/zero", O_RDONLY | O_CLOEXEC),
	    &version, &facts);
}

/* The chunk before, if it is there, is held. */
START_TEST(which)
{
	static const struct {
		uint32_t	nchunks, index;
		bool		before, edge;
	} cases[] = {
		{ 1, 0, false, false },
		{ EDGES_FILE_MIN - 1, 0, false, false },
		{ EDGES_FILE_MIN - 1, EDGES_FILE_MIN - 2, false, false },
		{ EDGES_FILE_MIN, 0, false, true },
		{ EDGES_FILE_MIN, 2, true, false },
		{ EDGES_FILE_MIN, 2, false, false },
		{ EDGES_FILE_MIN, EDGES_FILE_MIN - 2, false, false },
		{ EDGES_FILE_MIN, EDGES_FILE_MIN - 1, false, true },
		{ EDGES_FILE_MIN, EDGES_FILE_MIN - 1, true, false },
		{ 1000, 0, false, true },
		{ 1000, 500, false, false },
		{ 1000, 999, false, true },
		{ 1000, 999, true, false },
	};
	struct file	*f;
	struct chunk	*k, *before = NULL;

	begin_caches(0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f = make_empty(cases[i].nchunks);
		if (cases[i].before)
			before = chunk_hold(&chunks, f, cases[i].index - 1);
		k = chunk_hold(&chunks, f, cases[i].index);
		ck_assert_msg(k->edge == cases[i].edge, "case %zu", i);
		ck_assert_uint_eq(chunks.cache.edges,
		    cases[i].edge ? sizeof(*k) + CHUNK : 0);
		chunk_release(&chunks, &k);
		if (before != NULL)
			chunk_release(&chunks, &before);
		file_drop(&f);
		ck_assert_uint_eq(chunks.cache.edges, 0);
	}
}
END_TEST

/* Kept edges are not in the part that edges may have. */
START_TEST(kept)
{
	struct file	*f;
	struct chunk	*k;

	begin_caches(ROOM);
	f = make_empty(CHUNKS);
	keep_file(f);
	k = chunk_hold(&chunks, f, 0);
	ck_assert(k->edge);
	ck_assert_uint_eq(keep_count(&chunks.cache), sizeof(*k) + CHUNK);
	ck_assert_uint_eq(chunks.cache.edges, 0);
	chunk_release(&chunks, &k);
	file_drop(&f);
	ck_assert_uint_eq(keep_count(&chunks.cache), 0);
	ck_assert_uint_eq(chunks.cache.edges, 0);
}
END_TEST

static void
ask_for(struct file *f, uint32_t index)
{
	struct chunk	*k = chunk_hold(&chunks, f, index);

	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
	chunk_release(&chunks, &k);
}

/* Asks for chunks of another file that are no edges, for which there is not
 * enough room. */
static void
fill_cache(struct file *f)
{
	for (uint32_t i = 1; i + 1 < f->nchunks; i++)
		ask_for(f, i);
}

static struct file *
make_film(bool in_memory)
{
	struct file	*f = make(CHUNKS * CHUNK, in_memory);

	unlink(path);
	return f;
}

/* The loop's number is a policy: the first chunk stays, the second goes. */
START_TEST(first_stays)
{
	struct file	*film, *other;

	begin_caches(ROOM);
	cache_set_policy(&chunks.cache, policies_all[_i]);
	film = make_film(true);
	other = make_film(true);
	ask_for(film, 0);
	ask_for(film, 1);
	for (int i = 0; i < 10; i++)
		fill_cache(other);
	ck_assert_ptr_nonnull(film->chunks[0]);
	ck_assert_ptr_null(film->chunks[1]);
	ck_assert(!film->chunks[0]->complete);	/* in memory anyway */
	ck_assert_uint_le(chunks.cache.bytes, ROOM);
	file_drop(&film);
	file_drop(&other);
	ck_assert_uint_eq(chunks.cache.edges, 0);
}
END_TEST

/* There is room for one edge only, the first or the last of a file. */
START_TEST(more_go)
{
	struct file	*films[FILMS], *other;
	int		 there = 0;

	begin_caches(ROOM);
	cache_set_policy(&chunks.cache, policies_all[_i]);
	other = make_empty(CHUNKS);
	for (int i = 0; i < FILMS; i++) {
		films[i] = make_empty(CHUNKS);
		ask_for(films[i], i % 2 == 0 ? 0 : CHUNKS - 1);
	}
	for (int i = 0; i < 10; i++)
		fill_cache(other);
	for (int i = 0; i < FILMS; i++) {
		there += films[i]->chunks[0] != NULL ||
		    films[i]->chunks[CHUNKS - 1] != NULL;
		file_drop(&films[i]);
	}
	ck_assert_int_eq(there, 1);
	file_drop(&other);
}
END_TEST

/* A file on a disk, and a chunk in the place of its first. */
static struct file *
begin_on_disk(void)
{
	struct file	*f;

	begin_caches(ROOM);
	chunks.pagemap = pagemap_open();
	f = make_film(false);
	if (f->method == RESIDENT_NOWAIT)
		ask_for(f, 0);
	return f;
}

static void
end_on_disk(struct file *f)
{
	io_close(&chunks.pagemap);
	file_drop(&f);
	ck_assert_uint_eq(chunks.cache.bytes, 0);
}

static void
make_room(void)
{
	struct file	*other = make_empty(CHUNKS);

	fill_cache(other);
	file_drop(&other);
}

/* The copy is sent as any copy, whatever becomes of the file's pages. */
START_TEST(is_copied)
{
	struct file	*f = begin_on_disk();
	struct chunk	*k;

	if (f->method != RESIDENT_NOWAIT)
		goto out;		/* nothing is copied here */
	make_room();
	k = f->chunks[0];
	ck_assert_ptr_nonnull(k);
	ck_assert(k->complete);
	ck_assert_int_eq(ftruncate(file_fd(f), 0), 0);
	k = chunk_hold(&chunks, f, 0);
	ck_assert(!chunk_prefers_sendfile(k));
	ck_assert_int_eq(chunk_ready(&chunks, k, INT64_MAX), CHUNK_READY);
	for (uint32_t i = 0; i < chunk_len(k); i++)
		ck_assert_int_eq(chunk_bytes(k)[i], (char)(i % 251));
	chunk_release(&chunks, &k);
	make_room();
	ck_assert_ptr_nonnull(f->chunks[0]);
out:
	end_on_disk(f);
}
END_TEST

/* The limit of mappings is reached first.  Edges may have a part of them. */
START_TEST(mappings)
{
	struct file	*films[FILMS];
	int		 there = 0;

	begin_caches(100 * ROOM);
	chunks.limit_mappings = 2 * EDGES_SHARE;
	for (int i = 0; i < FILMS; i++) {
		films[i] = make_empty(CHUNKS);
		ask_for(films[i], 0);
	}
	make_room();
	make_room();
	ck_assert_uint_le(chunks.mappings, chunks.limit_mappings);
	for (int i = 0; i < FILMS; i++) {
		there += films[i]->chunks[0] != NULL;
		file_drop(&films[i]);
	}
	ck_assert_int_eq(there, 2);
	ck_assert_uint_eq(chunks.mappings, 0);
}
END_TEST

/* When much has been copied, an edge stays a mapping until the next search. */
START_TEST(copied_later)
{
	struct file	*f = begin_on_disk();
	struct chunk	*k = f->chunks[0];

	if (k == NULL)
		goto out;
	chunks.copied = EDGES_COPIED_MAX;
	ck_assert(edges_keep(&chunks, k));
	ck_assert(!k->complete);
	make_room();
	ck_assert_ptr_eq(f->chunks[0], k);
	ck_assert(k->complete);
out:
	end_on_disk(f);
}
END_TEST

/* The pages of a changed file are those of another version. */
START_TEST(changed_goes)
{
	const struct timespec	 times[2] = { { 1, 0 }, { 1, 0 } };
	struct file		*f = begin_on_disk();

	ck_assert_int_eq(futimens(file_fd(f), times), 0);
	make_room();
	ck_assert_ptr_null(f->chunks[0]);
	end_on_disk(f);
}
END_TEST

static void
tidy_later(void *context)
{
	(void)context;
}

/* A file that is closed chunk by chunk keeps none of them. */
START_TEST(closing_goes)
{
	struct file	*f = begin_on_disk();

	make_room();
	files.schedule_tidy = tidy_later;
	cache_drop_unheld(&files.cache);
	ck_assert_ptr_null(f->open_file);
	if (f->method == RESIDENT_NOWAIT)
		ck_assert_ptr_nonnull(f->chunks[0]);
	make_room();
	ck_assert_ptr_null(f->chunks[0]);
	files.schedule_tidy = NULL;
	while (file_tidy(&files, NULL))
		;
	end_on_disk(f);
}
END_TEST

/* An edge whose pages have gone has nothing to keep.  Where the kernel keeps
 * them, the test does nothing. */
START_TEST(absent_goes)
{
	struct file	*f = begin_on_disk();
	struct chunk	*k = f->chunks[0];
	bool		 gone = false;

#ifdef MADV_PAGEOUT
	fsync(file_fd(f));
	for (int i = 0; i < 100 && !gone && k != NULL && k->fetch.in_pagemap;
	    i++) {
		(void)madvise(k->at, k->len, MADV_PAGEOUT);
		gone = pagemap_present(chunks.pagemap, k->at, k->len) < k->len;
	}
#endif
	if (gone) {
		make_room();
		ck_assert_ptr_null(f->chunks[0]);
	}
	end_on_disk(f);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, NULL, end_caches);
	tcase_add_test(tests, which);
	tcase_add_test(tests, kept);
	tcase_add_loop_test(tests, first_stays, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, more_go, 0, POLICY_NUMBER);
	tcase_add_test(tests, is_copied);
	tcase_add_test(tests, mappings);
	tcase_add_test(tests, copied_later);
	tcase_add_test(tests, changed_goes);
	tcase_add_test(tests, closing_goes);
	tcase_add_test(tests, absent_goes);
}
