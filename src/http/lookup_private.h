/*
 * lookup_private: lookups; for lookup*.c and variants/filtered_lookup.c
 * only.
 */
#ifndef HTTP_LOOKUP_PRIVATE_H
#define HTTP_LOOKUP_PRIVATE_H

#include "filter.h"
#include "http/http.h"
#include "http/lookup.h"
#include "http/watch/waypoints.h"

/* A task that looks up a path. */
struct lookup {
	union {				/* first member: casts rely on it */
		struct task		 task;
		struct filter_run	 run;	/* of filters */
	};
	struct http_loop	*http;
	struct path		*path;	/* held */
	int64_t			 started_at;	/* clock ms */
	bool			 late;	/* a request has waited in vain */
	bool			 published;	/* in http->lookups */
	LIST_ENTRY(lookup)	 link;	/* in its bucket */
	struct watching		 watching;
	bool			 watched;	/* its result is watched */
	bool			 outdated;	/* an event came meanwhile */
	struct buf		 text;	/* path, names, templates; of a
					 * run the variables */
	uint64_t		 noted;	/* inode number of the version of the
					 * result whose files are looked at,
					 * too; 0: there is none */
	bool			 has_notes;	/* there are such files */
	bool			 follows_run;	/* a request has waited for
						 * the run before */
	/* Of a run of filters, or of the look for a kept result before it: */
	int64_t			 began_at;	/* us */
	uint64_t		 reloads;	/* of chains, before the run */
	bool			 recalls;	/* looks for a kept result, and
						 * is no run */
	struct buf		 key;		/* of the kept result; len 0: it
						 * is not to be kept */
	uint64_t		 renewal;	/* of the kept results, before
						 * the run */
	const struct conf_chain	*chain;
	struct job_version	 source;	/* of the file */
	uint64_t		 sum;	/* of files of filters */
	struct path_info	 info;	/* by its name; of a compression,
					 * too */
	/* Of the compression of a filtered file: */
	struct file		*of;	/* held; NULL: this is none */
};

/* lookup_result.c: */
struct str	 lookup_result_name(const struct path *);
/* The time of the result: clock ms. */
int64_t		 lookup_result_time(const struct lookup *);
/* Sets what the path is; status and why of one that is refused. */
void		 lookup_result_set(const struct lookup *, enum pathname_kind,
		    int status, enum why);
/* The media type of the file at a decoded path, and the blocks files. */
const char	*lookup_result_type(const struct http_loop *,
		    const struct path *, const char *decoded, uint16_t *blocks);
/* Sets both by the name of the file. */
void		 lookup_result_set_type(const struct lookup *,
		    struct path_info *);
/* Notes the file that the job has brought; tried: see path_info_found(). */
void		 lookup_result_take_file(struct lookup *, struct path_info *,
		    uint16_t tried);
/* Notes a failed lookup.  An older result of these kinds remains in use. */
void		 lookup_result_set_failure(const struct lookup *, int status,
		    enum why, int64_t looked, unsigned kinds);
/* Notes that a variant cannot be had, by the error of the job. */
void		 lookup_result_set_no_variant(struct lookup *);

/* Finds the pending lookup of a path, or NULL; makes a lookup pending; ends
 * that. */
struct lookup	*lookup_result_find_pending(struct http_loop *,
		    const struct path *);
void		 lookup_result_publish(struct lookup *);
void		 lookup_result_withdraw(struct lookup *);

#endif
