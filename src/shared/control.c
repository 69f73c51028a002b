/*
 * control: the language of the control socket.  Pure.
 */
#include <stdarg.h>
#include <string.h>

#include "shared/control.h"

const struct ctl_row ctl_rows[CTL_COUNT] = {
#define CTL(id, name, by, arguments, least, most, help)			\
	[CTL_##id] = { name, CTL_BY_##by, arguments, least, most, help },
#include "shared/commands.tbl"
#undef CTL
};

static const struct {
	const char	*name;
	int		 status;
} verdicts[] = {
#define X(id, name, status) [CTL_VERDICT_##id] = { name, status },
	CTL_VERDICTS(X)
#undef X
};

enum ctl_command
ctl_find(const char *name)
{
	enum ctl_command	i = 0;

	while (i < CTL_COUNT && strcmp(ctl_rows[i].name, name) != 0)
		i++;
	return i;
}

/* The next word; two separators have an empty one between them, which only a
 * tab means. */
static const char *
next(char **rest, const char *separator)
{
	const char	*word;

	do
		word = strsep(rest, separator);
	while (word != NULL && *word == '\0' && *separator == ' ');
	return word;
}

static bool
fits(const struct ctl_request *q, struct buf *answer)
{
	const struct ctl_row	*row = &ctl_rows[q->command];

	if (q->n >= row->least && q->n <= row->most)
		return true;
	ctl_begin(answer, CTL_VERDICT_BAD, "too %s words: %s%s%s",
	    q->n < row->least ? "few" : "many", row->name,
	    *row->arguments != '\0' ? " " : "", row->arguments);
	return false;
}

static bool
refuse(struct buf *answer)
{
	ctl_end(answer);
	return false;
}

bool
ctl_parse(char *line, struct ctl_request *q, struct buf *answer)
{
	const char	*separator = strchr(line, '\t') != NULL ? "\t" : " ";
	const char	*word;
	size_t		 len = strlen(line);

	if (len > 0 && line[len - 1] == '\r')
		line[len - 1] = '\0';
	word = next(&line, separator);
	q->n = 0;
	q->command = word != NULL ? ctl_find(word) : CTL_COUNT;
	if (q->command == CTL_COUNT ||
	    ctl_rows[q->command].by == CTL_BY_HERE) {
		ctl_begin(answer, CTL_VERDICT_BAD, "there is no such command; "
		    "ampedctl help lists them");
		return refuse(answer);
	}
	while ((word = next(&line, separator)) != NULL) {
		if (q->n == CTL_WORDS_MOST) {
			ctl_begin(answer, CTL_VERDICT_BAD, "too many words");
			return refuse(answer);
		}
		q->words[q->n++] = word;
	}
	return fits(q, answer) || refuse(answer);
}

void
ctl_begin(struct buf *to, enum ctl_verdict verdict, const char *format, ...)
{
	va_list	args;
	size_t	bare;

	buf_adds(to, verdicts[verdict].name);
	bare = to->len;
	buf_addc(to, ' ');
	va_start(args, format);
	buf_addv(to, format, args);
	va_end(args);
	if (to->len == bare + 1)	/* nothing to say */
		to->len = bare;
	buf_addc(to, '\n');
}

void
ctl_end(struct buf *to)
{
	if (to->len > 0 && to->at[to->len - 1] != '\n')
		buf_addc(to, '\n');
	buf_adds(to, CTL_END);
}

enum ctl_verdict
ctl_verdict(const char *line, const char **text)
{
	size_t			n = strcspn(line, " ");
	enum ctl_verdict	v = 0;

	while (v < CTL_VERDICT_COUNT && (strlen(verdicts[v].name) != n ||
	    memcmp(verdicts[v].name, line, n) != 0))
		v++;
	*text = line + n + strspn(line + n, " ");
	return v;
}

int
ctl_status(enum ctl_verdict verdict)
{
	return verdicts[verdict].status;
}
