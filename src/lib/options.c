/*
 * options: a table for getopt_long(3), and for people.
 */
#include <getopt.h>

#include "lib/need.h"
#include "lib/options.h"

#define ROWS_MAX	32
#define NAMES_MAX	4
#define WIDTH		16		/* of an option with its argument */

int
options_next(int argc, char **argv, const struct options_row *rows,
    bool all_first)
{
	char		 letters[2 + 2 * ROWS_MAX], *at = letters;
	struct option	 names[NAMES_MAX + 1] = { { 0 } };
	size_t		 n = 0;

	if (all_first)
		*at++ = '+';
	for (const struct options_row *r = rows; r->letter != 0; r++) {
		need(r - rows < ROWS_MAX);
		*at++ = r->letter;
		if (r->argument != NULL)
			*at++ = ':';
		if (r->name == NULL)
			continue;
		need(n < NAMES_MAX);
		names[n++] = (struct option){ r->name, r->argument != NULL ?
		    required_argument : no_argument, NULL, r->letter };
	}
	*at = '\0';
	return getopt_long(argc, argv, letters, names, NULL);
}

void
options_print(FILE *out, const struct options_row *r)
{
	char	option[80];
	int	n;

	for (; r->letter != 0; r++) {
		n = snprintf(option, sizeof(option), "-%c%s%s%s%s", r->letter,
		    r->name != NULL ? ", --" : "",
		    r->name != NULL ? r->name : "",
		    r->argument != NULL ? " " : "",
		    r->argument != NULL ? r->argument : "");
		fprintf(out, "  %-*s", WIDTH, option);
		if (n > WIDTH)
			fprintf(out, "\n  %*s", WIDTH, "");
		fprintf(out, "  %s\n", r->help);
	}
}
