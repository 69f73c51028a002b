/*
 * words: the words of a line of a scenario.  What is no such word fails.
 */
#ifndef T_SCRIPT_WORDS_H
#define T_SCRIPT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

#define WORDS_MAX		12

/* Cuts a line into its words; returns how many there are. */
size_t	words_split(char *line, char **words);
/* Adds the bytes of a word: "..." with \r \n \t \0 \" \\ \xHH, and *N behind
 * it to repeat. */
void	words_unquote(const char *word, struct buf *);
int64_t	words_time(const char *);		/* ms, of 1.5s or 20ms */
int	words_error(const char *name);		/* an errno */

#endif
