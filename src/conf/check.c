/*
 * check: tests that values fit together, and makes the listeners from the
 * sites.
 *
 * conf_check() runs once, after all files were read, and allocates what the
 * look-ups of find.c need.
 */
#include <sys/types.h>

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conf/run.h"
#include "conf/setters.h"
#include "lib/mem.h"
#include "lib/sockaddr.h"

/* The first must not exceed the second. */
#define ORDERS(X)							\
	X(helpers,		helpers_max)				\
	X(helpers_share,	helpers_max)				\
	X(cache.revalidate,	cache.stale)				\
	X(cache.small,		cache.chunk_size)			\
	X(cache.small,		cache.admit)				\
	X(cache.chunk_size,	cache.chunks)				\
	X(limits.compress_from,	limits.compress)

/* "FILE:LINE", or "by default". */
static void
add_where(const struct conf_reader *reader, const struct conf_origin *o,
    struct buf *to)
{
	if (o == NULL)
		buf_adds(to, "by default");
	else
		buf_addf(to, "at %s:%zu",
		    reader->conf->files.at[o->pos.file], o->pos.line);
}

static void
error_order(struct conf_reader *reader, const struct conf_row *low,
    const struct conf_row *high)
{
	struct conf_object	 top = conf_object(reader->conf);
	struct conf_origin	*a = conf_origin(top, low, 0);
	struct conf_origin	*b = conf_origin(top, high, 0);
	struct buf		 value = { 0 }, limit = { 0 };

	if ((a != NULL && a->bad) || (b != NULL && b->bad))
		return;
	conf_value_print(low, conf_member(top, low), 0, &value);
	conf_value_print(high, conf_member(top, high), 0, &limit);
	/* The error is at the value that the conf has; one may be a default. */
	buf_addc(a != NULL ? &limit : &value, ' ');
	add_where(reader, a != NULL ? b : a, a != NULL ? &limit : &value);
	conf_error(reader, a != NULL ? a->pos : b->pos,
	    CONF_ROW " is %s, more than " CONF_ROW ", which is %s",
	    CONF_ROW_NAME(low), buf_string(&value),
	    CONF_ROW_NAME(high), buf_string(&limit));
	buf_free(&value);
	buf_free(&limit);
}

static void
check_orders(struct conf_reader *reader)
{
	const struct conf	*conf = reader->conf;

#define X(low, high)							\
	if (conf->low > conf->high)					\
		error_order(reader,					\
		    conf_row_find(BLOCK_TOP, offsetof(struct conf, low)), \
		    conf_row_find(BLOCK_TOP, offsetof(struct conf, high)));
	ORDERS(X)
	/* Each main needs a connection; 0 stands for any number. */
	if (conf->limits.connections != 0) {
		X(workers, limits.connections)
		X(workers_max, limits.connections)
	}
	if (conf->workers_max > 0) {
		X(workers, workers_max)
	}
#undef X
}

static void
check_chunks(struct conf_reader *reader)
{
	int64_t	size = reader->conf->cache.chunk_size;
	long	page = sysconf(_SC_PAGESIZE);

	if ((size & (size - 1)) != 0 || size < page)
		conf_error(reader, conf_pos_top(reader->conf,
		    offsetof(struct conf, cache.chunk_size)), "chunks size "
		    "must be a power of two, and %ld (a page) or more", page);
}

/* Only root can become another user; "user" is ignored otherwise. */
static void
check_user(struct conf_reader *reader)
{
	struct conf	*conf = reader->conf;
	struct conf_pos	 pos;

	if (geteuid() != 0) {
		mem_drop(&conf->user);
		return;
	}
	if (conf->user == NULL || getpwnam(conf->user) != NULL)
		return;
	pos = conf_pos_top(conf, offsetof(struct conf, user));
	conf_error(reader, pos, "there is no user \"%s\" to become%s",
	    conf->user, pos.line != 0 ? "" : ": name one with \"user\"");
}

/* Reports the required directives that a block lacks, unless an unknown word
 * may be meant as one of them. */
static void
check_required(struct conf_reader *reader, struct conf_object object)
{
	const struct conf_row		*row;
	const struct conf_origin	*block = conf_origin(object, NULL, 0);

	if (block == NULL || block->bad)
		return;
	CONF_EACH_ROW(row) {
		if (!conf_object_has(object, row) ||
		    row->value != CONF_REQUIRED ||
		    conf_origin(object, row, 0) != NULL ||
		    (row->type == TYPE_ROOT &&
			conf_rules_have_action(object)))
			continue;
		conf_error(reader, block->pos,
		    "block %s needs \"%s\"",
		    conf_blocks[row->block].word, row->word);
	}
}

/* The position of a path's prefix, whose origin has no row. */
static const struct conf_pos *
path_pos(const struct conf_path *path)
{
	const struct conf_origin	*o = path->origins;

	while (o->row != NULL)
		o = o->next;
	return &o->pos;
}

/* The longest prefix first; equal ones in the order of the conf. */
static int
by_prefix(const void *p, const void *q)
{
	const struct conf_path	*a = p, *b = q;
	size_t			 la = strlen(a->prefix), lb = strlen(b->prefix);
	int			 order;

	if (la != lb)
		return la > lb ? -1 : 1;
	order = strcmp(a->prefix, b->prefix);
	return order != 0 ? order :
	    conf_pos_order(path_pos(a), path_pos(b));
}

static void
check_paths(struct conf_reader *reader, struct conf_site *site)
{
	const struct conf_pos	*first, *again;

	if (site->npaths > 0)
		qsort(site->paths, site->npaths, sizeof(*site->paths),
		    by_prefix);
	for (size_t i = 0; i < site->npaths; i++) {
		if (i == 0 || site->paths[i].prefix[0] == '\0' ||
		    strcmp(site->paths[i - 1].prefix,
		    site->paths[i].prefix) != 0)
			continue;
		first = path_pos(&site->paths[i - 1]);
		again = path_pos(&site->paths[i]);
		conf_error(reader, *again,
		    "path \"%s\" is given twice: first at %s:%zu",
		    site->paths[i].prefix,
		    reader->conf->files.at[first->file], first->line);
	}
}

static bool
same_address(const struct conf_address *a, const struct conf_address *b)
{
	return a->len == b->len && memcmp(&a->addr, &b->addr, a->len) == 0;
}

/* The listener of an address; a new one has no names. */
static struct conf_listener *
find_listener(struct conf *conf, const struct conf_address *address,
    struct conf_pos pos)
{
	struct conf_listener	*l = conf->listeners;

	for (size_t i = 0; i < conf->nlisteners; i++, l++) {
		if (same_address(l->address, address))
			return l;
	}
	conf->listeners = mem_grow(conf->listeners, conf->nlisteners + 1,
	    sizeof(*l));
	l = &conf->listeners[conf->nlisteners++];
	*l = (struct conf_listener){ .address = address, .pos = pos };
	return l;
}

static void
add_names(struct conf_listener *l, struct conf_site *site)
{
	const struct conf_words	*names = &site->names;
	const char		*name;
	bool			 wild;

	l->single = l->fallback == NULL;
	if (l->single)
		l->fallback = site;
	if (names->n == 0)
		return;
	l->named = mem_grow(l->named, l->nnamed + names->n, sizeof(*l->named));
	for (size_t i = 0; i < names->n; i++) {
		wild = names->at[i][0] == '*';
		name = names->at[i] + wild;
		l->nwild += wild;
		l->named[l->nnamed++] = (struct conf_named){
			wild, name, strlen(name), site,
			conf_origin(conf_object_site(site), NULL, i)->pos,
		};
	}
}

/* A header can name any client, so its sender must be trusted. */
static void
check_proxy(struct conf_reader *reader, const struct conf_listener *l)
{
	if (l->address->proxy && reader->conf->trust.networks.n == 0)
		conf_error(reader, l->pos, "%s proxy: no proxy is trusted; "
		    "name those that connect there: trust %s, say",
		    l->address->text, l->address->addr.ss_family == AF_UNIX ?
		    "unix:" : "127.0.0.1");
}

/* Adds a site to the listener of an address.  The listener is one socket, so
 * all sites must say the same of it. */
static void
add_listener(struct conf_reader *reader, struct conf_site *site,
    const struct conf_address *a, struct conf_pos pos)
{
	struct conf_listener	*l = find_listener(reader->conf, a, pos);

	if (l->address != a && !conf_address_is_same(l->address, a))
		conf_error(reader, pos, "something else stands behind %s at "
		    "%s:%zu: write the same for both sites", a->text,
		    reader->conf->files.at[l->pos.file], l->pos.line);
	add_names(l, site);
}

static void
add_listeners(struct conf_reader *reader, struct conf_site *site)
{
	const struct conf_row	*row = conf_row_find(BLOCK_SITE,
				    offsetof(struct conf_site, listen));
	struct conf_address	*at = site->listen.at;
	struct conf_pos		 pos;
	size_t			 same;

	for (size_t i = 0; i < site->listen.n; i++) {
		pos = conf_origin(conf_object_site(site), row, i)->pos;
		for (same = 0; !same_address(&at[same], &at[i]); same++)
			continue;
		if (same == i)
			add_listener(reader, site, &at[i], pos);
		else
			conf_error(reader, pos,
			    "the site listens on \"%s\" already", at[i].text);
	}
}

/* The order that conf_find_site() searches in. */
static int
by_name(const void *p, const void *q)
{
	const struct conf_named	*a = p, *b = q;
	int			 order;

	if (a->wild != b->wild)
		return a->wild ? 1 : -1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order != 0 ? order : conf_pos_order(&a->pos, &b->pos);
}

static void
check_names(struct conf_reader *reader, struct conf_listener *l)
{
	const struct conf_named	*n = l->named;

	/* Names come before wildcards, and shorter before longer. */
	if (l->nnamed > 0)
		qsort(l->named, l->nnamed, sizeof(*l->named), by_name);
	for (size_t i = 0; i < l->nnamed; i++) {
		if (strcmp(n[i].name, "default") == 0)
			l->fallback = n[i].site;
		if (i > 0 && n[i - 1].wild == n[i].wild &&
		    strcmp(n[i - 1].name, n[i].name) == 0)
			conf_error(reader, n[i].pos,
			    "there is a site \"%s%s\" on %s already, at "
			    "%s:%zu", n[i].wild ? "*" : "", n[i].name,
			    l->address->text,
			    reader->conf->files.at[n[i - 1].pos.file],
			    n[i - 1].pos.line);
	}
}

/* The system does not bind an address and a port if another socket has the same
 * port on all addresses. */
static void
check_overlap(struct conf_reader *reader, const struct conf_listener *any,
    const struct conf_listener *one)
{
	const void	*all = &any->address->addr, *addr = &one->address->addr;

	if (!sockaddr_is_any(all) || sockaddr_is_any(addr) ||
	    any->address->addr.ss_family != one->address->addr.ss_family ||
	    sockaddr_port(all) != sockaddr_port(addr) ||
	    sockaddr_port(addr) == 0)
		return;
	conf_error(reader, one->pos,
	    "\"%s\" is part of \"%s\" at %s:%zu: write the same for both sites",
	    one->address->text, any->address->text,
	    reader->conf->files.at[any->pos.file], any->pos.line);
}

static void
check_listeners(struct conf_reader *reader)
{
	struct conf	*conf = reader->conf;

	for (size_t i = 0; i < conf->nsites; i++)
		add_listeners(reader, &conf->sites[i]);
	for (size_t i = 0; i < conf->nlisteners; i++) {
		check_names(reader, &conf->listeners[i]);
		check_proxy(reader, &conf->listeners[i]);
		for (size_t j = 0; j < conf->nlisteners; j++)
			check_overlap(reader, &conf->listeners[i],
			    &conf->listeners[j]);
	}
}

void
conf_check(struct conf_reader *reader)
{
	struct conf	*conf = reader->conf;

	check_orders(reader);
	check_chunks(reader);
	check_user(reader);
	conf_log_complete(reader);
	conf_access_list_trusted(&conf->trust);
	conf_run_prepare(reader);
	conf_chains_prepare(reader);
	conf_sendfile_prepare(reader);
	for (size_t i = 0; i < conf->nsites; i++) {
		check_required(reader, conf_object_site(&conf->sites[i]));
		check_paths(reader, &conf->sites[i]);
		conf_rules_complete(reader, &conf->sites[i]);
	}
	conf_chains_check(reader);
	conf_sendfile_complete(reader);
	check_listeners(reader);
	if (conf->nsites == 0 && reader->nerrors == 0)
		conf_error(reader, (struct conf_pos){ 0 },
		    "there is no site: nothing would be served");
}
