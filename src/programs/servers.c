/*
 * servers: a request has a connection of its own, to the server with the fewest
 * of them.
 *
 * A connection that main has is main's alone.  The end of the request, on its
 * socket, is the end of the connection.
 */
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/server.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "programs/servers.h"
#include "stats/program_stats.h"

#define RETRY_MS	100	/* until all are tried again */
#define ATTEMPT_MS	2000	/* for a server to accept a connection */
#define AVOID_MS	5000	/* a server that did not is the last to be
				 * tried */

struct server {
	const char		*text;		/* the conf's */
	struct sockaddr_storage	 address;
	socklen_t		 len;		/* 0: there is no such address
						 * here */
	size_t			 nconnections;
	int64_t			 avoid_until;	/* ms; 0: it has accepted */
	_Atomic int64_t		 warned_at;	/* ms */
	time_t			 refused_since;	/* 0: it has accepted */
};

struct servers {
	struct admission	*admission;
	struct server		*at;
	size_t			 n;
	size_t			 nconnections;	/* and attempts */
	struct watch		*retry;		/* timer */
	bool			 is_paused;	/* none accepts connections */
};

/* An invocation that waits has an attempt. */
struct exchange {
	struct servers		*servers;
	struct invocation	*invocation;
	struct server		*server;	/* NULL: not one more */
	struct source		 connection;	/* until main has it */
	struct watch		*timer;		/* of the attempt */
	bool			 was_tried[];	/* by number of the server */
};

static int64_t
get_time(const struct servers *s)
{
	return s->admission->manager->clock.ms;
}

static void
publish_server(const struct servers *s, const struct server *server)
{
	size_t	program = s->admission->program->number;
	size_t	number = (size_t)(server - s->at);

	program_stats_set_server(program, number,
	    PROGRAM_STATS_SERVER_CONNECTIONS, server->nconnections);
	program_stats_set_server(program, number,
	    PROGRAM_STATS_SERVER_REFUSED_SINCE,
	    (uint64_t)server->refused_since);
}

/*
 * The end of an exchange
 */

static void
leave_server(struct exchange *x)
{
	source_close(&x->connection);
	evloop_cancel(x->timer);
	if (x->server != NULL) {
		x->server->nconnections--;
		publish_server(x->servers, x->server);
	}
	x->server = NULL;
}

/* Its invocation has none, and may wait for another. */
static void
free_exchange(struct exchange *x)
{
	leave_server(x);
	evloop_unwatch(&x->timer);
	x->servers->nconnections--;
	x->invocation->run = NULL;
	free(x);
}

static void
end_exchange(struct invocation *i)
{
	struct admission	*a = i->admission;

	free_exchange(i->run);
	admission_end(i);
	admission_start(a);
}

/* Ends an exchange.  If the server has not read the request, the same request
 * is about to come again, and is to go to another server. */
static void
finish_exchange(struct invocation *i, const struct program_done *done)
{
	const struct exchange	*x = i->run;

	if (done->unread)
		x->server->avoid_until = get_time(x->servers) + AVOID_MS;
	end_exchange(i);
}

/*
 * Attempts
 */

/* Where main has gone, or takes nothing, its request ends. */
static void
start_exchange(struct exchange *x)
{
	const struct program_report	report = { .kind = PROGRAM_STARTED };
	struct invocation		*i = x->invocation;

	x->server->avoid_until = 0;
	x->server->refused_since = 0;
	publish_server(x->servers, x->server);
	x->servers->admission->error = 0;
	evloop_unwatch(&x->connection.watch);
	evloop_cancel(x->timer);
	admission_run(i);
	if (admission_report(i, &report, x->connection.fd)) {
		source_close(&x->connection);
		return;
	}
	free_exchange(x);
	admission_end(i);
}

/* Returns what to do about the error, as the end of the line about it. */
static const char *
get_remedy(int error)
{
	if (error == EACCES)
		return "; amped's user must be permitted to write to it";
	return error == ENOENT || error == ECONNREFUSED ?
	    "; look whether it runs, and listens there" : "";
}

/* The reports go on for as long as requests come. */
static void
refuse_server(struct exchange *x, int error)
{
	struct servers	*s = x->servers;
	struct server	*server = x->server;
	const char	*name = s->admission->program->name;

	s->admission->error = error;
	server->avoid_until = get_time(s) + AVOID_MS;
	if (server->refused_since == 0)
		server->refused_since = time(NULL);
	if (log_is_due(&server->warned_at, get_time(s)))
		log_warnx("%s: cannot connect to %s: %s; requests %s for up "
		    "to %lld ms (within)%s", name, server->text,
		    strerror(error), s->admission->program->servers.n > 1 ?
		    "go to another server, or wait" : "wait",
		    (long long)s->admission->program->within,
		    get_remedy(error));
	leave_server(x);
}

/* All have refused: the invocation waits in its place. */
static void
pause_servers(struct exchange *x)
{
	struct servers	*s = x->servers;

	free_exchange(x);
	s->is_paused = true;
	evloop_arm(s->retry, get_time(s) + RETRY_MS);
}

/* Whether a is to be tried before b. */
static bool
is_better(const struct server *a, const struct server *b, int64_t now)
{
	bool	avoid_a = now < a->avoid_until, avoid_b = now < b->avoid_until;

	return avoid_a != avoid_b ? avoid_b :
	    a->nconnections < b->nconnections;
}

/* Of those that have not been tried; NULL: there is none. */
static struct server *
choose_server(const struct exchange *x)
{
	struct server	*best = NULL, *server;

	for (size_t i = 0; i < x->servers->n; i++) {
		server = &x->servers->at[i];
		if (!x->was_tried[i] && (best == NULL ||
		    is_better(server, best, get_time(x->servers))))
			best = server;
	}
	return best;
}

static void	on_connection(void *);

/* Returns 0, or an errno: EINPROGRESS, on_connection() is called. */
static int
open_connection(struct exchange *x)
{
	const struct server	*server = x->server;
	int			 family = server->address.ss_family, on = 1;
	int			 fd;

	if (server->len == 0)
		return EADDRNOTAVAIL;
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return errno;
	if (family != AF_UNIX)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
		    sizeof(on));
	source_add(&x->connection, x->servers->admission->manager->loop, fd,
	    on_connection, x);
	if (connect(fd, (const struct sockaddr *)&server->address,
	    server->len) == 0)
		return 0;
	return errno == EINTR ? EINPROGRESS : errno;
}

/* Tries one server after the other, as long as they refuse at once. */
static void
try_servers(struct exchange *x)
{
	struct servers	*s = x->servers;
	int		 error;

	while ((x->server = choose_server(x)) != NULL) {
		x->server->nconnections++;
		x->was_tried[x->server - s->at] = true;
		/* One request alone finds out whether it accepts again. */
		if (x->server->avoid_until != 0)
			x->server->avoid_until = get_time(s) + AVOID_MS;
		error = open_connection(x);
		if (error == 0) {
			start_exchange(x);
			return;
		}
		if (error == EINPROGRESS) {
			evloop_set(x->connection.watch, EVLOOP_WRITE);
			evloop_arm(x->timer, get_time(s) + ATTEMPT_MS);
			return;
		}
		refuse_server(x, error);
	}
	pause_servers(x);
}

static void
on_connection(void *exchange)
{
	struct exchange		*x = exchange;
	struct admission	*a = x->servers->admission;
	socklen_t		 len = sizeof(int);
	int			 error;

	if (getsockopt(x->connection.fd, SOL_SOCKET, SO_ERROR, &error,
	    &len) == -1)
		error = errno;
	if (error == 0) {
		start_exchange(x);
	} else {
		refuse_server(x, error);
		try_servers(x);
	}
	admission_start(a);
}

static void
on_slow(void *exchange)
{
	struct exchange		*x = exchange;
	struct admission	*a = x->servers->admission;

	refuse_server(x, ETIMEDOUT);
	try_servers(x);
	admission_start(a);
}

/*
 * The kind
 */

static bool
start_request(struct invocation *i)
{
	struct servers	*s = i->admission->state;
	struct exchange	*x;

	if (s->is_paused || s->nconnections >= i->admission->most)
		return false;
	x = mem_zero(sizeof(*x) + s->n);
	x->servers = s;
	x->invocation = i;
	x->connection.fd = -1;
	x->timer = evloop_timer(i->admission->manager->loop, on_slow, x);
	s->nconnections++;
	i->run = x;
	try_servers(x);
	return true;
}

static void
on_retry(void *servers)
{
	struct servers	*s = servers;

	s->is_paused = false;
	admission_start(s->admission);
}

static void
open_servers(struct admission *a)
{
	const struct conf_words	*words = &a->program->servers;
	struct servers		*s = mem_zero(sizeof(*s));
	struct server		*server;

	s->admission = a;
	s->n = words->n;
	s->at = mem_array(s->n, sizeof(*s->at));
	for (size_t i = 0; i < s->n; i++) {
		server = &s->at[i];
		server->text = words->at[i];
		if (!conf_server_parse(server->text, &server->address,
		    &server->len))
			server->len = 0;
	}
	s->retry = evloop_timer(a->manager->loop, on_retry, s);
	a->state = s;
}

static void
close_servers(struct admission *a)
{
	struct servers	*s = a->state;

	evloop_unwatch(&s->retry);
	free(s->at);
	mem_drop(&a->state);
}

const struct admission_kind	servers_kind = {
	.open = open_servers, .start = start_request, .leave = end_exchange,
	.finish = finish_exchange, .close = close_servers
};
