/*
 * metrics: splits lines into names and values.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ampedctl/metrics.h"
#include "lib/mem.h"

static void
add_metric(struct metrics *n, const char *name, double value)
{
	n->at = mem_add_room(n->at, n->n, sizeof(*n->at));
	n->at[n->n++] = (struct metric){ name, value };
}

void
metrics_parse(struct metrics *n, struct buf *text)
{
	char	*rest, *line, *value, *end;
	double	 number;

	*n = (struct metrics){ .text = mem_string(buf_string(text)) };
	n->version = "";
	rest = n->text;
	while ((line = strsep(&rest, "\n")) != NULL) {
		value = strrchr(line, ' ');
		if (value == NULL)
			continue;
		*value++ = '\0';
		number = strtod(value, &end);
		if (strcmp(line, "version") == 0)
			n->version = value;
		else if (*end == '\0' && end != value)
			add_metric(n, line, number);
	}
}

void
metrics_free(struct metrics *n)
{
	free(n->text);
	free(n->at);
	*n = (struct metrics){ 0 };
}

double
metrics_get(const struct metrics *n, const char *format, ...)
{
	char	name[200];
	va_list	args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	for (size_t i = 0; i < n->n; i++)
		if (strcmp(n->at[i].name, name) == 0)
			return n->at[i].value;
	return 0;
}
