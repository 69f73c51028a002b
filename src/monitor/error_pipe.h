/*
 * error_pipe: the pipe between all processes and the scribe, which writes the
 * error log: so nobody else waits for that.
 *
 * It is standard error, so last words of any kind go there, too.  It is opened
 * once and stays: who dies leaves there what was said, and the next scribe goes
 * on where the last one was.
 */
#ifndef MONITOR_ERROR_PIPE_H
#define MONITOR_ERROR_PIPE_H

/* Pipes, reading end first. */
struct errors {
	int	words[2];	/* lines */
	int	losses[2];	/* a byte for each that found no room */
};

int	errors_open(struct errors *);		/* 0, or -1 with errno */
/* Of this process: what it logs goes there from now on. */
void	errors_speak(const struct errors *);
/* In a process that is not the scribe. */
void	errors_leave_reading(struct errors *);

#endif
