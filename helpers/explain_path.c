/*
 * explain_path: walks a path from the top, up to the first component that
 * causes the error.
 */
#include <sys/stat.h>

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/explain_path.h"
#include "lib/regular.h"

struct component {
	const char	*path;		/* up to this component, terminated */
	size_t		 root;		/* bytes of the root in it */
	struct stat	 st;		/* by lstat() */
	struct buf	*to;
};

static void
add_user(struct buf *to, uid_t uid)
{
	const struct passwd	*pw = getpwuid(uid);

	if (pw != NULL)
		buf_adds(to, pw->pw_name);
	else
		buf_addf(to, "user %ld", (long)uid);
}

static void
add_group(struct buf *to, gid_t gid)
{
	const struct group	*gr = getgrgid(gid);

	if (gr != NULL)
		buf_adds(to, gr->gr_name);
	else
		buf_addf(to, "%ld", (long)gid);
}

static void
add_link(const struct component *p, const char *behind)
{
	char	target[PATH_MAX];
	ssize_t	n = readlink(p->path, target, sizeof(target));

	buf_addf(p->to, "%s is a link to %.*s%s", p->path, n > 0 ? (int)n : 0,
	    target, behind);
}

/* Each returns whether this component causes its error, and appends how. */

static bool
explain_absent(const struct component *p)
{
	struct stat	st;

	if (!S_ISLNK(p->st.st_mode) || stat(p->path, &st) == 0)
		return false;
	add_link(p, ", which is not there");
	return true;
}

static bool
explain_not_directory(const struct component *p)
{
	struct stat	st;

	if (stat(p->path, &st) == -1 || S_ISDIR(st.st_mode))
		return false;
	buf_addf(p->to, "%s is %s, not a directory", p->path,
	    regular_kind(st.st_mode));
	return true;
}

static bool
explain_denied(const struct component *p)
{
	struct stat	st;
	bool		is_directory;

	if (stat(p->path, &st) == -1) {
		add_link(p, ", which may not be looked at");
		return true;
	}
	is_directory = S_ISDIR(st.st_mode);
	if (access(p->path, is_directory ? X_OK : R_OK) == 0)
		return false;
	buf_addf(p->to, "%s is %s with mode %04o, of user ", p->path,
	    regular_kind(st.st_mode), (unsigned)st.st_mode & 07777);
	add_user(p->to, st.st_uid);
	buf_adds(p->to, " and group ");
	add_group(p->to, st.st_gid);
	buf_adds(p->to, "; ");
	add_user(p->to, geteuid());
	buf_adds(p->to, is_directory ? " may not enter it" :
	    " may not read it");
	return true;
}

static bool
explain_leaving(const struct component *p)
{
	char	root[PATH_MAX], real[PATH_MAX], top[PATH_MAX];
	size_t	n;

	if (!S_ISLNK(p->st.st_mode) || strlen(p->path) <= p->root)
		return false;
	memcpy(top, p->path, p->root);
	top[p->root] = '\0';
	if (realpath(top, root) == NULL)
		return false;
	n = strlen(root);
	/* A dangling or absolute link leaves the root as well. */
	if (realpath(p->path, real) != NULL && strncmp(real, root, n) == 0 &&
	    (real[n] == '/' || real[n] == '\0') &&
	    (readlink(p->path, top, 1) != 1 || top[0] != '/'))
		return false;
	add_link(p, "");
	return true;
}

static bool
explain_link(const struct component *p)
{
	if (!S_ISLNK(p->st.st_mode) || strlen(p->path) <= p->root)
		return false;
	add_link(p, "");
	return true;
}

static bool
explain_special(const struct component *p)
{
	struct stat	st;

	if (stat(p->path, &st) == -1 || S_ISREG(st.st_mode) ||
	    S_ISDIR(st.st_mode))
		return false;
	buf_addf(p->to, "%s is %s", p->path, regular_kind(st.st_mode));
	return true;
}

static const struct {
	int	error;
	bool	(*explains)(const struct component *);
} explanations[] = {
	{ ENOENT, explain_absent },
	{ ENOTDIR, explain_not_directory },
	{ EACCES, explain_denied }, { EPERM, explain_denied },
	{ EXDEV, explain_leaving },
	{ ELOOP, explain_link },
	{ ENOTSUP, explain_special },
};

static bool
explain_component(const struct component *p, int error)
{
	for (size_t i = 0; i < sizeof(explanations) / sizeof(explanations[0]);
	    i++)
		if (explanations[i].error == error)
			return explanations[i].explains(p);
	return false;
}

/* Cuts the path at each slash in turn, and restores it. */
static bool
walk_path(char *path, size_t root, int error, struct buf *to)
{
	struct component	 p = { .path = path, .root = root, .to = to };
	char			*end = path + 1, cut;
	bool			 found;

	do {
		end += strcspn(end, "/");
		cut = *end;
		*end = '\0';
		found = lstat(path, &p.st) == -1;
		if (!found)
			found = explain_component(&p, error);
		else if (errno == ENOENT)
			buf_addf(to, "%s is not there", path);
		else
			buf_addf(to, "%s: %s", path, strerror(errno));
		*end = cut;
		end += strspn(end, "/");
	} while (!found && *end != '\0');
	return found;
}

void
explain_path(const struct job *job, struct buf *to)
{
	struct buf	 path = { 0 };
	size_t		 root = strlen(job->find.root), end;
	const char	*name = job->find.names.at;
	bool		 found;

	buf_addf(&path, "%s/%s", root > 1 ? job->find.root : "",
	    job->find.path);
	end = path.len;
	buf_string(&path);
	found = walk_path(path.at, root, job->error, to);
	/* The error may be of one of the names behind the path. */
	while (!found && job->kind == JOB_RESOLVE &&
	    name < job->find.names.at + job->find.names.len) {
		path.len = end;
		buf_adds(&path, name);
		buf_string(&path);
		/* Names that do not exist have been passed over. */
		if (access(path.at, F_OK) == 0 || errno != ENOENT)
			found = walk_path(path.at, root, job->error, to);
		name += strlen(name) + 1;
	}
	buf_free(&path);
}
