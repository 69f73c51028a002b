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

struct upgrade_calls {
	void	(*take_charge)(void);	/* no other monitor serves now */
	void	(*hand_over)(void);	/* the new monitor serves */
};

/* Takes the descriptors that the environment names (sd_listen_fds(3)). */
void	upgrade_inherit(struct inherited *);
/* Logs a warning for each permanent socket that no site listens at. */
void	upgrade_warn_unused(const struct inherited *,
	    const struct generation *);
/* Blocks new connections at sockets that only the old monitor serves; it
 * answers those that are there. */
void	upgrade_block_new(const struct inherited *, const struct generation *);
/* The same at sockets of a generation that no other one and no other process
 * serves; see listener_block_new().  other: NULL, or the one that serves. */
void	upgrade_block_own(const struct inherited *,
	    const struct generation *, const struct generation *other);
/* Closes all inherited sockets that are not permanent. */
void	upgrade_close_rest(struct inherited *);
/* In a child: closes all. */
void	upgrade_close(struct inherited *);

void	upgrade_init(const struct upgrade_calls *);
/* Begins an upgrade. */
void	upgrade_begin(void);
/* Whether an upgrade is under way, on either side. */
bool	upgrade_is_busy(void);

/* In the new monitor, when all mains serve: tells the old one. */
void	upgrade_on_ready(void);
/* In the new monitor: whether the old one is still in charge. */
bool	upgrade_is_waiting(void);
/* In the new monitor: whether the old one goes on if this one ends. */
bool	upgrade_is_on_trial(void);

#endif
