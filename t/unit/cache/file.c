/* Tests of files: which descriptors stay open, and how the others are closed.
 * */
#include <sys/mman.h>

#include <fcntl.h>
#include <stdio.h>

#include "t/unit/cache/files.h"

START_TEST(empty_file)
{
	struct file	*f;

	caches(1024 * KIB, RESIDENCY_AUTO);
	f = make(0, true);
	ck_assert_uint_eq(f->nchunks, 0);
	ck_assert_int_eq(file_fd(f), -1);
	ck_assert(chunk_is_complete(f));
	file_drop(&f);
	unlink(path);
}
END_TEST

START_TEST(descriptors)
{
	struct file	*f[8];
	char		 names[8][sizeof(path)];
	int		 open = 0;

	caches(1024 * KIB, RESIDENCY_AUTO);
	for (int i = 0; i < 8; i++) {
		f[i] = make(20000, true);
		memcpy(names[i], path, sizeof(path));
		if (i == 0)
			ck_assert_int_ne(file_hold(f[0]), -1);
	}
	for (int i = 0; i < 8; i++)
		open += file_fd(f[i]) != -1;
	ck_assert_int_eq(open, 4);
	ck_assert_int_ne(file_fd(f[0]), -1);		/* held */
	file_release(f[0]);
	for (int i = 0; i < 8; i++) {
		file_drop(&f[i]);
		unlink(names[i]);
	}
	ck_assert_uint_eq(files.cache.entries, 0);
}
END_TEST

/* Stands in for close_fd. */
static struct given {
	int		fd[8];
	uint64_t	dev;
	unsigned	n;
} given;

static void
close_fd(void *context, int fd, const struct job_range *range)
{
	struct given	*g = context;

	g->fd[g->n++] = fd;
	g->dev = range->version.dev;
}

static void
caches_that_defer(void)
{
	caches(1024 * KIB, RESIDENCY_AUTO);
	memset(&given, 0, sizeof(given));
	files.close_fd = close_fd;
	files.close_context = &given;
}

/* Counts the mappings of a file in this process. */
static unsigned
count_mappings(const char *name)
{
	FILE		*maps = fopen("/proc/self/maps", "r");
	char		 line[1000];
	unsigned	 n = 0;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		n += strstr(line, name) != NULL;
	if (maps != NULL)
		fclose(maps);
	return n;
}

/* The descriptor of a large file is closed when nothing else keeps the file. */
START_TEST(given_away)
{
	struct file	*f;
	struct chunk	*k;
	int		 fd;

	caches_that_defer();
	f = make(150000, true);
	fd = file_fd(f);
	for (uint32_t i = 0; i < f->nchunks; i++) {
		k = chunk_hold(&chunks, f, i);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		chunk_release(&chunks, &k);
	}
	ck_assert_uint_gt(count_mappings(path), 0);
	ck_assert_uint_eq(given.n, 0);
	f->version.dev = 77;
	if (_i == 0)
		file_drop(&f);
	else {				/* for others, and it stays known */
		cache_drop_unheld(&files.cache);
		ck_assert_int_eq(file_fd(f), -1);
	}
	ck_assert_uint_eq(given.n, 1);
	ck_assert_int_eq(given.fd[0], fd);
	ck_assert_uint_eq(given.dev, 77);
	ck_assert_uint_eq(count_mappings(path), 0);
	ck_assert_int_eq(close(fd), 0);		/* it was still open */
	if (f != NULL)
		file_drop(&f);
	ck_assert_uint_eq(given.n, 1);
	unlink(path);
}
END_TEST

/* A file from the cache directory has a version of its own, and can be
 * outdated; other files are their version. */
START_TEST(kept)
{
	struct job_version	 version = { .dev = 1, .ino = 2,
				    .size = 400 * KIB };
	struct job_facts	 facts = { .mode = S_IFREG, .in_memory = true };
	struct file		*f;
	bool			 is_kept = _i == 1;

	caches_that_defer();
	if (is_kept)
		facts.cached = (struct job_version){ .dev = 77, .ino = 3,
		    .size = 400 * KIB };
	f = file_new(&files, memfd_create("kept", 0), &version, &facts);
	ck_assert_mem_eq(&f->version, &version, sizeof(version));
	ck_assert_mem_eq(f->open_file->version, is_kept ? &facts.cached :
	    &version, sizeof(version));
	ck_assert(file_is_sendable(f));
	file_set_outdated(f);
	ck_assert(file_is_sendable(f) == !is_kept);
	file_drop(&f);
	ck_assert_uint_eq(given.n, 1);
	ck_assert_uint_eq(given.dev, is_kept ? 77 : 1);
	close(given.fd[0]);
}
END_TEST

static void
count_call(void *context)
{
	++*(int *)context;
}

/* A file with very many chunks is closed in slices, its descriptor last. */
START_TEST(given_slowly)
{
	struct file	*f;
	struct chunk	*k;
	int		 asked = 0, fd, turns = 0;
	unsigned	 before;

	caches_that_defer();
	file_free(&files);
	file_init(&files, &chunks, 4, 4 * KIB, KIB, RESIDENCY_AUTO);
	chunks.cache.limit_bytes = 0;
	files.close_fd = close_fd;
	files.close_context = &given;
	files.schedule_tidy = count_call;
	files.schedule_context = &asked;
	f = make(4 * KIB * 1000, true);
	fd = file_fd(f);
	for (uint32_t i = 0; i < f->nchunks; i++) {
		k = chunk_hold(&chunks, f, i);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		chunk_release(&chunks, &k);
	}
	if (_i == 0)			/* for others, and it stays known */
		cache_drop_unheld(&files.cache);
	else
		file_drop(&f);
	ck_assert_int_eq(asked, 1);
	ck_assert_uint_eq(files.cache.entries, 0);
	ck_assert_uint_eq(chunks.cache.entries, 1000);
	for (before = 1000; file_tidy(&files, NULL); turns++) {
		ck_assert_uint_eq(given.n, 0);
		ck_assert_uint_le(before - chunks.cache.entries, 200);
		before = (unsigned)chunks.cache.entries;
	}
	ck_assert_int_ge(turns, 5);
	ck_assert_uint_eq(chunks.cache.entries, 0);
	ck_assert_uint_eq(given.n, 1);
	ck_assert_int_eq(given.fd[0], fd);
	ck_assert_uint_eq(count_mappings(path), 0);
	ck_assert_int_eq(close(fd), 0);
	ck_assert(!file_tidy(&files, NULL));
	if (f != NULL)
		file_drop(&f);
	ck_assert_uint_eq(given.n, 1);
	unlink(path);
}
END_TEST

/* Descriptors of small files and of made files are closed at once. */
START_TEST(closed_here)
{
	struct job_version	 version = { .size = 400 * KIB };
	struct job_facts	 facts = { .mode = S_IFDIR | 0755,
				    .in_memory = true };
	struct file		*f;

	caches_that_defer();
	f = make(5000, false);
	file_drop(&f);
	unlink(path);
	f = make(0, false);
	file_drop(&f);
	unlink(path);
	f = file_new(&files, memfd_create("made", 0), &version, &facts);
	file_drop(&f);
	ck_assert_uint_eq(given.n, 0);
}
END_TEST

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

/* A made file is gone for good when it is dropped, with its chunks; held chunks
 * stay. */
START_TEST(made_ones)
{
	struct file	*f[4];
	struct chunk	*k;
	int		 held = -1;

	caches(1024 * KIB, RESIDENCY_AUTO);
	for (int i = 0; i < 4; i++) {
		struct job_version	version = { .size = 400 * KIB };
		struct job_facts	facts = { .mode = S_IFDIR | 0755,
					    .in_memory = true };
		int			fd = memfd_create("made", 0);

		ck_assert_int_eq(ftruncate(fd, 400 * KIB), 0);
		f[i] = file_new(&files, fd, &version, &facts);
		k = chunk_hold(&chunks, f[i], 0);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		chunk_release(&chunks, &k);
		ck_assert_uint_le(files.cache.bytes, 1024 * KIB);
		if (i == 1)
			held = file_hold(f[1]);
	}
	ck_assert_int_eq(file_fd(f[0]), -1);
	ck_assert(is_open(held));
	ck_assert_int_eq(file_fd(f[1]), held);
	ck_assert_int_eq(file_fd(f[2]), -1);
	ck_assert_ptr_null(f[0]->chunks[0]);
	ck_assert_ptr_nonnull(f[1]->chunks[0]);
	ck_assert_ptr_null(f[2]->chunks[0]);
	file_release(f[1]);
	for (int i = 0; i < 4; i++)
		file_drop(&f[i]);
	ck_assert(!is_open(held));
	ck_assert_uint_eq(files.cache.bytes, 0);
	ck_assert_uint_eq(chunks.cache.entries, 0);
}
END_TEST

/* Which files come whole: of two chunks of a handle's file, of a part of the
 * cache, that are admitted; none while clients hold more than it may have, or
 * copies of half of it are being made. */
START_TEST(whole_ones)
{
	struct job_version	 version = { .size = 9000 * KIB };
	struct job_facts	 facts = { .in_memory = true, .copy = true };
	struct file		*f[2];
	struct chunk		*k[2], *none = NULL;

	caches(1024 * KIB, RESIDENCY_AUTO);
	ck_assert_int_eq(file_whole_max(&files, 0), 64 * KIB);
	caches(16 * 1024 * KIB, RESIDENCY_AUTO);
	ck_assert_int_eq(file_whole_max(&files, 0), 512 * KIB);
	ck_assert_int_eq(file_whole_max(&files, 7680 * KIB), 512 * KIB);
	ck_assert_int_eq(file_whole_max(&files, 7681 * KIB), 0);
	files.admit = 100 * KIB;
	ck_assert_int_eq(file_whole_max(&files, 0), 100 * KIB);
	files.admit = INT64_MAX;
	for (int i = 0; i < 2; i++) {
		int	fd = memfd_create("made", 0);

		ck_assert_int_eq(ftruncate(fd, 9000 * KIB), 0);
		f[i] = file_new(&files, fd, &version, &facts);
		ck_assert_uint_eq(f[i]->nchunks, 1);
		k[i] = chunk_hold(&chunks, f[i], 0);
		ck_assert_int_eq(chunk_ready(&chunks, k[i], 0), CHUNK_READY);
		ck_assert_int_eq(file_fd(f[i]), -1);
	}
	ck_assert_int_eq(file_whole_max(&files, 0), 0);
	for (int i = 0; i < 2; i++)
		chunk_release(&chunks, &k[i]);
	ck_assert_int_eq(file_whole_max(&files, 0), 512 * KIB);
	/* One had to go: it must be looked up again. */
	ck_assert(chunk_is_complete(f[0]) != chunk_is_complete(f[1]));
	for (int i = 0; i < 2; i++)
		if (!chunk_is_complete(f[i])) {
			ck_assert(file_hold_source(f[i], &none) == FILE_LOST);
			file_unrefer(f[i]);
		}
	for (int i = 0; i < 2; i++)
		file_drop(&f[i]);
	ck_assert_uint_eq(chunks.cache.bytes, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, whole_ones);
	tcase_add_test(tests, empty_file);
	tcase_add_test(tests, descriptors);
	tcase_add_loop_test(tests, given_away, 0, 2);
	tcase_add_loop_test(tests, given_slowly, 0, 2);
	tcase_add_test(tests, closed_here);
	tcase_add_test(tests, made_ones);
	tcase_add_loop_test(tests, kept, 0, 2);
}
