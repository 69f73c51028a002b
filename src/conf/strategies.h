/*
 * strategies: where the server learns what is asked for behind a page, and
 * which response goes first.
 */
#ifndef CONF_STRATEGIES_H
#define CONF_STRATEGIES_H

#define CONF_HINTS(X)	X(OFF, "off") X(LEARN, "learn") X(LINKS, "links")

enum conf_hints {
#define X(id, name) HINTS_##id,
	CONF_HINTS(X)
#undef X
	HINTS_COUNT
};

/* As bytes fit into the sockets; what has fewer bytes left first. */
#define CONF_ORDERS(X)							\
	X(BY_ARRIVAL, "by-arrival") X(BY_SIZE, "by-size")

enum conf_order {
#define X(id, name) ORDER_##id,
	CONF_ORDERS(X)
#undef X
	ORDER_COUNT
};

#endif
