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
#include "task.h"

/* Bytes of a request's body that are kept before they go to a file. */
#define RUN_BODY_KEPT	(64 * 1024)

struct kept;			/* kept.h */

/* The task that writes bytes of a body to its file. */
struct spool {
	struct task	 task;	/* first member: casts rely on it */
	struct run	*run;	/* takes the result; NULL: gone */
	struct buf	 bytes;
	int		 file;	/* the task's own descriptor; -1: none */
};

/* How a request goes on behind the head of an answer. */
enum run_next {
	RUN_RELAY,			/* with its body */
	RUN_LOCAL,			/* with the path of a local redirect */
	RUN_PATH,			/* with that of X-Accel-Redirect */
	RUN_FILE			/* with the file of X-Sendfile */
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
	struct buf	 head;		/* of the answer, and behind it what of
					 * the body came along */
	struct cgi_head	 parse;		/* of it */
	int64_t		 deadline;	/* clock ms: to begin, or go on; 0 */
	int64_t		 left;		/* bytes of the response's body, by its
					 * Content-Length; -1: unknown */
	bool		 chunked;	/* to the client */
	bool		 bodiless;	/* HEAD, 204, 304 */
	uint8_t		 next;		/* enum run_next */
	struct kept	*kept;		/* of answers so far; NULL: nothing */
	uint32_t	 retry_after;	/* seconds, of a 503; 0: none */
	struct buf	 cause;		/* a clause: what went wrong */
};

enum go	collect_step(struct conn *);
enum go	spool_step(struct conn *);
enum go	start_step(struct conn *);
enum go	answer_step(struct conn *);
enum go	relay_step(struct conn *);

/* Makes the struct run of a request whose path is a program, and goes to
 * COLLECT.  Takes over file, and what is kept from the one before. */
enum go	run_begin(struct conn *, const struct conf_program *, char *file,
	    size_t script_len);
/* Ends the program, if it runs; frees. */
void	run_free(struct conn *);
/* Ends the program, and frees all but what is kept, and the struct run: the
 * request goes on without a program. */
void	run_leave(struct conn *);
/* Ends the program, if it runs. */
void	run_end(struct conn *);
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
/* Chooses by the head of an answer. */
enum run_next redirect_choose(const struct run *);
/* Goes on as it says, unless that is RUN_RELAY. */
enum go	redirect_begin(struct conn *);
/* Goes on with the file of X-Sendfile. */
enum go	sendfile_begin(struct conn *);

#endif
