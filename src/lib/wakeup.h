/*
 * wakeup: a descriptor by which one thread or process wakes another.
 *
 * The descriptor is readable from the first wakeup_set() until wakeup_reset().
 * Neither of them blocks.
 */
#ifndef LIB_WAKEUP_H
#define LIB_WAKEUP_H

#include <stdbool.h>

struct wakeup {
	int	fd;		/* for the event loop: readable when set */
	int	write_fd;	/* may be fd */
};

void	wakeup_open(struct wakeup *);
void	wakeup_close(struct wakeup *);
void	wakeup_set(const struct wakeup *);	/* by any thread */
void	wakeup_reset(const struct wakeup *);	/* by the woken thread */
/* Whether an edge-triggered watch may do without wakeup_reset(): an eventfd
 * never fills up, while a pipe does. */
bool	wakeup_reset_is_optional(const struct wakeup *);

#endif
