/*
 * private: what the files of the conf share among themselves: a conf
 * while it is being read.
 */
#ifndef CONF_PRIVATE_H
#define CONF_PRIVATE_H

#include <sys/types.h>

#include "conf/conf.h"
#include "conf/origin.h"

struct conf_word {
	char			*text;		/* owned */
	bool			 quoted;
	struct conf_pos	 pos;
};

struct conf_source {
	char	*text;
	size_t	 len;
	char	*dir;			/* relative names start here */
	dev_t	 dev;			/* both 0 if it is not a file */
	ino_t	 ino;
};

struct conf_reader {			/* a conf being read */
	struct conf		*conf;
	struct conf_source	*sources;	/* as many as conf.files */
	struct conf_error	*errors;
	size_t			 nerrors;
};

/* lexer.c: files into words. */
enum conf_token {
	TOKEN_WORD, TOKEN_OPEN, TOKEN_CLOSE,
	TOKEN_END,			/* of a line, or ; */
	TOKEN_EOF
};

struct conf_lexer {
	struct conf_reader	*reader;
	const char		*text;
	size_t			 len, at;
	size_t			 line_at;	/* where the line begins */
	struct conf_pos	 pos;		/* of the token */
};

void		 conf_lexer_start(struct conf_lexer *, struct conf_reader *,
		    size_t file);
/* The word is filled for TOKEN_WORD; its text is the caller's to drop. */
enum conf_token	 conf_lexer_next(struct conf_lexer *, struct conf_word *);

/* source.c: the files, by number; false with errno.  What is no file, as
 * a pipe, is read only on demand: it may have to be waited for. */
bool		 conf_source_read(struct conf_reader *, const char *file,
		    bool any_kind, size_t *number);
/* The text is terminated, and the source's from then on. */
size_t		 conf_source_text(struct conf_reader *, const char *name,
		    char *text, size_t len);
/* A name as the conf means it, from where it was written; owned. */
char		*conf_source_path(const struct conf_reader *,
		    const struct conf_word *);
void		 conf_source_free(struct conf_reader *);

/* parse.c: a file with all that it includes, and every block. */
void		 conf_parse(struct conf_reader *, size_t file);

/* directive.c: a word and its values. */
const struct conf_row	*conf_directive_find(const char *word,
			    enum conf_block);		/* its first row */
void		 conf_directive_unknown(struct conf_reader *,
		    const struct conf_word *, enum conf_block);
/* The words include the directive's own. */
void		 conf_directive_apply(struct conf_reader *, struct conf_object,
		    const struct conf_row *, const struct conf_word *,
		    size_t n);

/* value.c: values by their type. */
const char	*conf_value_type(const struct conf_row *, struct buf *);
size_t		 conf_value_words(const struct conf_row *);	/* for one */
bool		 conf_value_is_list(const struct conf_row *);
size_t		 conf_value_count(const struct conf_row *, const void *);
bool		 conf_value_set(struct conf_reader *, const struct conf_row *,
		    const struct conf_word *, void *member);
void		 conf_value_print(const struct conf_row *, const void *member,
		    size_t element, struct buf *);
void		 conf_value_quote(const char *, struct buf *);
void		 conf_value_free(const struct conf_row *, void *member);
void		 conf_value_default(struct conf_reader *, struct conf_object);

/* names.c: names and addresses, as text that must be just right. */
bool		 conf_name_site(struct conf_reader *, const struct conf_word *,
		    struct conf_words *);
char		*conf_name_prefix(struct conf_reader *,
		    const struct conf_word *);
bool		 conf_name_field_is_valid(struct conf_reader *,
		    const struct conf_word *);
bool		 conf_name_field(struct conf_reader *, const struct conf_word *,
		    struct conf_pairs *);
bool		 conf_name_address(struct conf_reader *,
		    const struct conf_word *, struct conf_addresses *);
void		 conf_name_add(struct conf_words *, const char *);
void		 conf_name_free(struct conf_words *);

/* check.c: what must hold between values; makes the listeners. */
void		 conf_check(struct conf_reader *);

/* errors.c */
void		 conf_error(struct conf_reader *, struct conf_pos,
		    const char *, ...) __attribute__((__format__(__printf__,
		    3, 4)));
/* The nearer of two words to a mistyped one; NULL while none is near. */
const char	*conf_error_nearer(const char *typed, const char *best,
		    const char *word);
/* To the last error, unless NULL: did you mean ... */
void		 conf_error_hint(struct conf_reader *, const char *);
void		 conf_error_print(struct conf_reader *, struct buf *);

#endif
