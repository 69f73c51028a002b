/*
 * error_pipe: two pipes that nobody waits at.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "monitor/error_pipe.h"

#define ROOM	(1024 * 1024)	/* bytes; more than that is not to be had */

static int
open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) == -1)
		return -1;
#ifdef F_SETPIPE_SZ
	/* Less will do. */
	(void)fcntl(fd[1], F_SETPIPE_SZ, ROOM);
#endif
	return 0;
}

int
errors_open(struct errors *e)
{
	return open_pipe(e->words) == -1 || open_pipe(e->losses) == -1 ? -1 : 0;
}

void
errors_speak(const struct errors *e)
{
	if (dup2(e->words[1], STDERR_FILENO) == -1)
		fatal("cannot write to the error log");
	log_losses(e->losses[1]);
}

void
errors_leave_reading(struct errors *e)
{
	io_close(&e->words[0]);
	io_close(&e->losses[0]);
}
