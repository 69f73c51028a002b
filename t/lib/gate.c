/*
 * gate: makes files slow to open; preloaded before the C library.
 *
 * If a FIFO has a file's name and ".gate", opening the file waits until a
 * writer has opened and closed the FIFO.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void
wait_at_gate(const char *name)
{
	char		gate[4096], byte;
	struct stat	st;
	int		fd;

	if ((size_t)snprintf(gate, sizeof(gate), "%s.gate", name) >=
	    sizeof(gate) || stat(gate, &st) == -1 || !S_ISFIFO(st.st_mode))
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, gate, O_RDONLY | O_CLOEXEC, 0);
	while (read(fd, &byte, 1) == 1)
		continue;
	close(fd);
}

static int
open_gated(const char *name, int flags, va_list args)
{
	unsigned	mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ?
			    va_arg(args, unsigned) : 0;

	if ((flags & O_PATH) == 0)
		wait_at_gate(name);
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

#define OPEN(function)							\
int									\
function(const char *name, int flags, ...)				\
{									\
	va_list	args;							\
	int	fd;							\
									\
	va_start(args, flags);						\
	fd = open_gated(name, flags, args);				\
	va_end(args);							\
	return fd;							\
}

OPEN(open)
OPEN(open64)
