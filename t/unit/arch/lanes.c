/*
 * Tests of arch/lanes: in order, by turns, within the share.
 */
#include <sys/sysmacros.h>

#include <errno.h>
#include <string.h>

#include "arch/lanes.h"
#include "arch/mounts.h"
#include "t/unit/confs.h"

static struct conf	*conf;
static struct mounts	*mounts;
static struct lanes	*lanes;
static struct errand	 errands[20];

static void
make(void)
{
	setup();
	conf = good(SITE);
	mounts = mounts_new(conf);
	mounts_refresh(mounts);		/* before it is another one */
	mounts_read(mounts, "1 1 8:1 / / rw - a a rw\n"
	    "2 1 0:30 / /srv/dead rw - b b rw\n");
	lanes = lanes_new(mounts, 2, 4);
}

/* Takes all out, whatever the share. */
static void
unmake(void)
{
	struct errand	*e;

	while ((e = lanes_any(lanes)) != NULL)
		lanes_remove(e);
	lanes_free(&lanes);
	mounts_free(&mounts);
	conf_free(&conf);
	teardown();
}

static struct errand *
errand(int i, const char *path)
{
	struct errand	*e = &errands[i];

	memset(e, 0, sizeof(*e));
	job_init(&e->job, path != NULL ? JOB_RESOLVE : JOB_READ);
	e->job.id = (uint64_t)i;
	e->job.root = path != NULL ? "/srv" : NULL;
	e->job.path = path;
	return e;
}

static bool
add(int i, const char *path)
{
	return lanes_add(lanes, errand(i, path));
}

static int
next(void)
{
	struct errand	*e = lanes_next(lanes);

	return e != NULL ? (int)e->job.id : -1;
}

START_TEST(in_order_by_turns)
{
	ck_assert(add(1, "a"));
	ck_assert(add(2, "b"));
	ck_assert(add(3, "c"));
	ck_assert(add(4, "dead/x"));
	ck_assert_uint_eq(lanes_waiting(lanes), 4);
	ck_assert_uint_eq(lanes_ready(lanes), 3);
	ck_assert_int_eq(next(), 1);
	ck_assert_int_eq(next(), 4);
	ck_assert_int_eq(next(), 2);
	ck_assert_int_eq(next(), -1);		/* its share */
	ck_assert_uint_eq(lanes_ready(lanes), 0);
	lanes_release(errands[1].lane);
	ck_assert_uint_eq(lanes_ready(lanes), 1);
	ck_assert_int_eq(next(), 3);
	ck_assert_uint_eq(lanes_waiting(lanes), 0);
}
END_TEST

START_TEST(one_is_dead)
{
	for (int i = 0; i < 4; i++)
		ck_assert(add(i, "dead/x"));
	ck_assert(!add(4, "dead/y"));		/* its queue is full */
	ck_assert_int_eq(next(), 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_int_eq(next(), -1);
	for (int i = 5; i < 12; i++) {
		ck_assert(add(i, "alive"));
		ck_assert_int_eq(next(), i);
		lanes_release(errands[i].lane);
	}
	/* It comes back. */
	lanes_release(errands[0].lane);
	ck_assert_int_eq(next(), 2);
}
END_TEST

/* What is being sent is not cut short because others wait. */
START_TEST(pieces_of_what_is_sent)
{
	struct errand	*e;

	for (int i = 0; i < 4; i++)
		ck_assert(add(i, "dead/x"));
	ck_assert(!add(4, "dead/y"));
	errands[0].job.version.dev = makedev(0, 99);
	lanes_learn(lanes, &errands[0]);
	e = errand(5, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_eq(e->lane, errands[0].lane);
}
END_TEST

START_TEST(again_and_removed)
{
	ck_assert(add(1, "a"));
	ck_assert(add(2, "b"));
	ck_assert(add(3, "c"));
	ck_assert_int_eq(next(), 1);
	lanes_release(errands[1].lane);
	lanes_again(&errands[1]);
	lanes_remove(&errands[2]);
	ck_assert(!errands[2].queued);
	ck_assert_int_eq(next(), 1);
	ck_assert_int_eq(next(), 3);
	ck_assert_ptr_null(lanes_any(lanes));
}
END_TEST

START_TEST(stay)
{
	ck_assert(add(1, "a"));
	ck_assert(errands[1].job.stay);
	ck_assert(add(2, "dead/x"));
	ck_assert(!errands[2].job.stay);
	mounts_read(mounts, "");
	ck_assert(add(3, "b"));
	ck_assert(!errands[3].job.stay);
}
END_TEST

/* What leads astray has a lane of its own, with half a share. */
START_TEST(strays)
{
	for (int i = 1; i < 3; i++) {
		ck_assert(add(i, "link/x"));
		ck_assert_int_eq(next(), i);
	}
	for (int i = 1; i < 3; i++) {
		lanes_release(errands[i].lane);
		errands[i].job.error = EREMOTE;
		lanes_stray(lanes, &errands[i]);
		ck_assert(!errands[i].job.stay);
		ck_assert_int_eq(errands[i].job.error, 0);
	}
	ck_assert_int_eq(next(), 1);
	ck_assert_int_eq(next(), -1);
	ck_assert(add(4, "a"));
	ck_assert_int_eq(next(), 4);
}
END_TEST

/* Reads go by the number of their file system, or by what was learnt of it. */
START_TEST(reads)
{
	struct errand	*e = errand(1, "dead/x");

	ck_assert(lanes_add(lanes, e));
	ck_assert_int_eq(next(), 1);
	e->job.version.dev = makedev(0, 99);
	lanes_learn(lanes, e);
	e = errand(2, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_eq(e->lane, errands[1].lane);
	e = errand(3, NULL);
	e->job.version.dev = makedev(0, 30);
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_eq(e->lane, errands[1].lane);
	e = errand(4, NULL);
	e->job.version.dev = makedev(8, 1);
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_ne(e->lane, errands[1].lane);
}
END_TEST

/* So do closes, and no more of them wait than of others. */
START_TEST(closes)
{
	struct errand	*e;

	for (int i = 0; i < 5; i++) {
		e = errand(i, NULL);
		e->job.kind = JOB_CLOSE;
		e->job.version.dev = makedev(0, 30);
		ck_assert(lanes_add(lanes, e) == (i < 4));
	}
	ck_assert(!add(5, "dead/x"));		/* the same lane */
	ck_assert_int_eq(next(), 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_int_eq(next(), -1);		/* its share */
	ck_assert(add(6, "alive"));
	ck_assert_int_eq(next(), 6);
}
END_TEST

/* A link's answer says nothing of where it was found. */
START_TEST(does_not_learn_from_links)
{
	struct errand	*e = errand(1, "a");

	ck_assert(lanes_add(lanes, e));
	ck_assert_int_eq(next(), 1);
	e->job.version.dev = makedev(0, 30);
	lanes_learn(lanes, e);
	ck_assert(add(2, "dead/x"));
	e = errand(3, NULL);
	e->job.version.dev = makedev(0, 30);
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_eq(e->lane, errands[2].lane);
}
END_TEST

/* Homes have a lane of their own, wherever they turn out to be. */
START_TEST(users)
{
	struct errand	*e;

	for (int i = 1; i < 4; i++) {
		e = errand(i, "a");
		e->job.user = "ann";
		e->job.root = "public_html";
		ck_assert(lanes_add(lanes, e));
		ck_assert(!e->job.stay);
	}
	ck_assert_int_eq(next(), 1);
	ck_assert_int_eq(next(), 2);
	ck_assert_int_eq(next(), -1);		/* their share */
	ck_assert(add(4, "a"));
	ck_assert_int_eq(next(), 4);
	errands[1].job.version.dev = makedev(0, 99);
	lanes_learn(lanes, &errands[1]);
	e = errand(5, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_ne(e->lane, errands[1].lane);
}
END_TEST

/* So has what is kept in a directory, which may be the one that is dead. */
START_TEST(kept)
{
	struct errand	*e;

	for (int i = 1; i < 4; i++) {
		e = errand(i, "a");
		job_init(&e->job, JOB_COMPRESS);
		e->job.id = (uint64_t)i;
		e->job.root = "/srv";
		e->job.path = "a";
		e->job.keep = "/srv/dead/kept";
		ck_assert(lanes_add(lanes, e));
	}
	ck_assert_int_eq(next(), 1);
	ck_assert_int_eq(next(), 2);
	ck_assert_int_eq(next(), -1);		/* its share */
	ck_assert(add(4, "a"));
	ck_assert_int_eq(next(), 4);
}
END_TEST

/* A password file has no path beneath it, and may be a link to anywhere. */
START_TEST(password_files)
{
	struct errand	*e;

	ck_assert(add(1, "dead/x"));
	e = errand(2, "");
	job_init(&e->job, JOB_VERIFY);
	e->job.root = "/srv/dead/users";
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_eq(e->lane, errands[1].lane);
	e = errand(3, "");
	job_init(&e->job, JOB_VERIFY);
	e->job.root = "/etc/users";
	ck_assert(lanes_add(lanes, e));
	ck_assert_ptr_ne(e->lane, errands[1].lane);
	ck_assert(!e->job.stay);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_test(tests, in_order_by_turns);
	tcase_add_test(tests, one_is_dead);
	tcase_add_test(tests, kept);
	tcase_add_test(tests, pieces_of_what_is_sent);
	tcase_add_test(tests, again_and_removed);
	tcase_add_test(tests, stay);
	tcase_add_test(tests, strays);
	tcase_add_test(tests, reads);
	tcase_add_test(tests, closes);
	tcase_add_test(tests, does_not_learn_from_links);
	tcase_add_test(tests, users);
	tcase_add_test(tests, password_files);
}
