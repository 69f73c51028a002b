/*
 * program_message: what main and the program manager tell each other.
 *
 * Main sends a START over the socket that all mains of a manager share, and
 * with it one end of a socket that is the request's alone.  Over that socket
 * main sends the body's descriptor, if it is in a file, and the manager its
 * reports.  Either closes it: main, when the request needs its program no more;
 * the manager, after the last report.  A RESTART, by which an administrator
 * has the processes of a program replaced, comes over the same socket as a
 * START, and has no socket of its own.  All sockets keep the bounds of messages
 * (io_record_pipe()).
 *
 * No function blocks.  Those that fail return -1 with errno.
 */
#ifndef SHARED_PROGRAM_MESSAGE_H
#define SHARED_PROGRAM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"

#define PROGRAM_ENVIRONMENT_MAX	(64 * 1024)	/* bytes of all texts */
#define PROGRAM_FILE_MAX	4096		/* bytes of a file's name */
#define PROGRAM_MESSAGE_MAX						\
	(PROGRAM_ENVIRONMENT_MAX + PROGRAM_FILE_MAX + 64)

enum program_body {
	PROGRAM_BODY_NONE,
	PROGRAM_BODY_FILE,	/* its descriptor follows */
	PROGRAM_BODY_PIPE,	/* main gets the end of a pipe to write to */
	PROGRAM_BODY_OUTPUT,	/* of another program: the descriptor of its
				 * pipe follows */
	PROGRAM_BODY_COUNT
};

struct program_start {
	uint32_t	 program;	/* its place, conf/program.h */
	bool		 restart;	/* a RESTART, which has none of the
					 * following */
	uint32_t	 body;		/* enum program_body */
	struct str	 file;		/* see struct backend_start */
	struct str	 environment;	/* texts NAME=VALUE, each terminated */
	uint64_t	 group;		/* of places, see struct backend */
	bool		 for_filter;	/* the manager's own, not sent: for a
					 * filter whose application it is */
};

enum program_report_kind {
	PROGRAM_STARTED,	/* with a descriptor: of the output (of a filter
				 * over a file another one, which is complete
				 * once the filter has ended), or the connection
				 * of a program that is no CGI */
	PROGRAM_ENDED,		/* after its exit; the last report */
	PROGRAM_FAILED,		/* to start; the last report */
	PROGRAM_BUSY,		/* too many run and wait; the last report */
	PROGRAM_INPUT,		/* with a descriptor, the pipe of its body;
				 * before STARTED */
	PROGRAM_NOTES,		/* of a filter of amped's, with a descriptor:
				 * of what it writes about other files that it
				 * reads; before STARTED */
	PROGRAM_RECALL,		/* after STARTED: main is to keep the
				 * connection no longer */
	PROGRAM_REPORT_COUNT
};

struct program_report {
	uint32_t	 kind;		/* enum program_report_kind */
	int32_t		 status;	/* ENDED: as of waitpid(2) */
	int32_t		 error;		/* FAILED: an errno */
	uint32_t	 retry_after;	/* BUSY: seconds */
	uint32_t	 requests;	/* STARTED: how many the connection may
					 * have until DONE; 0 is as good as 1 */
	uint32_t	 slot;		/* STARTED: of the process, for
					 * stats/program_stats.h */
	uint64_t	 version;	/* STARTED: of the files that the
					 * process was made of, for filters; 0:
					 * unknown */
};

/* Of a program that is no CGI: main has read the whole answer of its request,
 * and has no other request for the connection, or has received a RECALL. */
struct program_done {
	uint32_t	 nanswered;	/* requests; 0: one of them goes on */
	bool		 again;		/* the connection may have another
					 * request */
	bool		 unread;	/* of a server: it has gone before it
					 * had read its request */
};

/* Sends a START with the manager's end of the request's socket, which the
 * caller then closes.  EMSGSIZE: too long. */
int	program_message_send_start(int manager, const struct program_start *,
	    int request);
/* Sends a RESTART. */
int	program_message_send_restart(int manager, uint32_t program);
/* Receives either into a buffer of PROGRAM_MESSAGE_MAX bytes, to which the
 * texts refer, and the request's socket, which is the caller's; of a RESTART
 * -1.  Returns 1; 0: all mains have closed the socket; EBADMSG: the message was
 * not understood, and is dropped. */
int	program_message_recv_start(int manager, char *buffer,
	    struct program_start *, int *request);
int	program_message_send_body(int request, int body);
/* Returns 1, and the descriptor, which is the caller's; 0 at the end. */
int	program_message_recv_body(int request, int *body);
int	program_message_send_done(int request, const struct program_done *);
/* Returns 1; 0 at the end. */
int	program_message_recv_done(int request, struct program_done *);
/* fd: -1 unless the kind has a descriptor. */
int	program_message_send_report(int request, const struct program_report *,
	    int fd);
/* Returns 1, and the descriptor, which is the caller's; 0 at the end. */
int	program_message_recv_report(int request, struct program_report *,
	    int *fd);

#endif
