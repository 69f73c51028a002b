/*
 * need: assertions that stay on in release builds.
 *
 * need() states what only a bug of ours can break.  A client's fault gets a
 * status code, the system's fault a log line; neither may end here.
 */
#ifndef LIB_NEED_H
#define LIB_NEED_H

#include "lib/compiler.h"

#define need(condition)							\
	((condition) ? (void)0 :					\
	    need_failed(#condition, __FILE__, __LINE__, __func__))

COLD _Noreturn void need_failed(const char *, const char *, int, const char *);

/*
 * What was being done, and for whom, for the last lines of a crash; NULL for
 * nothing.  From here on a signal that ends the process for a fault of its own,
 * or because it has to say where it is, leaves such lines, too.
 */
void		need_crash_context(const char *(*what)(void),
		    const char *(*whom)(void));

#endif
