/*
 * rules: the directives that a site and its blocks path have in common, and
 * that decide how a request is answered.
 */
#ifndef CONF_RULES_H
#define CONF_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/chain.h"
#include "conf/guard.h"
#include "conf/log_format.h"
#include "conf/program.h"
#include "conf/variants.h"
#include "lib/token_bucket.h"

/* Lengths of timeouts that sites and paths have beside those of limits. */
#define CONF_TERMS_MAX	32

struct conf_timeout {
	int64_t	 ms;
	uint8_t	 term;			/* index in conf.terms; 0: as limits */
};

/* Bytes of all patterns of hide that apply to a path, with terminators. */
#define CONF_HIDE_MAX	4000

#define CONF_ERROR_ALL	0	/* status of "error *" */

/* Fields of responses with files of some names. */
struct conf_file_fields {
	struct conf_pairs	 plain, set;	/* header */
	char			*type;		/* media type; NULL: as else */
	int64_t			 expires;	/* ms */
	/* Computed from the members above. */
	uint16_t		 bit;		/* of this block in its site; 0:
						 * there are no such fields */
	bool			 has_expires;
	char			*lines;		/* response fields, as sent */
};

struct conf_users {			/* /~name/ */
	char			*directory;	/* in their homes; NULL: off */
	struct conf_words	 deny;		/* names */
	int64_t			 from;		/* uid */
};

struct conf_rules {
	/* The action: one of these, or none in a path, which has the site's. */
	char			*root, *alias;	/* absolute */
	bool			 by_host;	/* root has one for each host */
	struct {
		int64_t		 status;
		char		*to;
	}			 redirect;
	int64_t			 refusal;	/* "return": a status; 0: no */
	int64_t			 status;	/* a switch: the status page */
	int64_t			 ready;		/* a switch: see find.c */
	char			*fallback;	/* NULL: off */
	struct conf_words	 index;
	struct conf_words	 try;		/* "off", or suffixes */
	struct conf_pairs	 errors;	/* status or class, path */
	struct {
		struct conf_pairs plain, add, set;
		struct conf_words remove;
	}			 header;
	struct conf_pairs	 expires;	/* type or pattern, time */
	char			*charset;	/* NULL: off */
	struct conf_pairs	 charsets;	/* type or pattern, charset */
	int64_t			 nosniff;	/* a switch, 0 or 1 */
	int64_t			 etag;		/* enum conf_etag */
	struct conf_words	 listing;	/* "off", or "html", "json" */
	struct conf_words	 hide;		/* patterns for fnmatch */
	struct conf_words	 precompressed;	/* "off", or codings */
	struct conf_words	 formats;	/* "off", or names of formats */
	struct conf_languages	 languages;
	struct conf_words	 compress;	/* "off", "on" or codings */
	struct conf_words	 compressible;	/* types and patterns */
	struct conf_chains	 chains;	/* filters of files */
	struct conf_guard	 guard;
	struct token_bucket_size rate, pace;	/* rate 0: no limit */
	struct conf_timeout	 body_within, idle, send;
	struct {
		struct conf_pairs named;	/* run: pattern or "", name */
		char		*cgi;		/* directory */
		int64_t		 body;		/* bytes of a request */
		/* Computed.  A path without run and cgi has those of the block
		 * path around it, or of its site; so with body. */
		struct conf_run	*list;
		size_t		 n;		/* 0: no programs */
		const struct conf_rules *from;	/* has set them: its prefix
						 * leads to the programs */
	}			 run;
	int64_t			 links;		/* enum job_links */
	struct conf_users	 users;		/* a site's only */
	struct {
		char		*to, *format;	/* to NULL: off, or not given */
	}			 access;
	/* Computed from the members above and the site's rules. */
	const struct conf_rules	*outer;		/* the site's; NULL: a site */
	const struct conf_rules	*action;	/* in force: these, or outer */
	const struct conf_access_log *log;	/* NULL: off */
	size_t			 limiter;	/* of rate, from 1; 0: none */
	size_t			 prefix_len;	/* of a path; 0: a site */
	bool			 some_by_host;	/* some rules of the site are */
	char			*field_lines;	/* response fields, as sent */
	char			*always_lines;	/* of errors, too */
	bool			 has_expires;	/* false: header sets the same
						 * field, Cache-Control */
};

/*
 * Whether a name may be looked up as a user's: at most 32 letters, digits and
 * "_", and behind the first character also ".", "-" and "$".
 */
bool	 conf_user_is_valid(const char *name, size_t len);

#endif
