/*
 * wire: sends and receives requests and replies.
 *
 * The process at the other end may be faulty, or under an attacker's control:
 * each received value is checked before use.
 */
#include <sys/uio.h>

#include <errno.h>
#include <string.h>

#include "helpers/wire.h"
#include "lib/io.h"
#include "lib/need.h"

/* Letters and version 2 of the format; the numbers show the byte order, too. */
#define REQUEST_MAGIC	0x6a6f6202
#define REPLY_MAGIC	0x616e7302

#define REQUEST_HAS_VERSION	1u
#define REQUEST_SAME_MOUNT	2u

/* Texts follow with their terminators: root, path, names, data, user. */
struct wire_request {
	uint32_t	magic;
	uint32_t	kind;
	uint64_t	id;
	uint32_t	root_size, path_size, names_size;
	uint32_t	data_size;
	uint32_t	flags;			/* of REQUEST_ */
	uint32_t	with_fd;		/* 0, 1 */
	struct job_version version;
	int64_t		offset;
	uint64_t	length;
	uint32_t	links, user_size, min_uid;
	uint32_t	mount_len;
};

struct wire_reply {
	uint32_t	magic;
	uint32_t	kind;
	uint64_t	id;
	int32_t		error;
	uint32_t	name_number;
	struct job_version version;
	uint32_t	mode, uid;
	uint32_t	unchanged, strong, in_memory;	/* 0, 1 */
	uint32_t	with_fd;		/* 0, 1; 2: a handle */
	uint64_t	done;
	struct job_version cached;
};

/* Padding would carry bytes of our memory to the other end. */
_Static_assert(sizeof(struct wire_request) == 40 + 48 + 32,
    "padding in the request");
_Static_assert(sizeof(struct wire_reply) == 24 + 2 * 48 + 32,
    "padding in the reply");
_Static_assert(3 * JOB_PATH_MAX + JOB_DATA_MAX + JOB_USER_MAX <= WIRE_MAX,
    "a request does not fit its buffer");

/*
 * Requests
 */

/* Whether the request has a root and a path, and the reply a file. */
static bool
has_path(enum job_kind kind)
{
	return kind == JOB_RESOLVE || kind == JOB_LIST || kind == JOB_COMPRESS;
}

static size_t
text_size(const char *text)
{
	return text != NULL ? strlen(text) + 1 : 0;
}

/* The data that travel with a job; NULL: none. */
static const char *
job_data(const struct job *job, size_t *size)
{
	switch (job->kind) {
	case JOB_RESOLVE:
		*size = job->siblings_len;
		return job->siblings;
	case JOB_LIST:
		*size = job->template_len;
		return job->template;
	case JOB_COMPRESS:
		*size = text_size(job->cache_dir);
		return job->cache_dir;
	case JOB_APPEND:
	case JOB_VERIFY:
		*size = job->length;
		return job->data;
	default:
		*size = 0;
		return NULL;
	}
}

/* Sets the parts of the message, the header first; returns their number. */
static int
pack_request(const struct job *job, struct wire_request *request,
    struct iovec *parts)
{
	size_t		 size;
	const char	*at[] = { job->root, job->path, job->names,
	    job_data(job, &size), job->user };
	uint32_t	*sizes[] = { &request->root_size, &request->path_size,
	    &request->names_size, &request->data_size, &request->user_size };
	int		 n = 0;

	parts[n].iov_base = request;
	parts[n++].iov_len = sizeof(*request);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (*sizes[i] == 0)
			continue;
		/* Drops const: sendmsg() only reads. */
		memcpy(&parts[n].iov_base, &at[i], sizeof(at[i]));
		parts[n++].iov_len = *sizes[i];
	}
	return n;
}

static int
set_sizes(const struct job *job, struct wire_request *request)
{
	size_t	root = text_size(job->root), path = text_size(job->path);
	size_t	user = text_size(job->user), data;

	job_data(job, &data);
	if (data > JOB_DATA_MAX) {
		errno = has_path(job->kind) ? ENAMETOOLONG : EFBIG;
		return -1;
	}
	if (root > JOB_PATH_MAX || path > JOB_PATH_MAX ||
	    job->names_len > JOB_PATH_MAX || user > JOB_USER_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	request->root_size = (uint32_t)root;
	request->path_size = (uint32_t)path;
	request->names_size = (uint32_t)job->names_len;
	request->data_size = (uint32_t)data;
	request->user_size = (uint32_t)user;
	return 0;
}

/* Whether a descriptor travels that stays open here. */
static bool
lends_file(enum job_kind kind)
{
	return kind == JOB_READ || kind == JOB_COPY;
}

/*
 * Sends the descriptor with the first byte, and closes ours before the rest of
 * the request: the receiver needs the rest to begin, so it is the last process
 * that has the file open.
 */
static int
send_closing(int sock, const struct wire_request *request, int *fd)
{
	struct wire_request	copy = *request;
	struct iovec		first = { .iov_base = &copy, .iov_len = 1 };
	struct iovec		rest = { .iov_base = (char *)&copy + 1,
			    .iov_len = sizeof(copy) - 1 };

	if (io_send_message(sock, &first, 1, *fd) == -1)
		return -1;
	io_close(fd);
	return io_send_message(sock, &rest, 1, -1);
}

int
wire_send_request(int sock, struct job *job)
{
	struct wire_request	request = {
		.magic = REQUEST_MAGIC,
		.kind = job->kind,
		.id = job->id,
		.flags = (job->has_version ? REQUEST_HAS_VERSION : 0) |
		    (job->same_mount ? REQUEST_SAME_MOUNT : 0),
		.with_fd = lends_file(job->kind) || job->kind == JOB_CLOSE,
		.version = job->version,
		.offset = job->offset,
		.length = job->length,
		.links = job->links,
		.min_uid = job->min_uid,
		.mount_len = job->same_mount ? (uint32_t)job->mount_len : 0
	};
	struct iovec	parts[6];
	int		n;

	if (set_sizes(job, &request) == -1)
		return -1;
	need(!request.with_fd || job->fd != -1);
	if (job->kind == JOB_CLOSE)
		return send_closing(sock, &request, &job->fd);
	n = pack_request(job, &request, parts);
	return io_send_message(sock, parts, n, request.with_fd ? job->fd : -1);
}

static bool
version_fits(const struct job_version *v)
{
	return v->size >= 0 && v->mtime_ns < 1000000000 &&
	    v->ctime_ns < 1000000000;
}

/* Whether the members that this kind uses are set, and no others. */
static bool
kind_fits(const struct wire_request *r)
{
	bool	located = r->path_size != 0 || r->names_size != 0 ||
	    r->user_size != 0 || r->links != 0 || r->min_uid != 0 ||
	    r->mount_len != 0;

	switch (r->kind) {
	case JOB_RESOLVE:
		return r->root_size > 1 && r->path_size > 0 &&
		    r->data_size <= JOB_PATH_MAX && !r->with_fd;
	case JOB_COMPRESS:
		return r->root_size > 1 && r->path_size > 0 &&
		    r->data_size <= JOB_PATH_MAX && r->data_size != 1 &&
		    !r->with_fd;
	case JOB_LIST:
		return r->root_size > 1 && r->path_size > 0 &&
		    r->data_size > 0 && !r->with_fd;
	case JOB_READ:
	case JOB_COPY:
		return !located && r->root_size == 0 && r->data_size == 0 &&
		    r->with_fd &&
		    r->length <= (uint64_t)(INT64_MAX - r->offset);
	case JOB_CLOSE:
		return !located && r->root_size == 0 && r->data_size == 0 &&
		    r->with_fd && r->offset == 0 && r->length == 0;
	case JOB_APPEND:
		return !located && r->root_size == 0 && !r->with_fd &&
		    r->length == r->data_size;
	case JOB_VERIFY:
		return !located && r->root_size > 1 && r->data_size > 1 &&
		    r->length == r->data_size && !r->with_fd;
	default:
		return false;
	}
}

static bool
request_fits(const struct wire_request *r)
{
	return r->magic == REQUEST_MAGIC && r->kind < JOB_KIND_COUNT &&
	    r->root_size <= JOB_PATH_MAX && r->path_size <= JOB_PATH_MAX &&
	    r->names_size <= JOB_PATH_MAX && r->data_size <= JOB_DATA_MAX &&
	    r->user_size <= JOB_USER_MAX && r->user_size != 1 &&
	    (r->user_size != 0 || r->min_uid == 0) &&
	    r->links < JOB_LINKS_COUNT &&
	    (r->mount_len == 0 || ((r->flags & REQUEST_SAME_MOUNT) != 0 &&
	    r->mount_len < r->path_size)) &&
	    r->flags <= (REQUEST_HAS_VERSION | REQUEST_SAME_MOUNT) &&
	    r->with_fd <= 1 && r->offset >= 0 &&
	    version_fits(&r->version) && kind_fits(r);
}

/* Whether the bytes are one text, with its only NUL at the end. */
static bool
text_fits(const char *text, size_t size)
{
	return memchr(text, '\0', size) == text + size - 1;
}

/* Whether the bytes are terminated texts in a row, none empty. */
static bool
list_fits(const char *at, size_t size)
{
	size_t	len;

	if (size > 0 && at[size - 1] != '\0')
		return false;
	for (; size > 0; at += len + 1, size -= len + 1) {
		len = strlen(at);
		if (len == 0)
			return false;
	}
	return true;
}

static unsigned
count_texts(const char *at, size_t size)
{
	unsigned	n = 0;

	for (size_t i = 0; i < size; i++)
		n += at[i] == '\0';
	return n;
}

/* Whether the bytes are so many terminated texts in a row, maybe empty. */
static bool
texts_fit(const char *at, size_t size, unsigned count)
{
	return count_texts(at, size) == count && at[size - 1] == '\0';
}

static bool
unpack_data(const struct wire_request *r, struct job *job, const char *at)
{
	unsigned	n;

	switch (r->kind) {
	case JOB_LIST:
		job->template = at;
		job->template_len = r->data_size;
		return texts_fit(at, r->data_size, JOB_TEMPLATE_COUNT);
	case JOB_COMPRESS:
		job->cache_dir = r->data_size > 0 ? at : NULL;
		return r->data_size == 0 ||
		    (text_fits(at, r->data_size) && at[0] == '/');
	default:
		job->siblings = at;
		job->siblings_len = r->data_size;
		n = count_texts(at, r->data_size);
		return list_fits(at, r->data_size) && n <= JOB_SIBLINGS_MAX &&
		    r->length <= n;
	}
}

static bool
unpack_texts(const struct wire_request *r, struct job *job, const char *at)
{
	job->root = at;
	job->path = at + r->root_size;
	job->names = job->path + r->path_size;
	job->names_len = r->names_size;
	if (r->user_size > 0) {
		job->user = job->names + r->names_size + r->data_size;
		if (!text_fits(job->user, r->user_size))
			return false;
	}
	return unpack_data(r, job, job->names + r->names_size) &&
	    text_fits(job->root, r->root_size) &&
	    text_fits(job->path, r->path_size) &&
	    list_fits(job->names, r->names_size) &&
	    (job->root[0] == '/') == (job->user == NULL) &&
	    job->path[0] != '/';
}

/* Fills in the job, whose texts and data point into the buffer. */
static bool
unpack_request(const struct wire_request *r, struct job *job, const char *at)
{
	job_init(job, r->kind);
	job->id = r->id;
	job->has_version = (r->flags & REQUEST_HAS_VERSION) != 0;
	job->same_mount = (r->flags & REQUEST_SAME_MOUNT) != 0;
	job->version = r->version;
	job->offset = r->offset;
	job->length = r->length;
	job->links = r->links;
	job->min_uid = r->min_uid;
	job->mount_len = r->mount_len;
	if (has_path(r->kind))
		return unpack_texts(r, job, at);
	job->data = at + r->root_size;
	if (r->kind != JOB_VERIFY)
		return true;
	job->root = at;
	return text_fits(at, r->root_size) && at[0] == '/' &&
	    texts_fit(job->data, r->data_size, 2);
}

/* Reads the rest of a message; EOF is an error here. */
static int
read_rest(int sock, void *at, size_t size)
{
	ssize_t	n = io_read_all(sock, at, size);

	if (n == -1)
		return -1;
	if ((size_t)n < size) {
		errno = EBADMSG;
		return -1;
	}
	return 0;
}

/* Reads all behind the first n bytes of the header. */
static int
recv_rest(int sock, struct wire_request *r, size_t n, struct job *job,
    char *buffer)
{
	if (read_rest(sock, (char *)r + n, sizeof(*r) - n) == -1)
		return -1;
	if (!request_fits(r)) {
		errno = EBADMSG;
		return -1;
	}
	if (read_rest(sock, buffer, (size_t)r->root_size + r->path_size +
	    r->names_size + r->data_size + r->user_size) == -1)
		return -1;
	if (!unpack_request(r, job, buffer)) {
		errno = EBADMSG;
		return -1;
	}
	return 0;
}

int
wire_recv_request(int sock, struct job *job, char *buffer)
{
	struct wire_request	request;
	ssize_t			n;
	int			fd;

	n = io_recv_message(sock, &request, sizeof(request), &fd);
	if (n <= 0)
		return (int)n;
	if (recv_rest(sock, &request, (size_t)n, job, buffer) == -1) {
		io_close(&fd);
		return -1;
	}
	if ((fd != -1) != (request.with_fd != 0)) {
		io_close(&fd);
		errno = EBADMSG;
		return -1;
	}
	job->fd = fd;
	return 1;
}

/*
 * Replies
 */

/* Whether an open file belongs to this reply. */
static bool
brings_file(enum job_kind kind, int error, bool unchanged)
{
	return (has_path(kind) || kind == JOB_COPY) && error == 0 && !unchanged;
}

int
wire_send_reply(int sock, const struct job *job)
{
	struct wire_reply	r = {
		.magic = REPLY_MAGIC,
		.kind = job->kind,
		.id = job->id,
		.error = job->error,
		.name_number = job->name_number,
		.version = job->version,
		.mode = job->facts.mode,
		.uid = job->facts.uid,
		.unchanged = job->unchanged,
		.strong = job->facts.strong,
		.in_memory = job->facts.in_memory,
		.with_fd = brings_file(job->kind, job->error, job->unchanged),
		.done = job->done,
		.cached = job->facts.cached
	};
	struct iovec	part = { .iov_base = &r, .iov_len = sizeof(r) };

	need(!r.with_fd || job->fd != -1);
	if (r.with_fd && job->facts.handle)
		r.with_fd = 2;
	return io_send_message(sock, &part, 1, r.with_fd ? job->fd : -1);
}

static bool
flags_fit(const struct wire_reply *r)
{
	return r->unchanged <= 1 && r->strong <= 1 && r->in_memory <= 1 &&
	    r->with_fd <= (r->kind == JOB_RESOLVE || r->kind == JOB_COMPRESS ?
	    2 : 1);
}

static bool
done_fits(const struct wire_reply *r, const struct job *job)
{
	unsigned	suffixes;

	if (job->kind != JOB_RESOLVE)
		return r->done <= job->length;
	suffixes = count_texts(job->siblings, job->siblings_len);
	return r->done < (uint64_t)1 << suffixes;
}

/* Whether this can be the reply to that job. */
static bool
reply_fits(const struct wire_reply *r, const struct job *job)
{
	unsigned	count = count_texts(job->names, job->names_len);

	return r->magic == REPLY_MAGIC && r->kind == job->kind &&
	    r->id == job->id && r->error >= 0 && r->name_number <= count &&
	    done_fits(r, job) && flags_fit(r) &&
	    (!r->unchanged || (job->has_version && r->error == 0)) &&
	    version_fits(&r->version) && version_fits(&r->cached) &&
	    (r->kind == JOB_COMPRESS || r->cached.ino == 0) &&
	    (r->with_fd > 0) == brings_file(job->kind, r->error, r->unchanged);
}

static void
fill_job(struct job *job, const struct wire_reply *r, int fd)
{
	/* The kernel drops a descriptor if our limit is reached. */
	job->error = r->with_fd && fd == -1 ? EMFILE : r->error;
	job->unchanged = r->unchanged;
	job->name_number = r->name_number;
	if (!r->unchanged)
		job->version = r->version;
	job->facts = (struct job_facts){ .mode = r->mode, .uid = r->uid,
	    .strong = r->strong, .in_memory = r->in_memory,
	    .handle = r->with_fd == 2, .cached = r->cached };
	job->done = r->done;
	if (job->kind != JOB_READ)		/* READ: fd is the caller's */
		job->fd = fd;
}

int
wire_recv_reply(int sock, struct job *job)
{
	struct wire_reply	reply;
	ssize_t			n;
	int			fd;

	n = io_recv_message_nowait(sock, &reply, sizeof(reply), &fd);
	if (n <= 0)
		return (int)n;
	/* A reply is so small that it arrives whole. */
	if (n != sizeof(reply) || !reply_fits(&reply, job) ||
	    (fd != -1 && !reply.with_fd)) {
		io_close(&fd);
		errno = EBADMSG;
		return -1;
	}
	fill_job(job, &reply, fd);
	return 1;
}
