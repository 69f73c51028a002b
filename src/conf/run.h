/*
 * run: makes and checks programs, and the lists of programs that rules run.
 * For the files of this folder only.
 */
#ifndef CONF_RUN_H
#define CONF_RUN_H

#include "conf/setters.h"

#define CONF_RUN_OFF	"off"		/* in place of a name */

/* program.c */
conf_set_fn	conf_program_set_command, conf_program_set_fastcgi,
		conf_program_set_filter,
		conf_program_set_variable, conf_program_set_run,
		conf_program_set_pattern;
/* Adds a pattern to the last pair, or one more pair with it. */
void		conf_program_add_pattern(struct conf_pairs *,
		    const char *pattern);
/* Of a program: why it cannot have that name. */
conf_wrong_fn	conf_program_wrong_name;
/* Sets the command of a filter.  NULL, or what is wrong with it. */
const char	*conf_program_complete_filter(struct conf_program *);
/* Adds a program without name; all other programs may move in memory. */
struct conf_program *conf_program_add(struct conf *);

/* application.c */
/* Whether a filter is to have an application. */
bool		conf_application_is_named(const struct conf_program *);
/* Finds it, by a function that is conf_run_find(), once programs do not move;
 * reports what is wrong. */
void		conf_application_link(struct conf_reader *,
		    struct conf_program *filter,
		    const struct conf_program *(*find)(struct conf_reader *,
		    const char *name, const char *remedy, struct conf_pos));

/* server.c */
conf_wrong_fn	conf_server_wrong, conf_server_wrong_scgi;

/* sendfile.c: the site of the directories beneath which programs name files.
 * After conf_sendfile_prepare() no site moves in memory; then sites are
 * completed. */
void		conf_sendfile_prepare(struct conf_reader *);
void		conf_sendfile_complete(struct conf_reader *);

/* chain.c */
conf_set_fn	conf_chain_set_pattern, conf_chain_set_by;
struct conf_chain *conf_chain_add(struct conf *);
/* Makes the parameters of queries by their bounds. */
void		conf_chain_make_parameters(struct conf_chains *);
void		conf_chain_free(struct conf_chain *);
void		conf_chain_free_rules(struct conf_rules *);

/* chains.c */
/* Checks all blocks chain, once programs do not move. */
void		conf_chains_prepare(struct conf_reader *);
/* Makes the lists of a site and of its sorted paths. */
void		conf_chains_complete(struct conf_reader *, struct conf_site *);
/* Checks the chains of answers of programs, once all lists are made. */
void		conf_chains_check(struct conf_reader *);

/* run.c */
/* The rules of the block path around a path, by its index, or of the site.
 * Paths are sorted, the longest first. */
const struct conf_rules *conf_run_find_around(const struct conf_site *, size_t);
/* The program of that name.  NULL, after an error was reported: there is none;
 * remedy: what is in a block for such a program. */
const struct conf_program *conf_run_find(struct conf_reader *, const char *name,
		    const char *remedy, struct conf_pos);
/* Whether a directive of a block program can have an effect on that program. */
bool		conf_run_takes(const struct conf_program *,
		    const struct conf_row *);
/* Checks all programs, and adds those of directives cgi.  From then on no
 * program moves in memory. */
void		conf_run_prepare(struct conf_reader *);
/* Makes the lists of a site and of its sorted paths, and finds their
 * authorizers. */
void		conf_run_complete(struct conf_reader *, struct conf_site *);
void		conf_run_free(struct conf_rules *);

#endif
