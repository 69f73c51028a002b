/*
 * passage: the chain of an answer, its beginning, and what comes of filters
 * that fail before the response has begun.
 *
 * The response begins with the first byte that the filters write.  Until then a
 * chain with "onfail pass" leaves the answer as it was, if all of it is still
 * there.
 */
#include <errno.h>
#include <string.h>

#include "conf/chain.h"
#include "conf/conf.h"
#include "http/programs/passage.h"
#include "http/programs/run.h"
#include "http/rules.h"
#include "http/variants/filtered.h"
#include "lib/clock.h"
#include "stats/chain_stats.h"
#include "stats/stats.h"

/* Validators are of the bytes that the program has written: other filters make
 * other bytes of them. */
static const char *const dropped_fields[] = {
	"Content-Length", "Content-MD5", "Content-Digest", "Repr-Digest",
	"Digest", "ETag", "Last-Modified", "Accept-Ranges"
};

bool
passage_drops(struct str name)
{
	return str_is_among(name, dropped_fields,
	    sizeof(dropped_fields) / sizeof(dropped_fields[0]));
}

/*
 * Which answers
 */

/* Whether a field forbids to change the body. */
static bool
forbids(struct str name, struct str value)
{
	struct str	word;

	if (str_same_nocase(name, STR("Content-Encoding")))
		return !str_same_nocase(value, STR("identity"));
	if (str_same_nocase(name, STR("Content-Range")))
		return true;
	if (!str_same_nocase(name, STR("Cache-Control")))
		return false;
	while (str_next(&value, &word))
		if (str_same_nocase(word, STR("no-transform")))
			return true;
	return false;
}

static bool
may_change(const struct run *run)
{
	int		status = run->parse.status;
	struct str	name, value;
	uint32_t	at = 0;

	if (run->authorizes || status == 204 || status == 205 ||
	    status == 206 || status == 304)
		return false;
	while (cgi_head_next(&run->parse, run->head.at, &at, &name, &value))
		if (forbids(name, value))
			return false;
	return true;
}

/* Adds the last segment of the script, or of the path. */
static void
add_name(const struct conn *c, struct buf *to)
{
	const struct run	*run = c->request->run;
	char			 path[JOB_PATH_MAX];
	size_t			 len = rules_decode(c->request->path, path), n;

	if (run->file != NULL && run->script_len > 0)
		len = run->script_len;
	for (n = len; n > 0 && path[n - 1] != '/'; n--)
		continue;
	buf_add(to, path + n, len - n);
	buf_adds(to, run->index);
}

static char
to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

const struct conf_chain *
passage_choose(const struct conn *c)
{
	const struct run	*run = c->request->run;
	const struct conf_rules	*rules = rules_of(c->request);
	const struct conf_chain	*chain;
	const struct span	*media = &run->parse.type;
	struct buf		 name = { 0 }, type = { 0 };

	/* A query is the program's own. */
	if (rules->chains.n == 0 || rules->chains.nparameters > 0 ||
	    !may_change(run))
		return NULL;
	add_name(c, &name);
	for (uint32_t i = 0; i < media->len; i++)
		buf_addc(&type, to_lower(run->head.at[media->at + i]));
	chain = conf_chain_of_file(rules, buf_string(&name),
	    media->len > 0 ? buf_string(&type) : NULL);
	buf_free(&name);
	buf_free(&type);
	return chain;
}

/*
 * The type of what comes out of it
 */

/* Returns the words of the filter at a place, if it is one of amped's and
 * changes the type; else NULL. */
static char *const *
get_changer(const struct run *run, size_t i)
{
	const struct conf_program	*filter = run->chain->list[i];
	char				*const *words = filter->command.at;

	if (!filter->is_own || (run->passage != NULL && i < 32 &&
	    (run->passage->left_out & (UINT32_C(1) << i)) != 0))
		return NULL;
	words += 2;		/* amped-helper filter */
	return strcmp(words[0], "markdown") == 0 ||
	    strcmp(words[0], "charset") == 0 ? words : NULL;
}

/* Adds the type of the response.  Of Markdown, it is that of a page in UTF-8;
 * charset changes the character set only. */
void
passage_add_type(const struct conn *c, struct str value, struct buf *to)
{
	const struct run	*run = c->request->run;
	char			*const *words;
	const char		*charset = NULL;
	struct str		 rest = value, media = str_cut(&rest, ';');

	for (size_t i = 0; i < run->chain->n; i++) {
		words = get_changer(run, i);
		if (words == NULL)
			continue;
		if (words[0][0] == 'm')
			media = STR("text/html");
		charset = words[0][0] == 'm' ? "utf-8" : words[2];
	}
	if (charset == NULL)
		buf_add(to, value.at, value.len);
	else
		buf_addf(to, "%.*s; charset=%.*s", (int)media.len, media.at,
		    (int)strcspn(charset, "/"), charset);
}

/*
 * The beginning
 */

/* Adds where files of the path are, for filters that read others. */
static void
add_place(const struct conn *c, struct buf *to)
{
	const struct request	*r = c->request;
	const struct run	*run = r->run;
	const struct conf_rules	*rules = r->path->rules;
	struct filtered_place	 place = { .root = NULL };
	struct buf		 root = { 0 }, uri = { 0 };
	char			 path[JOB_PATH_MAX];
	size_t			 len = rules_decode(r->path, path), n = len;

	if (run->file != NULL && run->script_len > 0)
		n = run->script_len;
	buf_add(&uri, path, n);
	buf_adds(&uri, run->index);
	place.uri = (struct str){ uri.at, uri.len };
	if (rules_directory_program(rules) != NULL)
		place.root = r->site->rules.root;
	else if (rules_user(rules, (struct str){ path, len }).at == NULL)
		place.root = rules_root(rules, (struct str){ path, len },
		    &place.skip);
	if (place.root != NULL && place.root[0] == '/' &&
	    rules->action->by_host) {
		buf_adds(&root, place.root);
		buf_add(&root, r->path->name, r->path->len -
		    rules_raw(r->path).len);
		place.root = buf_string(&root);
	}
	filtered_add_place(to, &place);
	buf_free(&root);
	buf_free(&uri);
}

static void
add_environment(const struct conn *c, struct buf *to)
{
	const struct run	*run = c->request->run;
	const struct span	*type = &run->parse.type;

	/* The query is the program's, and has no parameters of filters. */
	filtered_add_variable(to, "QUERY_STRING", STR(""));
	if (type->len > 0)
		filtered_add_variable(to, "CONTENT_TYPE", (struct str){
		    run->head.at + type->at, type->len });
	if (run->parse.length != -1)
		filtered_add_length(to, run->parse.length);
	add_place(c, to);
}

void
passage_begin(struct conn *c)
{
	const struct request	*r = c->request;
	struct run		*run = r->run;
	const struct conf_chain	*chain = run->chain;
	const struct backends	*all = &c->http->backends;
	struct buf		 environment = { 0 };
	struct passage_start	 start = {
		.programs = chain->list, .n = chain->n,
		.name = { r->path->name, r->path->len },
		.source = run->backend, .length = run->parse.length,
		.first = { run->head.at + run->parse.size,
		    run->head.len - run->parse.size },
		.keep = chain->onfail == ONFAIL_PASS ?
		    (size_t)run->program->hold : 0,
		.hold = (size_t)chain->list[chain->n - 1]->hold
	};

	add_environment(c, &environment);
	start.environment = (struct str){ environment.at, environment.len };
	run->passage = all->pass(all->context, &start);
	buf_free(&environment);
	chain_stats_add(chain->number, CHAIN_STATS_RUNS);
	run->head.len = run->parse.size;
	passage_put_off(c, OUTCOME_NONE);
}

/*
 * Time
 */

/* The time that the filter may take that the others wait for. */
static int64_t
get_term(const struct passage *p)
{
	return p->slowest->answer + (p->output.started ? 0 :
	    p->slowest->within);
}

void
passage_put_off(struct conn *c, enum outcome outcome)
{
	struct run	*run = c->request->run;

	if (outcome != OUTCOME_NONE && run->moved == run->passage->moved)
		return;
	run->moved = run->passage->moved;
	run->deadline = c->http->clock->ms + (run->passage->awaits_source ?
	    run->program->silence : get_term(run->passage));
	leave_put_off(c);
}

bool
passage_is_late(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->passage->output.end != BACKEND_RUNS)
		return true;
	if (run->passage->awaits_source)
		return false;
	c->http->backends.give_up(run->passage);
	return true;
}

/*
 * Ends
 */

const char *
passage_cause(const struct conn *c)
{
	const struct run	*run = c->request->run;

	if (run->passage->output.end == BACKEND_BROKEN)
		return run->backend->end == BACKEND_COMPLETE ?
		    "its answer is shorter than its Content-Length" :
		    "it was ended in the middle of its answer";
	switch (why_of_filters(run->passage->output.error)) {
	case WHY_FILTER_LATE:
		return "the filters of its answer took too long";
	case WHY_FILTER_BUSY:
		return "a filter of its answer has no place";
	default:
		return "a filter of its answer has failed";
	}
}

/* Makes the answer what it was. */
static void
leave_filters(struct conn *c)
{
	struct run	*run = c->request->run;

	buf_add(&run->head, run->passage->kept.at, run->passage->kept.len);
	run_end_passage(c);
	run->chain = NULL;
}

/* Whether the answer may be sent as it was. */
static bool
may_pass(const struct run *run)
{
	const struct passage	*p = run->passage;

	return p->output.end == BACKEND_FAILED && !p->is_lost &&
	    (p->output.error == ENODATA || run->chain->onfail == ONFAIL_PASS);
}

static enum go
reply_failure(struct conn *c)
{
	struct run	*run = c->request->run;
	struct backend	 output = run->passage->output;
	const char	*cause = passage_cause(c);

	run_end_passage(c);
	if (output.end == BACKEND_BROKEN) {
		stats_count(STATS_PROGRAMS_FAILED);
		return failure_reply(c, WHY_PROGRAM_ENDED, "%s", cause);
	}
	if (output.error == EAGAIN)
		run->retry_after = output.retry_after;
	/* The program has answered. */
	run_count(c, PROGRAM_STATS_ANSWERED);
	return failure_reply(c, why_of_filters(output.error), "%s", cause);
}

static enum go
reply_late(struct conn *c)
{
	stats_count(STATS_PROGRAMS_LATE);
	run_count(c, PROGRAM_STATS_LATE);
	return failure_reply(c, WHY_PROGRAM_LATE, "it was silent for too long "
	    "(silence)");
}

bool
passage_await(struct conn *c, enum outcome outcome, enum go *go)
{
	struct run		*run = c->request->run;
	const struct backend	*output = &run->passage->output;

	if (outcome == OUTCOME_TIMED_OUT && run->moved == run->passage->moved &&
	    !passage_is_late(c)) {
		*go = reply_late(c);
		return false;
	}
	if (may_pass(run)) {
		leave_filters(c);
		return true;
	}
	if (output->end == BACKEND_FAILED || output->end == BACKEND_BROKEN) {
		*go = reply_failure(c);
		return false;
	}
	if (output->len > 0 || output->end == BACKEND_COMPLETE)
		return true;
	passage_put_off(c, outcome);
	*go = feed_wait(c);
	return false;
}
