/*
 * Tests of disk/fs_queues: in order, by turns, within the share.
 */
#ifdef __linux__
#include <sys/mount.h>
#endif
#include <sys/sysmacros.h>

#include <errno.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <string.h>

#include "disk/fs_queues.h"
#include "lib/mem.h"
#include "shared/mounts.h"
#include "stats/stats.h"
#include "t/unit/conf/confs.h"

static struct conf	*conf;
static struct mounts	*mounts;
static struct fs_queues	*queues;
static struct task	 tasks[20];

/* Others may mount meanwhile, and the real table would be read again. */
static void
stay_apart(void)
{
#ifdef __linux__
	if (unshare(CLONE_NEWNS) == 0)
		(void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
#endif
}

static void
set_up(void)
{
	setup();
	stay_apart();
	conf = good(SITE);
	mounts = mounts_new(conf);
	mounts_refresh(mounts);		/* before it is another one */
	mounts_read(mounts, "1 1 8:1 / / rw - a a rw\n"
	    "2 1 0:30 / /srv/dead rw - b b rw\n");
	queues = fs_queues_new(mounts, 2, 4);
}

/* Takes all out, whatever the share. */
static void
tear_down(void)
{
	while (fs_queues_pop_any(queues) != NULL)
		continue;
	fs_queues_free(&queues);
	mounts_free(&mounts);
	conf_free(&conf);
	teardown();
}

static struct task *
task(int i, const char *path)
{
	struct task	*e = &tasks[i];

	memset(e, 0, sizeof(*e));
	job_init(&e->job, path != NULL ? JOB_RESOLVE : JOB_READ);
	e->job.id = (uint64_t)i;
	e->job.root = path != NULL ? "/srv" : NULL;
	e->job.path = path;
	return e;
}

static bool
add_task(int i, const char *path)
{
	return fs_queues_add(queues, task(i, path));
}

static int
pop_task(void)
{
	struct task	*e = fs_queues_pop(queues);

	return e != NULL ? (int)e->job.id : -1;
}

START_TEST(in_order_by_turns)
{
	ck_assert(add_task(1, "a"));
	ck_assert(add_task(2, "b"));
	ck_assert(add_task(3, "c"));
	ck_assert(add_task(4, "dead/x"));
	ck_assert_uint_eq(fs_queues_waiting(queues), 4);
	ck_assert_uint_eq(fs_queues_ready(queues), 3);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 4);
	ck_assert_int_eq(pop_task(), 2);
	ck_assert_int_eq(pop_task(), -1);		/* its share */
	ck_assert_uint_eq(fs_queues_ready(queues), 0);
	fs_queues_release(tasks[1].fs_queue);
	ck_assert_uint_eq(fs_queues_ready(queues), 1);
	ck_assert_int_eq(pop_task(), 3);
	ck_assert_uint_eq(fs_queues_waiting(queues), 0);
}
END_TEST

static const struct stats_fs_queue *
measured_queue(const char *name)
{
	fs_queues_measure(queues);
	for (size_t i = 0; i < stats_nfs_queues; i++)
		if (strcmp(stats_fs_queues[i].name, name) == 0)
			return &stats_fs_queues[i];
	ck_abort_msg("there is no lane %s", name);
	return NULL;
}

/* What is told of them, by the numbers of their devices. */
START_TEST(measures)
{
	const struct stats_fs_queue	*l;

	ck_assert(add_task(1, "a"));
	ck_assert(add_task(2, "b"));
	ck_assert(add_task(3, "c"));
	ck_assert(add_task(4, "dead/x"));
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 4);
	l = measured_queue("8:1");
	ck_assert_int_eq(l->queued, 2);
	ck_assert_int_eq(l->helpers, 1);
	ck_assert_int_eq(l->limit, 2);
	l = measured_queue("0:30");
	ck_assert_int_eq(l->queued, 0);
	ck_assert_int_eq(l->helpers, 1);
	ck_assert_int_eq(measured_queue("strays")->limit, 1);
	ck_assert_int_eq(measured_queue("users")->helpers, 0);
	ck_assert_int_eq(measured_queue("kept")->helpers, 0);
	ck_assert_uint_eq(stats_nfs_queues, fs_queues_count(queues));
	/* No more of them than there is room for. */
	for (uint64_t fs = 1000; fs < 1000 + 2 * STATS_FS_QUEUES_MAX; fs++)
		fs_queues_reserve(queues, fs);
	fs_queues_measure(queues);
	ck_assert_uint_eq(stats_nfs_queues, STATS_FS_QUEUES_MAX);
}
END_TEST

START_TEST(one_is_dead)
{
	for (int i = 0; i < 4; i++)
		ck_assert(add_task(i, "dead/x"));
	ck_assert(!add_task(4, "dead/y"));		/* its queue is full */
	ck_assert_int_eq(pop_task(), 0);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), -1);
	for (int i = 5; i < 12; i++) {
		ck_assert(add_task(i, "alive"));
		ck_assert_int_eq(pop_task(), i);
		fs_queues_release(tasks[i].fs_queue);
	}
	/* It comes back. */
	fs_queues_release(tasks[0].fs_queue);
	ck_assert_int_eq(pop_task(), 2);
}
END_TEST

static bool
add_background(int i, const char *path)
{
	struct task	*e = task(i, path);

	e->background = true;
	return fs_queues_add(queues, e);
}

/* Whom nobody waits for keeps nobody waiting; also where it turns out to lead
 * elsewhere. */
START_TEST(at_leisure)
{
	for (int i = 0; i < 4; i++)
		ck_assert(add_background(i, "dead/x"));
	ck_assert(!add_background(4, "dead/x"));
	ck_assert(add_task(5, "dead/y"));
	ck_assert_int_eq(pop_task(), 5);
	ck_assert_int_eq(pop_task(), 0);
	ck_assert_uint_eq(fs_queues_waiting(queues), 3);
	fs_queues_release(tasks[5].fs_queue);
	fs_queues_release(tasks[0].fs_queue);
	fs_queues_reclassify(queues, &tasks[0]);
	fs_queues_reclassify(queues, &tasks[5]);
	ck_assert_int_eq(pop_task(), 5);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 2);
	ck_assert_int_eq(pop_task(), -1);
}
END_TEST

/* Somebody waits for it after all: before whom comes later. */
START_TEST(in_a_hurry)
{
	for (int i = 0; i < 4; i++)
		ck_assert(add_background(i, "a"));
	for (int i = 4; i < 8; i++)
		ck_assert(add_task(i, "a"));
	fs_queues_promote(&tasks[3]);
	ck_assert(!tasks[3].background);
	ck_assert_uint_eq(fs_queues_waiting(queues), 8);
	ck_assert(!add_task(8, "a"));
	fs_queues_remove(&tasks[4]);
	fs_queues_remove(&tasks[5]);
	ck_assert(add_task(8, "a"));
	for (int i = 0; i < 4; i++) {
		static const int	order[] = { 6, 7, 3, 0 };

		ck_assert_int_eq(pop_task(), order[i]);
		fs_queues_release(tasks[order[i]].fs_queue);
	}
	ck_assert_int_eq(pop_task(), 8);
}
END_TEST

/* What is being sent is not cut short because others wait. */
START_TEST(pieces_of_what_is_sent)
{
	struct task	*e;

	for (int i = 0; i < 4; i++)
		ck_assert(add_task(i, "dead/x"));
	ck_assert(!add_task(4, "dead/y"));
	tasks[0].job.version.dev = makedev(0, 99);
	fs_queues_add_alias(queues, &tasks[0]);
	e = task(5, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_eq(e->fs_queue, tasks[0].fs_queue);
}
END_TEST

START_TEST(again_and_removed)
{
	ck_assert(add_task(1, "a"));
	ck_assert(add_task(2, "b"));
	ck_assert(add_task(3, "c"));
	ck_assert_int_eq(pop_task(), 1);
	fs_queues_release(tasks[1].fs_queue);
	fs_queues_requeue(&tasks[1]);
	fs_queues_remove(&tasks[2]);
	ck_assert(!tasks[2].queued);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 3);
	ck_assert_ptr_null(fs_queues_pop_any(queues));
}
END_TEST

START_TEST(stay)
{
	ck_assert(add_task(1, "a"));
	ck_assert(tasks[1].job.same_mount);
	ck_assert_uint_eq(tasks[1].job.mount_len, 0);
	ck_assert(add_task(2, "dead/x"));
	ck_assert(tasks[2].job.same_mount);
	ck_assert_uint_eq(tasks[2].job.mount_len, strlen("dead"));
	ck_assert(add_task(4, "dead"));
	ck_assert(!tasks[4].job.same_mount);
	mounts_read(mounts, "");
	ck_assert(add_task(3, "b"));
	ck_assert(!tasks[3].job.same_mount);
}
END_TEST

/* What leads astray has a queue of its own, with half a share. */
START_TEST(strays)
{
	for (int i = 1; i < 3; i++) {
		ck_assert(add_task(i, "link/x"));
		ck_assert_int_eq(pop_task(), i);
	}
	for (int i = 1; i < 3; i++) {
		fs_queues_release(tasks[i].fs_queue);
		tasks[i].job.error = EREMOTE;
		fs_queues_reclassify(queues, &tasks[i]);
		ck_assert(!tasks[i].job.same_mount);
		ck_assert_int_eq(tasks[i].job.error, 0);
	}
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), -1);
	ck_assert(add_task(4, "a"));
	ck_assert_int_eq(pop_task(), 4);
}
END_TEST

/* Reads go by the number of their file system, or by what was learnt of it. */
START_TEST(reads)
{
	struct task	*e = task(1, "dead/x");

	ck_assert(fs_queues_add(queues, e));
	ck_assert_int_eq(pop_task(), 1);
	e->job.version.dev = makedev(0, 99);
	fs_queues_add_alias(queues, e);
	e = task(2, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_eq(e->fs_queue, tasks[1].fs_queue);
	e = task(3, NULL);
	e->job.version.dev = makedev(0, 30);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_eq(e->fs_queue, tasks[1].fs_queue);
	e = task(4, NULL);
	e->job.version.dev = makedev(8, 1);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_ne(e->fs_queue, tasks[1].fs_queue);
}
END_TEST

/* So do closes, and no more of them wait than of others. */
START_TEST(closes)
{
	struct task	*e;

	for (int i = 0; i < 5; i++) {
		e = task(i, NULL);
		e->job.kind = JOB_CLOSE;
		e->job.version.dev = makedev(0, 30);
		ck_assert(fs_queues_add(queues, e) == (i < 4));
	}
	ck_assert(!add_task(5, "dead/x"));		/* the same queue */
	ck_assert_int_eq(pop_task(), 0);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), -1);		/* its share */
	ck_assert(add_task(6, "alive"));
	ck_assert_int_eq(pop_task(), 6);
}
END_TEST

/* A link's answer says nothing of where it was found. */
START_TEST(does_not_learn_from_links)
{
	struct task	*e = task(1, "a");

	ck_assert(fs_queues_add(queues, e));
	ck_assert_int_eq(pop_task(), 1);
	e->job.version.dev = makedev(0, 30);
	fs_queues_add_alias(queues, e);
	ck_assert(add_task(2, "dead/x"));
	e = task(3, NULL);
	e->job.version.dev = makedev(0, 30);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_eq(e->fs_queue, tasks[2].fs_queue);
}
END_TEST

/* Homes have a queue of their own, wherever they turn out to be. */
START_TEST(users)
{
	struct task	*e;

	for (int i = 1; i < 4; i++) {
		e = task(i, "a");
		e->job.user = "ann";
		e->job.root = "public_html";
		ck_assert(fs_queues_add(queues, e));
		ck_assert(!e->job.same_mount);
	}
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 2);
	ck_assert_int_eq(pop_task(), -1);		/* their share */
	ck_assert(add_task(4, "a"));
	ck_assert_int_eq(pop_task(), 4);
	tasks[1].job.version.dev = makedev(0, 99);
	fs_queues_add_alias(queues, &tasks[1]);
	e = task(5, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_ne(e->fs_queue, tasks[1].fs_queue);
}
END_TEST

/* So has what is kept in a directory, which may be the one that is dead. */
START_TEST(kept)
{
	struct task	*e;

	for (int i = 1; i < 4; i++) {
		e = task(i, "a");
		job_init(&e->job, JOB_COMPRESS);
		e->job.id = (uint64_t)i;
		e->job.root = "/srv";
		e->job.path = "a";
		e->job.cache_dir = "/srv/dead/kept";
		ck_assert(fs_queues_add(queues, e));
	}
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 2);
	ck_assert_int_eq(pop_task(), -1);		/* its share */
	ck_assert(add_task(4, "a"));
	ck_assert_int_eq(pop_task(), 4);
}
END_TEST

/* What an earlier main has left in a queue is of its share, in this one too. */
START_TEST(leftovers)
{
	struct fs_queue	*l;
	uint64_t	 names[4];
	struct task	*e;

	ck_assert(add_task(1, "dead/x"));
	names[0] = fs_queues_id(tasks[1].fs_queue);
	ck_assert(add_task(2, "a"));
	names[1] = fs_queues_id(tasks[2].fs_queue);
	e = task(3, "a");
	e->job.user = "ann";
	ck_assert(fs_queues_add(queues, e));
	names[2] = fs_queues_id(e->fs_queue);
	mounts_read(mounts, "2 1 0:30 / /srv/dead rw - b b rw\n");
	ck_assert(add_task(4, "nowhere"));
	names[3] = fs_queues_id(tasks[4].fs_queue);
	while (fs_queues_pop_any(queues) != NULL)
		continue;
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			ck_assert_uint_ne(names[i], names[j]);
	fs_queues_free(&queues);
	queues = fs_queues_new(mounts, 2, 4);
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_ne(names[i], 0);
		l = fs_queues_reserve(queues, names[i]);
		ck_assert_uint_eq(fs_queues_id(l), names[i]);
		ck_assert_ptr_eq(fs_queues_reserve(queues, names[i]), l);
		if (i == 1 || i == 2)
			continue;
		ck_assert(add_task(5, i == 0 ? "dead/x" : "nowhere"));
		ck_assert_ptr_eq(tasks[5].fs_queue, l);
		ck_assert_int_eq(pop_task(), -1);
		fs_queues_release(l);
		ck_assert_int_eq(pop_task(), 5);
		fs_queues_release(l);
	}
}
END_TEST

/* A password file has no path beneath it, and may be a link to anywhere. */
START_TEST(password_files)
{
	struct task	*e;

	ck_assert(add_task(1, "dead/x"));
	e = task(2, "");
	job_init(&e->job, JOB_VERIFY);
	e->job.root = "/srv/dead/users";
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_eq(e->fs_queue, tasks[1].fs_queue);
	e = task(3, "");
	job_init(&e->job, JOB_VERIFY);
	e->job.root = "/etc/users";
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_ne(e->fs_queue, tasks[1].fs_queue);
	ck_assert(!e->job.same_mount);
}
END_TEST

/* File systems come and go, and are forgotten, unless they are in use. */
START_TEST(forgets)
{
	struct task	*e, *dead = task(1, "dead/x"), *known = task(2, "a");

	ck_assert(fs_queues_add(queues, dead));
	ck_assert_int_eq(pop_task(), 1);
	ck_assert(fs_queues_add(queues, known));
	for (unsigned i = 1; i < 5000; i++) {
		e = task(3, NULL);
		e->job.version.dev = makedev(1, i);
		ck_assert(fs_queues_add(queues, e));
		ck_assert_ptr_ne(e->fs_queue, dead->fs_queue);
		if (i == 1) {
			ck_assert_int_eq(pop_task(), 2);
			fs_queues_release(known->fs_queue);
			known->job.version.dev = makedev(0, 99);
			fs_queues_add_alias(queues, known);
		}
		ck_assert_int_eq(pop_task(), 3);
		fs_queues_release(e->fs_queue);
		ck_assert_uint_lt(fs_queues_count(queues), 100);
	}
	ck_assert(add_task(4, "dead/y"));
	ck_assert_ptr_eq(tasks[4].fs_queue, dead->fs_queue);
	/* Its queue has gone, and this name of it with that. */
	e = task(5, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_int_eq(pop_task(), 4);
	ck_assert_int_eq(pop_task(), 5);
	/* As many as are in use there are. */
	for (unsigned i = 1; i < 200; i++) {
		e = mem_zero(sizeof(*e));
		job_init(&e->job, JOB_READ);
		e->job.version.dev = makedev(2, i);
		ck_assert(fs_queues_add(queues, e));
	}
	ck_assert_uint_gt(fs_queues_count(queues), 200);
	while ((e = fs_queues_pop(queues)) != NULL) {
		fs_queues_release(e->fs_queue);
		free(e);
	}
	ck_assert(add_task(6, "a"));
	ck_assert_uint_lt(fs_queues_count(queues), 100);
}
END_TEST

/* Another name of a file system becomes the number of one that is new. */
START_TEST(number_of_a_new_one)
{
	struct task	*e = task(1, "a");

	ck_assert(fs_queues_add(queues, e));
	e->job.version.dev = makedev(0, 99);
	fs_queues_add_alias(queues, e);
	mounts_read(mounts, "1 1 8:1 / / rw - a a rw\n"
	    "2 1 0:99 / /srv/dead rw - b b rw\n");
	ck_assert(add_task(2, "dead/x"));
	e = task(3, NULL);
	e->job.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, e));
	ck_assert_ptr_eq(e->fs_queue, tasks[2].fs_queue);
}
END_TEST

/*
 * Whatever happens: in order within each queue, nobody above the share, nobody
 * idle while there is work, and who could go on waits for one turn of each of
 * the others at most.
 */
#define SYSTEMS	5
#define LIMIT	2
#define EACH	8

static struct system {
	struct task	 tasks[EACH];
	struct fs_queue	*fs_queue;
	unsigned	 first, next;	/* in the queue, by number */
	unsigned	 held, passed;
} systems[SYSTEMS];

static bool
could_go_on(const struct system *s)
{
	return s->first < s->next && s->held < LIMIT;
}

static void
serve_some(void)
{
	struct task	*e = fs_queues_pop(queues);
	struct system	*s;

	for (s = systems; s < systems + SYSTEMS; s++)
		if (e == NULL)
			ck_assert(!could_go_on(s));
		else if (e->fs_queue != s->fs_queue) {
			s->passed += could_go_on(s);
			ck_assert_uint_lt(s->passed, SYSTEMS);
		} else {
			ck_assert_uint_lt(s->held++, LIMIT);
			ck_assert_uint_eq(e->job.id, s->first++);
			s->passed = 0;
		}
}

START_TEST(fair)
{
	char		 path[SYSTEMS][8], text[1024];
	size_t		 n;
	struct system	*s;
	struct task	*e;

	srand((unsigned)_i);
	memset(systems, 0, sizeof(systems));
	n = (size_t)snprintf(text, sizeof(text), "1 1 8:1 / / rw - a a rw\n");
	for (int i = 0; i < SYSTEMS; i++) {
		snprintf(path[i], sizeof(path[i]), "m%d/x", i);
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "%d 1 1:%d / /srv/m%d rw - b b rw\n", i + 2, i, i);
	}
	mounts_read(mounts, text);
	for (int turn = 0; turn < 20000; turn++) {
		s = &systems[rand() % SYSTEMS];
		switch (rand() % 4) {
		case 0:
		case 1:
			if (s->next - s->first == 4)
				break;
			e = &s->tasks[s->next % EACH];
			job_init(&e->job, JOB_RESOLVE);
			e->job.id = s->next++;
			e->job.root = "/srv";
			e->job.path = path[s - systems];
			e->queued = false;
			ck_assert(fs_queues_add(queues, e));
			s->fs_queue = e->fs_queue;
			break;
		case 2:
			serve_some();
			break;
		default:
			/* One of them never answers. */
			if (s->held == 0 || s == systems)
				break;
			fs_queues_release(s->fs_queue);
			s->held--;
			break;
		}
	}
	ck_assert_uint_gt(systems[1].first, 500);
	ck_assert_uint_eq(systems[0].first, LIMIT);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, in_order_by_turns);
	tcase_add_test(tests, measures);
	tcase_add_test(tests, one_is_dead);
	tcase_add_test(tests, at_leisure);
	tcase_add_test(tests, in_a_hurry);
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
	tcase_add_test(tests, forgets);
	tcase_add_test(tests, leftovers);
	tcase_add_test(tests, number_of_a_new_one);
	tcase_add_loop_test(tests, fair, 0, 5);
}
