/*
 * world: what a scenario acts upon.  There is one world at a time; a failure
 * jumps to world.failed.
 */
#ifndef T_SCRIPT_WORLD_H
#define T_SCRIPT_WORLD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/machine.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "loop/net.h"
#include "wait.h"

#define CLIENTS		16
#define TASKS_MAX	16
#define UNLIMITED	((size_t)-1)

struct client {				/* the architecture's, see wait.h */
	char			 name[16];
	struct session		*session;
	uint8_t			 stage;		/* where it is, if staged */
	const struct wait	*wait;		/* NULL: closed */
	struct wait		 wait_copy;	/* what wait points to */
	struct net_sock		 sock;		/* the layer, or none */
	enum net_state		 state;		/* of the wait */
	struct buf		 to, from;	/* the machine */
	size_t			 takes;		/* bytes of output */
	bool			 half;		/* sends no more */
	bool			 broken;	/* has reset the connection */
	bool			 hold_output;	/* not woken for output */
	bool			 hold_input;	/* not woken for input */
	int			 no_sendfile;	/* errno of sendfile, or 0 */
	size_t			 offered;	/* bytes, by the last send */
	bool			 more_follows;	/* as the last send said */
	bool			 held_back;	/* output, as more follows */
	bool			 corked;
	bool			 full;		/* took not all of the last */
	char			 overwrites[16];	/* file, at the next
							 * output; or "" */
	size_t			 unsent;	/* bytes in its socket */
	bool			 reset;		/* closed by a reset */
	bool			 waiting;	/* for wait->task */
	TAILQ_ENTRY(client)	 link;		/* among the task's waiters */
};

struct world {
	const char		*file;		/* the scenario */
	int			 line;
	jmp_buf			 failed;
	struct buf		 conf_text, site_text, log, error_log;
	char			 dir[64];	/* for files, and the root */
	struct conf		*conf;
	struct http_loop	*http[STAGE_COUNT];	/* one, or by stage */
	struct workspace	*workspaces;	/* of each stage */
	bool			 staged;	/* as in pipelined */
	bool			 layered;	/* clients have a layer */
	bool			 skipped;	/* not for this run */
	bool			 shared;	/* caches, as by threads */
	struct caches		*caches;	/* if shared */
	bool			 verify_due;	/* http_verify() is */
	struct addresses	*addresses;
	struct clock		 clock;
	struct client		*clients[CLIENTS];
	struct task		*tasks[TASKS_MAX];	/* oldest first */
	size_t			 ntasks;
	bool			 sync;		/* disk work as in sped */
	long			 sendfiles;	/* since the last check */
	long			 corks;		/* since the last check */
};

extern struct world	world;

/* Ends the scenario; prints the place and the reason as a comment of TAP. */
_Noreturn void	world_fail(const char *, ...)
    __attribute__((__format__(__printf__, 1, 2)));

/* How a scenario is run. */
enum world_flag {
	WORLD_STAGED	= 1 << 0,
	WORLD_LAYERED	= 1 << 1
};

/* Begins a scenario; false: its directory cannot be made. */
bool	world_new(const char *file, unsigned flags);
void	world_free(void);

/* The client of that name; NULL: none. */
struct client	*world_client(const char *name);
void		 world_connect(const char *name, const char *from);
/* Ends the connection and forgets the client. */
void		 world_disconnect(struct client *);

/* Ends the client's wait with that outcome, and runs the machine. */
void	world_wake(struct client *, enum outcome);

/* Wakes the client as long as its wait can be satisfied. */
void	world_settle(struct client *);

/* Lets time pass; waits whose deadline is reached time out. */
void	world_pass_time(int64_t ms);

/* Starts the password checks that are due, as a loop does. */
void	world_verify(void);

void	world_drain(void);

/* Completes a task whose result is in its job, and wakes its waiters. */
void	world_finish(struct task *);

#endif
