/*
 * amped-filter.h: CONTRACT between amped and a module that filters files
 * (amped-filters(7)).
 *
 * A module is a shared object with the symbol amped_filter.  It runs in a
 * process of its own, once for each version of a file, with the limits of the
 * conf; it may block, and a crash costs one file.  The answer of a program is a
 * file as well: what the module has emitted goes on when the program pauses.
 */
#ifndef AMPED_FILTER_H
#define AMPED_FILTER_H

#include <stddef.h>

#define AMPED_FILTER_VERSION	2

struct amped_filter_host {
	/* The words behind the module's file in the conf. */
	int			  n;
	const char *const	 *words;
	/* Adds bytes to the result. */
	void	(*emit)(const void *, size_t);
	/* The result depends on another file, too, by its absolute name: if
	 * that changes, the result is made anew. */
	void	(*depend)(const char *file);
	/* A line for the error log. */
	void	(*log)(const char *line);
	/* CONTENT_TYPE, DOCUMENT_URI, QUERY_STRING ...; "": it is not set. */
	const char *(*variable)(const char *name);
};

struct amped_filter {
	unsigned	 version;	/* AMPED_FILTER_VERSION */
	/* Begins a file; NULL: it cannot be filtered. */
	void		*(*begin)(const struct amped_filter_host *);
	/* The next bytes of the file; other than 0: they are not right. */
	int		 (*feed)(void *, const void *, size_t);
	/* The end of the file: the same; frees. */
	int		 (*end)(void *);
	/* The program that writes the file pauses: emits what is certain by
	 * what has come so far.  NULL: there is never anything to emit. */
	void		 (*flush)(void *);
};

extern const struct amped_filter	amped_filter;

#endif
