/*
 * requests: several requests at once, each a step at a time.
 */
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/load.h"
#include "admin/requests.h"
#include "admin/target.h"
#include "http/caches.h"
#include "http/purge.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "shared/control.h"
#include "stats/report.h"
#include "stats/stats.h"

#define SEND_TIMEOUT	30000	/* ms for the socket to take an answer */
#define LOADING_MAX	8	/* files that one request loads at once */

struct requests {
	struct evloop		*loop;
	struct clock		*clock;
	struct http_loop	*http;
	struct clients		*clients;
	const struct conf	*conf;
	bool			 alone;		/* the only main */
	TAILQ_HEAD(, admin_request)	 list;
};

struct admin_request {
	struct requests		*all;
	TAILQ_ENTRY(admin_request)	 link;
	int			 pipe;		/* closing it tells the monitor
						 * that the answer is sent */
	int			 client;	/* the administrator's socket */
	struct watch		*output, *step_timer, *timer;
	struct control_request	 request;
	size_t			 next;		/* of the request's words */
	size_t			 nloading;	/* files being preloaded */
	char			**lines;	/* of the answer, by word */
	bool			 incomplete;	/* a word had no success */
	struct purge		*purge;		/* of the next word, or NULL */
	struct buf		 answer;
	char			 line[CONTROL_LINE_MAX];
};

/* A file that is being preloaded. */
struct preload_item {
	struct admin_request	*request;
	size_t			 word;
};

/* Also called when the time to send the answer is over. */
static void
end_request(void *context)
{
	struct admin_request	*q = context;

	TAILQ_REMOVE(&q->all->list, q, link);
	evloop_unwatch(&q->output);
	evloop_unwatch(&q->step_timer);
	evloop_unwatch(&q->timer);
	for (size_t i = 0; i < q->request.n && q->lines != NULL; i++)
		free(q->lines[i]);
	free(q->lines);
	free(q->purge);
	buf_free(&q->answer);
	io_close(&q->client);
	io_close(&q->pipe);
	free(q);
}

/*
 * The answer
 */

static void
send_more(void *context)
{
	struct admin_request	*q = context;
	ssize_t		 n = send(q->client, q->answer.at, q->answer.len,
			    MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		buf_consume(&q->answer, (size_t)n);
	if (q->answer.len == 0 || (n == -1 && errno != EAGAIN &&
	    errno != EWOULDBLOCK && errno != EINTR)) {
		end_request(q);
		return;
	}
	evloop_set(q->output, EVLOOP_WRITE);
}

/* The answer is complete. */
static void
start_sending(struct admin_request *q)
{
	q->output = evloop_watch(q->all->loop, q->client, send_more, q);
	q->timer = evloop_timer(q->all->loop, end_request, q);
	evloop_arm(q->timer, q->all->clock->ms + SEND_TIMEOUT);
	send_more(q);
}

static void
send_answer(struct admin_request *q)
{
	control_end_answer(&q->answer);
	start_sending(q);
}

/* Answers with a line for each word; failure and text if one had no success. */
static void
send_lines(struct admin_request *q, enum control_verdict failure,
    const char *text)
{
	control_begin_answer(&q->answer,
	    q->incomplete ? failure : CONTROL_VERDICT_OK, "%s",
	    q->incomplete ? text : "");
	for (size_t i = 0; i < q->request.n; i++)
		buf_addf(&q->answer, "%s: %s\n", q->request.words[i],
		    q->lines[i]);
	send_answer(q);
}

static void
set_line(struct admin_request *q, size_t word, struct buf *text)
{
	q->lines[word] = mem_string(buf_string(text));
	buf_free(text);
}

/* Finds where the next word leads.  False: its line says what is wrong. */
static bool
find_target(struct admin_request *q, struct url *url, size_t *listener)
{
	struct buf	 wrong = { 0 };
	const char	*fault = url_parse(q->request.words[q->next], url);

	if (fault == NULL && target_listener(q->all->conf, url, listener,
	    &wrong))
		return true;
	if (fault != NULL)
		buf_adds(&wrong, fault);
	set_line(q, q->next, &wrong);
	q->incomplete = true;
	return false;
}

/*
 * preload: several files at once, each by a connection of its own
 */

static void
set_file_line(struct admin_request *q, size_t word, struct preload *p)
{
	struct buf	text = { 0 };
	bool		whole = p->status == 200 && !p->truncated;

	if (whole)
		buf_addf(&text, "%lld bytes%s%s", (long long)p->bytes,
		    p->codings.len > 0 ? "; also as" : "",
		    buf_string(&p->codings));
	else if (p->status == 200)
		buf_adds(&text, "part of it could not be read");
	else if (p->status == 0)
		buf_adds(&text, "cancelled");
	else
		buf_addf(&text, "%d%s%s", p->status,
		    *p->reason != '\0' ? ", " : "", p->reason);
	set_line(q, word, &text);
	q->incomplete |= !whole;
}

static void
end_file(void *item, struct preload *p)
{
	struct preload_item	*i = item;
	struct admin_request	*q = i->request;

	set_file_line(q, i->word, p);
	free(i);
	q->nloading--;
	/* By a timer: the connection is being closed here. */
	evloop_arm(q->step_timer, q->all->clock->ms);
}

static void
load_file(struct admin_request *q, const struct url *url, size_t listener)
{
	struct preload_item	*i = mem_get(sizeof(*i));
	const struct load	 load = {
		.conf = q->all->conf,
		.clients = q->all->clients,
		.fd = q->pipe,		/* which is at its end */
		.all_variants = true,
		.no_programs = true,
		.ended = end_file,
		.context = i,
	};

	*i = (struct preload_item){ q, q->next };
	q->nloading++;
	load_begin(&load, url, listener);
}

static void
step_preload(struct admin_request *q)
{
	struct url	url;
	size_t		listener;

	for (; q->next < q->request.n && q->nloading < LOADING_MAX; q->next++)
		if (find_target(q, &url, &listener))
			load_file(q, &url, listener);
	if (q->next == q->request.n && q->nloading == 0)
		send_lines(q, CONTROL_VERDICT_ABSENT,
		    "some files could not be loaded");
}

/*
 * purge
 */

static bool
begin_purge(struct admin_request *q)
{
	const struct conf_site	*site = NULL;
	struct url		 url = { .target = STR("/*") };
	const char		*fault;
	struct buf		 text = { 0 };
	size_t			 listener;

	if (strcmp(q->request.words[q->next], "*") != 0) {
		if (!find_target(q, &url, &listener))
			return false;
		site = target_site(q->all->conf, &url, listener);
	}
	if (url.target.len == 0)
		url.target = STR("/");
	q->purge = mem_get(sizeof(*q->purge));
	fault = purge_begin(q->purge, site, url.target);
	if (fault == NULL)
		return true;
	mem_drop(&q->purge);
	buf_adds(&text, fault);
	set_line(q, q->next, &text);
	q->incomplete = true;
	return false;
}

/* Does a part of one purge in each iteration. */
static void
step_purge(struct admin_request *q)
{
	struct buf	text = { 0 };

	if (q->next == q->request.n) {
		send_lines(q, CONTROL_VERDICT_BAD, "some words are not valid");
		return;
	}
	if (q->purge == NULL && !begin_purge(q))
		q->next++;
	else if (!purge_continue(q->all->http, q->purge)) {
		/* The other mains' counts are not known here. */
		if (q->all->alone)
			buf_addf(&text, "%llu ",
			    (unsigned long long)q->purge->count);
		buf_adds(&text, "purged");
		set_line(q, q->next, &text);
		mem_drop(&q->purge);
		q->next++;
	}
	evloop_arm(q->step_timer, q->all->clock->ms);
}

/*
 * status, metrics, cache
 */

static void
send_report(struct admin_request *q, enum report_form form)
{
	if (q->request.n > 0 && !report_find_form(str_of(q->request.words[0]),
	    &form))
		control_begin_answer(&q->answer, CONTROL_VERDICT_BAD,
		    "there is no format \"%s\"; json is one",
		    q->request.words[0]);
	else {
		control_begin_answer(&q->answer, CONTROL_VERDICT_OK, "%s", "");
		report_write(&q->answer, form);
	}
	send_answer(q);
}

static void
send_caches(struct admin_request *q)
{
	control_begin_answer(&q->answer, CONTROL_VERDICT_OK, "%s", "");
	report_caches(&q->answer);
	send_answer(q);
}

static void
set_policy(struct admin_request *q)
{
	struct buf	text = { 0 };
	bool		set = caches_set_policy(q->all->http,
			    q->request.words[0], &text);

	control_begin_answer(&q->answer, set ? CONTROL_VERDICT_OK :
	    CONTROL_VERDICT_BAD, "%s", buf_string(&text));
	if (set)
		log_notice("ampedctl policy: %s", buf_string(&text));
	buf_free(&text);
	send_answer(q);
}

/*
 * Requests
 */

static void
step_request(void *context)
{
	struct admin_request	*q = context;

	if (q->output != NULL)
		return;			/* the answer is being sent */
	switch (q->request.command) {
	case CONTROL_STATUS:
		send_report(q, REPORT_TEXT);
		break;
	case CONTROL_METRICS:
		send_report(q, REPORT_PROMETHEUS);
		break;
	case CONTROL_CACHE:
		send_caches(q);
		break;
	case CONTROL_POLICY:
		set_policy(q);
		break;
	case CONTROL_PRELOAD:
		step_preload(q);
		break;
	case CONTROL_PURGE:
		step_purge(q);
		break;
	default:	/* the monitor does these itself */
		control_begin_answer(&q->answer, CONTROL_VERDICT_BAD,
		    "main does not know this command");
		send_answer(q);
		break;
	}
}

/* The pipe holds the whole line: it was written before the pipe was passed. */
static bool
receive_line(struct admin_request *q)
{
	size_t	len = 0;
	ssize_t	n;
	int	fd;

	while (len < sizeof(q->line) - 1 && (n = io_recv_message(q->pipe,
	    q->line + len, sizeof(q->line) - 1 - len, &fd, MSG_DONTWAIT)) > 0) {
		if (q->client == -1)
			q->client = fd;
		else
			io_close(&fd);
		len += (size_t)n;
	}
	return q->client != -1;
}

void
requests_add(struct requests *all, int pipe)
{
	struct admin_request	*q;

	if (pipe == -1)
		return;
	q = mem_zero(sizeof(*q));
	q->all = all;
	q->pipe = pipe;
	q->client = -1;
	TAILQ_INSERT_TAIL(&all->list, q, link);
	if (!receive_line(q)) {
		log_warnx("a request from the control socket came without the "
		    "socket to answer by: it is dropped");
		end_request(q);
		return;
	}
	if (!control_parse(q->line, &q->request, &q->answer)) {
		start_sending(q);
		return;
	}
	q->lines = mem_array(q->request.n + 1, sizeof(q->lines[0]));
	q->step_timer = evloop_timer(all->loop, step_request, q);
	step_request(q);
}

struct requests *
requests_new(struct evloop *loop, struct clock *clock, struct http_loop *http,
    struct clients *clients, const struct conf *conf, bool alone)
{
	struct requests	*all = mem_zero(sizeof(*all));

	all->loop = loop;
	all->clock = clock;
	all->http = http;
	all->clients = clients;
	all->conf = conf;
	all->alone = alone;
	TAILQ_INIT(&all->list);
	return all;
}

void
requests_free(struct requests **ap)
{
	struct admin_request	*q;

	while ((q = TAILQ_FIRST(&(*ap)->list)) != NULL)
		end_request(q);
	mem_drop(ap);
}
