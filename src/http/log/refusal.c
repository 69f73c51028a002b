/*
 * refusal: tells why a request does not get its file.
 *
 * Must not decide anything: it reports decisions of the steps.
 */
#include <string.h>

#include "conf/where.h"
#include "http/log/log_escape.h"
#include "http/namespace.h"
#include "http/log/refusal.h"
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
	    r->response.why == WHY_PASSWORD) && r->auth.guard != NULL &&
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
	else if (*directive != '\0')
		conf_where(c->http->conf, rules_of(r), directive,
		    CONF_WHERE_ALL, where);
}

void
refusal_add_page(const struct conn *c, struct buf *to)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules = r->page.target_rules;

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

/* Adds the name on disk of the path. */
static void
add_file(const struct request *r, struct buf *to)
{
	const struct conf_rules	*rules;
	char			 text[JOB_PATH_MAX];
	struct rules_place	 place;
	struct str		 user;

	if (!is_of_disk(r))
		return;
	rules = r->path->rules;
	rules_locate(r->path, text, &place);
	user = rules_user(rules, place.name);
	buf_adds(to, ": ");
	if (user.at != NULL)
		buf_addf(to, "~%.*s/", (int)user.len, user.at);
	buf_addf(to, "%s%.*s", strcmp(place.root, "/") == 0 ? "" : place.root,
	    (int)(place.name.len - place.skip), place.name.at + place.skip);
}

/* The level of a line that is a warning if it is due and a client asked. */
static enum log_level
choose_level(const struct conn *c, enum refusal_warning kind)
{
	_Atomic int64_t	*warned_at = c->http->caches->refusals_warned_at;

	warned_at += c->request->site->number * REFUSAL_WARNINGS + kind;
	return c->session->kind == NULL &&
	    log_is_due(warned_at, c->http->clock->ms) ? LOG_LEVEL_WARN :
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
	log_write(level, false, "%s", buf_string(line));
	buf_free(line);
}

COLD void
refusal_log(const struct conn *c, int status)
{
	const struct request	*r = c->request;
	enum log_level		 level = LOG_LEVEL_INFO;
	struct buf		 line = { 0 }, where = { 0 };

	if (r->response.why == WHY_DENIED)
		level = choose_level(c, REFUSAL_UNREADABLE);
	if (level > log_level())
		return;
	add_request(c, status, &line);
	refusal_add_where(c, &where);
	if (where.len > 0)
		buf_addf(&line, ": %s", buf_string(&where));
	add_file(r, &line);
	buf_free(&where);
	write_line(level, &line);
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
	struct buf		 line = { 0 };

	if (fault == NULL)
		return;
	level = choose_level(c, REFUSAL_PAGE);
	if (level > log_level())
		return;
	buf_addf(&line, "on %s, this page cannot be had: ",
	    r->site->names.at[0]);
	refusal_add_page(c, &line);
	buf_addf(&line, ": %s", fault);
	add_file(r, &line);
	write_line(level, &line);
}
