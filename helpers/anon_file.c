/*
 * anon_file: memfd_create() where the system has it, else an unlinked file in
 * /tmp; on a disk O_TMPFILE, else an unlinked file.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/job.h"
#include "lib/io.h"

static int
open_unlinked(const char *directory)
{
	char	name[JOB_PATH_MAX + sizeof("/amped-XXXXXX")];
	int	fd;

	snprintf(name, sizeof(name), "%s/amped-XXXXXX", directory);
	fd = mkstemp(name);
	if (fd == -1)
		return -1;
	unlink(name);
	if (io_cloexec(fd, true) == -1)
		io_close(&fd);
	return fd;
}

int
anon_file_open(bool *in_memory)
{
#ifdef MFD_CLOEXEC
	int	fd = memfd_create("amped", MFD_CLOEXEC);

	*in_memory = fd != -1;
	if (fd != -1)
		return fd;
#endif
	*in_memory = false;
	return open_unlinked("/tmp");
}

/* A file system, or a kernel, without O_TMPFILE says one of two errors. */
int
anon_file_open_in(const char *directory)
{
#ifdef O_TMPFILE
	int	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC,
		    S_IRUSR | S_IWUSR);

	if (fd != -1 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
#endif
	return open_unlinked(directory);
}
