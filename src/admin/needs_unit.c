/*
 * needs_unit: reads the text of the unit and its drop-ins as systemd does,
 * since amped -t runs outside of the unit, and finds nothing forbidden there.
 *
 * Must not warn of what it does not know: what a program needs beside its file
 * is not in the conf.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/needs.h"
#include "lib/buf.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/str.h"

#define UNIT		"amped.service"
#define DROPINS_MAX	64
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define SERVER_UNIX	"unix:"

/* Where units are, the first one with the unit counts. */
static const char *const	places[] = {
	"/etc/systemd/system", "/run/systemd/system",
	"/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
	"/lib/systemd/system"
};

/* The directives that are looked at, and whether each value is added to those
 * before, up to an empty one. */
#define KEYS(X)								\
	X(EXEC_START,		"ExecStart",		false)		\
	X(USER,			"User",			false)		\
	X(PROTECT_SYSTEM,	"ProtectSystem",	false)		\
	X(PROTECT_HOME,		"ProtectHome",		false)		\
	X(PRIVATE_TMP,		"PrivateTmp",		false)		\
	X(NO_NEW_PRIVILEGES,	"NoNewPrivileges",	false)		\
	X(MEMORY_DENY,		"MemoryDenyWriteExecute", false)	\
	X(READ_WRITE,		"ReadWritePaths",	true)		\
	X(BIND,			"BindPaths",		true)		\
	X(STATE,		"StateDirectory",	true)		\
	X(CACHE,		"CacheDirectory",	true)		\
	X(LOGS,			"LogsDirectory",	true)		\
	X(RUNTIME,		"RuntimeDirectory",	true)		\
	X(FAMILIES,		"RestrictAddressFamilies", true)	\
	X(CALLS,		"SystemCallFilter",	true)

enum key {
#define X(id, name, adds)	KEY_##id,
	KEYS(X)
#undef X
	KEY_COUNT
};

static const struct {
	struct str	name;
	bool		adds;
} keys[] = {
#define X(id, name, adds)	{ { name, sizeof(name) - 1 }, adds },
	KEYS(X)
#undef X
};

struct unit {
	struct buf	values[KEY_COUNT];	/* lines */
};

/*
 * Reading
 */

static void
take_value(struct unit *u, struct str name, struct str value)
{
	for (int i = 0; i < KEY_COUNT; i++) {
		if (!str_same(name, keys[i].name))
			continue;
		if (!keys[i].adds || value.len == 0)
			u->values[i].len = 0;
		buf_add(&u->values[i], value.at, value.len);
		buf_addc(&u->values[i], '\n');
	}
}

/* A line that ends in a backslash goes on in the next one. */
static void
read_text(struct unit *u, char *text)
{
	struct str	rest, line, name;

	for (char *p = text; (p = strstr(p, "\\\n")) != NULL;)
		p[0] = p[1] = ' ';
	rest = str_of(text);
	while (rest.len > 0) {
		line = str_trim(str_cut(&rest, '\n'));
		if (line.len == 0 || line.at[0] == '#' || line.at[0] == ';')
			continue;
		name = str_cut(&line, '=');
		take_value(u, str_trim(name), str_trim(line));
	}
}

/* Returns false if the file is not there. */
static bool
read_file(struct unit *u, const char *name)
{
	char		 piece[4096];
	struct buf	 text = { 0 };
	FILE		*f = fopen(name, "re");
	size_t		 n;

	if (f == NULL)
		return false;
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(&text, piece, n);
	fclose(f);
	buf_addc(&text, '\0');
	read_text(u, text.at);
	buf_free(&text);
	return true;
}

static const char *
get_base(const char *file)
{
	return strrchr(file, '/') + 1;
}

static int
compare_bases(const void *a, const void *b)
{
	return strcmp(get_base(*(char *const *)a), get_base(*(char *const *)b));
}

/* Adds the drop-ins of one place, but for names that another place has had. */
static void
find_dropins(const char *directory, char **names, size_t *n)
{
	DIR		*d = opendir(directory);
	struct dirent	*e;
	struct buf	 name = { 0 };
	const char	*end;
	size_t		 i;

	while (d != NULL && (e = readdir(d)) != NULL && *n < DROPINS_MAX) {
		end = strrchr(e->d_name, '.');
		for (i = 0; i < *n; i++)
			if (strcmp(get_base(names[i]), e->d_name) == 0)
				break;
		if (i < *n || end == NULL || strcmp(end, ".conf") != 0)
			continue;
		name.len = 0;
		buf_addf(&name, "%s/%s", directory, e->d_name);
		names[(*n)++] = mem_string(buf_string(&name));
	}
	if (d != NULL)
		closedir(d);
	buf_free(&name);
}

static bool
read_unit(struct unit *u, const char *root)
{
	char		*names[DROPINS_MAX];
	struct buf	 name = { 0 };
	size_t		 n = 0;
	bool		 found = false;

	for (size_t i = 0; i < COUNT(places); i++) {
		name.len = 0;
		buf_addf(&name, "%s%s/" UNIT, root, places[i]);
		if (!found)
			found = read_file(u, buf_string(&name));
		buf_adds(&name, ".d");
		find_dropins(buf_string(&name), names, &n);
	}
	qsort(names, n, sizeof(*names), compare_bases);
	for (size_t i = 0; i < n; i++) {
		if (found)
			(void)read_file(u, names[i]);
		mem_drop(&names[i]);
	}
	buf_free(&name);
	return found;
}

/*
 * Values
 */

static struct str
get_all(const struct unit *u, enum key key)
{
	const struct buf	*b = &u->values[key];

	return b->len == 0 ? STR("") : (struct str){ b->at, b->len - 1 };
}

static bool
is_set(const struct unit *u, enum key key, const char *value)
{
	return str_same(get_all(u, key), str_of(value));
}

static bool
is_on(const struct unit *u, enum key key)
{
	return is_set(u, key, "yes") || is_set(u, key, "true") ||
	    is_set(u, key, "on") || is_set(u, key, "1");
}

/* Whether a path is in a directory, or is it. */
static bool
is_beneath(const char *path, struct str directory)
{
	while (directory.len > 1 && directory.at[directory.len - 1] == '/')
		directory.len--;
	return strncmp(path, directory.at, directory.len) == 0 &&
	    (path[directory.len] == '/' || path[directory.len] == '\0' ||
	    directory.at[directory.len - 1] == '/');
}

static bool
is_beneath_any(const char *path, const char *const *directories, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_beneath(path, str_of(directories[i])))
			return true;
	return false;
}

/* Takes the next word of a list off. */
static struct str
take_word(struct str *list)
{
	size_t		n = 0;
	struct str	word;

	while (list->len > 0 && strchr(" \t\n", *list->at) != NULL)
		str_skip(list, 1);
	while (n < list->len && strchr(" \t\n", list->at[n]) == NULL)
		n++;
	word = (struct str){ list->at, n };
	str_skip(list, n);
	return word;
}

static bool
is_in_home(const char *path)
{
	static const char *const	homes[] = { "/home", "/root",
					    "/run/user" };

	return is_beneath_any(path, homes, COUNT(homes));
}

static bool
is_in_tmp(const char *path)
{
	static const char *const	tmps[] = { "/tmp", "/var/tmp" };

	return is_beneath_any(path, tmps, COUNT(tmps));
}

/* Whether a path is what a word of a list names, or beneath that.  above: the
 * directory that the names are in. */
static bool
is_listed(const struct unit *u, enum key key, const char *above,
    const char *path)
{
	struct str	list = get_all(u, key), word, name;
	size_t		n = strlen(above);

	if (strncmp(path, above, n) != 0)
		return false;
	while ((word = take_word(&list)).len > 0) {
		while (word.len > 0 && strchr("-+/", *word.at) != NULL)
			str_skip(&word, 1);
		name = str_cut(&word, ':');
		if (key == KEY_BIND && word.len > 0) {	/* FROM:TO:how */
			name = str_cut(&word, ':');
			str_skip(&name, 1);
		}
		if (name.len == 0 || is_beneath(path + n, name))
			return true;
	}
	return false;
}

static bool
is_read_write(const struct unit *u, const char *path)
{
	return is_listed(u, KEY_READ_WRITE, "/", path) ||
	    is_listed(u, KEY_BIND, "/", path) ||
	    is_listed(u, KEY_STATE, "/var/lib/", path) ||
	    is_listed(u, KEY_CACHE, "/var/cache/", path) ||
	    is_listed(u, KEY_LOGS, "/var/log/", path) ||
	    is_listed(u, KEY_RUNTIME, "/run/", path);
}

/* The directive that makes a path read-only, or NULL. */
static const char *
find_read_only(const struct unit *u, const char *path)
{
	static const char *const	system[] = { "/usr", "/boot", "/efi",
					    "/etc" };
	bool				is_full = is_set(u, KEY_PROTECT_SYSTEM,
					    "full");

	if (is_read_write(u, path) || is_beneath(path, STR("/dev")) ||
	    (is_in_tmp(path) && is_on(u, KEY_PRIVATE_TMP)))
		return NULL;
	if (is_in_home(path) && is_set(u, KEY_PROTECT_HOME, "read-only"))
		return "ProtectHome=read-only";
	if (is_set(u, KEY_PROTECT_SYSTEM, "strict"))
		return "ProtectSystem=strict";
	if ((is_full || is_on(u, KEY_PROTECT_SYSTEM)) &&
	    is_beneath_any(path, system, COUNT(system) - !is_full))
		return "ProtectSystem";
	return NULL;
}

/* Whether the system calls of @resources are taken away: lines add to the list,
 * or with ~ take from it, and the last one that has the calls counts. */
static bool
denies_resources(const struct unit *u)
{
	struct str	lines = get_all(u, KEY_CALLS), line, word;
	bool		denies = false, takes;

	while (lines.len > 0) {
		line = str_cut(&lines, '\n');
		takes = line.len > 0 && *line.at == '~';
		str_skip(&line, takes);
		while ((word = take_word(&line)).len > 0)
			if (str_same(word, STR("@resources")) ||
			    str_same(word, STR("@system-service")))
				denies = takes;
	}
	return denies;
}

static bool
has_family(const struct unit *u, struct str family)
{
	struct str	list = get_all(u, KEY_FAMILIES), word;

	if (list.len == 0 || *list.at == '~')
		return true;
	while ((word = take_word(&list)).len > 0)
		if (str_same(word, family))
			return true;
	return false;
}

/*
 * Warnings
 */

/* directory: what a drop-in needs. */
static void
check_written(const struct unit *u, const char *what, const char *path,
    const char *directory)
{
	const char	*why = find_read_only(u, path);

	if (why != NULL)
		log_warnx("%s %s: the unit " UNIT " lets nobody write there "
		    "(%s): a drop-in needs ReadWritePaths=%s", what, path, why,
		    directory);
}

static void
check_directory(const struct unit *u, const char *what, const char *path)
{
	if (path != NULL)
		check_written(u, what, path, path);
}

/* Names that are no files are NULL, or do not begin with a slash. */
static void
check_file(const struct unit *u, const char *what, const char *path)
{
	char	*copy;

	if (path == NULL || *path != '/')
		return;
	copy = mem_string(path);
	check_written(u, what, path, dirname(copy));
	mem_drop(&copy);
}

/* Files and directories that are read.  A /tmp of its own is there. */
static void
check_reached(const struct unit *u, const char *what, const char *path)
{
	if (path == NULL || is_listed(u, KEY_BIND, "/", path))
		return;
	if (is_in_home(path) && (is_on(u, KEY_PROTECT_HOME) ||
	    is_set(u, KEY_PROTECT_HOME, "tmpfs")))
		log_warnx("%s: %s is not there in the unit " UNIT
		    " (ProtectHome): a drop-in needs ProtectHome=read-only",
		    what, path);
	if (is_in_tmp(path) && strcmp(path, "/tmp") != 0 &&
	    strcmp(path, "/var/tmp") != 0 && is_on(u, KEY_PRIVATE_TMP))
		log_warnx("%s: %s is not there in the unit " UNIT
		    ", which has a /tmp of its own (PrivateTmp): choose "
		    "another directory", what, path);
}

static void
check_server(const struct unit *u, const char *what, const char *server)
{
	size_t		n = strlen(SERVER_UNIX);
	bool		is_unix = strncmp(server, SERVER_UNIX, n) == 0;
	struct str	family = is_unix ? STR("AF_UNIX") :
			    *server == '[' ? STR("AF_INET6") : STR("AF_INET");

	if (is_unix)
		check_reached(u, what, server + n);
	if (!has_family(u, family))
		log_warnx("%s: the unit " UNIT " keeps %s from being reached "
		    "(RestrictAddressFamilies): a drop-in needs "
		    "RestrictAddressFamilies=%s", what, server, family.at);
}

/* A program that gains privileges, or has a user that is not the unit's. */
static void
check_user(const struct unit *u, const struct conf_program *p)
{
	const char	*file = p->command.n > 0 ? p->command.at[0] : NULL;
	struct str	 user = get_all(u, KEY_USER);
	struct stat	 st;

	if (file != NULL && is_on(u, KEY_NO_NEW_PRIVILEGES) &&
	    stat(file, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) != 0)
		log_warnx("program %s: %s gains no privileges in the unit " UNIT
		    " (NoNewPrivileges): a drop-in needs NoNewPrivileges=no, "
		    "and the program confine off", p->name, file);
	if (p->user != NULL && user.len > 0 && !str_same(user, STR("root")) &&
	    !str_same(user, str_of(p->user)))
		log_warnx("program %s: user %s: the unit " UNIT " starts "
		    "amped as %.*s, who cannot become another user: a drop-in "
		    "needs User=root, as root.conf has", p->name, p->user,
		    (int)user.len, user.at);
}

/* Files whose names begin so make code at run time, unless told otherwise. */
static void
check_code(const struct unit *u, const struct conf_program *p)
{
	static const char *const	makers[] = { "php", "node", "java",
					    "luajit", "pypy" };
	const char			*base;

	if (p->command.n == 0 || !is_on(u, KEY_MEMORY_DENY))
		return;
	base = get_base(p->command.at[0]);
	for (size_t i = 0; i < COUNT(makers); i++)
		if (strncmp(base, makers[i], strlen(makers[i])) == 0)
			log_warnx("program %s: %s may make code at run time, "
			    "which the unit " UNIT " forbids "
			    "(MemoryDenyWriteExecute): a drop-in needs "
			    "MemoryDenyWriteExecute=no", p->name,
			    p->command.at[0]);
}

static void
check_program(const struct unit *u, const struct conf_program *p)
{
	struct buf	 name = { 0 }, writes = { 0 };
	const char	*what;
	size_t		 nfiles = p->command.n;

	buf_addf(&name, "program %s", conf_program_label(p));
	what = buf_string(&name);
	buf_addf(&writes, "%s: writes", what);
	for (size_t i = 0; i < p->writes.n; i++)
		check_directory(u, buf_string(&writes), p->writes.at[i]);
	check_reached(u, what, p->directory);
	if (p->is_own)		/* but for the file of a module: texts */
		nfiles = strcmp(p->command.at[2], "module") == 0 ? 4 : 1;
	for (size_t i = 0; i < nfiles; i++)
		if (*p->command.at[i] == '/')
			check_reached(u, what, p->command.at[i]);
	for (size_t i = 0; i < p->servers.n; i++)
		check_server(u, what, p->servers.at[i]);
	buf_free(&name);
	buf_free(&writes);
	check_user(u, p);
	check_code(u, p);
	if (p->servers.n == 0 && !p->is_own && denies_resources(u))
		log_warnx("program %s: nice, memory, cpu, files and processes "
		    "have no effect in the unit " UNIT " (SystemCallFilter=~"
		    "@resources): a drop-in has to allow @resources",
		    p->name);
}

static void
check_rules(const struct unit *u, const struct conf_rules *rules)
{
	check_reached(u, "root", rules->root);
	check_reached(u, "alias", rules->alias);
}

static void
check_conf(const struct unit *u, const struct conf *conf)
{
	const struct conf_access_logs	*logs = &conf->log.all;
	const struct conf_site		*site;

	check_directory(u, "cache variants", conf->cache.variants);
	check_directory(u, "cache results", conf->cache.results);
	check_directory(u, "limits spool", conf->limits.spool);
	check_file(u, "cache hotlist", conf->cache.hotlist);
	check_file(u, "pid", conf->pid);
	check_file(u, "control", conf->control.file);
	check_file(u, "log error", conf->log.error.to);
	for (size_t i = 0; i < logs->ntargets; i++)
		check_file(u, "log access", logs->targets[i]);
	for (size_t i = 0; i < conf->nprograms; i++)
		check_program(u, &conf->programs[i]);
	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		check_rules(u, &site->rules);
		for (size_t j = 0; j < site->npaths; j++)
			check_rules(u, &site->paths[j].rules);
	}
}

/* Whether the unit starts amped with this conf. */
static bool
is_concerned(const struct unit *u, const char *file)
{
	struct str	list = get_all(u, KEY_EXEC_START), word;

	while ((word = take_word(&list)).len > 0) {
		if (word.len < 2 || strncmp(word.at, "-f", 2) != 0)
			continue;
		str_skip(&word, 2);
		return str_same(word.len > 0 ? word : take_word(&list),
		    str_of(file));
	}
	return strcmp(file, AMPED_CONF) == 0;
}

/* Whether systemd runs, as sd_booted(3) looks. */
static bool
is_booted(const char *root)
{
	struct buf	name = { 0 };
	struct stat	st;
	bool		booted;

	buf_addf(&name, "%s/run/systemd/system", root);
	booted = lstat(buf_string(&name), &st) == 0 && S_ISDIR(st.st_mode);
	buf_free(&name);
	return booted;
}

void
needs_unit_check(const struct conf *conf, const char *file, const char *root)
{
	struct unit	u = { 0 };

	if (is_booted(root) && read_unit(&u, root) && is_concerned(&u, file))
		check_conf(&u, conf);
	for (int i = 0; i < KEY_COUNT; i++)
		buf_free(&u.values[i]);
}
