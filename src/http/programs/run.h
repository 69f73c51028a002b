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
#include "lib/buf.h"
#include "proto/cgi_head.h"
#include "proto/why.h"
#include "stats/program_stats.h"
#include "task.h"

/* Bytes of a request's body that are kept before they go to a file. */
#define RUN_BODY_KEPT	(64 * 1024)

/* The task that writes bytes of a body to its file. */
struct spool {
	struct task	 task;	/* first member: casts rely on it */
	struct run	*run;	/* takes the result; NULL: gone */
	struct buf	 bytes;
	int		 file;	/* the task's own descriptor; -1: none */
};

struct run {
	const struct conf_program *program;
	char		*file;		/* the script: absolute, of a program
					 * with a directory its path beneath
					 * that; NULL: the program's command */
	size_t		 script_len;	/* bytes of the decoded path that are
					 * SCRIPT_NAME; PATH_INFO follows */
	const char	*index;		/* of the conf: behind these bytes in
					 * SCRIPT_NAME; then there is no
					 * PATH_INFO; "": none */
	struct {			/* of the request */
		struct buf	 bytes;		/* not in the file yet */
		int		 fd;		/* -1: no file yet */
		int64_t		 length;	/* bytes in the file */
		int64_t		 counted;	/* of limits { bodies } */
		bool		 begun, whole;
		struct spool	*spool;		/* under way; NULL: none */
		int		 error;		/* of the last one; 0: none */
	}		 body;
	struct wait_addresses ends;	/* of the connection */
	struct backend	*backend;	/* NULL: not started, or ended */
	bool		 started;	/* the start has been counted */
	bool		 counted;	/* so has how the request has ended, or
					 * it is not one of the program's yet */
	int64_t		 since;		/* us: the program was asked for, or
					 * has started */
	struct buf	 head;		/* of the answer, and behind it what of
					 * the body came along */
	struct cgi_head	 parse;		/* of it */
	int64_t		 deadline;	/* clock ms: to begin, or go on; 0 */
	int64_t		 left;		/* bytes of the response's body, by its
					 * Content-Length; -1: unknown */
	bool		 chunked;	/* to the client */
	bool		 bodiless;	/* HEAD, 204, 304 */
	bool		 local;		/* its answer is a local redirect */
	uint32_t	 retry_after;	/* seconds, of a 503; 0: none */
	struct buf	 cause;		/* a clause: what went wrong */
};

enum go	collect_step(struct conn *);
enum go	spool_step(struct conn *);
enum go	start_step(struct conn *);
enum go	answer_step(struct conn *);
enum go	relay_step(struct conn *);

/* Makes the struct run of a request whose path is a program, and goes to
 * COLLECT.  Takes over file. */
enum go	run_begin(struct conn *, const struct conf_program *, char *file,
	    size_t script_len);
/* Ends the program, if it runs; frees. */
void	run_free(struct conn *);
/* Ends the program, if it runs. */
void	run_end(struct conn *);
/* Counts how the request has ended, for its program; the first time counts. */
void	run_count(struct conn *, enum program_stats_counter);
/* Waits for the program, until run->deadline. */
enum go	run_wait(struct conn *);
/* Answers with an error, before there is a response; the cause is a clause
 * about the program. */
enum go	failure_reply(struct conn *, enum why, const char *cause, ...)
	    __attribute__((__format__(__printf__, 3, 4)));
/* Frees what there is of the request's body. */
void	run_drop_body(struct conn *);
/* Makes the head of the response and puts it out. */
void	answer_put_head(struct conn *);
/* Goes on with the path that the program has named. */
enum go	redirect_begin(struct conn *);

#endif
