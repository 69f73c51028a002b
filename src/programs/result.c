/*
 * result: memfd_create(2) and its seals; elsewhere a file in /tmp, which a
 * process that the filter has left behind may still change.
 */
#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/io.h"
#include "programs/result.h"

#ifdef MFD_ALLOW_SEALING
static int
open_reader(int writer)
{
	int	handle = io_handle(writer), reader;

	if (handle == -1)
		return -1;
	reader = io_reopen(handle, O_RDONLY | O_CLOEXEC);
	io_close(&handle);
	return reader;
}

int
result_open(int *writer, int *reader)
{
	*writer = memfd_create("amped", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	*reader = *writer == -1 ? -1 : open_reader(*writer);
	if (*reader == -1)
		io_close(writer);
	return *reader == -1 ? -1 : 0;
}

int
result_seal(int writer)
{
	return fcntl(writer, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE | F_SEAL_SEAL);
}
#else
int
result_open(int *writer, int *reader)
{
	char	name[] = "/tmp/amped-XXXXXX";

	*reader = -1;
	*writer = mkstemp(name);
	if (*writer == -1)
		return -1;
	*reader = open(name, O_RDONLY | O_CLOEXEC);
	unlink(name);
	if (*reader == -1 || io_cloexec(*writer, true) == -1) {
		io_close(writer);
		io_close(reader);
	}
	return *reader == -1 ? -1 : 0;
}

int
result_seal(int writer)
{
	(void)writer;
	return 0;
}
#endif
