/*
 * choice: values that are one of a list of words.
 */
#include <string.h>

#include "conf/setters.h"
#include "helpers/job.h"
#include "lib/facility.h"
#include "lib/log.h"
#include "lib/str.h"

#define X(id, name) name,
static const char *const architectures[] = { CONF_ARCHITECTURES(X) NULL };
static const char *const sandboxes[] = { CONF_SANDBOXES(X) NULL };
static const char *const residencies[] = { CONF_RESIDENCIES(X) NULL };
static const char *const log_levels[] = { LOG_LEVELS(X) NULL };
static const char *const switches[] = { CONF_SWITCHES(X) NULL };
static const char *const redirects[] = { CONF_REDIRECTS(X) NULL };
static const char *const refusals[] = { CONF_REFUSALS(X) NULL };
static const char *const error_pages[] = { CONF_ERRORS(X) NULL };
static const char *const listings[] = { CONF_LISTINGS(X) NULL };
static const char *const link_policies[] = { JOB_LINKS(X) NULL };
static const char *const ablations[] = { CONF_ABLATIONS(X) NULL };
static const char *const precompressed[] = { CONF_PRECOMPRESSED(X) NULL };
#undef X
#define X(id, name, number) name,
static const char *const facilities[] = { FACILITIES(X) NULL };
#undef X

const char *const *
conf_choice_words(enum conf_type type)
{
	return type == TYPE_ARCHITECTURE ? architectures :
	    type == TYPE_SANDBOX ? sandboxes :
	    type == TYPE_RESIDENCY ? residencies :
	    type == TYPE_FACILITY ? facilities :
	    type == TYPE_LOG_LEVEL ? log_levels :
	    type == TYPE_LISTING ? listings :
	    type == TYPE_LINKS ? link_policies :
	    type == TYPE_ABLATION ? ablations :
	    type == TYPE_PRECOMPRESSED ? precompressed :
	    type == TYPE_SWITCH ? switches :
	    type == TYPE_REDIRECT ? redirects :
	    type == TYPE_REFUSAL ? refusals :
	    type == TYPE_ERROR ? error_pages : NULL;
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
