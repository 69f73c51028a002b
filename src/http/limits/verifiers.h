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

struct asker;			/* an address with a password in it */

enum verifier_state {
	VERIFIER_REFUSED,		/* too many wait */
	VERIFIER_WAITS,
	VERIFIER_CALLED,		/* home has not heard of it */
	VERIFIER_BEGUN
};

struct verifier {			/* embedded in what is verified */
	enum verifier_state	 state;
	struct asker		*asker;
	const void		*home;
	TAILQ_ENTRY(verifier)	 link;
};

TAILQ_HEAD(verifier_list, verifier);

/* At once, in all and of one address; it may change from call to call. */
struct verifiers_room {
	int64_t		all, share;
};

struct verifiers {
	struct lock		*lock;		/* NULL: one thread's alone */
	TAILQ_HEAD(, asker)	 askers;	/* the next turn's first */
	struct verifier_list	 called;
	size_t			 waiting, most;
	_Atomic int64_t		 busy;		/* called or begun */
};

void	 verifiers_init(struct verifiers *, size_t most);
void	 verifiers_free(struct verifiers *);
/* Whether one of that address would not be refused. */
bool	 verifiers_takes(struct verifiers *, const struct address_key *,
	    const struct verifiers_room *);
/* BEGUN, WAITS or REFUSED; and what is not refused leaves, whatever becomes of
 * it. */
enum verifier_state verifiers_enter(struct verifiers *, struct verifier *,
	    const struct address_key *, const void *home,
	    const struct verifiers_room *);
void	 verifiers_leave(struct verifiers *, struct verifier *);
/* Calls the next one, if there is room for it: its home is to be told. */
bool	 verifiers_call(struct verifiers *, const struct verifiers_room *,
	    const void **home);
/* One of that home that has been called, and begins; NULL: there is none. */
struct verifier *verifiers_begin(struct verifiers *, const void *home);
/* The first of that home that has not begun; NULL: likewise. */
struct verifier *verifiers_first(struct verifiers *, const void *home);

#endif
