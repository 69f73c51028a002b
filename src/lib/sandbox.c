/*
 * sandbox: allows the files of a ruleset, the system calls of the roles, and no
 * new process; hides memory from debuggers and core files.
 */
#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <time.h>

#include "lib/compiler.h"
#include "lib/io.h"
#include "lib/landlock.h"
#include "lib/log.h"
#include "lib/sandbox.h"
#include "lib/syscall_filter.h"

/*
 * A sanitizer reads /proc for its reports, and at exit starts a process that
 * traces this one.  A build with a sanitizer therefore has no filter, may be
 * traced, may start processes, and may read /proc.
 */
#define SANITIZED	(COMPILER_ASAN || COMPILER_TSAN)

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
		fatal("cannot confine the process as \"sandbox required\" "
		    "demands: %s", what);
	log_warn("running without %s, which failed", what);
}

/* Memory holds clients' data, which core files and debuggers must not get. */
static void
hide_process(const struct sandbox *s)
{
	const struct rlimit	none = { 0, 0 };

	if (SANITIZED)
		return;
	/* RLIMIT_NPROC counts threads. */
	if ((s->roles & (SYSCALL_ROLE_NAMES | SYSCALL_ROLE_THREADS)) == 0)
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
			report_failure(s, "no rules for Landlock");
		return;
	}
	/* A resolver's libraries and files may be anywhere. */
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
	tzset();		/* reads a file */
	if (landlock_version() > 0)
		restrict_files(s);
	if (s->start != NULL)
		s->start(s->context);
	hide_process(s);
	if (syscall_filter_available() && !SANITIZED &&
	    syscall_filter_enter(s->roles) == -1)
		report_failure(s, "a filter of system calls");
}
