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
#include <unistd.h>

#include "conf/setters.h"
#include "helpers/job.h"
#include "lib/facility.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/regular.h"
#include "lib/str.h"

static conf_set_fn
		set_scaled, set_workers, set_choice, set_choices, set_text,
		set_file, set_directory, set_new_file, set_log, set_off_or,
		set_filename, set_address, set_field, set_field_name;

static const struct type {
	const char	*name;
	conf_set_fn	*set;
	enum { INTEGER, TEXT, WORDS, ADDRESSES, PAIRS } keep;
} types[] = {
#define TYPE(id, name, set, keep) [TYPE_##id] = { name, set, keep },
#include "conf/types.tbl"
#undef TYPE
};

struct unit {
	const char	*name;
	int64_t		 worth;
};

/* Largest first. */
static const struct unit	no_units[] = { { "", 1 }, { NULL, 0 } };
static const struct unit	size_units[] = {
	{ "G", 1 << 30 }, { "M", 1 << 20 }, { "K", 1 << 10 }, { "", 1 },
	{ NULL, 0 }
};
static const struct unit	time_units[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 },
	{ "ms", 1 }, { NULL, 0 }
};

static const struct unit *
units_of(enum conf_type type)
{
	return type == TYPE_SIZE ? size_units :
	    type == TYPE_TIME ? time_units : no_units;
}

static bool
parse_scaled(enum conf_type type, const char *text, int64_t *number)
{
	const struct unit	*u = units_of(type);
	size_t			 digits = strspn(text, "0123456789");

	while (u->name != NULL && strcmp(u->name, text + digits) != 0)
		u++;
	return u->name != NULL &&
	    str_number((struct str){ text, digits }, number) &&
	    !__builtin_mul_overflow(*number, u->worth, number);
}

bool
conf_value_time(const char *text, int64_t *ms)
{
	return parse_scaled(TYPE_TIME, text, ms);
}

static bool
set_scaled(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	int64_t	*number = member, low, high;

	if (!parse_scaled(row->type, word->text, number)) {
		conf_error(reader, word->pos, "\"%s\" is not a %s%s",
		    word->text, types[row->type].name,
		    row->type == TYPE_SIZE ? ": a number, K, M or G behind it" :
		    row->type == TYPE_TIME ?
		    ": a number with ms, s, m, h or d behind it" : "");
		return false;
	}
	need(parse_scaled(row->type, row->lowest, &low));
	need(parse_scaled(row->type, row->highest, &high));
	if (*number < low || *number > high) {
		conf_error(reader, word->pos,
		    "%s is out of bounds: " CONF_ROW " takes %s to %s",
		    word->text, CONF_ROW_NAME(row), row->lowest, row->highest);
		return false;
	}
	return true;
}

#define AUTO	"auto"

/* 0, which is out of bounds in a conf, stands for auto. */
static bool
set_workers(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	int64_t	ignored;

	if (strcmp(word->text, AUTO) == 0) {
		*(int64_t *)member = 0;
		return true;
	}
	if (parse_scaled(row->type, word->text, &ignored))
		return set_scaled(reader, row, word, member);
	conf_error(reader, word->pos, "\"%s\" is neither a number nor "
	    AUTO, word->text);
	return false;
}

static void
print_scaled(enum conf_type type, int64_t number, struct buf *to)
{
	const struct unit	*u = units_of(type);

	if (number == 0) {
		buf_adds(to, type == TYPE_TIME ? "0s" : "0");
		return;
	}
	while (number % u->worth != 0)
		u++;
	buf_addf(to, "%" PRId64 "%s", number / u->worth, u->name);
}

#define X(id, name) name,
static const char *const architectures[] = { CONF_ARCHITECTURES(X) NULL };
static const char *const sandboxes[] = { CONF_SANDBOXES(X) NULL };
static const char *const residencies[] = { CONF_RESIDENCIES(X) NULL };
static const char *const log_levels[] = { LOG_LEVELS(X) NULL };
static const char *const switches[] = { CONF_SWITCHES(X) NULL };
static const char *const redirects[] = { CONF_REDIRECTS(X) NULL };
static const char *const refusals[] = { CONF_REFUSALS(X) NULL };
static const char *const error_pages[] = { CONF_ERRORS(X) NULL };
static const char *const listings[] = { CONF_LISTINGS(X) NULL };
static const char *const link_policies[] = { JOB_LINKS(X) NULL };
static const char *const ablations[] = { CONF_ABLATIONS(X) NULL };
static const char *const precompressed[] = { CONF_PRECOMPRESSED(X) NULL };
#undef X
#define X(id, name, number) name,
static const char *const facilities[] = { FACILITIES(X) NULL };
#undef X

static const char *const *
choices_of(enum conf_type type)
{
	return type == TYPE_ARCHITECTURE ? architectures :
	    type == TYPE_SANDBOX ? sandboxes :
	    type == TYPE_RESIDENCY ? residencies :
	    type == TYPE_FACILITY ? facilities :
	    type == TYPE_LOG_LEVEL ? log_levels :
	    type == TYPE_LISTING ? listings :
	    type == TYPE_LINKS ? link_policies :
	    type == TYPE_ABLATION ? ablations :
	    type == TYPE_PRECOMPRESSED ? precompressed :
	    type == TYPE_SWITCH ? switches :
	    type == TYPE_REDIRECT ? redirects :
	    type == TYPE_REFUSAL ? refusals :
	    type == TYPE_ERROR ? error_pages : NULL;
}

/* The words of a choice with a separator between them. */
static void
print_choices(enum conf_type type, const char *between, struct buf *to)
{
	const char *const	*choice = choices_of(type);

	for (size_t i = 0; choice[i] != NULL; i++)
		buf_addf(to, "%s%s", i == 0 ? "" : between, choice[i]);
}

static bool
set_choice(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char *const	*choice = choices_of(row->type);
	const char		*near = NULL;
	struct buf		 all = { 0 };

	for (int64_t i = 0; choice[i] != NULL; i++) {
		if (strcmp(choice[i], word->text) == 0) {
			*(int64_t *)member = i;
			return true;
		}
		near = conf_error_nearer(word->text, near, choice[i]);
	}
	print_choices(row->type, ", ", &all);
	conf_error(reader, word->pos, "\"%s\" is not one of %s",
	    word->text, buf_string(&all));
	conf_error_hint(reader, near);
	buf_free(&all);
	return false;
}

/* Adds one of any number of choices. */
static bool
set_choices(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	int64_t	choice;

	if (!set_choice(reader, row, word, &choice))
		return false;
	conf_name_add(member, word->text);
	return true;
}

bool
conf_value_set_code(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	int64_t	choice;

	return set_choice(reader, row, word, &choice) &&
	    str_number(str_of(choices_of(row->type)[choice]), member);
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

static bool
set_directory(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	return set_path(reader, row, word, member, try_directory);
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

static bool
set_log(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	if (word->text[0] == '|')
		return set_program(reader, row, word, member);
	if (!word->quoted && strcmp(word->text, "stderr") == 0)
		return set_text(reader, row, word, member);
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
	return set_path(reader, row, word, member, try_parent);
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

/* Adds a choice; the first choice, off, must stand alone. */
static bool
set_off_or(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char		*off = choices_of(row->type)[0];
	struct conf_words	*words = member;
	int64_t			 choice;

	if (!set_choice(reader, row, word, &choice))
		return false;
	if (words->n > 0 && (choice == 0 ||
	    strcmp(words->at[0], off) == 0)) {
		conf_error(reader, word->pos,
		    CONF_ROW ": \"%s\" excludes other values",
		    CONF_ROW_NAME(row), off);
		return false;
	}
	conf_name_add(words, word->text);
	return true;
}

static bool
set_address(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	(void)row;
	return conf_name_address(reader, word, member);
}

static bool
set_field(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	(void)row;
	return conf_name_field(reader, words, member);
}

static bool
set_field_name(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	(void)row;
	if (!conf_name_field_is_valid(reader, word))
		return false;
	conf_name_add(member, word->text);
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
	if (choices_of(row->type) != NULL)
		print_choices(row->type, "|", to);
	if (types[row->type].name != NULL)
		buf_addf(to, "%s%s", to->len > 0 ? " " : "",
		    types[row->type].name);
	return buf_string(to);
}

size_t
conf_value_words(const struct conf_row *row)
{
	return types[row->type].keep == PAIRS ? 2 : 1;
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
		return ((const struct conf_pairs *)member)->n;
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
print_pair(const struct conf_pair *pair, struct buf *to)
{
	buf_addf(to, "%s ", pair->name);
	conf_value_quote(pair->value, to);
}

void
conf_value_print(const struct conf_row *row, const void *member,
    size_t element, struct buf *to)
{
	const char *const	*choice = choices_of(row->type);
	const char		*text;

	switch (types[row->type].keep) {
	case INTEGER:
		if (types[row->type].set == set_choice)
			buf_adds(to, choice[*(const int64_t *)member]);
		else if (row->type == TYPE_WORKERS &&
		    *(const int64_t *)member == 0)
			buf_adds(to, AUTO);
		else if (row->type == TYPE_MODE)
			buf_addf(to, "%04" PRIo64, *(const int64_t *)member);
		else
			print_scaled(row->type, *(const int64_t *)member, to);
		break;
	case TEXT:
		text = *(char *const *)member;
		conf_value_quote(text == NULL ? "off" : text, to);
		break;
	case WORDS:
		conf_value_quote(
		    ((const struct conf_words *)member)->at[element], to);
		break;
	case ADDRESSES:
		conf_value_quote(
		    ((const struct conf_addresses *)member)->at[element].text,
		    to);
		break;
	case PAIRS:
		print_pair(&((const struct conf_pairs *)member)->at[element],
		    to);
		break;
	}
}

void
conf_value_free(const struct conf_row *row, void *member)
{
	struct conf_addresses	*addresses = member;
	struct conf_pairs	*pairs = member;

	switch (types[row->type].keep) {
	case INTEGER:
		break;
	case TEXT:
		mem_drop(member);
		break;
	case WORDS:
		conf_name_free(member);
		break;
	case ADDRESSES:
		for (size_t i = 0; i < addresses->n; i++)
			mem_drop(&addresses->at[i].text);
		mem_drop(&addresses->at);
		break;
	case PAIRS:
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

/* Sets the defaults of an object's values that the conf does not set. */
void
conf_value_default(struct conf_reader *reader, struct conf_object object)
{
	const struct conf_row	*row;
	struct conf_word	 word = { 0 };

	CONF_EACH_ROW(row) {
		if (!conf_object_has(object, row) ||
		    !needs_default(object, row) ||
		    row->value == CONF_REQUIRED || row->value[0] == '\0')
			continue;
		word.text = mem_string(row->value);
		need(conf_value_set(reader, row, &word,
		    conf_member(object, row)));
		mem_drop(&word.text);
	}
}
