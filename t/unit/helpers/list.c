/*
 * Tests of helpers/list: the entries of a page, their order, and the limits.
 */
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "helpers/beneath.h"
#include "helpers/job.h"
#include "lib/buf.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

#define TITLE	"/a title/"
#define BRIEF	"<", "%{name}/", "%{name} %{size}", ",", "...", ">"

static char		root[256];
static struct buf	form;
static struct buf	text;			/* the last page */

static void
make(void)
{
	static const char *const dirs[] = { "root", "root/dir", "root/beta",
	    "root/dir/deep", "root/empty", "root/closed", "root/odd",
	    "root/links", "root/same", "outside" };

	tree_begin();
	snprintf(root, sizeof(root), "%s", tree_path("root"));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		tree_dir(dirs[i], 0755);
	tree_file("outside/secret", "secret", 0644);
	tree_file("root/dir/b", "22", 0644);
	tree_file("root/dir/a", "333", 0644);
	tree_file("root/dir/C", "1", 0644);
	tree_file("root/dir/.hidden", "", 0644);
	tree_file("root/dir/x.bak", "", 0600);
	tree_link("b", "root/links/file");
	tree_link("../dir/b", "root/links/inside");
	tree_link("../dir", "root/links/dir");
	tree_link("../../outside/secret", "root/links/outside");
	tree_link("/etc/passwd", "root/links/absolute");
	tree_link("..", "root/links/up");
	tree_link("../..", "root/links/out");
	tree_link("nothing", "root/links/dangling");
	tree_link("loop", "root/links/loop");
	tree_fifo("root/links/fifo");
	tree_socket("root/links/socket");
	tree_link("fifo", "root/links/to-fifo");
	ck_assert_int_eq(chmod(tree_path("root/closed"), 0711), 0);
}

static void
unmake(void)
{
	buf_free(&form);
	buf_free(&text);
	tree_end();
}

static void
prepare(struct job *job, const char *path, const char *const texts[])
{
	form.len = 0;
	for (int i = 0; i < JOB_TEMPLATE_COUNT; i++)
		buf_add(&form, texts[i], strlen(texts[i]) + 1);
	job_init(job, JOB_LIST);
	job->find.root = root;
	job->find.path = path;
	job->list.template.at = form.at;
	job->list.template.len = form.len;
	job->list.entries_max = 1000;
	job->list.bytes_max = 1000000;
}

/* Does the job, reads the page into text, and closes its descriptor. */
static void
perform(struct job *job)
{
	char	bytes[1000];
	ssize_t	n;

	job_perform(job);
	text.len = 0;
	if (job->fd == -1)
		return;
	for (off_t at = 0; (n = pread(job->fd, bytes, sizeof(bytes), at)) > 0;
	    at += n)
		buf_add(&text, bytes, (size_t)n);
	close(job->fd);
	job->fd = -1;
	ck_assert_int_eq(job->find.version.size, (int64_t)text.len);
}

static const char *
listed(const char *path, const char *order, const char *patterns, size_t size)
{
	const char	*texts[] = { order, TITLE, BRIEF };
	struct job	 job;

	prepare(&job, path, texts);
	job.list.hidden.at = patterns;
	job.list.hidden.len = size;
	perform(&job);
	ck_assert_int_eq(job.error, 0);
	return buf_string(&text);
}

static const struct {
	const char	*order, *page;
} orders[] = {
	{ "name", "<deep/,C 1,a 3,b 2>" },
	{ "-name", "<deep/,b 2,a 3,C 1>" },
	{ "size", "<deep/,C 1,b 2,a 3>" },
	{ "-size", "<deep/,a 3,b 2,C 1>" },
	{ "time", "<deep/,a 3,C 1,b 2>" },
	{ "-time", "<deep/,b 2,C 1,a 3>" },
};

static void
set_time(const char *name, time_t seconds)
{
	struct timespec	times[2] = { { .tv_sec = 0 }, { .tv_sec = seconds } };

	ck_assert_int_eq(utimensat(AT_FDCWD, tree_path(name), times, 0), 0);
}

START_TEST(in_order)
{
	static const char	hide[] = ".*\0*.bak";

	set_time("root/dir/a", 1000);
	set_time("root/dir/C", 2000);
	set_time("root/dir/b", 3000);
	ck_assert_str_eq(listed("dir/", orders[_i].order, hide, sizeof(hide)),
	    orders[_i].page);
}
END_TEST

START_TEST(directories_first)
{
	ck_assert_str_eq(listed("", "name", NULL, 0),
	    "<beta/,closed/,dir/,empty/,links/,odd/,same/>");
	ck_assert_str_eq(listed("", "-size", NULL, 0),
	    "<same/,odd/,links/,empty/,dir/,closed/,beta/>");
}
END_TEST

/* Without patterns all entries but . and .. are listed. */
START_TEST(patterns)
{
	ck_assert_str_eq(listed("dir", "name", NULL, 0),
	    "<deep/,.hidden 0,C 1,a 3,b 2,x.bak 0>");
	ck_assert_str_eq(listed("dir", "name", "[a-b]", 6),
	    "<deep/,.hidden 0,C 1,x.bak 0>");
	ck_assert_str_eq(listed("dir", "name", "?\0.*\0d*", 8),
	    "<x.bak 0>");
	ck_assert_str_eq(listed("dir", "name", "*", 2), "<>");
	ck_assert_str_eq(listed("empty", "name", NULL, 0), "<>");
}
END_TEST

static bool
kernel_can(void)
{
	int	here = open("/", BENEATH_STAT | O_DIRECTORY);
	int	fd = beneath_openat2(here, "", BENEATH_STAT);

	close(here);
	close(fd);
	return fd != -1;
}

/* Links are followed as in a request for them. */
START_TEST(links)
{
	int	before = tree_descriptors();

	ck_assert_str_eq(listed("links/", "name", NULL, 0), kernel_can() ?
	    "<dir/,up/,inside 2>" : "<>");
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

/* Pages with links of this user, and with a link of another one. */
static const struct {
	enum job_links	 links;
	const char	*page, *of_other;
} policies[] = {
	{ JOB_LINKS_BENEATH, "<in 6,secret 6>", "<in 6,secret 6>" },
	{ JOB_LINKS_NONE, "<secret 6>", "<secret 6>" },
	{ JOB_LINKS_OWNER, "<out 2,in 6,secret 6>", "<in 6,secret 6>" },
	{ JOB_LINKS_ALL, "<out 2,in 6,secret 6>", "<out 2,in 6,secret 6>" },
};

START_TEST(links_by_policy)
{
	const char	*texts[] = { "size", TITLE, BRIEF };
	struct job	 job;

	if (!kernel_can())
		return;
	unlink(tree_path("outside/in"));
	unlink(tree_path("outside/out"));
	tree_link("secret", "outside/in");
	tree_link("../root/dir/b", "outside/out");
	prepare(&job, "", texts);
	job.find.root = tree_path("outside");
	job.find.links = policies[_i].links;
	perform(&job);
	ck_assert_str_eq(buf_string(&text), policies[_i].page);
	if (geteuid() != 0)
		return;			/* there is only one owner */
	tree_own("outside/out", 20001);
	perform(&job);
	ck_assert_str_eq(buf_string(&text), policies[_i].of_other);
}
END_TEST

/* An entry that is a mount point is not touched. */
START_TEST(stays)
{
	static const char	by_name[JOB_TEMPLATE_COUNT + 4] = "name";
	struct job		job;
	int			before = tree_descriptors();

	for (int i = 0; kernel_can() && i < 2; i++) {
		job_init(&job, JOB_LIST);
		job.find.root = "/";
		job.find.path = i == 0 ? "" : "proc/";
		job.list.template.at = by_name;
		job.list.template.len = sizeof(by_name);
		job.list.entries_max = 100;
		job.list.bytes_max = 10000;
		job.find.same_mount = true;
		job_perform(&job);
		ck_assert_int_eq(job.error, EREMOTE);
		ck_assert_int_eq(job.fd, -1);
		job.find.root = "/proc/self";
		job.find.path = "net/";
		job_perform(&job);
		ck_assert_int_eq(job.error, 0);
		close(job.fd);
	}
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

#ifdef SYS_openat2
START_TEST(links_on_an_older_kernel)
{
	tree_forbid(SYS_openat2, ENOSYS);
	ck_assert_str_eq(listed("links/", "name", NULL, 0), "<>");
	ck_assert_str_eq(listed("dir/deep/", "name", NULL, 0), "<>");
}
END_TEST
#endif

static void
make_in(int dir, const char *name)
{
	int	fd = openat(dir, name, O_CREAT | O_WRONLY, 0644);

	ck_assert_int_ne(fd, -1);
	close(fd);
}

/* Names of all kinds stay within their escapes. */
START_TEST(hostile_names)
{
	static const char	*texts[] = { "name", TITLE, "%{title:xml}",
	    "", "%{name:percent}|%{name:xml}|%{name:json}", "\n", "", "\n" };
	static const char	*names[] = { "\"><script>", "a\nb", "%41",
	    "\xff", "%{name}", "' onclick='x" };
	char			 longest[256], path[300];
	struct job		 job;
	int			 odd = open(tree_path("root/odd"), O_RDONLY);

	memset(longest, 'z', 255);
	longest[255] = '\0';
	make_in(odd, longest);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make_in(odd, names[i]);
	close(odd);
	prepare(&job, "odd/", texts);
	perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.list.entries, 7);
	snprintf(path, sizeof(path), "\n%s|", longest);
	ck_assert_ptr_nonnull(strstr(buf_string(&text), path));
	ck_assert_ptr_nonnull(strstr(text.at,
	    "\n%FF|\xef\xbf\xbd|\xef\xbf\xbd\n"));
	text.at[strstr(text.at, path) - text.at] = '\0';
	ck_assert_str_eq(text.at, TITLE
	    "%22%3E%3Cscript%3E|&quot;&gt;&lt;script&gt;|\\\"><script>\n"
	    "%2541|%41|%41\n"
	    "%25%7Bname%7D|%{name}|%{name}\n"
	    "%27%20onclick%3D%27x|&#39; onclick=&#39;x|' onclick='x\n"
	    "a%0Ab|a\xef\xbf\xbd" "b|a\\u000ab");
}
END_TEST

START_TEST(entries_at_most)
{
	const char	*texts[] = { "name", TITLE, BRIEF };
	static const struct {
		uint64_t	 most, done;
		const char	*end;
	} cases[] = {
		{ 0, 0, "<...>" }, { 1, 1, ",...>" }, { 5, 5, ",...>" },
		{ 6, 6, "x.bak 0>" }, { 7, 6, "x.bak 0>" },
	};
	struct job	 job;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		prepare(&job, "dir/", texts);
		job.list.entries_max = cases[i].most;
		perform(&job);
		ck_assert_int_eq(job.error, 0);
		ck_assert_uint_eq(job.list.entries, cases[i].done);
		ck_assert_ptr_nonnull(strstr(buf_string(&text),
		    cases[i].end));
	}
}
END_TEST

START_TEST(bytes_at_most)
{
	const char	*texts[] = { "name", TITLE, BRIEF };
	struct job	 job;

	prepare(&job, "dir/", texts);
	job.list.bytes_max = 0;
	perform(&job);
	ck_assert_str_eq(buf_string(&text), "<...>");
	prepare(&job, "dir/", texts);
	job.list.bytes_max = 7;			/* "<deep/," */
	perform(&job);
	ck_assert_str_eq(buf_string(&text), "<deep/,.hidden 0,...>");
	ck_assert_uint_eq(job.list.entries, 2);
}
END_TEST

/* A page of several blocks. */
START_TEST(many)
{
	const char	*texts[] = { "name", TITLE, "", "", "%{name}\n", "",
			    "", "" };
	char		 name[64], *line;
	struct job	 job;

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "root/empty/file-%031d", i);
		tree_file(name, "", 0644);
	}
	prepare(&job, "empty/", texts);
	job.list.entries_max = 5000;
	perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert_uint_eq(job.list.entries, 5000);
	ck_assert_uint_eq(text.len, 5000 * 37);
	line = text.at;
	for (int i = 0; i < 5000; i++, line += 37) {
		snprintf(name, sizeof(name), "file-%031d\n", i);
		ck_assert_mem_eq(line, name, 37);
	}
}
END_TEST

/* A page is unchanged as long as its text is. */
START_TEST(known_version)
{
	const char	*texts[] = { "name", TITLE, BRIEF };
	struct job	 job;

	tree_file("root/same/a", "1", 0644);
	prepare(&job, "same/", texts);
	perform(&job);
	ck_assert(!job.find.unchanged);
	ck_assert(job.find.facts.strong);
	ck_assert(S_ISDIR(job.find.facts.mode));
	ck_assert_uint_eq(job.find.facts.uid, geteuid());

	job.find.has_version = true;
	perform(&job);
	ck_assert(job.find.unchanged);
	ck_assert_int_eq(job.fd, -1);
	ck_assert(job.find.facts.strong);

	tree_file("root/same/a", "2", 0644);	/* not in the template */
	perform(&job);
	ck_assert(job.find.unchanged);
	tree_file("root/same/a", "22", 0644);
	perform(&job);
	ck_assert(!job.find.unchanged);
	ck_assert_str_eq(buf_string(&text), "<a 2>");
	perform(&job);
	ck_assert(job.find.unchanged);
	ck_assert_int_eq(rename(tree_path("root/same/a"),
	    tree_path("root/same/b")), 0);
	perform(&job);
	ck_assert(!job.find.unchanged);
	ck_assert_str_eq(buf_string(&text), "<b 2>");
}
END_TEST

START_TEST(failures)
{
	const char	*texts[] = { "name", TITLE, BRIEF };
	static const struct {
		const char	*path;
		int		 error;
	} cases[] = {
		{ "none/", ENOENT }, { "dir/a", ENOTDIR },
		{ "dir/a/", ENOTDIR }, { "closed/", EACCES },
		{ "../outside/", EXDEV }, { "..", EXDEV }, { "/", EXDEV },
		{ "links/fifo", ENOTDIR },
	};
	int		before = tree_descriptors();
	struct job	job;

	tree_be_nobody();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		prepare(&job, cases[i].path, texts);
		if (i == 3)			/* may be readable for us */
			chmod(tree_path("root/closed"), 0);
		perform(&job);
		ck_assert_msg(job.error == cases[i].error, "%s: %s",
		    cases[i].path, strerror(job.error));
		ck_assert_int_eq(job.fd, -1);
	}
	prepare(&job, "dir/", texts);
	job.find.root = tree_path("nowhere");
	perform(&job);
	ck_assert_int_eq(job.error, ENOENT);
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

/* Unknown fields and orders in a template are errors. */
START_TEST(bad_forms)
{
	int	before = tree_descriptors();

	for (int i = 0; i < JOB_TEMPLATE_COUNT; i++) {
		const char	*texts[] = { "name", TITLE, BRIEF };
		struct job	 job;

		if (i == JOB_TEMPLATE_TITLE)	/* has no fields */
			continue;
		texts[i] = "%{nonsense}";
		prepare(&job, "dir/", texts);
		job.list.bytes_max = 8;		/* limit behind a file */
		perform(&job);
		ck_assert_int_eq(job.error, EINVAL);
		ck_assert_int_eq(job.fd, -1);
	}
	ck_assert_int_eq(tree_descriptors(), before);
}
END_TEST

#ifdef SYS_memfd_create
START_TEST(where_memory_has_no_descriptor)
{
	const char	*texts[] = { "name", TITLE, BRIEF };
	struct job	 job;
	struct stat	 st;

	prepare(&job, "empty/", texts);
	job_perform(&job);
	ck_assert(job.find.facts.in_memory);
	close(job.fd);
	tree_forbid(SYS_memfd_create, ENOSYS);
	prepare(&job, "empty/", texts);
	job_perform(&job);
	ck_assert_int_eq(job.error, 0);
	ck_assert(!job.find.facts.in_memory);
	ck_assert_int_eq(fstat(job.fd, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 0);
	ck_assert_int_eq(st.st_size, 2);
	ck_assert_int_ne(fcntl(job.fd, F_GETFD) & FD_CLOEXEC, 0);
	close(job.fd);
}
END_TEST
#endif

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_loop_test(tests, in_order, 0,
	    sizeof(orders) / sizeof(orders[0]));
	tcase_add_test(tests, directories_first);
	tcase_add_test(tests, patterns);
	tcase_add_test(tests, links);
	tcase_add_loop_test(tests, links_by_policy, 0,
	    sizeof(policies) / sizeof(policies[0]));
	tcase_add_test(tests, stays);
#ifdef SYS_openat2
	tcase_add_test(tests, links_on_an_older_kernel);
#endif
	tcase_add_test(tests, hostile_names);
	tcase_add_test(tests, entries_at_most);
	tcase_add_test(tests, bytes_at_most);
	tcase_add_test(tests, many);
	tcase_add_test(tests, known_version);
	tcase_add_test(tests, failures);
	tcase_add_test(tests, bad_forms);
#ifdef SYS_memfd_create
	tcase_add_test(tests, where_memory_has_no_descriptor);
#endif
}
