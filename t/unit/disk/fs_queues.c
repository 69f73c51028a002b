/*
 * Tests of disk/fs_queues: the order of tasks, and the limits on helpers.
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

/* A mount by another process would make the real table be read again. */
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
	mounts_refresh(mounts);		/* before the table is replaced */
	mounts_read(mounts, "1 1 8:1 / / rw - a a rw\n"
	    "2 1 0:30 / /srv/dead rw - b b rw\n");
	queues = fs_queues_new(mounts, 2, 4);
}

/* Ends all tasks: those in queues, whatever the limits, and those taken. */
static void
end_all(void)
{
	struct disk_task	*t;

	while ((t = fs_queues_pop_any(queues)) != NULL)
		fs_queues_end(t)->record = NULL;
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		if (tasks[i].record != NULL)
			fs_queues_end(tasks[i].record);
		tasks[i].record = NULL;
	}
}

static void
tear_down(void)
{
	end_all();
	fs_queues_free(&queues);
	mounts_free(&mounts);
	conf_free(&conf);
	teardown();
}

static struct task *
make_task(int i, const char *path)
{
	struct task	*t = &tasks[i];

	memset(t, 0, sizeof(*t));
	job_init(&t->job, path != NULL ? JOB_RESOLVE : JOB_READ);
	t->job.id = (uint64_t)i;
	if (path != NULL) {
		t->job.find.root = "/srv";
		t->job.find.path = path;
	}
	return t;
}

static struct disk_task *
record_of(const struct task *t)
{
	return t->record;
}

/* The queue of a task that was added. */
static struct fs_queue *
queue_of(const struct task *t)
{
	return record_of(t)->fs_queue;
}

static bool
add_task(int i, const char *path)
{
	return fs_queues_add(queues, make_task(i, path)) != NULL;
}

static int
pop_task(void)
{
	struct disk_task	*t = fs_queues_pop(queues);

	return t != NULL ? (int)t->task->job.id : -1;
}

START_TEST(round_robin)
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
	ck_assert_int_eq(pop_task(), -1);		/* its limit */
	ck_assert_uint_eq(fs_queues_ready(queues), 0);
	fs_queues_release(queue_of(&tasks[1]));
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
	ck_abort_msg("there is no queue %s", name);
	return NULL;
}

/* Measures of queues are named by device number. */
START_TEST(measures)
{
	const struct stats_fs_queue	*q;

	ck_assert(add_task(1, "a"));
	ck_assert(add_task(2, "b"));
	ck_assert(add_task(3, "c"));
	ck_assert(add_task(4, "dead/x"));
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 4);
	q = measured_queue("8:1");
	ck_assert_int_eq(q->queued, 2);
	ck_assert_int_eq(q->helpers, 1);
	ck_assert_int_eq(q->limit, 2);
	q = measured_queue("0:30");
	ck_assert_int_eq(q->queued, 0);
	ck_assert_int_eq(q->helpers, 1);
	ck_assert_int_eq(measured_queue("off-mount")->limit, 1);
	ck_assert_int_eq(measured_queue("homes")->helpers, 0);
	ck_assert_int_eq(measured_queue("variants")->helpers, 0);
	ck_assert_uint_eq(stats_nfs_queues, fs_queues_count(queues));
	/* As many as fit into stats_fs_queues. */
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
		fs_queues_release(queue_of(&tasks[i]));
	}
	/* A helper of the dead mount returns. */
	fs_queues_release(queue_of(&tasks[0]));
	ck_assert_int_eq(pop_task(), 2);
}
END_TEST

static bool
add_background(int i, const char *path)
{
	struct task	*t = make_task(i, path);

	t->background = true;
	return fs_queues_add(queues, t) != NULL;
}

/* Background tasks come after foreground ones, among reclassified ones too. */
START_TEST(background)
{
	for (int i = 0; i < 4; i++)
		ck_assert(add_background(i, "dead/x"));
	ck_assert(!add_background(4, "dead/x"));
	ck_assert(add_task(5, "dead/y"));
	ck_assert_int_eq(pop_task(), 5);
	ck_assert_int_eq(pop_task(), 0);
	ck_assert_uint_eq(fs_queues_waiting(queues), 3);
	fs_queues_release(queue_of(&tasks[5]));
	fs_queues_release(queue_of(&tasks[0]));
	fs_queues_reclassify(record_of(&tasks[0]));
	fs_queues_reclassify(record_of(&tasks[5]));
	ck_assert_int_eq(pop_task(), 5);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 2);
	ck_assert_int_eq(pop_task(), -1);
}
END_TEST

/* A promoted task comes before foreground tasks that are added later. */
START_TEST(promoted)
{
	for (int i = 0; i < 4; i++)
		ck_assert(add_background(i, "a"));
	for (int i = 4; i < 8; i++)
		ck_assert(add_task(i, "a"));
	fs_queues_promote(record_of(&tasks[3]));
	ck_assert(!tasks[3].background);
	ck_assert_uint_eq(fs_queues_waiting(queues), 8);
	ck_assert(!add_task(8, "a"));
	fs_queues_remove(record_of(&tasks[4]));
	fs_queues_remove(record_of(&tasks[5]));
	ck_assert(add_task(8, "a"));
	for (int i = 0; i < 4; i++) {
		static const int	order[] = { 6, 7, 3, 0 };

		ck_assert_int_eq(pop_task(), order[i]);
		fs_queues_release(queue_of(&tasks[order[i]]));
	}
	ck_assert_int_eq(pop_task(), 8);
}
END_TEST

/* Reads of a response that has begun have no limit. */
START_TEST(reads_have_no_limit)
{
	struct task	*t;

	for (int i = 0; i < 4; i++)
		ck_assert(add_task(i, "dead/x"));
	ck_assert(!add_task(4, "dead/y"));
	tasks[0].job.find.version.dev = makedev(0, 99);
	fs_queues_add_alias(record_of(&tasks[0]));
	t = make_task(5, NULL);
	t->job.range.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_eq(queue_of(t), queue_of(&tasks[0]));
}
END_TEST

START_TEST(requeued_and_removed)
{
	ck_assert(add_task(1, "a"));
	ck_assert(add_task(2, "b"));
	ck_assert(add_task(3, "c"));
	ck_assert_int_eq(pop_task(), 1);
	fs_queues_release(queue_of(&tasks[1]));
	fs_queues_requeue(record_of(&tasks[1]));
	fs_queues_remove(record_of(&tasks[2]));
	ck_assert(!record_of(&tasks[2])->queued);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 3);
	ck_assert_ptr_null(fs_queues_pop_any(queues));
}
END_TEST

START_TEST(same_mount)
{
	ck_assert(add_task(1, "a"));
	ck_assert(tasks[1].job.find.same_mount);
	ck_assert_uint_eq(tasks[1].job.find.mount_len, 0);
	ck_assert(add_task(2, "dead/x"));
	ck_assert(tasks[2].job.find.same_mount);
	ck_assert_uint_eq(tasks[2].job.find.mount_len, strlen("dead"));
	ck_assert(add_task(4, "dead"));
	ck_assert(!tasks[4].job.find.same_mount);
	mounts_read(mounts, "");
	ck_assert(add_task(3, "b"));
	ck_assert(!tasks[3].job.find.same_mount);
}
END_TEST

/* Tasks that have left a mount have a queue of their own, with half a limit. */
START_TEST(off_mount)
{
	for (int i = 1; i < 3; i++) {
		ck_assert(add_task(i, "link/x"));
		ck_assert_int_eq(pop_task(), i);
	}
	for (int i = 1; i < 3; i++) {
		fs_queues_release(queue_of(&tasks[i]));
		tasks[i].job.error = EREMOTE;
		fs_queues_reclassify(record_of(&tasks[i]));
		ck_assert(!tasks[i].job.find.same_mount);
		ck_assert_int_eq(tasks[i].job.error, 0);
	}
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), -1);
	ck_assert(add_task(4, "a"));
	ck_assert_int_eq(pop_task(), 4);
}
END_TEST

/* Reads go by the device number of their file, or by an alias of that. */
START_TEST(reads)
{
	struct task	*t = make_task(1, "dead/x");

	ck_assert(fs_queues_add(queues, t));
	ck_assert_int_eq(pop_task(), 1);
	t->job.find.version.dev = makedev(0, 99);
	fs_queues_add_alias(record_of(t));
	t = make_task(2, NULL);
	t->job.range.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_eq(queue_of(t), queue_of(&tasks[1]));
	t = make_task(3, NULL);
	t->job.range.version.dev = makedev(0, 30);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_eq(queue_of(t), queue_of(&tasks[1]));
	t = make_task(4, NULL);
	t->job.range.version.dev = makedev(8, 1);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_ne(queue_of(t), queue_of(&tasks[1]));
}
END_TEST

/* So do closes, which have a limit. */
START_TEST(closes)
{
	struct task	*t;

	for (int i = 0; i < 5; i++) {
		t = make_task(i, NULL);
		t->job.kind = JOB_CLOSE;
		t->job.range.version.dev = makedev(0, 30);
		ck_assert((fs_queues_add(queues, t) != NULL) == (i < 4));
	}
	ck_assert(!add_task(5, "dead/x"));		/* the same queue */
	ck_assert_int_eq(pop_task(), 0);
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), -1);		/* its limit */
	ck_assert(add_task(6, "alive"));
	ck_assert_int_eq(pop_task(), 6);
}
END_TEST

/* A link may lead to another file system: its result makes no alias. */
START_TEST(no_alias_from_links)
{
	struct task	*t = make_task(1, "a");

	ck_assert(fs_queues_add(queues, t));
	ck_assert_int_eq(pop_task(), 1);
	t->job.find.version.dev = makedev(0, 30);
	fs_queues_add_alias(record_of(t));
	ck_assert(add_task(2, "dead/x"));
	t = make_task(3, NULL);
	t->job.range.version.dev = makedev(0, 30);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_eq(queue_of(t), queue_of(&tasks[2]));
}
END_TEST

/* Homes have one queue, whatever their file system is. */
START_TEST(homes)
{
	struct task	*t;

	for (int i = 1; i < 4; i++) {
		t = make_task(i, "a");
		t->job.find.user = "ann";
		t->job.find.root = "public_html";
		ck_assert(fs_queues_add(queues, t));
		ck_assert(!t->job.find.same_mount);
	}
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 2);
	ck_assert_int_eq(pop_task(), -1);		/* their limit */
	ck_assert(add_task(4, "a"));
	ck_assert_int_eq(pop_task(), 4);
	tasks[1].job.find.version.dev = makedev(0, 99);
	fs_queues_add_alias(record_of(&tasks[1]));
	t = make_task(5, NULL);
	t->job.range.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_ne(queue_of(t), queue_of(&tasks[1]));
}
END_TEST

/* Tasks with a cache_dir have one queue, as that may be on a dead mount. */
START_TEST(variants)
{
	struct task	*t;

	for (int i = 1; i < 4; i++) {
		t = make_task(i, "a");
		job_init(&t->job, JOB_COMPRESS);
		t->job.id = (uint64_t)i;
		t->job.find.root = "/srv";
		t->job.find.path = "a";
		t->job.compress.cache_dir = "/srv/dead/kept";
		ck_assert(fs_queues_add(queues, t));
	}
	ck_assert_int_eq(pop_task(), 1);
	ck_assert_int_eq(pop_task(), 2);
	ck_assert_int_eq(pop_task(), -1);		/* its limit */
	ck_assert(add_task(4, "a"));
	ck_assert_int_eq(pop_task(), 4);
}
END_TEST

/* Orphans of an earlier main count for the limits of their queues. */
START_TEST(orphans)
{
	struct fs_queue	*l;
	uint64_t	 names[4];
	struct task	*t;

	ck_assert(add_task(1, "dead/x"));
	names[0] = fs_queues_id(queue_of(&tasks[1]));
	ck_assert(add_task(2, "a"));
	names[1] = fs_queues_id(queue_of(&tasks[2]));
	t = make_task(3, "a");
	t->job.find.user = "ann";
	ck_assert(fs_queues_add(queues, t));
	names[2] = fs_queues_id(queue_of(t));
	mounts_read(mounts, "2 1 0:30 / /srv/dead rw - b b rw\n");
	ck_assert(add_task(4, "nowhere"));
	names[3] = fs_queues_id(queue_of(&tasks[4]));
	end_all();
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
		ck_assert_ptr_eq(queue_of(&tasks[5]), l);
		ck_assert_int_eq(pop_task(), -1);
		fs_queues_release(l);
		ck_assert_int_eq(pop_task(), 5);
		fs_queues_release(l);
		end_all();
	}
}
END_TEST

/* A password file has no path, and may be a link to any file system. */
START_TEST(password_files)
{
	struct task	*t;

	ck_assert(add_task(1, "dead/x"));
	t = make_task(2, "");
	job_init(&t->job, JOB_VERIFY);
	t->job.verify.file = "/srv/dead/users";
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_eq(queue_of(t), queue_of(&tasks[1]));
	t = make_task(3, "");
	job_init(&t->job, JOB_VERIFY);
	t->job.verify.file = "/etc/users";
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_ne(queue_of(t), queue_of(&tasks[1]));
}
END_TEST

/* Files in memory have a queue of their own, and are on no file system. */
START_TEST(spools)
{
	struct task	*t;

	ck_assert(add_task(1, "dead/x"));
	for (int i = 2; i < 4; i++) {
		t = make_task(i, "");
		job_init(&t->job, JOB_SPOOL);
		ck_assert(fs_queues_add(queues, t));
		ck_assert_ptr_ne(queue_of(t), queue_of(&tasks[1]));
		ck_assert_ptr_eq(queue_of(t), queue_of(&tasks[2]));
	}
	fs_queues_measure(queues);
	ck_assert_str_eq(stats_fs_queues[stats_nfs_queues - 1].name, "memory");
}
END_TEST

/* Idle queues are freed when there are many, queues in use never. */
START_TEST(frees_idle)
{
	struct task	*t, *dead = make_task(1, "dead/x"), *known = make_task(2, "a");
	struct disk_task	*record;

	ck_assert(fs_queues_add(queues, dead));
	ck_assert_int_eq(pop_task(), 1);
	ck_assert(fs_queues_add(queues, known));
	for (unsigned i = 1; i < 5000; i++) {
		t = make_task(3, NULL);
		t->job.range.version.dev = makedev(1, i);
		ck_assert(fs_queues_add(queues, t));
		ck_assert_ptr_ne(queue_of(t), queue_of(dead));
		if (i == 1) {
			ck_assert_int_eq(pop_task(), 2);
			fs_queues_release(queue_of(known));
			known->job.find.version.dev = makedev(0, 99);
			fs_queues_add_alias(record_of(known));
		}
		ck_assert_int_eq(pop_task(), 3);
		fs_queues_release(queue_of(t));
		fs_queues_end(record_of(t))->record = NULL;
		ck_assert_uint_lt(fs_queues_count(queues), 100);
	}
	ck_assert(add_task(4, "dead/y"));
	ck_assert_ptr_eq(queue_of(&tasks[4]), queue_of(dead));
	/* The alias has gone with its queue. */
	t = make_task(5, NULL);
	t->job.range.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_int_eq(pop_task(), 4);
	ck_assert_int_eq(pop_task(), 5);
	/* Queues in use have no limit. */
	for (unsigned i = 1; i < 200; i++) {
		t = mem_zero(sizeof(*t));
		job_init(&t->job, JOB_READ);
		t->job.range.version.dev = makedev(2, i);
		ck_assert(fs_queues_add(queues, t));
	}
	ck_assert_uint_gt(fs_queues_count(queues), 200);
	while ((record = fs_queues_pop(queues)) != NULL) {
		fs_queues_release(record->fs_queue);
		free(fs_queues_end(record));
	}
	ck_assert(add_task(6, "a"));
	ck_assert_uint_lt(fs_queues_count(queues), 100);
}
END_TEST

/* The device number of an alias becomes that of a new file system. */
START_TEST(number_of_a_new_one)
{
	struct task	*t = make_task(1, "a");

	ck_assert(fs_queues_add(queues, t));
	t->job.find.version.dev = makedev(0, 99);
	fs_queues_add_alias(record_of(t));
	mounts_read(mounts, "1 1 8:1 / / rw - a a rw\n"
	    "2 1 0:99 / /srv/dead rw - b b rw\n");
	ck_assert(add_task(2, "dead/x"));
	t = make_task(3, NULL);
	t->job.range.version.dev = makedev(0, 99);
	ck_assert(fs_queues_add(queues, t));
	ck_assert_ptr_eq(queue_of(t), queue_of(&tasks[2]));
}
END_TEST

/*
 * In any sequence of events: tasks of a queue keep their order, no queue
 * exceeds its limit, no helper is idle while a task is ready, and a queue below
 * its limit waits for at most one task of each other queue.
 */
#define SYSTEMS	5
#define LIMIT	2
#define EACH	8

static struct system {
	struct task	 tasks[EACH];
	struct fs_queue	*fs_queue;
	unsigned	 first, next;	/* tasks in the queue, by number */
	unsigned	 helpers, passed;
} systems[SYSTEMS];

static bool
could_go_on(const struct system *s)
{
	return s->first < s->next && s->helpers < LIMIT;
}

static void
serve_some(void)
{
	struct disk_task	*t = fs_queues_pop(queues);
	struct system		*s;

	for (s = systems; s < systems + SYSTEMS; s++)
		if (t == NULL)
			ck_assert(!could_go_on(s));
		else if (t->fs_queue != s->fs_queue) {
			s->passed += could_go_on(s);
			ck_assert_uint_lt(s->passed, SYSTEMS);
		} else {
			ck_assert_uint_lt(s->helpers++, LIMIT);
			ck_assert_uint_eq(t->task->job.id, s->first++);
			s->passed = 0;
		}
	if (t != NULL)
		fs_queues_end(t);
}

START_TEST(fair)
{
	char		 path[SYSTEMS][8], text[1024];
	size_t		 n;
	struct system	*s;
	struct task	*t;

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
			t = &s->tasks[s->next % EACH];
			job_init(&t->job, JOB_RESOLVE);
			t->job.id = s->next++;
			t->job.find.root = "/srv";
			t->job.find.path = path[s - systems];
			ck_assert(fs_queues_add(queues, t));
			s->fs_queue = queue_of(t);
			break;
		case 2:
			serve_some();
			break;
		default:
			/* One file system never answers. */
			if (s->helpers == 0 || s == systems)
				break;
			fs_queues_release(s->fs_queue);
			s->helpers--;
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
	tcase_add_test(tests, round_robin);
	tcase_add_test(tests, measures);
	tcase_add_test(tests, one_is_dead);
	tcase_add_test(tests, background);
	tcase_add_test(tests, promoted);
	tcase_add_test(tests, variants);
	tcase_add_test(tests, reads_have_no_limit);
	tcase_add_test(tests, requeued_and_removed);
	tcase_add_test(tests, same_mount);
	tcase_add_test(tests, off_mount);
	tcase_add_test(tests, reads);
	tcase_add_test(tests, closes);
	tcase_add_test(tests, no_alias_from_links);
	tcase_add_test(tests, homes);
	tcase_add_test(tests, password_files);
	tcase_add_test(tests, spools);
	tcase_add_test(tests, frees_idle);
	tcase_add_test(tests, orphans);
	tcase_add_test(tests, number_of_a_new_one);
	tcase_add_loop_test(tests, fair, 0, 5);
}
