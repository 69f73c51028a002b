/*
 * confine: makes Landlock rules.
 *
 * A file that is not there, or is closed to the user, needs no rule.
 */
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/landlock.h"
#include "lib/mem.h"
#include "programs/confine.h"

/* Files that programs and their libraries need, whatever they do.  Only an
 * administrator writes there. */
static const struct {
	const char		*path;
	enum landlock_right	 right;
} table[] = {
	{ "/usr", LANDLOCK_EXECUTE },
	{ "/bin", LANDLOCK_EXECUTE },
	{ "/sbin", LANDLOCK_EXECUTE },
	{ "/lib", LANDLOCK_EXECUTE },
	{ "/lib32", LANDLOCK_EXECUTE },
	{ "/lib64", LANDLOCK_EXECUTE },
	{ "/libx32", LANDLOCK_EXECUTE },
	{ "/etc", LANDLOCK_READ },
	/* Behind the link /etc/resolv.conf. */
	{ "/run/resolvconf", LANDLOCK_READ },
	{ "/run/systemd/resolve", LANDLOCK_READ },
	/* Landlock itself hides other processes there. */
	{ "/proc", LANDLOCK_READ },
	{ "/sys/devices/system/cpu", LANDLOCK_READ },
	{ "/dev/null", LANDLOCK_CHANGE },
	{ "/dev/zero", LANDLOCK_READ },
	{ "/dev/random", LANDLOCK_READ },
	{ "/dev/urandom", LANDLOCK_READ },
};

static void
allow_reading(void *rules, const char *directory)
{
	(void)landlock_allow(*(int *)rules, directory, LANDLOCK_READ);
}

/* A command, and what stands beside it, unless that is everything. */
static void
allow_command(int rules, const char *command)
{
	char	*directory = mem_string(command), *slash;

	(void)landlock_allow(rules, command, LANDLOCK_EXECUTE);
	slash = strrchr(directory, '/');
	if (slash != NULL && slash != directory) {
		*slash = '\0';
		(void)landlock_allow(rules, directory, LANDLOCK_EXECUTE);
	}
	free(directory);
}

/* Directories can be searched, not executed. */
static bool
is_executable(const char *name)
{
	struct stat	st;

	return stat(name, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(name, X_OK) == 0;
}

/* A filter's arguments may be files.  A script or a module, which can be
 * executed, may be replaced before the filter opens it: the file that comes
 * into its place stands beside it. */
static void
allow_arguments(int rules, const struct conf_words *command)
{
	for (size_t i = 1; i < command->n; i++) {
		if (command->at[i][0] != '/')
			continue;
		if (is_executable(command->at[i]))
			allow_command(rules, command->at[i]);
		else
			(void)landlock_allow(rules, command->at[i],
			    LANDLOCK_EXECUTE);
	}
}

int
confine_prepare(const struct conf *conf, const struct conf_program *p,
    int *made)
{
	int	rules;

	*made = -1;
	if (p->confine != CONFINEMENT_FILES)
		return 0;
	rules = landlock_create(false);
	if (rules == -1)
		return -1;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		(void)landlock_allow(rules, table[i].path, table[i].right);
	if (p->application == NULL)
		conf_program_each_directory(conf, p, allow_reading, &rules);
	if (p->directory != NULL)
		(void)landlock_allow(rules, p->directory, LANDLOCK_EXECUTE);
	else
		allow_command(rules, p->command.at[0]);
	if (p->is_filter)
		allow_arguments(rules, &p->command);
	for (size_t i = 0; i < p->writes.n; i++)
		(void)landlock_allow(rules, p->writes.at[i], LANDLOCK_CHANGE);
	*made = rules;
	return 0;
}
