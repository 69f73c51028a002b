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
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "http/caches.h"
#include "http/http.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "shared/addresses_conf.h"
#include "t/layer.h"
#include "t/script/programs.h"
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

/* The net of a scenario.  Each function performs an operation: bytes, or -1 and
 * errno. */

/* The client's own layer. */
static void
encode(const struct client *c, char *at, size_t len)
{
	for (size_t i = 0; c->sock.net != NULL && i < len; i++)
		at[i] = (char)(at[i] ^ LAYER_KEY);
}

static ssize_t
receive(struct client *c, struct wait *w)
{
	size_t	n;

	if (c->broken) {
		errno = ECONNRESET;
		return -1;
	}
	if (c->to.len == 0 && !c->half) {
		errno = EAGAIN;
		return -1;
	}
	n = buf_take(&c->to, w->room, w->size);
	encode(c, w->room, n);
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
send_pieces(struct client *c, const struct iovec *iov, int n, bool more)
{
	size_t	taken = 0, k;

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
		encode(c, c->from.at + c->from.len - k, k);
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
send_file(struct client *c, const struct wait *w)
{
	char		*bytes;
	struct iovec	 iov;
	ssize_t		 n;

	world.sendfiles++;
	if (!c->corked && w->size > UNCORKED_MAX)
		world_fail("%s gets a file without a cork", c->name);
	if (c->no_sendfile != 0) {
		c->held_back = false;	/* maybe a head without body */
		errno = c->no_sendfile;
		return -1;
	}
	bytes = mem_get(w->size);
	n = pread(w->file, bytes, w->size, w->offset);
	iov = (struct iovec){ bytes, n > 0 ? (size_t)n : 0 };
	if (n > 0)
		n = send_pieces(c, &iov, 1, false);
	free(bytes);
	return n;
}

static void
set_cork(struct client *c, bool on)
{
	world.corks += on && !c->corked;
	c->corked = on;
}

static struct client *
client_of_sock(struct net_sock *s)
{
	return (struct client *)((char *)s - offsetof(struct client, sock));
}

/* Output held back for more that follows may be lost at the close. */
void
net_close_sock(struct net_sock *s, unsigned flags)
{
	struct client	*c = client_of_sock(s);

	c->reset = (flags & WAIT_RESET) != 0;
	if (c->held_back && (flags & (WAIT_END | WAIT_RESET)) == 0)
		world_fail("%s is closed while output is held back", c->name);
}

static void
close_client(struct client *c, unsigned flags)
{
	if (c->sock.net != NULL)
		c->sock.net->close(c->sock.net, &c->sock, flags);
	else
		net_close_sock(&c->sock, flags);
	machine_free(&c->session);
}

/* As net.c does. */
static enum net_state
block_read(struct wait *w, enum net_state state)
{
	if (w->deadline != 0)
		return state;
	w->outcome = OUTCOME_TIMED_OUT;
	return NET_DONE;
}

/* Each client comes from 192.0.2.1:1234 to 192.0.2.80:8080. */
static enum net_state
take_addresses(struct wait *w)
{
	struct sockaddr_in	own = { .sin_family = AF_INET,
				    .sin_port = htons(8080) };
	struct sockaddr_in	peer = { .sin_family = AF_INET,
				    .sin_port = htons(1234) };

	inet_pton(AF_INET, "192.0.2.80", &own.sin_addr);
	inet_pton(AF_INET, "192.0.2.1", &peer.sin_addr);
	*w->addresses = (struct wait_addresses){ 0 };
	memcpy(&w->addresses->own, &own, sizeof(own));
	memcpy(&w->addresses->peer, &peer, sizeof(peer));
	w->outcome = OUTCOME_READY;
	w->n = 0;
	return NET_DONE;
}

enum net_state
net_perform_sock(struct net_sock *s, struct wait *w)
{
	struct client	*c = client_of_sock(s);
	bool		 reads = w->kind == WAIT_READ;
	ssize_t		 n;

	if (w->kind == WAIT_CLOSE)
		return NET_NONE;
	if (w->kind == WAIT_ADDRESSES)
		return take_addresses(w);
	if ((w->flags & WAIT_END) != 0)
		c->held_back = false;
	set_cork(c, (w->flags & WAIT_CORK) != 0);
	if (!reads && w->kind != WAIT_WRITE && w->kind != WAIT_SEND)
		return NET_NONE;
	if (!reads)
		s->large = (w->flags & WAIT_LARGE) != 0;
	if ((w->flags & WAIT_LATER) != 0 || (!reads && c->full))
		return reads ? NET_READ : NET_WRITE;
	/* As in loop/net.c: a step that must try nevertheless says so. */
	if (reads && s->drained && (w->flags & WAIT_AGAIN) == 0)
		return NET_READ;
	n = reads ? receive(c, w) : w->kind == WAIT_SEND ? send_file(c, w) :
	    send_pieces(c, w->iov, w->niov, (w->flags & WAIT_MORE) != 0);
	c->full = !reads && n >= 0 && (size_t)n < w->size;
	if (reads)
		s->drained = n < (ssize_t)w->size && !c->half;
	if (n == -1 && errno == EAGAIN)
		return reads ? block_read(w, NET_READ) : NET_WRITE;
	w->outcome = OUTCOME_READY;
	w->n = n;
	w->error = n == -1 ? errno : 0;
	return NET_DONE;
}

static enum net_state
perform(struct client *c, struct wait *w)
{
	struct net	*net = c->sock.net;
	enum net_state	 state;

	if (net == NULL || w->kind == WAIT_ADDRESSES)
		return net_perform_sock(&c->sock, w);
	state = net->perform(net, &c->sock, w);
	return w->kind == WAIT_READ && state != NET_DONE ?
	    block_read(w, state) : state;
}

/* The disk of a scenario. */

static void
script_promote(struct task *e)
{
	e->background = false;
}

static enum submitted
script_submit(void *context, struct task *e)
{
	(void)context;
	if (world.sync) {
		job_perform(&e->job);
		world_finish(e);
		return SUBMITTED_COMPLETED;
	}
	if (world.ntasks == TASKS_MAX)
		world_fail("too many tasks");
	world.tasks[world.ntasks++] = e;
	return SUBMITTED_PENDING;
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
world_new(const char *file, unsigned flags)
{
	memset(&world, 0, sizeof(world));
	world.staged = (flags & WORLD_STAGED) != 0;
	world.layered = (flags & WORLD_LAYERED) != 0;
	log_set_output(add_error_line, NULL);
	world.file = file;
	world.clock.ms = 1000000;
	world.clock.wall = 1700000000;	/* Tue, 14 Nov 2023 22:13:20 GMT */
	strcpy(world.dir, "/tmp/amped-script-XXXXXX");
	return mkdtemp(world.dir) != NULL;
}

/* Driving the machine. */

/* Moves the client to the stage that its wait is for.  It may be long on its
 * way, and so holds no bytes back. */
static void
move_client(struct client *c, const struct wait *w)
{
	if ((w->flags & WAIT_CORK) != 0)
		world_fail("%s goes on to another stage corked", c->name);
	c->stage = w->stage;
	machine_park(c->session);
	machine_move(c->session, world.http[c->stage]);
}

/* Runs the client, from stage to stage if staged, until it waits or is
 * closed. */
static void
run_client(struct client *c)
{
	struct wait	*w;

	for (;;) {
		w = machine_run(c->session, &world.workspaces[c->stage],
		    world.staged ? 1U << c->stage : STAGES_ALL);
		c->state = perform(c, w);
		if (w->kind == WAIT_STAGE)
			move_client(c, w);
		else if (c->state != NET_DONE)
			break;
	}
	c->wait = NULL;
	if (w->kind == WAIT_CLOSE) {
		if (world.staged && c->stage != STAGE_ACCEPT)
			world_fail("%s is closed in the wrong stage", c->name);
		close_client(c, w->flags);
		return;
	}
	machine_park(c->session);
	c->wait_copy = *w;
	c->wait = &c->wait_copy;
	if (w->kind == WAIT_BACKEND)
		w->backend->waiter = c;
	if (w->kind == WAIT_DISK) {
		TAILQ_INSERT_TAIL(&w->task->waiters, c, link);
		c->waiting = true;
	}
}

/* abandon is set by the machine until it submits the task. */
static void
leave_task(struct client *c)
{
	struct task	*e = c->wait->task;

	c->waiting = false;
	TAILQ_REMOVE(&e->waiters, c, link);
	if (TAILQ_EMPTY(&e->waiters) && e->abandon != NULL && !e->background)
		e->abandon(e);
}

void
world_wake(struct client *c, enum outcome outcome)
{
	if (c->waiting)
		leave_task(c);
	if (c->wait->kind == WAIT_BACKEND)
		c->wait->backend->waiter = NULL;
	world.clock.updates++;
	c->full = false;
	/* Its descriptor is ready: the operation is asked for again. */
	if (outcome == OUTCOME_READY && c->wait->kind != WAIT_DISK &&
	    c->wait->kind != WAIT_BACKEND) {
		outcome = OUTCOME_NONE;
		c->sock.drained = false;
	}
	machine_wake(c->session, outcome, (ssize_t)c->unsent);
	run_client(c);
}

/* Whether it waits for its program, or its client's end, which is there. */
static bool
sees_end(const struct client *c)
{
	return c->wait->kind == WAIT_BACKEND && c->half &&
	    (c->wait->flags & WAIT_ENDING) != 0;
}

static bool
is_ready(const struct client *c)
{
	bool	has_input = c->to.len > 0 || c->half || c->broken;

	if (sees_end(c))
		return true;
	if (c->wait->kind == WAIT_BACKEND)
		return (c->wait->flags & WAIT_INPUT) != 0 &&
		    !c->hold_input &&
		    (has_input || (c->wait->flags & WAIT_LATER) != 0);
	if (c->state == NET_READ)
		return !c->hold_input && has_input;
	return c->state == NET_WRITE && !c->hold_output &&
	    (c->takes > 0 || c->broken);
}

void
world_settle(struct client *c)
{
	while (c->wait != NULL && is_ready(c))
		world_wake(c, sees_end(c) ? OUTCOME_ENDED : OUTCOME_READY);
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
	setup.disk.promote = script_promote;
	setup.backends = programs_driver;
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
	world.clock.updates = 1;
	world.workspaces = machine_new_workspaces(STAGE_COUNT);
	for (int i = 0; i < STAGE_COUNT; i++) {
		world.workspaces[i].size = MACHINE_INPUT_SIZE;
		world.workspaces[i].room = mem_get(MACHINE_INPUT_SIZE);
	}
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
	if (strcmp(from, "unix:") == 0)
		addr->sa_family = AF_UNIX;
	else if (inet_pton(addr->sa_family, from, is_v6 ? (void *)&v6.sin6_addr :
	    (void *)&v4.sin_addr) != 1)
		world_fail("not an address: %s", from);
	for (int i = 0; i < CLIENTS; i++) {
		if (world.clients[i] != NULL)
			continue;
		c = world.clients[i] = mem_zero(sizeof(*c));
		snprintf(c->name, sizeof(c->name), "%s", name);
		c->takes = UNLIMITED;
		c->sock.net = world.layered ? layer_new() : NULL;
		c->session = machine_new(world.http[STAGE_ACCEPT],
		    world.layered ? &layer_kind : NULL, addr, 0);
		run_client(c);
		world_settle(c);
		return;
	}
	world_fail("too many clients");
}

void
world_disconnect(struct client *c)
{
	if (c->waiting)
		TAILQ_REMOVE(&c->wait->task->waiters, c, link);
	if (c->wait != NULL)
		close_client(c, WAIT_RESET);
	buf_free(&c->to);
	buf_free(&c->from);
	for (int i = 0; i < CLIENTS; i++)
		if (world.clients[i] == c)
			world.clients[i] = NULL;
	free(c);
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
	for (int i = 0; i < STAGE_COUNT && world.workspaces != NULL; i++)
		free(world.workspaces[i].room);
	free(world.workspaces);
}

void
world_free(void)
{
	char	command[100];

	for (int i = 0; i < CLIENTS; i++)
		if (world.clients[i] != NULL)
			world_disconnect(world.clients[i]);
	while (world.ntasks > 0) {
		world.tasks[0]->job.error = ECONNABORTED;
		world_finish(world.tasks[0]);
	}
	free_http();
	addresses_free(&world.addresses);
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
