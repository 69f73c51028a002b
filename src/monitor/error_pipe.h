/*
 * error_pipe: the pipe between all processes and the error logger, which writes the
 * error log: so nobody else waits for that.
 *
 * It is standard error, so last words of any kind go there, too.  It is opened
 * once and stays: who dies leaves there what was said, and the next error logger goes
 * on where the last one was.
 */
#ifndef MONITOR_ERROR_PIPE_H
#define MONITOR_ERROR_PIPE_H

/* Pipes, reading end first. */
struct error_pipe {
	int	lines[2];	/* lines */
	int	drops[2];	/* a byte for each that found no room */
};

int	error_pipe_open(struct error_pipe *);		/* 0, or -1 with errno */
/* Of this process: what it logs goes there from now on. */
void	error_pipe_redirect(const struct error_pipe *);
/* In a process that is not the error logger. */
void	error_pipe_close_readers(struct error_pipe *);

#endif
