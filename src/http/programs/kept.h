/*
 * kept: what is kept of a program's answer when a file, or another path, is
 * sent in place of its body.
 */
#ifndef HTTP_PROGRAMS_KEPT_H
#define HTTP_PROGRAMS_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "http/conn.h"
#include "lib/buf.h"
#include "lib/compiler.h"
#include "proto/conditional.h"

/* Of parse.present, beside OTHER_BIT: the request has a struct kept. */
#define KEPT_BIT	(1U << 30)

struct kept {
	struct buf	 lines;		/* fields, as sent */
	struct buf	 reason;	/* of the status */
	struct buf	 type;		/* kept_type()'s */
	uint16_t	 status;	/* 0: what conditions and ranges make */
	bool		 unconditional;	/* without these: the program has done
					 * more than to read */
	char		*file;		/* the path of a file in the site of
					 * conf/sendfile.c; NULL: of the
					 * request's own site */
	const struct conf_program *program;
};

/* Makes the struct kept of a request out of its program's answer, and of what
 * was kept of an answer before.  is_file: for a file, which has all fields and
 * the status of the answer; another path has few of the fields. */
COLD struct kept *kept_new(const struct conn *, bool is_file);
COLD void	kept_free(struct kept **);
/* Sets KEPT_BIT, if the request has a struct kept. */
COLD void	kept_note(struct request *);
/* Returns the struct kept of a request with KEPT_BIT. */
COLD struct kept *kept_of(const struct request *);
/* Whether the path of the request is the file. */
COLD bool	kept_is_path(const struct request *);
/* The media type that the program has named, for as long as that is kept; NULL:
 * none. */
COLD const char	*kept_type(struct kept *);
/* Has the program's fields stand in for the file's. */
COLD void	kept_select(const struct kept *, struct cond_selected *,
		    struct cond_request *);
/* Replaces fields of a head that is to be ended, in http->work. */
COLD void	kept_replace_fields(struct conn *, int status);
/* Adds the fields that such a head, of another program's answer, lacks. */
COLD void	kept_add_fields(struct conn *);

#endif
