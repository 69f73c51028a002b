/*
 * upgrade: a child executes the binary that is now installed under our name.
 *
 * A failure in any step leaves everything as it was.  The new monitor sends a
 * byte when it serves; the old one sends a byte when the new one is in charge.
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

#define START_TIMEOUT	30000	/* ms for it to serve: conf, logs, mains */

/* Names of passed descriptors that are no sockets. */
#define NAME_OLD_MONITOR	"amped-predecessor"
#define NAME_PIDFILE		"amped-pid"
#define NAME_STANDARD_ERROR	"amped-standard"
/* Names of flags: a descriptor of that name is there, or not. */
#define NAME_BACKGROUND	"amped-background"
#define NAME_GIVEN_UP	"amped-standard-left"
/* Names of sockets: bound by amped itself, or by a supervisor. */
#define NAME_OWN	"amped-listen"
#define NAME_PERMANENT	"listen"

static int *
find_member(struct inherited *h, const char *name)
{
	return strcmp(name, NAME_OLD_MONITOR) == 0 ? &h->old_monitor :
	    strcmp(name, NAME_PIDFILE) == 0 ? &h->pidfile :
	    strcmp(name, NAME_STANDARD_ERROR) == 0 ? &h->standard_error :
	    strcmp(name, NAME_BACKGROUND) == 0 ? &h->background :
	    strcmp(name, NAME_GIVEN_UP) == 0 ? &h->given_up : NULL;
}

/* Takes either amped's own sockets or the permanent ones. */
static void
take_sockets(struct inherited *h, const struct listen_fd *list, size_t n,
    bool own)
{
	for (size_t i = 0; i < n; i++) {
		if (find_member(h, list[i].name) != NULL ||
		    own != (strcmp(list[i].name, NAME_OWN) == 0))
			continue;
		if (listener_is_fit(list[i].fd)) {
			h->sockets[h->nsockets++] = list[i].fd;
			continue;
		}
		log_warnx("descriptor %d, which was passed, is no listening "
		    "TCP socket: closing it", list[i].fd);
		close(list[i].fd);
	}
}

void
upgrade_inherit(struct inherited *h)
{
	struct listen_fd	*list;
	size_t			 n = listen_fds_take(&list);
	int			*one;

	*h = (struct inherited){ .old_monitor = -1, .pidfile = -1,
	    .standard_error = -1, .background = -1, .given_up = -1,
	    .end_fd = LISTEN_FDS_FIRST };
	if (n > 0)
		h->end_fd = list[n - 1].fd + 1;
	h->sockets = mem_array(n + 1, sizeof(h->sockets[0]));
	for (size_t i = 0; i < n; i++) {
		one = find_member(h, list[i].name);
		if (one != NULL) {
			io_close(one);
			*one = list[i].fd;
		}
	}
	take_sockets(h, list, n, false);
	h->npermanent = h->nsockets;
	take_sockets(h, list, n, true);
	mem_drop(&list);
}

void
upgrade_block_new(const struct inherited *h, const struct generation *g)
{
	struct listener	one;

	for (size_t i = h->npermanent; i < h->nsockets; i++) {
		one = (struct listener){ .fd = h->sockets[i] };
		if (!listener_has(g->listeners, g->nlisteners, one.fd))
			listener_block_new(&one);
	}
}

void
upgrade_close_rest(struct inherited *h)
{
	while (h->nsockets > h->npermanent)
		close(h->sockets[--h->nsockets]);
}

void
upgrade_warn_unused(const struct inherited *h, const struct generation *g)
{
	struct listener	one;
	char		url[128];

	for (size_t i = 0; i < h->npermanent; i++) {
		if (listener_has(g->listeners, g->nlisteners, h->sockets[i]))
			continue;
		one = (struct listener){ .fd = h->sockets[i] };
		listener_url(&one, url, sizeof(url));
		log_warnx("a socket for %.*s was passed, but no site listens "
		    "there: its clients get no answer; add a \"listen\" or "
		    "remove it from the socket unit", (int)(strlen(url) -
		    sizeof("http://")), url + sizeof("http://") - 1);
	}
}

void
upgrade_init(struct upgrade *u, int old_monitor)
{
	*u = (struct upgrade){ .pipe = -1, .old_monitor = old_monitor };
}

static void
add_fd(struct listen_fd *list, size_t *n, int fd, const char *name)
{
	if (fd == -1 || *n == LISTEN_FDS_MAX)
		return;
	list[*n].fd = fd;
	strcpy(list[(*n)++].name, name);
}

bool
upgrade_is_permanent(const struct inherited *h, const struct listener *l)
{
	for (size_t i = 0; i < h->npermanent; i++)
		if (listener_has(l, 1, h->sockets[i]))
			return true;
	return false;
}

static size_t
collect_fds(const struct monitor *m, int pipe, struct listen_fd *list)
{
	const struct monitor_setup	*setup = m->setup;
	const struct inherited		*h = &setup->inherited;
	const struct generation		*g = m->serving;
	size_t				 n = 0;

	add_fd(list, &n, pipe, NAME_OLD_MONITOR);
	add_fd(list, &n, setup->pidfile.fd, NAME_PIDFILE);
	add_fd(list, &n, setup->standard_error.fd, NAME_STANDARD_ERROR);
	if (setup->standard_error.background)
		add_fd(list, &n, setup->standard_error.fd, NAME_BACKGROUND);
	if (setup->standard_error.given_up)
		add_fd(list, &n, setup->standard_error.fd, NAME_GIVEN_UP);
	for (size_t i = 0; i < h->npermanent; i++)
		add_fd(list, &n, h->sockets[i], NAME_PERMANENT);
	for (size_t i = 0; i < g->nlisteners; i++)
		if (!upgrade_is_permanent(h, &g->listeners[i]))
			add_fd(list, &n, g->listeners[i].fd, NAME_OWN);
	return n;
}

/* Until the new monitor has an error log, its messages go to ours. */
static _Noreturn void
new_monitor_entry(const struct monitor *m, int pipe)
{
	struct listen_fd	*list = mem_array(LISTEN_FDS_MAX,
				    sizeof(*list));
	size_t			 n = collect_fds(m, pipe, list);

	proc_title("amped: new monitor");
	if (sd_notify_export(&m->setup->notify) == -1 ||
	    listen_fds_give(list, n) == -1)
		log_error("cannot pass the sockets to the new binary");
	else {
		proc_signals_unblock();
		execv(m->setup->program, m->setup->arguments);
		log_error("cannot start %s", m->setup->program);
	}
	_exit(EX_OSERR);
}

bool
upgrade_is_busy(const struct monitor *m)
{
	return m->upgrade.pid != 0 || upgrade_is_waiting(m);
}

bool
upgrade_is_waiting(const struct monitor *m)
{
	return m->upgrade.old_monitor != -1;
}

bool
upgrade_is_on_trial(const struct monitor *m)
{
	return upgrade_is_waiting(m) && !m->upgrade.ready;
}

void
upgrade_begin(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	u->again = upgrade_is_busy(m) || reload_is_busy(m);
	if (u->again || m->end_signal != 0)
		return;
	if (m->setup->program == NULL) {
		log_errorx("cannot start another binary: the path of this one "
		    "is unknown (is /proc mounted?)");
		return;
	}
	log_notice("starting %s, to take over", m->setup->program);
	sd_notify_send(&m->setup->notify, "STATUS=starting another binary");
	u->pid = spawn(m, NULL, ROLE_NEW_MONITOR, &u->pipe);
	if (u->pid == 0)
		new_monitor_entry(m, u->pipe);
	if (u->pid == -1) {
		log_error("cannot start another binary");
		u->pid = 0;
		return;
	}
	u->deadline = monitor_now() + START_TIMEOUT;
}

static void
keep_old_binary(struct monitor *m, const char *how)
{
	struct upgrade	*u = &m->upgrade;

	u->pid = 0;
	io_close(&u->pipe);
	log_errorx("the new binary %s before it served; going on with the one "
	    "before", how);
	sd_notify_send(&m->setup->notify, "STATUS=the new binary %s before it "
	    "served; going on with the one before", how);
}

/* The new monitor serves: it takes charge, and this one drains. */
static void
hand_over(struct monitor *m)
{
	struct upgrade		*u = &m->upgrade;
	struct monitor_setup	*setup = m->setup;

	log_notice("process %ld takes over", (long)u->pid);
	sd_notify_send(&setup->notify, "MAINPID=%ld", (long)u->pid);
	sd_notify_close(&setup->notify);
	pidfile_leave(&setup->pidfile);
	if (write(u->pipe, "", 1) == -1)
		log_warn("cannot tell process %ld that it is in charge",
		    (long)u->pid);
	io_close(&u->pipe);
	u->pid = 0;
	u->again = false;
	monitor_end(m, SIGQUIT);
}

/* The end of the pipe is no failure yet: the end of the process is. */
void
upgrade_on_new_monitor(struct monitor *m)
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
	keep_old_binary(m, how);
}

void
upgrade_tick(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	if (u->pid != 0 && monitor_now() >= u->deadline) {
		kill(u->pid, SIGKILL);
		keep_old_binary(m, "did not come up");
	}
	if (u->again && !upgrade_is_busy(m) && !reload_is_busy(m))
		upgrade_begin(m);
}

void
upgrade_cancel(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	if (u->pid != 0)
		kill(u->pid, SIGTERM);
	u->pid = 0;
	u->again = false;
	io_close(&u->pipe);
}

void
upgrade_on_ready(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	if (u->ready)
		return;
	u->ready = true;
	if (u->old_monitor == -1) {
		monitor_take_charge(m);
		return;
	}
	upgrade_block_new(&m->setup->inherited, m->serving);
	if (write(u->old_monitor, "", 1) == -1)
		upgrade_on_old_monitor(m);
}

/* A byte and the end of the pipe mean the same: this monitor is in charge. */
void
upgrade_on_old_monitor(struct monitor *m)
{
	struct upgrade	*u = &m->upgrade;

	io_close(&u->old_monitor);
	if (u->ready)
		monitor_take_charge(m);
}
