/*
 * passages: the one passage of a scenario.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/program.h"
#include "lib/mem.h"
#include "t/script/passages.h"
#include "t/script/programs.h"
#include "t/script/words.h"
#include "t/script/world.h"

static struct played {
	struct passage	 passage;	/* first: the machine has this */
	const struct conf_program *const *programs;
	size_t		 n;
	struct buf	 environment, output;
	struct backend	*source;	/* NULL: the machine's again */
	int64_t		 length;
	size_t		 keep;
} *played;

static void
wake_waiter(void)
{
	struct client	*c = played->passage.output.waiter;

	played->passage.output.at = played->output.at;
	played->passage.output.len = played->output.len;
	if (c == NULL)
		return;
	world_wake(c, OUTCOME_READY);
	world_settle(c);
}

static void
on_source(void *context)
{
	(void)context;
	wake_waiter();
}

struct passage *
passages_pass(void *context, struct passage_start *start)
{
	(void)context;
	if (played != NULL)
		world_fail("too many passages");
	played = mem_zero(sizeof(*played));
	played->programs = start->programs;
	played->n = start->n;
	buf_add(&played->environment, start->environment.at,
	    start->environment.len);
	buf_add(&played->passage.kept, start->first.at, start->first.len);
	played->passage.slowest = start->programs[0];
	played->length = start->length;
	played->keep = start->keep;
	played->source = start->source;
	played->source->told = on_source;
	return &played->passage;
}

void
passages_take(struct passage *p, size_t n)
{
	if (p != &played->passage || n > played->output.len)
		world_fail("more is taken than there is");
	buf_consume(&played->output, n);
	p->output.len -= n;
	p->output.at = played->output.at;
}

static void
end_with(enum backend_end end, int error)
{
	struct passage	*p = &played->passage;

	p->output.end = (uint8_t)end;
	p->output.error = error;
	p->awaits_source = false;
	p->moved++;
	if (played->source != NULL)
		played->source->told = NULL;
	played->source = NULL;
}

void
passages_give_up(struct passage *p)
{
	if (p != &played->passage || p->output.end != BACKEND_RUNS)
		world_fail("there is nothing to be given up");
	end_with(BACKEND_FAILED, ETIMEDOUT);
}

void
passages_leave(struct passage **pp)
{
	if (played == NULL || *pp != &played->passage)
		world_fail("there is no such passage");
	*pp = NULL;
	passages_free();
}

bool
passages_free(void)
{
	if (played == NULL)
		return false;
	if (played->source != NULL)
		played->source->told = NULL;
	buf_free(&played->environment);
	buf_free(&played->output);
	buf_free(&played->passage.kept);
	mem_drop(&played);
	return true;
}

/* The filters take bytes of the source; what is not kept is lost. */
static void
take_source(size_t n)
{
	struct passage	*p = &played->passage;

	if (n > played->source->len)
		world_fail("the program has written less");
	p->is_lost = p->is_lost || p->kept.len + n > played->keep;
	if (!p->is_lost)
		buf_add(&p->kept, played->source->at, n);
	programs_driver.consume(played->source, n);
	p->moved++;
	wake_waiter();
}

static void
expect_filters(char **words, size_t n)
{
	if (n != played->n)
		world_fail("there are %zu filters", played->n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(played->programs[i]->name, words[i]) != 0)
			world_fail("a filter is %s",
			    played->programs[i]->name);
}

static void
expect_variable(const char *want)
{
	struct str	rest = { played->environment.at,
			    played->environment.len };

	while (rest.len > 0)
		if (str_same(str_cut(&rest, '\0'), str_of(want)))
			return;
	world_fail("there is no variable %s", want);
}

static void
expect_kept(const char *word)
{
	struct buf		 want = { 0 };
	const struct buf	*kept = &played->passage.kept;

	words_unquote(word, &want);
	if (want.len != kept->len || memcmp(want.at, kept->at, want.len) != 0)
		world_fail("it has %.*s", (int)kept->len, kept->at);
	buf_free(&want);
}

static void
write_output(const char *word)
{
	words_unquote(word, &played->output);
	played->passage.output.started = true;
	played->passage.moved++;
	wake_waiter();
}

/* Does what filters do. */
static bool
act(char **words, size_t n)
{
	const char	*verb = words[0];

	if (n == 2 && strcmp(verb, "takes") == 0) {
		take_source(strtoul(words[1], NULL, 10));
		return true;
	}
	if (n == 2 && strcmp(verb, "writes") == 0) {
		write_output(words[1]);
		return true;
	}
	if (n == 2 && strcmp(verb, "awaits") == 0)
		played->passage.awaits_source =
		    strcmp(words[1], "program") == 0;
	else if (n == 1 && strcmp(verb, "ends") == 0)
		end_with(BACKEND_COMPLETE, 0);
	else if (n == 1 && strcmp(verb, "breaks") == 0)
		end_with(BACKEND_BROKEN, 0);
	else if (n == 2 && strcmp(verb, "fails") == 0)
		end_with(BACKEND_FAILED, words_error(words[1]));
	else
		return false;
	played->passage.moved++;
	wake_waiter();
	return true;
}

static bool
check(char **words, size_t n)
{
	const char	*verb = words[0];

	if (n >= 2 && strcmp(verb, "asked") == 0)
		expect_filters(words + 1, n - 1);
	else if (n == 2 && strcmp(verb, "has") == 0)
		expect_variable(words[1]);
	else if (n == 2 && strcmp(verb, "gets") == 0)
		expect_kept(words[1]);
	else if (n == 2 && strcmp(verb, "length") == 0) {
		if (played->length != strtoll(words[1], NULL, 10))
			world_fail("the length is %lld",
			    (long long)played->length);
	} else
		return false;
	return true;
}

void
passages_run_line(char **words, size_t n)
{
	bool	nothing = n == 2 && strcmp(words[0], "asked") == 0 &&
		    strcmp(words[1], "nothing") == 0;

	if (nothing != (played == NULL))
		world_fail(nothing ? "there is a passage" :
		    "there is no passage");
	if (!nothing && !check(words, n) && !act(words, n))
		world_fail("not understood: passage %s", words[0]);
}
