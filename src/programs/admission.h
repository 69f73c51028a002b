/*
 * admission: requests for a program of the conf, from their START to the end,
 * and the queue of those that wait.
 *
 * A kind of program says what a request gets: a process (cgi.c), the connection
 * of a process that stays (pool.c), or one to a server elsewhere (servers.c).
 */
#ifndef PROGRAMS_ADMISSION_H
#define PROGRAMS_ADMISSION_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"
#include "lib/clock.h"
#include "programs/source.h"
#include "shared/error_lines.h"
#include "shared/program_message.h"

/* The part that all admissions share. */
struct manager {
	const struct conf	*conf;
	struct clock		 clock;
	struct evloop		*loop;
	struct idle_reapers	*idle;	/* process.c's */
	struct admission	*all;	/* by place of the program */
	size_t			 nheld;	/* invocations, and processes of pools:
					 * the manager stays for them */
	bool			 is_ending;	/* no main sends STARTs */
};

/* A request for a program. */
struct invocation {
	struct admission	*admission;
	struct source		 request;	/* to main */
	uint64_t		 group;		/* see struct backend */
	uint32_t		 kind_of_body;	/* enum program_body */
	bool			 awaits_body;
	bool			 for_filter;	/* no outdated process has it */
	int			 body;		/* -1: none, or not yet */
	char			*texts;		/* owned, while it waits */
	struct str		 file, environment;
	struct watch		*timer;		/* NULL: it runs */
	void			*run;		/* its kind's, or NULL */
	/* Main may only keep what it has, for other requests. */
	bool			 may_be_kept;
	TAILQ_ENTRY(invocation)	 link;
};

TAILQ_HEAD(invocations, invocation);

struct admission;

struct admission_kind {
	void	(*open)(struct admission *);	/* may be NULL */
	/* Starts what waits: sets run, and calls admission_run() or
	 * admission_end(), now or later.  False: this one and those behind it
	 * wait for admission_start().  True, and no run: this one waits. */
	bool	(*start)(struct invocation *);
	/* Main has given up an invocation that has a run, or its time to wait
	 * is over.  Calls admission_end(), now or later. */
	void	(*leave)(struct invocation *);
	/* Main has read the whole answer of an invocation, or the answers of
	 * several requests.  As leave().  NULL: main need not say so. */
	void	(*finish)(struct invocation *, const struct program_done *);
	/* Its processes are to be replaced; NULL: it has none that stay. */
	void	(*restart)(struct admission *);
	void	(*drain)(struct admission *);	/* is_ending; may be NULL */
	void	(*close)(struct admission *);	/* may be NULL */
};

/* The invocations of one program of the conf. */
struct admission {
	struct manager			*manager;
	const struct conf_program	*program;
	const struct admission_kind	*kind;
	void				*state;		/* its kind's */
	size_t				 most;		/* may run */
	struct invocations		 waiting, running; /* oldest first */
	uint8_t				 mark;		/* crossing.c's */
	_Atomic int64_t			 crossed_at;	/* ms: was logged */
	size_t				 nwaiting, nrunning, nkept;
	size_t				 nprocesses;	/* of amped */
	int				 error;		/* why none can; or 0 */
	uint64_t			 replaced;	/* a version of files */
	struct error_lines_rate		 rate;
	struct watch			*rest;		/* timer, for rate */
};

void	admission_open(struct admission *, struct manager *,
	    const struct conf_program *, const struct admission_kind *);
/* To be called when the manager ends: there are no invocations. */
void	admission_close(struct admission *);
/* Takes the message and the request's socket. */
void	admission_add(struct admission *, const struct program_start *,
	    int request);
/* Starts those that may run and have their bodies.  Not for start(). */
void	admission_start(struct admission *);
/* An invocation waits no more. */
void	admission_run(struct invocation *);
/* Sets whether main may keep what an invocation that runs has. */
void	admission_set_kept(struct invocation *, bool);
/* Reports to main, which may have gone.  output: -1 but for an INPUT and a
 * STARTED.  Returns whether main has been told. */
bool	admission_report(const struct invocation *,
	    const struct program_report *, int output);
/* The last report: the errno. */
void	admission_fail(const struct invocation *, int error);
/* Frees; main sees the end of the request's socket. */
void	admission_end(struct invocation *);
/* Has the number of lines that are left out told, if no later line tells it. */
void	admission_await_rest(struct admission *);
/* Publishes how many run, wait, and are there, once one of them has changed. */
void	admission_publish(const struct admission *);
/* Lowers manager.nheld by one: the manager may end. */
void	admission_release(struct manager *);

#endif
