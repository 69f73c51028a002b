/*
 * program: the programs of a conf: values of block program and of "run", and
 * look-ups of requests.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fnmatch.h>
#include <iconv.h>
#include <string.h>
#include <unistd.h>

#include "conf/run.h"
#include "conf/setters.h"
#include "lib/mem.h"
#include "lib/proc.h"
#include "lib/regular.h"

#define LETTERS		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS		"0123456789"
#define NAME_MAX_LEN	32		/* bytes; it begins lines of logs */
#define FIELDS		"HTTP_"		/* begins variables of field lines */

const char *
conf_program_wrong_name(const char *name)
{
	size_t	len = strlen(name);

	return len == 0 || len > NAME_MAX_LEN ||
	    strspn(name, LETTERS DIGITS "._-") != len ? "\"%s\" is not a "
	    "name for a program: 32 letters, digits, dots, dashes and _ at "
	    "most" :
	    strcmp(name, CONF_RUN_OFF) == 0 || strcmp(name, "for") == 0 ?
	    "\"%s\" has a meaning of its own behind \"run\": choose another "
	    "name" : NULL;
}

/* Whether a file can be executed; else reports it. */
static bool
is_executable(struct conf_reader *reader, const struct conf_word *word)
{
	struct stat	 sb;
	const char	*name = word->text;

	if (name[0] != '/')
		conf_error(reader, word->pos, "\"%s\": a command is named from "
		    "/ on, as /usr/bin/program", name);
	else if (stat(name, &sb) == 0 && S_ISSOCK(sb.st_mode))
		conf_error(reader, word->pos, "%s is a socket: write "
		    "fastcgi unix:%s", name, name);
	else if (stat(name, &sb) == 0 && !S_ISREG(sb.st_mode))
		conf_error(reader, word->pos, "%s is %s, not a file", name,
		    regular_kind(sb.st_mode));
	else if (access(name, X_OK) == -1)
		conf_error(reader, word->pos, "cannot run %s: %s%s", name,
		    strerror(errno), errno != EACCES ? "" : "; chmod +x if it "
		    "is a program");
	else
		return true;
	return false;
}

/* Adds the file, or an argument behind it. */
bool
conf_program_set_command(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_words	*command = member;

	(void)row;
	if (command->n == 0 && !is_executable(reader, word))
		return false;
	conf_name_add(command, word->text);
	return true;
}

static const char	*helper = AMPED_LIBEXEC "/amped-helper";

void
conf_program_set_helper(const char *file)
{
	helper = file;
}

static const char *
wrong_charset(char *const *names)
{
	iconv_t	cd = iconv_open(names[1], names[0]);

	if (cd == (iconv_t)-1)
		return "filter charset: this system cannot convert from the "
		    "first to the second: \"iconv -l\" lists what it can";
	iconv_close(cd);
	return NULL;
}

static const char *
wrong_module(char *const *file)
{
	return file[0][0] != '/' ?
	    "filter module: write the name of its file from / on" :
	    access(file[0], R_OK) == -1 ?
	    "filter module: its file is not there, or cannot be read" : NULL;
}

/* The filters of amped; how many arguments each has at least; a function that
 * tells what is wrong with these, NULL: nothing. */
static const struct {
	const char	*name;
	size_t		 arguments;
	const char	*lack;
	const char	*(*wrong)(char *const *arguments);
} filters[] = {
	{ .name = "ssi" },
	{ "replace", 2, "filter replace needs two words behind it", NULL },
	{ "charset", 2, "filter charset needs two words behind it",
	    wrong_charset },
	{ "module", 1, "filter module needs a file behind it", wrong_module },
	{ "fastcgi", 1, "filter fastcgi needs the name of a program behind it",
	    NULL },
#ifdef HAVE_CMARK
	{ .name = "markdown" },
#endif
};

/* Adds a command, or an argument behind it.  A filter of amped's is a command
 * of amped-helper. */
bool
conf_program_set_filter(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_words	*command = member;

	if (command->n > 0 || word->text[0] == '/')
		return conf_program_set_command(reader, row, word, member);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (strcmp(filters[i].name, word->text) == 0) {
			conf_name_add(command, word->text);
			return true;
		}
	conf_error(reader, word->pos, "\"%s\" is no filter: write a file from "
	    "/ on, ssi, replace, charset, markdown, module or fastcgi",
	    word->text);
	return false;
}

const char *
conf_program_complete_filter(struct conf_program *program)
{
	const struct conf_words	*given = &program->given.filter;
	struct conf_words	*command = &program->command;
	size_t			 i = 0;

	if (given->at[0][0] == '/') {
		*command = *given;
		return NULL;
	}
	while (strcmp(filters[i].name, given->at[0]) != 0)
		i++;
	if (given->n <= filters[i].arguments)
		return filters[i].lack;
	conf_name_add(&program->given.made, helper);
	conf_name_add(&program->given.made, "filter");
	for (size_t k = 0; k < given->n; k++)
		conf_name_add(&program->given.made, given->at[k]);
	*command = program->given.made;
	program->is_own = true;
	return filters[i].wrong == NULL ? NULL :
	    filters[i].wrong(given->at + 1);
}

/* Adds a server; or the file of own processes, or an argument behind it. */
bool
conf_program_set_fastcgi(struct conf_reader *reader,
    const struct conf_row *row, const struct conf_word *word, void *member)
{
	struct conf_words	*words = member;
	bool			 file = word->text[0] == '/';

	if (words->n == 0 ? file : words->at[0][0] == '/')
		return conf_program_set_command(reader, row, word, member);
	if (!conf_error_none(reader, word, file ? "\"%s\": a file of "
	    "processes that amped starts excludes servers that others start, "
	    "which stand before it" : conf_server_wrong(word->text)))
		return false;
	conf_name_add(words, word->text);
	return true;
}

const char *
conf_program_wrong_variable(const char *name)
{
	return name[0] == '\0' || strchr(DIGITS, name[0]) != NULL ||
	    name[strspn(name, LETTERS DIGITS "_")] != '\0' ? "\"%s\" is not a "
	    "variable's name: letters, digits and _" :
	    strncmp(name, FIELDS, strlen(FIELDS)) == 0 ? "%s is a field of a "
	    "request: a client sets it" : NULL;
}

/* Adds a variable from two words, a name and a value. */
bool
conf_program_set_variable(struct conf_reader *reader,
    const struct conf_row *row, const struct conf_word *words, void *member)
{
	const struct conf_pairs	*pairs = member;

	if (!conf_error_none(reader, words,
	    conf_program_wrong_variable(words[0].text)))
		return false;
	for (size_t i = 0; i < pairs->n; i++) {
		if (strcmp(pairs->at[i].name, words[0].text) != 0)
			continue;
		conf_error(reader, words[0].pos,
		    "%s %s is given twice in this block", row->word,
		    words[0].text);
		return false;
	}
	conf_name_add_pair(member, words, 0);
	return true;
}

static void
add_pair(struct conf_pairs *pairs, const char *pattern, const char *name)
{
	pairs->at = mem_grow(pairs->at, pairs->n + 1, sizeof(*pairs->at));
	pairs->at[pairs->n++] = (struct conf_pair){
		mem_string(pattern), mem_string(name), 0
	};
}

void
conf_program_add_pattern(struct conf_pairs *pairs, const char *pattern)
{
	struct conf_pair	*last = &pairs->at[pairs->n - 1];

	if (last->name[0] != '\0') {
		add_pair(pairs, pattern, last->value);
		return;
	}
	mem_drop(&last->name);
	last->name = mem_string(pattern);
}

/* Adds a name, or "off", for each path; patterns behind it change that. */
bool
conf_program_set_run(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	(void)row;
	if (strcmp(word->text, CONF_RUN_OFF) != 0 &&
	    !conf_error_none(reader, word, conf_program_wrong_name(word->text)))
		return false;
	add_pair(member, "", word->text);
	return true;
}

/* Sets the pattern of the name before it; a further one has a pair of its
 * own. */
bool
conf_program_set_pattern(struct conf_reader *reader,
    const struct conf_row *row, const struct conf_word *word, void *member)
{
	struct conf_pairs	*pairs = member;
	const struct conf_pair	*last = &pairs->at[pairs->n - 1];
	const char		*wrong = NULL;

	(void)row;
	if (strcmp(last->value, CONF_RUN_OFF) == 0)
		wrong = "\"run off\" is for each path: leave \"for\" out";
	else if (word->text[0] == '\0' || strchr(word->text, '/') != NULL)
		wrong = "\"%s\" is not a pattern of names: it is for the last "
		    "segment of a path, without a slash, as *.php";
	if (!conf_error_none(reader, word, wrong))
		return false;
	conf_program_add_pattern(pairs, word->text);
	return true;
}

struct conf_program *
conf_program_add(struct conf *conf)
{
	struct conf_program	*program;

	conf->programs = mem_grow(conf->programs, conf->nprograms + 1,
	    sizeof(*conf->programs));
	program = &conf->programs[conf->nprograms];
	*program = (struct conf_program){ .number = conf->nprograms };
	conf->nprograms++;
	return program;
}

const char *
conf_program_label(const struct conf_program *p)
{
	return p->name != NULL ? p->name : p->directory;
}

unsigned
conf_program_most(const struct conf_program *p)
{
	if (p->application != NULL)
		p = p->application;
	return p->most != 0 ? (unsigned)p->most : 2 * proc_processors();
}

bool
conf_program_all_stream(const struct conf_rules *rules)
{
	for (size_t i = 0; i < rules->run.n; i++)
		if (!rules->run.list[i].program->stream)
			return false;
	return rules->run.n > 0;
}

const struct conf_program *
conf_program_of_all(const struct conf_rules *rules)
{
	return rules->run.n == 1 && rules->run.list[0].pattern == NULL ?
	    rules->run.list[0].program : NULL;
}

const struct conf_program *
conf_program_of_file(const struct conf_rules *rules, const char *name)
{
	for (size_t i = 0; i < rules->run.n; i++)
		if (rules->run.list[i].pattern != NULL &&
		    fnmatch(rules->run.list[i].pattern, name, 0) == 0)
			return rules->run.list[i].program;
	return NULL;
}

static bool
is_in_chain(const struct conf_rules *rules, const struct conf_program *program)
{
	const struct conf_chain	*chain;

	for (size_t i = 0; i < rules->chains.n; i++) {
		chain = rules->chains.list[i].chain;
		for (size_t k = 0; k < chain->n; k++)
			if (chain->list[k]->number == program->number)
				return true;
	}
	return false;
}

static bool
is_in_list(const struct conf_rules *rules, const struct conf_program *program)
{
	if (program->is_filter)
		return is_in_chain(rules, program);
	for (size_t i = 0; i < rules->run.n; i++)
		if (rules->run.list[i].program->number == program->number)
			return true;
	return false;
}

static bool
is_run_by(const struct conf_site *site, const struct conf_program *program)
{
	bool	found = is_in_list(&site->rules, program);

	for (size_t i = 0; !found && i < site->npaths; i++)
		found = is_in_list(&site->paths[i].rules, program);
	return found;
}

void
conf_program_each_directory(const struct conf *conf,
    const struct conf_program *program,
    void (*call)(void *context, const char *directory), void *context)
{
	const struct conf_site	*site;
	const struct conf_rules	*rules;

	if (program->directory != NULL)
		call(context, program->directory);
	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		if (!is_run_by(site, program))
			continue;
		if (site->rules.root != NULL)
			call(context, site->rules.root);
		for (size_t k = 0; k < site->npaths; k++) {
			rules = &site->paths[k].rules;
			if (rules->root != NULL)
				call(context, rules->root);
			if (rules->alias != NULL)
				call(context, rules->alias);
		}
	}
}
