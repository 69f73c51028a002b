/*
 * programs: the driver of programs in a scenario.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/mem.h"
#include "t/script/filters.h"
#include "t/script/passages.h"
#include "t/script/programs.h"
#include "t/script/words.h"
#include "t/script/world.h"

#define PROGRAMS_MAX	8

/* A program that a request has asked for. */
struct started {
	struct backend	 backend;	/* first: the machine has this */
	uint32_t	 number;
	struct buf	 file, environment, body, output;
	bool		 has_body;
	bool		 keeps;		/* its connection */
	bool		 sends_body;	/* what it has not read, it is sent */
	bool		 has_all;	/* of its body */
	bool		 authorizes;
};

static struct started	*programs[PROGRAMS_MAX];	/* oldest first */
static size_t		 nprograms, nended;
static int		 refusal;	/* errno of the next start; 0 */

static void
set_output(struct started *s)
{
	s->backend.at = s->output.at;
	s->backend.len = s->output.len;
}

static void
read_body(struct started *s, int fd)
{
	char	bytes[4096];
	ssize_t	n;

	s->has_body = fd != -1;
	while (fd != -1 && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(&s->body, bytes, (size_t)n);
}

static struct backend *
start_program(void *context, const struct backend_start *start, size_t hold)
{
	struct started	*s;

	(void)context;
	(void)hold;
	if (refusal != 0) {
		errno = refusal;
		refusal = 0;
		return NULL;
	}
	if (nprograms == PROGRAMS_MAX)
		world_fail("too many programs");
	s = programs[nprograms++] = mem_zero(sizeof(*s));
	s->number = start->program;
	s->keeps = start->keep;
	s->sends_body = start->sends_body;
	s->authorizes = start->authorizes;
	if (start->protocol != world.conf->programs[s->number].protocol)
		world_fail("it is asked in another protocol");
	buf_add(&s->file, start->file.at, start->file.len);
	buf_add(&s->environment, start->environment.at,
	    start->environment.len);
	read_body(s, start->body);
	return &s->backend;
}

/* All output moves, as it may with any driver. */
static void
consume_output(struct backend *b, size_t n)
{
	struct started	*s = (struct started *)b;
	struct buf	 moved = { 0 };

	if (n > s->output.len)
		world_fail("more is consumed than there is");
	buf_add(&moved, s->output.at + n, s->output.len - n);
	buf_free(&s->output);
	s->output = moved;
	set_output(s);
}

static void
send_body(struct backend *b, const char *bytes, size_t n)
{
	struct started	*s = (struct started *)b;

	if (!s->sends_body || n > b->room || s->has_all || n == 0 ||
	    b->end != BACKEND_RUNS)
		world_fail("there is no room for %zu bytes of its body", n);
	s->has_body = true;
	buf_add(&s->body, bytes, n);
	b->room -= n;
}

static void
finish_body(struct backend *b)
{
	struct started	*s = (struct started *)b;

	if (!s->sends_body || s->has_all || b->end != BACKEND_RUNS)
		world_fail("its body cannot end now");
	s->has_all = true;
	b->room = 0;
}

static void
free_started(struct started *s)
{
	buf_free(&s->file);
	buf_free(&s->environment);
	buf_free(&s->body);
	buf_free(&s->output);
	free(s);
}

static void
end_program(struct backend **bp)
{
	struct started	*s = (struct started *)*bp;

	for (size_t i = 0; i < nprograms; i++)
		if (programs[i] == s) {
			memmove(&programs[i], &programs[i + 1],
			    (--nprograms - i) * sizeof(*programs));
			break;
		}
	nended++;
	free_started(s);
	*bp = NULL;
}

const struct backends	programs_driver = {
	.start = start_program, .consume = consume_output, .send = send_body,
	.finish = finish_body, .end = end_program, .filter = filters_run,
	.pass = passages_pass, .take = passages_take,
	.give_up = passages_give_up, .leave = passages_leave
};

/* Wakes the connection that waits for a program. */
static void
wake_waiter(struct started *s)
{
	struct client	*c = s->backend.waiter;

	set_output(s);
	if (c == NULL && s->backend.told != NULL)
		s->backend.told(s->backend.told_context);
	if (c == NULL)
		return;
	world_wake(c, OUTCOME_READY);
	world_settle(c);
}

/* Whether one of the texts of the environment is that. */
static bool
has_variable(const struct started *s, struct str want)
{
	struct str	rest = { s->environment.at, s->environment.len };

	while (rest.len > 0)
		if (str_same(str_cut(&rest, '\0'), want))
			return true;
	return false;
}

static size_t
count_name(const struct started *s, struct str name)
{
	struct str	rest = { s->environment.at, s->environment.len }, text;
	size_t		n = 0;

	while (rest.len > 0) {
		text = str_cut(&rest, '\0');
		n += str_same(str_cut(&text, '='), name);
	}
	return n;
}

/* The scenario's program from now on. */
static void
set_protocol(const char *name)
{
	static const char *const names[] = {
		[CONF_CGI] = "cgi", [CONF_FASTCGI] = "fastcgi",
		[CONF_SCGI] = "scgi"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			world.conf->programs[0].protocol = (int64_t)i;
			return;
		}
	world_fail("no protocol: %s", name);
}

static void
show_environment(struct started *s)
{
	for (size_t i = 0; i < s->environment.len; i++)
		printf("%s%c", i == 0 || s->environment.at[i - 1] == '\0' ?
		    "# " : "", s->environment.at[i] == '\0' ? '\n' :
		    s->environment.at[i]);
}

static void
expect_variables(struct started *s, char **words, size_t n)
{
	struct buf	want = { 0 };
	struct str	text, rest;

	for (size_t i = 0; i < n; i++) {
		want.len = 0;
		words_unquote(words[i], &want);
		rest = text = (struct str){ want.at, want.len };
		if (has_variable(s, text) &&
		    count_name(s, str_cut(&rest, '=')) == 1)
			continue;
		show_environment(s);
		world_fail("not one variable %s", words[i]);
	}
	buf_free(&want);
}

static void
expect_no_variables(struct started *s, char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (count_name(s, str_of(words[i])) > 0)
			world_fail("there is a variable %s", words[i]);
}

static void
expect_body(const struct started *s, char **words, size_t n)
{
	struct buf	want = { 0 };

	if (strcmp(words[0], "nothing") == 0) {
		if (s->has_body)
			world_fail("there is a body");
		return;
	}
	for (size_t i = 0; i < n; i++)
		words_unquote(words[i], &want);
	if (!s->has_body || want.len != s->body.len ||
	    memcmp(want.at, s->body.at, want.len) != 0)
		world_fail("the body has %zu bytes: %.*s", s->body.len,
		    (int)(s->body.len < 100 ? s->body.len : 100), s->body.at);
	buf_free(&want);
}

static void
write_output(struct started *s, char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		words_unquote(words[i], &s->output);
	wake_waiter(s);
}

/* Writes byte by byte.  The program may be ended in the middle. */
static void
drip_output(struct started *s, char *word)
{
	struct buf	all = { 0 };
	size_t		ended = nended;

	words_unquote(word, &all);
	for (size_t i = 0; i < all.len && nended == ended; i++) {
		buf_addc(&s->output, all.at[i]);
		wake_waiter(s);
	}
	buf_free(&all);
}

static void
end_with(struct started *s, enum backend_end end)
{
	s->backend.end = (uint8_t)end;
	s->backend.room = 0;
	wake_waiter(s);
}

/* Does what a program does. */
static bool
act(struct started *s, char **words, size_t n)
{
	const char	*verb = words[0];
	int		 number = n > 1 ? atoi(words[1]) : 0;

	if (strcmp(verb, "starts") == 0) {
		s->backend.started = true;
		wake_waiter(s);
	} else if (strcmp(verb, "room") == 0 && n == 2) {
		s->backend.room = (size_t)number;
		wake_waiter(s);
	} else if (strcmp(verb, "writes") == 0 && n > 1)
		write_output(s, words + 1, n - 1);
	else if (strcmp(verb, "drips") == 0 && n == 2)
		drip_output(s, words[1]);
	else if (strcmp(verb, "exits") == 0) {
		s->backend.status = number << 8;
		end_with(s, BACKEND_COMPLETE);
	} else if (strcmp(verb, "reads-nothing") == 0) {
		s->backend.status = -1;
		s->backend.unread = true;
		end_with(s, BACKEND_BROKEN);
	} else if (strcmp(verb, "is-killed") == 0) {
		s->backend.status = n > 1 ? number : -1;
		end_with(s, BACKEND_BROKEN);
	} else if (strcmp(verb, "fails") == 0 && n == 2) {
		s->backend.error = words_error(words[1]);
		end_with(s, BACKEND_FAILED);
	} else if (strcmp(verb, "is-busy") == 0 && n == 2) {
		s->backend.retry_after = (uint32_t)number;
		end_with(s, BACKEND_BUSY);
	} else
		return false;
	return true;
}

/* Checks what was asked for. */
static bool
check(struct started *s, char **words, size_t n)
{
	const char	*verb = words[0];

	if (strcmp(verb, "asked") == 0 && n == 2) {
		if (strcmp(words[1], world.conf->programs[s->number].name) != 0)
			world_fail("it is %s",
			    world.conf->programs[s->number].name);
	} else if (strcmp(verb, "file") == 0 && n == 2) {
		if (strcmp(words[1], buf_string(&s->file)) != 0)
			world_fail("the file is %s", buf_string(&s->file));
	} else if (strcmp(verb, "has") == 0 && n > 1)
		expect_variables(s, words + 1, n - 1);
	else if (strcmp(verb, "has-no") == 0 && n > 1)
		expect_no_variables(s, words + 1, n - 1);
	else if (strcmp(verb, "keeps") == 0 && n == 2) {
		if (s->keeps != (strcmp(words[1], "yes") == 0))
			world_fail("its connection is %skept", s->keeps ? "" :
			    "not ");
	} else if (strcmp(verb, "role") == 0 && n == 2) {
		if (s->authorizes != (strcmp(words[1], "authorizer") == 0))
			world_fail("it is %sasked to authorize",
			    s->authorizes ? "" : "not ");
	} else if (strcmp(verb, "body") == 0 && n > 1)
		expect_body(s, words + 1, n - 1);
	else if (strcmp(verb, "gets") == 0 && n > 1) {
		expect_body(s, words + 1, n - 1);
		s->body.len = 0;
		s->has_body = false;
	} else if (strcmp(verb, "input") == 0 && n == 2) {
		if (s->has_all != (strcmp(words[1], "ended") == 0))
			world_fail("its body has %sended", s->has_all ? "" :
			    "not ");
	}
	else
		return false;
	return true;
}

void
programs_run_line(char **words, size_t n)
{
	if (n == 2 && strcmp(words[0], "asked") == 0 &&
	    strcmp(words[1], "nothing") == 0) {
		if (nprograms > 0)
			world_fail("a program was asked for");
		return;
	}
	if (n == 2 && strcmp(words[0], "speaks") == 0) {
		set_protocol(words[1]);
		return;
	}
	if (n == 2 && strcmp(words[0], "cannot") == 0) {
		refusal = words_error(words[1]);
		return;
	}
	if (n == 2 && strcmp(words[0], "ended") == 0) {
		if (nended != strtoul(words[1], NULL, 10))
			world_fail("%zu programs were ended", nended);
		nended = 0;
		return;
	}
	if (nprograms == 0)
		world_fail("no program runs");
	if (!check(programs[0], words, n) && !act(programs[0], words, n))
		world_fail("not understood: program %s", words[0]);
}

size_t
programs_free(void)
{
	size_t	n = nprograms;

	while (nprograms > 0)
		free_started(programs[--nprograms]);
	nended = 0;
	refusal = 0;
	return n;
}
