/*
 * records: records of FastCGI, whose ids are changed under way, and bodies.
 */
#ifndef T_UNIT_LOOP_RECORDS_H
#define T_UNIT_LOOP_RECORDS_H

#include <sys/mman.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "proto/fastcgi.h"
#include "t/unit/unit.h"

#define NO_STDIN	"\1\5\0\1\0\0\0\0"
#define OUT(len, text)	"\1\6\0\1\0" len "\0\0" text
#define ERR(len, text)	"\1\7\0\1\0" len "\0\0" text
/* With the application's status, and the protocol's. */
#define END(app, proto)	"\1\3\0\1\0\10\0\0" "\0\0\0" app proto "\0\0\0"

struct stream {				/* zero at its begin */
	uint8_t		 header[FASTCGI_HEADER];
	size_t		 nheader, left;
};

static inline void
stream_change_byte(struct stream *s, char *byte, uint16_t from, uint16_t to)
{
	const bool	is_first = s->nheader == 2;
	uint8_t		value = (uint8_t)*byte;

	if (s->nheader == FASTCGI_HEADER) {
		s->left--;
	} else {
		s->header[s->nheader++] = value;
		if ((is_first && value == from >> 8) ||
		    (s->nheader == 4 && value == (from & 0xff)))
			*byte = (char)(is_first ? to >> 8 : to & 0xff);
		s->left = (size_t)s->header[4] << 8 | s->header[5];
		s->left += s->header[6];
	}
	if (s->nheader == FASTCGI_HEADER && s->left == 0)
		s->nheader = 0;
}

/* Gives records the id `to` in place of `from`. */
static inline void
stream_change(struct stream *s, char *at, size_t len, uint16_t from,
    uint16_t to)
{
	for (size_t i = 0; i < len; i++)
		stream_change_byte(s, at + i, from, to);
}

/* A body whose first byte is at an offset, as the first is another file's. */
static inline int
body_make(size_t size)
{
	char	byte;
	int	body = memfd_create("body", MFD_CLOEXEC);

	ck_assert_int_ne(body, -1);
	for (size_t i = 0; i <= size; i++) {
		byte = (char)(i * 31 + i / 251);
		if (i % 4096 == 0 || size < 4096 || i == size)
			ck_assert_int_eq(pwrite(body, &byte, 1,
			    (off_t)i), 1);
	}
	ck_assert_int_eq(lseek(body, 1, SEEK_SET), 1);
	return body;
}

static inline char
body_get_byte(size_t size, size_t i)
{
	i++;
	return i % 4096 == 0 || size < 4096 || i == size ?
	    (char)(i * 31 + i / 251) : '\0';
}

#endif
