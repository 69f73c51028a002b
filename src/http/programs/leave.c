/*
 * leave: clients that leave while their request waits for a program.
 *
 * The driver tells a reset itself.  A client that closes its connection has
 * only ended its output, as far as anybody can see, and so has one that sends
 * no more and reads the answer.  After a grace without output it is taken as
 * gone, unless it still has bytes to take.
 *
 * A client that has the whole answer may go: its program works on.  The end of
 * a body that comes while the program runs is feed.c's.
 */
#include "http/programs/run.h"

#define GRACE	1000	/* ms; documented in amped-programs(7) */

static void
begin_grace(struct conn *c)
{
	c->request->run->leaves = c->http->clock->ms + GRACE;
}

void
leave_put_off(struct conn *c)
{
	if (c->request->run->leaves != 0)
		begin_grace(c);
}

enum outcome
leave_outcome(struct conn *c)
{
	struct run	*run = c->request->run;
	enum outcome	 outcome = conn_outcome(c);
	bool		 is_over = outcome == OUTCOME_TIMED_OUT &&
			    c->wait.timeout == TIMEOUT_LEAVE;

	/* A wait for the client is progress of the answer; bytes for the
	 * program are none. */
	if (run->body.is_back && outcome == OUTCOME_NONE)
		outcome = OUTCOME_READY;
	run->body.is_back = false;
	if (is_over && c->wait.n == 0)
		return OUTCOME_FAILED;
	if (!is_over && outcome != OUTCOME_ENDED)
		return outcome;
	begin_grace(c);
	return OUTCOME_READY;
}

/* Whether a client that ends its output may have gone. */
static bool
may_leave(const struct run *run)
{
	return !run->bodiless && run->left != 0 &&
	    !(run->body.comes && run->body.is_fed && !run->body.whole);
}

enum go
leave_wait(struct conn *c)
{
	const struct run	*run = c->request->run;

	if (!may_leave(run))
		return conn_wait(c, WAIT_BACKEND, TIMEOUT_PROGRAM,
		    run->deadline, 0);
	if (run->leaves == 0)
		return conn_wait(c, WAIT_BACKEND, TIMEOUT_PROGRAM,
		    run->deadline, WAIT_ENDING);
	return run->leaves < run->deadline ?
	    conn_wait(c, WAIT_BACKEND, TIMEOUT_LEAVE, run->leaves, 0) :
	    conn_wait(c, WAIT_BACKEND, TIMEOUT_PROGRAM, run->deadline, 0);
}
