/*
 * application: finds the programs of FastCGI that do the work of filters.
 */
#include <string.h>

#include "conf/run.h"
#include "lib/mem.h"

#define FASTCGI	"fastcgi"	/* behind "filter" */

bool
conf_application_is_named(const struct conf_program *filter)
{
	const struct conf_words	*given = &filter->given.filter;

	return given->n > 1 && strcmp(given->at[0], FASTCGI) == 0;
}

/* Whether an error was reported of what a program is. */
static bool
is_unknown(const struct conf_program *program)
{
	return program->directory == NULL && program->command.n == 0 &&
	    program->servers.n == 0;
}

static void
copy_text(char **to, const char *text)
{
	mem_drop(to);
	if (text != NULL)
		*to = mem_string(text);
}

/* A filter has the user of its application, whose manager starts it.  It needs
 * no file. */
static void
set_application(struct conf_program *filter,
    const struct conf_program *application)
{
	filter->application = application;
	copy_text(&filter->user, application->user);
	copy_text(&filter->group, application->group);
	if (application->confine == CONFINEMENT_OFF)
		filter->confine = CONFINEMENT_OFF;
}

/* Returns what is wrong with the words of a filter; NULL: nothing. */
static const char *
find_wrong(const struct conf_words *given)
{
	const char	*name = given->at[1];

	return strpbrk(name, "/:") != NULL ? "filter fastcgi needs the name of "
	    "a program: write program NAME { fastcgi FILE-OR-SERVER }, outside "
	    "of all blocks, and that name here" : given->n > 2 ?
	    "behind filter fastcgi stands the name of a program, and nothing "
	    "else" : NULL;
}

void
conf_application_link(struct conf_reader *reader, struct conf_program *filter,
    const struct conf_program *(*find)(struct conf_reader *, const char *,
    const char *, struct conf_pos))
{
	const struct conf_origin	*given = conf_origin(
					    conf_object_program(filter),
					    conf_row_find_word("filter",
					    BLOCK_PROGRAM), 0);
	const char			*name = filter->given.filter.at[1];
	const char			*wrong;
	const struct conf_program	*found;

	if (given->bad)
		return;
	wrong = find_wrong(&filter->given.filter);
	if (wrong != NULL) {
		conf_error(reader, given->pos, "%s", wrong);
		return;
	}
	found = find(reader, name, "fastcgi FILE", given->pos);
	if (found == NULL || is_unknown(found))
		return;
	if (found->protocol == CONF_FASTCGI)
		set_application(filter, found);
	else
		conf_error(reader, given->pos, "program %s cannot filter: only "
		    "programs of FastCGI have that role, so it needs "
		    "\"fastcgi\" and its file or server", name);
}
