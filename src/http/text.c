/*
 * text: addresses and escapes.  It runs for each line of the access log.
 */
#include <arpa/inet.h>

#include <string.h>

#include "http/text.h"

static char *
add_byte(char *to, unsigned byte)
{
	if (byte >= 100)
		*to++ = (char)('0' + byte / 100);
	if (byte >= 10)
		*to++ = (char)('0' + byte / 10 % 10);
	*to++ = (char)('0' + byte % 10);
	return to;
}

char *
text_peer(const struct conn *c, char to[TEXT_PEER_MOST])
{
	const uint8_t	*b = c->peer->bytes;

	*to = '\0';
	if (c->peer->family == AF_INET6 &&
	    inet_ntop(AF_INET6, b, to, TEXT_PEER_MOST) != NULL)
		return to + strlen(to);
	if (c->peer->family != AF_INET)
		*to++ = '-';
	for (int i = 0; c->peer->family == AF_INET && i < 4; i++) {
		if (i > 0)
			*to++ = '.';
		to = add_byte(to, b[i]);
	}
	*to = '\0';
	return to;
}

#define BIT(byte)	((uint64_t)1 << ((byte) & 63))

/* A set of bytes, since nearly all that are looked at are plain: a bit each. */
char *
text_escape(struct str s, const char *also, char *to, char *end)
{
	static const char	hex[] = "0123456789abcdef";
	uint64_t		plain[4] = { ~(BIT(' ') - 1),
				    ~(BIT('\\') | BIT(0x7f)) };
	unsigned char		byte;

	for (; *also != '\0'; also++)
		plain[*also >> 6 & 3] &= ~BIT(*also);
	for (size_t i = 0; i < s.len && end - to >= 4; i++) {
		byte = (unsigned char)s.at[i];
		if ((plain[byte >> 6] & BIT(byte)) != 0) {
			*to++ = (char)byte;
			continue;
		}
		*to++ = '\\';
		*to++ = 'x';
		*to++ = hex[byte >> 4];
		*to++ = hex[byte & 15];
	}
	return to;
}
