/*
 * helper_slots: shared memory; whoever reads it does so after the writer's end.
 */
#include <sys/mman.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "shared/helper_slots.h"

struct line {
	uint64_t	pipe;		/* 0: the line is free */
	uint64_t	fs_queue;
};

struct ledger {
	struct line	*lines;		/* shared */
	size_t		 count;
};

struct ledger *
ledger_new(size_t count)
{
	struct ledger	*l = mem_zero(sizeof(*l));

	l->count = count;
	l->lines = mmap(NULL, count * sizeof(*l->lines), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANON, -1, 0);
	if (l->lines == MAP_FAILED)
		fatal("no memory to share");
	return l;
}

void
ledger_free(struct ledger **lp)
{
	munmap((*lp)->lines, (*lp)->count * sizeof(*(*lp)->lines));
	mem_drop(lp);
}

static int
find(const struct ledger *l, uint64_t pipe)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->lines[i].pipe == pipe)
			return (int)i;
	return -1;
}

uint64_t
ledger_lane(const struct ledger *l, uint64_t pipe)
{
	int	line = pipe != 0 ? find(l, pipe) : -1;

	return line != -1 ? l->lines[line].fs_queue : 0;
}

void
ledger_clear(struct ledger *l)
{
	for (size_t i = 0; i < l->count; i++)
		l->lines[i] = (struct line){ 0, 0 };
}

int
ledger_open(struct ledger *l, uint64_t pipe)
{
	int	line = find(l, 0);

	if (line != -1)
		l->lines[line] = (struct line){ .pipe = pipe };
	return line;
}

void
ledger_close(struct ledger *l, int line)
{
	if (line != -1)
		l->lines[line] = (struct line){ 0, 0 };
}

void
ledger_write(struct ledger *l, int line, uint64_t fs_queue)
{
	if (line != -1)
		l->lines[line].fs_queue = fs_queue;
}
