/*
 * renewal: files of a line each, named by a hash of their group.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/store/renewal.h"
#include "lib/hash.h"
#include "lib/io.h"

#define BEGIN	".renewed-"
#define DIGITS	16
#define LINE	(DIGITS + 1)

enum { NAME_SIZE = sizeof(BEGIN) + DIGITS + 4 };	/* with ".new" */

int
renewal_open_directory(const char *name)
{
	int		fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat	st;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    (st.st_mode & 022) == 0)
		return fd;
	io_close(&fd);
	errno = EPERM;
	return -1;
}

bool
renewal_is_name(const char *file)
{
	return strncmp(file, BEGIN, sizeof(BEGIN) - 1) == 0;
}

static void
make_name(const char *group, const char *suffix, char name[NAME_SIZE])
{
	/* The key is no secret: names are the same after a restart. */
	static const struct hash_key	key = { 0, 0 };

	snprintf(name, NAME_SIZE, BEGIN "%016" PRIx64 "%s", hash_bytes(&key, 0,
	    group, strlen(group)), suffix);
}

/* 0 or an errno: EIO for what no renewal_set() has written. */
static int
read_number(int fd, uint64_t *number)
{
	char		line[LINE + 1], *end;
	struct stat	st;

	if (fstat(fd, &st) == -1)
		return errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    pread(fd, line, sizeof(line), 0) != LINE || line[DIGITS] != '\n')
		return EIO;
	line[DIGITS] = '\0';
	*number = strtoull(line, &end, 16);
	return end == line + DIGITS && *number != 0 ? 0 : EIO;
}

int
renewal_read(int directory, const char *group, uint64_t *number)
{
	char	name[NAME_SIZE];
	int	fd, error;

	*number = 0;
	make_name(group, "", name);
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return errno == ENOENT ? 0 : errno;
	error = read_number(fd, number);
	io_close(&fd);
	return error;
}

/* A number that no other one of the group is, but for chance. */
static uint64_t
make_number(void)
{
	struct hash_key	random;

	do
		hash_key_random(&random);
	while (random.k0 == 0);
	return random.k0;
}

static int
write_number(int fd)
{
	char	line[LINE + 1];

	snprintf(line, sizeof(line), "%016" PRIx64 "\n", make_number());
	return io_write_all(fd, line, LINE) == -1 || fsync(fd) == -1 ? errno :
	    0;
}

/* Replaces a file with the temporary name, too, which a crash may have left. */
static int
replace_number(int directory, const char *group)
{
	char	name[NAME_SIZE], new[NAME_SIZE];
	int	fd, error;

	make_name(group, "", name);
	make_name(group, ".new", new);
	(void)unlinkat(directory, new, 0);
	fd = openat(directory, new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    S_IRUSR | S_IWUSR);
	if (fd == -1)
		return errno;
	error = write_number(fd);
	io_close(&fd);
	if (error == 0 && renameat(directory, new, directory, name) == -1)
		error = errno;
	if (error != 0)
		(void)unlinkat(directory, new, 0);
	else if (fsync(directory) == -1)
		error = errno;
	return error;
}

/* Two processes that set a number at once would take each other's temporary
 * file away.  A file system without locks leaves that chance. */
int
renewal_set(int directory, const char *group)
{
	int	error;

	while (flock(directory, LOCK_EX) == -1 && errno == EINTR)
		;
	error = replace_number(directory, group);
	(void)flock(directory, LOCK_UN);
	return error;
}
