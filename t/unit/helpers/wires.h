/*
 * wires: shared by the tests of requests and of replies: a pipe, a job of each
 * kind, and offsets of members in messages.
 */
#ifndef T_UNIT_HELPERS_WIRES_H
#define T_UNIT_HELPERS_WIRES_H

#include <sys/uio.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/filters/coding.h"
#include "helpers/wire.h"
#include "lib/io.h"
#include "t/unit/unit.h"

#define COUNT(array)	(int)(sizeof(array) / sizeof((array)[0]))

/* Offsets in messages, as in amped-helper(8). */
enum {
	MAGIC = 0, KIND = 4, ID = 8,
	ROOT = 16, PATH = 20, NAMES = 24, DATA = 28, FLAGS = 32, WITH_FD = 36,
	VERSION = 40, SIZE = 56, MTIME_NS = 80, CTIME_NS = 84, OFFSET = 88,
	LENGTH = 96, LINKS = 104, USER = 108, MIN_UID = 112, MOUNT_LEN = 116,
	WATCH = 120, PROGRAMS = 124, CODING = 128, LEVEL = 132,
	OTHERS = 136, RESERVED = 140, TEXTS = 144,
	/* Of a reply: */
	ERROR = 16, NAME_NUMBER = 20, R_VERSION = 24, R_SIZE = 40,
	R_MTIME_NS = 64, UNCHANGED = 80, STRONG = 84, IN_MEMORY = 88,
	R_WITH_FD = 92, DONE = 96, SPLIT = 104, CACHED_INO = 112, CACHED_SIZE = 120,
	CACHED_MTIME_NS = 144, WATCHED = 152, OTHERS_SUM = 160, WAYPOINTS = 168,
	W_KIND = 180, W_BYTES = 184, REPLY_SIZE = 688
};

static const char	 names[] = "index.html\0index.htm";
static const char	 suffixes[] = ".br\0.gz";
static const char	 others[] = "/usr/bin/one\0/usr/bin/two";
static const char	 programs[] = "*.php\0*.cgi";
/* The texts of a template, some of them empty. */
static const char	 template[] = "name\0title\0\0dir\0file\0\0\0tail";
/* A user and a password. */
static const char	 both[] = "anna\0secret";
static const struct job_version version = { 1, 2, 3, 4, 5, 6, 7 };

static int		fd[2];		/* main, helper */
static char		*buffer;	/* on the heap, so that overruns show */
static struct job	 got;

static inline void
make(void)
{
	ck_assert_int_eq(io_pipe(fd), 0);
	buffer = malloc(WIRE_MAX);
}

static inline void
unmake(void)
{
	io_close(&fd[0]);
	io_close(&fd[1]);
	free(buffer);
}

static inline int
descriptors(void)
{
	int	n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) != -1;
	return n;
}

/* A job of each kind, as main makes it. */
static inline struct job
sample(enum job_kind kind)
{
	struct job	job;

	job_init(&job, kind);
	job.id = 0x123456789abcdef0;
	if (job_finds(kind)) {
		job.find.root = "/srv/www";
		job.find.path = "dir/";
		job.find.has_version = true;
		job.find.same_mount = kind == JOB_LIST;
		job.find.mount_len = kind == JOB_LIST ? 3 : 0;
		job.find.version = version;
		job.find.watch = JOB_WATCH_WAY;
		if (kind != JOB_LIST) {
			job.find.names = (struct str){ names, sizeof(names) };
			job.find.programs = (struct str){ programs,
			    sizeof(programs) };
		}
	}
	if (kind == JOB_RESOLVE) {
		job.resolve.siblings = (struct str){ suffixes,
		    sizeof(suffixes) };
		job.resolve.sibling = 2;
		job.resolve.copy_max = 16384;
		job.resolve.for_reading = job.resolve.references = true;
		job.resolve.others = (struct str){ others, sizeof(others) };
	} else if (kind == JOB_COMPRESS) {
		job.compress.cache_dir = "/var/cache";
		job.compress.size_max = 1000;
		job.compress.coding = CODING_GZIP;
		job.compress.level = 7;
	} else if (kind == JOB_LIST) {
		job.list.hidden = (struct str){ names, sizeof(names) };
		job.list.template = (struct str){ template, sizeof(template) };
		job.list.entries_max = 100;
		job.list.bytes_max = 10000;
	} else if (job_has_range(kind)) {
		job.fd = STDIN_FILENO;
		job.range.offset = 65536;
		job.range.length = 1000;
		job.range.version = version;
		if (kind == JOB_DIGEST)
			job.digest.has_version = true;
	} else if (kind == JOB_APPEND) {
		job.append.log = 1;
		job.append.bytes = STR("a line\n");
	} else if (kind == JOB_SPOOL) {
		job.fd = STDIN_FILENO;
		job.spool.bytes = STR("a=b&c=d");
		job.spool.offset = 65536;
		job.spool.has_file = true;
	} else if (kind == JOB_STORE) {
		job.fd = STDIN_FILENO;
		job.store.directory = "/var/results";
		job.store.group = "pages";
		job.store.bytes = STR("keynotes");
		job.store.key_size = 3;
		job.store.has_file = true;
		job.store.renewal = 5;
		job.store.max = 1000;
		job.store.size = 100;
	} else if (kind == JOB_VERIFY) {
		job.verify.file = "/etc/passwords";
		job.verify.both = (struct str){ both, sizeof(both) };
	}
	return job;
}

static inline void
send_bytes(int sock, char *bytes, size_t n, int beside)
{
	struct iovec	part = { .iov_base = bytes, .iov_len = n };

	ck_assert_int_eq(io_send_message(sock, &part, 1, beside), 0);
}

/* Writes the low bytes of the value, in the byte order of the machine. */
static inline void
patch(char *bytes, unsigned where, unsigned width, int64_t value)
{
	int32_t	narrow = (int32_t)value;

	if (width == 1)
		bytes[where] = (char)value;
	else if (width == 4)
		memcpy(bytes + where, &narrow, 4);
	else
		memcpy(bytes + where, &value, 8);
}

#endif
