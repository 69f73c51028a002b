/*
 * filters: runs of a scenario, the oldest first.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/program.h"
#include "helpers/file_version.h"
#include "lib/io.h"
#include "t/script/filters.h"
#include "t/script/words.h"
#include "t/script/world.h"

#define RUNS_MAX	8

static struct filter_run	*runs[RUNS_MAX];
static size_t			 nruns;

enum submitted
filters_run(void *context, struct filter_run *run)
{
	(void)context;
	if (nruns == RUNS_MAX)
		world_fail("too many runs of filters");
	run->task.abandon = NULL;
	runs[nruns++] = run;
	return SUBMITTED_PENDING;
}

/* Takes the oldest run. */
static struct filter_run *
take_run(void)
{
	struct filter_run	*run = runs[0];

	memmove(runs, runs + 1, --nruns * sizeof(runs[0]));
	io_close(&run->source);
	return run;
}

/* Notes a file, as a filter that reads it. */
static void
note_file(struct buf *notes, const char *name)
{
	char			 dir[PATH_MAX];
	struct stat		 st;
	struct job_version	 v;
	struct buf		 path = { 0 };

	if (realpath(world.dir, dir) == NULL)
		world_fail("%s: %s", world.dir, strerror(errno));
	buf_addf(&path, "%s/%s", dir, name);
	if (stat(buf_string(&path), &st) == -1)
		world_fail("%s: %s", name, strerror(errno));
	v = file_version_of(&st);
	buf_addf(notes, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %"
	    PRIx64 " %" PRIx32 " %" PRIx32 " %s\n", v.dev, v.ino,
	    (uint64_t)v.size, (uint64_t)v.mtime, (uint64_t)v.ctime,
	    v.mtime_ns, v.ctime_ns, path.at);
	buf_free(&path);
}

static void
end_run(int error, const char *result, bool has_left_out)
{
	struct filter_run	*run = take_run();
	char			 path[200];

	run->error = error;
	run->result = -1;
	run->has_left_out = has_left_out;
	if (error == 0) {
		snprintf(path, sizeof(path), "%s/%s", world.dir, result);
		run->result = open(path, O_RDONLY | O_CLOEXEC);
		if (run->result == -1)
			world_fail("%s: %s", path, strerror(errno));
	}
	world_finish(&run->task);
}

static void
expect_filters(char **words, size_t n)
{
	bool	nothing = n == 1 && strcmp(words[0], "nothing") == 0;

	if (nothing && nruns == 0)
		return;
	if (nothing || nruns == 0)
		world_fail("%zu runs of filters", nruns);
	if (runs[0]->n != n)
		world_fail("the run has %zu filters", runs[0]->n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(runs[0]->programs[i]->name, words[i]) != 0)
			world_fail("a filter is %s",
			    runs[0]->programs[i]->name);
}

static void
expect_variable(const char *want)
{
	struct str	rest = runs[0]->environment;

	while (rest.len > 0)
		if (str_same(str_cut(&rest, '\0'), str_of(want)))
			return;
	world_fail("there is no variable %s", want);
}

void
filters_run_line(char **words, size_t n)
{
	const char	*verb = words[0];

	if (n >= 2 && strcmp(verb, "asked") == 0)
		expect_filters(words + 1, n - 1);
	else if (nruns == 0)
		world_fail("no filters run");
	else if (n == 2 && strcmp(verb, "have") == 0)
		expect_variable(words[1]);
	else if (n == 2 && strcmp(verb, "make") == 0)
		end_run(0, words[1], false);
	else if (n == 4 && strcmp(verb, "make") == 0 &&
	    strcmp(words[2], "of") == 0) {
		note_file(&runs[0]->notes, words[3]);
		end_run(0, words[1], false);
	} else if (n == 3 && strcmp(verb, "make") == 0 &&
	    strcmp(words[2], "without-some") == 0)
		end_run(0, words[1], true);
	else if (n == 2 && strcmp(verb, "fail") == 0)
		end_run(words_error(words[1]), NULL, false);
	else
		world_fail("filters: unknown words");
}

size_t
filters_free(void)
{
	size_t	n = nruns;

	while (nruns > 0)
		end_run(ECANCELED, NULL, false);
	return n;
}
