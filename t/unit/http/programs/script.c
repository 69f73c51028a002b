/*
 * Tests of http/programs/script: what a lookup notes of a path that leads to a
 * program, and what that path runs.  The disk is the real one.
 */
#include <fcntl.h>

#include "http/http.h"
#include "http/lookup.h"
#include "http/programs/script.h"
#include "http/rules.h"
#include "http/setup.h"
#include "lib/mem.h"
#include "proto/why.h"
#include "t/unit/conf/confs.h"

static struct conf_program	 php = { .number = 0 };
static struct conf_program	 git = { .number = 1 };
static struct conf_program	 cgi = { .number = 2 };
static struct conf_run		 by_name[] = { { &php, "*.php" } };
static struct conf_run		 for_all[] = { { &git, NULL } };
static struct conf_run		 of_directory[] = { { &cgi, NULL } };
static struct conf		*conf;
static struct http_loop		*http;
static struct clock		 now;
static int			 jobs;

static enum submitted
perform(void *context, struct task *t)
{
	(void)context;
	jobs++;
	job_perform(&t->job);
	t->complete(t);
	t->free(t);
	return SUBMITTED_COMPLETED;
}

static void
put_file(const char *name, mode_t mode)
{
	char	path[PATH_MAX + 64];
	int	fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void
put_directory(const char *name)
{
	char	path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* Has the rules of a path run programs. */
static void
set_run(const char *path, struct conf_run *list, size_t n)
{
	struct conf_rules	*rules;

	rules = (struct conf_rules *)(uintptr_t)conf_find_rules(
	    &conf->sites[0], path, strlen(path));
	free(rules->run.cgi);
	rules->run.list = list;
	rules->run.n = n;
	/* Which block says it counts, not what that says. */
	rules->run.cgi = n > 0 ? mem_string("") : NULL;
}

static void
open_site(void)
{
	static char	directory[PATH_MAX + 16];
	char		text[3 * PATH_MAX + 400];

	setup();
	put_directory("www");
	put_directory("www/dir");
	put_directory("www/a.org");
	put_directory("bin");
	put_directory("bin/sub");
	put_file("www/a.php", 0644);
	put_file("www/b c.php", 0644);
	put_file("www/page", 0644);
	put_file("www/dir/index.php", 0644);
	put_file("www/dir/page.php", 0644);
	put_file("www/a.org/h.php", 0644);
	put_file("bin/run", 0755);
	put_file("bin/data", 0644);
	put_file("bin/sub/run", 0755);
	put_file("bin/sub/index.php", 0755);
	snprintf(directory, sizeof(directory), "%s/bin", dir);
	cgi.directory = directory;
	snprintf(text, sizeof(text), "site a.org { listen *:80; root %s/www\n"
	    "index index.html index.php; try .php; listing html\n"
	    "path /git { }\npath /cgi { }\n"
	    "path /host { root %s/www/%%host }\n"
	    "path /as { alias %s/www/dir } }\n", dir, dir, dir);
	conf = good(text);
	set_run("/x", by_name, 1);
	set_run("/as/x", by_name, 1);
	set_run("/git/x", for_all, 1);
	set_run("/cgi/x", of_directory, 1);
	clock_update_us(&now);
	http = http_new(&(struct http_setup){ .conf = conf, .clock = &now,
	    .disk = { .submit = perform }, .descriptors = 10, .notify = -1 });
	jobs = 0;
}

static void
close_site(void)
{
	static const char *const paths[] = { "/x", "/as/x", "/git/x",
				    "/cgi/x", "/host/x" };

	http_free(&http);
	for (int i = 0; i < COUNT(paths); i++)
		set_run(paths[i], NULL, 0);
	conf_free(&conf);
	teardown();
}

/* The path's result; the caller releases the path. */
static struct path *
look(const char *host, const char *target, struct path_info *a)
{
	struct pathname_cache	*paths = &http->caches->paths;
	struct buf		 b = { 0 };
	struct path		*p;

	p = pathname_add(paths, 0, rules_add_name(&b, str_of(host),
	    str_of(target)), conf_find_rules(&conf->sites[0], target,
	    strlen(target)), false);
	ck_assert_ptr_null(lookup_start(http, p, false, LOOKUP_SMALL,
	    false));
	path_info_get(paths, p, 0, a);
	buf_free(&b);
	return p;
}

/* The host is a.org.  File beneath the temporary directory, or NULL. */
static const struct {
	const char	*target;
	const struct conf_program *program;
	const char	*file, *index;
	size_t		 script_len;
	int		 jobs;
} programs[] = {
	{ "/git", &git, NULL, "", 4, 0 },
	{ "/git/", &git, NULL, "", 4, 0 },
	{ "/git/a.php/b", &git, NULL, "", 4, 0 },
	{ "/cgi/run", &cgi, "run", "", 8, 1 },
	{ "/cgi/run/", &cgi, "run", "", 8, 1 },
	{ "/cgi/run/in/fo", &cgi, "run", "", 8, 1 },
	{ "/cgi/sub/run/i", &cgi, "sub/run", "", 12, 1 },
	{ "/a.php", &php, "/www/a.php", "", 6, 1 },
	{ "/%61.php/%69nfo", &php, "/www/a.php", "", 6, 1 },
	{ "//x/../a.php//i/./j", &php, "/www/a.php", "", 6, 1 },
	{ "/b%20c.php/d%20e", &php, "/www/b c.php", "", 8, 1 },
	{ "/a.php/", &php, "/www/a.php", "", 6, 1 },
	{ "/a", &php, "/www/a.php", ".php", 2, 1 },
	{ "/dir/", &php, "/www/dir/index.php", "index.php", 5, 1 },
	{ "/dir/page.php/x", &php, "/www/dir/page.php", "", 13, 1 },
	{ "/as/", &php, "/www/dir/index.php", "index.php", 4, 1 },
	{ "/as/page.php/x", &php, "/www/dir/page.php", "", 12, 1 },
};

START_TEST(program)
{
	struct path_info	 a;
	struct path		*p = look("a.org", programs[_i].target, &a);
	struct script		 s;
	size_t			 n = strlen(dir);

	ck_assert_int_eq(a.kind, PATHNAME_PROGRAM);
	ck_assert_int_eq(jobs, programs[_i].jobs);
	script_find(p, &a, &s);
	ck_assert_int_eq(jobs, programs[_i].jobs);	/* a hit costs none */
	ck_assert_ptr_eq(s.program, programs[_i].program);
	ck_assert_uint_eq(s.script_len, programs[_i].script_len);
	ck_assert_str_eq(s.index, programs[_i].index);
	if (programs[_i].file == NULL)
		ck_assert_ptr_null(s.file);
	else if (programs[_i].file[0] != '/')
		ck_assert_str_eq(s.file, programs[_i].file);
	else {
		ck_assert_int_eq(strncmp(s.file, dir, n), 0);
		ck_assert_str_eq(s.file + n, programs[_i].file);
	}
	free(s.file);
	pathname_release(&http->caches->paths, &p);
}
END_TEST

static const struct {
	const char		*target;
	enum pathname_kind	 kind;
	int			 status;
	enum why		 why;
} others[] = {
	{ "/page", PATHNAME_FILE, 0, WHY_NONE },
	{ "/dir", PATHNAME_DIRECTORY, 0, WHY_NONE },
	{ "/cgi", PATHNAME_REFUSED, 403, WHY_NO_INDEX },
	{ "/cgi/sub", PATHNAME_REFUSED, 403, WHY_NO_INDEX },
	{ "/cgi/sub/", PATHNAME_REFUSED, 403, WHY_NO_INDEX },
	{ "/cgi/", PATHNAME_REFUSED, 403, WHY_NO_INDEX },
	{ "/cgi/data", PATHNAME_REFUSED, 403, WHY_EXECUTE },
	{ "/cgi/data/x", PATHNAME_REFUSED, 403, WHY_EXECUTE },
	{ "/cgi/none", PATHNAME_REFUSED, 404, WHY_ABSENT },
	{ "/none.php/x", PATHNAME_REFUSED, 404, WHY_ABSENT },
	{ "/page/x", PATHNAME_REFUSED, 404, WHY_NOT_DIRECTORY },
	{ "/page/a.php", PATHNAME_REFUSED, 404, WHY_NOT_DIRECTORY },
};

START_TEST(other)
{
	struct path_info	 a;
	struct path		*p = look("a.org", others[_i].target, &a);

	ck_assert_int_eq(a.kind, others[_i].kind);
	ck_assert_uint_eq(a.why, others[_i].why);
	if (a.kind != PATHNAME_FILE)
		ck_assert_int_eq(a.status, others[_i].status);
	file_drop(&a.file);
	pathname_release(&http->caches->paths, &p);
}
END_TEST

/* A root with a directory for each host: what the file has more in front. */
START_TEST(of_host)
{
	struct path_info	 a;
	struct path		*p;
	struct script		 s;

	set_run("/host/x", by_name, 1);
	put_directory("www/a.org/host");
	put_file("www/a.org/host/h.php", 0644);
	p = look("a.org", "/host/h.php/x", &a);
	ck_assert_int_eq(a.kind, PATHNAME_PROGRAM);
	script_find(p, &a, &s);
	ck_assert_uint_eq(s.script_len, strlen("/host/h.php"));
	ck_assert_str_eq(s.file + strlen(dir), "/www/a.org/host/h.php");
	free(s.file);
	pathname_release(&http->caches->paths, &p);
}
END_TEST

/* Patterns that do not fit into a job: no file is opened. */
START_TEST(too_many_patterns)
{
	static char		 pattern[JOB_PATH_MAX + 1];
	struct conf_run		 long_list[] = { { &php, pattern } };
	struct path_info	 a;
	struct path		*p;

	memset(pattern, 'x', sizeof(pattern) - 1);
	set_run("/x", long_list, 1);
	p = look("a.org", "/page", &a);
	ck_assert_int_eq(a.kind, PATHNAME_REFUSED);
	ck_assert_int_eq(a.status, 404);
	pathname_release(&http->caches->paths, &p);
}
END_TEST

/* A deleted script is noticed by the next lookup, and a new one. */
START_TEST(changes)
{
	struct path_info	 a;
	struct path		*p = look("a.org", "/a.php/x", &a);
	char			 path[PATH_MAX + 64];

	ck_assert_int_eq(a.kind, PATHNAME_PROGRAM);
	snprintf(path, sizeof(path), "%s/www/a.php", dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_ptr_null(lookup_start(http, p, false, LOOKUP_SMALL,
	    false));
	path_info_get(&http->caches->paths, p, 0, &a);
	ck_assert_int_eq(a.kind, PATHNAME_REFUSED);
	put_file("www/a.php", 0644);
	ck_assert_ptr_null(lookup_start(http, p, false, LOOKUP_SMALL,
	    false));
	path_info_get(&http->caches->paths, p, 0, &a);
	ck_assert_int_eq(a.kind, PATHNAME_PROGRAM);
	pathname_release(&http->caches->paths, &p);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, open_site, close_site);
	tcase_add_loop_test(tests, program, 0, COUNT(programs));
	tcase_add_loop_test(tests, other, 0, COUNT(others));
	tcase_add_test(tests, of_host);
	tcase_add_test(tests, too_many_patterns);
	tcase_add_test(tests, changes);
}
