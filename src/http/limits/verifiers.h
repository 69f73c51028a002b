/*
 * verifiers: the queue of passwords to be verified.
 *
 * At most so many passwords are verified at the same time, and of one address
 * only a share of them.  Others wait, in order of arrival within an address,
 * and round-robin among addresses.  An address may have no more waiting than
 * there is room left: one address gets half of the room, two get a third each,
 * so that a few addresses never fill the queue.
 *
 * Where threads share the queue, an entry belongs to the loop that added it,
 * its owner.  Any thread may assign a slot to the entry; the owner starts it.
 */
#ifndef HTTP_LIMITS_VERIFIERS_H
#define HTTP_LIMITS_VERIFIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "lib/lock.h"
#include "shared/addresses.h"

struct client_queue;		/* the entries of one address */

enum verifier_state {
	VERIFIER_REFUSED,		/* too many wait */
	VERIFIER_QUEUED,
	VERIFIER_ASSIGNED,		/* has a slot; the owner is told */
	VERIFIER_RUNNING
};

struct verifier_entry {			/* embedded in what is verified */
	enum verifier_state	 state;
	struct client_queue	*queue;
	const void		*owner;
	TAILQ_ENTRY(verifier_entry) link;
};

TAILQ_HEAD(verifier_list, verifier_entry);

/* Slots in all, and of one address; may differ from call to call. */
struct verifiers_limits {
	int64_t		total, per_client;
};

struct verifiers {
	struct lock		*lock;		/* NULL: one thread's */
	TAILQ_HEAD(, client_queue) queues;	/* first: next */
	struct verifier_list	 assigned;
	size_t			 waiting, waiting_max;
	_Atomic int64_t		 busy;		/* assigned or running */
};

void	 verifiers_init(struct verifiers *, size_t waiting_max);
void	 verifiers_free(struct verifiers *);
/* Sets another limit; entries beyond it stay. */
void	 verifiers_set_max(struct verifiers *, size_t waiting_max);
/* Whether an entry of that address would not be refused. */
bool	 verifiers_accepts(struct verifiers *, const struct address_key *,
	    const struct verifiers_limits *);
/* Adds an entry: RUNNING, QUEUED or REFUSED.  Unless it is refused,
 * verifiers_remove() must follow at its end. */
enum verifier_state verifiers_add(struct verifiers *, struct verifier_entry *,
	    const struct address_key *, const void *owner,
	    const struct verifiers_limits *);
void	 verifiers_remove(struct verifiers *, struct verifier_entry *);
/* Assigns a free slot to the next entry, whose owner the caller tells; false:
 * no slot is free or no entry waits. */
bool	 verifiers_assign(struct verifiers *, const struct verifiers_limits *,
	    const void **owner);
/* An assigned entry of that owner, which is RUNNING from now on; or NULL. */
struct verifier_entry *verifiers_start_next(struct verifiers *,
	    const void *owner);
/* The first entry of that owner that is not running; or NULL. */
struct verifier_entry *verifiers_first(struct verifiers *, const void *owner);

#endif
