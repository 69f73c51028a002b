/*
 * target: chooses the listener as the network would.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include <string.h>
#include <strings.h>

#include "admin/target.h"

static in_port_t
port_of(const struct conf_address *a)
{
	return a->addr.ss_family == AF_INET6 ?
	    ((const struct sockaddr_in6 *)(const void *)&a->addr)->sin6_port :
	    ((const struct sockaddr_in *)(const void *)&a->addr)->sin_port;
}

static const void *
bytes_of(const struct conf_address *a, size_t *n)
{
	if (a->addr.ss_family == AF_INET6) {
		*n = sizeof(struct in6_addr);
		return &((const struct sockaddr_in6 *)(const void *)&a->addr)->
		    sin6_addr;
	}
	*n = sizeof(struct in_addr);
	return &((const struct sockaddr_in *)(const void *)&a->addr)->sin_addr;
}

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
	static const unsigned char	any[16];
	const struct conf_address	*a = conf_listener(conf, i);
	unsigned char			 bytes[16];
	const void			*own;
	size_t				 n;
	int				 family = parse_literal(u->host, bytes);

	if (ntohs(port_of(a)) != u->port)
		return 0;
	if (family == 0)		/* a name: its address is not known */
		return conf_find_site_name(conf, i, u->host.at, u->host.len) !=
		    NULL ? 2 : 1;
	own = bytes_of(a, &n);
	if (a->addr.ss_family != family)
		return 0;
	return memcmp(own, bytes, n) == 0 ? 2 : memcmp(own, any, n) == 0;
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
	return false;
}

/* Adds a host for a path alone: a name of the first site. */
static void
add_host(struct buf *to, const struct conf *conf)
{
	const struct conf_address	*a = conf_listener(conf, 0);
	const char			*name = conf->sites[0].names.at[0];

	if (strcmp(name, "default") == 0 && a->text[0] != '*') {
		buf_adds(to, a->text);
		return;
	}
	if (strcmp(name, "default") == 0)
		name = "localhost";
	buf_addf(to, "%s%s", name[0] == '*' ? "www" : "",
	    name + (name[0] == '*'));
	if (ntohs(port_of(a)) != URL_PORT)
		buf_addf(to, ":%u", ntohs(port_of(a)));
}

void
target_host(const struct conf *conf, const struct url *u, struct buf *to)
{
	if (u->authority.at != NULL)
		buf_add(to, u->authority.at, u->authority.len);
	else
		add_host(to, conf);
}

const struct conf_site *
target_site(const struct conf *conf, const struct url *u, size_t listener)
{
	struct buf		 text = { 0 };
	struct url		 whole = *u;
	const struct conf_site	*site;

	if (u->authority.at == NULL) {
		buf_adds(&text, "http://");
		add_host(&text, conf);
		if (url_parse(buf_string(&text), &whole) != NULL)
			whole.host.len = 0;
	}
	site = conf_find_site(conf, listener, whole.host.at, whole.host.len);
	buf_free(&text);
	return site;
}

static bool
is_host(const char *field)
{
	return strncasecmp(field, "Host:", 5) == 0;
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
		buf_addf(to, "%s\r\n", fields[i]);
	buf_adds(to, "\r\n");
}
