/*
 * sendfile: a request whose program has named a file that is sent in place of
 * its body (X-Sendfile).
 *
 * The file is a path of the site that has the directories of "sendfile", which
 * the request goes to as to a page.  Its rules, its site and its head stay.
 */
#include <sys/param.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/programs/kept.h"
#include "http/programs/other.h"
#include "http/programs/run.h"
#include "http/reply.h"
#include "lib/mem.h"
#include "proto/char_class.h"
#include "proto/uri.h"

#define LOGGED_MAX	300		/* bytes of a name */

/* Cuts one byte off the front.  An escape that is not valid is none: many
 * programs write names as they are. */
static char
take_byte(struct str *name)
{
	char	c = name->at[0];
	int	high = -1, low = -1;

	if (c == '%' && name->len > 2) {
		high = char_class_hex(name->at[1]);
		low = char_class_hex(name->at[2]);
	}
	if (high == -1 || low == -1) {
		str_skip(name, 1);
		return c;
	}
	str_skip(name, 3);
	return (char)(high << 4 | low);
}

/* Adds a segment of a path; false: it leads elsewhere than it says. */
static bool
add_segment(struct str segment, struct buf *path)
{
	if (str_same(segment, STR("..")) ||
	    memchr(segment.at, '\0', segment.len) != NULL)
		return false;
	if (segment.len == 0 || str_same(segment, STR(".")))
		return true;
	buf_addc(path, '/');
	buf_add(path, segment.at, segment.len);
	return true;
}

/* Adds the path that the field has, decoded; returns a clause that says what is
 * wrong with it, or NULL. */
static const char *
decode_path(struct str field, struct buf *path)
{
	struct buf	 decoded = { 0 };
	struct str	 rest;
	bool		 good = true;

	if (field.at[0] != '/')
		return "is not named from / on";
	while (field.len > 0)
		buf_addc(&decoded, take_byte(&field));
	rest = (struct str){ decoded.at, decoded.len };
	while (good && rest.len > 0)
		good = add_segment(str_cut(&rest, '/'), path);
	buf_free(&decoded);
	return good ? NULL : "has a segment .. or a NUL";
}

/* Bytes in front of the part of a path that is beneath a directory; 0: it is
 * not. */
static size_t
match_directory(const char *directory, const struct buf *path)
{
	size_t	len = strcmp(directory, "/") == 0 ? 0 : strlen(directory);

	return len < path->len && memcmp(path->at, directory, len) == 0 &&
	    path->at[len] == '/' ? len + 1 : 0;
}

/* The path in the site of the directories; NULL: the file is beneath none.  The
 * caller owns it. */
static char *
find_file(const struct conf_program *program, const struct buf *path)
{
	size_t		 best = 0, most = 0, n;
	struct buf	 file = { 0 };

	for (size_t i = 0; i < program->sendfile.n; i++) {
		n = match_directory(program->sendfile.at[i], path);
		if (n <= most)
			continue;
		most = n;
		best = program->sendfile_at + i;
	}
	if (most == 0)
		return NULL;
	buf_addf(&file, "/%zu/", best);
	buf_reserve(&file, 3 * path->len + 1);
	file.len += uri_encode((struct str){ path->at + most,
	    path->len - most }, file.at + file.len);
	buf_string(&file);
	return file.at;
}

/* A clause that says why a file cannot be a path, or NULL. */
static const char *
find_fault(const char *file)
{
	char		decoded[JOB_PATH_MAX];
	size_t		len;
	enum why	why = uri_resolve(str_of(file), decoded,
			    sizeof(decoded), &len);

	if (why == WHY_HIDDEN)
		return "has a name that begins with a dot";
	if (why == WHY_PATH_LONG)
		return "is too long";
	return why != WHY_NONE ? "has a byte that no name has" : NULL;
}

/* Goes on with the file.  What a request has that does more than to read has
 * been done, so its conditions and ranges are about that. */
static enum go
go_to_file(struct conn *c, char *file)
{
	struct request	*r = c->request;
	struct kept	*kept = kept_new(c, true);

	kept->file = file;
	kept->unconditional = kept->status != 0 ||
	    (r->parse.method != METHOD_GET && r->parse.method != METHOD_HEAD);
	run_count(c, PROGRAM_STATS_ANSWERED);
	run_renew(c);
	r->parse.present &= ~OTHER_BIT;
	kept_note(r);
	if (r->parse.method != METHOD_HEAD)
		r->parse.method = METHOD_GET;
	r->disk.deadline = 0;
	r->lookup.deadline = 0;
	return reply_internal_redirect(c, kept->file, 0);
}

enum go
sendfile_begin(struct conn *c)
{
	const struct run	*run = c->request->run;
	struct str		 field = { run->head.at + run->parse.file.at,
				    run->parse.file.len };
	struct buf		 path = { 0 };
	const char		*wrong = decode_path(field, &path);
	char			*file = NULL;
	enum go			 go;

	if (wrong == NULL) {
		file = find_file(run->program, &path);
		wrong = file == NULL ? "is beneath no directory of sendfile" :
		    find_fault(file);
	}
	buf_free(&path);
	if (wrong == NULL)
		return go_to_file(c, file);
	go = failure_reply(c, WHY_PROGRAM_FILE, "the file of X-Sendfile, %.*s, "
	    "%s", (int)MIN(field.len, LOGGED_MAX), field.at, wrong);
	free(file);
	return go;
}
