/*
 * explain_url: a request, and a disk that explains each job.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "admin/explain_url.h"
#include "admin/made_requests.h"
#include "admin/target.h"
#include "helpers/explain_path.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/url.h"

/*
 * The request
 */

static void
make_request(struct explanation *e, const struct explain_request *q,
    const struct url *u, const struct conf *conf)
{
	struct buf	 host = { 0 };
	const char	*user;

	target_host(conf, u, &host);
	target_request(u, buf_string(&host), q->fields, q->nfields,
	    &e->request);
	explain_add(e, EXPLAIN_REQUEST, "GET http://%s%s%.*s",
	    buf_string(&host), u->target.at[0] != '/' ? "/" : "",
	    (int)u->target.len, u->target.at);
	for (size_t i = 0; i < q->nfields; i++) {
		user = target_user(q->fields[i]);
		if (user != NULL)	/* and not the password */
			explain_add(e, EXPLAIN_REQUEST, "with a password, as "
			    "%.*s", (int)strcspn(user, ":"), user);
		else
			explain_add(e, EXPLAIN_REQUEST, "%s", q->fields[i]);
	}
	buf_free(&host);
}

/*
 * The disk
 */

static void
add_names(struct buf *to, const struct job *job)
{
	const char	*name = job->find.names.at;
	const char	*end = name + job->find.names.len;

	for (unsigned i = 1; name < end; name += strlen(name) + 1, i++)
		if (job->find.name_number == 0)
			buf_addf(to, "%s%s", i > 1 ? ", " : "", name);
		else if (job->find.name_number == i)
			buf_adds(to, name);
}

/* The suffix of the sibling that the job was to open. */
static void
add_suffix(struct buf *to, const struct job *job)
{
	const char	*suffix = job->resolve.siblings.at;

	if (job->kind != JOB_RESOLVE || job->resolve.sibling == 0)
		return;
	for (uint64_t i = 1; i < job->resolve.sibling; i++)
		suffix += strlen(suffix) + 1;
	buf_adds(to, suffix);
}

/* The siblings that could be sent in place of the file. */
static void
add_siblings(struct buf *to, const struct job *job)
{
	const char	*suffix = job->resolve.siblings.at;
	const char	*word = "; beside it";

	if (job->kind != JOB_RESOLVE || job->resolve.sibling > 0)
		return;
	for (uint64_t left = job->resolve.counting; left != 0; left >>= 1) {
		if (left & 1) {
			buf_addf(to, "%s %s", word, suffix);
			word = ",";
		}
		suffix += strlen(suffix) + 1;
	}
}

static void
add_success(struct buf *to, const struct job *job)
{
	char	real[PATH_MAX];

	if (job->kind == JOB_LIST) {
		buf_addf(to, ": a directory, listed with %llu entries",
		    (unsigned long long)job->list.entries);
		return;
	}
	if (job->find.name_number > 0) {
		add_names(to, job);
		add_suffix(to, job);
	}
	if (realpath(buf_string(to), real) != NULL &&
	    strcmp(real, to->at) != 0)
		buf_addf(to, ": a file, by links %s", real);
	else
		buf_adds(to, ": a file");
	if (job->kind == JOB_COMPRESS)
		buf_addf(to, ", %lld bytes when compressed",
		    (long long)job->find.version.size);
	add_siblings(to, job);
}

/* The suffixes with which a path was looked up in vain, too. */
static void
add_suffixes(struct buf *to, const struct job *job)
{
	if (job->find.names.len == 0 || (job->error != ENOENT &&
	    job->error != ENOTDIR && job->error != EISDIR))
		return;
	buf_adds(to, "; nor is there one with ");
	add_names(to, job);
}

static void
add_failure(struct buf *to, const struct job *job)
{
	size_t	len = to->len, start;

	if (job->error == ESTALE || job->error == EFBIG) {
		buf_adds(to, job->error == ESTALE ?
		    ": not there, empty, or older than the file" :
		    ": too large, or no smaller when compressed");
		return;
	}
	buf_adds(to, ": ");
	if (job->error == EISDIR) {
		buf_adds(to, "a directory");
		if (to->at[len - 1] == '/') {
			buf_adds(to, job->find.names.len > 0 ? " without " :
			    "");
			add_names(to, job);
		} else
			add_suffixes(to, job);
		return;
	}
	start = to->len;
	explain_path(job, to);
	if (to->len == start)
		buf_adds(to, strerror(job->error));
	else if (to->len > start + len && to->at[start + len] == ' ' &&
	    memcmp(to->at, to->at + start, len) == 0) {
		/* The text begins with the whole path, which is there. */
		memmove(to->at + len + 1, to->at + start + len,
		    to->len - start - len);
		to->len -= start - 1;
	}
	if (job->find.path[0] != '\0' && to->at[len - 1] != '/')
		add_suffixes(to, job);
}

/* The directory as its path, where it is in the home of a user. */
static void
add_root(struct buf *to, const struct job *job)
{
	const struct passwd	*user;

	if (job->find.user == NULL) {
		buf_adds(to, job->find.root);
		return;
	}
	user = getpwnam(job->find.user);
	if (user != NULL)
		buf_addf(to, "%s/%s", user->pw_dir, job->find.root);
}

/* Explains why a user has no root: there is no such user, or the uid is too
 * low; false: the user has one. */
static bool
explain_user(struct explanation *e, const struct job *job)
{
	const struct passwd	*user;

	if (job->find.user == NULL)
		return false;
	user = getpwnam(job->find.user);
	if (user == NULL)
		explain_add(e, EXPLAIN_LOOKUP, "~%s: there is no such user",
		    job->find.user);
	else if (job->error == ERANGE)
		explain_add(e, EXPLAIN_LOOKUP, "~%s: uid %ld is below "
		    "\"users from %lu\"", job->find.user, (long)user->pw_uid,
		    (unsigned long)job->find.min_uid);
	return user == NULL || job->error == ERANGE;
}

static void
explain_path_job(struct explanation *e, const struct job *job)
{
	struct buf	root = { 0 }, path = { 0 }, text = { 0 };
	struct job	shown = *job;
	size_t		len = strlen(job->find.path);

	if (explain_user(e, job))
		return;
	add_root(&root, job);
	shown.find.root = buf_string(&root);
	buf_adds(&path, job->find.path);
	if (len > 0 && job->find.path[len - 1] != '/' &&
	    job->find.name_number == 0)
		add_suffix(&path, job);
	shown.find.path = buf_string(&path);
	buf_addf(&text, "%s/%s", strcmp(shown.find.root, "/") == 0 ? "" :
	    shown.find.root, shown.find.path);
	if (job->error == 0)
		add_success(&text, &shown);
	else
		add_failure(&text, &shown);
	explain_add(e, EXPLAIN_LOOKUP, "%s", buf_string(&text));
	buf_free(&text);
	buf_free(&path);
	buf_free(&root);
}

static void
explain_job(struct explanation *e, const struct job *job)
{
	if (job->kind == JOB_VERIFY)
		explain_add(e, EXPLAIN_LOOKUP, "%s: %s", job->verify.file,
		    job->error != 0 ? strerror(job->error) :
		    job->verify.right == 1 ?
		    "the password is right" : "no such user, or another "
		    "password");
	else if (job_finds(job->kind))
		explain_path_job(e, job);
}

static enum submitted
submit_task(void *context, struct task *task)
{
	if (task->job.kind == JOB_COMPRESS)	/* explaining writes no file */
		task->job.compress.cache_dir = NULL;
	job_perform(&task->job);
	explain_job(context, &task->job);
	task->complete(task);
	task->free(task);
	return SUBMITTED_COMPLETED;
}

/* Parses the client's address; false: the text is none. */
static bool
set_address(struct sockaddr_storage *address, const char *client)
{
	struct sockaddr_in	*v4 = (void *)address;
	struct sockaddr_in6	*v6 = (void *)address;

	memset(address, 0, sizeof(*address));
	address->ss_family = AF_UNIX;
	if (strcmp(client, "unix:") == 0)
		return true;
	address->ss_family = AF_INET;
	if (inet_pton(AF_INET, client, &v4->sin_addr) == 1)
		return true;
	address->ss_family = AF_INET6;
	return inet_pton(AF_INET6, client, &v6->sin6_addr) == 1;
}

static void
run_request(struct explanation *e, const struct conf *conf,
    const int *managers, const struct sockaddr_storage *from, size_t listener)
{
	struct made_requests	*m = made_requests_new(conf, managers,
				    submit_task, e);

	made_requests_run(m, e, (const struct sockaddr *)from, listener);
	made_requests_free(&m);
}

const char *
explain_url_answer(const struct explain_request *q, const struct conf *conf,
    struct buf *wrong, FILE *out)
{
	struct explanation	 e = { 0 };
	struct url		 u;
	struct sockaddr_storage	 client;
	const char		*fault = url_parse(q->url, &u);
	size_t			 listener = 0;

	if (fault != NULL) {
		buf_addf(wrong, "%s: %s", q->url, fault);
		return buf_string(wrong);
	}
	if (!set_address(&client,
	    q->client != NULL ? q->client : "127.0.0.1")) {
		buf_addf(wrong, "%s is no address of a client", q->client);
		return buf_string(wrong);
	}
	if (!target_listener(conf, &u, &listener, wrong))
		return buf_string(wrong);
	make_request(&e, q, &u, conf);
	if (q->client != NULL)
		explain_add(&e, EXPLAIN_REQUEST, "from %s", q->client);
	explain_add(&e, EXPLAIN_LISTENER, "%s",
	    conf_listener(conf, listener)->text);
	run_request(&e, conf, q->managers, &client, listener);
	explain_print(&e, out);
	explain_free(&e);
	return NULL;
}

/*
 * Pages
 */

/* Adds a decoded path as it stands in a request line. */
static void
add_encoded(const char *path, struct buf *to)
{
	for (; *path != '\0'; path++)
		if (isalnum((unsigned char)*path) ||
		    strchr("/-._~", *path) != NULL)
			buf_addc(to, *path);
		else
			buf_addf(to, "%%%02X", (unsigned char)*path);
}

/* The number of a site's first listener. */
static size_t
find_listener(const struct conf *conf, const struct conf_site *site)
{
	const struct conf_address	*own = &site->listen.at[0], *a;
	size_t				 i = 0;

	for (;; i++) {
		a = conf_listener(conf, i);
		if (a->len == own->len &&
		    memcmp(&a->addr, &own->addr, a->len) == 0)
			return i;
	}
}

/* Copies the first line of a fact, without its name. */
static void
add_fact(const struct explanation *e, enum explain_fact fact, struct buf *to)
{
	const char	*text = e->facts[fact].at;

	text += strcspn(text, " ");
	text += strspn(text, " ");
	buf_add(to, text, strcspn(text, "\n"));
}

bool
explain_url_page(const struct conf *conf, const struct conf_site *site,
    const char *path, bool may_be_program, struct buf *fault)
{
	struct explanation	 e = { .kind.trusted = true };
	struct sockaddr_storage	 client;
	const char		*name = site->names.at[0];
	bool			 is_program, good;

	need(set_address(&client, "127.0.0.1"));
	buf_adds(&e.request, "GET ");
	add_encoded(path, &e.request);
	buf_addf(&e.request, " HTTP/1.1\r\nHost: %s%s\r\n\r\n",
	    name[0] == '*' ? "any" : "", name + (name[0] == '*'));
	run_request(&e, conf, NULL, &client, find_listener(conf, site));
	/* With a page in its place, the file is not there. */
	is_program = e.facts[EXPLAIN_PROGRAM].len > 0;
	good = (e.facts[EXPLAIN_FILE].len > 0 ||
	    (is_program && may_be_program)) && e.facts[EXPLAIN_PAGE].len == 0;
	if (is_program && !good)
		buf_adds(fault, "it is a program, and only a file can be such "
		    "a page");
	else if (!good)
		add_fact(&e, e.facts[EXPLAIN_LOOKUP].len > 0 ?
		    EXPLAIN_LOOKUP : EXPLAIN_WHY, fault);
	explain_free(&e);
	return good;
}
