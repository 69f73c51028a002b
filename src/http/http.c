/*
 * http: the world of one loop is made and freed, and says how busy it is.
 */
#include <sys/param.h>

#include <stdatomic.h>
#include <stdlib.h>

#include "http/deferred_close.h"
#include "http/http.h"
#include "http/limits/verification.h"
#include "lib/mem.h"
#include "stats/stats.h"

#define TELL_AGAIN	60000	/* ms */

/* For a loop that shares nothing. */
static struct store *
own_store(const struct http_setup *setup, struct http *http)
{
	const struct store_setup	 own = {
		.conf = setup->conf,
		.descriptors = setup->descriptors,
		.pagemap = setup->pagemap,
		.later = setup->later,
		.later_context = setup->later_context,
	};
	struct store			*store = store_new(&own);

	http->own_store = true;
	store->files.give = closing_give;
	store->files.give_context = http;
	return store;
}

struct http *
http_new(const struct http_setup *setup)
{
	const struct conf	*conf = setup->conf;
	struct http		*http = mem_zero(sizeof(*http));

	http->conf = conf;
	http->turn = 1;			/* in 0 nothing was compared */
	output_init(&http->output);
	http->clock = setup->clock;
	http->disk = setup->disk;
	http->log_room = setup->log_room;
	http->log = setup->log;
	http->log_context = setup->log_context;
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
	http->store = setup->store != NULL ? setup->store :
	    own_store(setup, http);
	/* Of what is switched off to be measured, there must be no other. */
	http->wholes.off = http->store->shared || http->store->heads.ragged ||
	    cache_is_off(&http->store->chunks.cache);
	http->date.text = http->date_text;
	http->date.len = sizeof(http->date_text);
	hash_key_random(&http->boundary_key);
	http->addresses = setup->addresses;
	http->call = setup->call;
	http->call_context = setup->call_context;
	machine_name_in_crash();
	return http;
}

void
http_free(struct http **hp)
{
	struct http	*http = *hp;

	verification_drop(http);
	whole_forget(&http->wholes, &http->store->heads);
	free(http->wholes.room);
	free(http->outputs);
	if (http->own_store)
		store_free(&http->store);
	buf_free(&http->work);
	while (http->nspare > 0)
		free(http->spare[--http->nspare]);
	while (http->nspare_conn > 0)
		free(http->spare_conn[--http->nspare_conn]);
	mem_drop(hp);
}

bool
http_tidy(struct http *http)
{
	return file_tidy(&http->store->files, http);
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

void
http_measure(const struct http *http)
{
	store_measure(http->store);
	stats_gauges[STATS_GAUGE_ADDRESSES] = http->addresses == NULL ? 0 :
	    (int64_t)addresses_count(http->addresses);
}

void
http_report(struct http *http, void (*line)(const char *))
{
	http_measure(http);
	store_report(http->store, line);
}

bool
http_may_tell(const struct http *http, _Atomic int64_t *told)
{
	int64_t	before = atomic_load(told);

	if (before != 0 && http->clock->ms - before < TELL_AGAIN)
		return false;
	return atomic_compare_exchange_strong(told, &before, http->clock->ms);
}
