/*
 * edges: the first and the last chunk of a large file, which stay in memory
 * when the chunks between them go.
 *
 * A client whose film begins waits for the first chunk; later chunks are read
 * ahead of the client.  The last chunk has the index of many formats (PDF, MP4,
 * ZIP), which clients read before the rest.  If the chunk before the last one
 * is in the cache, a client has only come to the end of a film.  The engine
 * (cache.c) has the rule by which edges stay.
 *
 * Not covered: main waits for a copy that the system has put into swap.
 */
#ifndef CACHE_EDGES_H
#define CACHE_EDGES_H

#include "cache/chunk.h"

/* A file with fewer chunks has no edges: its first chunk alone is more of the
 * file than the part of the cache that edges may have. */
#define EDGES_FILE_MIN	32

/* Edges that nobody uses stay while all edges have at most one part in so many
 * of the limit in bytes, and, if there are too many mappings, of these. */
#define EDGES_SHARE	32

/* Bytes.  One search may spare many edges, whose copies would take long. */
#define EDGES_COPIED_MAX	(1024 * 1024)

/* Whether a new chunk, which its file does not have yet, is an edge.  With
 * chunk_cache.no_edges, none is; none of a transient file is. */
bool	edges_contain(const struct file *, uint32_t index);
/*
 * Makes an edge last that is to stay, and that nobody holds.  The system evicts
 * pages that nobody uses, whether they are mapped or not: so a mapping of a
 * file on a disk becomes a copy, which is complete then.  False: the bytes have
 * gone from memory, or edges have too many mappings, and the chunk must be
 * dropped; so it must if the file has changed, which the caller finds out.
 * Never waits; under the lock.
 *
 * Counts the bytes of copies in chunk_cache.copied, which the caller sets to 0
 * before a search for victims.  If they are EDGES_COPIED_MAX or more, an edge
 * stays a mapping until the policy chooses it again.
 */
bool	edges_keep(struct chunk_cache *, struct chunk *);

#endif
