/*
 * metrics: lines cut into names and values.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ampedctl/metrics.h"
#include "lib/mem.h"

static void
add(struct numbers *n, const char *name, double value)
{
	n->at = mem_grow(n->at, n->n + 1, sizeof(*n->at));
	n->at[n->n++] = (struct number){ name, value };
}

void
numbers_read(struct numbers *n, struct buf *text)
{
	char	*rest, *line, *value, *end;
	double	 number;

	*n = (struct numbers){ .text = mem_string(buf_string(text)) };
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
			add(n, line, number);
	}
}

void
numbers_free(struct numbers *n)
{
	free(n->text);
	free(n->at);
	*n = (struct numbers){ 0 };
}

double
numbers_get(const struct numbers *n, const char *format, ...)
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
