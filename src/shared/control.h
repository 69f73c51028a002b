/*
 * control: what is spoken at the control socket, by ampedctl(8) or by hand.
 *
 * One line asks: a command and its words, between which there is a space each,
 * or a tab each where one of them has a space in it.  The answer is a verdict,
 * one word of those below, and what there is to say about it, on a line; more
 * lines, if there is more; and a line with a dot alone.  No other begins with
 * one.  Without that last line, the answer has broken off.
 */
#ifndef SHARED_CONTROL_H
#define SHARED_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"

#define CTL_LINE_MOST	16384	/* bytes, with its end */
#define CTL_QUESTIONS_MOST 8	/* that a main has at a time */
#define CTL_WORDS_MOST	1000	/* in a line, behind the command */
#define CTL_END		".\n"

/* And what ampedctl exits with then (sysexits). */
#define CTL_VERDICTS(X)							\
	X(OK,		"ok",		0)				\
	X(BAD,		"bad",		64)	/* what was asked */	\
	X(ABSENT,	"absent",	66)	/* some of the files */	\
	X(FAILED,	"failed",	71)				\
	X(BUSY,		"busy",		75)	/* later, perhaps */	\
	X(CONF,		"conf",		78)	/* it has mistakes */

enum ctl_verdict {
#define X(id, name, status) CTL_VERDICT_##id,
	CTL_VERDICTS(X)
#undef X
	CTL_VERDICT_COUNT
};

/* Who does it. */
enum ctl_by {
	CTL_BY_HERE,		/* ampedctl itself */
	CTL_BY_MONITOR,
	CTL_BY_CLERK,		/* a child of the monitor's: it may wait */
	CTL_BY_MAIN
};

enum ctl_command {
#define CTL(id, name, by, arguments, least, most, help) CTL_##id,
#include "shared/commands.tbl"
#undef CTL
	CTL_COUNT
};

struct ctl_row {
	const char	*name;
	enum ctl_by	 by;
	const char	*arguments;
	size_t		 least, most;
	const char	*help;
};

struct ctl_request {
	enum ctl_command	 command;
	const char		*words[CTL_WORDS_MOST];	/* in the line */
	size_t			 n;
};

extern const struct ctl_row	ctl_rows[CTL_COUNT];

/* CTL_COUNT if there is none of that name. */
enum ctl_command ctl_find(const char *name);
/* Cuts a line, without its end, into its words; false: the answer says what is
 * wrong with it, all of it. */
bool		 ctl_parse(char *line, struct ctl_request *,
		    struct buf *answer);

/* The first line of an answer, and the last. */
void		 ctl_begin(struct buf *, enum ctl_verdict, const char *, ...)
		    __attribute__((__format__(__printf__, 3, 4)));
void		 ctl_end(struct buf *);
/* The verdict that a first line begins with, and what is behind it;
 * CTL_VERDICT_COUNT if it is none. */
enum ctl_verdict ctl_verdict(const char *line, const char **text);
int		 ctl_status(enum ctl_verdict);

#endif
