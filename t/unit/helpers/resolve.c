/*
 * Tests of helpers/resolve: files that are found beneath a root or refused, and
 * their facts; with openat2, and without.
 */
#include <sys/inotify.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#endif

#include <signal.h>
#include <time.h>

#include "helpers/beneath.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static char		root[256];
static const char	no_names[] = "";
static const char	index_names[] = "index.html\0index.htm\0up";

static const char	try_suffixes[] = ".html\0.htm";

static const struct {
	const char	*path;
	const char	*names;
	size_t		 names_len;
	int		 kernel, walk;		/* expected errors */
	unsigned	 which;
	const char	*text;			/* in the file */
} cases[] = {
#define NONE	no_names, 0
#define INDEX	index_names, sizeof(index_names)
#define TRY	try_suffixes, sizeof(try_suffixes)
	{ "file",	NONE,	0,	 0,	  0,	"f" },
	{ "file",	INDEX,	0,	 0,	  0,	"f" },
	{ "both/other",	NONE,	0,	 0,	  0,	"bo" },
	{ "in",		NONE,	0,	 ELOOP,	  0,	"f" },
	{ "indir/other", NONE,	0,	 ELOOP,	  0,	"bo" },
	{ "out",	NONE,	EXDEV,	 ELOOP,	  0,	NULL },
	{ "absolute",	NONE,	EXDEV,	 ELOOP,	  0,	NULL },
	{ "../outside",	NONE,	EXDEV,	 EXDEV,	  0,	NULL },
	{ "none",	NONE,	ENOENT,	 ENOENT,  0,	NULL },
	{ "file/none",	NONE,	ENOTDIR, ENOTDIR, 0,	NULL },
	{ "file/",	NONE,	ENOTDIR, ENOTDIR, 0,	NULL },
	{ "file/",	INDEX,	ENOTDIR, ENOTDIR, 0,	NULL },
	{ "none/",	INDEX,	ENOENT,	 ENOENT,  0,	NULL },
	{ "fifo",	NONE,	ENOTSUP, ENOTSUP, 0,	NULL },
	{ "fifo/",	INDEX,	ENOTDIR, ENOTDIR, 0,	NULL },
	{ "socket",	NONE,	ENOTSUP, ENOTSUP, 0,	NULL },
	{ "secret",	NONE,	EACCES,	 EACCES,  0,	NULL },
	{ "closed/file", NONE,	EACCES,	 EACCES,  0,	NULL },
	{ "closed/",	INDEX,	EACCES,	 EACCES,  0,	NULL },
	{ "unread/file", NONE,	0,	 0,	  0,	"uf" },
	{ "",		NONE,	EISDIR,	 EISDIR,  0,	NULL },
	{ "",		INDEX,	0,	 0,	  1,	"i" },
	{ "both",	NONE,	EISDIR,	 EISDIR,  0,	NULL },
	{ "both",	INDEX,	EISDIR,	 EISDIR,  0,	NULL },
	{ "both/",	NONE,	EISDIR,	 EISDIR,  0,	NULL },
	{ "both/",	INDEX,	0,	 0,	  1,	"bi" },
	{ "second/",	INDEX,	0,	 0,	  2,	"si" },
	{ "dirs/",	INDEX,	0,	 0,	  2,	"di" },
	{ "linked/",	INDEX,	0,	 ELOOP,	  3,	"f" },
	{ "empty/",	INDEX,	EISDIR,	 EISDIR,  0,	NULL },
	{ "barred/",	INDEX,	EACCES,	 EACCES,  0,	NULL },
	{ "piped/",	INDEX,	ENOTSUP, ENOTSUP, 0,	NULL },
	{ "leaving/",	INDEX,	EXDEV,	 ELOOP,	  0,	NULL },
	{ "page",	TRY,	0,	 0,	  1,	"ph" },
	{ "old",	TRY,	0,	 0,	  2,	"oh" },
	{ "file",	TRY,	0,	 0,	  0,	"f" },
	{ "both",	TRY,	0,	 0,	  1,	"bh" },
	{ "second",	TRY,	EISDIR,	 EISDIR,  0,	NULL },
	{ "second/index", TRY,	0,	 0,	  2,	"si" },
	{ "dirs/index",	TRY,	0,	 0,	  2,	"di" },
	{ "both/",	TRY,	EISDIR,	 EISDIR,  0,	NULL },
	{ "none",	TRY,	ENOENT,	 ENOENT,  0,	NULL },
	{ "file/none",	TRY,	ENOTDIR, ENOTDIR, 0,	NULL },
	{ "secret",	TRY,	EACCES,	 EACCES,  0,	NULL },
	{ "barred/index", TRY,	EACCES,	 EACCES,  0,	NULL },
	{ "leaving/index", TRY,	EXDEV,	 ELOOP,	  0,	NULL }
};
#define CASES	((int)(sizeof(cases) / sizeof(cases[0])))

static void
make(void)
{
	static const char *const dirs[] = { "root", "root/both", "root/second",
	    "root/dirs", "root/dirs/index.html", "root/linked", "root/empty",
	    "root/barred", "root/piped", "root/leaving", "root/closed",
	    "root/unread" };

	tree_begin();
	snprintf(root, sizeof(root), "%s", tree_path("root"));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		tree_dir(dirs[i], 0755);
	tree_file("outside", "secret", 0644);
	tree_file("root/file", "f", 0644);
	tree_file("root/index.html", "i", 0644);
	tree_file("root/secret", "s", 0);
	tree_file("root/both/other", "bo", 0644);
	tree_file("root/both/index.html", "bi", 0644);
	tree_file("root/both/index.htm", "bi2", 0644);
	tree_file("root/both.html", "bh", 0644);
	tree_file("root/page.html", "ph", 0644);
	tree_file("root/page.htm", "ph2", 0644);
	tree_file("root/old.htm", "oh", 0644);
	tree_file("root/second/index.htm", "si", 0644);
	tree_file("root/dirs/index.htm", "di", 0644);
	tree_file("root/barred/index.html", "x", 0);
	tree_file("root/barred/index.htm", "x", 0644);
	tree_file("root/closed/file", "cf", 0644);
	tree_file("root/unread/file", "uf", 0644);
	tree_link("file", "root/in");
	tree_link("both", "root/indir");
	tree_link("../outside", "root/out");
	tree_link("/etc/passwd", "root/absolute");
	tree_link("../file", "root/linked/up");
	tree_link("../../outside", "root/leaving/index.html");
	tree_fifo("root/fifo");
	tree_fifo("root/piped/index.html");
	tree_socket("root/socket");
	ck_assert_int_eq(chmod(tree_path("root/closed"), 0600), 0);
	ck_assert_int_eq(chmod(tree_path("root/unread"), 0711), 0);
}

static void
unmake(void)
{
	chmod(tree_path("root/closed"), 0700);
	tree_end();
}

static void
resolve(struct job *job, const char *where, const char *path)
{
	job_init(job, JOB_RESOLVE);
	job->find.root = where;
	job->find.path = path;
	job_perform(job);
}

static bool
kernel_can(void)
{
	int	here = open("/", BENEATH_STAT | O_DIRECTORY), fd;

	fd = beneath_openat2(here, "", BENEATH_STAT);
	close(here);
	close(fd);
	return fd != -1;
}

static void
check_file(const struct job *job, const char *text)
{
	struct stat	st;
	char		got[16];

	ck_assert_int_ne(job->fd, -1);
	ck_assert_int_eq(fstat(job->fd, &st), 0);
	ck_assert_int_eq(fcntl(job->fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_ne(fcntl(job->fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_int_eq(read(job->fd, got, sizeof(got)), strlen(text));
	ck_assert_mem_eq(got, text, strlen(text));
	ck_assert_uint_eq(job->find.version.dev, st.st_dev);
	ck_assert_uint_eq(job->find.version.ino, st.st_ino);
	ck_assert_int_eq(job->find.version.size, st.st_size);
	ck_assert_int_eq(job->find.version.mtime, st.st_mtim.tv_sec);
	ck_assert_uint_eq(job->find.version.mtime_ns, st.st_mtim.tv_nsec);
	ck_assert_int_eq(job->find.version.ctime, st.st_ctim.tv_sec);
	ck_assert_uint_eq(job->find.version.ctime_ns, st.st_ctim.tv_nsec);
	ck_assert_uint_eq(job->find.facts.mode, st.st_mode);
	ck_assert_uint_eq(job->find.facts.uid, st.st_uid);
}

static void
check_case(int i, bool walking)
{
	int		before = tree_descriptors();
	int		error = walking ? cases[i].walk : cases[i].kernel;
	struct job	job;

	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = cases[i].path;
	job.find.names.at = cases[i].names;
	job.find.names.len = cases[i].names_len;
	job_perform(&job);
	ck_assert_msg(job.error == error, "\"%s\"%s: %s", job.find.path,
	    walking ? " walking" : "", strerror(job.error));
	ck_assert(!job.find.unchanged);
	if (error == 0) {
		check_file(&job, cases[i].text);
		ck_assert_uint_eq(job.find.name_number, cases[i].which);
		close(job.fd);
	} else
		ck_assert_int_eq(job.fd, -1);
	ck_assert_int_eq(tree_descriptors(), before);
}

START_TEST(as_the_system_can)
{
	tree_be_nobody();
	check_case(_i, !kernel_can());
}
END_TEST

static const struct {
	const char	*path, *names;
	size_t		 names_len;
	uint32_t	 denied;
} denials[] = {
	{ "secret", NONE, 6 }, { "closed/file", NONE, 6 },
	{ "closed/a/b", NONE, 6 }, { "closed/", INDEX, 6 },
	{ "barred/", INDEX, 8 }, { "barred/index", TRY, 13 },
	{ "secret", TRY, 6 }, { "none", NONE, 0 }, { "file", NONE, 0 },
};

/* What is denied on the way, told apart by bytes. */
START_TEST(denied)
{
	struct job	job;

	tree_be_nobody();
	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = denials[_i].path;
	job.find.names = (struct str){ denials[_i].names,
	    denials[_i].names_len };
	job.find.denied = 99;
	job_perform(&job);
	ck_assert_uint_eq(job.find.denied, denials[_i].denied);
	ck_assert_int_eq(job.error == EACCES, denials[_i].denied > 0);
	io_close(&job.fd);
}
END_TEST

#ifdef SYS_openat2
/*
 * Makes openat2 fail in this process, as on an older kernel, or under a filter
 * that does not know it.
 */
static void
forbid_openat2(int error)
{
	tree_forbid(SYS_openat2, error);
	ck_assert_int_eq(beneath_openat2(AT_FDCWD, "", BENEATH_STAT), -1);
	ck_assert_int_eq(errno, error);
}

START_TEST(on_an_older_kernel)
{
	forbid_openat2(ENOSYS);
	tree_be_nobody();
	for (int i = 0; i < CASES; i++)
		check_case(i, true);
}
END_TEST

START_TEST(under_a_filter)
{
	forbid_openat2(EPERM);
	tree_be_nobody();
	for (int i = 0; i < CASES; i++)
		check_case(i, true);
}
END_TEST
#endif

START_TEST(roots)
{
	struct job	job;

	resolve(&job, tree_path("nowhere"), "file");
	ck_assert_int_eq(job.error, ENOENT);
	resolve(&job, tree_path("outside"), "file");
	ck_assert_int_eq(job.error, ENOTDIR);
	resolve(&job, tree_path("outside"), "");
	ck_assert_int_eq(job.error, ENOTDIR);
	resolve(&job, "/dev", "null");
	ck_assert_int_eq(job.error, ENOTSUP);
	ck_assert_int_eq(job.fd, -1);
}
END_TEST

/* The root is looked up for each job, so a link can be swapped. */
START_TEST(root_link_is_swapped)
{
	struct job	job;

	tree_dir("release1", 0755);
	tree_file("release1/page", "one", 0644);
	tree_dir("release2", 0755);
	tree_file("release2/page", "two", 0644);
	tree_link("release1", "current");
	tree_link("release2", "next");
	resolve(&job, tree_path("current"), "page");
	ck_assert_int_eq(job.error, 0);
	check_file(&job, "one");
	close(job.fd);
	ck_assert_int_eq(rename(tree_path("next"), tree_path("current")), 0);
	resolve(&job, tree_path("current"), "page");
	ck_assert_int_eq(job.error, 0);
	check_file(&job, "two");
	close(job.fd);
}
END_TEST

/* Repeats a job with the version that it found. */
static void
ask_again(struct job *job)
{
	close(job->fd);
	job->fd = -1;
	job->find.has_version = true;
	memset(&job->find.facts, 0, sizeof(job->find.facts));
	job_perform(job);
	ck_assert_int_eq(job->error, 0);
}

START_TEST(known_version)
{
	struct job	job;
	struct timespec	times[2] = { { .tv_nsec = UTIME_OMIT } };

	tree_file("root/known", "1", 0644);
	resolve(&job, root, "known");
	ask_again(&job);
	ck_assert(job.find.unchanged);
	ck_assert_int_eq(job.fd, -1);
	ck_assert_uint_eq(job.find.facts.mode, S_IFREG | 0644);

	tree_file("root/known", "22", 0644);		/* another size */
	ask_again(&job);
	ck_assert(!job.find.unchanged);
	check_file(&job, "22");

	times[1].tv_sec = job.find.version.mtime;		/* a nanosecond */
	times[1].tv_nsec = job.find.version.mtime_ns ^ 1;
	utimensat(AT_FDCWD, tree_path("root/known"), times, 0);
	ask_again(&job);
	ck_assert(!job.find.unchanged);
	check_file(&job, "22");

	tree_file("root/new", "33", 0644);		/* another inode */
	utimensat(AT_FDCWD, tree_path("root/new"), times, 0);
	rename(tree_path("root/new"), tree_path("root/known"));
	ask_again(&job);
	ck_assert(!job.find.unchanged);
	check_file(&job, "33");

	ask_again(&job);
	ck_assert(job.find.unchanged);
	unlink(tree_path("root/known"));
	job.find.has_version = true;
	job_perform(&job);
	ck_assert_int_eq(job.error, ENOENT);
	ck_assert(!job.find.unchanged);
}
END_TEST

/* The version in the job is that of the second name. */
START_TEST(known_version_of_a_name)
{
	struct job	job;

	job_init(&job, JOB_RESOLVE);
	job.find.root = root;
	job.find.path = "second/";
	job.find.names.at = index_names;
	job.find.names.len = sizeof(index_names);
	job_perform(&job);
	ask_again(&job);
	ck_assert(job.find.unchanged);
	ck_assert_uint_eq(job.find.name_number, 2);
	tree_file("root/second/index.html", "first", 0644);
	ask_again(&job);
	ck_assert(!job.find.unchanged);
	ck_assert_uint_eq(job.find.name_number, 1);
	check_file(&job, "first");
	close(job.fd);
	unlink(tree_path("root/second/index.html"));
}
END_TEST

static int64_t
now_ns(void)
{
	struct timespec	now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#define SETTLED_NS	1000000000LL	/* behind a change */

START_TEST(settles)
{
	struct timespec	times[2] = { { .tv_nsec = UTIME_OMIT } };
	struct job	job;
	int64_t		ctime;

	tree_file("root/young", "y", 0644);
	times[1].tv_sec = 1000000000;		/* an old mtime: ctime counts */
	times[1].tv_nsec = 1;
	utimensat(AT_FDCWD, tree_path("root/young"), times, 0);
	resolve(&job, root, "young");
	close(job.fd);
	ctime = job.find.version.ctime * 1000000000 + job.find.version.ctime_ns;
	if (now_ns() < ctime + SETTLED_NS)	/* else the test was held up */
		ck_assert(!job.find.facts.strong);
	while (now_ns() <= ctime + SETTLED_NS)
		usleep(10000);
	ask_again(&job);
	ck_assert(job.find.facts.strong);
	ck_assert(job.find.unchanged);

	times[1].tv_sec = time(NULL) + 3600;	/* the future never is */
	utimensat(AT_FDCWD, tree_path("root/young"), times, 0);
	resolve(&job, root, "young");
	ck_assert(!job.find.facts.strong);
	close(job.fd);
}
END_TEST

/* For the tree, and for a file system in memory if there is one. */
START_TEST(in_memory)
{
	char		path[] = "/dev/shm/amped-unit-XXXXXX";
	struct statfs	fs;
	struct job	job;
	int		fd;

	ck_assert_int_eq(statfs(root, &fs), 0);
	resolve(&job, root, "file");
	ck_assert(job.find.facts.in_memory == (fs.f_type == TMPFS_MAGIC));
	if (statfs("/dev/shm", &fs) == -1 || fs.f_type != TMPFS_MAGIC ||
	    (fd = mkstemp(path)) == -1)
		return;
	resolve(&job, "/dev/shm", path + strlen("/dev/shm/"));
	unlink(path);
	ck_assert_int_eq(job.error, 0);
	ck_assert(job.find.facts.in_memory);
	close(fd);
}
END_TEST

/* A file system without RWF_NOWAIT: the result is a handle. */
START_TEST(handle)
{
#if defined(SYS_preadv2) && defined(O_PATH)
	struct job	job;

	tree_forbid(SYS_preadv2, EOPNOTSUPP);
	resolve(&job, root, "file");
	ck_assert_int_eq(job.error, 0);
	ck_assert(job.find.facts.handle != job.find.facts.in_memory);
	ck_assert(((fcntl(job.fd, F_GETFL) & O_PATH) != 0) ==
	    job.find.facts.handle);
	close(job.fd);
#endif
}
END_TEST

START_TEST(fifo_is_not_opened)
{
	char		event[4096];
	int		watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct job	job;

	ck_assert_int_ne(inotify_add_watch(watch, tree_path("root/fifo"),
	    IN_OPEN), -1);
	ck_assert_int_ne(inotify_add_watch(watch, tree_path("root/file"),
	    IN_OPEN), -1);
	resolve(&job, root, "fifo");
	ck_assert_int_eq(job.error, ENOTSUP);
	ck_assert_int_eq(read(watch, event, sizeof(event)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(open(tree_path("root/fifo"), O_WRONLY | O_NONBLOCK),
	    -1);
	ck_assert_int_eq(errno, ENXIO);		/* no reader */
	/* Else inotify has an event. */
	resolve(&job, root, "file");
	ck_assert_int_gt(read(watch, event, sizeof(event)), 0);
	close(job.fd);
	close(watch);
}
END_TEST

/* Replaces a name by a long file, a short file and a FIFO, for ever. */
static pid_t
replace_for_ever(void)
{
	pid_t	parent = getpid(), child = fork();

	if (child != 0)
		return child;
	while (getppid() == parent) {
		tree_file("root/next", "short", 0644);
		rename(tree_path("root/next"), tree_path("root/turn"));
		tree_file("root/next", "a longer one", 0644);
		rename(tree_path("root/next"), tree_path("root/turn"));
		tree_fifo("root/next");
		rename(tree_path("root/next"), tree_path("root/turn"));
	}
	_exit(0);
}

START_TEST(one_version_in_a_race)
{
	struct job	job;
	pid_t		child;
	int		files[2] = { 0, 0 }, fifos = 0;

	tree_file("root/turn", "short", 0644);
	child = replace_for_ever();
	while (files[0] < 100 || files[1] < 100 || fifos < 100) {
		resolve(&job, root, "turn");
		if (job.error != 0) {
			ck_assert_int_eq(job.error, ENOTSUP);
			fifos++;
			continue;
		}
		files[job.find.version.size == 5]++;
		ck_assert_int_eq(lseek(job.fd, 0, SEEK_END), job.find.version.size);
		close(job.fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

/*
 * Siblings
 */

static const char	suffixes[] = ".br\0.zst\0.gz";

static void
stamp(const char *name, time_t seconds, long nanoseconds)
{
	struct timespec	times[2] = { { seconds, nanoseconds },
	    { seconds, nanoseconds } };

	ck_assert_int_eq(utimensat(AT_FDCWD, tree_path(name), times, 0), 0);
}

static void
resolve_with(struct job *job, const char *path, unsigned suffix)
{
	job_init(job, JOB_RESOLVE);
	job->find.root = root;
	job->find.path = path;
	job->find.names.at = index_names;
	job->find.names.len = sizeof(index_names);
	job->resolve.siblings.at = suffixes;
	job->resolve.siblings.len = sizeof(suffixes);
	job->resolve.sibling = suffix;
	job_perform(job);
}

/* Size and mtime of a sibling; the file has 1000 s and 500 ns. */
static const struct {
	const char	*text;
	time_t		 seconds;
	long		 nanoseconds;
	bool		 counts;
} besides[] = {
	{ "x", 1000, 500, true },
	{ "x", 1000, 501, true },
	{ "x", 1001, 0, true },
	{ "x", 1000, 499, false },
	{ "x", 999, 600, false },
	{ "", 1001, 0, false },
};

START_TEST(beside)
{
	struct job	job;
	int		before = tree_descriptors();

	tree_dir("root/beside", 0755);
	tree_file("root/beside/index.htm", "file", 0644);
	tree_file("root/beside/index.htm.zst", besides[_i].text, 0644);
	tree_file("root/beside/index.html.gz", "of nothing", 0644);
	stamp("root/beside/index.htm", 1000, 500);
	stamp("root/beside/index.htm.zst", besides[_i].seconds,
	    besides[_i].nanoseconds);
	resolve_with(&job, "beside/", 0);
	ck_assert_uint_eq(job.resolve.counting, besides[_i].counts ? 2 : 0);
	check_file(&job, "file");
	close(job.fd);
	resolve_with(&job, "beside/", 2);
	ck_assert_int_eq(job.error, besides[_i].counts ? 0 : ESTALE);
	if (besides[_i].counts) {
		ck_assert_uint_eq(job.find.name_number, 2);
		check_file(&job, besides[_i].text);
		close(job.fd);
	} else
		ck_assert_int_eq(job.fd, -1);
	/* No other name is tried. */
	resolve_with(&job, "beside/", 3);
	ck_assert_int_eq(job.error, ESTALE);
	resolve_with(&job, "beside/none", 1);
	ck_assert_int_eq(job.error, ENOENT);
	ck_assert_int_eq(tree_descriptors(), before);
	ck_assert_int_eq(unlink(tree_path("root/beside/index.htm")), 0);
	ck_assert_int_eq(unlink(tree_path("root/beside/index.htm.zst")), 0);
	ck_assert_int_eq(unlink(tree_path("root/beside/index.html.gz")), 0);
	ck_assert_int_eq(rmdir(tree_path("root/beside")), 0);
}
END_TEST

/* Siblings that are no files, or not beneath the root, do not count. */
START_TEST(nothing_beside)
{
	struct job	job;

	tree_file("root/alone", "file", 0644);
	stamp("root/alone", 1000, 0);
	tree_fifo("root/alone.br");
	tree_dir("root/alone.zst", 0755);
	tree_link("../outside", "root/alone.gz");
	resolve_with(&job, "alone", 0);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.resolve.counting, 0);
	close(job.fd);
	/* With same_mount the link may lead to another mount. */
	job.find.same_mount = true;
	job.fd = -1;
	job_perform(&job);
	ck_assert(job.error == EREMOTE || (!kernel_can() && job.error == 0));
	ck_assert(job.fd == -1 || !kernel_can());
	ck_assert_uint_eq(job.resolve.counting, 0);
	io_close(&job.fd);
	for (unsigned i = 1; i <= 3; i++) {
		resolve_with(&job, "alone", i);
		ck_assert_int_ne(job.error, 0);
		ck_assert_int_eq(job.fd, -1);
	}
}
END_TEST

START_TEST(known_beside)
{
	struct job		job;
	struct job_version	version;

	tree_file("root/known", "file", 0644);
	tree_file("root/known.br", "br", 0644);
	stamp("root/known", 1000, 0);
	resolve_with(&job, "known", 1);
	close(job.fd);
	version = job.find.version;
	for (int i = 0; i < 2; i++) {
		job_init(&job, JOB_RESOLVE);
		job.find.root = root;
		job.find.path = "known";
		job.resolve.siblings.at = suffixes;
		job.resolve.siblings.len = sizeof(suffixes);
		job.resolve.sibling = 1;
		job.find.has_version = true;
		job.find.version = version;
		job_perform(&job);
		ck_assert_int_eq(job.error, i == 0 ? 0 : ESTALE);
		ck_assert(job.find.unchanged == (i == 0));
		ck_assert_int_eq(job.fd, -1);
		stamp("root/known", version.mtime + 1000, 0);
	}
}
END_TEST

/* With same_mount no other file system is entered. */
START_TEST(stays)
{
	static const struct {
		enum job_links	 links;
		const char	*root, *path;
		int		 error, stayed;
	} moves[] = {
#define MOVES(links, error, stayed)					\
		{ links, "/",	  "proc/version", 0,	  EREMOTE },	\
		{ links, "/",	  "proc",	  EISDIR, EREMOTE },	\
		{ links, "/",	  "proc/",	  EISDIR, EREMOTE },	\
		{ links, "/proc", "version",	  0,	  0 },		\
		{ links, NULL,	  "file",	  0,	  0 },		\
		{ links, NULL,	  "none",	  ENOENT, ENOENT },	\
		{ links, NULL,	  "out",	  error, stayed }
		/* EREMOTE stands for both errors. */
		MOVES(JOB_LINKS_BENEATH, EXDEV, EREMOTE),
		MOVES(JOB_LINKS_NONE, ELOOP, ELOOP),
		MOVES(JOB_LINKS_OWNER, 0, EREMOTE),
		MOVES(JOB_LINKS_ALL, 0, 0)
	};

	int	 before = tree_descriptors();

	for (size_t i = 0; kernel_can() &&
	    i < sizeof(moves) / sizeof(moves[0]); i++)
		for (int stay = 0; stay < 2; stay++) {
			struct job	job;

			job_init(&job, JOB_RESOLVE);
			job.find.root = moves[i].root != NULL ? moves[i].root : root;
			job.find.path = moves[i].path;
			job.find.links = moves[i].links;
			job.find.same_mount = stay;
			job_perform(&job);
			ck_assert_msg(job.error == (stay ? moves[i].stayed :
			    moves[i].error), "%s: %s", job.find.path,
			    strerror(job.error));
			if (job.fd != -1)
				close(job.fd);
		}
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

/* mount_len selects one of nested mounts; /proc is one. */
START_TEST(stays_on_a_mount)
{
	static const struct {
		const char	*path;
		size_t		 enter;
		int		 error;
	} ways[] = {
		{ "proc/version",		4,	0 },
		{ "proc//version",		4,	0 },
		{ "proc/",			4,	EISDIR },
		{ "proc/none",			4,	ENOENT },
		{ "proc/self/none",		4,	ENOENT },
		{ "proc/self/root/none",	4,	ELOOP },
		{ "procession/none",		4,	ENOENT },
		{ "proc/../none",		4,	EREMOTE },
		{ "none/version",		4,	EREMOTE }
	};
	int	 before = tree_descriptors();

	for (size_t i = 0; kernel_can() &&
	    i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct job	job;

		job_init(&job, JOB_RESOLVE);
		job.find.root = "/";
		job.find.path = ways[i].path;
		job.find.same_mount = true;
		job.find.mount_len = ways[i].enter;
		job_perform(&job);
		ck_assert_msg(job.error == ways[i].error, "%s: %s", job.find.path,
		    strerror(job.error));
		io_close(&job.fd);
	}
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, as_the_system_can, 0, CASES);
	tcase_add_loop_test(tests, denied, 0,
	    sizeof(denials) / sizeof(denials[0]));
#ifdef SYS_openat2
	tcase_add_test(tests, on_an_older_kernel);
	tcase_add_test(tests, under_a_filter);
#endif
	tcase_add_test(tests, roots);
	tcase_add_test(tests, root_link_is_swapped);
	tcase_add_test(tests, known_version);
	tcase_add_test(tests, known_version_of_a_name);
	tcase_add_test(tests, settles);
	tcase_add_test(tests, in_memory);
	tcase_add_test(tests, handle);
	tcase_add_test(tests, fifo_is_not_opened);
	tcase_add_test(tests, one_version_in_a_race);
	tcase_add_loop_test(tests, beside, 0,
	    sizeof(besides) / sizeof(besides[0]));
	tcase_add_test(tests, nothing_beside);
	tcase_add_test(tests, known_beside);
	tcase_add_test(tests, stays);
	tcase_add_test(tests, stays_on_a_mount);
}
