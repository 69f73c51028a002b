/*
 * visible: makes text from clients and files safe for terminals and logs.
 *
 * The result is valid UTF-8 without control characters; each other byte
 * becomes "?".
 */
#ifndef LIB_VISIBLE_H
#define LIB_VISIBLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Decodes the first character of UTF-8 (RFC 3629).  Returns its length, or 0 if
 * it is invalid.  There must be at least one byte. */
size_t	visible_decode(const char *, size_t, uint32_t *character);
/* The length of the first character, if it may be shown as it is; else 0.
 * There must be at least one byte. */
size_t	visible_character(const char *, size_t);
/* Replaces all unsafe bytes in place, newline and tab included. */
void	visible_line(char *, size_t);
/* Replaces all unsafe bytes in place, but keeps newlines and tabs. */
void	visible_text(char *, size_t);
/* Writes a text; to a terminal, after visible_text(). */
void	visible_print(FILE *, char *, size_t);

#endif
