/*
 * words: the words of a line of a scenario.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t/script/words.h"
#include "t/script/world.h"

void
words_unquote(const char *word, struct buf *out)
{
	struct buf	 once = { 0 };
	const char	*p = word + 1;
	long		 times = 1;
	char		 hex[3] = "";

	for (; *p != '"' && *p != '\0'; p++) {
		if (*p != '\\') {
			buf_addc(&once, *p);
			continue;
		}
		switch (*++p) {
		case 'r': buf_addc(&once, '\r'); break;
		case 'n': buf_addc(&once, '\n'); break;
		case 't': buf_addc(&once, '\t'); break;
		case '0': buf_addc(&once, '\0'); break;
		case 'x':
			memcpy(hex, p + 1, 2);
			buf_addc(&once, (char)strtol(hex, NULL, 16));
			p += 2;
			break;
		default: buf_addc(&once, *p); break;
		}
	}
	if (p[0] == '"' && p[1] == '*')
		times = strtol(p + 2, NULL, 10);
	while (times-- > 0)
		buf_add(out, once.at, once.len);
	buf_free(&once);
}

size_t
words_split(char *line, char **words)
{
	size_t	n = 0;

	while (n < WORDS_MAX) {
		while (isspace((unsigned char)*line))
			line++;
		if (*line == '\0' || *line == '#')
			break;
		words[n++] = line;
		if (*line == '"')
			for (line++; *line != '"' && *line != '\0'; line++)
				if (*line == '\\')
					line++;
		while (*line != '\0' && !isspace((unsigned char)*line))
			line++;
		if (*line != '\0')
			*line++ = '\0';
	}
	return n;
}

int64_t
words_time(const char *word)
{
	char	*unit;
	double	 n = strtod(word, &unit);

	if (strcmp(unit, "ms") == 0)
		return (int64_t)n;
	if (strcmp(unit, "s") == 0)
		return (int64_t)(n * 1000);
	world_fail("not a time: %s", word);
}

static const struct {
	const char	*name;
	int		 error;
} errors[] = {
	{ "ENOENT", ENOENT }, { "EACCES", EACCES }, { "EISDIR", EISDIR },
	{ "ENOTDIR", ENOTDIR }, { "EXDEV", EXDEV }, { "ELOOP", ELOOP },
	{ "ENOTSUP", ENOTSUP }, { "EIO", EIO },
	{ "ENAMETOOLONG", ENAMETOOLONG },
	{ "ECONNABORTED", ECONNABORTED }, { "EMFILE", EMFILE },
	{ "ESTALE", ESTALE }, { "EFBIG", EFBIG }, { "EAGAIN", EAGAIN },
	{ "ECANCELED", ECANCELED }, { "ETIMEDOUT", ETIMEDOUT },
	{ "ENOMEM", ENOMEM }, { "EMSGSIZE", EMSGSIZE }, { "ENOSPC", ENOSPC },
	{ "EINVAL", EINVAL }, { "ENOSYS", ENOSYS }, { "EPERM", EPERM },
	{ "EPROTO", EPROTO }, { "ENODATA", ENODATA },
};

int
words_error(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].error;
	world_fail("not an error: %s", name);
}
