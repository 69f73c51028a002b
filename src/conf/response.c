/*
 * response: values for responses: targets of redirects, error pages, ages,
 * media types, character sets, and users' directories.
 *
 * A value that goes into a response's head must have no end of line.
 */
#include <string.h>
#include <strings.h>

#include "conf/setters.h"
#include "lib/mem.h"
#include "lib/str.h"

#define AGE_MAX_MS	((int64_t)3650 * 86400 * 1000)	/* ten years */

/* The characters of a URI (RFC 3986, section 2) without "#". */
#define URI_CHARACTERS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
		"0123456789-._~:/?[]@!$&'()*+,;=%"

/* The length of http:// or https://, 0 if it is neither. */
static size_t
scheme_len(const char *target)
{
	return strncasecmp(target, "http://", 7) == 0 ? 7 :
	    strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
}

const char *
conf_response_wrong_target(const char *target)
{
	size_t	host = scheme_len(target);

	if (target[strspn(target, URI_CHARACTERS)] != '\0')
		return "a target is written as in an address: other "
		    "characters as %%XX, and without #";
	if (target[0] == '/' && target[1] == '/')
		return "a path has one / in front: write http:// or https:// "
		    "for another host";
	if (target[0] != '/' && (host == 0 ||
	    strcspn(target + host, "/?") == 0))
		return "a target is a path from / on, or begins with http:// "
		    "or https:// and a host";
	return NULL;
}

void
conf_response_complete_target(char **target)
{
	size_t	host = scheme_len(*target);
	char	*whole;

	if (host == 0 || strpbrk(*target + host, "/?") != NULL)
		return;
	whole = mem_get(strlen(*target) + 2);
	strcpy(whole, *target);
	strcat(whole, "/");
	mem_drop(target);
	*target = whole;
}

const char *
conf_response_wrong_page(const char *path)
{
	if (path[0] == '/' && path[strlen(path) - 1] == '/')
		return "a page is a file, not a directory";
	if (strchr(path, '%') != NULL)
		return "the path of a page is written decoded, without %%";
	if (strstr(path, "/.") != NULL)
		return "names that begin with a dot are not served";
	return conf_name_wrong_path(path);
}

const char *
conf_response_wrong_kept(const char *pattern)
{
	if (pattern[0] != '/' && pattern[0] != '*')
		return "a pattern of paths begins with / or *";
	if (strchr(pattern, '%') != NULL)
		return "the pattern of a path is written decoded, without %%";
	return NULL;
}

/* Adds a suffix of names; "off" stands alone. */
bool
conf_response_add_suffix(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char		*text = word->text;
	struct conf_words	*words = member;
	bool			 off = strcmp(text, "off") == 0;

	if (words->n > 0 && (off || strcmp(words->at[0], "off") == 0)) {
		conf_error(reader, word->pos,
		    "%s: \"off\" excludes other values", row->word);
		return false;
	}
	if (!off && (text[0] != '.' || text[1] == '\0' ||
	    strchr(text, '/') != NULL)) {
		conf_error(reader, word->pos, "\"%s\" is not a suffix: it "
		    "begins with a dot, as .html", text);
		return false;
	}
	conf_name_add(words, text);
	return true;
}

static bool
is_given_twice(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, const struct conf_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		if (strcmp(pairs->at[i].name, word->text) != 0)
			continue;
		conf_error(reader, word->pos,
		    "%s %s is given twice in this block", row->word,
		    word->text);
		return true;
	}
	return false;
}

/* Reads a status code, or the number of a class of them. */
static bool
read_status(const char *text, int64_t *status)
{
#define X(number, name)							\
	*status = number;						\
	if (strcmp(text, name) == 0)					\
		return true;
	CONF_ERROR_CLASSES(X)
#undef X
	return str_number(str_of(text), status) && *status >= 400 &&
	    *status <= 599;
}

/* Adds a page from two words, a status and a path. */
bool
conf_response_set_error(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	int64_t	status;

	if (!read_status(words[0].text, &status))
		return conf_choice_set(reader, row, &words[0], &status);
	if (is_given_twice(reader, row, &words[0], member) ||
	    !conf_error_none(reader, &words[1],
	    conf_response_wrong_page(words[1].text)))
		return false;
	conf_name_add_pair(member, words, status);
	return true;
}

/* Whether a text is a media type, type and a star, or two stars. */
static bool
is_media_pattern(const char *text)
{
	size_t		 main = strcspn(text, "/");
	const char	*sub = text + main + 1;

	if (text[main] == '\0' || !conf_name_is_token(text, main) ||
	    !conf_name_is_token(sub, strlen(sub)))
		return false;
	if (memchr(text, '*', main) != NULL)
		return strcmp(text, "*/*") == 0;
	return strchr(sub, '*') == NULL || strcmp(sub, "*") == 0;
}

const char *
conf_response_wrong_media(const char *text)
{
	return is_media_pattern(text) ? NULL : "\"%s\" is not a media type: "
	    "write text/html, image/* or */*";
}

const char *
conf_response_wrong_type(const char *text)
{
	return is_media_pattern(text) && strchr(text, '*') == NULL ? NULL :
	    "\"%s\" is not a media type: write text/html";
}

/* Adds the media type of a suffix. */
bool
conf_response_set_type(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	const char	*suffix = words[0].text;

	if (suffix[0] != '.' || suffix[1] == '\0' ||
	    strpbrk(suffix + 1, "./") != NULL) {
		conf_error(reader, words[0].pos, "\"%s\" is not the last "
		    "suffix of a name: write a dot and what follows, .html",
		    suffix);
		return false;
	}
	if (!conf_error_none(reader, &words[1],
	    conf_response_wrong_type(words[1].text)) ||
	    is_given_twice(reader, row, &words[0], member))
		return false;
	conf_name_add_pair(member, words, 0);
	return true;
}

/* Adds an age from two words, a media type or pattern, and a time. */
bool
conf_response_set_age(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	int64_t	ms;

	if (!conf_error_none(reader, &words[0],
	    conf_response_wrong_media(words[0].text)))
		return false;
	if (!conf_scaled_parse(TYPE_TIME, words[1].text, &ms) ||
	    ms > AGE_MAX_MS) {
		conf_error(reader, words[1].pos, "\"%s\" is not a time "
		    "up to 3650d: a number with ms, s, m, h or d behind it",
		    words[1].text);
		return false;
	}
	if (is_given_twice(reader, row, &words[0], member))
		return false;
	conf_name_add_pair(member, words, ms / 1000);
	return true;
}

const char *
conf_response_wrong_charset(const char *text)
{
	return conf_name_is_token(text, strlen(text)) ? NULL :
	    "\"%s\" is not a character set's name";
}

/* Adds a character set from two words, a media type or pattern, and a name. */
bool
conf_response_set_charset(struct conf_reader *reader,
    const struct conf_row *row, const struct conf_word *words, void *member)
{
	if (!conf_error_none(reader, &words[0],
	    conf_response_wrong_media(words[0].text)) ||
	    !conf_error_none(reader, &words[1],
	    conf_response_wrong_charset(words[1].text)) ||
	    is_given_twice(reader, row, &words[0], member))
		return false;
	conf_name_add_pair(member, words, 0);
	return true;
}

/* Whether a path has only segments with names and none with a dot in front, so
 * that it stays in a home. */
static bool
is_home_path(const char *path)
{
	size_t	n;

	for (;; path += n + 1) {
		n = strcspn(path, "/");
		if (n == 0 || path[0] == '.')
			return false;
		if (path[n] == '\0')
			return true;
	}
}

const char *
conf_response_wrong_home(const char *path)
{
	return is_home_path(path) ? NULL : "a directory of users is beneath "
	    "their homes: without a slash in front or at its end, and no name "
	    "in it begins with a dot";
}

const char *
conf_response_wrong_user(const char *name)
{
	return conf_user_is_valid(name, strlen(name)) ? NULL :
	    "users deny: this cannot be a user's name";
}
