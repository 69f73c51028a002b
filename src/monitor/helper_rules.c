/*
 * helper_rules: the directories and files that the conf names, as rules.
 *
 * Rules are about a directory, not about its name: who moves another one to
 * that name, or mounts something there, leaves helpers with the old one until
 * the conf is read again.  Where that is to be expected, that is to say where
 * the name leads over a symbolic link or is a mount's, what lies beside it is
 * allowed as well.
 */
#include <sys/stat.h>

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "helpers/job.h"
#include "lib/landlock.h"
#include "lib/log.h"
#include "lib/sandbox.h"
#include "monitor/helper_rules.h"

/* What is above a path, in its place; false: only / is. */
static bool
go_up(char *path)
{
	char	*slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* A path without links; what it was called has other links than that. */
static bool
is_mount(const char *real)
{
	char		above[PATH_MAX];
	struct stat	st, up;

	strcpy(above, real);
	return go_up(above) && stat(real, &st) == 0 && stat(above, &up) == 0 &&
	    st.st_dev != up.st_dev;
}

/* What is not there, nobody may reach. */
static void
allow_root(int rules, const char *root)
{
	char	real[PATH_MAX];

	if (root == NULL || realpath(root, real) == NULL)
		return;
	(void)landlock_allow(rules, real, LANDLOCK_READ);
	if ((strcmp(real, root) != 0 || is_mount(real)) && go_up(real))
		(void)landlock_allow(rules, real, LANDLOCK_READ);
}

/* With its directory: who edits it may put another one there. */
static void
allow_passwords(int rules, const char *file)
{
	char	real[PATH_MAX];

	if (file == NULL || realpath(file, real) == NULL)
		return;
	(void)landlock_allow(rules, real, LANDLOCK_READ_FILES);
	if (go_up(real))
		(void)landlock_allow(rules, real, LANDLOCK_READ_FILES);
}

/* Nobody knows where homes are, nor links that may leave a root. */
static bool
leads_anywhere(const struct conf_rules *r)
{
	return r->users.directory != NULL || r->links == JOB_LINKS_ALL ||
	    r->links == JOB_LINKS_OWNER;
}

static void
allow_site(int rules, const struct conf_site *site)
{
	bool			 anywhere = leads_anywhere(&site->rules);
	const struct conf_rules	*place;

	allow_root(rules, site->rules.root);
	allow_passwords(rules, site->rules.guard.file);
	for (size_t i = 0; i < site->npaths; i++) {
		place = &site->paths[i].rules;
		allow_root(rules, place->root);
		allow_root(rules, place->alias);
		allow_passwords(rules, place->guard.file);
		anywhere = anywhere || leads_anywhere(place);
	}
	for (size_t i = 0; i < site->nfiles; i++)
		allow_passwords(rules, site->files[i].guard.file);
	if (anywhere)
		(void)landlock_allow(rules, "/", LANDLOCK_READ);
}

static void
allow_all(int rules, const struct conf *conf)
{
	for (size_t i = 0; i < conf->nsites; i++)
		allow_site(rules, &conf->sites[i]);
	if (conf->cache.variants != NULL)
		(void)landlock_allow(rules, conf->cache.variants,
		    LANDLOCK_WRITE);
}

int
helper_rules_open(const struct conf *conf)
{
	int	rules;

	if (conf->sandbox == SANDBOX_OFF)
		return -1;
	if (sandbox_missing() != NULL)
		log_notice("sandbox: going on with less of it, since there is "
		    "%s here", sandbox_missing());
	if (landlock_version() == 0)
		return -1;
	rules = landlock_create(true);
	if (rules == -1)
		log_warn("cannot make rules for Landlock");
	else
		allow_all(rules, conf);
	return rules;
}

int
helper_rules_check(const struct conf *conf)
{
	if (conf->sandbox != SANDBOX_REQUIRED || sandbox_missing() == NULL)
		return 0;
	log_errorx("sandbox required, but there is %s here: say sandbox auto "
	    "to do without", sandbox_missing());
	return -1;
}
