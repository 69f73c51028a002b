/*
 * notify: changes in watched directories (inotify on Linux).  Elsewhere nothing
 * can be watched, and functions that fail return -1 with ENOSYS.
 *
 * One process adds directories, another one reads what happens in them.
 */
#ifndef HELPERS_NOTIFY_H
#define HELPERS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

enum notify_what {
	NOTIFY_ENTRY,			/* an entry came, changed or went */
	NOTIFY_GONE,			/* the directory was moved or removed,
					 * has another mode or owner, or is
					 * watched no more */
	NOTIFY_LOST			/* events were lost, of any directory */
};

struct notify_event {
	enum notify_what what;
	int		 number;	/* of the directory */
	const char	*name;		/* of an entry */
	bool		 directory;	/* the entry is one */
};

/* A descriptor to add to and to read from; or -1. */
int	notify_open(void);
/* Sets the descriptor that notify_add() adds to, before there are threads; not
 * owned; -1: there is none. */
void	notify_use(int notify);
bool	notify_is_used(void);
/* Watches an open directory, in any thread.  Returns its number, the same if it
 * is watched already; or -1 with errno, ENOSPC: the user watches as many as the
 * system allows. */
int	notify_add(int directory);
void	notify_remove(int notify, int number);
/* Calls a function for each of the next 1024 events at most; never waits. */
void	notify_read(int notify, void (*)(void *, const struct notify_event *),
	    void *);
/* How many directories a user may watch; 0: unknown. */
int64_t	notify_max(void);
/* A hash of an entry's name; never 0. */
uint32_t notify_hash(const char *name);

#endif
