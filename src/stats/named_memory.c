/*
 * named_memory: a list of mappings.
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/visible.h"
#include "stats/named_memory.h"

struct named_memory *
named_memory_hold(struct named_memories *list, const char *name, size_t size)
{
	struct named_memory	*m;
	char			*copy = mem_string(name);

	visible_line(copy, strlen(copy));
	TAILQ_FOREACH(m, list, link)
		if (strcmp(m->name, copy) == 0)
			break;
	if (m != NULL) {
		free(copy);
	} else {
		m = mem_zero(sizeof(*m));
		m->name = copy;
		m->size = size;
		m->at = mem_shared(size);
		TAILQ_INSERT_TAIL(list, m, link);
	}
	m->users++;
	return m;
}

void
named_memory_release(struct named_memories *list, struct named_memory *m)
{
	if (--m->users > 0)
		return;
	TAILQ_REMOVE(list, m, link);
	munmap(m->at, m->size);
	free(m->name);
	free(m);
}
