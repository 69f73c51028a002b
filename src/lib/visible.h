/*
 * visible: text of strangers, fit for a terminal and for whoever reads a log:
 * valid UTF-8, without a byte that a terminal obeys.  All else becomes ?, a
 * byte for a byte.
 */
#ifndef LIB_VISIBLE_H
#define LIB_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the character at the front, if it may be shown as it is; else 0.
 * There is at least one byte. */
size_t	visible_character(const char *, size_t);
/* In its place; no control byte stays. */
void	visible_line(char *, size_t);
/* The same, but for ends of lines and tabs. */
void	visible_text(char *, size_t);
/* Writes a text: if that goes to a terminal, what it would obey is left out. */
void	visible_print(FILE *, const char *, size_t);

#endif
