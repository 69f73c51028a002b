/*
 * filters: runs of chains, filter by filter.
 */
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/program.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "loop/clients.h"
#include "loop/filters.h"
#include "stats/program_stats.h"

struct filters {
	const struct backends	*backends;
	struct evloop		*loop;
	const struct clock	*clock;
	LIST_HEAD(, chain_run)	 runs;
};

#define ASK_MS	10	/* until a manager that is busy is asked again */
#define LOOK_MS	50	/* until a run that waits is looked at again */

/* The filter of a run that runs now. */
struct chain_run {
	struct filters		*all;
	struct filter_run	*run;
	struct backend		*backend;	/* NULL: none */
	struct watch		*timer;
	size_t			 number;	/* of the filter */
	int64_t			 ask_until;	/* clock ms: its manager */
	int64_t			 ends_at;	/* clock ms, at the latest */
	int			 input;		/* owned */
	bool			 has_result;	/* the input is one */
	LIST_ENTRY(chain_run)	 link;
};

static const struct conf_program *
get_program(const struct chain_run *s)
{
	return s->run->programs[s->number];
}

static void
count_filter(const struct chain_run *s, enum program_stats_counter counter)
{
	program_stats_add(get_program(s)->number, counter, 1);
}

/* Logs why a run has no result: perhaps no request waits for it any more. */
static void
log_failure(const struct chain_run *s, int error)
{
	const struct conf_program	*p = get_program(s);
	int				 n = (int)s->run->name.len;
	const char			*name = s->run->name.at;

	if (error == EFBIG)
		log_warnx("filter %s: %.*s: its result is larger than %lld "
		    "bytes (result)", p->name, n, name, (long long)p->result);
	else if (error == ETIMEDOUT)
		log_warnx("filter %s: %.*s: ended, since it takes longer than "
		    "%lld ms (answer)", p->name, n, name,
		    (long long)p->answer);
	else if (error == EPROTO)
		log_warnx("filter %s: %.*s: failed: lines of %s[PID] say how",
		    p->name, n, name, p->name);
	else if (error == EMFILE || error == ENFILE)
		log_warnx("filter %s: %.*s: it has no place, as too few files "
		    "may be open; raise the limit (ulimit -n)", p->name, n,
		    name);
	else if (error != ECANCELED && error != EAGAIN && error != ENODATA)
		log_warnx("filter %s: %.*s: cannot start %s: %s", p->name, n,
		    name, p->application != NULL ? p->application->name :
		    p->command.at[0], strerror(error));
}

static void
end_backend(struct chain_run *s)
{
	evloop_cancel(s->timer);
	if (s->backend != NULL)
		s->all->backends->end(&s->backend);
}

/* Ends the run, with its result if the error is 0. */
static void
end_run(struct chain_run *s, int error)
{
	struct filter_run	*run = s->run;

	end_backend(s);
	if (error != 0)
		log_failure(s, error);
	else if (!s->has_result)
		error = ENODATA;
	run->error = error;
	run->result = -1;
	if (error == 0) {
		run->result = s->input;
		s->input = -1;
	}
	io_close(&s->input);
	evloop_unwatch(&s->timer);
	LIST_REMOVE(s, link);
	free(s);
	clients_finish_task(&run->task);
}

/* Adds what a filter has noted.  In place of too much stands a line that is
 * none. */
static void
take_notes(struct chain_run *s)
{
	struct buf	*notes = &s->run->notes;
	int		 fd = s->backend->notes;
	struct stat	 st;
	ssize_t		 n;

	if (fd == -1 || io_stat(fd, &st) == -1 || st.st_size == 0)
		return;
	if (st.st_size > (off_t)(FILTER_NOTES_MAX - notes->len)) {
		notes->len = 0;
		buf_addc(notes, '\n');
		return;
	}
	buf_reserve(notes, (size_t)st.st_size);
	n = pread(fd, notes->at + notes->len, (size_t)st.st_size, 0);
	if (n > 0)
		notes->len += (size_t)n;
}

/* Takes the result of a filter, which is the next one's input. */
static void
take_result(struct chain_run *s)
{
	take_notes(s);
	io_close(&s->input);
	s->input = s->backend->file;
	s->backend->file = -1;
	s->has_result = true;
	count_filter(s, PROGRAM_STATS_ANSWERED);
	s->number++;
}

/* A filter that has failed, by its status. */
static int
get_failure(const struct chain_run *s)
{
	int	status = s->backend->status;

	count_filter(s, PROGRAM_STATS_FAILED);
	return status != -1 && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGXFSZ ? EFBIG : EPROTO;
}

/* Handles a filter that nobody can run now; returns 0 if it is left out. */
static int
handle_busy(struct chain_run *s)
{
	count_filter(s, PROGRAM_STATS_REFUSED);
	s->run->retry_after = s->backend->retry_after;
	if (!get_program(s)->optional)
		return EAGAIN;
	s->run->has_left_out = true;
	s->number++;
	return 0;
}

/* A filter that waits for its place may be needless by then. */
static bool
may_be_needless(const struct chain_run *s)
{
	return s->run->is_made != NULL && !s->backend->started;
}

/* Sets how long the filter may take from now on. */
static void
set_time(struct chain_run *s, int64_t time)
{
	s->ends_at = s->all->clock->ms + time;
	evloop_arm(s->timer, s->all->clock->ms +
	    (may_be_needless(s) ? MIN(time, LOOK_MS) : time));
}

/* The time that it may take begins when it runs. */
static void
note_start(struct chain_run *s)
{
	if (s->backend->started)
		set_time(s, get_program(s)->answer);
}

static void	run_on(struct chain_run *, int error);

/* The program manager has told something of the filter that runs. */
static void
on_told(void *context)
{
	struct chain_run	*s = context;
	int		 error = 0;

	switch ((enum backend_end)s->backend->end) {
	case BACKEND_RUNS:
		note_start(s);
		return;
	case BACKEND_COMPLETE:
		if (s->backend->status == 0 && s->backend->file != -1)
			take_result(s);
		else
			error = get_failure(s);
		break;
	case BACKEND_BUSY:
		error = handle_busy(s);
		break;
	case BACKEND_FAILED:
		error = s->backend->error != 0 ? s->backend->error : EPROTO;
		count_filter(s, PROGRAM_STATS_FAILED);
		break;
	default:
		error = get_failure(s);
	}
	end_backend(s);
	run_on(s, error);
}

/* Has the next filter started; 0 or an errno. */
static int
start_filter(struct chain_run *s)
{
	const struct conf_program	*program = get_program(s);
	const struct backends		*all = s->all->backends;
	const struct backend_start	 start = {
		.program = (uint32_t)program->number,
		.manager = (uint32_t)program->manager,
		.place = (uint32_t)program->place,
		.protocol = CONF_CGI,
		.environment = s->run->environment,
		.body = s->input,
		.is_filter = true,
	};

	s->backend = all->start(all->context, &start, 1);
	if (s->backend == NULL && errno == EAGAIN &&
	    s->all->clock->ms < s->ask_until) {
		evloop_arm(s->timer, s->all->clock->ms + ASK_MS);
		return 0;
	}
	if (s->backend == NULL)
		return errno;
	count_filter(s, PROGRAM_STATS_REQUESTS);
	s->backend->told = on_told;
	s->backend->told_context = s;
	set_time(s, program->within + program->answer);
	return 0;
}

static int
begin_filter(struct chain_run *s)
{
	s->ask_until = s->all->clock->ms + get_program(s)->within;
	return start_filter(s);
}

/* Goes on with the next filter, or ends the run. */
static void
run_on(struct chain_run *s, int error)
{
	if (error == 0 && s->number < s->run->n) {
		error = begin_filter(s);
		if (error == 0)
			return;
	}
	end_run(s, error);
}

/* The filter takes too long, or still waits for its place. */
static void
look_at_run(struct chain_run *s)
{
	int64_t	left = s->ends_at - s->all->clock->ms;

	if (left <= 0) {
		count_filter(s, PROGRAM_STATS_LATE);
		end_run(s, ETIMEDOUT);
	} else if (may_be_needless(s) && s->run->is_made(s->run))
		end_run(s, ECANCELED);
	else
		set_time(s, left);
}

/* A filter that runs or waits is looked at, or its manager asked again. */
static void
on_time(void *context)
{
	struct chain_run	*s = context;
	int			 error;

	if (s->backend != NULL) {
		look_at_run(s);
		return;
	}
	error = start_filter(s);
	if (error != 0)
		end_run(s, error);
}

struct filters *
filters_new(const struct backends *backends, struct evloop *loop,
    const struct clock *clock)
{
	struct filters	*all = mem_zero(sizeof(*all));

	all->backends = backends;
	all->loop = loop;
	all->clock = clock;
	LIST_INIT(&all->runs);
	return all;
}

enum submitted
filters_run(struct filters *all, struct filter_run *run)
{
	struct chain_run	*s = mem_zero(sizeof(*s));
	int		 error;

	s->all = all;
	s->run = run;
	s->input = run->source;
	s->timer = evloop_timer(all->loop, on_time, s);
	LIST_INSERT_HEAD(&all->runs, s, link);
	run->task.abandon = NULL;
	error = begin_filter(s);
	if (error == 0)
		return SUBMITTED_PENDING;
	end_run(s, error);
	return SUBMITTED_COMPLETED;
}

bool
filters_run_now(const struct filters *all)
{
	return !LIST_EMPTY(&all->runs);
}

void
filters_end(struct filters *all)
{
	while (!LIST_EMPTY(&all->runs))
		end_run(LIST_FIRST(&all->runs), ECANCELED);
}

void
filters_free(struct filters **allp)
{
	mem_drop(allp);
}
