/*
 * ssi: server-side includes.  Private to helpers/filters/ssi*.c.
 *
 * The directives are those of Apache's mod_include, but that no program is
 * executed.
 */
#ifndef HELPERS_FILTERS_SSI_H
#define HELPERS_FILTERS_SSI_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/buf.h"
#include "lib/str.h"

#define SSI_DEPTH	16	/* files within files, conditions in one */

struct ssi_variable {
	char	*name, *value;		/* owned */
};

/* The part that all files of a page share. */
struct ssi {
	int			 root;		/* directory; -1: there is
						 * none */
	const char		*root_name;	/* absolute */
	struct str		 prefix;	/* of a URL: the root stands
						 * for it */
	struct ssi_variable	*variables;
	size_t			 nvariables;
	time_t			 began;
	time_t			 modified;	/* the page; 0: unknown */
};

/* Adds a text with values in place of $NAME and ${NAME}, and without the
 * backslash in front of a $ or a quote. */
void		 ssi_expression_expand(const struct ssi *, struct str,
		    struct buf *);
/* NULL: it is not set. */
const char	*ssi_expression_get(const struct ssi *, const char *name);
void		 ssi_expression_set(struct ssi *, const char *name,
		    const char *value);
/* Evaluates an expression of "if": 1, 0, or -1: it is none.  If a regular
 * expression matches, sets the variables 0 to 9 to what its groups match. */
int		 ssi_expression_evaluate(struct ssi *,
		    const char *expression);

#endif
