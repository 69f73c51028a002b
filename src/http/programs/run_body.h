/*
 * run_body: the body of a request for a program: where it is, and who passes it
 * on; for the steps only.
 */
#ifndef HTTP_PROGRAMS_RUN_BODY_H
#define HTTP_PROGRAMS_RUN_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/conn.h"
#include "lib/buf.h"
#include "proto/chunked.h"
#include "proto/why.h"
#include "task.h"

struct run;

/* Bytes of a request's body that are kept before they go to a file, and when
 * they come from one on a disk. */
#define RUN_BODY_KEPT	(64 * 1024)

/* The task that writes bytes of a body to its file, or copies bytes of that
 * into memory. */
struct spool {
	struct task	 task;	/* first member: casts rely on it */
	struct http_loop *http;
	struct run	*run;	/* takes the result; NULL: gone */
	struct buf	 bytes;
	int		 file;	/* the task's own descriptor; -1: none */
	uint64_t	 device;	/* of that; 0: in memory */
};

struct run_body {
	struct buf	 bytes;		/* not in the file yet, or on their way
					 * to the program */
	int		 fd;		/* -1: no file yet */
	int64_t		 length;	/* bytes in the file, or that the
					 * program has got */
	int64_t		 counted;	/* of limits { bodies }, or of spool
					 * max */
	bool		 on_disk;	/* its file is to be there */
	uint64_t	 device;	/* of its file, if that is on a disk; 0:
					 * in memory, or none */
	bool		 begun, whole;
	bool		 is_fed;	/* the program gets it while it runs
					 * (feed.c): */
	bool		 comes;		/* from the client, not from the file */
	bool		 is_dry;	/* no more has come */
	int64_t		 fed;		/* bytes of the file */
	int64_t		 gap;		/* clock ms: the next byte is to come;
					 * 0: at any time */
	uint8_t		 reads;		/* by this visit of the step */
	uint8_t		 feeder;	/* enum step: asks for that */
	bool		 is_back;	/* its step has had its turn */
	struct spool	*spool;		/* under way; NULL: none */
	int		 error;		/* of the last one; 0: none */
	bool		 has_failed;	/* while the program ran, by its disk
					 * (error) or the client: */
	uint8_t		 why;		/* enum why; NONE: wrong chunks */
};

/* Frees what there is of the body, which is not counted any more. */
void	run_body_drop(struct conn *);
/* Closes the body's file, if it has one.  A helper closes a file on a disk, as
 * its blocks are freed then. */
void	run_body_close(struct conn *);
/* Makes a task about the body's file; complete() gets a struct spool. */
struct spool *run_body_task(struct conn *, enum job_kind,
	    void (*complete)(struct task *));
/* Submits that; NULL: it is done at once. */
struct task *run_body_submit(struct conn *, struct spool *);
/* Of a task whose request has gone: closes a file that its job has made. */
void	run_body_close_new(struct spool *);
/* The reason that follows from the errno of a body's disk. */
enum why run_body_why(int error);
/* Appends the bytes of the body that are in the input to those that are
 * kept. */
enum chunked_result collect_input(struct conn *);
/* Whether the body is longer than it may be. */
bool	collect_exceeds(const struct conn *);
/* Waits for the program, until run->deadline, and for the client, if the
 * program waits for the client.  Goes to FEED before, if the program takes more
 * of the body. */
enum go	feed_wait(struct conn *);
/* Whether the body has failed, in FEED or by the outcome of that wait. */
bool	feed_has_failed(struct conn *, enum outcome);
/* Drops what is left of the body: if some is still to come, the connection ends
 * behind the response. */
void	feed_leave(struct conn *);

#endif
