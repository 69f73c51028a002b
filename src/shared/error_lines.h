/*
 * error_lines: what programs write to standard error, as lines for the error
 * log, at a limited rate.  Pure.
 */
#ifndef SHARED_ERROR_LINES_H
#define SHARED_ERROR_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/str.h"
#include "lib/token_bucket.h"

#define ERROR_LINES_MAX	800	/* bytes of a line; the rest is the next one */
#define ERROR_LINES_NAME 100	/* bytes of a name in it */
#define ERROR_LINES_RATE	20	/* lines a second ... */
#define ERROR_LINES_BURST	100	/* ... and at once */
#define ERROR_LINES_TAIL	4096	/* bytes that are kept of what was left
					 * out */
#define ERROR_LINES_TAIL_INTERVAL 1000	/* ms between two such ends */

/* Of all processes of one program of the conf. */
struct error_lines_rate {
	struct token_bucket	bucket;
	uint64_t		left_out;	/* lines, since the last line
						 * that says so */
	int64_t			tail_at;	/* ms of the last tail */
};

/* Of all programs.  A zeroed struct has none yet. */
struct error_lines_rates {
	struct error_lines_rate	**of;	/* by number of the program */
	size_t			 n;
};

struct error_lines_name {
	size_t	len;
	char	text[ERROR_LINES_NAME];
};

/* Of one process.  A zeroed struct is an empty one. */
struct error_lines {
	struct error_lines_rate	*rate;
	/* Gets a line without its newline, not terminated. */
	void			(*put)(void *context, const char *, size_t);
	void			*context;
	struct buf		 part;	/* of a line */
	struct buf		 tail;	/* the last lines that were left out */
	struct error_lines_name	 target, host;	/* of the request; no target:
						 * none, or it was put out */
};

void	error_lines_fill(struct error_lines_rate *, int64_t now);
/* The rate of a program, which stays where it is until all are freed. */
struct error_lines_rate	*error_lines_rate_of(struct error_lines_rates *,
	    size_t program, int64_t now);
void	error_lines_free_rates(struct error_lines_rates *);
/* Has the first line name a request, by its target and host. */
void	error_lines_name_request(struct error_lines *, struct str target,
	    struct str host);
/* Takes bytes of standard error, and puts lines out. */
void	error_lines_add(struct error_lines *, int64_t now, const char *,
	    size_t);
/* Puts out what is left, how many lines were left out, and, of a program that
 * has failed, the last of these; frees. */
void	error_lines_end(struct error_lines *, int64_t now, bool failed);

#endif
