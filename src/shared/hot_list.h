/*
 * hot_list: a text with hot names, which a main gives to the next main, and
 * which is kept over restarts.
 *
 * A line is a URL, or a path of the first site, as ampedctl preload takes it,
 * and may have the coding, format or language of a variant behind a space.  The
 * name that was asked for most comes first.  In front of the names, a line that
 * begins with > has the URL of a page and, behind spaces, the paths of files
 * that clients ask for behind it.  A line that begins with # is a comment.  A
 * list is not trusted: main treats a name in it like one that a client sends.
 */
#ifndef SHARED_HOT_LIST_H
#define SHARED_HOT_LIST_H

#include <stdbool.h>

#include "lib/buf.h"
#include "lib/str.h"

#define HOT_LIST_NAMES_MAX	50000
#define HOT_LIST_BYTES_MAX	(4 * 1024 * 1024)
#define HOT_LIST_LINE_MAX	2048	/* bytes, without the newline */
#define HOT_LIST_PAGES_MAX	4096	/* lines with pages ... */
#define HOT_LIST_PAGES_BYTES_MAX (1024 * 1024)	/* ... and their bytes */
/* The last line, which shows that a list is complete. */
#define HOT_LIST_END		"# end\n"

struct hot_name {
	struct str	url;
	struct str	coding;		/* of the variant; empty: none */
	struct str	files;		/* of the page; empty: it is none */
};

enum hot_list_line {
	HOT_LIST_NAME,
	HOT_LIST_PAGE,
	HOT_LIST_COMMENT,
	HOT_LIST_BAD,
	HOT_LIST_NOTHING	/* there is no whole line */
};

/* Takes the next line off the front of a text. */
enum hot_list_line hot_list_next(struct str *text, struct hot_name *);
void	hot_list_add(struct buf *, const struct hot_name *);
/* Whether a file of a page can stand in a list. */
bool	hot_list_has_file(struct str path);
bool	hot_list_is_complete(struct str text);

/*
 * Adds the names of several lists: the first of each, then the second of each,
 * and so on, each line once, as many names, pages and bytes as a list may have.
 * Changes the array.  Returns the number of bad lines.
 */
size_t	hot_list_merge(struct buf *, struct str *lists, size_t n);

#endif
