/*
 * component: a part of the monitor with a life of its own.
 *
 * A component is a file with its own state.  It calls what stands below it, and
 * tells what stands above it by functions that monitor.c gives it.  A new one
 * is a line in the list here, and its own files.
 */
#ifndef MONITOR_COMPONENT_H
#define MONITOR_COMPONENT_H

struct monitor_setup;

/* In the order in which they stop and end: log programs come last, as each
 * reads until the last writer has gone. */
#define COMPONENTS(X)							\
	X(control_server)						\
	X(reopen)							\
	X(reload)							\
	X(upgrade)							\
	X(error_log)							\
	X(monitor)							\
	X(workers)							\
	X(piped_log)

/* Each function may be NULL. */
struct component {
	/* Takes what main() has prepared. */
	void	(*setup)(struct monitor_setup *);
	/* In a child: closes all descriptors that are no sources. */
	void	(*leave)(void);
	/* The end of the server begins: gives up what is under way. */
	void	(*stop)(void);
	/* All other children have ended. */
	void	(*end)(void);
};

#define X(name) extern const struct component name##_component;
COMPONENTS(X)
#undef X

#endif
