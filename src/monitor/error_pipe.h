/*
 * error_pipe: the pipe from all processes to the error logger, which alone
 * waits for the file system of the error log.
 *
 * The pipe is standard error of all processes, so messages of libraries and of
 * crashes go there too.  It is opened once and stays open: when an error logger
 * dies, the lines stay in the pipe for the next one.
 */
#ifndef MONITOR_ERROR_PIPE_H
#define MONITOR_ERROR_PIPE_H

/* Two pipes, the reading end first. */
struct error_pipe {
	int	lines[2];	/* lines of the error log */
	int	drops[2];	/* a byte for each line that found no room */
};

extern struct error_pipe error_pipe;

/* Returns 0, or -1 with errno. */
int	error_pipe_open(void);
/* Makes the pipe standard error of this process, and of its children. */
void	error_pipe_redirect(void);
/* Closes the reading ends, in a process other than the error logger. */
void	error_pipe_close_readers(void);

#endif
