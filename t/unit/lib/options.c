/*
 * Tests of lib/options.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "lib/options.h"
#include "t/unit/unit.h"

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static const struct options_row	rows[] = {
	{ 'a', NULL, NULL, "First." },
	{ 'f', NULL, "file", "Second." },
	{ 'x', "extra", "of a long name", "Third." },
	OPTIONS_COMMON
};

/* A command line, what its options are, and what is behind them. */
static const struct {
	const char	*words[6];
	bool		 all_first;
	const char	*options, *rest;
} cases[] = {
	{ { "-a" }, false, "a", "" },
	{ { "-af", "x" }, false, "af=x ", "" },
	{ { "-fx", "dir" }, false, "f=x ", "dir " },
	{ { "dir", "-a" }, false, "a", "dir " },
	{ { "dir", "-a" }, true, "", "dir -a " },
	{ { "-a", "--", "-f" }, false, "a", "-f " },
	{ { "--help" }, false, "h", "" },
	{ { "--version", "dir" }, false, "V", "dir " },
	{ { "--extra", "y" }, false, "x=y ", "" },
	{ { "--extra=y" }, true, "x=y ", "" },
	{ { "-b" }, false, "?", "" },
	{ { "--file" }, false, "?", "" },
	{ { "--helpless" }, false, "?", "" },
	{ { "-f" }, false, "?", "" },
};

START_TEST(parsing)
{
	char	 options[100] = "", rest[100] = "";
	char	*argv[8] = { strdup("program") };
	int	 argc = 1, option;

	for (; cases[_i].words[argc - 1] != NULL; argc++)
		argv[argc] = strdup(cases[_i].words[argc - 1]);
	optind = 0;		/* from the start again, for glibc */
	opterr = 0;
	while ((option = options_next(argc, argv, rows,
	    cases[_i].all_first)) != -1) {
		snprintf(options + strlen(options), 20, "%c", option);
		if (option == 'f' || option == 'x')
			snprintf(options + strlen(options), 20, "=%s ",
			    optarg);
	}
	for (int i = optind; i < argc; i++)
		snprintf(rest + strlen(rest), 20, "%s ", argv[i]);
	ck_assert_str_eq(options, cases[_i].options);
	ck_assert_str_eq(rest, cases[_i].rest);
	while (argc > 0)
		free(argv[--argc]);
}
END_TEST

START_TEST(help)
{
	char	*text = NULL;
	size_t	 len;
	FILE	*out = open_memstream(&text, &len);

	options_print(out, rows);
	fclose(out);
	ck_assert_str_eq(text,
	    "  -a                First.\n"
	    "  -f file           Second.\n"
	    "  -x, --extra of a long name\n"
	    "                    Third.\n"
	    "  -h, --help        Prints this.\n"
	    "  -V, --version     Prints the version.\n");
	free(text);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, parsing, 0, COUNT(cases));
	tcase_add_test(tests, help);
}
