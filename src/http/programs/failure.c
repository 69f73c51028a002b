/*
 * failure: answers in the place of a program that has failed.
 */
#include <stdarg.h>

#include "http/programs/run.h"
#include "http/reply.h"

enum go
failure_reply(struct conn *c, enum why why, const char *cause, ...)
{
	struct run	*run = c->request->run;
	va_list		 args;

	va_start(args, cause);
	buf_addv(&run->cause, cause, args);
	va_end(args);
	run_count(c, PROGRAM_STATS_FAILED);
	feed_leave(c);
	run_end(c);
	run_body_drop(c);
	return reply_error(c, reply_why(c, why));
}

enum go
failure_of_body(struct conn *c)
{
	struct run	*run = c->request->run;
	enum why	 why = (enum why)run->body.why;

	if (run->body.error != 0)
		return failure_reply(c, why, "%s", "");
	run_end(c);
	run_body_drop(c);
	return reply_error_close(c, why == WHY_NONE ?
	    c->request->discard.chunked.status : reply_why(c, why));
}
