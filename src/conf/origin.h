/*
 * origin: where each value of a conf was set, and the private parts of struct
 * conf.  For the files of this folder only.
 */
#ifndef CONF_ORIGIN_H
#define CONF_ORIGIN_H

#include "conf/conf.h"
#include "conf/table.h"

struct conf_pos {			/* of a word */
	size_t	file;			/* index in conf.files */
	size_t	line;			/* from 1; 0: the file as a whole */
	size_t	column, len;		/* bytes, from 0 */
};

/* The statement that set a value. */
struct conf_origin {
	struct conf_origin	*next;		/* set before this one */
	const struct conf_row	*row;		/* NULL: a block's argument */
	size_t			 element;	/* index in a list, else 0 */
	struct conf_pos		 pos;
	bool			 bad;		/* an error was reported */
	bool			 by_profile;	/* pos is that of the profile */
};

/*
 * The struct that a block fills: a conf_site, conf_path, conf_files or
 * conf_program of its own for a block with arguments, else struct conf.
 */
struct conf_object {
	enum conf_block		  kind;		/* TOP, SITE, ... */
	void			 *at;		/* the struct */
	struct conf_origin	**origins;	/* its member */
};

struct conf_listener {
	const struct conf_address	*address;
	struct conf_pos			 pos;		/* first mention */
	struct conf_named {
		bool			 wild;	/* a wildcard */
		const char		*name;	/* without its star */
		size_t			 len;
		const struct conf_site	*site;
		struct conf_pos		 pos;
	}				*named;		/* sorted for find.c */
	size_t				 nnamed, nwild;
	const struct conf_site		*fallback;	/* for other names */
	bool				 single;	/* only that site */
};

/* The place of the first value of a member of struct conf, by its offset; line
 * 0: no statement has set it. */
struct conf_pos		 conf_pos_top(struct conf *, size_t offset);
/* As strcmp(3): by file, line and column. */
int			 conf_pos_order(const struct conf_pos *,
			    const struct conf_pos *);
struct conf_object	 conf_object(struct conf *);
struct conf_object	 conf_object_site(struct conf_site *);
struct conf_object	 conf_object_path(struct conf_path *);
struct conf_object	 conf_object_files(struct conf_files *);
struct conf_object	 conf_object_program(struct conf_program *);
struct conf_object	 conf_object_chain(struct conf_chain *);
/* Whether a row's member is in this object. */
bool			 conf_object_has(struct conf_object,
			    const struct conf_row *);
/* The row's member, which must be in the object. */
void			*conf_member(struct conf_object,
			    const struct conf_row *);
/* NULL: no statement has set this element. */
struct conf_origin	*conf_origin(struct conf_object,
			    const struct conf_row *, size_t element);
void			 conf_origin_add(struct conf_object,
			    const struct conf_row *, size_t element,
			    struct conf_pos, bool bad);

#endif
