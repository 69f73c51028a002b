/*
 * application: a connection for a filter to the program that does its work.
 *
 * The filter is what main otherwise is: it asks the admission of the program,
 * over a socket, and so shares the program's places with all other requests.
 */
#ifndef PROGRAMS_APPLICATION_H
#define PROGRAMS_APPLICATION_H

#include "programs/admission.h"
#include "stats/program_stats.h"

struct application {
	/* Is called once for each application_ask(), with a STARTED and the
	 * connection, which is the callee's, or with the report that ends the
	 * request; NULL: the program's manager drops it. */
	void			(*tell)(void *context,
				    const struct program_report *,
				    int connection);
	void			*context;
	uint64_t		 group;		/* see struct backend */
	/* private */
	struct admission	*of;
	struct source		 request;	/* -1: none */
	bool			 is_told;
};

/* Sets all but tell, context and group. */
void	application_init(struct application *, struct admission *of);
/* Asks for a connection.  0, or -1 with errno. */
int	application_ask(struct application *);
/* The program has answered, or its answer can be dropped: its process goes on.
 * A program that stays has another connection for its next request. */
void	application_finish(struct application *,
	    enum program_stats_counter how);
/* The filter was given up: what the process does is unknown, so it ends. */
void	application_leave(struct application *,
	    enum program_stats_counter how);
/* The files of a process of this version have been replaced: has all processes
 * of that version replaced. */
void	application_replace(const struct application *, uint64_t version);

#endif
