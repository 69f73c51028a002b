/*
 * script: which program answers for a path, and what that runs.
 */
#include <string.h>

#include "http/programs/run.h"
#include "http/programs/script.h"
#include "http/rules.h"
#include "lib/buf.h"

/* The name that the lookup has put behind the path; "": none. */
static const char *
get_name(const struct path *p, const struct path_info *a, const char *decoded)
{
	return a->name_number == 0 ? "" :
	    rules_names(p->rules, decoded)->at[a->name_number - 1];
}

/* The program of a file, by the last segment of its path. */
static const struct conf_program *
find_program(const struct conf_rules *rules, const char *file)
{
	const struct conf_program	*program;
	const char			*slash = strrchr(file, '/');

	program = rules_directory_program(rules);
	return program != NULL ? program : conf_program_of_file(rules,
	    slash != NULL ? slash + 1 : file);
}

/* Adds what the path has beneath its root up to the split, and the name. */
static void
add_file(const struct rules_place *place, const struct script *s,
    struct buf *file)
{
	size_t	from = place->skip + 1;

	buf_add(file, place->name.at + from, place->host + s->script_len -
	    from);
	buf_adds(file, s->index);
}

/* Adds the directory that paths without a program's own are beneath. */
static void
add_root(const char *root, struct buf *file)
{
	size_t	n = strlen(root);

	buf_add(file, root, n);
	if (n == 0 || root[n - 1] != '/')
		buf_addc(file, '/');
}

void
script_find(const struct path *p, const struct path_info *a, struct script *s)
{
	const struct conf_rules	*rules = p->rules;
	struct rules_place	 place;
	char			 text[JOB_PATH_MAX];
	struct buf		 file = { 0 };
	size_t			 root;

	*s = (struct script){ .program = conf_program_of_all(rules),
	    .script_len = a->split, .index = "" };
	if (s->program != NULL && s->program->directory == NULL)
		return;
	rules_locate(p, text, &place);
	s->index = get_name(p, a, place.name.at + place.host);
	if (s->program == NULL)
		add_root(place.root, &file);
	root = file.len;
	add_file(&place, s, &file);
	s->program = find_program(rules, buf_string(&file) + root);
	s->file = file.at;
}

enum go
script_run(struct conn *c)
{
	const struct request	*r = c->request;
	struct script		 s;
	enum go			 go;

	script_find(r->path, &r->info, &s);
	go = run_begin(c, s.program, s.file, s.script_len);
	r->run->index = s.index;
	return go;
}
