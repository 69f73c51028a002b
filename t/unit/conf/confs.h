/*
 * confs: shared by the unit tests of the conf: a temporary directory, and
 * functions that read texts.
 *
 * Each text is read behind a first line "user", with the user who runs the
 * test.
 */
#ifndef T_UNIT_CONF_CONFS_H
#define T_UNIT_CONF_CONFS_H

#include <sys/stat.h>

#include <ftw.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "t/unit/unit.h"

#define COUNT(array)	(int)(sizeof(array) / sizeof((array)[0]))
#define SITE		"site a.org {\nlisten *:80\nroot /\n}\n"

static char		dir[PATH_MAX];		/* the temporary directory */
static struct buf	errors;

static inline int
remove_one(const char *path, const struct stat *sb, int flag, struct FTW *ftw)
{
	(void)sb;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void
setup(void)
{
	char	name[] = "/tmp/amped-conf.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(name));
	ck_assert_ptr_nonnull(realpath(name, dir));
}

static inline void
teardown(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	buf_free(&errors);
}

static inline const char *
me(void)
{
	struct passwd	*pw = getpwuid(geteuid());

	return pw != NULL ? pw->pw_name : "nobody";
}

/* $ in the text stands for the directory. */
static inline struct conf *
read_conf(const char *text)
{
	struct buf	 all = { 0 };
	struct conf	*conf;

	buf_addf(&all, "user %s\n", me());
	for (; *text != '\0'; text++) {
		if (*text == '$')
			buf_adds(&all, dir);
		else
			buf_addc(&all, *text);
	}
	buf_free(&errors);
	conf = conf_read_text("t.conf", buf_string(&all), &errors);
	buf_free(&all);
	return conf;
}

static inline struct conf *
good(const char *text)
{
	struct conf	*conf = read_conf(text);

	ck_assert_msg(conf != NULL, "%s", buf_string(&errors));
	ck_assert_uint_eq(errors.len, 0);
	return conf;
}

static inline void
write_file(const char *name, const char *text)
{
	char	path[PATH_MAX + 64];
	FILE	*f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static inline void
make_directory(const char *name)
{
	char	path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* Every directive, parts in any order, both ends of a statement. */
static const char everything[] =
    "types $/types; type .x text/x; architecture sped; version on\t# a comment\r\n"
    "profile downloads; order by-size; spawn request; io synchronous\n"
    "sandbox required\n"
    "helpers max 9 3 idle 1500ms\n"
    "\n# another; { } \"\n"
    "cache {\n"
    "\tpaths revalidate 3s wait 1500ms\n\tpaths 77 stale 1h negative 0s\n"
    "\theads 1M; chunks 2G size 128K small 0; admit 3M\n\tpolicy gdsf; hints learn; residency never\n"
    "\tkeep /logo.svg \"/css/*\"\n"
    "\tlogins keep 2s 7; off chunk header }\n"
    "transport { backlog 99; buffer 128K; nodelay off; defer 1500ms }\n"
    "log { access off\n error $/e\\log debug }\n"
    "limits { connections 5; requests 6; line 1000; header 2K; fields 9\n"
    "idle 1m; head 2m; send 3m; disk 4s; linger 0s; drain 1d notice 2s\n"
    "verify 2; gap 5s; pace 5K after 1M\n"
    "connections address 12; rate 34 burst 56; addresses 78\n"
    "listing bytes 8K 5; digest 3K }\n"
    "site Default Example.ORG *.Example.NET {\n"
    "listen 127.0.0.1:80 [::1]:8080\nlisten *:81\n"
    "root \"$/a \\\"b\\\"\"\n"
    "index one two; index \"three 3\"; try .html .htm\n"
    "header X-One \"1, \\\\ \\\"one\\\"\"; header X-Two two#2\n"
    "header set X-Six 6 always;\n"
    "expires image/* 30d; expires */* 0s; charset latin1; nosniff off\n"
    "etag content\n"
    "error 404 400 /404.html; error 503 \"/5 3.html\"; fallback /all\n"
    "listing html; hide *.bak \"a b\"; listing json\n"
    "allow 192.0.2.0/24 ::1; deny all; auth \"A b\" $/types\n"
    "links owner; users www/pub deny root from 500 deny a.b-c\n"
    "files *.a \"b c\" { deny 192.0.2.1; auth C $/types; allow all\n"
    "header X-F f; header set X-G g; type a/b; expires 1h }\n"
    "path /a { deny 192.0.2.1; allow 10.0.0.0/8 ; index sub; header X-Three \"\"; header add X-Four 4\n"
    "header set X-Five \"five 5\"; header remove x-one remove X-Six\n"
    "expires text/html 1500ms; nosniff on; etag modified\n"
    "listing off; hide *.o; links none }\n"
    "path /a/b { auth off; alias $; error 503 /b.html; error * 4xx 599 /c; fallback off }\n"
    "path /r { charset off; redirect 302 https://x.org:8/?a= }\n"
    "path /r/s { return 410 }\n path \"/c d\" {\nroot /\n}\n"
    "}\n"
    "limits { }\n";

static inline void
make_everything(void)
{
	write_file("types", "");
	make_directory("a \"b\"");
}

#endif
