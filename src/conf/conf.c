/*
 * conf: reads a conf, and frees it.  Reading may block.
 */
#include <errno.h>
#include <string.h>

#include "conf/run.h"
#include "conf/setters.h"
#include "lib/mem.h"
#include "lib/regular.h"

#define COMMAND_LINE	"command line"	/* in place of a file's name */
#define NEW_READER	{ .conf = mem_zero(sizeof(struct conf)) }

/* Parses and checks a source; NULL if there was an error. */
static struct conf *
finish_reading(struct conf_reader *reader, size_t source, struct buf *errors)
{
	conf_parse(reader, source);
	conf_value_default(reader, conf_object(reader->conf));
	conf_check(reader);
	if (reader->nerrors > 0) {
		conf_error_print(reader, errors);
		conf_source_free(reader);
		conf_free(&reader->conf);
		return NULL;
	}
	conf_source_free(reader);
	return reader->conf;
}

static struct conf *
read_file(const char *file, bool any_kind, struct buf *errors)
{
	struct conf_reader	reader = NEW_READER;
	size_t			source;

	if (!conf_source_read(&reader, file, any_kind, &source)) {
		buf_addf(errors, "%s: %s\n", file, strerror(errno));
		conf_free(&reader.conf);
		return NULL;
	}
	return finish_reading(&reader, source, errors);
}

struct conf *
conf_read(const char *file, struct buf *errors)
{
	return read_file(file, true, errors);
}

struct conf *
conf_read_again(const char *file, struct buf *errors)
{
	const char	*wrong = regular_other_kind(file);

	if (wrong == NULL)
		return read_file(file, false, errors);
	buf_addf(errors, "%s is %s: a reload reads only files\n", file,
	    wrong);
	return NULL;
}

struct conf *
conf_read_text(const char *name, const char *text, struct buf *errors)
{
	struct conf_reader	reader = NEW_READER;

	reader.unwritten = name == NULL;
	return finish_reading(&reader, conf_source_text(&reader,
	    name != NULL ? name : COMMAND_LINE, mem_string(text),
	    strlen(text)), errors);
}

char *
conf_read_control(const char *file, char **pid)
{
	struct conf_reader	 reader = NEW_READER;
	struct buf		 errors = { 0 };
	size_t			 source;
	char			*socket = NULL;

	*pid = NULL;
	if (!conf_source_read(&reader, file, true, &source)) {
		conf_free(&reader.conf);
		return NULL;
	}
	conf_parse(&reader, source);
	if (reader.nerrors > 0)
		conf_error_print(&reader, &errors);
	buf_free(&errors);
	conf_source_free(&reader);
	if (reader.conf->control.file != NULL)
		socket = mem_string(reader.conf->control.file);
	if (reader.conf->pid != NULL)
		*pid = mem_string(reader.conf->pid);
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

/* Frees what was computed. */
static void
guard_free(struct conf_guard *guard)
{
	mem_drop(&guard->networks);
	conf_name_free(&guard->users);
}

static void
site_free(struct conf_site *site)
{
	for (size_t i = 0; i < site->npaths; i++) {
		object_free(conf_object_path(&site->paths[i]));
		mem_drop(&site->paths[i].rules.field_lines);
		mem_drop(&site->paths[i].rules.always_lines);
		guard_free(&site->paths[i].rules.guard);
		conf_run_free(&site->paths[i].rules);
		mem_drop(&site->paths[i].prefix);
	}
	mem_drop(&site->paths);
	for (size_t i = 0; i < site->nfiles; i++) {
		object_free(conf_object_files(&site->files[i]));
		guard_free(&site->files[i].guard);
		mem_drop(&site->files[i].fields.lines);
		conf_name_free(&site->files[i].patterns);
	}
	mem_drop(&site->files);
	guard_free(&site->rules.guard);
	conf_run_free(&site->rules);
	mem_drop(&site->rules.field_lines);
	mem_drop(&site->rules.always_lines);
	conf_name_free(&site->names);
	object_free(conf_object_site(site));
}

void
conf_free(struct conf **confp)
{
	struct conf	*conf = *confp;

	if (conf == NULL)
		return;
	for (size_t i = 0; i < conf->nplaces; i++)
		site_free(&conf->sites[i]);
	mem_drop(&conf->sites);
	for (size_t i = 0; i < conf->nprograms; i++) {
		object_free(conf_object_program(&conf->programs[i]));
		mem_drop(&conf->programs[i].name);
		conf_name_free(&conf->programs[i].given.made);
	}
	mem_drop(&conf->programs);
	for (size_t i = 0; i < conf->nchains; i++) {
		object_free(conf_object_chain(&conf->chains[i]));
		conf_chain_free(&conf->chains[i]);
	}
	mem_drop(&conf->chains);
	for (size_t i = 0; i < conf->nlisteners; i++)
		mem_drop(&conf->listeners[i].named);
	mem_drop(&conf->listeners);
	mem_drop(&conf->trust.list);
	mem_drop(&conf->limiters);
	conf_name_free(&conf->files);
	conf_log_free(&conf->log.all);
	object_free(conf_object(conf));
	mem_drop(confp);
}
