/*
 * world: stand-ins for all that is around the request machine: sockets, a disk,
 * a clock, logs.  The language of scenarios is script.c's.
 */
#include <sys/stat.h>
#include <sys/uio.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "http/caches.h"
#include "http/http.h"
#include "http/transport.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "shared/addresses_conf.h"
#include "t/script/world.h"

#define UNCORKED_MAX	(64 * 1024)	/* bytes sent without a cork */

struct world	world;

_Noreturn void
world_fail(const char *format, ...)
{
	va_list	args;

	printf("# %s:%d: ", world.file, world.line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	longjmp(world.failed, 1);
}

/* The socket of a scenario. */

static ssize_t
script_recv(void *context, int fd, void *to, size_t size)
{
	struct client	*c = context;
	size_t		 n = c->to.len < size ? c->to.len : size;

	(void)fd;
	if (c->broken) {
		errno = ECONNRESET;
		return -1;
	}
	if (n == 0 && c->half)
		return 0;
	if (n == 0) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(to, c->to.at, n);
	buf_consume(&c->to, n);
	return (ssize_t)n;
}

/* Changes the file's time, as a write would. */
static void
overwrite_file(struct client *c)
{
	char	path[200];

	snprintf(path, sizeof(path), "%s/%s", world.dir, c->overwrites);
	if (utimensat(AT_FDCWD, path, NULL, 0) == -1)
		world_fail("%s: %s", path, strerror(errno));
	c->overwrites[0] = '\0';
}

static ssize_t
script_send(void *context, int fd, const struct iovec *iov, int n, bool more)
{
	struct client	*c = context;
	size_t		 taken = 0, k;

	(void)fd;
	c->more_follows = c->held_back = more;
	c->offered = 0;
	for (int i = 0; i < n; i++)
		c->offered += iov[i].iov_len;
	if (c->broken) {
		errno = EPIPE;
		return -1;
	}
	for (int i = 0; i < n && c->takes > 0; i++) {
		k = iov[i].iov_len < c->takes ? iov[i].iov_len : c->takes;
		buf_add(&c->from, iov[i].iov_base, k);
		taken += k;
		if (c->takes != UNLIMITED)
			c->takes -= k;
		if (k < iov[i].iov_len)
			break;
	}
	if (taken > 0 && c->overwrites[0] != '\0')
		overwrite_file(c);
	if (taken > 0)
		return (ssize_t)taken;
	errno = EAGAIN;
	return -1;
}

static ssize_t
script_send_file(void *context, int fd, int file, off_t offset, size_t len)
{
	struct client	*c = context;
	char		*bytes;
	struct iovec	 iov;
	ssize_t		 n;

	world.sendfiles++;
	if (!c->corked && len > UNCORKED_MAX)
		world_fail("%s gets a file without a cork", c->name);
	if (c->no_sendfile != 0) {
		c->held_back = false;	/* maybe a head without body */
		errno = c->no_sendfile;
		return -1;
	}
	bytes = mem_get(len);
	n = pread(file, bytes, len, offset);
	iov = (struct iovec){ bytes, n > 0 ? (size_t)n : 0 };
	if (n > 0)
		n = script_send(context, fd, &iov, 1, false);
	free(bytes);
	return n;
}

static void
script_cork(void *context, int fd, bool on)
{
	struct client	*c = context;

	(void)fd;
	if (on == c->corked)
		world_fail("%s is corked twice, or not at all", c->name);
	c->corked = on;
	world.corks += on;
}

static void
script_finish(void *context, int fd)
{
	struct client	*c = context;

	(void)fd;
	c->held_back = false;
}

/* Output held back by MSG_MORE may be lost at close(), so the transport must
 * have been told before that nothing follows. */
static void
script_close(void *context, int fd)
{
	const struct client	*c = context;

	(void)fd;
	if (c->held_back)
		world_fail("%s is closed while output is held back", c->name);
}

static size_t
script_unsent(void *context, int fd)
{
	const struct client	*c = context;

	(void)fd;
	return c->unsent;
}

static void
script_reset(void *context, int fd)
{
	struct client	*c = context;

	(void)fd;
	c->reset = true;
	c->held_back = false;
}

static const struct transport script_transport = {
	.recv = script_recv,
	.send = script_send,
	.send_file = script_send_file,
	.cork = script_cork,
	.shutdown = script_finish,
	.unacked = script_unsent,
	.reset = script_reset,
	.close = script_close,
};

/* The disk of a scenario. */

static void
script_promote(struct task *e)
{
	e->background = false;
}

static void
script_submit(void *context, struct task *e)
{
	(void)context;
	if (!e->deferred)
		TAILQ_INIT(&e->waiters);
	e->promote = script_promote;
	if (world.sync) {
		job_perform(&e->job);
		world_finish(e);
		return;
	}
	if (world.ntasks == TASKS_MAX)
		world_fail("too many tasks");
	world.tasks[world.ntasks++] = e;
}

/* Keeps log lines for error-log; failures are reported in the TAP. */
static void
add_error_line(void *context, const char *line, size_t n)
{
	(void)context;
	buf_add(&world.error_log, line, n);
}

static char *
reserve_line(void *context, size_t most)
{
	(void)context;
	buf_reserve(&world.log, most);
	return world.log.at + world.log.len;
}

static void
commit_line(void *context, size_t n)
{
	(void)context;
	world.log.len += n;
}

bool
world_new(const char *file, bool staged)
{
	memset(&world, 0, sizeof(world));
	world.staged = staged;
	log_set_output(add_error_line, NULL);
	world.file = file;
	world.clock.ms = 1000000;
	world.clock.wall = 1700000000;	/* Tue, 14 Nov 2023 22:13:20 GMT */
	strcpy(world.dir, "/tmp/amped-script-XXXXXX");
	return mkdtemp(world.dir) != NULL;
}

/* Driving the machine. */

/* Runs the client from stage to stage until it waits or is closed. */
static const struct wait *
run_stages(struct client *c)
{
	const struct wait	*w;
	enum stage		 next = c->stage;

	do {
		if (c->stage != next && c->corked)
			world_fail("%s goes to another stage corked", c->name);
		if (c->stage != next)
			machine_move(c->session, world.http[next]);
		c->stage = next;
		w = machine_run_stage(c->session, &next);
	} while (next != c->stage);
	if (w == NULL && c->stage != STAGE_ACCEPT)
		world_fail("%s is closed in the wrong stage", c->name);
	return w;
}

/* Runs the client as a batch of one. */
static const struct wait *
run_batch(struct client *c)
{
	const struct wait	*w;

	if (!machine_can_batch(c->session))
		return machine_run(c->session);
	machine_run_batch(&c->session, 1);
	w = machine_run(c->session);
	machine_end_batch(world.http[0]);
	return w;
}

static void
run_client(struct client *c)
{
	c->wait = world.staged ? run_stages(c) : run_batch(c);
	if (c->wait == NULL) {
		machine_free(&c->session);
		return;
	}
	c->wait_copy = *c->wait;
	c->wait = &c->wait_copy;
	if (c->corked && c->wait->kind != WAIT_WRITE)
		world_fail("%s waits while it is corked", c->name);
	if (c->wait->kind == WAIT_DISK) {
		TAILQ_INSERT_TAIL(&c->wait->task->waiters, c, link);
		c->waiting = true;
	}
}

/* abandon is set by the machine on deferred tasks only. */
static void
leave_task(struct client *c)
{
	struct task	*e = c->wait->task;

	c->waiting = false;
	TAILQ_REMOVE(&e->waiters, c, link);
	if (TAILQ_EMPTY(&e->waiters) && e->abandon != NULL)
		e->abandon(e);
}

void
world_wake(struct client *c, enum outcome outcome)
{
	if (c->waiting)
		leave_task(c);
	machine_wake(c->session, outcome);
	run_client(c);
}

void
world_settle(struct client *c)
{
	while (c->wait != NULL &&
	    ((c->wait->kind == WAIT_READ && !c->hold_input &&
	    (c->to.len > 0 || c->half || c->broken)) ||
	    (c->wait->kind == WAIT_WRITE && !c->hold_output &&
	    (c->takes > 0 || c->broken))))
		world_wake(c, OUTCOME_READY);
}

/* The client with the earliest deadline up to that time, or NULL. */
static struct client *
next_deadline(int64_t when)
{
	struct client	*first = NULL, *c;

	for (int i = 0; i < CLIENTS; i++)
		if ((c = world.clients[i]) != NULL && c->wait != NULL &&
		    c->wait->deadline <= when && (first == NULL ||
		    c->wait->deadline < first->wait->deadline))
			first = c;
	return first;
}

void
world_pass_time(int64_t ms)
{
	int64_t		 end = world.clock.ms + ms;
	int		 left = 10000;
	struct client	*c;

	world.clock.wall += ms / 1000;
	while ((c = next_deadline(end)) != NULL) {
		if (left-- == 0)
			world_fail("%s is woken over and over", c->name);
		if (c->wait->deadline > world.clock.ms)
			world.clock.ms = c->wait->deadline;
		world_wake(c, OUTCOME_TIMED_OUT);
		world_settle(c);
	}
	world.clock.ms = end;
}

void
world_finish(struct task *e)
{
	struct client	*c;

	for (size_t i = 0; i < world.ntasks; i++)
		if (world.tasks[i] == e) {
			memmove(&world.tasks[i], &world.tasks[i + 1],
			    (--world.ntasks - i) * sizeof(e));
			break;
		}
	e->complete(e);
	while ((c = TAILQ_FIRST(&e->waiters)) != NULL) {
		world_wake(c, OUTCOME_READY);
		world_settle(c);
	}
	e->free(e);
}

static void
on_call(void *context)
{
	(void)context;
	world.verify_due = true;
}

void
world_verify(void)
{
	while (world.verify_due) {
		world.verify_due = false;
		for (int i = 0; i < STAGE_COUNT; i++)
			if (world.http[i] != NULL)
				http_verify(world.http[i]);
	}
}

static void
begin_world(void)
{
	struct http_setup	 setup = { .clock = &world.clock };
	struct buf		 errors = { 0 };
	char			 text[200];

	if (world.http[0] != NULL)
		return;
	snprintf(text, sizeof(text), "site default {\nlisten 127.0.0.1:0\n"
	    "root %s\n", world.dir);
	if (strstr(buf_string(&world.conf_text), "site ") == NULL) {
		buf_adds(&world.conf_text, text);
		buf_addf(&world.conf_text, "%s}\n",
		    buf_string(&world.site_text));
	}
	world.conf = conf_read_text(world.file, buf_string(&world.conf_text),
	    &errors);
	if (world.conf == NULL)
		world_fail("conf: %s", buf_string(&errors));
	buf_free(&errors);
	world.conf->cache.residency = RESIDENCY_PREDICT;
	setup.conf = world.conf;
	setup.disk.submit = script_submit;
	setup.descriptors = 100;
	setup.log_reserve = reserve_line;
	setup.log_commit = commit_line;
	setup.schedule_verify = on_call;
	if (world.shared)
		setup.caches = world.caches = caches_new(&(struct caches_setup){
		    .conf = setup.conf, .descriptors = setup.descriptors,
		    .shared = true });
	setup.addresses = world.addresses = addresses_conf_new(world.conf, 1,
	    setup.descriptors);
	machine_set_crash_context();
	world.http[0] = http_new(&setup);
	setup.caches = world.http[0]->caches;
	for (int i = 1; i < STAGE_COUNT; i++)
		world.http[i] = world.staged ? http_new(&setup) : NULL;
}

struct client *
world_client(const char *name)
{
	for (int i = 0; i < CLIENTS; i++)
		if (world.clients[i] != NULL &&
		    strcmp(world.clients[i]->name, name) == 0)
			return world.clients[i];
	return NULL;
}

void
world_connect(const char *name, const char *from)
{
	struct sockaddr_in	 v4 = { .sin_family = AF_INET };
	struct sockaddr_in6	 v6 = { .sin6_family = AF_INET6 };
	bool			 is_v6 = strchr(from, ':') != NULL;
	struct sockaddr		*addr = is_v6 ? (struct sockaddr *)&v6 :
				    (struct sockaddr *)&v4;
	struct client		*c;

	begin_world();
	if (inet_pton(addr->sa_family, from, is_v6 ? (void *)&v6.sin6_addr :
	    (void *)&v4.sin_addr) != 1)
		world_fail("not an address: %s", from);
	for (int i = 0; i < CLIENTS; i++) {
		if (world.clients[i] != NULL)
			continue;
		c = world.clients[i] = mem_zero(sizeof(*c));
		snprintf(c->name, sizeof(c->name), "%s", name);
		c->takes = UNLIMITED;
		c->session = machine_new(world.http[STAGE_ACCEPT], -1,
		    &script_transport, c, addr, 0);
		run_client(c);
		return;
	}
	world_fail("too many clients");
}

void
world_drain(void)
{
	for (int i = 0; i < STAGE_COUNT; i++)
		if (world.http[i] != NULL)
			http_drain(world.http[i]);
}

static void
free_http(void)
{
	for (int i = STAGE_COUNT - 1; i >= 0; i--)
		if (world.http[i] != NULL)
			http_free(&world.http[i]);
	if (world.caches != NULL)
		caches_free(&world.caches);
}

void
world_free(void)
{
	char	command[100];

	for (int i = 0; i < CLIENTS; i++) {
		if (world.clients[i] == NULL)
			continue;
		if (world.clients[i]->waiting)
			TAILQ_REMOVE(&world.clients[i]->wait->task->waiters,
			    world.clients[i], link);
		if (world.clients[i]->wait != NULL)
			machine_free(&world.clients[i]->session);
		buf_free(&world.clients[i]->to);
		buf_free(&world.clients[i]->from);
		mem_drop(&world.clients[i]);
	}
	while (world.ntasks > 0) {
		world.tasks[0]->job.error = ECONNABORTED;
		world_finish(world.tasks[0]);
	}
	free_http();
	addresses_conf_free(&world.addresses);
	if (world.conf != NULL)
		conf_free(&world.conf);
	buf_free(&world.conf_text);
	buf_free(&world.site_text);
	buf_free(&world.log);
	buf_free(&world.error_log);
	snprintf(command, sizeof(command), "rm -rf '%s'", world.dir);
	if (system(command) != 0)
		printf("# %s stays behind\n", world.dir);
}
