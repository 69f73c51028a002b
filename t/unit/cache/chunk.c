/* Tests of chunks: mapped, copied, resident, evicted. */
#include <sys/mman.h>

#include <fcntl.h>
#include <stddef.h>

#include "cache/pathname.h"
#include "lib/io.h"
#include "lib/pagemap.h"
#include "t/unit/cache/files.h"

static void
check_bytes(struct chunk *k)
{
	int64_t	at = chunk_start(k);

	for (uint32_t i = 0; i < chunk_len(k); i += 97)
		ck_assert_int_eq(chunk_bytes(k)[i], (char)((at + i) % 251));
}

START_TEST(small_is_copied)
{
	struct file	*f;
	struct chunk	*k;

	caches(1024 * KIB, RESIDENCY_AUTO);
	f = make(5000, true);
	ck_assert_uint_eq(f->nchunks, 1);
	k = chunk_hold(&chunks, f, 0);
	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
	ck_assert(k->file->small);
	check_bytes(k);
	ck_assert(chunk_is_complete(f));
	ck_assert_int_eq(file_fd(f), -1);	/* no longer needed */
	ck_assert_int_eq(chunk_ready(&chunks, k, 1000000), CHUNK_READY);
	chunk_release(&chunks, &k);
	file_drop(&f);
	ck_assert_uint_eq(chunks.cache.entries, 0);
	ck_assert_uint_eq(files.cache.entries, 0);
	unlink(path);
}
END_TEST

/* Copies have any length, even less than that of a pointer. */
START_TEST(small_of_any_size)
{
	struct file	*f;
	struct chunk	*k;

	caches(1024 * KIB, RESIDENCY_AUTO);
	for (size_t size = 1; size < 20; size++) {
		f = make(size, true);
		k = chunk_hold(&chunks, f, 0);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		for (size_t i = 0; i < size; i++)
			ck_assert_int_eq(chunk_bytes(k)[i], (char)i);
		chunk_release(&chunks, &k);
		file_drop(&f);
		unlink(path);
	}
	ck_assert_uint_eq(chunks.cache.bytes, 0);
}
END_TEST

/* Memory of a cached small file besides its contents, the bytes of its head and
 * its name: there may be a million, so more needs a good reason. */
START_TEST(records)
{
	if (sizeof(void *) != 8)
		return;			/* other words, other sums */
	ck_assert_uint_le(offsetof(struct path, name), 62);
	ck_assert_uint_le(sizeof(struct head), 32);
	ck_assert_uint_le(sizeof(struct file) + sizeof(struct chunk *), 80);
	ck_assert_uint_le(CHUNK_SMALL, 32);
	/* Each request copies resident bytes again. */
	ck_assert_uint_eq(CHUNK_SMALL % 16, 0);
}
END_TEST

START_TEST(large_is_mapped)
{
	struct file	*f;
	struct chunk	*k;

	caches(1024 * KIB, RESIDENCY_AUTO);
	f = make(150000, true);
	ck_assert_uint_eq(f->nchunks, 3);
	for (uint32_t i = 0; i < 3; i++) {
		k = chunk_hold(&chunks, f, i);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		ck_assert_ptr_nonnull(k->at);
		ck_assert_uint_eq(chunk_len(k), i < 2 ? 64 * KIB :
		    150000 - 128 * KIB);
		check_bytes(k);
		chunk_release(&chunks, &k);
	}
	ck_assert(!chunk_is_complete(f));
	ck_assert_uint_eq(chunk_index(f, 0), 0);
	ck_assert_uint_eq(chunk_index(f, 65535), 0);
	ck_assert_uint_eq(chunk_index(f, 65536), 1);
	ck_assert_uint_eq(chunk_index(f, 149999), 2);
	file_drop(&f);
	unlink(path);
}
END_TEST

START_TEST(limit_unmaps)
{
	struct file	*f;
	struct chunk	*first, *k;

	caches(200 * KIB, RESIDENCY_AUTO);
	f = make(640 * KIB, true);
	first = chunk_hold(&chunks, f, 0);
	ck_assert_int_eq(chunk_ready(&chunks, first, 0), CHUNK_READY);
	for (uint32_t i = 1; i < f->nchunks; i++) {
		k = chunk_hold(&chunks, f, i);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		chunk_release(&chunks, &k);
		ck_assert_uint_le(chunks.cache.bytes, 270 * KIB);
	}
	ck_assert_ptr_eq(f->chunks[0], first);	/* still held */
	ck_assert_ptr_null(f->chunks[1]);
	check_bytes(first);
	chunk_release(&chunks, &first);
	file_drop(&f);
	ck_assert_uint_eq(chunks.cache.bytes, 0);
	unlink(path);
}
END_TEST

static void
ask_for(struct file *f, uint32_t index)
{
	struct chunk	*k = chunk_hold(&chunks, f, index), *again;

	again = chunk_hold_again(&chunks, k);
	chunk_release(&chunks, &again);
	chunk_release(&chunks, &k);
}

/* What was asked for once goes first. */
START_TEST(once)
{
	struct file	*f;

	caches(200 * KIB, RESIDENCY_AUTO);
	f = make(640 * KIB, true);
	for (uint32_t i = 0; i < 3; i++)
		ask_for(f, i);
	ask_for(f, 0);
	ask_for(f, 3);
	ck_assert_ptr_nonnull(f->chunks[0]);
	ck_assert_ptr_null(f->chunks[1]);
	file_drop(&f);
	unlink(path);
}
END_TEST

/* Held chunks may exceed the limit, but only while they are held. */
START_TEST(limit_after_holds)
{
	struct file	*f;
	struct chunk	*held[10];

	caches(200 * KIB, RESIDENCY_AUTO);
	f = make(640 * KIB, true);
	ck_assert_uint_eq(f->nchunks, 10);
	for (uint32_t i = 0; i < 10; i++) {
		held[i] = chunk_hold(&chunks, f, i);
		ck_assert_int_eq(chunk_ready(&chunks, held[i], 0), CHUNK_READY);
	}
	ck_assert_uint_gt(chunks.cache.bytes, 640 * KIB);
	for (uint32_t i = 0; i < 10; i++)
		chunk_release(&chunks, &held[i]);
	ck_assert_uint_le(chunks.cache.bytes, 200 * KIB);
	ck_assert_uint_ge(chunks.cache.bytes, 128 * KIB);	/* no more */
	file_drop(&f);
	ck_assert_uint_eq(chunks.cache.bytes, 0);
	unlink(path);
}
END_TEST

/* With a disabled cache a chunk goes with its last hold; the descriptor stays.
 * */
START_TEST(off)
{
	struct file	*f;
	struct chunk	*k, *again;

	for (size_t size = 100; size <= 100 * KIB; size *= 1024) {
		caches(200 * KIB, RESIDENCY_AUTO);
		cache_disable(&chunks.cache);
		f = make(size, true);
		for (int i = 0; i < 3; i++) {
			k = chunk_hold(&chunks, f, 0);
			again = chunk_hold(&chunks, f, 0);
			ck_assert_ptr_eq(k, again);
			ck_assert_int_eq(chunk_ready(&chunks, k, 0),
			    CHUNK_READY);
			chunk_release(&chunks, &again);
			check_bytes(k);
			chunk_release(&chunks, &k);
			ck_assert_ptr_null(f->chunks[0]);
			ck_assert_int_ne(file_fd(f), -1);
		}
		ck_assert_uint_eq(chunks.cache.entries, 0);
		ck_assert_uint_eq(chunks.mappings, 0);
		file_drop(&f);
		file_free(&files);
		chunk_free(&chunks);
		unlink(path);
	}
}
END_TEST

/* The number of mappings is limited; copies need none, and stay. */
START_TEST(limit_counts_mappings)
{
	struct file	*small[20], *large;
	struct chunk	*k;

	chunk_init(&chunks, 0, 3);
	file_init(&files, &chunks, 0, 64 * KIB, 16 * KIB, RESIDENCY_AUTO);
	large = make(640 * KIB, true);
	unlink(path);
	for (uint32_t i = 0; i < 20; i++) {
		small[i] = make(100, true);
		unlink(path);
		k = chunk_hold(&chunks, small[i], 0);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		chunk_release(&chunks, &k);
		k = chunk_hold(&chunks, large, i % large->nchunks);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		chunk_release(&chunks, &k);
		ck_assert_uint_le(chunks.mappings, 3);
	}
	ck_assert_uint_eq(chunks.cache.entries, 23);
	for (int i = 0; i < 20; i++) {
		ck_assert(chunk_is_complete(small[i]));
		file_drop(&small[i]);
	}
	file_drop(&large);
	ck_assert_uint_eq(chunks.mappings, 0);
}
END_TEST

START_TEST(predicted)
{
	struct file	*f;
	struct chunk	*k;

	caches(1024 * KIB, RESIDENCY_PREDICT);
	f = make(100000, false);
	ck_assert_int_eq(f->method, RESIDENT_PREDICT);
	k = chunk_hold(&chunks, f, 0);
	ck_assert_int_eq(chunk_ready(&chunks, k, 5000), CHUNK_ABSENT);
	ck_assert_int_eq(chunk_ready(&chunks, k, 5000), CHUNK_ABSENT);
	chunk_loaded(k, 5000, 0, false);
	ck_assert_int_eq(chunk_ready(&chunks, k, 5000), CHUNK_READY);
	ck_assert_int_eq(
	    chunk_ready(&chunks, k, 5000 + 2 * RESIDENT_PREDICTED - 1),
	    CHUNK_READY);
	/* A prediction expires; after a read from the disk it expires sooner.
	 * */
	ck_assert_int_eq(chunk_ready(&chunks, k, 5000 + 2 * RESIDENT_PREDICTED),
	    CHUNK_ABSENT);
	chunk_loaded(k, 10000, 50, false);
	ck_assert_int_eq(chunk_ready(&chunks, k, 10000 + RESIDENT_PREDICTED),
	    CHUNK_ABSENT);
	ck_assert_uint_eq(chunks.absent, 4);
	chunk_release(&chunks, &k);
	file_drop(&f);
	unlink(path);
}
END_TEST

/* The copy of a helper is mapped, or copied again. */
START_TEST(copies)
{
	static const size_t	 sizes[] = { 5000, 150000 };
	struct job_version	 version = { .size = (int64_t)sizes[_i] };
	struct job_facts	 facts = { .handle = true };
	struct file		*f;
	struct chunk		*k;
	int			 copy, fd;

	caches(1024 * KIB, RESIDENCY_NEVER);	/* has no effect on handles */
	fd = open("/", O_PATH);
	f = file_new(&files, fd, &version, &facts);
	ck_assert_int_eq(f->method, RESIDENT_COPY);
	ck_assert(file_is_copied(f));
	k = chunk_hold(&chunks, f, 0);
	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_ABSENT);
	copy = memfd_create("copy", 0);
	ck_assert_int_eq(ftruncate(copy, chunk_len(k)), 0);
	ck_assert_int_eq(pwrite(copy, "x", 1, chunk_len(k) - 1), 1);
	ck_assert_int_eq(chunk_adopt_copy(k, copy), 0);
	close(copy);
	ck_assert(f->small == (_i == 0));
	ck_assert_int_eq(chunk_bytes(k)[chunk_len(k) - 1], 'x');
	ck_assert_int_eq(chunk_ready(&chunks, k, INT64_MAX), CHUNK_READY);
	ck_assert(chunk_is_complete(f) == (_i == 0));
	ck_assert((file_fd(f) == -1) == (_i == 0));
	chunk_release(&chunks, &k);
	file_drop(&f);
	ck_assert_uint_eq(chunks.cache.bytes, 0);
}
END_TEST

/* Tries to evict a file from memory.  mincore(2) on a file of our own starts no
 * reading.  A page may be on a list of some processor for a moment. */
static bool
evict_chunks(int fd, size_t size)
{
	unsigned char	 there[16];
	void		*map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	bool		 gone = false;

	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_uint_le(size, sizeof(there) * 4096);
	fsync(fd);
	for (int i = 0; i < 1000 && !gone; i++) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		ck_assert_int_eq(mincore(map, size, there), 0);
		gone = true;
		for (size_t p = 0; p < size / 4096; p++)
			gone = gone && (there[p] & 1) == 0;
	}
	munmap(map, size);
	return gone;
}

/* The kernel tells the truth about files of our own only. */
START_TEST(our_own)
{
	struct job_facts mine = { .mode = S_IFREG | 0644, .uid = geteuid() };
	struct file	*f;
	struct chunk	*k;

	caches(4096 * KIB, RESIDENCY_MINCORE);
	f = make(64 * KIB, false);
	ck_assert_int_eq(f->method, RESIDENT_PREDICT);	/* another user's */
	file_drop(&f);
	unlink(path);
	f = make(64 * KIB, false);
	f->method = residency_choose(RESIDENCY_MINCORE, f, &mine);
	ck_assert_int_eq(f->method, RESIDENT_MINCORE);
	k = chunk_hold(&chunks, f, 0);
	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
	chunk_release(&chunks, &k);
	chunk_drop_all(&chunks, f);
	if (evict_chunks(file_fd(f), 64 * KIB)) {
		k = chunk_hold(&chunks, f, 0);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_ABSENT);
		chunk_release(&chunks, &k);
	}
	file_drop(&f);
	unlink(path);
}
END_TEST

START_TEST(in_memory_anyway)
{
	struct file	*f;

	caches(4096 * KIB, RESIDENCY_NOWAIT);
	f = make(64 * KIB, true);
	ck_assert_int_eq(f->method, RESIDENT_NEVER);
	ck_assert_uint_eq(files.methods[RESIDENT_NEVER], 1);
	file_drop(&f);
	unlink(path);
}
END_TEST

/* Holds a new chunk of a file that is not in memory; NULL: not possible.  A
 * look begins to read, and a quick disk may be done before its result. */
static struct chunk *
hold_absent(struct file *f)
{
	struct chunk	*k;

	for (int i = 0; i < 100 && evict_chunks(file_fd(f), 64 * KIB); i++) {
		k = chunk_hold(&chunks, f, 0);
		if (chunk_ready(&chunks, k, 0) == CHUNK_ABSENT)
			return k;
		chunk_release(&chunks, &k);
		chunk_drop_unheld(&chunks, f);
	}
	return NULL;
}

/* The evicted pages of another user's file are detected.  Where the kernel
 * keeps them, or cannot tell, the test does nothing. */
START_TEST(evicted)
{
	struct file	*f;
	struct chunk	*k;

	caches(4096 * KIB, RESIDENCY_AUTO);
	f = make(64 * KIB, false);
	if (f->method == RESIDENT_NOWAIT && (k = hold_absent(f)) != NULL) {
		for (off_t at = 0; at < 64 * (off_t)KIB; at += 4096)
			ck_assert_int_eq(pread(file_fd(f), &(char){ 0 }, 1,
			    at), 1);
		ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
		chunk_release(&chunks, &k);
	}
	file_drop(&f);
	unlink(path);
}
END_TEST

/* Evicts pages from under a mapping, as the kernel does when memory is short;
 * only the owner of the file may. */
static bool
push_out(const struct chunk *k)
{
#ifdef MADV_PAGEOUT
	fsync(file_fd(k->file));
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(madvise(k->at, k->len, MADV_PAGEOUT), 0);
		if (pagemap_present(chunks.pagemap, k->at, k->len) < k->len)
			return true;
	}
#else
	(void)k;
#endif
	return false;
}

/* A chunk that was read is looked up in pagemap for a while, then read again to
 * count as used.  A chunk sent by sendfile() need not be read again. */
START_TEST(looked_at)
{
	static char	 bytes[64 * KIB];
	int64_t		 now = 100000;
	struct file	*f;
	struct chunk	*k;

	caches(4096 * KIB, RESIDENCY_AUTO);
	chunks.pagemap = pagemap_open();
	f = make(64 * KIB, false);
	k = chunk_hold(&chunks, f, 0);
	ck_assert_int_eq(chunk_ready(&chunks, k, 1), CHUNK_READY);
	ck_assert(!chunk_prefers_sendfile(k));
	if (f->method != RESIDENT_NOWAIT || chunks.pagemap == -1 ||
	    pagemap_present(chunks.pagemap, k->at, k->len) < k->len)
		goto out;		/* nothing to be seen here */
	ck_assert_int_eq(chunk_ready(&chunks, k, RESIDENT_REREAD), CHUNK_READY);
	ck_assert_int_eq(k->fetch.resident_until,
	    RESIDENT_REREAD + RESIDENT_VERIFIED);
	ck_assert_uint_eq(k->fetch.read_at, 1);
	ck_assert(!chunk_prefers_sendfile(k));
	ck_assert_int_eq(chunk_ready(&chunks, k, 2 * RESIDENT_REREAD),
	    CHUNK_READY);
	ck_assert_uint_eq(k->fetch.read_at, 2 * RESIDENT_REREAD);
	ck_assert(chunk_prefers_sendfile(k));
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k, now, 1), CHUNK_READY);
	ck_assert_uint_eq(k->fetch.read_at, 2 * RESIDENT_REREAD);
	do {
		now += 20;
		if (now > 110000 || !push_out(k) ||
		    !evict_chunks(file_fd(f), 64 * KIB))
			goto out;
	} while (chunk_ready_sendfile(&chunks, k, now, 1) != CHUNK_ABSENT);
	/* An evicted chunk may be back only if a helper has read it or one
	 * before it. */
	ck_assert_int_eq(pread(file_fd(f), bytes, sizeof(bytes), 0), 64 * KIB);
	if (k->fetch.in_pagemap)
		ck_assert_int_eq(chunk_ready_sendfile(&chunks, k, now + 10, 1),
		    CHUNK_ABSENT);
	f->open_file->read_end = k->index;
	/* While memory is short, a look is good for one moment. */
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k, now + 10, 1),
	    CHUNK_READY);
	ck_assert_int_le(k->fetch.resident_until, now + 10);
	now += 10 + RESIDENT_SHORTAGE;
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k, now, 1), CHUNK_READY);
	ck_assert_int_gt(k->fetch.resident_until, now);
out:
	io_close(&chunks.pagemap);
	chunk_release(&chunks, &k);
	file_drop(&f);
	unlink(path);
}
END_TEST

/* One look covers the chunks that follow, if sendfile() will send them. */
START_TEST(looked_at_together)
{
	const int64_t	 all = 300 * KIB;
	int64_t		 later = 10;
	struct file	*f;
	struct chunk	*k[5];

	caches(4096 * KIB, RESIDENCY_AUTO);
	chunks.pagemap = pagemap_open();
	f = make((size_t)all, false);
	for (uint32_t i = 0; i < 5; i++) {
		k[i] = chunk_hold(&chunks, f, i);
		ck_assert_int_eq(chunk_ready(&chunks, k[i], 0), CHUNK_READY);
		k[i]->fetch.read_twice = true;
	}
	if (!k[4]->fetch.in_pagemap)
		goto out;		/* nothing to be seen here */
	for (uint32_t i = 1; i < 5; i++)
		if (k[i]->at != k[i - 1]->at + 64 * KIB)
			goto out;	/* and not adjacent */
	/* A chunk that is sent from its mapping is read now and then. */
	k[3]->fetch.read_twice = false;
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k[1], later, all),
	    CHUNK_READY);
	ck_assert_int_eq(k[0]->fetch.resident_until, RESIDENT_VERIFIED);
	ck_assert_int_eq(k[1]->fetch.resident_until, later + RESIDENT_VERIFIED);
	ck_assert_int_eq(k[2]->fetch.resident_until, later + RESIDENT_VERIFIED);
	ck_assert_int_eq(k[3]->fetch.resident_until, RESIDENT_VERIFIED);
	/* The last chunk is shorter. */
	k[3]->fetch.read_twice = true;
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k[3], later, all),
	    CHUNK_READY);
	ck_assert_int_eq(k[3]->fetch.resident_until, later + RESIDENT_VERIFIED);
	ck_assert_int_eq(k[4]->fetch.resident_until, RESIDENT_VERIFIED);
	/* Chunks that are not asked for; one that is not due yet. */
	later += 20;
	k[2]->fetch.resident_until = later + 25;
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k[0], later, 64 * KIB),
	    CHUNK_READY);
	ck_assert_int_lt(k[1]->fetch.resident_until, later);
	later += 20;
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k[0], later, all),
	    CHUNK_READY);
	ck_assert_int_eq(k[1]->fetch.resident_until, later + RESIDENT_VERIFIED);
	ck_assert_int_eq(k[2]->fetch.resident_until, later + RESIDENT_VERIFIED);
	ck_assert_int_eq(k[3]->fetch.resident_until, later + RESIDENT_VERIFIED);
	/* Chunks before an absent one. */
	later += 2000;
	madvise(k[2]->at + 4096, 60 * KIB, MADV_DONTNEED);
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k[0], later, all),
	    CHUNK_READY);
	ck_assert_int_eq(k[0]->fetch.resident_until, later + RESIDENT_VERIFIED);
	ck_assert_int_eq(k[1]->fetch.resident_until, later + RESIDENT_VERIFIED);
	ck_assert_int_lt(k[2]->fetch.resident_until, later);
	/* While memory is short, each chunk has a look of its own. */
	later += 20;
	chunks.shortage_until = later + 1;
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k[0], later, all),
	    CHUNK_READY);
	ck_assert_int_eq(k[0]->fetch.resident_until, later);
	ck_assert_int_lt(k[1]->fetch.resident_until, later);
out:
	io_close(&chunks.pagemap);
	for (uint32_t i = 0; i < 5; i++)
		chunk_release(&chunks, &k[i]);
	file_drop(&f);
	unlink(path);
}
END_TEST

/* After several absent chunks the next is assumed absent, until a helper has
 * read it. */
START_TEST(doubted)
{
	struct file	*f[6];
	struct chunk	*k[6] = { NULL };
	int		 n = 0;

	caches(4096 * KIB, RESIDENCY_AUTO);
	for (int i = 0; i < 6; i++) {
		f[i] = make(64 * KIB, false);
		(void)file_hold(f[i]);
		unlink(path);
	}
	while (n < 4 && f[0]->method == RESIDENT_NOWAIT &&
	    (k[n] = hold_absent(f[n])) != NULL)
		n++;
	if (n == 4 && chunks.recent_misses == 4) {
		k[4] = chunk_hold(&chunks, f[4], 0);
		ck_assert_int_eq(chunk_ready(&chunks, k[4], 0), CHUNK_ABSENT);
		chunk_loaded(k[4], 0, 0, false);
		ck_assert_uint_eq(chunks.recent_misses, 4);
		ck_assert_int_eq(chunk_ready(&chunks, k[4], 0), CHUNK_READY);
		k[5] = chunk_hold(&chunks, f[5], 0);
		ck_assert_int_eq(chunk_ready(&chunks, k[5], 0), CHUNK_ABSENT);
		chunk_loaded(k[5], 0, 0, true);
		ck_assert_uint_eq(chunks.recent_misses, 3);
		chunk_release(&chunks, &k[5]);
		chunk_drop_unheld(&chunks, f[5]);
		k[5] = chunk_hold(&chunks, f[5], 0);
		ck_assert_int_eq(chunk_ready(&chunks, k[5], 0), CHUNK_READY);
		ck_assert_uint_eq(chunks.recent_misses, 2);
	}
	for (int i = 0; i < 6; i++) {
		if (k[i] != NULL)
			chunk_release(&chunks, &k[i]);
		file_release(f[i]);
		file_drop(&f[i]);
	}
}
END_TEST

/* The chunk is gone again each time after a helper has read it: the helper is
 * believed after some times only. */
START_TEST(gone_again)
{
	struct file	*f;
	struct chunk	*k;

	caches(4096 * KIB, RESIDENCY_AUTO);
	chunks.pagemap = pagemap_open();
	f = make(64 * KIB, false);
	if (f->method == RESIDENT_NOWAIT && chunks.pagemap != -1 &&
	    (k = hold_absent(f)) != NULL) {
		for (int i = 0; i < 3; i++) {
			chunk_loaded(k, 0, 5, false);
			ck_assert_int_eq(k->fetch.resident_until, 0);
			ck_assert_uint_eq(f->open_file->read_end, k->index + 1);
		}
		chunk_loaded(k, 0, 5, false);
		ck_assert_int_eq(k->fetch.resident_until, RESIDENT_VERIFIED);
		ck_assert_uint_lt(pagemap_present(chunks.pagemap, k->at,
		    k->len), k->len);
		chunk_release(&chunks, &k);
	}
	io_close(&chunks.pagemap);
	file_drop(&f);
	unlink(path);
}
END_TEST

/* The same for a small file: a helper copies it. */
START_TEST(gone_again_small)
{
	struct file	*f;
	struct chunk	*k;
	int		 copy = memfd_create("copy", 0);

	caches(4096 * KIB, RESIDENCY_AUTO);
	f = make(4 * KIB, false);
	ck_assert(f->small);
	k = chunk_hold(&chunks, f, 0);
	for (int i = 0; i < 4 && f->method == RESIDENT_NOWAIT; i++) {
		ck_assert(!chunk_wants_copy(k));
		chunk_loaded(k, 0, 5, false);
	}
	ck_assert(chunk_wants_copy(k) == (f->method == RESIDENT_NOWAIT));
	ck_assert_int_eq(ftruncate(copy, 4 * KIB), 0);
	ck_assert_int_eq(chunk_adopt_copy(k, copy), 0);
	close(copy);
	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
	ck_assert_int_eq(chunk_bytes(k)[1], 0);
	chunk_release(&chunks, &k);
	file_drop(&f);
	unlink(path);
}
END_TEST

/* A file in memory is sent by sendfile() from the first time on; a copy,
 * without a file, never. */
START_TEST(by_file)
{
	struct file	*f;
	struct chunk	*k;

	caches(1024 * KIB, RESIDENCY_AUTO);
	f = make(150000, true);
	k = chunk_hold(&chunks, f, 1);
	ck_assert(chunk_prefers_sendfile(k));
	ck_assert_int_eq(chunk_ready_sendfile(&chunks, k, 0, 1), CHUNK_READY);
	ck_assert_ptr_null(k->at);		/* no need to map it */
	f->open_file->no_sendfile = true;
	ck_assert(!chunk_prefers_sendfile(k));
	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_READY);
	ck_assert_ptr_nonnull(k->at);
	chunk_release(&chunks, &k);
	file_drop(&f);
	unlink(path);
	f = make(5000, true);
	k = chunk_hold(&chunks, f, 0);
	ck_assert(!chunk_prefers_sendfile(k));
	chunk_release(&chunks, &k);
	file_drop(&f);
	unlink(path);
}
END_TEST

START_TEST(shrunk)
{
	struct file	*f;
	struct chunk	*k;

	caches(1024 * KIB, RESIDENCY_AUTO);
	f = make(5000, true);
	ck_assert_int_eq(truncate(path, 100), 0);
	k = chunk_hold(&chunks, f, 0);
	ck_assert_int_eq(chunk_ready(&chunks, k, 0), CHUNK_GONE);
	ck_assert_uint_eq(chunks.gone, 1);
	chunk_release(&chunks, &k);
	file_drop(&f);
	unlink(path);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, small_is_copied);
	tcase_add_test(tests, small_of_any_size);
	tcase_add_test(tests, records);
	tcase_add_test(tests, large_is_mapped);
	tcase_add_test(tests, limit_unmaps);
	tcase_add_test(tests, once);
	tcase_add_test(tests, limit_after_holds);
	tcase_add_test(tests, limit_counts_mappings);
	tcase_add_test(tests, off);
	tcase_add_test(tests, predicted);
	tcase_add_loop_test(tests, copies, 0, 2);
	tcase_add_test(tests, evicted);
	tcase_add_test(tests, our_own);
	tcase_add_test(tests, in_memory_anyway);
	tcase_add_test(tests, looked_at);
	tcase_add_test(tests, looked_at_together);
	tcase_add_test(tests, doubted);
	tcase_add_test(tests, gone_again);
	tcase_add_test(tests, gone_again_small);
	tcase_add_test(tests, by_file);
	tcase_add_test(tests, shrunk);
}
