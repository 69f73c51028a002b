/*
 * arch: the architectures.  An architecture is a choice of who satisfies a
 * wait.  Each is one small file here and one row of CONF_ARCHITECTURES.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "conf/conf.h"

struct buf;
struct main_env;		/* shared/main_env.h */

/* Promises that an architecture cannot give and others can; amped -t warns of
 * them. */
#define ARCH_LIMITATIONS(X)						\
	X(DISK, "a disk that does not answer stalls all clients of a main") \
	X(COLD, "a disk that does not answer stalls all requests for files " \
	    "that are not cached")					\
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
	const char	*worker;	/* unit of the conf's `workers` */
	bool		 threaded;	/* all workers are in one main; else
					 * each is a main of its own */
	unsigned	 workers;	/* how many by default */
	unsigned	 threads;	/* of each worker of one main */
	unsigned	 disk_threads;	/* of these, how many do disk work */
	bool		 helpers;	/* helper processes do disk work */
	bool		 spawns;	/* can start threads for clients */
	bool		 limitations[ARCH_LIMITATION_COUNT];
	int		(*run)(const struct main_env *);	/* status */
};

extern const struct arch	arch_amped, arch_mp, arch_mt, arch_pipelined,
				arch_sped;

/* The architecture of a conf, by arch_choose(). */
const struct arch	*arch_of(const struct conf *);
/* arch_choose.c: sets the architecture of a conf, unless it is -1, and the
 * default number of workers.  To be called once for each conf, before it is
 * used. */
void			 arch_choose(struct conf *, int64_t architecture);
/* Whether the architecture can do what the conf asks for; if not, adds an
 * error. */
bool			 arch_check(const struct conf *, struct buf *errors);
/* How many mains there are at most and at least, and how many workers in
 * each. */
unsigned		 arch_mains(const struct conf *);
unsigned		 arch_mains_least(const struct conf *);
unsigned		 arch_workers(const struct conf *);
/* How many threads each main has, its first one included. */
unsigned		 arch_threads(const struct conf *);
/* There are several mains, each with room for one client. */
bool			 arch_one_client(const struct conf *);
/* Prints, as comments of a conf, how clients are served, and a file by its size
 * and by whether it is in memory. */
void			 arch_print(const struct conf *, FILE *);
/* Logs a warning for each limitation of the conf's architecture. */
void			 arch_warn(const struct conf *);

#endif
