/*
 * landlock: the system calls of Landlock, by their numbers.
 *
 * Each version of Landlock knows more kinds of access.  A ruleset handles all
 * that the running system knows, since it cannot forbid the others.  The
 * constants stand here because the headers may be older than the system.
 */
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/landlock.h"

#if defined(SYS_landlock_create_ruleset) && defined(O_PATH)

#define CREATE_VERSION	1u
#define PATH_BENEATH	1

#define EXECUTE		(1u << 0)
#define WRITE_FILE	(1u << 1)
#define READ_FILE	(1u << 2)
#define READ_DIR	(1u << 3)
#define REMOVE_DIR	(1u << 4)
#define REMOVE_FILE	(1u << 5)
#define MAKE_DIR	(1u << 7)
#define MAKE_REG	(1u << 8)
#define MAKE_SOCK	(1u << 9)
#define MAKE_FIFO	(1u << 10)
#define MAKE_SYM	(1u << 12)
#define REFER		(1u << 13)	/* move to another directory */
#define TRUNCATE	(1u << 14)
#define ALL_NET		3u		/* bind, connect: TCP */
#define ALL_SCOPES	3u		/* abstract sockets, signals */

/* The number of bits for access to files, by version. */
static const int	file_bits[] = { 0, 13, 14, 15, 15, 16 };

struct ruleset {
	uint64_t	files, net, scoped;
};

struct path_beneath {
	uint64_t	allowed;
	int32_t		parent;
} __attribute__((__packed__));

int
landlock_version(void)
{
	long	version = syscall(SYS_landlock_create_ruleset, NULL, 0,
		    CREATE_VERSION);

	return version < 0 ? 0 : (int)version;
}

static uint64_t
all_file_rights(int version)
{
	int	last = (int)(sizeof(file_bits) / sizeof(file_bits[0])) - 1;

	return ((uint64_t)1 << file_bits[version < last ? version : last]) - 1;
}

/* A system rejects a struct longer than the one of its version. */
static size_t
ruleset_size(int version)
{
	return version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

int
landlock_create(bool net)
{
	int		version = landlock_version();
	struct ruleset	all = {
		.files = all_file_rights(version),
		.net = net && version >= 4 ? ALL_NET : 0,
		.scoped = version >= 6 ? ALL_SCOPES : 0,
	};

	if (version == 0) {
		errno = ENOSYS;
		return -1;
	}
	return (int)syscall(SYS_landlock_create_ruleset, &all,
	    ruleset_size(version), 0);
}

static uint64_t
rights_of(enum landlock_right right, bool directory)
{
	uint64_t	r = READ_FILE;

	if (directory && right != LANDLOCK_READ_FILES)
		r |= READ_DIR;
	if (right == LANDLOCK_EXECUTE)
		r |= EXECUTE;
	if (right == LANDLOCK_WRITE || right == LANDLOCK_CHANGE)
		r |= WRITE_FILE | TRUNCATE;
	if (directory && (right == LANDLOCK_WRITE || right == LANDLOCK_CHANGE))
		r |= REMOVE_FILE | MAKE_REG;
	if (directory && right == LANDLOCK_CHANGE)
		r |= REMOVE_DIR | MAKE_DIR | MAKE_SOCK | MAKE_FIFO | MAKE_SYM |
		    REFER;
	return r & all_file_rights(landlock_version());
}

int
landlock_allow(int rules, const char *path, enum landlock_right right)
{
	struct stat		st;
	struct path_beneath	rule = { 0 };
	int			fd, result = -1;

	fd = rule.parent = open(path, O_PATH | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0) {
		rule.allowed = rights_of(right, S_ISDIR(st.st_mode));
		result = (int)syscall(SYS_landlock_add_rule, rules,
		    PATH_BENEATH, &rule, 0);
	}
	io_close(&fd);
	return result;
}

int
landlock_enter(int rules)
{
	return (int)syscall(SYS_landlock_restrict_self, rules, 0);
}

#else

int
landlock_version(void)
{
	return 0;
}

int
landlock_create(bool net)
{
	(void)net;
	errno = ENOSYS;
	return -1;
}

int
landlock_allow(int rules, const char *path, enum landlock_right right)
{
	(void)rules;
	(void)path;
	(void)right;
	errno = ENOSYS;
	return -1;
}

int
landlock_enter(int rules)
{
	(void)rules;
	errno = ENOSYS;
	return -1;
}

#endif
