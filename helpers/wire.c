/*
 * wire: sends and receives requests and replies.
 *
 * The process at the other end may be faulty, or under an attacker's control:
 * each received value is checked before use.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "helpers/filters/coding.h"
#include "helpers/wire.h"
#include "lib/io.h"
#include "lib/need.h"

/* Letters and version 4 of the format; the numbers show the byte order, too. */
#define REQUEST_MAGIC	0x6a6f6204
#define REPLY_MAGIC	0x616e7304

/* Texts follow with their terminators: root, path, names, data, user,
 * programs, others. */
struct wire_request {
	uint32_t	magic;
	uint32_t	kind;
	uint64_t	id;
	uint32_t	root_size, path_size, names_size;
	uint32_t	data_size;
	uint32_t	flags;			/* has_version, same_mount,
						 * for_reading, references */
	uint32_t	with_fd;		/* 0, 1 */
	struct job_version version;
	int64_t		offset;
	uint64_t	length;
	uint32_t	links, user_size, min_uid;
	uint32_t	mount_len;
	uint32_t	watch, programs_size;
	uint32_t	coding, level;
	uint32_t	others_size, reserved;
};

struct wire_reply {
	uint32_t	magic;
	uint32_t	kind;
	uint64_t	id;
	int32_t		error;
	uint32_t	name_number;
	struct job_version version;
	uint32_t	mode, uid;
	uint32_t	flags;			/* unchanged, program,
						 * executable */
	uint32_t	strong, in_memory;	/* 0, 1 */
	uint32_t	with_fd;		/* 0, 1; 2: a handle */
	uint64_t	done;
	struct job_version cached;
	uint32_t	watched, denied;
	uint64_t	others_sum;
	struct job_waypoints waypoints;
};

/* Padding would carry bytes of our memory to the other end. */
_Static_assert(sizeof(struct wire_request) == 40 + 48 + 56,
    "padding in the request");
_Static_assert(sizeof(struct wire_reply) == 24 + 2 * 48 + 32 + 24 +
    16 * JOB_WAYPOINTS_MAX,
    "padding in the reply");
/* A NUL follows its texts. */
_Static_assert(4 * JOB_PATH_MAX + JOB_DATA_MAX + JOB_USER_MAX < WIRE_MAX,
    "a request does not fit its buffer");

/*
 * Fields: which member of a job of which kinds travels where in a message.
 *
 * A message has zeros in place of what is not of its kind.  To check that, what
 * has been received is packed again: the same bytes must come out.
 */
enum field_type {
	FIELD_U32,
	FIELD_U64,
	FIELD_I64,			/* not negative */
	FIELD_BIT1, FIELD_BIT2, FIELD_BIT4, FIELD_BIT8,	/* a bool: this
						 * bit of 4 bytes */
	FIELD_VERSION,
	FIELD_WAYPOINTS,
	FIELD_TEXT,			/* its size; 0: NULL */
	FIELD_STR,			/* its size */
	FIELD_SIZE			/* the size once more, in 8 bytes */
};

struct field {
	unsigned		kinds;		/* a bit for each */
	enum field_type		type;
	size_t			at, in_job;	/* where */
	size_t			max;		/* of a text: bytes */
};

#define KIND(kind)	(1U << JOB_##kind)
#define FIND		(KIND(RESOLVE) | KIND(LIST) | KIND(COMPRESS))
#define NAMED		(KIND(RESOLVE) | KIND(COMPRESS))
#define RANGE		(KIND(READ) | KIND(COPY) | KIND(DIGEST) | KIND(CLOSE))
#define REQUEST(kinds, type, at, member, max)				\
	{ kinds, FIELD_##type, offsetof(struct wire_request, at),	\
	    offsetof(struct job, member), max }
#define REPLY(kinds, type, at, member)					\
	{ kinds, FIELD_##type, offsetof(struct wire_reply, at),		\
	    offsetof(struct job, member), 0 }

/* Texts in the order in which they follow. */
static const struct field request_fields[] = {
	REQUEST(FIND, TEXT, root_size, find.root, JOB_PATH_MAX),
	REQUEST(FIND, TEXT, path_size, find.path, JOB_PATH_MAX),
	REQUEST(NAMED, STR, names_size, find.names, JOB_PATH_MAX),
	REQUEST(FIND, BIT1, flags, find.has_version, 0),
	REQUEST(FIND, BIT2, flags, find.same_mount, 0),
	REQUEST(FIND, VERSION, version, find.version, 0),
	REQUEST(FIND, U32, links, find.links, 0),
	REQUEST(FIND, U32, min_uid, find.min_uid, 0),
	REQUEST(FIND, U32, mount_len, find.mount_len, 0),
	REQUEST(FIND, U32, watch, find.watch, 0),
	REQUEST(KIND(RESOLVE), STR, data_size, resolve.siblings, JOB_PATH_MAX),
	REQUEST(KIND(RESOLVE), U64, length, resolve.sibling, 0),
	REQUEST(KIND(RESOLVE), I64, offset, resolve.copy_max, 0),
	REQUEST(KIND(LIST), STR, names_size, list.hidden, JOB_PATH_MAX),
	REQUEST(KIND(LIST), STR, data_size, list.template, JOB_DATA_MAX),
	REQUEST(KIND(LIST), U64, length, list.entries_max, 0),
	REQUEST(KIND(LIST), I64, offset, list.bytes_max, 0),
	REQUEST(KIND(COMPRESS), TEXT, data_size, compress.cache_dir,
	    JOB_PATH_MAX),
	REQUEST(KIND(COMPRESS), U64, length, compress.size_max, 0),
	REQUEST(KIND(COMPRESS), U32, coding, compress.coding, 0),
	REQUEST(KIND(COMPRESS), U32, level, compress.level, 0),
	REQUEST(KIND(COMPRESS), BIT1, with_fd, compress.has_file, 0),
	REQUEST(FIND, TEXT, user_size, find.user, JOB_USER_MAX),
	REQUEST(RANGE, I64, offset, range.offset, 0),
	REQUEST(RANGE, U64, length, range.length, 0),
	REQUEST(RANGE, VERSION, version, range.version, 0),
	REQUEST(KIND(COPY), BIT1, flags, copy.has_version, 0),
	REQUEST(KIND(DIGEST), BIT1, flags, digest.has_version, 0),
	REQUEST(KIND(APPEND), I64, offset, append.log, 0),
	REQUEST(KIND(APPEND), STR, data_size, append.bytes, JOB_DATA_MAX),
	REQUEST(KIND(APPEND), SIZE, length, append.bytes, 0),
	REQUEST(NAMED, STR, programs_size, find.programs, JOB_PATH_MAX),
	REQUEST(KIND(RESOLVE), STR, others_size, resolve.others, JOB_PATH_MAX),
	REQUEST(KIND(RESOLVE), BIT4, flags, resolve.for_reading, 0),
	REQUEST(KIND(RESOLVE), BIT8, flags, resolve.references, 0),
	REQUEST(KIND(SPOOL), TEXT, root_size, spool.directory, JOB_PATH_MAX),
	REQUEST(KIND(SPOOL), STR, data_size, spool.bytes, JOB_DATA_MAX),
	REQUEST(KIND(SPOOL), I64, offset, spool.offset, 0),
	REQUEST(KIND(SPOOL), BIT1, with_fd, spool.has_file, 0),
	REQUEST(KIND(STORE), TEXT, root_size, store.directory, JOB_PATH_MAX),
	REQUEST(KIND(STORE), TEXT, path_size, store.group, JOB_PATH_MAX),
	REQUEST(KIND(STORE), STR, data_size, store.bytes, JOB_DATA_MAX),
	REQUEST(KIND(STORE), U64, length, store.key_size, 0),
	REQUEST(KIND(STORE), BIT1, with_fd, store.has_file, 0),
	REQUEST(KIND(STORE), U64, version.dev, store.renewal, 0),
	REQUEST(KIND(STORE), U64, version.ino, store.size, 0),
	REQUEST(KIND(STORE), I64, offset, store.max, 0),
	REQUEST(KIND(VERIFY), TEXT, root_size, verify.file, JOB_PATH_MAX),
	REQUEST(KIND(VERIFY), STR, data_size, verify.both, JOB_DATA_MAX),
	REQUEST(KIND(VERIFY), SIZE, length, verify.both, 0)
};

static const struct field reply_fields[] = {
	REPLY(FIND, BIT1, flags, find.unchanged),
	REPLY(FIND, VERSION, version, find.version),
	REPLY(FIND, U32, mode, find.facts.mode),
	REPLY(FIND, U32, uid, find.facts.uid),
	REPLY(FIND, BIT1, strong, find.facts.strong),
	REPLY(FIND, BIT1, in_memory, find.facts.in_memory),
	REPLY(FIND, U32, watched, find.watched),
	REPLY(FIND, WAYPOINTS, waypoints, find.waypoints),
	REPLY(NAMED, U32, name_number, find.name_number),
	REPLY(KIND(RESOLVE), U32, denied, find.denied),
	REPLY(KIND(RESOLVE), U64, done, resolve.counting),
	REPLY(KIND(RESOLVE), U64, others_sum, resolve.others_sum),
	REPLY(KIND(RESOLVE), BIT2, flags, resolve.program),
	REPLY(KIND(RESOLVE), BIT4, flags, resolve.executable),
	REPLY(KIND(RESOLVE), BIT8, flags, find.facts.copy),
	REPLY(KIND(RESOLVE), U64, cached.dev, resolve.split),
	REPLY(KIND(LIST), U64, done, list.entries),
	REPLY(KIND(COMPRESS), VERSION, cached, find.facts.cached),
	REPLY(KIND(COMPRESS), U64, done, compress.unkept),
	REPLY(RANGE, U64, done, range.done),
	REPLY(KIND(READ), BIT1, in_memory, read.was_in_memory),
	REPLY(KIND(DIGEST), U64, cached.dev, digest.sum),
	REPLY(KIND(SPOOL), U64, cached.dev, spool.device),
	REPLY(KIND(STORE), U64, cached.dev, store.renewal),
	REPLY(KIND(STORE), U64, cached.ino, store.size),
	REPLY(KIND(STORE), U64, done, store.notes_size),
	REPLY(KIND(APPEND), U64, done, append.done),
	REPLY(KIND(VERIFY), U64, done, verify.right)
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static bool
is_of_kind(const struct field *f, enum job_kind kind)
{
	return (f->kinds >> kind & 1) != 0;
}

static bool
is_text(const struct field *f)
{
	return f->type == FIELD_TEXT || f->type == FIELD_STR;
}

/* The bit of a bool; 0: the field is none. */
static uint32_t
get_bit(const struct field *f)
{
	return f->type == FIELD_BIT1 ? 1 : f->type == FIELD_BIT2 ? 2 :
	    f->type == FIELD_BIT4 ? 4 : f->type == FIELD_BIT8 ? 8 : 0;
}

/* The text or the bytes of a member; len is the size that travels. */
static struct str
get_text(const struct field *f, const void *member)
{
	const char *const	*text = member;

	if (f->type != FIELD_TEXT)
		return *(const struct str *)member;
	return (struct str){ *text, *text != NULL ? strlen(*text) + 1 : 0 };
}

/* Puts a member of a job into a message. */
static void
put_field(const struct field *f, const void *member, char *at)
{
	uint64_t	size;
	uint32_t	word;

	switch (f->type) {
	case FIELD_BIT1:
	case FIELD_BIT2:
	case FIELD_BIT4:
	case FIELD_BIT8:
		memcpy(&word, at, sizeof(word));
		if (*(const bool *)member)
			word |= get_bit(f);
		memcpy(at, &word, sizeof(word));
		break;
	case FIELD_TEXT:
	case FIELD_STR:
		word = (uint32_t)get_text(f, member).len;
		memcpy(at, &word, sizeof(word));
		break;
	case FIELD_SIZE:
		size = get_text(f, member).len;
		memcpy(at, &size, sizeof(size));
		break;
	case FIELD_VERSION:
		memcpy(at, member, sizeof(struct job_version));
		break;
	case FIELD_WAYPOINTS:
		memcpy(at, member, sizeof(struct job_waypoints));
		break;
	default:
		memcpy(at, member, f->type == FIELD_U32 ? 4 : 8);
	}
}

static void
put_fields(const struct field *fields, size_t n, const struct job *job,
    void *message)
{
	for (const struct field *f = fields; f < fields + n; f++)
		if (is_of_kind(f, job->kind))
			put_field(f, (const char *)job + f->in_job,
			    (char *)message + f->at);
}

static bool
version_fits(const struct job_version *v)
{
	return v->size >= 0 && v->mtime_ns < 1000000000 &&
	    v->ctime_ns < 1000000000;
}

/* The next text, in the buffer behind *end, which is moved behind it. */
static bool
take_text(const struct field *f, void *member, size_t size, const char **end)
{
	if (size > f->max)
		return false;
	if (f->type == FIELD_STR)
		*(struct str *)member = (struct str){ *end, size };
	else if (size > 0)
		*(const char **)member = *end;
	*end += size;
	return true;
}

/* Fills in a member of a job from a message; false: it does not fit. */
static bool
take_field(const struct field *f, void *member, const char *at,
    const char **end)
{
	uint32_t	word;

	memcpy(&word, at, sizeof(word));
	switch (f->type) {
	case FIELD_BIT1:
	case FIELD_BIT2:
	case FIELD_BIT4:
	case FIELD_BIT8:
		*(bool *)member = (word & get_bit(f)) != 0;
		return true;
	case FIELD_TEXT:
	case FIELD_STR:
		return take_text(f, member, word, end);
	case FIELD_SIZE:
		return true;
	case FIELD_VERSION:
		memcpy(member, at, sizeof(struct job_version));
		return version_fits(member);
	case FIELD_WAYPOINTS:
		memcpy(member, at, sizeof(struct job_waypoints));
		return true;
	case FIELD_I64:
		memcpy(member, at, sizeof(int64_t));
		return *(const int64_t *)member >= 0;
	default:
		memcpy(member, at, f->type == FIELD_U32 ? 4 : 8);
		return true;
	}
}

static bool
take_fields(const struct field *fields, size_t n, struct job *job,
    const void *message, const char **end)
{
	for (const struct field *f = fields; f < fields + n; f++)
		if (is_of_kind(f, job->kind) &&
		    !take_field(f, (char *)job + f->in_job,
		    (const char *)message + f->at, end))
			return false;
	return true;
}

/*
 * Requests
 */

/* with_fd of a SPOOL, a STORE and a COMPRESS is a field. */
static void
pack_request(const struct job *job, struct wire_request *request)
{
	*request = (struct wire_request){
		.magic = REQUEST_MAGIC, .kind = job->kind, .id = job->id,
		.with_fd = job_has_range(job->kind)
	};
	put_fields(request_fields, COUNT(request_fields), job, request);
}

/* Sets the parts of the message behind the first; returns the number of all, or
 * -1 with errno if one is too large. */
static int
set_parts(const struct job *job, struct iovec *parts)
{
	struct str	text;
	int		n = 1;

	for (size_t i = 0; i < COUNT(request_fields); i++) {
		const struct field	*f = &request_fields[i];

		if (!is_of_kind(f, job->kind) || !is_text(f))
			continue;
		text = get_text(f, (const char *)job + f->in_job);
		if (text.len > f->max) {
			errno = f->type == FIELD_TEXT || job_finds(job->kind) ?
			    ENAMETOOLONG : EFBIG;
			return -1;
		}
		if (text.len == 0)
			continue;
		/* Drops const: sendmsg() only reads. */
		memcpy(&parts[n].iov_base, &text.at, sizeof(text.at));
		parts[n++].iov_len = text.len;
	}
	return n;
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
	struct wire_request	request;
	struct iovec		parts[8] = {
		{ .iov_base = &request, .iov_len = sizeof(request) }
	};
	int			n = set_parts(job, parts);

	if (n == -1)
		return -1;
	pack_request(job, &request);
	need(!request.with_fd || job->fd != -1);
	if (job->kind == JOB_CLOSE)
		return send_closing(sock, &request, &job->fd);
	return io_send_message(sock, parts, n, request.with_fd ? job->fd : -1);
}

static unsigned
count_texts(struct str s)
{
	unsigned	n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += s.at[i] == '\0';
	return n;
}

/* Whether the bytes are so many terminated texts in a row, maybe empty. */
static bool
texts_fit(struct str s, unsigned count)
{
	return count_texts(s) == count && s.at[s.len - 1] == '\0';
}

/* Whether the bytes are terminated texts in a row, none empty. */
static bool
list_fits(struct str s)
{
	bool	begins = true;

	for (size_t i = 0; i < s.len; i++) {
		if (begins && s.at[i] == '\0')
			return false;
		begins = s.at[i] == '\0';
	}
	return begins;
}

static bool
find_fits(const struct job_find *f)
{
	return f->root != NULL && f->path != NULL &&
	    (f->root[0] == '/') == (f->user == NULL) &&
	    f->root[0] != '\0' && f->path[0] != '/' &&
	    (f->user != NULL ? f->user[0] != '\0' : f->min_uid == 0) &&
	    f->links < JOB_LINKS_COUNT && f->watch < JOB_WATCH_COUNT &&
	    list_fits(f->names) && list_fits(f->programs) &&
	    (f->mount_len == 0 ||
	    (f->same_mount && f->mount_len <= strlen(f->path)));
}

static bool
store_fits(const struct job_store *s)
{
	return s->directory != NULL && s->directory[0] == '/' &&
	    s->group != NULL && s->key_size <= s->bytes.len &&
	    s->size <= INT64_MAX && s->notes_size == 0;
}

/* Whether the values of a request have a meaning. */
static bool
request_fits(const struct job *job)
{
	const char	*dir;
	unsigned	 n;

	if (job_finds(job->kind) && !find_fits(&job->find))
		return false;
	switch (job->kind) {
	case JOB_RESOLVE:
		n = count_texts(job->resolve.siblings);
		return list_fits(job->resolve.siblings) &&
		    list_fits(job->resolve.others) &&
		    n <= JOB_SIBLINGS_MAX && job->resolve.sibling <= n;
	case JOB_LIST:
		return list_fits(job->list.hidden) &&
		    texts_fit(job->list.template, JOB_TEMPLATE_COUNT);
	case JOB_COMPRESS:
		dir = job->compress.cache_dir;
		return (dir == NULL || dir[0] == '/') &&
		    job->compress.coding < CODING_COUNT &&
		    coding_is_built(job->compress.coding) &&
		    job->compress.level <= CODING_LEVEL_MAX;
	case JOB_READ:
	case JOB_COPY:
	case JOB_DIGEST:
	case JOB_CLOSE:
		return job->range.length <=
		    (uint64_t)(INT64_MAX - job->range.offset);
	case JOB_SPOOL:
		dir = job->spool.directory;
		return (dir == NULL || dir[0] == '/') && job->spool.bytes.len <=
		    (uint64_t)(INT64_MAX - job->spool.offset);
	case JOB_STORE:
		return store_fits(&job->store);
	case JOB_VERIFY:
		return job->verify.file != NULL && job->verify.file[0] == '/' &&
		    texts_fit(job->verify.both, 2);
	default:
		return true;
	}
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

/* Reads all behind the first n bytes of the header; the job's texts are in the
 * buffer. */
static int
recv_rest(int sock, struct wire_request *r, size_t n, struct job *job,
    char *buffer)
{
	struct wire_request	again;
	const char		*end = buffer;

	if (read_rest(sock, (char *)r + n, sizeof(*r) - n) == -1)
		return -1;
	errno = EBADMSG;
	if (r->kind >= JOB_KIND_COUNT)
		return -1;
	job_init(job, r->kind);
	job->id = r->id;
	if (!take_fields(request_fields, COUNT(request_fields), job, r, &end))
		return -1;
	if (read_rest(sock, buffer, (size_t)(end - buffer)) == -1)
		return -1;
	buffer[end - buffer] = '\0';	/* ends a text that lacks its NUL */
	pack_request(job, &again);
	if (memcmp(&again, r, sizeof(again)) == 0 && request_fits(job))
		return 0;
	errno = EBADMSG;
	return -1;
}

int
wire_recv_request(int sock, struct job *job, char *buffer)
{
	struct wire_request	request;
	ssize_t			n;
	int			fd;

	n = io_recv_message(sock, &request, sizeof(request), &fd, 0);
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
brings_file(const struct job *job)
{
	if (job->error != 0)
		return false;
	if (job->kind == JOB_RESOLVE && job->resolve.program)
		return false;
	return job_finds(job->kind) ? !job->find.unchanged :
	    job->kind == JOB_COPY || job_makes_file(job);
}

static bool
may_be_handle(enum job_kind kind)
{
	return kind == JOB_RESOLVE || kind == JOB_COMPRESS;
}

static void
pack_reply(const struct job *job, struct wire_reply *r)
{
	*r = (struct wire_reply){
		.magic = REPLY_MAGIC, .kind = job->kind, .id = job->id,
		.error = job->error, .with_fd = brings_file(job)
	};
	put_fields(reply_fields, COUNT(reply_fields), job, r);
	if (r->with_fd && may_be_handle(job->kind) && job->find.facts.handle)
		r->with_fd = 2;
}

int
wire_send_reply(int sock, const struct job *job)
{
	struct wire_reply	r;
	struct iovec		part = { .iov_base = &r, .iov_len = sizeof(r) };

	pack_reply(job, &r);
	need(!r.with_fd || job->fd != -1);
	return io_send_message(sock, &part, 1, r.with_fd ? job->fd : -1);
}

/* Whether the path has as many bytes as each waypoint says. */
static bool
waypoints_fit(const struct job_find *f)
{
	const struct job_waypoints	*all = &f->waypoints;
	size_t				 len = strlen(f->path);

	if (f->watched >= JOB_WATCHED_COUNT || all->n > JOB_WAYPOINTS_MAX ||
	    (f->watch == JOB_WATCH_NONE && (f->watched != 0 || all->n > 0)))
		return false;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->at[i].kind > JOB_WAYPOINT_FILE ||
		    all->at[i].number < 0 || all->at[i].bytes > len ||
		    (all->at[i].kind == JOB_WAYPOINT_DIRECTORY) !=
		    (all->at[i].name == 0))
			return false;
	return true;
}

/* Whether what is denied is the path, a part of it, or a name behind it. */
static bool
denied_fits(const struct job *job)
{
	const struct job_find	*f = &job->find;

	return f->denied == 0 || (job->error == EACCES &&
	    f->denied <= strlen(f->path) + count_texts(f->names));
}

/* Whether what a RESOLVE says of a program can be so. */
static bool
program_fits(const struct job *job)
{
	const struct job_resolve	*r = &job->resolve;
	size_t				 len = strlen(r->find.path);

	if (!r->program)
		return !r->executable && r->split == 0;
	return job->error == 0 && !r->find.unchanged && r->counting == 0 &&
	    r->find.programs.len > 0 && r->split <= len &&
	    (r->find.name_number == 0 || r->split == len);
}

/* Whether the result can be one of that job. */
static bool
result_fits(const struct job *job)
{
	unsigned	n;

	if (job->error < 0)
		return false;
	if (job_finds(job->kind) &&
	    (job->find.name_number > count_texts(job->find.names) ||
	    (job->find.unchanged &&
	    (!job->find.has_version || job->error != 0)) ||
	    !waypoints_fit(&job->find) || !denied_fits(job)))
		return false;
	switch (job->kind) {
	case JOB_RESOLVE:
		n = count_texts(job->resolve.siblings);
		return job->resolve.counting < (uint64_t)1 << n &&
		    program_fits(job) &&
		    (!job->find.facts.copy || (brings_file(job) &&
		    job->find.version.size <= job->resolve.copy_max));
	case JOB_LIST:
		return job->list.entries <= job->list.entries_max;
	case JOB_COMPRESS:
		return job->compress.unkept == 0 ||
		    (job->compress.cache_dir != NULL &&
		    job->compress.unkept <= INT_MAX);
	case JOB_READ:
	case JOB_COPY:
	case JOB_DIGEST:
		return job->range.done <= job->range.length;
	case JOB_CLOSE:
		return job->range.done == 0;
	case JOB_APPEND:
		return job->append.done <= job->append.bytes.len;
	case JOB_STORE:
		return job->store.has_file ||
		    (job->store.size <= (uint64_t)job->store.max &&
		    job->store.notes_size <= JOB_NOTES_MAX);
	case JOB_VERIFY:
		return job->verify.right <= 1;
	default:
		return true;
	}
}

/* Fills in the result of the job; false: this is no reply to it. */
static bool
take_reply(struct job *job, const struct wire_reply *r)
{
	struct job		result = *job;
	struct wire_reply	again;

	result.error = r->error;
	if (!take_fields(reply_fields, COUNT(reply_fields), &result, r, NULL))
		return false;
	if (may_be_handle(job->kind))
		result.find.facts.handle = r->with_fd == 2;
	pack_reply(&result, &again);
	if (memcmp(&again, r, sizeof(again)) != 0 || !result_fits(&result))
		return false;
	if (job_finds(job->kind) && result.find.unchanged)
		result.find.version = job->find.version;
	*job = result;
	return true;
}

/* Whether the caller keeps the file that it has read, summed up or added to. */
static bool
keeps_file(const struct job *job)
{
	return job->kind == JOB_READ || job->kind == JOB_DIGEST ||
	    ((job->kind == JOB_SPOOL || job->kind == JOB_STORE) &&
	    !job_makes_file(job));
}

int
wire_recv_reply(int sock, struct job *job)
{
	struct wire_reply	reply;
	ssize_t			n;
	int			fd;

	n = io_recv_message(sock, &reply, sizeof(reply), &fd, MSG_DONTWAIT);
	if (n <= 0)
		return (int)n;
	/* A reply is so small that it arrives whole. */
	if (n != sizeof(reply) || (fd != -1 && !reply.with_fd) ||
	    !take_reply(job, &reply)) {
		io_close(&fd);
		errno = EBADMSG;
		return -1;
	}
	/* The kernel drops a descriptor if our limit is reached. */
	if (reply.with_fd && fd == -1)
		job->error = EMFILE;
	if (!keeps_file(job))
		job->fd = fd;
	return 1;
}
