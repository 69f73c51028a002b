/*
 * access_log: lines of the access log on their way to the access logger, in
 * batches.
 *
 * To add a line never waits.  A line that finds no room is dropped and counted;
 * the count is logged when lines are written again.
 */
#ifndef LOOP_ACCESS_LOG_H
#define LOOP_ACCESS_LOG_H

#include <stddef.h>

#include "loop/evloop.h"

struct access_log;

struct access_log *access_log_new(struct evloop *, const struct clock *,
		    int channel);
/* Several threads add lines.  To be called before the first line. */
void		 access_log_share(struct access_log *);
/* Waits up to two seconds for the last lines to be written, and counts the
 * rest as lost.  Lines that other threads add meanwhile may be lost. */
void		 access_log_finish(struct access_log *);
/* Calls access_log_finish(), then frees; no thread adds lines any more. */
void		 access_log_free(struct access_log **);
/* The monitor has started an access logger, which has the other end of this
 * pipe; -1: it could not. */
void		 access_log_join(struct access_log *, int fd);
/* Reserves room for a line of at most that many bytes, which the caller writes
 * in place: a copy of bytes just written would stall the processor.  NULL: the
 * line is lost.  The context is the access log.  Each line reserved must be
 * committed, with its length or 0; until then other threads wait. */
char		*access_log_reserve(void *, size_t max);
void		 access_log_commit(void *, size_t len);

#endif
