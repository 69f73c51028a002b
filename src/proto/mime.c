/*
 * mime: file name extensions to media types.
 *
 * The array is sorted by extension when it is complete.  It is filled before
 * amped serves, and read when a file is new to the caches.
 */
#include <sys/param.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/regular.h"
#include "lib/str.h"
#include "proto/mime.h"

#define UNKNOWN_TYPE		"application/octet-stream"
#define BLANKS		" \t\r\n\v\f"

/* Lines of mime.types(5). */
static const char *const builtin[] = {
	"application/atom+xml atom",
	"application/epub+zip epub",
	"application/gzip gz tgz",
	"application/java-archive jar",
	"application/json json map",
	"application/ld+json jsonld",
	"application/manifest+json webmanifest",
	"application/pdf pdf",
	"application/pgp-signature sig",
	"application/postscript ps eps",
	"application/rss+xml rss",
	"application/rtf rtf",
	"application/vnd.android.package-archive apk",
	"application/vnd.debian.binary-package deb",
	"application/vnd.ms-fontobject eot",
	"application/vnd.oasis.opendocument.spreadsheet ods",
	"application/vnd.oasis.opendocument.text odt",
	"application/vnd.openxmlformats-officedocument."
	    "presentationml.presentation pptx",
	"application/vnd.openxmlformats-officedocument."
	    "spreadsheetml.sheet xlsx",
	"application/vnd.openxmlformats-officedocument."
	    "wordprocessingml.document docx",
	"application/wasm wasm",
	"application/x-7z-compressed 7z",
	"application/x-bzip2 bz2",
	"application/x-iso9660-image iso",
	"application/x-rpm rpm",
	"application/x-tar tar",
	"application/x-xz xz",
	"application/xhtml+xml xhtml",
	"application/zip zip",
	"application/zstd zst",
	"audio/flac flac",
	"audio/midi mid midi",
	"audio/mp4 m4a",
	"audio/mpeg mp3",
	"audio/ogg oga ogg opus",
	"audio/wav wav",
	"font/otf otf",
	"font/ttf ttf",
	"font/woff woff",
	"font/woff2 woff2",
	"image/apng apng",
	"image/avif avif",
	"image/bmp bmp",
	"image/gif gif",
	"image/jpeg jpeg jpg",
	"image/jxl jxl",
	"image/png png",
	"image/svg+xml svg",
	"image/tiff tif tiff",
	"image/vnd.microsoft.icon ico",
	"image/webp webp",
	"image/x-xbitmap xbm",
	"text/calendar ics",
	"text/css css",
	"text/csv csv",
	"text/html html htm shtml",
	"text/javascript js mjs",
	"text/markdown md markdown",
	"text/plain txt text log conf asc diff patch c h",
	"text/vcard vcf",
	"text/vtt vtt",
	"text/xml xml xsl",
	"video/mp2t ts",
	"video/mp4 mp4 m4v",
	"video/mpeg mpeg mpg",
	"video/ogg ogv",
	"video/quicktime mov",
	"video/webm webm",
	"video/x-matroska mkv",
	"video/x-msvideo avi",
};

struct entry {
	const char	*extension;	/* small letters */
	const char	*type;
	size_t		 order;		/* the later one wins */
};

struct mime {
	char		**lines;	/* owned, cut into words */
	size_t		 nlines;
	struct entry	*at;		/* owned, sorted by extension */
	size_t		 n;
};

/* For bsearch(3): compares an extension with an entry. */
static int
compare_extension(const void *extension, const void *entry)
{
	const struct str	*a = extension;
	struct str		 b;
	int			 order;

	b = str_of(((const struct entry *)entry)->extension);
	order = strncasecmp(a->at, b.at, MIN(a->len, b.len));
	return order != 0 ? order : (a->len > b.len) - (a->len < b.len);
}

static int
compare_entries(const void *a, const void *b)
{
	const struct entry	*one = a, *other = b;
	int			 order = strcmp(one->extension,
				    other->extension);

	return order != 0 ? order :
	    (one->order > other->order) - (one->order < other->order);
}

/* Sorts all entries, and keeps the last one of each extension. */
static void
sort_entries(struct mime *m)
{
	size_t	n = 0;

	qsort(m->at, m->n, sizeof(m->at[0]), compare_entries);
	for (size_t i = 0; i < m->n; i++)
		if (i + 1 == m->n || strcmp(m->at[i].extension,
		    m->at[i + 1].extension) != 0)
			m->at[n++] = m->at[i];
	m->n = n;
}

static void
add_entry(struct mime *m, char *extension, const char *type)
{
	for (char *c = extension; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	m->at = mem_add_room(m->at, m->n, sizeof(m->at[0]));
	m->at[m->n] = (struct entry){ extension, type, m->n };
	m->n++;
}

/* Keeps a copy of a line, to be cut into words. */
static char *
keep_line(struct mime *m, const char *line)
{
	m->lines = mem_add_room(m->lines, m->nlines, sizeof(m->lines[0]));
	return m->lines[m->nlines++] = mem_string(line);
}

/* Whether a type may stand in a response head: visible ASCII, one slash inside.
 * */
static bool
type_valid(const char *type)
{
	const char	*slash = strchr(type, '/');

	if (slash == NULL || slash == type || slash[1] == '\0' ||
	    strchr(slash + 1, '/') != NULL)
		return false;
	for (; *type != '\0'; type++)
		if (*type <= ' ' || *type > '~')
			return false;
	return true;
}

/* Adds a line, type and extensions, which is cut into words in place.  False:
 * not valid. */
static bool
add_words(struct mime *m, char *line)
{
	char	*rest, *type, *extension;

	line[strcspn(line, "#")] = '\0';
	type = strtok_r(line, BLANKS, &rest);
	if (type == NULL)
		return true;
	if (!type_valid(type))
		return false;
	while ((extension = strtok_r(NULL, BLANKS, &rest)) != NULL)
		add_entry(m, extension, type);
	return true;
}

/* Adds a copy of a line; the copy is kept if an entry refers to it. */
static bool
add_line(struct mime *m, const char *text)
{
	size_t	before = m->n;
	bool	valid = add_words(m, keep_line(m, text));

	if (m->n == before)
		mem_drop(&m->lines[--m->nlines]);
	return valid;
}

static void
add_builtin(struct mime *m)
{
	for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++)
		add_line(m, builtin[i]);
}

static void
add_file(struct mime *m, const char *name)
{
	int		 fd = regular_open(name);
	FILE		*file = fd != -1 ? fdopen(fd, "r") : NULL;
	char		*line = NULL;
	size_t		 size = 0;
	unsigned	 number = 0;

	if (file == NULL) {
		log_warn("media types: cannot open %s, only the built-in ones "
		    "are known; name another file with \"types\"", name);
		io_close(&fd);
		return;
	}
	while (getline(&line, &size, file) != -1) {
		number++;
		if (!add_line(m, line))
			log_warnx("%s:%u: not a media type, line ignored",
			    name, number);
	}
	if (ferror(file))
		log_warn("media types: cannot read %s", name);
	free(line);
	fclose(file);
}

struct mime *
mime_new(const char *file)
{
	struct mime	*m = mem_zero(sizeof(*m));

	add_builtin(m);
	if (file != NULL)
		add_file(m, file);
	sort_entries(m);
	return m;
}

void
mime_set(struct mime *m, const char *extension, const char *type)
{
	char	*kept = keep_line(m, type);

	add_entry(m, keep_line(m, extension), kept);
	/* The last entry of an extension is kept. */
	for (size_t i = 0; i < m->n; i++)
		m->at[i].order = i;
	sort_entries(m);
}

void
mime_free(struct mime **pointer)
{
	struct mime	*m = *pointer;

	if (m == NULL)
		return;
	for (size_t i = 0; i < m->nlines; i++)
		mem_drop(&m->lines[i]);
	mem_drop(&m->lines);
	mem_drop(&m->at);
	mem_drop(pointer);
}

/* The part behind the last dot, unless the name starts with that dot. */
static struct str
extension_of(const char *name, size_t len)
{
	size_t	i = len;

	while (i > 0 && name[i - 1] != '.' && name[i - 1] != '/')
		i--;
	if (i < 2 || name[i - 1] == '/' || name[i - 2] == '/')
		return (struct str){ name, 0 };
	return (struct str){ name + i, len - i };
}

const char *
mime_type(const struct mime *m, const char *name, size_t len)
{
	struct str		 extension = extension_of(name, len);
	const struct entry	*e = extension.len == 0 ? NULL :
				    bsearch(&extension, m->at, m->n,
				    sizeof(m->at[0]), compare_extension);

	return e != NULL ? e->type : UNKNOWN_TYPE;
}

bool
mime_wants_charset(const char *type)
{
	return strchr(type, ';') == NULL &&
	    (strncasecmp(type, "text/", 5) == 0 ||
	    strcasecmp(type, "application/javascript") == 0);
}
