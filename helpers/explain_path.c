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
	enum job_links	 links;		/* the policy */
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

/* Whether a path, by its links, is beneath the root. */
static bool
is_beneath(const struct component *p)
{
	char	root[PATH_MAX], real[PATH_MAX], top[PATH_MAX];
	size_t	n;

	memcpy(top, p->path, p->root);
	top[p->root] = '\0';
	if (p->root == 0 || realpath(top, root) == NULL ||
	    realpath(p->path, real) == NULL)
		return p->root == 0;
	n = strlen(root);
	return strncmp(real, root, n) == 0 &&
	    (real[n] == '/' || real[n] == '\0');
}

/* Under "links owner": the link is of another user than its target. */
static bool
explain_link_owner(const struct component *p)
{
	struct stat	st;

	if (stat(p->path, &st) == -1 || st.st_uid == p->st.st_uid)
		return false;
	add_link(p, ": the link belongs to ");
	add_user(p->to, p->st.st_uid);
	buf_adds(p->to, ", and its target to ");
	add_user(p->to, st.st_uid);
	return true;
}

static bool
explain_leaving(const struct component *p)
{
	char	first;

	if (!S_ISLNK(p->st.st_mode) || strlen(p->path) <= p->root)
		return false;
	if (p->links == JOB_LINKS_OWNER)
		return explain_link_owner(p);
	if (!is_beneath(p))
		add_link(p, ", out of the root");
	else if (readlink(p->path, &first, 1) == 1 && first == '/')
		add_link(p, ": an absolute link is not followed");
	else
		return false;
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

/* Explains why a component cannot be looked at: by the directory above it, if
 * that may not be entered. */
static void
explain_unseen(struct component *p, char *path, char *above)
{
	int	error = errno;
	char	cut = *above;
	bool	told;

	*above = '\0';
	told = error == EACCES && stat(path, &p->st) == 0 && explain_denied(p);
	*above = cut;
	if (told)
		return;
	if (error == ENOENT)
		buf_addf(p->to, "%s is not there", path);
	else
		buf_addf(p->to, "%s: %s", path, strerror(error));
}

/* Cuts the path at each slash in turn, and restores it. */
static bool
walk_path(const struct job *job, char *path, struct buf *to)
{
	struct component	 p = { .path = path, .to = to,
				    .root = strlen(job->find.root),
				    .links = job->find.links };
	char			*end = path + 1, *above = path + 1, cut;
	bool			 found;

	do {
		end += strcspn(end, "/");
		cut = *end;
		*end = '\0';
		found = lstat(path, &p.st) == -1;
		if (!found)
			found = explain_component(&p, job->error);
		else
			explain_unseen(&p, path, above);
		*end = cut;
		above = end;
		end += strspn(end, "/");
	} while (!found && *end != '\0');
	return found;
}

/* Explains EPERM: the file or the root is another user's. */
static void
explain_owner(const struct job *job, const char *path, struct buf *to)
{
	const struct passwd	*pw = getpwnam(job->find.user);
	const char		*at[] = { job->find.root, path };
	uid_t			 uid = pw != NULL ? pw->pw_uid : 0;
	struct stat		 st;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (stat(at[i], &st) == -1 || st.st_uid == uid)
			continue;
		buf_addf(to, "%s belongs to ", at[i]);
		add_user(to, st.st_uid);
		buf_addf(to, ", not to %s (users)", job->find.user);
		return;
	}
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
	if (job->error == EPERM && job->find.user != NULL) {
		explain_owner(job, path.at, to);
		buf_free(&path);
		return;
	}
	found = walk_path(job, path.at, to);
	/* The error may be of one of the names behind the path. */
	while (!found && job->kind == JOB_RESOLVE &&
	    name < job->find.names.at + job->find.names.len) {
		path.len = end;
		buf_adds(&path, name);
		buf_string(&path);
		/* Names that do not exist have been passed over. */
		if (access(path.at, F_OK) == 0 || errno != ENOENT)
			found = walk_path(job, path.at, to);
		name += strlen(name) + 1;
	}
	buf_free(&path);
}
