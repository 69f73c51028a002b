/*
 * need: how a failed assertion ends the process.
 */
#include <stdlib.h>

#include "lib/log.h"
#include "lib/need.h"

static const char *(*doing)(void);

void
need_doing(const char *(*function)(void))
{
	doing = function;
}

_Noreturn void
need_failed(const char *condition, const char *file, int line,
    const char *function)
{
	const char	*what = doing != NULL ? doing() : NULL;

	log_sink(NULL, NULL);	/* the usual way may be what is broken */
	log_errorx("bug: %s:%d: %s: \"%s\" does not hold%s%s", file, line,
	    function, condition, what != NULL ? ", while at " : "",
	    what != NULL ? what : "");
	abort();
}
