/*
 * peer: sets the address of a session, by its socket and by the fields of its
 * requests.
 *
 * Any client can send the fields, so those of a peer that is not trusted are
 * not looked at.  Forwarded and X-Forwarded-* together are refused unless the
 * conf says which of them counts: a proxy that sets one passes on the other as
 * the client has written it.
 */
#include <netinet/in.h>

#include <stdlib.h>
#include <string.h>

#include "http/limits/client_limits.h"
#include "http/log/log_escape.h"
#include "http/peer.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "proto/forwarded.h"
#include "stats/stats.h"

/* The proxy's own address, while the session has a client's. */
struct peer_addr {
	uint8_t	family, text_len;
	uint8_t	addr[sizeof(((struct session *)0)->addr)];
};

enum { FORM_FORWARDED = 1, FORM_X_FORWARDED = 2 };

/* By enum conf_trust_fields. */
static const unsigned	accepted_forms[] = {
	[TRUST_FIELDS_ANY] = FORM_FORWARDED | FORM_X_FORWARDED,
	[TRUST_FIELDS_FORWARDED] = FORM_FORWARDED,
	[TRUST_FIELDS_X_FORWARDED] = FORM_X_FORWARDED,
	[TRUST_FIELDS_X_FORWARDED_HOST] = FORM_X_FORWARDED,
	[TRUST_FIELDS_NONE] = 0,
};

/* An IPv4 client of an IPv6 socket has the address ::ffff:192.0.2.1. */
static void
set_addr(struct session *s, int family, const void *bytes)
{
	struct in6_addr	v6;

	if (family == AF_INET6) {
		memcpy(&v6, bytes, sizeof(v6));	/* aligned */
		if (IN6_IS_ADDR_V4MAPPED(&v6)) {
			family = AF_INET;
			bytes = v6.s6_addr + 12;
		}
	}
	s->family = (uint8_t)family;
	if (family == AF_INET) {
		memcpy(s->addr, bytes, 4);
		log_escape_keep_addr(s);
	} else if (family == AF_INET6)
		memcpy(s->addr, bytes, 16);
}

static void
set_sockaddr(struct session *s, const struct sockaddr *from)
{
	const void			*at = from;
	const struct sockaddr_in	*v4 = at;
	const struct sockaddr_in6	*v6 = at;

	if (from->sa_family == AF_INET)
		set_addr(s, AF_INET, &v4->sin_addr);
	else
		set_addr(s, from->sa_family, &v6->sin6_addr);
}

/* Proxies are not limited: each of their clients is. */
static void
count_peer(struct session *s)
{
	struct http_loop	*http = s->http;
	struct peer_addr	*own;

	if (!conf_access_trusts(http->conf, s->family, s->addr)) {
		if (http->addresses != NULL)
			client_limits_connect(s);
		return;
	}
	own = mem_get(sizeof(*own));
	own->family = s->family;
	own->text_len = s->addr_text_len;
	memcpy(own->addr, s->addr, sizeof(own->addr));
	s->proxy = own;
	s->is_proxy = true;
}

/* Whether a connection of a proxy is to begin with a header. */
static bool
expects_header(const struct session *s)
{
	return (s->kind == NULL || s->kind->request_ended == NULL) &&
	    conf_listener(s->http->conf, s->listener)->proxy;
}

static NOINLINE void
screen_peer(struct session *s)
{
	if (!expects_header(s))
		count_peer(s);
	else
		s->opening = conf_access_trusts(s->http->conf, s->family,
		    s->addr) ? OPENING_PROXY : OPENING_STRANGER;
}

void
peer_begin(struct session *s, const struct sockaddr *from)
{
	set_sockaddr(s, from);
	if (s->http->screens)
		screen_peer(s);
}

void
peer_take_header(struct session *s, const struct proxy_header *h)
{
	s->opening = OPENING_NONE;
	if (h->family != 0)
		set_addr(s, h->family, h->addr);
	count_peer(s);
}

enum go
peer_refuse_header(struct conn *c, enum peer_fault fault, const char *why)
{
	static const char *const	clauses[] = {
#define X(id, clause) clause,
		PEER_FAULTS(X)
#undef X
	};
	char				text[LOG_ADDR_MAX];

	stats_count(STATS_HEADERS_REFUSED);
	if (log_is_due(&c->http->caches->header_warned_at[fault],
	    c->http->clock->ms)) {
		log_escape_addr(c->session, text);
		log_notice("a connection of %s to %s has no right header of "
		    "the PROXY protocol: %s; closed it; this line comes once a "
		    "minute at most", text, conf_listener(c->http->conf,
		    c->session->listener)->text, why != NULL ? why :
		    clauses[fault]);
	}
	return conn_go(c, STEP_CLOSE);
}

void
peer_end(struct session *s)
{
	if (s->is_proxy)
		free(s->proxy);
	else if (s->address != NULL)
		addresses_disconnect(s->http->addresses, &s->address,
		    s->http->clock->ms);
}

void
peer_restore(struct session *s)
{
	if (!s->is_proxy)
		return;
	s->family = s->proxy->family;
	s->addr_text_len = s->proxy->text_len;
	memcpy(s->addr, s->proxy->addr, sizeof(s->addr));
}

static bool
trusts_hop(const void *conf, const struct forwarded_hop *hop)
{
	return conf_access_trusts(conf, hop->family, hop->addr);
}

/* Whether X-Forwarded-Host counts.  Many proxies set the other two and pass
 * this one on as a client has written it, who could forge redirects. */
static bool
takes_host(const struct conn *c)
{
	return c->http->conf->trust.fields == TRUST_FIELDS_X_FORWARDED_HOST;
}

static bool
is_x_forwarded(const struct conn *c, struct str name)
{
	return str_same_nocase(name, STR("x-forwarded-for")) ||
	    str_same_nocase(name, STR("x-forwarded-proto")) ||
	    (takes_host(c) && str_same_nocase(name, STR("x-forwarded-host")));
}

/* The form that a field belongs to, if the conf accepts it; 0: none. */
static unsigned
get_form(const struct conn *c, struct str name)
{
	unsigned	form = str_same_nocase(name, STR("forwarded")) ?
			    FORM_FORWARDED :
			    is_x_forwarded(c, name) ? FORM_X_FORWARDED : 0;

	return form & accepted_forms[c->http->conf->trust.fields];
}

/* The n-th element, from 1 on, of a field that is a list; *found: how many of
 * them there are, up to that one. */
static struct str
find_element(const struct conn *c, struct str field, size_t n, size_t *found)
{
	struct str	name, value, element = { NULL, 0 };
	uint32_t	at = 0;

	*found = 0;
	while (*found < n && parse_next_line(&c->request->parse, c->input, &at,
	    &name, &value)) {
		if (!str_same_nocase(name, field))
			continue;
		while (*found < n && forwarded_next(&value, &element))
			++*found;
	}
	return element;
}

/* The element that the proxy has added which added the client's address: it is
 * as far from the end.  A list that is shorter was set anew on the way. */
static struct str
pick_element(const struct conn *c, struct str field, size_t behind)
{
	size_t	n;

	find_element(c, field, SIZE_MAX, &n);
	return find_element(c, field, n > behind ? n - behind + 1 : 1, &n);
}

static void
add_x_forwarded(const struct conn *c, struct forwarded *f)
{
	size_t	behind = f->behind > 0 ? f->behind : 1;

	f->scheme = forwarded_scheme(pick_element(c,
	    STR("x-forwarded-proto"), behind));
	if (takes_host(c))
		f->host = forwarded_host(pick_element(c,
		    STR("x-forwarded-host"), behind));
}

/* Reads what the proxies have said; returns what is wrong with it. */
static enum why
read_fields(const struct conn *c, struct forwarded *f)
{
	struct str	name, value;
	uint32_t	at = 0;
	unsigned	form, forms = 0;
	bool		good = true;

	*f = (struct forwarded){ .trusts = trusts_hop,
	    .context = c->http->conf };
	while (parse_next_line(&c->request->parse, c->input, &at, &name,
	    &value)) {
		form = get_form(c, name);
		forms |= form;
		if (form == FORM_FORWARDED)
			good &= forwarded_add(f, value);
		else if (form != 0 && str_same_nocase(name,
		    STR("x-forwarded-for")))
			good &= forwarded_add_for(f, value);
	}
	if (forms == (FORM_FORWARDED | FORM_X_FORWARDED))
		return WHY_FORWARDED_TWICE;
	if (forms == FORM_X_FORWARDED)
		add_x_forwarded(c, f);
	return good ? WHY_NONE : WHY_FORWARDED;
}

static void
log_twice(const struct conn *c)
{
	char	text[LOG_ADDR_MAX];

	if (!log_is_due(&c->http->caches->forwarded_warned_at,
	    c->http->clock->ms))
		return;
	log_escape_addr(c->session, text);
	log_notice("a request of the proxy %s has both Forwarded and "
	    "X-Forwarded fields, one of which its client may have written: "
	    "such requests get status 400; have the proxy remove one, or say "
	    "which one counts (trust ... fields); this line comes once a "
	    "minute at most", text);
}

enum why
peer_request(struct conn *c)
{
	struct session		*s = c->session;
	struct forwarded	 f;
	enum why		 why;

	if (!s->is_proxy)
		return client_limits_request(c) ? WHY_NONE : WHY_RATE_LIMIT;
	peer_restore(s);
	why = read_fields(c, &f);
	if (why == WHY_FORWARDED_TWICE)
		log_twice(c);
	if (why != WHY_NONE || f.behind == 0)
		return why;
	set_addr(s, f.client.family, f.client.addr);
	return client_limits_request_of_client(c) ? WHY_NONE : WHY_RATE_LIMIT;
}

bool
peer_get_origin(const struct conn *c, struct str *scheme, struct str *host)
{
	struct forwarded	f;

	if (!c->session->is_proxy || read_fields(c, &f) != WHY_NONE ||
	    (f.scheme.at == NULL && f.host.at == NULL))
		return false;
	*scheme = f.scheme.at != NULL ? f.scheme : STR("http");
	*host = f.host.at != NULL ? f.host :
	    parse_str(c->input, c->request->parse.host);
	return host->len > 0;
}
