/*
 * reload: reads the conf again, and starts a generation with it.
 */
#ifndef MONITOR_RELOAD_H
#define MONITOR_RELOAD_H

#include <stdbool.h>

struct buf;
struct conf;

struct reload_calls {
	/* Prepares for a new conf; -1 after a line in the log. */
	int	(*prepare)(const struct conf *);
	/* The conf in force stays.  errors: lines of the log;
	 * is_conf_error: the conf itself is wrong. */
	void	(*failed)(unsigned reload, bool is_conf_error,
		    struct buf *errors);
	/* The conf has changed meanwhile: another reload is due. */
	void	(*again)(void);
};

void	reload_init(const struct reload_calls *);
/* Begins a reload.  A child, the conf checker, reads the conf before the
 * monitor does, since reading may wait for a file system. */
void	reload_begin(void);
/* Whether the conf checker reads. */
bool	reload_is_busy(void);
/* Returns the number of the last reload that was begun. */
unsigned reload_number(void);
/* The new generation has ended before it served. */
void	reload_fail(const char *how);
/* Logs are being opened again.  A reload under way may have opened its logs too
 * early, so they are due at its end. */
void	reload_on_reopen(void);
/* The new generation serves.  Returns whether logs are to be opened again. */
bool	reload_end(void);

#endif
