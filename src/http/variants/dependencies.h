/*
 * dependencies: other files that a filter has read to make a result, by the
 * inode number of the result's version.
 *
 * A filter of amped's notes a line for each: seven numbers of a version, in the
 * order of struct job_version, in hexadecimal, and the absolute name.  The
 * latest DEPENDENCIES_MAX results are remembered; of another one nothing is
 * known, which is as good as that one of its files has changed.
 */
#ifndef HTTP_VARIANTS_DEPENDENCIES_H
#define HTTP_VARIANTS_DEPENDENCIES_H

#include <stdbool.h>
#include <stdint.h>

#include "helpers/job.h"
#include "lib/buf.h"
#include "lib/str.h"

#define DEPENDENCIES_MAX	4096	/* results */
#define DEPENDENCIES_FILES_MAX	64	/* of a result; more are left out */

struct dependencies;

/* The lines of a filter, as a sum of versions behind `sum`, and the names, as
 * terminated texts.  Lines that are none are left out. */
uint64_t	 dependencies_sum(struct str lines, uint64_t sum,
		    struct buf *names);

struct dependencies *dependencies_new(bool shared);
void		 dependencies_free(struct dependencies **);
/* Remembers names, terminated texts; any thread. */
void		 dependencies_add(struct dependencies *, uint64_t inode,
		    struct str names);
/* Calls a function with each name of a result; any thread. */
void		 dependencies_each(struct dependencies *, uint64_t inode,
		    void (*)(const char *name, void *context), void *context);

#endif
