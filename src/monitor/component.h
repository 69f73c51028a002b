/*
 * component: a part of the monitor with a life of its own, and what the parts
 * have in common.
 *
 * A component is a file with its own state.  The functions of its struct
 * component are called at events that concern several components.  A component
 * calls no file that calls it, directly or through others; it asks for actions
 * of these by struct due.  A new one is a line in the list here, and its files.
 */
#ifndef MONITOR_COMPONENT_H
#define MONITOR_COMPONENT_H

#include <stdbool.h>

struct generation;

/* In the order in which they are told.  Files of sockets go before mains end.
 * Log programs come last, as each reads until the last writer has gone.  The
 * control server ends before reopen, which would tell its clients of success;
 * reload says which generation serves before upgrade asks. */
#define COMPONENTS(X)							\
	X(socket_files)							\
	X(control_server)						\
	X(reopen)							\
	X(reload)							\
	X(error_log)							\
	X(upgrade)							\
	X(hot_lists)							\
	X(scaling)							\
	X(workers)							\
	X(program_managers)						\
	X(piped_log)

/* Each function may be NULL. */
struct component {
	/* All mains of a generation serve: one that starts, or the serving one
	 * again. */
	void	(*serves)(struct generation *);
	/* A generation has ended before it served. */
	void	(*failed)(const char *how);
	/* The end of the server begins: gives up what is under way. */
	void	(*stop)(void);
	/* All other children have ended. */
	void	(*end)(void);
	/* In a child: closes all descriptors that are no sources. */
	void	(*leave)(void);
};

#define X(name) extern const struct component name##_component;
COMPONENTS(X)
#undef X

/* All of them, and NULL; monitor.c has the table. */
extern const struct component *const	*components;

/* Calls one function of each; its arguments are in parentheses. */
#define COMPONENTS_TELL(function, arguments)				\
	for (const struct component *const *one = components;		\
	    *one != NULL; one++)					\
		if ((*one)->function != NULL)				\
			(*one)->function arguments

/* Requests of components to the monitor, which begins what is asked for at the
 * end of the same iteration, or as soon as it may (monitor.c). */
struct due {
	bool	reload;
	bool	upgrade;
	bool	reopen;
	bool	reopened;	/* since the last reload began, which may have
				 * opened its logs too early */
	int	end;		/* the end that this signal means; 0: none */
	int	ending;		/* the same, when it has begun */
	int	exit_status;	/* of the server */
};

extern struct due	due;

#endif
