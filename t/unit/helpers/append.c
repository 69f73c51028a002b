/*
 * Tests of helpers/append: which log, how many bytes, and errors.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <signal.h>

#include "helpers/job.h"
#include "helpers/perform.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static void
append(struct job *job, int64_t log, const char *text)
{
	job_init(job, JOB_APPEND);
	job->append.log = log;
	job->append.bytes.at = text;
	job->append.bytes.len = strlen(text);
	job_perform(job);
}

static int
open_log(const char *name)
{
	int	fd = open(tree_path(name), O_WRONLY | O_APPEND | O_CREAT, 0600);

	ck_assert_int_ne(fd, -1);
	return fd;
}

START_TEST(each_to_its_log)
{
	int		logs[] = { open_log("access"), open_log("other") };
	struct job	job;

	job_set_logs(logs, 2);
	append(&job, 0, "one\n");
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.append.done, 4);
	append(&job, 1, "two\n");
	append(&job, 0, "three\n");
	append(&job, 1, "");
	ck_assert_int_eq(job.error, 0);
	ck_assert_str_eq(tree_text("access"), "one\nthree\n");
	ck_assert_str_eq(tree_text("other"), "two\n");
}
END_TEST

/* Lines of several logs in one job, each in its own order. */
START_TEST(lines_find_their_logs)
{
	int		logs[] = { open_log("zero"), open_log("one"),
			    open_log("two") };
	struct job	job;

	job_set_logs(logs, 3);
	append(&job, 0, "a\n\0021\002b\n\0022\002c\n\0021\002d\ne \0021\002\n"
	    "\0020\002f\n\0021\002");
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.append.done, 28);
	ck_assert_str_eq(tree_text("zero"), "a\ne \0021\002\nf\n");
	ck_assert_str_eq(tree_text("one"), "b\nd\n");
	ck_assert_str_eq(tree_text("two"), "c\n");
}
END_TEST

/* Lines of logs that there are not, or that fail, count as lost; others are
 * written. */
START_TEST(lost_lines)
{
	int		logs[] = { open_log("good"), open("/dev/full", O_WRONLY),
			    open_log("fine") };
	struct job	job;

	job_set_logs(logs, 3);
	append(&job, 0, "a\n\0021\002b\n\0022\002c\n\0021\002d\n");
	ck_assert_int_eq(job.error, ENOSPC);
	ck_assert_uint_eq(job.append.done, 7);	/* two of four lines */
	append(&job, 0, "\0023\002x\n\00299999999999999999999\002x\n"
	    "\002\002e\n");
	ck_assert_int_eq(job.error, EBADF);
	ck_assert_uint_eq(job.append.done, 5);	/* one of three */
	ck_assert_str_eq(tree_text("good"), "a\ne\n");
	ck_assert_str_eq(tree_text("fine"), "c\n");
}
END_TEST

START_TEST(unknown_log)
{
	static const int64_t unknown[] = { 1, 2, INT64_MAX, -1, INT64_MIN };
	int		log = open_log("known");
	struct job	job;

	append(&job, 0, "x");		/* no logs set yet */
	ck_assert_int_eq(job.error, EBADF);
	job_set_logs(&log, 1);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		append(&job, unknown[i], "x");
		ck_assert_int_eq(job.error, EBADF);
		ck_assert_uint_eq(job.append.done, 0);
	}
	ck_assert_str_eq(tree_text("known"), "");
}
END_TEST

START_TEST(full_disk)
{
	int		log = open("/dev/full", O_WRONLY);
	struct job	job;

	ck_assert_int_ne(log, -1);
	job_set_logs(&log, 1);
	append(&job, 0, "line\n");
	ck_assert_int_eq(job.error, ENOSPC);
	ck_assert_uint_eq(job.append.done, 0);
}
END_TEST

/* A part fits: done says how much. */
START_TEST(file_size_limit)
{
	struct rlimit	limit = { .rlim_cur = 6, .rlim_max = RLIM_INFINITY };
	int		log = open_log("limited");
	struct job	job;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 6;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	job_set_logs(&log, 1);
	append(&job, 0, "123456789\n");
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(job.error, EFBIG);
	ck_assert_uint_eq(job.append.done, 6);
	ck_assert_str_eq(tree_text("limited"), "123456");
}
END_TEST

/* A long line goes through a pipe whole, while the pipe is read. */
static void
check_large(const int fd[2])
{
	static char	data[300000], got[4096];
	struct job	job;
	size_t		sum = 0;
	int		status;
	ssize_t		n;

	memset(data, 'x', sizeof(data));
	if (fork() == 0) {
		close(fd[0]);
		job_set_logs(&fd[1], 1);
		job_init(&job, JOB_APPEND);
		job.append.bytes.at = data;
		job.append.bytes.len = sizeof(data);
		job_perform(&job);
		_exit(job.error == 0 && job.append.done == sizeof(data) ? 0 : 1);
	}
	close(fd[1]);
	while ((n = read(fd[0], got, sizeof(got))) > 0) {
		ck_assert_ptr_null(memchr(got, '\n', (size_t)n));
		sum += (size_t)n;
	}
	wait(&status);
	ck_assert_uint_eq(sum, sizeof(data));
	ck_assert_int_eq(status, 0);
}

START_TEST(large_through_a_pipe)
{
	int	fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	check_large(fd);
}
END_TEST

/* The same with a pipe that is non-blocking. */
START_TEST(long_line_through_a_pipe)
{
	int	fd[2];

	ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	ck_assert_int_eq(fcntl(fd[0], F_SETFL, 0), 0);
#ifdef F_SETPIPE_SZ
	/* Small, so that each write fills the pipe. */
	(void)fcntl(fd[1], F_SETPIPE_SZ, 4096);
#endif
	check_large(fd);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, tree_begin, tree_end);
	tcase_add_test(tests, each_to_its_log);
	tcase_add_test(tests, lines_find_their_logs);
	tcase_add_test(tests, lost_lines);
	tcase_add_test(tests, unknown_log);
	tcase_add_test(tests, full_disk);
	tcase_add_test(tests, file_size_limit);
	tcase_add_test(tests, large_through_a_pipe);
	tcase_add_test(tests, long_line_through_a_pipe);
}
