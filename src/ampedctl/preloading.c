/*
 * preloading: the names of a request, and the sum of the answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "ampedctl/lines.h"
#include "ampedctl/log_names.h"
#include "ampedctl/preloading.h"
#include "conf/conf.h"
#include "lib/io.h"
#include "lib/visible.h"

#define SHOWN	60	/* bytes of a path that is too long */

struct preloading {
	const struct preloading_setup *setup;
	bool			 terse;	/* only failures have a line */
	struct buf		 names;	/* of the next request, terminated */
	size_t			 n;
	unsigned long long	 files, bytes, failures;
	int			 status;	/* not 0: the server cannot be
						 * asked */
};

static void
print_warning(struct buf *text)
{
	fputs("ampedctl: ", stderr);
	visible_print(stderr, text->at, text->len);
	fputc('\n', stderr);
}

static void
print_failure(struct preloading *p, struct buf *text)
{
	print_warning(text);
	p->failures++;
}

/*
 * Requests
 */

/* Takes the line of a name: "NAME: 12 bytes", or why it has failed. */
static void
take_answer(struct preloading *p, const char *name, struct str line)
{
	size_t			 skip = strlen(name) + 2;
	struct buf		 text = { 0 };
	unsigned long long	 bytes;
	const char		*number;
	char			*end;

	buf_add(&text, line.at, line.len);
	number = buf_string(&text) + (line.len > skip ? skip : line.len);
	bytes = strtoull(number, &end, 10);
	if (end == number || strncmp(end, " bytes", 6) != 0)
		print_failure(p, &text);
	else {
		p->files++;
		p->bytes += bytes;
		if (!p->terse) {
			visible_print(stdout, text.at, text.len);
			putchar('\n');
		}
	}
	buf_free(&text);
}

/* Takes an answer that says that the server cannot do it. */
static void
fail_request(struct preloading *p, int status, struct buf *text)
{
	print_failure(p, text);
	p->status = status;
}

static void
send_names(struct preloading *p)
{
	const char	*words[CLIENT_PATHS_MAX + 1];
	struct buf	 text = { 0 }, more = { 0 };
	struct str	 lines;
	const char	*name = buf_string(&p->names);
	int		 status;

	if (p->n == 0 || p->status != 0)
		return;
	words[0] = "preload";
	for (size_t i = 1; i <= p->n; i++, name += strlen(name) + 1)
		words[i] = name;
	status = client_ask(p->setup->target, words, p->n + 1, false, &text,
	    &more);
	if (status != 0 && status != EX_NOINPUT)
		fail_request(p, status, &text);
	lines = (struct str){ more.at, more.len };
	for (size_t i = 1; i <= p->n && p->status == 0; i++)
		take_answer(p, words[i], str_cut(&lines, '\n'));
	fflush(stdout);
	buf_free(&text);
	buf_free(&more);
	p->names.len = 0;
	p->n = 0;
}

static void
add_name(void *context, struct str name)
{
	struct preloading	*p = context;
	struct buf		 text = { 0 };

	if (name.len >= CLIENT_BYTES_MAX) {
		buf_addf(&text, "%.*s ...: the path is too long", SHOWN,
		    name.at);
		print_failure(p, &text);
		buf_free(&text);
		return;
	}
	if (p->n == CLIENT_PATHS_MAX ||
	    p->names.len + name.len >= CLIENT_BYTES_MAX)
		send_names(p);
	buf_add(&p->names, name.at, name.len);
	buf_addc(&p->names, '\0');
	p->n++;
}

/*
 * Directories and patterns
 */

/* A line that begins with # is a warning. */
static void
add_found(struct preloading *p, struct str lines)
{
	struct buf	text = { 0 };
	struct str	line;

	while (lines.len > 0 && p->status == 0) {
		line = str_cut(&lines, '\n');
		if (line.len > 0 && line.at[0] != '#') {
			add_name(p, line);
			continue;
		}
		while (line.len > 0 && (*line.at == '#' || *line.at == ' '))
			str_skip(&line, 1);
		buf_add(&text, line.at, line.len);
		print_warning(&text);
		buf_free(&text);
	}
}

/* Adds the files that a pattern stands for.  A directory may be empty. */
static void
add_pattern(struct preloading *p, const char *pattern, bool is_directory)
{
	const char	*words[] = { "find", pattern };
	struct buf	 text = { 0 }, more = { 0 };
	int		 status = client_ask(p->setup->target, words, 2, false,
			    &text, &more);

	if (status == 0)
		add_found(p, (struct str){ more.at, more.len });
	else if (status != EX_NOINPUT && status != EX_USAGE)
		fail_request(p, status, &text);
	else if (!is_directory)
		print_failure(p, &text);
	buf_free(&text);
	buf_free(&more);
}

static bool
is_directory(const char *word)
{
	size_t	len = strlen(word);

	return len > 0 && word[len - 1] == '/';
}

static void
add_word(struct preloading *p, const char *word)
{
	struct buf	all = { 0 };

	if (strchr(word, '*') != NULL) {
		add_pattern(p, word, false);
		return;
	}
	add_name(p, str_of(word));
	if (!is_directory(word))
		return;
	buf_addf(&all, "%s*", word);
	add_pattern(p, buf_string(&all), true);
	buf_free(&all);
}

/*
 * Lists and logs
 */

static void
add_list(struct preloading *p, struct lines *l)
{
	struct buf		text = { 0 };
	struct str		line;
	enum lines_kind		kind;
	unsigned long long	number = 0;

	while ((kind = lines_next(l, &line)) != LINES_END &&
	    kind != LINES_FAILED && p->status == 0) {
		number++;
		if (line.len > 0 && line.at[line.len - 1] == '\r')
			line.len--;
		if (kind == LINES_LINE && (line.len == 0 || line.at[0] == '#'))
			continue;
		if (kind == LINES_LINE && line.len < CLIENT_BYTES_MAX &&
		    !str_has_control(line)) {
			add_name(p, line);
			continue;
		}
		buf_addf(&text, "%s, line %llu: %s", p->setup->list, number,
		    kind == LINES_LINE && line.len < CLIENT_BYTES_MAX ?
		    "a control byte stands in the path" :
		    "the line is too long");
		print_failure(p, &text);
		buf_free(&text);
	}
}

static void
warn_of_lines(const struct preloading *p, uint64_t n, const char *what)
{
	if (n > 0)
		fprintf(stderr, "ampedctl: %s: not counted are %s: %llu\n",
		    p->setup->list, what, (unsigned long long)n);
}

static void
add_hottest(struct preloading *p, struct lines *l)
{
	const char		*file = p->setup->target->conf != NULL ?
				    p->setup->target->conf : AMPED_CONF;
	struct buf		 errors = { 0 };
	struct conf		*conf = conf_read(file, &errors);
	struct log_names	*names = log_names_new(conf);
	struct str		 line;
	enum lines_kind		 kind;
	uint64_t		 too_long = 0;

	while ((kind = lines_next(l, &line)) != LINES_END &&
	    kind != LINES_FAILED)
		if (kind == LINES_LINE)
			log_names_add(names, line);
		else
			too_long++;
	warn_of_lines(p, too_long, "lines that are too long");
	warn_of_lines(p, log_names_bad(names), "lines that have no format of "
	    "the conf, and none that amped has built in");
	if (conf == NULL && log_names_bad(names) > 0)
		fprintf(stderr, "ampedctl: the conf %s cannot be read, so its "
		    "formats are not known\n", file);
	warn_of_lines(p, log_names_left_out(names), "requests for more names "
	    "than can be counted");
	log_names_tell(names, p->setup->hottest, add_name, p);
	log_names_free(&names);
	buf_free(&errors);
	if (conf != NULL)
		conf_free(&conf);
}

/* Adds the names of the list or log. */
static void
add_file(struct preloading *p)
{
	const char	*name = p->setup->list;
	bool		 is_input = strcmp(name, "-") == 0;
	struct lines	 l = { .file = is_input ? STDIN_FILENO :
			    open(name, O_RDONLY | O_CLOEXEC) };
	struct buf	 text = { 0 };

	if (l.file == -1)
		l.error = errno;
	else if (p->setup->hottest > 0)
		add_hottest(p, &l);
	else
		add_list(p, &l);
	if (l.error != 0) {
		buf_addf(&text, "%s: %s", name, strerror(l.error));
		print_failure(p, &text);
		buf_free(&text);
	}
	lines_free(&l);
	if (!is_input)
		io_close(&l.file);
}

static void
print_sum(const struct preloading *p)
{
	printf("%llu file%s, %llu bytes, %llu failure%s\n", p->files,
	    p->files == 1 ? "" : "s", p->bytes, p->failures,
	    p->failures == 1 ? "" : "s");
}

int
preloading_run(const struct preloading_setup *setup)
{
	struct preloading	p = { .setup = setup,
				    .terse = setup->list != NULL };

	for (size_t i = 0; i < setup->n; i++)
		p.terse |= strchr(setup->words[i], '*') != NULL ||
		    is_directory(setup->words[i]);
	for (size_t i = 0; i < setup->n && p.status == 0; i++)
		add_word(&p, setup->words[i]);
	if (setup->list != NULL && p.status == 0)
		add_file(&p);
	send_names(&p);
	buf_free(&p.names);
	if (p.status != 0)
		return p.status;
	print_sum(&p);
	return p.failures > 0 ? EX_NOINPUT : 0;
}
