/*
 * origin: who set which value of a conf, and the private parts of a
 * struct conf.  For the files of the conf only.
 */
#ifndef CONF_ORIGIN_H
#define CONF_ORIGIN_H

#include "conf/conf.h"
#include "conf/table.h"

struct conf_pos {			/* where a word stands */
	size_t	file;			/* number in conf.files */
	size_t	line;			/* from 1; 0: nowhere in it */
	size_t	column, len;		/* bytes, from 0 */
};

/* Who set a value.  Row NULL: an argument of the block itself. */
struct conf_origin {
	struct conf_origin	*next;		/* earlier ones */
	const struct conf_row	*row;
	size_t			 element;	/* of a list */
	struct conf_pos	 pos;
	bool			 bad;		/* it was complained of */
};

/*
 * What blocks fill: a struct conf, conf_site, conf_place or conf_files.  A
 * block with arguments has a struct of its own, the others share that of the
 * top.
 */
struct conf_object {
	enum conf_block		  kind;		/* TOP, SITE, PATH, FILES */
	void			 *at;
	struct conf_origin	**origins;
};

struct conf_listener {
	const struct conf_address	*address;
	struct conf_pos		 pos;		/* first mention */
	struct conf_named {
		bool			 wild;	/* *.example.org: the */
		const char		*name;	/* name is .example.org */
		size_t			 len;
		const struct conf_site	*site;
		struct conf_pos	 pos;
	}				*named;		/* sorted */
	size_t				 nnamed, nwild;
	const struct conf_site		*fallback;	/* for other names */
	bool				 single;	/* only that site */
};

int			 conf_pos_order(const struct conf_pos *,
			    const struct conf_pos *);
struct conf_object	 conf_object(struct conf *);
struct conf_object	 conf_object_site(struct conf_site *);
struct conf_object	 conf_object_path(struct conf_path *);
struct conf_object	 conf_object_files(struct conf_files *);
bool			 conf_object_has(struct conf_object,
			    const struct conf_row *);
void			*conf_member(struct conf_object,
			    const struct conf_row *);
struct conf_origin	*conf_origin(struct conf_object,
			    const struct conf_row *, size_t element);
void			 conf_origin_add(struct conf_object,
			    const struct conf_row *, size_t element,
			    struct conf_pos, bool bad);

#endif
