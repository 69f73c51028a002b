/*
 * Unit test of conf/program: values of programs, those of directives cgi, and
 * what is wrong with a block program.
 */
#include <sys/un.h>

#include <arpa/inet.h>

#include "conf/server.h"
#include "helpers/job.h"
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

/* Own processes that stay; addresses on one line or several. */
START_TEST(protocols)
{
	struct sockaddr_storage		 addr;
	socklen_t			 len;
	struct conf			*conf;
	const struct conf_program	*p;

	conf = good("program own { fastcgi /bin/sh -b unix:/a; idle 2m\n"
	    "requests 500; nice 1 }\n"
	    "program fpm { fastcgi unix:/run/a 127.0.0.1:9000\n"
	    "fastcgi [::1]:9001; environment A b; most 9 }\n"
	    "program py { scgi 10.0.0.1:4000 }\n"
	    "program plain { command /bin/sh }\n" SITE);
	p = &conf->programs[0];
	ck_assert_int_eq(p->protocol, CONF_FASTCGI);
	ck_assert_uint_eq(p->servers.n, 0);
	ck_assert_uint_eq(p->command.n, 3);
	ck_assert_str_eq(p->command.at[0], "/bin/sh");
	ck_assert_str_eq(p->command.at[2], "unix:/a");
	ck_assert_int_eq(p->idle, 120000);
	ck_assert_int_eq(p->requests, 500);
	p++;
	ck_assert_int_eq(p->protocol, CONF_FASTCGI);
	ck_assert_uint_eq(p->command.n, 0);
	ck_assert_ptr_null(p->directory);
	ck_assert_uint_eq(conf_program_most(p), 9);
	ck_assert_uint_eq(p->servers.n, 3);
	ck_assert_str_eq(p->servers.at[0], "unix:/run/a");
	ck_assert(conf_server_parse(p->servers.at[0], &addr, &len));
	ck_assert_uint_eq(len, sizeof(struct sockaddr_un));
	ck_assert_str_eq(((struct sockaddr_un *)&addr)->sun_path, "/run/a");
	ck_assert(conf_server_parse(p->servers.at[1], &addr, &len));
	ck_assert_uint_eq(len, sizeof(struct sockaddr_in));
	ck_assert_uint_eq(((struct sockaddr_in *)&addr)->sin_addr.s_addr,
	    htonl(INADDR_LOOPBACK));
	ck_assert_uint_eq(((struct sockaddr_in *)&addr)->sin_port, htons(9000));
	ck_assert(conf_server_parse(p->servers.at[2], &addr, &len));
	ck_assert_int_eq(addr.ss_family, AF_INET6);
	ck_assert_uint_eq(((struct sockaddr_in6 *)&addr)->sin6_port,
	    htons(9001));
	p++;
	ck_assert_int_eq(p->protocol, CONF_SCGI);
	ck_assert_uint_eq(p->servers.n, 1);
	ck_assert_int_eq(p->idle, 300000);
	ck_assert_int_eq(p->requests, 0);
	p++;
	ck_assert_int_eq(p->protocol, CONF_CGI);
	ck_assert_uint_eq(p->servers.n, 0);
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

/* Directories of sendfile are paths behind all sites, by number. */
START_TEST(sendfile)
{
	struct conf			*conf;
	const struct conf_site		*site;
	const struct conf_rules		*rules;

	conf = good("program a { command /bin/sh }\n" SITE);
	ck_assert_uint_eq(conf->nplaces, conf->nsites);
	conf_free(&conf);
	make_directory("d");
	make_directory("d/.e");
	conf = good("program a { command /bin/sh; sendfile $/d/ / }\n"
	    "program b { command /bin/sh; sendfile $; sendfile $/d/.e }\n"
	    SITE);
	ck_assert_uint_eq(conf->programs[0].sendfile.n, 2);
	ck_assert_uint_eq(conf->programs[0].sendfile_at, 0);
	ck_assert_str_eq(conf->programs[0].sendfile.at[1], "/");
	ck_assert_uint_eq(conf->programs[1].sendfile.n, 2);
	ck_assert_uint_eq(conf->programs[1].sendfile_at, 2);
	ck_assert_uint_eq(conf->nplaces, conf->nsites + 1);
	site = &conf->sites[conf->nsites];
	ck_assert_uint_eq(site->number, conf->nsites);
	ck_assert_uint_eq(site->npaths, 4);
	rules = conf_find_rules(site, "/3/a", 4);
	ck_assert_str_eq(rules->alias, conf->programs[1].sendfile.at[1]);
	ck_assert_ptr_eq(rules->action, rules);
	ck_assert_uint_eq(rules->prefix_len, 2);
	ck_assert_int_eq(rules->links, JOB_LINKS_BENEATH);
	ck_assert(!rules->guard.active && rules->run.n == 0);
	ck_assert_int_eq(conf_find_rules(site, "/4/a", 4)->refusal, 404);
	conf_free(&conf);
}
END_TEST

#define LONG	"x23456789012345678901234567890123"

#define LONGER	LONG LONG LONG LONG	/* than sun_path */

/* A text in front of a site, and its only error. */
static const struct {
	const char	*text, *want;
} bads[] = {
	{ "program { command /bin/sh }",
	    "2:1: \"program\" needs one name" },
	{ "program a b { command /bin/sh }",
	    "2:11: \"program\" needs one name" },
	{ "program \"\" { command /bin/sh }",
	    "2:9: \"\" is not a name for a program: 32 letters, digits, "
	    "dots, dashes and _ at most" },
	{ "program a/b { command /bin/sh }",
	    "2:9: \"a/b\" is not a name for a program: 32 letters, digits, "
	    "dots, dashes and _ at most" },
	{ "program " LONG " { command /bin/sh }",
	    "2:9: \"" LONG "\" is not a name for a program: 32 letters, "
	    "digits, dots, dashes and _ at most" },
	{ "program off { command /bin/sh }",
	    "2:9: \"off\" has a meaning of its own behind \"run\": choose "
	    "another name" },
	{ "program for { command /bin/sh }",
	    "2:9: \"for\" has a meaning of its own behind \"run\": choose "
	    "another name" },
	{ "program a { command /bin/sh }\nprogram a { directory / }",
	    "3:9: program \"a\" is given twice: first at t.conf:2" },
	{ "program a { }",
	    "2:9: block program needs \"command\" and a file, "
	    "\"directory\", \"fastcgi\" or \"scgi\"" },
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
	{ "program a { command /bin/sh; sendfile /nope }",
	    "2:39: /nope: No such file or directory" },
	{ "program a { command /bin/sh; sendfile /etc/passwd }",
	    "2:39: /etc/passwd: Not a directory" },
	{ "program a { command /bin/sh; sendfile //tmp }",
	    "2:39: //tmp: write it without //, . and .., as the program names "
	    "it" },
	{ "program a { command /bin/sh; sendfile /tmp/.. }",
	    "2:39: /tmp/..: write it without //, . and .., as the program "
	    "names it" },
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
	{ "program a {\nfastcgi unix:/a\ncommand /bin/sh }",
	    "4:9: command and fastcgi exclude each other: fastcgi is given "
	    "at t.conf:3" },
	{ "program a {\nscgi unix:/a\nfastcgi unix:/a }",
	    "4:9: fastcgi and scgi exclude each other: scgi is given at "
	    "t.conf:3" },
	{ "program a {\ndirectory /\nscgi unix:/a }",
	    "4:6: scgi and directory exclude each other: directory is given "
	    "at t.conf:3" },
	{ "program a {\nfastcgi /bin/sh -b\nfastcgi unix:/a }",
	    "4:9: fastcgi is given twice: first at t.conf:3" },
	{ "program a {\nfastcgi unix:/a\nfastcgi /bin/sh -b }",
	    "4:9: \"/bin/sh\": a file of processes that amped starts excludes "
	    "servers that others start, which stand before it" },
	{ "program a { fastcgi php-cgi -b }",
	    "2:21: \"php-cgi\" is not a server: write unix:FILE or "
	    "ADDRESS:PORT" },
	{ "program a { fastcgi /nope -b }",
	    "2:21: cannot run /nope: No such file or directory" },
	{ "program a { fastcgi unix:a }",
	    "2:21: \"unix:a\": a socket is named from / on, as "
	    "unix:/run/php/php-fpm.sock" },
	{ "program a { fastcgi unix:/" LONGER " }",
	    "2:21: \"unix:/" LONGER "\" is too long for the name of a socket" },
	{ "program a { fastcgi localhost:9000 }",
	    "2:21: \"localhost:9000\" is not a server: names of hosts are not "
	    "looked up, so write numbers, as 127.0.0.1:9000" },
	{ "program a { fastcgi *:9000 }",
	    "2:21: \"*:9000\" is not a server: names of hosts are not "
	    "looked up, so write numbers, as 127.0.0.1:9000" },
	{ "program a { fastcgi [::1:9000 }",
	    "2:21: the port follows the bracket: [::1]:80" },
	{ "program a { fastcgi ::1:9000 }",
	    "2:21: an IPv6 address stands in brackets: [::1]:80" },
	{ "program a { fastcgi 9000 }",
	    "2:21: \"9000\" has no address: write 127.0.0.1:PORT for this "
	    "host" },
	{ "program a { fastcgi :9000 }",
	    "2:21: \":9000\" has no address: write 127.0.0.1:PORT for this "
	    "host" },
	{ "program a { fastcgi 127.0.0.1:0 }",
	    "2:21: \"127.0.0.1:0\": a port is a number from 1 to 65535" },
	{ "program a { fastcgi 127.0.0.1:65536 }",
	    "2:21: a port is a number up to 65535" },
	{ "program a { fastcgi tcp://127.0.0.1:9000 }",
	    "2:21: \"tcp://127.0.0.1:9000\" is not a server: write unix:FILE, "
	    "or ADDRESS:PORT alone" },
	{ "program a { scgi /bin/sh }",
	    "2:18: \"/bin/sh\" is a file, and amped starts no programs for "
	    "scgi: write unix:FILE or ADDRESS:PORT of one that runs" },
	{ "program a { scgi localhost:4000 }",
	    "2:18: \"localhost:4000\" is not a server: names of hosts are not "
	    "looked up, so write numbers, as 127.0.0.1:9000" },
	{ "program a { command /bin/sh; idle 1m }",
	    "2:35: \"idle\" is for processes that stay: those of fastcgi and "
	    "a file" },
	{ "program a { directory /; requests 1 }",
	    "2:35: \"requests\" is for processes that stay: those of fastcgi "
	    "and a file" },
	{ "program a { fastcgi unix:/a; idle 1m }",
	    "2:35: \"idle\" is for processes that amped starts: others have "
	    "started unix:/a" },
	{ "program a { scgi 127.0.0.1:4000; memory 1G }",
	    "2:41: \"memory\" is for processes that amped starts: others have "
	    "started 127.0.0.1:4000" },
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
	tcase_add_test(tests, protocols);
	tcase_add_test(tests, unnamed);
	tcase_add_test(tests, sendfile);
	tcase_add_loop_test(tests, bad_programs, 0, COUNT(bads));
}
