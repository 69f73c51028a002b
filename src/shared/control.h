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

#define CONTROL_LINE_MAX	16384	/* bytes, with its end */
#define CONTROL_REQUESTS_MAX 8	/* that a main has at a time */
#define CONTROL_WORDS_MAX	1000	/* in a line, behind the command */
#define CONTROL_END		".\n"

/* And what ampedctl exits with then (sysexits). */
#define CONTROL_VERDICTS(X)							\
	X(OK,		"ok",		0)				\
	X(BAD,		"bad",		64)	/* what was asked */	\
	X(ABSENT,	"absent",	66)	/* some of the files */	\
	X(FAILED,	"failed",	71)				\
	X(BUSY,		"busy",		75)	/* later, perhaps */	\
	X(CONF,		"conf",		78)	/* it has mistakes */

enum control_verdict {
#define X(id, name, status) CONTROL_VERDICT_##id,
	CONTROL_VERDICTS(X)
#undef X
	CONTROL_VERDICT_COUNT
};

/* Who does it. */
enum control_by {
	CONTROL_BY_HERE,		/* ampedctl itself */
	CONTROL_BY_MONITOR,
	CONTROL_BY_CLERK,		/* a child of the monitor's: it may wait */
	CONTROL_BY_MAIN
};

enum control_command {
#define CTL(id, name, by, arguments, least, most, help) CONTROL_##id,
#include "shared/commands.tbl"
#undef CTL
	CONTROL_COUNT
};

struct control_row {
	const char	*name;
	enum control_by	 by;
	const char	*arguments;
	size_t		 min, max;
	const char	*help;
};

struct control_request {
	enum control_command	 command;
	const char		*words[CONTROL_WORDS_MAX];	/* in the line */
	size_t			 n;
};

extern const struct control_row	control_rows[CONTROL_COUNT];

/* CONTROL_COUNT if there is none of that name. */
enum control_command control_find(const char *name);
/* Cuts a line, without its end, into its words; false: the answer says what is
 * wrong with it, all of it. */
bool		 control_parse(char *line, struct control_request *,
		    struct buf *answer);

/* The first line of an answer, and the last. */
void control_begin_answer(struct buf *, enum control_verdict, const char *, ...)
    __attribute__((__format__(__printf__, 3, 4)));
void		 control_end_answer(struct buf *);
/* The verdict that a first line begins with, and what is behind it;
 * CONTROL_VERDICT_COUNT if it is none. */
enum control_verdict control_parse_verdict(const char *line, const char **text);
int		 control_exit_status(enum control_verdict);

#endif
