/*
 * passages: pipes between the program that answers, the filters of a chain and
 * the connection.
 *
 * The filters are started one after the other: each gets the pipe of the output
 * of the one before, and main reads the pipe of the last one.  The first filter
 * gets a pipe from main, into which the output of the source is poured: main
 * copies only what it has read with the head, what is kept, and an answer of
 * FastCGI, as its bytes stand in frames.  No filter gets a byte before all run,
 * so those that find no place cost nothing of the answer.
 *
 * A connection that is woken may leave its passage at once, so each callback
 * wakes it in its last statement.
 */
#include <sys/param.h>
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
#include "loop/clients_private.h"
#include "loop/passages.h"
#include "stats/program_stats.h"

#define POUR_SIZE	(1024 * 1024)	/* bytes that are poured at once; more
					 * than most pipes hold */

struct passages {
	const struct backends	*backends;
	struct evloop		*loop;
	struct mailbox		*mailbox;	/* NULL: there is one thread */
	struct held_total	*total;
	struct buf		 spare;		/* struct held */
};

struct flow;

/* A filter of a passage. */
struct filter {
	struct flow		*flow;
	const struct conf_program *program;
	struct backend		*backend;	/* NULL: not asked for, or left
						 * out */
	bool			 is_counted;	/* how it has ended */
};

/* A passage, as the driver has it. */
struct flow {
	struct passage		 passage;	/* first: casts rely on it */
	struct passages		*all;
	char			*name;		/* owned, as the next two */
	struct buf		 environment;
	struct filter		*filters;
	size_t			 n, next;	/* the next one to start */
	uint64_t		 group;		/* see struct backend */
	struct backend		*source;	/* NULL: the machine's again */
	struct filter		*first;		/* of those that run, or NULL */
	size_t			 fed;		/* bytes of passage.kept */
	int64_t			 left;		/* of the body, not in kept nor
						 * fed; -1: unknown */
	size_t			 keep;		/* bytes of kept at most */
	size_t			 counted;	/* of their memory, in
						 * all->total */
	bool			 pours;		/* the source's output: nothing
						 * more is kept */
	bool			 is_whole;	/* all was fed */
	bool			 has_output;	/* some has come */
	int			 pipe;		/* the last one's; -1: none */
	struct watch		*readable;
	struct held		 held;		/* the output */
	int64_t			 written;	/* bytes since more was fed */
	struct mail		 mail;
};

/* Finds the first filter that has not ended: the others may wait for it. */
static struct filter *
find_slowest(struct flow *f)
{
	size_t	i = 0;

	while (i < f->n - 1 && i < f->next && (f->filters[i].backend == NULL ||
	    f->filters[i].backend->end != BACKEND_RUNS))
		i++;
	return &f->filters[i];
}

static void
wake_waiter(struct flow *f)
{
	f->passage.slowest = find_slowest(f)->program;
	if (f->passage.output.waiter != NULL)
		clients_wake(f->passage.output.waiter, OUTCOME_READY);
}

static void
count_filter(struct filter *p, enum program_stats_counter counter)
{
	if (!p->is_counted)
		program_stats_add(p->program->number, counter, 1);
	p->is_counted = true;
}

/*
 * Ends
 */

/* Ends a filter, and ignores all reports about it that may still come. */
static void
end_filter(struct filter *p)
{
	if (p->backend == NULL)
		return;
	count_filter(p, PROGRAM_STATS_LEFT);
	p->backend->told = NULL;
	p->flow->all->backends->end(&p->backend);
}

static void
close_output(struct flow *f)
{
	if (f->readable != NULL)
		evloop_unwatch(&f->readable);
	io_close(&f->pipe);
}

/* Ends all filters; the source is the machine's again. */
static void
end_flow(struct flow *f, enum backend_end end, int error)
{
	struct passage	*p = &f->passage;

	for (size_t i = 0; i < f->n; i++)
		end_filter(&f->filters[i]);
	close_output(f);
	if (f->source != NULL) {
		if (f->pours)
			f->all->backends->let_in(f->source);
		f->source->told = NULL;
		f->source = NULL;
	}
	p->output.end = (uint8_t)end;
	p->output.error = error;
	p->output.room = 0;
	p->awaits_source = false;
	p->moved++;
}

/* Ends all, as a filter has failed, which the log says. */
static void
fail_flow(struct flow *f, const struct filter *of, int error)
{
	const struct conf_program	*p = of->program;

	if (error == EFBIG)
		log_warnx("filter %s: %s: it writes more than %lld bytes "
		    "(result)", p->name, f->name, (long long)p->result);
	else if (error == ETIMEDOUT)
		log_warnx("filter %s: %s: ended, since it takes longer than "
		    "%lld ms (answer)", p->name, f->name,
		    (long long)p->answer);
	else if (error == EPROTO)
		log_warnx("filter %s: %s: failed: lines of %s[PID] say how",
		    p->name, f->name, p->name);
	else if (error == EMFILE || error == ENFILE)
		log_warnx("filter %s: %s: it has no place, as too few files "
		    "may be open; raise the limit (ulimit -n)", p->name,
		    f->name);
	else if (error != EAGAIN && error != ENODATA)
		log_warnx("filter %s: %s: cannot start %s: %s", p->name,
		    f->name, p->application != NULL ? p->application->name :
		    p->command.at[0], strerror(error));
	end_flow(f, BACKEND_FAILED, error);
}

static bool
has_status(const struct filter *p, int signo)
{
	int	status = p->backend->status;

	return status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == signo;
}

static struct filter *
find_next(const struct flow *f, const struct filter *of)
{
	for (size_t i = (size_t)(of - f->filters) + 1; i < f->n; i++)
		if (f->filters[i].backend != NULL)
			return &f->filters[i];
	return NULL;
}

/* Whether SIGPIPE has killed a filter: the next one has stopped reading. */
static bool
is_cut(const struct flow *f, const struct filter *p)
{
	return find_next(f, p) != NULL && has_status(p, SIGPIPE);
}

/* Whether a filter has ended as it should.  SIGPIPE may kill it if the next
 * filter, which has stopped reading, has ended well. */
static bool
has_ended_well(const struct flow *f, const struct filter *p)
{
	return (p->backend->end == BACKEND_COMPLETE &&
	    p->backend->status == 0) ||
	    (is_cut(f, p) && has_ended_well(f, find_next(f, p)));
}

/* Whether a filter has ended as it should, or may still do so. */
static bool
may_have_ended_well(const struct flow *f, const struct filter *p)
{
	return p->backend->end == BACKEND_RUNS || has_ended_well(f, p) ||
	    (is_cut(f, p) && may_have_ended_well(f, find_next(f, p)));
}

static bool
have_all_ended(const struct flow *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->filters[i].backend != NULL &&
		    f->filters[i].backend->end == BACKEND_RUNS)
			return false;
	return true;
}

/* Completes the passage: the output is whole, and all filters have ended. */
static void
complete_flow(struct flow *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->filters[i].backend != NULL)
			count_filter(&f->filters[i], PROGRAM_STATS_ANSWERED);
	end_flow(f, BACKEND_COMPLETE, 0);
}

/*
 * The answer, to the first filter
 */

/* Moves a part of the source's output to what is kept; false: there is no room
 * for that. */
static bool
keep_bytes(struct flow *f, size_t n)
{
	struct passage	*p = &f->passage;

	if (p->is_lost || p->kept.len + n > f->keep || f->has_output ||
	    !held_grow(f->all->total, &f->counted, p->kept.len + n))
		return false;
	buf_add(&p->kept, f->source->at, n);
	f->all->backends->consume(f->source, n);
	return true;
}

/* Begins to pour, as no more is to be kept. */
static void
begin_pouring(struct flow *f)
{
	f->pours = f->all->backends->keep_out(f->source);
}

/* Bytes were fed that are not kept. */
static void
lose_kept(struct flow *f)
{
	if (f->passage.is_lost)
		return;
	f->passage.is_lost = true;
	buf_free(&f->passage.kept);
	held_uncount(f->all->total, &f->counted);
	f->fed = 0;
	if (f->keep > 0)
		begin_pouring(f);
}

/* How many of so many bytes belong to the body. */
static size_t
limit_bytes(const struct flow *f, size_t n)
{
	return f->left == -1 ? n : (size_t)MIN((int64_t)n, f->left);
}

static void
count_fed(struct flow *f, size_t n)
{
	if (f->left != -1)
		f->left -= (int64_t)n;
}

/* Sends what comes next of what main has read; false: there is nothing now. */
static bool
feed_next(struct flow *f)
{
	struct passage		*p = &f->passage;
	const struct backends	*all = f->all->backends;
	struct backend		*to = f->first->backend;
	size_t			 n = MIN(p->kept.len - f->fed, to->room);

	if (n > 0) {
		all->send(to, p->kept.at + f->fed, n);
		f->fed += n;
		return true;
	}
	n = limit_bytes(f, MIN(f->source->len, to->room));
	if (n == 0)
		return false;
	count_fed(f, n);
	if (keep_bytes(f, n))
		return true;
	lose_kept(f);
	all->send(to, f->source->at, n);
	all->consume(f->source, n);
	return true;
}

/* Pours once: the loop says when there is more.  False: nothing was moved. */
static bool
pour_next(struct flow *f)
{
	struct backend	*to = f->first->backend;
	size_t		 n = limit_bytes(f, POUR_SIZE);
	ssize_t		 moved;

	if (!f->pours || f->source->len > 0 || to->room == 0 || n == 0)
		return false;
	moved = f->all->backends->pour(f->source, to, n);
	if (moved == -1) {
		f->pours = false;
		f->all->backends->let_in(f->source);
	}
	if (moved <= 0)
		return false;
	lose_kept(f);
	count_fed(f, (size_t)moved);
	return true;
}

/* Whether the source's body ends here: by its length, or with the program. */
static bool
is_at_end(const struct flow *f)
{
	return f->fed == f->passage.kept.len && (f->left == 0 ||
	    (f->source->end != BACKEND_RUNS && f->source->len == 0));
}

/* Says for whom the machine waits, by whose time. */
static void
set_awaited(struct flow *f, bool is_source)
{
	if (f->passage.awaits_source != is_source)
		f->passage.moved++;
	f->passage.awaits_source = is_source;
}

/* Feeds as much as the first filter takes. */
static void
feed_first(struct flow *f)
{
	struct backend	*to = f->first->backend;
	unsigned	 before = f->passage.moved;

	while (to->end == BACKEND_RUNS && feed_next(f))
		f->passage.moved++;
	if (to->end == BACKEND_RUNS && pour_next(f))
		f->passage.moved++;
	if (f->passage.moved != before)
		f->written = 0;
	if (is_at_end(f) && !f->is_whole) {
		f->is_whole = true;
		f->passage.moved++;
		if (f->left > 0 || (f->left == -1 &&
		    f->source->end != BACKEND_COMPLETE)) {
			end_flow(f, BACKEND_BROKEN, 0);
			return;
		}
		if (to->end == BACKEND_RUNS)
			f->all->backends->finish(to);
	}
	/* Until the end nobody takes more of it. */
	if (f->pours && (f->is_whole || to->end != BACKEND_RUNS))
		(void)f->all->backends->keep_out(f->source);
	set_awaited(f, !f->is_whole && f->source->len == 0 && to->room > 0);
}

static void
on_source(void *context)
{
	struct flow	*f = context;

	if (f->passage.output.started)
		feed_first(f);
	wake_waiter(f);
}

/*
 * Output of the last one
 */

/* Ends the output, without what processes that filters have left may write. */
static void
end_output(struct flow *f)
{
	close_output(f);
	if (have_all_ended(f))
		complete_flow(f);
}

/* The program that wrote it last, whose limit counts. */
static struct filter *
get_last(const struct flow *f)
{
	struct filter	*p = f->first, *next;

	while ((next = find_next(f, p)) != NULL)
		p = next;
	return p;
}

static void
take_bytes(struct flow *f, size_t n)
{
	struct filter	*last = get_last(f);

	f->has_output = true;
	f->held.output.len += n;
	f->passage.output.len += n;
	f->passage.moved++;
	f->written += (int64_t)n;
	if (f->written > last->program->result) {
		count_filter(last, PROGRAM_STATS_FAILED);
		fail_flow(f, last, EFBIG);
		return;
	}
}

static void
read_output(struct flow *f)
{
	struct buf	*output = &f->held.output;
	size_t		 room = held_make_room(&f->held, &f->passage.output);
	ssize_t		 n;

	if (room == 0) {
		evloop_set(f->readable, EVLOOP_NONE);
		return;
	}
	n = read(f->pipe, output->at + output->len, room);
	if (n > 0)
		take_bytes(f, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR) ||
	    (errno == EAGAIN && have_all_ended(f)))
		end_output(f);
}

/* All filters have ended: reads what is left. */
static void
read_rest(struct flow *f)
{
	size_t	before;

	if (f->readable == NULL) {
		complete_flow(f);
		return;
	}
	do {
		before = f->passage.output.len;
		read_output(f);
	} while (f->readable != NULL && f->passage.output.len > before);
}

static void
on_output(void *context)
{
	struct flow	*f = context;

	if (have_all_ended(f))
		read_rest(f);
	else
		read_output(f);
	wake_waiter(f);
}

void
passages_take(struct passage *p, size_t n)
{
	struct flow	*f = (struct flow *)p;

	held_consume(&f->held, &p->output, n);
	if (f->readable == NULL || !held_is_low(&f->held, &p->output))
		return;
	evloop_set(f->readable, EVLOOP_READ);
	/* A process that they have left behind may keep the pipe open. */
	if (have_all_ended(f))
		read_rest(f);
}

/*
 * The beginning
 */

static void	on_filter(void *filter);

/* Asks for the next filter; 0 or an errno. */
static int
ask_for(struct flow *f, struct filter *p)
{
	const struct conf_program	*program = p->program;
	const struct backends		*all = f->all->backends;
	const struct backend_start	 start = {
		.program = (uint32_t)program->number,
		.manager = (uint32_t)program->manager,
		.place = (uint32_t)program->place,
		.protocol = CONF_CGI,
		.environment = { f->environment.at, f->environment.len },
		.body = f->pipe,
		.sends_body = f->pipe == -1,
		.is_filter = true, .is_piped = true,
		.group = f->group,
	};

	p->backend = all->start(all->context, &start, 1);
	if (p->backend == NULL)
		return errno;
	f->group = p->backend->group;
	program_stats_add(program->number, PROGRAM_STATS_REQUESTS, 1);
	p->backend->told = on_filter;
	p->backend->told_context = p;
	return 0;
}

/* All run: the answer begins to pass. */
static void
begin_flow(struct flow *f)
{
	f->passage.output.started = true;
	if (f->first == NULL) {
		fail_flow(f, &f->filters[0], ENODATA);
		return;
	}
	io_nonblock(f->pipe);
	f->readable = evloop_watch(f->all->loop, f->pipe, on_output, f);
	evloop_set(f->readable, EVLOOP_READ);
	feed_first(f);
}

static void
leave_out_next(struct flow *f)
{
	if (f->next < 32)
		f->passage.left_out |= UINT32_C(1) << f->next;
	f->next++;
}

/* Asks for the next filter that can be had now, or begins. */
static void
go_on(struct flow *f)
{
	int	error;

	for (; f->next < f->n; leave_out_next(f)) {
		error = ask_for(f, &f->filters[f->next]);
		if (error == 0)
			return;
		if (!f->filters[f->next].program->optional) {
			fail_flow(f, &f->filters[f->next], error);
			return;
		}
	}
	begin_flow(f);
}

/* The next one runs: its output is the input of the one after it. */
static void
note_start(struct flow *f, struct filter *p)
{
	io_close(&f->pipe);
	f->pipe = p->backend->file;
	p->backend->file = -1;
	if (f->first == NULL)
		f->first = p;
	f->next++;
	f->passage.moved++;
	go_on(f);
}

/* The next one finds no place. */
static void
handle_busy(struct flow *f, struct filter *p)
{
	count_filter(p, PROGRAM_STATS_REFUSED);
	f->passage.output.retry_after = p->backend->retry_after;
	end_filter(p);
	if (!p->program->optional) {
		fail_flow(f, p, EAGAIN);
		return;
	}
	leave_out_next(f);
	go_on(f);
}

static void
handle_no_start(struct flow *f, struct filter *p)
{
	count_filter(p, PROGRAM_STATS_FAILED);
	fail_flow(f, p, p->backend->error != 0 ? p->backend->error : EPROTO);
}

static void
handle_end(struct flow *f, struct filter *p)
{
	f->passage.moved++;
	if (!may_have_ended_well(f, p)) {
		count_filter(p, PROGRAM_STATS_FAILED);
		fail_flow(f, p, EPROTO);
		return;
	}
	for (size_t i = 0; i < f->n && have_all_ended(f); i++)
		if (f->filters[i].backend != NULL &&
		    !has_ended_well(f, &f->filters[i])) {
			count_filter(&f->filters[i], PROGRAM_STATS_FAILED);
			fail_flow(f, &f->filters[i], EPROTO);
			return;
		}
	if (have_all_ended(f) && f->passage.output.started)
		read_rest(f);
	else if (f->passage.output.started)
		feed_first(f);
}

/* Handles a manager's report about a filter, or that the filter takes more. */
static void
on_filter(void *filter)
{
	struct filter	*p = filter;
	struct flow	*f = p->flow;
	bool		 was_started = f->passage.output.started;

	if (p->backend->end == BACKEND_BUSY)
		handle_busy(f, p);
	else if (p->backend->end == BACKEND_FAILED)
		handle_no_start(f, p);
	else {
		/* The start and the end may be reported together. */
		if (p->backend->file != -1)
			note_start(f, p);
		if (p->backend != NULL && p->backend->end != BACKEND_RUNS)
			handle_end(f, p);
		else if (p == f->first && f->source != NULL && was_started)
			feed_first(f);
	}
	wake_waiter(f);
}

struct passage *
passages_pass(struct passages *all, struct passage_start *start)
{
	struct flow	*f = mem_zero(sizeof(*f));
	struct passage	*p = &f->passage;
	struct buf	 name = { 0 };
	struct str	 first = start->first;

	f->all = all;
	f->n = start->n;
	f->pipe = p->output.file = p->output.notes = -1;
	f->left = start->length;
	if (f->left != -1) {
		first.len = (size_t)MIN((int64_t)first.len, f->left);
		f->left -= (int64_t)first.len;
	}
	buf_add(&p->kept, first.at, first.len);
	buf_add(&name, start->name.at, start->name.len);
	f->name = mem_string(buf_string(&name));
	buf_free(&name);
	buf_add(&f->environment, start->environment.at,
	    start->environment.len);
	f->keep = start->keep;
	f->held = (struct held){ .total = all->total, .most = start->hold,
	    .spare = &all->spare };
	f->filters = mem_array(f->n, sizeof(*f->filters));
	for (size_t i = 0; i < f->n; i++)
		f->filters[i] = (struct filter){ .flow = f,
		    .program = start->programs[i] };
	f->source = start->source;
	/* A process that has answered may have its next request already. */
	if (f->source->end == BACKEND_RUNS)
		f->group = f->source->group;
	f->source->told = on_source;
	f->source->told_context = f;
	if (f->keep == 0)
		begin_pouring(f);
	go_on(f);
	p->slowest = find_slowest(f)->program;
	return p;
}

/*
 * The end
 */

void
passages_give_up(struct passage *p)
{
	struct flow	*f = (struct flow *)p;
	struct filter	*slowest = find_slowest(f);

	if (p->output.end != BACKEND_RUNS)
		return;
	count_filter(slowest, PROGRAM_STATS_LATE);
	fail_flow(f, slowest, ETIMEDOUT);
}

static void
free_flow(struct mail *mail)
{
	struct flow	*f = (struct flow *)(void *)((char *)mail -
			    offsetof(struct flow, mail));

	if (f->passage.output.end == BACKEND_RUNS)
		end_flow(f, BACKEND_BROKEN, 0);
	buf_free(&f->passage.kept);
	held_uncount(f->all->total, &f->counted);
	held_free(&f->held);
	buf_free(&f->environment);
	free(f->filters);
	free(f->name);
	free(f);
}

void
passages_leave(struct passage **pp)
{
	struct flow	*f = (struct flow *)*pp;

	*pp = NULL;
	f->mail.deliver = free_flow;
	if (f->all->mailbox != NULL)
		mailbox_post(f->all->mailbox, &f->mail);
	else
		free_flow(&f->mail);
}

struct passages *
passages_new(const struct backends *backends, struct evloop *loop,
    struct mailbox *mailbox, struct held_total *total)
{
	struct passages	*all = mem_zero(sizeof(*all));

	all->backends = backends;
	all->loop = loop;
	all->mailbox = mailbox;
	all->total = total;
	return all;
}

void
passages_free(struct passages **allp)
{
	buf_free(&(*allp)->spare);
	mem_drop(allp);
}
