/*
 * control_child: the commands check, explain, find, conf, program and chain.
 *
 * For explain and find, the child drops its privileges: files are looked up
 * with the rights of the processes that would serve them.
 */
#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "admin/explain_url.h"
#include "admin/walk.h"
#include "arch/arch.h"
#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/proc.h"
#include "lib/user.h"
#include "monitor/control_chains.h"
#include "monitor/control_child.h"
#include "monitor/control_programs.h"
#include "monitor/generation.h"
#include "monitor/logs.h"
#include "monitor/program_managers.h"
#include "monitor/roots.h"
#include "shared/control.h"

#define SEND_TIMEOUT	10	/* s for the client to take the next piece */
#define LINES_READ	65536	/* bytes at a time */

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
answer_explain(struct conf *conf, const struct control_request *request,
    struct buf *answer, FILE *out)
{
	struct generation	*g = generation_new(conf);
	char			*fields[CONTROL_WORDS_MAX];
	struct explain_request	 q = { .fields = fields };
	struct buf		 wrong = { 0 };
	const char		*why;
	bool			 has_user = generation_choose_user(g) == 0;

	if (has_user && conf->nchains > 0)
		q.managers = program_managers_lend(g);
	if (!has_user || user_become(&g->user) == -1)
		control_begin_answer(answer, CONTROL_VERDICT_FAILED,
		    "cannot become user %s", conf->user);
	else if (parse_words(request, &q, answer)) {
		why = explain_url_answer(&q, conf, &wrong, out);
		control_begin_answer(answer, why != NULL ?
		    CONTROL_VERDICT_BAD : CONTROL_VERDICT_OK, "%s",
		    why != NULL ? why : "");
	}
}

/* Finds files by the conf in force, as they are for the mains, which may be
 * asked for them next. */
static void
answer_find(const struct control_request *request, struct buf *answer)
{
	const struct generation	*g = generations.serving;
	struct buf		 names = { 0 }, wrong = { 0 };
	const char		*pattern = request->words[0], *fault;

	if (user_become(&g->user) == -1) {
		control_begin_answer(answer, CONTROL_VERDICT_FAILED,
		    "cannot become user %s", g->conf->user);
		return;
	}
	fault = walk_names(g->conf, pattern, WALK_NAMES_MAX, &names, &wrong);
	if (fault != NULL)
		control_begin_answer(answer, CONTROL_VERDICT_BAD, "%s: %s",
		    pattern, fault);
	else if (names.len == 0)
		control_begin_answer(answer, CONTROL_VERDICT_ABSENT,
		    "%s: there is no such file", pattern);
	else
		control_begin_answer(answer, CONTROL_VERDICT_OK, "%s", "");
	if (fault == NULL)
		buf_add(answer, names.at, names.len);
	buf_free(&names);
	buf_free(&wrong);
}

/* Writes a line of the log into a pipe, from its level on.  A full pipe gets no
 * more. */
static void
write_line(void *context, const char *line, size_t n)
{
	const int	*pipe = context;
	size_t		 level = 0;

	while (level + 2 < n && memcmp(line + level, "] ", 2) != 0)
		level++;
	if (write(*pipe, line + level + 2, n - level - 2) == -1)
		return;			/* the lines before tell enough */
}

static void
read_lines(int pipe, struct buf *answer)
{
	ssize_t	n;

	do {
		buf_reserve(answer, LINES_READ);
		n = io_read_all(pipe, answer->at + answer->len, LINES_READ);
		if (n > 0)
			answer->len += (size_t)n;
	} while (n > 0);
}

/* Finds what starting and serving lack.  The lines come through a pipe, since
 * some are of a process that is the server's user. */
static void
answer_check(struct conf *conf, struct buf *answer)
{
	struct generation	*g = generation_new(conf);
	int			 lines[2];
	bool			 good;

	if (logs_open_pipe(lines) == -1) {
		control_begin_answer(answer, CONTROL_VERDICT_FAILED,
		    "cannot check: %s", strerror(errno));
		return;
	}
	log_init("check", LOG_LEVEL_NOTICE);
	log_set_output(write_line, &lines[1]);
	good = generation_choose_user(g) == 0 &&
	    program_managers_check(g->conf) == 0 && roots_check_start(g);
	log_set_output(NULL, NULL);
	io_close(&lines[1]);
	control_begin_answer(answer, good ? CONTROL_VERDICT_OK :
	    CONTROL_VERDICT_CONF, "%s", good ? "the conf is fine" :
	    "amped could not start with the conf");
	read_lines(lines[0], answer);
	io_close(&lines[0]);
}

/* Begins the answer, and writes its further lines.  check and explain are about
 * the conf file; the conf in force may differ from it. */
static void
write_answer(const struct control_request *request, int manager,
    struct buf *answer, FILE *out)
{
	struct buf	 errors = { 0 };
	struct conf	*conf;

	if (request->command == CONTROL_CONF) {
		conf_dump(generations.serving->conf, out);
		arch_print(generations.serving->conf, out);
		control_begin_answer(answer, CONTROL_VERDICT_OK, "%s", "");
	} else if (request->command == CONTROL_FIND) {
		answer_find(request, answer);
	} else if (request->command == CONTROL_PROGRAM) {
		control_programs_answer(request, manager, answer);
	} else if (request->command == CONTROL_CHAIN) {
		control_chains_answer(request, answer);
	} else if ((conf = generation_read_conf(&errors)) == NULL) {
		control_begin_answer(answer, CONTROL_VERDICT_CONF,
		    "the conf has mistakes");
		buf_add(answer, errors.at, errors.len);
	} else if (request->command == CONTROL_CHECK)
		answer_check(conf, answer);
	else
		answer_explain(conf, request, answer, out);
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

_Noreturn void
control_child_answer(const struct control_request *request, int client,
    int manager)
{
	struct buf	 answer = { 0 };
	char		*text = NULL;
	size_t		 len = 0;
	FILE		*out = open_memstream(&text, &len);

	proc_title("amped: control child");
	proc_signals_unblock();
	if (out == NULL)
		control_begin_answer(&answer, CONTROL_VERDICT_FAILED,
		    "no memory");
	else {
		write_answer(request, manager, &answer, out);
		fclose(out);
		buf_add(&answer, text, len);
	}
	control_end_answer(&answer);
	send_answer(client, &answer);
	_exit(0);
}
