/*
 * sandbox: no files but those of rules, no system calls but those of roles, no
 * process, nothing of us to be looked at by others of the same user.
 */
#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <time.h>

#include "lib/io.h"
#include "lib/landlock.h"
#include "lib/log.h"
#include "lib/sandbox.h"
#include "lib/syscall_filter.h"

/*
 * A sanitizer starts a process at the end that looks at ours, and reads in
 * /proc what it needs for its reports: so with one there is no filter, we may
 * be looked at and start processes, and /proc may be read.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED	true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED	true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED	false
#endif

const char *
sandbox_missing(void)
{
	bool	calls = syscall_filter_available() && !SANITIZED;
	bool	files = landlock_version() > 0;

	if (!calls && !files)
		return "neither Landlock nor a filter of system calls";
	if (!files)
		return "no Landlock";
	return calls ? NULL : "no filter of system calls";
}

static void
report_failure(const struct sandbox *s, const char *what)
{
	if (s->required)
		fatal("sandbox required: %s", what);
	log_warn("going on without: %s", what);
}

/* Memory of ours is clients' data: not for files, nor for debuggers. */
static void
hide_process(const struct sandbox *s)
{
	const struct rlimit	none = { 0, 0 };

	if (SANITIZED)
		return;
	/* Names are asked for by threads, which count as processes. */
	if ((s->roles & SYSCALL_ROLE_NAMES) == 0)
		(void)setrlimit(RLIMIT_NPROC, &none);
#ifdef __linux__
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

static void
restrict_files(const struct sandbox *s)
{
	bool	names = (s->roles & SYSCALL_ROLE_NAMES) != 0;
	int	rules = s->rules == -1 ? landlock_create(!names) : s->rules;

	if (rules == SANDBOX_NO_RULES) {
		if (s->required)
			report_failure(s, "no rules for Landlock have come");
		return;
	}
	/* What the system asks for names with may be anywhere. */
	if (names && rules != -1)
		(void)landlock_allow(rules, "/", LANDLOCK_READ);
	if (SANITIZED && rules != -1)
		(void)landlock_allow(rules, "/proc", LANDLOCK_READ);
	if (rules == -1 || landlock_enter(rules) == -1)
		report_failure(s, "Landlock");
	io_close(&rules);
}

void
sandbox_enter(const struct sandbox *s)
{
	tzset();		/* it reads a file */
	if (landlock_version() > 0)
		restrict_files(s);
	if (s->start != NULL)
		s->start(s->context);
	hide_process(s);
	if (syscall_filter_available() && !SANITIZED &&
	    syscall_filter_enter(s->roles) == -1)
		report_failure(s, "a filter of system calls");
}
