/*
 * address: addresses to listen on, and what stands behind them.
 *
 * A value is an error unless it fits the grammar exactly.  No function asks a
 * name server.
 */
#include <sys/un.h>

#include <arpa/inet.h>

#include <inttypes.h>
#include <netdb.h>
#include <string.h>

#include "conf/foreign.h"
#include "conf/setters.h"
#include "lib/mem.h"
#include "lib/str.h"

#define UNIX_PREFIX	"unix:"
#define UNIX_MODE	0660		/* of a socket, by default */

/* Bytes of the name of a socket. */
#define UNIX_NAME_MAX	(sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

static void
add_address(struct conf_addresses *all, const char *text, const void *addr,
    size_t len)
{
	struct conf_address	*a;

	all->at = mem_grow(all->at, all->n + 1, sizeof(*all->at));
	a = &all->at[all->n++];
	*a = (struct conf_address){
		.len = (socklen_t)len, .text = mem_string(text)
	};
	memcpy(&a->addr, addr, len);
}

/* Adds a socket in the file system, by its absolute name. */
static bool
add_unix(struct conf_reader *reader, const struct conf_word *word,
    struct conf_addresses *all)
{
	struct sockaddr_un	 sun = { .sun_family = AF_UNIX };
	struct conf_word	 name = *word;
	struct buf		 text = { 0 };
	char			*path;
	bool			 good;

	name.text += strlen(UNIX_PREFIX);
	path = conf_source_path(reader, &name);
	good = name.text[0] != '\0' && strlen(path) <= UNIX_NAME_MAX;
	if (good) {
		strcpy(sun.sun_path, path);
		buf_addf(&text, UNIX_PREFIX "%s", path);
		add_address(all, buf_string(&text), &sun, sizeof(sun));
		all->at[all->n - 1].mode = UNIX_MODE;
	} else
		conf_error(reader, word->pos, "\"%s\" cannot be a socket: its "
		    "name has 1 to %zu bytes", word->text, UNIX_NAME_MAX);
	buf_free(&text);
	mem_drop(&path);
	return good;
}

static bool
parse_ipv4(const char *host, in_port_t port, struct sockaddr_in *sin)
{
	*sin = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
	};
	return inet_pton(AF_INET, host, &sin->sin_addr) == 1;
}

/* Uses getaddrinfo(3), which reads scopes as in [fe80::1%eth0]:80. */
static bool
parse_ipv6(const char *host, in_port_t port, struct sockaddr_in6 *sin6)
{
	const struct addrinfo	 hints = {
		.ai_family = AF_INET6, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST,
	};
	struct addrinfo		*info;

	if (getaddrinfo(host, NULL, &hints, &info) != 0)
		return false;
	memcpy(sin6, info->ai_addr, sizeof(*sin6));
	freeaddrinfo(info);
	sin6->sin6_port = htons(port);
	return true;
}

bool
conf_address_parse(const char *host, bool ipv6, in_port_t port,
    struct sockaddr_storage *addr, socklen_t *len)
{
	*len = ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	return ipv6 ? parse_ipv6(host, port, (struct sockaddr_in6 *)addr) :
	    parse_ipv4(host, port, (struct sockaddr_in *)addr);
}

static bool
add_host(struct conf_addresses *all, const char *text, const char *host,
    bool ipv6, in_port_t port)
{
	struct sockaddr_storage	addr;
	socklen_t		len;

	if (!conf_address_parse(host, ipv6, port, &addr, &len))
		return false;
	add_address(all, text, &addr, len);
	return true;
}

/* The addresses that the last word has added: one, or both of "*".  Returns the
 * index of the first. */
static size_t
find_last(const struct conf_addresses *all)
{
	size_t	i = all->n - 1;

	return i > 0 && all->at[i].text[0] == '*' &&
	    strcmp(all->at[i].text, all->at[i - 1].text) == 0 ? i - 1 : i;
}

bool
conf_address_set_proxy(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_addresses	*all = member;

	(void)row;
	if (all->n == 0)
		return false;		/* the address was wrong */
	if (all->at[all->n - 1].proxy) {
		conf_error(reader, word->pos, "\"proxy\" is given twice");
		return false;
	}
	for (size_t i = find_last(all); i < all->n; i++)
		all->at[i].proxy = true;
	return true;
}

/* The address that the option is about, which must be a socket in the file
 * system; NULL: it is none. */
static struct conf_address *
find_unix(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, const struct conf_addresses *all)
{
	if (all->n == 0)
		return NULL;		/* the address was wrong */
	if (all->at[all->n - 1].addr.ss_family == AF_UNIX)
		return &all->at[all->n - 1];
	conf_error(reader, word->pos, "\"%s\" is only for a socket in the file "
	    "system, as unix:/run/amped/http", row->part);
	return NULL;
}

bool
conf_address_set_mode(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_address	*a = find_unix(reader, row, word, member);

	return a != NULL && conf_control_set_mode(reader, row, word, &a->mode);
}

/* Sets owner or group, once. */
static bool
set_name(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, char **name, const char *wrong)
{
	if (!conf_error_none(reader, word, wrong))
		return false;
	if (*name != NULL) {
		conf_error(reader, word->pos, "\"%s\" is given twice",
		    row->part);
		return false;
	}
	*name = mem_string(word->text);
	return true;
}

bool
conf_address_set_owner(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_address	*a = find_unix(reader, row, word, member);

	return a != NULL && set_name(reader, row, word, &a->owner,
	    conf_control_wrong_owner(word->text));
}

bool
conf_address_set_group(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_address	*a = find_unix(reader, row, word, member);

	return a != NULL && set_name(reader, row, word, &a->group,
	    conf_control_wrong_group(word->text));
}

static bool
is_same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
conf_address_is_same(const struct conf_address *a, const struct conf_address *b)
{
	return a->proxy == b->proxy && a->mode == b->mode &&
	    is_same_text(a->owner, b->owner) &&
	    is_same_text(a->group, b->group);
}

void
conf_address_print_options(const struct conf_address *a, struct buf *to)
{
	if (a->proxy)
		buf_adds(to, " proxy");
	if (a->addr.ss_family != AF_UNIX)
		return;
	buf_addf(to, " mode %04" PRIo64, a->mode);
	if (a->owner != NULL)
		buf_addf(to, " owner %s", a->owner);
	if (a->group != NULL)
		buf_addf(to, " group %s", a->group);
}

void
conf_address_free(struct conf_addresses *all)
{
	for (size_t i = 0; i < all->n; i++) {
		mem_drop(&all->at[i].text);
		mem_drop(&all->at[i].owner);
		mem_drop(&all->at[i].group);
	}
	mem_drop(&all->at);
	all->n = 0;
}

/* Reports a port alone, as 8080 or :8080; false: the word is none. */
static bool
error_port_alone(struct conf_reader *reader, const struct conf_word *word)
{
	const char	*port = word->text + (word->text[0] == ':');
	int64_t		 number;

	if (!str_number(str_of(port), &number))
		return false;
	conf_error(reader, word->pos, "\"%s\" has no address: write "
	    "127.0.0.1:%s for this host alone, or *:%s for all", word->text,
	    port, port);
	return true;
}

const char *
conf_address_split(const char *text, char *host, size_t size, int64_t *port)
{
	const char	*colon = strrchr(text, ':');
	size_t		 len;

	if (colon == NULL || colon == text)
		return "no address: write 127.0.0.1:80, or *:80 for all";
	len = (size_t)(colon - text);
	if (text[0] != '[' && memchr(text, ':', len) != NULL)
		return "an IPv6 address stands in brackets: [::1]:80";
	if (!str_number(str_of(colon + 1), port) || *port > 65535)
		return "a port is a number up to 65535";
	if (text[0] == '[') {
		if (text[--len] != ']')
			return "the port follows the bracket: [::1]:80";
		text++;
		len--;
	}
	if (len >= size)
		return "too long for an address";
	memcpy(host, text, len);
	host[len] = '\0';
	return NULL;
}

bool
conf_address_set(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *all)
{
	const char	*text = word->text;
	char		 host[64];
	int64_t		 port;
	bool		 good;

	if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
		return add_unix(reader, word, all);
	if (conf_foreign_error(reader, row->word, word) ||
	    error_port_alone(reader, word) ||
	    !conf_error_none(reader, word, conf_address_split(text, host,
	    sizeof(host), &port)))
		return false;
	if (strcmp(host, "*") == 0)
		good = add_host(all, text, "0.0.0.0", false, (in_port_t)port) &&
		    add_host(all, text, "::", true, (in_port_t)port);
	else
		good = add_host(all, text, host, text[0] == '[',
		    (in_port_t)port);
	if (!good)
		conf_error(reader, word->pos, "\"%s\" is not an address: "
		    "write numbers, or * for all", host);
	return good;
}
