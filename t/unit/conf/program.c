/*
 * Unit test of conf/program: values of programs, those of directives cgi, and
 * what is wrong with a block program.
 */
#include <sys/un.h>

#include <arpa/inet.h>

#include "conf/describe.h"
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
	    "stream on; cpu 6s; files 16; processes 7; authorization pass }\n"
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
	ck_assert(p->stream);
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
	    "life 1h; requests 500; nice 1 }\n"
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
	ck_assert_int_eq(p->life, 3600000);
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
	ck_assert_int_eq(p->life, 0);
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
	ck_assert(!p->stream);
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

#define CHAIN	"program b { filter /bin/head -c \"%{w}\" }\n"		\
		"chain a { filters b }\nsite y {\n"			\
		"listen *:81; root /; chain a by query \""
#define TWICE(path)							\
	"program b { filter ssi }\nprogram p { command /bin/sh }\n"	\
	"chain a { filters b b }\nsite y {\nlisten *:81; root /; " path " }"
#define BOUNDS(text)							\
	"5:39: \"" text "\": bounds of a query are written "		\
	"NAME=LOWEST-HIGHEST or NAME=WORD|WORD, once for each name, with " \
	"spaces between them"

#define OTHER(path)	"site y {\nlisten *:81; root /; " path " }"
#define ROLE(words)	"program b { fastcgi unix:/b }\n"		\
			"program a { " words " }"
#define NO_ROLE								\
	"only programs of FastCGI have that role, so it needs \"fastcgi\" " \
	"and its file or server"

/* A text in front of a site, and its only error. */
static const struct {
	const char	*text, *want;
} bads[] = {
	{ "program { command /bin/sh }",
	    "2:1: this block needs one name" },
	{ "program a b { command /bin/sh }",
	    "2:11: this block needs one name" },
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
	    "\"directory\", \"fastcgi\", \"scgi\" or \"filter\"" },
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
	    "2:21: cannot run /etc/passwd: Permission denied; chmod +x if it "
	    "is a program" },
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
	    "several words needs double quotes (\")" },
	{ "program a { command /bin/sh; user amped-nobody-has-this }",
	    "2:35: there is no user \"amped-nobody-has-this\"" },
	{ "program a { command /bin/sh; user nobody amped-has-none }",
	    "2:42: there is no group \"amped-has-none\"" },
	{ "program a { command /bin/sh; user nobody daemon x }",
	    "2:49: unexpected \"x\" behind \"user\"" },
	{ "program a { command /bin/sh; user root daemon }",
	    "2:35: no program runs with the rights of root's user or group: "
	    "name others than root daemon" },
	{ "program a { command /bin/sh; user nobody root }",
	    "2:35: no program runs with the rights of root's user or group: "
	    "name others than nobody root" },
	{ "program a { command /bin/sh; user daemon }",
	    "2:35: daemon is a user of the system, not of a person or a site: "
	    "if that is meant, write its group, too: user daemon GROUP" },
	{ "program a { fastcgi unix:/a; user nobody }",
	    "2:35: \"user\" is for processes that amped starts: others have "
	    "started unix:/a" },
	{ "program a { command /bin/sh; confine all }",
	    "2:38: \"all\" is not one of off, basic, files" },
	{ "program a { filter /nope; writes / }",
	    "2:20: cannot run /nope: No such file or directory" },
	{ "program a { command /bin/sh; writes / }",
	    "2:37: \"writes\" is for \"confine files\": without that, a may "
	    "write where its user may" },
	{ "program a { command /bin/sh; confine files; writes / /nope }",
	    "2:54: /nope: No such file or directory" },
	{ "program a { scgi unix:/a; confine files }",
	    "2:35: \"confine\" is for processes that amped starts: others "
	    "have started unix:/a" },
	{ "program a { filter sed }",
	    "2:20: \"sed\" is no filter: write a file from / on, ssi, "
	    "replace, charset, markdown, module or fastcgi" },
	{ "program a { filter replace x }",
	    "2:20: filter replace needs two words behind it" },
	{ "program a { filter module }",
	    "2:20: filter module needs a file behind it" },
	{ "program a { filter module /nope }",
	    "2:20: filter module: its file is not there, or cannot be read" },
	{ "program a { filter module a.so }",
	    "2:20: filter module: write the name of its file from / on" },
	{ "program a { filter charset latin1 utf-88 }",
	    "2:20: filter charset: this system cannot convert from the first "
	    "to the second: \"iconv -l\" lists what it can" },
	{ "program a { filter /bin/head -c %{n} }",
	    "2:34: a word with %{...} in it needs quotes" },
	{ "program a { filter /nope }",
	    "2:20: cannot run /nope: No such file or directory" },
	{ "program a { filter ssi; stream on }",
	    "2:32: \"stream\" is for programs that answer requests: this is "
	    "a filter" },
	{ "program a { command /bin/sh; optional on }",
	    "2:39: \"optional\" is for filters" },
	{ "program a { filter ssi; command /bin/sh }",
	    "2:33: command and filter exclude each other: filter is given at "
	    "t.conf:2" },
	{ "chain a { }",
	    "2:7: block chain needs \"filters\" and names of programs" },
	{ "chain a { filters b }",
	    "2:19: there is no program \"b\": write program b { filter FILE "
	    "}, outside of all blocks" },
	{ "program b { command /bin/sh }\nchain a { filters b }",
	    "3:19: program b is no filter: it needs \"filter\" in place of "
	    "what it has" },
	{ "program b { filter ssi }\nchain a { filters b }\n"
	    "chain a { filters b }",
	    "4:7: chain \"a\" is given twice" },
	{ "program b { filter ssi }\nchain a { filters b; onfail no }",
	    "3:29: \"no\" is not one of 500, pass" },
	{ "program b { filter sed }\nchain a { filters b }", "2:20: \"sed\" is "
	    "no filter: write a file from / on, ssi, replace, charset, "
	    "markdown, module or fastcgi" },
	{ "program a { filter fastcgi }",
	    "2:20: filter fastcgi needs the name of a program behind it" },
	{ "program a { filter fastcgi b }",
	    "2:20: there is no program \"b\": write program b { fastcgi FILE "
	    "}, outside of all blocks" },
	{ "program a { filter fastcgi a }",
	    "2:20: program a cannot filter: " NO_ROLE },
	{ "program b { scgi unix:/b }\nprogram a { filter fastcgi b }",
	    "3:20: program b cannot filter: " NO_ROLE },
	{ "program b { fastcgi /nope }\nprogram a { filter fastcgi b }\n"
	    "chain c { filters a }",
	    "2:21: cannot run /nope: No such file or directory" },
	{ "program a { filter fastcgi unix:/b }", "2:20: filter fastcgi needs "
	    "the name of a program: write program NAME { fastcgi "
	    "FILE-OR-SERVER }, outside of all blocks, and that name here" },
	{ ROLE("filter fastcgi b c"), "3:20: behind filter fastcgi stands the "
	    "name of a program, and nothing else" },
	{ ROLE("filter fastcgi b; most 2"), "3:36: \"most\" is for processes: "
	    "write it in block program b, which has those of this filter" },
	{ ROLE("filter fastcgi b; user nobody daemon"), "3:36: \"user\" is for "
	    "processes: write it in block program b, which has those of this "
	    "filter" },
	{ ROLE("filter fastcgi b; hold 1M"), "3:36: \"hold\" is for programs "
	    "that answer requests: this is a filter" },
	{ ROLE("filter fastcgi b") "\nprogram c { filter fastcgi b }\n"
	    "chain d { filters a c }\nprogram p { directory / }\n"
	    OTHER("path /p { run p; chain d }"), "5:21: filter c has the same "
	    "program as another filter of this chain for answers of programs, "
	    "which would wait for each other: write a program of another name "
	    "for the second" },
	{ ROLE("filter fastcgi b") "\nchain d { filters a }\n"
	    OTHER("path /p { run b; chain d }"), "4:19: filter a has the program "
	    "whose answers pass through it, which would wait for each other: "
	    "write a program of another name for the filter" },
	{ TWICE("path /p { run p; chain a }"), "4:21: filter b stands twice in "
	    "a chain for answers of programs, which would wait for each other: "
	    "write a program of another name for the second" },
	{ CHAIN "w=10-1\" }", BOUNDS("w=10-1") },
	{ CHAIN "w=1-9 w=1-8\" }", BOUNDS("w=1-9 w=1-8") },
	{ CHAIN "v=1-9\" }", "5:28: the bounds have no parameter \"w\", which "
	    "filter b has in its arguments" },
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
	{ "program a { scgi 127.0.0.1:1; life 1m }",
	    "2:36: \"life\" is for processes that amped starts: others have "
	    "started 127.0.0.1:1" },
	{ "program a { fastcgi unix:/a; idle 1m }",
	    "2:35: \"idle\" is for processes that amped starts: others have "
	    "started unix:/a" },
	{ "program a { scgi 127.0.0.1:4000; memory 1G }",
	    "2:41: \"memory\" is for processes that amped starts: others have "
	    "started 127.0.0.1:4000" },
	{ "cache { results /tmp/none/x }",
	    "2:17: /tmp/none/x: No such file or directory" },
	{ "cache { results /tmp max 1K }",
	    "2:26: 1K is out of bounds: results max takes 64K to 16384G" },
	{ "limits { spool /tmp/none/x }",
	    "2:16: /tmp/none/x: No such file or directory" },
	{ "limits { spool /tmp from }",
	    "2:21: \"from\" needs a value" },
	{ "limits { spool /tmp max 1K }",
	    "2:25: 1K is out of bounds: spool max takes 64K to 1024G" },
	{ "program a { fastcgi unix:/a; authorize a }",
	    "2:30: \"authorize\" cannot stand here: it belongs in block site "
	    "or path" },
	{ "program a { fastcgi /nope }\n"
	    "site y { listen *:81; root /; authorize a }",
	    "2:21: cannot run /nope: No such file or directory" },
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

/* A filter may stand twice in a chain for files, as these have their turns. */
START_TEST(repeated_filters)
{
	struct conf	*conf;

	conf = good(TWICE("chain a; path /p { chain off; run p }"));
	conf_free(&conf);
	conf = good(TWICE("chain a by query \"w=1-2\"; run p"));
	conf_free(&conf);
}
END_TEST

/* A filter has the manager and the places of its application. */
START_TEST(applications)
{
	struct conf			*conf;
	const struct conf_program	*filter;

	conf = good("program c { filter fastcgi b; environment X y }\n"
	    "program b { fastcgi /bin/sh; user nobody nogroup; most 3 }\n"
	    "program a { filter fastcgi b; queue 7 }\n"
	    "chain a { filters a c a }\n" OTHER("chain a"));
	filter = &conf->programs[0];
	ck_assert_ptr_eq(filter->application, &conf->programs[1]);
	ck_assert_ptr_null(filter->application->application);
	ck_assert_uint_eq(conf_program_most(filter), 3);
	ck_assert_str_eq(filter->user, "nobody");
	ck_assert_str_eq(filter->command.at[2], "fastcgi");
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(conf->programs[i].manager, 0);
		ck_assert_uint_eq(conf->programs[i].place, i);
	}
	conf_free(&conf);
}
END_TEST

/* All that is said here of a program "a", which the first site runs. */
#define DESCRIBED	"program a { %s }\nprogram b { command /bin/cat }\n" \
			"site x.org { listen *:80; root %s; run a for *.a }\n" \
			"site y.org { listen *:80; root %s; run b for *.b }\n"

static const struct {
	const char	*block, *root, *other;
} described[] = {
	{ "command /bin/sh", "/", "/" },
	{ "command /bin/sh -c", "/", "/" },
	{ "command /bin/sh \"-c x\"", "/", "/" },
	{ "command /bin/sh -c x", "/", "/" },
	{ "command /bin/sh; environment A b", "/", "/" },
	{ "command /bin/sh; environment A \"b c\"", "/", "/" },
	{ "command /bin/sh; most 7", "/", "/" },
	{ "command /bin/sh; cpu 7s", "/", "/" },
	{ "command /bin/sh; user nobody", "/", "/" },
	{ "command /bin/sh; user nobody daemon", "/", "/" },
	{ "command /bin/sh; confine off", "/", "/" },
	{ "command /bin/sh; confine files", "/", "/" },
	{ "command /bin/sh; confine files; writes /tmp", "/", "/" },
	{ "command /bin/sh; confine files; writes / /tmp", "/", "/" },
	{ "fastcgi /bin/sh; confine files", "/", "/" },
	{ "fastcgi /bin/sh; confine files", "/tmp", "/" },
	{ "command /bin/sh", "/tmp", "/" },
	{ "fastcgi /bin/sh", "/", "/" },
	{ "fastcgi /bin/sh; idle 7s", "/", "/" },
	{ "fastcgi unix:/bin/sh", "/", "/" },
	{ "scgi unix:/bin/sh", "/", "/" },
};

static void
describe(const char *block, const char *root, const char *other,
    struct buf *to)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_addf(&text, DESCRIBED, block, root, other);
	conf = good(buf_string(&text));
	conf_describe_program(conf, &conf->programs[0], to);
	conf_free(&conf);
	buf_free(&text);
}

/* Whether the descriptions of two confs are the same. */
static bool
is_same(const char *block_a, const char *root_a, const char *other_a,
    const char *block_b, const char *root_b, const char *other_b)
{
	struct buf	a = { 0 }, b = { 0 };
	bool		same;

	describe(block_a, root_a, other_a, &a);
	describe(block_b, root_b, other_b, &b);
	same = a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
	buf_free(&a);
	buf_free(&b);
	return same;
}

/* Of each program its block without the end, and the number and
 * place of its manager.  A user without a name is that of the server. */
static const struct {
	const char	*block;
	size_t		 manager, place;
} managed[] = {
	{ "program a { command /bin/sh", 0, 0 },
	{ "program b { command /bin/sh; user nobody", 1, 0 },
	{ "program c { fastcgi unix:/a", 0, 1 },
	{ "program d { command /bin/cat; user nobody", 1, 1 },
	{ "program e { command /bin/cat; user nobody daemon", 2, 0 },
	{ "program f { command /bin/sh; user daemon daemon", 3, 0 },
	{ "program g { directory /; user ", 0, 2 },
	{ "program h { command /bin/sh; user nobody daemon", 2, 1 },
	{ "program i { command /bin/sh; confine files", 4, 0 },
	{ "program j { command /bin/sh; user nobody; confine off", 5, 0 },
	{ "program k { command /bin/sh; confine basic", 0, 3 },
	{ "program l { fastcgi /bin/sh; confine files; writes /", 6, 0 },
	{ "program m { fastcgi /bin/sh", 7, 0 },
	{ "program n { fastcgi /bin/cat; idle 2m", 7, 1 },
};

/* Programs of one user have one manager, and the server's user is one. */
START_TEST(managers)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	for (int i = 0; i < COUNT(managed); i++) {
		buf_addf(&text, "%s%s }\n", managed[i].block,
		    strcmp(managed[i].block + strlen(managed[i].block) - 5,
		    "user ") == 0 ? me() : "");
	}
	buf_addf(&text, "site a.org { listen *:80; root /; cgi /bin }\n");
	conf = good(buf_string(&text));
	ck_assert_uint_eq(conf->nmanagers, 8);
	for (int i = 0; i < COUNT(managed); i++) {
		ck_assert_uint_eq(conf->programs[i].manager,
		    managed[i].manager);
		ck_assert_uint_eq(conf->programs[i].place, managed[i].place);
	}
	ck_assert_uint_eq(conf->nprograms, COUNT(managed) + 1);
	ck_assert_uint_eq(conf->programs[COUNT(managed)].manager, 0);
	ck_assert_uint_eq(conf->programs[COUNT(managed)].place, 4);
	conf_free(&conf);
	conf = good(SITE);
	ck_assert_uint_eq(conf->nmanagers, 0);
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

START_TEST(descriptions)
{
	for (int k = 0; k < COUNT(described); k++)
		ck_assert_msg(is_same(described[_i].block, described[_i].root,
		    described[_i].other, described[k].block, described[k].root,
		    described[k].other) == (_i == k), "%d, %d", _i, k);
	/* Other words for the same value. */
	ck_assert(is_same("command /bin/sh; cpu 60s", "/", "/",
	    "cpu 1m; command /bin/sh; most 0", "/", "/"));
	/* The other site's, and of a process that stays any root. */
	ck_assert(is_same("command /bin/sh", "/", "/",
	    "command /bin/sh", "/", "/tmp"));
	ck_assert(is_same("fastcgi /bin/sh", "/", "/",
	    "fastcgi /bin/sh", "/tmp", "/tmp"));
}
END_TEST

/* Directories with "..", and what is kept of them behind the temporary one. */
static const struct {
	const char	*root, *want;
	bool		 by_host;
} dots[] = {
	{ "$/sub/../www", "/www", false },
	{ "$/www/../", "/", false },
	{ "$/www/.././sub/..//www/sub/..", "/www", false },
	{ "$/way/../way", "/www/way", false },
	{ "$/way/..", "/www", false },
	{ "$/sub/../way", "/way", false },
	{ "$/way/../%host", "/www", true },
	{ "$/www/...", "/www/...", false },
};

START_TEST(dotted)
{
	char		 from[PATH_MAX + 64], to[PATH_MAX + 64], text[100];
	struct conf	*conf;

	make_directory("sub");
	make_directory("www");
	make_directory("www/sub");
	make_directory("www/way");
	make_directory("www/...");
	snprintf(from, sizeof(from), "%s/way", dir);
	snprintf(to, sizeof(to), "%s/www/sub", dir);
	ck_assert_int_eq(symlink(to, from), 0);
	snprintf(text, sizeof(text), "site a { listen *:80; root %s }\n",
	    dots[_i].root);
	conf = good(text);
	ck_assert_str_eq(conf->sites[0].rules.root + strlen(dir),
	    dots[_i].want);
	ck_assert(conf->sites[0].rules.by_host == dots[_i].by_host);
	conf_free(&conf);
	conf = good("site a { listen *:80; root /tmp/../..; path /a { "
	    "alias /../tmp } }\n");
	ck_assert_str_eq(conf->sites[0].rules.root, "/");
	ck_assert_str_eq(conf->sites[0].paths[0].rules.alias, "/tmp");
	conf_free(&conf);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, values);
	tcase_add_test(tests, protocols);
	tcase_add_test(tests, unnamed);
	tcase_add_test(tests, repeated_filters);
	tcase_add_test(tests, applications);
	tcase_add_test(tests, managers);
	tcase_add_test(tests, sendfile);
	tcase_add_loop_test(tests, bad_programs, 0, COUNT(bads));
	tcase_add_loop_test(tests, descriptions, 0, COUNT(described));
	tcase_add_loop_test(tests, dotted, 0, COUNT(dots));
}
