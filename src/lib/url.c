/*
 * url: cuts a URL at its delimiters (RFC 3986).  The caller checks the parts.
 */
#include <string.h>
#include <strings.h>

#include "lib/url.h"

#define PORT_MAX	65535

/* host[:port], where an IPv6 address has colons of its own. */
static const char *
split_authority(struct url *u)
{
	const char	*at = u->authority.at;
	size_t		 len = u->authority.len, n = 0;

	if (memchr(at, '@', len) != NULL)
		return "a user in front of the host is never sent: leave the "
		    "user out";
	if (len > 0 && at[0] == '[')
		while (n < len && at[n] != ']')
			n++;
	while (n < len && at[n] != ':')
		n++;
	u->host = (struct str){ at, n };
	if (n == 0)
		return "the URL has no host";
	if (n == len)
		return NULL;
	if (!str_number((struct str){ at + n + 1, len - n - 1 }, &u->port) ||
	    u->port == 0 || u->port > PORT_MAX)
		return "a port is a number from 1 to 65535";
	return NULL;
}

const char *
url_parse(const char *text, struct url *u)
{
	static const char	scheme[] = "http://";
	const size_t		n = sizeof(scheme) - 1;

	memset(u, 0, sizeof(*u));
	u->port = URL_PORT;
	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return "a space or control byte is written as % and "
			    "two digits";
	if (text[0] != '/') {
		if (strncasecmp(text, "https:", 6) == 0)
			return "amped has no TLS: write http:// and the port "
			    "of a listen, where its proxy connects";
		if (strncasecmp(text, scheme, n) != 0)
			return "a URL begins with http:// or, without a host, "
			    "with /";
		text += n;
		u->authority = (struct str){ text, strcspn(text, "/?#") };
		text += u->authority.len;
	}
	u->target = (struct str){ text, strcspn(text, "#") };
	return u->authority.at != NULL ? split_authority(u) : NULL;
}
