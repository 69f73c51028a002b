/*
 * ssi: reads a page, and does what its directives say.
 *
 * Files that a page includes are beneath the root of its site, and are pages,
 * too.  Names that begin with a dot are not included: they are not served.
 */
#include <sys/stat.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/filters/filter.h"
#include "helpers/filters/ssi.h"
#include "lib/io.h"
#include "lib/mem.h"

#define BEGIN		"<!--#"
#define END		"-->"
#define ERROR_TEXT	"[an error occurred while processing this directive]"
#define PATH_SIZE	4096

/* A file on its way out.  What it sets by "config" ends with it. */
struct page {
	struct ssi	*ssi;
	const char	*path;		/* beneath the root */
	unsigned	 depth;
	char		*error, *undefined, *time_format;	/* owned */
	bool		 abbreviates;	/* sizes */
	/* Conditions that this place is in. */
	struct {
		bool	 active;	/* this part is put out */
		bool	 taken;		/* a part was, or none is to be */
	}		 conditions[SSI_DEPTH];
	size_t		 nconditions;
};

struct attribute {
	struct str	 name, value;
};

static void	include_page(const struct page *, struct str text,
		    const char *path);

static bool
is_active(const struct page *p)
{
	return p->nconditions == 0 ||
	    p->conditions[p->nconditions - 1].active;
}

static void
put_text(const char *text)
{
	filter_write(text, strlen(text));
}

/* A directive cannot be done: the page says so, and the error log why. */
static void
put_error(const struct page *p, const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", p->path, what, why);
	put_text(p->error);
}

static bool
is(struct str text, const char *word)
{
	return str_same_nocase(text, str_of(word));
}

/*
 * Attributes
 */

static void
skip_space(struct str *at)
{
	while (at->len > 0 && isspace((unsigned char)at->at[0]))
		str_skip(at, 1);
}

/* Takes bytes up to one of a set, or to white space. */
static struct str
take_word(struct str *at, const char *ends)
{
	struct str	word = { at->at, 0 };

	while (word.len < at->len &&
	    !isspace((unsigned char)at->at[word.len]) &&
	    strchr(ends, at->at[word.len]) == NULL)
		word.len++;
	str_skip(at, word.len);
	return word;
}

/* Takes a value in quotes, or up to white space. */
static struct str
take_value(struct str *at)
{
	char		quote = at->len > 0 ? at->at[0] : '\0';
	struct str	value;

	if (quote != '"' && quote != '\'' && quote != '`')
		return take_word(at, "");
	str_skip(at, 1);
	value = (struct str){ at->at, 0 };
	while (value.len < at->len && at->at[value.len] != quote)
		value.len += 1 + (at->at[value.len] == '\\' &&
		    value.len + 1 < at->len);
	str_skip(at, value.len + (value.len < at->len));
	return value;
}

/* Takes the next attribute; false: there is none. */
static bool
take_attribute(struct str *at, struct attribute *a)
{
	skip_space(at);
	a->name = take_word(at, "=");
	a->value = (struct str){ at->at, 0 };
	skip_space(at);
	if (at->len > 0 && at->at[0] == '=') {
		str_skip(at, 1);
		skip_space(at);
		a->value = take_value(at);
	}
	return a->name.len > 0;
}

/* The value with variables, as a string that the caller frees. */
static char *
expand(const struct page *p, struct str value)
{
	struct buf	 text = { 0 };
	char		*copy;

	ssi_expression_expand(p->ssi, value, &text);
	copy = mem_string(buf_string(&text));
	buf_free(&text);
	return copy;
}

/*
 * Files
 */

/* Whether a path has no names that are not to be included. */
static bool
is_plain(const char *path)
{
	return path[0] != '.' && path[0] != '/' && path[0] != '\0' &&
	    strstr(path, "/.") == NULL && strstr(path, "//") == NULL;
}

/* Takes the names "." and ".." out of a path, in place; false: the path leads
 * above its start. */
static bool
normalise(char *path)
{
	const char	*from = path;
	char		*to = path, *start = path + (*path == '/');
	size_t		 n;

	for (; *from != '\0'; from += n) {
		n = strcspn(from, "/");
		if (n == 2 && strncmp(from, "..", n) == 0) {
			if (to == start)
				return false;
			for (to--; to > start && to[-1] != '/'; to--)
				;
		} else if (n != 1 || from[0] != '.') {
			n += from[n] == '/';
			memmove(to, from, n);
			to += n;
			continue;
		}
		n += from[n] == '/';
	}
	*to = '\0';
	return true;
}

/* Makes the path beneath the root of a name beside a file; false: too long. */
static bool
join_relative(const char *file, const char *name, char path[PATH_SIZE])
{
	const char	*slash = strrchr(file, '/');
	int		 n = slash != NULL ? (int)(slash - file) + 1 : 0;

	n = snprintf(path, PATH_SIZE, "%.*s%s", n, file, name);
	return n >= 0 && n < PATH_SIZE;
}

/* Decodes a URL's path, without query; false: it is too long, or none. */
static bool
decode(const char *name, char decoded[PATH_SIZE])
{
	static const char	digits[] = "0123456789abcdef";
	const char		*high, *low;
	size_t			 n = 0;

	for (; *name != '\0' && strchr("?#", *name) == NULL; name++) {
		if (n == PATH_SIZE - 1)
			return false;
		decoded[n] = *name;
		if (*name == '%') {
			high = name[1] == '\0' ? NULL :
			    strchr(digits, tolower((unsigned char)name[1]));
			low = high == NULL || name[2] == '\0' ? NULL :
			    strchr(digits, tolower((unsigned char)name[2]));
			if (low == NULL)
				return false;
			decoded[n] = (char)((high - digits) * 16 +
			    (low - digits));
			name += 2;
		}
		if (decoded[n++] == '\0')
			return false;
	}
	decoded[n] = '\0';
	return true;
}

/* Makes the path beneath the root of a URL's path. */
static bool
join_virtual(const struct page *p, const char *name, char path[PATH_SIZE])
{
	struct str	 prefix = p->ssi->prefix;
	char		 decoded[PATH_SIZE];

	if (!decode(name, decoded))
		return false;
	if (decoded[0] != '/')
		return join_relative(p->path, decoded, path) &&
		    normalise(path);
	if (!normalise(decoded) || strncmp(decoded, prefix.at,
	    prefix.len) != 0 || decoded[prefix.len] != '/')
		return false;
	strcpy(path, decoded + prefix.len + 1);
	return true;
}

/* Opens a file that an attribute names, and notes it; -1: the error has been
 * put out.  path: beneath the root. */
static int
open_named(const struct page *p, const struct attribute *a,
    char path[PATH_SIZE])
{
	char		*name = expand(p, a->value);
	struct buf	 absolute = { 0 };
	bool		 good;
	int		 fd = -1;

	good = p->ssi->root != -1 && (is(a->name, "virtual") ?
	    join_virtual(p, name, path) : is(a->name, "file") &&
	    normalise(name) && is_plain(name) &&
	    join_relative(p->path, name, path)) && is_plain(path);
	if (good) {
		fd = beneath_open(p->ssi->root, path, BENEATH_READ);
		buf_addf(&absolute, "%s/%s", p->ssi->root_name, path);
		filter_note(buf_string(&absolute), fd);
		buf_free(&absolute);
	}
	if (fd == -1)
		put_error(p, name, good ? strerror(errno) :
		    "no name of a file here");
	free(name);
	return fd;
}

static void
do_include(struct page *p, struct str rest)
{
	struct attribute	a;
	struct buf		text = { 0 };
	char			path[PATH_SIZE];
	struct stat		st;
	int			fd;

	while (take_attribute(&rest, &a)) {
		fd = open_named(p, &a, path);
		if (fd == -1)
			continue;
		if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
			put_error(p, path, "not a file");
		else if (p->depth == SSI_DEPTH)
			put_error(p, path, "too many files within files");
		else if (filter_read(fd, &text) == -1)
			put_error(p, path, strerror(errno));
		else
			include_page(p, (struct str){ buf_string(&text),
			    text.len }, path);
		buf_free(&text);
		io_close(&fd);
	}
}

/* Puts a number with a comma in front of each three digits. */
static void
put_number(int64_t number)
{
	char	text[24];
	int	n = snprintf(text, sizeof(text), "%lld", (long long)number);

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			put_text(",");
		filter_write(text + i, 1);
	}
}

/* Puts a size in four columns: three digits, or two with a point, and a unit.
 * A number of 973 of a unit is written as 1.0 of the next one. */
static void
put_abbreviated(int64_t size)
{
	const char	*unit = " KMGTPE";
	int64_t		 rest = 0, tenths;
	char		 text[24];

	for (; size >= 973; size >>= 10, unit++)
		rest = size & 1023;
	tenths = (rest * 5 + 256) / 512;
	if (unit[0] == ' ' || size > 9 || (size == 9 && rest >= 973))
		snprintf(text, sizeof(text), "%3d%c", (int)size + (rest >= 512),
		    *unit);
	else
		snprintf(text, sizeof(text), "%d.%d%c",
		    (int)(size + tenths / 10), (int)(tenths % 10), *unit);
	put_text(text);
}

static void
format_time(const struct page *p, time_t t, bool gmt, char text[200])
{
	struct tm	tm;

	if ((gmt ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)) == NULL ||
	    strftime(text, 200, p->time_format, &tm) == 0)
		text[0] = '\0';
}

/* fsize, and flastmod. */
static void
do_stat(struct page *p, struct str rest, bool size)
{
	struct attribute	a;
	char			path[PATH_SIZE], text[200];
	struct stat		st;
	int			fd;

	while (take_attribute(&rest, &a)) {
		fd = open_named(p, &a, path);
		if (fd == -1)
			continue;
		if (fstat(fd, &st) == -1)
			put_error(p, path, strerror(errno));
		else if (size && p->abbreviates)
			put_abbreviated(st.st_size);
		else if (size)
			put_number(st.st_size);
		else {
			format_time(p, st.st_mtime, false, text);
			put_text(text);
		}
		io_close(&fd);
	}
}

/*
 * Values
 */

static void
put_entities(const char *text)
{
	static const char *const	entities[] = {
		['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;",
		['"'] = "&quot;"
	};
	size_t	c;

	for (; *text != '\0'; text++) {
		c = (unsigned char)*text;
		if (c < sizeof(entities) / sizeof(entities[0]) &&
		    entities[c] != NULL)
			put_text(entities[c]);
		else
			filter_write(text, 1);
	}
}

static void
put_url(const char *text)
{
	char	code[4];

	for (; *text != '\0'; text++) {
		if (isalnum((unsigned char)*text) ||
		    strchr("-._~/:", *text) != NULL) {
			filter_write(text, 1);
			continue;
		}
		snprintf(code, sizeof(code), "%%%02x", (unsigned char)*text);
		put_text(code);
	}
}

/* Sets the variables that are times, in the form that the page has now.  The
 * present time is that at which the result is made. */
static void
set_times(const struct page *p)
{
	struct ssi	*s = p->ssi;
	char		 text[200];

	format_time(p, s->began, false, text);
	ssi_expression_set(s, "DATE_LOCAL", text);
	format_time(p, s->began, true, text);
	ssi_expression_set(s, "DATE_GMT", text);
	if (s->modified == 0)
		return;
	format_time(p, s->modified, false, text);
	ssi_expression_set(s, "LAST_MODIFIED", text);
}

static void
do_echo(struct page *p, struct str rest)
{
	struct attribute	 a;
	struct str		 encoding = STR("entity");
	const char		*value;
	char			*name;

	while (take_attribute(&rest, &a)) {
		if (is(a.name, "encoding")) {
			encoding = a.value;
			continue;
		}
		if (!is(a.name, "var")) {
			put_error(p, "echo", "unknown attribute");
			continue;
		}
		name = expand(p, a.value);
		value = ssi_expression_get(p->ssi, name);
		free(name);
		if (value == NULL)
			put_text(p->undefined);
		else if (is(encoding, "none"))
			put_text(value);
		else if (is(encoding, "url"))
			put_url(value);
		else
			put_entities(value);
	}
}

static void
do_set(struct page *p, struct str rest)
{
	struct attribute	 a;
	char			*name = NULL, *value = NULL;

	while (take_attribute(&rest, &a)) {
		if (is(a.name, "var") && name == NULL)
			name = expand(p, a.value);
		else if (is(a.name, "value") && value == NULL)
			value = expand(p, a.value);
	}
	if (name == NULL || value == NULL)
		put_error(p, "set", "it needs var and value");
	else
		ssi_expression_set(p->ssi, name, value);
	free(name);
	free(value);
}

static void
set_text(const struct page *p, char **text, struct str value)
{
	free(*text);
	*text = expand(p, value);
}

static void
do_config(struct page *p, struct str rest)
{
	struct attribute	a;

	while (take_attribute(&rest, &a)) {
		if (is(a.name, "errmsg"))
			set_text(p, &p->error, a.value);
		else if (is(a.name, "echomsg"))
			set_text(p, &p->undefined, a.value);
		else if (is(a.name, "timefmt")) {
			set_text(p, &p->time_format, a.value);
			set_times(p);
		} else if (is(a.name, "sizefmt"))
			p->abbreviates = is(a.value, "abbrev");
		else
			put_error(p, "config", "unknown attribute");
	}
}

static void
do_printenv(const struct page *p)
{
	const struct ssi	*s = p->ssi;

	for (size_t i = 0; i < s->nvariables; i++) {
		if (isdigit((unsigned char)s->variables[i].name[0]))
			continue;	/* of a regular expression */
		put_entities(s->variables[i].name);
		put_text("=");
		put_entities(s->variables[i].value);
		put_text("\n");
	}
}

/*
 * Conditions
 */

/* The value of an expression; one that is none is false, and an error. */
static bool
is_true(const struct page *p, struct str rest)
{
	struct attribute	 a;
	char			*expression;
	int			 result = -1;

	if (take_attribute(&rest, &a) && is(a.name, "expr")) {
		expression = mem_get(a.value.len + 1);
		memcpy(expression, a.value.at, a.value.len);
		expression[a.value.len] = '\0';
		result = ssi_expression_evaluate(p->ssi, expression);
		free(expression);
	}
	if (result == -1)
		put_error(p, "if", "not an expression");
	return result == 1;
}

/* Within a part that is not put out, no condition counts. */
static void
do_if(struct page *p, struct str rest)
{
	bool	outer = is_active(p), active;

	if (p->nconditions == SSI_DEPTH) {
		put_error(p, "if", "too many conditions within conditions");
		return;
	}
	active = outer && is_true(p, rest);
	p->conditions[p->nconditions].active = active;
	p->conditions[p->nconditions++].taken = active || !outer;
}

/* elif, else (rest NULL) and endif. */
static void
do_else(struct page *p, const struct str *rest)
{
	size_t	last = p->nconditions - 1;

	if (p->nconditions == 0) {
		put_error(p, "else", "there is no if");
		return;
	}
	p->conditions[last].active = !p->conditions[last].taken &&
	    (rest == NULL || is_true(p, *rest));
	p->conditions[last].taken |= p->conditions[last].active;
}

/* Does what says which parts are put out; false: it is another directive. */
static bool
do_condition(struct page *p, struct str name, struct str rest)
{
	if (is(name, "if"))
		do_if(p, rest);
	else if (is(name, "elif"))
		do_else(p, &rest);
	else if (is(name, "else"))
		do_else(p, NULL);
	else if (!is(name, "endif"))
		return false;
	else if (p->nconditions == 0)
		put_error(p, "endif", "there is no if");
	else
		p->nconditions--;
	return true;
}

/* Whether a directive needs an attribute, and has none. */
static bool
needs_attribute(struct str name, struct str rest)
{
	struct attribute	a;

	return (is(name, "include") || is(name, "echo") ||
	    is(name, "config") || is(name, "fsize") || is(name, "flastmod")) &&
	    !take_attribute(&rest, &a);
}

static void
do_directive(struct page *p, struct str text)
{
	struct str	name;

	skip_space(&text);
	name = take_word(&text, "=");
	if (do_condition(p, name, text) || !is_active(p))
		return;
	if (needs_attribute(name, text))
		put_error(p, "directive", "it has no attribute");
	else if (is(name, "include"))
		do_include(p, text);
	else if (is(name, "echo"))
		do_echo(p, text);
	else if (is(name, "set"))
		do_set(p, text);
	else if (is(name, "config"))
		do_config(p, text);
	else if (is(name, "fsize") || is(name, "flastmod"))
		do_stat(p, text, is(name, "fsize"));
	else if (is(name, "printenv"))
		do_printenv(p);
	else
		put_error(p, "directive", is(name, "exec") ?
		    "exec is not done: no program is executed" : "unknown");
}

/* Where a value begins, with its quote, that has no end in the text that it was
 * taken from; NULL: there is none. */
static const char *
find_open(const struct attribute *a, struct str rest)
{
	const char	*quote = a->value.at - 1;

	if (rest.len > 0 || rest.at != a->value.at + a->value.len ||
	    quote < a->name.at + a->name.len)
		return NULL;
	if (memchr("\"'`", *quote, 3) != NULL)
		return quote;
	return a->value.len > 0 ? a->value.at : NULL;
}

/* Finds the end of a directive, whose text a value may contain; NULL: there is
 * none.  Looks at no more than the directive. */
static const char *
find_end(struct str text)
{
	const char		*after = text.at + text.len, *open;
	const char		*end = memmem(text.at, text.len, END,
				    strlen(END));
	struct str		 rest = { text.at, 0 };
	struct attribute	 a;

	if (end != NULL)
		rest.len = (size_t)(end - rest.at);
	skip_space(&rest);
	(void)take_word(&rest, "=");
	while (end != NULL && take_attribute(&rest, &a)) {
		open = find_open(&a, rest);
		if (open == NULL)
			continue;
		rest = (struct str){ open, (size_t)(after - open) };
		(void)take_value(&rest);
		end = rest.len == 0 ? NULL :
		    memmem(rest.at, rest.len, END, strlen(END));
		if (end != NULL)
			rest.len = (size_t)(end - rest.at);
	}
	return end;
}

static void
put_page(struct page *p, struct str text)
{
	const char	*begin, *end;
	size_t		 before;

	while ((begin = memmem(text.at, text.len, BEGIN, strlen(BEGIN))) !=
	    NULL) {
		before = (size_t)(begin - text.at);
		if (is_active(p))
			filter_write(text.at, before);
		str_skip(&text, before + strlen(BEGIN));
		end = find_end(text);
		if (end == NULL) {
			put_error(p, BEGIN, "a directive has no end");
			return;
		}
		before = (size_t)(end - text.at);
		do_directive(p, (struct str){ text.at, before });
		str_skip(&text, before + strlen(END));
	}
	if (is_active(p))
		filter_write(text.at, text.len);
}

/* Puts a page out from its beginning to its end. */
static void
put_whole_page(struct ssi *s, struct str text, const char *path,
    unsigned depth)
{
	struct page	p = { .ssi = s, .path = path, .depth = depth,
			    .error = mem_string(ERROR_TEXT),
			    .undefined = mem_string("(none)"),
			    .time_format = mem_string(
			    "%A, %d-%b-%Y %H:%M:%S %Z") };

	set_times(&p);
	put_page(&p, text);
	free(p.error);
	free(p.undefined);
	free(p.time_format);
}

static void
include_page(const struct page *in, struct str text, const char *path)
{
	put_whole_page(in->ssi, text, path, in->depth + 1);
	set_times(in);
}

/*
 * The page of a request
 */

static void
set_variables(struct ssi *s, const char *uri)
{
	const char	*slash = strrchr(uri, '/');
	struct stat	 st;

	ssi_expression_set(s, "DOCUMENT_URI", uri);
	ssi_expression_set(s, "DOCUMENT_NAME", slash != NULL ? slash + 1 : uri);
	ssi_expression_set(s, "QUERY_STRING", filter_variable("QUERY_STRING"));
	s->began = time(NULL);
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		s->modified = st.st_mtime;
}

static void
free_ssi(struct ssi *s)
{
	for (size_t i = 0; i < s->nvariables; i++) {
		free(s->variables[i].name);
		free(s->variables[i].value);
	}
	free(s->variables);
	io_close(&s->root);
}

int
ssi_filter(struct str input)
{
	const char	*root = filter_variable("DOCUMENT_ROOT");
	const char	*uri = filter_variable("DOCUMENT_URI");
	const char	*file = filter_variable("PATH_TRANSLATED");
	const char	*path = uri[0] == '/' ? uri + 1 : uri;
	struct ssi	 s = { .root_name = root,
			    .prefix = str_of(filter_variable("SCRIPT_NAME")) };

	s.root = root[0] != '\0' ?
	    open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (strncmp(file, root, strlen(root)) == 0 &&
	    file[strlen(root)] == '/')
		path = file + strlen(root) + 1;
	filter_confine(s.root != -1 ? root : NULL);
	set_variables(&s, uri);
	put_whole_page(&s, input, path, 0);
	free_ssi(&s);
	return EX_OK;
}
