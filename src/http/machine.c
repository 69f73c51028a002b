/*
 * machine: runs the steps of a connection until one must wait.
 */
#include <string.h>

#include "http/conn.h"
#include "http/park.h"
#include "http/peer.h"
#include "http/programs/run.h"
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
#define PROXY		proxy_step
#define COLLECT		collect_step
#define SPOOL		spool_step
#define START		start_step
#define FEED		feed_step
#define ANSWER		answer_step
#define RELAY		relay_step

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

struct workspace *
machine_new_workspaces(unsigned n)
{
	struct workspace	*all = mem_array(n, sizeof(*all));

	for (unsigned i = 0; i < n; i++)
		output_init(&all[i].output);
	return all;
}

struct session *
machine_new(struct http_loop *http, const struct client_kind *kind,
    const struct sockaddr *from, size_t listener)
{
	struct session	*s = mem_zero(sizeof(*s));

	s->http = http;
	s->kind = kind;
	s->listener = (uint16_t)listener;
	token_bucket_fill(&s->pace, &http->conf->pace, http->clock->ms);
	peer_begin(s, from);
	if (kind == NULL || kind->request_ended == NULL)
		stats_count(STATS_CONNECTIONS);
	return s;
}

static COLD void
update_second(struct http_loop *http)
{
	http->date.head.wall = http->clock->wall;
	date_format(http->clock->wall, http->date.text);
	date_format_log(http->clock->wall, http->date.log);
	caches_judge(http->caches, http->clock->ms);
}

/* Whether it is between two requests, with no input or output left. */
static bool
is_idle(const struct conn *c)
{
	return c->step == STEP_RECV && c->request == NULL &&
	    c->input_len == 0 && !conn_owns_output(c);
}

static inline void
begin_run(const struct conn *c)
{
	if (c->http->date.head.wall != c->http->clock->wall)
		update_second(c->http);
	running = c;
}

#define RUN(id, name, stage, waits, help)				\
	if ((stages & STAGE_BIT(stage)) != 0 && c->step == STEP_##id &&	\
	    (go = id(c)) != GO_ON)					\
		return go;

static COLD enum go
run_cold_step(struct conn *c, unsigned stages)
{
	enum go	go = GO_ON;

#define STEP(...)
#define COLD_STEP	RUN
#include "http/step.tbl"
#undef STEP
	return go;
}

/* Runs the steps in their order, which nearly always is the order of the table.
 * Each step has a call of its own: the target of a single indirect call for all
 * steps would be mispredicted. */
static ALWAYS_INLINE enum go
run_in_order(struct conn *c, unsigned stages)
{
	enum go	go = GO_ON;

#define STEP	RUN
#define COLD_STEP(...)
#include "http/step.tbl"
#undef STEP
	if (c->step > STEP_FINISH)
		return run_cold_step(c, stages);
	return go;
}

/* Runs steps of these stages until one must wait.  Else the wait is for the
 * stage of the next step.  Inline: a constant leaves out the checks. */
static ALWAYS_INLINE void
run_steps(struct conn *c, unsigned stages)
{
	unsigned	left = STEPS_MAX;
	enum stage	next;

	do {
		need(left-- > 0);
		if (run_in_order(c, stages) == GO_WAIT) {
			c->wait.outcome = OUTCOME_PENDING;
			return;
		}
		next = steps[c->step].stage;
	} while (stages == STAGES_ALL || (stages & 1U << next) != 0);
	c->wait.kind = WAIT_STAGE;
	c->wait.flags = 0;		/* of the operation before: a cork */
	c->wait.stage = (uint8_t)next;
}

/* Out of line, which leaves registers to the other case. */
static NOINLINE void
run_some_steps(struct conn *c, unsigned stages)
{
	run_steps(c, stages);
}

/* The wait of an idle session where its stage does not run.  A driver may write
 * to a wait. */
static _Thread_local struct wait to_read = { .kind = WAIT_STAGE,
				    .stage = STAGE_READ_REQUEST };

/* Has an idle session read, if that stage runs here. */
static NOINLINE struct wait *
begin_idle(struct session *s, struct workspace *w, unsigned stages)
{
	struct conn	*c;

	if ((stages & STAGE_BIT(READ_REQUEST)) == 0)
		return &to_read;
	c = conn_begin(s);
	c->workspace = w;
	c->output = &w->output;
	if (s->opening != OPENING_NONE)
		return machine_run(s, w, stages);
	recv_begin(c);
	return &c->wait;
}

struct wait *
machine_run(struct session *s, struct workspace *w, unsigned stages)
{
	struct conn	*c = s->conn;

	if (c == NULL)
		return begin_idle(s, w, stages);
	if (c->workspace == NULL) {
		c->workspace = w;
		if (c->output == NULL)
			c->output = &w->output;
	}
	if (c->wait.outcome == OUTCOME_PENDING)
		return &c->wait;
	begin_run(c);
	if (stages == STAGES_ALL)
		run_steps(c, STAGES_ALL);
	else
		run_some_steps(c, stages);
	running = NULL;
	return &c->wait;
}

void
machine_park(struct session *s)
{
	struct conn	*c = s->conn;

	if (c == NULL || c->workspace == NULL)
		return;
	/* On its way to another stage it takes its memory along. */
	if (c->wait.kind == WAIT_READ && is_idle(c)) {
		recv_park(c);
		conn_end(s);	/* which keeps the record readable */
		return;
	}
	need(c->wait.kind == WAIT_STAGE ||
	    (steps[c->step].waits & 1U << c->wait.kind) != 0);
	if (c->wait.kind == WAIT_WRITE || c->wait.kind == WAIT_SEND)
		send_park(c);
	else if (c->wait.kind == WAIT_STAGE)
		c->corked = false;
	conn_park(c);
}

/* With fewer paths their records fit in the processor's caches, and a prefetch
 * gains nothing. */
#define MANY_PATHS	8192

/* In shared caches other threads may change the records meanwhile. */
void
machine_prefetch(struct session *const *sessions, unsigned n)
{
	const struct caches	*caches = sessions[0]->http->caches;
	struct prefetch		*all[MACHINE_BATCH_MAX];
	struct conn		*c;
	unsigned		 some = 0;

	if (caches->shared || caches->paths.cache.entries < MANY_PATHS)
		return;
	for (unsigned i = 0; i < n; i++) {
		c = sessions[i]->conn;
		if (c->step != STEP_AUTHORIZE || c->wait.kind != WAIT_STAGE ||
		    c->request->site->rules.some_by_host)
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

void
machine_move(struct session *s, struct http_loop *http)
{
	s->http = http;
	if (s->conn != NULL)
		s->conn->http = http;
}

void
machine_wake(struct session *s, enum outcome outcome, ssize_t n)
{
	struct conn	*c = s->conn;

	if (c == NULL && outcome == OUTCOME_NONE)
		return;
	if (c == NULL)
		c = conn_begin(s);
	if (c->wait.kind == WAIT_TIME && outcome == OUTCOME_TIMED_OUT)
		outcome = OUTCOME_NONE;
	c->wait.outcome = (uint8_t)outcome;
	c->wait.n = n;
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
machine_break_off(struct session *s)
{
	struct conn	*c = s->conn;

	if (c == NULL || c->request == NULL)
		return;
	begin_run(c);
	if (finish_break_off(c))
		s->http->caches->broken_off++;
	running = NULL;
}

void
machine_free(struct session **sp)
{
	struct session	*s = *sp;

	peer_end(s);
	if (s->conn != NULL)
		end_conn(s);
	if (s->ends != NULL)
		mem_drop(&s->ends);
	mem_drop(sp);
}

bool
machine_is_idle(const struct session *s)
{
	return s->conn == NULL || is_idle(s->conn);
}

const char *
machine_step_name(const struct session *s)
{
	return steps[s->conn != NULL ? s->conn->step : STEP_RECV].name;
}
