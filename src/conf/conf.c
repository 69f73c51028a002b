/*
 * conf: the table of directives, reading and freeing a conf, and the
 * look-ups that requests make in it.
 *
 * The look-ups neither allocate nor block; nothing else here is for the
 * event loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/private.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/regular.h"

const struct conf_block_row conf_blocks[BLOCK_COUNT] = {
#define DIRECTIVE(block, word, part, type, member, def, low, high, help)
#define BLOCK(id, word, inside, arguments, help)			\
	[BLOCK_##id] = { word, BLOCK_##inside, ARGUMENTS_##arguments, help },
#include "conf/directives.tbl"
#undef BLOCK
#undef DIRECTIVE
};

/* The struct that the members of a block's rows belong to. */
#define STRUCT_TOP	struct conf
#define STRUCT_CACHE	struct conf
#define STRUCT_LOG	struct conf
#define STRUCT_LIMITS	struct conf
#define STRUCT_TRANSPORT struct conf
#define STRUCT_SITE	struct conf_site
#define STRUCT_PATH	struct conf_place
#define STRUCT_FILES	struct conf_files

const struct conf_row conf_rows[] = {
#define BLOCK(id, word, inside, arguments, help)
#define DIRECTIVE(block, word, part, type, member, def, low, high, help) \
	{ BLOCK_##block, word, part, TYPE_##type,			\
	    offsetof(STRUCT_##block, member), def, low, high, help },
#include "conf/directives.tbl"
#undef BLOCK
#undef DIRECTIVE
};

const size_t conf_nrows = sizeof(conf_rows) / sizeof(conf_rows[0]);

static bool
may_stand(const char *word, enum conf_block block, enum conf_block inside)
{
	return conf_blocks[block].inside == inside && block != BLOCK_TOP &&
	    strcmp(conf_blocks[block].word, word) == 0;
}

bool
conf_block_find(const char *word, enum conf_block inside,
    enum conf_block *block)
{
	for (*block = 0; *block < BLOCK_COUNT; (*block)++) {
		if (may_stand(word, *block, inside))
			return true;
	}
	return false;
}

struct conf_object
conf_object(struct conf *conf)
{
	return (struct conf_object){ BLOCK_TOP, conf, &conf->origins };
}

struct conf_object
conf_object_site(struct conf_site *site)
{
	return (struct conf_object){ BLOCK_SITE, site, &site->origins };
}

struct conf_object
conf_object_place(struct conf_place *place)
{
	return (struct conf_object){ BLOCK_PATH, place, &place->origins };
}

struct conf_object
conf_object_files(struct conf_files *files)
{
	return (struct conf_object){ BLOCK_FILES, files, &files->origins };
}

bool
conf_object_has(struct conf_object object, const struct conf_row *row)
{
	bool	shared = conf_blocks[row->block].arguments == ARGUMENTS_NONE;

	return object.kind == (shared ? BLOCK_TOP : row->block);
}

void *
conf_member(struct conf_object object, const struct conf_row *row)
{
	need(conf_object_has(object, row));
	return (char *)object.at + row->offset;
}

const struct conf_row *
conf_row_find(enum conf_block kind, size_t offset)
{
	const struct conf_row	*row;
	struct conf_object	 object = { kind, NULL, NULL };

	CONF_EACH_ROW(row) {
		if (conf_object_has(object, row) && row->offset == offset)
			return row;
	}
	need(!"a member without a row");
	return NULL;
}

int
conf_mark_order(const struct conf_mark *a, const struct conf_mark *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

struct conf_origin *
conf_origin(struct conf_object object, const struct conf_row *row,
    size_t element)
{
	struct conf_origin	*o;

	for (o = *object.origins; o != NULL; o = o->next) {
		if (o->row == row && o->element == element)
			return o;
	}
	return NULL;
}

void
conf_origin_add(struct conf_object object, const struct conf_row *row,
    size_t element, struct conf_mark mark, bool bad)
{
	struct conf_origin	*o = mem_zero(sizeof(*o));

	*o = (struct conf_origin){ *object.origins, row, element, mark, bad };
	*object.origins = o;
}

static struct conf_reader
start(void)
{
	return (struct conf_reader){ .conf = mem_zero(sizeof(struct conf)) };
}

/* From a source that was read to a conf; NULL if there is a complaint. */
static struct conf *
finish(struct conf_reader *reader, size_t source, struct buf *complaints)
{
	conf_parse(reader, source);
	conf_value_default(reader, conf_object(reader->conf));
	conf_check(reader);
	if (reader->ncomplaints > 0) {
		conf_complain_print(reader, complaints);
		conf_source_free(reader);
		conf_free(&reader->conf);
		return NULL;
	}
	conf_source_free(reader);
	return reader->conf;
}

static struct conf *
read_file(const char *file, bool any_kind, struct buf *complaints)
{
	struct conf_reader	reader = start();
	size_t			source;

	if (!conf_source_read(&reader, file, any_kind, &source)) {
		buf_addf(complaints, "%s: %s\n", file, strerror(errno));
		conf_free(&reader.conf);
		return NULL;
	}
	return finish(&reader, source, complaints);
}

struct conf *
conf_read(const char *file, struct buf *complaints)
{
	return read_file(file, true, complaints);
}

struct conf *
conf_read_again(const char *file, struct buf *complaints)
{
	const char	*wrong = regular_wrong(file);

	if (wrong == NULL)
		return read_file(file, false, complaints);
	buf_addf(complaints, "%s is %s: only a file can be read again\n", file,
	    wrong);
	return NULL;
}

struct conf *
conf_read_text(const char *name, const char *text, struct buf *complaints)
{
	struct conf_reader	reader = start();

	return finish(&reader, conf_source_text(&reader, name,
	    mem_string(text), strlen(text)), complaints);
}

char *
conf_read_control(const char *file)
{
	struct conf_reader	 reader = start();
	struct buf		 complaints = { 0 };
	size_t			 source;
	char			*socket = NULL;

	if (!conf_source_read(&reader, file, true, &source)) {
		conf_free(&reader.conf);
		return NULL;
	}
	conf_parse(&reader, source);
	if (reader.ncomplaints > 0)
		conf_complain_print(&reader, &complaints);
	buf_free(&complaints);
	conf_source_free(&reader);
	if (reader.conf->control.file != NULL)
		socket = mem_string(reader.conf->control.file);
	conf_free(&reader.conf);
	errno = 0;
	return socket;
}

static void
object_free(struct conf_object object)
{
	const struct conf_row	*row;
	struct conf_origin	*o;

	CONF_EACH_ROW(row) {
		if (conf_object_has(object, row))
			conf_value_free(row, conf_member(object, row));
	}
	while ((o = *object.origins) != NULL) {
		*object.origins = o->next;
		mem_drop(&o);
	}
}

static void
site_free(struct conf_site *site)
{
	for (size_t i = 0; i < site->nplaces; i++) {
		object_free(conf_object_place(&site->places[i]));
		mem_drop(&site->places[i].rules.lines);
		mem_drop(&site->places[i].rules.guard.networks);
		mem_drop(&site->places[i].prefix);
	}
	mem_drop(&site->places);
	for (size_t i = 0; i < site->nfiles; i++) {
		object_free(conf_object_files(&site->files[i]));
		mem_drop(&site->files[i].guard.networks);
		conf_name_free(&site->files[i].patterns);
	}
	mem_drop(&site->files);
	mem_drop(&site->rules.guard.networks);
	mem_drop(&site->rules.lines);
	conf_name_free(&site->names);
	object_free(conf_object_site(site));
}

void
conf_free(struct conf **confp)
{
	struct conf	*conf = *confp;

	if (conf == NULL)
		return;
	for (size_t i = 0; i < conf->nsites; i++)
		site_free(&conf->sites[i]);
	mem_drop(&conf->sites);
	for (size_t i = 0; i < conf->nlisteners; i++)
		mem_drop(&conf->listeners[i].named);
	mem_drop(&conf->listeners);
	conf_name_free(&conf->files);
	conf_format_free(&conf->log.line);
	object_free(conf_object(conf));
	mem_drop(confp);
}

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
	bool		 wild;		/* any name that ends like this */
	const char	*at;
	size_t		 len;
};

/* The order of the names of a listener, see conf_check(). */
static int
by_name(const void *key, const void *element)
{
	const struct host	*host = key;
	const struct conf_named	*named = element;

	if (host->wild != named->wild)
		return host->wild ? 1 : -1;
	if (host->len != named->len)
		return host->len < named->len ? -1 : 1;
	/* The C locale's: no process of ours ever sets another. */
	return strncasecmp(host->at, named->name, named->len);
}

static const struct conf_named *
find_name(const struct conf_listener *l, const struct host *host)
{
	return bsearch(host, l->named, l->nnamed, sizeof(*l->named), by_name);
}

/* The longest first: from its first dot, then from the next. */
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
		host.len--;		/* the root of all names */
	named = find_name(l, &host);
	return named != NULL ? named : find_wildcard(l, &host);
}

const struct conf_site *
conf_site_find(const struct conf *conf, size_t listener, const char *name,
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
conf_site_name(const struct conf *conf, size_t listener, const char *name,
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
conf_rules_find(const struct conf_site *site, const char *path, size_t len)
{
	const struct conf_place	*place;
	size_t			 n;

	for (size_t i = 0; i < site->nplaces; i++) {
		place = &site->places[i];
		n = strlen(place->prefix);
		if (n <= len && memcmp(place->prefix, path, n) == 0 &&
		    (n == len || path[n] == '/'))
			return &place->rules;
	}
	return &site->rules;
}

bool
conf_user_good(const char *name, size_t len)
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

static bool
has_word(const struct conf_words *words, const char *word)
{
	for (size_t i = 0; i < words->n; i++)
		if (strcmp(words->at[i], word) == 0)
			return true;
	return false;
}

bool
conf_lists(const struct conf_words *listing, enum conf_listing form)
{
	static const char *const names[] = {
#define X(id, name) [LISTING_##id] = name,
		CONF_LISTINGS(X)
#undef X
	};

	return has_word(listing, names[form]);
}

bool
conf_without(const struct conf *conf, enum conf_saving saving)
{
	static const char *const names[] = {
#define X(id, name) [SAVING_##id] = name,
		CONF_SAVINGS(X)
#undef X
	};

	return has_word(&conf->cache.off, names[saving]);
}

bool
conf_asks_users(const struct conf *conf)
{
	for (size_t i = 0; i < conf->nsites; i++)
		if (conf->sites[i].rules.users.directory != NULL)
			return true;
	return false;
}

int64_t
conf_share(const struct conf *conf)
{
	return conf->helpers_share != 0 ? conf->helpers_share :
	    (conf->helpers_max + 1) / 2;
}
