/*
 * rules: completes the rules of sites and paths: tests that a block's rules fit
 * together, and has paths take over their site's.
 *
 * conf_rules_complete() runs once, after the paths were sorted.  From then on
 * the rules do not move, so they may point to one another.
 */
#include <string.h>
#include <strings.h>

#include "conf/run.h"
#include "conf/setters.h"
#include "lib/mem.h"

#define CACHE_CONTROL	"Cache-Control"
#define EXPIRES_IN_VAIN	"header " CACHE_CONTROL " overrides expires here: " \
			"leave one of them out"

/* Each block files with fields has a bit of struct path_info. */
#define FILE_BLOCKS_MAX	16
#define FILE_BITS	((1U << FILE_BLOCKS_MAX) - 1)

/* The actions; a block can have one of them. */
#define ACTIONS(X)							\
	X("root")							\
	X("alias")							\
	X("redirect")							\
	X("return")							\
	X("status")							\
	X("ready")

static const char *const actions[] = {
#define X(word) word,
	ACTIONS(X)
#undef X
};

#define ACTION_COUNT	(sizeof(actions) / sizeof(actions[0]))

/* The origin of a directive in a block, or NULL. */
static const struct conf_origin *
find_origin(struct conf_object object, const char *word)
{
	const struct conf_row	*row = conf_row_find_word(word, object.kind);

	return row == NULL ? NULL : conf_origin(object, row, 0);
}

/* The origin of an action; a switch that is off is none. */
static const struct conf_origin *
find_action(struct conf_object object, const char *word)
{
	const struct conf_origin	*o = find_origin(object, word);

	return o == NULL || o->row->type != TYPE_SWITCH ||
	    *(const int64_t *)conf_member(object, o->row) != 0 ? o : NULL;
}

bool
conf_rules_have_action(struct conf_object object)
{
	for (size_t i = 0; i < ACTION_COUNT; i++) {
		if (find_action(object, actions[i]) != NULL)
			return true;
	}
	return false;
}

static void
check_one_action(struct conf_reader *reader, struct conf_object object)
{
	const struct conf_origin	*a, *b;

	for (size_t i = 0; i < ACTION_COUNT; i++) {
		if ((a = find_action(object, actions[i])) == NULL)
			continue;
		for (size_t j = i + 1; j < ACTION_COUNT; j++) {
			if ((b = find_action(object, actions[j])) != NULL)
				conf_error_both(reader, a, b);
		}
	}
}

/* Whether a block sets or removes an outer field of this name. */
static bool
replaces_field(const struct conf_rules *rules, const char *name)
{
	const struct conf_pairs	*set = &rules->header.set;
	const struct conf_words	*remove = &rules->header.remove;

	for (size_t i = 0; i < set->n; i++) {
		if (strcasecmp(set->at[i].name, name) == 0)
			return true;
	}
	for (size_t i = 0; i < remove->n; i++) {
		if (strcasecmp(remove->at[i], name) == 0)
			return true;
	}
	return false;
}

/* Adds fields, without those that an inner block replaces. */
static void
add_pairs(const struct conf_pairs *fields, const struct conf_rules *inner,
    bool always_only, struct buf *lines)
{
	const struct conf_pair	*field;

	for (size_t i = 0; i < fields->n; i++) {
		field = &fields->at[i];
		if ((!always_only || field->number != 0) &&
		    (inner == NULL || !replaces_field(inner, field->name)))
			buf_addf(lines, "%s: %s\r\n", field->name,
			    field->value);
	}
}

/* Makes the lines that are sent: the block's own fields, then the site's. */
static char *
make_field_lines(const struct conf_rules *rules, bool always_only)
{
	const struct conf_rules	*inner = NULL;
	struct buf		 lines = { 0 };

	for (; rules != NULL; inner = rules, rules = rules->outer) {
		add_pairs(&rules->header.plain, inner, always_only, &lines);
		add_pairs(&rules->header.add, inner, always_only, &lines);
		add_pairs(&rules->header.set, inner, always_only, &lines);
	}
	buf_string(&lines);
	return lines.at;
}

static bool
has_pair(const struct conf_pairs *fields, const char *name)
{
	for (size_t i = 0; i < fields->n; i++)
		if (strcasecmp(fields->at[i].name, name) == 0)
			return true;
	return false;
}

static bool
adds_field(const struct conf_rules *rules, const char *name)
{
	return has_pair(&rules->header.plain, name) ||
	    has_pair(&rules->header.add, name) ||
	    has_pair(&rules->header.set, name);
}

static void
check_removed(struct conf_reader *reader, const struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_words	*remove = &rules->header.remove;
	const struct conf_row	*row = conf_row_find_word("header",
				    object.kind);

	while (row->type != TYPE_FIELD_NAME)
		row++;
	for (size_t i = 0; i < remove->n; i++) {
		if (rules->outer == NULL ||
		    !adds_field(rules->outer, remove->at[i]))
			conf_error(reader, conf_origin(object, row, i)->pos,
			    "nothing outside adds a field %s", remove->at[i]);
	}
}

/* A header Cache-Control overrides expires, which makes the same field. */
static void
make_expires(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	static const char		 name[] = CACHE_CONTROL;
	const struct conf_rules		*outer = rules->outer;
	const struct conf_origin	*own = find_origin(object, "expires");

	rules->has_expires = !adds_field(rules, name) && (outer == NULL ||
	    !adds_field(outer, name) || replaces_field(rules, name));
	if (!rules->has_expires && own != NULL)
		conf_error(reader, own->pos, EXPIRES_IN_VAIN);
}

static size_t
hide_bytes(const struct conf_rules *rules)
{
	size_t	bytes = 0;

	for (; rules != NULL; rules = rules->outer) {
		for (size_t i = 0; i < rules->hide.n; i++)
			bytes += strlen(rules->hide.at[i]) + 1;
	}
	return bytes;
}

/* All patterns must fit into one message to a helper. */
static void
check_hide(struct conf_reader *reader, const struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_origin	*own = find_origin(object, "hide");
	size_t				 bytes = hide_bytes(rules);

	if (own != NULL && bytes > CONF_HIDE_MAX)
		conf_error(reader, own->pos, "the patterns of hide in "
		    "force here are %zu bytes, more than %d", bytes,
		    CONF_HIDE_MAX);
}

/* The language of files without a tag in their name belongs to a list: a path
 * without one has the site's, and its language. */
static void
check_languages(struct conf_reader *reader, struct conf_object object)
{
	const struct conf_row		*row;
	const struct conf_origin	*plain;

	row = conf_row_find_word("languages", object.kind);
	plain = conf_origin(object, row + 1, 0);
	if (plain != NULL && !plain->bad && conf_origin(object, row, 0) == NULL)
		conf_error(reader, plain->pos, "\"languages\" needs a "
		    "language in front of default");
}

static void
inherit_text(char **member, const char *outer, const struct conf_origin *own)
{
	if (own == NULL && outer != NULL)
		*member = mem_string(outer);
}

/* Takes over the values that a path lacks, except lists. */
static void
inherit_all(struct conf_rules *rules, struct conf_object object)
{
	const struct conf_rules	*outer = rules->outer;

	inherit_text(&rules->fallback, outer->fallback,
	    find_origin(object, "fallback"));
	inherit_text(&rules->charset, outer->charset,
	    find_origin(object, "charset"));
	if (find_origin(object, "nosniff") == NULL)
		rules->nosniff = outer->nosniff;
	if (find_origin(object, "etag") == NULL)
		rules->etag = outer->etag;
	if (find_origin(object, "links") == NULL)
		rules->links = outer->links;
}

static void
complete_block(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_rules		*outer = rules->outer;
	const struct conf_origin	*redirect;

	redirect = find_origin(object, "redirect");

	check_one_action(reader, object);
	if (redirect != NULL && !redirect->bad &&
	    conf_origin(object, redirect->row + 1, 0) == NULL)
		conf_error(reader, redirect->pos,
		    "\"redirect\" needs a target behind its status");
	if (rules->redirect.to != NULL)
		conf_response_complete_target(&rules->redirect.to);
	rules->action = outer == NULL ||
	    conf_rules_have_action(object) ? rules : outer;
	if (outer != NULL)
		inherit_all(rules, object);
	check_removed(reader, rules, object);
	check_hide(reader, rules, object);
	check_languages(reader, object);
	conf_access_complete(reader, &rules->guard,
	    outer != NULL ? &outer->guard : NULL, object);
	if (rules->status != 0)
		conf_access_restrict_local(&rules->guard);
	conf_log_complete_rules(reader, rules, object);
	conf_shaping_complete(reader, rules, object);
	rules->field_lines = make_field_lines(rules, false);
	rules->always_lines = make_field_lines(rules, true);
	make_expires(reader, rules, object);
}

/* Whether a program that rules run has a directory of its own. */
static bool
runs_directory(const struct conf_rules *rules)
{
	return rules->run.n > 0 && rules->run.list[0].program->directory !=
	    NULL;
}

/* Programs have the block's root or alias; other actions come before them. */
static void
check_run(struct conf_reader *reader, const struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_origin	*run = find_origin(object, "run"), *a;
	bool				 own = false;

	if (rules->run.from != rules || rules->run.n == 0)
		return;
	if (run == NULL)
		run = find_origin(object, "cgi");
	for (size_t i = 0; i < ACTION_COUNT; i++) {
		if ((a = find_action(object, actions[i])) == NULL)
			continue;
		own = true;
		if (strcmp(actions[i], "root") != 0 &&
		    (strcmp(actions[i], "alias") != 0 || runs_directory(rules)))
			conf_error_both(reader, run, a);
	}
	if (!own && rules->outer != NULL && (rules->outer->refusal != 0 ||
	    rules->outer->redirect.to != NULL))
		conf_error(reader, run->pos, "%s is without effect here: the "
		    "site's %s comes before it; write a root in this path",
		    run->row->word, rules->outer->refusal != 0 ? "return" :
		    "redirect");
}

/* Follows redirects within a site as a client does, and reports a loop. */
static void
check_loops(struct conf_reader *reader, const struct conf_site *site,
    const struct conf_rules *rules, struct conf_object object)
{
	const struct conf_rules	*r = rules;
	const char		*to;
	size_t			 steps = 0;

	while ((to = r->redirect.to) != NULL && to[0] == '/') {
		if (steps++ > site->npaths) {
			conf_error(reader, find_origin(object, "redirect")->pos,
			    "this redirect leads clients into a loop");
			return;
		}
		r = conf_find_rules(site, to, strcspn(to, "?"))->action;
	}
}

/* Completes what responses with files of a block have; *bit: the next one that
 * is free in the site, 0: none is. */
static void
complete_file_fields(struct conf_reader *reader, struct conf_files *files,
    unsigned *bit)
{
	struct conf_object		 object = conf_object_files(files);
	struct conf_file_fields		*fields = &files->fields;
	const struct conf_origin	*expires = find_origin(object,
					    "expires");
	struct buf			 lines = { 0 };

	add_pairs(&fields->plain, NULL, false, &lines);
	add_pairs(&fields->set, NULL, false, &lines);
	buf_string(&lines);
	fields->lines = lines.at;
	fields->has_expires = expires != NULL;
	if (expires != NULL && (has_pair(&fields->plain, CACHE_CONTROL) ||
	    has_pair(&fields->set, CACHE_CONTROL)))
		conf_error(reader, expires->pos, EXPIRES_IN_VAIN);
	if (lines.len == 0 && fields->type == NULL && expires == NULL)
		return;
	if (*bit > FILE_BITS)
		conf_error(reader, conf_origin(object, NULL, 0)->pos,
		    "a site has at most %d blocks files with header, type or "
		    "expires", FILE_BLOCKS_MAX);
	fields->bit = (uint16_t)*bit;
	*bit <<= 1;
}

/* A block of no effect may be meant to have one. */
static void
check_files(struct conf_reader *reader, struct conf_files *files)
{
	const struct conf_origin	*o = files->origins;

	while (o != NULL && o->row == NULL)
		o = o->next;
	if (o == NULL)
		conf_error(reader, files->origins->pos, "block files needs "
		    "allow, deny, auth, header, type or expires");
}

static void
complete_files(struct conf_reader *reader, struct conf_site *site)
{
	unsigned	bit = 1;

	for (size_t i = 0; i < site->nfiles; i++) {
		check_files(reader, &site->files[i]);
		conf_access_complete(reader, &site->files[i].guard, NULL,
		    conf_object_files(&site->files[i]));
		complete_file_fields(reader, &site->files[i], &bit);
	}
}

static void
note_by_host(struct conf_site *site)
{
	bool	some = site->rules.by_host;

	for (size_t i = 0; i < site->npaths; i++)
		some |= site->paths[i].rules.by_host;
	site->rules.some_by_host = some;
	for (size_t i = 0; i < site->npaths; i++)
		site->paths[i].rules.some_by_host = some;
}

void
conf_rules_complete(struct conf_reader *reader, struct conf_site *site)
{
	struct conf_path	*path;

	complete_block(reader, &site->rules, conf_object_site(site));
	for (size_t i = 0; i < site->npaths; i++) {
		path = &site->paths[i];
		path->rules.outer = &site->rules;
		path->rules.prefix_len = strlen(path->prefix);
		complete_block(reader, &path->rules, conf_object_path(path));
	}
	note_by_host(site);
	complete_files(reader, site);
	conf_run_complete(reader, site);
	conf_chains_complete(reader, site);
	check_run(reader, &site->rules, conf_object_site(site));
	check_loops(reader, site, &site->rules, conf_object_site(site));
	for (size_t i = 0; i < site->npaths; i++) {
		path = &site->paths[i];
		check_run(reader, &path->rules, conf_object_path(path));
		check_loops(reader, site, &path->rules,
		    conf_object_path(path));
	}
}
