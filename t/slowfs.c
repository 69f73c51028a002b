/*
 * slowfs: a file system that is as slow as a test wants it to be.
 *
 *	slowfs DIRECTORY MOUNTPOINT
 *
 * Shows a directory at a mount point, by FUSE, its files as they are: what is
 * there can be read and written, nothing made or removed.  Needs root and
 * /dev/fuse, and no library.  Nothing is remembered by the kernel: names and
 * attributes are asked for each time, pages go when a file is opened again.
 * Standard input takes lines, standard output answers each with "ok" or "?":
 *
 *	hold OP [FROM]	OP is not answered any more; reads: those that reach
 *			beyond byte FROM; others: but for the first FROM
 *	fail OP [FROM]	the same is answered with EIO
 *	delay OP MS	OP is answered so much later
 *	disk HEADS US MB	reads take the time of a disk: each by the first
 *			head that is free, which needs so many us to get there
 *			unless it is, and reads so many MB/s
 *	free		everything is answered, what was held too, and nothing fails
 *	count		"count OP N" comes out for what was asked since the last one
 *	trace		"asked OP NAME" comes out for all that is asked from now on
 *
 * OP is one of the list below, or all.  "held OP NAME" comes out whenever
 * something is held, so that a test knows what waits where, and when.  Ends
 * with its standard input, or when it is unmounted.
 *
 * One thread: what must wait is put aside, so all of it can wait at once.
 */
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OPS(X)								\
	X(LOOKUP,	"lookup",	look_up)			\
	X(GETATTR,	"getattr",	get_attributes)			\
	X(OPEN,		"open",		open_file)			\
	X(READ,		"read",		read_file)			\
	X(WRITE,	"write",	write_file)			\
	X(FLUSH,	"flush",	nothing)			\
	X(RELEASE,	"release",	release_file)			\
	X(OPENDIR,	"opendir",	open_directory)			\
	X(READDIR,	"readdir",	read_directory)			\
	X(RELEASEDIR,	"releasedir",	release_directory)		\
	X(STATFS,	"statfs",	stat_system)			\
	X(INIT,		"init",		begin)

enum { MOST_DATA = 128 * 1024, ROOM = MOST_DATA + 4096 };

struct request {
	struct fuse_in_header	*head;
	const char		*body_sent;
	TAILQ_ENTRY(request)	 link;
	int64_t			 due;		/* us; held: INT64_MAX */
	char			 bytes[];	/* head and body */
};

/* What the kernel knows by number: never forgotten, and so never reused. */
struct node {
	uint64_t	 parent;
	char		*name;
};

#define X(id, name, function) static void function(const struct request *);
OPS(X)
#undef X

static struct op {
	uint32_t	  code;
	const char	 *name;
	void		(*answer)(const struct request *);
	int64_t		  delay;		/* us */
	bool		  held, fails;
	uint64_t	  from;
	unsigned	  asked;		/* since they were counted last */
} ops[] = {
#define X(id, name, function)						\
	{ FUSE_##id, name, function, 0, false, false, 0, 0 },
	OPS(X)
#undef X
};

/* Where a head will be, and when it has got there. */
static struct head {
	uint64_t	 file, at;
	int64_t		 free;			/* us */
} heads[64];
static long long		 nheads, seek, rate;	/* us, bytes a us */

enum { NOPS = sizeof(ops) / sizeof(ops[0]) };

static TAILQ_HEAD(, request)	 waiting = TAILQ_HEAD_INITIALIZER(waiting);
static struct node		*nodes;		/* number 1 is the root */
static uint64_t			 nnodes;
static int			 top, device;
static bool			 traced;
static _Alignas(8) char	 out[ROOM];

static int64_t
now(void)
{
	struct timespec	t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
answer(const struct request *r, int error, const void *data, size_t len)
{
	struct fuse_out_header	*head = (void *)out;

	if (error == 0 && len > 0)
		memmove(out + sizeof(*head), data, len);
	head->len = (uint32_t)(sizeof(*head) + (error == 0 ? len : 0));
	head->error = -error;
	head->unique = r->head->unique;
	/* Who asked may have given up: that is not our business. */
	if (write(device, out, head->len) == -1 && errno == ENODEV)
		exit(0);
}

static void
nothing(const struct request *r)
{
	answer(r, 0, NULL, 0);
}

/*
 * Nodes
 */

static uint64_t
node_add(uint64_t parent, const char *name)
{
	for (uint64_t i = 1; i < nnodes; i++)
		if (nodes[i].parent == parent &&
		    strcmp(nodes[i].name, name) == 0)
			return i;
	nodes = realloc(nodes, (nnodes + 1) * sizeof(*nodes));
	if (nodes == NULL || (name = strdup(name)) == NULL)
		err(1, NULL);
	nodes[nnodes] = (struct node){ parent, (char *)(uintptr_t)name };
	return nnodes++;
}

/* The path beneath the top; "." is the top itself. */
static const char *
path_of(uint64_t node)
{
	static char	 path[PATH_MAX];
	char		*at = path + sizeof(path);
	size_t		 len;

	*--at = '\0';
	for (; node > FUSE_ROOT_ID && node < nnodes; node = nodes[node].parent) {
		len = strlen(nodes[node].name);
		if ((size_t)(at - path) < len + 1)
			return ".";
		if (*at != '\0')
			*--at = '/';
		at -= len;
		memcpy(at, nodes[node].name, len);
	}
	return *at == '\0' ? "." : at;
}

static int
attributes(uint64_t node, struct fuse_attr *a)
{
	struct stat	st;

	if (fstatat(top, path_of(node), &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno;
	*a = (struct fuse_attr){
		.ino = node, .size = (uint64_t)st.st_size,
		.blocks = (uint64_t)st.st_blocks, .mode = st.st_mode,
		.atime = (uint64_t)st.st_atim.tv_sec,
		.mtime = (uint64_t)st.st_mtim.tv_sec,
		.mtimensec = (uint32_t)st.st_mtim.tv_nsec,
		.ctime = (uint64_t)st.st_ctim.tv_sec,
		.ctimensec = (uint32_t)st.st_ctim.tv_nsec,
		.nlink = (uint32_t)st.st_nlink, .uid = st.st_uid,
		.gid = st.st_gid, .blksize = 4096
	};
	return 0;
}

static void
look_up(const struct request *r)
{
	struct fuse_entry_out	e = { 0 };
	struct stat		st;
	char			path[PATH_MAX];
	int			error;

	snprintf(path, sizeof(path), "%s/%s", path_of(r->head->nodeid),
	    r->body_sent);
	if (fstatat(top, path, &st, AT_SYMLINK_NOFOLLOW) == -1) {
		answer(r, errno, NULL, 0);
		return;
	}
	e.nodeid = node_add(r->head->nodeid, r->body_sent);
	error = attributes(e.nodeid, &e.attr);
	answer(r, error, &e, sizeof(e));
}

static void
get_attributes(const struct request *r)
{
	struct fuse_attr_out	a = { 0 };
	int			error = attributes(r->head->nodeid, &a.attr);

	answer(r, error, &a, sizeof(a));
}

/*
 * Files
 */

static void
open_file(const struct request *r)
{
	const struct fuse_open_in	*in = (const void *)r->body_sent;
	struct fuse_open_out		 o = { 0 };
	int				 fd;

	fd = openat(top, path_of(r->head->nodeid),
	    (int)(in->flags & O_ACCMODE) | O_CLOEXEC);
	o.fh = (uint64_t)fd;
	answer(r, fd == -1 ? errno : 0, &o, sizeof(o));
}

static void
read_file(const struct request *r)
{
	const struct fuse_read_in	*in = (const void *)r->body_sent;
	char				*to;
	ssize_t				 n;

	to = out + sizeof(struct fuse_out_header);
	n = pread((int)in->fh, to, in->size < MOST_DATA ? in->size : MOST_DATA,
	    (off_t)in->offset);
	answer(r, n == -1 ? errno : 0, to, n == -1 ? 0 : (size_t)n);
}

static void
write_file(const struct request *r)
{
	const struct fuse_write_in	*in = (const void *)r->body_sent;
	struct fuse_write_out		 o = { 0 };
	ssize_t				 n;

	n = pwrite((int)in->fh, in + 1, in->size, (off_t)in->offset);
	o.size = (uint32_t)n;
	answer(r, n == -1 ? errno : 0, &o, sizeof(o));
}

static void
release_file(const struct request *r)
{
	const struct fuse_release_in	*in = (const void *)r->body_sent;

	close((int)in->fh);
	answer(r, 0, NULL, 0);
}

/*
 * Directories
 */

static void
open_directory(const struct request *r)
{
	struct fuse_open_out	 o = { 0 };
	DIR			*dir = NULL;
	int			 fd;

	fd = openat(top, path_of(r->head->nodeid),
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1)
		dir = fdopendir(fd);
	o.fh = (uintptr_t)dir;
	answer(r, dir == NULL ? errno : 0, &o, sizeof(o));
}

static void
read_directory(const struct request *r)
{
	const struct fuse_read_in	*in = (const void *)r->body_sent;
	DIR				*dir = (DIR *)(uintptr_t)in->fh;
	char				*to;
	struct dirent			*entry;
	struct fuse_dirent		*e;
	size_t				 len, used = 0;

	to = out + sizeof(struct fuse_out_header);
	if (in->offset == 0)
		rewinddir(dir);
	else
		seekdir(dir, (long)in->offset);
	while ((entry = readdir(dir)) != NULL) {
		len = strlen(entry->d_name);
		if (used + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + len) >
		    (in->size < MOST_DATA ? in->size : MOST_DATA))
			break;
		e = (void *)(to + used);
		e->ino = entry->d_ino;
		e->off = (uint64_t)telldir(dir);
		e->namelen = (uint32_t)len;
		e->type = entry->d_type;
		memcpy(e->name, entry->d_name, len);
		used += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + len);
	}
	answer(r, 0, to, used);
}

static void
release_directory(const struct request *r)
{
	const struct fuse_release_in	*in = (const void *)r->body_sent;

	closedir((DIR *)(uintptr_t)in->fh);
	answer(r, 0, NULL, 0);
}

static void
stat_system(const struct request *r)
{
	struct fuse_statfs_out	s = { .st = { .bsize = 4096, .namelen = 255 } };

	answer(r, 0, &s, sizeof(s));
}

static void
begin(const struct request *r)
{
	struct fuse_init_out	o = {
		.major = FUSE_KERNEL_VERSION, .minor = 31,
		.max_readahead = MOST_DATA, .max_write = MOST_DATA,
		.max_background = 256, .congestion_threshold = 256,
		.flags = FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS |
		    FUSE_ASYNC_DIO, .time_gran = 1
	};

	answer(r, 0, &o, sizeof(o));
}

/*
 * Waiting
 */

static struct op *
op_of(const struct request *r)
{
	for (int i = 0; i < NOPS; i++)
		if (ops[i].code == r->head->opcode)
			return &ops[i];
	return NULL;
}

/* Whether it is one of those that are held, or fail. */
static bool
is_meant(struct op *op, const struct request *r)
{
	const struct fuse_read_in	*in = (const void *)r->body_sent;

	if (!op->held && !op->fails)
		return false;
	if (op->code == FUSE_READ)
		return in->offset + in->size > op->from;
	if (op->from == 0)
		return true;
	op->from--;
	return false;
}

/* When the disk will have read this; us. */
static int64_t
disk_due(const struct request *r)
{
	const struct fuse_read_in	*in = (const void *)r->body_sent;
	struct head			*h = heads;
	int64_t				 t = now();
	bool				 there;

	for (struct head *other = heads; other < heads + nheads; other++) {
		if (other->free < h->free)
			h = other;
		if (other->free <= t && other->at == in->offset &&
		    other->file == r->head->nodeid) {
			h = other;
			break;
		}
	}
	there = h->at == in->offset && h->file == r->head->nodeid;
	if (h->free < t)
		h->free = t;
	h->free += (there ? 0 : seek) + in->size / rate;
	h->at = in->offset + in->size;
	h->file = r->head->nodeid;
	return h->free;
}

static bool
is_disk(const struct op *op)
{
	return op->code == FUSE_READ && nheads > 0;
}

/* The name of what is asked for. */
static const char *
name_asked(const struct request *r)
{
	return r->head->opcode == FUSE_LOOKUP ? r->body_sent :
	    path_of(r->head->nodeid);
}

static void
put_aside(const struct request *r, struct op *op, size_t len, bool held)
{
	struct request	*copy = malloc(sizeof(*copy) + len);

	if (copy == NULL)
		err(1, NULL);
	memcpy(copy->bytes, r->head, len);
	copy->head = (void *)copy->bytes;
	copy->body_sent = copy->bytes + sizeof(*copy->head);
	copy->due = held ? INT64_MAX : is_disk(op) ? disk_due(copy) :
	    now() + op->delay;
	TAILQ_INSERT_TAIL(&waiting, copy, link);
	if (held)
		printf("held %s %s\n", op->name, name_asked(copy));
}

/* Answers what has waited for long enough; when the next is due, or NULL. */
static const struct timespec *
serve_waiting(void)
{
	static struct timespec	 left;
	struct request	*r, *next;
	int64_t		 t = now(), first = INT64_MAX;

	for (r = TAILQ_FIRST(&waiting); r != NULL; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->due > t) {
			first = r->due < first ? r->due : first;
			continue;
		}
		TAILQ_REMOVE(&waiting, r, link);
		op_of(r)->answer(r);
		free(r);
	}
	left.tv_sec = (time_t)((first - t) / 1000000);
	left.tv_nsec = (long)((first - t) % 1000000) * 1000;
	return first == INT64_MAX ? NULL : &left;
}

static void
count_call(struct op *op, const struct request *r)
{
	if (op != NULL)
		op->asked++;
	if (traced)
		printf("asked %s %s\n", op != NULL ? op->name : "other",
		    name_asked(r));
}

static void
take_request(void)
{
	static _Alignas(8) char buffer[ROOM];
	struct request	r = { .head = (void *)buffer,
			    .body_sent = buffer + sizeof(*r.head) };
	struct op	*op;
	bool		 meant;
	ssize_t		 n = read(device, buffer, sizeof(buffer) - 1);

	if (n == -1 && errno == ENODEV)
		exit(0);
	if (n < (ssize_t)sizeof(*r.head))
		return;
	switch (r.head->opcode) {
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;			/* nobody waits for an answer */
	}
	op = op_of(&r);
	count_call(op, &r);
	meant = op != NULL && is_meant(op, &r);
	if (op == NULL)
		answer(&r, ENOSYS, NULL, 0);
	else if (meant && op->fails)
		answer(&r, EIO, NULL, 0);
	else if (meant || op->delay > 0 || is_disk(op))
		put_aside(&r, op, (size_t)n, meant);
	else
		op->answer(&r);
}

/*
 * Commands
 */

static void
set_free(void)
{
	struct request	*r;

	for (int i = 0; i < NOPS; i++)
		ops[i].held = ops[i].fails = false, ops[i].delay = 0;
	TAILQ_FOREACH(r, &waiting, link)
		r->due = 0;
}

static void
count_asked(void)
{
	for (int i = 0; i < NOPS; i++) {
		if (ops[i].asked > 0)
			printf("count %s %u\n", ops[i].name, ops[i].asked);
		ops[i].asked = 0;
	}
}

static bool
command(const char *line)
{
	char		word[16], name[16];
	long long	number = 0;
	bool		known = false;
	int		n;

	n = sscanf(line, "%15s %15s %lld", word, name, &number);
	if (n == 1 && strcmp(word, "free") == 0) {
		set_free();
		return true;
	}
	if (n == 1 && strcmp(word, "count") == 0) {
		count_asked();
		return true;
	}
	if (n == 1 && strcmp(word, "trace") == 0)
		return traced = true;
	if (sscanf(line, "disk %lld %lld %lld", &nheads, &seek, &rate) == 3)
		return rate > 0 && nheads >= 0 && nheads <= 64;
	for (int i = 0; i < NOPS && n >= 2; i++) {
		if (strcmp(name, "all") != 0 && strcmp(name, ops[i].name) != 0)
			continue;
		if (strcmp(word, "hold") == 0 || strcmp(word, "fail") == 0) {
			ops[i].fails = *word == 'f';
			ops[i].held = !ops[i].fails;
			ops[i].from = (uint64_t)number;
		} else if (strcmp(word, "delay") == 0 && n == 3)
			ops[i].delay = number * 1000;
		else
			break;
		known = true;
	}
	return known;
}

static void
take_commands(void)
{
	static char	 text[1024];
	static size_t	 used;
	char		*end;
	ssize_t		 n;

	n = read(STDIN_FILENO, text + used, sizeof(text) - 1 - used);
	if (n <= 0)
		exit(0);
	used += (size_t)n;
	text[used] = '\0';
	while ((end = strchr(text, '\n')) != NULL) {
		*end = '\0';
		puts(command(text) ? "ok" : "?");
		used -= (size_t)(end + 1 - text);
		memmove(text, end + 1, used + 1);
	}
}

static const char	*mounted;

static void
unmount(void)
{
	/* Whoever waits for us hears that we are gone. */
	close(device);
	umount2(mounted, MNT_DETACH);
}

static void
ended(int signal_number)
{
	(void)signal_number;
	unmount();
	_exit(1);
}

int
main(int argc, char **argv)
{
	struct pollfd	p[2] = { { .events = POLLIN },
			    { .fd = STDIN_FILENO, .events = POLLIN } };
	char		options[128];

	if (argc != 3)
		errx(64, "usage: slowfs DIRECTORY MOUNTPOINT");
	top = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top == -1)
		err(1, "%s", argv[1]);
	p[0].fd = device = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (device == -1)
		err(1, "/dev/fuse");
	node_add(0, "");			/* number 0 is nobody's */
	node_add(0, "/");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,"
	    "group_id=0,allow_other,default_permissions", device);
	mounted = argv[2];
	if (mount("slowfs", mounted, "fuse", MS_NODEV | MS_NOSUID,
	    options) == -1)
		err(1, "%s", mounted);
	atexit(unmount);
	signal(SIGTERM, ended);
	signal(SIGINT, ended);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (;;) {
		ppoll(p, 2, serve_waiting(), NULL);
		if (p[0].revents & POLLERR)
			return 0;
		if (p[0].revents & POLLIN)
			take_request();
		if (p[1].revents != 0)
			take_commands();
	}
}
