/*
 * source: reads the files of a conf.
 *
 * The texts stay until conf_check() has run, as error messages quote them.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/private.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/regular.h"

#define SOURCE_MAX	(16 << 20)	/* bytes */
#define MARK		"\xef\xbb\xbf"	/* U+FEFF */

/* The directory in which the name stands; a link at its end is not followed. */
static char *
directory_of(const char *name)
{
	char	*copy = mem_string(name);
	char	*dir = dirname(copy);
	char	*real = realpath(dir, NULL);

	if (real == NULL)
		real = mem_string(dir);
	mem_drop(&copy);
	return real;
}

/* Takes away the mark that some editors put in front of UTF-8; returns the new
 * length. */
static size_t
remove_mark(char *text, size_t len)
{
	if (strncmp(text, MARK, sizeof(MARK) - 1) != 0)
		return len;
	len -= sizeof(MARK) - 1;
	memmove(text, text + sizeof(MARK) - 1, len + 1);
	return len;
}

size_t
conf_source_text(struct conf_reader *reader, const char *name, char *text,
    size_t len)
{
	size_t	n = reader->conf->files.n;

	len = remove_mark(text, len);
	conf_name_add(&reader->conf->files, name);
	reader->sources = mem_grow(reader->sources, n + 1,
	    sizeof(*reader->sources));
	reader->sources[n] = (struct conf_source){
		.text = text, .len = len, .dir = directory_of(name),
	};
	return n;
}

/* Reads to the end of a file or pipe; 0, or -1 with errno. */
static int
read_all(int fd, struct buf *to)
{
	ssize_t	n;

	do {
		buf_reserve(to, 8192);
		n = io_read_all(fd, to->at + to->len, 8192);
		if (n > 0)
			to->len += (size_t)n;
	} while (n > 0 && to->len <= SOURCE_MAX);
	if (n > 0)
		errno = EFBIG;
	return n == 0 ? 0 : -1;
}

bool
conf_source_read(struct conf_reader *reader, const char *file, bool any_kind,
    size_t *number)
{
	struct buf	text = { 0 };
	struct stat	sb;
	int		fd = any_kind ? open(file, O_RDONLY | O_CLOEXEC) :
			    regular_open(file), saved;

	if (fd == -1)
		return false;
	if (fstat(fd, &sb) == -1 || read_all(fd, &text) == -1) {
		saved = errno;
		io_close(&fd);
		buf_free(&text);
		errno = saved;
		return false;
	}
	io_close(&fd);
	buf_string(&text);
	*number = conf_source_text(reader, file, text.at, text.len);
	reader->sources[*number].dev = sb.st_dev;
	reader->sources[*number].ino = sb.st_ino;
	return true;
}

char *
conf_source_path(const struct conf_reader *reader, const struct conf_word *word)
{
	struct buf	path = { 0 };

	if (word->text[0] == '/' || word->pos.line == 0)
		return mem_string(word->text);
	buf_addf(&path, "%s/%s", reader->sources[word->pos.file].dir,
	    word->text);
	buf_string(&path);
	return path.at;
}

/* Returns what stands behind the last ".." of a path; NULL: there is none. */
static const char *
find_dots_end(const char *path)
{
	const char	*end = NULL;

	for (; (path = strstr(path, "/..")) != NULL; path += 3)
		if (path[3] == '/' || path[3] == '\0')
			end = path + 3;
	return end;
}

void
conf_source_straighten(char **path)
{
	const char	*rest = find_dots_end(*path);
	struct buf	 whole = { 0 };
	char		*front, *real;

	if (rest == NULL)
		return;
	front = mem_string(*path);
	front[rest - *path] = '\0';
	/* Only the system knows where ".." behind a link leads to. */
	real = realpath(front, NULL);
	mem_drop(&front);
	if (real == NULL)
		return;
	buf_addf(&whole, "%s%s", *rest != '\0' && real[1] == '\0' ? "" : real,
	    rest);
	buf_string(&whole);
	mem_drop(&real);
	mem_drop(path);
	*path = whole.at;
}

void
conf_source_free(struct conf_reader *reader)
{
	for (size_t i = 0; i < reader->conf->files.n; i++) {
		mem_drop(&reader->sources[i].text);
		mem_drop(&reader->sources[i].dir);
	}
	mem_drop(&reader->sources);
}
