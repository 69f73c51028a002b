/*
 * private: a conf while it is being read.  For the files of this folder only.
 */
#ifndef CONF_PRIVATE_H
#define CONF_PRIVATE_H

#include <sys/types.h>

#include "conf/conf.h"
#include "conf/errors.h"
#include "conf/origin.h"

struct conf_word {
	char			*text;		/* owned */
	bool			 quoted;
	struct conf_pos		 pos;
};

struct conf_source {			/* a file of the conf, or a text */
	char	*text;			/* owned, terminated */
	size_t	 len;
	char	*dir;			/* owned; relative names start here */
	dev_t	 dev;			/* 0 for a text */
	ino_t	 ino;			/* 0 for a text */
};

struct conf_reader {			/* a conf being read */
	struct conf		*conf;
	struct conf_source	*sources;	/* one for each of conf.files */
	struct conf_error	*errors;
	size_t			 nerrors;
	bool			 unwritten;	/* errors quote a word only */
};

/* lexer.c: files into words. */
enum conf_token {
	TOKEN_WORD, TOKEN_OPEN, TOKEN_CLOSE,
	TOKEN_END, TOKEN_EOF		/* END: of a line, or ; */
};

struct conf_lexer {
	struct conf_reader	*reader;
	const char		*text;
	size_t			 len, at;
	size_t			 line_at;	/* start of the line */
	struct conf_pos		 pos;		/* of the token */
};

void		 conf_lexer_start(struct conf_lexer *, struct conf_reader *,
		    size_t file);
/* Fills the word for TOKEN_WORD; the caller frees its text. */
enum conf_token	 conf_lexer_next(struct conf_lexer *, struct conf_word *);

/* source.c: reads a file, and sets its index in sources; false with errno.  A
 * FIFO or device, which may block, is an error unless any_kind. */
bool		 conf_source_read(struct conf_reader *, const char *file,
		    bool any_kind, size_t *number);
/* Adds a terminated text, and takes it over; returns its index. */
size_t		 conf_source_text(struct conf_reader *, const char *name,
		    char *text, size_t len);
/* A word made absolute by the directory of its file; the caller's. */
char		*conf_source_path(const struct conf_reader *,
		    const struct conf_word *);
/* Takes each ".." out of the path of a directory that is there. */
void		 conf_source_straighten(char **path);
void		 conf_source_free(struct conf_reader *);

/* parse.c: a file with its blocks and all files that it includes. */
void		 conf_parse(struct conf_reader *, size_t file);

/* directive.c: a directive and its values; n words of a statement. */
/* Reports a word; true: its block most likely has the words of *likely. */
bool		 conf_directive_unknown(struct conf_reader *,
		    const struct conf_word *, size_t n, bool has_block,
		    enum conf_block inside, enum conf_block *likely);
/* Sets values from n words, the directive's own included. */
void		 conf_directive_apply(struct conf_reader *, struct conf_object,
		    const struct conf_row *, const struct conf_word *,
		    size_t n);

/* value.c: values by their type. */
const char	*conf_value_type(const struct conf_row *, struct buf *);
size_t		 conf_value_words(const struct conf_row *);	/* 0 to 2 */
bool		 conf_value_is_option(const struct conf_row *);
bool		 conf_value_is_list(const struct conf_row *);
size_t		 conf_value_count(const struct conf_row *, const void *);
bool		 conf_value_set(struct conf_reader *, const struct conf_row *,
		    const struct conf_word *, void *member);
void		 conf_value_print(const struct conf_row *, const void *member,
		    size_t element, struct buf *);
void		 conf_value_quote(const char *, struct buf *);
void		 conf_value_free(const struct conf_row *, void *member);
void		 conf_value_default(struct conf_reader *, struct conf_object);

/* names.c: names of sites, paths, response fields and addresses. */
bool		 conf_name_site(struct conf_reader *, const struct conf_word *,
		    struct conf_words *);
char		*conf_name_prefix(struct conf_reader *,
		    const struct conf_word *);
void		 conf_name_add(struct conf_words *, const char *);
/* Adds a pair out of two words. */
void		 conf_name_add_pair(struct conf_pairs *,
		    const struct conf_word *, int64_t number);
void		 conf_name_free(struct conf_words *);

/* check.c: tests that values fit together, and makes the listeners. */
void		 conf_check(struct conf_reader *);

/* errors.c: adds an error, which is printed when all files are read. */
void		 conf_error(struct conf_reader *, struct conf_pos,
		    const char *, ...) __attribute__((__format__(__printf__,
		    3, 4)));
/* Adds what a conf_wrong_fn (setters.h) returns; true: NULL, no error. */
bool		 conf_error_none(struct conf_reader *, const struct conf_word *,
		    const char *wrong);
/* Adds "did you mean" to the last error, unless the word is NULL. */
void		 conf_error_hint(struct conf_reader *, const char *);
void		 conf_error_print(struct conf_reader *, struct buf *);

#endif
