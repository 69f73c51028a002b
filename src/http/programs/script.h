/*
 * script: which program answers for a path, and which file it runs.
 *
 * A lookup says which names are programs' (namespace.c), since files of these
 * names are never sent: no lookup opens one.  A path that leads to one is a
 * PROGRAM with a split; what it runs follows from that, from the target and
 * from the conf, so a hit costs no job.  A program with a directory has that as
 * the root of all paths that it runs for.  A command that runs for each path
 * needs no lookup.
 */
#ifndef HTTP_PROGRAMS_SCRIPT_H
#define HTTP_PROGRAMS_SCRIPT_H

#include "http/conn.h"

struct script {
	const struct conf_program *program;	/* NULL: none has that name */
	char		*file;		/* see struct run; the caller's */
	size_t		 script_len;	/* see struct run */
	const char	*index;		/* see struct run */
};

/* Says what a path that is a PROGRAM runs.  Needs no look at the disk. */
void	script_find(const struct path *, const struct path_info *,
	    struct script *);
/* Begins what the request's path, a PROGRAM, runs: run_begin(). */
enum go	script_run(struct conn *);

#endif
