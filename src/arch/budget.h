/*
 * budget: how many descriptors a process has open beside those of clients and
 * files, by what they are for; and how the rest is divided.
 *
 * The conf is the server's, or a main's with its share, which then is of one.
 */
#ifndef ARCH_BUDGET_H
#define ARCH_BUDGET_H

#include <stddef.h>

#include "conf/conf.h"

/* What a main has open. */
#define BUDGET_MAIN(X)							\
	X(LISTENERS, "for listening sockets")				\
	X(HELPERS, "for helpers, live ones and stuck ones")		\
	X(THREADS, "for threads and their loops")			\
	X(TOKENS, "by which mains wake each other")			\
	X(WORK, "for work in place of helpers")				\
	X(LOGS, "for log helpers")					\
	X(REQUESTS, "for questions at the control socket")		\
	X(ALWAYS, "that each main has")

enum budget_part {
#define X(id, text) BUDGET_##id,
	BUDGET_MAIN(X)
#undef X
	BUDGET_PART_COUNT
};

struct budget {
	size_t	parts[BUDGET_PART_COUNT];
	size_t	sum;		/* of them */
	size_t	clients, files;	/* of the others */
	size_t	min;		/* that there must be of all */
};

/* Of a main of so many, with these descriptors. */
void	budget_make(struct budget *, const struct conf *, unsigned mains,
	    size_t listeners, size_t descriptors);
/* How many the monitor has at most, while it reads its conf again. */
size_t	budget_monitor(unsigned mains, size_t listeners);
/* False after a line that says how many are needed, and for what. */
bool	budget_suffices(const struct conf *, size_t listeners,
	    size_t descriptors);

#endif
