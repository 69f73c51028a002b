/*
 * wakeup: a descriptor by which one thread wakes another.
 *
 * It is readable from the first ring until it is hushed, however often it was
 * rung meanwhile.  Nobody waits, whoever rings.
 */
#ifndef LIB_WAKEUP_H
#define LIB_WAKEUP_H

#include <stdbool.h>

struct wakeup {
	int	fd;		/* readable: it has been rung */
	int	write_fd;	/* may be the same */
};

void	wakeup_open(struct wakeup *);
void	wakeup_close(struct wakeup *);
void	wakeup_set(const struct wakeup *);		/* any thread */
void	wakeup_reset(const struct wakeup *);		/* who is woken */
/* Whether, watched by edge, it need not be hushed: it never is full. */
bool	wakeup_reset_is_optional(const struct wakeup *);

#endif
