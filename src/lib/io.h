/*
 * io: reads, writes, descriptors, and messages over a socket pair.
 *
 * A function that fails returns -1 with errno.
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
/* A connected pair of Unix-domain stream sockets, close-on-exec.  0, or -1. */
int	io_pipe(int fd[2]);
/* A connected pair that keeps the bounds of messages and does not block,
 * close-on-exec.  0, or -1. */
int	io_record_pipe(int fd[2]);
void	io_close(int *fd);		/* sets *fd to -1; keeps errno */

/*
 * Returns a handle of an open file: a descriptor with O_PATH, from which the
 * file can be opened again.  The file system is not asked, neither now nor at
 * close.  -1 where the system has no O_PATH.
 */
int	io_handle(int fd);
/* Opens the file of a handle again; duplicates any other descriptor.  The new
 * descriptor is close-on-exec. */
int	io_reopen(int fd, int flags);

/* fstat(2) by its own system call.  The C library may use one that takes a
 * path, which most processes are forbidden to make. */
int	io_stat(int fd, struct stat *);
uint64_t io_inode(int fd);		/* st_ino; 0 if io_stat() fails */

/* As pread(2), but EAGAIN where that would wait for the disk.  EOPNOTSUPP: the
 * file system has no RWF_NOWAIT. */
ssize_t	io_read_nowait(int fd, void *, size_t, off_t);
/*
 * Whether the file system of fd has RWF_NOWAIT.  The test reads at the end of
 * the file: elsewhere it would start a read of one page and its read-ahead.
 */
bool	io_can_read_nowait(int fd, off_t end);

/* Moves bytes into a pipe, without a copy in memory and without waiting; 0 at
 * the end.  EAGAIN: there are none; ENOSPC: the pipe is full; ENOSYS: they have
 * to be copied; else an error of the source, which it does not tell again. */
ssize_t	io_splice(int from, int to, size_t len);
/* As write(2) and read(2); the system does less for a socket by these. */
ssize_t	io_send(int sock, const void *, size_t);
ssize_t	io_recv(int sock, void *, size_t);

/* Block until all is done. */
ssize_t	io_read_all(int fd, void *, size_t);	/* short at end of file */
ssize_t	io_read_all_at(int fd, void *, size_t, off_t);	/* by pread(2) */
int	io_write_all(int fd, const void *, size_t);	/* 0, or -1 */

/*
 * Sends a message of n parts with a descriptor (-1: without) over a socket of
 * io_pipe(), and returns 0.  A non-blocking socket without room for the whole
 * message fails with EAGAIN, or with EMSGSIZE after a part was sent: then the
 * socket must be closed.  SIGPIPE is never raised.
 */
int	io_send_message(int sock, const struct iovec *, int n, int fd);
/*
 * Receives up to size bytes and at most one descriptor, which is close-on-exec
 * and the caller's; *fd is -1 without.  Returns the bytes, 0 at the end.  The
 * flags are those of recvmsg(2): MSG_DONTWAIT or none.
 */
ssize_t	io_recv_message(int sock, void *, size_t, int *fd, int flags);

#endif
