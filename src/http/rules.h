/*
 * rules: what the rules of the conf make of a target.
 */
#ifndef HTTP_RULES_H
#define HTTP_RULES_H

#include "http/conn.h"

/*
 * Where the rules of a path leave nothing to look for on disk, the answer;
 * false: it must be looked for.
 */
bool	rules_resolve(struct http_loop *, struct path *, struct str decoded);
/* Where to look: the directory, and how much of the path stands for it. */
const char *rules_root(const struct conf_rules *, struct str decoded,
	    size_t *skip);
/* The user in whose home that is; without: at NULL. */
struct str rules_user(const struct conf_rules *, struct str decoded);
/* The names that stand for a directory. */
const struct conf_words *rules_index(const struct conf_rules *);
/* In which forms a directory is listed. */
const struct conf_words *rules_listing(const struct conf_rules *);
/* The codings that files beside others may be in. */
const struct conf_words *rules_precompressed(const struct conf_rules *);
/* Whether files of a type get smaller. */
bool	rules_compressible(const struct conf_rules *, const char *type);
/* The page for what was not found, with that status; NULL without. */
const char *rules_fallback(const struct path *, int status);
/* Those of a request's target, as far as it is known; NULL before its site. */
const struct conf_rules *rules_of(const struct request *);
/* The page for a status, NULL without. */
const char *rules_error_page(const struct request *, int status);
/* Seconds that files of a type may be kept; -1: nothing is said. */
int64_t	rules_max_age(const struct conf_rules *, const char *type);

#endif
