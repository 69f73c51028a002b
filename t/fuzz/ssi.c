/*
 * Fuzz target of server-side includes: the input is a page; there are no files
 * to include.
 */
#include <sys/types.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/filters/filter.h"
#include "lib/need.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Pages and their errors, which are many, go nowhere. */
static void
filter_page(struct str page)
{
	int	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int	out = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);

	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	need(ssi_filter(page) == 0);
	dup2(out, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	close(null);
	close(out);
	close(errors);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char	*page = malloc(len + 1);

	need(page != NULL);
	memcpy(page, data, len);
	page[len] = '\0';
	filter_page((struct str){ page, len });
	free(page);
	return 0;
}
