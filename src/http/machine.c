/*
 * machine: runs the steps of a connection until one must wait.
 */
#include <netinet/in.h>

#include <errno.h>
#include <string.h>

#include "http/conn.h"
#include "http/io_batch.h"
#include "http/limits/client_limits.h"
#include "http/log_escape.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"

/* More steps than a full buffer of requests needs; a step that spins exceeds
 * it. */
#define STEPS_MAX	200000

#define MAY(kind)	(1 << WAIT_##kind)

#define RECV		recv_step
#define PARSE		parse_step
#define ROUTE		route_step
#define DISCARD		discard_step
#define AUTHORIZE		authorize_step
#define FIND		find_step
#define HEAD		head_step
#define BODY		body_step
#define SEND		send_step
#define FINISH		finish_step
#define LINGER		linger_step
#define CLOSE		close_step

static const struct {
	const char	*name;
	enum go		(*run)(struct conn *);
	unsigned	 waits;		/* MAY() of each kind */
	enum stage	 stage;
} steps[] = {
#define STEP(id, name, stage, waits, help)				\
	[STEP_##id] = { name, id, waits, STAGE_##stage },
#include "http/step.tbl"
#undef STEP
};

/* The connection that runs, for the crash handler. */
static _Thread_local const struct conn	*running;

static const char *
get_running_step(void)
{
	return running != NULL ? steps[running->step].name : NULL;
}

/* The request line of the connection that runs, as far as it has arrived.  The
 * crash handler calls this function: the bytes may be anything, and the process
 * may be in any state. */
static const char *
get_running_request(void)
{
	static _Thread_local char	line[200];
	size_t				n = 0;

	if (running == NULL || running->request == NULL)
		return NULL;
	while (n < running->input_len && n < sizeof(line) - 1 &&
	    running->input[n] != '\r' && running->input[n] != '\n') {
		line[n] = running->input[n] > ' ' && running->input[n] < 0x7f ?
		    running->input[n] : running->input[n] == ' ' ? ' ' : '?';
		n++;
	}
	line[n] = '\0';
	return n > 0 ? line : NULL;
}

void
machine_set_crash_context(void)
{
	need_crash_context(get_running_step, get_running_request);
}

/* An IPv4 client of an IPv6 socket has the address ::ffff:192.0.2.1. */
static void
set_client_addr(struct session *s, const struct sockaddr *from)
{
	const void	*at = from;
	const struct in6_addr *v6 =
			    &((const struct sockaddr_in6 *)at)->sin6_addr;

	s->family = (uint8_t)from->sa_family;
	if (from->sa_family == AF_INET)
		memcpy(s->addr,
		    &((const struct sockaddr_in *)at)->sin_addr, 4);
	else if (from->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6)) {
		s->family = AF_INET;
		memcpy(s->addr, v6->s6_addr + 12, 4);
	} else if (from->sa_family == AF_INET6)
		memcpy(s->addr, v6, 16);
	if (s->family == AF_INET)
		log_escape_keep_addr(s);
}

struct session *
machine_new(struct http_loop *http, int fd, const struct transport *transport,
    void *transport_context, const struct sockaddr *from, size_t listener)
{
	struct session	*s = mem_zero(sizeof(*s));

	s->http = http;
	s->transport = transport != NULL ? transport : &transport_plain;
	s->transport_context = transport_context;
	s->fd = fd;
	s->listener = (uint16_t)listener;
	token_bucket_fill(&s->pace, &http->pace, http->clock->ms);
	set_client_addr(s, from);
	conn_begin(s);
	/* Most clients have sent their request by now: try to read at once. */
	s->conn->readable = true;
	if (http->addresses != NULL)
		client_limits_connect(s->conn);
	if (s->transport->request_ended == NULL)
		stats_count(STATS_CONNECTIONS);
	return s;
}

static COLD void
update_second(struct http_loop *http)
{
	hot_clear(&http->hot, &http->caches->heads);
	http->date.head.wall = http->clock->wall;
	date_format(http->clock->wall, http->date.text);
	date_format_log(http->clock->wall, http->date.log);
}

/* Whether it is between two requests, with no input or output left. */
static bool
is_idle(const struct conn *c)
{
	return c->step == STEP_RECV && c->request == NULL &&
	    c->input_len == 0 && !conn_owns_output(c);
}

static const struct wait *
park_session(struct session *s)
{
	struct conn	*c = s->conn;

	need((steps[c->step].waits & 1U << c->wait.kind) != 0);
	conn_park(c);
	if (!is_idle(c))
		return &c->wait;
	conn_end(s);
	return &c->wait;	/* conn_end() keeps the record readable */
}

static inline void
begin_run(const struct conn *c)
{
	if (c->http->date.head.wall != c->http->clock->wall)
		update_second(c->http);
	c->http->bytes_out = c->http->bytes_in = 0;
	running = c;
}

/* Runs the steps in their order, which nearly always is the order of the table.
 * Each step has a call of its own: the target of a single indirect call for all
 * steps would be mispredicted. */
static inline enum go
run_in_order(struct conn *c, enum step before)
{
	enum go	go = GO_ON;

#define STEP(id, name, stage, waits, help)				\
	if (STEP_##id < before && c->step == STEP_##id &&		\
	    (go = id(c)) != GO_ON)					\
		return go;
#include "http/step.tbl"
#undef STEP
	return go;
}

/* Runs the steps before that one.  A connection that waits or has ended runs no
 * step until it is woken. */
static inline void
run_steps_before(struct conn *c, enum step step)
{
	unsigned	left = STEPS_MAX;

	begin_run(c);
	while (c->go == GO_ON && c->step < step) {
		need(left-- > 0);
		c->go = run_in_order(c, step);
	}
	running = NULL;
}

const struct wait *
machine_run(struct session *s)
{
	struct conn	*c = s->conn;

	if (c->http->batch_offset == 0)	/* a run without a batch */
		c->http->iteration++;
	run_steps_before(c, STEP_COUNT);
	return c->go == GO_OVER ? NULL : park_session(s);
}

/* With fewer paths their records fit in the processor's caches, and a prefetch
 * gains nothing. */
#define MANY_PATHS	8192

/* Prefetches the records of paths that are about to be looked up.  In shared
 * caches other threads may change the records meanwhile. */
static NOINLINE void
prefetch_paths(const struct caches *caches, struct conn *const *conns,
    unsigned n)
{
	struct prefetch	*all[MACHINE_BATCH_MAX];
	struct conn	*c;
	unsigned	 some = 0;

	if (caches->shared || caches->paths.cache.entries < MANY_PATHS)
		return;
	for (unsigned i = 0; i < n; i++) {
		c = conns[i];
		if (c->step != STEP_AUTHORIZE || c->go != GO_ON)
			continue;
		all[some] = &c->request->lookup.prefetch;
		prefetch_begin(all[some++], &caches->paths,
		    (uint32_t)c->request->site->number,
		    parse_str(c->input, c->request->parse.path));
	}
	for (int level = 0; level < PREFETCH_LEVELS; level++)
		for (unsigned i = 0; i < some; i++)
			prefetch_next(all[i]);
}

/* Makes a request of what a batch has received.  These steps do not read again:
 * the input of the next connection begins where this one's ends. */
static void
run_request_steps(struct conn *c)
{
	const struct http_loop	*http = c->http;

	run_steps_before(c, STEP_DISCARD);
	need(c->input_len == 0 || !conn_shares_input(c) ||
	    c->input < http->input + http->batch_offset);
}

/* Makes the response, but leaves out a body that must be proved to be in memory
 * and sent right after: its proof would be stale when the responses of the
 * batch are sent. */
static void
run_response_steps(struct conn *c)
{
	const struct request	*r = c->request;

	run_steps_before(c, STEP_BODY);
	if (r->file != NULL && file_is_copied(r->file))
		run_steps_before(c, STEP_SEND);
}

bool
machine_can_batch(const struct session *s)
{
	const struct conn	*c = s->conn;

	return is_idle(c) && c->readable && c->own_input.at == NULL &&
	    c->outcome == OUTCOME_READY && !c->refused;
}

static COLD struct output *
new_outputs(void)
{
	struct output	*all = mem_array(MACHINE_BATCH_MAX, sizeof(*all));

	for (int i = 0; i < MACHINE_BATCH_MAX; i++)
		output_init(&all[i]);
	return all;
}

void
machine_run_batch(struct session *const *sessions, unsigned n)
{
	struct http_loop	*http = sessions[0]->http;
	struct conn		*conns[MACHINE_BATCH_MAX] = { NULL };

	http->iteration++;
	if (http->batch_outputs == NULL)
		http->batch_outputs = new_outputs();
	for (unsigned i = 0; i < n; i++) {
		conns[i] = sessions[i]->conn;
		conns[i]->output = &http->batch_outputs[i];
	}
	io_batch_recv(&http->io_batch, conns, n);
	for (unsigned i = 0; i < n; i++)
		if (conns[i]->op != NULL)
			run_request_steps(conns[i]);
	prefetch_paths(http->caches, conns, n);
	for (unsigned i = 0; i < n; i++)
		if (conns[i]->step == STEP_AUTHORIZE)
			run_response_steps(conns[i]);
	io_batch_send(&http->io_batch, conns, n);
}

void
machine_end_batch(struct http_loop *http)
{
	http->batch_offset = 0;
}

/* Leaves the connection to another stage.  Many new connections may be on their
 * way at once, so one that has read nothing travels as a session only. */
static void
leave_stage(struct session *s)
{
	struct conn	*c = s->conn;

	/* The session may wait there for long. */
	if (c->corked)
		conn_set_cork(c, false);
	conn_park(c);
	/* A stage that never sends would not find its scratch empty again. */
	output_drop(&c->http->output);
	if (is_idle(c) && c->readable && !c->refused)
		conn_end(s);
}

static struct conn *
get_conn(struct session *s)
{
	if (s->conn == NULL) {
		conn_begin(s);
		s->conn->readable = true;
	}
	return s->conn;
}

const struct wait *
machine_run_stage(struct session *s, enum stage *stage)
{
	struct conn	*c = get_conn(s);
	unsigned	 left = STEPS_MAX;
	enum go		 go = GO_ON;

	c->http->iteration++;
	begin_run(c);
	while (go == GO_ON && steps[c->step].stage == *stage) {
		need(left-- > 0);
		go = steps[c->step].run(c);
	}
	running = NULL;
	if (go == GO_WAIT)
		return park_session(s);
	if (go == GO_OVER)
		return NULL;
	*stage = steps[c->step].stage;
	leave_stage(s);
	return NULL;
}

void
machine_move(struct session *s, struct http_loop *http)
{
	struct conn	*c = s->conn;

	s->http = http;
	if (c == NULL)
		return;
	if (!conn_owns_output(c))
		c->output = &http->output;
	c->http = http;
}

void
machine_wake(struct session *s, enum outcome outcome)
{
	struct conn	*c;

	if (s->conn == NULL)
		conn_begin(s);
	c = s->conn;
	if (c->wait.kind == WAIT_TIME && outcome == OUTCOME_TIMED_OUT)
		outcome = OUTCOME_READY;
	c->go = GO_ON;
	c->outcome = (uint8_t)outcome;
	if (c->wait.kind == WAIT_READ)
		c->readable = outcome == OUTCOME_READY;
}

static void
end_conn(struct session *s)
{
	struct conn	*c = s->conn;

	conn_request_end(c);
	conn_clear_output(c);
	buf_wipe(&c->own_input);
	conn_end(s);
}

void
machine_free(struct session **sp)
{
	struct session	*s = *sp;

	if (s->address != NULL)
		addresses_disconnect(s->http->addresses, &s->address,
		    s->http->clock->ms);
	if (s->conn != NULL)
		end_conn(s);
	s->transport->close(s->transport_context, s->fd);
	mem_drop(sp);
}

bool
machine_is_idle(const struct session *s)
{
	return s->conn == NULL;
}

bool
machine_is_parked(const struct session *s)
{
	return s->conn != NULL && is_idle(s->conn) && !s->conn->readable;
}

bool
machine_has_input(const struct session *s)
{
	return s->conn != NULL && s->conn->readable;
}

bool
machine_is_flushed(const struct session *s)
{
	return s->transport->unacked == NULL ||
	    s->transport->unacked(s->transport_context, s->fd) == 0;
}

const char *
machine_step_name(const struct session *s)
{
	return steps[s->conn != NULL ? s->conn->step : STEP_RECV].name;
}
