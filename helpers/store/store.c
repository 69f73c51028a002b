/*
 * store: keeps bytes in files of a directory, and finds them again.
 *
 * The name of a file is a hash of its key.  A file has a head, the key, notes,
 * and the bytes, and gets its name when it is complete.  A crash may leave any
 * bytes in it, so the head has a sum of all, and a file with a wrong sum is not
 * used.  The bytes are found as a copy, so files may be removed at any time.
 */
#include <sys/param.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/file_version.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "helpers/store/renewal.h"
#include "helpers/store/store_room.h"
#include "lib/hash.h"
#include "lib/io.h"
#include "lib/mem.h"

enum { BLOCK_SIZE = 64 * 1024 };

/* Letters and a version of the format; the number shows the byte order. */
#define MAGIC		0x616d7065642d0001
#define SETTLED_S	3	/* a younger file may change without a trace */

struct store_head {
	uint64_t	magic;
	uint64_t	renewal;
	uint64_t	key_size, notes_size, size;
	uint64_t	sum;		/* of the head, where this and used are
					 * 0, and of all that follows */
	uint64_t	used;		/* seconds since 1970 */
};

/* The keys are no secret: names and sums are the same after a restart. */
static const struct hash_key	key_of_sums = { 0, 0 };

static void
make_name(const struct job_store *s, char name[STORE_ROOM_NAME])
{
	uint64_t	halves[2];

	for (uint64_t i = 0; i < 2; i++)
		halves[i] = hash_bytes(&key_of_sums, 1 + i, s->bytes.at,
		    (size_t)s->key_size);
	snprintf(name, STORE_ROOM_NAME, "%016" PRIx64 "%016" PRIx64, halves[0],
	    halves[1]);
}

static uint64_t
sum_head(struct store_head head)
{
	head.sum = head.used = 0;
	return hash_bytes(&key_of_sums, 0, &head, sizeof(head));
}

/* Reads so many bytes; 0 or an errno, EIO at the end of the file. */
static int
read_at(int fd, void *at, size_t n, uint64_t offset)
{
	size_t	done = 0;
	ssize_t	got;

	while (done < n) {
		got = pread(fd, (char *)at + done, n - done,
		    (off_t)(offset + done));
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == -1 ? errno : EIO;
		done += (size_t)got;
	}
	return 0;
}

/* Writes so many bytes; 0 or an errno. */
static int
write_at(int fd, const void *at, size_t n, uint64_t offset)
{
	size_t	done = 0;
	ssize_t	put;

	while (done < n) {
		put = pwrite(fd, (const char *)at + done, n - done,
		    (off_t)(offset + done));
		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1)
			return errno;
		done += (size_t)put;
	}
	return 0;
}

/* Copies the bytes, and adds them to a sum; 0 or an errno. */
static int
copy_bytes(int from, uint64_t from_offset, int to, uint64_t to_offset,
    uint64_t size, uint64_t *sum)
{
	char	block[BLOCK_SIZE];
	size_t	n;
	int	error = 0;

	for (uint64_t done = 0; error == 0 && done < size; done += n) {
		n = (size_t)MIN(size - done, BLOCK_SIZE);
		error = read_at(from, block, n, from_offset + done);
		if (error != 0)
			break;
		*sum = hash_bytes(&key_of_sums, *sum, block, n);
		error = write_at(to, block, n, to_offset + done);
	}
	return error;
}

/*
 * Notes
 */

/* Whether a file has that version and, if settled, has had it for some time. */
static bool
is_version(const char *name, const struct job_version *v, bool settled)
{
	int64_t			now = (int64_t)time(NULL);
	struct job_version	present;
	struct stat		st;

	if (settled)
		return v->mtime < now - SETTLED_S && v->ctime < now - SETTLED_S;
	/* The version of a file that is not there is all zero. */
	if (stat(name, &st) == -1)
		return (errno == ENOENT || errno == ENOTDIR) &&
		    v->ino == 0 && v->mtime == 0;
	if (!S_ISREG(st.st_mode))
		return false;
	present = file_version_of(&st);
	return file_version_same(&present, v);
}

static bool
notes_hold(struct str notes, bool settled)
{
	struct job_version	 v;
	struct str		 line;
	char			*name;
	bool			 holds = true;

	while (holds && notes.len > 0) {
		line = str_cut(&notes, '\n');
		holds = job_take_version(&line, &v);
		if (!holds)
			break;
		name = strndup(line.at, line.len);
		holds = name != NULL && is_version(name, &v, settled);
		free(name);
	}
	return holds;
}

/*
 * To keep
 */

/* 0 or an errno. */
static int
write_file(const struct job *job, int fd)
{
	const struct job_store	*s = &job->store;
	struct store_head	 head = {
		.magic = MAGIC, .renewal = s->renewal, .key_size = s->key_size,
		.notes_size = s->bytes.len - s->key_size, .size = s->size,
	};
	uint64_t		 sum = hash_bytes(&key_of_sums, sum_head(head),
				    s->bytes.at, s->bytes.len);
	int			 error;

	error = write_at(fd, s->bytes.at, s->bytes.len, sizeof(head));
	if (error == 0)
		error = copy_bytes(job->fd, 0, fd, sizeof(head) + s->bytes.len,
		    s->size, &sum);
	head.sum = sum;
	return error != 0 ? error : write_at(fd, &head, sizeof(head), 0);
}

static int
keep_bytes(const struct job *job, int directory)
{
	const struct job_store	*s = &job->store;
	uint64_t		 all = sizeof(struct store_head) +
				    s->bytes.len + s->size;
	char			 name[STORE_ROOM_NAME], new[STORE_ROOM_NAME];
	int			 fd, error;

	if (!notes_hold((struct str){ s->bytes.at + s->key_size,
	    s->bytes.len - s->key_size }, true))
		return ESTALE;
	error = store_room_make(directory, all, (uint64_t)s->max);
	if (error != 0)
		return error;
	fd = store_room_open_new(directory, new);
	if (fd == -1)
		return errno;
	make_name(s, name);
	error = write_file(job, fd);
	io_close(&fd);
	if (error == 0 && renameat(directory, new, directory, name) == -1)
		error = errno;
	if (error != 0)
		(void)unlinkat(directory, new, 0);
	return error;
}

/*
 * To find
 */

/* Whether a file can be one that this user has kept, by its size. */
static bool
is_whole(int fd, const struct job_store *s, const struct store_head *head)
{
	struct stat	st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && (st.st_mode & 022) == 0 &&
	    head->magic == MAGIC && head->key_size <= JOB_DATA_MAX &&
	    head->notes_size <= JOB_NOTES_MAX &&
	    head->size <= (uint64_t)s->max && st.st_size >= 0 &&
	    (uint64_t)st.st_size == sizeof(*head) + head->key_size +
	    head->notes_size + head->size;
}

/* Copies the bytes and the notes, if the sum is right; 0 or an errno. */
static int
copy_file(struct job *job, int from, const struct store_head *head,
    struct str texts)
{
	uint64_t	sum = hash_bytes(&key_of_sums, sum_head(*head),
			    texts.at, texts.len);
	bool		in_memory;
	int		to = anon_file_open(&in_memory), error;

	if (to == -1)
		return errno;
	error = copy_bytes(from, sizeof(*head) + texts.len, to, 0, head->size,
	    &sum);
	if (error == 0 && sum != head->sum)
		error = EBADMSG;
	if (error == 0)
		error = write_at(to, texts.at + head->key_size,
		    (size_t)head->notes_size, head->size);
	if (error != 0) {
		io_close(&to);
		return error;
	}
	job->fd = to;
	job->store.size = head->size;
	job->store.notes_size = head->notes_size;
	return 0;
}

/* Reads the key and the notes of a file.  If the key is the right one and the
 * notes hold, copies the bytes.  0 or an errno. */
static int
find_in_file(struct job *job, int fd, const struct store_head *head)
{
	const struct job_store	*s = &job->store;
	size_t			 len = (size_t)(head->key_size +
				    head->notes_size);
	char			*texts = mem_get(len + 1);
	int			 error = read_at(fd, texts, len, sizeof(*head));

	if (error == 0 && (head->key_size != s->key_size ||
	    memcmp(texts, s->bytes.at, (size_t)s->key_size) != 0 ||
	    head->renewal != s->renewal || !notes_hold((struct str){
	    texts + head->key_size, (size_t)head->notes_size }, false)))
		error = ENOENT;
	if (error == 0)
		error = copy_file(job, fd, head, (struct str){ texts, len });
	free(texts);
	return error;
}

/* Has the file count as one that was used now. */
static void
note_use(int fd, struct store_head head)
{
	head.used = (uint64_t)time(NULL);
	(void)write_at(fd, &head.used, sizeof(head.used),
	    offsetof(struct store_head, used));
}

/* Whether a name that cannot be opened, by that error, is not that of a file
 * which this user has kept. */
static bool
is_foreign(int error)
{
	return error == ELOOP || error == EISDIR || error == ENXIO ||
	    error == EACCES;
}

/* Finds the file of a key, and removes it if it is damaged. */
static int
find_bytes(struct job *job, int directory)
{
	struct job_store	*s = &job->store;
	struct store_head	 head;
	char			 name[STORE_ROOM_NAME];
	int			 fd, error;

	error = renewal_read(directory, s->group, &s->renewal);
	if (error != 0)
		return error;
	make_name(s, name);
	fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	if (fd == -1 && !is_foreign(errno))
		return errno;
	error = fd == -1 || lseek(fd, 0, SEEK_END) < (off_t)sizeof(head) ?
	    EBADMSG : read_at(fd, &head, sizeof(head), 0);
	if (error == 0)
		error = is_whole(fd, s, &head) ?
		    find_in_file(job, fd, &head) : EBADMSG;
	if (error == 0)
		note_use(fd, head);
	else if (error == EBADMSG)
		(void)unlinkat(directory, name, 0);
	io_close(&fd);
	return error == 0 ? 0 : ENOENT;
}

void
store_perform(struct job *job)
{
	int	directory = renewal_open_directory(job->store.directory);

	if (directory == -1) {
		job->error = errno;
		return;
	}
	if (job->store.has_file)
		job->error = keep_bytes(job, directory);
	else {
		job->store.size = job->store.notes_size = 0;
		job->error = find_bytes(job, directory);
	}
	io_close(&directory);
}
