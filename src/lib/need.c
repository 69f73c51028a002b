/*
 * need: how a failed assertion ends the process.
 */
#include <signal.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/need.h"

static const char *(*doing)(void);

/* In whatever state we are: it must do nothing that could hang. */
static void
crash(int signo)
{
	static const char *const	names[] = {
		[SIGSEGV] = "SIGSEGV", [SIGBUS] = "SIGBUS",
		[SIGFPE] = "SIGFPE", [SIGILL] = "SIGILL",
	};
	const char			*what = doing();

	log_dying("bug: ", names[signo], what != NULL ? " while at " :
	    " between two steps", what != NULL ? what : "");
	raise(signo);		/* as soon as we return, and for good */
}

/* Where nobody else wants them, as a sanitizer does. */
static void
catch_crashes(void)
{
	static const int	faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	struct sigaction	sa = { .sa_handler = crash,
				    .sa_flags = SA_RESETHAND }, before;

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (sigaction(faults[i], NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			sigaction(faults[i], &sa, NULL);
}

void
need_doing(const char *(*function)(void))
{
	doing = function;
	catch_crashes();
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
