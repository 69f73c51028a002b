/*
 * log: the values of block log, and the format of the access log.
 */
#include <string.h>

#include "conf/setters.h"
#include "lib/mem.h"

#define LETTERS		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
			"0123456789._-"
#define TAG_MAX	32		/* bytes that syslog takes; the message too */

static const struct form {
	const char	*name;
	bool		 json;
	const char	*text;
} built_in[] = {
#define X(id, name, json, text) { name, json, text },
	CONF_LOG_FORMATS(X)
#undef X
};

#define BUILT_IN_COUNT	(sizeof(built_in) / sizeof(built_in[0]))

static const char *
find_text(const struct conf_pairs *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->at[i].name, name) == 0)
			return all->at[i].value;
	return NULL;
}

/* The text of a format, built-in or of the conf; NULL: there is none. */
static const char *
find_format(const struct conf *conf, const char *name, bool *json)
{
	const char	*text = find_text(&conf->log.formats, name);

	for (size_t i = 0; i < BUILT_IN_COUNT; i++)
		if (strcmp(built_in[i].name, name) == 0) {
			*json = built_in[i].json;
			return built_in[i].text;
		}
	*json = text == NULL;
	return text != NULL ? text : find_text(&conf->log.json, name);
}

/* Reports an error at its place within a word.  In quotes, a backslash before a
 * character moves the place by one. */
static void
error_in_format(struct conf_reader *reader, const struct conf_word *word,
    const struct conf_log_error *f)
{
	struct conf_pos	pos = word->pos;

	pos.column += f->at + word->quoted;
	for (size_t i = 0; word->quoted && i < f->at; i++)
		pos.column += word->text[i] == '"' || word->text[i] == '\\';
	pos.len = f->len;
	conf_error(reader, pos, "\"%.*s\": %s", (int)f->len,
	    word->text + f->at, f->why);
}

static bool
is_new_name(struct conf_reader *reader, const struct conf_word *word)
{
	bool	json;

	if (word->text[0] == '\0' ||
	    word->text[strspn(word->text, LETTERS)] != '\0') {
		conf_error(reader, word->pos, "\"%s\" is not a name for a "
		    "format: letters, digits, dot, dash", word->text);
		return false;
	}
	if (find_format(reader->conf, word->text, &json) == NULL)
		return true;
	conf_error(reader, word->pos, "there is a format \"%s\" already",
	    word->text);
	return false;
}

bool
conf_log_set_format(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	struct conf_log_format	made;
	struct conf_log_error	error;

	if (!is_new_name(reader, &words[0]))
		return false;
	if (!conf_log_format_parse(&made, words[1].text,
	    row->type == TYPE_FORMAT_JSON, &error)) {
		error_in_format(reader, &words[1], &error);
		return false;
	}
	conf_log_format_free(&made);
	conf_name_add_pair(member, words, 0);
	return true;
}

const char *
conf_log_wrong_tag(const char *tag)
{
	size_t	len = strlen(tag);

	return len > 0 && len <= TAG_MAX && strspn(tag, LETTERS) == len ? NULL :
	    "a tag has 32 letters, digits, dots and dashes at most";
}

static void
error_unknown_format(struct conf_reader *reader, const char *name,
    struct conf_pos pos)
{
	const char	*near = NULL;
	struct buf	 all = { 0 };

	for (size_t i = 0; i < BUILT_IN_COUNT; i++) {
		near = conf_error_nearer(name, near, built_in[i].name);
		buf_addf(&all, "%s, ", built_in[i].name);
	}
	conf_error(reader, pos, "there is no format \"%s\", but %sand what "
	    "\"format\" makes", name, buf_string(&all));
	conf_error_hint(reader, near);
	buf_free(&all);
}

/*
 * Access logs
 */

/* The number of a target, which is added if it is new; CONF_TARGETS_MAX: there
 * are too many. */
static size_t
find_target(struct conf_access_logs *all, const char *to)
{
	size_t	i = 0;

	while (i < all->ntargets && strcmp(all->targets[i], to) != 0)
		i++;
	if (i < all->ntargets || i == CONF_TARGETS_MAX)
		return i;
	all->targets = mem_grow(all->targets, i + 1, sizeof(*all->targets));
	all->targets[all->ntargets++] = to;
	return i;
}

static const struct conf_access_log *
add_log(struct conf_access_logs *all, size_t target, const char *name,
    const char *text, bool json)
{
	struct conf_access_log	*log = mem_zero(sizeof(*log));
	struct conf_log_error	 error;

	log->target = target;
	log->name = name;
	/* conf_log_set_format() has parsed it. */
	conf_log_format_parse(&log->line, text, json, &error);
	all->at = mem_grow(all->at, all->n + 1, sizeof(*all->at));
	all->at[all->n++] = log;
	return log;
}

/* The log of a target and a format; NULL after an error at pos. */
static const struct conf_access_log *
find_log(struct conf_reader *reader, const char *to, const char *name,
    struct conf_pos pos)
{
	struct conf_access_logs	*all = &reader->conf->log.all;
	size_t			 target = find_target(all, to);
	const char		*text;
	bool			 json;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->target == target &&
		    strcmp(all->at[i]->name, name) == 0)
			return all->at[i];
	text = find_format(reader->conf, name, &json);
	if (text == NULL)
		error_unknown_format(reader, name, pos);
	else if (target == CONF_TARGETS_MAX)
		conf_error(reader, pos, "there are more than %d access logs",
		    CONF_TARGETS_MAX);
	else
		return add_log(all, target, name, text, json);
	return NULL;
}

/* In syslog a line has its level from the text. */
static void
check_error_format(struct conf_reader *reader)
{
	const struct conf	*conf = reader->conf;

	if (conf->log.error_format == ERROR_FORMAT_JSON &&
	    conf->log.error.to != NULL && strncmp(conf->log.error.to,
	    CONF_SYSLOG, strlen(CONF_SYSLOG)) == 0)
		conf_error(reader, conf_pos_top(reader->conf,
		    offsetof(struct conf, log.error_format)),
		    "\"format json\" is for files and programs, not for "
		    "syslog");
}

void
conf_log_complete(struct conf_reader *reader)
{
	struct conf	*conf = reader->conf;
	bool		 json;

	check_error_format(reader);
	if (conf->log.access_format == NULL)	/* an error was reported */
		return;
	if (conf->log.access.to != NULL)
		find_log(reader, conf->log.access.to, conf->log.access_format,
		    conf_pos_top(conf, offsetof(struct conf,
		    log.access_format)));
	else if (find_format(conf, conf->log.access_format, &json) == NULL)
		error_unknown_format(reader, conf->log.access_format,
		    conf_pos_top(conf, offsetof(struct conf,
		    log.access_format)));
}

/* The process that writes access logs has one facility and tag for syslog,
 * those of block log. */
static bool
may_log_to(struct conf_reader *reader, const char *to, struct conf_pos pos)
{
	const char	*general = reader->conf->log.access.to;

	if (strncmp(to, CONF_SYSLOG, strlen(CONF_SYSLOG)) != 0 ||
	    (general != NULL && strcmp(general, to) == 0))
		return true;
	conf_error(reader, pos, "\"%s\": only \"access\" in block log names "
	    "syslog; a site or path can name the same, a file, or a program",
	    to);
	return false;
}

void
conf_log_complete_rules(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf		*conf = reader->conf;
	const struct conf_row		*row = conf_row_find_word("access",
					    object.kind);
	const struct conf_origin	*own = conf_origin(object, row, 0);
	const struct conf_origin	*format = conf_origin(object, row + 1,
					    0);
	const char			*name = rules->access.format;

	rules->log = rules->outer != NULL ? rules->outer->log :
	    conf->log.access.to != NULL && conf->log.all.n > 0 ?
	    conf->log.all.at[0] : NULL;
	if (own == NULL || own->bad)
		return;
	if (name == NULL)
		name = rules->log != NULL ? rules->log->name :
		    conf->log.access_format;
	rules->log = NULL;
	if (rules->access.to == NULL && format != NULL)
		conf_error(reader, format->pos,
		    "unexpected \"%s\" behind \"off\"", name);
	else if (rules->access.to != NULL && name != NULL &&
	    may_log_to(reader, rules->access.to, own->pos))
		rules->log = find_log(reader, rules->access.to, name,
		    format != NULL ? format->pos : own->pos);
}

void
conf_log_free(struct conf_access_logs *all)
{
	for (size_t i = 0; i < all->n; i++) {
		conf_log_format_free(&all->at[i]->line);
		mem_drop(&all->at[i]);
	}
	mem_drop(&all->at);
	mem_drop(&all->targets);
}
