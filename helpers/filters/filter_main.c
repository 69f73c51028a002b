/*
 * filter_main: runs a filter by its name.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "helpers/filters/filter.h"

static int
run_filter(struct str input, int n, char **words)
{
	if (n == 1 && strcmp(words[0], "ssi") == 0)
		return ssi_filter(input);
	if (n == 3 && strcmp(words[0], "replace") == 0)
		return replace_filter(input, words[1], words[2]);
	if (n == 3 && strcmp(words[0], "charset") == 0)
		return charset_filter(input, words[1], words[2]);
	if (n == 1 && strcmp(words[0], "markdown") == 0)
		return markdown_filter(input);
	if (n >= 2 && strcmp(words[0], "module") == 0)
		return module_filter(input, n - 1, words + 1);
	fputs("usage: amped-helper filter ssi | markdown | replace FROM TO | "
	    "charset FROM TO | module FILE [ARGUMENT ...]\n", stderr);
	return EX_USAGE;
}

int
filter_main(int n, char **words)
{
	struct buf	input = { 0 };
	int		status = EX_IOERR;

	if (filter_read(STDIN_FILENO, &input) == 0)
		status = run_filter((struct str){ buf_string(&input),
		    input.len }, n, words);
	else
		perror("cannot read the file");
	if (status == EX_OK)
		filter_flush();
	buf_free(&input);
	return status;
}
