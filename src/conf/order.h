/*
 * order: which of several responses goes first.
 */
#ifndef CONF_ORDER_H
#define CONF_ORDER_H

/* As their bytes fit into the sockets; those with fewer bytes left first. */
#define CONF_ORDERS(X)							\
	X(BY_ARRIVAL, "by-arrival") X(BY_SIZE, "by-size")

enum conf_order {
#define X(id, name) ORDER_##id,
	CONF_ORDERS(X)
#undef X
	ORDER_COUNT
};

#endif
