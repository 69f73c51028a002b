/*
 * Tests of http/deferred_close: files are closed by a task or at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "http/deferred_close.h"
#include "http/http.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

static const struct job_range	range = { .length = 100000,
				    .version = { .dev = 7, .size = 100000 } };
static const struct job_range	part = { .length = 65536,
				    .version = { .dev = 7, .size = 100000 } };
static struct http_loop		*http;
static struct task		*taken[4];
static int			 ntaken;

static enum submitted
submit_task(void *context, struct task *e)
{
	ck_assert_ptr_eq(context, &ntaken);
	taken[ntaken++] = e;
	return SUBMITTED_PENDING;
}

static void
new_loop(void)
{
	http = mem_zero(sizeof(*http));
	http->caches = mem_zero(sizeof(*http->caches));
	http->disk.submit = submit_task;
	http->disk.context = &ntaken;
	http->caches->deferred_closes_max = 2;
	ntaken = 0;
}

static void
free_loop(void)
{
	mem_drop(&http->caches);
	mem_drop(&http);
}

static int
give_fd_of(const struct job_range *of)
{
	int	fd = open("/dev/null", O_RDONLY);

	deferred_close_fd(http, fd, of);
	return fd;
}

static int
give_fd(void)
{
	return give_fd_of(&range);
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

static void
finish_task(struct task *e, int error)
{
	e->job.error = error;
	e->complete(e);
	e->free(e);
}

START_TEST(is_asked_for)
{
	int		 fd = give_fd();
	struct job	*job = &taken[0]->job;

	ck_assert_int_eq(ntaken, 1);
	ck_assert_int_eq(job->kind, JOB_CLOSE);
	ck_assert_int_eq(job->fd, fd);
	ck_assert_uint_ne(job->id, 0);
	ck_assert_mem_eq(&job->range, &range, sizeof(range));
	ck_assert(is_open(fd));
	job_perform(job);
	ck_assert(!is_open(fd));
	fd = open("/dev/null", O_RDONLY);	/* the same number */
	finish_task(taken[0], 0);
	ck_assert(is_open(fd));
	close(fd);
}
END_TEST

/* A task that was not performed leaves the descriptor open. */
START_TEST(is_refused)
{
	int	fd = give_fd();

	finish_task(taken[0], _i == 0 ? EAGAIN : ECONNABORTED);
	ck_assert(!is_open(fd));
}
END_TEST

/* The descriptor was passed on before the job was lost. */
START_TEST(is_lost)
{
	int	fd = give_fd();

	taken[0]->job.fd = -1;
	finish_task(taken[0], ECONNABORTED);
	ck_assert(is_open(fd));
	close(fd);
}
END_TEST

/* Descriptors stay open until their tasks complete, so only some may wait. */
START_TEST(too_many)
{
	int	first = give_fd(), second = give_fd(), third = give_fd();

	ck_assert_int_eq(ntaken, 2);
	ck_assert(is_open(first) && is_open(second) && !is_open(third));
	finish_task(taken[0], EAGAIN);
	third = give_fd();
	ck_assert_int_eq(ntaken, 3);
	ck_assert(is_open(third));
	finish_task(taken[1], EAGAIN);
	finish_task(taken[2], EAGAIN);
	ck_assert_uint_eq(http->caches->deferred_closes, 0);
}
END_TEST

/* Parts that are given back leave half of the places to files that must be
 * closed, and a lookup's task goes first. */
START_TEST(parts)
{
	int	first = give_fd_of(&part), second = give_fd_of(&part);
	int	file;

	ck_assert_int_eq(ntaken, 1);
	ck_assert(taken[0]->background);
	ck_assert_mem_eq(&taken[0]->job.range, &part, sizeof(part));
	ck_assert(is_open(first) && !is_open(second));
	file = give_fd();
	ck_assert_int_eq(ntaken, 2);
	ck_assert(is_open(file) && !taken[1]->background);
	finish_task(taken[0], ECANCELED);
	ck_assert(!is_open(first));
	finish_task(taken[1], EAGAIN);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, new_loop, free_loop);
	tcase_add_test(tests, is_asked_for);
	tcase_add_loop_test(tests, is_refused, 0, 2);
	tcase_add_test(tests, is_lost);
	tcase_add_test(tests, too_many);
	tcase_add_test(tests, parts);
}
