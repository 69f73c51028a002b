/*
 * refusal: tells why a request does not get its file.
 *
 * Must not decide anything: it reports decisions of the steps.
 */
#include <string.h>

#include "conf/where.h"
#include "http/log/log_escape.h"
#include "http/namespace.h"
#include "http/log/recent.h"
#include "http/log/refusal.h"
#include "http/programs/kept.h"
#include "http/programs/run.h"
#include "http/rules.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/need.h"
#include "proto/status.h"
#include "proto/uri.h"

/*
 * Places in the conf
 */

/* Adds the block "files" that a refusal comes from; false: another block's. */
static bool
add_files_block(const struct conn *c, struct buf *where)
{
	const struct request	*r = c->request;

	return (r->response.why == WHY_NETWORK ||
	    r->response.why == WHY_PASSWORD || r->response.why == WHY_USER) &&
	    r->auth.guard != NULL &&
	    conf_where_files(c->http->conf, r->auth.guard, where);
}

static void
add_networks(const struct conn *c, struct buf *where)
{
	const struct conf	*conf = c->http->conf;
	const struct conf_rules	*rules = rules_of(c->request);
	struct buf		 deny = { 0 };

	if (!conf_where(conf, rules, "allow", CONF_WHERE_ALL, where) &&
	    rules->status != 0)
		conf_where(conf, rules, "status", CONF_WHERE_ALL, where);
	if (conf_where(conf, rules, "deny", CONF_WHERE_ALL, &deny))
		buf_addf(where, "%s%s", where->len > 0 ? ", " : "",
		    buf_string(&deny));
	buf_free(&deny);
}

void
refusal_add_where(const struct conn *c, struct buf *where)
{
	const struct request	*r = c->request;
	const char		*directive = why_directive(r->response.why);

	if (add_files_block(c, where))
		return;
	if (r->response.why == WHY_NETWORK)
		add_networks(c, where);
	else if (r->run != NULL && r->run->authorizes)
		conf_where(c->http->conf, r->auth.guard->authorize_from,
		    "authorize", CONF_WHERE_ALL, where);
	else if (*directive != '\0')
		conf_where(c->http->conf, rules_of(r), directive,
		    CONF_WHERE_ALL, where);
}

void
refusal_add_page(const struct conn *c, struct buf *to)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules = r->page.target_rules;

	if (kept_is_path(r)) {
		buf_addf(to, "the file that program %s has named",
		    kept_of(r)->program->name);
		return;
	}
	if (r->page.status == 0) {
		conf_where(c->http->conf, rules, "fallback", CONF_WHERE_ALL,
		    to);
		return;
	}
	for (; rules != NULL; rules = rules->outer) {
		for (size_t i = 0; i < rules->errors.n; i++) {
			if (rules->errors.at[i].value != r->page.name)
				continue;
			conf_where(c->http->conf, rules, "error", i, to);
			return;
		}
	}
}

/*
 * Lines of the log
 */

const char *
refusal_reason(const struct request *r, int status)
{
	if (r->response.why != WHY_NONE)
		return why_sentence(r->response.why);
	if (r->parse.why != NULL)
		return r->parse.why;
	return r->discard.chunked.why != NULL ? r->discard.chunked.why :
	    status_sentence(status);
}

/* Whether the disk was asked for the path, and what it said is refused. */
static bool
is_of_disk(const struct request *r)
{
	const struct conf_rules	*rules;

	if (r->path == NULL || r->info.kind != PATHNAME_REFUSED ||
	    r->info.why == WHY_NONE || r->info.why == WHY_HOST)
		return false;
	rules = r->path->rules;
	return rules->action->root != NULL || rules->action->alias != NULL;
}

/* Adds what a lookup was denied on the way to a path (its part beneath the
 * root), as the helper says (job_find). */
static void
add_denied(const struct request *r, const char *decoded, const char *path,
    struct buf *to)
{
	size_t			 denied = r->info.denied, len = strlen(path);
	const struct conf_words	*names = rules_names(r->path->rules, decoded);
	bool			 itself;

	if (denied > len) {
		buf_adds(to, path);
		if (denied - len <= names->n)
			buf_adds(to, names->at[denied - len - 1]);
		return;
	}
	itself = denied == len || (denied + 1 == len && path[denied] == '/');
	buf_add(to, path, denied);
	buf_adds(to, itself ? "" : denied > 0 ?
	    ", a directory on the way to it" :
	    ", or a directory on the way to that");
}

/* Adds the name on disk of the path, or of what is denied on the way to it. */
static void
add_file(const struct request *r, struct buf *to)
{
	const struct conf_rules	*rules;
	char			 text[JOB_PATH_MAX];
	struct rules_place	 place;
	struct str		 user;
	const char		*beneath;

	if (!is_of_disk(r))
		return;
	rules = r->path->rules;
	rules_locate(r->path, text, &place);
	beneath = place.name.at + place.skip + 1;
	user = rules_user(rules, place.name);
	buf_adds(to, ": ");
	if (user.at != NULL)
		buf_addf(to, "~%.*s/", (int)user.len, user.at);
	buf_addf(to, "%s/", strcmp(place.root, "/") == 0 ? "" : place.root);
	if (r->info.why == WHY_DENIED)
		add_denied(r, place.name.at, beneath, to);
	else if (r->info.why == WHY_EXECUTE) {	/* without a path behind it */
		buf_add(to, beneath, r->info.denied);
		buf_adds(to, ", which needs chmod a+rx");
	} else
		buf_adds(to, beneath);
}

const char *
refusal_program(const struct request *r)
{
	return conf_program_label(r->run->program);
}

/* Adds what a program has done, as it did not answer. */
static void
add_program(const struct request *r, struct buf *to)
{
	struct str	cause;

	if (r->run == NULL || r->run->cause.len == 0)
		return;
	cause = (struct str){ r->run->cause.at, r->run->cause.len };
	buf_addf(to, "program %s: ", refusal_program(r));
	buf_add(to, cause.at, cause.len);
}

/* The level of a line about what an administrator may have to mend: this one if
 * a line is due of that thing and a client asked. */
static enum log_level
choose_level_of(const struct conn *c, struct str thing, enum log_level level)
{
	return !session_is_invented(c->session) && recent_is_due(
	    c->http->caches->refusals, c->request->site->number, thing,
	    c->http->clock->ms) ? level : LOG_LEVEL_INFO;
}

static enum log_level
choose_level(const struct conn *c, struct buf *thing)
{
	return choose_level_of(c, (struct str){ buf_string(thing),
	    thing->len }, LOG_LEVEL_WARN);
}

/* The program whose file is not there, or is none; or NULL. */
static const struct conf_program *
find_missing(const struct request *r)
{
	const struct conf_program	*program;
	const char			*slash;
	char				 decoded[JOB_PATH_MAX];
	enum why			 why = r->response.why;

	if (r->path == NULL || (why != WHY_ABSENT && why != WHY_NOT_DIRECTORY &&
	    why != WHY_NO_INDEX && why != WHY_SPECIAL))
		return NULL;
	program = rules_directory_program(r->path->rules);
	rules_decode(r->path, decoded);
	slash = strrchr(decoded, '/');
	return program != NULL || slash == NULL ? program :
	    conf_program_of_file(r->path->rules, slash + 1);
}

/* The level of a line about a file, whose name is given.  A client may ask for
 * any file that is not there, so all of them are one thing. */
static enum log_level
choose_file_level(const struct conn *c, struct buf *file)
{
	const struct request		*r = c->request;
	const struct conf_program	*missing = find_missing(r);

	if (missing != NULL)
		return choose_level_of(c, str_of(conf_program_label(missing)),
		    LOG_LEVEL_NOTICE);
	return r->response.why == WHY_DENIED || r->response.why == WHY_OWNER ||
	    r->response.why == WHY_EXECUTE ? choose_level(c, file) :
	    LOG_LEVEL_INFO;
}

/* Adds who asked for what; bytes of a request that was parsed are harmless. */
static void
add_request(const struct conn *c, int status, struct buf *line)
{
	const struct request	*r = c->request;
	struct str		 target = { "-", 1 };
	char			 addr[LOG_ADDR_MAX];

	log_escape_addr(c->session, addr);
	if (r->site != NULL)
		target = parse_str(c->input, r->parse.target);
	buf_addf(line, "%d for %.*s", status, (int)target.len, target.at);
	if (r->site != NULL)
		buf_addf(line, " on %s", r->site->names.at[0]);
	buf_addf(line, " from %s: %s", addr, refusal_reason(r, status));
}

static void
write_line(enum log_level level, struct buf *line)
{
	if (level <= LOG_LEVEL_NOTICE)
		buf_adds(line, "; this line comes once a minute at most");
	log_write(level, false, "%s", buf_string(line));
	buf_free(line);
}

COLD void
refusal_log(const struct conn *c, int status)
{
	const struct request	*r = c->request;
	enum log_level		 level;
	struct buf		 line = { 0 }, where = { 0 }, file = { 0 };
	struct buf		 program = { 0 };

	if (!session_has_answers(c->session))
		return;
	add_file(r, &file);
	level = choose_file_level(c, &file);
	add_program(r, &program);
	if (program.len > 0)
		level = choose_level(c, &program);
	if (level <= log_level()) {
		add_request(c, status, &line);
		refusal_add_where(c, &where);
		if (where.len > 0)
			buf_addf(&line, ": %s", buf_string(&where));
		buf_add(&line, file.at, file.len);
		if (program.len > 0)
			buf_addf(&line, ": %s", buf_string(&program));
		write_line(level, &line);
	}
	buf_free(&where);
	buf_free(&file);
	buf_free(&program);
}

COLD void
refusal_log_cut(const struct conn *c)
{
	const struct request	*r = c->request;
	enum log_level		 level;
	struct str		 target = parse_str(c->input, r->parse.target);
	char			 addr[LOG_ADDR_MAX];
	struct buf		 line = { 0 }, program = { 0 };

	add_program(r, &program);
	level = choose_level(c, &program);
	if (level <= log_level()) {
		log_escape_addr(c->session, addr);
		buf_addf(&line, "closing a connection from %s in the response "
		    "for %.*s on %s: %s", addr, (int)target.len, target.at,
		    r->site->names.at[0], buf_string(&program));
		write_line(level, &line);
	}
	buf_free(&program);
}

COLD void
refusal_log_sendfile(const struct conn *c)
{
	struct buf	line = { 0 };
	enum log_level	level;

	buf_addf(&line, "program %s: X-Sendfile is left out: name the "
	    "directories of its files by sendfile in block program",
	    refusal_program(c->request));
	level = choose_level(c, &line);
	if (level <= log_level())
		write_line(level, &line);
	buf_free(&line);
}

/* The reason why what the page's name leads to is no page; NULL: the name leads
 * to a file, or the disk has not said what it is. */
static const char *
find_fault(const struct path_info *info)
{
	switch (info->kind) {
	case PATHNAME_UNKNOWN:
	case PATHNAME_FILE:
		return NULL;
	case PATHNAME_REFUSED:
		return info->status < 500 ? why_sentence(info->why) : NULL;
	default:
		return "it is no file";
	}
}

COLD void
refusal_log_page(const struct conn *c)
{
	const struct request	*r = c->request;
	const char		*fault = find_fault(&r->info);
	enum log_level		 level;
	struct buf		 line = { 0 }, all = { 0 };

	if (fault == NULL)
		return;
	refusal_add_page(c, &line);
	buf_addf(&line, ": %s", fault);
	add_file(r, &line);
	level = choose_level(c, &line);
	if (level <= log_level()) {
		buf_addf(&all, "on %s, this %s cannot be had: %s",
		    r->site->names.at[0], kept_is_path(r) ? "file" : "page",
		    buf_string(&line));
		write_line(level, &all);
	}
	buf_free(&line);
}
