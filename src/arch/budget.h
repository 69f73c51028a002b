/*
 * budget: how many descriptors a process has open beside those of clients and
 * files, by purpose; and how the rest is divided between clients and files.
 *
 * A conf here is the server's, or the part of one main (conf/divide.h); mains
 * is 1 for the latter.
 */
#ifndef ARCH_BUDGET_H
#define ARCH_BUDGET_H

#include <stddef.h>

#include "conf/conf.h"

/* The purposes of a main's descriptors, as a message names them. */
#define BUDGET_MAIN(X)							\
	X(LISTENERS, "for listening sockets")				\
	X(HELPERS, "for helpers, live ones and stuck ones")		\
	X(THREADS, "for threads and their loops")			\
	X(TOKENS, "for mains to wake each other")			\
	X(WORK, "for disk work without helpers")			\
	X(LOGS, "for access loggers")					\
	X(REQUESTS, "for requests from the control socket")		\
	X(ALWAYS, "for each main itself")

enum budget_part {
#define X(id, text) BUDGET_##id,
	BUDGET_MAIN(X)
#undef X
	BUDGET_PART_COUNT
};

struct budget {
	size_t	parts[BUDGET_PART_COUNT];
	size_t	sum;		/* of the parts */
	size_t	programs;	/* programs at once, filters, too */
	size_t	clients, files;	/* descriptors left for these */
	size_t	min;		/* descriptors that the main must have */
};

/* Makes the budget of one main of several; descriptors is the limit of each
 * main. */
void	budget_make(struct budget *, const struct conf *, unsigned mains,
	    size_t listeners, size_t descriptors);
/* Whether that many descriptors are enough; if not, logs how many are needed
 * and for what. */
bool	budget_suffices(const struct conf *, size_t listeners,
	    size_t descriptors);

#endif
