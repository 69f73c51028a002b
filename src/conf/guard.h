/*
 * guard: lists of words; clients that networks, passwords and programs let in.
 */
#ifndef CONF_GUARD_H
#define CONF_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf_program;
struct conf_rules;

struct conf_words {			/* a list of words */
	char	**at;			/* owned, each terminated */
	size_t	  n;
};

/* Whether a word is in a list. */
bool	 conf_name_in(const struct conf_words *, const char *name);

struct conf_pair {			/* a name and its value */
	char			*name, *value;
	int64_t			 number;	/* error: the status, or 4 for
						 * 4xx, or CONF_ERROR_ALL;
						 * expires: seconds;
						 * header: 1: always */
};

struct conf_pairs {
	struct conf_pair	*at;
	size_t			 n;
};

/* The addresses that begin with these bits. */
struct conf_network {
	int			 family;	/* AF_INET, AF_INET6; 0: all */
	int			 bits;
	bool			 allow;
	uint8_t			 bytes[16];
};

/* Access control: a client must pass the networks, the password and the program
 * that authorizes. */
struct conf_guard {
	struct conf_words	 allow, deny;	/* networks, as written */
	char			*realm, *file;	/* for passwords; NULL: off */
	char			*groups;	/* file; NULL: none */
	struct {
		struct conf_words users, groups;
	}			 require;
	int64_t			 satisfy;	/* enum conf_satisfy */
	char			*authorize;	/* a program; NULL: off */
	int64_t			 internal;	/* a switch: no client may ask,
						 * but the conf and programs
						 * lead here */
	/* Computed from the members above and the site's guard. */
	struct conf_network	*networks;	/* the most bits first */
	size_t			 nnetworks;
	bool			 default_deny;	/* other networks are refused */
	bool			 active;	/* false: all clients pass */
	bool			 limited;	/* to these users, in order */
	struct conf_words	 users;
	/* The program of authorize.  A path without authorize has that of the
	 * block path around it, or of its site. */
	const struct conf_program *authorizer;
	const struct conf_rules	*authorize_from;	/* rules that set it */
};

struct conf_trust {			/* proxies */
	struct conf_words	 networks;	/* as written */
	int64_t			 fields;	/* enum conf_trust_fields */
	/* Computed from the members above. */
	struct conf_network	*list;
	size_t			 n;
};

/* Whether the networks of a guard let a client in, by its address's bytes. */
bool	 conf_access_admits(const struct conf_guard *,
	    int family, const uint8_t *bytes);
/* Whether a guard lets in a user whose password is right. */
bool	 conf_groups_admit(const struct conf_guard *, const char *, size_t);

#endif
