/*
 * access_log: lines of the access log on their way to the log helper, in
 * batches.
 *
 * Adding a line never waits: what finds no room is dropped and counted, and
 * the count is logged when there is room again.
 */
#ifndef LOOP_ACCESS_LOG_H
#define LOOP_ACCESS_LOG_H

#include <stddef.h>

#include "loop/evloop.h"

struct access_log;

struct access_log *access_log_new(
    struct evloop *, const struct clock *, int control);
/* Other threads have lines as well.  Before there are any. */
void		 access_log_share(struct access_log *);
/* Waits a moment for what is left to be written, and for nothing after that;
 * other threads may still have lines, which are lost. */
void		 access_log_finish(struct access_log *);
/* The same, when nobody has lines any more. */
void		 access_log_free(struct access_log **);
/* A log helper that the monitor has started; -1: it could not. */
void		 access_log_join(struct access_log *, int fd);
/* A line is written where it stays: to copy what has just been written would
 * make the processor wait.  Room for so many bytes, NULL: it is lost; and how
 * many it has got.  context: the logger.  Where there was room, there must be
 * an end (0: there is no line); until then nobody else has any. */
char		*access_log_reserve(void *, size_t most);
void		 access_log_commit(void *, size_t);

#endif
