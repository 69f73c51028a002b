/*
 * foreign: words of other servers.  For the files of this folder only.
 */
#ifndef CONF_FOREIGN_H
#define CONF_FOREIGN_H

#include "conf/private.h"

/* Whether the table has a word that stands behind a directive, or, with "", as
 * one. */
bool	conf_foreign_find(const char *directive, const char *word);
/* Reports a word of another server that stands as a directive ("") or behind
 * one; false: the table has no such word. */
bool	conf_foreign_error(struct conf_reader *, const char *directive,
	    const struct conf_word *);

#endif
