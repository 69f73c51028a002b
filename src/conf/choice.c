/*
 * choice: values that are one of a list of words.
 */
#include <string.h>

#include "conf/foreign.h"
#include "conf/setters.h"
#include "conf/strategies.h"
#include "conf/variants.h"
#include "helpers/job.h"
#include "lib/facility.h"
#include "lib/log.h"
#include "lib/str.h"

#define ERRORS(X)	CONF_ERROR_CLASSES(X) CONF_ERRORS(X)
#define WORDS(list)	(const char *const []){ list(X) NULL }
#define X(id, name, ...) name,
static const char *const *const choices[TYPE_COUNT] = {
	[TYPE_ARCHITECTURE] = WORDS(CONF_ARCHITECTURES),
	[TYPE_SPAWN] = WORDS(CONF_SPAWNS),
	[TYPE_IO] = WORDS(CONF_IOS),
	[TYPE_PROFILE] = WORDS(CONF_PROFILES),
	[TYPE_SANDBOX] = WORDS(CONF_SANDBOXES),
	[TYPE_ORDER] = WORDS(CONF_ORDERS),
	[TYPE_RESIDENCY] = WORDS(CONF_RESIDENCIES),
	[TYPE_POLICY] = WORDS(CONF_POLICIES),
	[TYPE_HINTS] = WORDS(CONF_HINTS),
	[TYPE_FACILITY] = WORDS(FACILITIES),
	[TYPE_LOG_LEVEL] = WORDS(LOG_LEVELS),
	[TYPE_LISTING] = WORDS(CONF_LISTINGS),
	[TYPE_LINKS] = WORDS(JOB_LINKS),
	[TYPE_ERROR_FORMAT] = WORDS(CONF_ERROR_FORMATS),
	[TYPE_SATISFY] = WORDS(CONF_SATISFIES),
	[TYPE_ETAG] = WORDS(CONF_ETAGS),
	[TYPE_ABLATION] = WORDS(CONF_ABLATIONS),
	[TYPE_PRECOMPRESSED] = WORDS(CONF_PRECOMPRESSED),
	[TYPE_FORMATS] = WORDS(CONF_FORMATS),
	[TYPE_COMPRESS] = WORDS(CONF_COMPRESS),
	[TYPE_TRUST_FIELDS] = WORDS(CONF_TRUST_FIELDS),
	[TYPE_ONFAIL] = WORDS(CONF_ONFAILS),
	[TYPE_CONFINEMENT] = WORDS(CONF_CONFINEMENTS),
	[TYPE_AUTHORIZATION] = WORDS(CONF_AUTHORIZATIONS),
	[TYPE_SWITCH] = WORDS(CONF_SWITCHES),
	[TYPE_REDIRECT] = WORDS(CONF_REDIRECTS),
	[TYPE_REFUSAL] = WORDS(CONF_REFUSALS),
	[TYPE_ERROR] = WORDS(ERRORS),
};
#undef X

const char *const *
conf_choice_words(enum conf_type type)
{
	return choices[type];
}

void
conf_choice_print(enum conf_type type, const char *between, struct buf *to)
{
	const char *const	*choice = conf_choice_words(type);

	for (size_t i = 0; choice[i] != NULL; i++)
		buf_addf(to, "%s%s", i == 0 ? "" : between, choice[i]);
}

bool
conf_choice_set(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const char *const	*choice = conf_choice_words(row->type);
	const char		*near = NULL;
	struct buf		 all = { 0 };

	for (int64_t i = 0; choice[i] != NULL; i++) {
		if (strcmp(choice[i], word->text) == 0) {
			*(int64_t *)member = i;
			return true;
		}
		near = conf_error_nearer(word->text, near, choice[i]);
	}
	if (conf_foreign_error(reader, row->word, word))
		return false;
	if (row->type == TYPE_REDIRECT && strchr(word->text, '/') != NULL) {
		conf_error(reader, word->pos, "a status comes first: write "
		    "%s 301 %s", row->word, word->text);
		return false;
	}
	conf_choice_print(row->type, ", ", &all);
	conf_error(reader, word->pos, "\"%s\" is not one of %s",
	    word->text, buf_string(&all));
	conf_error_hint(reader, near);
	buf_free(&all);
	return false;
}

bool
conf_choice_set_code(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	int64_t	choice;

	return conf_choice_set(reader, row, word, &choice) &&
	    str_number(str_of(conf_choice_words(row->type)[choice]), member);
}
