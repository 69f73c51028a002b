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

struct logger;

struct logger	*logger_new(struct evloop *, const struct clock *, int control);
/* Other threads have lines as well.  Before there are any. */
void		 logger_share(struct logger *);
/* Waits a moment for what is left to be written, and for nothing after that;
 * other threads may still have lines, which are lost. */
void		 logger_finish(struct logger *);
/* The same, when nobody has lines any more. */
void		 logger_free(struct logger **);
/* A log helper that the monitor has started; -1: it could not. */
void		 logger_join(struct logger *, int fd);
/* A line is written where it stays: to copy what has just been written would
 * make the processor wait.  Room for so many bytes, NULL: it is lost; and how
 * many it has got.  context: the logger.  Where there was room, there must be
 * an end (0: there is no line); until then nobody else has any. */
char		*logger_room(void *, size_t most);
void		 logger_access(void *, size_t);

#endif
