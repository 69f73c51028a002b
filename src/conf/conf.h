/*
 * conf: the conf file as the program sees it.
 *
 * conf_read() turns text into a struct conf or into a list of errors,
 * all of them.  Every directive is a row of directives.tbl: its place in the
 * structs below, bounds, default and one line of manual.  A struct conf never
 * changes once read: pointers into it may be kept.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "conf/choices.h"
#include "conf/log_format.h"
#include "conf/rules.h"
#include "lib/buf.h"

/* Behind the name of a control socket while it is made. */
#define CONF_CONTROL_NEW	".new"

/* All patterns of hide in force at one place, terminators included: bytes. */
#define CONF_HIDE_MAX	4000

struct conf_address {			/* where to listen */
	struct sockaddr_storage	 addr;
	socklen_t		 len;
	char			*text;	/* as written in the conf */
};

struct conf_addresses {
	struct conf_address	*at;
	size_t			 n;
};

/* path PREFIX { }: whole segments, the longest wins. */
struct conf_path {
	char			*prefix;	/* /a, without / at the end */
	struct conf_rules	 rules;
	struct conf_origin	*origins;	/* private to conf/ */
};

/* files PATTERN... { }: who may ask for files with such names. */
struct conf_files {
	struct conf_words	 patterns;	/* for fnmatch */
	struct conf_guard	 guard;
	struct conf_origin	*origins;	/* private to conf/ */
};

struct conf_site {
	size_t			 number;	/* its place in conf.sites */
	struct conf_words	 names;		/* lower case; "default" too */
	struct conf_addresses	 listen;
	struct conf_rules	 rules;
	struct conf_path	*paths;	/* longest prefix first */
	size_t			 npaths;
	struct conf_files	*files;		/* all that match count */
	size_t			 nfiles;
	struct conf_origin	*origins;	/* private to conf/ */
};

#define CONF_SYSLOG	"syslog"	/* of those below */

struct conf_log {
	char		*to;		/* /file, stderr, syslog, |program,
					 * syslog:/socket; NULL: off */
	int64_t		 facility;	/* enum facility */
	char		*tag;
};

struct conf {
	char		*user;			/* NULL: as started */
	char		*types;
	int64_t		 architecture;		/* enum conf_architecture */
	int64_t		 workers;		/* 0: by processors */
	int64_t		 sandbox;		/* enum conf_sandbox */
	int64_t		 version;		/* a switch: tell it */
	char		*pid;			/* file; NULL: none */
	int64_t		 watchdog;		/* ms; 0: none */
	struct conf_control {
		char	*file;			/* NULL: none */
		int64_t	 mode;
		char	*owner, *group;		/* NULL: as started */
	} control;
	int64_t		 helpers, helpers_max;
	int64_t		 helpers_share;		/* 0: half of them */
	int64_t		 helpers_within;	/* ms */
	int64_t		 helpers_idle;		/* ms */
	int64_t		 helpers_queue;		/* jobs */

	struct {
		int64_t	 paths, revalidate, stale, negative;	/* n, ms */
		int64_t	 heads;			/* bytes */
		int64_t	 logins, logins_keep;	/* n, ms */
		int64_t	 chunks, chunk_size, small;	/* bytes */
		int64_t	 residency;		/* enum conf_residency */
		char	*variants;		/* directory; NULL: none */
		struct conf_words off;		/* conf_disabled() */
	} cache;

	struct {
		struct conf_log access, error;
		char	*access_format;		/* its name */
		struct conf_log_format line;	/* that */
		int64_t	 error_level;		/* enum log_level */
		int64_t	 names;			/* a switch */
		struct conf_pairs formats, json;	/* name, text */
	} log;

	struct {
		int64_t	 connections;		/* 0: from the descriptors */
		int64_t	 connections_address;	/* of one; 0: any */
		int64_t	 rate, rate_burst;	/* of one, a second; 0: any */
		int64_t	 addresses;
		int64_t	 requests;		/* a connection; 0: any */
		int64_t	 line, header, fields;	/* bytes, bytes, lines */
		int64_t	 body, body_within;	/* bytes, ms */
		int64_t	 idle, head, gap, send, disk;	/* ms */
		int64_t	 linger, drain;			/* ms */
		int64_t	 pace, pace_after;	/* bytes a second, bytes */
		int64_t	 listing, listing_bytes;	/* entries, bytes */
		int64_t	 verify, verify_queue;	/* at once, waiting */
		int64_t	 compress, compress_from;	/* bytes */
	} limits;

	struct {
		int64_t	 backlog;		/* connections */
		int64_t	 buffer;		/* bytes; 0: the system's */
		int64_t	 nodelay;		/* a switch */
		int64_t	 defer;			/* ms; 0: not */
	} transport;

	struct conf_site	*sites;
	size_t			 nsites;

	struct conf_listener	*listeners;	/* see conf_listener() */
	size_t			 nlisteners;
	struct conf_words	 files;		/* read, in order */
	struct conf_origin	*origins;	/* private to conf/ */
};

/*
 * Reads a conf: a file by its name, or text under a name for the messages.  On
 * failure NULL, and every error is in the buffer, ready to be printed.
 */
struct conf	*conf_read(const char *file, struct buf *errors);
/* The same while others are served: a pipe, which is waited for, is none. */
struct conf	*conf_read_again(const char *file, struct buf *errors);
struct conf	*conf_read_text(const char *name, const char *text,
		    struct buf *errors);
void		 conf_free(struct conf **);
/* The control socket of a conf, whatever else is wrong with that: owned; NULL
 * without, with errno if the file cannot be read, else 0. */
char		*conf_read_control(const char *file);

/* -T: all in force, as a conf file that gives the same conf when read, each
 * line with a comment that says where it came from ("default", file:line). */
void		 conf_dump(const struct conf *, FILE *);

/*
 * The directives in a form for other programs: one a line, separated by
 * tabs: block, name, part, type, default, lowest, highest, help.  For the
 * manual's list and its test.
 */
void		 conf_dump_table(FILE *);

/*
 * The distinct addresses of all sites, in order of first appearance; their
 * numbers are what conf_find_site() calls a listener.
 */
size_t			 conf_listener_count(const struct conf *);
const struct conf_address *conf_listener(const struct conf *, size_t);

/*
 * The site that a Host (without port, any case; NULL: none) names among those
 * that listen on an address: by its exact name, else by the longest wildcard
 * that covers it; if there is none, the one named "default", or else the first.
 */
const struct conf_site	*conf_find_site(const struct conf *,
			    size_t listener, const char *host, size_t len);
/* The name of a site by which that is found, NULL without. */
const char		*conf_find_site_name(const struct conf *,
			    size_t listener, const char *host, size_t len);
/* The rules for a decoded path: its block's, or else the site's. */
const struct conf_rules	*conf_find_rules(const struct conf_site *,
			    const char *path, size_t len);
/* Whether the words of a listing have this form. */
bool			 conf_find_listing(const struct conf_words *,
			    enum conf_listing);
bool			 conf_disabled(const struct conf *, enum conf_ablation);
bool			 conf_find_users(const struct conf *);	/* ~name */
int64_t			 conf_helpers_share(const struct conf *);	/* of helpers */

#endif
