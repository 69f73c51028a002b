/*
 * chunked: the framing of a body in chunks.
 *
 * A state machine that takes one byte at a time, but for the data of chunks: so
 * its decisions depend on the bytes alone, never on the portions.
 *
 * The content of extensions and trailers is ignored, but must be made of valid
 * bytes: no line may end in the middle of one.
 */
#include <sys/param.h>

#include "lib/need.h"
#include "proto/char_class.h"
#include "proto/chunked.h"

enum {
	STATE_FIRST,			/* the first digit of a size */
	STATE_SIZE,			/* further digits */
	STATE_BLANK,			/* blanks before a semicolon */
	STATE_EXTENSION,
	STATE_QUOTED,			/* in a quoted string of an extension */
	STATE_ESCAPED,			/* behind a backslash in a string */
	STATE_SIZE_LF,
	STATE_DATA,
	STATE_DATA_CR,
	STATE_DATA_LF,
	STATE_TRAILER,			/* the start of a line of the trailer */
	STATE_NAME,
	STATE_VALUE,
	STATE_VALUE_LF,
	STATE_LAST_LF,
	STATE_DONE,
	STATE_REFUSED
};

static void
refuse_body(struct chunked *c, uint16_t status, const char *why)
{
	c->state = STATE_REFUSED;
	c->status = status;
	c->why = why;
}

/* Goes on if a byte is the only valid one, else refuses. */
static void
expect_byte(struct chunked *c, char byte, char want, uint8_t next)
{
	if (byte != want)
		refuse_body(c, 400, "chunk is not followed by CRLF");
	else
		c->state = next;
}

static void
add_digit(struct chunked *c, const struct chunked_limits *limits, int value)
{
	c->state = STATE_SIZE;
	c->chunk_left = c->chunk_left * 16 + (unsigned)value;
	if (c->chunk_left > limits->body)	/* no overflow */
		refuse_body(c, 413, "chunk is larger than the limit of a body");
}

static void
read_size(struct chunked *c, const struct chunked_limits *limits, char byte)
{
	int	value = char_class_hex(byte);

	if (c->state != STATE_BLANK && value != -1)
		add_digit(c, limits, value);
	else if (c->state == STATE_FIRST)
		refuse_body(c, 400, "chunk without a size");
	else if (byte == ';')
		c->state = STATE_EXTENSION;
	else if (byte == ' ' || byte == '\t')
		c->state = STATE_BLANK;
	else if (byte == '\r' && c->state == STATE_SIZE)
		c->state = STATE_SIZE_LF;
	else
		refuse_body(c, 400, "size of a chunk is not valid");
}

/* The size line is complete.  The chunk of size 0 is the last. */
static void
begin_chunk(struct chunked *c, const struct chunked_limits *limits)
{
	c->line_len = 0;
	if (c->chunk_left > limits->body - c->total) {
		refuse_body(c, 413, "body is too large");
		return;
	}
	c->total += c->chunk_left;
	c->state = c->chunk_left > 0 ? STATE_DATA : STATE_TRAILER;
}

/* A proxy in front must not see the line end elsewhere: so a quoted string that
 * does not end on its line is refused. */
static void
read_extension(struct chunked *c, char byte)
{
	if (byte == '\r' && c->state == STATE_EXTENSION)
		c->state = STATE_SIZE_LF;
	else if (!char_class_is(byte, CHAR_CLASS_VALUE))
		refuse_body(c, 400, "chunk extension with a control byte");
	else if (c->state == STATE_ESCAPED)
		c->state = STATE_QUOTED;
	else if (byte == '"')
		c->state = c->state == STATE_QUOTED ? STATE_EXTENSION :
		    STATE_QUOTED;
	else if (byte == '\\' && c->state == STATE_QUOTED)
		c->state = STATE_ESCAPED;
}

static void
read_trailer(struct chunked *c, const struct chunked_limits *limits, char byte)
{
	bool	token = char_class_is(byte, CHAR_CLASS_TOKEN);

	if (c->state == STATE_TRAILER && byte == '\r')
		c->state = STATE_LAST_LF;
	else if (c->state == STATE_TRAILER && c->nfields++ == limits->fields)
		refuse_body(c, 431, "too many fields in a trailer");
	else if (c->state == STATE_NAME && byte == ':')
		c->state = STATE_VALUE;
	else if (token)
		c->state = STATE_NAME;
	else
		refuse_body(c, 400, "trailer line without a name and a colon");
}

static void
read_trailer_value(struct chunked *c, char byte)
{
	if (byte == '\r')
		c->state = STATE_VALUE_LF;
	else if (!char_class_is(byte, CHAR_CLASS_VALUE))
		refuse_body(c, 400, "trailer with a control byte");
}

/* Takes one byte of the framing. */
static void
read_byte(struct chunked *c, const struct chunked_limits *limits, char byte)
{
	switch (c->state) {
	case STATE_FIRST:
	case STATE_SIZE:
	case STATE_BLANK:
		read_size(c, limits, byte);
		break;
	case STATE_EXTENSION:
	case STATE_QUOTED:
	case STATE_ESCAPED:
		read_extension(c, byte);
		break;
	case STATE_SIZE_LF:
		expect_byte(c, byte, '\n', STATE_SIZE_LF);
		if (c->state == STATE_SIZE_LF)
			begin_chunk(c, limits);
		break;
	case STATE_DATA_CR:
		expect_byte(c, byte, '\r', STATE_DATA_LF);
		break;
	case STATE_DATA_LF:
		expect_byte(c, byte, '\n', STATE_FIRST);
		break;
	case STATE_TRAILER:
	case STATE_NAME:
		read_trailer(c, limits, byte);
		break;
	case STATE_VALUE:
		read_trailer_value(c, byte);
		break;
	case STATE_VALUE_LF:
		expect_byte(c, byte, '\n', STATE_TRAILER);
		break;
	default:
		expect_byte(c, byte, '\n', STATE_DONE);
		break;
	}
}

/* Checks the limits for a byte of the framing, then takes it. */
static void
read_framing(struct chunked *c, const struct chunked_limits *limits, char byte)
{
	if (c->total++ >= limits->body)
		refuse_body(c, 413, "body is too large");
	else if (c->state < STATE_DATA && c->line_len++ >= limits->line)
		refuse_body(c, 400, "size line of a chunk is too long");
	else if (c->state >= STATE_TRAILER && c->line_len++ >= limits->trailer)
		refuse_body(c, 431, "trailer is too long");
	else
		read_byte(c, limits, byte);
}

/* Takes data of the chunk; returns how many of the bytes are its own. */
static size_t
take_data(struct chunked *c, const char *bytes, size_t len, struct buf *data)
{
	size_t	n = (size_t)MIN(len, c->chunk_left);

	if (data != NULL)
		buf_add(data, bytes, n);
	c->chunk_left -= n;
	if (c->chunk_left == 0)
		c->state = STATE_DATA_CR;
	return n;
}

enum chunked_result
chunked_take(struct chunked *c, const struct chunked_limits *limits,
    const char *bytes, size_t len, size_t *used, struct buf *data)
{
	size_t	n = 0;

	need(limits->body < UINT64_MAX / 16);
	while (n < len && c->state < STATE_DONE) {
		if (c->state == STATE_DATA)
			n += take_data(c, bytes + n, len - n, data);
		else
			read_framing(c, limits, bytes[n++]);
	}
	*used = n;
	return c->state == STATE_DONE ? CHUNKED_DONE :
	    c->state == STATE_REFUSED ? CHUNKED_REFUSED : CHUNKED_MORE;
}

enum chunked_result
chunked_feed(struct chunked *c, const struct chunked_limits *limits,
    const char *bytes, size_t len, size_t *used)
{
	return chunked_take(c, limits, bytes, len, used, NULL);
}
