/*
 * http: makes and frees the context of one loop, and reports on it.
 */
#include <sys/param.h>

#include <stdlib.h>

#include "conf/strategies.h"
#include "http/deferred_close.h"
#include "http/http.h"
#include "http/limits/verification.h"
#include "http/watch/changes.h"
#include "http/watch/passes.h"
#include "http/watch/waypoints.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/stats.h"

/* Makes the caches of a loop that shares none. */
static struct caches *
make_own_caches(const struct http_setup *setup, struct http_loop *http)
{
	const struct caches_setup	 own = {
		.conf = setup->conf,
		.descriptors = setup->descriptors,
		.pagemap = setup->pagemap,
		.notify = setup->notify,
		.watches = setup->watches,
		.schedule_tidy = setup->schedule_tidy,
		.tidy_context = setup->tidy_context,
	};
	struct caches			*caches = caches_new(&own);

	http->owns_caches = true;
	caches->files.close_fd = deferred_close_fd;
	caches->files.close_context = http;
	return caches;
}

struct http_loop *
http_new(const struct http_setup *setup)
{
	const struct conf	*conf = setup->conf;
	struct http_loop	*http = mem_zero(sizeof(*http));

	http->conf = conf;
	http->clock = setup->clock;
	http->disk = setup->disk;
	http->backends = setup->backends;
	http->log.reserve = setup->log_reserve;
	http->log.commit = setup->log_commit;
	http->log.context = setup->log_context;
	if (setup->log_reserve != NULL)
		http->log.only = conf_find_only_log(conf);
	if (conf->log.access.to != NULL)
		http->log.general = conf->log.all.at[0];
	http->server = conf->version ? "amped/" PACKAGE_VERSION : "amped";
	http->parse_limits.line = (size_t)conf->limits.line;
	http->parse_limits.head = (size_t)conf->limits.header;
	http->parse_limits.fields = (size_t)conf->limits.fields;
	http->chunked_limits.body = (uint64_t)conf->limits.body;
	http->chunked_limits.line = http->parse_limits.line;
	http->chunked_limits.trailer = http->parse_limits.head;
	http->chunked_limits.fields = http->parse_limits.fields;
	order_init(&http->order, conf->order == ORDER_BY_SIZE);
	http->shaped = conf->pace.rate != 0 || http->order.by_size;
	http->timed = conf->nterms > 0;
	http->pace.rate = conf->limits.pace;
	http->pace.burst = MAX(conf->limits.pace, conf->limits.pace_after);
	http->caches = setup->caches != NULL ? setup->caches :
	    make_own_caches(setup, http);
	http->date.head.text = http->date.text;
	http->date.head.len = sizeof(http->date.text);
	hash_key_random(&http->boundary.key);
	http->addresses = setup->addresses;
	http->screens = http->addresses != NULL || conf->trust.n > 0;
	http->limiters = setup->limiters;
	need(!http->caches->shared || setup->schedule_verify != NULL);
	http->verify.schedule = setup->schedule_verify;
	http->verify.context = setup->verify_context;
	return http;
}

void
http_free(struct http_loop **hp)
{
	struct http_loop	*http = *hp;

	verification_cancel_all(http);
	if (http->owns_caches)
		caches_free(&http->caches);
	buf_free(&http->work);
	while (http->spare.nrequests > 0)
		free(http->spare.requests[--http->spare.nrequests]);
	while (http->spare.nconns > 0)
		free(http->spare.conns[--http->spare.nconns]);
	mem_drop(hp);
}

bool
http_tidy(struct http_loop *http)
{
	bool	more = passes_tidy(http);

	return file_tidy(&http->caches->files, http) || more;
}

bool
http_read_changes(struct http_loop *http)
{
	return changes_read(http);
}

void
http_drain(struct http_loop *http)
{
	http->draining = true;
}

void
http_resume(struct http_loop *http)
{
	http->draining = false;
}

void
http_send_away(struct http_loop *http, size_t connections)
{
	http->sent_away = connections;
}

bool
http_approach_limits(struct http_loop *http, size_t watches)
{
	waypoints_set_max(http->caches->waypoints, watches);
	return caches_approach_limits(http->caches, http->conf);
}

size_t
http_count_broken_off(const struct http_loop *http)
{
	return http->caches->broken_off;
}

void
http_measure(const struct http_loop *http)
{
	caches_measure(http->caches);
	stats_gauges[STATS_GAUGE_ADDRESSES] = http->addresses == NULL ? 0 :
	    (int64_t)addresses_count(http->addresses);
}

void
http_report(struct http_loop *http, void (*line)(const char *))
{
	http_measure(http);
	caches_report(http->caches, line);
}
