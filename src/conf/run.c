/*
 * run: which programs rules run, and which authorizes requests: checks all
 * programs, and makes the lists of sites and paths.
 *
 * A path without run and cgi has the programs of the block path around it: if
 * it had those of its site, as with other directives, a file that is a program
 * there might be sent as a file.  With authorize, its files would be anybody's.
 */
#include <sys/param.h>

#include <string.h>

#include "conf/run.h"
#include "lib/landlock.h"
#include "lib/mem.h"
#include "lib/user.h"

#define SYSTEM_USERS	1000		/* their numbers are below */

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static const struct conf_origin *
find_origin(struct conf_program *program, const char *word)
{
	return conf_origin(conf_object_program(program),
	    word == NULL ? NULL : conf_row_find_word(word, BLOCK_PROGRAM), 0);
}

static void
check_name(struct conf_reader *reader, struct conf_program *program)
{
	struct conf		 *conf = reader->conf;
	const struct conf_origin *own = find_origin(program, NULL), *first;

	for (size_t i = 0; i < program->number && !own->bad; i++) {
		if (strcmp(conf->programs[i].name, program->name) != 0)
			continue;
		first = find_origin(&conf->programs[i], NULL);
		conf_error(reader, own->pos,
		    "program \"%s\" is given twice: first at %s:%zu",
		    program->name, conf->files.at[first->pos.file],
		    first->pos.line);
		return;
	}
}

/* Whether one directive says what the program is, and is right; else reports
 * what is wrong. */
static bool
check_kind(struct conf_reader *reader, struct conf_program *program)
{
	static const char *const	 words[] = {
		"command", "directory", "fastcgi", "scgi", "filter",
	};
	const struct conf_origin	*own = find_origin(program, NULL);
	const struct conf_origin	*first = NULL, *other;

	for (size_t i = 0; i < COUNT(words); i++) {
		other = find_origin(program, words[i]);
		if (first != NULL && other != NULL) {
			conf_error_both(reader, first, other);
			return false;
		}
		first = other != NULL ? other : first;
	}
	if (first == NULL && !own->bad)
		conf_error(reader, own->pos, "block program needs \"command\" "
		    "and a file, \"directory\", \"fastcgi\", \"scgi\" or "
		    "\"filter\"");
	return first != NULL && !first->bad;
}

static void
complete_kind(struct conf_program *program)
{
	const struct conf_words	*fastcgi = &program->given.fastcgi;
	bool			 own = fastcgi->n > 0 &&
				    fastcgi->at[0][0] == '/';

	program->protocol = fastcgi->n > 0 ? CONF_FASTCGI :
	    program->given.scgi.n > 0 ? CONF_SCGI : CONF_CGI;
	program->command = own ? *fastcgi : program->given.command;
	if (program->protocol != CONF_CGI && !own)
		program->servers = fastcgi->n > 0 ? *fastcgi :
		    program->given.scgi;
}

/* Files are all that a filter needs, unless the conf says otherwise. */
static void
complete_filter(struct conf_reader *reader, struct conf_program *program)
{
	const struct conf_origin	*given = find_origin(program, "filter");
	const char			*wrong;

	program->is_filter = program->given.filter.n > 0;
	if (!program->is_filter)
		return;
	wrong = conf_program_complete_filter(program);
	if (wrong != NULL && !given->bad)
		conf_error(reader, given->pos, "%s", wrong);
	if (find_origin(program, "confine") == NULL && landlock_version() > 0)
		program->confine = CONFINEMENT_FILES;
}

static bool
keeps_processes(const struct conf_program *program)
{
	return program->protocol == CONF_FASTCGI && program->servers.n == 0;
}

/* Directives about processes that amped starts, and about those that stay. */
static const char *const own_only[] = {
	"user", "confine", "writes", "nice", "memory", "cpu", "files",
	"processes"
}, *const staying_only[] = { "idle", "life", "requests" },
*const filter_only[] = { "optional", "result" },
*const answering_only[] = {
	"silence", "stream", "hold", "authorization", "sendfile"
};

static bool
is_one_of(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

bool
conf_run_takes(const struct conf_program *program, const struct conf_row *row)
{
	if (is_one_of(row->word, own_only, COUNT(own_only)))
		return program->servers.n == 0 &&
		    !conf_application_is_named(program);
	if (strcmp(row->word, "most") == 0)
		return !conf_application_is_named(program);
	if (is_one_of(row->word, staying_only, COUNT(staying_only)))
		return keeps_processes(program);
	if (is_one_of(row->word, filter_only, COUNT(filter_only)))
		return program->is_filter;
	if (is_one_of(row->word, answering_only, COUNT(answering_only)))
		return !program->is_filter;
	return true;
}

/* A format of the word and the program's first server, or its application. */
static const char *
explain_no_effect(const struct conf_program *program, const char *word)
{
	if (is_one_of(word, filter_only, COUNT(filter_only)))
		return "\"%s\" is for filters";
	if (program->servers.n > 0)
		return "\"%s\" is for processes that amped starts: others "
		    "have started %s";
	if (conf_application_is_named(program) &&
	    !is_one_of(word, answering_only, COUNT(answering_only)) &&
	    !is_one_of(word, staying_only, COUNT(staying_only)))
		return "\"%s\" is for processes: write it in block program %s, "
		    "which has those of this filter";
	if (program->is_filter)
		return "\"%s\" is for programs that answer requests: this is "
		    "a filter";
	return "\"%s\" is for processes that stay: those of fastcgi and a "
	    "file";
}

/* Reports directives that can have no effect. */
static void
check_effects(struct conf_reader *reader, struct conf_program *program)
{
	const struct conf_origin	*given;
	const struct conf_row		*row;

	CONF_EACH_ROW(row) {
		if (row->block != BLOCK_PROGRAM ||
		    conf_run_takes(program, row))
			continue;
		given = find_origin(program, row->word);
		if (given == NULL || given->bad)
			continue;
		conf_error(reader, given->pos, explain_no_effect(program,
		    row->word), row->word,
		    program->servers.n > 0 ? program->servers.at[0] :
		    conf_application_is_named(program) ?
		    program->given.filter.at[1] : "");
	}
}

/* Whether a program runs as a user other than that of the server. */
static bool
has_own_user(const struct conf *conf, const struct conf_program *program)
{
	return program->user != NULL && (program->group != NULL ||
	    conf->user == NULL || strcmp(program->user, conf->user) != 0);
}

/* The group makes it plain that a system user is meant. */
static void
check_user(struct conf_reader *reader, struct conf_program *program)
{
	const struct conf_origin	*given = find_origin(program, "user");
	const char			*user = program->user;
	struct user			 found;

	if (user == NULL || given == NULL || given->bad ||
	    !has_own_user(reader->conf, program) ||
	    !user_find_name(&found, user))
		return;
	if (program->group != NULL)
		(void)user_set_group(&found, program->group);
	if (found.uid == 0 || found.gid == 0)
		conf_error(reader, given->pos, "no program runs with the "
		    "rights of root's user or group: name others than %s%s%s",
		    user, program->group != NULL ? " " : "",
		    program->group != NULL ? program->group : "");
	else if (program->group == NULL && found.uid < SYSTEM_USERS)
		conf_error(reader, given->pos, "%s is a user of the system, "
		    "not of a person or a site: if that is meant, write its "
		    "group, too: user %s GROUP", user, user);
	user_free(&found);
}

static void
check_writes(struct conf_reader *reader, struct conf_program *program)
{
	const struct conf_origin	*given = find_origin(program, "writes");

	if (given != NULL && !given->bad &&
	    program->confine != CONFINEMENT_FILES)
		conf_error(reader, given->pos, "\"writes\" is for \"confine "
		    "files\": without that, %s may write where its user may",
		    program->name);
}

static void
check_program(struct conf_reader *reader, struct conf_program *program)
{
	bool	known = check_kind(reader, program);

	check_name(reader, program);
	complete_kind(program);
	complete_filter(reader, program);
	if (known) {
		check_effects(reader, program);
		check_writes(reader, program);
	}
	check_user(reader, program);
}

/* Adds the program of a directive cgi, one for all with the same directory. */
static void
add_unnamed(struct conf_reader *reader, const char *directory)
{
	struct conf		*conf = reader->conf;
	struct conf_program	*program;

	if (directory == NULL)
		return;
	for (size_t i = 0; i < conf->nprograms; i++) {
		program = &conf->programs[i];
		if (program->name == NULL &&
		    strcmp(program->directory, directory) == 0)
			return;
	}
	program = conf_program_add(conf);
	program->directory = mem_string(directory);
	conf_value_default(reader, conf_object_program(program));
}

static bool
is_same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Whether two programs have one manager: there is one for each user and
 * confinement, and another one for programs whose processes stay, which depends
 * on nothing but their blocks, and so outlives most reloads.  A filter has that
 * of its application. */
static bool
have_one_manager(const struct conf *conf, const struct conf_program *a,
    const struct conf_program *b)
{
	bool	own;

	a = a->application != NULL ? a->application : a;
	b = b->application != NULL ? b->application : b;
	own = has_own_user(conf, a);
	return keeps_processes(a) == keeps_processes(b) &&
	    a->confine == b->confine && own == has_own_user(conf, b) && (!own ||
	    (is_same_text(a->user, b->user) &&
	    is_same_text(a->group, b->group)));
}

static void
choose_manager(struct conf *conf, struct conf_program *program)
{
	const struct conf_program	*other;

	program->manager = conf->nmanagers;
	for (size_t i = 0; i < program->number; i++) {
		other = &conf->programs[i];
		if (!have_one_manager(conf, other, program))
			continue;
		program->manager = other->manager;
		program->place++;
	}
	if (program->place == 0)
		conf->nmanagers++;
}

void
conf_run_prepare(struct conf_reader *reader)
{
	struct conf		*conf = reader->conf;
	const struct conf_site	*site;

	for (size_t i = 0; i < conf->nprograms; i++)
		check_program(reader, &conf->programs[i]);
	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		add_unnamed(reader, site->rules.run.cgi);
		for (size_t j = 0; j < site->npaths; j++)
			add_unnamed(reader, site->paths[j].rules.run.cgi);
	}
	for (size_t i = 0; i < conf->nprograms; i++)
		if (conf_application_is_named(&conf->programs[i]))
			conf_application_link(reader, &conf->programs[i],
			    conf_run_find);
	for (size_t i = 0; i < conf->nprograms; i++)
		choose_manager(conf, &conf->programs[i]);
}

static bool
is_off(const struct conf_pair *pair)
{
	return strcmp(pair->value, CONF_RUN_OFF) == 0;
}

/* The program of that name; NULL: there is none. */
static const struct conf_program *
find_program(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->nprograms; i++)
		if (conf->programs[i].name != NULL &&
		    strcmp(conf->programs[i].name, name) == 0)
			return &conf->programs[i];
	return NULL;
}

static const struct conf_program *
find_unnamed(const struct conf *conf, const char *directory)
{
	const struct conf_program	*p = conf->programs;

	while (p->name != NULL || strcmp(p->directory, directory) != 0)
		p++;
	return p;
}

/* remedy: what is in a block for a program of that name. */
static void
error_unknown(struct conf_reader *reader, const char *name,
    const char *remedy, struct conf_pos pos)
{
	const struct conf	*conf = reader->conf;
	const char		*near = NULL;

	for (size_t i = 0; i < conf->nprograms; i++)
		if (conf->programs[i].name != NULL)
			near = conf_error_nearer(name, near,
			    conf->programs[i].name);
	conf_error(reader, pos, "there is no program \"%s\": write program %s "
	    "{ %s }, outside of all blocks", name, name, remedy);
	conf_error_hint(reader, near);
}

const struct conf_program *
conf_run_find(struct conf_reader *reader, const char *name, const char *remedy,
    struct conf_pos pos)
{
	const struct conf_program	*program = find_program(reader->conf,
					    name);

	if (program == NULL)
		error_unknown(reader, name, remedy, pos);
	return program;
}

static void
add_run(struct conf_rules *rules, const struct conf_program *program,
    const char *pattern)
{
	rules->run.list = mem_grow(rules->run.list, rules->run.n + 1,
	    sizeof(*rules->run.list));
	rules->run.list[rules->run.n++] = (struct conf_run){
		program, pattern
	};
}

/* Whether the list, of which all have a pattern, has this one. */
static bool
has_pattern(const struct conf_rules *rules, const char *pattern)
{
	for (size_t i = 0; i < rules->run.n; i++)
		if (strcmp(rules->run.list[i].pattern, pattern) == 0)
			return true;
	return false;
}

/* Adds a program for its pattern, or for each path. */
static void
add_named(struct conf_reader *reader, struct conf_rules *rules,
    const struct conf_pair *pair, struct conf_pos pos)
{
	const struct conf_program	*program = find_program(reader->conf,
					    pair->value);
	bool				 all = pair->name[0] == '\0';

	if (is_off(pair))
		return;
	if (program == NULL)
		error_unknown(reader, pair->value, "command FILE", pos);
	else if (program->is_filter)
		conf_error(reader, pos, "program %s is a filter, which answers "
		    "no request: write chain NAME { filters %s }, and chain "
		    "NAME here", pair->value, pair->value);
	else if (all)
		add_run(rules, program, NULL);
	else if (program->directory != NULL)
		conf_error(reader, pos, "program %s has a directory, and each "
		    "executable file there is a program: leave \"for\" out",
		    pair->value);
	else if (has_pattern(rules, pair->name))
		conf_error(reader, pos, "there is a program for %s already in "
		    "this block", pair->name);
	else
		add_run(rules, program, pair->name);
}

/* Whether a program for each path, or "off", is the only one of the block; else
 * reports it. */
static bool
is_alone(struct conf_reader *reader, const struct conf_pairs *named,
    struct conf_object object, const struct conf_row *row)
{
	for (size_t i = 0; i < named->n && named->n > 1; i++) {
		if (named->at[i].name[0] != '\0')
			continue;
		conf_error(reader, conf_origin(object, row, i)->pos,
		    "\"run %s\" is for each path: it excludes other programs "
		    "in this block%s", named->at[i].value,
		    is_off(&named->at[i]) ? "" :
		    ", or needs \"for\" and a pattern");
		return false;
	}
	return true;
}

static void
make_list(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_row	*run = conf_row_find_word("run", object.kind);
	const struct conf_row	*cgi = conf_row_find_word("cgi", object.kind);
	const struct conf_pairs	*named = &rules->run.named;

	if (rules->run.cgi != NULL && named->n > 0) {
		conf_error_both(reader, conf_origin(object, run, 0),
		    conf_origin(object, cgi, 0));
	} else if (rules->run.cgi != NULL) {
		add_run(rules, find_unnamed(reader->conf, rules->run.cgi),
		    NULL);
	} else if (is_alone(reader, named, object, run)) {
		for (size_t i = 0; i < named->n; i++)
			add_named(reader, rules, &named->at[i],
			    conf_origin(object, run, i)->pos);
	}
}

/* Bytes of all bodies that are kept. */
static int64_t
get_most_kept(const struct conf *conf)
{
	return conf->limits.spool == NULL ? conf->limits.bodies :
	    MAX(conf->limits.bodies, conf->limits.spool_max);
}

static void
complete_body(struct conf_reader *reader, struct conf_rules *rules,
    const struct conf_rules *around, struct conf_object object)
{
	const struct conf	*conf = reader->conf;
	int64_t			 most = get_most_kept(conf);
	struct conf_origin	*own = conf_origin(object,
				    conf_row_find_word("body", object.kind), 0);
	struct buf		 text = { 0 };

	if (own == NULL)
		rules->run.body = around != NULL ? around->run.body :
		    MIN(conf->limits.body, most);
	if (own == NULL || own->bad || rules->run.body <= most ||
	    conf_program_all_stream(rules))
		return;
	conf_scaled_print(TYPE_SIZE, most, &text);
	conf_error(reader, own->pos, "body is more than limits %s, which is %s "
	    "for all requests together: raise that%s", most >
	    conf->limits.bodies ? "spool max" : "bodies", buf_string(&text),
	    conf->limits.spool != NULL ? "" : ", or name a directory for "
	    "bodies by limits spool");
	buf_free(&text);
}

/* Whether an error was reported of what a program is. */
static bool
is_unknown(const struct conf_program *program)
{
	return program->directory == NULL && program->command.n == 0 &&
	    program->servers.n == 0;
}

/* The program that a guard names; NULL: an error was reported. */
static const struct conf_program *
find_authorizer(struct conf_reader *reader, const char *name,
    struct conf_pos pos)
{
	const struct conf_program	*program = find_program(reader->conf,
					    name);

	if (program == NULL) {
		error_unknown(reader, name, "fastcgi FILE", pos);
		return NULL;
	}
	if (program->protocol == CONF_FASTCGI || is_unknown(program))
		return program;
	conf_error(reader, pos, "program %s cannot authorize: only programs of "
	    "FastCGI can, so it needs \"fastcgi\" and its file or server",
	    name);
	return NULL;
}

static void
complete_authorizer(struct conf_reader *reader, struct conf_rules *rules,
    const struct conf_rules *around, struct conf_object object)
{
	struct conf_guard		*guard = &rules->guard;
	const struct conf_origin	*own = conf_origin(object,
					    conf_row_find_word("authorize",
					    object.kind), 0);

	if (own == NULL && around != NULL) {
		guard->authorizer = around->guard.authorizer;
		guard->authorize_from = around->guard.authorize_from;
	}
	if (guard->authorize != NULL) {
		guard->authorizer = find_authorizer(reader, guard->authorize,
		    own->pos);
		guard->authorize_from = rules;
	}
	guard->active |= guard->authorizer != NULL;
}

static void
complete_block(struct conf_reader *reader, struct conf_rules *rules,
    const struct conf_rules *around, struct conf_object object)
{
	complete_authorizer(reader, rules, around, object);
	if (rules->run.named.n > 0 || rules->run.cgi != NULL) {
		rules->run.from = rules;
		make_list(reader, rules, object);
	} else if (around != NULL) {
		rules->run.from = around->run.from;
		rules->run.list = around->run.list;
		rules->run.n = around->run.n;
	}
	complete_body(reader, rules, around, object);
}

const struct conf_rules *
conf_run_find_around(const struct conf_site *site, size_t path)
{
	const char	*prefix = site->paths[path].prefix;
	size_t		 len;

	for (size_t i = path + 1; i < site->npaths; i++) {
		len = strlen(site->paths[i].prefix);
		if (strncmp(prefix, site->paths[i].prefix, len) == 0 &&
		    prefix[len] == '/')
			return &site->paths[i].rules;
	}
	return &site->rules;
}

/* A path around another one comes before it. */
void
conf_run_complete(struct conf_reader *reader, struct conf_site *site)
{
	complete_block(reader, &site->rules, NULL, conf_object_site(site));
	for (size_t i = site->npaths; i-- > 0;)
		complete_block(reader, &site->paths[i].rules,
		    conf_run_find_around(site, i),
		    conf_object_path(&site->paths[i]));
}

void
conf_run_free(struct conf_rules *rules)
{
	if (rules->run.from == rules)
		mem_drop(&rules->run.list);
	conf_chain_free_rules(rules);
}
