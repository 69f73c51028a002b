/*
 * shaping: rate and pace of sites and paths.
 *
 * A path without a rate of its own counts together with its site.
 */
#include <sys/param.h>

#include "conf/setters.h"
#include "lib/mem.h"

#define BURST	50		/* requests, as in block limits */

static const struct conf_origin *
find_origin(struct conf_object object, const char *word, size_t part)
{
	return conf_origin(object, conf_row_find_word(word, object.kind) + part,
	    0);
}

/* Whether the block has the directive; reports a second value alone. */
static bool
has_own(struct conf_reader *reader, struct conf_object object, const char *word)
{
	const struct conf_origin	*first = find_origin(object, word, 0);
	const struct conf_origin	*second = find_origin(object, word, 1);

	if (first == NULL && second != NULL)
		conf_error(reader, second->pos, "\"%s\" needs a number of its "
		    "own here, before \"%s\"", word, second->row->part);
	return first != NULL;
}

static void
complete_rate(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	struct conf	*conf = reader->conf;

	if (!has_own(reader, object, "rate")) {
		if (rules->outer == NULL)
			return;
		rules->rate = rules->outer->rate;
		rules->limiter = rules->outer->limiter;
		return;
	}
	if (rules->rate.burst == 0)
		rules->rate.burst = BURST;
	if (rules->rate.rate == 0)
		return;
	conf->limiters = mem_grow(conf->limiters, conf->nlimiters + 1,
	    sizeof(*conf->limiters));
	conf->limiters[conf->nlimiters++] = rules->rate;
	rules->limiter = conf->nlimiters;
}

static void
complete_pace(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	struct conf	*conf = reader->conf;

	if (!has_own(reader, object, "pace"))
		rules->pace = rules->outer != NULL ? rules->outer->pace :
		    (struct token_bucket_size){ conf->limits.pace,
		    conf->limits.pace_after };
	rules->pace.burst = MAX(rules->pace.rate, rules->pace.burst);
	if (rules->pace.rate == 0)
		return;
	conf->pace.rate = MAX(conf->pace.rate, rules->pace.rate);
	conf->pace.burst = MAX(conf->pace.burst, rules->pace.burst);
}

void
conf_shaping_complete(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	complete_rate(reader, rules, object);
	complete_pace(reader, rules, object);
}
