/*
 * setters: functions that read a value of a type of types.tbl into a member,
 * and that complete a site's rules.  For the files of this folder only.
 */
#ifndef CONF_SETTERS_H
#define CONF_SETTERS_H

#include "conf/private.h"

/* Reads a value from words, one or two by its type, into a member.  False: an
 * error was reported, and the member is unchanged. */
typedef bool	conf_set_fn(struct conf_reader *, const struct conf_row *,
		    const struct conf_word *, void *member);
/* Returns NULL if a text is a value of the type, else a message: a format whose
 * only argument is the text. */
typedef const char *conf_wrong_fn(const char *);

/* response.c */
conf_set_fn	conf_response_set_error, conf_response_set_age,
		conf_response_set_charset, conf_response_add_suffix,
		conf_response_set_type;
conf_wrong_fn	conf_response_wrong_target, conf_response_wrong_page,
		conf_response_wrong_kept,
		conf_response_wrong_charset, conf_response_wrong_home,
		conf_response_wrong_user, conf_response_wrong_media,
		conf_response_wrong_type;
/* Appends a slash to a target of scheme and host alone, so that it gets the
 * path of the request. */
void		conf_response_complete_target(char **);

/* names.c */
conf_set_fn	conf_name_set_field;
/* Of a language tag (RFC 5646). */
conf_wrong_fn	conf_name_wrong_language;
/* conf_name_wrong_path(): of a block path; conf_name_wrong_sign(): of what
 * stands before a field's name. */
conf_wrong_fn	conf_name_wrong_field, conf_name_wrong_path,
		conf_name_wrong_sign;
/* Whether a text is a token (RFC 9110, section 5.6.2). */
bool		conf_name_is_token(const char *, size_t len);

/* address.c */
conf_set_fn	conf_address_set, conf_address_set_proxy, conf_address_set_mode,
		conf_address_set_owner, conf_address_set_group;
/* Whether the same options stand behind two addresses. */
bool		conf_address_is_same(const struct conf_address *,
		    const struct conf_address *);
void		conf_address_print_options(const struct conf_address *,
		    struct buf *);
void		conf_address_free(struct conf_addresses *);

/* scaled.c */
conf_set_fn	conf_scaled_set;
/* Parses a number with a unit of its type; false: the text is none. */
bool		conf_scaled_parse(enum conf_type, const char *, int64_t *);
/* Prints a number as conf_scaled_set() reads it. */
void		conf_scaled_print(enum conf_type, int64_t, struct buf *);

/* choice.c: one of the words, and of those that are numbers, such as status
 * codes. */
conf_set_fn	conf_choice_set, conf_choice_set_code;
/* The words of a type, up to NULL; NULL: the type is no choice. */
const char *const *conf_choice_words(enum conf_type);
/* Prints them with a separator between them. */
void		conf_choice_print(enum conf_type, const char *between,
		    struct buf *);

/* control.c */
conf_set_fn	conf_control_set_socket, conf_control_set_mode;
conf_wrong_fn	conf_control_wrong_owner, conf_control_wrong_group;

/* groups.c */
conf_wrong_fn	conf_groups_wrong_name;
/* Computes the users that the guard lets in. */
void		conf_groups_complete(struct conf_reader *, struct conf_guard *,
		    struct conf_object);

/* access.c */
conf_wrong_fn	conf_access_wrong_network, conf_access_wrong_trust,
		conf_access_wrong_realm;
bool		conf_access_add_pattern(struct conf_reader *,
		    const struct conf_word *, struct conf_words *patterns);
/* Computes a guard's networks, and takes over the outer guard's (NULL: none)
 * networks, and its password unless the block has auth. */
void		conf_access_complete(struct conf_reader *,
		    struct conf_guard *, const struct conf_guard *outer,
		    struct conf_object);
/* Computes the networks that are trusted. */
void		conf_access_list_trusted(struct conf_trust *);
/* Lets only clients on this host in, unless the guard has allow or auth. */
void		conf_access_restrict_local(struct conf_guard *);

/* log.c */
conf_set_fn	conf_log_set_format;
conf_wrong_fn	conf_log_wrong_tag;
/* Makes the access log of block log; then that of a block of rules, or takes
 * over the outer one's, or the server's. */
void		conf_log_complete(struct conf_reader *);
void		conf_log_complete_rules(struct conf_reader *,
		    struct conf_rules *, struct conf_object);
void		conf_log_free(struct conf_access_logs *);

/* shaping.c: takes over rate and pace, and numbers the rates. */
void		conf_shaping_complete(struct conf_reader *, struct conf_rules *,
		    struct conf_object);

/* rules.c: completes the rules of a site and of its sorted paths. */
void		conf_rules_complete(struct conf_reader *, struct conf_site *);
/* Whether a block has an action, so that root may be missing. */
bool		conf_rules_have_action(struct conf_object);

/* errors.c: reports two directives of a block that exclude each other. */
void		conf_error_both(struct conf_reader *,
		    const struct conf_origin *, const struct conf_origin *);
/* Drops all errors but the first n. */
void		conf_error_drop(struct conf_reader *, size_t n);

#endif
