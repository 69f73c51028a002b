/*
 * conf: the conf file as the program sees it.
 *
 * conf_read() turns a file into a struct conf, or reports every error in it.
 * Each directive is a row of directives.tbl, which names a member of the
 * structs below.  A struct conf does not change after it was read, so pointers
 * into it stay valid until conf_free().
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "conf/address.h"
#include "conf/choices.h"
#include "conf/program.h"
#include "conf/rules.h"
#include "lib/buf.h"

/* The suffix of a control socket's name until the socket listens. */
#define CONF_CONTROL_NEW	".new"

/* path PREFIX { }: matches whole segments; the longest prefix applies. */
struct conf_path {
	char			*prefix;	/* /a, without / at the end */
	struct conf_rules	 rules;
	struct conf_origin	*origins;	/* private to conf/ */
};

/* files PATTERN... { }: access to files with such names, and their fields. */
struct conf_files {
	struct conf_words	 patterns;	/* for fnmatch */
	struct conf_guard	 guard;
	struct conf_file_fields	 fields;
	struct conf_origin	*origins;	/* private to conf/ */
};

struct conf_site {
	size_t			 number;	/* index in conf.sites */
	struct conf_words	 names;		/* lower case */
	struct conf_addresses	 listen;
	struct conf_rules	 rules;
	struct conf_path	*paths;		/* longest prefix first */
	size_t			 npaths;
	struct conf_files	*files;		/* each that matches applies */
	size_t			 nfiles;
	struct conf_origin	*origins;	/* private to conf/ */
};

#define CONF_SYSLOG	"syslog"	/* begins conf_log.to */

struct conf_log {
	char		*to;		/* /file, stdout, stderr, |program,
					 * syslog[:/socket]; NULL: off */
	int64_t		 facility;	/* enum facility */
	char		*tag;
};

struct arch;			/* arch/arch.h */
struct conf {
	char		*user;			/* NULL: as started */
	char		*types;
	struct conf_pairs types_more;		/* suffix, media type */
	int64_t		 architecture, spawn, io; /* enum conf_spawn ... */
	const struct arch *arch;		/* its own; arch_choose() */
	int64_t		 workers, workers_max;	/* as divide.h says */
	int64_t		 profile, sandbox, order; /* enum conf_profile ... */
	int64_t		 version;		/* a switch: in responses */
	char		*pid;			/* file; NULL: none */
	int64_t		 watchdog;		/* ms; 0: none */
	struct conf_control {
		char	*file;			/* NULL: none */
		int64_t	 mode;
		char	*owner, *group;		/* NULL: as started */
	} control;
	struct conf_trust trust;
	int64_t		 helpers, helpers_max, helpers_share;	/* 0: half */
	int64_t		 helpers_within, helpers_idle;	/* ms */
	int64_t		 helpers_queue;		/* jobs */

	struct {
		int64_t	 paths, revalidate, wait, stale, negative; /* n, ms */
		int64_t	 watches, heads, results_max;	/* n, bytes, bytes */
		int64_t	 logins, logins_keep;	/* n, ms */
		int64_t	 chunks, chunk_size, small, admit;	/* bytes */
		int64_t	 policy, residency, hints;	/* enum */
		char	*variants, *results, *hotlist;	/* NULL: none */
		int64_t	 hotlist_every, advice, advice_every;	/* ms, switch */
		struct conf_words off, keep;	/* off: conf_disabled() */
	} cache;

	struct {
		struct conf_log access, error;
		char	*access_format;		/* name of a format */
		struct conf_access_logs all;	/* computed: of sites, too */
		int64_t	 error_level, error_format;	/* enum log_level ... */
		int64_t	 names;			/* a switch */
		struct conf_pairs formats, json;	/* name, text */
	} log;

	struct {
		int64_t	 connections;		/* 0: by open descriptors */
		int64_t	 connections_address;	/* an address; 0: any */
		int64_t	 rate, rate_burst;	/* requests a second and
						 * address; 0: any */
		int64_t	 addresses;		/* remembered for rate */
		int64_t	 requests;		/* a connection; 0: any */
		int64_t	 line, header, fields;	/* bytes, bytes, lines */
		int64_t	 body, body_within;	/* bytes, ms */
		int64_t	 bodies, spool_from, spool_max, held; /* bytes */
		char	*spool;			/* directory; NULL: none */
		int64_t	 idle, head, gap, send, disk;	/* ms */
		int64_t	 linger, drain, drain_notice;	/* ms */
		int64_t	 pace, pace_after;	/* bytes a second, bytes */
		int64_t	 listing, listing_bytes;	/* entries, bytes */
		int64_t	 verify, verify_queue;	/* passwords */
		int64_t	 compress, compress_from, digest;	/* bytes */
		int64_t	 levels[CODING_COUNT];	/* of compressing */
	} limits;

	struct {
		int64_t	 backlog;		/* connections */
		int64_t	 buffer;		/* bytes; 0: the system's */
		int64_t	 nodelay;		/* a switch */
		int64_t	 defer;			/* ms; 0: off */
	} transport;

	struct conf_site	*sites;
	size_t			 nsites, nplaces; /* with that of sendfile.c */
	struct conf_program	*programs;
	struct conf_chain	*chains;
	size_t			 nprograms, nchains;
	size_t			 nmanagers;	/* see conf_program.manager */

	struct token_bucket_size *limiters;	/* of all rates of rules */
	size_t			 nlimiters;
	struct token_bucket_size pace;		/* the largest of all rules */
	struct { int64_t ms; size_t of; } terms[CONF_TERMS_MAX + 1];
	unsigned		 nterms;	/* in use, from 1 */
	struct conf_listener	*listeners;	/* see conf_listener() */
	size_t			 nlisteners;
	struct conf_words	 files;		/* names, as read */
	struct conf_origin	*origins;	/* private to conf/ */
};

/* Reads a conf, which the caller owns.  NULL: the buffer has every error, as
 * text.  May block, on files and on look-ups of users. */
struct conf	*conf_read(const char *file, struct buf *errors);
/* As conf_read(), but a FIFO or device, which may block, is an error. */
struct conf	*conf_read_again(const char *file, struct buf *errors);
/* As conf_read() from a text; name: for messages, NULL: a command line's. */
struct conf	*conf_read_text(const char *name, const char *text,
		    struct buf *errors);
void		 conf_free(struct conf **);
/* Returns the control socket's name, owned by the caller, and sets *pid to the
 * pid file's, or NULL, even if the conf has errors.  NULL with errno: the file
 * cannot be read; errno is 0: no name is set. */
char		*conf_read_control(const char *file, char **pid);

/* -T: prints the conf in force as a conf file, each line with a comment that
 * says where it was set ("default", file:line). */
void		 conf_dump(const struct conf *, FILE *);
/* -L: prints the table of directives, one a line: block, name, part, type,
 * default, lowest, highest and help, separated by tabs. */
void		 conf_dump_table(FILE *);
/* The distinct addresses of all sites, in order of first appearance; listener
 * is the index of one of them. */
size_t			 conf_listener_count(const struct conf *);
const struct conf_address *conf_listener(const struct conf *, size_t);

/*
 * The site for a host name (without port, in any case; NULL: none) among the
 * sites of a listener: the one with that name, else with the longest wildcard
 * that covers it, else the one named "default", else the first.
 */
const struct conf_site	*conf_find_site(const struct conf *,
			    size_t listener, const char *host, size_t len);
/* The name or wildcard by which conf_find_site() finds the site; NULL: none. */
const char		*conf_find_site_name(const struct conf *,
			    size_t listener, const char *host, size_t len);
/* The rules for a decoded path, of a block path or of the site. */
const struct conf_rules	*conf_find_rules(const struct conf_site *,
			    const char *path, size_t len);
/* Whether a value of "listing" has this form. */
bool			 conf_find_listing(const struct conf_words *,
			    enum conf_listing);
/* Whether "cache off" names this part. */
bool			 conf_disabled(const struct conf *, enum conf_ablation);
/* Whether a site serves /~name/. */
bool			 conf_find_users(const struct conf *);
/* Helpers that one file system may hold. */
int64_t			 conf_helpers_share(const struct conf *);
/* Whether a peer with that address may name its clients. */
bool			 conf_access_trusts(const struct conf *, int family,
			    const uint8_t *bytes);

#endif
