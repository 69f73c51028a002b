/*
 * upgrade: a child executes the binary that is now installed under our name.
 *
 * A failure in any step leaves everything as it was.  The new monitor sends a
 * byte when it serves; the old one sends a byte when the new one is in charge.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/listen_fds.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "monitor/child.h"
#include "monitor/component.h"
#include "monitor/hot_lists.h"
#include "monitor/monitor.h"
#include "monitor/socket_files.h"
#include "monitor/upgrade.h"
#include "shared/listener.h"

#define START_TIMEOUT	30000	/* ms for it to serve: conf, logs, mains */

static struct {
	struct child	*child;		/* the new monitor; NULL: none */
	struct source	 old_monitor;	/* a pipe to it */
	bool		 ready;		/* this monitor serves */
} upgrade = { .old_monitor.fd = -1 };

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
		    "TCP socket, nor one in the file system: closing it",
		    list[i].fd);
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

static bool
is_permanent(const struct listener *l)
{
	const struct inherited	*h = &prepared.inherited;

	for (size_t i = 0; i < h->npermanent; i++)
		if (listener_has(l, 1, h->sockets[i]))
			return true;
	return false;
}

/* In a new monitor, the sockets are the old one's, too: if this monitor fails,
 * the old one serves them. */
void
upgrade_block_new(const struct generation *g)
{
	const struct generation	*other = generations.serving;
	const struct listener	*l = g->listeners;

	if (upgrade_is_waiting())
		return;
	for (size_t i = 0; i < g->nlisteners; i++, l++)
		if (!is_permanent(l) && (other == g ||
		    !listener_has(other->listeners, other->nlisteners, l->fd)))
			listener_block_new(l);
}

/* Blocks new connections at sockets that only the old monitor serves; it
 * answers those that are there. */
static void
block_rest(void)
{
	const struct inherited	*h = &prepared.inherited;
	const struct generation	*g = generations.serving;
	struct listener		 one;

	for (size_t i = h->npermanent; i < h->nsockets; i++) {
		one = (struct listener){ .fd = h->sockets[i] };
		if (!listener_has(g->listeners, g->nlisteners, one.fd))
			listener_block_new(&one);
	}
}

/* Cuts a URL down to what stands behind "listen"; returns where that begins. */
static const char *
get_place(char *url)
{
	const size_t	n = sizeof("http://") - 1;

	if (strncmp(url, "http://", n) != 0)
		return url;
	url[strlen(url) - 1] = '\0';
	return url + n;
}

void
upgrade_warn_unused(const struct generation *g)
{
	const struct inherited	*h = &prepared.inherited;
	struct listener		 one;
	char			 url[128];

	for (size_t i = 0; i < h->npermanent; i++) {
		if (listener_has(g->listeners, g->nlisteners, h->sockets[i]))
			continue;
		one = (struct listener){ .fd = h->sockets[i] };
		listener_url(&one, url, sizeof(url));
		log_warnx("a socket for %s was passed, but no site listens "
		    "there: its clients get no answer; add a \"listen\" or "
		    "remove it from the socket unit", get_place(url));
	}
}

static void
add_fd(struct listen_fd *list, size_t *n, int fd, const char *name)
{
	if (fd == -1 || *n == LISTEN_FDS_MAX)
		return;
	list[*n].fd = fd;
	strcpy(list[(*n)++].name, name);
}

static size_t
collect_fds(int pipe, struct listen_fd *list)
{
	const struct generation	*g = generations.serving;
	const struct inherited	*h = &prepared.inherited;
	struct standard_error	*s = &prepared.standard_error;
	size_t			 n = 0;

	add_fd(list, &n, pipe, NAME_OLD_MONITOR);
	add_fd(list, &n, prepared.pidfile.fd, NAME_PIDFILE);
	add_fd(list, &n, s->fd, NAME_STANDARD_ERROR);
	add_fd(list, &n, s->background ? s->fd : -1, NAME_BACKGROUND);
	add_fd(list, &n, s->given_up ? s->fd : -1, NAME_GIVEN_UP);
	for (size_t i = 0; i < h->npermanent; i++)
		add_fd(list, &n, h->sockets[i], NAME_PERMANENT);
	for (size_t i = 0; i < g->nlisteners; i++)
		if (!is_permanent(&g->listeners[i]))
			add_fd(list, &n, g->listeners[i].fd, NAME_OWN);
	return n;
}

/* Until the new monitor has an error log, its messages go to ours. */
static void
run_new_monitor(struct generation *unused, void *context, int pipe)
{
	struct listen_fd	*list = mem_array(LISTEN_FDS_MAX,
				    sizeof(*list));
	size_t			 n = collect_fds(pipe, list);

	(void)unused;
	(void)context;
	proc_title("amped: new monitor");
	if (sd_notify_export(&prepared.notify) == -1 ||
	    listen_fds_give(list, n) == -1)
		log_error("cannot pass the sockets to the new binary");
	else {
		proc_signals_unblock();
		execv(prepared.program, prepared.arguments);
		log_error("cannot start %s", prepared.program);
	}
	_exit(EX_OSERR);
}

bool
upgrade_is_busy(void)
{
	return upgrade.child != NULL || upgrade_is_waiting();
}

bool
upgrade_is_waiting(void)
{
	return upgrade.old_monitor.fd != -1;
}

bool
upgrade_is_on_trial(void)
{
	return (upgrade_is_waiting() && !upgrade.ready) ||
	    prepared.daemon_pipe != -1;
}

static void
keep_old_binary(const char *how)
{
	child_give_up(&upgrade.child);
	log_errorx("the new binary %s before it served; going on with the one "
	    "before", how);
	sd_notify_send(&prepared.notify, "STATUS=the new binary %s before it "
	    "served; going on with the one before", how);
}

static void
new_monitor_died(void *unused, const struct child *c)
{
	(void)unused;
	upgrade.child = NULL;
	keep_old_binary(c->how);
}

static void
give_up_new_monitor(void *unused)
{
	(void)unused;
	child_kill(upgrade.child);
	keep_old_binary("did not come up");
}

/* The new monitor serves: it takes charge, and this one drains. */
static void
hand_over(void)
{
	long	pid = (long)upgrade.child->pid;

	log_notice("process %ld takes over", pid);
	sd_notify_send(&prepared.notify, "MAINPID=%ld", pid);
	sd_notify_close(&prepared.notify);
	pidfile_leave(&prepared.pidfile);
	socket_files_leave();
	if (write(upgrade.child->pipe.fd, "", 1) == -1)
		log_warn("cannot tell process %ld that it is in charge", pid);
	hot_lists_hand_over(events_release(&upgrade.child->pipe));
	child_give_up(&upgrade.child);
	due.end = SIGQUIT;
}

/* The end of the pipe is no failure yet: the end of the process is. */
static void
on_new_monitor(void *unused)
{
	char	byte;
	ssize_t	n = read(upgrade.child->pipe.fd, &byte, 1);

	(void)unused;
	if (n == 1)
		hand_over();
	else if (n == 0 || errno != EINTR)
		events_close(&upgrade.child->pipe);
}

static const struct child_kind	new_monitor = {
	.name = "new monitor", .monitorial = true, .lasting = true,
	.run = run_new_monitor, .on_readable = on_new_monitor,
	.on_timeout = give_up_new_monitor, .timeout = START_TIMEOUT,
	.died = new_monitor_died
};

void
upgrade_begin(void)
{
	if (prepared.program == NULL) {
		log_errorx("cannot start another binary: the path of this one "
		    "is unknown (is /proc mounted?)");
		return;
	}
	log_notice("starting %s, to take over", prepared.program);
	sd_notify_send(&prepared.notify, "STATUS=starting another binary");
	upgrade.child = child_start(&new_monitor, generations.serving, NULL,
	    NULL);
	if (upgrade.child == NULL)
		log_error("cannot start another binary");
}

/* No other monitor serves now. */
static void
take_charge(void)
{
	struct inherited	*h = &prepared.inherited;
	struct generation	*g = generations.serving;

	for (size_t i = 0; i < g->nlisteners; i++)
		g->listeners[i].made |= !is_permanent(&g->listeners[i]);
	socket_files_hold(g);
	pidfile_write_pid(&prepared.pidfile);
	while (h->nsockets > h->npermanent)
		close(h->sockets[--h->nsockets]);
	generation_notify("serving ");
	standard_error_settle(g->conf);
	proc_daemon_ready(&prepared.daemon_pipe);
}

/* Learns by a byte or by the end of the pipe that this monitor is in charge.
 * After a byte, lists of hot names follow. */
static void
on_old_monitor(void *unused)
{
	char	byte;

	(void)unused;
	if (read(upgrade.old_monitor.fd, &byte, 1) == 1)
		hot_lists_receive(events_release(&upgrade.old_monitor));
	else
		events_close(&upgrade.old_monitor);
	if (upgrade.ready)
		take_charge();
}

void
upgrade_await_old(void)
{
	if (prepared.inherited.old_monitor != -1)
		events_add(&upgrade.old_monitor,
		    prepared.inherited.old_monitor, on_old_monitor, NULL);
}

/* The first time, tells the old monitor. */
static void
note_served(struct generation *unused)
{
	(void)unused;
	if (upgrade.ready)
		return;
	upgrade.ready = true;
	if (!upgrade_is_waiting()) {
		take_charge();
		return;
	}
	block_rest();
	if (write(upgrade.old_monitor.fd, "", 1) == -1)
		on_old_monitor(NULL);
}

/* Gives up an upgrade, and ends the new monitor. */
static void
cancel_upgrade(void)
{
	if (upgrade.child != NULL)
		kill(upgrade.child->pid, SIGTERM);
	child_give_up(&upgrade.child);
}

static void
end_files(void)
{
	pidfile_end(&prepared.pidfile);
	sd_notify_close(&prepared.notify);
}

static void
close_descriptors(void)
{
	struct inherited	*h = &prepared.inherited;

	io_close(&prepared.pidfile.fd);
	io_close(&prepared.daemon_pipe);
	io_close(&prepared.notify.fd);
	for (size_t i = 0; i < h->nsockets; i++)
		io_close(&h->sockets[i]);
}

const struct component	upgrade_component = {
	.serves = note_served, .stop = cancel_upgrade, .end = end_files,
	.leave = close_descriptors
};
