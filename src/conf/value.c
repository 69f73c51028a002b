/*
 * value: reads, prints and frees values by their type.  A printed value reads
 * as the same value.
 *
 * A type is a row of types.tbl.  Types with a grammar of their own have setters
 * in other files.
 */
#include <sys/stat.h>

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conf/divide.h"
#include "conf/foreign.h"
#include "conf/run.h"
#include "conf/value.h"
#include "helpers/job.h"
#include "lib/facility.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/regular.h"
#include "lib/str.h"

static conf_set_fn
		set_number_or_word, set_choices, set_text,
		set_file, set_directory, set_directories, set_root,
		set_new_file, set_log,
		set_off_or, set_language, set_compress, set_filename,
		set_checked;

static const struct type {
	const char	*name;
	conf_set_fn	*set;
	conf_wrong_fn	*wrong;		/* for set_checked() */
	/* RUNS are pairs that one word begins.  A flag and an option belong to
	 * the last value of their directive. */
	enum { INTEGER, TEXT, WORDS, ADDRESSES, PAIRS, RUNS, FLAG,
		OPTION } keep;
} types[] = {
#define TYPE(id, name, set, keep) [TYPE_##id] = { name, set, NULL, keep },
#define CHECKED(id, name, wrong, keep)					\
	[TYPE_##id] = { name, set_checked, wrong, keep },
#include "conf/types.tbl"
#undef TYPE
#undef CHECKED
};

/* Words in place of a number, for values that are out of bounds in a conf. */
static const struct {
	enum conf_type	 type;
	const char	*text;
	int64_t		 value;
} number_words[] = {
	{ TYPE_WORKERS, "auto", CONF_WORKERS_AUTO },
	{ TYPE_WORKERS_MAX, "auto", CONF_WORKERS_AUTO },
	{ TYPE_WORKERS_MAX, "off", CONF_WORKERS_FIXED },
	{ TYPE_ADMIT, "all", INT64_MAX }
};

#define NUMBER_WORDS	(sizeof(number_words) / sizeof(number_words[0]))

/* Adds the words of a type, " nor " before each. */
static void
add_number_words(enum conf_type type, struct buf *to)
{
	for (size_t i = 0; i < NUMBER_WORDS; i++)
		if (type == number_words[i].type)
			buf_addf(to, " nor %s", number_words[i].text);
}

static bool
set_number_or_word(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct buf	words = { 0 };
	int64_t		ignored;

	for (size_t i = 0; i < NUMBER_WORDS; i++)
		if (row->type == number_words[i].type &&
		    strcmp(word->text, number_words[i].text) == 0) {
			*(int64_t *)member = number_words[i].value;
			return true;
		}
	if (conf_scaled_parse(row->type, word->text, &ignored))
		return conf_scaled_set(reader, row, word, member);
	add_number_words(row->type, &words);
	conf_error(reader, word->pos, "\"%s\" is neither a %s%s", word->text,
	    row->type == TYPE_ADMIT ? "size" : "number", buf_string(&words));
	buf_free(&words);
	return false;
}

static void
print_number(enum conf_type type, int64_t n, struct buf *to)
{
	for (size_t i = 0; i < NUMBER_WORDS; i++)
		if (type == number_words[i].type &&
		    n == number_words[i].value) {
			buf_adds(to, number_words[i].text);
			return;
		}
	conf_scaled_print(type, n, to);
}

/* Adds one of any number of choices. */
static bool
set_choices(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	int64_t	choice;

	if (!conf_choice_set(reader, row, word, &choice))
		return false;
	conf_name_add(member, word->text);
	return true;
}

static bool
set_text(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (word->text[0] == '\0') {
		conf_error(reader, word->pos, CONF_ROW " cannot be empty",
		    CONF_ROW_NAME(row));
		return false;
	}
	*(char **)member = mem_string(word->text);
	return true;
}

/* Sets an absolute path, unless try() fails with errno. */
static bool
set_path(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member, int (*try)(const char *))
{
	char	*path;

	if (!set_text(reader, row, word, member))
		return false;
	path = conf_source_path(reader, word);
	mem_drop(member);
	/* A default file may be missing. */
	if (word->pos.line != 0 && try(path) != 0) {
		conf_error(reader, word->pos, "%s: %s", path,
		    strerror(errno));
		mem_drop(&path);
		return false;
	}
	*(char **)member = path;
	return true;
}

static int
try_readable(const char *path)
{
	return access(path, R_OK);
}

static int
try_directory(const char *path)
{
	struct stat	sb;

	if (stat(path, &sb) == -1)
		return -1;
	errno = ENOTDIR;
	return S_ISDIR(sb.st_mode) ? 0 : -1;
}

/* A missing log is created, but not its directory. */
static int
try_parent(const char *path)
{
	char	*copy = mem_string(path);
	int	 wrong = try_directory(dirname(copy));

	mem_drop(&copy);
	return wrong;
}

static bool
set_file(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char	*wrong;

	if (!set_path(reader, row, word, member, try_readable))
		return false;
	/* A default may be of any kind. */
	wrong = word->pos.line == 0 ? NULL :
	    regular_other_kind(*(char **)member);
	if (wrong == NULL)
		return true;
	conf_error(reader, word->pos, "%s is %s, not a file",
	    *(char **)member, wrong);
	mem_drop(member);
	return false;
}

/* Sets a path without "..", which the program manager refuses in the names of
 * files. */
static bool
set_directory(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (conf_foreign_error(reader, row->word, word) ||
	    !set_path(reader, row, word, member, try_directory))
		return false;
	conf_source_straighten(member);
	return true;
}

/* Whether a path can be compared, byte by byte, with one that a program
 * names. */
static bool
is_plain_path(const char *path)
{
	for (; (path = strchr(path, '/')) != NULL; path++)
		if (strncmp(path, "//", 2) == 0 ||
		    strncmp(path, "/./", 3) == 0 ||
		    strncmp(path, "/../", 4) == 0 ||
		    strcmp(path, "/.") == 0 || strcmp(path, "/..") == 0)
			return false;
	return true;
}

/* Adds a directory to a list, without the slash at its end. */
static bool
set_directories(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	char	*path = conf_source_path(reader, word);
	size_t	 len = strlen(path);
	bool	 good = is_plain_path(path);

	if (!good)
		conf_error(reader, word->pos, "%s: write it without //, . "
		    "and .., as the program names it", path);
	mem_drop(&path);
	if (!good || !set_directory(reader, row, word, &path))
		return false;
	if (len > 1 && path[len - 1] == '/')
		path[len - 1] = '\0';
	conf_name_add(member, path);
	mem_drop(&path);
	return true;
}

#define BY_HOST	"%host"

/* The rules that a root is a member of. */
static const struct conf_rules *
get_rules(const void *root)
{
	return (const struct conf_rules *)((const char *)root -
	    offsetof(struct conf_rules, root));
}

/* Sets the directory in front of /%host, which must exist. */
static bool
set_root_by_host(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_word	front = *word;
	struct conf_rules	*rules = (struct conf_rules *)
				    (uintptr_t)get_rules(member);
	size_t			 len = strlen(word->text) - strlen(BY_HOST);
	bool			 good;

	front.text = mem_string(word->text);
	front.text[len > 1 ? len - 1 : len] = '\0';
	good = set_directory(reader, row, &front, member);
	rules->by_host = good;
	mem_drop(&front.text);
	return good;
}

static bool
set_root(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char	*mark = strstr(word->text, BY_HOST);

	if (mark == NULL)
		return set_directory(reader, row, word, member);
	if (mark > word->text && mark[-1] == '/' &&
	    mark[strlen(BY_HOST)] == '\0')
		return set_root_by_host(reader, row, word, member);
	conf_error(reader, word->pos, "\"%s\": %s can only be the last name: "
	    "root /srv/%s", word->text, BY_HOST, BY_HOST);
	return false;
}

static void
print_root(const void *member, struct buf *to)
{
	const char	*root = *(char *const *)member;
	struct buf	 text = { 0 };

	buf_adds(&text, root);
	if (get_rules(member)->by_host)
		buf_addf(&text, "%s%s", strcmp(root, "/") == 0 ? "" : "/",
		    BY_HOST);
	conf_value_quote(buf_string(&text), to);
	buf_free(&text);
}

/* The server makes the file; its directory may be made at the start. */
static int
try_nothing(const char *path)
{
	(void)path;
	return 0;
}

static bool
set_new_file(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	return set_path(reader, row, word, member, try_nothing);
}

#define STANDARD_ERROR		"stderr"
#define STANDARD_OUTPUT		"stdout"	/* for access logs */
#define SYSLOG_SOCKET_MAX	108	/* bytes of a socket's name */

/* Sets "syslog", or "syslog:" and the name of a socket. */
static bool
set_syslog(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (word->text[strlen(CONF_SYSLOG)] == '\0' ||
	    (strncmp(word->text, CONF_SYSLOG ":/",
	    strlen(CONF_SYSLOG) + 2) == 0 &&
	    strlen(word->text) < SYSLOG_SOCKET_MAX + strlen(CONF_SYSLOG)))
		return set_text(reader, row, word, member);
	conf_error(reader, word->pos, "\"%s\": behind " CONF_SYSLOG
	    " there is nothing, or : and the name of its socket, from / on",
	    word->text);
	return false;
}

/* Sets "|" and a command, whose program must have an absolute name. */
static bool
set_program(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char	*name = word->text + strspn(word->text, "| ");
	char		*path = mem_string(name);
	int		 wrong;

	path[strcspn(path, " ")] = '\0';
	wrong = path[0] == '/' ? access(path, X_OK) : 0;
	if (path[0] != '/')
		conf_error(reader, word->pos,
		    "a program is named from / on: \"|/usr/bin/program\"");
	else if (wrong == -1)
		conf_error(reader, word->pos, "cannot run %s: %s", path,
		    strerror(errno));
	wrong |= path[0] != '/';
	mem_drop(&path);
	return wrong == 0 && set_text(reader, row, word, member);
}

/* Logs that were in no directory when the server started. */
static struct {
	bool			allowed, complete;
	struct conf_words	names;
} missing_logs;

void
conf_value_allow_missing_logs(void)
{
	missing_logs.allowed = true;
}

void
conf_value_end_missing_logs(void)
{
	missing_logs.complete = true;
}

static bool
is_missing_log(const char *path, const char *to)
{
	for (size_t i = 0; i < missing_logs.names.n; i++)
		if (strcmp(missing_logs.names.at[i], path) == 0)
			return true;
	if (!missing_logs.allowed || missing_logs.complete)
		return false;
	log_warnx("there is no directory for the log %s: it goes to %s", path,
	    to);
	conf_name_add(&missing_logs.names, path);
	return true;
}

static bool
set_log_file(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	char		*path = conf_source_path(reader, word);
	const char	*to = row->type == TYPE_LOG_OR_OFF ? STANDARD_OUTPUT :
			    STANDARD_ERROR;
	bool		 missing = try_parent(path) == -1 && errno == ENOENT &&
			    is_missing_log(path, to);

	mem_drop(&path);
	if (!missing)
		return set_path(reader, row, word, member, try_parent);
	*(char **)member = mem_string(to);
	return true;
}

/* A word for what the server was started with.  Messages have standard error,
 * where they do not mix with lines for programs that read the access log. */
static bool
set_standard(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (row->type == TYPE_LOG_OR_OFF ||
	    strcmp(word->text, STANDARD_ERROR) == 0)
		return set_text(reader, row, word, member);
	conf_error(reader, word->pos, CONF_ROW " cannot be " STANDARD_OUTPUT
	    ", which is for access logs: write a file or " STANDARD_ERROR,
	    CONF_ROW_NAME(row));
	return false;
}

static bool
set_log(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (word->text[0] == '|')
		return set_program(reader, row, word, member);
	if (!word->quoted && (strcmp(word->text, STANDARD_ERROR) == 0 ||
	    strcmp(word->text, STANDARD_OUTPUT) == 0))
		return set_standard(reader, row, word, member);
	if (!word->quoted && strncmp(word->text, CONF_SYSLOG,
	    strlen(CONF_SYSLOG)) == 0)
		return set_syslog(reader, row, word, member);
	if (!word->quoted && strcmp(word->text, "off") == 0) {
		if (row->type == TYPE_LOG_OR_OFF)
			return true;
		conf_error(reader, word->pos,
		    CONF_ROW " cannot be off: write a file or stderr",
		    CONF_ROW_NAME(row));
		return false;
	}
	return set_log_file(reader, row, word, member);
}

static bool
set_filename(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (word->text[0] == '\0' || strchr(word->text, '/') != NULL ||
	    strcmp(word->text, ".") == 0 || strcmp(word->text, "..") == 0) {
		conf_error(reader, word->pos, CONF_ROW
		    " takes names of files, without their directory",
		    CONF_ROW_NAME(row));
		return false;
	}
	conf_name_add(member, word->text);
	return true;
}

static bool
is_switch(const char *text)
{
	return strcmp(text, "off") == 0 || strcmp(text, "on") == 0;
}

/* Adds a word; off and on must stand alone. */
static bool
add_off_or(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, struct conf_words *words)
{
	if (words->n > 0 && (is_switch(word->text) ||
	    is_switch(words->at[0]))) {
		conf_error(reader, word->pos,
		    CONF_ROW ": \"%s\" excludes other values",
		    CONF_ROW_NAME(row), is_switch(word->text) ? word->text :
		    words->at[0]);
		return false;
	}
	conf_name_add(words, word->text);
	return true;
}

/* Adds a choice; off and on must stand alone. */
static bool
set_off_or(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_words	*words = member;
	int64_t			 choice;

	return conf_choice_set(reader, row, word, &choice) &&
	    add_off_or(reader, row, word, words);
}

/* Adds a language; off must stand alone. */
static bool
set_language(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	struct conf_words	*words = member;

	if (strcmp(word->text, "off") != 0 && (
	    conf_foreign_error(reader, row->word, word) ||
	    !conf_error_none(reader, word,
	    conf_name_wrong_language(word->text))))
		return false;
	for (size_t i = 0; i < words->n; i++)
		if (strcasecmp(words->at[i], word->text) == 0) {
			conf_error(reader, word->pos, CONF_ROW
			    ": \"%s\" is there twice", CONF_ROW_NAME(row),
			    word->text);
			return false;
		}
	if (words->n == CONF_LANGUAGES_MAX) {
		conf_error(reader, word->pos, CONF_ROW
		    ": more than %d languages", CONF_ROW_NAME(row),
		    CONF_LANGUAGES_MAX);
		return false;
	}
	return add_off_or(reader, row, word, words);
}

/* Adds a coding in which this program can compress. */
static bool
set_compress(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (!set_off_or(reader, row, word, member))
		return false;
	for (int i = 0; i < CODING_COUNT; i++)
		if (strcmp(coding_name(i), word->text) == 0 &&
		    !coding_is_built(i)) {
			conf_error(reader, word->pos, "this amped was built "
			    "without the library of %s: write %s gzip",
			    word->text, row->word);
			return false;
		}
	return true;
}

/* Sets or adds a word that its type finds right; "off", where the type has it,
 * leaves the member NULL. */
static bool
set_checked(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const struct type	*type = &types[row->type];

	if (!word->quoted && strcmp(word->text, "off") == 0 &&
	    strstr(type->name, "|off") != NULL)
		return true;
	if (conf_foreign_error(reader, row->word, word) ||
	    !conf_error_none(reader, word, type->wrong(word->text)))
		return false;
	if (type->keep == WORDS)
		conf_name_add(member, word->text);
	else
		*(char **)member = mem_string(word->text);
	return true;
}

bool
conf_value_set(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	return types[row->type].set(reader, row, words, member);
}

const char *
conf_value_type(const struct conf_row *row, struct buf *to)
{
	if (conf_choice_words(row->type) != NULL)
		conf_choice_print(row->type, "|", to);
	if (types[row->type].name != NULL)
		buf_addf(to, "%s%s", to->len > 0 ? " " : "",
		    types[row->type].name);
	return buf_string(to);
}

size_t
conf_value_words(const struct conf_row *row)
{
	return types[row->type].keep == PAIRS ? 2 :
	    types[row->type].keep == FLAG ? 0 : 1;
}

/* Whether a row is about the value before it, in the same statement. */
bool
conf_value_is_option(const struct conf_row *row)
{
	return types[row->type].keep >= FLAG;
}

bool
conf_value_is_list(const struct conf_row *row)
{
	return types[row->type].keep >= WORDS;
}

size_t
conf_value_count(const struct conf_row *row, const void *member)
{
	switch (types[row->type].keep) {
	case WORDS:
		return ((const struct conf_words *)member)->n;
	case ADDRESSES:
		return ((const struct conf_addresses *)member)->n;
	case PAIRS:
	case RUNS:
		return ((const struct conf_pairs *)member)->n;
	case FLAG:
	case OPTION:
		return 0;		/* the value before it counts */
	default:
		return 1;
	}
}

/* Prints a text as a word that reads as the same text. */
void
conf_value_quote(const char *text, struct buf *to)
{
	if (text[0] != '\0' && text[0] != '#' &&
	    strpbrk(text, " \t;{}\"") == NULL) {
		buf_adds(to, text);
		return;
	}
	buf_addc(to, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			buf_addc(to, '\\');
		buf_addc(to, *text);
	}
	buf_addc(to, '"');
}

static void
print_pair(const struct conf_row *row, const struct conf_pair *pair,
    struct buf *to)
{
	buf_addf(to, "%s ", pair->name);
	conf_value_quote(pair->value, to);
	if (row->type == TYPE_FIELD && pair->number != 0)
		buf_adds(to, " " CONF_ALWAYS);
}

/* Prints a program, and the pattern that it is for. */
static void
print_run(const struct conf_pair *run, struct buf *to)
{
	buf_adds(to, run->value);
	if (run->name[0] == '\0')
		return;
	buf_adds(to, " for ");
	conf_value_quote(run->name, to);
}

void
conf_value_print(const struct conf_row *row, const void *member,
    size_t element, struct buf *to)
{
	const char *const		*choice = conf_choice_words(row->type);
	const struct conf_address	*a;
	const char			*text;

	switch (types[row->type].keep) {
	case INTEGER:
		if (types[row->type].set == conf_choice_set)
			buf_adds(to, choice[*(const int64_t *)member]);
		else if (row->type == TYPE_MODE)
			buf_addf(to, "%04" PRIo64, *(const int64_t *)member);
		else
			print_number(row->type, *(const int64_t *)member, to);
		break;
	case TEXT:
		text = *(char *const *)member;
		if (row->type == TYPE_ROOT)
			print_root(member, to);
		else
			conf_value_quote(text == NULL ? "off" : text, to);
		break;
	case WORDS:
		conf_value_quote(
		    ((const struct conf_words *)member)->at[element], to);
		break;
	case ADDRESSES:
		a = &((const struct conf_addresses *)member)->at[element];
		conf_value_quote(a->text, to);
		conf_address_print_options(a, to);
		break;
	case PAIRS:
		print_pair(row, &((const struct conf_pairs *)member)->at[
		    element], to);
		break;
	case RUNS:
		print_run(&((const struct conf_pairs *)member)->at[
		    element], to);
		break;
	case FLAG:
	case OPTION:
		break;
	}
}

void
conf_value_free(const struct conf_row *row, void *member)
{
	struct conf_pairs	*pairs = member;

	switch (types[row->type].keep) {
	case INTEGER:
	case FLAG:
	case OPTION:
		break;
	case TEXT:
		mem_drop(member);
		break;
	case WORDS:
		conf_name_free(member);
		break;
	case ADDRESSES:
		conf_address_free(member);
		break;
	case PAIRS:
	case RUNS:
		for (size_t i = 0; i < pairs->n; i++) {
			mem_drop(&pairs->at[i].name);
			mem_drop(&pairs->at[i].value);
		}
		mem_drop(&pairs->at);
		break;
	}
}

static bool
needs_default(struct conf_object object, const struct conf_row *row)
{
	struct conf_origin	*o = conf_origin(object, row, 0);

	/* A bad value gets the default, as check.c compares values. */
	return o == NULL || (o->bad && !conf_value_is_list(row));
}

/* Sets a value that the conf does not set. */
static void
set_default(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *row, const char *text)
{
	struct conf_word	word = { .text = mem_string(text) };

	need(conf_value_set(reader, row, &word, conf_member(object, row)));
	mem_drop(&word.text);
}

/* Sets a value of the conf's profile, whose origin is that of the profile;
 * false: the profile has none. */
static bool
set_by_profile(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *row)
{
	const char	*text = conf_row_profile_value(row,
			    reader->conf->profile);

	if (text == NULL)
		return false;
	set_default(reader, object, row, text);
	conf_origin_add(object, row, 0, conf_pos_top(reader->conf,
	    offsetof(struct conf, profile)), false);
	conf_origin(object, row, 0)->by_profile = true;
	return true;
}

/* Sets the defaults of an object's values that the conf does not set. */
void
conf_value_default(struct conf_reader *reader, struct conf_object object)
{
	const struct conf_row	*row;

	CONF_EACH_ROW(row) {
		if (!conf_object_has(object, row) ||
		    !needs_default(object, row) ||
		    row->value == CONF_REQUIRED || row->value[0] == '\0' ||
		    set_by_profile(reader, object, row))
			continue;
		set_default(reader, object, row, row->value);
	}
}
