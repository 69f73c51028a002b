/*
 * named_memory: shared memory by name.  The monitor makes it, and generations
 * whose confs have the name share it.
 */
#ifndef STATS_NAMED_MEMORY_H
#define STATS_NAMED_MEMORY_H

#include <sys/queue.h>

#include <stddef.h>

struct named_memory {
	TAILQ_ENTRY(named_memory) link;
	char		*name;		/* visible UTF-8 */
	unsigned	 users;		/* generations */
	size_t		 size;		/* bytes */
	void		*at;		/* zeroed before its first use */
};

TAILQ_HEAD(named_memories, named_memory);

/* Returns the memory of that name in the list, or adds one of so many bytes.
 * Copies the name, and makes it visible.  Each use is to be released. */
struct named_memory *named_memory_hold(struct named_memories *,
	    const char *name, size_t size);
/* Unmaps and frees the memory if it has no more users. */
void	named_memory_release(struct named_memories *, struct named_memory *);

#endif
