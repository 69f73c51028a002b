/*
 * control: the language of the control socket, which ampedctl(8) speaks.
 *
 * A request is one line: a command and its words, separated by spaces, or by
 * tabs if the line has a tab.  The answer is a line with a verdict and a text,
 * further lines, and a line with a dot alone.  No other line begins with a dot.
 * An answer without that last line is incomplete.
 */
#ifndef SHARED_CONTROL_H
#define SHARED_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"

#define CONTROL_LINE_MAX	16384	/* bytes, with the newline */
#define CONTROL_REQUESTS_MAX	8	/* for mains, at a time */
#define CONTROL_WORDS_MAX	1000	/* in a line, after the command */
#define CONTROL_END		".\n"

/* Verdict, its word, and the exit status of ampedctl (sysexits(3)). */
#define CONTROL_VERDICTS(X)						\
	X(OK,		"ok",		0)				\
	X(BAD,		"bad",		64)	/* a wrong request */	\
	X(ABSENT,	"absent",	66)	/* files are missing */	\
	X(FAILED,	"failed",	71)				\
	X(BUSY,		"busy",		75)	/* try again later */	\
	X(CONF,		"conf",		78)	/* the conf has errors */

enum control_verdict {
#define X(id, name, status) CONTROL_VERDICT_##id,
	CONTROL_VERDICTS(X)
#undef X
	CONTROL_VERDICT_COUNT
};

/* Which process carries out a command. */
enum control_by {
	CONTROL_BY_AMPEDCTL,
	CONTROL_BY_MONITOR,
	CONTROL_BY_CHILD,	/* a child of the monitor: may wait for files */
	CONTROL_BY_MAIN
};

enum control_command {
#define COMMAND(id, name, by, arguments, min, max, help) CONTROL_##id,
#include "shared/commands.tbl"
#undef COMMAND
	CONTROL_COUNT
};

struct control_row {
	const char	*name;
	enum control_by	 by;
	const char	*arguments;
	size_t		 min, max;	/* number of words */
	const char	*help;
};

struct control_request {
	enum control_command	 command;
	const char		*words[CONTROL_WORDS_MAX]; /* in the line */
	size_t			 n;
};

extern const struct control_row	control_rows[CONTROL_COUNT];

/* Returns the command of that name, or CONTROL_COUNT. */
enum control_command control_find(const char *name);
/* Cuts a line, without its newline, into its words.  Returns false if it is no
 * request: then answer has the complete answer. */
bool		 control_parse(char *line, struct control_request *,
		    struct buf *answer);

/* Adds the first line of an answer; more lines may follow. */
void		 control_begin_answer(struct buf *, enum control_verdict,
		    const char *, ...)
		    __attribute__((__format__(__printf__, 3, 4)));
/* Adds the last line. */
void		 control_end_answer(struct buf *);
/* Returns the verdict of a first line, or CONTROL_VERDICT_COUNT if that begins
 * with none.  *text points behind the verdict. */
enum control_verdict control_parse_verdict(const char *line,
		    const char **text);
/* Returns the exit status of ampedctl for a verdict. */
int		 control_exit_status(enum control_verdict);

#endif
