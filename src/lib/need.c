/*
 * need: how a failed assertion ends the process.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/need.h"

#define HEX_DIGITS	(2 * sizeof(uintptr_t))

static const char *(*context_step)(void);
static const char *(*context_client)(void);

static void
write_address(uintptr_t address, char text[HEX_DIGITS + 1])
{
	for (size_t i = HEX_DIGITS; i > 0; i--) {
		text[i - 1] = "0123456789abcdef"[address & 15];
		address >>= 4;
	}
	text[HEX_DIGITS] = '\0';
}

/* In a line of its own, as the look-up may crash again. */
static void
log_client(void)
{
	const char	*client = context_client();
	const char	*words[] = { "bug: for ", client, NULL };

	if (client != NULL)
		log_crash(words);
}

static volatile sig_atomic_t	logged;	/* by need_failed() */

/* A signal handler: only async-signal-safe calls, none that may block. */
static void
on_crash(int signo, siginfo_t *info, void *unused)
{
	static const char *const	names[] = {
		[SIGSEGV] = "SIGSEGV", [SIGBUS] = "SIGBUS",
		[SIGFPE] = "SIGFPE", [SIGILL] = "SIGILL",
		[SIGABRT] = "SIGABRT",
	};
	const char			*step = context_step();
	bool				 fault = info->si_code > 0 &&
					    signo != SIGABRT;
	char				 address[HEX_DIGITS + 1] = "";

	(void)unused;
	if (fault)
		write_address((uintptr_t)info->si_addr, address);
	if (!logged) {
		log_crash((const char *const []){ "bug: ", names[signo],
		    fault ? " at address 0x" : "", address, step != NULL ?
		    " while at " : " between two steps", step != NULL ? step :
		    "", NULL });
		log_client();
	}
	raise(signo);		/* ends the process when this returns */
}

/* Leaves a handler that is set already, as a sanitizer's. */
static void
catch_crashes(void)
{
	static const int	faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
				    SIGABRT };
	struct sigaction	sa = { .sa_sigaction = on_crash, .sa_flags =
				    SA_RESETHAND | SA_SIGINFO }, before;

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (sigaction(faults[i], NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			sigaction(faults[i], &sa, NULL);
}

void
need_crash_context(const char *(*step)(void), const char *(*client)(void))
{
	context_step = step;
	context_client = client;
	catch_crashes();
}

_Noreturn void
need_failed(const char *condition, const char *file, int line,
    const char *function)
{
	const char	*step = context_step != NULL ? context_step() : NULL;

	log_set_output(NULL, NULL);	/* the output may be broken */
	log_errorx("bug: %s:%d: %s: \"%s\" does not hold%s%s", file, line,
	    function, condition, step != NULL ? ", while at " : "",
	    step != NULL ? step : "");
	if (context_client != NULL)
		log_client();
	logged = true;
	abort();
}
