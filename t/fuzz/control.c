/*
 * Fuzz target of shared/control: what is understood is words of the line, as
 * many as the command takes; what is not has an answer that is complete.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/need.h"
#include "shared/control.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_answer(struct buf *answer)
{
	const char	*text;
	size_t		 n = sizeof(CONTROL_END) - 1;

	need(control_parse_verdict(buf_string(answer), &text) ==
	     CONTROL_VERDICT_BAD);
	need(answer->len > n + 1 && answer->at[answer->len - n - 1] == '\n');
	need(memcmp(answer->at + answer->len - n, CONTROL_END, n) == 0);
}

static void
check_words(const struct control_request *q, const char *line, size_t size)
{
	const struct control_row	*row = &control_rows[q->command];

	need(q->command < CONTROL_COUNT && row->by != CONTROL_BY_AMPEDCTL);
	need(q->n >= row->min && q->n <= row->max);
	for (size_t i = 0; i < q->n; i++) {
		need(q->words[i] >= line && q->words[i] < line + size);
		need(strchr(q->words[i], '\t') == NULL);
		need(i == 0 || q->words[i] > q->words[i - 1]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char			*line = mem_get(size + 1);
	struct control_request	 q;
	struct buf		 answer = { 0 };

	if (size > 0)
		memcpy(line, data, size);
	line[size] = '\0';
	if (control_parse(line, &q, &answer))
		check_words(&q, line, size + 1);
	else
		check_answer(&answer);
	buf_free(&answer);
	mem_drop(&line);
	return 0;
}
