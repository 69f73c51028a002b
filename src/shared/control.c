/*
 * control: the language of the control socket.  Pure.
 */
#include <stdarg.h>
#include <string.h>

#include "shared/control.h"

const struct control_row control_rows[CONTROL_COUNT] = {
#define COMMAND(id, name, by, arguments, min, max, help)		\
	[CONTROL_##id] = { name, CONTROL_BY_##by, arguments, min, max, help },
#include "shared/commands.tbl"
#undef COMMAND
};

static const struct {
	const char	*name;
	int		 status;
} verdicts[] = {
#define X(id, name, status) [CONTROL_VERDICT_##id] = { name, status },
	CONTROL_VERDICTS(X)
#undef X
};

enum control_command
control_find(const char *name)
{
	enum control_command	i = 0;

	while (i < CONTROL_COUNT && strcmp(control_rows[i].name, name) != 0)
		i++;
	return i;
}

/* Returns the next word.  Two tabs have an empty word between them; two spaces
 * do not. */
static const char *
next_word(char **rest, const char *separator)
{
	const char	*word;

	do
		word = strsep(rest, separator);
	while (word != NULL && *word == '\0' && *separator == ' ');
	return word;
}

static bool
check_count(const struct control_request *q, struct buf *answer)
{
	const struct control_row	*row = &control_rows[q->command];

	if (q->n >= row->min && q->n <= row->max)
		return true;
	control_begin_answer(answer, CONTROL_VERDICT_BAD, "too %s words: "
	    "%s%s%s", q->n < row->min ? "few" : "many", row->name,
	    *row->arguments != '\0' ? " " : "", row->arguments);
	return false;
}

static bool
end_refusal(struct buf *answer)
{
	control_end_answer(answer);
	return false;
}

bool
control_parse(char *line, struct control_request *q, struct buf *answer)
{
	const char	*separator = strchr(line, '\t') != NULL ? "\t" : " ";
	const char	*word;
	size_t		 len = strlen(line);

	if (len > 0 && line[len - 1] == '\r')
		line[len - 1] = '\0';
	word = next_word(&line, separator);
	q->n = 0;
	q->command = word != NULL ? control_find(word) : CONTROL_COUNT;
	if (q->command == CONTROL_COUNT ||
	    control_rows[q->command].by == CONTROL_BY_AMPEDCTL) {
		control_begin_answer(answer, CONTROL_VERDICT_BAD, "there is no "
		    "such command; ampedctl help lists them");
		return end_refusal(answer);
	}
	while ((word = next_word(&line, separator)) != NULL) {
		if (q->n == CONTROL_WORDS_MAX) {
			control_begin_answer(answer, CONTROL_VERDICT_BAD,
			    "too many words");
			return end_refusal(answer);
		}
		q->words[q->n++] = word;
	}
	return check_count(q, answer) || end_refusal(answer);
}

void
control_begin_answer(struct buf *to, enum control_verdict verdict,
    const char *format, ...)
{
	va_list	args;
	size_t	bare;

	buf_adds(to, verdicts[verdict].name);
	bare = to->len;
	buf_addc(to, ' ');
	va_start(args, format);
	buf_addv(to, format, args);
	va_end(args);
	if (to->len == bare + 1)	/* no text */
		to->len = bare;
	buf_addc(to, '\n');
}

void
control_end_answer(struct buf *to)
{
	if (to->len > 0 && to->at[to->len - 1] != '\n')
		buf_addc(to, '\n');
	buf_adds(to, CONTROL_END);
}

enum control_verdict
control_parse_verdict(const char *line, const char **text)
{
	size_t			n = strcspn(line, " ");
	enum control_verdict	v = 0;

	while (v < CONTROL_VERDICT_COUNT && (strlen(verdicts[v].name) != n ||
	    memcmp(verdicts[v].name, line, n) != 0))
		v++;
	*text = line + n + strspn(line + n, " ");
	return v;
}

int
control_exit_status(enum control_verdict verdict)
{
	return verdicts[verdict].status;
}
