/*
 * Tests of helpers/compress: the result is the file, of one version and
 * smaller; and results in a cache directory.
 */
#include <dirent.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <time.h>

#include "helpers/filters/coding.h"
#include "helpers/file_version.h"
#include "helpers/job.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

#define SIZE	200000

static char	root[256], keep[256];
static char	bytes[SIZE];

static void
put(const char *name, size_t size)
{
	int	fd = open(tree_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void
set_time(const char *name, time_t seconds)
{
	struct timespec	times[2] = { { .tv_sec = 0 }, { .tv_sec = seconds } };

	ck_assert_int_eq(utimensat(AT_FDCWD, tree_path(name), times, 0), 0);
}

static void
make(void)
{
	uint64_t	state = 1;

	tree_begin();
	snprintf(root, sizeof(root), "%s", tree_path("root"));
	snprintf(keep, sizeof(keep), "%s", tree_path("keep"));
	tree_dir("root", 0755);
	tree_dir("root/d", 0755);
	tree_dir("keep", 0755);
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = "words, words "[i % 13];
	put("root/text", SIZE);
	put("root/d/index.html", 5000);
	tree_file("root/empty", "", 0644);
	tree_file("root/short", "abc", 0644);
	tree_link("text", "root/link");
	tree_link("../keep", "root/out");
	tree_fifo("root/fifo");
	for (size_t i = 0; i < SIZE; i++) {
		state = state * 6364136223846793005 + 1442695040888963407;
		bytes[i] = (char)(state >> 56);
	}
	put("root/noise", SIZE);
}

static void
unmake(void)
{
	tree_end();
}

static struct job
asked(const char *path)
{
	struct job	job;

	job_init(&job, JOB_COMPRESS);
	job.find.root = root;
	job.find.path = path;
	job.compress.size_max = 1 << 30;
	job.compress.coding = CODING_GZIP;
	job.compress.level = 6;
	return job;
}

static const char *const	unpack[CODING_COUNT] = {
	[CODING_BR] = "brotli", [CODING_ZSTD] = "zstd", [CODING_GZIP] = "gzip"
};

/* Unpacks by another program. */
static void
check_unpacked(struct job *job, enum coding coding, const char *name)
{
	char	command[1000];

	ck_assert_int_eq(job->error, 0);
	ck_assert_int_ne(job->fd, -1);
	ck_assert_int_eq(lseek(job->fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(dup2(job->fd, STDIN_FILENO), STDIN_FILENO);
	snprintf(command, sizeof(command), "%s -dc | cmp -s - '%s'",
	    unpack[coding], tree_path(name));
	ck_assert_int_eq(system(command), 0);
}

static void
check_result(struct job *job, const char *name)
{
	check_unpacked(job, CODING_GZIP, name);
}

static bool
can_unpack(enum coding coding)
{
	char	command[100];

	snprintf(command, sizeof(command), "command -v %s > /dev/null",
	    unpack[coding]);
	return system(command) == 0;
}

/* The levels that the conf takes. */
static const struct {
	enum coding	coding;
	uint32_t	lowest, highest;
} levels[CODING_COUNT] = {
	{ CODING_BR, 0, 11 }, { CODING_ZSTD, 1, CODING_LEVEL_MAX },
	{ CODING_GZIP, 1, 9 },
};

/* Of each level, what comes out of it is the file: words with noise between. */
START_TEST(each_level)
{
	enum coding	coding = levels[_i].coding;
	bool		others = can_unpack(coding);
	struct job	job;
	int		fd;

	if (!coding_is_built(coding))
		return;
	for (size_t i = 0; i < SIZE; i++)
		if (i % 100 < 70)
			bytes[i] = "words, words "[i % 13];
	put("root/mixed", SIZE);
	fd = open(tree_path("root/mixed"), O_RDONLY);
	for (uint32_t n = levels[_i].lowest; n <= levels[_i].highest; n++) {
		job = asked("mixed");
		job.compress.coding = coding;
		job.compress.level = n;
		job_perform(&job);
		ck_assert(coding_is_intact(coding, job.fd, fd, SIZE));
		if (others)
			check_unpacked(&job, coding, "root/mixed");
		ck_assert_int_lt(job.find.version.size, SIZE);
		close(job.fd);
	}
	close(fd);
}
END_TEST

START_TEST(compresses)
{
	int		before = tree_descriptors();
	struct job	job = asked("text"), plain = asked("text");
	struct stat	st;

	plain.kind = JOB_RESOLVE;
	plain.resolve = (struct job_resolve){ .find = plain.find };
	job_perform(&plain);
	job_perform(&job);
	check_result(&job, "root/text");
	ck_assert_int_lt(job.find.version.size, SIZE / 10);
	ck_assert_int_eq(fstat(job.fd, &st), 0);
	ck_assert_int_eq(st.st_size, job.find.version.size);
	ck_assert(!S_ISREG(job.find.facts.mode));
	/* The version is the file's, but for the size. */
	plain.find.version.size = job.find.version.size;
	ck_assert_mem_eq(&job.find.version, &plain.find.version, sizeof(plain.find.version));
	close(plain.fd);
	close(job.fd);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

/* Names are tried as in resolve, whose tests have more cases. */
START_TEST(stays)
{
	struct job	job = asked("../etc/passwd");
	int		before = tree_descriptors();

	job.find.root = "/proc";
	job.find.same_mount = true;
	job_perform(&job);
	ck_assert_int_eq(job.error, EREMOTE);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

START_TEST(index_of_a_directory)
{
	struct job	job = asked("d/");

	job.find.names.at = "index.htm\0index.html";
	job.find.names.len = 21;
	job_perform(&job);
	check_result(&job, "root/d/index.html");
	ck_assert_uint_eq(job.find.name_number, 2);
	close(job.fd);
}
END_TEST

/* Equal files have equal results: without a time or a name. */
START_TEST(again)
{
	struct job	a = asked("text"), b = asked("text");
	char		x[100], y[100];

	job_perform(&a);
	job_perform(&b);
	ck_assert_int_eq(a.find.version.size, b.find.version.size);
	ck_assert_int_eq(pread(a.fd, x, 100, 0), 100);
	ck_assert_int_eq(pread(b.fd, y, 100, 0), 100);
	ck_assert_mem_eq(x, y, 100);
	close(a.fd);
	close(b.fd);
}
END_TEST

static const struct {
	const char	*path;
	uint64_t	 length;
	int		 error;
} refused[] = {
	{ "nothing", SIZE, ENOENT },
	{ "d", SIZE, EISDIR },
	{ "d/", SIZE, EISDIR },
	{ "fifo", SIZE, ENOTSUP },
	{ "out/x", SIZE, 0 },			/* whichever way it is seen */
	{ "text/x", SIZE, ENOTDIR },
	{ "text", SIZE - 1, EFBIG },
	{ "noise", SIZE, EFBIG },
	{ "short", SIZE, EFBIG },
	{ "empty", SIZE, EFBIG },
};

START_TEST(refuses)
{
	int		before = tree_descriptors();
	struct job	job = asked(refused[_i].path);

	job.compress.size_max = refused[_i].length;
	job.compress.cache_dir = _i % 2 == 0 ? keep : NULL;
	job_perform(&job);
	ck_assert_int_ne(job.error, 0);
	if (refused[_i].error != 0)
		ck_assert_int_eq(job.error, refused[_i].error);
	ck_assert_int_eq(job.fd, -1);
	ck_assert(!job.find.unchanged);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

START_TEST(known)
{
	struct job	job = asked("text"), next = asked("text");

	set_time("root/text", 1000);
	job_perform(&job);
	next.find.has_version = true;
	next.find.version = job.find.version;
	job_perform(&next);
	ck_assert_int_eq(next.error, 0);
	ck_assert(next.find.unchanged);
	ck_assert_int_eq(next.fd, -1);
	set_time("root/text", 1001);
	job_perform(&next);
	ck_assert(!next.find.unchanged);
	check_result(&next, "root/text");
	ck_assert_int_eq(next.find.version.mtime, 1001);
	close(next.fd);
	close(job.fd);
}
END_TEST

/*
 * Results in a cache directory
 */

/* An old time, so that the version is strong. */
static void
settle(void)
{
	struct timespec	wait = { .tv_nsec = 5000000 };
	struct job	job;

	set_time("root/text", 1000);
	for (;;) {
		job = asked("text");
		job.kind = JOB_RESOLVE;
		job.resolve = (struct job_resolve){ .find = job.find };
		job_perform(&job);
		close(job.fd);
		if (job.find.facts.strong)
			return;
		nanosleep(&wait, NULL);		/* ctime cannot be set */
	}
}

/* Counts the files in the cache directory; sets the name of one. */
static int
kept(char name[512])
{
	DIR		*dir = opendir(keep);
	struct dirent	*d;
	int		 n = 0;

	while ((d = readdir(dir)) != NULL)
		if (strcmp(d->d_name, ".") != 0 &&
		    strcmp(d->d_name, "..") != 0) {
			snprintf(name, 512, "%s/%s", keep, d->d_name);
			n++;
		}
	closedir(dir);
	return n;
}

/* The version is the source's; `cached` has that of the result. */
static void
check_kept(const struct job *job)
{
	struct job	plain = asked("text");
	struct stat	st;

	plain.kind = JOB_RESOLVE;
	plain.resolve = (struct job_resolve){ .find = plain.find };
	job_perform(&plain);
	close(plain.fd);
	ck_assert_int_eq(fstat(job->fd, &st), 0);
	plain.find.version.size = st.st_size;
	ck_assert(file_version_same(&job->find.version, &plain.find.version));
	plain.find.version = file_version_of(&st);
	ck_assert(file_version_same(&job->find.facts.cached, &plain.find.version));
	ck_assert(!file_version_same(&job->find.facts.cached, &job->find.version));
}

static void
perform_kept(void)
{
	struct job	job = asked("text");

	job.compress.cache_dir = keep;
	job_perform(&job);
	if (S_ISREG(job.find.facts.mode))
		check_kept(&job);
	else
		ck_assert_uint_eq(job.find.facts.cached.ino, 0);
	check_result(&job, "root/text");
	close(job.fd);
}

/* A result that may block comes as a handle, which can be read. */
START_TEST(keeps_a_handle)
{
#if defined(SYS_preadv2) && defined(O_PATH)
	struct job	job, copy;

	settle();
	tree_forbid(SYS_preadv2, EOPNOTSUPP);
	for (int i = 0; i < 2; i++) {		/* made, then opened */
		job = asked("text");
		job.compress.cache_dir = keep;
		job_perform(&job);
		ck_assert_int_eq(job.error, 0);
		ck_assert(job.find.facts.handle);
		job_init(&copy, JOB_COPY);
		copy.fd = job.fd;
		copy.range.length = (uint64_t)job.find.version.size;
		copy.copy.has_version = true;
		copy.range.version = job.find.facts.cached;
		job_perform(&copy);
		check_result(&copy, "root/text");
		close(copy.fd);
		close(job.fd);
	}
#endif
}
END_TEST

static ino_t
inode(const char *name)
{
	struct stat	st;

	ck_assert_int_eq(stat(name, &st), 0);
	return st.st_ino;
}

START_TEST(keeps)
{
	char		name[512];
	struct job	job = asked("text");
	ino_t		first;

	settle();
	job.compress.cache_dir = keep;
	job_perform(&job);
	check_result(&job, "root/text");
	ck_assert(S_ISREG(job.find.facts.mode));
	check_kept(&job);
	close(job.fd);
	ck_assert_int_eq(kept(name), 1);
	first = inode(name);
	perform_kept();				/* from the cache directory */
	ck_assert_int_eq(kept(name), 1);
	ck_assert_uint_eq(inode(name), first);
	set_time("root/text", 900);
	settle();
	set_time("root/text", 800);		/* not strong: not cached */
	perform_kept();
	ck_assert_int_eq(kept(name), 1);
}
END_TEST

/* Damage to a result. */
static const char *const harms[] = {
	"truncate -s -1 $f", "truncate -s +1 $f", "truncate -s 0 $f",
	"printf X | dd of=$f bs=1 seek=300 conv=notrunc status=none",
	"chmod 666 $f", "mv $f $f.x && ln -s $(basename $f).x $f",
	"echo other | gzip > $f", "rm $f; mkdir $f", "rm $f; mkfifo $f"
};

START_TEST(harmed)
{
	char	name[512], command[1000];

	settle();
	perform_kept();
	ck_assert_int_eq(kept(name), 1);
	snprintf(command, sizeof(command), "f='%s'; %s", name, harms[_i]);
	ck_assert_int_eq(system(command), 0);
	perform_kept();
}
END_TEST

/* A cache directory that cannot be written to: the result is anonymous. */
START_TEST(cannot_keep)
{
	char	name[512];

	settle();
	if (_i == 0)
		snprintf(keep, sizeof(keep), "%s", tree_path("nothing"));
	else
		ck_assert_int_eq(chmod(keep, 0555), 0);
	tree_be_nobody();
	perform_kept();
	if (_i == 1)
		ck_assert_int_eq(kept(name), 0);
}
END_TEST

START_TEST(nothing_half_done)
{
	char		name[512];
	struct job	job = asked("noise");

	settle();
	set_time("root/noise", 1000);
	job.compress.cache_dir = keep;
	do {
		job_perform(&job);
		ck_assert_int_eq(job.error, EFBIG);
	} while (!job.find.facts.strong);
	ck_assert_int_eq(kept(name), 0);
}
END_TEST

/* The directory has gone. */
START_TEST(unkept)
{
	struct job	job = asked("text");

	settle();
	job.compress.cache_dir = "/nonexistent";
	job_perform(&job);
	check_result(&job, "root/text");
	ck_assert_uint_eq(job.compress.unkept, ENOENT);
	ck_assert_uint_eq(job.find.facts.mode & S_IFMT, 0);
	close(job.fd);
}
END_TEST

/* The header, the data and the trailer are checked. */
START_TEST(whole)
{
	int	from = open(tree_path("root/text"), O_RDONLY);
	int	to = open(tree_path("x"), O_RDWR | O_CREAT, 0600);
	int	other = open(tree_path("root/noise"), O_RDONLY);
	int64_t	size;

	if (!coding_is_built(_i))
		return;
	ck_assert_int_eq(coding_compress(_i, 3, from, SIZE, to, SIZE, &size),
	    0);
	ck_assert(coding_is_intact(_i, to, from, SIZE));
	ck_assert(!coding_is_intact(_i, to, from, SIZE - 1));
	ck_assert(!coding_is_intact(_i, to, other, SIZE));
	for (int64_t i = size - 1; i >= 0; i--) {
		ck_assert_int_eq(ftruncate(to, i), 0);
		ck_assert(!coding_is_intact(_i, to, from, SIZE));
	}
	ck_assert(!coding_is_intact(_i, from, from, SIZE));
	/* The limit itself is too large. */
	ck_assert_int_eq(coding_compress(_i, 3, from, SIZE, to, size + 1,
	    &size), 0);
	ck_assert_int_eq(coding_compress(_i, 3, from, SIZE, to, size, &size),
	    EFBIG);
	/* The file is of that size, or it has changed. */
	ck_assert_int_eq(coding_compress(_i, 3, from, SIZE + 1, to, SIZE,
	    &size), EAGAIN);
	ck_assert_int_eq(coding_compress(_i, 3, from, SIZE - 1, to, SIZE,
	    &size), EAGAIN);
	close(from);
	close(other);
	ck_assert_int_eq(coding_compress(_i, 3, from, SIZE, to, SIZE, &size),
	    EBADF);
	close(to);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_test(tests, compresses);
	tcase_add_loop_test(tests, each_level, 0, CODING_COUNT);
	tcase_add_test(tests, stays);
	tcase_add_test(tests, index_of_a_directory);
	tcase_add_test(tests, again);
	tcase_add_loop_test(tests, refuses, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tests, known);
	tcase_add_test(tests, keeps);
	tcase_add_test(tests, keeps_a_handle);
	tcase_add_loop_test(tests, harmed, 0, sizeof(harms) / sizeof(harms[0]));
	tcase_add_loop_test(tests, cannot_keep, 0, 2);
	tcase_add_test(tests, nothing_half_done);
	tcase_add_test(tests, unkept);
	tcase_add_loop_test(tests, whole, 0, CODING_COUNT);
}
