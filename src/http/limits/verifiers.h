/*
 * verifiers: whose password is verified next.
 *
 * Only so many are verified at once, and of one address only a share of those.
 * What cannot begin waits: in the order in which it came within an address, by
 * turns among addresses.  No address may have more waiting than there is room
 * left, so a few of them never fill it: one gets a half, two get a third each.
 *
 * Where threads share it, what waits is one loop's, its home, and begins
 * there: it is called by whichever thread has made room.
 */
#ifndef HTTP_LIMITS_VERIFIERS_H
#define HTTP_LIMITS_VERIFIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "lib/lock.h"
#include "shared/addresses.h"

struct client_queue;			/* an address with a password in it */

enum verifier_state {
	VERIFIER_REFUSED,		/* too many wait */
	VERIFIER_QUEUED,
	VERIFIER_ASSIGNED,		/* home has not heard of it */
	VERIFIER_RUNNING
};

struct verifier_entry {			/* embedded in what is verified */
	enum verifier_state	 state;
	struct client_queue		*queue;
	const void		*owner;
	TAILQ_ENTRY(verifier_entry)	 link;
};

TAILQ_HEAD(verifier_list, verifier_entry);

/* At once, in all and of one address; it may change from call to call. */
struct verifiers_limits {
	int64_t		total, per_client;
};

struct verifiers {
	struct lock		*lock;		/* NULL: one thread's alone */
	TAILQ_HEAD(, client_queue)	 queues;	/* the next turn's first */
	struct verifier_list	 assigned;
	size_t			 waiting, waiting_max;
	_Atomic int64_t		 busy;		/* called or begun */
};

void	 verifiers_init(struct verifiers *, size_t waiting_max);
void	 verifiers_free(struct verifiers *);
/* Whether one of that address would not be refused. */
bool	 verifiers_accepts(struct verifiers *, const struct address_key *,
	    const struct verifiers_limits *);
/* BEGUN, WAITS or REFUSED; and what is not refused leaves, whatever becomes of
 * it. */
enum verifier_state verifiers_add(struct verifiers *, struct verifier_entry *,
	    const struct address_key *, const void *owner,
	    const struct verifiers_limits *);
void	 verifiers_remove(struct verifiers *, struct verifier_entry *);
/* Calls the next one, if there is room for it: its home is to be told. */
bool	 verifiers_assign(struct verifiers *, const struct verifiers_limits *,
	    const void **owner);
/* One of that home that has been called, and begins; NULL: there is none. */
struct verifier_entry *verifiers_start_next(
    struct verifiers *, const void *owner);
/* The first of that home that has not begun; NULL: likewise. */
struct verifier_entry *verifiers_first(struct verifiers *, const void *owner);

#endif
