/*
 * machine: runs the steps of a connection until it must wait.
 */
#include <sys/param.h>

#include <netinet/in.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/closing.h"
#include "http/conn.h"
#include "http/quota.h"
#include "http/text.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats.h"

/* More steps than a full buffer of requests can ask for: a spinning step. */
#define STEPS_MOST	200000

#define TELL_AGAIN	60000	/* ms */

#define MAY(kind)	(1 << WAIT_##kind)

static const struct {
	const char	*name;
	enum go		(*run)(struct conn *);
	unsigned	 waits;		/* MAY() of those that it may ask for */
} steps[] = {
#define RECV		recv_step
#define PARSE		parse_step
#define ROUTE		route_step
#define DISCARD		discard_step
#define ADMIT		admit_step
#define FIND		find_step
#define HEAD		head_step
#define BODY		body_step
#define SEND		send_step
#define FINISH		finish_step
#define LINGER		linger_step
#define CLOSE		close_step
#define STEP(id, name, stage, waits, help) [STEP_##id] = { name, id, waits },
#include "http/step.tbl"
#undef STEP
#undef RECV
#undef PARSE
#undef ROUTE
#undef DISCARD
#undef ADMIT
#undef FIND
#undef HEAD
#undef BODY
#undef SEND
#undef FINISH
#undef LINGER
#undef CLOSE
};

static const struct conn	*running;	/* for a crash's last words */

static const char *
doing(void)
{
	return running != NULL ? steps[running->step].name : NULL;
}

/* The first line of its request, as far as it has come.  It may be anything,
 * and we may be in any state. */
static const char *
for_whom(void)
{
	static char	line[200];
	size_t		n = 0;

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

/* The caches stay: what is found, made and mapped is used once. */
static void
do_without(struct http *http)
{
	const struct conf	*conf = http->conf;

	http->paths.anew = conf_without(conf, SAVING_PATHNAME);
	if (conf_without(conf, SAVING_HEADER))
		cache_off(&http->heads.cache);
	if (conf_without(conf, SAVING_CHUNK))
		cache_off(&http->chunks.cache);
	http->heads.ragged = conf_without(conf, SAVING_ALIGNMENT);
}

struct http *
http_new(const struct http_setup *setup)
{
	const struct conf	*conf = setup->conf;
	struct http		*http = mem_zero(sizeof(*http));

	http->conf = conf;
	http->clock = setup->clock;
	http->disk = setup->disk;
	http->log_room = setup->log_room;
	http->log = setup->log;
	http->log_context = setup->log_context;
	http->mime = mime_new(conf->types);
	http->server = conf->version ? "amped/" PACKAGE_VERSION : "amped";
	http->limits.line = (size_t)conf->limits.line;
	http->limits.head = (size_t)conf->limits.header;
	http->limits.fields = (size_t)conf->limits.fields;
	http->body.body = (uint64_t)conf->limits.body;
	http->body.line = http->limits.line;
	http->body.trailer = http->limits.head;
	http->body.fields = http->limits.fields;
	http->pace.rate = conf->limits.pace;
	http->pace.most = MAX(conf->limits.pace, conf->limits.pace_after);
	chunk_init(&http->chunks, (size_t)conf->cache.chunks,
	    CHUNK_MAPPINGS_MOST);
	if (setup->pagemap > 0)
		http->chunks.pagemap = setup->pagemap;
	http->closing_most = setup->descriptors / CLOSING_PART;
	file_init(&http->files, &http->chunks,
	    setup->descriptors - http->closing_most,
	    (size_t)conf->cache.chunk_size, (size_t)conf->cache.small,
	    conf->cache.residency);
	http->files.give = closing_give;
	http->files.give_context = http;
	http->files.later = setup->later;
	http->files.later_context = setup->later_context;
	header_init(&http->heads, (size_t)conf->cache.heads);
	http->heads.date_text = http->date;
	http->heads.date_len = sizeof(http->date);
	pathname_init(&http->paths, (size_t)conf->cache.paths, &http->heads);
	do_without(http);
	grant_init(&http->grants, (size_t)conf->cache.logins);
	hash_key_random(&http->boundary_key);
	http->addresses = setup->addresses;
	need_doing(doing, for_whom);
	return http;
}

void
http_free(struct http **hp)
{
	struct http	*http = *hp;

	http->files.give = NULL;	/* nobody takes errands any more */
	http->files.later = NULL;
	while (http_tidy(http))
		;
	pathname_free(&http->paths);
	grant_free(&http->grants);
	header_free(&http->heads);
	mime_free(&http->mime);
	buf_free(&http->work);
	free(http->spare);
	free(http->spare_conn);
	mem_drop(hp);
}

bool
http_tidy(struct http *http)
{
	return file_tidy(&http->files);
}

void
http_drain(struct http *http)
{
	http->draining = true;
}

void
http_resume(struct http *http)
{
	http->draining = false;
}

static const struct cache *
cache_of(const struct http *http, enum stats_cache which)
{
	const struct cache *const	caches[STATS_CACHE_COUNT] = {
		[STATS_CACHE_PATHNAME] = &http->paths.cache,
		[STATS_CACHE_HEADER] = &http->heads.cache,
		[STATS_CACHE_CHUNK] = &http->chunks.cache,
		[STATS_CACHE_FILE] = &http->files.cache,
		[STATS_CACHE_GRANT] = &http->grants.cache,
	};

	return caches[which];
}

/* A cache counts by itself: so much less to do for each request. */
void
http_measure(const struct http *http)
{
	const struct cache	*c;

	for (int i = 0; i < STATS_CACHE_COUNT; i++) {
		c = cache_of(http, i);
		stats[STATS_HITS_PATHNAME + i] = c->hits;
		stats[STATS_MISSES_PATHNAME + i] = c->misses;
		stats[STATS_EVICTIONS_PATHNAME + i] = c->evictions;
		stats_gauges[STATS_GAUGE_ENTRIES_PATHNAME + i] =
		    (int64_t)c->entries;
		stats_gauges[STATS_GAUGE_HELD_PATHNAME + i] =
		    (int64_t)c->bytes;
		stats_gauges[STATS_GAUGE_ENTRIES_LIMIT_PATHNAME + i] =
		    (int64_t)c->limit_entries;
		stats_gauges[STATS_GAUGE_HELD_LIMIT_PATHNAME + i] =
		    (int64_t)c->limit_bytes;
	}
	stats[STATS_ABSENT] = http->chunks.absent;
	stats[STATS_GONE] = http->chunks.gone;
	stats_gauges[STATS_GAUGE_ADDRESSES] = http->addresses == NULL ? 0 :
	    (int64_t)address_count(http->addresses);
}

void
http_report(struct http *http, void (*line)(const char *))
{
	char	text[200];

	http_measure(http);
	for (int i = 0; i < STATS_CACHE_COUNT; i++) {
		cache_report(cache_of(http, i), text, sizeof(text));
		line(text);
	}
	for (int i = 0; i < RESIDENT_METHOD_COUNT; i++) {
		snprintf(text, sizeof(text), "residency by %s: %llu files",
		    resident_name(i),
		    (unsigned long long)http->files.methods[i]);
		line(text);
	}
	snprintf(text, sizeof(text), "chunk cache: %llu asked for when not in "
	    "memory, %llu of files that had shrunk",
	    (unsigned long long)http->chunks.absent,
	    (unsigned long long)http->chunks.gone);
	line(text);
	/* What comes behind these, the monitor counts. */
	for (int i = 0; i < STATS_RELOADS; i++) {
		snprintf(text, sizeof(text), "%s: %llu", stats_name(i),
		    (unsigned long long)stats[i]);
		line(text);
	}
}

bool
http_has_room(const struct http *http)
{
	uint64_t	busy = http->compressing + (uint64_t)http->verifying;

	return busy == 0 || busy < (uint64_t)conf_share(http->conf) / 2;
}

bool
http_may_tell(const struct http *http, int64_t *told)
{
	if (*told != 0 && http->clock->ms - *told < TELL_AGAIN)
		return false;
	*told = http->clock->ms;
	return true;
}

/* ::ffff:192.0.2.1 is an IPv4 client of an IPv6 socket. */
static void
set_peer(struct peer *p, const struct sockaddr *from)
{
	const void	*at = from;
	const struct in6_addr *v6 =
			    &((const struct sockaddr_in6 *)at)->sin6_addr;

	p->family = (uint8_t)from->sa_family;
	if (from->sa_family == AF_INET)
		memcpy(p->bytes,
		    &((const struct sockaddr_in *)at)->sin_addr, 4);
	else if (from->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6)) {
		p->family = AF_INET;
		memcpy(p->bytes, v6->s6_addr + 12, 4);
	} else if (from->sa_family == AF_INET6)
		memcpy(p->bytes, v6, 16);
	if (p->family == AF_INET)
		text_keep_peer(p);
}

struct peer *
machine_new(struct http *http, int fd, const struct transport *transport,
    void *transport_context, const struct sockaddr *from, size_t listener)
{
	struct peer	*p = mem_zero(sizeof(*p));

	p->http = http;
	p->transport = transport != NULL ? transport : &transport_plain;
	p->transport_context = transport_context;
	p->fd = fd;
	p->listener = (uint16_t)listener;
	bucket_fill(&p->pace, &http->pace, http->clock->ms);
	set_peer(p, from);
	conn_begin(p);
	/* Most clients have sent their request by now: try it at once. */
	p->conn->readable = true;
	if (http->addresses != NULL)
		quota_enter(p->conn);
	if (p->transport->explain == NULL)
		stats[STATS_CONNECTIONS]++;
	return p;
}

static void
new_second(struct http *http)
{
	http->heads.date = http->clock->wall;
	date_format(http->clock->wall, http->date);
	date_format_log(http->clock->wall, http->date_log);
}

/* Between two requests, with nothing left of the one before. */
static bool
is_idle(const struct conn *c)
{
	return c->step == STEP_RECV && c->request == NULL &&
	    c->input_len == 0 && c->output == NULL;
}

static const struct wait *
wait_of(struct peer *p)
{
	struct conn	*c = p->conn;

	need((steps[c->step].waits & 1U << c->wait.kind) != 0);
	conn_park(c);
	if (!is_idle(c))
		return &c->wait;
	conn_end(p);
	return &c->wait;	/* it is the one that is kept */
}

const struct wait *
machine_run(struct peer *p)
{
	struct conn	*c = p->conn;
	unsigned	left = STEPS_MOST;
	enum go		go;

	if (c->http->heads.date != c->http->clock->wall)
		new_second(c->http);
	c->http->given = 0;
	running = c;
	do {
		need(left-- > 0);
		go = steps[c->step].run(c);
	} while (go == GO_ON);
	running = NULL;
	return go == GO_OVER ? NULL : wait_of(p);
}

void
machine_wake(struct peer *p, enum outcome outcome)
{
	struct conn	*c;

	if (p->conn == NULL)
		conn_begin(p);
	c = p->conn;
	if (c->wait.kind == WAIT_TIME && outcome == OUTCOME_TIMED_OUT)
		outcome = OUTCOME_READY;
	c->outcome = (uint8_t)outcome;
	c->readable = outcome == OUTCOME_READY && c->wait.kind == WAIT_READ;
}

static void
end(struct peer *p)
{
	struct conn	*c = p->conn;

	conn_request_end(c);
	output_drop(conn_output(c));
	mem_drop(&c->output);
	buf_forget(&c->kept);
	conn_end(p);
}

void
machine_free(struct peer **pp)
{
	struct peer	*p = *pp;

	if (p->address != NULL)
		address_leave(p->http->addresses, &p->address,
		    p->http->clock->ms);
	if (p->conn != NULL)
		end(p);
	p->transport->close(p->transport_context, p->fd);
	mem_drop(pp);
}

bool
machine_idle(const struct peer *p)
{
	return p->conn == NULL;
}

const char *
machine_step(const struct peer *p)
{
	return steps[p->conn != NULL ? p->conn->step : STEP_RECV].name;
}
