/*
 * io: what every daemon needs around read, write and descriptors.
 *
 * All of them set errno.  Records with descriptors are for stream pipes
 * (full-duplex pipes, Unix-domain socket pairs).
 */
#ifndef LIB_IO_H
#define LIB_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct iovec;
struct stat;

int	io_nonblock(int fd);		/* 0, or -1 */
int	io_cloexec(int fd, bool on);	/* 0, or -1 */
int	io_pipe(int fd[2]);		/* a stream pipe, close-on-exec */
void	io_close(int *fd);		/* leaves -1; -1 is fine */

/*
 * A handle of an open file (O_PATH) asks its file system for nothing, not even
 * when it is closed, and is good for opening the file again.  -1 where there
 * can be none.
 */
int	io_handle(int fd);
/* Of a handle; any other descriptor is copied.  Close-on-exec. */
int	io_reopen(int fd, int flags);

/* fstat(2), by a system call that knows no path: those that do, of which the
 * library's may be one, are not for everybody. */
int	io_stat(int fd, struct stat *);
uint64_t io_inode(int fd);		/* st_ino of that; 0: none */

/* pread that fails with EAGAIN rather than wait; EOPNOTSUPP: it cannot say. */
ssize_t	io_read_nowait(int fd, void *, size_t, off_t);
/*
 * Whether it can.  Asked at the end of the file: a byte of it would start to be
 * read, and a little of what comes behind it, which costs a disk one way more
 * than to read all of it at once.
 */
bool	io_can_read_nowait(int fd, off_t end);

/* All of it, through EINTR and short counts (blocking descriptors). */
ssize_t	io_read_all(int fd, void *, size_t);	/* short only at the end */
int	io_write_all(int fd, const void *, size_t);	/* 0, or -1 */

/*
 * One record of a stream pipe, with a descriptor beside it or -1.  On a
 * non-blocking pipe a send that does not fit whole fails with EAGAIN or,
 * if a part went, EMSGSIZE: then the pipe is of no more use.  SIGPIPE is
 * never raised.
 */
int	io_send_message(int sock, const struct iovec *, int n, int fd);
/*
 * Up to size bytes and at most one descriptor (close-on-exec, else -1) of
 * what has come.  Bytes received, 0 at the end, -1 with errno.
 */
ssize_t	io_recv_message(int sock, void *, size_t size, int *fd);
/* The same on any pipe without waiting: EAGAIN when nothing has come. */
ssize_t	io_recv_message_nowait(int sock, void *, size_t size, int *fd);

#endif
