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

#define DES_LEN	13		/* characters of the oldest hashes */

/* The kind of a hash that cannot be verified, for people. */
static struct str
describe_hash(struct str hash)
{
	static const char	des[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz";
	const char		*end = memchr(hash.at, '}', hash.len);
	size_t			 n = 0;

	if (hash.len == 0)
		return STR("none");
	if (str_starts(hash, STR("$apr1$")))
		return STR("$apr1$");
	if (hash.at[0] == '{' && end != NULL)
		return (struct str){ hash.at, (size_t)(end + 1 - hash.at) };
	while (n < hash.len && strchr(des, hash.at[n]) != NULL)
		n++;
	return n == hash.len && n == DES_LEN ? STR("DES") : STR("plain text");
}

static size_t
count_lines(const char *from, const char *to)
{
	size_t	n = 0;

	for (; from < to; from++)
		n += *from == '\n';
	return n;
}

/* Adds what keeps users out, with the first of them; false: nothing does. */
static bool
add_fault(struct str text, struct buf *to)
{
	const char		*start = text.at;
	struct htpasswd_entry	 entry, first = { { NULL, 0 }, { NULL, 0 } };
	struct str		 kind;
	size_t			 good = 0, bad = 0;

	while (htpasswd_next(&text, &entry)) {
		if (htpasswd_usable(entry.hash))
			good++;
		else if (bad++ == 0)
			first = entry;
	}
	if (bad == 0) {
		if (good == 0)
			buf_adds(to, "the file has no line of a user and a "
			    "password, so nobody is let in: make one with "
			    "htpasswd -B");
		return good == 0;
	}
	kind = describe_hash(first.hash);
	buf_addf(to, "the password of %.*s in line %zu (%.*s) ",
	    (int)first.user.len, first.user.at,
	    count_lines(start, first.user.at) + 1, (int)kind.len, kind.at);
	if (bad > 1)
		buf_addf(to, "and %zu more ", bad - 1);
	buf_addf(to, "cannot be verified, so %s let in: make %s anew with "
	    "htpasswd -B", good == 0 ? "nobody is" : bad == 1 ?
	    "this user is not" : "these users are not",
	    bad == 1 ? "it" : "them");
	return true;
}

static void
check_passwords(const struct conf_guard *guard, const char *where)
{
	struct buf	text = { 0 }, fault = { 0 };
	int		error = read_file(guard->file, &text);

	errno = error;
	if (error != 0)
		log_warn("%s: the file cannot be read, and requests get 500",
		    where);
	else if (add_fault((struct str){ text.at, text.len }, &fault))
		log_warnx("%s: %s", where, buf_string(&fault));
	if (text.at != NULL)
		explicit_bzero(text.at, text.len);
	buf_free(&text);
	buf_free(&fault);
}

static bool
has_user(struct str text, const char *name)
{
	struct htpasswd_entry	entry;

	while (htpasswd_next(&text, &entry))
		if (str_same(entry.user, str_of(name)))
			return true;
	return false;
}

/* Warns of the users of a require that the password file does not have. */
static void
check_required(const struct conf_guard *guard, const char *where)
{
	const struct conf_words	*users = &guard->require.users;
	struct buf		 text = { 0 };

	if (guard->file != NULL && users->n > 0 &&
	    read_file(guard->file, &text) == 0)
		for (size_t i = 0; i < users->n; i++)
			if (!has_user((struct str){ text.at, text.len },
			    users->at[i]))
				log_warnx("%s: there is no user %s in %s",
				    where, users->at[i], guard->file);
	if (text.at != NULL)
		explicit_bzero(text.at, text.len);
	buf_free(&text);
}

static void
check_auth(const struct conf *conf, const struct conf_rules *rules)
{
	const struct conf_guard	*guard = &rules->guard;
	struct buf		 where = { 0 };

	if (guard->require.users.n > 0) {
		conf_where(conf, rules, "require", CONF_WHERE_ALL, &where);
		check_required(guard, buf_string(&where));
		where.len = 0;
	}
	if (guard->file == NULL || (rules->outer != NULL &&
	    rules->outer->guard.file != NULL &&
	    strcmp(rules->outer->guard.file, guard->file) == 0)) {
		buf_free(&where);
		return;
	}
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
	check_required(&files->guard, buf_string(&where));
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

	if (!explain_url_page(conf, site, page, !error, &fault)) {
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
	if (rules->some_by_host)	/* each host has its pages */
		return;
	for (size_t i = 0; i < rules->errors.n; i++)
		check_page(conf, site, rules, "error", i);
	if (rules->fallback != NULL && (outer == NULL ||
	    outer->fallback == NULL ||
	    strcmp(outer->fallback, rules->fallback) != 0))
		check_page(conf, site, rules, "fallback", CONF_WHERE_ALL);
}

/*
 * Sockets
 */

static bool
is_same_name(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Warns of sockets of one statement that differ: an option belongs to the
 * socket before it, and may be meant for all of them. */
static void
check_sockets(const struct conf *conf, const struct conf_site *site)
{
	const struct conf_address	*a = site->listen.at, *b;
	struct buf			 where = { 0 };

	for (size_t i = 0; i + 1 < site->listen.n; i++, a++) {
		b = a + 1;
		if (a->addr.ss_family != AF_UNIX ||
		    b->addr.ss_family != AF_UNIX || (a->mode == b->mode &&
		    is_same_name(a->owner, b->owner) &&
		    is_same_name(a->group, b->group)) ||
		    !conf_where_is_one(conf, &site->rules, "listen", i))
			continue;
		where.len = 0;
		conf_where(conf, &site->rules, "listen", i, &where);
		log_warnx("%s: %s differs: mode, owner and group belong to the "
		    "socket before them alone", buf_string(&where), b->text);
	}
	buf_free(&where);
}

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

/* Checks only the directory, as a file of that name is replaced. */
static void
check_hotlist(const struct conf *conf)
{
	char	*copy = mem_string(conf->cache.hotlist), *dir = dirname(copy);
	int	 error = try_directory(dir);

	errno = error;
	if (error != 0)
		log_warn("cache { hotlist %s }: no file can be made in %s, and "
		    "the names are not kept over a restart",
		    conf->cache.hotlist, dir);
	mem_drop(&copy);
}

/* Whether only this user may change a directory; false: errno. */
static bool
is_own_directory(const char *name)
{
	struct stat	st;

	if (stat(name, &st) == -1 || access(name, W_OK | X_OK) == -1)
		return false;
	errno = EPERM;
	return st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

/* Warns of a user to whom everything is allowed. */
static void
check_user(const struct conf *conf)
{
	struct buf	where = { 0 };

	if (geteuid() == 0 &&
	    conf_where(conf, NULL, "user", CONF_WHERE_ALL, &where))
		log_warnx("%s: all processes run as root, so a fault in one of "
		    "them, or in a program, puts the whole system at risk: "
		    "name a user of its own, as in user www-data",
		    buf_string(&where));
	buf_free(&where);
}

void
needs_check_serving(const struct conf *conf)
{
	const struct conf_site	*site;

	check_user(conf);
	if (conf->cache.variants != NULL &&
	    access(conf->cache.variants, W_OK | X_OK) == -1)
		log_warn("cache { variants %s }: this directory cannot be "
		    "written to, and compressed files are not kept",
		    conf->cache.variants);
	if (conf->cache.results != NULL &&
	    !is_own_directory(conf->cache.results))
		log_warn("cache { results %s }: this directory is not one that "
		    "belongs to user %ld and that no other may write to, and "
		    "results of filters are not kept", conf->cache.results,
		    (long)geteuid());
	if (conf->limits.spool != NULL &&
	    access(conf->limits.spool, W_OK | X_OK) == -1)
		log_warn("limits { spool %s }: this directory cannot be "
		    "written to, and requests whose bodies are to be there get "
		    "503", conf->limits.spool);
	if (conf->cache.hotlist != NULL)
		check_hotlist(conf);
	needs_programs_check(conf);
	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		check_sockets(conf, site);
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
