/*
 * conf_answer: values that say how requests are answered: where a redirect
 * leads, which pages stand for others.
 *
 * What goes into a response's head must not be able to end its line.
 */
#include <string.h>
#include <strings.h>

#include "conf_answer.h"
#include "lib/mem.h"

/* What an address is written with (RFC 3986, section 2), but for #. */
#define ADDRESS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
		"0123456789-._~:/?[]@!$&'()*+,;=%"

/* The length of http:// or https://, 0 if it is neither. */
static size_t
scheme(const char *target)
{
	return strncasecmp(target, "http://", 7) == 0 ? 7 :
	    strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
}

static const char *
wrong_target(const char *target)
{
	size_t	host = scheme(target);

	if (target[strspn(target, ADDRESS)] != '\0')
		return "a target is written as in an address: other "
		    "characters as %XX, and without #";
	if (target[0] == '/' && target[1] == '/')
		return "a path has one / in front: write http:// or https:// "
		    "for another host";
	if (target[0] != '/' && (host == 0 ||
	    strcspn(target + host, "/?") == 0))
		return "a target is a path from / on, or begins with http:// "
		    "or https:// and a host";
	return NULL;
}

bool
conf_answer_target(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char	*wrong = wrong_target(word->text);

	(void)row;
	if (wrong != NULL) {
		conf_complain(reader, word->mark, "%s", wrong);
		return false;
	}
	*(char **)member = mem_string(word->text);
	return true;
}

static const char *
wrong_page(const char *path)
{
	if (path[0] == '/' && path[strlen(path) - 1] == '/')
		return "a page is a file, not a directory";
	if (strchr(path, '%') != NULL)
		return "the path of a page is written decoded, without %";
	if (strstr(path, "/.") != NULL)
		return "names that begin with a dot are not served";
	return conf_name_wrong(path);
}

static bool
take_page(struct conf_reader *reader, const struct conf_word *word,
    char **page)
{
	const char	*wrong = wrong_page(word->text);

	if (wrong != NULL) {
		conf_complain(reader, word->mark, "%s", wrong);
		return false;
	}
	*page = mem_string(word->text);
	return true;
}

/* A path of the site, or off. */
bool
conf_answer_page(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	(void)row;
	return (!word->quoted && strcmp(word->text, "off") == 0) ||
	    take_page(reader, word, member);
}

static bool
given(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, const struct conf_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		if (strcmp(pairs->at[i].name, word->text) != 0)
			continue;
		conf_complain(reader, word->mark,
		    "%s %s is given twice in this block", row->word,
		    word->text);
		return true;
	}
	return false;
}

static void
add_pair(struct conf_pairs *pairs, struct conf_pair pair)
{
	pairs->at = mem_grow(pairs->at, pairs->n + 1, sizeof(*pairs->at));
	pairs->at[pairs->n++] = pair;
}

/* Two words: a status, and the page for it. */
bool
conf_answer_error(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	struct conf_pair	pair = { 0 };

	if (!conf_value_code(reader, row, &words[0], &pair.number) ||
	    given(reader, row, &words[0], member) ||
	    !take_page(reader, &words[1], &pair.value))
		return false;
	pair.name = mem_string(words[0].text);
	add_pair(member, pair);
	return true;
}
