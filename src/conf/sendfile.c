/*
 * sendfile: the directories beneath which programs name files, as paths of a
 * site that no listener has.  So what is beneath them is looked up, watched and
 * cached as each other file, and helpers may read it.
 *
 * The prefix of a directory is its number among all of them: a name that
 * begins with a dot, which no path may have, may be part of the directory.
 */
#include <stdio.h>

#include "conf/run.h"
#include "lib/mem.h"

/* Adds a directory; its place in the conf is that of the word. */
static void
add_directory(struct conf_site *site, const char *directory,
    const struct conf_origin *from)
{
	struct conf_path	*path;
	char			 prefix[24];

	site->paths = mem_grow(site->paths, site->npaths + 1,
	    sizeof(*site->paths));
	path = &site->paths[site->npaths];
	*path = (struct conf_path){ 0 };
	snprintf(prefix, sizeof(prefix), "/%zu", site->npaths++);
	path->prefix = mem_string(prefix);
	path->rules.alias = mem_string(directory);
	conf_origin_add(conf_object_path(path),
	    conf_row_find_word("alias", BLOCK_PATH), 0, from->pos, false);
}

static void
add_directories(struct conf_site *site, struct conf_program *program)
{
	struct conf_object	 object = conf_object_program(program);
	const struct conf_row	*row = conf_row_find_word("sendfile",
				    BLOCK_PROGRAM);

	program->sendfile_at = site->npaths;
	for (size_t i = 0; i < program->sendfile.n; i++)
		add_directory(site, program->sendfile.at[i],
		    conf_origin(object, row, i));
}

/* The program, or the rules of its path, say all that a response has beside the
 * file. */
static struct conf_site *
add_site(struct conf_reader *reader)
{
	struct conf		*conf = reader->conf;
	struct conf_site	*site;

	conf->sites = mem_grow(conf->sites, conf->nsites + 1,
	    sizeof(*conf->sites));
	site = &conf->sites[conf->nsites];
	*site = (struct conf_site){ .number = conf->nsites };
	conf->nplaces = conf->nsites + 1;
	conf_value_default(reader, conf_object_site(site));
	site->rules.refusal = 404;
	site->rules.nosniff = 0;
	mem_drop(&site->rules.charset);
	return site;
}

void
conf_sendfile_prepare(struct conf_reader *reader)
{
	struct conf		*conf = reader->conf;
	struct conf_site	*site = NULL;

	for (size_t i = 0; i < conf->nprograms; i++) {
		if (conf->programs[i].sendfile.n == 0)
			continue;
		if (site == NULL)
			site = add_site(reader);
		add_directories(site, &conf->programs[i]);
	}
}

void
conf_sendfile_complete(struct conf_reader *reader)
{
	const struct conf	*conf = reader->conf;

	if (conf->nplaces > conf->nsites)
		conf_rules_complete(reader, &conf->sites[conf->nsites]);
}
