/*
 * target: chooses the listener as the network would.
 */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "admin/target.h"
#include "lib/base64.h"
#include "lib/sockaddr.h"

/* Parses a host that is an address; returns its family, or 0 for a name. */
static int
parse_literal(struct str host, unsigned char bytes[16])
{
	char	text[INET6_ADDRSTRLEN + 2];

	if (host.len == 0 || host.len >= sizeof(text))
		return 0;
	memcpy(text, host.at, host.len);
	text[host.len] = '\0';
	if (text[0] != '[')
		return inet_pton(AF_INET, text, bytes) == 1 ? AF_INET : 0;
	text[host.len - 1] = '\0';
	return inet_pton(AF_INET6, text + 1, bytes) == 1 ? AF_INET6 : 0;
}

/* How well a listener fits the URL; 0: not at all. */
static int
rate_listener(const struct conf *conf, size_t i, const struct url *u)
{
	const struct sockaddr_storage	*a = &conf_listener(conf, i)->addr;
	unsigned char			 bytes[16];
	struct str			 own = sockaddr_bytes(a);
	int				 family = parse_literal(u->host, bytes);

	if (a->ss_family == AF_UNIX)	/* behind a proxy of any port */
		return family == 0 && conf_find_site_name(conf, i, u->host.at,
		    u->host.len) != NULL;
	if (sockaddr_port(a) != u->port)
		return 0;
	if (family == 0)		/* a name: its address is not known */
		return conf_find_site_name(conf, i, u->host.at, u->host.len) !=
		    NULL ? 2 : 1;
	if (a->ss_family != family)
		return 0;
	return memcmp(own.at, bytes, own.len) == 0 ? 2 : sockaddr_is_any(a);
}

bool
target_listener(const struct conf *conf, const struct url *u, size_t *listener,
    struct buf *wrong)
{
	const char	*text;
	int		 best = 0, n;

	*listener = 0;
	if (u->authority.at == NULL)
		return true;
	for (size_t i = 0; i < conf_listener_count(conf); i++) {
		n = rate_listener(conf, i, u);
		if (n > best) {
			best = n;
			*listener = i;
		}
	}
	if (best > 0)
		return true;
	buf_addf(wrong, "no site listens on %.*s, port %lld; there are:",
	    (int)u->host.len, u->host.at, (long long)u->port);
	for (size_t i = 0; i < conf_listener_count(conf); i++) {
		text = conf_listener(conf, i)->text;
		/* "*:80" is two listeners with the same text. */
		if (i == 0 || strcmp(text, conf_listener(conf, i - 1)->text))
			buf_addf(wrong, " %s", text);
	}
	buf_addf(wrong, " (%s)", conf->files.at[0]);
	return false;
}

/* Adds a host of a site, by its first name or its first address. */
static void
add_host(struct buf *to, const struct conf_site *site)
{
	const struct conf_address	*a = &site->listen.at[0];
	const char			*name = site->names.at[0];
	bool				 is_unix = a->addr.ss_family == AF_UNIX;

	if (strcmp(name, "default") == 0 && a->text[0] != '*' && !is_unix) {
		buf_adds(to, a->text);
		return;
	}
	if (strcmp(name, "default") == 0)
		name = "localhost";
	buf_addf(to, "%s%s", name[0] == '*' ? "www" : "",
	    name + (name[0] == '*'));
	if (!is_unix && sockaddr_port(&a->addr) != URL_PORT)
		buf_addf(to, ":%u", sockaddr_port(&a->addr));
}

void
target_host(const struct conf *conf, const struct url *u, struct buf *to)
{
	if (u->authority.at != NULL)
		buf_add(to, u->authority.at, u->authority.len);
	else
		add_host(to, &conf->sites[0]);
}

const struct conf_site *
target_site(const struct conf *conf, const struct url *u, size_t listener)
{
	struct buf		 text = { 0 };
	struct url		 whole = *u;
	const struct conf_site	*site;

	if (u->authority.at == NULL) {
		buf_adds(&text, "http://");
		add_host(&text, &conf->sites[0]);
		if (url_parse(buf_string(&text), &whole) != NULL)
			whole.host.len = 0;
	}
	site = conf_find_site(conf, listener, whole.host.at, whole.host.len);
	buf_free(&text);
	return site;
}

bool
target_add_url(const struct conf *conf, size_t number, struct str host,
    struct str target, struct buf *to)
{
	const struct conf_site		*site = &conf->sites[number];
	const struct conf_address	*a;
	bool				 is_unix;

	if (number >= conf->nsites)
		return false;	/* X-Sendfile: no address */
	a = &site->listen.at[0];
	is_unix = a->addr.ss_family == AF_UNIX;
	if (is_unix && host.len == 0 &&
	    strcmp(site->names.at[0], "default") == 0) {
		buf_add(to, target.at, target.len);
		return number == 0;	/* a path alone leads to it */
	}
	buf_adds(to, "http://");
	buf_add(to, host.at, host.len);
	if (host.len == 0)
		add_host(to, site);
	else if (!is_unix && sockaddr_port(&a->addr) != URL_PORT)
		buf_addf(to, ":%u", sockaddr_port(&a->addr));
	buf_add(to, target.at, target.len);
	return true;
}

static bool
is_host(const char *field)
{
	return strncasecmp(field, "Host:", 5) == 0;
}

const char *
target_user(const char *field)
{
	static const char	word[] = "user=";

	return strncmp(field, word, sizeof(word) - 1) == 0 ?
	    field + sizeof(word) - 1 : NULL;
}

/* Adds a field, or that of a name and a password. */
static void
add_field(const char *field, struct buf *to)
{
	const char	*user = target_user(field);

	if (user == NULL)
		buf_adds(to, field);
	else {
		buf_adds(to, "Authorization: Basic ");
		base64_add(to, str_of(user));
	}
	buf_adds(to, "\r\n");
}

void
target_request(const struct url *u, const char *host, char *const *fields,
    size_t n, struct buf *to)
{
	bool	named = false;

	for (size_t i = 0; i < n; i++)
		named |= is_host(fields[i]);
	buf_addf(to, "GET %s%.*s HTTP/1.1\r\n",
	    u->target.len == 0 || u->target.at[0] != '/' ? "/" : "",
	    (int)u->target.len, u->target.at);
	if (!named)
		buf_addf(to, "Host: %s\r\n", host);
	for (size_t i = 0; i < n; i++)
		add_field(fields[i], to);
	buf_adds(to, "\r\n");
}
