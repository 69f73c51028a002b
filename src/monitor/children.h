/*
 * children: the processes that the monitor has started and not reaped yet.
 *
 * A record says what the child is for, and for which main.  A helper can
 * outlive its main: the kernel does not end a process that waits for a dead
 * file system.  Such a helper is an orphan.
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

/* Names for messages. */
#define ROLES(X)							\
	X(MAIN,		"main")						\
	X(HELPER,	"helper")					\
	X(ACCESS_LOGGER, "access logger")				\
	X(ERROR_LOGGER,	"error logger")					\
	X(LOG_PROGRAM,	"log program")	/* named by the conf */		\
	X(LOG_OPENER,	"log opener")					\
	X(CONF_CHECKER,	"conf checker")					\
	X(NEW_MONITOR,	"new monitor")	/* of another binary */		\
	X(CONTROL_CHILD, "control child") /* answers one request */

enum role {
#define X(id, name) ROLE_##id,
	ROLES(X)
#undef X
};

struct child {
	pid_t			 pid;
	enum role		 role;
	ino_t			 pipe_inode;	/* of main's end of the pipe to
						 * this child: main names the
						 * child by it */
	bool			 given_up;	/* killed or done: its end is
						 * not waited for */
	bool			 orphan;	/* its main has died */
	unsigned		 main_id;	/* its main; 0: none */
	uint64_t		 fs_queue;	/* orphan: the queue that it
						 * works for; 0: none */
	unsigned		 worker;	/* orphan: its main's worker */
	TAILQ_ENTRY(child)	 link;
};

struct children {
	TAILQ_HEAD(, child)	 list;
};

/* Helpers that still run although their main has died. */
struct orphans {
	struct orphan	*at;		/* owned, with their descriptors */
	size_t		 count;
};

const char	*children_role_name(enum role);

void	children_init(struct children *);
/* Frees the records; the processes run on. */
void	children_free(struct children *);
/* Adds a record.  pipe: main's end of the pipe to the child, or -1. */
void	children_add(struct children *, pid_t, enum role, unsigned main_id,
	    int pipe);
/* Removes the record of a reaped process and copies it; false if there is
 * none. */
bool	children_remove(struct children *, pid_t, struct child *);

/*
 * Whether a main has as many children of a role as it may have, or all mains
 * together have.  The bounds are three times max for the main, and six times
 * total_max for this main's children and all orphans: children that were given
 * up may not die, and children that were released may not be reaped yet.
 * Children of other living mains do not count.
 */
bool	children_has_enough(const struct children *, enum role,
	    unsigned main_id, int64_t max, int64_t total_max);
/* A main of that worker has died: marks its helpers as orphans, with the queues
 * that they work for, and clears the slots. */
void	children_mark_orphans(struct children *, unsigned main_id,
	    struct helper_slots *, unsigned worker);
/* Finds the orphans of a worker, for its next main.  Where a generation has
 * fewer workers than an earlier one, they share the orphans of the missing
 * ones.  The caller frees the result. */
void	children_find_orphans(const struct children *, unsigned worker,
	    unsigned of, struct orphans *);
/* Closes the descriptors; the orphans run on. */
void	children_free_orphans(struct orphans *);

/* Kills the helper at that pipe and gives it up. */
void	children_kill_helper(struct children *, int pipe);
/* Kills all helpers of a main and gives them up. */
void	children_kill_helpers(struct children *, unsigned main_id);
/* Sends SIGKILL to all children. */
void	children_kill_all(struct children *);
/* Gives a child up: the monitor does not wait for its end. */
void	children_give_up(struct children *, pid_t);
bool	children_all_given_up(const struct children *);

#endif
