/*
 * socket_files: the files of listening sockets, which this monitor removes when
 * no generation listens there any more.
 *
 * A file is ours from the time when a generation serves and this monitor is in
 * charge.  A file that has taken the place of ours is left alone.
 */
#ifndef MONITOR_SOCKET_FILES_H
#define MONITOR_SOCKET_FILES_H

struct generation;

/* From now on this generation serves: removes the files that it does not have,
 * and sets mode and owner of its own files. */
void	socket_files_hold(const struct generation *);
/* Removes the files of a generation that ends before it serves. */
void	socket_files_drop(const struct generation *);
/* Another monitor is in charge of the files. */
void	socket_files_leave(void);

#endif
