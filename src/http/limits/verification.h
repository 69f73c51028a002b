/*
 * verification: passwords on their way to who compares them with a file.
 *
 * One that cannot begin at once is a task as well, which is waited for, and
 * handed out when its turn comes (verifiers.h).
 */
#ifndef HTTP_LIMITS_VERIFICATION_H
#define HTTP_LIMITS_VERIFICATION_H

#include <stdbool.h>

#include "http/conn.h"
#include "http/limits/verifiers.h"
#include "proto/credentials.h"

/* Whether a helper may be kept busy for long by something else: half of those
 * of one file system stay free for files. */
bool		 verification_allows_slow_job(const struct http_loop *);
/* Whether the client's next one would not be refused. */
bool		 verification_accepts(const struct conn *);
/* The client's, for an auth entry.  What is not refused has a task to wait for, or
 * NULL: it was done in place. */
enum verifier_state verification_start(const struct conn *, struct auth_entry *,
		    const char *file, const struct credentials *,
		    struct task **);
/* A slot is free: for who waits.  nested: while a client runs, so that no other
 * may. */
void		 verification_run_next(struct http_loop *, bool nested);
/* Those that nobody waits for, at the end. */
void		 verification_cancel_all(struct http_loop *);

#endif
