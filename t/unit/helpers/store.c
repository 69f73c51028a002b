/*
 * Tests of helpers/store: what is kept is found again, and only that: nothing of
 * a file that is damaged in any byte, cut off, or another user's.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <time.h>

#include "helpers/file_version.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "helpers/store/renewal.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

#define MAX	(1 << 20)

static struct buf	notes;

static struct job
make_job(const char *key)
{
	static struct buf	bytes;
	struct job		job;

	bytes.len = 0;
	buf_adds(&bytes, key);
	buf_add(&bytes, notes.at, notes.len);
	job_init(&job, JOB_STORE);
	job.store.directory = tree_path("kept");
	job.store.group = "pages";
	job.store.bytes = (struct str){ bytes.at, bytes.len };
	job.store.key_size = strlen(key);
	job.store.max = MAX;
	return job;
}

static int
keep_with(const char *key, const char *text, uint64_t renewal, int64_t max)
{
	struct job	job = make_job(key);

	tree_file("text", text, 0600);
	job.fd = open(tree_path("text"), O_RDONLY);
	job.store.has_file = true;
	job.store.size = strlen(text);
	job.store.renewal = renewal;
	job.store.max = max;
	job_perform(&job);
	close(job.fd);
	return job.error;
}

static int
keep(const char *key, const char *text)
{
	return keep_with(key, text, 0, MAX);
}

static struct job
find(const char *key)
{
	struct job	job = make_job(key);

	job.store.bytes.len = job.store.key_size;
	job_perform(&job);
	return job;
}

/* The text that is found by a key; NULL: none.  Checks the notes. */
static const char *
found(const char *key)
{
	static char	text[4096];
	struct job	job = find(key);
	ssize_t		n;

	if (job.error != 0) {
		ck_assert_int_eq(job.fd, -1);
		return NULL;
	}
	n = pread(job.fd, text, sizeof(text) - 1, 0);
	close(job.fd);
	ck_assert_int_eq(n, job.store.size + job.store.notes_size);
	ck_assert_uint_eq(job.store.notes_size, notes.len);
	ck_assert_mem_eq(text + job.store.size, buf_string(&notes),
	    notes.len);
	text[job.store.size] = '\0';
	return text;
}

/* The name of the only file that is kept. */
static const char *
kept_file(void)
{
	static char		 name[300];
	const struct dirent	*e;
	DIR			*d = opendir(tree_path("kept"));

	name[0] = '\0';
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.') {
			ck_assert_str_eq(name, "");
			snprintf(name, sizeof(name), "kept/%s", e->d_name);
		}
	closedir(d);
	return name;
}

static int
count_files(void)
{
	DIR	*d = opendir(tree_path("kept"));
	int	 n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;			/* . and .. */
}

static void
make_directory(void)
{
	notes.len = 0;
	buf_adds(&notes, "");
	ck_assert_int_eq(mkdir(tree_path("kept"), 0700), 0);
}

START_TEST(keeps_and_finds)
{
	int	before;

	make_directory();
	before = tree_descriptors();
	ck_assert_ptr_null(found("key"));
	ck_assert_int_eq(keep("key", "a text"), 0);
	ck_assert_int_eq(keep("ke", "another"), 0);
	ck_assert_str_eq(found("key"), "a text");
	ck_assert_str_eq(found("ke"), "another");
	ck_assert_ptr_null(found("keys"));
	ck_assert_int_eq(keep("key", "a new text"), 0);
	ck_assert_str_eq(found("key"), "a new text");
	ck_assert_int_eq(tree_descriptors(), before);
	ck_assert_int_eq(count_files(), 2);
}
END_TEST

/* Each byte of the file counts, but for the time of its last use. */
START_TEST(damaged)
{
	const int	used = 48;
	char		bytes[1024];
	const char	*name;
	ssize_t		n;
	int		fd;

	make_directory();
	ck_assert_int_eq(keep("key", "a text"), 0);
	name = kept_file();
	fd = open(tree_path(name), O_RDONLY);
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	ck_assert_int_gt(n, used + 8);
	for (ssize_t i = 0; i < n; i++) {
		bytes[i] ^= 1;
		fd = open(tree_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
		ck_assert_int_eq(write(fd, bytes, (size_t)n), n);
		close(fd);
		bytes[i] ^= 1;
		if (i >= used && i < used + 8)
			ck_assert_str_eq(found("key"), "a text");
		else
			ck_assert_ptr_null(found("key"));
	}
	for (ssize_t i = 0; i <= n + 1; i++) {
		fd = open(tree_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
		ck_assert_int_eq(write(fd, bytes, (size_t)(i < n ? i : n)),
		    i < n ? i : n);
		ck_assert_int_eq(write(fd, "x", i > n), i > n);
		close(fd);
		if (i == n)
			ck_assert_str_eq(found("key"), "a text");
		else
			ck_assert_ptr_null(found("key"));
		/* What is damaged is removed. */
		ck_assert_int_eq(access(tree_path(name), F_OK),
		    i == n ? 0 : -1);
	}
}
END_TEST

/* Sizes that no file has. */
START_TEST(absurd_head)
{
	const uint64_t	large[] = { UINT64_MAX, INT64_MAX, MAX + 1, 1 << 20 };
	const char	*name;
	int		 fd;

	make_directory();
	for (int at = 16; at < 40; at += 8)
		for (size_t i = 0; i < 4; i++) {
			ck_assert_int_eq(keep("key", "a text"), 0);
			name = kept_file();
			fd = open(tree_path(name), O_WRONLY);
			ck_assert_int_eq(pwrite(fd, &large[i], 8, at), 8);
			close(fd);
			ck_assert_ptr_null(found("key"));
		}
}
END_TEST

START_TEST(of_others)
{
	const char	*name;

	make_directory();
	ck_assert_int_eq(keep("key", "a text"), 0);
	name = kept_file();
	ck_assert_int_eq(chmod(tree_path(name), 0620), 0);
	ck_assert_ptr_null(found("key"));
	ck_assert_int_eq(keep("key", "a text"), 0);
	ck_assert_int_eq(rename(tree_path(name), tree_path("elsewhere")), 0);
	ck_assert_int_eq(symlink(tree_path("elsewhere"), tree_path(name)), 0);
	ck_assert_int_eq(find("key").error, ENOENT);
	ck_assert_int_eq(access(tree_path("elsewhere"), F_OK), 0);
	/* The link is gone, and makes room for another file. */
	ck_assert_int_eq(mkfifo(tree_path(name), 0600), 0);
	ck_assert_int_eq(find("key").error, ENOENT);
	ck_assert_int_eq(mkdir(tree_path(name), 0700), 0);
	ck_assert_int_eq(find("key").error, ENOENT);
	ck_assert_int_eq(rmdir(tree_path(name)), 0);
	ck_assert_int_eq(chmod(tree_path("kept"), 0770), 0);
	ck_assert_int_eq(keep("key", "a text"), EPERM);
	ck_assert_int_eq(find("key").error, EPERM);
	ck_assert_int_eq(chmod(tree_path("kept"), 0700), 0);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(tree_path("kept"), 12345, (gid_t)-1), 0);
	ck_assert_int_eq(keep("key", "a text"), EPERM);
}
END_TEST

static void
add_note(const char *name, int64_t later)
{
	struct job_version	v;
	struct stat		st;

	ck_assert_int_eq(stat(tree_path(name), &st), 0);
	v = file_version_of(&st);
	buf_addf(&notes, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %"
	    PRIx64 " %" PRIx32 " %" PRIx32 " %s\n", v.dev, v.ino,
	    (uint64_t)v.size, (uint64_t)(v.mtime + later),
	    (uint64_t)(v.ctime + later), v.mtime_ns, v.ctime_ns,
	    tree_path(name));
}

/* Files that a result depends on: none may be so young that a change leaves no
 * trace, and none may have changed. */
START_TEST(young_notes)
{
	struct stat	st;

	make_directory();
	tree_file("part", "a part", 0600);
	add_note("part", 0);
	ck_assert_int_eq(keep("key", "a text"), ESTALE);
	ck_assert_ptr_null(found("key"));
	/* An old one, which the file does not have. */
	notes.len = 0;
	add_note("part", -100);
	ck_assert_int_eq(keep("key", "a text"), 0);
	ck_assert_ptr_null(found("key"));
	/* It stays: the file may get that version again. */
	ck_assert_int_eq(stat(tree_path(kept_file()), &st), 0);
	notes.len = 0;
	buf_adds(&notes, "1 2 3 no version\n");
	ck_assert_int_eq(keep("key", "a text"), ESTALE);
}
END_TEST

/* A file of the system is old, and stays as it is. */
START_TEST(old_notes)
{
	const char		*file = "/etc/passwd";
	struct job_version	 v;
	struct stat		 st;

	make_directory();
	if (stat(file, &st) == -1 || st.st_ctime > time(NULL) - 10)
		return;
	v = file_version_of(&st);
	buf_addf(&notes, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %"
	    PRIx64 " %" PRIx32 " %" PRIx32 " %s\n", v.dev, v.ino,
	    (uint64_t)v.size, (uint64_t)v.mtime, (uint64_t)v.ctime, v.mtime_ns,
	    v.ctime_ns, file);
	ck_assert_int_eq(keep("key", "a text"), 0);
	ck_assert_str_eq(found("key"), "a text");
}
END_TEST

/* A file that was not there may not have come. */
START_TEST(absent_notes)
{
	make_directory();
	buf_addf(&notes, "0 0 0 0 0 0 0 %s\n", tree_path("absent"));
	ck_assert_int_eq(keep("key", "a text"), 0);
	ck_assert_str_eq(found("key"), "a text");
	tree_file("absent", "here now", 0600);
	ck_assert_ptr_null(found("key"));
}
END_TEST

static void
renew(const char *group)
{
	int	directory = renewal_open_directory(tree_path("kept"));

	ck_assert_int_ne(directory, -1);
	ck_assert_int_eq(renewal_set(directory, group), 0);
	close(directory);
}

/* Two administrators at once: each of the numbers is set, in turn. */
START_TEST(renewed_at_once)
{
	int	status = 0;

	make_directory();
	for (int process = 0; process < 2; process++)
		if (fork() == 0) {
			for (int i = 0; i < 50; i++)
				renew("pages");
			_exit(0);
		}
	for (int process = 0; process < 2; process++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_int_eq(keep_with("key", "a text",
	    find("key").store.renewal, MAX), 0);
	ck_assert_str_eq(found("key"), "a text");
	renew("pages");
	ck_assert_ptr_null(found("key"));
}
END_TEST

/* What a run from before has made does not count, whenever it is kept. */
START_TEST(renewed)
{
	uint64_t	first, second;
	int		before;

	make_directory();
	before = tree_descriptors();
	first = find("key").store.renewal;
	ck_assert_uint_eq(first, 0);
	ck_assert_int_eq(keep_with("key", "a text", first, MAX), 0);
	renew("others");
	ck_assert_str_eq(found("key"), "a text");
	renew("pages");
	ck_assert_ptr_null(found("key"));
	second = find("key").store.renewal;
	ck_assert_uint_ne(second, first);
	ck_assert_int_eq(keep_with("key", "late", first, MAX), 0);
	ck_assert_ptr_null(found("key"));
	ck_assert_int_eq(keep_with("key", "new", second, MAX), 0);
	ck_assert_str_eq(found("key"), "new");
	renew("pages");
	ck_assert_ptr_null(found("key"));
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

/* A crash leaves the number from before, or the new one. */
START_TEST(torn_renewal)
{
	char			 name[300] = "";
	const struct dirent	*e;
	DIR			*d;

	make_directory();
	renew("pages");
	d = opendir(tree_path("kept"));
	while ((e = readdir(d)) != NULL)
		if (renewal_is_name(e->d_name))
			snprintf(name, sizeof(name), "kept/%s", e->d_name);
	closedir(d);
	ck_assert_str_ne(name, "");
	for (int i = 0; i < 3; i++) {
		tree_file(name, i == 0 ? "" : i == 1 ? "0000000000000000\n" :
		    "123456789abcdefg\n", 0600);
		ck_assert_int_eq(find("key").error, EIO);
	}
	strcat(name, ".new");
	tree_file(name, "half", 0600);
	renew("pages");
	ck_assert_int_eq(access(tree_path(name), F_OK), -1);
	ck_assert_int_eq(find("key").error, ENOENT);
}
END_TEST

/* Makes all files old. */
static void
age_files(void)
{
	struct timespec		 old[2] = { { .tv_sec = 1000 },
				    { .tv_sec = 1000 } };
	DIR			*d = opendir(tree_path("kept"));
	const struct dirent	*e;

	while ((e = readdir(d)) != NULL)
		ck_assert_int_eq(utimensat(dirfd(d), e->d_name, old, 0), 0);
	closedir(d);
}

/* The oldest go; the files of nobody stay. */
START_TEST(room)
{
	static char	text[1001];

	make_directory();
	memset(text, 'x', 1000);
	ck_assert_int_eq(keep_with("a", text, 0, 3500), 0);
	ck_assert_int_eq(keep_with("b", text, 0, 3500), 0);
	tree_file("kept/notes", text, 0600);
	tree_file("kept/.new-0", text, 0600);
	age_files();
	ck_assert_int_eq(keep_with("b", text, 0, 3500), 0);
	age_files();
	ck_assert_int_eq(access(tree_path("kept/.new-0"), F_OK), -1);
	ck_assert_str_eq(found("a"), text);	/* it is used now */
	ck_assert_int_eq(keep_with("c", text, 0, 3500), 0);
	ck_assert_int_eq(keep_with("d", text, 0, 3500), 0);
	ck_assert_str_eq(found("d"), text);
	ck_assert_ptr_null(found("b"));
	ck_assert_int_eq(keep_with("e", text, 0, 1000), EFBIG);
	ck_assert_int_eq(access(tree_path("kept/notes"), F_OK), 0);
	ck_assert_str_eq(found("d"), text);
	ck_assert_int_eq(keep_with("e", text, 0, 1100), 0);
	ck_assert_ptr_null(found("d"));
	ck_assert_str_eq(found("e"), text);
	ck_assert_int_eq(count_files(), 2);
}
END_TEST

/* What cannot be kept leaves nothing behind: on a full disk, and of a file that
 * has got shorter. */
START_TEST(full)
{
	struct rlimit		few, many;
	static char		text[1001];
	struct job		job;

	make_directory();
	memset(text, 'x', 1000);
	tree_file("text", text, 0600);
	job = make_job("key");
	job.fd = open(tree_path("text"), O_RDONLY);
	job.store.has_file = true;
	job.store.size = 1000;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &many), 0);
	few = many;
	few.rlim_cur = 200;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
	job_perform(&job);
	ck_assert_int_eq(job.error, EFBIG);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &many), 0);
	close(job.fd);
	ck_assert_int_eq(count_files(), 0);
	job = make_job("key");
	tree_file("text", "a text", 0600);
	job.fd = open(tree_path("text"), O_RDONLY);
	job.store.has_file = true;
	job.store.size = 100;		/* the file has fewer */
	job_perform(&job);
	close(job.fd);
	ck_assert_int_eq(job.error, EIO);
	ck_assert_int_eq(count_files(), 0);
	ck_assert_int_eq(keep_with("key", "a text", 0, MAX), 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, tree_begin, tree_end);
	tcase_add_test(tests, keeps_and_finds);
	tcase_add_test(tests, damaged);
	tcase_add_test(tests, absurd_head);
	tcase_add_test(tests, of_others);
	tcase_add_test(tests, young_notes);
	tcase_add_test(tests, old_notes);
	tcase_add_test(tests, absent_notes);
	tcase_add_test(tests, renewed);
	tcase_add_test(tests, renewed_at_once);
	tcase_add_test(tests, torn_renewal);
	tcase_add_test(tests, room);
	tcase_add_test(tests, full);
}
