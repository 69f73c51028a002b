/*
 * verification: has a helper compare a password with a password file.
 *
 * A verification that cannot start at once is a deferred task: connections wait
 * for it, and verifiers.h decides when it is submitted.
 */
#ifndef HTTP_LIMITS_VERIFICATION_H
#define HTTP_LIMITS_VERIFICATION_H

#include <stdbool.h>

#include "http/conn.h"
#include "http/limits/verifiers.h"
#include "proto/credentials.h"

/* Whether a job that takes long may start: half of the helpers of one file
 * system stay free for files. */
bool		 verification_allows_slow_job(const struct http_loop *);
/* Whether the next password of the client would not be refused. */
bool		 verification_accepts(const struct conn *);
/* Starts or queues the verification whose verdict goes into the auth entry.
 * Unless REFUSED, *task is to be waited for; NULL: it has been completed. */
enum verifier_state verification_start(const struct conn *, struct auth_entry *,
		    const char *file, const struct credentials *,
		    struct task **);
/* Starts queued verifications that there is room for. */
void		 verification_run_next(struct http_loop *);
/* Cancels what is still queued; no connection waits for it. */
void		 verification_cancel_all(struct http_loop *);

#endif
