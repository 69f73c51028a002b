/*
 * unix_socket: makes and removes sockets in the file system.
 *
 * As in trusted.h, root does not follow links of other users.  No function
 * touches a file that is no socket.
 */
#ifndef SHARED_UNIX_SOCKET_H
#define SHARED_UNIX_SOCKET_H

#include <sys/un.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Bytes of a name, with its NUL. */
#define UNIX_SOCKET_NAME_SIZE	sizeof(((struct sockaddr_un *)0)->sun_path)

/* The permission to connect. */
struct unix_socket_access {
	mode_t		 mode;
	const char	*owner, *group;	/* NULL: as started */
};

/* The identity of a file. */
struct unix_socket_id {
	dev_t		 dev;
	ino_t		 ino;		/* 0: no file */
};

/* Sets the address of a name, which is short enough. */
void	 unix_socket_address(struct sockaddr_un *, const char *file);
/* Whether the name is a socket's; its id. */
bool	 unix_socket_find(const char *file, struct unix_socket_id *);
/* Whether a process listens there.  Does not wait. */
bool	 unix_socket_is_live(const char *file);
/*
 * Makes a socket that listens, in place of a socket of that name; nobody can
 * connect before it has its mode and owner.  Returns its descriptor, which does
 * not block, or -1 with errno.  May block, on a look-up of users.
 */
int	 unix_socket_listen(const char *file,
	    const struct unix_socket_access *, int backlog,
	    struct unix_socket_id *);
/* Sets mode and owner anew, if the name still leads to that file.  Returns 0,
 * or -1 with errno. */
int	 unix_socket_set_access(const char *file, struct unix_socket_id,
	    const struct unix_socket_access *);
/* Removes the file if the name still leads to it; -1 with errno. */
int	 unix_socket_remove(const char *file, struct unix_socket_id);

#endif
