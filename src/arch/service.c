/*
 * service: opens, runs and closes what the looping architectures share.
 */
#include <sys/socket.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "arch/budget.h"
#include "arch/service.h"
#include "conf/divide.h"
#include "conf/strategies.h"
#include "helpers/notify.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/pagemap.h"
#include "lib/proc.h"
#include "lib/syscall_filter.h"
#include "loop/acceptor.h"
#include "loop/batch.h"
#include "loop/blocking.h"
#include "shared/addresses.h"
#include "shared/channel.h"
#include "stats/report.h"
#include "stats/scoreboard.h"
#include "stats/stats.h"

#define GAUGES_INTERVAL	1000	/* ms that our published gauges may be old */
#define CHANGES_PAUSE	4	/* ms between two looks at many changes */
#define WARM_AT_ONCE	4	/* hot names that helpers load */
/* After a main has come: how often clients are sent away, if there are so many
 * more than it has, and a quarter of that; ms between these times. */
#define BALANCES	8
#define BALANCE_INTERVAL 250
#define IMBALANCE	4

static void	publish_gauges(void *);

/* Ends the loop; the reason completes a sentence about the responses that are
 * still under way. */
static void
stop_loop(struct service *s, const char *reason)
{
	s->ended_by = reason;
	evloop_stop(s->loop);
}

static void
on_term(void *context)
{
	stop_loop(context, "main was told to end at once (SIGTERM)");
}

static void
on_drain_over(void *context)
{
	stop_loop(context, "the drain's time was up (limits { drain })");
}

/* Main's own connections have ended. */
static void
on_empty(void *context)
{
	struct service	*s = context;

	s->empty = true;
	if (s->threads == NULL || s->threads_gone)
		evloop_stop(s->loop);
}

/* Tells the monitor that this main accepts no connections any more. */
static void
on_closed(void *context)
{
	struct service	*s = context;

	channel_send(s->env->channel, CHANNEL_DRAINING, -1);
}

static size_t
least_open(void *context)
{
	(void)context;
	return scoreboard_min_open();
}

/* Without connections the gauges do not change, so the timer is not armed. */
static void
on_changed(void *context, size_t staying)
{
	struct service	*s = context;

	/* Others are not to leave the queue to a main that drains. */
	scoreboard_publish_open(s->drains ? SIZE_MAX : staying);
	if (!s->gauges_due)
		evloop_arm(s->gauges_timer, s->clock.ms + GAUGES_INTERVAL);
	s->gauges_due = true;
}

/* Whether main serves one client at a time, as mp does. */
static bool
has_one_client(const struct service *s)
{
	return s->ops == NULL &&
	    arch_of(s->env->conf)->limitations[ARCH_LIMITED_CLIENTS];
}

static void
listen_main(struct service *s)
{
	const struct main_env		*env = s->env;
	const bool			 shared = env->mains > 1;
	const struct acceptor_setup	 setup = {
		.policy = has_one_client(s) ? &accept_one_client :
		    shared ? &accept_balanced : &accept_plain,
		.listeners = env->listeners, .n = env->nlisteners,
		.on_closed = on_closed,
		.least = shared ? least_open : NULL,
		.on_changed = shared ? on_changed : NULL,
		.token = env->accept_token, .main = env->main,
	};

	acceptor_listen(s->clients, &setup);
}

/* In a drain the threads have closed, or have no connections any more.
 * Connections queued since the threads closed are accepted here: to close the
 * sockets would reset them. */
static void
on_ack(void *context, enum threads_ack ack)
{
	struct service	*s = context;

	if (ack == THREADS_CLOSED) {
		listen_main(s);
		acceptor_drain(s->clients);
		return;
	}
	s->threads_gone = true;
	if (s->empty)
		evloop_stop(s->loop);
}

static void
begin_drain(void *context)
{
	struct service	*s = context;

	log_info("a drain has begun: finishing the responses under way");
	s->drains = true;
	scoreboard_publish_open(SIZE_MAX);
	warm_stop(s->warm);
	evloop_arm(s->timer, s->clock.ms + s->env->conf->limits.drain);
	if (s->threads != NULL)
		threads_send(s->threads, THREADS_DRAIN);
	else
		acceptor_drain(s->clients);
}

static void
on_names_written(void *context)
{
	struct service	*s = context;

	channel_send(s->env->channel, CHANNEL_HOT_NAMES_WRITTEN, -1);
}

/* All processes of the user share the system's limit: half is left to them. */
static size_t
count_watches(const struct service *s)
{
	int64_t	wanted = s->env->conf->cache.watches;
	int64_t	most = notify_max() / 2 / s->env->mains;

	return (size_t)(most > 0 && most < wanted ? most : wanted);
}

/* Has half of what a new main lacks come to it: busy clients, which come again.
 * They may come to this main again, so this is done several times. */
static void
send_clients_away(struct service *s)
{
	size_t	least = scoreboard_min_open(), n = clients_count(s->clients);

	http_send_away(s->http, s->drains || least == SIZE_MAX ||
	    n <= least + least / 4 + IMBALANCE ? 0 : (n - least) / 2);
}

/* Takes a step towards the limits, or towards the new main's part of the
 * clients. */
static void
on_shares_timer(void *context)
{
	struct service	*s = context;

	if (http_approach_limits(s->http, count_watches(s)))
		evloop_arm(s->shares_timer, s->clock.ms + 1);
	else if (s->balances_left > 0) {
		send_clients_away(s);
		s->balances_left--;
		evloop_arm(s->shares_timer, s->clock.ms + BALANCE_INTERVAL);
	} else
		http_send_away(s->http, 0);
}

/* The number of mains has changed. */
static void
change_share(struct service *s)
{
	const struct main_env	*env = s->env;
	unsigned		 before = s->shares;

	s->shares = scoreboard_shares();
	if (s->shares == 0 || s->drains)
		return;
	conf_divide(env->conf, env->whole, env->main, s->shares);
	acceptor_set_limit(s->clients, service_connections(s));
	if (s->on_limits != NULL)
		s->on_limits(s->context);
	s->balances_left = s->shares > before ? BALANCES : 0;
	evloop_arm(s->shares_timer, s->clock.ms);
}

static void
handle_message(struct service *s, enum channel_message message, int fd)
{
	switch (message) {
	case CHANNEL_HELPER:
		if (s->on_helper != NULL)
			s->on_helper(s->context, fd);
		else if (fd != -1)
			close(fd);
		break;
	case CHANNEL_ACCESS_LOGGER:
		access_log_join(s->access_log, fd);
		break;
	case CHANNEL_REQUEST:
		requests_add(s->requests, fd);
		break;
	case CHANNEL_SHARES:
		change_share(s);
		break;
	case CHANNEL_WANT_HOT_NAMES:
		hot_names_write(s->hot_names, fd, on_names_written, s);
		break;
	case CHANNEL_HOT_NAMES:
		warm_add(s->warm, fd);
		break;
	default:
		break;		/* main sends these only */
	}
}

static void
tidy_caches(void *context)
{
	struct service	*s = context;

	if (http_tidy(s->http))
		evloop_arm(s->tidy, s->clock.ms);
	warm_take_hints(s->warm);
}

static void
schedule_tidy(void *context)
{
	struct service	*s = context;

	if (s->threads != NULL)
		wakeup_set(&s->wakeup);		/* from any thread */
	else
		evloop_arm(s->tidy, s->clock.ms);
}

/* With threads main's own connections, which it has in a drain, share the
 * verifiers with theirs. */
static void
schedule_verify(void *context)
{
	wakeup_set(&((struct service *)context)->wakeup);
}

static void
on_wakeup(void *context)
{
	struct service	*s = context;

	wakeup_reset(&s->wakeup);
	tidy_caches(s);
	http_verify(s->http);
}

/* Shows the monitor's watchdog that the loop runs. */
static void
send_keepalive(void *context)
{
	struct service	*s = context;

	channel_send(s->env->channel, CHANNEL_ALIVE, -1);
	evloop_arm(s->keepalive, s->clock.ms + s->env->alive_interval);
}

/* A main ends when the monitor has ended: no orphan goes on serving. */
static void
on_channel(void *context)
{
	struct service		*s = context;
	enum channel_message	 message;
	int			 fd, n;

	n = channel_recv(s->env->channel, &message, &fd);
	if (n == 1)
		handle_message(s, message, fd);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		stop_loop(s, "the monitor has ended");
}

/* Before main is confined: helpers, or the threads, add directories to it. */
static int
open_notify(const struct conf *conf)
{
	int	fd;

	if (conf->cache.watches == 0)
		return -1;
	fd = notify_open();
	if (fd == -1 && errno == EMFILE)
		log_warnx("cannot watch directories: the system's limit of "
		    "those who watch is reached (fs.inotify.max_user_instances"
		    "); all paths are looked at again after \"revalidate\"");
	else if (fd == -1 && errno != ENOSYS)
		log_warn("cannot watch directories: all paths are looked at "
		    "again after \"revalidate\"");
	return fd;
}

/* Reads at once: requests of this iteration, which may be late, run after its
 * timers. */
static void
on_changes_pause(void *context)
{
	struct service	*s = context;

	s->changes_at = s->clock.ms;
	if (http_read_changes(s->http))
		evloop_arm(s->changes_pause, s->changes_at + CHANGES_PAUSE);
	else
		evloop_set(s->changes, EVLOOP_READ);
}

/* One change is known at once; of many, those of some ms together. */
static void
on_changes(void *context)
{
	struct service	*s = context;
	int64_t		 now = s->clock.ms;

	(void)http_read_changes(s->http);
	if (now - s->changes_at <= CHANGES_PAUSE) {
		evloop_set(s->changes, EVLOOP_NONE);
		evloop_arm(s->changes_pause, now + CHANGES_PAUSE);
	}
	s->changes_at = now;
}

static void
watch_changes(struct service *s)
{
	s->changes = evloop_watch(s->loop, s->notify, on_changes, s);
	evloop_set(s->changes, EVLOOP_READ);
	s->changes_pause = evloop_timer(s->loop, on_changes_pause, s);
}

void
service_open(struct service *s, const struct main_env *env)
{
	/* Not with threads: a connection that changes threads allocates large
	 * pieces anew each time. */
	if (arch_threads(env->conf) == 1)
		mem_map_large();
	evloop_pool_memory(arch_threads(env->conf) > 1);
	memset(s, 0, sizeof(*s));
	s->env = env;
	s->pagemap = -1;
	s->notify = open_notify(env->conf);
	s->sandbox = (struct sandbox){ .roles = SYSCALL_ROLE_MAIN, .rules = -1,
	    .required = env->conf->sandbox == SANDBOX_REQUIRED };
	s->loop = evloop_new(&s->clock);
	s->access_log = access_log_new(s->loop, &s->clock, env->channel);
	s->channel = evloop_watch(s->loop, env->channel, on_channel, s);
	evloop_set(s->channel, EVLOOP_READ);
	s->term = evloop_signal(s->loop, SIGTERM, on_term, s);
	s->quit = evloop_signal(s->loop, SIGQUIT, begin_drain, s);
	s->timer = evloop_timer(s->loop, on_drain_over, s);
	s->tidy = evloop_timer(s->loop, tidy_caches, s);
	s->keepalive = evloop_timer(s->loop, send_keepalive, s);
	s->gauges_timer = evloop_timer(s->loop, publish_gauges, s);
	s->shares_timer = evloop_timer(s->loop, on_shares_timer, s);
	s->shares = env->shares;
	proc_signals_unblock();		/* handlers are set by now */
}

/* The conf is already this main's part of the server's, so mains is 1. */
static void
make_budget(const struct service *s, struct budget *b)
{
	budget_make(b, s->env->conf, 1, s->env->nlisteners,
	    s->env->descriptors);
}

size_t
service_connections(const struct service *s)
{
	size_t		wanted = (size_t)s->env->conf->limits.connections;
	struct budget	b;

	if (has_one_client(s))
		return 1;
	make_budget(s, &b);
	return wanted != 0 && wanted < b.clients ? wanted : b.clients;
}

static void
log_report_line(const char *line)
{
	log_debug("%s", line);
}

static void
report_lag(const struct stats_slot *sum)
{
	char	text[HISTOGRAM_TEXT_SIZE + 64];
	size_t	n = (size_t)snprintf(text, sizeof(text), "loop lag: ");

	histogram_text(&sum->histograms[STATS_HISTOGRAM_LOOP_LAG], text + n,
	    sizeof(text) - n);
	log_report_line(text);
}

static void
report_counters(const struct stats_slot *sum)
{
	char	text[200];

	/* The counters from STATS_RELOADS on are the monitor's. */
	for (int i = 0; i < STATS_RELOADS; i++) {
		snprintf(text, sizeof(text), "%s: %llu", stats_name(i),
		    (unsigned long long)sum->counters[i]);
		log_report_line(text);
	}
}

static void
log_report(struct service *s)
{
	struct stats_slot	sum;

	http_measure(s->http);		/* updates the caches' counters */
	if (log_level() < LOG_LEVEL_DEBUG)
		return;
	scoreboard_sum_main(&sum, arch_threads(s->env->conf));
	report_lag(&sum);
	if (s->report != NULL)
		s->report(s->context, log_report_line);
	http_report(s->http, log_report_line);
	report_counters(&sum);
}

/* Sets stats_gauges; in any thread. */
static void
measure_main(void *context)
{
	struct service	*s = context;
	int64_t		*g = stats_gauges;
	struct clock	 now = { 0 };

	memset(g, 0, sizeof(stats_gauges));
	clock_update(&now);		/* the loop's clock is its thread's */
	scoreboard_measure(now.wall);
	http_measure(s->http);
	clients_measure(s->clients);
	if (s->measure != NULL)
		s->measure(s->context);
	g[STATS_GAUGE_DESCRIPTORS] = g[STATS_GAUGE_OPEN] +
	    g[STATS_GAUGE_ENTRIES_FILE] + g[STATS_GAUGE_IDLE_HELPERS] +
	    g[STATS_GAUGE_BUSY_HELPERS] + g[STATS_GAUGE_STUCK_HELPERS];
	/* The socket of each, and its output. */
	g[STATS_GAUGE_DESCRIPTORS] += 2 * (int64_t)backends_count(&s->backends);
	g[STATS_GAUGE_DESCRIPTORS_LIMIT] = (int64_t)s->env->descriptors;
	g[STATS_GAUGE_HELD] = (int64_t)backends_held(&s->backends);
	scoreboard_merge();
}

static void
publish_gauges(void *context)
{
	struct service	*s = context;

	measure_main(s);
	s->gauges_due = clients_count(s->clients) > 0;
	if (s->gauges_due)
		evloop_arm(s->gauges_timer, s->clock.ms + GAUGES_INTERVAL);
}

/* Frees nothing that the thread may still use; _exit() runs no exit handlers,
 * which might. */
static _Noreturn void
exit_without_threads(struct service *s)
{
	log_info("a thread still waits for a disk: main ends without it");
	proc_signals_block();
	access_log_finish(s->access_log);
	shutdown(s->env->channel, SHUT_RDWR);
	_exit(0);
}

/* Writes the hot names, if the monitor has just asked for them.  If an access
 * logger has just come, it joins, and gets the last lines. */
static void
finish_names(struct service *s)
{
	enum channel_message	message;
	int			fd;

	while (channel_recv(s->env->channel, &message, &fd) == 1)
		handle_message(s, message, fd);
	hot_names_finish(s->hot_names);
}

static void
end_serving(struct service *s)
{
	warm_stop(s->warm);
	finish_names(s);
	if (s->threads != NULL && !threads_end_or_detach(s->threads))
		exit_without_threads(s);
	if (s->ops != NULL && s->ops->ended != NULL)
		s->ops->ended(s->context);
	report_set_measure(NULL, NULL);
	log_report(s);
	acceptor_free(s->clients);
	clients_free(&s->clients);
	requests_free(&s->requests);
	warm_free(&s->warm);
	hot_names_free(&s->hot_names);
}

static void
start_threads(void *threads)
{
	threads_start(threads);
}

static void
open_threads(struct service *s, struct http_setup *setup)
{
	const unsigned			count = arch_threads(s->env->conf) - 1;
	const struct threads_setup	threads = {
		.count = count,
		.at_once = s->ops->on_spawned != NULL ? 1 : count,
		.on_spawned = s->ops->on_spawned,
		.on_ended = s->ops->on_ended,
		.size = s->ops->size,
		.loop = s->loop,
		.on_command = s->ops->on_command,
		.on_ack = on_ack,
		.context = s,
	};
	const struct caches_setup	caches = {
		.conf = setup->conf,
		.descriptors = setup->descriptors,
		.pagemap = setup->pagemap,
		.notify = setup->notify,
		.watches = setup->watches,
		.shared = true,
		.schedule_tidy = schedule_tidy,
		.tidy_context = s,
	};

	wakeup_open(&s->wakeup);
	s->wakeup_watch = evloop_watch(s->loop, s->wakeup.fd, on_wakeup, s);
	evloop_set(s->wakeup_watch, EVLOOP_READ);
	access_log_share(s->access_log);
	report_use_lock();
	setup->caches = s->caches = caches_new(&caches);
	s->threads = threads_new(&threads);
	s->ops->open(s->context, setup);
	s->sandbox.start = start_threads;
	s->sandbox.context = s->threads;
}

static void
enter_sandbox(struct service *s)
{
	if (s->env->conf->sandbox != SANDBOX_OFF)
		sandbox_enter(&s->sandbox);
	else if (s->threads != NULL)
		threads_start(s->threads);
}

static const struct backends *
open_backends(struct service *s, size_t most)
{
	if (s->env->conf->nprograms > 0)
		backends_open(&s->backends, s->loop, &s->clock,
		    s->env->managers, s->env->conf->nmanagers, most,
		    (size_t)s->env->conf->limits.held);
	return &s->backends;
}

/* Requests that no client makes. */
static void
open_admin(struct service *s)
{
	const struct main_env	*env = s->env;
	const struct arch	*arch = arch_of(env->conf);
	struct warm_setup	 warm = {
		.loop = s->loop,
		.clock = &s->clock,
		.http = s->http,
		.clients = s->clients,
		.conf = env->conf,
		.at_once = arch->helpers && env->conf->helpers_max > 2 ?
		    WARM_AT_ONCE : 1,
		.in_place = !arch->helpers && !arch->threaded,
	};

	s->requests = requests_new(s->loop, &s->clock, s->http, s->clients,
	    env->conf, env->mains == 1);
	s->hot_names = hot_names_new(s->loop, &s->clock, s->http, env->conf);
	s->warm = warm_new(&warm);
}

void
service_run(struct service *s, const struct disk *disk)
{
	const struct main_env	*env = s->env;
	struct budget		 budget;
	struct http_setup	 setup = {
		.conf = env->conf,
		.clock = &s->clock,
		.disk = *disk,
		.schedule_tidy = schedule_tidy,
		.tidy_context = s,
		.schedule_verify = schedule_verify,
		.verify_context = s,
		.pagemap = s->pagemap = pagemap_open(),
		.notify = s->notify,
		.watches = s->notify != -1 ? count_watches(s) : 0,
		.addresses = env->addresses,
		.limiters = env->limiters,
	};

	make_budget(s, &budget);
	setup.descriptors = budget.files;
	setup.backends = *open_backends(s, budget.programs);
	if (env->conf->log.all.n > 0) {
		setup.log_reserve = access_log_reserve;
		setup.log_commit = access_log_commit;
		setup.log_context = s->access_log;
	}
	if (env->addresses != NULL)
		addresses_use_slot(env->addresses, env->main);
	for (size_t i = 0; i < env->conf->nlimiters; i++)
		addresses_use_slot(env->limiters[i], env->main);
	if (s->ops != NULL)
		open_threads(s, &setup);
	machine_set_crash_context();
	s->http = http_new(&setup);
	/* With threads main's own connections are internal: it accepts none. */
	s->clients = clients_new(s->loop, &s->clock, s->http,
	    s->threads != NULL ? 0 : service_connections(s), on_empty, s);
	if (s->threads == NULL && !has_one_client(s))
		batch_enable(s->clients);
	else if (s->threads == NULL && env->conf->io == IO_SYNCHRONOUS)
		blocking_enable(s->clients);
	open_admin(s);
	if (s->threads == NULL)
		listen_main(s);
	report_set_measure(measure_main, s);
	if (s->notify != -1)
		watch_changes(s);
	enter_sandbox(s);
	if (s->threads != NULL)
		threads_send(s->threads, THREADS_SERVE);
	channel_send(env->channel, CHANNEL_READY, -1);
	if (env->alive_interval != 0)
		evloop_arm(s->keepalive, s->clock.ms);
	if (env->mains > 1)
		evloop_arm(s->gauges_timer, s->clock.ms);
	evloop_run(s->loop);
	end_serving(s);
}

/* Says how many responses the end of main has cut. */
static void
log_broken_off(const struct service *s)
{
	size_t	n = http_count_broken_off(s->http);

	if (n > 0)
		log_notice("%zu response%s broken off: %s", n,
		    n == 1 ? " was" : "s were",
		    s->ended_by != NULL ? s->ended_by : "main has ended");
}

void
service_close(struct service *s)
{
	log_broken_off(s);
	/* A signal must not interrupt the writing of the last log lines. */
	proc_signals_block();
	backends_end_filters(&s->backends);
	http_free(&s->http);
	backends_close(&s->backends);
	if (s->caches != NULL)
		caches_free(&s->caches);
	io_close(&s->pagemap);
	if (s->changes != NULL) {
		evloop_unwatch(&s->changes);
		evloop_unwatch(&s->changes_pause);
	}
	io_close(&s->notify);
	evloop_unwatch(&s->wakeup_watch);
	if (s->threads != NULL) {
		wakeup_close(&s->wakeup);
		threads_free(&s->threads);
	}
	evloop_unwatch(&s->channel);
	evloop_unwatch(&s->term);
	evloop_unwatch(&s->quit);
	evloop_unwatch(&s->timer);
	evloop_unwatch(&s->tidy);
	evloop_unwatch(&s->keepalive);
	evloop_unwatch(&s->gauges_timer);
	evloop_unwatch(&s->shares_timer);
	access_log_free(&s->access_log);
	evloop_free(&s->loop);
	/* Tells the monitor now: the process may take long to end. */
	shutdown(s->env->channel, SHUT_RDWR);
}
