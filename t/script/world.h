/*
 * world: what a scenario acts upon.  There is one at a time; what fails in it
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
#include "wait.h"

#define CLIENTS		16
#define TASKS_MAX		16
#define UNLIMITED	((size_t)-1)

struct client {				/* the architecture's, see wait.h */
	char			 name[16];
	struct session		*session;
	enum stage		 stage;		/* that has it, if staged */
	const struct wait	*wait;		/* NULL: over */
	struct wait		 wait_copy;		/* that, a copy */
	struct buf		 to, from;	/* for the machine, from it */
	size_t			 takes;		/* so many bytes still */
	bool			 half, broken;	/* sends no more; is gone */
	bool			 hold_output;	/* output waits for its turn */
	bool			 hold_input;	/* so does input */
	int			 no_sendfile;	/* the errno that it says */
	size_t			 offered;	/* to its socket, at last */
	bool			 more_follows;		/* to come right behind that */
	bool			 held_back;	/* by the system, for that */
	bool			 corked;
	char			 overwrites[16];	/* as it takes something */
	size_t			 unsent;	/* bytes that its system lacks */
	bool			 reset;		/* at its end */
	bool			 waiting;	/* for wait->task */
	TAILQ_ENTRY(client)	 link;
};

struct main_env {
	const char	*file;			/* the scenario */
	int		 line;
	jmp_buf		 failed;
	struct buf	 conf_text, site_text, log, error_log;
	char		 dir[64];		/* for files and as root */
	struct conf	*conf;
	struct http_loop	*http[STAGE_COUNT];	/* only the first, or staged */
	bool		 staged;		/* as pipelined does it */
	bool		 skipped;		/* not for that */
	bool		 shared;		/* the store, by threads */
	struct caches	*caches;			/* then */
	bool		 verify_due;		/* for http_verify() */
	struct addresses *addresses;
	struct clock	 clock;
	struct client	*clients[CLIENTS];
	struct task	*tasks[TASKS_MAX];	/* under way, oldest first */
	size_t		 ntasks;
	bool		 sync;		/* as sped does it */
	long		 sendfiles;		/* since asked for */
	long		 corks;			/* likewise */
};

extern struct main_env	world;

/* Tells where and why, as a comment of TAP. */
_Noreturn void	world_fail(const char *, ...)
    __attribute__((__format__(__printf__, 1, 2)));

/* For this scenario; false: there is no room for its files. */
bool	world_new(const char *file, bool staged);
void	world_free(void);

/* The client of that name; NULL: none. */
struct client	*world_client(const char *name);
void		 world_connect(const char *name, const char *from);

/* What it waits for has had this outcome: it goes on. */
void	world_wake(struct client *, enum outcome);

/* It goes on for as long as what it waits for is there. */
void	world_settle(struct client *);

void	world_pass_time(int64_t ms);

/* What was called begins, as a loop does it between its clients. */
void	world_verify(void);

void	world_drain(void);

/* The answer is in the job: it is over, and all who wait go on. */
void	world_finish(struct task *);

#endif
