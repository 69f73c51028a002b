/*
 * cli: makes a job of words, and prints the result as lines of a key and a
 * value.
 *
 * Must do jobs exactly as for main, so that the output shows what main gets.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "helpers/cli.h"
#include "helpers/filters/coding.h"
#include "helpers/job.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/str.h"

static enum job_links	 use_links;
static const char	*use_user;

static void
print_bool(const char *key, bool value)
{
	printf("%s %s\n", key, value ? "yes" : "no");
}

static void
print_time(const char *key, int64_t seconds, uint32_t nanoseconds)
{
	char		text[sizeof("-292277022656-01-01 00:00:00")] = "?";
	time_t		t = (time_t)seconds;
	struct tm	tm;

	if (gmtime_r(&t, &tm) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%s %s.%09" PRIu32 " UTC\n", key, text, nanoseconds);
}

static void
print_file(const struct job_find *f)
{
	printf("name %u\n", f->name_number);
	printf("device %" PRIu64 "\n", f->version.dev);
	printf("inode %" PRIu64 "\n", f->version.ino);
	printf("size %" PRId64 "\n", f->version.size);
	print_time("mtime", f->version.mtime, f->version.mtime_ns);
	print_time("ctime", f->version.ctime, f->version.ctime_ns);
	printf("mode %06" PRIo32 "\n", f->facts.mode);
	printf("uid %" PRIu32 "\n", f->facts.uid);
	print_bool("strong", f->facts.strong);
	print_bool("in-memory", f->facts.in_memory);
	print_bool("handle", f->facts.handle);
}

static void
print_text(int fd)
{
	char	bytes[4096];
	ssize_t	n;

	for (off_t at = 0; (n = pread(fd, bytes, sizeof(bytes), at)) > 0;
	    at += n)
		fwrite(bytes, 1, (size_t)n, stdout);
}

/* Bytes or entries, or 1 for a right password. */
static uint64_t
count_done(const struct job *job)
{
	return job_has_range(job->kind) ? job->range.done :
	    job->kind == JOB_APPEND ? job->append.done :
	    job->kind == JOB_LIST ? job->list.entries :
	    job->kind == JOB_SPOOL ? job->spool.bytes.len :
	    job->kind == JOB_STORE ? job->store.size :
	    job->kind == JOB_VERIFY ? job->verify.right : 0;
}

/* Does the job and prints the result; 0 or 1, the exit status. */
static int
perform_job(struct job *job)
{
	job_perform(job);
	printf("kind %s\n", job_kind_name(job->kind));
	if (job->error == 0)
		printf("error 0\n");
	else
		printf("error %d %s\n", job->error, strerror(job->error));
	if (job->kind != JOB_RESOLVE && job->kind != JOB_COMPRESS)
		printf("done %" PRIu64 "\n", count_done(job));
	else if (job->error == 0)
		print_file(&job->find);
	if ((job->kind == JOB_LIST || job->kind == JOB_COPY ||
	    job->kind == JOB_SPOOL || (job->kind == JOB_STORE &&
	    !job->store.has_file)) && job->error == 0)
		print_text(job->fd);
	if (job->kind == JOB_DIGEST && job->error == 0)
		printf("sum %016" PRIx64 "\n", job->digest.sum);
	return job->error == 0 ? 0 : 1;
}

/* Does a job about ROOT PATH [NAME ...]; *texts gets the names. */
static int
perform_names(struct job *job, struct str *texts, int n, char **words)
{
	struct buf	names = { 0 };
	int		status;

	if (n < 2)
		return EX_USAGE;
	job->find.root = words[0];
	job->find.path = words[1];
	job->find.links = use_links;
	job->find.user = use_user;
	for (int i = 2; i < n; i++)
		buf_add(&names, words[i], strlen(words[i]) + 1);
	*texts = (struct str){ names.at, names.len };
	status = perform_job(job);
	io_close(&job->fd);
	buf_free(&names);
	return status;
}

/* ROOT PATH [NAME ...] */
static int
run_resolve(struct job *job, int n, char **words)
{
	return perform_names(job, &job->find.names, n, words);
}

/* ROOT PATH [PATTERN ...] */
static int
run_list(struct job *job, int n, char **words)
{
	static const char	template[] = "name\0" "\0" "\0"
	    "directory %{time} - %{name:percent}\n\0"
	    "file %{time} %{size} %{name:percent}\n\0" "\0" "\0";

	job->list.template = (struct str){ template, sizeof(template) };
	job->list.bytes_max = INT64_MAX;
	job->list.entries_max = UINT64_MAX;
	return perform_names(job, &job->list.hidden, n, words);
}

/* ROOT PATH [NAME ...] */
static int
run_compress(struct job *job, int n, char **words)
{
	job->compress.size_max = INT64_MAX;
	job->compress.coding = CODING_GZIP;
	job->compress.level = 6;
	return perform_names(job, &job->find.names, n, words);
}

/* -1 and a line to standard error if the file cannot be opened. */
static int
open_file(const char *path, int flags)
{
	int	fd = open(path, flags | O_CLOEXEC, 0640);

	if (fd == -1)
		fprintf(stderr, "amped-helper: %s: %s\n", path,
		    strerror(errno));
	return fd;
}

/* FILE [OFFSET LENGTH] */
static int
run_range(struct job *job, int n, char **words)
{
	int64_t		offset = 0, length = 0;
	struct stat	st;
	int		fd, status;

	if (n != 1 && (n != 3 || !str_number(str_of(words[1]), &offset) ||
	    !str_number(str_of(words[2]), &length) ||
	    length > INT64_MAX - offset))
		return EX_USAGE;
	job->fd = fd = open_file(words[0], O_RDONLY | O_NONBLOCK);
	if (fd == -1)
		return 1;
	if (n == 1 && fstat(fd, &st) == 0)
		length = st.st_size;
	job->range.offset = offset;
	job->range.length = (uint64_t)length;
	status = perform_job(job);
	if (job->fd != fd)
		io_close(&job->fd);
	if (job->kind != JOB_CLOSE)
		io_close(&fd);
	return status;
}

/* FILE TEXT ... */
static int
run_append(struct job *job, int n, char **words)
{
	struct buf	line = { 0 };
	int		fd, status;

	if (n < 2)
		return EX_USAGE;
	fd = open_file(words[0], O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY);
	if (fd == -1)
		return 1;
	for (int i = 1; i < n; i++) {
		buf_adds(&line, words[i]);
		buf_addc(&line, i < n - 1 ? ' ' : '\n');
	}
	job->append.bytes = (struct str){ line.at, line.len };
	job_set_logs(&fd, 1);
	status = perform_job(job);
	job_set_logs(NULL, 0);
	io_close(&fd);
	buf_free(&line);
	return status;
}

/* FILE USER, and the password as a line of standard input. */
static int
run_verify(struct job *job, int n, char **words)
{
	char		password[1024];
	struct buf	both = { 0 };
	int		status;

	if (n != 2 || fgets(password, sizeof(password), stdin) == NULL)
		return EX_USAGE;
	password[strcspn(password, "\n")] = '\0';
	buf_add(&both, words[1], strlen(words[1]) + 1);
	buf_add(&both, password, strlen(password) + 1);
	job->verify.file = words[0];
	job->verify.both = (struct str){ both.at, both.len };
	status = perform_job(job);
	buf_free(&both);
	return status;
}

/* TEXT ... */
static int
run_spool(struct job *job, int n, char **words)
{
	struct buf	bytes = { 0 };
	int		status;

	if (n < 1)
		return EX_USAGE;
	for (int i = 0; i < n; i++) {
		buf_adds(&bytes, words[i]);
		buf_addc(&bytes, i < n - 1 ? ' ' : '\n');
	}
	job->spool.bytes = (struct str){ bytes.at, bytes.len };
	status = perform_job(job);
	io_close(&job->fd);
	buf_free(&bytes);
	return status;
}

/* DIRECTORY GROUP KEY [FILE] */
static int
run_store(struct job *job, int n, char **words)
{
	struct job_store	*s = &job->store;
	struct stat		 st;
	int			 fd = -1, status;

	if (n != 3 && n != 4)
		return EX_USAGE;
	s->directory = words[0];
	s->group = words[1];
	s->bytes = str_of(words[2]);
	s->key_size = s->bytes.len;
	s->max = INT64_MAX;
	s->has_file = n == 4;
	if (s->has_file)
		job->fd = fd = open_file(words[3], O_RDONLY | O_NONBLOCK);
	if (s->has_file && (fd == -1 || fstat(fd, &st) == -1))
		return 1;
	s->size = s->has_file ? (uint64_t)st.st_size : 0;
	status = perform_job(job);
	io_close(&job->fd);
	return status;
}

static int	(*const commands[JOB_KIND_COUNT])(struct job *, int n,
		    char **words) = {
	[JOB_RESOLVE] = run_resolve,
	[JOB_READ] = run_range,
	[JOB_APPEND] = run_append,
	[JOB_LIST] = run_list,
	[JOB_VERIFY] = run_verify,
	[JOB_COMPRESS] = run_compress,
	[JOB_COPY] = run_range,
	[JOB_CLOSE] = run_range,
	[JOB_DIGEST] = run_range,
	[JOB_SPOOL] = run_spool,
	[JOB_STORE] = run_store
};

int
cli_perform(enum job_links links, const char *user, int n, char **words)
{
	struct job	job;

	use_links = links;
	use_user = user;
	for (int i = 0; i < JOB_KIND_COUNT; i++)
		if (n > 0 && strcmp(words[0], job_kind_name(i)) == 0) {
			job_init(&job, i);
			return commands[i](&job, n - 1, words + 1);
		}
	return EX_USAGE;
}
