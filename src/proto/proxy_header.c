/*
 * proxy_header: reads a header anew whenever there are more bytes; it is short,
 * and mostly arrives at once.
 */
#include <sys/param.h>
#include <sys/socket.h>

#include <arpa/inet.h>

#include <stdbool.h>
#include <string.h>

#include "lib/str.h"
#include "proto/proxy_header.h"

#define TEXT_MAX	107		/* bytes of version 1, with its CRLF */
#define BINARY_SIZE	16		/* bytes of version 2, at least */

/* Bytes of the addresses and ports of version 2. */
#define INET_SIZE	12
#define INET6_SIZE	36
#define UNIX_SIZE	216

static const struct str	text_start = STR("PROXY ");
static const struct str	binary_start = STR("\r\n\r\n\0\r\nQUIT\n");

static enum proxy_header_result
refuse_header(struct proxy_header *h, const char *why)
{
	h->why = why;
	return PROXY_HEADER_WRONG;
}

/* Whether bytes begin with a text, as far as there are any. */
static bool
may_start(const char *at, size_t len, struct str with)
{
	return memcmp(at, with.at, MIN(len, with.len)) == 0;
}

static bool
is_port(struct str s)
{
	int64_t	port;

	return str_number(s, &port) && port <= UINT16_MAX &&
	    (s.len == 1 || s.at[0] != '0');
}

static bool
read_address(struct str s, int family, uint8_t addr[16])
{
	char	text[INET6_ADDRSTRLEN];

	if (s.len == 0 || s.len >= sizeof(text))
		return false;
	memcpy(text, s.at, s.len);
	text[s.len] = '\0';
	return strlen(text) == s.len && inet_pton(family, text, addr) == 1;
}

/* Reads what follows "PROXY ", up to the CRLF. */
static bool
read_words(struct str line, struct proxy_header *h)
{
	struct str	protocol = str_cut(&line, ' ');
	struct str	from, to, port;
	uint8_t		ignored[16];

	if (str_same(protocol, STR("UNKNOWN")))
		return true;
	h->family = str_same(protocol, STR("TCP4")) ? AF_INET : AF_INET6;
	if (h->family == AF_INET6 && !str_same(protocol, STR("TCP6")))
		return false;
	from = str_cut(&line, ' ');
	to = str_cut(&line, ' ');
	port = str_cut(&line, ' ');
	return read_address(from, h->family, h->addr) &&
	    read_address(to, h->family, ignored) &&
	    is_port(port) && is_port(line);
}

static enum proxy_header_result
read_text(const char *at, size_t len, struct proxy_header *h)
{
	const char	*end = memchr(at, '\n', MIN(len, TEXT_MAX));
	struct str	 line;

	if (end == NULL)
		return len < TEXT_MAX ? PROXY_HEADER_MORE :
		    refuse_header(h, "its line is too long");
	line = (struct str){ at, (size_t)(end - at) };
	if (line.len < text_start.len || end[-1] != '\r')
		return refuse_header(h, "its line is not valid");
	h->size = line.len + 1;
	line.len--;
	str_skip(&line, text_start.len);
	return read_words(line, h) ? PROXY_HEADER_DONE :
	    refuse_header(h, "its line is not valid");
}

/* Takes the addresses of version 2: so many bytes. */
static enum proxy_header_result
take_addresses(const uint8_t *at, size_t len, uint8_t kind,
    struct proxy_header *h)
{
	static const struct {
		uint8_t	kind, family, size;	/* size: of both, with ports */
	} kinds[] = {
		{ 0x00, 0, 0 }, { 0x11, AF_INET, INET_SIZE },
		{ 0x21, AF_INET6, INET6_SIZE }, { 0x31, AF_UNIX, UNIX_SIZE }
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].kind != kind)
			continue;
		if (len < kinds[i].size)
			return refuse_header(h, "its addresses are cut off");
		h->family = kinds[i].family;
		if (h->family == AF_INET)
			memcpy(h->addr, at, 4);
		else if (h->family == AF_INET6)
			memcpy(h->addr, at, 16);
		return PROXY_HEADER_DONE;
	}
	return refuse_header(h, "it is not about a TCP connection");
}

static enum proxy_header_result
read_binary(const uint8_t *at, size_t len, struct proxy_header *h)
{
	size_t	rest;

	if (len > 12 && at[12] != 0x20 && at[12] != 0x21)
		return refuse_header(h, "its version or command is unknown");
	if (len < BINARY_SIZE)
		return PROXY_HEADER_MORE;
	rest = (size_t)at[14] << 8 | at[15];
	h->size = BINARY_SIZE + rest;
	if (h->size > PROXY_HEADER_MAX)
		return refuse_header(h, "it is too long");
	if (len < h->size)
		return PROXY_HEADER_MORE;
	/* The command 0, LOCAL: a connection of the proxy's own. */
	return at[12] == 0x20 ? PROXY_HEADER_DONE :
	    take_addresses(at + BINARY_SIZE, rest, at[13], h);
}

enum proxy_header_result
proxy_header_read(const char *at, size_t len, struct proxy_header *h)
{
	*h = (struct proxy_header){ 0 };
	if (len == 0)
		return PROXY_HEADER_MORE;
	if (may_start(at, len, text_start))
		return read_text(at, len, h);
	if (!may_start(at, len, binary_start))
		return refuse_header(h, "there is none");
	return len < binary_start.len ? PROXY_HEADER_MORE :
	    read_binary((const uint8_t *)at, len, h);
}
