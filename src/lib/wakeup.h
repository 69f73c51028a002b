/*
 * wakeup: a descriptor by which one thread wakes another.
 *
 * It is readable from the first ring until it is hushed, however often it was
 * rung meanwhile.  Nobody waits, whoever rings.
 */
#ifndef LIB_WAKEUP_H
#define LIB_WAKEUP_H

#include <stdbool.h>

struct bell {
	int	fd;		/* readable: it has been rung */
	int	clapper;	/* may be the same */
};

void	bell_open(struct bell *);
void	bell_close(struct bell *);
void	bell_ring(const struct bell *);		/* any thread */
void	bell_hush(const struct bell *);		/* who is woken */
/* Whether, watched by edge, it need not be hushed: it never is full. */
bool	bell_is_silent(const struct bell *);

#endif
