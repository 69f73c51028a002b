/*
 * upgrade: another binary takes over, with the sockets of the one there is.
 *
 * Both sides of it: the one before starts a successor and goes when that
 * serves; the successor says so, and is in charge as soon as the one before
 * agrees, or has gone.
 */
#ifndef MONITOR_UPGRADE_H
#define MONITOR_UPGRADE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct listener;
struct monitor;
struct generation;

/* What we were started with; -1 and none: nobody has passed anything. */
struct inherited {
	int	*sockets;		/* owned, listening; those of who
					 * started all of us come first */
	size_t	 nsockets, npermanent;
	int	 old_monitor;		/* a stream pipe to it */
	int	 pidfile;			/* its pid file, locked */
	int	 standard_error;		/* its standard error */
	int	 background, given_up;	/* open: standard_error.h has these */
	int	 end_fd;		/* nothing from there on was passed */
};

struct upgrade {
	pid_t	pid;			/* of a successor to come; 0: none */
	int	pipe;			/* to it */
	int64_t	deadline;		/* ms */
	bool	again;			/* once more, afterwards */
	int	old_monitor;			/* to the one before; -1: none */
	bool	ready;			/* ... that we serve */
};

/* What is passed, by the environment. */
void	upgrade_inherit(struct inherited *);
/* A line for each lasting socket that nobody listens at by this generation. */
void upgrade_warn_unused(const struct inherited *, const struct generation *);
/* Who started all of us has that socket, too, and may start others. */
bool	upgrade_is_permanent(const struct inherited *, const struct listener *);
/* What only the one before wanted, which nobody listens at by this generation: who
 * has connected there is served by it, and nobody else comes. */
void	upgrade_block_new(const struct inherited *, const struct generation *);
/* We are in charge: that is closed. */
void	upgrade_close_rest(struct inherited *);

void	upgrade_init(struct upgrade *, int old_monitor);
/* Or as soon as what goes on has come to an end. */
void	upgrade_begin(struct monitor *);
/* One is under way, on either side. */
bool	upgrade_is_busy(const struct monitor *);
/* The successor has something to say. */
void	upgrade_on_new_monitor(struct monitor *);
void	upgrade_died(struct monitor *, const char *how);
/* What is due. */
void	upgrade_tick(struct monitor *);
/* It is to end as well. */
void	upgrade_cancel(struct monitor *);

/* In the successor: main serves, so that we may be in charge. */
void	upgrade_on_ready(struct monitor *);
/* The one before has something to say. */
void	upgrade_on_old_monitor(struct monitor *);
/* Whether the one before is in charge still. */
bool	upgrade_is_waiting(const struct monitor *);
/* ... and goes on if we end. */
bool	upgrade_is_on_trial(const struct monitor *);

#endif
