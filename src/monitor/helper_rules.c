/*
 * helper_rules: allows the directories and files that the conf names.
 *
 * A Landlock rule is about a directory and not about its name.  If another
 * directory is moved to that name, or mounted there, helpers reach the old one
 * until the conf is read again.  Such changes are usual where the name leads
 * over a symbolic link or is a mount point, so there the directory above is
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

/* Cuts off the last name of a path; false if only / would be left. */
static bool
go_up(char *path)
{
	char	*slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* Whether a path is a mount point.  The path has no symbolic links. */
static bool
is_mount(const char *real)
{
	char		above[PATH_MAX];
	struct stat	st, up;

	strcpy(above, real);
	return go_up(above) && stat(real, &st) == 0 && stat(above, &up) == 0 &&
	    st.st_dev != up.st_dev;
}

/* Allows a root; a root that does not exist needs no rule. */
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

/* Allows a password file with its directory: editors replace the file. */
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

/* Whether helpers may need any file: home directories and links that leave a
 * root can be anywhere. */
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
		log_warn("cannot make Landlock rules: helpers may reach all "
		    "files of their user");
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
