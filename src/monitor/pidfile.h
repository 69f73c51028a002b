/*
 * pidfile: the file with the monitor's process id, locked while the monitor
 * serves.
 */
#ifndef MONITOR_PIDFILE_H
#define MONITOR_PIDFILE_H

struct pidfile {
	int	 fd;		/* locked; -1: none */
	char	*path;		/* owned */
};

/*
 * Opens and locks a pid file; the file of a server that was killed can be
 * taken.  Returns 0, or -1 with errno after a line in the log.  inherited: a
 * locked descriptor of the monitor before, which this function takes, or -1.
 */
int	pidfile_lock(struct pidfile *, const char *path, int inherited);
/* Changes to another path, or to none (NULL), and writes the process id there.
 * If the new file cannot be had, logs why and keeps the old one. */
void	pidfile_change(struct pidfile *, const char *path);
/* Writes this process's id into the file. */
void	pidfile_write_pid(const struct pidfile *);
/* Closes the file, and removes it unless another process's id is in it. */
void	pidfile_end(struct pidfile *);
/* Closes the file, for processes that have inherited it. */
void	pidfile_leave(struct pidfile *);

#endif
