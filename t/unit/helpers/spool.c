/*
 * Tests of helpers/spool: bytes are put into a file in memory or in a directory,
 * or are an error.
 */
#include <sys/resource.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <dirent.h>
#include <signal.h>

#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static char	text[JOB_DATA_MAX];

static struct job
spool_in(const char *directory, int fd, const char *bytes, size_t len,
    int64_t offset)
{
	struct job	job;

	job_init(&job, JOB_SPOOL);
	job.fd = fd;
	job.spool.has_file = fd != -1;
	job.spool.bytes = (struct str){ bytes, len };
	job.spool.offset = offset;
	job.spool.directory = directory;
	job_perform(&job);
	return job;
}

static struct job
spool(int fd, const char *bytes, size_t len, int64_t offset)
{
	return spool_in(NULL, fd, bytes, len, offset);
}

static void
check_text(int fd, const char *want, size_t len)
{
	static char	got[3 * JOB_DATA_MAX];
	struct stat	st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_size, len);
	ck_assert_int_eq(pread(fd, got, sizeof(got), 0), len);
	ck_assert_mem_eq(got, want, len);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0);
}

/* A job that is done twice, as its helper has died, has no effect but one. */
START_TEST(first_and_more)
{
	int		before = tree_descriptors();
	struct job	job = spool(-1, "abc", 3, 0), more;

	ck_assert_int_eq(job.error, 0);
	ck_assert_int_ne(job.fd, -1);
	ck_assert_int_ne(fcntl(job.fd, F_GETFD) & FD_CLOEXEC, 0);
	check_text(job.fd, "abc", 3);
	for (int i = 0; i < 2; i++) {
		more = spool(job.fd, "def", 3, 3);
		ck_assert_int_eq(more.error, 0);
		ck_assert_int_eq(more.fd, job.fd);
		check_text(job.fd, "abcdef", 6);
	}
	ck_assert_int_eq(tree_descriptors(), before + 1);
	io_close(&job.fd);
}
END_TEST

START_TEST(largest)
{
	struct job	job;

	memset(text, 'x', sizeof(text));
	job = spool(-1, text, sizeof(text), 0);
	ck_assert_int_eq(job.error, 0);
	check_text(job.fd, text, sizeof(text));
	io_close(&job.fd);
}
END_TEST

START_TEST(empty)
{
	struct job	job = spool(-1, NULL, 0, 0);

	ck_assert_int_eq(job.error, 0);
	check_text(job.fd, "", 0);
	io_close(&job.fd);
}
END_TEST

/* The caller's file stays open, as other errors are no reason to lose it. */
START_TEST(full)
{
	struct rlimit	limit = { 4, 4 };
	int		before = tree_descriptors();
	struct job	job, more;

	signal(SIGXFSZ, SIG_IGN);		/* as helpers do */
	job = spool(-1, "ab", 2, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	more = spool(job.fd, "cdef", 4, 2);
	ck_assert_int_eq(more.error, EFBIG);
	ck_assert_int_eq(more.fd, job.fd);
	io_close(&job.fd);
	job = spool(-1, "abcdef", 6, 0);
	ck_assert_int_eq(job.error, EFBIG);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

START_TEST(no_descriptor)
{
	struct rlimit	limit, none = { 0 };
	struct job	job;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	job = spool(-1, "a", 1, 0);
	/* The search for leaks needs some. */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(job.error, EMFILE);
	ck_assert_int_eq(job.fd, -1);
}
END_TEST

START_TEST(not_writable)
{
	int		fd = open("/dev/null", O_RDONLY);
	struct job	job = spool(fd, "a", 1, 0);

	ck_assert_int_eq(job.error, EBADF);
	ck_assert_int_eq(job.fd, fd);
	close(fd);
}
END_TEST

/* Whether a directory has no file. */
static bool
is_empty(const char *directory)
{
	DIR		*dir = opendir(directory);
	struct dirent	*entry;
	int		 n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n == 0;
}

static char	directory[] = "/tmp/amped-spool-XXXXXX";

/* A file without a name, which takes further bytes. */
static void
check_directory(void)
{
	struct job	job = spool_in(directory, -1, "abc", 3, 0), more;
	struct stat	st;

	ck_assert_int_eq(job.error, 0);
	ck_assert_int_eq(fstat(job.fd, &st), 0);
	ck_assert_uint_eq(job.spool.device, st.st_dev);
	ck_assert_int_eq(st.st_nlink, 0);
	ck_assert_int_eq(st.st_mode & 077, 0);
	ck_assert_int_ne(fcntl(job.fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert(is_empty(directory));
	more = spool(job.fd, "def", 3, 3);
	ck_assert_int_eq(more.fd, job.fd);
	check_text(job.fd, "abcdef", 6);
	io_close(&job.fd);
}

START_TEST(in_a_directory)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	check_directory();
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

#ifdef O_TMPFILE
/* As on a file system without such files. */
static void
forbid_unnamed_files(void)
{
	struct sock_filter	code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY,
		    0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog	program = { .len = 6, .filter = code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	    0);
}

/* The file has a name for a moment. */
START_TEST(without_unnamed_files)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	forbid_unnamed_files();
	check_directory();
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST
#endif

/* A body moves from memory; the caller's file stays as it is. */
START_TEST(moves)
{
	int		before = tree_descriptors();
	struct job	job, more;

	memset(text, 'x', sizeof(text));
	job = spool(-1, text, sizeof(text), 0);
	for (int i = 0; i < 2; i++) {
		more = spool_in("/tmp", job.fd, "yz", 2, sizeof(text));
		ck_assert_int_eq(more.error, 0);
		ck_assert_int_ne(more.fd, job.fd);
		check_text(job.fd, text, sizeof(text));
		ck_assert_int_eq(pread(more.fd, text, 4, sizeof(text) - 2), 4);
		ck_assert_mem_eq(text, "xxyz", 4);
		memset(text, 'x', 4);
		ck_assert_int_eq(lseek(more.fd, 0, SEEK_CUR), 0);
		io_close(&more.fd);
	}
	/* What is not there cannot move. */
	more = spool_in("/tmp", job.fd, "yz", 2, sizeof(text) + 1);
	ck_assert_int_eq(more.error, EIO);
	ck_assert_int_eq(more.fd, job.fd);
	io_close(&job.fd);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

START_TEST(no_directory)
{
	int		before = tree_descriptors();
	struct job	job = spool_in("/nowhere/at/all", -1, "a", 1, 0);

	ck_assert_int_eq(job.error, ENOENT);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

#ifdef SYS_memfd_create
START_TEST(without_memory_files)
{
	struct job	job;

	tree_forbid(SYS_memfd_create, ENOSYS);
	job = spool(-1, "abc", 3, 0);
	ck_assert_int_eq(job.error, 0);
	check_text(job.fd, "abc", 3);
	io_close(&job.fd);
}
END_TEST

/* As if no memory were left. */
START_TEST(no_memory)
{
	int		before = tree_descriptors();
	struct job	job;

	tree_forbid(SYS_pwrite64, ENOSPC);
	job = spool(-1, "abc", 3, 0);
	ck_assert_int_eq(job.error, ENOSPC);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST
#endif

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, first_and_more);
	tcase_add_test(tests, in_a_directory);
	tcase_add_test(tests, moves);
	tcase_add_test(tests, no_directory);
#ifdef O_TMPFILE
	tcase_add_test(tests, without_unnamed_files);
#endif
	tcase_add_test(tests, largest);
	tcase_add_test(tests, empty);
	tcase_add_test(tests, full);
	tcase_add_test(tests, no_descriptor);
	tcase_add_test(tests, not_writable);
#ifdef SYS_memfd_create
	tcase_add_test(tests, without_memory_files);
	tcase_add_test(tests, no_memory);
#endif
}
