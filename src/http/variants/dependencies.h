/*
 * dependencies: other files that a filter has read to make a result, by the
 * inode number of the result's version.
 *
 * A filter of amped's notes a line for each: seven numbers of a version, in the
 * order of struct job_version, in hexadecimal, and the absolute name.  The
 * latest DEPENDENCIES_MAX results are remembered; any other result is treated
 * as if one of its files had changed.
 */
#ifndef HTTP_VARIANTS_DEPENDENCIES_H
#define HTTP_VARIANTS_DEPENDENCIES_H

#include <stdbool.h>
#include <stdint.h>

#include "helpers/job.h"
#include "lib/buf.h"
#include "lib/str.h"

#define DEPENDENCIES_MAX	4096	/* results */
#define DEPENDENCIES_FILES_MAX	64	/* of a result */
#define DEPENDENCIES_MADE_MAX	64	/* results that are kept */

struct dependencies;

/* The result of a run, until a lookup behind the run tells whether something
 * has changed meanwhile. */
struct dependencies_made {
	int		fd;		/* owned */
	bool		has_left_out;	/* see struct filter_run */
	bool		too_much;	/* more files than a lookup looks at */
	bool		is_current;	/* nothing has changed */
	struct job_version version;	/* of all that the result depends on */
	uint64_t	reloads;	/* of chains, before the run */
	struct buf	notes;
	int64_t		size;		/* if is_stored; else the size of fd */
	bool		is_stored;	/* found in the directory of results */
	struct buf	key;		/* in that directory; len 0: the result
					 * is not to be kept */
	uint64_t	renewal;	/* of a STORE, before the run */
};

/* Adds the versions in the lines of a filter to a sum, and the names, as
 * terminated texts.  False: there are too many files for a lookup, or lines
 * that are none, so nobody can tell whether the result is still current. */
bool		 dependencies_sum(struct str lines, uint64_t *sum,
		    struct buf *names);

struct dependencies *dependencies_new(bool shared);
void		 dependencies_free(struct dependencies **);
/* Remembers names, terminated texts; any thread. */
void		 dependencies_add(struct dependencies *, uint64_t inode,
		    struct str names);
/* Calls a function with each name of a result; any thread. */
void		 dependencies_each(struct dependencies *, uint64_t inode,
		    void (*)(const char *name, void *context), void *context);

/* Keeps a result of a path, which it takes over; the oldest of too many is
 * dropped. */
void		 dependencies_keep(struct dependencies *, uint32_t namespace,
		    struct str name, struct dependencies_made *);
/* The inode number of the kept result's version; 0: there is none. */
uint64_t	 dependencies_kept(struct dependencies *, uint32_t namespace,
		    struct str name);
/* Hands the result of a path over, which is current if it has the version that
 * a lookup has found.  False: there is none, or the lookup did not look at what
 * this one depends on: it looked at the files of the result noted. */
bool		 dependencies_take(struct dependencies *, uint32_t namespace,
		    struct str name, const struct job_version *found,
		    uint64_t noted, struct dependencies_made *);
void		 dependencies_drop_made(struct dependencies_made *);

#endif
