/*
 * control_child: the commands check, explain and conf.
 *
 * For explain, the child drops its privileges: the URL is looked up with the
 * rights of the processes that would serve it.
 */
#include <sys/socket.h>
#include <sys/time.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/explain_url.h"
#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "monitor/control_child.h"
#include "monitor/generation.h"
#include "monitor/spawn.h"
#include "shared/control.h"

#define SEND_TIMEOUT	10	/* s for the client to take the next piece */

/* Takes the words of explain: fields, then the URL. */
static bool
parse_words(const struct control_request *request, struct explain_request *q,
    struct buf *answer)
{
	char	*word;

	q->url = request->words[request->n - 1];
	for (size_t i = 0; i + 1 < request->n; i++) {
		word = (char *)(uintptr_t)request->words[i];
		if (strchr(word, ':') == NULL || strchr(word, '\r') != NULL) {
			control_begin_answer(answer, CONTROL_VERDICT_BAD,
			    "%s is no field: a field is a name, a colon "
			    "and a value", word);
			return false;
		}
		q->fields[q->nfields++] = word;
	}
	return true;
}

static void
write_explanation(const struct explain_request *q, const struct conf *conf,
    struct buf *answer)
{
	struct buf	 wrong = { 0 };
	char		*text = NULL;
	size_t		 len = 0;
	FILE		*out = open_memstream(&text, &len);
	const char	*why;

	if (out == NULL) {
		control_begin_answer(answer, CONTROL_VERDICT_FAILED,
		    "no memory");
		return;
	}
	why = explain_url_answer(q, conf, &wrong, out);
	fclose(out);
	if (why != NULL)
		control_begin_answer(answer, CONTROL_VERDICT_BAD, "%s", why);
	else {
		control_begin_answer(answer, CONTROL_VERDICT_OK, "%s", "");
		buf_add(answer, text, len);
	}
	buf_free(&wrong);
	free(text);
}

static void
answer_explain(struct conf *conf, const struct control_request *request,
    struct buf *answer)
{
	struct generation	*g = generation_new(conf);
	char			*fields[CONTROL_WORDS_MAX];
	struct explain_request	 q = { .fields = fields };

	if (generation_choose_user(g) == -1 || user_become(&g->user) == -1)
		control_begin_answer(answer, CONTROL_VERDICT_FAILED,
		    "cannot become user %s", conf->user);
	else if (parse_words(request, &q, answer))
		write_explanation(&q, conf, answer);
	generation_free(&g);
}

/* Answers check and explain, by the conf file; the conf in force may differ
 * from it. */
static void
answer_from_file(const struct control_request *request, struct buf *answer)
{
	struct buf	 errors = { 0 };
	struct conf	*conf = generation_read_conf(&errors);

	if (conf == NULL) {
		control_begin_answer(answer, CONTROL_VERDICT_CONF,
		    "the conf has mistakes");
		buf_add(answer, errors.at, errors.len);
	} else if (request->command == CONTROL_CHECK)
		control_begin_answer(answer, CONTROL_VERDICT_OK, "the conf is "
		    "fine");
	else {
		answer_explain(conf, request, answer);	/* takes the conf */
		conf = NULL;
	}
	buf_free(&errors);
	conf_free(&conf);
}

static void
answer_conf(struct buf *answer)
{
	char	*text = NULL;
	size_t	 len = 0;
	FILE	*out = open_memstream(&text, &len);

	if (out == NULL) {
		control_begin_answer(answer, CONTROL_VERDICT_FAILED,
		    "no memory");
		return;
	}
	conf_dump(generations.serving->conf, out);
	fclose(out);
	control_begin_answer(answer, CONTROL_VERDICT_OK, "%s", "");
	buf_add(answer, text, len);
	free(text);
}

/* Sends all of an answer, however slowly the client reads it, unless the client
 * stops reading. */
static void
send_answer(int client, const struct buf *answer)
{
	static const struct timeval	within = { .tv_sec = SEND_TIMEOUT };

	(void)setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &within,
	    sizeof(within));
	if (fcntl(client, F_SETFL, 0) == -1 ||
	    io_write_all(client, answer->at, answer->len) == -1)
		log_info("a client of the control socket does not read its "
		    "answer, which is lost");
}

static _Noreturn void
control_child_entry(const struct control_request *request, int client)
{
	struct buf	answer = { 0 };

	proc_title("amped: control child");
	proc_signals_unblock();
	if (request->command == CONTROL_CONF)
		answer_conf(&answer);
	else
		answer_from_file(request, &answer);
	control_end_answer(&answer);
	send_answer(client, &answer);
	_exit(0);
}

static const struct child_kind	kind = {
	.name = "control child", .privileged = true
};

pid_t
control_child_start(const struct control_request *request, int client,
    int *pipe)
{
	/* The client's own descriptor is closed in children. */
	int	copy = fcntl(client, F_DUPFD_CLOEXEC, 0);
	pid_t	pid;

	if (copy == -1)
		return 0;
	pid = spawn(&kind, generations.serving, pipe, NULL, NULL);
	if (pid == 0)
		control_child_entry(request, copy);
	close(copy);
	return pid == -1 ? 0 : pid;
}
