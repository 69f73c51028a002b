/*
 * authorizer: asks programs whether a request may go on.
 *
 * An authorizer runs as any program, but before the path is looked up.  What it
 * refuses gets its answer as any program's.  Nothing but a whole answer of
 * status 200 lets a request pass.
 */
#include <ctype.h>

#include "conf/rules.h"
#include "http/log/refusal.h"
#include "http/programs/authorizer.h"
#include "http/programs/run.h"
#include "http/reply.h"
#include "stats/stats.h"

#define VARIABLE	STR("Variable-")	/* begins names of fields */

size_t
authorizer_next(const struct request *r)
{
	return r->run != NULL ? r->run->authorized.next : 0;
}

enum go
authorizer_ask(struct conn *c, const struct conf_guard *guard, size_t number)
{
	struct request	*r = c->request;
	struct run	*run = run_get(r);

	r->auth.guard = guard;
	run->program = guard->authorizer;
	run->authorizes = true;
	run->authorized.next = number;
	return conn_go(c, STEP_START);
}

/* A document without a status has 200 (RFC 3875, section 6.2.1), and a redirect
 * has not. */
bool
authorizer_admits(const struct run *run)
{
	const struct cgi_head	*head = &run->parse;

	return head->status == 200 ||
	    (head->status == 0 && head->location.len == 0);
}

static bool
is_variable(struct str field)
{
	struct str	start = { field.at, VARIABLE.len };

	return field.len >= VARIABLE.len && str_same_nocase(start, VARIABLE);
}

/* Adds the variable of a field, in whose name bytes that a variable's cannot
 * have become _; false: it is none that an authorizer may set.  The length of a
 * body is the server's. */
static bool
add_variable(struct buf *to, struct str field, struct str value)
{
	struct buf	text = { 0 };
	bool		good;

	for (size_t i = VARIABLE.len; i < field.len; i++)
		buf_addc(&text, isalnum((unsigned char)field.at[i]) ?
		    field.at[i] : '_');
	good = conf_program_wrong_variable(buf_string(&text)) == NULL &&
	    !str_same((struct str){ text.at, text.len }, STR("CONTENT_LENGTH"));
	if (good) {
		buf_add(to, text.at, text.len);
		buf_addc(to, '=');
		buf_add(to, value.at, value.len);
		buf_addc(to, '\0');
	}
	buf_free(&text);
	return good;
}

bool
authorizer_take(struct run *run, struct str *wrong)
{
	struct str	name, value;
	uint32_t	at = 0;

	while (cgi_head_next(&run->parse, run->head.at, &at, &name, &value)) {
		*wrong = name;
		if (is_variable(name) &&
		    !add_variable(&run->authorized.variables, name, value))
			return false;
	}
	return true;
}

/* The time that the program has taken is not the disk's. */
enum go
authorizer_pass(struct conn *c)
{
	struct request	*r = c->request;
	struct str	 user;

	run_count(c, PROGRAM_STATS_ANSWERED);
	run_renew(c);
	r->run->authorized.next++;
	if (authorizer_user(r, &user))
		r->auth.user |= REQUEST_USER_PROGRAM;
	r->disk.deadline = 0;
	return conn_go(c, STEP_AUTHORIZE);
}

void
authorizer_refuse(struct conn *c)
{
	const struct cgi_head	*head = &c->request->run->parse;

	stats_count(STATS_DENIED);
	reply_why(c, WHY_AUTHORIZER);
	refusal_log(c, head->status != 0 ? head->status : 302);
	reply_leave_body(c);
}

bool
authorizer_user(const struct request *r, struct str *user)
{
	struct str	rest, text;
	bool		found = false;

	if (r->run == NULL)
		return false;
	rest = (struct str){ r->run->authorized.variables.at,
	    r->run->authorized.variables.len };
	while (rest.len > 0) {
		text = str_cut(&rest, '\0');
		if (!str_same(str_cut(&text, '='), STR("REMOTE_USER")))
			continue;
		*user = text;
		found = true;
	}
	return found;
}
