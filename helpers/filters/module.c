/*
 * module: a filter that is a shared object, by the contract of amped-filter.h.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/param.h>
#include <sysexits.h>

#include "helpers/filters/amped-filter.h"
#include "helpers/filters/filter.h"
#include "lib/io.h"

#define PIECE	(64 * 1024)	/* bytes that a module is fed at once */

static void
depend_on(const char *file)
{
	int	fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	filter_note(file, fd);
	io_close(&fd);
}

static void
log_line(const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static int
feed_module(const struct amped_filter *module, struct str input,
    const struct amped_filter_host *host)
{
	void	*state = module->begin(host);
	int	 wrong = state == NULL;
	size_t	 n;

	while (!wrong && input.len > 0) {
		n = MIN(input.len, PIECE);
		wrong = module->feed(state, input.at, n);
		str_skip(&input, n);
	}
	if (state != NULL && module->end(state) != 0)
		wrong = 1;
	return wrong ? EX_DATAERR : EX_OK;
}

int
module_filter(struct str input, int n, char **words)
{
	const struct amped_filter_host	 host = {
		.n = n - 1, .words = (const char *const *)words + 1,
		.emit = filter_write, .depend = depend_on, .log = log_line,
		.variable = filter_variable
	};
	const struct amped_filter	*module;
	void				*object;

	object = dlopen(words[0], RTLD_NOW | RTLD_LOCAL);
	module = object != NULL ? dlsym(object, "amped_filter") : NULL;
	if (module == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return EX_CONFIG;
	}
	if (module->version != AMPED_FILTER_VERSION) {
		fprintf(stderr, "%s: made for version %u of amped-filter.h, "
		    "not for %u\n", words[0], module->version,
		    AMPED_FILTER_VERSION);
		return EX_CONFIG;
	}
	return feed_module(module, input, &host);
}
