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
struct heritage {
	int	*sockets;		/* owned, listening; those of who
					 * started all of us come first */
	size_t	 nsockets, nlasting;
	int	 predecessor;		/* a stream pipe to it */
	int	 pid;			/* its pid file, locked */
	int	 standard;		/* its standard error */
	int	 background, left;	/* open: standard_error.h has these */
	int	 beyond;		/* nothing from there on was passed */
};

struct upgrade {
	pid_t	pid;			/* of a successor to come; 0: none */
	int	pipe;			/* to it */
	int64_t	deadline;		/* ms */
	bool	due;			/* once more, afterwards */
	int	before;			/* to the one before; -1: none */
	bool	told;			/* ... that we serve */
};

/* What is passed, by the environment. */
void	heritage_take(struct heritage *);
/* A line for each lasting socket that nobody listens at by this generation. */
void heritage_tell_unused(const struct heritage *, const struct generation *);
/* Who started all of us has that socket, too, and may start others. */
bool	heritage_lasts(const struct heritage *, const struct listener *);
/* What only the one before wanted, which nobody listens at by this generation: who
 * has connected there is served by it, and nobody else comes. */
void	heritage_bolt(const struct heritage *, const struct generation *);
/* We are in charge: that is closed. */
void	heritage_settle(struct heritage *);

void	upgrade_init(struct upgrade *, int predecessor);
/* Or as soon as what goes on has come to an end. */
void	upgrade_begin(struct monitor *);
/* One is under way, on either side. */
bool	upgrade_busy(const struct monitor *);
/* The successor has something to say. */
void	upgrade_heard(struct monitor *);
void	upgrade_died(struct monitor *, const char *how);
/* What is due. */
void	upgrade_look(struct monitor *);
/* It is to end as well. */
void	upgrade_forget(struct monitor *);

/* In the successor: main serves, so that we may be in charge. */
void	upgrade_serves(struct monitor *);
/* The one before has something to say. */
void	upgrade_answered(struct monitor *);
/* Whether the one before is in charge still. */
bool	upgrade_waits(const struct monitor *);
/* ... and goes on if we end. */
bool	upgrade_is_tried(const struct monitor *);

#endif
