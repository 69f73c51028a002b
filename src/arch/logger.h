/*
 * logger: log lines of main on their way to the log helper, in batches.
 *
 * Adding a line never waits: what finds no room is dropped and counted, and
 * the count is logged when there is room again.
 */
#ifndef ARCH_LOGGER_H
#define ARCH_LOGGER_H

#include <stddef.h>

#include "arch/evloop.h"

/* The logs, by the number that the log helper knows them by. */
enum logger_log {
	LOGGER_ACCESS,
	LOGGER_ERROR,
	LOGGER_LOGS
};

struct logger;

struct logger	*logger_new(struct evloop *, const struct clock *, int control);
/* Waits a moment for what is left to be written. */
void		 logger_free(struct logger **);
/* A log helper that the monitor has started; -1: it could not. */
void		 logger_join(struct logger *, int fd);
/* Whole lines; context: the logger.  The second is a sink for lib/log. */
void		 logger_access(void *, const char *, size_t);
void		 logger_error(void *, const char *, size_t);

#endif
