/*
 * error_pipe: two pipes without waiting.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "monitor/error_pipe.h"

#define PIPE_SIZE	(1024 * 1024)	/* bytes; Linux allows no more */

struct error_pipe	error_pipe;

static int
open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) == -1)
		return -1;
#ifdef F_SETPIPE_SZ
	/* A smaller pipe will do. */
	(void)fcntl(fd[1], F_SETPIPE_SZ, PIPE_SIZE);
#endif
	return 0;
}

int
error_pipe_open(void)
{
	return open_pipe(error_pipe.lines) == -1 ||
	    open_pipe(error_pipe.drops) == -1 ? -1 : 0;
}

void
error_pipe_redirect(void)
{
	if (dup2(error_pipe.lines[1], STDERR_FILENO) == -1)
		fatal("cannot write to the error log");
	log_count_drops(error_pipe.drops[1]);
}

void
error_pipe_close_readers(void)
{
	io_close(&error_pipe.lines[0]);
	io_close(&error_pipe.drops[0]);
}
