/*
 * children: the processes that the monitor has started, until they are
 * reaped.
 *
 * Of each it knows what it is for, and for which main: those of a main that
 * has died may still be there, in the kernel, waiting for a file system that
 * does not answer.
 */
#ifndef MONITOR_CHILDREN_H
#define MONITOR_CHILDREN_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct helper_slots;
struct orphan;

/* As log and ps call them. */
#define ROLES(X)							\
	X(MAIN,		"main")						\
	X(HELPER,	"helper")					\
	X(ACCESS_LOGGER,	"access logger")				\
	X(ERROR_LOGGER,	"error logger")				\
	X(LOG_PROGRAM,	"log program")	/* somebody else's */		\
	X(LOG_OPENER,	"opener")	/* of a log */			\
	X(CONF_CHECKER,	"reader")	/* of the conf */		\
	X(NEW_MONITOR,	"successor")	/* another monitor */	\
	X(CONTROL_CHILD,	"clerk")	/* answers a question */

enum role {
#define X(id, name) ROLE_##id,
	ROLES(X)
#undef X
};

struct child {
	pid_t			 pid;
	enum role		 role;
	ino_t			 pipe_inode;		/* main's end: main's name for
						 * it */
	bool			 given_up;
	bool			 orphan;	/* its main has died */
	unsigned		 main_id;	/* of the main it is for */
	uint64_t		 fs_queue;		/* when that has died: its */
	unsigned		 worker;	/* the same */
	TAILQ_ENTRY(child)	 link;
};

struct children {
	TAILQ_HEAD(, child)	 list;
};

/* Helpers of mains that have died, which are still there. */
struct orphans {
	struct orphan	*at;		/* owned, with their descriptors */
	size_t		 count;
};

const char	*children_role_name(enum role);

void	children_init(struct children *);
/* Forgets them all; they go on. */
void	children_free(struct children *);
/* pipe: main's end of the pipe to it. */
void	children_add(struct children *, pid_t, enum role, unsigned main_id,
	    int pipe);
/* One has been reaped: whether it was ours, and what it was, copied. */
bool	children_remove(struct children *, pid_t, struct child *);

/*
 * Whether there are enough of a role, of which a main may have so many, and
 * all mains together: three times that, since those that it has given up may
 * not die, and those that it has let go may not be reaped yet.  What dead mains
 * have left behind is not its fault; but it all has an end.  Those of other
 * mains that live do not count.
 */
bool children_has_enough(const struct children *, enum role, unsigned main_id,
    int64_t max, int64_t total_max);
/* Main has died: these are its orphans; which queues they hold, for the next
 * one of that worker. */
void	children_mark_orphans(struct children *, unsigned main_id,
	    struct helper_slots *, unsigned worker);
/* There may not be as many workers as there were. */
void children_find_orphans(
    const struct children *, unsigned worker, unsigned of, struct orphans *);
void	children_free_orphans(struct orphans *);

/* Kills; nobody waits for one that has been given up. */
void	children_kill_helper(struct children *, int pipe);
void	children_kill_helpers(struct children *, unsigned main_id);
void	children_kill_all(struct children *);
/* Its work is done, whether the kernel lets it go or not. */
void	children_give_up(struct children *, pid_t);
bool	children_all_given_up(const struct children *);

#endif
