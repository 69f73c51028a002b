/*
 * kept: what is kept of a program's answer when a file, or another path, is
 * sent in place of its body.
 */
#include <stdlib.h>

#include "http/programs/kept.h"
#include "http/programs/run.h"
#include "http/rules.h"
#include "lib/mem.h"
#include "proto/date.h"

_Static_assert(FIELD_COUNT < 30, "the bit is a field's");

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* All that another path keeps, as nginx does: its file has the rest. */
static const char *const path_fields[] = {
	"Content-Type", "Content-Disposition", "Set-Cookie", "Cache-Control",
	"Expires", "Accept-Ranges"
};

/* About the body, which a 304 lacks. */
static const char *const body_fields[] = {
	"Content-Type", "Content-Disposition", "Content-Encoding",
	"Content-Language"
};

#define SET_COOKIE	STR("Set-Cookie")	/* each line counts */
#define CONTENT_TYPE	STR("Content-Type")

/* Cuts the next line off the front, with its end; false: there is none. */
static bool
next_line(struct str *rest, struct str *line, struct str *name)
{
	struct str	all = *rest;

	if (rest->len == 0)
		return false;
	line->at = rest->at;
	*name = str_cut(rest, '\n');
	line->len = all.len - rest->len;
	*name = str_cut(name, ':');
	return true;
}

/* Finds a field in lines. */
static bool
find_field(const struct buf *lines, struct str field, struct str *value)
{
	struct str	rest = { lines->at, lines->len }, line, name;

	while (next_line(&rest, &line, &name)) {
		if (!str_same_nocase(name, field))
			continue;
		str_skip(&line, name.len);
		if (line.len > 0)
			str_skip(&line, 1);
		while (line.len > 0 && (line.at[line.len - 1] == '\n' ||
		    line.at[line.len - 1] == '\r'))
			line.len--;
		*value = str_trim(line);
		return true;
	}
	return false;
}

/* Adds lines that are not there; each of Set-Cookie. */
static void
add_missing(const struct buf *lines, struct buf *to)
{
	struct str	rest = { lines->at, lines->len }, line, name, value;

	while (next_line(&rest, &line, &name))
		if (str_same_nocase(name, SET_COOKIE) ||
		    !find_field(to, name, &value))
			buf_add(to, line.at, line.len);
}

/* Whether a field of the answer is kept.  A range that a program names is one
 * of its own body. */
static bool
keeps_field(struct str name, bool is_file)
{
	return is_file ? !cgi_head_is_own(name) &&
	    !str_same_nocase(name, STR("Content-Range")) :
	    str_is_among(name, path_fields, COUNT(path_fields));
}

struct kept *
kept_new(const struct conn *c, bool is_file)
{
	struct run		*run = c->request->run;
	const struct cgi_head	*answer = &run->parse;
	struct kept		*kept = mem_zero(sizeof(*kept));
	struct str		 name, value;
	uint32_t		 at = 0;

	kept->program = run->program;
	while (cgi_head_next(answer, run->head.at, &at, &name, &value)) {
		if (!keeps_field(name, is_file))
			continue;
		buf_add(&kept->lines, name.at, name.len);
		buf_adds(&kept->lines, ": ");
		buf_add(&kept->lines, value.at, value.len);
		buf_adds(&kept->lines, "\r\n");
	}
	if (run->kept != NULL)
		add_missing(&run->kept->lines, &kept->lines);
	kept_free(&run->kept);
	run->kept = kept;
	if (!is_file)
		return kept;
	if (answer->status != 200 && answer->status != 206)
		kept->status = answer->status;
	buf_add(&kept->reason, run->head.at + answer->reason.at,
	    answer->reason.len);
	return kept;
}

void
kept_free(struct kept **kp)
{
	struct kept	*kept = *kp;

	if (kept == NULL)
		return;
	buf_free(&kept->lines);
	buf_free(&kept->reason);
	buf_free(&kept->type);
	free(kept->file);
	mem_drop(kp);
}

void
kept_note(struct request *r)
{
	if (r->run->kept != NULL)
		r->parse.present |= KEPT_BIT;
}

struct kept *
kept_of(const struct request *r)
{
	return r->run->kept;
}

bool
kept_is_path(const struct request *r)
{
	return (r->parse.present & KEPT_BIT) != 0 &&
	    r->run->kept->file != NULL && r->page.name == r->run->kept->file;
}

const char *
kept_type(struct kept *kept)
{
	struct str	value;

	if (!find_field(&kept->lines, CONTENT_TYPE, &value))
		return NULL;
	kept->type.len = 0;
	buf_add(&kept->type, value.at, value.len);
	return buf_string(&kept->type);
}

void
kept_select(const struct kept *kept, struct cond_selected *selected,
    struct cond_request *fields)
{
	struct str	value;

	find_field(&kept->lines, STR("ETag"), &selected->etag);
	if (find_field(&kept->lines, STR("Last-Modified"), &value))
		date_parse(value, selected->now, &selected->modified);
	if (find_field(&kept->lines, STR("Accept-Ranges"), &value) &&
	    !str_same_nocase(value, STR("bytes")))
		fields->range.at = NULL;
}

/* Whether a field of the program's is left out: the parts of several ranges
 * have the type, and a 304 has no body. */
static bool
is_left_out(const struct request *r, struct str name, int status)
{
	if (status == 304)
		return str_is_among(name, body_fields, COUNT(body_fields));
	return r->body.multipart != NULL &&
	    str_same_nocase(name, CONTENT_TYPE);
}

/* Adds the fields that the conf has for the target: the path of a file has
 * none of its own. */
static void
add_conf_fields(struct conn *c, int status)
{
	const struct conf_rules	*rules = rules_of(c->request);
	struct buf		*work = &c->http->work;

	if (rules->nosniff && status != 304)
		buf_adds(work, "X-Content-Type-Options: nosniff\r\n");
	buf_adds(work, status < 400 ? rules->field_lines :
	    rules->always_lines);
}

void
kept_replace_fields(struct conn *c, int status)
{
	const struct request	*r = c->request;
	const struct kept	*kept = kept_of(r);
	struct buf		*work = &c->http->work, old;
	struct str		 rest, line, name, value;

	if (kept_is_path(r))
		add_conf_fields(c, status);
	old = *work;
	*work = (struct buf){ 0 };
	rest = (struct str){ old.at, old.len };
	for (bool first = true; next_line(&rest, &line, &name); first = false)
		if (first || is_left_out(r, name, status) ||
		    !find_field(&kept->lines, name, &value))
			buf_add(work, line.at, line.len);
	rest = (struct str){ kept->lines.at, kept->lines.len };
	while (next_line(&rest, &line, &name))
		if (!is_left_out(r, name, status))
			buf_add(work, line.at, line.len);
	buf_free(&old);
}

void
kept_add_fields(struct conn *c)
{
	add_missing(&c->request->run->kept->lines, &c->http->work);
}
