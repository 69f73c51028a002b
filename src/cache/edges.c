/*
 * edges: which chunks are edges, and their copies.
 */
#include <sys/mman.h>

#include "cache/edges.h"
#include "cache/file_private.h"
#include "lib/pagemap.h"

bool
edges_contain(const struct file *f, uint32_t index)
{
	if (f->nchunks < EDGES_FILE_MIN || f->cache->chunks->no_edges ||
	    file_is_transient(f))
		return false;
	return index == 0 || (index + 1 == f->nchunks &&
	    f->chunks[index - 1] == NULL);
}

/* Whether all of a mapped chunk is in memory.  Where a look can tell, there is
 * no read: a read of bytes that have gone would begin to read ahead, and may
 * wait for the queue of the disk.  A chunk that main has never read counts as
 * absent. */
static bool
is_in_memory(const struct chunk_cache *cc, const struct chunk *k)
{
	if (k->file->method == RESIDENT_NOWAIT)
		return k->fetch.read_once && (cc->pagemap == -1 ||
		    !k->fetch.in_pagemap ||
		    pagemap_present(cc->pagemap, k->at, k->len) == k->len);
	return residency_check(k->file, k->at, (off_t)chunk_start(k),
	    k->len) == RESIDENT_YES;
}

static bool
read_all(const struct chunk *k, char *to)
{
	ssize_t	n;

	for (uint32_t done = 0; done < k->len; done += (uint32_t)n) {
		n = residency_read(k->file, to + done,
		    (off_t)chunk_start(k) + done, k->len - done);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Returns new memory with all bytes of a chunk; NULL: some are not there. */
static char *
copy_bytes(const struct chunk *k)
{
	char	*to = mmap(NULL, k->len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED)
		return NULL;
	if (read_all(k, to))
		return to;
	munmap(to, k->len);
	return NULL;
}

/*
 * Replaces a mapping by a copy, which has another address.  A new mapping at
 * the old address (MAP_FIXED) can fail when the old one has gone: then memory
 * of another thread may come there, and would be unmapped with the chunk.
 */
static bool
copy_edge(struct chunk_cache *cc, struct chunk *k)
{
	char	*copy;

	if (k->at == NULL || !is_in_memory(cc, k))
		return false;
	if (cc->copied >= EDGES_COPIED_MAX)
		return true;
	cc->copied = (cc->copied + k->len) & INT32_MAX;
	copy = copy_bytes(k);
	if (copy == NULL)
		return false;
	munmap(k->at, k->len);
	k->at = copy;
	k->complete = true;
	k->fetch.read_twice = false;	/* or sendfile() would be preferred */
	return true;
}

/* Whether mappings are short, and edges have more than their part of them. */
static bool
has_too_many_mappings(const struct chunk_cache *cc, size_t chunk_size)
{
	size_t	most = cc->limit_mappings;

	return most != 0 && cc->mappings > most &&
	    cc->cache.edges / chunk_size > most / EDGES_SHARE;
}

bool
edges_keep(struct chunk_cache *cc, struct chunk *k)
{
	if (k->file->open_file == NULL)
		return false;		/* all of its chunks go */
	if (has_too_many_mappings(cc, k->file->cache->chunk_size))
		return false;
	if (k->complete)
		return true;
	switch (k->file->method) {
	case RESIDENT_NOWAIT:
	case RESIDENT_MINCORE:
		return copy_edge(cc, k);
	case RESIDENT_COPY:		/* there are no bytes yet */
		return false;
	default:
		return true;
	}
}
