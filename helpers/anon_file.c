/*
 * anon_file: memfd_create() where the system has it, else an unlinked file in
 * /tmp.
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "lib/io.h"

static int
open_unlinked(void)
{
	char	name[] = "/tmp/amped-XXXXXX";
	int	fd = mkstemp(name);

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
	return open_unlinked();
}
