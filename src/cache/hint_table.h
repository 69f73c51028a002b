/*
 * hint_table: which files are asked for behind which page, and which of them
 * are to be brought into the caches.
 *
 * A page and a file are names of the path cache: the number of a site, and a
 * raw target, in some sites behind the host.  A file is kept as its target, as
 * a request names it.  The table knows no requests; its caller brings the files
 * in, and says what has become of them.  Threads may share a table.
 *
 * A file that was brought in and that no client has asked for is an extra read.
 * All extra reads together are at most a tenth of the reads that clients have
 * waited for, and HINT_RESERVE more.
 */
#ifndef CACHE_HINT_TABLE_H
#define CACHE_HINT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/str.h"

#define HINT_FILES_MAX		16	/* of a page */
#define HINT_PAGES_MAX		4096
#define HINT_BYTES_MAX		(1024 * 1024)	/* of all pages */
#define HINT_NAME_MAX		1024	/* bytes of a name or of a target */
#define HINT_USES_MAX		15	/* of a file: then all are halved */
#define HINT_USES_RESTORED	4	/* of a file in another table's list */
#define HINT_RESERVE		64	/* extra reads */
#define HINT_READS_EACH		10	/* awaited reads for an extra one */
#define HINT_QUEUE_MAX		256	/* files to be brought in */
#define HINT_BROUGHT_MAX	1024	/* files whose use is not known yet */
#define HINT_LATE		2000	/* ms: too late to bring a file in */
#define HINT_PAUSE		4000	/* ms between two sendings of a list */
/* A list is not sent if of so many files less than this percentage was used. */
#define HINT_JUDGED_MIN		8
#define HINT_USED_MIN		30

struct hint_table;

struct hint_page {
	uint32_t	 site;
	struct str	 name;
};

/* A page and its targets, those asked for most first. */
struct hint_list {
	struct hint_page page;
	struct str	 targets[HINT_FILES_MAX];
	unsigned	 n;
};

/* How the page was asked for: its files are asked for in the same way. */
struct hint_asker {
	uint32_t	 listener;
	struct str	 host;		/* with the port */
	struct str	 codings;	/* the client's Accept-Encoding */
};

/* A file to be brought in, in memory of the caller's, which is used again. */
struct hint {
	uint64_t	 page;		/* a number of the table's */
	uint32_t	 listener;
	struct buf	 target, host, codings;
};

/* A path of the cache that a file was brought to. */
struct hint_path {
	uint32_t	 namespace;
	struct str	 name;
	uint16_t	 uses;		/* so far */
};

struct hint_counts {
	uint64_t	 brought, used, wasted;
};

struct hint_table *hint_table_new(bool shared);
void	hint_table_free(struct hint_table **);
/* A client has waited for a read. */
void	hint_table_count_read(struct hint_table *);
/* Notes that a client has asked for a target behind a page. */
void	hint_table_note(struct hint_table *, const struct hint_page *,
	    struct str target);
/* Makes these targets the list of a page. */
void	hint_table_set(struct hint_table *, const struct hint_page *,
	    const struct str *targets, unsigned n);
/* Tells of lists that may be sent, in some buckets from *bucket on, with the
 * table locked; false: those were the last buckets. */
bool	hint_table_visit(struct hint_table *, size_t *bucket,
	    void (*tell)(void *, const struct hint_list *), void *);
/* Adds the targets of a list that another table has told of, as far as there is
 * room in the list of the page, unless the table is full. */
void	hint_table_restore(struct hint_table *, const struct hint_list *);
/* Whether the list of a page, known or not, may be sent at clock ms. */
bool	hint_table_may_send(struct hint_table *,
	    const struct hint_page *, int64_t now);
/* Queues the files of a page, those asked for most first; now: clock ms.
 * False: there are none, or they must not be brought in now. */
bool	hint_table_send(struct hint_table *, const struct hint_page *,
	    const struct hint_asker *, int64_t now);
/* Takes the next file to be brought in from the queue; false: there is none. */
bool	hint_table_next(struct hint_table *, int64_t now, struct hint *);
void	hint_table_free_hint(struct hint *);
/* A file of that number's page was brought in, to this path; path NULL: that
 * has cost no read, or was refused. */
void	hint_table_brought(struct hint_table *, uint64_t page,
	    struct str target, const struct hint_path *);
/* Asks of each file that was brought in whether its path is still there, and
 * sets the uses of that; so finds those that were used or wasted. */
void	hint_table_settle(struct hint_table *,
	    bool (*)(void *, struct hint_path *), void *);
void	hint_table_get_counts(struct hint_table *, struct hint_counts *);
/* Numbers of files in the queue, of pages, and of bytes of all pages. */
size_t	hint_table_queued(const struct hint_table *);
size_t	hint_table_pages(const struct hint_table *);
size_t	hint_table_bytes(const struct hint_table *);

#endif
