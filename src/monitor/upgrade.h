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

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct generation;
struct listener;
struct monitor;

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

struct upgrade {
	pid_t	pid;			/* of the new monitor; 0: none */
	int	pipe;			/* to the new monitor */
	int64_t	deadline;		/* ms: for the new monitor to serve */
	bool	again;			/* upgrade once more after this */
	int	old_monitor;		/* a pipe to it; -1: none */
	bool	ready;			/* this monitor serves */
};

/* Takes the descriptors that the environment names (sd_listen_fds(3)). */
void	upgrade_inherit(struct inherited *);
/* Logs a warning for each permanent socket that no site listens at. */
void	upgrade_warn_unused(const struct inherited *,
	    const struct generation *);
/* Whether a supervisor has that socket too. */
bool	upgrade_is_permanent(const struct inherited *, const struct listener *);
/* Blocks new connections at sockets that only the old monitor serves; it
 * answers those that are there. */
void	upgrade_block_new(const struct inherited *, const struct generation *);
/* Closes all inherited sockets that are not permanent. */
void	upgrade_close_rest(struct inherited *);

void	upgrade_init(struct upgrade *, int old_monitor);
/* Begins an upgrade, or notes that one is due after what is under way. */
void	upgrade_begin(struct monitor *);
/* Whether an upgrade is under way, on either side. */
bool	upgrade_is_busy(const struct monitor *);
/* Reads from the new monitor; ends this one if the new one serves. */
void	upgrade_on_new_monitor(struct monitor *);
/* The new monitor has died. */
void	upgrade_died(struct monitor *, const char *how);
/* Gives up a new monitor that takes too long; begins an upgrade that is due. */
void	upgrade_tick(struct monitor *);
/* Gives up an upgrade, and ends the new monitor. */
void	upgrade_cancel(struct monitor *);

/* In the new monitor, when all mains serve: tells the old one. */
void	upgrade_on_ready(struct monitor *);
/* In the new monitor: the old one has agreed or gone. */
void	upgrade_on_old_monitor(struct monitor *);
/* In the new monitor: whether the old one is still in charge. */
bool	upgrade_is_waiting(const struct monitor *);
/* In the new monitor: whether the old one goes on if this one ends. */
bool	upgrade_is_on_trial(const struct monitor *);

#endif
