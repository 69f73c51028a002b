/*
 * strategies: where the server learns what is asked for behind a page, which
 * response goes first, which threads serve clients, and where these wait; and
 * profiles, which are strategies that go together.
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

/* The life of a thread that has a client, in mt: main's, a connection's, a
 * request's. */
#define CONF_SPAWNS(X)							\
	X(POOL, "pool") X(SESSION, "session") X(REQUEST, "request")

enum conf_spawn {
#define X(id, name) SPAWN_##id,
	CONF_SPAWNS(X)
#undef X
	SPAWN_COUNT
};

/* Where a worker with one client waits for the socket: in the event loop, in
 * the operation. */
#define CONF_IOS(X)							\
	X(REACTIVE, "reactive") X(SYNCHRONOUS, "synchronous")

enum conf_io {
#define X(id, name) IO_##id,
	CONF_IOS(X)
#undef X
	IO_COUNT
};

/* A load that the server is for. */
#define CONF_PROFILES(X)						\
	X(OFF, "off") X(SMALL_FILES, "small-files")			\
	X(DOWNLOADS, "downloads") X(DISK_BOUND, "disk-bound")		\
	X(AUTO, "auto")

enum conf_profile {
#define X(id, name) PROFILE_##id,
	CONF_PROFILES(X)
#undef X
	PROFILE_COUNT
};

/* The values that a profile has in place of defaults: profile, block, word,
 * part, value.  The block is TOP or stands once in a conf, and the row has a
 * default.  -t must accept each value whatever else a conf sets. */
#define CONF_PROFILE_VALUES(X)						\
	X(SMALL_FILES, CACHE, "policy", "", "gdsf")			\
	X(SMALL_FILES, CACHE, "hints", "", "learn")			\
	X(DOWNLOADS, TOP, "order", "", "by-size")			\
	X(DOWNLOADS, CACHE, "policy", "", "s3fifo")			\
	X(DISK_BOUND, CACHE, "policy", "", "gdsf")			\
	X(DISK_BOUND, CACHE, "hints", "", "links")			\
	X(AUTO, CACHE, "policy", "", "auto")				\
	X(AUTO, CACHE, "hints", "", "links")

#endif
