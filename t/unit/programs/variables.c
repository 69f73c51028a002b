/*
 * Tests of programs/variables: what a program gets of what main says.
 */
#include <errno.h>
#include <string.h>

#include "programs/variables.h"
#include "t/unit/unit.h"

static struct conf_pair	pairs[] = {
	{ .name = (char []){ "MODE" }, .value = (char []){ "fast" } },
	{ .name = (char []){ "SERVER_SOFTWARE" },
	    .value = (char []){ "own" } },
};
static struct conf_program programs[] = {
	{ .directory = (char []){ "/usr/lib/cgi-bin" } },
	{ .variables = { pairs, 2 } },
};
static struct conf_run	runs[] = {
	{ &programs[0], NULL }, { &programs[1], "*.a" },
};
static struct conf_path	paths[] = {
	{ .prefix = (char []){ "/a" }, .rules.alias = (char []){ "/srv/a/" },
	    .rules.run = { .list = runs, .n = 2 } },
};
/* The second one runs no program. */
static struct conf_site	sites[] = {
	{ .rules.root = (char []){ "/srv/www" }, .paths = paths, .npaths = 1 },
	{ .rules.root = (char []){ "/srv/other" } },
};
static const struct conf conf = { .sites = sites, .nsites = 2,
    .programs = programs, .nprograms = 2 };

#define PATH	"PATH=/usr/local/bin:/usr/bin:/bin"

/* Texts, one behind the other with "|"; the result, or NULL and an errno. */
static const struct {
	int		 program;
	const char	*script, *texts, *result;
	int		 error;
} cases[] = {
	{ 0, NULL, "", PATH "|", 0 },
	{ 0, NULL, "REQUEST_METHOD=GET|QUERY_STRING=|",
	    PATH "|REQUEST_METHOD=GET|QUERY_STRING=|", 0 },
	{ 0, NULL, "HTTP_ACCEPT=*/*|HTTP_X_1=a=b|",
	    PATH "|HTTP_ACCEPT=*/*|HTTP_X_1=a=b|", 0 },
	/* Other names are left out. */
	{ 0, NULL, "LD_PRELOAD=/a|PATH=/evil|IFS=x|REMOTEHOST=h|", PATH "|",
	    0 },
	/* What programs that authorize say. */
	{ 0, NULL, "AUTH_METHOD=a b|REMOTE_HOST=h|REMOTE_USER=u|",
	    PATH "|AUTH_METHOD=a b|REMOTE_HOST=h|REMOTE_USER=u|", 0 },
	{ 0, NULL, "AUTH_=a|REMOTE_=b|AUTH_a=c|REMOTE-X=d|USER_ID=1|"
	    "XAUTH_A=e|", PATH "|", 0 },
	{ 0, NULL, "HTTP_=a|HTTP_PROXY=b|HTTP_a=c|HTTP_A-B=d|HTTP_A B=e|"
	    "http_a=f|XHTTP_A=g|", PATH "|", 0 },
	{ 0, NULL, "HTTP_PROXY_X=1|", PATH "|HTTP_PROXY_X=1|", 0 },
	/* Of one name the first. */
	{ 0, NULL, "HTTP_A=1|HTTP_A=2|HTTP_AB=3|",
	    PATH "|HTTP_A=1|HTTP_AB=3|", 0 },
	/* The conf's. */
	{ 1, NULL, "SERVER_SOFTWARE=amped|MODE=slow|",
	    "MODE=fast|SERVER_SOFTWARE=own|" PATH "|", 0 },
	{ 0, "/usr/lib/cgi-bin/x", "SCRIPT_FILENAME=/srv/www/y|",
	    PATH "|SCRIPT_FILENAME=/usr/lib/cgi-bin/x|", 0 },
	/* No texts. */
	{ 0, NULL, "HTTPS|", NULL, EBADMSG },
	{ 0, NULL, "=on|", NULL, EBADMSG },
	{ 0, NULL, "|", NULL, EBADMSG },
	{ 0, NULL, "HTTPS=on", NULL, EBADMSG },
	/* Files. */
	{ 1, NULL, "DOCUMENT_ROOT=/srv/www|SCRIPT_FILENAME=/srv/www/a.php|"
	    "PATH_TRANSLATED=/srv/www/b/c..|",
	    "MODE=fast|SERVER_SOFTWARE=own|" PATH "|DOCUMENT_ROOT=/srv/www|"
	    "SCRIPT_FILENAME=/srv/www/a.php|PATH_TRANSLATED=/srv/www/b/c..|",
	    0 },
	{ 0, NULL, "DOCUMENT_ROOT=/srv/a|", PATH "|DOCUMENT_ROOT=/srv/a|", 0 },
	{ 0, NULL, "SCRIPT_FILENAME=/srv/a/b|",
	    PATH "|SCRIPT_FILENAME=/srv/a/b|", 0 },
	{ 0, NULL, "SCRIPT_FILENAME=/usr/lib/cgi-bin/x|",
	    PATH "|SCRIPT_FILENAME=/usr/lib/cgi-bin/x|", 0 },
	{ 1, NULL, "SCRIPT_FILENAME=/usr/lib/cgi-bin/x|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=/etc/passwd|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=/srv/www2/a|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=/srv/other/a|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=/srv|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=/srv/www/../x|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=/srv/www/..|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=srv/www/a|", NULL, EACCES },
	{ 0, NULL, "SCRIPT_FILENAME=|", NULL, EACCES },
	{ 0, NULL, "DOCUMENT_ROOT=/|", NULL, EACCES },
	{ 0, NULL, "PATH_TRANSLATED=/etc/passwd|", NULL, EACCES },
};

START_TEST(makes_the_environment)
{
	char		texts[300], got[300] = "";
	struct str	all = { texts, strlen(cases[_i].texts) };
	char		**list;

	strcpy(texts, cases[_i].texts);
	for (size_t i = 0; i < all.len; i++)
		if (texts[i] == '|')
			texts[i] = '\0';
	list = variables_make(&conf, &programs[cases[_i].program], all,
	    cases[_i].script);
	if (list == NULL) {
		ck_assert_int_eq(errno, cases[_i].error);
		ck_assert(cases[_i].result == NULL);
		return;
	}
	for (char **at = list; *at != NULL; at++)
		strcat(strcat(got, *at), "|");
	ck_assert_ptr_ne(cases[_i].result, NULL);
	ck_assert_str_eq(got, cases[_i].result);
	variables_free(&list);
	ck_assert_ptr_eq(list, NULL);
}
END_TEST

START_TEST(finds_a_variable)
{
	char	*list[] = { (char []){ "AB=1" }, (char []){ "A=2" }, NULL };

	ck_assert_str_eq(variables_get(list, "A"), "2");
	ck_assert_str_eq(variables_get(list, "AB"), "1");
	ck_assert_ptr_eq(variables_get(list, "B"), NULL);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, makes_the_environment, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tests, finds_a_variable);
}
