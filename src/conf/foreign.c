/*
 * foreign: reports words of other servers, with what amped has in their place.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/foreign.h"

static const struct foreign {
	const char	*directive, *word, *server, *advice;
} foreigns[] = {
#define FOREIGN(directive, word, server, advice)			\
	{ directive, word, server, advice },
#define FOREIGN_BLOCK(word, block)
#define FOREIGN_FIELD(name, field)
#include "conf/foreign.tbl"
#undef FOREIGN_FIELD
#undef FOREIGN_BLOCK
#undef FOREIGN
};

static const struct {
	const char	*word;
	enum conf_block	 block;			/* TOP: that around it */
} blocks[] = {
#define FOREIGN(directive, word, server, advice)
#define FOREIGN_BLOCK(word, block)	{ word, BLOCK_##block },
#define FOREIGN_FIELD(name, field)
#include "conf/foreign.tbl"
#undef FOREIGN_FIELD
#undef FOREIGN_BLOCK
#undef FOREIGN
};

static const struct {
	const char	*name, *advice;
} fields[] = {
#define FOREIGN(directive, word, server, advice)
#define FOREIGN_BLOCK(word, block)
#define FOREIGN_FIELD(name, field)					\
	{ name, "this is a variable of nginx: write " field },
#include "conf/foreign.tbl"
#undef FOREIGN_FIELD
#undef FOREIGN_BLOCK
#undef FOREIGN
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* The length of a word without the ">" of Apache's blocks. */
static size_t
word_len(const char *word)
{
	size_t	len = strlen(word);

	return word[0] == '<' && len > 1 && word[len - 1] == '>' ? len - 1 :
	    len;
}

/* Whether a word is meant by one of the table: Apache takes words in any case,
 * and a star may stand for any end. */
static bool
is_same_word(const char *typed, const char *word, bool may_have_star)
{
	size_t	len = strlen(word), star = len - 1;

	if (may_have_star && len > 1 && word[star] == '*')
		return strncasecmp(typed, word, star) == 0;
	return word_len(typed) == len && strncasecmp(typed, word, len) == 0;
}

/* NULL: the table has no such word. */
static const struct foreign *
find_word(const char *directive, const char *word)
{
	const struct foreign	*f;

	for (size_t i = 0; i < COUNT(foreigns); i++) {
		f = &foreigns[i];
		if (strcmp(f->directive, directive) == 0 &&
		    is_same_word(word, f->word, f->server[0] != '\0'))
			return f;
	}
	return NULL;
}

/* Whether a text begins with "$" and the number of a word. */
static bool
is_place(const char *advice)
{
	return advice[0] == '$' && isdigit((unsigned char)advice[1]);
}

/* Whether the statement has all words that an advice takes over. */
static bool
has_places(const char *advice, size_t n)
{
	for (; *advice != '\0'; advice++)
		if (is_place(advice) && (size_t)(advice[1] - '0') >= n)
			return false;
	return true;
}

/* Adds an advice, with words of the statement in it. */
static void
add_advice(const char *advice, const struct conf_word *words, struct buf *to)
{
	const struct conf_word	*word;

	for (; *advice != '\0'; advice++) {
		if (!is_place(advice)) {
			buf_addc(to, *advice);
			continue;
		}
		word = &words[*++advice - '0'];
		buf_addf(to, word->quoted ? "\"%s\"" : "%s", word->text);
	}
}

/* Where the directive that an advice begins with belongs, if the advice is read
 * outside of all blocks and leaves that out. */
static const char *
find_place(const char *advice, enum conf_block block)
{
	char	word[32];

	if (block != BLOCK_TOP || strstr(advice, " in a ") != NULL ||
	    sscanf(advice, "write %31[a-z]", word) != 1 ||
	    conf_row_find_word(word, BLOCK_TOP) != NULL ||
	    conf_row_find_word(word, BLOCK_SITE) == NULL)
		return "";
	return conf_row_find_word(word, BLOCK_PATH) != NULL ?
	    "in a site or path, " : "in a site, ";
}

static void
error_foreign(struct conf_reader *reader, enum conf_block block,
    const struct foreign *f, const struct conf_word *words)
{
	struct buf	advice = { 0 };

	buf_adds(&advice, find_place(f->advice, block));
	add_advice(f->advice, words, &advice);
	conf_error(reader, words[0].pos, "\"%s\" is a word of %s: %s",
	    words[0].text, f->server, buf_string(&advice));
	buf_free(&advice);
}

const char *
conf_foreign_field(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (strlen(fields[i].name) == len &&
		    memcmp(fields[i].name, name, len) == 0)
			return fields[i].advice;
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

	if (f != NULL)
		conf_error(reader, word->pos, "\"%s\" behind \"%s\": %s",
		    word->text, directive, f->advice);
	return f != NULL;
}

/* The row for the first word, or for it and a word behind it that says what the
 * statement does. */
static const struct foreign *
find_statement(const char *place, const struct conf_word *words, size_t n)
{
	const struct foreign	*f = find_word(place, words[0].text), *more;

	for (size_t i = 1; f != NULL && i < n; i++) {
		more = find_word(f->word, words[i].text);
		if (more != NULL && has_places(more->advice, n))
			return more;
	}
	return f;
}

bool
conf_foreign_statement(struct conf_reader *reader, enum conf_block block,
    const struct conf_word *words, size_t n)
{
	const struct foreign	*f = find_statement("", words, n);

	if (f != NULL)
		error_foreign(reader, block, f, words);
	return f != NULL;
}

bool
conf_foreign_in_block(struct conf_reader *reader, enum conf_block block,
    const struct conf_word *words, size_t n)
{
	const struct foreign	*f = find_statement(block == BLOCK_TOP ?
				    "at top" : "in site", words, n);

	if (f == NULL || (block != BLOCK_TOP && block != BLOCK_SITE &&
	    block != BLOCK_PATH))
		return false;
	error_foreign(reader, block, f, words);
	return true;
}

/* The host of an address, with its length; NULL: the word is no address. */
static const char *
find_host(const char *word, size_t *len)
{
	const char	*slashes = strstr(word, "://");
	size_t		 n;

	if (slashes != NULL)
		word = slashes + 3;
	*len = strcspn(word, ":,/");
	if (word[*len] == '/')
		return slashes != NULL ? word : NULL;
	if (word[*len] == ':') {
		n = strspn(word + *len + 1, "0123456789");
		return n > 0 && strchr(",", word[*len + 1 + n]) != NULL ?
		    word : NULL;
	}
	return slashes != NULL || memchr(word, '.', *len) != NULL ||
	    strncmp(word, "localhost", *len + 1) == 0 ? word : NULL;
}

bool
conf_foreign_address(struct conf_reader *reader, const struct conf_word *word)
{
	size_t		 len;
	const char	*host = find_host(word->text, &len), *port = "80";
	bool		 local;

	if (host == NULL)
		return false;
	local = len == 0 || isdigit((unsigned char)host[0]) ||
	    strncmp(host, "localhost", len) == 0;
	if (host[len] == ':')
		port = host + len + 1;
	conf_error(reader, word->pos, "\"%s\" begins a site of Caddy: write "
	    "site %.*s { listen %s:%.*s ... }", word->text,
	    local ? 7 : (int)len, local ? "default" : host,
	    local ? "127.0.0.1" : "*",
	    (int)strspn(port, "0123456789"), port);
	return true;
}

bool
conf_foreign_block(const char *word, enum conf_block inside,
    enum conf_block *block)
{
	size_t	len;

	for (size_t i = 0; i < COUNT(blocks); i++) {
		if (strcmp(blocks[i].word, word) != 0)
			continue;
		*block = blocks[i].block == BLOCK_TOP ? inside :
		    blocks[i].block;
		return true;
	}
	*block = BLOCK_SITE;
	return inside == BLOCK_TOP && find_word("", word) == NULL &&
	    find_host(word, &len) != NULL;
}
