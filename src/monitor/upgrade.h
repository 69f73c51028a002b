/*
 * upgrade: another binary takes over, with the listening sockets of the present
 * one.
 *
 * Both sides are here.  The old monitor starts a new one and ends when that
 * serves.  The new monitor reports that it serves; it takes charge when the old
 * one agrees or has gone.
 */
#ifndef MONITOR_UPGRADE_H
#define MONITOR_UPGRADE_H

#include <stdbool.h>
#include <stddef.h>

struct generation;

/* Descriptors that were passed to this process; -1: not passed. */
struct inherited {
	int	*sockets;		/* owned, listening; the permanent ones
					 * come first */
	size_t	 nsockets;
	size_t	 npermanent;		/* sockets of a supervisor, which passes
					 * them to each server that it starts */
	int	 old_monitor;		/* a stream pipe to it */
	int	 pidfile;		/* locked */
	int	 standard_error;
	int	 background;		/* open: amped is in the background */
	int	 given_up;		/* open: standard error was given up */
	int	 end_fd;		/* all that were passed are below it */
};

/* Takes the descriptors that the environment names (sd_listen_fds(3)). */
void	upgrade_inherit(struct inherited *);
/* Logs a warning for each permanent socket that no site listens at. */
void	upgrade_warn_unused(const struct generation *);
/* Blocks new connections at sockets of a generation that ends, unless another
 * generation or process serves there; see listener_block_new(). */
void	upgrade_block_new(const struct generation *);
/* In a new monitor: listens to the old one. */
void	upgrade_await_old(void);
/* Begins an upgrade. */
void	upgrade_begin(void);
/* Whether an upgrade is under way, on either side. */
bool	upgrade_is_busy(void);
/* In the new monitor: whether the old one is still in charge. */
bool	upgrade_is_waiting(void);
/* Whether this monitor may end without having served: the old one goes on, or
 * the process that has started this one reports its failure. */
bool	upgrade_is_on_trial(void);

#endif
