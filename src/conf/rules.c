/*
 * rules: how what is asked for is answered: what must hold between the
 * rules of a block, and what a path takes over from its site.
 *
 * It runs once, when all has been read and the paths have been sorted: from
 * then on the rules stay where they are, and point to one another.
 */
#include <string.h>
#include <strings.h>

#include "conf/setters.h"
#include "lib/mem.h"

/* What answers: a block can say one of these. */
#define ANSWERS(X)							\
	X("root")							\
	X("alias")							\
	X("redirect")							\
	X("return")							\
	X("status")

static const char *const answers[] = {
#define X(word) word,
	ANSWERS(X)
#undef X
};

#define NANSWERS	(sizeof(answers) / sizeof(answers[0]))

/* Who says in this block what answers, in the words of one directive. */
static const struct conf_origin *
says(struct conf_object object, const char *word)
{
	const struct conf_row	*row = conf_directive_find(word, object.kind);

	return row == NULL ? NULL : conf_origin(object, row, 0);
}

/* A switch that is off answers nothing. */
static const struct conf_origin *
says_answer(struct conf_object object, const char *word)
{
	const struct conf_origin	*o = says(object, word);

	return o == NULL || o->row->type != TYPE_SWITCH ||
	    *(const int64_t *)conf_member(object, o->row) != 0 ? o : NULL;
}

static bool
says_any(struct conf_object object)
{
	for (size_t i = 0; i < NANSWERS; i++) {
		if (says_answer(object, answers[i]) != NULL)
			return true;
	}
	return false;
}

bool
conf_rules_need_no_root(struct conf_object object)
{
	return says_any(object);
}

static void
error_both(struct conf_reader *reader, const struct conf_origin *a,
    const struct conf_origin *b)
{
	const struct conf_origin	*first = a, *later = b;

	if (conf_pos_order(&a->pos, &b->pos) > 0) {
		first = b;
		later = a;
	}
	conf_error(reader, later->pos,
	    "%s and %s exclude each other: %s is given at %s:%zu",
	    later->row->word, first->row->word, first->row->word,
	    reader->conf->files.at[first->pos.file], first->pos.line);
}

static void
check_one_answer(struct conf_reader *reader, struct conf_object object)
{
	const struct conf_origin	*a, *b;

	for (size_t i = 0; i < NANSWERS; i++) {
		if ((a = says_answer(object, answers[i])) == NULL)
			continue;
		for (size_t j = i + 1; j < NANSWERS; j++) {
			if ((b = says_answer(object, answers[j])) != NULL)
				error_both(reader, a, b);
		}
	}
}

/* Whether this block sets or removes what comes from outside. */
static bool
replaces(const struct conf_rules *rules, const char *name)
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

/* The fields of a block, without those that an inner one replaces. */
static void
add_fields(const struct conf_rules *rules, const struct conf_rules *inner,
    struct buf *lines)
{
	const struct conf_pairs	*all[] = {
		&rules->header.plain, &rules->header.add, &rules->header.set
	};
	const struct conf_pair	*field;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (size_t j = 0; j < all[i]->n; j++) {
			field = &all[i]->at[j];
			if (inner == NULL || !replaces(inner, field->name))
				buf_addf(lines, "%s: %s\r\n", field->name,
				    field->value);
		}
	}
}

/* The fields as they are sent: the block's own, then the site's. */
static void
make_lines(struct conf_rules *rules)
{
	struct buf	lines = { 0 };

	add_fields(rules, NULL, &lines);
	if (rules->outer != NULL)
		add_fields(rules->outer, rules, &lines);
	rules->field_lines = mem_string(buf_string(&lines));
	buf_free(&lines);
}

static bool
adds(const struct conf_rules *rules, const char *name)
{
	const struct conf_pairs	*all[] = {
		&rules->header.plain, &rules->header.add, &rules->header.set
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (size_t j = 0; j < all[i]->n; j++)
			if (strcasecmp(all[i]->at[j].name, name) == 0)
				return true;
	}
	return false;
}

static void
check_removed(struct conf_reader *reader, const struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_words	*remove = &rules->header.remove;
	const struct conf_row	*row = conf_directive_find("header",
				    object.kind);

	while (row->type != TYPE_FIELD_NAME)
		row++;
	for (size_t i = 0; i < remove->n; i++) {
		if (rules->outer == NULL || !adds(rules->outer, remove->at[i]))
			conf_error(reader, conf_origin(object, row, i)->pos,
			    "nothing outside adds a field %s", remove->at[i]);
	}
}

/* A field of the conf comes before expires, which says the same thing. */
static void
make_aged(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	static const char		 name[] = "Cache-Control";
	const struct conf_rules		*outer = rules->outer;
	const struct conf_origin	*own = says(object, "expires");

	rules->has_expires = !adds(rules, name) &&
	    (outer == NULL || !adds(outer, name) || replaces(rules, name));
	if (!rules->has_expires && own != NULL)
		conf_error(reader, own->pos, "expires is without effect "
		    "here: header %s comes before it", name);
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

/* They travel to the helpers in one record. */
static void
check_hide(struct conf_reader *reader, const struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_origin	*own = says(object, "hide");
	size_t				 bytes = hide_bytes(rules);

	if (own != NULL && bytes > CONF_HIDE_MAX)
		conf_error(reader, own->pos, "the patterns of hide in "
		    "force here are %zu bytes, more than %d", bytes,
		    CONF_HIDE_MAX);
}

static void
inherit(char **member, const char *outer, const struct conf_origin *own)
{
	if (own == NULL && outer != NULL)
		*member = mem_string(outer);
}

/* What a path does not say, but for lists. */
static void
inherit_all(struct conf_rules *rules, struct conf_object object)
{
	const struct conf_rules	*outer = rules->outer;

	inherit(&rules->fallback, outer->fallback, says(object, "fallback"));
	inherit(&rules->charset, outer->charset, says(object, "charset"));
	if (says(object, "nosniff") == NULL)
		rules->nosniff = outer->nosniff;
	if (says(object, "links") == NULL)
		rules->links = outer->links;
	if (says(object, "compress") == NULL)
		rules->compress = outer->compress;
}

static void
complete(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	const struct conf_rules		*outer = rules->outer;
	const struct conf_origin	*redirect = says(object, "redirect");

	check_one_answer(reader, object);
	if (redirect != NULL && !redirect->bad &&
	    conf_origin(object, redirect->row + 1, 0) == NULL)
		conf_error(reader, redirect->pos,
		    "\"redirect\" needs a target behind its status");
	rules->action = outer == NULL || says_any(object) ? rules : outer;
	if (outer != NULL)
		inherit_all(rules, object);
	check_removed(reader, rules, object);
	check_hide(reader, rules, object);
	conf_access_complete(reader, &rules->guard,
	    outer != NULL ? &outer->guard : NULL, object);
	if (rules->status != 0)
		conf_access_restrict_local(&rules->guard);
	make_lines(rules);
	make_aged(reader, rules, object);
}

/* Redirects to a path of the same site, followed as a client would. */
static void
check_circles(struct conf_reader *reader, const struct conf_site *site,
    const struct conf_rules *rules, struct conf_object object)
{
	const struct conf_rules	*r = rules;
	const char		*to;
	size_t			 steps = 0;

	while ((to = r->redirect.to) != NULL && to[0] == '/') {
		if (steps++ > site->npaths) {
			conf_error(reader, says(object, "redirect")->pos,
			    "this redirect sends clients in circles");
			return;
		}
		r = conf_find_rules(site, to, strcspn(to, "?"))->action;
	}
}

void
conf_rules_complete(struct conf_reader *reader, struct conf_site *site)
{
	struct conf_path	*path;

	complete(reader, &site->rules, conf_object_site(site));
	for (size_t i = 0; i < site->npaths; i++) {
		path = &site->paths[i];
		path->rules.outer = &site->rules;
		path->rules.prefix_len = strlen(path->prefix);
		complete(reader, &path->rules, conf_object_path(path));
	}
	for (size_t i = 0; i < site->nfiles; i++)
		conf_access_complete(reader, &site->files[i].guard, NULL,
		    conf_object_files(&site->files[i]));
	check_circles(reader, site, &site->rules, conf_object_site(site));
	for (size_t i = 0; i < site->npaths; i++) {
		path = &site->paths[i];
		check_circles(reader, site, &path->rules,
		    conf_object_path(path));
	}
}
