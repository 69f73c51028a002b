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
feed_bytes(const struct amped_filter *module, void *state, struct buf *input)
{
	struct str	rest = { input->at, input->len };
	size_t		n;

	for (; rest.len > 0; str_skip(&rest, n)) {
		n = MIN(rest.len, PIECE);
		if (module->feed(state, rest.at, n) != 0)
			return -1;
	}
	input->len = 0;
	return 0;
}

/* Tells a module that has got something that the input pauses. */
static void
flush_module(const struct amped_filter *module, void *state)
{
	if (module->flush != NULL && filter_is_pausing())
		module->flush(state);
}

static int
feed_module(const struct amped_filter *module,
    const struct amped_filter_host *host)
{
	void		*state = module->begin(host);
	struct buf	 input = { 0 };
	bool		 wrong = state == NULL;

	while (!wrong && filter_next(&input)) {
		wrong = feed_bytes(module, state, &input) != 0;
		if (!wrong)
			flush_module(module, state);
	}
	if (state != NULL && module->end(state) != 0)
		wrong = true;
	buf_free(&input);
	return wrong ? EX_DATAERR : EX_OK;
}

int
module_filter(int n, char **words)
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
	return feed_module(module, &host);
}
