/*
 * server: where the server of a program listens that others have started:
 * unix:FILE or ADDRESS:PORT.
 *
 * Only numbers are addresses: no function asks a name server.
 */
#include <sys/un.h>

#include <string.h>

#include "conf/run.h"
#include "conf/server.h"
#include "lib/str.h"

#define UNIX_PREFIX	"unix:"

static const char *
parse_unix(const char *name, struct sockaddr_un *sun)
{
	if (name[0] != '/')
		return "\"%s\": a socket is named from / on, as "
		    "unix:/run/php/php-fpm.sock";
	if (strlen(name) >= sizeof(sun->sun_path))
		return "\"%s\" is too long for the name of a socket";
	*sun = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(sun->sun_path, name);
	return NULL;
}

/* Returns as a conf_wrong_fn. */
static const char *
parse_server(const char *text, struct sockaddr_storage *addr, socklen_t *len)
{
	char		 host[64];
	const char	*wrong;
	int64_t		 port;

	if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0) {
		*len = sizeof(struct sockaddr_un);
		return parse_unix(text + strlen(UNIX_PREFIX),
		    (struct sockaddr_un *)addr);
	}
	if (strstr(text, "://") != NULL)
		return "\"%s\" is not a server: write unix:FILE, or "
		    "ADDRESS:PORT alone";
	if (str_number(str_of(text + (text[0] == ':')), &port))
		return "\"%s\" has no address: write 127.0.0.1:PORT for this "
		    "host";
	if (text[0] == '/' || strchr(text, ':') == NULL)
		return "\"%s\" is not a server: write unix:FILE or "
		    "ADDRESS:PORT";
	wrong = conf_address_split(text, host, sizeof(host), &port);
	if (wrong != NULL)
		return wrong;
	if (port == 0)
		return "\"%s\": a port is a number from 1 to 65535";
	return conf_address_parse(host, text[0] == '[', (in_port_t)port, addr,
	    len) ? NULL : "\"%s\" is not a server: names of hosts are not "
	    "looked up, so write numbers, as 127.0.0.1:9000";
}

bool
conf_server_parse(const char *text, struct sockaddr_storage *addr,
    socklen_t *len)
{
	return parse_server(text, addr, len) == NULL;
}

const char *
conf_server_wrong(const char *text)
{
	struct sockaddr_storage	addr;
	socklen_t		len;

	return parse_server(text, &addr, &len);
}

const char *
conf_server_wrong_scgi(const char *text)
{
	return text[0] == '/' ? "\"%s\" is a file, and amped starts no "
	    "programs for scgi: write unix:FILE or ADDRESS:PORT of one that "
	    "runs" : conf_server_wrong(text);
}
