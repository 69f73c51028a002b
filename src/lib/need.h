/*
 * need: assertions that stay on in release builds.
 *
 * need() states what only a bug of amped can break.  A client's fault gets a
 * status code, the system's fault a log line; neither may fail a need().
 */
#ifndef LIB_NEED_H
#define LIB_NEED_H

#include "lib/compiler.h"

#define need(condition)							\
	((condition) ? (void)0 :					\
	    need_failed(#condition, __FILE__, __LINE__, __func__))

COLD _Noreturn void need_failed(const char *, const char *, int, const char *);

/*
 * Sets functions that name the current step and client for the last log lines
 * of a crash; each may return NULL for none, and must be async-signal-safe.
 * From now on a fatal signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) leaves
 * these lines too.
 */
void		need_crash_context(const char *(*step)(void),
		    const char *(*client)(void));

#endif
