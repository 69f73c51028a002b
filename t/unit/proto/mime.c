/*
 * Unit test of proto/mime.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "proto/mime.h"
#include "t/unit/unit.h"

#define NONE		"application/octet-stream"
#define COUNT(array)	(int)(sizeof(array) / sizeof((array)[0]))

static char	logged[1000];

static void
keep_line(void *context, const char *line, size_t len)
{
	size_t	n = strlen(logged);

	(void)context;
	if (n + len < sizeof(logged)) {
		memcpy(logged + n, line, len);
		logged[n + len] = '\0';
	}
}

static bool	no_streams;

/* In place of the C library's, which has no stream at times. */
FILE *
fdopen(int fd, const char *mode)
{
	FILE	*(*real)(int, const char *);

	errno = ENOMEM;
	*(void **)&real = dlsym(RTLD_NEXT, "fdopen");
	return no_streams ? NULL : real(fd, mode);
}

/* Makes a file with a text; returns its name, good until the next call. */
static const char *
file_of(const char *text)
{
	static char	 name[] = "mime.XXXXXX";
	int		 fd;
	FILE		*file;

	strcpy(name, "mime.XXXXXX");
	fd = mkstemp(name);
	ck_assert_int_ne(fd, -1);
	file = fdopen(fd, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	return name;
}

/* Makes a table from a file; its log lines are in logged. */
static struct mime *
mime_of(const char *text)
{
	const char	*name = file_of(text);
	struct mime	*m;

	logged[0] = '\0';
	log_set_output(keep_line, NULL);
	m = mime_new(name);
	log_set_output(NULL, NULL);
	ck_assert_int_eq(unlink(name), 0);
	return m;
}

static void
check_type(const struct mime *m, const char *name, const char *want)
{
	const char	*type = mime_type(m, name, strlen(name));

	ck_assert_msg(strcmp(type, want) == 0, "%s gives %s", name, type);
}

static const struct {
	const char	*name, *type;
} names[] = {
	{ "index.html", "text/html" },
	{ "INDEX.HTM", "text/html" },
	{ "a.css", "text/css" },
	{ "a.js", "text/javascript" },
	{ "a.mjs", "text/javascript" },
	{ "a.txt", "text/plain" },
	{ "a.md", "text/markdown" },
	{ "a.xml", "text/xml" },
	{ "a.csv", "text/csv" },
	{ "a.ics", "text/calendar" },
	{ "a.json", "application/json" },
	{ "a.js.map", "application/json" },
	{ "a.svg", "image/svg+xml" },
	{ "a.png", "image/png" },
	{ "a.jpg", "image/jpeg" },
	{ "a.JPeG", "image/jpeg" },
	{ "a.gif", "image/gif" },
	{ "a.webp", "image/webp" },
	{ "a.avif", "image/avif" },
	{ "favicon.ico", "image/vnd.microsoft.icon" },
	{ "a.woff", "font/woff" },
	{ "a.woff2", "font/woff2" },
	{ "a.ttf", "font/ttf" },
	{ "a.otf", "font/otf" },
	{ "a.pdf", "application/pdf" },
	{ "a.zip", "application/zip" },
	{ "a.tar", "application/x-tar" },
	{ "a.tar.gz", "application/gzip" },
	{ "a.tgz", "application/gzip" },
	{ "a.bz2", "application/x-bzip2" },
	{ "a.xz", "application/x-xz" },
	{ "a.zst", "application/zstd" },
	{ "a.mp3", "audio/mpeg" },
	{ "a.ogg", "audio/ogg" },
	{ "a.wav", "audio/wav" },
	{ "a.mp4", "video/mp4" },
	{ "a.webm", "video/webm" },
	{ "a.wasm", "application/wasm" },
	{ "a.webmanifest", "application/manifest+json" },
	{ "a.rss", "application/rss+xml" },
	{ "a.atom", "application/atom+xml" },
	{ "a.deb", "application/vnd.debian.binary-package" },
	{ "a.rpm", "application/x-rpm" },
	{ "a.iso", "application/x-iso9660-image" },
	{ "a.epub", "application/epub+zip" },
	{ "a.c", "text/plain" },
	{ "/x.y/a.png", "image/png" },

	{ "", NONE },
	{ ".", NONE },
	{ "Makefile", NONE },
	{ "html", NONE },
	{ ".html", NONE },
	{ "/.html", NONE },
	{ "/x.html/a", NONE },
	{ "/x.html/", NONE },
	{ "/x.html/.png", NONE },
	{ "a.", NONE },
	{ "a.html.", NONE },
	{ "a.htmlx", NONE },
	{ "a.htmlhtmlhtmlhtmlhtml", NONE },
	{ "a.ht", NONE },
	{ "a.html ", NONE },
	{ "a.zzzz", NONE },
	{ "a.0", NONE },
};

START_TEST(builtin)
{
	struct mime	*m = mime_new(NULL);

	check_type(m, names[_i].name, names[_i].type);
	mime_free(&m);
	ck_assert_ptr_null(m);
}
END_TEST

/* By length, not by terminator. */
START_TEST(length)
{
	struct mime	*m = mime_new(NULL);

	ck_assert_str_eq(mime_type(m, "a.png?x", 5), "image/png");
	ck_assert_str_eq(mime_type(m, "a.pngx", 4), NONE);
	ck_assert_str_eq(mime_type(m, "a.png\0x", 7), NONE);
	ck_assert_str_eq(mime_type(m, "a.p\0g", 5), NONE);
	mime_free(&m);
}
END_TEST

START_TEST(file)
{
	struct mime	*m = mime_of(
	    "# a comment\n"
	    "\n"
	    "   \t \n"
	    "text/x-lua\tlua  LUA2\n"
	    "application/x-none\n"
	    "image/x-mine png # not pnm\n"
	    "application/javascript js\r\n"
	    "text/html;charset=iso-8859-1 html\n"
	    "application/one 1\n"
	    "application/two 1\n"
	    "application/last last");

	ck_assert_str_eq(logged, "");
	check_type(m, "a.lua", "text/x-lua");
	check_type(m, "a.lua2", "text/x-lua");
	check_type(m, "a.png", "image/x-mine");
	check_type(m, "a.pnm", NONE);
	check_type(m, "a.js", "application/javascript");
	check_type(m, "a.html", "text/html;charset=iso-8859-1");
	check_type(m, "a.1", "application/two");
	check_type(m, "a.last", "application/last");
	check_type(m, "a.css", "text/css");
	mime_free(&m);
}
END_TEST

static const char *const bad_lines[] = {
	"png image/png",
	"image/ png",
	"/png png",
	"image/x/y png",
	"image/p\xc3\xa4 png",
	"image/p\x01 png",
};

START_TEST(bad_line)
{
	char		 text[100];
	struct mime	*m;

	snprintf(text, sizeof(text), "a/b c\n%s\nd/e f\n", bad_lines[_i]);
	m = mime_of(text);
	ck_assert_msg(strstr(logged, ":2: not a media type") != NULL, "%s",
	    logged);
	check_type(m, "a.png", "image/png");
	check_type(m, "a.c", "a/b");
	check_type(m, "a.f", "d/e");
	mime_free(&m);
}
END_TEST

START_TEST(own)
{
	struct mime	*m = mime_new(NULL);

	mime_set(m, "HTML", "text/x-own");
	mime_set(m, "jsonl", "application/jsonl");
	check_type(m, "a.html", "text/x-own");
	check_type(m, "a.JSONL", "application/jsonl");
	check_type(m, "a.htm", "text/html");
	mime_set(m, "jsonl", "text/plain");
	check_type(m, "a.jsonl", "text/plain");
	mime_free(&m);
}
END_TEST

START_TEST(charset)
{
	ck_assert(mime_wants_charset("text/html"));
	ck_assert(mime_wants_charset("TEXT/x-lua"));
	ck_assert(mime_wants_charset("application/javascript"));
	ck_assert(!mime_wants_charset("text/html;charset=iso-8859-1"));
	ck_assert(!mime_wants_charset("application/json"));
	ck_assert(!mime_wants_charset("image/svg+xml"));
	ck_assert(!mime_wants_charset(NONE));
}
END_TEST

/* A file that is not there, or is no file, is logged and ignored. */
START_TEST(unreadable)
{
	static const char *const	files[] = { "mime.none/none", "/" };
	struct mime			*m;

	logged[0] = '\0';
	log_set_output(keep_line, NULL);
	m = mime_new(files[_i]);
	log_set_output(NULL, NULL);
	ck_assert_ptr_nonnull(strstr(logged, files[_i]));
	check_type(m, "a.png", "image/png");
	mime_free(&m);
}
END_TEST

START_TEST(no_stream)
{
	int		 next = dup(0);
	struct mime	*m;

	close(next);
	no_streams = true;
	m = mime_new("/dev/null");
	no_streams = false;
	check_type(m, "a.png", "image/png");
	ck_assert_int_eq(dup(0), next);
	mime_free(&m);
}
END_TEST

/* Many, in no order. */
START_TEST(many)
{
	static char	 text[60000];
	size_t		 n = 0;
	struct mime	*m;
	char		 name[32], type[32];

	for (int i = 0; i < 2000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "x/t%d e%d\n", i * 7919 % 2000, i * 7919 % 2000);
	m = mime_of(text);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "a.e%d", i);
		snprintf(type, sizeof(type), "x/t%d", i);
		check_type(m, name, type);
	}
	mime_free(&m);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, builtin, 0, COUNT(names));
	tcase_add_test(t, length);
	tcase_add_test(t, charset);
	tcase_add_test(t, file);
	tcase_add_test(t, own);
	tcase_add_loop_test(t, bad_line, 0, COUNT(bad_lines));
	tcase_add_loop_test(t, unreadable, 0, 2);
	tcase_add_test(t, no_stream);
	tcase_add_test(t, many);
}
