/*
 * check_roots: walks down to each root as the server's user, to find the first
 * directory that this user may not enter.  A client is told 403 only; an
 * administrator wants to know which mode to change.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "monitor/check_roots.h"
#include "monitor/generation.h"

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

/* Whether the user may not enter a directory; logs a warning then. */
static bool
is_closed(struct walk *w, const char *directory, const char *root)
{
	if (access(directory, X_OK) == 0 || errno != EACCES)
		return false;
	warn_closed(w, directory, root);
	return true;
}

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
		closed = is_closed(w, buf_string(&path), root);
		at += strspn(at, "/");
	}
	buf_free(&path);
}

static void
walk_roots(const void *context)
{
	const struct generation	*g = context;
	const struct conf	*conf = g->conf;
	struct walk		 w = { .user = g->user.name };

	for (size_t i = 0; i < conf->nsites; i++) {
		walk_root(&w, conf->sites[i].rules.root);
		for (size_t k = 0; k < conf->sites[i].npaths; k++) {
			walk_root(&w, conf->sites[i].paths[k].rules.root);
			walk_root(&w, conf->sites[i].paths[k].rules.alias);
		}
	}
	buf_free(&w.warned);
}

void
check_roots(const struct generation *g)
{
	proc_run_as(&g->user, walk_roots, g);
}
