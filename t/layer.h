/*
 * layer: a layer between machine and socket (src/loop/net.h), as TLS would be
 * one, for tests.
 *
 * All bytes differ by LAYER_KEY (exclusive or).  The layer reads a few bytes at
 * a time and gives the machine one of them, writes one byte at a time (in small
 * pieces after many of these), and in between has the driver wait although the
 * socket is ready.
 */
#ifndef T_LAYER_H
#define T_LAYER_H

#include "http/machine.h"
#include "loop/net.h"

#define LAYER_KEY	0x5a

/* Of the sessions with a layer. */
extern const struct client_kind	layer_kind;

struct net	*layer_new(void);

#endif
