/*
 * log: the values of block log, and the format of the access log.
 */
#include <string.h>

#include "conf/setters.h"

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
error_unknown_format(struct conf_reader *reader, const char *name)
{
	const char	*near = NULL;
	struct buf	 all = { 0 };

	for (size_t i = 0; i < BUILT_IN_COUNT; i++) {
		near = conf_error_nearer(name, near, built_in[i].name);
		buf_addf(&all, "%s, ", built_in[i].name);
	}
	conf_error(reader, conf_pos_top(reader->conf,
	    offsetof(struct conf, log.access_format)), "there is no format "
	    "\"%s\", but %sand what \"format\" makes", name, buf_string(&all));
	conf_error_hint(reader, near);
	buf_free(&all);
}

void
conf_log_select_format(struct conf_reader *reader)
{
	struct conf			*conf = reader->conf;
	const char			*name = conf->log.access_format, *text;
	struct conf_log_error		 error;
	bool				 json;

	if (name == NULL)		/* an error was reported */
		return;
	text = find_format(conf, name, &json);
	if (text == NULL)
		error_unknown_format(reader, name);
	else				/* conf_log_set_format() parsed it */
		conf_log_format_parse(&conf->log.line, text, json, &error);
}
