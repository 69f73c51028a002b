/*
 * variables: filters what main says, and adds what the conf says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/mem.h"
#include "programs/variables.h"

#define PATH_DEFAULT	"/usr/local/bin:/usr/bin:/bin"

/* The variables that main may set beside those of prefixes; whether each is a
 * path. */
static const struct {
	const char	*name;
	bool		 is_file;
} table[] = {
	{ "AUTH_TYPE", false },
	{ "CONTENT_LENGTH", false },
	{ "CONTENT_TYPE", false },
	{ "DOCUMENT_ROOT", true },
	{ "DOCUMENT_URI", false },
	{ "GATEWAY_INTERFACE", false },
	{ "HTTPS", false },
	{ "PATH_INFO", false },
	{ "PATH_TRANSLATED", true },
	{ "QUERY_STRING", false },
	{ "REDIRECT_STATUS", false },
	{ "REMOTE_ADDR", false },
	{ "REMOTE_PORT", false },
	{ "REMOTE_USER", false },
	{ "REQUEST_METHOD", false },
	{ "REQUEST_SCHEME", false },
	{ "REQUEST_URI", false },
	{ "SCRIPT_FILENAME", true },
	{ "SCRIPT_NAME", false },
	{ "SERVER_ADDR", false },
	{ "SERVER_NAME", false },
	{ "SERVER_PORT", false },
	{ "SERVER_PROTOCOL", false },
	{ "SERVER_SOFTWARE", false },
};

struct list {
	char	**at;			/* owned, and the texts */
	size_t	  n;
};

static bool
has_name(const char *text, struct str name)
{
	return strncmp(text, name.at, name.len) == 0 && text[name.len] == '=';
}

/* Adds a variable unless one of that name is there. */
static void
add_variable(struct list *l, struct str name, const char *value)
{
	struct buf	text = { 0 };

	for (size_t i = 0; i < l->n; i++)
		if (has_name(l->at[i], name))
			return;
	buf_add(&text, name.at, name.len);
	buf_addc(&text, '=');
	buf_adds(&text, value);
	l->at = mem_grow(l->at, l->n + 2, sizeof(*l->at));
	l->at[l->n++] = mem_string(buf_string(&text));
	l->at[l->n] = NULL;
	buf_free(&text);
}

/*
 * Files
 */

static bool
is_beneath(const char *path, const char *directory)
{
	size_t	len = strlen(directory);

	while (len > 0 && directory[len - 1] == '/')
		len--;
	return strncmp(path, directory, len) == 0 &&
	    (path[len] == '/' || (path[len] == '\0' && len > 0));
}

static bool
has_dots(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/..")) != NULL; at += 3)
		if (at[3] == '/' || at[3] == '\0')
			return true;
	return false;
}

struct search {
	const char	*path;
	bool		 found;
};

static void
try_directory(void *search, const char *directory)
{
	struct search	*s = search;

	s->found = s->found || is_beneath(s->path, directory);
}

/* Homes of users may be anywhere. */
static bool
may_name(const struct conf *conf, const struct conf_program *program,
    const char *path)
{
	struct search	s = { path, conf_find_users(conf) };

	if (path[0] != '/' || has_dots(path))
		return false;
	conf_program_each_directory(conf, program, try_directory, &s);
	return s.found;
}

/*
 * Main's texts
 */

/* Of fields, and of what programs that authorize say: no name that begins so
 * changes what runs. */
static const char *const prefixes[] = { "HTTP_", "AUTH_", "REMOTE_" };

static bool
has_prefix(struct str name)
{
	struct str	prefix;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		prefix = str_of(prefixes[i]);
		if (str_starts(name, prefix) && name.len > prefix.len)
			return true;
	}
	return false;
}

static bool
is_harmless(struct str name)
{
	if (!has_prefix(name) || str_same(name, STR("HTTP_PROXY")))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if ((name.at[i] < 'A' || name.at[i] > 'Z') &&
		    (name.at[i] < '0' || name.at[i] > '9') &&
		    name.at[i] != '_')
			return false;
	return true;
}

/* Whether main may set such a variable. */
static bool
is_known(struct str name, bool *is_file)
{
	*is_file = false;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (str_same(name, str_of(table[i].name))) {
			*is_file = table[i].is_file;
			return true;
		}
	return is_harmless(name);
}

/* Returns 0 or an errno.  A filter with an application opens no file, and its
 * manager may have another conf than main. */
static int
add_text(struct list *l, const struct conf *conf,
    const struct conf_program *program, const char *text)
{
	const char	*value = strchr(text, '=');
	struct str	 name = { text, 0 };
	bool		 is_file;

	if (value == NULL || value == text)
		return EBADMSG;
	name.len = (size_t)(value - text);
	value++;
	if (!is_known(name, &is_file))
		return 0;
	if (is_file && program->application == NULL &&
	    !may_name(conf, program, value))
		return EACCES;
	add_variable(l, name, value);
	return 0;
}

static int
add_texts(struct list *l, const struct conf *conf,
    const struct conf_program *program, struct str texts)
{
	int	error = 0;

	if (texts.len > 0 && texts.at[texts.len - 1] != '\0')
		return EBADMSG;
	while (error == 0 && texts.len > 0) {
		error = add_text(l, conf, program, texts.at);
		str_skip(&texts, strlen(texts.at) + 1);
	}
	return error;
}

char **
variables_make(const struct conf *conf, const struct conf_program *program,
    struct str texts, const char *script)
{
	struct list	l = { 0 };
	int		error;

	for (size_t i = 0; i < program->variables.n; i++)
		add_variable(&l, str_of(program->variables.at[i].name),
		    program->variables.at[i].value);
	add_variable(&l, STR("PATH"), PATH_DEFAULT);
	if (script != NULL)
		add_variable(&l, STR("SCRIPT_FILENAME"), script);
	error = add_texts(&l, conf, program, texts);
	if (error == 0)
		return l.at;
	variables_free(&l.at);
	errno = error;
	return NULL;
}

const char *
variables_get(char *const *variables, const char *name)
{
	for (; *variables != NULL; variables++)
		if (has_name(*variables, str_of(name)))
			return *variables + strlen(name) + 1;
	return NULL;
}

void
variables_free(char ***variables)
{
	for (char **at = *variables; *at != NULL; at++)
		free(*at);
	mem_drop(variables);
}
