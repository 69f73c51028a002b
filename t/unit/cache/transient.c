/*
 * Tests of transient: what a file that is too large for the cache leaves to
 * others, and what is given back to the system.
 */
#include <fcntl.h>

#include "cache/keep.h"
#include "cache/policy.h"
#include "cache/transient.h"
#include "t/unit/cache/files.h"

#define CHUNK		((size_t)64 * KIB)
#define CHUNKS		330		/* of the large file */
#define STRETCH		32		/* chunks that are given back at once */
#define LIMIT		(160 * CHUNK)	/* ten chunks may be transient */
#define PART		(LIMIT / TRANSIENT_SHARE)
#define OTHERS		148		/* chunks of files that are admitted */
#define ADMIT		((int64_t)(2 * CHUNK))

/* What was given back. */
static struct {
	int64_t		from[100];
	uint64_t	length[100];
	unsigned	n;
} given;

static void
close_fd(void *context, int fd, const struct job_range *range)
{
	(void)context;
	ck_assert_int_ne(fd, -1);
	close(fd);
	if (range->length == 0)
		return;
	ck_assert_int_eq(range->version.size, (int64_t)(CHUNKS * CHUNK - 1));
	ck_assert_uint_lt(given.n, 100);
	given.from[given.n] = range->offset;
	given.length[given.n++] = range->length;
}

static void
begin(size_t limit)
{
	memset(&given, 0, sizeof(given));
	chunk_init(&chunks, limit, 0);
	file_init(&files, &chunks, 0, CHUNK, 16 * KIB, RESIDENCY_AUTO);
	files.cache.limit_bytes = 0;
	files.close_fd = close_fd;
	files.admit = ADMIT;
}

static void
end(void)
{
	ck_assert_uint_eq(chunks.cache.entries, 0);
	ck_assert_uint_eq(chunks.cache.bytes, 0);
	ck_assert_uint_eq(chunks.transients.bytes, 0);
	file_free(&files);
	chunk_free(&chunks);
}

/* A file of that size, whose bytes are of no account. */
static struct file *
make_file(int64_t size, bool in_memory)
{
	static uint64_t		ino;
	struct job_version	version = { .ino = ++ino, .size = size };
	struct job_facts	facts = { .mode = S_IFREG | 0644,
				    .in_memory = in_memory };

	return file_new(&files, open("/dev/zero", O_RDONLY | O_CLOEXEC),
	    &version, &facts);
}

static struct file *
make_large(void)
{
	return make_file((int64_t)(CHUNKS * CHUNK - 1), false);
}

static void
ask_for(struct file *f, uint32_t index)
{
	struct chunk	*k = chunk_hold(&chunks, f, index);

	chunk_release(&chunks, &k);
}

/* As a client that takes all of it. */
static void
read_all(struct file *f)
{
	for (uint32_t i = 0; i < f->nchunks; i++) {
		ask_for(f, i);
		ck_assert_uint_le(chunks.cache.bytes, LIMIT);
		ck_assert_uint_le(chunks.transients.bytes, PART + 2 * CHUNK);
	}
}

/* The loop's number is a policy: the files that are admitted stay, though the
 * cache is full. */
START_TEST(others_stay)
{
	struct file	*others[OTHERS], *large, *more;

	begin(LIMIT);
	cache_set_policy(&chunks.cache, policies_all[_i]);
	for (int i = 0; i < OTHERS; i++) {
		others[i] = make_file(CHUNK, true);
		ask_for(others[i], 0);
	}
	large = make_large();
	read_all(large);
	read_all(large);
	ck_assert_uint_eq(chunks.transients.chunks, 2 * CHUNKS);
	for (int i = 0; i < OTHERS; i++)
		ck_assert_ptr_nonnull(others[i]->chunks[0]);
	/* What is admitted has the rest of the cache. */
	more = make_file(ADMIT, true);
	for (int i = 0; i < 20; i++) {
		ask_for(more, 0);
		ask_for(more, 1);
		file_drop(&others[i]);
		others[i] = make_file(CHUNK, true);
		ask_for(others[i], 0);
	}
	ck_assert_uint_gt(chunks.transients.bytes, PART / 2);
	for (int i = 0; i < OTHERS; i++)
		file_drop(&others[i]);
	file_drop(&more);
	file_drop(&large);
	end();
}
END_TEST

/* Each stretch is given back once, when its last chunk goes; the end of the
 * file, and what the system has read ahead, with the descriptor. */
START_TEST(stretches)
{
	struct file	*f;
	int64_t		 size = (int64_t)(CHUNKS * CHUNK - 1);
	unsigned	 n = (CHUNKS - 10) / STRETCH;

	begin(LIMIT);
	f = make_large();
	read_all(f);
	ck_assert_uint_eq(given.n, n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_eq(given.from[i],
		    (int64_t)(i * STRETCH * CHUNK));
		ck_assert_uint_eq(given.length[i], STRETCH * CHUNK);
	}
	file_drop(&f);
	ck_assert_uint_eq(given.n, n + 1);
	ck_assert_int_eq(given.from[n], 0);
	ck_assert_uint_eq(given.length[n], (uint64_t)size);
	end();
}
END_TEST

/* The last stretch is as long as the file is. */
START_TEST(last_stretch)
{
	struct file	*f;

	begin(LIMIT);
	f = make_large();
	ask_for(f, CHUNKS - 1);
	read_all(f);
	ck_assert_int_eq(given.from[0],
	    (int64_t)((CHUNKS / STRETCH) * STRETCH * CHUNK));
	ck_assert_uint_eq(given.length[0], CHUNKS % STRETCH * CHUNK - 1);
	file_drop(&f);
	end();
}
END_TEST

/* Clients that wait hold their next chunks, but only the part of such files: all
 * else in the cache stays. */
START_TEST(few_may_wait)
{
	struct file	*f;
	struct chunk	*held[CHUNKS];
	unsigned	 n = 0;

	begin(LIMIT);
	f = make_large();
	while (n < CHUNKS && transient_may_wait(&chunks, f)) {
		held[n] = chunk_hold(&chunks, f, n);
		n++;
	}
	ck_assert_uint_eq(n, PART / CHUNK);
	while (n > 0)
		chunk_release(&chunks, &held[--n]);
	file_drop(&f);
	end();
}
END_TEST

/* What one client holds, and the next chunks, stay while another client reads
 * all of the file. */
START_TEST(held_stay)
{
	struct file	*f;
	struct chunk	*k;
	unsigned	 before;

	begin(LIMIT);
	f = make_large();
	for (uint32_t i = STRETCH; i < STRETCH + 8; i++)
		ask_for(f, i);
	ck_assert(transient_may_wait(&chunks, f));
	k = chunk_hold(&chunks, f, STRETCH);
	for (uint32_t i = 2 * STRETCH; i < CHUNKS; i++)
		ask_for(f, i);
	for (uint32_t i = STRETCH; i < STRETCH + 8; i++)
		ck_assert((f->chunks[i] != NULL) == (i <= STRETCH + 4));
	before = given.n;
	for (unsigned i = 0; i < before; i++)
		ck_assert_int_ge(given.from[i],
		    (int64_t)(2 * STRETCH * CHUNK));
	chunk_release(&chunks, &k);
	for (uint32_t i = CHUNKS - STRETCH; i < CHUNKS; i++)
		ask_for(f, i);
	ck_assert_ptr_null(f->chunks[STRETCH]);
	ck_assert_uint_gt(given.n, before);
	file_drop(&f);
	end();
}
END_TEST

/* A client is about to begin the stretch, which the system may have read. */
START_TEST(begun_soon)
{
	struct file	*f;
	struct chunk	*k;

	begin(LIMIT);
	f = make_large();
	k = chunk_hold(&chunks, f, STRETCH - 1);
	ask_for(f, STRETCH + 10);
	for (uint32_t i = 4 * STRETCH; i < CHUNKS; i++)
		ask_for(f, i);
	ck_assert_ptr_null(f->chunks[STRETCH + 10]);
	for (unsigned i = 0; i < given.n; i++)
		ck_assert_int_ge(given.from[i],
		    (int64_t)(4 * STRETCH * CHUNK));
	chunk_release(&chunks, &k);
	file_drop(&f);
	end();
}
END_TEST

/* A file in memory or that only a helper reads has nothing to give back; neither
 * has a kept file or one of just that size, and these are not transient. */
START_TEST(not_given)
{
	struct file	*f[4];

	begin(3 * LIMIT);
	f[0] = make_file((int64_t)(CHUNKS * CHUNK), true);
	for (uint32_t i = 0; i < f[0]->nchunks; i++)
		ask_for(f[0], i);
	ck_assert_uint_eq(chunks.transients.chunks, CHUNKS);
	f[1] = make_large();
	keep_file(f[1]);
	f[2] = make_file(ADMIT, false);
	files.admit = INT64_MAX;	/* the default */
	f[3] = make_file((int64_t)1 << 34, false);
	for (int i = 1; i < 4; i++) {
		ask_for(f[i], 0);
		ck_assert(!transient_may_wait(&chunks, f[i]));
	}
	files.admit = ADMIT;
	ck_assert(!transient_may_wait(&chunks, f[2]));
	file_drop(&f[0]);
	file_drop(&f[1]);
	file_drop(&f[2]);
	files.admit = INT64_MAX;
	file_drop(&f[3]);
	ck_assert_uint_eq(given.n, 0);
	end();
}
END_TEST

/* Advice counts requests for first chunks, but none for a file of which a
 * policy can keep nothing. */
START_TEST(no_requests)
{
	struct cache	*c = &chunks.cache;
	struct file	*f;

	begin(LIMIT);
	f = make_large();
	for (int i = 0; i < 3; i++)
		ask_for(f, 0);
	ck_assert_uint_eq(c->hits, 2);
	ck_assert_uint_eq(c->hits + c->misses, chunks.advised.later);
	file_drop(&f);
	end();
}
END_TEST

/* The limit of mappings has a part for them, too. */
START_TEST(mappings)
{
	struct file	*f;

	begin(100 * LIMIT);
	chunks.limit_mappings = 10 * TRANSIENT_SHARE;
	f = make_large();
	for (uint32_t i = 0; i < CHUNKS; i++) {
		ask_for(f, i);
		ck_assert_uint_le(chunks.mappings, 12);
	}
	file_drop(&f);
	end();
}
END_TEST

/* With a lock the descriptors wait for file_tidy(), those of parts in half of
 * the places. */
static void
tidy_later(void *context)
{
	(void)context;
}

START_TEST(shared)
{
	struct file	*f;
	struct lock	*lock = lock_new();

	begin(LIMIT);
	files.cache.lock = chunks.cache.lock = lock;
	files.schedule_tidy = tidy_later;
	files.deferred_max = 4;
	f = make_large();
	read_all(f);
	ck_assert_uint_eq(given.n, 0);
	(void)file_tidy(&files, NULL);
	ck_assert_uint_eq(given.n, 2);
	file_drop(&f);
	while (file_tidy(&files, NULL))
		continue;
	ck_assert_uint_eq(given.n, 3);
	files.cache.lock = chunks.cache.lock = NULL;
	lock_free(&lock);
	end();
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, others_stay, 0, POLICY_NUMBER);
	tcase_add_test(tests, stretches);
	tcase_add_test(tests, last_stretch);
	tcase_add_test(tests, few_may_wait);
	tcase_add_test(tests, held_stay);
	tcase_add_test(tests, begun_soon);
	tcase_add_test(tests, not_given);
	tcase_add_test(tests, mappings);
	tcase_add_test(tests, no_requests);
	tcase_add_test(tests, shared);
}
