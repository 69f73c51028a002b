/*
 * find: look-ups in a conf for requests.  No function allocates or blocks.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/setters.h"
#include "lib/need.h"

size_t
conf_listener_count(const struct conf *conf)
{
	return conf->nlisteners;
}

const struct conf_address *
conf_listener(const struct conf *conf, size_t listener)
{
	need(listener < conf->nlisteners);
	return conf->listeners[listener].address;
}

struct host {
	bool		 wild;		/* look for a wildcard */
	const char	*at;
	size_t		 len;
};

/* By the order of a listener's names, which check.c sorts. */
static int
by_name(const void *key, const void *element)
{
	const struct host	*host = key;
	const struct conf_named	*named = element;

	if (host->wild != named->wild)
		return host->wild ? 1 : -1;
	if (host->len != named->len)
		return host->len < named->len ? -1 : 1;
	/* No process calls setlocale(3), so this compares ASCII. */
	return strncasecmp(host->at, named->name, named->len);
}

static const struct conf_named *
find_name(const struct conf_listener *l, const struct host *host)
{
	return bsearch(host, l->named, l->nnamed, sizeof(*l->named), by_name);
}

/* Tries the longest wildcard first: from the first dot on, then the next. */
static const struct conf_named *
find_wildcard(const struct conf_listener *l, const struct host *host)
{
	const struct conf_named	*named;
	struct host		 end = { .wild = true };

	if (l->nwild == 0)
		return NULL;
	for (size_t i = 1; i < host->len; i++) {
		if (host->at[i] != '.')
			continue;
		end.at = host->at + i;
		end.len = host->len - i;
		if ((named = find_name(l, &end)) != NULL)
			return named;
	}
	return NULL;
}

static const struct conf_named *
find_named(const struct conf_listener *l, const char *name, size_t len)
{
	const struct conf_named	*named;
	struct host		 host = { false, name, len };

	if (host.len > 0 && host.at[host.len - 1] == '.')
		host.len--;		/* a fully qualified name */
	named = find_name(l, &host);
	return named != NULL ? named : find_wildcard(l, &host);
}

const struct conf_site *
conf_find_site(const struct conf *conf, size_t listener, const char *name,
    size_t len)
{
	const struct conf_listener	*l;
	const struct conf_named		*named;

	need(listener < conf->nlisteners);
	l = &conf->listeners[listener];
	if (l->single || name == NULL)
		return l->fallback;
	named = find_named(l, name, len);
	return named != NULL ? named->site : l->fallback;
}

const char *
conf_find_site_name(const struct conf *conf, size_t listener, const char *name,
    size_t len)
{
	const struct conf_named	*named;

	need(listener < conf->nlisteners);
	if (name == NULL)
		return NULL;
	named = find_named(&conf->listeners[listener], name, len);
	if (named == NULL)
		return NULL;
	return named->wild ? named->name - 1 : named->name;	/* its star */
}

const struct conf_rules *
conf_find_rules(const struct conf_site *site, const char *path, size_t len)
{
	const struct conf_path	*p;
	size_t			 n;

	for (size_t i = 0; i < site->npaths; i++) {
		p = &site->paths[i];
		n = strlen(p->prefix);
		if (n <= len && memcmp(p->prefix, path, n) == 0 &&
		    (n == len || path[n] == '/'))
			return &p->rules;
	}
	return &site->rules;
}

bool
conf_user_is_valid(const char *name, size_t len)
{
	static const char	letters[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	if (len == 0 || len > 32 || strchr(letters, name[0]) == NULL)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] == '\0' || (strchr(letters, name[i]) == NULL &&
		    strchr(".-$", name[i]) == NULL))
			return false;
	return true;
}

bool
conf_find_listing(const struct conf_words *listing, enum conf_listing form)
{
	return conf_name_in(listing, conf_choice_words(TYPE_LISTING)[form]);
}

bool
conf_disabled(const struct conf *conf, enum conf_ablation ablation)
{
	return conf_name_in(&conf->cache.off,
	    conf_choice_words(TYPE_ABLATION)[ablation]);
}

bool
conf_find_users(const struct conf *conf)
{
	for (size_t i = 0; i < conf->nsites; i++)
		if (conf->sites[i].rules.users.directory != NULL)
			return true;
	return false;
}

int64_t
conf_helpers_share(const struct conf *conf)
{
	return conf->helpers_share != 0 ? conf->helpers_share :
	    (conf->helpers_max + 1) / 2;
}

const struct conf_access_log *
conf_find_only_log(const struct conf *conf)
{
	const struct conf_site	*site;

	if (conf->log.access.to == NULL || conf->log.all.n != 1)
		return NULL;
	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		if (site->rules.log == NULL)
			return NULL;
		for (size_t j = 0; j < site->npaths; j++)
			if (site->paths[j].rules.log == NULL)
				return NULL;
	}
	return conf->log.all.at[0];
}
