/*
 * Tests of helpers/verify: right and wrong passwords of several kinds, and
 * files that are no password files.
 */
#ifdef HAVE_CRYPT_H
#include <crypt.h>
#endif
#include <string.h>
#include <unistd.h>

#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/buf.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

/* Each password is the user's name; hashes with known salts. */
static const char	text[] =
    "md5:$1$abcdefgh$2oJbH2SqfwmWAlT9wzmKT.\n"
    "sha:$6$rounds=1000$abcdefgh$Mq5muzTd3chOqBMMUSDAwk3iVczyBuhM8gkVl1OWfGj0"
    "H2tMwOzWhLA64MP.f/EtbocZHxvolTC4EUtWbj7K.1\n"
    "bf:$2y$04$abcdefghijklmnopqrstuuK30f2tfhGbvlYlgYy.BM5c2wk9KK3Fu\n"
    "apr:$apr1$abcdefgh$tBUxmNTHzLKKWPOXPJ5ZR0\n"
    "odd:$nothing$abc\n"
    "plain:plain\n"
    "star:*0\n"
    "empty:\n";

/* Counts calls that take time: at least one valid hash for each user. */
static unsigned	hashed;

char *
crypt_r(const char *password, const char *setting, struct crypt_data *data)
{
	char	*made = crypt(password, setting);

	(void)data;
	hashed += made != NULL && made[0] == '$';
	return made;
}

/* User, password; the result. */
static const struct {
	const char	*user, *password;
	int		 error;
	unsigned	 done;
} cases[] = {
	{ "md5", "md5", 0, 1 }, { "md5", "md", 0, 0 }, { "md5", "", 0, 0 },
	{ "bf", "bf", 0, 1 }, { "bf", "bF", 0, 0 },
	{ "sha", "sha", 0, 1 }, { "sha", "Sha", 0, 0 },
	{ "none", "none", 0, 0 }, { "", "", 0, 0 },
	{ "apr", "apr", ENOTSUP, 0 }, { "odd", "odd", ENOTSUP, 0 },
	{ "plain", "plain", ENOTSUP, 0 }, { "star", "star", ENOTSUP, 0 },
	{ "empty", "", ENOTSUP, 0 },
};

static void
set(struct job *job, struct buf *both, const char *user, const char *password)
{
	buf_add(both, user, strlen(user) + 1);
	buf_add(both, password, strlen(password) + 1);
	job_init(job, JOB_VERIFY);
	job->verify.both.at = both->at;
	job->verify.both.len = both->len;
}

START_TEST(verifies)
{
	struct buf	both = { 0 };
	struct job	job;

	hashed = 0;
	tree_begin();
	tree_file("passwd", text, 0644);
	set(&job, &both, cases[_i].user, cases[_i].password);
	job.verify.file = tree_path("passwd");
	job_perform(&job);
	ck_assert_uint_eq(hashed, 1);
	ck_assert_int_eq(job.error, cases[_i].error);
	ck_assert_uint_eq(job.verify.right, cases[_i].done);
	buf_free(&both);
	tree_end();
}
END_TEST

/* A password that is too long for crypt(3) is wrong, takes as long, and is no
 * error of the file. */
START_TEST(too_long)
{
	static const char *const	users[] = { "md5", "bf", "sha",
					    "none" };
	struct buf			both = { 0 };
	struct job			job;
	char				password[800];

	hashed = 0;
	memset(password, 'a', sizeof(password) - 1);
	password[sizeof(password) - 1] = '\0';
	tree_begin();
	tree_file("passwd", text, 0644);
	set(&job, &both, users[_i], password);
	job.verify.file = tree_path("passwd");
	job_perform(&job);
	ck_assert_uint_eq(hashed, 1);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.verify.right, 0);
	buf_free(&both);
	tree_end();
}
END_TEST

/* The file is read for each job. */
START_TEST(changes)
{
	struct buf	both = { 0 };
	struct job	job;

	tree_begin();
	tree_file("passwd", "", 0644);
	set(&job, &both, "md5", "md5");
	job.verify.file = tree_path("passwd");
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.verify.right, 0);
	tree_file("passwd", text, 0644);
	job_perform(&job);
	ck_assert_uint_eq(job.verify.right, 1);
	tree_file("passwd", text + 4, 0644);
	job_perform(&job);
	ck_assert_uint_eq(job.verify.right, 0);
	buf_free(&both);
	tree_end();
}
END_TEST

static const struct {
	const char	*name;
	int		 error;
} no_files[] = {
	{ "none", ENOENT }, { "fifo", EINVAL }, { "dir", EINVAL },
	{ "large", EFBIG }, { "closed", EACCES }, { "file/x", ENOTDIR },
};

START_TEST(no_file)
{
	struct buf	both = { 0 };
	struct job	job;

	tree_begin();
	tree_fifo("fifo");
	tree_dir("dir", 0755);
	tree_file("file", text, 0644);
	tree_file("large", text, 0644);
	ck_assert_int_eq(truncate(tree_path("large"), 1024 * 1024 + 1), 0);
	tree_file("closed", text, 0);
	if (no_files[_i].error == EACCES)
		tree_be_nobody();
	set(&job, &both, "md5", "md5");
	job.verify.file = tree_path(no_files[_i].name);
	job_perform(&job);
	ck_assert_int_eq(job.error, no_files[_i].error);
	ck_assert_uint_eq(job.verify.right, 0);
	buf_free(&both);
	tree_end();
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, verifies, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(t, too_long, 0, 4);
	tcase_add_test(t, changes);
	tcase_add_loop_test(t, no_file, 0,
	    sizeof(no_files) / sizeof(no_files[0]));
}
