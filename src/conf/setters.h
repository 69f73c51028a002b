/*
 * setters: how requests are answered: the values that say so, and what
 * follows from them for a site and its paths.  For the files of the conf only.
 */
#ifndef CONF_SETTERS_H
#define CONF_SETTERS_H

#include "conf/private.h"

/* Reads a value, of as many words as its type has, into a member. */
typedef bool	conf_set_fn(struct conf_reader *, const struct conf_row *,
		    const struct conf_word *, void *member);

/* response.c */
conf_set_fn conf_response_set_target, conf_response_set_page,
    conf_response_set_error, conf_response_set_age, conf_response_set_charset,
    conf_response_set_home, conf_response_set_user, conf_response_set_media;
/* value.c: what a time says. */
bool		conf_value_time(const char *, int64_t *ms);
/* names.c: only what may stand in a token (RFC 9110, section 5.6.2). */
bool		conf_name_is_token(const char *, size_t len);
/* What is wrong with a path, or NULL. */
const char	*conf_name_path_error(const char *path);
/* value.c: a choice that is kept as the number that it is. */
conf_set_fn	conf_value_set_code;

/* control.c */
conf_set_fn conf_control_set_socket, conf_control_set_mode,
    conf_control_set_owner, conf_control_set_group;

/* access.c */
conf_set_fn	conf_access_set_network, conf_access_set_realm;
bool		conf_access_add_pattern(struct conf_reader *,
		    const struct conf_word *, struct conf_words *patterns);
/* Completes a guard, with what its block takes over from outside (NULL: there
 * is none). */
void		conf_access_complete(struct conf_reader *,
		    struct conf_guard *, const struct conf_guard *outer,
		    struct conf_object);
/* In a guard that lets in all but a few: only who asks from this host. */
void		conf_access_restrict_local(struct conf_guard *);

/* log.c */
conf_set_fn	conf_log_set_format, conf_log_set_tag;
/* The form of the lines, by its name. */
void		conf_log_select_format(struct conf_reader *);

/* rules.c: the rules of a site and of its paths, which are sorted. */
void		conf_rules_complete(struct conf_reader *, struct conf_site *);
/* It says something else that answers: no root is needed. */
bool		conf_rules_need_no_root(struct conf_object);

#endif
