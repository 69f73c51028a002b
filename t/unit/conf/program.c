/*
 * Unit test of conf/program: values of programs, those of directives cgi, and
 * what is wrong with a block program.
 */
#include "t/unit/conf/confs.h"

START_TEST(values)
{
	struct conf			*conf;
	const struct conf_program	*p;

	conf = good("program a { command /bin/sh -c \"b c\" # d\n"
	    "environment E \"f g\"; environment _2 \"\"; most 8; queue 0\n"
	    "within 1s; answer 2s; silence 3s; hold 4K; nice 0; memory 5M\n"
	    "cpu 6s; files 16; processes 7; authorization pass }\n"
	    "program b-1.c { directory $ }\n" SITE);
	ck_assert_uint_eq(conf->nprograms, 2);
	p = &conf->programs[0];
	ck_assert_str_eq(p->name, "a");
	ck_assert_uint_eq(p->number, 0);
	ck_assert_uint_eq(p->command.n, 3);
	ck_assert_str_eq(p->command.at[0], "/bin/sh");
	ck_assert_str_eq(p->command.at[2], "b c");
	ck_assert_ptr_null(p->directory);
	ck_assert_uint_eq(p->variables.n, 2);
	ck_assert_str_eq(p->variables.at[0].name, "E");
	ck_assert_str_eq(p->variables.at[0].value, "f g");
	ck_assert_str_eq(p->variables.at[1].value, "");
	ck_assert_int_eq(p->most, 8);
	ck_assert_int_eq(p->queue, 0);
	ck_assert_int_eq(p->within, 1000);
	ck_assert_int_eq(p->answer, 2000);
	ck_assert_int_eq(p->silence, 3000);
	ck_assert_int_eq(p->hold, 4 << 10);
	ck_assert_int_eq(p->nice, 0);
	ck_assert_int_eq(p->memory, 5 << 20);
	ck_assert_int_eq(p->cpu, 6000);
	ck_assert_int_eq(p->files, 16);
	ck_assert_int_eq(p->processes, 7);
	ck_assert_int_eq(p->authorization, 1);
	p = &conf->programs[1];
	ck_assert_str_eq(p->name, "b-1.c");
	ck_assert_uint_eq(p->number, 1);
	ck_assert_str_eq(p->directory, dir);
	ck_assert_uint_eq(p->command.n, 0);
	conf_free(&conf);
}
END_TEST

/* The program of a cgi has the defaults; there is one for each directory. */
START_TEST(unnamed)
{
	struct conf			*conf;
	const struct conf_program	*p;

	make_directory("d");
	conf = good("site x { listen *:80; root /; cgi $/d; path /a { cgi $ }\n"
	    "path /b { cgi $/d } }\nprogram p { directory $ }\n");
	ck_assert_uint_eq(conf->nprograms, 3);
	ck_assert_str_eq(conf->programs[0].name, "p");
	p = &conf->programs[2];
	ck_assert_ptr_null(p->name);
	ck_assert_str_eq(p->directory, dir);
	ck_assert_uint_eq(p->number, 2);
	ck_assert_uint_eq(p->command.n, 0);
	ck_assert_uint_eq(p->variables.n, 0);
	ck_assert_int_eq(p->most, 0);
	ck_assert_int_eq(p->queue, 100);
	ck_assert_int_eq(p->within, 10000);
	ck_assert_int_eq(p->answer, 60000);
	ck_assert_int_eq(p->silence, 60000);
	ck_assert_int_eq(p->hold, 1 << 20);
	ck_assert_int_eq(p->nice, 10);
	ck_assert_int_eq(p->memory, 0);
	ck_assert_int_eq(p->cpu, 0);
	ck_assert_int_eq(p->files, 256);
	ck_assert_int_eq(p->processes, 0);
	ck_assert_int_eq(p->authorization, 0);
	conf_free(&conf);
}
END_TEST

#define LONG	"x23456789012345678901234567890123"

/* A text in front of a site, and its only error. */
static const struct {
	const char	*text, *want;
} bads[] = {
	{ "program { command /bin/sh }",
	    "2:1: \"program\" needs one name" },
	{ "program a b { command /bin/sh }",
	    "2:11: \"program\" needs one name" },
	{ "program \"\" { command /bin/sh }",
	    "2:9: \"\" is not a name for a program: 32 letters, digits, dots "
	    "and dashes at most" },
	{ "program a/b { command /bin/sh }",
	    "2:9: \"a/b\" is not a name for a program: 32 letters, digits, "
	    "dots and dashes at most" },
	{ "program " LONG " { command /bin/sh }",
	    "2:9: \"" LONG "\" is not a name for a program: 32 letters, "
	    "digits, dots and dashes at most" },
	{ "program off { command /bin/sh }",
	    "2:9: \"off\" has a meaning of its own behind \"run\": choose "
	    "another name" },
	{ "program for { command /bin/sh }",
	    "2:9: \"for\" has a meaning of its own behind \"run\": choose "
	    "another name" },
	{ "program a { command /bin/sh }\nprogram a { directory / }",
	    "3:9: program \"a\" is given twice: first at t.conf:2" },
	{ "program a { }",
	    "2:9: block program needs \"command\" and a file, or "
	    "\"directory\"" },
	{ "program a { commnd /bin/sh }",
	    "2:13: unknown word \"commnd\" in block program" },
	{ "progam a { command /bin/sh }\n"
	    "site y { listen *:81; root /; run a }",
	    "2:1: unknown word \"progam\"" },
	{ "program a {\ncommand /bin/sh\ndirectory / }",
	    "4:11: directory and command exclude each other: command is given "
	    "at t.conf:3" },
	{ "program a { command /bin/sh x\ncommand /bin/cat }",
	    "3:9: command is given twice: first at t.conf:2" },
	{ "program a { command sh -c }",
	    "2:21: \"sh\": a command is named from / on, as /usr/bin/program" },
	{ "program a { command / -c }",
	    "2:21: / is a directory, not a file" },
	{ "program a { command /nope -c }",
	    "2:21: cannot run /nope: No such file or directory" },
	{ "program a { command /etc/passwd }",
	    "2:21: cannot run /etc/passwd: Permission denied" },
	{ "program a { directory /nope }",
	    "2:23: /nope: No such file or directory" },
	{ "program a { command /bin/sh; environment 1A x }",
	    "2:42: \"1A\" is not a variable's name: letters, digits and _" },
	{ "program a { command /bin/sh; environment A=x y }",
	    "2:42: \"A=x\" is not a variable's name: letters, digits and _" },
	{ "program a { command /bin/sh; environment \"\" y }",
	    "2:42: \"\" is not a variable's name: letters, digits and _" },
	{ "program a { command /bin/sh; environment HTTP_PROXY x }",
	    "2:42: HTTP_PROXY is a field of a request: a client sets it" },
	{ "program a { command /bin/sh; environment A x; environment A y }",
	    "2:59: environment A is given twice in this block" },
	{ "program a { command /bin/sh; environment A }",
	    "2:42: \"A\" needs a value" },
	{ "program a { command /bin/sh; environment A x y }",
	    "2:46: unexpected \"y\" behind \"environment\": a value of "
	    "several words needs quotes" },
	{ "program a { command /bin/sh; authorization on }",
	    "2:44: \"on\" is not one of hide, pass" },
	{ "program a { command /bin/sh; most -1 }",
	    "2:35: \"-1\" is not a number" },
	{ "program a { command /bin/sh; nice 20 }",
	    "2:35: 20 is out of bounds: nice takes 0 to 19" },
	{ "program a { command /bin/sh; program b { } }",
	    "2:30: \"program\" cannot stand here: it belongs outside of all "
	    "blocks" },
	{ "program a { command /bin/sh; http { nice 1 } }",
	    "2:30: \"http\" is a word of nginx: leave it out, and write what "
	    "is in it outside of all blocks" },
	{ "limits { bodies 1K }",
	    "2:17: 1K is out of bounds: bodies takes 64K to 1024G" },
};

START_TEST(bad_programs)
{
	struct buf	text = { 0 };
	const char	*all, *end;

	buf_addf(&text, "%s\n" SITE, bads[_i].text);
	ck_assert_ptr_null(read_conf(buf_string(&text)));
	all = buf_string(&errors);
	ck_assert_int_eq(strncmp(all, "t.conf:", 7), 0);
	end = strchr(all, '\n');
	ck_assert_msg(strlen(bads[_i].want) == (size_t)(end - all - 7) &&
	    strncmp(all + 7, bads[_i].want, (size_t)(end - all - 7)) == 0,
	    "%s\n%s", bads[_i].want, all);
	ck_assert_msg(strstr(end, "\nt.conf:") == NULL, "%s", all);
	buf_free(&text);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, values);
	tcase_add_test(tests, unnamed);
	tcase_add_loop_test(tests, bad_programs, 0, COUNT(bads));
}
