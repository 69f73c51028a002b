/*
 * upgrade: a child that becomes the program which stands by our name now.
 *
 * Whatever fails on that way leaves all as it was.  One byte from the successor
 * says that it serves, one to it that it is in charge.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/listen_fds.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/private.h"
#include "shared/listener.h"

#define COMING	30000		/* ms for it to serve: conf, logs, main */

/* What is passed beside sockets, by its name. */
#define PREDECESSOR	"amped-predecessor"
#define PID		"amped-pid"
#define STANDARD	"amped-standard"
/* By being there. */
#define BACKGROUND	"amped-background"
#define LEFT		"amped-standard-left"
/* A socket of its own: whoever started it knows nothing of that. */
#define OWN		"amped-listen"
#define LASTING		"listen"

static int *
member(struct heritage *h, const char *name)
{
	return strcmp(name, PREDECESSOR) == 0 ? &h->predecessor :
	    strcmp(name, PID) == 0 ? &h->pid :
	    strcmp(name, STANDARD) == 0 ? &h->standard :
	    strcmp(name, BACKGROUND) == 0 ? &h->background :
	    strcmp(name, LEFT) == 0 ? &h->left : NULL;
}

/* Which are there is known by their names; sockets in two rounds. */
static void
take_sockets(struct heritage *h, const struct passed *list, size_t n, bool own)
{
	for (size_t i = 0; i < n; i++) {
		if (member(h, list[i].name) != NULL ||
		    own != (strcmp(list[i].name, OWN) == 0))
			continue;
		if (listener_fit(list[i].fd)) {
			h->sockets[h->nsockets++] = list[i].fd;
			continue;
		}
		log_warnx("descriptor %d, which was passed, is no listening "
		    "TCP socket: closing it", list[i].fd);
		close(list[i].fd);
	}
}

void
heritage_take(struct heritage *h)
{
	struct passed	*list;
	size_t		 n = passed_take(&list);
	int		*one;

	*h = (struct heritage){ .predecessor = -1, .pid = -1, .standard = -1,
	    .background = -1, .left = -1, .beyond = PASSED_FIRST };
	if (n > 0)
		h->beyond = list[n - 1].fd + 1;
	h->sockets = mem_array(n + 1, sizeof(h->sockets[0]));
	for (size_t i = 0; i < n; i++) {
		one = member(h, list[i].name);
		if (one != NULL) {
			io_close(one);
			*one = list[i].fd;
		}
	}
	take_sockets(h, list, n, false);
	h->nlasting = h->nsockets;
	take_sockets(h, list, n, true);
	mem_drop(&list);
}

void
heritage_bolt(const struct heritage *h, const struct generation *g)
{
	struct listener	one;

	for (size_t i = h->nlasting; i < h->nsockets; i++) {
		one = (struct listener){ .fd = h->sockets[i] };
		if (!listener_has(g->listeners, g->nlisteners, one.fd))
			listener_bolt(&one);
	}
}

void
heritage_settle(struct heritage *h)
{
	while (h->nsockets > h->nlasting)
		close(h->sockets[--h->nsockets]);
}

void
heritage_tell_unused(const struct heritage *h, const struct generation *g)
{
	struct listener	one;
	char		url[128];

	for (size_t i = 0; i < h->nlasting; i++) {
		if (listener_has(g->listeners, g->nlisteners, h->sockets[i]))
			continue;
		one = (struct listener){ .fd = h->sockets[i] };
		listener_url(&one, url, sizeof(url));
		log_warnx("a socket for %.*s was passed, but no site listens "
		    "there: who connects to it waits in vain; add a \"listen\" "
		    "or take it out of the socket unit", (int)(strlen(url) -
		    sizeof("http://")), url + sizeof("http://") - 1);
	}
}

void
upgrade_init(struct upgrade *u, int predecessor)
{
	*u = (struct upgrade){ .pipe = -1, .before = predecessor };
}

static void
add(struct passed *list, size_t *n, int fd, const char *name)
{
	if (fd == -1 || *n == PASSED_MOST)
		return;
	list[*n].fd = fd;
	strcpy(list[(*n)++].name, name);
}

bool
heritage_lasts(const struct heritage *h, const struct listener *l)
{
	for (size_t i = 0; i < h->nlasting; i++)
		if (listener_has(l, 1, h->sockets[i]))
			return true;
	return false;
}

static size_t
collect(const struct monitor *m, int pipe, struct passed *list)
{
	const struct monitor_setup	*setup = m->setup;
	const struct heritage		*h = &setup->heritage;
	const struct generation		*g = m->serving;
	size_t				 n = 0;

	add(list, &n, pipe, PREDECESSOR);
	add(list, &n, setup->pid.fd, PID);
	add(list, &n, setup->standard.fd, STANDARD);
	if (setup->standard.background)
		add(list, &n, setup->standard.fd, BACKGROUND);
	if (setup->standard.left)
		add(list, &n, setup->standard.fd, LEFT);
	for (size_t i = 0; i < h->nlasting; i++)
		add(list, &n, h->sockets[i], LASTING);
	for (size_t i = 0; i < g->nlisteners; i++)
		if (!heritage_lasts(h, &g->listeners[i]))
			add(list, &n, g->listeners[i].fd, OWN);
	return n;
}

/* What it says until it has an error log of its own goes into ours. */
static _Noreturn void
be_successor(const struct monitor *m, int pipe)
{
	struct passed	*list = mem_array(PASSED_MOST, sizeof(*list));
	size_t		 n = collect(m, pipe, list);

	proc_title("amped: successor");
	if (notify_pass(&m->setup->notify) == -1 || passed_give(list, n) == -1)
		log_error("cannot pass the sockets on");
	else {
		proc_signals_unblock();
		execv(m->setup->program, m->setup->arguments);
		log_error("cannot start %s", m->setup->program);
	}
	_exit(EX_OSERR);
}

bool
upgrade_busy(const struct monitor *m)
{
	return m->upgrade.pid != 0 || upgrade_waits(m);
}

bool
upgrade_waits(const struct monitor *m)
{
	return m->upgrade.before != -1;
}

bool
upgrade_is_tried(const struct monitor *m)
{
	return upgrade_waits(m) && !m->upgrade.told;
}

void
upgrade_begin(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	u->due = upgrade_busy(m) || reload_busy(m);
	if (u->due || m->end_signal != 0)
		return;
	if (m->setup->program == NULL) {
		log_errorx("no other binary can be started: it is not known "
		    "where this one is (is /proc mounted?)");
		return;
	}
	log_notice("starting %s, to take over", m->setup->program);
	notify_say(&m->setup->notify, "STATUS=starting another binary");
	u->pid = spawn(m, NULL, ROLE_NEW_MONITOR, &u->pipe);
	if (u->pid == 0)
		be_successor(m, u->pipe);
	if (u->pid == -1) {
		log_error("cannot start another binary");
		u->pid = 0;
		return;
	}
	u->deadline = monitor_now() + COMING;
}

static void
stay(struct monitor *m, const char *how)
{
	struct upgrade	*u = &m->upgrade;

	u->pid = 0;
	io_close(&u->pipe);
	log_errorx("the new binary %s before it served; going on with the one "
	    "before", how);
	notify_say(&m->setup->notify, "STATUS=the new binary %s before it "
	    "served; going on with the one before", how);
}

/* From here on it is in charge. */
static void
hand_over(struct monitor *m)
{
	struct upgrade		*u = &m->upgrade;
	struct monitor_setup	*setup = m->setup;

	log_notice("process %ld takes over", (long)u->pid);
	notify_say(&setup->notify, "MAINPID=%ld", (long)u->pid);
	notify_close(&setup->notify);
	pid_leave(&setup->pid);
	if (write(u->pipe, "", 1) == -1)
		log_warn("process %ld does not hear that it is in charge",
		    (long)u->pid);
	io_close(&u->pipe);
	u->pid = 0;
	u->due = false;
	monitor_end(m, SIGQUIT);
}

/* Its end says nothing: that of the process will tell. */
void
upgrade_heard(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;
	char		 byte;
	ssize_t		 n = read(u->pipe, &byte, 1);

	if (n == 1)
		hand_over(m);
	else if (n == 0 || errno != EINTR)
		io_close(&u->pipe);
}

void
upgrade_died(struct monitor *m, const char *how)
{
	stay(m, how);
}

void
upgrade_look(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	if (u->pid != 0 && monitor_now() >= u->deadline) {
		kill(u->pid, SIGKILL);
		stay(m, "did not come up");
	}
	if (u->due && !upgrade_busy(m) && !reload_busy(m))
		upgrade_begin(m);
}

void
upgrade_forget(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	if (u->pid != 0)
		kill(u->pid, SIGTERM);
	u->pid = 0;
	u->due = false;
	io_close(&u->pipe);
}

void
upgrade_serves(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	if (u->told)
		return;
	u->told = true;
	if (u->before == -1) {
		monitor_take_charge(m);
		return;
	}
	heritage_bolt(&m->setup->heritage, m->serving);
	if (write(u->before, "", 1) == -1)
		upgrade_answered(m);
}

/* Whether it agrees or has gone: there is nobody else. */
void
upgrade_answered(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	io_close(&u->before);
	if (u->told)
		monitor_take_charge(m);
}
