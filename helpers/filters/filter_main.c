/*
 * filter_main: runs a filter by its name.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "helpers/filters/filter.h"

/* Of a filter that needs all of its input at once. */
static int
run_whole(int (*filter)(struct str))
{
	struct buf	input = { 0 };
	int		status;

	while (filter_next(&input))
		filter_limit(input.len);
	status = filter((struct str){ buf_string(&input), input.len });
	buf_free(&input);
	return status;
}

static int
run_filter(int n, char **words)
{
	if (n == 1 && strcmp(words[0], "ssi") == 0)
		return run_whole(ssi_filter);
	if (n == 3 && strcmp(words[0], "replace") == 0)
		return replace_filter(words[1], words[2]);
	if (n == 3 && strcmp(words[0], "charset") == 0)
		return charset_filter(words[1], words[2]);
	if (n == 1 && strcmp(words[0], "markdown") == 0)
		return run_whole(markdown_filter);
	if (n >= 2 && strcmp(words[0], "module") == 0)
		return module_filter(n - 1, words + 1);
	if (n == 2 && strcmp(words[0], "fastcgi") == 0)
		return application_filter();
	fputs("usage: amped-helper filter ssi | markdown | replace FROM TO | "
	    "charset FROM TO | module FILE [ARGUMENT ...] | fastcgi NAME\n",
	    stderr);
	return EX_USAGE;
}

int
filter_main(int n, char **words)
{
	int	status = run_filter(n, words);

	if (status == EX_OK)
		filter_flush();
	return status;
}
