/*
 * Tests of helpers/root: roots in homes, with a user database of the test:
 * which users have one, whose files are served, and ENOENT for all others.
 */
#include <sys/wait.h>

#include <pwd.h>
#include <stdbool.h>
#include <time.h>

#include "helpers/homes.h"
#include "helpers/job.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

enum { OTHER = 20003 };			/* a uid */

static int		asked;		/* number of look-ups */
static size_t		entry_needs;	/* bytes */
static const char	form[] = "name\0\0\0%{name}/\0%{name} \0\0\0";

static uid_t
me(void)
{
	return geteuid();
}

static const struct {
	const char	*name, *home;	/* in the tree */
	bool		 other;		/* uid OTHER */
	int		 error;
} users[] = {
	{ "joe", "joe", false, 0 },
	{ "bare", "bare", false, 0 },
	{ "file", "file", false, 0 },
	{ "shut", "shut", false, 0 },
	{ "gone", "nothing", false, 0 },
	{ "other", "other", true, 0 },
	{ "thief", "joe", true, 0 },
	{ "away", "away", false, 0 },
	{ "lost", NULL, false, 0 },
	{ "long", "joe", false, 0 },
	{ "esrch", "joe", false, ESRCH },
	{ "eperm", "joe", false, EPERM },
	{ "eio", "joe", false, EIO },
	{ "odd", "joe", false, ECONNREFUSED },
	{ "again", "joe", false, EAGAIN },
	{ "huge", "joe", false, ERANGE }
};
#define USERS	(sizeof(users) / sizeof(users[0]))

/* Replaces the function of libc. */
int
getpwnam_r(const char *name, struct passwd *user, char *entry, size_t size,
    struct passwd **found)
{
	size_t	i = 0;
	int	n;

	*found = NULL;
	asked++;
	if (asked == 1)
		return EINTR;
	if (size < entry_needs)
		return ERANGE;
	while (i < USERS && strcasecmp(users[i].name, name) != 0)
		i++;
	if (i == USERS)
		return 0;
	if (users[i].error != 0)
		return users[i].error;
	n = snprintf(entry, size, "%s%c%s", users[i].home == NULL ? "relative" :
	    tree_path(users[i].home), 0, users[i].name);
	if ((size_t)n >= size)
		return ERANGE;
	*user = (struct passwd){ .pw_dir = entry,
	    .pw_name = entry + strlen(entry) + 1,
	    .pw_uid = users[i].other ? OTHER : me() };
	*found = user;
	return 0;
}

static void
make(void)
{
	tree_begin();
	tree_dir("joe", 0755);
	tree_dir("joe/www", 0755);
	tree_dir("joe/www/sub", 0755);
	tree_file("joe/www/page", "joe's", 0644);
	tree_file("joe/www/index.html", "index", 0644);
	tree_file("joe/www/sub/x", "x", 0644);
	tree_file("joe/private", "private", 0644);
	tree_link("../private", "joe/www/out");
	tree_link("page", "joe/www/in");
	tree_dir("bare", 0755);
	tree_dir("file", 0755);
	tree_file("file/www", "", 0644);
	tree_dir("shut", 0755);
	tree_dir("shut/www", 0755);
	tree_dir("away", 0755);
	tree_link("../joe/www", "away/www");
	tree_dir("other", 0755);
	tree_dir("other/www", 0755);
	tree_file("other/www/page", "other's", 0644);
	if (me() == 0) {
		tree_file("joe/www/theirs", "theirs", 0644);
		tree_own("joe/www/theirs", OTHER);
		tree_dir("joe/www/theirdir", 0755);
		tree_own("joe/www/theirdir", OTHER);
		tree_own("other/www", OTHER);
		tree_own("other/www/page", OTHER);
	}
	ck_assert_int_eq(chmod(tree_path("shut"), 0), 0);
}

static void
unmake(void)
{
	chmod(tree_path("shut"), 0700);
	tree_end();
}

static int
resolve(struct job *job, const char *user, const char *path)
{
	job_init(job, JOB_RESOLVE);
	job->find.root = "www";
	job->find.path = path;
	job->find.user = user;
	job->find.names.at = "index.html";
	job->find.names.len = sizeof("index.html");
	asked = 0;
	job_perform(job);
	return job->error;
}

static const struct {
	const char	*user, *path;
	int		 error;
	bool		 owned;			/* only as root */
} cases[] = {
	{ "joe", "page", 0, false },
	{ "JOE", "page", ENOENT, false },
	{ "joe", "", 0, false },
	{ "joe", "in", 0, false },
	{ "joe", "none", ENOENT, false },
	{ "joe", "sub", EISDIR, false },
	{ "joe", "sub/", EISDIR, false },
	{ "joe", "sub/x", 0, false },
	{ "joe", "out", EXDEV, false },
	{ "joe", "../private", EXDEV, false },
	{ "joe", "theirs", EPERM, true },
	{ "other", "page", 0, true },
	{ "thief", "page", EPERM, false },
	{ "thief", "theirs", EPERM, true },	/* joe's directory */
	/* No such user or root. */
	{ "nobody-at-all", "page", ENOENT, false },
	{ "bare", "page", ENOENT, false },
	{ "file", "page", ENOENT, false },
	{ "gone", "page", ENOENT, false },
	{ "away", "page", ENOENT, false },
	{ "lost", "page", ENOENT, false },
	{ "esrch", "page", ENOENT, false },
	{ "eperm", "page", ENOENT, false },
	/* The user database fails. */
	{ "eio", "page", EIO, false },
	{ "odd", "page", EIO, false },
	{ "huge", "page", EIO, false },
	{ "again", "page", EAGAIN, false }
};
#define CASES	((int)(sizeof(cases) / sizeof(cases[0])))

START_TEST(answers)
{
	int		before = tree_descriptors();
	struct job	job;

	if (cases[_i].owned && me() != 0)
		return;			/* there is only one owner */
	resolve(&job, cases[_i].user, cases[_i].path);
	ck_assert_msg(job.error == cases[_i].error, "%s of %s: %s",
	    cases[_i].path, cases[_i].user, strerror(job.error));
	ck_assert((job.fd != -1) == (job.error == 0));
	close(job.fd);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

START_TEST(home_that_is_shut)
{
	struct job	job;

	tree_be_nobody();
	ck_assert_int_eq(resolve(&job, "shut", "page"), ENOENT);
}
END_TEST

START_TEST(least)
{
	struct job	job;

	resolve(&job, "thief", "page");
	ck_assert_int_eq(job.error, EPERM);
	job.find.min_uid = OTHER;
	job_perform(&job);
	ck_assert_int_eq(job.error, EPERM);
	job.find.min_uid = OTHER + 1;
	job_perform(&job);
	ck_assert_int_eq(job.error, ERANGE);
}
END_TEST

/* A large entry needs a larger buffer. */
START_TEST(long_entry)
{
	struct job	job;

	entry_needs = 100000;
	ck_assert_int_eq(resolve(&job, "long", "page"), 0);
	ck_assert_int_gt(asked, 3);
	close(job.fd);
	entry_needs = 100000000;
	ck_assert_int_eq(resolve(&job, "esrch", "page"), EIO);
	entry_needs = 0;
}
END_TEST

/* A user's files cost one look-up, and one that is not there one each. */
START_TEST(remembered)
{
	const struct timespec	 moment = { .tv_nsec = 10000000 };
	const int64_t		 end = clock_ms() + HOMES_MS;
	struct job		 job;
	int			 n = 0;

	for (int i = 0; i < 500; i++) {
		ck_assert_int_eq(resolve(&job, "joe", "page"), 0);
		close(job.fd);
		n += asked;
	}
	/* A slow machine may take longer than an answer is remembered. */
	ck_assert_int_le(n, 2 + (int)((clock_ms() - end) / HOMES_MS + 1));
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(resolve(&job, "none", "page"), ENOENT);
		ck_assert_int_ge(asked, 1);
	}
	do {
		nanosleep(&moment, NULL);
		ck_assert_int_eq(resolve(&job, "joe", "page"), 0);
		close(job.fd);
	} while (asked == 0);
	ck_assert_int_ge(clock_ms(), end);
}
END_TEST

/* The owner is checked for a file with a known version, too. */
START_TEST(known_and_given_away)
{
	struct job	job;

	if (me() != 0)
		return;			/* there is only one owner */
	tree_file("joe/www/gift", "gift", 0644);
	ck_assert_int_eq(resolve(&job, "joe", "gift"), 0);
	close(job.fd);
	job.find.has_version = true;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert(job.find.unchanged);
	tree_own("joe/www/gift", OTHER);
	job.find.has_version = true;
	job_perform(&job);
	ck_assert_int_eq(job.error, EPERM);
	unlink(tree_path("joe/www/gift"));
}
END_TEST

/* Links by the job's policy; the file must still belong to the user. */
START_TEST(links)
{
	struct job	job;

	resolve(&job, "joe", "out");
	job.find.links = JOB_LINKS_OWNER;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	close(job.fd);
	job.find.links = JOB_LINKS_NONE;
	job.find.path = "in";
	job_perform(&job);
	ck_assert_int_eq(job.error, ELOOP);
	/* The root itself may be a link. */
	resolve(&job, "away", "page");
	job.find.links = JOB_LINKS_OWNER;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	close(job.fd);
	tree_link("/etc/passwd", "joe/www/etc");
	if (me() != 0) {
		resolve(&job, "joe", "etc");
		job.find.links = JOB_LINKS_ALL;
		job_perform(&job);
		ck_assert_int_eq(job.error, EPERM);
	}
	unlink(tree_path("joe/www/etc"));
}
END_TEST

START_TEST(listing)
{
	char		text[200] = "";
	struct job	job;

	job_init(&job, JOB_LIST);
	job.find.root = "www";
	job.find.path = "";
	job.find.user = "joe";
	job.list.template = (struct str){ form, sizeof(form) };
	job.list.entries_max = 100;
	job.list.bytes_max = 10000;
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_int_gt(pread(job.fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, "sub/in index.html page ");
	close(job.fd);
	job.find.user = "thief";
	job_perform(&job);
	ck_assert_int_eq(job.error, EPERM);
	job.find.user = "bare";
	job_perform(&job);
	ck_assert_int_eq(job.error, ENOENT);
	if (me() != 0)
		return;
	job.find.user = "joe";
	job.find.path = "theirdir/";
	job_perform(&job);
	ck_assert_int_eq(job.error, EPERM);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, answers, 0, CASES);
	tcase_add_test(tests, home_that_is_shut);
	tcase_add_test(tests, least);
	tcase_add_test(tests, long_entry);
	tcase_add_test(tests, known_and_given_away);
	tcase_add_test(tests, links);
	tcase_add_test(tests, listing);
	tcase_add_test(tests, remembered);
}
