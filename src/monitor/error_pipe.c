/*
 * error_pipe: two pipes without waiting.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "monitor/error_pipe.h"

#define PIPE_SIZE	(1024 * 1024)	/* bytes; Linux allows no more */

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
error_pipe_open(struct error_pipe *e)
{
	return open_pipe(e->lines) == -1 || open_pipe(e->drops) == -1 ? -1 : 0;
}

void
error_pipe_redirect(const struct error_pipe *e)
{
	if (dup2(e->lines[1], STDERR_FILENO) == -1)
		fatal("cannot write to the error log");
	log_count_drops(e->drops[1]);
}

void
error_pipe_close_readers(struct error_pipe *e)
{
	io_close(&e->lines[0]);
	io_close(&e->drops[0]);
}
