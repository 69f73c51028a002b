/*
 * log_escape: writes addresses, numbers and escaped text.  These functions run
 * for each line of the access log.
 */
#include <arpa/inet.h>

#include <string.h>

#include "http/log/log_escape.h"
#include "lib/compiler.h"
#include "lib/swar.h"
#include "lib/visible.h"

#define IPV4		4		/* bytes of an address */
#define IPV4_TEXT	15		/* bytes of its text */

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

void
log_escape_keep_addr(struct session *s)
{
	char	text[IPV4_TEXT + 1], *to = text;

	_Static_assert(sizeof(s->addr) >= IPV4 + IPV4_TEXT, "text fits");
	for (int i = 0; i < IPV4; i++) {
		to = add_byte(to, s->addr[i]);
		*to++ = '.';
	}
	s->addr_text_len = (uint8_t)(to - text - 1);
	memcpy(s->addr + IPV4, text, s->addr_text_len);
}

static NOINLINE char *
write_other_addr(const struct session *s, char to[LOG_ADDR_MAX])
{
	*to = '\0';
	if (s->family == AF_INET6 &&
	    inet_ntop(AF_INET6, s->addr, to, LOG_ADDR_MAX) != NULL)
		return to + strlen(to);
	strcpy(to, s->family == AF_UNIX ? "unix:" : "-");
	return to + strlen(to);
}

char *
log_escape_addr(const struct session *s, char to[LOG_ADDR_MAX])
{
	if (s->family != AF_INET)
		return write_other_addr(s, to);
	memcpy(to, s->addr + IPV4, IPV4_TEXT);
	to += s->addr_text_len;
	*to = '\0';
	return to;
}

/* Writes digits in place: a copy in larger parts than the digits were written
 * in stalls the processor (store forwarding). */
char *
log_escape_number(uint64_t n, char *to)
{
	uint64_t	 least = 10;	/* the least number of a digit more */
	unsigned	 digits = 1;

	for (; n >= least && digits < LOG_NUMBER_MAX; least *= 10)
		digits++;
	for (unsigned i = digits; i-- > 0; n /= 10)
		to[i] = (char)('0' + n % 10);
	return to + digits;
}

#define BIT(byte)	((uint64_t)1 << ((byte) & 63))

/* Copies a word unless a byte of it must be escaped. */
static inline bool
copy_plain_word(const char *at, char *to)
{
	uint64_t	word = swar_load(at);
	uint64_t	marks = swar_nonprint(word) |
			    swar_equal(word, '\\') | swar_equal(word, '"');

	if ((marks & SWAR_MARKS) != 0)
		return false;
	memcpy(to, &word, SWAR_BYTES);
	return true;
}

/* Copies bytes up to the first word with a byte to be escaped; returns their
 * number. */
static size_t
copy_plain_start(struct str s, char *to, const char *end)
{
	size_t	n = 0;

	if (s.len < SWAR_BYTES || (size_t)(end - to) < s.len)
		return 0;
	for (; n + SWAR_BYTES <= s.len; n += SWAR_BYTES)
		if (!copy_plain_word(s.at + n, to + n))
			return n;
	/* The last bytes are copied as a whole word, with bytes before them. */
	return n < s.len && copy_plain_word(s.at + s.len - SWAR_BYTES,
	    to + s.len - SWAR_BYTES) ? s.len : n;
}

static char *
put_escape(unsigned char byte, char *to)
{
	static const char	hex[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'x';
	*to++ = hex[byte >> 4];
	*to++ = hex[byte & 15];
	return to;
}

/* Copies or escapes single bytes. plain has a bit for each ASCII character that
 * needs no escape. */
static COLD char *
escape_bytes(struct str s, bool spaces, char *to, const char *end)
{
	const uint64_t		plain[4] = { ~((BIT(' ') - 1) | BIT('"') |
				    (spaces ? BIT(' ') : 0)),
				    ~(BIT('\\') | BIT(0x7f)) };
	unsigned char		byte;

	for (size_t i = 0; i < s.len && end - to >= 4; i++) {
		byte = (unsigned char)s.at[i];
		if ((plain[byte >> 6] & BIT(byte)) != 0) {
			*to++ = (char)byte;
			continue;
		}
		to = put_escape(byte, to);
	}
	return to;
}

char *
log_escape_text(struct str s, bool spaces, char *to, const char *end)
{
	size_t	n = spaces ? 0 : copy_plain_start(s, to, end);

	if (n == s.len)
		return to + n;
	return escape_bytes((struct str){ s.at + n, s.len - n }, spaces,
	    to + n, end);
}

char *
log_escape_json(struct str s, char *to, const char *end)
{
	size_t	i = copy_plain_start(s, to, end), n;

	to += i;
	for (; i < s.len && end - to >= 5; i += n == 0 ? 1 : n) {
		n = visible_character(s.at + i, s.len - i);
		if (s.at[i] == '"')
			*to++ = '\\';
		if (n == 0 || s.at[i] == '\\') {
			*to++ = '\\';
			to = put_escape((unsigned char)s.at[i], to);
			continue;
		}
		memcpy(to, s.at + i, n);
		to += n;
	}
	return to;
}
