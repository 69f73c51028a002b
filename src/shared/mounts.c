/*
 * mounts: reads the kernel's table of mounts, which the kernel keeps in memory:
 * the read touches no file system.
 */
#ifdef __linux__
#include <sys/sysmacros.h>
#endif
#include <sys/types.h>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "helpers/job.h"
#include "lib/buf.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/str.h"
#include "shared/mounts.h"

#define TABLE	"/proc/self/mountinfo"

struct mount {
	unsigned	 id, parent;	/* mount that its mount point is on */
	uint64_t	 fs;
	char		*at;		/* mount point, owned; "" is / */
	size_t		 len;
};

struct root {
	const char	*text;		/* in the conf */
	char		*real;		/* owned, without symbolic links */
};

struct mounts {
	int		 fd;		/* of the table; -1: there is none */
	bool		 was_read;		/* at least once */
	struct mount	*mounts;
	size_t		 nmounts;
	struct root	*roots;
	size_t		 nroots;
};

/* Resolves a root that is a symbolic link.  If the link is changed to another
 * file system, the root counts for the old one until the next reload. */
static void
add_root(struct mounts *m, const char *text)
{
	char	real[PATH_MAX];

	if (text == NULL)
		return;
	for (size_t i = 0; i < m->nroots; i++)
		if (strcmp(m->roots[i].text, text) == 0)
			return;
	if (realpath(text, real) == NULL || strcmp(real, text) == 0)
		return;
	m->roots = mem_grow(m->roots, m->nroots + 1, sizeof(*m->roots));
	m->roots[m->nroots++] = (struct root){ text, mem_string(real) };
}

struct mounts *
mounts_new(const struct conf *conf)
{
	struct mounts		*m = mem_zero(sizeof(*m));
	const struct conf_site	*site;
	const struct conf_rules	*rules;

	for (size_t i = 0; i < conf->nplaces; i++) {
		site = &conf->sites[i];
		add_root(m, site->rules.root);
		add_root(m, site->rules.guard.file);
		for (size_t j = 0; j < site->npaths; j++) {
			rules = &site->paths[j].rules;
			add_root(m, rules->root);
			add_root(m, rules->alias);
			add_root(m, rules->guard.file);
		}
		for (size_t j = 0; j < site->nfiles; j++)
			add_root(m, site->files[j].guard.file);
	}
	m->fd = open(TABLE, O_RDONLY | O_CLOEXEC);
	return m;
}

static void
clear_table(struct mounts *m)
{
	for (size_t i = 0; i < m->nmounts; i++)
		free(m->mounts[i].at);
	m->nmounts = 0;
}

void
mounts_free(struct mounts **mp)
{
	struct mounts	*m = *mp;

	clear_table(m);
	free(m->mounts);
	for (size_t i = 0; i < m->nroots; i++)
		free(m->roots[i].real);
	free(m->roots);
	io_close(&m->fd);
	mem_drop(mp);
}

/* Replaces \040 and the like, as the table writes blanks. */
static void
unescape(char *text)
{
	char	*to = text;

	while (*text != '\0')
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' &&
		    text[2] >= '0' && text[2] <= '7' &&
		    text[3] >= '0' && text[3] <= '7') {
			*to++ = (char)((text[1] - '0') * 64 +
			    (text[2] - '0') * 8 + text[3] - '0');
			text += 4;
		} else
			*to++ = *text++;
	*to = '\0';
}

/* Reads a line: 36 35 98:0 / /mount/point rw ... */
static void
add_mount(struct mounts *m, const char *line, size_t len)
{
	unsigned	 id, parent, major, minor;
	char		*at = mem_zero(len + 1), *copy = mem_zero(len + 1);

	memcpy(copy, line, len);
	if (sscanf(copy, "%u %u %u:%u %*s %s", &id, &parent, &major, &minor,
	    at) == 5) {
		unescape(at);
		if (strcmp(at, "/") == 0)
			*at = '\0';
		m->mounts = mem_grow(m->mounts, m->nmounts + 1,
		    sizeof(*m->mounts));
		m->mounts[m->nmounts++] = (struct mount){
			.id = id, .parent = parent,
			.fs = makedev(major, minor), .at = at,
			.len = strlen(at)
		};
	} else
		free(at);
	free(copy);
}

void
mounts_read(struct mounts *m, const char *text)
{
	size_t	len;

	clear_table(m);
	m->was_read = true;
	for (; *text != '\0'; text += len + (text[len] != '\0')) {
		len = strcspn(text, "\n");
		add_mount(m, text, len);
	}
}

/* The descriptor reports each change once, as urgent data. */
static bool
has_changed(const struct mounts *m)
{
	struct pollfd	p = { .fd = m->fd, .events = POLLPRI };

	return poll(&p, 1, 0) == 1;
}

void
mounts_refresh(struct mounts *m)
{
	struct buf	text = { 0 };
	char		part[4096];
	ssize_t		n;

	if (m->fd == -1 || (!has_changed(m) && m->was_read))
		return;
	lseek(m->fd, 0, SEEK_SET);
	while ((n = read(m->fd, part, sizeof(part))) > 0)
		buf_add(&text, part, (size_t)n);
	mounts_read(m, buf_string(&text));
	buf_free(&text);
}

bool
mounts_has(const struct mounts *m, uint64_t fs)
{
	for (size_t i = 0; i < m->nmounts; i++)
		if (m->mounts[i].fs == fs)
			return true;
	return false;
}

static const char *
real_root(const struct mounts *m, const char *root)
{
	for (size_t i = 0; i < m->nroots; i++)
		if (strcmp(m->roots[i].text, root) == 0)
			return m->roots[i].real;
	return root;
}

/* Called for all mounts at each lookup: the test that mostly fails is first. */
static bool
is_beneath(struct str path, const struct mount *mount)
{
	return mount->len <= path.len &&
	    (path.at[mount->len] == '/' || path.at[mount->len] == '\0') &&
	    memcmp(path.at, mount->at, mount->len) == 0;
}

/* Whether the table has no mount above this one. */
static bool
is_top(const struct mounts *m, const struct mount *mount)
{
	for (size_t i = 0; i < m->nmounts; i++)
		if (m->mounts[i].id == mount->parent && &m->mounts[i] != mount)
			return false;
	return true;
}

/* Returns the next mount that a path enters from here (NULL: from the top), or
 * NULL.  The shorter mount point comes first, whatever their order in the
 * table. */
static const struct mount *
find_next(const struct mounts *m, struct str path, const struct mount *here)
{
	const struct mount	*mount, *best = NULL;

	for (size_t i = 0; i < m->nmounts; i++) {
		mount = &m->mounts[i];
		if (here != NULL && (mount->parent != here->id ||
		    mount == here))
			continue;
		if (!is_beneath(path, mount) ||
		    (best != NULL && mount->len > best->len) ||
		    (here == NULL && !is_top(m, mount)))
			continue;
		best = mount;
	}
	return best;
}

/* Walks as the kernel does, from a mount to one on it, at its mount point or
 * deeper.  A mount that another one covers is not met. */
static const struct mount *
find_mount(const struct mounts *m, const char *root, const char *path)
{
	const struct mount	*here = NULL, *below;
	char			 whole[PATH_MAX + JOB_PATH_MAX];
	struct str		 name = { whole, 0 };

	root = real_root(m, root);
	snprintf(whole, sizeof(whole), "%s%s%s", root,
	    strcmp(root, "/") == 0 || *path == '\0' ? "" : "/", path);
	name.len = strlen(whole);
	/* The number of steps is limited, in case of a loop. */
	for (size_t i = 0; i < m->nmounts; i++) {
		below = find_next(m, name, here);
		if (below == NULL)
			break;
		here = below;
	}
	return here;
}

uint64_t
mounts_find(const struct mounts *m, const char *root, const char *path,
    bool *known, size_t *mount_len)
{
	static const struct hash_key	 key = { 0, 0 };
	const struct mount		*mount = find_mount(m, root, path);
	size_t				 len;

	*known = mount != NULL;
	*mount_len = 0;
	/* A second mount of the same file system is another mount. */
	if (mount != NULL && mount != find_mount(m, root, "")) {
		root = real_root(m, root);
		len = strlen(root);
		*mount_len = mount->len - len - (strcmp(root, "/") != 0);
	}
	if (m->nmounts == 0)
		return hash_bytes(&key, 0, root, strlen(root));
	return mount != NULL ? mount->fs : 0;
}
