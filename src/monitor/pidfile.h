/*
 * pidfile: the file that names the process to send signals to; locked as long
 * as there is one.
 */
#ifndef MONITOR_PIDFILE_H
#define MONITOR_PIDFILE_H

struct pidfile {
	int	 fd;		/* -1: none */
	char	*path;		/* owned */
};

#define PIDFILE_NONE	{ .fd = -1 }

/*
 * Takes a file, which then nobody else can; one that nobody holds any more is
 * no obstacle.  0, or -1 with errno after a line that says why not.  Inherited:
 * one that is locked already, or -1; taken.
 */
int	pidfile_lock(struct pidfile *, const char *path, int inherited);
/* Another one, or none (NULL), once we serve; what cannot be, stays as it is,
 * after a line. */
void	pidfile_change(struct pidfile *, const char *path);
/* This process is it. */
void	pidfile_write_pid(const struct pidfile *);
/* Removes it, unless it names another one by now. */
void	pidfile_end(struct pidfile *);
/* Leaves it to whom it belongs, or to those who inherit it. */
void	pidfile_leave(struct pidfile *);

#endif
