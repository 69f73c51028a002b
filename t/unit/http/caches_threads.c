/*
 * Tests of caches that threads share.  Each thread has a loop and asks for the
 * same few files as fast as it can, while they change.  All of a response must
 * be of one version: its length, its bytes, its coding.
 */
#include <sys/uio.h>

#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <zlib.h>

#include "http/caches.h"
#include "http/http.h"
#include "http/purge.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"
#include "t/unit/conf/confs.h"

#define THREADS	3
#define TURNS	1500		/* or AMPED_TURNS, from the environment */
#define FILES	4
#define MOST	500000		/* bytes of a file */

static const char conf_text[] =
    "cache { paths 6 revalidate 2ms stale 5ms negative 1ms\n"
    "heads 64K; chunks 256K size 64K small 16K; residency %s\n"
    "policy auto; advice on every 100ms }\n"
    "limits { verify 2; pace 1G after 1G }\n"
    "site a.org { listen *:80; root $; compress gzip; listing html json\n"
    "error 404 /f0.txt; precompressed br\n"
    "path /old { redirect 302 /new } }\n";

static int		 turns = TURNS;	/* requests of each thread */
static struct conf	*conf;
static struct caches	*caches;
static _Atomic bool	 over;
static _Atomic uint64_t	 good_ones, complete_ones, parts, packed;
static _Atomic int	 asked;
static _Atomic unsigned	 versions;

/* A loop and its one client. */
struct worker {
	pthread_t		 thread;
	struct clock		 clock;
	struct http_loop	*http;
	uint32_t		 number, random;
	struct stats_slot stats_slot;
	struct buf	 to, from;	/* as the server sees it */
	bool		 close;
	struct workspace *workspace;
};

static uint32_t
choose_number(struct worker *w, uint32_t n)
{
	w->random = w->random * 1664525 + 1013904223;
	return (w->random >> 8) % n;
}

/*
 * Files
 */

/* Versions differ in their length as in their only byte. */
static size_t
size_of(unsigned version)
{
	static const size_t	bases[] = { 300, 5000, 70000, 400000 };

	return bases[version / 26 % 4] + version % 26;
}

static void
write_version(uint32_t writer, unsigned number, const char *suffix,
    unsigned version)
{
	char	 path[PATH_MAX + 64], final[PATH_MAX + 64];
	char	*bytes = mem_get(MOST);
	int	 fd;

	snprintf(path, sizeof(path), "%s/new%u", dir, writer);
	snprintf(final, sizeof(final), "%s/f%u.txt%s", dir, number, suffix);
	memset(bytes, 'a' + (int)(version % 26), size_of(version));
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	need(fd != -1);
	need(write(fd, bytes, size_of(version)) == (ssize_t)size_of(version));
	close(fd);
	need(rename(path, final) == 0);
	free(bytes);
}

/* The last file changes seldom: a file to be compressed must stay the same for
 * a moment. */
static void
change_one(struct worker *w)
{
	unsigned	number = choose_number(w, 60) == 0 ? FILES - 1 :
			    choose_number(w, FILES - 1);
	char		path[PATH_MAX + 64];

	if (choose_number(w, 3) == 0) {
		snprintf(path, sizeof(path), "%s/f%u.txt.br", dir, number);
		(void)unlink(path);
	} else
		write_version(w->number, number,
		    choose_number(w, 5) == 0 ? ".br" : "", versions++);
}

/* Work of the administrator and of each loop. */
static void *
administer(void *context)
{
	struct worker	*w = context;
	struct purge	 p;

	stats_use_thread(&w->stats_slot);
	for (unsigned n = 0; !over; n++) {
		while (http_tidy(w->http))
			continue;
		need(purge_begin(&p, NULL, STR("/f1.txt")) == NULL);
		while (purge_continue(w->http, &p))
			continue;
		http_measure(w->http);
		usleep(500);
	}
	return NULL;
}

/*
 * The client
 */

/* Each function performs an operation: bytes, or -1 and errno. */

static ssize_t
take_request(struct worker *w, struct wait *wait)
{
	return (ssize_t)buf_take(&w->to, wait->room, wait->size);
}

static ssize_t
take_response(struct worker *w, const struct wait *wait)
{
	for (int i = 0; i < wait->niov; i++)
		buf_add(&w->from, wait->iov[i].iov_base, wait->iov[i].iov_len);
	return (ssize_t)wait->size;
}

static ssize_t
take_file(struct worker *w, const struct wait *wait)
{
	ssize_t	n;

	if (choose_number(w, 20) == 0) {
		errno = EINVAL;
		return -1;
	}
	buf_reserve(&w->from, wait->size);
	n = pread(wait->file, w->from.at + w->from.len, wait->size,
	    wait->offset);
	w->from.len += n > 0 ? (size_t)n : 0;
	return n;
}

static const char *const codings[] = {
	"", "Accept-Encoding: gzip\r\n", "Accept-Encoding: br\r\n",
	"Range: bytes=10-19\r\n", "Range: bytes=10-19,100-109\r\n",
	"Connection: close\r\n", "If-None-Match: \"x\"\r\n",
};

static void
make_request(struct worker *w)
{
	static const char *const	targets[] = {
		"/f0.txt", "/f1.txt", "/f2.txt", "/f3.txt", "/%66%31.txt",
		"/f1.txt", "/absent", "/", "/old/x"
	};
	const char	*fields = codings[choose_number(w, COUNT(codings))];

	w->close = strstr(fields, "close") != NULL;
	buf_addf(&w->to, "GET %s HTTP/1.1\r\nHost: a.org\r\n%s\r\n",
	    targets[choose_number(w, COUNT(targets))], fields);
}

/*
 * Checks of responses
 */

static bool
all_of_one(const char *bytes, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (bytes[i] != bytes[0])
			return false;
	return true;
}

/* The version that has that byte and that length. */
static void
check_version(const char *bytes, size_t len)
{
	unsigned	i;

	need(len > 0 && all_of_one(bytes, len));
	for (i = 0; i < 4 * 26; i++)
		if (size_of(i) == len && bytes[0] == (char)('a' + i % 26))
			break;
	need(i < 4 * 26);
	complete_ones++;
}

static void
check_packed(const char *bytes, size_t len)
{
	char		*plain = mem_get(MOST);
	z_stream	 z = { .avail_in = (unsigned)len, .avail_out = MOST };

	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.next_out = (Bytef *)plain;
	need(inflateInit2(&z, 15 + 16) == Z_OK);
	need(inflate(&z, Z_FINISH) == Z_STREAM_END);
	check_version(plain, MOST - z.avail_out);
	inflateEnd(&z);
	free(plain);
	packed++;
}

static void
check_body(const char *head, const char *body, size_t len)
{
	if (strstr(head, "text/plain") == NULL)
		return;			/* a listing, or multipart */
	if (strncmp(head, "HTTP/1.1 200", 12) == 0) {
		if (strstr(head, "Content-Encoding: gzip") != NULL)
			check_packed(body, len);
		else
			check_version(body, len);
	} else if (strncmp(head, "HTTP/1.1 206", 12) == 0) {
		parts++;
		need(len == 10 && all_of_one(body, len));
	}
}

/* Cuts the head off into a text; false: the response is not complete. */
static void
check_response(struct worker *w)
{
	const char	*end, *field, *date;
	char		*head;
	size_t		 len = 0;

	buf_addc(&w->from, '\0');
	end = strstr(w->from.at, "\r\n\r\n");
	need(end != NULL);
	end += 4;
	head = mem_zero((size_t)(end - w->from.at) + 1);
	memcpy(head, w->from.at, (size_t)(end - w->from.at));
	date = strstr(head, "\r\nDate: ");
	need(date != NULL && strncmp(date + 33, " GMT\r\n", 6) == 0);
	field = strstr(head, "\r\nContent-Length: ");
	if (field != NULL)
		len = strtoul(field + 18, NULL, 10);
	need((size_t)(end - w->from.at) + len + 1 == w->from.len);
	check_body(head, end, len);
	free(head);
	buf_free(&w->from);
	good_ones++;
}

/*
 * The loop
 */

static enum submitted
submit_task(void *context, struct task *e)
{
	(void)context;
	job_perform(&e->job);
	e->complete(e);
	e->free(e);
	return SUBMITTED_COMPLETED;
}

/* Performs the operation of a wait; false: there is no more input. */
static bool
perform(struct worker *w, struct wait *wait)
{
	if (wait->kind == WAIT_READ && w->to.len == 0 && !w->close)
		return false;
	wait->outcome = OUTCOME_READY;
	if (wait->kind == WAIT_READ)
		wait->n = take_request(w, wait);
	else if ((wait->flags & WAIT_LATER) != 0 || wait->kind == WAIT_TIME)
		wait->outcome = OUTCOME_NONE;
	else
		wait->n = wait->kind == WAIT_SEND ? take_file(w, wait) :
		    take_response(w, wait);
	wait->error = errno;
	return true;
}

/* Runs the client until it has no more input; false: the connection has
 * ended. */
static bool
run_client(struct worker *w, struct session **pp)
{
	struct wait	*wait;

	while ((wait = machine_run(*pp, w->workspace, STAGES_ALL))->kind !=
	    WAIT_CLOSE) {
		w->clock.ms += choose_number(w, 2);
		w->clock.wall += choose_number(w, 40) == 0;
		need(wait->kind != WAIT_DISK);
		if (perform(w, wait))
			continue;
		machine_park(*pp);
		return true;
	}
	machine_free(pp);
	return false;
}

static void *
run_worker(void *context)
{
	const struct sockaddr_in from = { .sin_family = AF_INET };
	const struct sockaddr	*addr = (const struct sockaddr *)&from;
	struct worker		*w = context;
	struct session		*p = NULL;

	stats_use_thread(&w->stats_slot);
	for (int i = 0; i < turns; i++) {
		if (choose_number(w, 10) == 0)
			change_one(w);
		make_request(w);
		if (p == NULL)
			p = machine_new(w->http, NULL, addr, 0);
		need(run_client(w, &p) == !w->close);
		check_response(w);
	}
	if (p != NULL)
		machine_free(&p);
	buf_free(&w->to);
	return NULL;
}

static void
ask_to_tidy(void *context)
{
	++*(_Atomic int *)context;
}

static void
ignore_line(void *context, const char *line, size_t n)
{
	(void)context;
	(void)line;
	(void)n;
}

static void
open_caches(const char *residency)
{
	struct caches_setup setup = {.descriptors = 16,
	    .pagemap = -1,
	    .shared = true,
	    .schedule_tidy = ask_to_tidy,
	    .tidy_context = &asked};
	char			 text[sizeof(conf_text) + 20];

	log_set_output(ignore_line, NULL);	/* verifications fail */
	snprintf(text, sizeof(text), conf_text, residency);
	setup.conf = conf = good(text);
	caches = caches_new(&setup);
	for (unsigned i = 0; i < FILES; i++)
		write_version(0, i, "", 30 * i);
}

/* There are no passwords. */
static void
verify_nothing(void *context)
{
	(void)context;
}

static void
open_loop(struct worker *w)
{
	struct http_setup	setup = { .conf = conf, .clock = &w->clock,
				    .disk = { .submit = submit_task },
				    .caches = caches,
				    .schedule_verify = verify_nothing };

	w->clock.ms = 1000;
	w->clock.wall = 1700000000;
	w->http = http_new(&setup);
	w->workspace = machine_new_workspaces(1);
	w->workspace->size = MACHINE_INPUT_SIZE;
	w->workspace->room = mem_get(MACHINE_INPUT_SIZE);
}

static const char *const residencies[] = { "auto", "predict", "never" };

START_TEST(requests)
{
	struct worker	 workers[THREADS + 1];
	struct worker	*last = &workers[THREADS];

	open_caches(residencies[_i]);
	memset(workers, 0, sizeof(workers));
	for (uint32_t i = 0; i <= THREADS; i++) {
		workers[i].number = workers[i].random = i;
		open_loop(&workers[i]);
	}
	ck_assert_int_eq(pthread_create(&last->thread, NULL, administer, last),
	    0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL,
		    run_worker, &workers[i]), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
	over = true;
	ck_assert_int_eq(pthread_join(last->thread, NULL), 0);
	ck_assert_uint_eq(good_ones, (unsigned)(THREADS * turns));
	ck_assert_uint_gt(complete_ones, (unsigned)turns / 2);
	ck_assert_uint_gt(parts, 100);
	ck_assert_uint_gt(packed, 10);
	ck_assert_int_gt(asked, 0);
	for (int i = 0; i <= THREADS; i++) {
		http_free(&workers[i].http);
		free(workers[i].workspace->room);
		free(workers[i].workspace);
	}
	caches_free(&caches);
	conf_free(&conf);
}
END_TEST

void
unit_tests(TCase *tests)
{
	const char	*n = getenv("AMPED_TURNS");

	if (n != NULL)
		turns = atoi(n);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, requests, 0, COUNT(residencies));
}
