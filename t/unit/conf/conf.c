/*
 * Unit test of the conf: values, look-ups, included files.
 */
#include <arpa/inet.h>

#include "conf/strategies.h"
#include "lib/facility.h"
#include "lib/log.h"
#include "helpers/job.h"
#include "t/unit/conf/confs.h"

START_TEST(defaults)
{
	struct conf	*conf = good(SITE);

	if (geteuid() == 0)
		ck_assert_str_eq(conf->user, me());
	else
		ck_assert_ptr_null(conf->user);
	ck_assert_str_eq(conf->types, "/etc/mime.types");
	ck_assert_int_eq(conf->architecture, ARCHITECTURE_AMPED);
	ck_assert_int_eq(conf->sandbox, SANDBOX_AUTO);
	ck_assert_int_eq(conf->workers, 1);
	ck_assert_int_eq(conf->version, 0);
	ck_assert_int_eq(conf->helpers, 2);
	ck_assert_int_eq(conf->helpers_max, 32);
	ck_assert_int_eq(conf->helpers_share, 0);
	ck_assert_int_eq(conf->helpers_within, 60000);
	ck_assert_int_eq(conf->helpers_idle, 30000);
	ck_assert_int_eq(conf->profile, PROFILE_OFF);
	ck_assert_int_eq(conf->order, ORDER_BY_ARRIVAL);
	ck_assert_int_eq(conf->spawn, SPAWN_POOL);
	ck_assert_int_eq(conf->io, IO_REACTIVE);
	ck_assert_int_eq(conf->cache.paths, 50000);
	ck_assert_int_eq(conf->cache.revalidate, 1000);
	ck_assert_int_eq(conf->cache.wait, 50);
	ck_assert_int_eq(conf->cache.stale, 60000);
	ck_assert_int_eq(conf->cache.negative, 1000);
	ck_assert_int_eq(conf->cache.heads, 32 << 20);
	ck_assert_int_eq(conf->cache.chunks, 512 << 20);
	ck_assert_int_eq(conf->cache.chunk_size, 64 << 10);
	ck_assert_int_eq(conf->cache.small, 16 << 10);
	ck_assert_int_eq(conf->cache.admit, INT64_MAX);
	ck_assert_int_eq(conf->cache.policy, POLICY_LRU);
	ck_assert_int_eq(conf->cache.hints, HINTS_OFF);
	ck_assert_int_eq(conf->cache.residency, RESIDENCY_AUTO);
	for (int i = 0; i < ABLATION_COUNT; i++)
		ck_assert(!conf_disabled(conf, i));
	ck_assert_int_eq(conf->transport.backlog, 4096);
	ck_assert_int_eq(conf->transport.buffer, 0);
	ck_assert_int_eq(conf->transport.nodelay, 1);
	ck_assert_int_eq(conf->transport.defer, 1000);
	ck_assert_str_eq(conf->log.access.to, "stderr");
	ck_assert_int_eq(conf->log.access.facility, FACILITY_DAEMON);
	ck_assert_str_eq(conf->log.access.tag, "amped");
	ck_assert_str_eq(conf->log.access_format, "combined");
	ck_assert_int_eq(conf->log.names, 0);
	ck_assert_str_eq(conf->log.error.to, "stderr");
	ck_assert_int_eq(conf->log.error_level, LOG_LEVEL_NOTICE);
	ck_assert_int_eq(conf->limits.connections, 0);
	ck_assert_int_eq(conf->limits.connections_address, 0);
	ck_assert_int_eq(conf->limits.rate, 0);
	ck_assert_int_eq(conf->limits.rate_burst, 50);
	ck_assert_int_eq(conf->limits.addresses, 50000);
	ck_assert_int_eq(conf->limits.requests, 0);
	ck_assert_int_eq(conf->limits.line, 8 << 10);
	ck_assert_int_eq(conf->limits.header, 16 << 10);
	ck_assert_int_eq(conf->limits.fields, 100);
	ck_assert_int_eq(conf->limits.body, 1 << 20);
	ck_assert_int_eq(conf->limits.body_within, 30000);
	ck_assert_int_eq(conf->limits.bodies, 64 << 20);
	ck_assert_int_eq(conf->limits.held, 64 << 20);
	ck_assert_ptr_null(conf->cache.results);
	ck_assert_int_eq(conf->cache.results_max, 1 << 30);
	ck_assert_ptr_null(conf->limits.spool);
	ck_assert_int_eq(conf->limits.spool_from, 1 << 20);
	ck_assert_int_eq(conf->limits.spool_max, 1 << 30);
	ck_assert_int_eq(conf->limits.idle, 30000);
	ck_assert_int_eq(conf->limits.verify, 16);
	ck_assert_int_eq(conf->limits.verify_queue, 256);
	ck_assert_int_eq(conf->limits.head, 20000);
	ck_assert_int_eq(conf->limits.gap, 10000);
	ck_assert_int_eq(conf->limits.send, 60000);
	ck_assert_int_eq(conf->limits.pace, 0);
	ck_assert_int_eq(conf->limits.pace_after, 0);
	ck_assert_int_eq(conf->limits.disk, 10000);
	ck_assert_int_eq(conf->limits.linger, 5000);
	ck_assert_int_eq(conf->limits.drain, 30000);
	ck_assert_int_eq(conf->limits.drain_notice, 0);
	ck_assert_uint_eq(conf->nprograms, 0);
	ck_assert_uint_eq(conf->nsites, 1);
	ck_assert_uint_eq(conf->sites[0].rules.run.n, 0);
	ck_assert_uint_eq(conf->sites[0].rules.index.n, 1);
	ck_assert_str_eq(conf->sites[0].rules.index.at[0], "index.html");
	ck_assert_uint_eq(conf->sites[0].rules.header.plain.n, 0);
	ck_assert_str_eq(conf->sites[0].rules.field_lines, "");
	ck_assert_str_eq(conf->sites[0].rules.charset, "utf-8");
	ck_assert_int_eq(conf->sites[0].rules.nosniff, 1);
	ck_assert_int_eq(conf->sites[0].rules.etag, ETAG_VERSION);
	ck_assert_int_eq(conf->limits.digest, 64 << 20);
	ck_assert_int_eq(conf->sites[0].rules.links, JOB_LINKS_BENEATH);
	ck_assert_ptr_null(conf->sites[0].rules.users.directory);
	ck_assert_int_eq(conf->sites[0].rules.users.from, 1000);
	ck_assert_uint_eq(conf->sites[0].rules.try.n, 1);
	ck_assert_str_eq(conf->sites[0].rules.try.at[0], "off");
	ck_assert_ptr_null(conf->sites[0].rules.fallback);
	conf_free(&conf);
	ck_assert_ptr_null(conf);
}
END_TEST

/* Rates are numbered; a path without one counts with its site. */
START_TEST(shaping)
{
	struct conf		*conf;
	const struct conf_site	*s;
	const struct conf_rules	*a, *b, *c;

	conf = good("limits { pace 9K }\nsite x { listen *:80; root /; rate 5\n"
	    "path /a { rate 7 burst 8; pace 1K after 20K }\n"
	    "path /b { pace 0 }\npath /c { rate 0 } }\n"
	    "site y { listen *:80; root /; path /d { rate 3 } }\n");
	s = &conf->sites[0];
	a = conf_find_rules(s, "/a", 2);
	b = conf_find_rules(s, "/b", 2);
	c = conf_find_rules(s, "/c", 2);
	ck_assert_uint_eq(conf->nlimiters, 3);
	ck_assert_uint_eq(b->limiter, s->rules.limiter);
	ck_assert_uint_ne(a->limiter, s->rules.limiter);
	ck_assert_uint_eq(c->limiter, 0);
	ck_assert_uint_eq(conf->sites[1].rules.limiter, 0);
	ck_assert_int_eq(conf->limiters[s->rules.limiter - 1].rate, 5);
	ck_assert_int_eq(conf->limiters[s->rules.limiter - 1].burst, 50);
	ck_assert_int_eq(conf->limiters[a->limiter - 1].burst, 8);
	ck_assert_int_eq(s->rules.pace.rate, 9 << 10);
	ck_assert_int_eq(s->rules.pace.burst, 9 << 10);
	ck_assert_int_eq(a->pace.rate, 1 << 10);
	ck_assert_int_eq(a->pace.burst, 20 << 10);
	ck_assert_int_eq(b->pace.rate, 0);
	ck_assert_int_eq(c->pace.rate, 9 << 10);
	ck_assert_int_eq(conf->pace.burst, 20 << 10);
	conf_free(&conf);
}
END_TEST

/* Times are those of limits, of the site, or the path's own; equal ones of one
 * kind share a term. */
START_TEST(timeouts)
{
	struct conf		*conf;
	const struct conf_site	*s;
	const struct conf_rules	*a, *b;

	conf = good("site x { listen *:80; root /; idle 5s\n"
	    "path /a { idle 7s; send 5s; body within 2s }\n"
	    "path /b { idle 30s; send 1m } }\n"
	    "site y { listen *:80; root /; idle 5s; send 5s }\n"
	    "limits { send 1m }\n");
	s = &conf->sites[0];
	a = conf_find_rules(s, "/a", 2);
	b = conf_find_rules(s, "/b", 2);
	ck_assert_uint_eq(conf->nterms, 4);
	ck_assert_int_eq(s->rules.idle.ms, 5000);
	ck_assert_int_eq(conf->terms[s->rules.idle.term].ms, 5000);
	ck_assert_int_eq(s->rules.send.ms, 60000);
	ck_assert_int_eq(s->rules.send.term, 0);
	ck_assert_int_eq(s->rules.body_within.ms, 30000);
	ck_assert_int_eq(a->idle.ms, 7000);
	ck_assert_int_eq(a->send.ms, 5000);
	ck_assert_int_ne(a->send.term, s->rules.idle.term);
	ck_assert_int_eq(a->body_within.ms, 2000);
	ck_assert_int_eq(b->idle.ms, 30000);
	ck_assert_int_eq(b->idle.term, 0);
	ck_assert_int_eq(b->send.term, 0);
	ck_assert_int_eq(conf->sites[1].rules.idle.term, s->rules.idle.term);
	ck_assert_int_eq(conf->sites[1].rules.send.term, a->send.term);
	conf_free(&conf);
}
END_TEST

START_TEST(too_many_timeouts)
{
	struct buf	text = { 0 }, wrong = { 0 };
	struct conf	*conf;

	buf_adds(&text, "site x { listen *:80; root /\n");
	for (int i = 0; i <= CONF_TERMS_MAX; i++) {
		buf_addf(&text, "path /%d { idle %ds }\n", i, i + 100);
		if (i < CONF_TERMS_MAX)
			continue;
		buf_adds(&text, "}\n");
	}
	conf = conf_read_text("t.conf", buf_string(&text), &wrong);
	ck_assert_ptr_null(conf);
	ck_assert_ptr_nonnull(strstr(buf_string(&wrong), "more than 32 "
	    "different times"));
	buf_free(&text);
	buf_free(&wrong);
}
END_TEST

/* Of two sizes the first must not exceed the second. */
START_TEST(admit)
{
	static const struct {
		const char	*value, *wrong;		/* NULL: right */
	} cases[] = {
		{ "all", NULL },
		{ "16K", NULL },
		{ "8K", "chunks small is 16K by default, more than admit, "
		    "which is 8K" },
		{ "1K", "1K is out of bounds: admit takes 4K to 16384G" },
		{ "off", "\"off\" is neither a size nor all" },
	};
	struct buf	text = { 0 }, wrong = { 0 };
	struct conf	*conf;

	buf_addf(&text, "cache {\nadmit %s\n}\nsite x { listen *:80; root /\n}\n",
	    cases[_i].value);
	conf = conf_read_text("t.conf", buf_string(&text), &wrong);
	ck_assert((conf != NULL) == (cases[_i].wrong == NULL));
	if (conf == NULL)
		ck_assert_ptr_nonnull(strstr(buf_string(&wrong),
		    cases[_i].wrong));
	conf_free(&conf);
	buf_free(&text);
	buf_free(&wrong);
}
END_TEST

START_TEST(values)
{
	struct conf		*conf;
	struct conf_site	*site;
	char			 path[PATH_MAX + 64];

	make_everything();
	conf = good(everything);
	snprintf(path, sizeof(path), "%s/types", dir);
	ck_assert_str_eq(conf->types, path);
	ck_assert_int_eq(conf->architecture, ARCHITECTURE_SPED);
	ck_assert_int_eq(conf->sandbox, SANDBOX_REQUIRED);
	ck_assert_int_eq(conf->version, 1);
	ck_assert_int_eq(conf->profile, PROFILE_DOWNLOADS);
	ck_assert_int_eq(conf->order, ORDER_BY_SIZE);
	ck_assert_int_eq(conf->spawn, SPAWN_REQUEST);
	ck_assert_int_eq(conf->io, IO_SYNCHRONOUS);
	ck_assert_int_eq(conf->helpers, 3);
	ck_assert_int_eq(conf->helpers_max, 9);
	ck_assert_int_eq(conf->helpers_idle, 1500);
	ck_assert_int_eq(conf->cache.paths, 77);
	ck_assert_int_eq(conf->cache.revalidate, 3000);
	ck_assert_int_eq(conf->cache.wait, 1500);
	ck_assert_int_eq(conf->cache.stale, 3600000);
	ck_assert_int_eq(conf->cache.negative, 0);
	ck_assert_int_eq(conf->cache.chunks, (int64_t)2 << 30);
	ck_assert_int_eq(conf->cache.small, 0);
	ck_assert_int_eq(conf->cache.admit, 3 << 20);
	ck_assert_int_eq(conf->cache.policy, POLICY_GDSF);
	ck_assert_uint_eq(conf->cache.keep.n, 2);
	ck_assert_str_eq(conf->cache.keep.at[0], "/logo.svg");
	ck_assert_str_eq(conf->cache.keep.at[1], "/css/*");
	ck_assert_int_eq(conf->cache.hints, HINTS_LEARN);
	ck_assert_int_eq(conf->cache.residency, RESIDENCY_NEVER);
	ck_assert(!conf_disabled(conf, ABLATION_PATHNAME));
	ck_assert(conf_disabled(conf, ABLATION_HEADER));
	ck_assert(conf_disabled(conf, ABLATION_CHUNK));
	ck_assert(!conf_disabled(conf, ABLATION_ALIGNMENT));
	ck_assert_int_eq(conf->transport.backlog, 99);
	ck_assert_int_eq(conf->transport.buffer, 1 << 17);
	ck_assert_int_eq(conf->transport.nodelay, 0);
	ck_assert_int_eq(conf->transport.defer, 1500);
	ck_assert_ptr_null(conf->log.access.to);
	snprintf(path, sizeof(path), "%s/e\\log", dir);
	ck_assert_str_eq(conf->log.error.to, path);
	ck_assert_int_eq(conf->log.error_level, LOG_LEVEL_DEBUG);
	ck_assert_int_eq(conf->limits.line, 1000);
	ck_assert_int_eq(conf->limits.drain, 86400000);
	ck_assert_int_eq(conf->limits.drain_notice, 2000);
	ck_assert_int_eq(conf->limits.gap, 5000);
	ck_assert_int_eq(conf->limits.connections_address, 12);
	ck_assert_int_eq(conf->limits.rate, 34);
	ck_assert_int_eq(conf->limits.rate_burst, 56);
	ck_assert_int_eq(conf->limits.addresses, 78);
	ck_assert_int_eq(conf->limits.pace, 5 << 10);
	ck_assert_int_eq(conf->limits.pace_after, 1 << 20);
	ck_assert_int_eq(conf->limits.listing, 5);
	ck_assert_int_eq(conf->limits.listing_bytes, 8192);
	site = &conf->sites[0];
	ck_assert_str_eq(site->names.at[1], "example.org");
	snprintf(path, sizeof(path), "%s/a \"b\"", dir);
	ck_assert_str_eq(site->rules.root, path);
	ck_assert_uint_eq(site->rules.index.n, 3);
	ck_assert_str_eq(site->rules.index.at[2], "three 3");
	ck_assert_uint_eq(site->rules.try.n, 2);
	ck_assert_str_eq(site->rules.try.at[1], ".htm");
	ck_assert_uint_eq(site->rules.header.plain.n, 2);
	ck_assert_str_eq(site->rules.header.plain.at[0].value, "1, \\ \"one\"");
	ck_assert_str_eq(site->rules.header.plain.at[1].value, "two#2");
	ck_assert_uint_eq(site->listen.n, 4);
	ck_assert_int_eq(site->listen.at[1].addr.ss_family, AF_INET6);
	ck_assert_str_eq(site->listen.at[3].text, "*:81");
	conf_free(&conf);
}
END_TEST

START_TEST(trust)
{
	static const struct {
		const char	*text;
		int		 family;
		bool		 trusted;
	} peers[] = {
		{ "10.1.2.3", AF_INET, true }, { "11.1.2.3", AF_INET, false },
		{ "192.0.2.1", AF_INET, true }, { "192.0.2.2", AF_INET, false },
		{ "2001:db8::7", AF_INET6, true }, { "::1", AF_INET6, false },
	};
	uint8_t		 bytes[16];
	struct conf	*conf;

	conf = good("trust 10.0.0.0/8 2001:db8::/32\n"
	    "trust ::ffff:192.0.2.1\n" SITE);
	ck_assert_int_eq(conf->trust.fields, TRUST_FIELDS_ANY);
	for (size_t i = 0; i < COUNT(peers); i++) {
		inet_pton(peers[i].family, peers[i].text, bytes);
		ck_assert(conf_access_trusts(conf, peers[i].family, bytes) ==
		    peers[i].trusted);
	}
	ck_assert(!conf_access_trusts(conf, 0, bytes));
	conf_free(&conf);
	conf = good("trust fields none 10.0.0.1\n" SITE);
	ck_assert_int_eq(conf->trust.fields, TRUST_FIELDS_NONE);
	ck_assert_uint_eq(conf->trust.n, 1);
	conf_free(&conf);
}
END_TEST

START_TEST(paths)
{
	struct conf			*conf;
	const struct conf_site		*site;
	const struct conf_rules		*a, *ab, *cd, *r;

	make_everything();
	conf = good(everything);
	site = &conf->sites[0];
	ck_assert_uint_eq(site->npaths, 5);
	a = conf_find_rules(site, "/a/x.html", 9);
	ck_assert_uint_eq(a->prefix_len, 2);
	ck_assert_str_eq(a->index.at[0], "sub");
	ck_assert_str_eq(a->field_lines, "X-Three: \r\nX-Four: 4\r\n"
	    "X-Five: five 5\r\nX-Two: two#2\r\n");
	ck_assert_str_eq(site->rules.field_lines, "X-One: 1, \\ \"one\"\r\n"
	    "X-Two: two#2\r\nX-Six: 6\r\n");
	ck_assert_ptr_eq(a->outer, &site->rules);
	ck_assert_ptr_eq(a->action, &site->rules);
	ck_assert_ptr_eq(conf_find_rules(site, "/a", 2), a);
	ab = conf_find_rules(site, "/a/b/", 5);
	ck_assert_str_eq(ab->alias, dir);
	ck_assert_ptr_eq(ab->action, ab);
	ck_assert_uint_eq(ab->prefix_len, 4);
	ck_assert_uint_eq(site->rules.expires.n, 2);
	ck_assert_str_eq(site->rules.expires.at[0].name, "image/*");
	ck_assert_int_eq(site->rules.expires.at[0].number, 30 * 86400);
	ck_assert_uint_eq(a->expires.n, 1);
	ck_assert_int_eq(a->expires.at[0].number, 1);
	ck_assert(a->has_expires && ab->has_expires);
	ck_assert_int_eq(site->rules.nosniff, 0);
	ck_assert_int_eq(a->nosniff, 1);
	ck_assert_int_eq(ab->nosniff, 0);
	ck_assert_int_eq(site->rules.etag, ETAG_CONTENT);
	ck_assert_int_eq(a->etag, ETAG_MODIFIED);
	ck_assert_int_eq(ab->etag, ETAG_CONTENT);
	ck_assert_int_eq(conf->limits.digest, 3072);
	ck_assert_int_eq(site->rules.links, JOB_LINKS_OWNER);
	ck_assert_int_eq(a->links, JOB_LINKS_NONE);
	ck_assert_int_eq(ab->links, JOB_LINKS_OWNER);
	ck_assert_str_eq(site->rules.users.directory, "www/pub");
	ck_assert_int_eq(site->rules.users.from, 500);
	ck_assert_uint_eq(site->rules.users.deny.n, 2);
	ck_assert_str_eq(site->rules.users.deny.at[1], "a.b-c");
	ck_assert_ptr_null(a->users.directory);
	ck_assert_str_eq(ab->charset, "latin1");
	ck_assert_ptr_null(conf_find_rules(site, "/r", 2)->charset);
	ck_assert_ptr_null(ab->fallback);
	ck_assert_uint_eq(ab->errors.n, 4);
	ck_assert_int_eq(ab->errors.at[0].number, 503);
	ck_assert_str_eq(ab->errors.at[0].value, "/b.html");
	ck_assert_str_eq(a->fallback, "/all");
	ck_assert_uint_eq(site->rules.errors.n, 3);
	ck_assert_int_eq(site->rules.errors.at[1].number, 400);
	ck_assert_str_eq(site->rules.errors.at[1].value, "/404.html");
	ck_assert_int_eq(site->rules.errors.at[0].number, 404);
	cd = conf_find_rules(site, "/c d", 4);
	ck_assert_str_eq(cd->root, "/");
	ck_assert_ptr_eq(cd->action, cd);
	ck_assert_uint_eq(cd->index.n, 0);
	r = conf_find_rules(site, "/r", 2);
	ck_assert_int_eq(r->redirect.status, 302);
	ck_assert_str_eq(r->redirect.to, "https://x.org:8/?a=");
	ck_assert_ptr_eq(r->action, r);
	ck_assert_int_eq(conf_find_rules(site, "/r/s/t", 6)->refusal, 410);
	ck_assert_ptr_eq(conf_find_rules(site, "/ab", 3), &site->rules);
	ck_assert_ptr_eq(conf_find_rules(site, "/", 1), &site->rules);
	ck_assert_ptr_eq(conf_find_rules(site, "/a/b", 1), &site->rules);
	conf_free(&conf);
}
END_TEST

/* Field lines of a site, and of a path in it. */
static const struct {
	const char	*site, *path, *lines;
} headers[] = {
	{ "header A 1", "", "A: 1\r\n" },
	{ "", "header A 1; header add B 2; header set C 3",
	    "A: 1\r\nB: 2\r\nC: 3\r\n" },
	{ "header A 1; header add B 2; header set C 3", "header D 4",
	    "D: 4\r\nA: 1\r\nB: 2\r\nC: 3\r\n" },
	{ "header A 1; header A 2; header B 3", "header set a 4",
	    "a: 4\r\nB: 3\r\n" },
	{ "header A 1; header B 2; header set C 3",
	    "header remove A; header remove c", "B: 2\r\n" },
	{ "header A 1", "header remove A", "" },
	{ "header A 1; header B 2", "header remove A remove b; header A 3",
	    "A: 3\r\n" },
	{ "header Ab 1", "header A 2", "A: 2\r\nAb: 1\r\n" },
	{ "header A 1", "header A 2", "A: 2\r\nA: 1\r\n" },
	{ "header A 1", "header set A 2; header set A 3; header A 4",
	    "A: 4\r\nA: 2\r\nA: 3\r\n" },
};

START_TEST(header)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_addf(&text, "site a.org {\nlisten *:80\nroot /\n%s\n"
	    "path /p {\n%s\n}\n}\n", headers[_i].site, headers[_i].path);
	conf = good(buf_string(&text));
	ck_assert_str_eq(conf_find_rules(&conf->sites[0], "/p", 2)->field_lines,
	    headers[_i].lines);
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

/* The inner block has the formats; the hidden names of both add up. */
START_TEST(listings)
{
	struct conf		*conf;
	const struct conf_rules	*site, *a, *b;

	make_everything();
	conf = good(everything);
	site = &conf->sites[0].rules;
	a = conf_find_rules(&conf->sites[0], "/a", 2);
	b = conf_find_rules(&conf->sites[0], "/a/b", 4);
	ck_assert(conf_find_listing(&site->listing, LISTING_HTML));
	ck_assert(conf_find_listing(&site->listing, LISTING_JSON));
	ck_assert(!conf_find_listing(&site->listing, LISTING_OFF));
	ck_assert(!conf_find_listing(&a->listing, LISTING_HTML));
	ck_assert(!conf_find_listing(&a->listing, LISTING_JSON));
	ck_assert(conf_find_listing(&a->listing, LISTING_OFF));
	ck_assert_uint_eq(b->listing.n, 0);
	ck_assert_uint_eq(site->hide.n, 2);
	ck_assert_str_eq(site->hide.at[1], "a b");
	ck_assert_uint_eq(a->hide.n, 1);
	ck_assert_str_eq(a->hide.at[0], "*.o");
	ck_assert_uint_eq(b->hide.n, 0);
	ck_assert_int_eq(conf->limits.listing, 5);
	ck_assert_int_eq(conf->limits.listing_bytes, 8192);
	conf_free(&conf);
	conf = good(SITE);
	site = &conf->sites[0].rules;
	ck_assert(!conf_find_listing(&site->listing, LISTING_HTML));
	ck_assert(!conf_find_listing(&site->listing, LISTING_JSON));
	ck_assert_int_eq(conf->limits.listing, 100000);
	conf_free(&conf);
}
END_TEST

/* As many patterns as a job has room for, the site's and a path's together. */
START_TEST(hide_has_a_limit)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_adds(&text, "site a.org {\nlisten *:80\nroot /\nhide ");
	for (int i = 0; i < 3900; i++)
		buf_addc(&text, '?');
	buf_adds(&text, "\npath /a { hide ");
	for (int i = 0; i < 98; i++)
		buf_addc(&text, '*');
	buf_adds(&text, " }\n}\n");
	conf = good(buf_string(&text));
	ck_assert_uint_eq(conf->sites[0].paths[0].rules.hide.n, 1);
	conf_free(&conf);
	text.len -= 5;
	buf_adds(&text, "* }\n}\n");
	ck_assert_ptr_null(read_conf(buf_string(&text)));
	ck_assert_ptr_nonnull(strstr(buf_string(&errors),
	    "t.conf:6:16: the patterns of hide in force here are 4001 bytes"));
	buf_free(&text);
}
END_TEST

START_TEST(sites)
{
	struct conf	*conf = good(
	    "site first.org { listen *:80 127.0.0.1:81; root / }\n"
	    "site second.org www.second.org { listen *:80; root / }\n"
	    "site default other.org [::1] { listen 0.0.0.0:80; root / }\n"
	    "site alone.org { listen 127.0.0.1:82; root / }\n");
	static const struct {
		size_t		 listener;
		const char	*host;
		size_t		 site;
	} cases[] = {
		{ 0, "first.org", 0 }, { 0, "FIRST.org", 0 },
		{ 0, "second.org", 1 }, { 0, "wWw.SECOND.oRG", 1 },
		{ 0, "second.org.", 1 }, { 0, "other.org", 2 },
		{ 0, "[::1]", 2 }, { 0, "default", 2 },
		{ 0, "unknown.org", 2 }, { 0, "", 2 }, { 0, ".", 2 },
		{ 0, "second.orgy", 2 }, { 0, "second.or", 2 },
		{ 0, NULL, 2 }, { 0, "alone.org", 2 },
		{ 1, "second.org", 1 }, { 1, "other.org", 0 },
		{ 1, NULL, 0 },
		{ 2, "second.org", 0 }, { 2, "first.org", 0 },
		{ 3, "first.org", 3 }, { 3, NULL, 3 },
	};

	ck_assert_uint_eq(conf_listener_count(conf), 4);
	ck_assert_str_eq(conf_listener(conf, 0)->text, "*:80");
	ck_assert_int_eq(conf_listener(conf, 0)->addr.ss_family, AF_INET);
	ck_assert_str_eq(conf_listener(conf, 1)->text, "*:80");
	ck_assert_int_eq(conf_listener(conf, 1)->addr.ss_family, AF_INET6);
	ck_assert_str_eq(conf_listener(conf, 3)->text, "127.0.0.1:82");
	for (int i = 0; i < COUNT(cases); i++) {
		const char	*host = cases[i].host;
		size_t		 len = host == NULL ? 0 : strlen(host);

		ck_assert_msg(conf_find_site(conf, cases[i].listener, host,
		    len) == &conf->sites[cases[i].site],
		    "listener %zu, host %s", cases[i].listener,
		    host == NULL ? "(none)" : host);
	}
	/* Bytes behind len are ignored. */
	ck_assert_ptr_eq(conf_find_site(conf, 0, "second.org:80", 10),
	    &conf->sites[1]);
	conf_free(&conf);
}
END_TEST

/* The exact name, then the longest wildcard, then the default. */
START_TEST(wildcards)
{
	struct conf	*conf = good(
	    "site *.example.org { listen *:80; root / }\n"
	    "site *.b.example.org *.org { listen *:80; root / }\n"
	    "site www.example.org example.org { listen *:80; root / }\n"
	    "site default { listen *:80; root / }\n"
	    "site x.a.net { listen 127.0.0.1:81; root / }\n"
	    "site y.a.net { listen 127.0.0.1:81; root / }\n");
	static const struct {
		size_t		 listener;
		const char	*host;
		size_t		 site;
	} cases[] = {
		{ 0, "www.example.org", 2 }, { 0, "example.org", 2 },
		{ 0, "a.example.org", 0 }, { 0, "A.EXAMPLE.ORG", 0 },
		{ 0, "a.example.org.", 0 }, { 0, "x.www.example.org", 0 },
		{ 0, "b.example.org", 0 }, { 0, "a.b.example.org", 1 },
		{ 0, "z.a.b.example.org", 1 }, { 0, "a.ab.example.org", 0 },
		{ 0, "other.org", 1 }, { 0, "org", 3 }, { 0, ".org", 3 },
		{ 0, ".example.org", 1 }, { 0, "aexample.org", 1 },
		{ 0, "*.example.org", 0 }, { 0, "a.example.net", 3 },
		{ 0, "a.example.orgy", 3 }, { 0, "", 3 }, { 0, NULL, 3 },
		{ 2, "z.a.net", 4 }, { 2, "y.a.net", 5 },
	};

	for (int i = 0; i < COUNT(cases); i++) {
		const char	*host = cases[i].host;
		size_t		 len = host == NULL ? 0 : strlen(host);

		ck_assert_msg(conf_find_site(conf, cases[i].listener, host,
		    len) == &conf->sites[cases[i].site], "host %s",
		    host == NULL ? "(none)" : host);
	}
	conf_free(&conf);
}
END_TEST

START_TEST(bad_user)
{
	if (geteuid() != 0)
		return;		/* for others than root, any name is valid */
	buf_free(&errors);
	ck_assert_ptr_null(conf_read_text("t.conf",
	    "user no_such_user\n" SITE, &errors));
	ck_assert_str_eq(buf_string(&errors),
	    "t.conf:1:6: there is no user \"no_such_user\" to become\n"
	    "    user no_such_user\n"
	    "         ^~~~~~~~~~~~\n");
}
END_TEST

static struct conf *
read_file(const char *name)
{
	char	path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	buf_free(&errors);
	return conf_read(path, &errors);
}

static void
write_main(const char *text)
{
	struct buf	all = { 0 };

	buf_addf(&all, "user %s; %s", me(), text);
	write_file("main.conf", buf_string(&all));
	buf_free(&all);
}

START_TEST(include)
{
	struct conf		*conf;
	static const char *const files[] = {
		"main.conf", "top.conf", "sites [x]/1.conf",
		"sites [x]/fields", "sites [x]/2.conf",
	};

	make_directory("sites [x]");
	make_directory("sites [x]/www");
	write_main("include top.conf; include \"sites [[]x]/*.conf\"\n"
	    "include none/*\n");
	write_file("top.conf", "helpers 7\n");
	write_file("sites [x]/1.conf",
	    "site a.org { listen *:80; root www; include f?e*ds }\n");
	write_file("sites [x]/2.conf", "site b.org { listen *:80; root / }\n");
	write_file("sites [x]/fields", "header A b\nindex c");
	conf = read_file("main.conf");
	ck_assert_msg(conf != NULL, "%s", buf_string(&errors));
	ck_assert_int_eq(conf->helpers, 7);
	ck_assert_uint_eq(conf->nsites, 2);
	ck_assert_str_eq(conf->sites[0].rules.header.plain.at[0].value, "b");
	ck_assert_str_eq(conf->sites[0].rules.root + strlen(dir), "/sites [x]/www");
	ck_assert_uint_eq(conf->files.n, COUNT(files));
	for (int i = 0; i < COUNT(files); i++)
		ck_assert_str_eq(conf->files.at[i] + strlen(dir) + 1, files[i]);
	conf_free(&conf);
}
END_TEST

/* A main file with an include, and the error. */
static void
bad_include(const char *text, const char *want)
{
	write_main(text);
	ck_assert_ptr_null(read_file("main.conf"));
	ck_assert_msg(strstr(buf_string(&errors), want) != NULL, "%s",
	    buf_string(&errors));
}

START_TEST(bad_includes)
{
	char	name[16], text[32];

	bad_include("\n  include none.conf\n",
	    "/main.conf:2:11: ");
	ck_assert_ptr_nonnull(strstr(errors.at,
	    "/none.conf: No such file or directory\n"
	    "    include none.conf\n"
	    "            ^~~~~~~~~\n"));
	bad_include("\ninclude .\n", "/. is a directory, not a file\n");
	write_file("again.conf", "include main.conf\n");
	bad_include("\ninclude a*.conf\n", "/main.conf includes itself\n"
	    "    include main.conf\n"
	    "            ^~~~~~~~~\n");
	write_file("open.conf", "site a.org {\n");
	bad_include("\ninclude open.conf\n}\n",
	    "/open.conf:1:1: block \"site\" is not closed");
	ck_assert_ptr_nonnull(strstr(errors.at,
	    "/main.conf:3:1: \"}\" closes nothing"));
	write_file("twice.conf", "helpers 3\n");
	bad_include("helpers 2\ninclude twice.conf\n",
	    "/twice.conf:1:9: helpers is given twice: first at ");
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "deep%d", i);
		snprintf(text, sizeof(text), "include deep%d\n", i + 1);
		write_file(name, text);
	}
	bad_include("\ninclude deep0\n",
	    "/deep15:1:9: more than 16 files include one another\n");
}
END_TEST

/* A FIFO without a writer. */
START_TEST(fifos)
{
	char	fifo[PATH_MAX + 64];

	snprintf(fifo, sizeof(fifo), "%s/fifo.conf", dir);
	ck_assert_int_eq(mkfifo(fifo, 0644), 0);
	bad_include("\n\tinclude f*.conf\n", "/main.conf:2:10: ");
	ck_assert_ptr_nonnull(strstr(errors.at, "/fifo.conf is a FIFO, "
	    "not a file\n    include f*.conf\n            ^~~~~~~\n"));
	bad_include("\ntypes fifo.conf\n", "/main.conf:2:7: ");
	ck_assert_ptr_nonnull(strstr(errors.at,
	    "/fifo.conf is a FIFO, not a file\n"));
	bad_include("\ninclude /dev/zero\n",
	    "/main.conf:2:9: /dev/zero is a device, not a file\n");
	bad_include("\ninclude /dev/null; x\n", "unknown word \"x\"");
	ck_assert_ptr_null(strstr(errors.at, "null is"));
	/* A reload does not wait for the conf itself either. */
	errors.len = 0;
	ck_assert_ptr_null(conf_read_again(fifo, &errors));
	ck_assert_ptr_nonnull(strstr(buf_string(&errors),
	    "/fifo.conf is a FIFO: a reload reads only files\n"));
}
END_TEST

START_TEST(no_file)
{
	char	want[PATH_MAX + 64];

	ck_assert_ptr_null(read_file("none.conf"));
	snprintf(want, sizeof(want), "%s/none.conf: No such file or "
	    "directory\n", dir);
	ck_assert_str_eq(buf_string(&errors), want);
}
END_TEST

/* Any cut or change of a conf gives a conf or an error. */
START_TEST(mutilated)
{
	static const char	others[] = "\n {}\"\\;#\t\001x/*";
	size_t			len = sizeof(everything) - 1;
	char			text[sizeof(everything)];
	struct conf		*conf;

	make_everything();
	for (size_t i = 0; i < len * 2; i++) {
		memcpy(text, everything, sizeof(text));
		if (i < len)
			text[i] = '\0';
		else
			text[i - len] = others[i % (sizeof(others) - 1)];
		conf = read_conf(text);
		ck_assert_int_eq(conf == NULL, errors.len > 0);
		conf_free(&conf);
	}
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, defaults);
	tcase_add_test(tests, shaping);
	tcase_add_test(tests, timeouts);
	tcase_add_test(tests, too_many_timeouts);
	tcase_add_loop_test(tests, admit, 0, 5);
	tcase_add_test(tests, values);
	tcase_add_test(tests, trust);
	tcase_add_test(tests, paths);
	tcase_add_loop_test(tests, header, 0, COUNT(headers));
	tcase_add_test(tests, listings);
	tcase_add_test(tests, hide_has_a_limit);
	tcase_add_test(tests, sites);
	tcase_add_test(tests, wildcards);
	tcase_add_test(tests, bad_user);
	tcase_add_test(tests, include);
	tcase_add_test(tests, bad_includes);
	tcase_add_test(tests, fifos);
	tcase_add_test(tests, no_file);
	tcase_add_test(tests, mutilated);
}
