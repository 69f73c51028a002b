/*
 * Tests of helpers/wire: replies over the pipe; all other bytes are refused,
 * and no descriptor stays open.  Requests: wire.c.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>

#include "t/unit/helpers/wires.h"

/* The bytes of a job's reply, without its descriptor. */
static void
reply_bytes(const struct job *job, char *bytes)
{
	int	came;

	ck_assert_int_eq(wire_send_reply(fd[1], job), 0);
	ck_assert_int_eq(io_recv_message(fd[0], bytes, 1000, &came, 0),
	    REPLY_SIZE);
	io_close(&came);
}

/* A job with a result. */
static struct job
done_job(enum job_kind kind)
{
	struct job	job = sample(kind);

	if (job_finds(kind)) {
		job.fd = STDIN_FILENO;
		job.find.name_number = 2;
		job.find.version = (struct job_version){ 9, 8, 7, 6, 5, 4, 3 };
		job.find.facts = (struct job_facts){ .mode = 0100644, .uid = 1000,
		    .strong = true, .in_memory = true };
		job.find.watched = JOB_WATCHED_ALL;
		job.find.waypoints.n = 2;
		job.find.waypoints.at[1] = (struct job_waypoint){ 7,
		    JOB_WAYPOINT_BENEATH, 4, 0x12345678 };
		if (kind == JOB_LIST) {
			job.find.name_number = 0;
			job.list.entries = 99;
		} else if (kind == JOB_COMPRESS)
			job.find.facts.cached = (struct job_version){ 2, 3, 7, 6, 5,
			    4, 3 };
	} else if (job_has_range(kind)) {
		job.range.done = kind == JOB_CLOSE ? 0 : 999;
		if (kind == JOB_DIGEST)
			job.digest.sum = 0xfedcba9876543210;
	} else if (kind == JOB_APPEND)
		job.append.done = 6;
	else if (kind == JOB_VERIFY)
		job.verify.right = 1;
	return job;
}

START_TEST(reply_arrives)
{
	struct job	job = done_job(_i);
	struct stat	a, b;

	got = sample(_i);
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert_int_eq(got.error, 0);
	if (job_has_range(_i))
		ck_assert_uint_eq(got.range.done, job.range.done);
	if (_i == JOB_DIGEST)
		ck_assert_uint_eq(got.digest.sum, 0xfedcba9876543210);
	if (_i == JOB_APPEND)
		ck_assert_uint_eq(got.append.done, 6);
	else if (_i == JOB_VERIFY)
		ck_assert_uint_eq(got.verify.right, 1);
	else if (_i == JOB_LIST)
		ck_assert_uint_eq(got.list.entries, 99);
	if (job_finds(_i)) {
		ck_assert_uint_eq(got.find.name_number, _i == JOB_LIST ? 0 : 2);
		ck_assert(!got.find.unchanged);
		ck_assert_mem_eq(&got.find.version, &job.find.version, sizeof(version));
		ck_assert_uint_eq(got.find.facts.mode, 0100644);
		ck_assert_uint_eq(got.find.facts.uid, 1000);
		ck_assert(got.find.facts.strong && got.find.facts.in_memory);
		ck_assert(!got.find.facts.handle);
		ck_assert_uint_eq(got.find.watched, JOB_WATCHED_ALL);
		ck_assert_mem_eq(&got.find.waypoints, &job.find.waypoints,
		    sizeof(got.find.waypoints));
		ck_assert_mem_eq(&got.find.facts.cached, &job.find.facts.cached,
		    sizeof(version));
		fstat(got.fd, &a);
		fstat(STDIN_FILENO, &b);
		ck_assert_uint_eq(a.st_ino, b.st_ino);
	} else if (_i == JOB_COPY)
		ck_assert_int_ne(got.fd, sample(_i).fd);
	else if (_i == JOB_CLOSE)
		ck_assert_int_eq(got.fd, -1);
	else
		ck_assert_int_eq(got.fd, sample(_i).fd);
}
END_TEST

START_TEST(reply_with_handle)
{
	struct job	job = done_job(JOB_RESOLVE);

	got = sample(JOB_RESOLVE);
	job.find.facts.handle = true;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert(got.find.facts.handle);
	ck_assert_int_ne(got.fd, -1);
}
END_TEST

START_TEST(reply_with_copy)
{
	struct job	job = done_job(JOB_RESOLVE);

	got = sample(JOB_RESOLVE);
	job.find.facts.copy = true;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert(got.find.facts.copy && !got.find.facts.handle);
	ck_assert_int_ne(got.fd, -1);
}
END_TEST

/* A program that the path of 4 bytes leads to. */
static struct job
program_job(void)
{
	struct job	job = done_job(JOB_RESOLVE);

	job.fd = -1;
	job.resolve.program = job.resolve.executable = true;
	job.resolve.split = 4;
	return job;
}

START_TEST(reply_with_program)
{
	struct job	job = program_job();
	int		before = descriptors();

	got = sample(JOB_RESOLVE);
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert(got.resolve.program && got.resolve.executable);
	ck_assert_uint_eq(got.resolve.split, 4);
	ck_assert_uint_eq(got.find.name_number, 2);
	ck_assert_uint_eq(got.find.facts.mode, 0100644);
	ck_assert_int_eq(got.fd, -1);
	ck_assert_int_eq(descriptors(), before);
}
END_TEST

static const struct {
	unsigned	where, width;
	int64_t		value;
	uint32_t	name_number;
} bad_programs[] = {
	{ ERROR,	4, ENOENT,	2 },
	{ UNCHANGED,	4, 7,		2 },	/* and unchanged */
	{ UNCHANGED,	4, 4,		2 },	/* executable alone */
	{ UNCHANGED,	4, 0,		2 },
	{ UNCHANGED,	4, 8,		2 },
	{ UNCHANGED,	4, 2 | 8,	2 },	/* a copy of a program */
	{ SPLIT,	8, 5,		0 },	/* more than the path */
	{ SPLIT,	8, -1,		0 },
	{ SPLIT,	8, 3,		2 },	/* not all, and a name */
	{ DONE,		8, 1,		2 },	/* siblings */
	{ R_WITH_FD,	4, 1,		2 },
};

START_TEST(reply_with_bad_program)
{
	struct job	job = program_job();
	char		bytes[1000];

	job.find.name_number = bad_programs[_i].name_number;
	reply_bytes(&job, bytes);
	patch(bytes, bad_programs[_i].where, bad_programs[_i].width,
	    bad_programs[_i].value);
	send_bytes(fd[1], bytes, REPLY_SIZE, -1);
	got = sample(JOB_RESOLVE);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert(!got.resolve.program);
}
END_TEST

/* A program in reply to a job that knows none. */
START_TEST(reply_with_unknown_program)
{
	struct job	job = program_job();

	got = sample(JOB_RESOLVE);
	got.find.programs.len = 0;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
}
END_TEST

/* The first bytes bring a file, and those with a directory; the next ones do
 * not. */
START_TEST(reply_with_spool)
{
	struct job	job = sample(JOB_SPOOL);
	int		before = descriptors();

	got = sample(JOB_SPOOL);
	got.fd = -1;
	got.spool.has_file = job.spool.has_file = _i == 1;
	got.spool.directory = job.spool.directory = _i == 1 ? "/var" : NULL;
	job.spool.device = _i == 1 ? 7 : 0;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert_int_ne(got.fd, -1);
	ck_assert_uint_eq(got.spool.device, job.spool.device);
	ck_assert_int_eq(descriptors(), before + 1);
	io_close(&got.fd);
}
END_TEST

/* What was found has a size within the bounds of the request. */
START_TEST(reply_with_store)
{
	struct job	job = sample(JOB_STORE);
	int		before = descriptors();

	got = sample(JOB_STORE);
	got.fd = -1;
	got.store.has_file = job.store.has_file = false;
	job.store.size = _i == 1 ? 1001 : 1000;
	job.store.notes_size = _i == 2 ? JOB_NOTES_MAX + 1 : JOB_NOTES_MAX;
	job.store.renewal = 77;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	if (_i > 0) {
		ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
		ck_assert_int_eq(descriptors(), before);
		return;
	}
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert_int_ne(got.fd, -1);
	ck_assert_uint_eq(got.store.size, 1000);
	ck_assert_uint_eq(got.store.notes_size, JOB_NOTES_MAX);
	ck_assert_uint_eq(got.store.renewal, 77);
	ck_assert_int_eq(descriptors(), before + 1);
	io_close(&got.fd);
}
END_TEST

START_TEST(reply_unchanged)
{
	struct job	job = done_job(_i == 0 ? JOB_RESOLVE :
			    _i == 1 ? JOB_LIST : JOB_COMPRESS);
	int		before = descriptors();

	got = sample(job.kind);
	job.find.unchanged = true;
	job.fd = -1;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert(got.find.unchanged);
	ck_assert_int_eq(got.fd, -1);
	/* An unchanged version stays, whatever else the reply has. */
	ck_assert_mem_eq(&got.find.version, &version, sizeof(version));
	ck_assert_uint_eq(got.find.facts.mode, 0100644);
	ck_assert_int_eq(descriptors(), before);
}
END_TEST

START_TEST(reply_with_error)
{
	struct job	job = sample(_i);
	int		before = descriptors();

	got = sample(_i);
	job.error = EIO;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	ck_assert_int_eq(got.error, EIO);
	ck_assert_int_eq(descriptors(), before);
}
END_TEST

/* Never blocks, even if the socket would. */
START_TEST(reply_not_yet)
{
	got = sample(JOB_READ);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
	ck_assert_int_eq(errno, EAGAIN);
	io_close(&fd[1]);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 0);
}
END_TEST

/* What is denied: part of the path of 4 bytes, or one of two names behind. */
START_TEST(denied_arrives)
{
	struct job	job = sample(JOB_RESOLVE);

	for (job.find.denied = 0; job.find.denied < 9; job.find.denied++) {
		job.error = EACCES;
		got = sample(JOB_RESOLVE);
		ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
		ck_assert_int_eq(wire_recv_reply(fd[0], &got),
		    job.find.denied <= 6 ? 1 : -1);
		ck_assert_uint_eq(got.find.denied, job.find.denied <= 6 ?
		    job.find.denied : 0);
	}
}
END_TEST

static const struct {
	enum job_kind	kind;
	unsigned	where, width;
	int64_t		value;
} bad_replies[] = {
	{ JOB_RESOLVE,	MAGIC,	4, 0 },
	{ JOB_RESOLVE,	MAGIC,	4, 0x6a6f6201 },	/* a request */
	{ JOB_RESOLVE,	KIND,	4, JOB_READ },
	{ JOB_RESOLVE,	KIND,	4, -1 },
	{ JOB_RESOLVE,	ID,	8, 1 },
	{ JOB_RESOLVE,	ERROR,	4, -1 },
	{ JOB_RESOLVE,	ERROR,	4, EIO },		/* and a file */
	{ JOB_RESOLVE,	NAME_NUMBER, 4, 3 },			/* of two */
	{ JOB_RESOLVE,	NAME_NUMBER, 4, -1 },
	{ JOB_RESOLVE,	R_SIZE,	8, -1 },
	{ JOB_RESOLVE,	R_MTIME_NS, 4, 1000000000 },
	{ JOB_RESOLVE,	UNCHANGED, 4, 1 },			/* and a file */
	{ JOB_RESOLVE,	UNCHANGED, 4, 2 },
	{ JOB_RESOLVE,	STRONG, 4, 2 },
	{ JOB_RESOLVE,	IN_MEMORY, 4, 2 },
	{ JOB_RESOLVE,	R_WITH_FD, 4, 0 },
	{ JOB_RESOLVE,	R_WITH_FD, 4, 3 },
	{ JOB_RESOLVE,	CACHED_INO, 8, 1 },		/* has no cache_dir */
	{ JOB_RESOLVE,	DONE,	8, 4 },			/* of two */
	{ JOB_RESOLVE,	DONE,	8, -1 },
	{ JOB_RESOLVE,	WATCHED, 4, 3 },
	{ JOB_RESOLVE,	WATCHED + 4, 4, 1 },
	{ JOB_RESOLVE,	WAYPOINTS, 4, 33 },		/* more than there are */
	{ JOB_RESOLVE,	W_KIND, 4, 3 },
	{ JOB_RESOLVE,	W_BYTES, 4, 5 },		/* more than the path */
	{ JOB_READ,	WATCHED, 4, 1 },
	{ JOB_READ,	WAYPOINTS, 4, 1 },
	{ JOB_READ,	KIND,	4, JOB_APPEND },
	{ JOB_READ,	ERROR,	4, -5 },
	{ JOB_READ,	NAME_NUMBER, 4, 1 },
	{ JOB_READ,	UNCHANGED, 4, 1 },
	{ JOB_READ,	R_WITH_FD, 4, 1 },
	{ JOB_READ,	DONE,	8, 1001 },		/* more than asked */
	{ JOB_READ,	DONE,	8, -1 },
	{ JOB_COPY,	ERROR,	4, EIO },		/* and a file */
	{ JOB_COPY,	R_WITH_FD, 4, 0 },
	{ JOB_COPY,	R_WITH_FD, 4, 2 },		/* no handle */
	{ JOB_COPY,	DONE,	8, 1001 },		/* more than asked */
	{ JOB_DIGEST,	R_WITH_FD, 4, 1 },
	{ JOB_DIGEST,	DONE,	8, 1001 },		/* more than asked */
	{ JOB_SPOOL,	R_WITH_FD, 4, 1 },
	{ JOB_SPOOL,	DONE,	8, 1 },
	{ JOB_STORE,	R_WITH_FD, 4, 1 },
	{ JOB_STORE,	CACHED_SIZE, 8, 1 },
	{ JOB_CLOSE,	R_WITH_FD, 4, 1 },
	{ JOB_CLOSE,	DONE,	8, 1 },
	{ JOB_APPEND,	DONE,	8, 8 },
	{ JOB_VERIFY,	DONE,	8, 2 },
	{ JOB_LIST,	NAME_NUMBER, 4, 1 },
	{ JOB_LIST,	KIND,	4, JOB_RESOLVE },
	{ JOB_LIST,	ERROR,	4, EIO },		/* and a file */
	{ JOB_LIST,	UNCHANGED, 4, 1 },
	{ JOB_LIST,	R_WITH_FD, 4, 0 },
	{ JOB_LIST,	DONE,	8, 101 },		/* more than asked */
	{ JOB_COMPRESS,	KIND,	4, JOB_LIST },
	{ JOB_COMPRESS,	ERROR,	4, EFBIG },		/* and a file */
	{ JOB_COMPRESS,	CACHED_SIZE, 8, -1 },
	{ JOB_COMPRESS,	DONE,	8, -1 },		/* no errno */
	{ JOB_COMPRESS,	CACHED_MTIME_NS, 4, 1000000000 },
	{ JOB_COMPRESS,	R_WITH_FD, 4, 0 }
};

START_TEST(reply_malformed)
{
	struct job	job = done_job(bad_replies[_i].kind);
	struct job	asked = sample(bad_replies[_i].kind);
	char		bytes[1000];
	int		before;

	reply_bytes(&job, bytes);
	before = descriptors();
	patch(bytes, bad_replies[_i].where, bad_replies[_i].width,
	    bad_replies[_i].value);
	send_bytes(fd[1], bytes, REPLY_SIZE, job.fd);
	got = asked;
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_mem_eq(&got, &asked, sizeof(got));	/* left alone */
	ck_assert_int_eq(descriptors(), before);
}
END_TEST

/* A partial reply, and a reply with a descriptor too many. */
START_TEST(reply_misshapen)
{
	struct job	job = sample(JOB_READ);
	char		bytes[1000];
	int		before;

	reply_bytes(&job, bytes);
	before = descriptors();
	got = sample(JOB_READ);
	send_bytes(fd[1], bytes, REPLY_SIZE, fd[1]);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
	send_bytes(fd[1], bytes, REPLY_SIZE - 1, fd[1]);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_int_eq(descriptors(), before);
}
END_TEST

/* "Unchanged" in reply to a job without a version. */
START_TEST(reply_unchanged_without_version)
{
	struct job	job = done_job(JOB_RESOLVE);

	job.find.unchanged = true;
	job.fd = -1;
	got = sample(JOB_RESOLVE);
	got.find.has_version = false;
	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), -1);
	ck_assert_int_eq(errno, EBADMSG);
}
END_TEST

/* Out of descriptors: the job fails, and the reply is valid. */
START_TEST(reply_without_room)
{
	struct job	job = done_job(JOB_RESOLVE);
	struct rlimit	limit;
	rlim_t		was;

	ck_assert_int_eq(wire_send_reply(fd[1], &job), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	was = limit.rlim_cur;
	limit.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	got = sample(JOB_RESOLVE);
	ck_assert_int_eq(wire_recv_reply(fd[0], &got), 1);
	limit.rlim_cur = was;
	setrlimit(RLIMIT_NOFILE, &limit);
	ck_assert_int_eq(got.error, EMFILE);
	ck_assert_int_eq(got.fd, -1);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, reply_arrives, 0, JOB_KIND_COUNT);
	tcase_add_test(tests, reply_with_handle);
	tcase_add_test(tests, reply_with_program);
	tcase_add_loop_test(tests, reply_with_bad_program, 0,
	    COUNT(bad_programs));
	tcase_add_test(tests, reply_with_copy);
	tcase_add_test(tests, reply_with_unknown_program);
	tcase_add_loop_test(tests, reply_with_spool, 0, 2);
	tcase_add_loop_test(tests, reply_with_store, 0, 3);
	tcase_add_loop_test(tests, reply_unchanged, 0, 3);
	tcase_add_loop_test(tests, reply_with_error, 0, JOB_KIND_COUNT);
	tcase_add_test(tests, reply_not_yet);
	tcase_add_test(tests, denied_arrives);
	tcase_add_loop_test(tests, reply_malformed, 0, COUNT(bad_replies));
	tcase_add_test(tests, reply_misshapen);
	tcase_add_test(tests, reply_unchanged_without_version);
	tcase_add_test(tests, reply_without_room);
}
