/*
 * Tests of helpers/wire: requests over the pipe in any pieces; all other bytes
 * are refused, and no descriptor stays open.  Replies: wire_reply.c.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>

#include "t/unit/helpers/wires.h"

static void
check_bytes(struct str a, struct str b)
{
	ck_assert_uint_eq(a.len, b.len);
	if (b.len > 0)
		ck_assert_mem_eq(a.at, b.at, b.len);
}

static void
check_find(const struct job_find *a, const struct job_find *b)
{
	ck_assert_str_eq(a->root, b->root);
	ck_assert_str_eq(a->path, b->path);
	check_bytes(a->names, b->names);
	check_bytes(a->programs, b->programs);
	ck_assert(a->has_version == b->has_version);
	ck_assert(a->same_mount == b->same_mount);
	ck_assert_uint_eq(a->mount_len, b->mount_len);
	ck_assert_mem_eq(&a->version, &b->version, sizeof(version));
	ck_assert_int_eq(a->links, b->links);
	ck_assert_uint_eq(a->min_uid, b->min_uid);
	ck_assert((a->user != NULL) == (b->user != NULL));
	if (b->user != NULL)
		ck_assert_str_eq(a->user, b->user);
}

static void
check_request(const struct job *sent)
{
	struct stat	a, b;

	ck_assert_uint_eq(got.id, sent->id);
	ck_assert_int_eq(got.kind, sent->kind);
	ck_assert_int_eq(got.error, 0);
	if (job_finds(sent->kind))
		check_find(&got.find, &sent->find);
	if (sent->kind == JOB_LIST) {
		check_bytes(got.list.hidden, sent->list.hidden);
		check_bytes(got.list.template, sent->list.template);
		ck_assert_uint_eq(got.list.entries_max, 100);
		ck_assert_int_eq(got.list.bytes_max, 10000);
	} else if (sent->kind == JOB_RESOLVE) {
		check_bytes(got.resolve.siblings, sent->resolve.siblings);
		ck_assert_uint_eq(got.resolve.sibling, 2);
		ck_assert_int_eq(got.resolve.copy_max, 16384);
		ck_assert(got.resolve.for_reading);
		ck_assert(got.resolve.references);
		check_bytes(got.resolve.others, sent->resolve.others);
	} else if (sent->kind == JOB_COMPRESS) {
		ck_assert_str_eq(got.compress.cache_dir,
		    sent->compress.cache_dir);
		ck_assert_uint_eq(got.compress.size_max, 1000);
		ck_assert_uint_eq(got.compress.coding, CODING_GZIP);
		ck_assert_uint_eq(got.compress.level, 7);
	} else if (job_has_range(sent->kind)) {
		ck_assert_int_eq(got.range.offset, 65536);
		ck_assert_uint_eq(got.range.length, 1000);
		ck_assert_mem_eq(&got.range.version, &version,
		    sizeof(version));
		if (sent->kind == JOB_DIGEST)
			ck_assert(got.digest.has_version);
	} else if (sent->kind == JOB_SPOOL) {
		check_bytes(got.spool.bytes, sent->spool.bytes);
		ck_assert_int_eq(got.spool.directory != NULL,
		    sent->spool.directory != NULL);
		if (sent->spool.directory != NULL)
			ck_assert_str_eq(got.spool.directory,
			    sent->spool.directory);
		ck_assert_int_eq(got.spool.offset, sent->spool.offset);
		ck_assert(got.spool.has_file == sent->spool.has_file);
	} else if (sent->kind == JOB_STORE) {
		ck_assert_str_eq(got.store.directory, sent->store.directory);
		ck_assert_str_eq(got.store.group, sent->store.group);
		check_bytes(got.store.bytes, sent->store.bytes);
		ck_assert_uint_eq(got.store.key_size, 3);
		ck_assert(got.store.has_file == sent->store.has_file);
		ck_assert_uint_eq(got.store.renewal, 5);
		ck_assert_int_eq(got.store.max, 1000);
		ck_assert_uint_eq(got.store.size, sent->store.size);
	} else if (sent->kind == JOB_VERIFY) {
		ck_assert_str_eq(got.verify.file, sent->verify.file);
		check_bytes(got.verify.both, sent->verify.both);
	} else {
		ck_assert_int_eq(got.append.log, sent->append.log);
		check_bytes(got.append.bytes, sent->append.bytes);
	}
	if (sent->fd != -1) {
		ck_assert_int_eq(fstat(sent->fd, &a), 0);
		ck_assert_int_eq(fstat(got.fd, &b), 0);
		ck_assert_uint_eq(a.st_ino, b.st_ino);
		ck_assert_int_ne(got.fd, sent->fd);
		close(got.fd);
	} else
		ck_assert_int_eq(got.fd, -1);
}

/* Sends a copy of the sample, so that its fd stays open. */
static void
send_request(const struct job *job)
{
	struct job	sent = *job;
	bool		goes = job->kind == JOB_CLOSE;

	if (goes)
		sent.fd = dup(job->fd);
	ck_assert_int_eq(wire_send_request(fd[0], &sent), 0);
	ck_assert_int_eq(sent.fd, goes ? -1 : job->fd);
}

/* The bytes of a job's request, without its descriptor.  That of a CLOSE comes
 * with the first byte alone. */
static size_t
request_bytes(const struct job *job, char *bytes, size_t size)
{
	ssize_t	n, rest = 0;
	int	came;

	send_request(job);
	n = io_recv_message(fd[1], bytes, size, &came, 0);
	io_close(&came);
	if (job->kind == JOB_CLOSE) {
		ck_assert_int_eq(n, 1);
		rest = recv(fd[1], bytes + 1, size - 1, 0);
	}
	ck_assert_int_gt(n + rest, 1);
	return (size_t)(n + rest);
}

START_TEST(kinds_and_empty_jobs)
{
	struct job	job;

	ck_assert_str_eq(job_kind_name(JOB_RESOLVE), "resolve");
	ck_assert_str_eq(job_kind_name(JOB_READ), "read");
	ck_assert_str_eq(job_kind_name(JOB_APPEND), "append");
	ck_assert_str_eq(job_kind_name(JOB_LIST), "list");
	ck_assert_str_eq(job_kind_name(JOB_VERIFY), "verify");
	ck_assert_str_eq(job_kind_name(JOB_COPY), "copy");
	ck_assert_str_eq(job_kind_name(JOB_CLOSE), "close");
	ck_assert_str_eq(job_kind_name(JOB_DIGEST), "digest");
	ck_assert_str_eq(job_kind_name(JOB_SPOOL), "spool");
	ck_assert_str_eq(job_kind_name(JOB_STORE), "store");
	memset(&job, 0xff, sizeof(job));
	job_init(&job, JOB_APPEND);
	ck_assert_int_eq(job.kind, JOB_APPEND);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_uint_eq(job.id, 0);
	ck_assert_ptr_null(job.append.bytes.at);
}
END_TEST

START_TEST(request_arrives)
{
	struct job	job = sample(_i);
	int		before = descriptors();

	send_request(&job);
	send_request(&job);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	check_request(&job);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	check_request(&job);
	io_close(&fd[0]);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 0);
	ck_assert_int_eq(descriptors(), before - 1);
}
END_TEST

START_TEST(request_without_texts)
{
	struct job	job = sample(JOB_RESOLVE);

	job.find.root = "/x";
	job.find.path = "";
	job.find.names = (struct str){ NULL, 0 };
	ck_assert_int_eq(wire_send_request(fd[0], &job), 0);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	ck_assert_str_eq(got.find.path, "");
	ck_assert_uint_eq(got.find.names.len, 0);
	job = sample(JOB_APPEND);
	job.append.bytes.len = 0;
	ck_assert_int_eq(wire_send_request(fd[0], &job), 0);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	ck_assert_uint_eq(got.append.bytes.len, 0);
}
END_TEST

/* From a writer that sends byte after byte. */
/* One that is not absolute has no meaning. */
START_TEST(directory_travels)
{
	struct job	job = sample(JOB_SPOOL);

	job.spool.directory = _i == 0 ? "/var/spool" : "var/spool";
	send_request(&job);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer),
	    _i == 0 ? 1 : -1);
	if (_i == 0)
		check_request(&job);
	else
		ck_assert_int_eq(errno, EBADMSG);
}
END_TEST

START_TEST(request_byte_by_byte)
{
	struct job	job = sample(_i);
	char		bytes[1000];
	size_t		n = request_bytes(&job, bytes, sizeof(bytes));
	int		small = 1, status;

	setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	if (fork() == 0) {
		for (size_t i = 0; i < n; i++)
			send_bytes(fd[0], bytes + i, 1, i == 0 ? job.fd : -1);
		_exit(0);
	}
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	check_request(&job);
	wait(&status);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* The pipe closes within the message, at each byte in turn. */
START_TEST(request_cut_short)
{
	struct job	job = sample(_i);
	char		bytes[1000];
	size_t		n = request_bytes(&job, bytes, sizeof(bytes));
	int		before = descriptors();

	for (size_t i = 1; i < n; i++) {
		send_bytes(fd[0], bytes, i, job.fd);
		shutdown(fd[0], SHUT_WR);
		ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), -1);
		ck_assert_int_eq(errno, EBADMSG);
		ck_assert_int_eq(descriptors(), before);
		unmake();
		make();
	}
}
END_TEST

/* A job with a user and another policy on links. */
static struct job
sample_of_user(enum job_kind kind)
{
	struct job	job = sample(kind);

	job.find.root = "www";
	job.find.links = JOB_LINKS_OWNER;
	job.find.user = "joe";
	job.find.min_uid = 1000;
	return job;
}

START_TEST(user_travels)
{
	static const enum job_kind	kinds[] = { JOB_RESOLVE, JOB_LIST };
	static char			longest[JOB_USER_MAX + 1];
	struct job			job = sample_of_user(kinds[_i]);

	ck_assert_int_eq(wire_send_request(fd[0], &job), 0);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	check_request(&job);
	memset(longest, 'u', JOB_USER_MAX - 1);
	job.find.user = longest;
	ck_assert_int_eq(wire_send_request(fd[0], &job), 0);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	check_request(&job);
	longest[JOB_USER_MAX - 1] = 'u';
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

START_TEST(words_of_links)
{
	ck_assert_int_eq(job_links_find("beneath"), 0);
	ck_assert_int_eq(job_links_find("none"), JOB_LINKS_NONE);
	ck_assert_int_eq(job_links_find("owner"), JOB_LINKS_OWNER);
	ck_assert_int_eq(job_links_find("all"), JOB_LINKS_ALL);
	ck_assert_int_eq(job_links_find("al"), JOB_LINKS_COUNT);
	ck_assert_int_eq(job_links_find(""), JOB_LINKS_COUNT);
}
END_TEST

/* Jobs at the limits, also by non-blocking sockets. */
START_TEST(largest_requests)
{
	static char	text[JOB_PATH_MAX], data[JOB_DATA_MAX];
	struct job	job = sample(JOB_RESOLVE);

	io_nonblock(fd[0]);
	memset(text, 'p', JOB_PATH_MAX - 1);
	text[0] = '/';
	job.find.root = text;
	job.find.path = text + 1;
	ck_assert_int_eq(wire_send_request(fd[0], &job), 0);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	check_request(&job);
	job = sample(JOB_APPEND);
	memset(data, 'd', sizeof(data));
	job.append.bytes = (struct str){ data, JOB_DATA_MAX };
	ck_assert_int_eq(wire_send_request(fd[0], &job), 0);
	ck_assert_int_eq(wire_recv_request(fd[1], &got, buffer), 1);
	check_request(&job);
}
END_TEST

/* Beyond the limits nothing is sent, so the pipe can be used on. */
START_TEST(too_large_to_send)
{
	static char	text[JOB_PATH_MAX + 1], data[JOB_DATA_MAX + 1];
	struct job	job;
	char		byte;

	memset(text, 'p', sizeof(text) - 1);
	text[0] = '/';
	job = sample(JOB_RESOLVE);
	job.find.root = text;
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	job = sample(JOB_RESOLVE);
	job.find.path = text;
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	job = sample(JOB_RESOLVE);
	job.find.names = (struct str){ text, sizeof(text) };
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	job = sample(JOB_LIST);
	job.list.template = (struct str){ data, sizeof(data) };
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	job = sample(JOB_APPEND);
	job.append.bytes = (struct str){ data, sizeof(data) };
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, EFBIG);
	job = sample(JOB_RESOLVE);
	job.find.programs = (struct str){ text, sizeof(text) };
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	job = sample(JOB_SPOOL);
	job.spool.bytes = (struct str){ data, sizeof(data) };
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, EFBIG);
	job = sample(JOB_SPOOL);
	job.spool.directory = text;
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	job = sample(JOB_VERIFY);
	job.verify.file = text;
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	ck_assert_int_eq(recv(fd[1], &byte, 1, MSG_DONTWAIT), -1);
}
END_TEST

/* A number in a request is replaced by one that makes it invalid. */
static const struct {
	enum job_kind	kind;
	unsigned	where, width;
	int64_t		value;
} bad_requests[] = {
	{ JOB_RESOLVE,	MAGIC,	4, 0 },
	{ JOB_RESOLVE,	MAGIC,	4, 0x6a6f6200 },
	{ JOB_RESOLVE,	MAGIC,	4, 0x01626f6a },	/* other byte order */
	{ JOB_RESOLVE,	KIND,	4, JOB_READ },
	{ JOB_RESOLVE,	KIND,	4, JOB_APPEND },
	{ JOB_RESOLVE,	KIND,	4, JOB_KIND_COUNT },
	{ JOB_RESOLVE,	KIND,	4, -1 },
	{ JOB_RESOLVE,	ROOT,	4, 0 },
	{ JOB_RESOLVE,	ROOT,	4, 1 },
	{ JOB_RESOLVE,	ROOT,	4, 8 },
	{ JOB_RESOLVE,	ROOT,	4, 10 },
	{ JOB_RESOLVE,	ROOT,	4, JOB_PATH_MAX + 1 },
	{ JOB_RESOLVE,	ROOT,	4, -1 },
	{ JOB_RESOLVE,	PATH,	4, 0 },
	{ JOB_RESOLVE,	PATH,	4, 4 },
	{ JOB_RESOLVE,	PATH,	4, 6 },
	{ JOB_RESOLVE,	PATH,	4, JOB_PATH_MAX + 1 },
	{ JOB_RESOLVE,	PATH,	4, -1 },
	{ JOB_RESOLVE,	NAMES,	4, sizeof(names) - 1 },
	{ JOB_RESOLVE,	NAMES,	4, JOB_PATH_MAX + 1 },
	{ JOB_RESOLVE,	NAMES,	4, -1 },
	{ JOB_RESOLVE,	DATA,	4, 1 },
	{ JOB_RESOLVE,	DATA,	4, sizeof(suffixes) - 1 },
	{ JOB_RESOLVE,	DATA,	4, JOB_PATH_MAX + 1 },
	{ JOB_RESOLVE,	LENGTH,	8, 3 },			/* of two */
	{ JOB_RESOLVE,	LENGTH,	8, -1 },
	{ JOB_RESOLVE,	FLAGS,	4, 16 },
	{ JOB_RESOLVE,	WITH_FD, 4, 1 },
	{ JOB_RESOLVE,	SIZE,	8, -1 },
	{ JOB_RESOLVE,	MTIME_NS, 4, 1000000000 },
	{ JOB_RESOLVE,	CTIME_NS, 4, -1 },
	{ JOB_RESOLVE,	OFFSET,	8, -1 },
	{ JOB_RESOLVE,	LINKS,	4, JOB_LINKS_COUNT },
	{ JOB_RESOLVE,	LINKS,	4, -1 },
	{ JOB_RESOLVE,	USER,	4, 1 },
	{ JOB_RESOLVE,	USER,	4, JOB_USER_MAX + 1 },
	{ JOB_RESOLVE,	USER,	4, -1 },
	{ JOB_RESOLVE,	MIN_UID, 4, 1 },
	{ JOB_RESOLVE,	MOUNT_LEN, 4, 1 },
	{ JOB_RESOLVE,	WATCH,	4, 3 },
	{ JOB_RESOLVE,	PROGRAMS, 4, 1 },
	{ JOB_RESOLVE,	PROGRAMS, 4, JOB_PATH_MAX + 1 },
	{ JOB_RESOLVE,	PROGRAMS, 4, -1 },
	{ JOB_LIST,	PROGRAMS, 4, 1 },
	{ JOB_READ,	WATCH,	4, 1 },
	{ JOB_READ,	LINKS,	4, 1 },
	{ JOB_READ,	USER,	4, 2 },
	{ JOB_APPEND,	LINKS,	4, 1 },
	{ JOB_APPEND,	MIN_UID, 4, 1 },
	{ JOB_APPEND,	MOUNT_LEN, 4, 1 },
	{ JOB_READ,	KIND,	4, JOB_RESOLVE },
	{ JOB_READ,	KIND,	4, JOB_APPEND },
	{ JOB_READ,	ROOT,	4, 2 },
	{ JOB_READ,	PATH,	4, 1 },
	{ JOB_READ,	NAMES,	4, 1 },
	{ JOB_READ,	DATA,	4, 1 },
	{ JOB_READ,	WITH_FD, 4, 0 },
	{ JOB_READ,	WITH_FD, 4, 2 },
	{ JOB_READ,	OFFSET,	8, -1 },
	{ JOB_READ,	OFFSET,	8, INT64_MAX },
	{ JOB_READ,	LENGTH,	8, INT64_MAX },
	{ JOB_READ,	LENGTH,	8, -1 },
	{ JOB_COPY,	KIND,	4, JOB_RESOLVE },
	{ JOB_COPY,	KIND,	4, JOB_KIND_COUNT },
	{ JOB_COPY,	PATH,	4, 1 },
	{ JOB_COPY,	WITH_FD, 4, 0 },
	{ JOB_COPY,	LENGTH,	8, INT64_MAX },
	{ JOB_DIGEST,	WITH_FD, 4, 0 },
	{ JOB_DIGEST,	LENGTH,	8, INT64_MAX },
	{ JOB_CLOSE,	KIND,	4, JOB_RESOLVE },
	{ JOB_CLOSE,	ROOT,	4, 2 },
	{ JOB_CLOSE,	DATA,	4, 1 },
	{ JOB_CLOSE,	OFFSET,	8, -1 },
	{ JOB_CLOSE,	LENGTH,	8, INT64_MAX },
	{ JOB_CLOSE,	WITH_FD, 4, 0 },
	{ JOB_APPEND,	KIND,	4, JOB_READ },
	{ JOB_APPEND,	ROOT,	4, 1 },
	{ JOB_APPEND,	DATA,	4, 6 },
	{ JOB_APPEND,	DATA,	4, JOB_DATA_MAX + 1 },
	{ JOB_APPEND,	LENGTH,	8, 8 },
	{ JOB_APPEND,	LENGTH,	8, -1 },
	{ JOB_APPEND,	OFFSET,	8, -1 },
	{ JOB_APPEND,	WITH_FD, 4, 1 },
	{ JOB_SPOOL,	KIND,	4, JOB_APPEND },
	{ JOB_SPOOL,	ROOT,	4, 1 },
	{ JOB_SPOOL,	DATA,	4, 8 },
	{ JOB_SPOOL,	DATA,	4, JOB_DATA_MAX + 1 },
	{ JOB_SPOOL,	LENGTH,	8, 7 },
	{ JOB_SPOOL,	OFFSET,	8, -1 },
	{ JOB_SPOOL,	OFFSET,	8, INT64_MAX },
	{ JOB_SPOOL,	WITH_FD, 4, 0 },
	{ JOB_SPOOL,	WITH_FD, 4, 2 },
	{ JOB_STORE,	KIND,	4, JOB_APPEND },
	{ JOB_STORE,	ROOT,	4, 0 },
	{ JOB_STORE,	PATH,	4, 0 },
	{ JOB_STORE,	DATA,	4, JOB_DATA_MAX + 1 },
	{ JOB_STORE,	LENGTH,	8, 9 },			/* of eight */
	{ JOB_STORE,	OFFSET,	8, -1 },
	{ JOB_STORE,	VERSION + 8, 8, -1 },		/* its size */
	{ JOB_STORE,	SIZE,	8, 1 },
	{ JOB_STORE,	WITH_FD, 4, 0 },
	{ JOB_STORE,	WITH_FD, 4, 2 },
	{ JOB_LIST,	MOUNT_LEN, 4, 5 },			/* of four */
	{ JOB_LIST,	MOUNT_LEN, 4, -1 },
	{ JOB_LIST,	FLAGS,	4, 1 },			/* no same_mount */
	{ JOB_LIST,	KIND,	4, JOB_RESOLVE },
	{ JOB_LIST,	KIND,	4, JOB_APPEND },
	{ JOB_LIST,	ROOT,	4, 1 },
	{ JOB_LIST,	PATH,	4, 0 },
	{ JOB_LIST,	DATA,	4, 0 },
	{ JOB_LIST,	DATA,	4, sizeof(template) - 1 },
	{ JOB_LIST,	DATA,	4, JOB_DATA_MAX + 1 },
	{ JOB_LIST,	WITH_FD, 4, 1 },
	{ JOB_LIST,	OFFSET,	8, -1 },
	{ JOB_VERIFY,	KIND,	4, JOB_APPEND },
	{ JOB_VERIFY,	KIND,	4, JOB_LIST },
	{ JOB_VERIFY,	ROOT,	4, 0 },
	{ JOB_VERIFY,	ROOT,	4, 1 },
	{ JOB_VERIFY,	ROOT,	4, 14 },
	{ JOB_VERIFY,	PATH,	4, 1 },
	{ JOB_VERIFY,	NAMES,	4, 1 },
	{ JOB_VERIFY,	DATA,	4, 0 },
	{ JOB_VERIFY,	DATA,	4, sizeof(both) - 1 },
	{ JOB_VERIFY,	LENGTH,	8, sizeof(both) - 1 },
	{ JOB_VERIFY,	LENGTH,	8, sizeof(both) + 1 },
	{ JOB_VERIFY,	TEXTS,	1, 'x' },		/* relative */
	{ JOB_VERIFY,	TEXTS + 15 + 4, 1, ' ' },	/* one text */
	{ JOB_VERIFY,	TEXTS + 15, 1, 0 },		/* three */
	{ JOB_VERIFY,	TEXTS + 5, 1, 0 },
	{ JOB_VERIFY,	WITH_FD, 4, 1 },
	{ JOB_COMPRESS,	KIND,	4, JOB_LIST },
	{ JOB_COMPRESS,	KIND,	4, JOB_RESOLVE },
	{ JOB_COMPRESS,	ROOT,	4, 1 },
	{ JOB_COMPRESS,	PATH,	4, 0 },
	{ JOB_COMPRESS,	DATA,	4, 1 },
	{ JOB_COMPRESS,	DATA,	4, 10 },
	{ JOB_COMPRESS,	DATA,	4, JOB_PATH_MAX + 1 },
	{ JOB_COMPRESS,	WITH_FD, 4, 1 },
	{ JOB_COMPRESS,	CODING,	4, CODING_COUNT },
	{ JOB_COMPRESS,	LEVEL,	4, CODING_LEVEL_MAX + 1 },
	{ JOB_COMPRESS,	OFFSET,	8, -1 },
	{ JOB_RESOLVE,	CODING,	4, 1 },
	{ JOB_RESOLVE,	RESERVED, 4, 1 },
	{ JOB_RESOLVE,	OTHERS,	4, JOB_PATH_MAX + 1 },
	{ JOB_LIST,	OTHERS,	4, 1 }
};

/* Receives these bytes, behind which the pipe closes. */
static int
receive(char *bytes, size_t n, int beside)
{
	send_bytes(fd[0], bytes, n, beside);
	shutdown(fd[0], SHUT_WR);
	return wire_recv_request(fd[1], &got, buffer);
}

START_TEST(request_malformed)
{
	struct job	job = sample(bad_requests[_i].kind);
	char		bytes[1000];
	size_t		n = request_bytes(&job, bytes, sizeof(bytes));
	int		before = descriptors();

	patch(bytes, bad_requests[_i].where, bad_requests[_i].width,
	    bad_requests[_i].value);
	ck_assert_int_eq(receive(bytes, n, job.fd), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_int_eq(descriptors(), before);
}
END_TEST

/* One byte changed in "/srv/www\0dir/\0index.html\0index.htm\0". */
static const struct {
	size_t	at;
	char	byte;
	int	result;
} bad_texts[] = {
	{ 0,	'/',	1 },	/* as it was */
	{ 0,	's',	-1 },	/* root not absolute */
	{ 0,	'\0',	-1 },
	{ 5,	'\0',	-1 },	/* ends early */
	{ 8,	'x',	-1 },	/* does not end */
	{ 9,	'/',	-1 },	/* path absolute */
	{ 9,	'\0',	-1 },
	{ 13,	'x',	-1 },
	{ 14,	'\0',	-1 },	/* empty name */
	{ 24,	'x',	1 },	/* one long name */
	{ 25,	'\0',	-1 },	/* empty second name */
	{ 34,	'x',	-1 }	/* does not end */
};

START_TEST(request_bad_texts)
{
	struct job	job = sample(JOB_RESOLVE);
	char		bytes[1000];
	size_t		n = request_bytes(&job, bytes, sizeof(bytes));

	bytes[TEXTS + bad_texts[_i].at] = bad_texts[_i].byte;
	ck_assert_int_eq(receive(bytes, n, -1), bad_texts[_i].result);
	if (bad_texts[_i].result == -1)
		ck_assert_int_eq(errno, EBADMSG);
}
END_TEST

/* The same with "www\0dir/\0index.html\0index.htm\0joe\0". */
static const struct {
	size_t	at;
	char	byte;
	int	result;
} bad_users[] = {
	{ 30 + sizeof(suffixes),	'J',	1 },	/* another */
	{ 0,	'/',	-1 },	/* root not beneath the home */
	{ 31 + sizeof(suffixes), '\0',	-1 },	/* ends early */
	{ 33 + sizeof(suffixes), 'x',	-1 }	/* does not end */
};

START_TEST(request_bad_user)
{
	struct job	job = sample_of_user(JOB_RESOLVE);
	char		bytes[1000];
	size_t		n = request_bytes(&job, bytes, sizeof(bytes));

	bytes[TEXTS + bad_users[_i].at] = bad_users[_i].byte;
	ck_assert_int_eq(receive(bytes, n, -1), bad_users[_i].result);
}
END_TEST

/* A template with too few texts, too many, or without a terminator. */
START_TEST(request_bad_template)
{
	static const struct {
		const char	*template;
		size_t		 len;
	} bad[] = {
		{ template, sizeof(template) - 1 },
		{ template, sizeof(template) - 5 },
		{ "\0\0\0\0\0\0\0\0", 9 },
		{ "name", 5 },
	};
	struct job	job = sample(JOB_LIST);
	char		bytes[1000];

	job.list.template.at = bad[_i].template;
	job.list.template.len = bad[_i].len;
	ck_assert_int_eq(receive(bytes, request_bytes(&job, bytes,
	    sizeof(bytes)), -1), -1);
	ck_assert_int_eq(errno, EBADMSG);
}
END_TEST

/* A descriptor too many, or missing. */
START_TEST(request_wrong_descriptor)
{
	struct job	job = sample(_i);
	char		bytes[1000];
	size_t		n = request_bytes(&job, bytes, sizeof(bytes));
	int		before = descriptors();

	ck_assert_int_eq(receive(bytes, n, job.fd == -1 ? fd[0] : -1), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_int_eq(descriptors(), before);
}
END_TEST

/* Random bytes from a fixed seed, which are a request or not. */
START_TEST(request_noise)
{
	struct job	job = sample(_i);
	char		bytes[1000], noisy[1000];
	size_t		n = request_bytes(&job, bytes, sizeof(bytes));
	int		before = descriptors(), result, refused = 0;

	srandom(1);
	for (int i = 0; i < 2000; i++) {
		memcpy(noisy, bytes, n);
		for (long k = random() % 4; k >= 0; k--)
			noisy[(size_t)random() % n] = (char)random();
		result = receive(noisy, n, random() % 2 ? job.fd : fd[0]);
		refused += result == -1;
		if (result == 1)
			io_close(&got.fd);
		unmake();
		make();
	}
	ck_assert_int_eq(descriptors(), before);
	ck_assert_int_gt(refused, 0);
}
END_TEST

START_TEST(nobody_there)
{
	struct job	job = sample(JOB_READ);

	io_close(&fd[1]);
	ck_assert_int_eq(wire_send_request(fd[0], &job), -1);
	ck_assert_int_eq(errno, EPIPE);
	ck_assert_int_eq(wire_send_reply(fd[0], &job), -1);
	ck_assert_int_eq(errno, EPIPE);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_test(tests, kinds_and_empty_jobs);
	tcase_add_loop_test(tests, request_arrives, 0, JOB_KIND_COUNT);
	tcase_add_test(tests, request_without_texts);
	tcase_add_loop_test(tests, user_travels, 0, 2);
	tcase_add_loop_test(tests, directory_travels, 0, 2);
	tcase_add_test(tests, words_of_links);
	tcase_add_loop_test(tests, request_bad_user, 0, COUNT(bad_users));
	tcase_add_loop_test(tests, request_byte_by_byte, 0, JOB_KIND_COUNT);
	tcase_add_loop_test(tests, request_cut_short, 0, JOB_KIND_COUNT);
	tcase_add_test(tests, largest_requests);
	tcase_add_test(tests, too_large_to_send);
	tcase_add_loop_test(tests, request_malformed, 0, COUNT(bad_requests));
	tcase_add_loop_test(tests, request_bad_texts, 0, COUNT(bad_texts));
	tcase_add_loop_test(tests, request_bad_template, 0, 4);
	tcase_add_loop_test(tests, request_wrong_descriptor, 0, JOB_KIND_COUNT);
	tcase_add_loop_test(tests, request_noise, 0, JOB_KIND_COUNT);
	tcase_add_test(tests, nobody_there);
}
