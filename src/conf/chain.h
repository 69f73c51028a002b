/*
 * chain: filters that files pass through, and the files that pass through them.
 */
#ifndef CONF_CHAIN_H
#define CONF_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/guard.h"

struct conf;
struct conf_program;
struct conf_rules;

/* The answer when a filter has failed. */
#define CONF_ONFAILS(X)							\
	X(ERROR, "500") X(PASS, "pass")

enum conf_onfail {
#define X(id, name) ONFAIL_##id,
	CONF_ONFAILS(X)
#undef X
	ONFAIL_COUNT
};

/* chain NAME { } */
struct conf_chain {
	char			*name;
	struct conf_words	 filters;	/* names of programs */
	int64_t			 onfail;	/* enum conf_onfail */
	/* Computed. */
	const struct conf_program **list;	/* of the filters, in order */
	size_t			 n;
	size_t			 number;	/* in the list of all */
	struct conf_origin	*origins;	/* private to conf/ */
};

/* A parameter that a query may have. */
struct conf_parameter {
	char			*name;
	int64_t			 lowest, highest;	/* of a number */
	struct conf_words	 words;		/* n is 0: it is a number; else
						 * it is one of these */
};

/* A chain that rules have, for some files. */
struct conf_chain_use {
	const struct conf_chain	*chain;
	const char		*pattern;	/* for fnmatch(3): of a media
						 * type, which has a slash, or
						 * of a name; NULL: each file */
};

/* The chains of rules.  A path without any has those of the path around it, or
 * of its site. */
struct conf_chains {
	struct conf_pairs	 named;		/* pattern or "", name */
	struct conf_pairs	 by;		/* "query", bounds */
	/* Computed. */
	struct conf_chain_use	*list;
	size_t			 n;		/* 0: none */
	struct conf_parameter	*parameters;	/* of queries, in order */
	size_t			 nparameters;	/* 0: no query changes a file */
	const struct conf_rules	*from;		/* the rules that set them */
};

/* The chain of that name; NULL: there is none. */
struct conf_chain *conf_chains_find(const struct conf *, const char *name);
/* The chain that a file passes through, by its name and media type (NULL: none
 * is known); NULL: none. */
const struct conf_chain *conf_chain_of_file(const struct conf_rules *,
		    const char *name, const char *type);

#endif
