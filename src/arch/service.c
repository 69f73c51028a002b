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
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/pagemap.h"
#include "lib/proc.h"
#include "lib/syscall_filter.h"
#include "loop/acceptor.h"
#include "loop/batch.h"
#include "shared/addresses.h"
#include "shared/channel.h"
#include "stats/report.h"
#include "stats/scoreboard.h"
#include "stats/stats.h"

#define LOOK		1000	/* ms: so old our gauges are to other mains */

static void	look(void *);

static void
stop(void *context)
{
	evloop_stop(((struct service *)context)->loop);
}

/* Our own clients have. */
static void
gone(void *context)
{
	struct service	*s = context;

	s->gone = true;
	if (s->others == NULL || s->others_gone)
		evloop_stop(s->loop);
}

/* Whoever comes from now on is not ours. */
static void
shut(void *context)
{
	struct service	*s = context;

	control_send(s->world->control, CONTROL_DRAINS, -1);
}

/* Whoever has come since is ours: to close a socket resets who waits there. */
void
service_others_closed(struct service *s)
{
	acceptor_listen(s->clients, s->world->listeners, s->world->nlisteners);
	clients_drain(s->clients);
}

void
service_others_gone(struct service *s)
{
	s->others_gone = true;
	if (s->gone)
		evloop_stop(s->loop);
}

static void
drain(void *context)
{
	struct service	*s = context;

	log_info("finishing the responses under way");
	evloop_arm(s->timer, s->clock.ms + s->world->conf->limits.drain);
	if (s->others != NULL)
		s->others->drain(s->context);
	else
		clients_drain(s->clients);
}

static void
take(struct service *s, enum control message, int fd)
{
	switch (message) {
	case CONTROL_HELPER:
		if (s->helper != NULL)
			s->helper(s->context, fd);
		else if (fd != -1)
			close(fd);
		break;
	case CONTROL_LOGGER:
		access_log_join(s->logger, fd);
		break;
	case CONTROL_ASK:
		asked_take(s->asked, fd);
		break;
	default:
		break;		/* ours to say, not to hear */
	}
}

static void
tidy(void *context)
{
	struct service	*s = context;

	if (http_tidy(s->http))
		evloop_arm(s->tidy, s->clock.ms);
}

static void
later(void *context)
{
	struct service	*s = context;

	if (s->others != NULL)
		bell_ring(&s->bell);		/* from any thread */
	else
		evloop_arm(s->tidy, s->clock.ms);
}

static void
rung(void *context)
{
	struct service	*s = context;

	bell_hush(&s->bell);
	tidy(s);
}

/* The loop turns: else this would not be called. */
static void
beat(void *context)
{
	struct service	*s = context;

	control_send(s->world->control, CONTROL_ALIVE, -1);
	evloop_arm(s->beat, s->clock.ms + s->world->beat);
}

/* The monitor's end is the end of main: nobody is to be left behind. */
static void
monitor_speaks(void *context)
{
	struct service	*s = context;
	enum control	 message;
	int		 fd, n;

	n = control_recv(s->world->control, &message, &fd);
	if (n == 1)
		take(s, message, fd);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		evloop_stop(s->loop);
}

void
service_open(struct service *s, const struct world *world)
{
	/* From thread to thread a connection takes large pieces with it, each
	 * time. */
	if (arch_threads(world->conf) == 1)
		mem_map_large();
	evloop_pool_memory(arch_threads(world->conf) > 1);
	memset(s, 0, sizeof(*s));
	s->world = world;
	s->pagemap = -1;
	s->sandbox = (struct sandbox){ .calls = CALLS_MAIN, .rules = -1,
	    .required = world->conf->sandbox == SANDBOX_REQUIRED };
	s->loop = evloop_new(&s->clock);
	s->logger = access_log_new(s->loop, &s->clock, world->control);
	s->control = evloop_watch(s->loop, world->control, monitor_speaks, s);
	evloop_set(s->control, EVLOOP_READ);
	s->term = evloop_signal(s->loop, SIGTERM, stop, s);
	s->quit = evloop_signal(s->loop, SIGQUIT, drain, s);
	s->timer = evloop_timer(s->loop, stop, s);
	s->tidy = evloop_timer(s->loop, tidy, s);
	s->beat = evloop_timer(s->loop, beat, s);
	s->look = evloop_timer(s->loop, look, s);
	proc_signals_unblock();		/* from here on they find us */
}

/* The conf has but our share of what there are helpers. */
static void
make_budget(const struct service *s, struct budget *b)
{
	budget_make(b, s->world->conf, 1, s->world->nlisteners,
	    s->world->descriptors);
}

size_t
service_connections(const struct service *s)
{
	size_t		wanted = (size_t)s->world->conf->limits.connections;
	struct budget	b;

	if (s->room != 0)
		return s->room;
	make_budget(s, &b);
	return wanted != 0 && wanted < b.clients ? wanted : b.clients;
}

static void
tell(const char *line)
{
	log_info("%s", line);
}

/* How long others had to wait while a loop was busy. */
static void
report_lag(const struct stats_part *sum)
{
	char	text[HISTOGRAM_TEXT + 64];
	size_t	n = (size_t)snprintf(text, sizeof(text), "loop lag: ");

	histogram_text(&sum->histograms[STATS_HISTOGRAM_LOOP_LAG], text + n,
	    sizeof(text) - n);
	tell(text);
}

static void
report_counters(const struct stats_part *sum)
{
	char	text[200];

	/* What comes behind these, the monitor counts. */
	for (int i = 0; i < STATS_RELOADS; i++) {
		snprintf(text, sizeof(text), "%s: %llu", stats_name(i),
		    (unsigned long long)sum->counters[i]);
		tell(text);
	}
}

static void
report(struct service *s)
{
	struct stats_part	sum;

	http_measure(s->http);		/* caches count there as well */
	board_sum_main(&sum, arch_threads(s->world->conf));
	report_lag(&sum);
	if (s->report != NULL)
		s->report(s->context, tell);
	http_report(s->http, tell);
	report_counters(&sum);
}

/* For who asks now. */
static void
measure(void *context)
{
	struct service	*s = context;
	int64_t		*g = stats_gauges;
	struct clock	 now = { 0 };

	memset(g, 0, sizeof(stats_gauges));
	clock_update(&now);		/* whoever asks: not the loop's */
	board_measure(now.wall);
	http_measure(s->http);
	clients_measure(s->clients);
	if (s->measure != NULL)
		s->measure(s->context);
	g[STATS_GAUGE_DESCRIPTORS] = g[STATS_GAUGE_OPEN] +
	    g[STATS_GAUGE_ENTRIES_FILE] + g[STATS_GAUGE_IDLE_HELPERS] +
	    g[STATS_GAUGE_BUSY_HELPERS] + g[STATS_GAUGE_STUCK_HELPERS];
	g[STATS_GAUGE_DESCRIPTORS_LIMIT] = (int64_t)s->world->descriptors;
	board_join();
}

static void
look(void *context)
{
	struct service	*s = context;

	measure(s);
	s->looks = clients_count(s->clients) > 0;
	if (s->looks)
		evloop_arm(s->look, s->clock.ms + LOOK);
}

/* Of other mains. */
static size_t
least(void *context)
{
	(void)context;
	return board_least_open();
}

/* Without clients, the last look shows all that there is to be seen. */
static void
changed(void *context)
{
	struct service	*s = context;

	board_tell_open(clients_staying(s->clients));
	if (!s->looks)
		evloop_arm(s->look, s->clock.ms + LOOK);
	s->looks = true;
}

/* Nothing that others may still use is taken away, by whoever else has
 * something to do at the end of a process either. */
static _Noreturn void
end_without(struct service *s)
{
	log_info("a thread waits for a disk: ending without it");
	proc_signals_block();
	access_log_finish(s->logger);
	shutdown(s->world->control, SHUT_RDWR);
	_exit(0);
}

static void
end(struct service *s)
{
	if (s->others != NULL && !s->others->end(s->context))
		end_without(s);
	report_source(NULL, NULL);
	report(s);
	clients_free(&s->clients);
	asked_free(&s->asked);
}

/* What threads share. */
static void
share(struct service *s, struct http_setup *setup)
{
	const struct store_setup	store = {
		.conf = setup->conf,
		.descriptors = setup->descriptors,
		.pagemap = setup->pagemap,
		.shared = true,
		.later = later,
		.later_context = s,
	};

	bell_open(&s->bell);
	s->rung = evloop_watch(s->loop, s->bell.fd, rung, s);
	evloop_set(s->rung, EVLOOP_READ);
	access_log_share(s->logger);
	report_share();
	setup->store = s->store = store_new(&store);
	s->others->open(s->context, setup);
	s->sandbox.start = s->others->start;
	s->sandbox.context = s->context;
}

static void
confine(struct service *s)
{
	if (s->world->conf->sandbox != SANDBOX_OFF)
		sandbox_enter(&s->sandbox);
	else if (s->others != NULL)
		s->others->start(s->context);
}

void
service_run(struct service *s, const struct disk *disk)
{
	const struct world	*world = s->world;
	struct budget		 budget;
	struct http_setup	 setup = {
		.conf = world->conf,
		.clock = &s->clock,
		.disk = *disk,
		.later = later,
		.later_context = s,
		.pagemap = s->pagemap = pagemap_open(),
		.addresses = world->addresses,
	};

	make_budget(s, &budget);
	setup.descriptors = budget.files;
	if (world->conf->log.access.to != NULL) {
		setup.log_room = access_log_reserve;
		setup.log = access_log_commit;
		setup.log_context = s->logger;
	}
	if (world->addresses != NULL)
		address_use(world->addresses, world->main);
	if (s->others != NULL)
		share(s, &setup);
	s->http = http_new(&setup);
	/* Those beside others are invited. */
	s->clients = clients_new(s->loop, &s->clock, s->http,
	    s->others != NULL ? 0 : service_connections(s), gone, s);
	acceptor_on_closed(s->clients, shut);
	if (s->room == 1)
		acceptor_one_client(s->clients, world->turns, world->main);
	else if (s->others == NULL)
		batch_enable(s->clients);
	s->asked = asked_new(s->loop, &s->clock, s->http, s->clients,
	    world->conf, world->mains == 1);
	if (s->others == NULL)
		acceptor_listen(s->clients, world->listeners,
		    world->nlisteners);
	report_source(measure, s);
	confine(s);
	if (s->others != NULL)
		s->others->serve(s->context);
	control_send(world->control, CONTROL_READY, -1);
	if (world->beat != 0)
		evloop_arm(s->beat, s->clock.ms);
	if (world->mains > 1) {
		evloop_arm(s->look, s->clock.ms);
		acceptor_share(s->clients, least, changed);
	}
	evloop_run(s->loop);
	end(s);
}

void
service_close(struct service *s)
{
	/* It ends as it is; whoever wants it to, must not take the last lines
	 * of the log away. */
	proc_signals_block();
	http_free(&s->http);
	if (s->store != NULL)
		store_free(&s->store);
	io_close(&s->pagemap);
	evloop_unwatch(&s->rung);
	if (s->others != NULL)
		bell_close(&s->bell);
	evloop_unwatch(&s->control);
	evloop_unwatch(&s->term);
	evloop_unwatch(&s->quit);
	evloop_unwatch(&s->timer);
	evloop_unwatch(&s->tidy);
	evloop_unwatch(&s->beat);
	evloop_unwatch(&s->look);
	access_log_free(&s->logger);
	evloop_free(&s->loop);
	/* Not left to the end of the process: that may be a long one. */
	shutdown(s->world->control, SHUT_RDWR);
}
