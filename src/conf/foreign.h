/*
 * foreign: words of other servers.  For the files of this folder only.
 */
#ifndef CONF_FOREIGN_H
#define CONF_FOREIGN_H

#include "conf/private.h"
#include "conf/table.h"

/* Whether the table has a word that stands behind a directive. */
bool	conf_foreign_find(const char *directive, const char *word);
/* Reports a word of another server that stands behind a directive; false: the
 * table has no such word. */
bool	conf_foreign_error(struct conf_reader *, const char *directive,
	    const struct conf_word *);
/* As conf_foreign_error(), for n words that begin with such a word in place of
 * a directive of the block; all of them choose the advice. */
bool	conf_foreign_statement(struct conf_reader *, enum conf_block,
	    const struct conf_word *, size_t n);
/* As conf_foreign_statement(), for words with a meaning of their own in the
 * block. */
bool	conf_foreign_in_block(struct conf_reader *, enum conf_block,
	    const struct conf_word *, size_t n);
/* Says what to write in a format in place of a variable of nginx; NULL: none is
 * known by that name. */
const char *conf_foreign_field(const char *name, size_t len);
/* Reports an address that begins a site, as in Caddy; false: the word is no
 * address. */
bool	conf_foreign_address(struct conf_reader *, const struct conf_word *);
/* Finds the block whose words are most likely in another server's block that
 * begins with the word; false: its words are none of amped's. */
bool	conf_foreign_block(const char *word, enum conf_block inside,
	    enum conf_block *);

#endif
