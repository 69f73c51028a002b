/*
 * rules: what the rules of the conf say of a target.
 */
#ifndef HTTP_RULES_H
#define HTTP_RULES_H

#include "http/conn.h"
#include "proto/why.h"

/* Sets what a path is if the rules alone say it; false: the path must be looked
 * up on disk. */
bool	rules_resolve(struct http_loop *, struct path *, struct str decoded);
/*
 * The name of a path in the cache is its raw target.  In a site where a root
 * has a directory for each host, / and the host are in front of it: two hosts
 * have no path in common.  A host that cannot be the name of a directory is
 * left out, so however many such hosts clients make up, there is one.
 */

/* Adds that name for a raw target and a host; returns it, valid until the next
 * addition. */
struct str rules_add_name(struct buf *, struct str host, struct str raw);
/* The raw target of a path; rules NULL: of no site. */
struct str rules_raw(const struct path *);
/* Whether the raw target of a path is spelled as a server spells it: with no
 * escape that is not needed, no dot segment, no slash twice, and no query; nor
 * with a host that says nothing about the file.  So clients cannot make up any
 * number of such paths. */
bool	rules_is_usual(const struct path *);
/* Decodes the raw target of a path; returns the length. */
size_t	rules_decode(const struct path *, char decoded[JOB_PATH_MAX]);

/* Where a path is on disk. */
struct rules_place {
	const char	*root;
	struct str	 name;	/* decoded, behind the host in a root that has
				 * a directory for each */
	size_t		 host;	/* bytes of that host and its slash */
	size_t		 skip;	/* bytes of it that the root replaces */
};

/* Finds the place of a path, whose name is put into text. */
void	rules_locate(const struct path *, char text[JOB_PATH_MAX],
	    struct rules_place *);
/* The directory that a path is relative to; *skip: bytes of the path that the
 * directory replaces. */
const char *rules_root(const struct conf_rules *, struct str decoded,
	    size_t *skip);
/* The name of the user whose directory a path is in; at is NULL if none is. */
struct str rules_user(const struct conf_rules *, struct str decoded);
/* Names of index files. */
const struct conf_words *rules_index(const struct conf_rules *);
/* Names of index files for a decoded path with a slash at its end, suffixes for
 * others: the lookup tries them behind the path. */
const struct conf_words *rules_names(const struct conf_rules *,
	    const char *decoded);
/* A bit for each block files of the site that has fields for this name. */
uint16_t rules_blocks(const struct conf_site *, const char *name);
/* The media type that the blocks give to a file; NULL: none does. */
const char *rules_type(const struct conf_site *, uint16_t blocks);
/* Whether one of the blocks has a field; it replaces others of that name unless
 * it only adds. */
bool	rules_has_field(const struct conf_site *, uint16_t blocks,
	    struct str field, bool replacing);
/* Whether a program answers each path there is: no path is a file's name. */
bool	rules_need_no_file(const struct conf_rules *);
/* The program that has all files beneath its directory, which is their root;
 * NULL: there is none here. */
const struct conf_program *rules_directory_program(const struct conf_rules *);
/* Forms of listings. */
const struct conf_words *rules_listing(const struct conf_rules *);
/* Whether directories may be listed, in any form. */
bool	rules_allow_listing(const struct conf_rules *);
/* Codings of files that stand beside others. */
const struct conf_words *rules_precompressed(const struct conf_rules *);
/* Formats of pictures that stand beside others. */
const struct conf_words *rules_formats(const struct conf_rules *);
/* Languages of files that stand beside others. */
const struct conf_languages *rules_languages(const struct conf_rules *);
/* Codings in which helpers compress. */
const struct conf_words *rules_compress(const struct conf_rules *);
/* Whether a media type is worth compressing. */
bool	rules_compressible(const struct conf_rules *, const char *type);
/* The fallback page for a path that was not found, or for a directory that has
 * no index and is not listed; NULL if there is none. */
const char *rules_fallback(const struct path *, int status, enum why);
/* The rules of a request's target, as far as they are known; NULL before its
 * site is known. */
const struct conf_rules *rules_of(const struct request *);
/* Finds the rules of a target that is refused before its path is held; none
 * are found where the target cannot be decoded. */
void	rules_choose(struct conn *);
/* The error page for a status; NULL if there is none. */
const char *rules_error_page(const struct request *, int status);
/* The character set to name for a media type; NULL: none. */
const char *rules_charset(const struct conf_rules *, const char *type);
/* The max-age of a media type in seconds; -1: no rule. */
int64_t	rules_max_age(const struct conf_rules *, const char *type);
/* The same of a file that has such blocks. */
int64_t	rules_file_max_age(const struct conf_site *, uint16_t blocks,
	    const struct conf_rules *, const char *type);

#endif
