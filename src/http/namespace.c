/*
 * namespace: the table of kinds of names.
 *
 * The steps ask this table, so that they need not know what there is beside
 * plain files.
 */
#include <string.h>

#include "http/conn.h"
#include "http/listing.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variants/format.h"
#include "http/variants/language.h"
#include "http/variants/variant.h"

_Static_assert(NAMESPACE_COUNT <= 1 << NAMESPACE_KIND_BITS,
    "more kinds than a namespace has bits for");

/* Adds the patterns of files that are not to be opened.  If there are too many
 * for a job, none is opened. */
static void
add_programs(const struct conf_rules *rules, struct buf *text)
{
	const struct conf_run	*run = rules->run.list;
	size_t			 start = text->len;
	bool			 all = rules_directory_program(rules) != NULL;

	for (size_t i = 0; i < rules->run.n && !all; i++, run++) {
		if (run->pattern != NULL)
			buf_add(text, run->pattern, strlen(run->pattern) + 1);
		all = text->len - start > JOB_PATH_MAX;
	}
	if (all) {
		text->len = start;
		buf_add(text, "*", sizeof("*"));
	}
}

/* Adds names as far as a job has room for them. */
static void
add_names(const struct conf_words *names, struct buf *text)
{
	size_t	start = text->len, n;

	for (size_t i = 0; i < names->n; i++) {
		n = strlen(names->at[i]) + 1;
		if (text->len - start + n > JOB_PATH_MAX)
			break;
		buf_add(text, names->at[i], n);
	}
}

/* Fills a job that finds a file, a file that the target is with a suffix, or a
 * directory's first index file. */
static void
fill_resolve_job(struct job *job, const struct conf *conf, const struct path *p,
    const char *decoded, struct buf *text)
{
	size_t	start = text->len, names, programs;

	if (language_number(p->namespace) > 0)
		language_add_names(text, p, decoded);
	else
		add_names(rules_names(p->rules, decoded), text);
	names = text->len;
	add_programs(p->rules, text);
	programs = text->len;
	if (job->kind == JOB_COMPRESS) {
		job->compress.size_max = (uint64_t)conf->limits.compress;
		job->compress.cache_dir = conf->cache.variants;
		job->compress.coding = variant_coding(p->namespace);
		job->compress.level = (uint32_t)
		    conf->limits.levels[job->compress.coding];
	} else {
		variant_add_suffixes(text, p);
		job->resolve.sibling = namespace_is_derived(p->namespace);
		job->resolve.siblings = (struct str){ text->at + programs,
		    text->len - programs };
	}
	job->find.names = (struct str){ text->at + start, names - start };
	job->find.programs = (struct str){ text->at + names,
	    programs - names };
}

/* Returns the value of Vary.  A file in another coding may be sent in place of
 * a file that has other formats or languages, too. */
static const char *
vary_of_file(const struct request *r)
{
	static const char *const	values[] = {
		NULL, "Accept-Encoding", "Accept", "Accept, Accept-Encoding",
		"Accept-Language", "Accept-Encoding, Accept-Language",
		"Accept, Accept-Language",
		"Accept, Accept-Encoding, Accept-Language"
	};
	uint32_t	ns = r->path->namespace, variants = r->info.variants;
	bool		derived = namespace_get(ns)->encoded ||
			    format_type(ns) != NULL;
	bool		encoded = namespace_get(ns)->encoded ||
			    (variants & NAMESPACE_CODING_BITS) != 0;
	bool		formatted = format_type(ns) != NULL ||
			    (variants & NAMESPACE_FORMAT_BITS) != 0 ||
			    (namespace_get(ns)->encoded &&
			    rules_formats(r->path->rules)->n > 0 &&
			    format_has_type(r->info.type));
	bool		translated = language_number(ns) > 0 ||
			    (variants & NAMESPACE_LANGUAGE_BITS) != 0 ||
			    ((derived || variant_is_filtered(ns)) &&
			    language_count(r->path->rules) > 0);

	return values[encoded | formatted << 1 | translated << 2];
}

const struct namespace	namespaces[NAMESPACE_COUNT] = {
	[NAMESPACE_TARGET] = { .job = JOB_RESOLVE,
	    .fill_job = fill_resolve_job, .variants = variant_find,
	    .vary = vary_of_file },
	[NAMESPACE_LISTING] = { .job = JOB_LIST, .undated = true,
	    .fill_job = listing_fill_job, .type = listing_type,
	    .vary = listing_vary },
#define X(id, name, suffix)						\
	[NAMESPACE_VARIANT + CODING_##id] = { .coding = name,		\
	    .encoded = true,						\
	    .job = JOB_RESOLVE, .fill_job = fill_resolve_job,		\
	    .vary = vary_of_file },					\
	[NAMESPACE_FILTERED_MADE + CODING_##id] = { .coding = name,	\
	    .encoded = true, .job = JOB_COMPRESS, .undated = true,	\
	    .vary = vary_of_file },					\
	[NAMESPACE_MADE + CODING_##id] = { .coding = name,		\
	    .encoded = true,						\
	    .job = JOB_COMPRESS, .fill_job = fill_resolve_job,		\
	    .vary = vary_of_file },
	CODINGS(X)
#undef X
#define X(id, name, ...)						\
	[NAMESPACE_FORMAT + FORMAT_##id] = { .coding = name,		\
	    .job = JOB_RESOLVE, .fill_job = fill_resolve_job,		\
	    .type = format_type, .vary = vary_of_file },
	FORMATS(X)
#undef X
	[NAMESPACE_FILTERED] = { .job = JOB_RESOLVE, .undated = true,
	    .fill_job = fill_resolve_job, .vary = vary_of_file },
};
