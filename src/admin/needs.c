/*
 * needs: looks at what the conf names as those who will need it.
 *
 * A page is looked up by the steps that serve it, so what is said of it is what
 * would happen.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "admin/explain_url.h"
#include "admin/needs.h"
#include "conf/where.h"
#include "helpers/htpasswd.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"

#define PASSWORDS_MAX	(1024 * 1024)	/* bytes that helpers read, too */

/*
 * Password files
 */

/* Reads the file; *text is the caller's.  0, or an errno. */
static int
read_file(const char *name, struct buf *text)
{
	int	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t	n;
	int	error;

	if (fd == -1)
		return errno;
	buf_reserve(text, PASSWORDS_MAX);
	n = io_read_all(fd, text->at, PASSWORDS_MAX);
	error = n == -1 ? errno : 0;
	text->len = n == -1 ? 0 : (size_t)n;
	io_close(&fd);
	return error;
}

/* Returns what keeps all users out; NULL: nothing does. */
static const char *
find_fault(struct str text)
{
	struct htpasswd_entry	entry;
	bool			any = false;

	while (htpasswd_next(&text, &entry)) {
		if (htpasswd_usable(entry.hash))
			return NULL;
		any = true;
	}
	return any ? "has only passwords of kinds that cannot be verified, as "
	    "$apr1$ and {SHA}, so nobody is let in: make them anew with "
	    "htpasswd -B" : "has no line of a user and a password, so nobody "
	    "is let in: make one with htpasswd -B";
}

static void
check_passwords(const struct conf_guard *guard, const char *where)
{
	struct buf	 text = { 0 };
	int		 error = read_file(guard->file, &text);
	const char	*fault = find_fault((struct str){ text.at, text.len });

	errno = error;
	if (error != 0)
		log_warn("%s: the file cannot be read, and requests get 500",
		    where);
	else if (fault != NULL)
		log_warnx("%s: the file %s", where, fault);
	if (text.at != NULL)
		explicit_bzero(text.at, text.len);
	buf_free(&text);
}

static void
check_auth(const struct conf *conf, const struct conf_rules *rules)
{
	const struct conf_guard	*guard = &rules->guard;
	struct buf		 where = { 0 };

	if (guard->file == NULL || (rules->outer != NULL &&
	    rules->outer->guard.file != NULL &&
	    strcmp(rules->outer->guard.file, guard->file) == 0))
		return;
	conf_where(conf, rules, "auth", CONF_WHERE_ALL, &where);
	check_passwords(guard, buf_string(&where));
	buf_free(&where);
}

static void
check_files(const struct conf *conf, const struct conf_files *files)
{
	struct buf	where = { 0 };

	if (files->guard.file == NULL)
		return;
	conf_where_files(conf, &files->guard, &where);
	buf_addf(&where, ": auth %s", files->guard.file);
	check_passwords(&files->guard, buf_string(&where));
	buf_free(&where);
}

/*
 * Pages
 */

static void
check_page(const struct conf *conf, const struct conf_site *site,
    const struct conf_rules *rules, const char *directive, size_t element)
{
	bool		 error = element != CONF_WHERE_ALL;
	const char	*page = error ? rules->errors.at[element].value :
			    rules->fallback;
	struct buf	 fault = { 0 }, where = { 0 };

	if (!explain_url_page(conf, site, page, &fault)) {
		conf_where(conf, rules, directive, element, &where);
		log_warnx("%s: the page cannot be had: %s",
		    buf_string(&where), buf_string(&fault));
	}
	buf_free(&fault);
	buf_free(&where);
}

static void
check_rules(const struct conf *conf, const struct conf_site *site,
    const struct conf_rules *rules)
{
	const struct conf_rules	*outer = rules->outer;

	check_auth(conf, rules);
	for (size_t i = 0; i < rules->errors.n; i++)
		check_page(conf, site, rules, "error", i);
	if (rules->fallback != NULL && (outer == NULL ||
	    outer->fallback == NULL ||
	    strcmp(outer->fallback, rules->fallback) != 0))
		check_page(conf, site, rules, "fallback", CONF_WHERE_ALL);
}

void
needs_check_serving(const struct conf *conf)
{
	const struct conf_site	*site;

	if (conf->cache.variants != NULL &&
	    access(conf->cache.variants, W_OK | X_OK) == -1)
		log_warn("cache { variants %s }: this directory cannot be "
		    "written to, and compressed files are not kept",
		    conf->cache.variants);
	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		check_rules(conf, site, &site->rules);
		for (size_t j = 0; j < site->npaths; j++)
			check_rules(conf, site, &site->paths[j].rules);
		for (size_t j = 0; j < site->nfiles; j++)
			check_files(conf, &site->files[j]);
	}
}

/*
 * The start
 */

/* 0, or an errno: why files cannot be made in a directory. */
static int
try_directory(const char *dir)
{
	struct stat	st;

	if (stat(dir, &st) == -1)
		return errno;
	if (!S_ISDIR(st.st_mode))
		return ENOTDIR;
	return access(dir, W_OK | X_OK) == -1 ? errno : 0;
}

/* Whether a file can be made in its directory, or one of that kind (S_IFREG
 * ...) is there. */
static bool
check_place(const struct conf *conf, const char *directive, const char *file,
    mode_t kind)
{
	char		*copy = mem_string(file), *dir = dirname(copy);
	struct buf	 where = { 0 };
	struct stat	 st;
	bool		 good = true;
	int		 error = try_directory(dir);

	conf_where(conf, NULL, directive, CONF_WHERE_ALL, &where);
	buf_string(&where);
	if (lstat(file, &st) == 0 && (st.st_mode & S_IFMT) != kind) {
		log_errorx("%s: the file is there, and is something else: "
		    "name another one", where.at);
		good = false;
	} else if (error == ENOENT)
		log_warnx("%s: there is no directory %s: if it is not there "
		    "at the start, amped cannot start", where.at, dir);
	else if (error != 0) {
		errno = error;
		log_error("%s: cannot make files in %s", where.at, dir);
		good = false;
	}
	mem_drop(&copy);
	buf_free(&where);
	return good;
}

/* A proxy that sets one kind of fields passes on the other as a client has
 * written it. */
static void
check_trust(const struct conf *conf)
{
	struct buf	where = { 0 };

	if (conf->trust.networks.n == 0 ||
	    conf->trust.fields != TRUST_FIELDS_ANY)
		return;
	conf_where(conf, NULL, "trust", CONF_WHERE_ALL, &where);
	log_warnx("%s: with \"fields any\", the default, a request that has "
	    "both Forwarded and X-Forwarded-For is refused, since clients can "
	    "add the one that the proxies do not set: say which one they set, "
	    "as in trust ... fields x-forwarded", buf_string(&where));
	buf_free(&where);
}

bool
needs_check_start(const struct conf *conf)
{
	bool	good = true;

	check_trust(conf);
	if (conf->pid != NULL)
		good = check_place(conf, "pid", conf->pid, S_IFREG);
	if (conf->control.file != NULL)
		good &= check_place(conf, "control", conf->control.file,
		    S_IFSOCK);
	return good;
}
