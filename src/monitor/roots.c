/*
 * roots: looks at the directories and files that the conf names.
 *
 * A closed directory is the usual reason for a site that answers 403 to
 * everything.  A client is told 403 only; an administrator wants to know which
 * mode to change.
 *
 * A Landlock rule is about a directory and not about its name.  If another
 * directory is moved to that name, or mounted there, helpers reach the old one
 * until the conf is read again.  Such changes are usual where the name leads
 * over a symbolic link or is a mount point, so there the directory above is
 * allowed as well.
 */
#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/needs.h"
#include "arch/arch.h"
#include "conf/conf.h"
#include "helpers/job.h"
#include "lib/buf.h"
#include "lib/landlock.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "lib/sandbox.h"
#include "monitor/generation.h"
#include "monitor/roots.h"

/*
 * The user
 */

struct walk {
	const char	*user;
	struct buf	 warned;		/* the last one warned of */
};

static void
warn_closed(struct walk *w, const char *directory, const char *root)
{
	if (w->warned.len > 0 && strcmp(buf_string(&w->warned), directory) == 0)
		return;
	w->warned.len = 0;
	buf_adds(&w->warned, directory);
	log_warnx("%s%s may not enter %s, so nothing of %s can be served: let "
	    "others enter it (chmod o+x), or name another user", w->user !=
	    NULL ? "user " : "this user", w->user != NULL ? w->user : "",
	    directory, strcmp(directory, root) == 0 ? "it" : root);
}

/* Walks down to a root, to find the first directory that is closed. */
static void
walk_root(struct walk *w, const char *root)
{
	struct buf	path = { 0 };
	bool		closed = false;

	if (root == NULL || root[0] != '/')
		return;
	for (const char *at = root + 1; !closed && *at != '\0';) {
		at += strcspn(at, "/");
		path.len = 0;
		buf_add(&path, root, (size_t)(at - root));
		closed = access(buf_string(&path), X_OK) == -1 &&
		    errno == EACCES;
		at += strspn(at, "/");
	}
	if (closed)
		warn_closed(w, path.at, root);
	buf_free(&path);
}

static void
check_all(const void *context)
{
	const struct generation	*g = context;
	const struct conf	*conf = g->conf;
	struct walk		 w = { .user = g->user.name };

	for (size_t i = 0; i < conf->nplaces; i++) {
		walk_root(&w, conf->sites[i].rules.root);
		for (size_t k = 0; k < conf->sites[i].npaths; k++) {
			walk_root(&w, conf->sites[i].paths[k].rules.root);
			walk_root(&w, conf->sites[i].paths[k].rules.alias);
		}
	}
	buf_free(&w.warned);
	needs_check_serving(conf);
}

void
roots_check(const struct generation *g)
{
	proc_run_as(&g->user, check_all, g);
}

bool
roots_check_start(const struct generation *g)
{
	roots_check(g);
	arch_warn(g->conf);
	return needs_check_start(g->conf);
}

/*
 * The helpers
 */

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

/* Allows a root, or a password file with its directory, as editors replace the
 * file.  A root that does not exist needs no rule. */
static void
allow_path(int rules, const char *path, enum landlock_right access)
{
	char	real[PATH_MAX];

	if (path == NULL || realpath(path, real) == NULL)
		return;
	(void)landlock_allow(rules, real, access);
	if ((access == LANDLOCK_READ_FILES || strcmp(real, path) != 0 ||
	    is_mount(real)) && go_up(real))
		(void)landlock_allow(rules, real, access);
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

	allow_path(rules, site->rules.root, LANDLOCK_READ);
	allow_path(rules, site->rules.guard.file, LANDLOCK_READ_FILES);
	for (size_t i = 0; i < site->npaths; i++) {
		place = &site->paths[i].rules;
		allow_path(rules, place->root, LANDLOCK_READ);
		allow_path(rules, place->alias, LANDLOCK_READ);
		allow_path(rules, place->guard.file, LANDLOCK_READ_FILES);
		anywhere = anywhere || leads_anywhere(place);
	}
	for (size_t i = 0; i < site->nfiles; i++)
		allow_path(rules, site->files[i].guard.file,
		    LANDLOCK_READ_FILES);
	if (anywhere)
		(void)landlock_allow(rules, "/", LANDLOCK_READ);
}

static void
allow_all(int rules, const struct conf *conf)
{
	for (size_t i = 0; i < conf->nplaces; i++)
		allow_site(rules, &conf->sites[i]);
	if (conf->cache.variants != NULL)
		(void)landlock_allow(rules, conf->cache.variants,
		    LANDLOCK_WRITE);
	if (conf->cache.results != NULL)
		(void)landlock_allow(rules, conf->cache.results,
		    LANDLOCK_WRITE);
	if (conf->limits.spool != NULL)
		(void)landlock_allow(rules, conf->limits.spool,
		    LANDLOCK_WRITE);
}

int
roots_open_rules(const struct conf *conf)
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
roots_check_sandbox(const struct conf *conf)
{
	if (conf->sandbox != SANDBOX_REQUIRED || sandbox_missing() == NULL)
		return 0;
	log_errorx("sandbox required, but there is %s here: say sandbox auto "
	    "to do without", sandbox_missing());
	return -1;
}
