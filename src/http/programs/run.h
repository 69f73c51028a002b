/*
 * run: what a request for a program needs beside a struct request; for the
 * steps only.
 */
#ifndef HTTP_PROGRAMS_RUN_H
#define HTTP_PROGRAMS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "http/conn.h"
#include "http/programs/run_body.h"
#include "lib/buf.h"
#include "proto/cgi_head.h"
#include "proto/why.h"
#include "stats/program_stats.h"

struct kept;			/* kept.h */
struct passage;			/* filter.h */

/* How a request goes on behind the head of an answer. */
enum run_next {
	RUN_RELAY,			/* with its body */
	RUN_AUTHORIZED,			/* as if there were no authorizer */
	RUN_LOCAL,			/* with the path of a local redirect */
	RUN_PATH,			/* with that of X-Accel-Redirect */
	RUN_FILE			/* with the file of X-Sendfile */
};

struct run {
	const struct conf_program *program;	/* NULL: one has authorized; the
					 * one to answer is not known yet */
	char		*file;		/* the script: its absolute name, or its
					 * path beneath a program's directory;
					 * NULL: the program's command */
	size_t		 script_len;	/* bytes of the decoded path that are
					 * SCRIPT_NAME; PATH_INFO follows */
	const char	*index;		/* of the conf: behind these bytes in
					 * SCRIPT_NAME; then there is no
					 * PATH_INFO; "": none */
	struct run_body	 body;		/* of the request */
	struct backend	*backend;	/* NULL: not started, or ended */
	const struct conf_chain *chain;	/* of its answer; NULL: none */
	struct passage	*passage;	/* NULL: not begun, or at its end */
	unsigned	 moved;		/* passage->moved, as last seen */
	uint8_t		 resends;	/* so far; see answer.c */
	bool		 started;	/* the start has been counted */
	bool		 counted;	/* the end has been counted, or the
					 * request is not the program's yet */
	int64_t		 since;		/* us: asked for, or started */
	struct buf	 head;		/* of the answer; body may follow */
	struct cgi_head	 parse;		/* of it */
	int64_t		 deadline;	/* clock ms: to begin, or go on; 0 */
	int64_t		 leaves;	/* clock ms: its client, which sends no
					 * more, is taken as gone; or 0 */
	int64_t		 left;		/* bytes of the response's body, by its
					 * Content-Length; -1: unknown */
	bool		 chunked;	/* to the client */
	bool		 bodiless;	/* HEAD, 204, 304 */
	bool		 authorizes;	/* is asked to let the request go on */
	struct {			/* by programs before it */
		size_t		 next;	/* guard; those before it let the path
					 * pass */
		struct buf	 variables;	/* texts NAME=VALUE, terminated,
						 * as they have said */
	}		 authorized;
	uint8_t		 next;		/* enum run_next */
	struct kept	*kept;		/* of answers so far; NULL: nothing */
	uint32_t	 retry_after;	/* seconds, of a 503; 0: none */
	struct buf	 cause;		/* a clause: what went wrong */
};

enum go	collect_step(struct conn *);
enum go	spool_step(struct conn *);
enum go	start_step(struct conn *);
enum go	feed_step(struct conn *);
enum go	answer_step(struct conn *);
enum go	relay_step(struct conn *);

/* The struct run of a request, which is made unless there is one. */
struct run *run_get(struct request *);
/* Has a request run the program that its path is, and goes to COLLECT.  Takes
 * over file. */
enum go	run_begin(struct conn *, const struct conf_program *, char *file,
	    size_t script_len);
/* End what runs: the first frees, the last ends the passage alone. */
void	run_free(struct conn *);
void	run_end(struct conn *);
void	run_end_passage(struct conn *);
/* Ends the program, and makes the struct that of a request without a program;
 * what programs have authorized, and what is kept of their answers, stays. */
void	run_renew(struct conn *);
/* The same for a request of another path: nothing is authorized. */
void	run_leave(struct conn *);
/* Counts how the request has ended, for its program; the first time counts. */
void	run_count(struct conn *, enum program_stats_counter);
/* Waits for the program to say more, and for the client to leave. */
enum go	leave_wait(struct conn *);
/* How that wait has ended: FAILED, its client has gone. */
enum outcome leave_outcome(struct conn *);
/* The program has said more: its client has time to take it. */
void	leave_put_off(struct conn *);
/* Answers with an error, before there is a response; the cause is a clause
 * about the program. */
enum go	failure_reply(struct conn *, enum why, const char *cause, ...)
	    __attribute__((__format__(__printf__, 3, 4)));
/* The same, as the body has failed. */
enum go	failure_of_body(struct conn *);
/* Makes the head of the response and puts it out. */
void	answer_put_head(struct conn *);
/* Chooses by the head of an answer. */
enum run_next redirect_choose(const struct run *);
/* Goes on as redirect_choose() says, unless that is RUN_RELAY. */
enum go	redirect_begin(struct conn *);
/* Goes on with the file of X-Sendfile. */
enum go	sendfile_begin(struct conn *);

#endif
