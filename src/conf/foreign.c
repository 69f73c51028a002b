/*
 * foreign: reports words of other servers, with what amped has in their place.
 */
#include <string.h>
#include <strings.h>

#include "conf/foreign.h"

static const struct foreign {
	const char	*directive, *word, *server, *advice;
} foreigns[] = {
#define FOREIGN(directive, word, server, advice)			\
	{ directive, word, server, advice },
#include "conf/foreign.tbl"
#undef FOREIGN
};

/* The length of a word without the ">" of Apache's blocks. */
static size_t
word_len(const char *word)
{
	size_t	len = strlen(word);

	return word[0] == '<' && len > 1 && word[len - 1] == '>' ? len - 1 :
	    len;
}

/* Whether the words are the same; "</Files>" ends what "<Files" begins, and
 * Apache takes words in any case. */
static bool
is_same_word(const char *typed, const char *word)
{
	if (typed[0] == '<' && typed[1] == '/' && word[0] == '<') {
		typed += 2;
		word++;
		return word_len(word) + 1 == strlen(typed) &&
		    strncasecmp(typed, word, word_len(word)) == 0;
	}
	return word_len(typed) == strlen(word) &&
	    strncasecmp(typed, word, strlen(word)) == 0;
}

/* NULL: the table has no such word. */
static const struct foreign *
find_word(const char *directive, const char *word)
{
	const struct foreign	*f;

	for (size_t i = 0; i < sizeof(foreigns) / sizeof(foreigns[0]); i++) {
		f = &foreigns[i];
		if (strcmp(f->directive, directive) == 0 &&
		    is_same_word(word, f->word))
			return f;
	}
	return NULL;
}

bool
conf_foreign_find(const char *directive, const char *word)
{
	return find_word(directive, word) != NULL;
}

bool
conf_foreign_error(struct conf_reader *reader, const char *directive,
    const struct conf_word *word)
{
	const struct foreign	*f = find_word(directive, word->text);

	if (f == NULL)
		return false;
	if (f->server[0] != '\0')
		conf_error(reader, word->pos, "\"%s\" is a word of %s: %s",
		    word->text, f->server, f->advice);
	else
		conf_error(reader, word->pos, "\"%s\" behind \"%s\": %s",
		    word->text, directive, f->advice);
	return true;
}
