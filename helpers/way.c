/*
 * way: walks from / to a file, and has each directory watched before it looks
 * into it, so no change is missed between that look and the job's own.
 *
 * The walk obeys no policy on links: what it watches besides is no harm, and
 * the job's own look decides.  All that can change without an event here makes
 * the job unwatched: other file systems, files with a second name, links at
 * names that stand beside the path's own.
 */
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/job.h"
#include "helpers/notify.h"
#include "helpers/root.h"
#include "helpers/way.h"
#include "lib/io.h"

#define LINKS_MAX	40		/* on one way, as in the kernel */
#define OPEN_ENTRY	(BENEATH_STAT | O_NOFOLLOW)

/* File systems whose files change by this system's own calls only. */
static const unsigned	watchable[] = {
	0xef53,				/* ext2, ext3, ext4 */
	0x58465342,			/* XFS */
	0x9123683e,			/* btrfs */
	0xf2f52010,			/* F2FS */
	0xca451a4e,			/* bcachefs */
	0x3153464a,			/* JFS */
	0x01021994,			/* tmpfs */
	0x858458f6,			/* ramfs */
	0x73717368,			/* squashfs */
	0xe0f5e1e2,			/* EROFS */
	0x9660				/* ISO 9660 */
};

enum step { STEP_ON, STEP_END, STEP_UNWATCHED };

struct way {
	struct job_find	*find;
	int		 dir;		/* owned; -1: not open */
	int		 number;	/* of dir, watched; -1: not yet */
	int		 nlinks;
	size_t		 used;		/* bytes of targets */
	char		 targets[2 * JOB_PATH_MAX]; /* of links, the inner one
						     * last */
};

/* Whether a directory's file system tells of each change. */
static bool
is_watchable(int fd)
{
#ifdef __linux__
	struct statfs	fs;

	if (fstatfs(fd, &fs) == -1)
		return false;
	for (size_t i = 0; i < sizeof(watchable) / sizeof(watchable[0]); i++)
		if ((unsigned)fs.f_type == watchable[i])
			return true;
#else
	(void)fd;
#endif
	return false;
}

/* Only if there is room for the waypoint that tells main of it. */
static bool
watch_directory(struct way *w)
{
	if (w->number == -1 &&
	    w->find->waypoints.n < JOB_WAYPOINTS_MAX)
		w->number = notify_add(w->dir);
	if (w->number == -1 && errno == ENOSPC)
		w->find->watched = JOB_WATCHED_FULL;
	return w->number != -1;
}

static void
enter_directory(struct way *w, int fd)
{
	io_close(&w->dir);
	w->dir = fd;
	w->number = -1;
}

static bool
add_waypoint(struct way *w, enum job_waypoint_kind kind, size_t bytes,
    const char *name)
{
	struct job_waypoints	*all = &w->find->waypoints;

	if (all->n == JOB_WAYPOINTS_MAX)
		return false;
	all->at[all->n++] = (struct job_waypoint){
		.number = w->number, .kind = kind, .bytes = (uint32_t)bytes,
		.name = name != NULL ? notify_hash(name) : 0
	};
	return true;
}

/* Opens an entry of the directory, a link itself; -1 with errno, EXDEV: it is
 * on a file system that is not watched, or a file that something is mounted
 * over, of which only the directory is told that it lies in. */
static int
open_entry(const struct way *w, const char *name, bool same_mount)
{
	int	fd = beneath_open_here(w->dir, name, OPEN_ENTRY);

	if (fd != -1 || errno != EXDEV || same_mount)
		return fd;
	fd = beneath_open_unconfined(w->dir, name, OPEN_ENTRY | O_DIRECTORY);
	if (fd != -1 && !is_watchable(fd))
		io_close(&fd);
	if (fd == -1)
		errno = EXDEV;
	return fd;
}

static bool
is_absence(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

static bool
open_top(struct way *w)
{
	enter_directory(w, open("/", BENEATH_STAT | O_DIRECTORY));
	return w->dir != -1 && is_watchable(w->dir);
}

/*
 * A stretch of the way: the root, the path, or a link's target.  As bytes of
 * the path count those of its own segments (`own`), or those that lead to the
 * link.
 */
struct stretch {
	const char		*text;
	size_t			 at;		/* walked so far */
	bool			 own;
	size_t			 bytes;		/* not own */
	enum job_waypoint_kind	 kind;		/* of its entries; not own */
	bool			 same_mount;
	size_t			 may_cross;	/* own: up to these bytes */
};

static enum step	walk_stretch(struct way *, struct stretch *);

static enum step
follow_link(struct way *w, const struct stretch *p, int link, bool last)
{
	char		*target = w->targets + w->used;
	size_t		 room = sizeof(w->targets) - w->used;
	struct stretch	 inner = { .text = target, .bytes =
			    p->own ? p->at : p->bytes,
			    .kind = !p->own ? p->kind : last ?
			    JOB_WAYPOINT_FILE : JOB_WAYPOINT_BENEATH,
			    .same_mount = p->same_mount };
	ssize_t		 n = readlinkat(link, "", target, room);
	enum step	 step;

	if (n <= 0 || (size_t)n == room || w->nlinks++ == LINKS_MAX)
		return STEP_UNWATCHED;
	target[n] = '\0';
	if (target[0] == '/' && !open_top(w))
		return STEP_UNWATCHED;
	w->used += (size_t)n + 1;
	step = walk_stretch(w, &inner);
	w->used -= (size_t)n + 1;
	return step;
}

/* Cuts the next segment out; false: there is none, or it is too long. */
static bool
next_segment(struct stretch *p, char name[NAME_MAX + 1])
{
	size_t	n;

	p->at += strspn(p->text + p->at, "/");
	n = strcspn(p->text + p->at, "/");
	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(name, p->text + p->at, n);
	name[n] = '\0';
	p->at += n;
	return true;
}

/* Goes to an entry that has been opened; keeps a directory's descriptor. */
static enum step
enter_entry(struct way *w, const struct stretch *p, int *fd, const char *name)
{
	bool		last = p->own && p->text[p->at] == '\0';
	struct stat	st;

	if (fstat(*fd, &st) == -1)
		return STEP_UNWATCHED;
	if (p->own && !last && !S_ISDIR(st.st_mode) &&
	    !add_waypoint(w, JOB_WAYPOINT_BENEATH, p->at, name))
		return STEP_UNWATCHED;
	if (S_ISLNK(st.st_mode))
		return follow_link(w, p, *fd, last);
	if (!S_ISDIR(st.st_mode))
		return st.st_nlink > 1 ? STEP_UNWATCHED : STEP_END;
	if (last)
		return STEP_END;
	enter_directory(w, *fd);
	*fd = -1;
	return STEP_ON;
}

/* How the way ends in a directory that cannot be watched: if that may not be
 * entered, what is beneath does not count, and the directory above is told of a
 * new mode. */
static enum step
stop_at_closed(struct way *w, const struct stretch *p, const char *name,
    int above)
{
	int	fd;
	bool	closed;

	if (errno != EACCES || above == -1)
		return STEP_UNWATCHED;
	fd = beneath_open_here(w->dir, ".", BENEATH_STAT | O_DIRECTORY);
	closed = fd == -1 && errno == EACCES;
	io_close(&fd);
	w->number = above;
	return closed && add_waypoint(w, JOB_WAYPOINT_BENEATH, p->at, name) ?
	    STEP_END : STEP_UNWATCHED;
}

static enum step
walk_segment(struct way *w, const struct stretch *p, const char *name)
{
	bool		last = p->own && p->text[p->at] == '\0';
	enum step	step;
	int		fd;

	if (strcmp(name, ".") == 0)
		return STEP_ON;
	if (!watch_directory(w))
		return STEP_UNWATCHED;
	if (!p->own && !add_waypoint(w, p->kind, p->bytes, name))
		return STEP_UNWATCHED;
	fd = open_entry(w, name, p->same_mount && !(p->own &&
	    p->at <= p->may_cross));
	if (fd == -1 && !is_absence(errno))
		return STEP_UNWATCHED;
	if (fd == -1)
		return !p->own || last || add_waypoint(w, JOB_WAYPOINT_BENEATH,
		    p->at, name) ? STEP_END : STEP_UNWATCHED;
	step = enter_entry(w, p, &fd, name);
	io_close(&fd);
	return step;
}

/* STEP_ON: w->dir is where it leads to. */
static enum step
walk_stretch(struct way *w, struct stretch *p)
{
	char		name[NAME_MAX + 1];
	enum step	step = STEP_ON;
	int		above;

	while (step == STEP_ON && next_segment(p, name)) {
		above = w->number;
		step = walk_segment(w, p, name);
		if (!p->own || step != STEP_ON)
			continue;
		if (p->text[p->at] == '\0')	/* a link at the end */
			step = STEP_END;
		else if (!watch_directory(w))
			step = stop_at_closed(w, p, name, above);
		else if (!add_waypoint(w, JOB_WAYPOINT_DIRECTORY, p->at, NULL))
			step = STEP_UNWATCHED;
	}
	p->at += strspn(p->text + p->at, "/");
	return step == STEP_ON && p->text[p->at] != '\0' ? STEP_UNWATCHED :
	    step;
}

static enum step
walk_way(struct way *w)
{
	const struct job_find	*f = w->find;
	struct stretch		 root = { .text = f->root,
				    .kind = JOB_WAYPOINT_BENEATH };
	struct stretch		 path = { .text = f->path, .own = true,
				    .same_mount = f->same_mount,
				    .may_cross = f->mount_len };
	enum step		 step;

	w->find->waypoints.n = 0;
	if (!open_top(w))
		return STEP_UNWATCHED;
	step = walk_stretch(w, &root);
	if (step != STEP_ON)
		return step;
	if (!watch_directory(w) ||
	    !add_waypoint(w, JOB_WAYPOINT_DIRECTORY, 0, NULL))
		return STEP_UNWATCHED;
	return walk_stretch(w, &path);
}

/*
 * Names in the last directory
 */

/* Whether a name leads nowhere else, and its file has no other name. */
static bool
is_plain(int dir, const char *name, const char *suffix)
{
	char		both[JOB_PATH_MAX];
	struct stat	st;
	int		fd, n = snprintf(both, sizeof(both), "%s%s", name,
			    suffix);
	bool		plain;

	if (n < 0 || n >= (int)sizeof(both))
		return false;
	fd = beneath_open_here(dir, both, OPEN_ENTRY);
	if (fd == -1)
		return is_absence(errno);
	plain = fstat(fd, &st) == 0 && (S_ISDIR(st.st_mode) ||
	    (S_ISREG(st.st_mode) && st.st_nlink == 1));
	io_close(&fd);
	return plain;
}

static bool
are_plain(const struct job *job, int dir, const char *name)
{
	struct str	all = { NULL, 0 };

	if (job->kind == JOB_RESOLVE)
		all = job->resolve.siblings;
	for (size_t at = 0; at < all.len; at += strlen(all.at + at) + 1)
		if (!is_plain(dir, name, all.at + at))
			return false;
	return true;
}

/* Whether the names beside the path's own can be found without a link. */
static bool
names_are_plain(const struct job *job, int dir)
{
	const char	*path = job->find.path, *slash = strrchr(path, '/');
	const char	*name = slash != NULL ? slash + 1 : path;
	struct str	 all = job->find.names;
	char		 both[JOB_PATH_MAX];
	int		 n;

	if (job->kind == JOB_LIST)
		return true;
	if (*name != '\0' && !are_plain(job, dir, name))
		return false;
	for (size_t at = 0; at < all.len; at += strlen(all.at + at) + 1) {
		n = snprintf(both, sizeof(both), "%s%s", name, all.at + at);
		if (n < 0 || n >= (int)sizeof(both) ||
		    !is_plain(dir, both, "") || !are_plain(job, dir, both))
			return false;
	}
	return true;
}

/* Opens the directory of the path's last name, which is watched already. */
static int
open_last_directory(const struct job *job)
{
	const char	*slash = strrchr(job->find.path, '/');
	size_t		 n = slash != NULL ?
			    (size_t)(slash - job->find.path) + 1 : 0;
	char		 path[JOB_PATH_MAX];
	struct root	 root;
	int		 fd = -1;

	if (n >= sizeof(path))
		return -1;
	memcpy(path, job->find.path, n);
	path[n] = '\0';
	if (root_open(&root, job) == 0)
		fd = root_open_path(&root, path, BENEATH_STAT | O_DIRECTORY);
	root_close(&root);
	return fd;
}

/* Whether only what the directory of the last name has can change it. */
static bool
ends_plainly(const struct job *job)
{
	const char	*slash = strrchr(job->find.path, '/');
	const char	*name = slash != NULL ? slash + 1 : job->find.path;
	int		 fd;
	bool		 plain;

	if (job->kind == JOB_LIST)
		return true;
	fd = open_last_directory(job);
	plain = fd != -1 && (*name == '\0' || is_plain(fd, name, "")) &&
	    names_are_plain(job, fd);
	io_close(&fd);
	return plain;
}

static void
watch_way(struct job *job)
{
	struct way	w = { .find = &job->find, .dir = -1, .number = -1 };
	enum step	step = walk_way(&w);

	if (w.nlinks > 0)		/* names stand beside the link */
		enter_directory(&w, open_last_directory(job));
	if (step != STEP_UNWATCHED && names_are_plain(job, w.dir))
		job->find.watched = JOB_WATCHED_ALL;
	io_close(&w.dir);
}

void
way_watch(struct job *job)
{
	struct job_find	*f = &job->find;

	f->watched = JOB_WATCHED_NOT;
	memset(&f->waypoints, 0, sizeof(f->waypoints));
	if (f->watch == JOB_WATCH_NONE || !notify_is_used() || f->user != NULL)
		return;
	if (f->watch == JOB_WATCH_END && ends_plainly(job))
		f->watched = JOB_WATCHED_ALL;
	else
		watch_way(job);
}
