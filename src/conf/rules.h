/*
 * rules: how what is asked for is answered: what a site and a path of it
 * can say in the same words.
 *
 * A path points to its site's rules for what it does not say itself.
 */
#ifndef CONF_RULES_H
#define CONF_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf_words {			/* a list of words */
	char	**at;			/* owned, each terminated */
	size_t	  n;
};

struct conf_pair {			/* two words that belong together */
	char			*name, *value;
	int64_t			 number;	/* error: what the name is;
						 * expires: seconds */
};

struct conf_pairs {
	struct conf_pair	*at;
	size_t			 n;
};

/* Whose addresses begin with these bits. */
struct conf_network {
	int			 family;	/* AF_INET, AF_INET6; 0: all */
	int			 bits;
	bool			 allow;
	uint8_t			 bytes[16];
};

/* Who may ask; all of it must hold. */
struct conf_guard {
	struct conf_words	 allow, deny;	/* networks, as written */
	char			*realm, *file;	/* for passwords; NULL: off */
	/* What follows from them and from those of the site. */
	struct conf_network	*networks;	/* the most exact one first */
	size_t			 nnetworks;
	bool			 default_deny;		/* all others are refused */
	bool			 active;		/* there is anything to ask */
};

struct conf_users {			/* /~name/ */
	char			*directory;	/* in their homes; NULL: off */
	struct conf_words	 deny;		/* names */
	int64_t			 from;		/* uid */
};

struct conf_rules {
	/* What answers: one of these, or as in the site. */
	char			*root, *alias;	/* absolute */
	struct {
		int64_t		 status;
		char		*to;
	}			 redirect;
	int64_t			 refusal;	/* a status */
	int64_t			 status;	/* a switch: what is counted */
	char			*fallback;	/* NULL: off */
	struct conf_words	 index;
	struct conf_pairs	 errors;	/* status, path */
	struct {
		struct conf_pairs plain, add, set;
		struct conf_words remove;
	}			 header;
	struct conf_pairs	 expires;	/* type or pattern, time */
	char			*charset;	/* NULL: off */
	int64_t			 nosniff;	/* a switch, 0 or 1 */
	struct conf_words	 listing;	/* off alone, or html, json */
	struct conf_words	 hide;		/* patterns for fnmatch */
	struct conf_words	 precompressed;	/* off alone, or codings */
	int64_t			 compress;	/* a switch, 0 or 1 */
	struct conf_words	 compressible;	/* types and patterns */
	struct conf_guard	 guard;
	int64_t			 links;		/* enum job_links */
	struct conf_users	 users;		/* a site's only */
	/* What follows from them and from those of the site. */
	const struct conf_rules	*outer;		/* the site's; NULL: these */
	const struct conf_rules	*action;	/* these or outer: whose root,
						 * redirect ... is in force */
	size_t			 prefix_len;	/* length of the path's */
	char			*field_lines;		/* all fields, as sent */
	bool			 has_expires;		/* expires is in force */
};

/* Whether its networks let in a client by the bytes of its address. */
bool	 conf_access_admits(const struct conf_guard *,
	    int family, const uint8_t *bytes);
/*
 * Whether a name may be looked up as a user's: letters, digits and _, and
 * behind the first of them . - and $ too; at most 32 bytes.
 */
bool	 conf_user_is_valid(const char *name, size_t len);

#endif
