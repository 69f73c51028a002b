/*
 * directive: assigns the values of a statement to rows of the table, and
 * reports words that cannot stand there.
 *
 * value.c reads the values.
 */
#include <string.h>

#include "conf/foreign.h"
#include "conf/setters.h"

/* The blocks in which a misplaced word may stand; "" if the word is unknown. */
static const char *
blocks_for_word(const char *word, struct buf *to)
{
	const char	*between = "in block ";
	enum conf_block	 ignored;

	for (enum conf_block b = 0; b < BLOCK_COUNT; b++) {
		if (conf_row_find_word(word, b) == NULL &&
		    !conf_block_find(word, b, &ignored))
			continue;
		if (b == BLOCK_TOP)
			return "outside of all blocks";
		buf_addf(to, "%s%s", between, conf_blocks[b].word);
		between = " or ";
	}
	return buf_string(to);
}

/* The directive behind which a misplaced word may stand; NULL: none. */
static const char *
directive_of_part(const char *word)
{
	const struct conf_row	*row;

	CONF_EACH_ROW(row) {
		if (strcmp(row->part, word) == 0)
			return row->word;
	}
	return NULL;
}

/* NULL: no word of the block is near. */
static const char *
nearest_word(const char *word, enum conf_block block)
{
	const struct conf_row	*row;
	const char		*near;

	near = conf_error_nearer(word, NULL, "include");
	for (enum conf_block b = 0; b < BLOCK_COUNT; b++) {
		if (b != BLOCK_TOP && conf_blocks[b].inside == block)
			near = conf_error_nearer(word, near,
			    conf_blocks[b].word);
	}
	CONF_EACH_ROW(row) {
		if (row->block == block)
			near = conf_error_nearer(word, near, row->word);
	}
	return near;
}

/* Finds the block whose words are most likely in an unknown block. */
static bool
find_likely_block(const char *word, enum conf_block inside,
    enum conf_block *block)
{
	const char	*near = nearest_word(word, inside);

	return conf_foreign_block(word, inside, block) ||
	    (near != NULL && conf_block_find(near, inside, block));
}

static void
error_unknown(struct conf_reader *reader, const struct conf_word *word,
    enum conf_block block)
{
	conf_error(reader, word->pos, "unknown word \"%s\"%s%s", word->text,
	    block == BLOCK_TOP ? "" : " in block ", conf_blocks[block].word);
	conf_error_hint(reader, nearest_word(word->text, block));
}

bool
conf_directive_unknown(struct conf_reader *reader,
    const struct conf_word *words, size_t n, bool has_block,
    enum conf_block block, enum conf_block *likely)
{
	struct buf	buf = { 0 };
	const char	*where = blocks_for_word(words[0].text, &buf);
	const char	*part_of = directive_of_part(words[0].text);

	if (conf_foreign_in_block(reader, block, words, n))
		;
	else if (where[0] != '\0')
		conf_error(reader, words[0].pos,
		    "\"%s\" cannot stand here: it belongs %s", words[0].text,
		    where);
	else if (conf_foreign_statement(reader, block, words, n))
		;
	else if (part_of != NULL)
		conf_error(reader, words[0].pos,
		    "\"%s\" cannot stand here: it belongs behind \"%s\"",
		    words[0].text, part_of);
	else if (!(has_block && block == BLOCK_TOP &&
	    conf_foreign_address(reader, &words[0])))
		error_unknown(reader, &words[0], block);
	buf_free(&buf);
	return find_likely_block(words[0].text, block, likely);
}

static bool
is_given_twice(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *row, const struct conf_word *word)
{
	struct conf_origin	*o = conf_origin(object, row, 0);

	if (o == NULL)
		return false;
	conf_error(reader, word->pos,
	    CONF_ROW " is given twice: first at %s:%zu", CONF_ROW_NAME(row),
	    reader->conf->files.at[o->pos.file], o->pos.line);
	return true;
}

/* The row of the list that a value may add to: that of what an option stands
 * behind, else the value's own. */
static const struct conf_row *
find_list(const struct conf_row *row)
{
	return conf_value_is_option(row) ?
	    conf_row_find_word(row->word, row->block) : row;
}

/* Sets a value from its words, and records its origin; false: an error
 * was reported. */
static bool
set_value(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *row, const struct conf_word *words)
{
	const struct conf_row	*list = find_list(row);
	void			*member = conf_member(object, row);
	bool			 is_list = conf_value_is_list(row), good;
	size_t			 before, after;

	if (!is_list && is_given_twice(reader, object, row, words))
		return false;
	before = is_list ? conf_value_count(list, member) : 0;
	good = conf_value_set(reader, row, words, member);
	after = is_list && good ? conf_value_count(list, member) : before + 1;
	/* "*:80" makes two elements of one word, and an option none. */
	for (; before < after; before++)
		conf_origin_add(object, list, before, words->pos, !good);
	return good;
}

/* Reads the word "always" behind a field that was set or found wrong; returns
 * how many words that are. */
static size_t
read_always(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *row, const struct conf_word *word, bool good)
{
	struct conf_pairs	*fields = conf_member(object, row);

	if (row->type != TYPE_FIELD || word->quoted ||
	    strcmp(word->text, CONF_ALWAYS) != 0)
		return 0;
	if (object.kind == BLOCK_FILES)
		conf_error(reader, word->pos, "\"" CONF_ALWAYS "\" belongs "
		    "in block site or path: no file has a part in an error");
	else if (good)
		fields->at[fields->n - 1].number = 1;
	return 1;
}

/* The row of the directive whose part the word names, or NULL. */
static const struct conf_row *
find_part(const struct conf_row *directive, const struct conf_word *word)
{
	const struct conf_row	*row;

	if (word->quoted || word->text[0] == '\0')
		return NULL;
	CONF_EACH_ROW(row) {
		if (row->block == directive->block &&
		    strcmp(row->word, directive->word) == 0 &&
		    strcmp(row->part, word->text) == 0)
			return row;
	}
	return NULL;
}

/* The row of the positional value at an index; NULL: there is none. */
static const struct conf_row *
find_positional(const struct conf_row *directive, size_t nth)
{
	const struct conf_row	*row = directive + nth;

	if (directive->part[0] != '\0')
		return NULL;
	if (conf_value_is_list(directive))
		return nth == 0 || conf_value_words(directive) == 1 ?
		    directive : NULL;
	if (row < conf_rows + conf_nrows && row->block == directive->block &&
	    strcmp(row->word, directive->word) == 0 && row->part[0] == '\0')
		return row;
	return NULL;
}

/* Whether the words behind a part's first value are values of it, too. */
static bool
goes_on(const struct conf_row *row)
{
	return row->type == TYPE_MEMBER || row->type == TYPE_MEMBERS ||
	    row->type == TYPE_RUN_PATTERN || row->type == TYPE_CHAIN_PATTERN;
}

/* Whether a directive is a command, with arguments: a list that does not add
 * up. */
static bool
is_command(struct conf_object object, const struct conf_row *directive)
{
	const struct conf_words	*given;

	if (directive->type != TYPE_FASTCGI)
		return directive->type == TYPE_COMMAND ||
		    directive->type == TYPE_FILTER;
	given = conf_member(object, directive);
	return given->n > 0 && given->at[0][0] == '/';
}

/* Whether the words behind a wrong value belong to what is wrong. */
static bool
ends_statement(const struct conf_row *row, const struct conf_row *directive,
    const struct conf_word *word)
{
	/* Words behind another server's word are that server's, too. */
	return row->type == TYPE_FIELD || row->type == TYPE_COMMAND ||
	    row->type == TYPE_FASTCGI || row->type == TYPE_FILTER ||
	    row->type == TYPE_RUN || row->type == TYPE_CHAIN ||
	    conf_foreign_find(directive->word, word->text);
}

/* Replaces all errors but the first n by one about a word behind a value that
 * begins a statement of the block; false: the word begins none. */
static bool
error_unseparated(struct conf_reader *reader, struct conf_object object,
    enum conf_block block, const struct conf_word *word, size_t n)
{
	struct conf_origin	*around = conf_origin(object, NULL, 0);
	enum conf_block		 ignored;

	if (word->quoted || (
	    conf_row_find_word(word->text, block) == NULL &&
	    !conf_block_find(word->text, block, &ignored)))
		return false;
	if (around != NULL)		/* lacks the statement */
		around->bad = true;
	conf_error_drop(reader, n);
	conf_error(reader, word->pos, "\"%s\" begins a statement: write ; "
	    "before it", word->text);
	return true;
}

static void
error_surplus(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *directive, const struct conf_word *word)
{
	const struct conf_row	*row;
	const char		*near = NULL;

	if (conf_foreign_error(reader, directive->word, word) ||
	    error_unseparated(reader, object, directive->block, word,
	    reader->nerrors))
		return;
	if (goes_on(directive)) {
		conf_error(reader, word->pos, "\"%s\" behind \"%s\": write "
		    "%s user NAME, or %s group NAME", word->text,
		    directive->word, directive->word, directive->word);
		return;
	}
	conf_error(reader, word->pos, "unexpected \"%s\" behind \"%s\"%s",
	    word->text, directive->word, conf_value_words(directive) > 1 ?
	    ": a value of several words needs double quotes (\")" : "");
	CONF_EACH_ROW(row) {
		if (row->block == directive->block &&
		    strcmp(row->word, directive->word) == 0)
			near = conf_error_nearer(word->text, near,
			    row->part);
	}
	conf_error_hint(reader, near);
}

/* How many words behind the first the second word of a value stands: several
 * status codes may share the page that follows. */
static size_t
distance_of_second(const struct conf_row *row, const struct conf_word *words,
    size_t n)
{
	size_t	i = 1;

	while (row->type == TYPE_ERROR && i < n && words[i].text[0] != '/')
		i++;
	return i < n ? i : 1;
}

/* Sets a value, or several that share a word; returns how many words are used
 * up.  *good: the last value is one. */
static size_t
set_next(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *row, const struct conf_word *words, size_t n,
    bool *good)
{
	size_t			 count = conf_value_words(row), second;
	struct conf_word	 both[2];

	if (count <= 1) {		/* a flag is its own value */
		*good = set_value(reader, object, row, words + count - 1);
		return count;
	}
	second = distance_of_second(row, words, n);
	for (size_t i = 0; i < second; i++) {
		both[0] = words[i];
		both[1] = words[second];
		*good = set_value(reader, object, row, both);
	}
	return second + 1;
}

/* Reports that a value is missing behind a word. */
static void
error_missing(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word)
{
	const char	*colon = strchr(word->text, ':');
	int64_t		 ignored;

	if (conf_foreign_error(reader, row->word, word))
		return;
	if (row->type == TYPE_AGE &&
	    conf_scaled_parse(TYPE_TIME, word->text, &ignored))
		conf_error(reader, word->pos, "\"%s\" stands behind a media "
		    "type: write %s */* %s for all files", word->text,
		    row->word, word->text);
	else if (row->type == TYPE_FIELD && colon != NULL && colon[1] == ' ')
		conf_error(reader, word->pos, "name and value are two words: "
		    "write %s %.*s \"%s\"", row->word,
		    (int)(colon - word->text), word->text,
		    colon + strspn(colon, ": "));
	else if (row->type != TYPE_FIELD ||
	    conf_error_none(reader, word, conf_name_wrong_sign(word->text)))
		conf_error(reader, word->pos, "\"%s\" needs a value",
		    word->text);
}

void
conf_directive_apply(struct conf_reader *reader, struct conf_object object,
    const struct conf_row *directive, const struct conf_word *words, size_t n)
{
	const struct conf_row	*row = NULL;
	size_t			 i = 1, nth = 0, used, before;
	bool			 good = false;

	if (n == 1)
		conf_error(reader, words[0].pos, "\"%s\" needs a value%s",
		    directive->word, directive->type == TYPE_SWITCH ?
		    ": on or off" : "");
	else if (is_command(object, directive) &&
	    is_given_twice(reader, object, directive, &words[1]))
		return;
	for (const struct conf_row *last = NULL; i < n; last = row) {
		if ((row = find_part(directive, &words[i])) != NULL)
			i++;
		else if (last == NULL || !goes_on(last))
			row = find_positional(directive, nth++);
		else
			row = last;
		if (row == NULL) {
			error_surplus(reader, object, directive, &words[i]);
			return;
		}
		if (conf_value_is_option(row) && nth == 0) {
			conf_error(reader, words[i - 1].pos,
			    "\"%s\" stands behind what it is about",
			    words[i - 1].text);
			return;
		}
		if (i + conf_value_words(row) > n) {
			error_missing(reader, row, &words[n - 1]);
			return;
		}
		before = reader->nerrors;
		used = set_next(reader, object, row, &words[i], n - i, &good);
		if (!good && (ends_statement(row, directive, &words[i]) ||
		    (last != NULL && error_unseparated(reader, object,
		    directive->block, &words[i], before))))
			return;
		i += used;
		if (i < n)
			i += read_always(reader, object, row, &words[i], good);
	}
}
