/*
 * format: pictures beside a picture.
 */
#include <string.h>

#include "conf/conf.h"
#include "http/conn.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variants/format.h"
#include "proto/accept.h"

static const struct {
	const char	*name, *suffix, *type;
} formats[FORMAT_COUNT] = {
#define X(id, name, suffix, type) { name, suffix, type },
	FORMATS(X)
#undef X
};

const char *
format_type(uint32_t ns)
{
	uint32_t	i = namespace_kind(ns) - NAMESPACE_FORMAT;

	return i < FORMAT_COUNT ? formats[i].type : NULL;
}

const char *
format_suffix(enum format format)
{
	return formats[format].suffix;
}

const char *
format_name(enum format format)
{
	return formats[format].name;
}

const char *
format_find_type(const char *name)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(formats[i].name, name) == 0)
			return formats[i].type;
	return NULL;
}

bool
format_is_wanted(const struct conf_rules *rules, enum format format)
{
	return conf_name_in(rules_formats(rules), formats[format].name);
}

bool
format_has_type(const char *type)
{
	return type != NULL && strncmp(type, "image/", strlen("image/")) == 0;
}

/* A format is used if the client names it: one that takes all types may still
 * be unable to show it. */
uint32_t
format_negotiate(struct str accept, const char *type, uint32_t offered)
{
	int		best = accept_weight(accept, str_of(type)) - 1, weight;
	uint32_t	chosen = 0;

	for (uint32_t i = 0; i < FORMAT_COUNT; i++) {
		if ((offered & 1U << i) == 0)
			continue;
		weight = accept_weight(accept, str_of(formats[i].type));
		if (weight <= best || !accept_is_by_name(weight))
			continue;
		best = weight;
		chosen = 1U << i;
	}
	return chosen;
}
