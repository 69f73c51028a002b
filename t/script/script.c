/*
 * script: the sixth architecture.  A scenario satisfies the waits.
 *
 * Each file given is one scenario and one test (TAP).  It feeds bytes, disk
 * answers and time into the real request machine and states what that must ask
 * for and send.  No sockets, no helpers, no sleeping.  README in this folder
 * describes the language.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/file_version.h"
#include "t/script/filters.h"
#include "t/script/passages.h"
#include "t/script/programs.h"
#include "t/script/words.h"
#include "t/script/world.h"

#define MTIME		784111777	/* Sun, 06 Nov 1994 08:49:37 GMT */

/* Writes a file of the scenario, new or in place: a text, repeated. */
static void
write_file(const char *name, size_t size, const char *text, time_t mtime)
{
	struct timespec	 t = { .tv_sec = mtime }, times[2] = { t, t };
	char		 path[200];
	FILE		*f;

	snprintf(path, sizeof(path), "%s/%s", world.dir, name);
	f = fopen(path, "w");
	if (f == NULL)
		world_fail("%s: %s", path, strerror(errno));
	for (size_t i = 0, n = strlen(text); i < size; i++)
		putc(text[i % n], f);
	fflush(f);
	futimens(fileno(f), times);
	fclose(f);
}

static void
expect_out(struct client *c, const char *word)
{
	struct buf	want = { 0 };

	words_unquote(word, &want);
	if (c->from.len < want.len ||
	    memcmp(c->from.at, want.at, want.len) != 0)
		world_fail("%s gets \"%.300s\"", c->name, buf_string(&c->from));
	buf_consume(&c->from, want.len);
	buf_free(&want);
}

/* The body must be as write_file() wrote the file. */
static void
expect_body(const char *name, const char *body, size_t len)
{
	for (size_t i = 0, n = strlen(name); i < len; i++)
		if (body[i] != name[i % n])
			world_fail("%zu bytes of %s, then \"%.100s\"", i, name,
			    body + i);
}

/* Takes off a response.  Its head must contain the words given.  "bodiless":
 * the response has no body, as one to HEAD. */
static void
expect_head(struct client *c, char **words, size_t n)
{
	const char	*text = buf_string(&c->from);
	const char	*end = strstr(text, "\r\n\r\n"), *found;
	struct buf	 want = { 0 };
	long long	 length = 0;
	const char	*file = NULL;
	bool		 bodiless = false;
	size_t		 head;

	if (end == NULL)
		world_fail("%s has no head yet: \"%.300s\"", c->name, text);
	head = (size_t)(end - text) + 4;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], "bodiless") == 0) {
			bodiless = true;
			continue;
		}
		if (strcmp(words[i], "of") == 0 && i + 1 < n) {
			file = words[++i];
			continue;
		}
		want.len = 0;
		words_unquote(words[i], &want);
		found = strstr(text, buf_string(&want));
		if (found == NULL || found >= end)
			world_fail("no %s in \"%.*s\"", words[i], (int)head,
			    text);
	}
	buf_free(&want);
	found = strstr(text, "Content-Length: ");
	if (found != NULL && found < end && !bodiless)
		length = strtoll(found + 16, NULL, 10);
	if (c->from.len < head + (size_t)length)
		world_fail("%s has only %zu of %lld bytes", c->name,
		    c->from.len - head, length);
	if (file != NULL)
		expect_body(file, text + head, (size_t)length);
	buf_consume(&c->from, head + (size_t)length);
}

static void
expect_wait(struct client *c, const char *what)
{
	static const char *const names[] = {
#define X(id, name) name,
		WAIT_KINDS(X)
#undef X
	};
	const char	*is = c->wait == NULL ? "nothing" :
			    strrchr(names[c->wait->kind], ' ');

	if (c->wait != NULL && c->wait->kind == WAIT_SEND)
		is = "write";		/* for the socket to take it */
	is = is == NULL ? names[c->wait->kind] : is[0] == ' ' ? is + 1 : is;
	if (strcmp(is, what) != 0)
		world_fail("%s waits for %s, in step %s", c->name, is,
		    c->wait != NULL ? machine_step_name(c->session) : "none");
}

static void
run_client_line(struct client *c, char **words, size_t n)
{
	const char	*verb = words[1];

	if (strcmp(verb, "sends") == 0 && n >= 3) {
		for (size_t i = 2; i < n; i++)
			words_unquote(words[i], &c->to);
		world_settle(c);
	} else if (strcmp(verb, "drips") == 0 && n == 3) {
		struct buf	all = { 0 };

		words_unquote(words[2], &all);
		for (size_t i = 0; i < all.len && c->wait != NULL; i++) {
			buf_addc(&c->to, all.at[i]);
			world_settle(c);
		}
		buf_free(&all);
	} else if (strcmp(verb, "takes") == 0 && n == 3) {
		c->takes = strcmp(words[2], "all") == 0 ? UNLIMITED :
		    (size_t)strtoul(words[2], NULL, 10);
		world_settle(c);
	} else if (strcmp(verb, "half-closes") == 0) {
		c->half = true;
		world_settle(c);
	} else if (strcmp(verb, "breaks") == 0) {
		c->broken = true;
		world_settle(c);
	} else if (strcmp(verb, "waits") == 0 && n == 3) {
		expect_wait(c, words[2]);
	} else if (strcmp(verb, "gets") == 0 && n == 3 &&
	    strcmp(words[2], "nothing") == 0) {
		if (c->from.len > 0)
			world_fail("%s gets \"%.300s\"", c->name,
			    buf_string(&c->from));
	} else if (strcmp(verb, "gets") == 0 && n == 3) {
		expect_out(c, words[2]);
	} else if (strcmp(verb, "answer") == 0 && n >= 3) {
		expect_head(c, words + 2, n - 2);
	} else if (strcmp(verb, "closed") == 0) {
		if (c->wait != NULL)
			world_fail("%s is in step %s", c->name,
			    machine_step_name(c->session));
	} else if (strcmp(verb, "reset") == 0) {
		if (c->wait != NULL || !c->reset)
			world_fail("%s is not reset", c->name);
	} else if (strcmp(verb, "overwrites") == 0 && n == 3) {
		snprintf(c->overwrites, sizeof(c->overwrites), "%s", words[2]);
	} else if (strcmp(verb, "unsent") == 0 && n == 3) {
		c->unsent = strtoul(words[2], NULL, 10);
	} else if (strcmp(verb, "more") == 0 && n == 3) {
		if (c->more_follows != (strcmp(words[2], "follows") == 0))
			world_fail("%s: more %s", c->name,
			    c->more_follows ? "follows" : "unknown");
	} else if (strcmp(verb, "offered") == 0 && n == 3) {
		if (c->offered != strtoul(words[2], NULL, 10))
			world_fail("%s is offered %zu bytes", c->name,
			    c->offered);
	} else if (strcmp(verb, "goes") == 0 && n == 4) {
		if (c->sock.large != (strcmp(words[3], "large") == 0))
			world_fail("%s goes as %s", c->name,
			    c->sock.large ? "large" : "small");
	} else if (strcmp(verb, "hold-input") == 0) {
		c->hold_input = true;
	} else if (strcmp(verb, "hold-output") == 0) {
		c->hold_output = true;
	} else if (strcmp(verb, "no-sendfile") == 0 && n == 3) {
		c->no_sendfile = words_error(words[2]);
	} else if (strcmp(verb, "wake") == 0) {
		world_wake(c, OUTCOME_READY);
	} else if (strcmp(verb, "cancelled") == 0) {
		world_wake(c, OUTCOME_CANCELLED);
		world_settle(c);
	} else if (strcmp(verb, "fails") == 0) {
		world_wake(c, OUTCOME_FAILED);
		world_settle(c);
	} else
		world_fail("not a line about a client: %s", verb);
}

static struct task *
first_task(void)
{
	if (world.ntasks == 0)
		world_fail("the disk was asked for nothing");
	return world.tasks[0];
}

static void
expect_user(const struct job *job, const char *word)
{
	char	is[JOB_USER_MAX + 20] = "nobody";

	if (job->find.user != NULL)
		snprintf(is, sizeof(is), "%s:%u", job->find.user, job->find.min_uid);
	if (strcmp(word, is) != 0)
		world_fail("the disk is asked for %s", is);
}

static void
expect_links(const struct job *job, const char *word)
{
	if (job->find.links != job_links_find(word))
		world_fail("the disk is asked with links %d", (int)job->find.links);
}

static void
expect_root(const struct job *job, const char *word)
{
	struct buf	want = { 0 };

	words_unquote(word, &want);
	if (strcmp(buf_string(&want), job->find.root) != 0)
		world_fail("the disk is asked beneath %s", job->find.root);
	buf_free(&want);
}

static void
expect_priority(const struct task *e, bool background)
{
	if (e->background != background)
		world_fail("the disk is asked in %s",
		    e->background ? "background" : "foreground");
}

static void
expect_large(const struct task *e, bool large)
{
	if (e->large != large)
		world_fail("the task is %s", e->large ? "large" : "small");
}

/* The job of the oldest task: "resolve PATH", "read OFFSET LENGTH" ... */
static void
expect_job(char **words, size_t n)
{
	struct job	*job;
	const char	*known = "";
	char		 is[300];
	struct buf	 want = { 0 };

	if (n == 3 && strcmp(words[2], "nothing") == 0) {
		if (world.ntasks == 0)
			return;
		job = &world.tasks[0]->job;
		world_fail("the disk is asked to %s %s",
		    job_kind_name(job->kind),
		    job_finds(job->kind) ? job->find.path : "no path");
	}
	if (n == 4 && strcmp(words[2], "as") == 0) {
		expect_large(first_task(), strcmp(words[3], "large") == 0);
		return;
	}
	if (n == 4 && strcmp(words[2], "in") == 0) {
		expect_priority(first_task(),
		    strcmp(words[3], "background") == 0);
		return;
	}
	job = &first_task()->job;
	for (; n > 4; n -= 2) {
		if (strcmp(words[n - 2], "beneath") == 0)
			expect_root(job, words[n - 1]);
		else if (strcmp(words[n - 2], "of") == 0)
			expect_user(job, words[n - 1]);
		else if (strcmp(words[n - 2], "links") == 0)
			expect_links(job, words[n - 1]);
		else
			break;
	}
	if (job_finds(job->kind) && job->find.has_version)
		known = " has-version";
	if (job->kind == JOB_RESOLVE)
		snprintf(is, sizeof(is), "resolve \"%s\"%s%s%s", job->find.path,
		    job->resolve.sibling > 0 ? " with " : "",
		    job->resolve.sibling > 0 ? job->resolve.siblings.at : "",
		    known);
	else if (job->kind == JOB_COMPRESS)
		snprintf(is, sizeof(is), "compress \"%s\"%s", job->find.path,
		    known);
	else if (job->kind == JOB_LIST)
		snprintf(is, sizeof(is), "list \"%s\" %s%s", job->find.path,
		    job->list.template.at, known);
	else if (job->kind == JOB_VERIFY)
		snprintf(is, sizeof(is), "verify \"%s\" \"%s\" \"%s\"",
		    job->verify.file, job->verify.both.at,
		    job->verify.both.at + strlen(job->verify.both.at) + 1);
	else if (job->kind == JOB_CLOSE)
		snprintf(is, sizeof(is), "close %lld",
		    (long long)job->range.version.size);
	else if (job->kind == JOB_SPOOL)
		snprintf(is, sizeof(is), "spool %lld %zu%s",
		    (long long)job->spool.offset, job->spool.bytes.len,
		    job->spool.directory != NULL ? " on-disk" : "");
	else
		snprintf(is, sizeof(is), "%s %lld %llu",
		    job_kind_name(job->kind), (long long)job->range.offset,
		    (unsigned long long)job->range.length);
	for (size_t i = 2; i < n; i++)
		buf_addf(&want, "%s%s", i > 2 ? " " : "", words[i]);
	if (strcmp(buf_string(&want), is) != 0)
		world_fail("the disk is asked to %s", is);
	buf_free(&want);
}

/* Sums up the versions of files that a result depends on. */
static uint64_t
sum_others(struct str names)
{
	uint64_t		sum = 0;
	struct job_version	v;
	struct stat		st;

	for (size_t at = 0; at < names.len; at += strlen(names.at + at) + 1) {
		v = (struct job_version){ 0 };
		if (stat(names.at + at, &st) == 0)
			v = file_version_of(&st);
		sum = job_sum_version(sum, &v);
	}
	return sum;
}

/* Answers as a helper on a file system without RWF_NOWAIT does, so the machine
 * must ask for the chunks as well. */
static void
answer_file(struct job *job, char **words, size_t n)
{
	char		path[200];
	struct stat	st;

	if (!job_finds(job->kind))
		world_fail("the disk is asked to %s", job_kind_name(job->kind));
	snprintf(path, sizeof(path), "%s/%s", world.dir, words[0]);
	job->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (job->fd == -1 || fstat(job->fd, &st) == -1)
		world_fail("%s: %s", path, strerror(errno));
	job->find.version = (struct job_version){
		.dev = n > 1 ? strtoul(words[1], NULL, 10) : 1,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim.tv_sec,
		.ctime = st.st_ctim.tv_sec,
		.ctime_ns = (uint32_t)st.st_ctim.tv_nsec,
	};
	job->find.facts.mode = st.st_mode;
	job->find.facts.uid = 12345;		/* not this user's file */
	job->find.facts.strong = n < 3 || strcmp(words[2], "weak") != 0;
	job->find.facts.handle = n == 3 && strcmp(words[2], "handle") == 0;
	/* A path that ends in / has led to its index file. */
	job->find.name_number = job->kind != JOB_LIST &&
	    (job->find.path[0] == '\0' ||
	    job->find.path[strlen(job->find.path) - 1] == '/');
	if (job->kind == JOB_RESOLVE)
		job->resolve.others_sum = sum_others(job->resolve.others);
	if (job->kind == JOB_LIST) {
		job->find.facts.mode = S_IFDIR | 0755;
		job->find.facts.in_memory = true;
	} else if (job->kind == JOB_COMPRESS && n == 3 &&
	    strcmp(words[2], "cached") == 0) {
		job->find.facts.handle = true;
		job->find.facts.cached = file_version_of(&st);
	} else if (job->kind == JOB_COMPRESS) {
		job->find.facts.mode = 0644;
		job->find.facts.in_memory = true;
	}
}

/* Completes a resolve: so many bytes of its path lead to a program.  A path that
 * ends in / has led to its index file. */
static void
answer_program(struct job *job, char **words, size_t n)
{
	size_t	len = strlen(job->find.path);

	job->resolve.program = true;
	job->resolve.executable = n < 2 ||
	    strcmp(words[1], "not-executable") != 0;
	job->resolve.split = strtoul(words[0], NULL, 10);
	job->find.name_number = len == job->resolve.split &&
	    (len == 0 || job->find.path[len - 1] == '/');
}

/* Completes a read, a copy or a close with that many bytes. */
static void
range_done(struct job *job, uint64_t done)
{
	if (job->kind == JOB_COPY || job->kind == JOB_CLOSE ||
	    job->kind == JOB_DIGEST || job->kind == JOB_SPOOL)
		job_perform(job);
	if (job_has_range(job->kind))
		job->range.done = done;
}

static void
answer_job(char **words, size_t n)
{
	struct task	*e = first_task();

	if (n > 4 && strcmp(words[n - 2], "siblings") == 0) {
		e->job.resolve.counting = strtoul(words[n - 1], NULL, 10);
		n -= 2;
	}
	if (n >= 4 && strcmp(words[2], "file") == 0)
		answer_file(&e->job, words + 3, n - 3);
	else if (n >= 4 && strcmp(words[2], "program") == 0)
		answer_program(&e->job, words + 3, n - 3);
	else if (n == 4 && strcmp(words[2], "error") == 0)
		e->job.error = words_error(words[3]);
	else if (n == 3 && strcmp(words[2], "unchanged") == 0) {
		e->job.find.unchanged = true;
		e->job.find.facts.strong = true;
	} else if (n == 3 && strcmp(words[2], "done") == 0)
		range_done(&e->job, e->job.range.length);
	else if (n == 3 && (strcmp(words[2], "right") == 0 ||
	    strcmp(words[2], "wrong") == 0))
		e->job.verify.right = words[2][0] == 'r';
	else if (n == 4 && strcmp(words[2], "short") == 0)
		range_done(&e->job, strtoul(words[3], NULL, 10));
	else
		world_fail("not an answer of the disk");
	world_finish(e);
}

static void
expect_in(struct buf *log, const char *word)
{
	struct buf	want = { 0 };

	if (strcmp(word, "nothing") == 0) {
		if (log->len > 0)
			world_fail("the log has \"%s\"", buf_string(log));
		return;
	}
	words_unquote(word, &want);
	if (strstr(buf_string(log), buf_string(&want)) == NULL)
		world_fail("the log has \"%s\"", buf_string(log));
	log->len = 0;
	buf_free(&want);
}

static void
expect_sendfiles(long n)
{
	if (world.sendfiles != n)
		world_fail("sendfile was tried %ld times", world.sendfiles);
	world.sendfiles = 0;
}

static void
expect_corks(long n)
{
	if (world.corks != n)
		world_fail("sockets were corked %ld times", world.corks);
	world.corks = 0;
}

/* A line of the conf, or several with \\n between them. */
static void
add_conf(struct buf *to, const char *text)
{
	for (; *text != '\0'; text++)
		if (text[0] == '\\' && text[1] == 'n')
			buf_addc(to, '\n'), text++;
		else
			buf_addc(to, *text);
}

static void
run_line(char *line)
{
	char		*words[WORDS_MAX], *rest = line + strspn(line, " \t");
	struct client	*c;
	size_t		 n;

	if (strncmp(rest, "conf ", 5) == 0 || strncmp(rest, "site ", 5) == 0) {
		add_conf(*rest == 'c' ? &world.conf_text : &world.site_text,
		    rest + 5);
		return;
	}
	n = words_split(line, words);
	if (n == 0)
		return;
	if (n == 2 && strcmp(words[1], "connects") == 0)
		world_connect(words[0], "192.0.2.1");
	else if (n == 4 && strcmp(words[1], "connects") == 0 &&
	    strcmp(words[2], "from") == 0)
		world_connect(words[0], words[3]);
	else if (n == 3 && strcmp(words[0], "file") == 0)
		write_file(words[1], strtoul(words[2], NULL, 10), words[1],
		    MTIME);
	else if (n == 4 && strcmp(words[0], "write") == 0)
		write_file(words[1], strtoul(words[2], NULL, 10), words[3],
		    MTIME + 1);
	else if (n >= 2 && strcmp(words[0], "program") == 0)
		programs_run_line(words + 1, n - 1);
	else if (n >= 2 && strcmp(words[0], "filters") == 0)
		filters_run_line(words + 1, n - 1);
	else if (n >= 2 && strcmp(words[0], "passage") == 0)
		passages_run_line(words + 1, n - 1);
	else if (n == 2 && strcmp(words[0], "time") == 0)
		world_pass_time(words_time(words[1]));
	else if (n >= 3 && strcmp(words[0], "disk") == 0 &&
	    strcmp(words[1], "asked") == 0)
		expect_job(words, n);
	else if (n >= 3 && strcmp(words[0], "disk") == 0 &&
	    strcmp(words[1], "answers") == 0)
		answer_job(words, n);
	else if (n == 2 && strcmp(words[0], "log") == 0)
		expect_in(&world.log, words[1]);
	else if (n == 2 && strcmp(words[0], "error-log") == 0)
		expect_in(&world.error_log, words[1]);
	else if (n == 2 && strcmp(words[0], "sendfiles") == 0)
		expect_sendfiles(strtol(words[1], NULL, 10));
	else if (n == 2 && strcmp(words[0], "corks") == 0)
		expect_corks(strtol(words[1], NULL, 10));
	else if (n == 1 && strcmp(words[0], "drain") == 0)
		world_drain();
	else if (n == 1 && strcmp(words[0], "sync") == 0)
		world.sync = true;
	else if (n == 1 && strcmp(words[0], "shared") == 0)
		world.shared = true;
	else if (n == 1 && strcmp(words[0], "not-staged") == 0)
		world.skipped = world.staged;
	else if (n == 1 && strcmp(words[0], "not-layered") == 0)
		world.skipped = world.layered;
	else if ((c = world_client(words[0])) != NULL && n >= 2)
		run_client_line(c, words, n);
	else
		world_fail("not understood: %s", words[0]);
}

static int
count_descriptors(void)
{
	int	n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) != -1;
	return n;
}

static bool
run_scenario(const char *file, unsigned flags)
{
	char		*line = NULL;
	size_t		 size = 0, nruns;
	FILE		*f = fopen(file, "r");
	volatile bool	 passed = false;

	if (f == NULL || !world_new(file, flags)) {
		printf("# %s: %s\n", file, strerror(errno));
		return false;
	}
	if (setjmp(world.failed) == 0) {
		while (!world.skipped && getline(&line, &size, f) != -1) {
			world.line++;
			run_line(line);
			world_verify();
		}
		passed = true;
	}
	free(line);
	fclose(f);
	nruns = filters_free();
	world_free();
	if (nruns > 0 && passed) {
		printf("# filters run on\n");
		passed = false;
	}
	if (passages_free() && passed) {
		printf("# a passage is not ended\n");
		passed = false;
	}
	if (programs_free() > 0 && passed) {
		printf("# programs are not ended\n");
		passed = false;
	}
	return passed;
}

int
main(int argc, char **argv)
{
	int		failures = 0, before = count_descriptors(), option;
	unsigned	flags = 0;
	bool		passed;

	while ((option = getopt(argc, argv, "ls")) != -1)
		flags |= option == 'l' ? WORLD_LAYERED :
		    option == 's' ? WORLD_STAGED : 0;
	printf("1..%d\n", argc - optind);
	for (int i = optind; i < argc; i++) {
		passed = run_scenario(argv[i], flags);
		if (count_descriptors() != before) {
			printf("# descriptors are left open\n");
			passed = false;
		}
		failures += !passed;
		printf("%s %d - %s%s\n", passed ? "ok" : "not ok",
		    i - optind + 1, argv[i], world.skipped ?
		    " # SKIP not for this run" : "");
	}
	return failures > 0;
}
