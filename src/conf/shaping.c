/*
 * shaping: rate, pace and timeouts of sites and paths.
 *
 * A path without a rate of its own counts together with its site.  Each length
 * that a timeout has beside that of limits is a term: for each there is a list
 * of connections, so there are few.
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

/* The number of a length of a timeout; 0 after an error. */
static uint8_t
find_term(struct conf_reader *reader, size_t of, int64_t ms,
    struct conf_pos pos)
{
	struct conf	*conf = reader->conf;
	unsigned	 i = 1;

	while (i <= conf->nterms && (conf->terms[i].ms != ms ||
	    conf->terms[i].of != of))
		i++;
	if (i > CONF_TERMS_MAX) {
		conf_error(reader, pos, "sites and paths have more than %d "
		    "different times for body within, idle and send",
		    CONF_TERMS_MAX);
		return 0;
	}
	conf->nterms = MAX(conf->nterms, i);
	conf->terms[i].ms = ms;
	conf->terms[i].of = of;
	return (uint8_t)i;
}

static void
complete_timeout(struct conf_reader *reader, struct conf_rules *rules,
    const struct conf_origin *own, size_t member, int64_t general)
{
	struct conf_timeout		*t = (struct conf_timeout *)
					    ((char *)rules + member);

	if (own == NULL && rules->outer != NULL)
		*t = *(const struct conf_timeout *)
		    ((const char *)rules->outer + member);
	else if (own == NULL)
		t->ms = general;
	else if (t->ms != general && !own->bad)
		t->term = find_term(reader, member, t->ms, own->pos);
}

void
conf_shaping_complete(struct conf_reader *reader, struct conf_rules *rules,
    struct conf_object object)
{
	complete_rate(reader, rules, object);
	complete_pace(reader, rules, object);
#define COMPLETE(word, part, member)					\
	complete_timeout(reader, rules, find_origin(object, word, part), \
	    offsetof(struct conf_rules, member), reader->conf->limits.member)
	COMPLETE("body", 1, body_within);
	COMPLETE("idle", 0, idle);
	COMPLETE("send", 0, send);
#undef COMPLETE
}
