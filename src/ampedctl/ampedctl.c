/*
 * ampedctl: sends the commands of src/shared/commands.tbl to a running server.
 *
 * ampedctl knows no state of the server: all that it prints comes from there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "ampedctl/client.h"
#include "ampedctl/preloading.h"
#include "ampedctl/status.h"
#include "conf/errors.h"
#include "lib/options.h"
#include "lib/str.h"
#include "lib/visible.h"

#define FIELDS_MAX	50

/* The server knows only paths. */
#define PRELOAD_ARGUMENTS	"[[-n number] -i file] [path ...]"

/* Of a list of commands: a longer name has a line of its own. */
#define NAME_WIDTH	19
#define NAME_INDENT	"                     "

struct options {
	struct client_target	 target;
	bool		 json;			/* -j */
	const char	*fields[FIELDS_MAX];	/* -H */
	size_t		 nfields;
	const char	*list;			/* -i */
	size_t		 hottest;		/* -n; 0: all */
	enum control_command command;
	char		**words;		/* after the command */
	size_t		 n;
};

static void
list_commands(FILE *out)
{
	char	name[80];
	int	n;

	for (size_t i = 0; i < CONTROL_COUNT; i++) {
		n = snprintf(name, sizeof(name), "%s %s", control_rows[i].name,
		    control_rows[i].arguments);
		fprintf(out, "  %-*s%s%s\n", NAME_WIDTH, name,
		    n < NAME_WIDTH ? "" : "\n" NAME_INDENT,
		    control_rows[i].help);
	}
}

static const struct options_row	option_table[] = {
	{ 'f', NULL, "conf", "Reads the socket's name in this conf, not in\n"
	    "                    " AMPED_CONF "." },
	{ 'H', NULL, "field", "With explain: adds a field to the request." },
	{ 'i', NULL, "file", "With preload: takes paths from a file; - is "
	    "standard\n                    input." },
	{ 'j', NULL, NULL, "With status: prints JSON." },
	{ 'L', NULL, NULL, "Lists the commands, one a line." },
	{ 'n', NULL, "number", "With preload: takes so many of the paths that "
	    "are asked for\n                    most by an access log, the "
	    "file of -i." },
	{ 's', NULL, "socket", "Uses this socket, and reads no conf." },
	OPTIONS_COMMON
};

static _Noreturn void
usage(int status)
{
	FILE	*out = status == 0 ? stdout : stderr;

	fprintf(out, "usage: ampedctl [-j] [-f conf] [-s socket] [-H field] "
	    "... command [word ...]\n"
	    "       ampedctl [-f conf] [-s socket] preload " PRELOAD_ARGUMENTS
	    "\n"
	    "       ampedctl -L | -V | -h\n\n");
	options_print(out, option_table);
	fputc('\n', out);
	list_commands(out);
	exit(status);
}

/* For completion: name, arguments and help, separated by tabs. */
static _Noreturn void
list_rows(void)
{
	for (size_t i = 0; i < CONTROL_COUNT; i++)
		printf("%s\t%s\t%s\n", control_rows[i].name,
		    control_rows[i].arguments, control_rows[i].help);
	exit(0);
}

static _Noreturn void
print_version(void)
{
	printf("ampedctl %s\n", PACKAGE_VERSION);
	exit(0);
}

static _Noreturn void
refuse_command(const char *word)
{
	const char	*near = NULL;

	for (size_t i = 0; i < CONTROL_COUNT; i++)
		near = conf_error_nearer(word, near, control_rows[i].name);
	fprintf(stderr, "ampedctl: there is no command \"%s\"; ", word);
	if (near != NULL)
		fprintf(stderr, "did you mean \"%s\"?\n", near);
	else
		fprintf(stderr, "ampedctl help lists them\n");
	exit(EX_USAGE);
}

static _Noreturn void
refuse_option(const char *why)
{
	fprintf(stderr, "ampedctl: %s; ampedctl -h lists the options\n", why);
	exit(EX_USAGE);
}

static void
check_options(const struct options *o)
{
	if (o->nfields > 0 && o->command != CONTROL_EXPLAIN)
		refuse_option("-H is for the command explain");
	if (o->json && o->command != CONTROL_STATUS)
		refuse_option("-j is for the command status");
	if ((o->list != NULL || o->hottest > 0) &&
	    o->command != CONTROL_PRELOAD)
		refuse_option("-i and -n are for the command preload");
	if (o->hottest > 0 && o->list == NULL)
		refuse_option("-n needs an access log: -i names it");
}

static void
parse_command(struct options *o, char **words, size_t n)
{
	const struct control_row	*row;

	if (n == 0)
		usage(EX_USAGE);
	o->command = control_find(words[0]);
	if (o->command == CONTROL_COUNT)
		refuse_command(words[0]);
	check_options(o);
	o->words = words + 1;
	o->n = n - 1;
	row = &control_rows[o->command];
	/* Paths have no limit: they can go into several requests. */
	if ((o->n >= row->min || o->list != NULL) && (o->n <= row->max ||
	    row->max == CONTROL_WORDS_MAX))
		return;
	fprintf(stderr, "usage: ampedctl %s %s\n", row->name,
	    o->command == CONTROL_PRELOAD ? PRELOAD_ARGUMENTS :
	    row->arguments);
	exit(EX_USAGE);
}

static void
set_hottest(struct options *o, const char *text)
{
	int64_t	number;

	if (!str_number(str_of(text), &number) || number == 0)
		refuse_option("the value of -n is a number from 1");
	o->hottest = (size_t)number;
}

static void
set_option(struct options *o, int option)
{
	switch (option) {
	case 'H':
		if (strchr(optarg, ':') == NULL)
			refuse_option("a field of -H is written name: value");
		if (o->nfields == FIELDS_MAX)
			usage(EX_USAGE);
		o->fields[o->nfields++] = optarg;
		break;
	case 'L':
		list_rows();
	case 'V':
		print_version();
	case 'f':
		o->target.conf = optarg;
		break;
	case 'h':
		usage(0);
	case 'i':
		o->list = optarg;
		break;
	case 'j':
		o->json = true;
		break;
	case 'n':
		set_hottest(o, optarg);
		break;
	case 's':
		o->target.socket = optarg;
		break;
	default:
		usage(EX_USAGE);
	}
}

/* Options may stand behind the command preload, too. */
static void
parse_options(int argc, char **argv, struct options *o)
{
	char	**words;
	int	  option;

	while ((option = options_next(argc, argv, option_table, true)) != -1)
		set_option(o, option);
	words = argv + optind;
	if (optind < argc && strcmp(words[0], "preload") == 0) {
		optind++;
		while ((option = options_next(argc, argv, option_table,
		    true)) != -1)
			set_option(o, option);
		words = argv + optind - 1;
		words[0] = (char *)(uintptr_t)"preload";
	}
	parse_command(o, words, (size_t)(argv + argc - words));
}

/* Prints a success to standard output, an error to standard error. */
static void
print_answer(int status, struct buf *text, struct buf *more)
{
	FILE	*out = status == 0 ? stdout : stderr;

	if (text->len > 0) {
		fputs(status == 0 ? "" : "ampedctl: ", out);
		visible_print(out, text->at, text->len);
		fputc('\n', out);
	}
	visible_print(out, more->at, more->len);
}

static int
ask_words(struct options *o, const char *const *words, size_t n)
{
	struct buf	text = { 0 }, more = { 0 };
	bool		stay = o->command == CONTROL_STOP ||
			    o->command == CONTROL_DRAIN;
	int		status = client_ask(&o->target, words, n, stay, &text,
			    &more);

	print_answer(status, &text, &more);
	if (stay && status == 0)
		printf("stopped\n");
	buf_free(&text);
	buf_free(&more);
	return status;
}

/* Sends as many paths in one request as its line can hold. */
static int
ask_paths(struct options *o)
{
	const char	*words[CLIENT_PATHS_MAX + 1];
	size_t		 n, len, i = 0;
	int		 status = 0, worst = 0;

	words[0] = control_rows[o->command].name;
	while (i < o->n) {
		len = strlen(o->words[i]);
		n = 1;
		do {
			words[n++] = o->words[i++];
			len += i < o->n ? strlen(o->words[i]) + 1 : 0;
		} while (i < o->n && n <= CLIENT_PATHS_MAX &&
		    len < CLIENT_BYTES_MAX);
		status = ask_words(o, words, n);
		if (status != 0)
			worst = status;
	}
	return worst;
}

static int
ask_plain(struct options *o)
{
	const char	*words[CONTROL_WORDS_MAX];
	size_t		 n = 0;

	words[n++] = control_rows[o->command].name;
	for (size_t i = 0; i < o->nfields; i++)
		words[n++] = o->fields[i];
	for (size_t i = 0; i < o->n; i++)
		words[n++] = o->words[i];
	if (o->n == 0 && o->json)
		words[n++] = "json";
	return ask_words(o, words, n);
}

int
main(int argc, char **argv)
{
	struct options	o = { 0 };

	parse_options(argc, argv, &o);
	switch (o.command) {
	case CONTROL_HELP:
		usage(0);
	case CONTROL_VERSION:
		printf("ampedctl %s\n", PACKAGE_VERSION);
		fflush(stdout);
		return ask_plain(&o);
	case CONTROL_STATUS:
		return o.json || o.n > 0 ? ask_plain(&o) :
		    status_show(&o.target);
	case CONTROL_TOP:
		return status_top(&o.target, o.n > 0 ? o.words[0] : NULL);
	case CONTROL_PRELOAD:
		return preloading_run(&(struct preloading_setup){
		    .target = &o.target, .words = o.words, .n = o.n,
		    .list = o.list, .hottest = o.hottest });
	case CONTROL_PURGE:
		return ask_paths(&o);
	default:
		return ask_plain(&o);
	}
}
