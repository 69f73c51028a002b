/*
 * backend: CONTRACT between the request machine and the drivers of programs: a
 * program that runs for one request, and its output.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"
#include "task.h"

struct client;			/* an architecture's record of a connection */
struct filter_run;		/* filter.h, as the next two */
struct passage;
struct passage_start;

/* The words of a request to the program manager.  All is borrowed until start()
 * returns. */
struct backend_start {
	uint32_t	 program;	/* index in conf->programs */
	uint32_t	 manager;	/* its program manager's number, ... */
	uint32_t	 place;		/* ... and its own there */
	/* The program's file: of a program with a directory its path beneath
	 * that, without a leading slash; else empty. */
	struct str	 file;
	/* Texts NAME=VALUE, each terminated.  They include the program's own
	 * variables, except for a CGI program, whose manager adds them. */
	struct str	 environment;
	uint8_t		 protocol;	/* enum conf_protocol */
	bool		 keep;		/* FASTCGI: the connection is to a
					 * process of amped, and is kept unless
					 * there is a body */
	bool		 authorizes;	/* FASTCGI: its role is that of an
					 * authorizer */
	const char	*name;		/* FASTCGI: in the error log; stays as
					 * long as the driver */
	struct str	 target, host;	/* FASTCGI: of the request, there */
	int		 body;		/* descriptor, its offset at the first
					 * byte; -1: there is none */
	bool		 sends_body;	/* body is -1, and comes by send() */
	bool		 is_filter;	/* the output is a file */
	bool		 is_piped;	/* of a filter: output and body, if
					 * there is one, are pipes */
	uint64_t	 group;		/* another backend's; 0: a new one */
};

/* How a backend has ended. */
enum backend_end {
	BACKEND_RUNS,		/* or waits to be started */
	BACKEND_COMPLETE,	/* the program has exited; status has it */
	BACKEND_BROKEN,		/* killed, or its manager has ended: its output
				 * is not complete */
	BACKEND_FAILED,		/* not started; error says why */
	BACKEND_BUSY		/* as many as may run already, and wait */
};

/* The driver's; the machine reads all members and sets none.  Output that has
 * come is at `at`, which moves at each call of the driver and at each wait of
 * the connection, of any kind. */
struct backend {
	const char	*at;
	size_t		 len;
	uint8_t		 end;		/* enum backend_end; output may be left
					 * to be consumed */
	bool		 started;	/* the program runs, or has run */
	bool		 unread;	/* BROKEN: the program has gone without
					 * reading all of the request and
					 * without any answer */
	size_t		 room;		/* bytes of its body that send() takes
					 * now */
	int		 error;		/* FAILED: an errno */
	int		 status;	/* COMPLETE, BROKEN: as of waitpid(2);
					 * -1: unknown */
	uint32_t	 retry_after;	/* BUSY: seconds */
	/* Of a filter: a file with its output, which is complete if the end is
	 * COMPLETE, and one with its notes; -1: none.  The owner of the backend
	 * may take them. */
	int		 file, notes;
	/* The backends of one answer have one number, by which a program
	 * manager finds requests that wait for each other's places. */
	uint64_t	 group;
	/* The connection that waits (WAIT_BACKEND) or NULL; else a function
	 * that is told the same, or NULL. */
	struct client	*waiter;
	void		(*told)(void *);
	void		*told_context;
};

/*
 * The driver of programs, to the machine.  All functions run in the thread of
 * the loop that has the connection, and none blocks.
 *
 * A connection that waits for a backend is told READY when more output has
 * come, when there is room for its body again, when the program has been
 * started, and when it has ended; FAILED when the client has gone meanwhile;
 * ENDED when the client sends no more, if the connection asks for that.
 */
struct backends {
	/* Asks the program manager for a program; at most hold bytes of its
	 * output are held, then the program waits.  The caller owns the
	 * backend.  NULL with errno: there is no manager, or it is too busy to
	 * take a message. */
	struct backend	*(*start)(void *context, const struct backend_start *,
			    size_t hold);
	/* Drops that many bytes of the output. */
	void		 (*consume)(struct backend *, size_t);
	/* Of a start with sends_body: sends bytes, `room` at most, which are
	 * copied.  A program that reads no more of its body is no error. */
	void		 (*send)(struct backend *, const char *, size_t);
	/* The same: the body ends here. */
	void		 (*finish)(struct backend *);
	/*
	 * From keep_out() on, output that comes stays where it is, in the
	 * program's pipe, and does not count as `len`; pour() moves n bytes of
	 * it at most into a body of sends_body, without a copy in main, and
	 * returns how many; 0: there are none, or there is no room, which sets
	 * `room` to 0.  Then the connections that wait are told when pour() can
	 * go on.  -1: let_in() is to be called, and the rest is to be copied,
	 * which shows an end.  let_in() has the output come as before.  The
	 * first one returns false if the output cannot be poured, as it has
	 * frames.
	 */
	bool		 (*keep_out)(struct backend *);
	ssize_t		 (*pour)(struct backend *from, struct backend *to,
			    size_t n);
	void		 (*let_in)(struct backend *);
	/* Ends the program and all that it has started, if it still runs;
	 * frees. */
	void		 (*end)(struct backend **);
	/* Begins a run of filters.  Each thread that calls this or start()
	 * needs a driver of its own. */
	enum submitted	 (*filter)(void *context, struct filter_run *);
	/* Begins to pass the answer of a program through filters while the
	 * answer comes.  The caller owns the passage. */
	struct passage	*(*pass)(void *context, struct passage_start *);
	/* Drops that many bytes of a passage's output. */
	void		 (*take)(struct passage *, size_t);
	/* Ends a passage that takes too long, as FAILED. */
	void		 (*give_up)(struct passage *);
	/* Frees a passage, and ends its filters if they still run.  The program
	 * that answers goes on. */
	void		 (*leave)(struct passage **);
	void		  *context;
};

#endif
