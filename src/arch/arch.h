/*
 * arch: an architecture is a choice of who satisfies a wait; one small file
 * each, one row of the conf's table of names.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"

struct main_env;			/* shared/main_env.h */

/* What it cannot promise, and others can: of which amped -t warns. */
#define ARCH_LIMITATIONS(X)							\
	X(DISK, "a disk that does not answer stalls all clients of a main") \
	X(COLD, "a disk that does not answer stalls all who want what is "   \
	    "not cached")						\
	X(CLIENTS, "no more clients at once than there are workers, slow "   \
	    "ones and idle ones included")

enum arch_limitation {
#define X(id, text) ARCH_LIMITED_##id,
	ARCH_LIMITATIONS(X)
#undef X
	ARCH_LIMITATION_COUNT
};

struct arch {
	const char	*name;		/* as in the conf */
	const char	*help;
	/* What the conf's `workers` are, all of them in one main or each of
	 * them a main; and how many, if it does not say. */
	const char	*worker;
	bool		 threaded;
	unsigned	 workers;
	unsigned	 threads;	/* of each that is inside ... */
	unsigned	 disk_threads;	/* that do what others leave to ... */
	bool		 helpers;
	bool		 limitations[ARCH_LIMITATION_COUNT];
	int		(*run)(const struct main_env *);	/* exit status */
};

extern const struct arch	arch_amped, arch_mp, arch_mt, arch_pipelined,
				arch_sped;

const struct arch	*arch_of(const struct conf *);
/* That one instead of the conf's, unless it is -1; and what follows from the
 * choice.  To be called once for each conf, before it is used. */
void			 arch_choose(struct conf *, int64_t architecture);
/* How many mains serve by it, and how many workers are in each. */
unsigned		 arch_mains(const struct conf *);
unsigned		 arch_workers(const struct conf *);
/* How many threads main has, the one that it begins with as well. */
unsigned		 arch_threads(const struct conf *);
/* There are several, each with room for one client. */
bool			 arch_one_client(const struct conf *);
/* A line for what somebody might expect of this conf, and it cannot give. */
void			 arch_warn(const struct conf *);

#endif
