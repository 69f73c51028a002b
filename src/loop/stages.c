/*
 * stages: passes connections from stage to stage.
 */
#include <stddef.h>
#include <stdlib.h>

#include "lib/counter.h"
#include "lib/mem.h"
#include "loop/accept.h"
#include "loop/stages.h"
#include "stats/stats.h"

#define RECHECK_DELAY	1000	/* ms until quietly returned connections are
				 * taken from the mailbox */

struct stages {				/* one stage */
	enum stage		 stage;
	struct clients		*clients;
	struct clients *const	*by_stage;	/* clients of all stages */
	struct mailbox		*mailbox;
	struct flag_msg		 need_room;	/* to this stage: evict */
	struct flag_msg		 room_freed;	/* from it to STAGE_ACCEPT */
	struct flag_msg		 poke;		/* to it: accepting is paused */
	bool			 ending;	/* stages_end() was called */
	/* The rest is for the read stage. */
	size_t			 nelsewhere;	/* watched here, elsewhere */
	unsigned		 ninput;	/* of these, with new input */
	atomic_bool		 has_input;	/* ninput > 0 */
	struct watch		*recheck_timer;
	bool			 recheck_set;	/* the timer is armed */
};

static struct stages *
read_stage_of(const struct client *c)
{
	return c->all->stages->by_stage[STAGE_READ_REQUEST]->stages;
}

static bool
is_read_stage(const struct stages *s)
{
	return s->stage == STAGE_READ_REQUEST;
}

/*
 * The read stage (STAGE_READ_REQUEST)
 */

/* Counts connections that are elsewhere and have new input: when they return
 * they must wake this stage. */
static void
count_input(struct stages *s, int more)
{
	s->ninput = (unsigned)((int)s->ninput + more);
	if ((s->ninput > 0) != s->has_input)
		atomic_store(&s->has_input, s->ninput > 0);
}

static void
client_leaves(struct stages *s, struct client *c)
{
	c->elsewhere = true;
	s->nelsewhere++;
	if (!s->recheck_set)
		evloop_arm(s->recheck_timer,
		    s->clients->clock->ms + RECHECK_DELAY);
	s->recheck_set = true;
}

static void
client_returns(struct stages *s, struct client *c)
{
	c->elsewhere = false;
	s->nelsewhere--;
	if (!c->has_input)
		return;
	c->has_input = false;
	count_input(s, -1);
	c->sock.drained = false;
	c->sock.saw_eof |= c->saw_eof;
}

/* The timer only starts an iteration, whose end empties the mailbox. */
static void
recheck_clients(void *context)
{
	struct stages	*s = context;

	s->recheck_set = s->nelsewhere > 0;
	if (s->recheck_set)
		evloop_arm(s->recheck_timer,
		    s->clients->clock->ms + RECHECK_DELAY);
}

/* Called for a watched connection, wherever it is.  The end of its input is
 * reported once, and comes behind the unread input. */
static void
on_ready(void *context)
{
	struct client	*c = context;

	if (!c->elsewhere) {
		clients_note_ready(c);
		clients_wake(c, OUTCOME_NONE);
		return;
	}
	if (evloop_saw_eof(c))
		c->saw_eof = true;
	if (!c->has_input) {
		c->has_input = true;
		count_input(evloop_ctx(c), 1);
	}
}

/*
 * From stage to stage
 */

static struct client *
client_of_mail(struct mail *mail)
{
	return (struct client *)((char *)mail -
	    offsetof(struct client, mail));
}

static void
deliver_client(struct mail *mail)
{
	struct client	*c = client_of_mail(mail);
	struct stages	*here = c->all->stages;

	if (here->ending) {
		clients_break_off(c);
		return;
	}
	if (is_read_stage(here) && c->elsewhere)
		client_returns(here, c);
	clients_wake(c, OUTCOME_NONE);
}

static void
post_client(struct client *c, const struct stages *from,
    const struct stages *to, void (*deliver)(struct mail *))
{
	c->mail.deliver = deliver;
	mailbox_post_late(from->mailbox, to->mailbox, &c->mail);
}

/* The read stage stops watching a connection that is on its way to another
 * stage, to be watched or closed there. */
static void
release_client(struct mail *mail)
{
	struct client	*c = client_of_mail(mail);
	struct stages	*read_stage = read_stage_of(c);

	if (read_stage->ending) {
		clients_break_off(c);
		return;
	}
	client_returns(read_stage, c);
	c->watched = false;
	evloop_move(c, c->all->loop);
	post_client(c, read_stage, c->all->stages, deliver_client);
}

/* Whether a connection that returns must wake the read stage. */
static bool
wants_returns(const struct stages *read_stage)
{
	return atomic_load(&read_stage->has_input) ||
	    read_stage->clients->draining ||
	    read_stage->clients->home->acceptor->paused;
}

/* A connection without input returns to the read stage without waking it. */
static void
return_client(struct client *c, const struct stages *from,
    const struct stages *read_stage)
{
	if (!machine_is_idle(c->session) || !c->sock.drained ||
	    wants_returns(read_stage)) {
		post_client(c, from, read_stage, deliver_client);
		return;
	}
	c->mail.deliver = deliver_client;
	mailbox_post_quiet(read_stage->mailbox, &c->mail);
	if (wants_returns(read_stage))		/* after all */
		mailbox_wake(read_stage->mailbox);
}

/* The connection waits for nothing; afterwards it belongs to the other stage's
 * thread. */
static void
pass_on(struct client *c, struct clients *to)
{
	struct stages	*from = c->all->stages, *read_stage = read_stage_of(c);
	bool		 over = to->stages->stage == STAGE_ACCEPT;

	clients_unlist(c);
	machine_move(c->session, to->http);
	c->all = to;
	if (c->watched && from == read_stage) {
		c->watched = !over;
		if (!over)
			client_leaves(read_stage, c);
	}
	if (!c->watched)
		evloop_move(c, to->loop);
	if (c->watched && over)
		post_client(c, from, read_stage, release_client);
	else if (c->watched && to->stages == read_stage)
		return_client(c, from, read_stage);
	else
		post_client(c, from, to->stages, deliver_client);
}

/* Only the read stage can wait for the descriptor of a connection that it
 * watches: another stage gets the watch first. */
static void
set_wait(struct client *c, const struct wait *w, enum net_state state)
{
	const struct stages	*here = c->all->stages;

	if (is_read_stage(here))
		c->watched = clients_read_event(c) == EVLOOP_EDGE &&
		    state == NET_READ;
	if (!c->watched || is_read_stage(here)) {
		clients_wait(c, w, state);
		return;
	}
	machine_park(c->session);
	if (state == NET_NONE && w->kind != WAIT_BACKEND)
		clients_file(c, w);
	else {
		/* The deadline of its last wait no longer counts. */
		clients_unlist(c);
		post_client(c, here, read_stage_of(c), release_client);
	}
}

/* Parks a connection, then passes it on or lets it wait. */
static void
wait_in_stage(struct client *c, const struct wait *w, enum net_state state)
{
	struct clients	*next;

	if (w->kind != WAIT_STAGE) {
		set_wait(c, w, state);
		return;
	}
	next = c->all->stages->by_stage[w->stage];
	machine_park(c->session);
	pass_on(c, next);
}

/*
 * Room
 */

static void
report_room(const struct clients *all)
{
	const struct clients	*home = all->home;

	if (home->acceptor->paused && !home->draining)
		mailbox_flag_send(&all->stages->room_freed,
		    home->stages->mailbox);
}

static void
on_wait(struct clients *all, enum timeout timeout)
{
	if (timeout == TIMEOUT_LINGER || timeout == TIMEOUT_IDLE)
		report_room(all);
}

static void
on_room_freed(void *context, unsigned times)
{
	struct clients	*all = context;

	(void)times;
	if (all->acceptor->paused && !all->draining)
		accept_start(all->acceptor);
}

static void
on_need_room(void *context, unsigned times)
{
	while (times-- > 0 && clients_evict(context))
		continue;
}

/* The stage with idle connections, which can be evicted.  NULL: there are none,
 * or as many have been asked for already and have not been closed yet. */
static const struct clients *
evictable_in(const struct clients *all)
{
	const struct clients	*reads =
				    all->stages->by_stage[STAGE_READ_REQUEST];
	size_t			 count = counter_read_size(&all->count);
	size_t			 over = count > all->limit ?
				    count - all->limit : 0;

	return counter_read_size(&reads->list_len[TIMEOUT_IDLE]) > over ?
	    reads : NULL;
}

static bool
can_evict(const struct clients *all)
{
	return evictable_in(all) != NULL;
}

/* Accepting is paused.  By now this stage has taken all connections from its
 * mailbox, and reports those that began to wait before the pause.  Only
 * STAGE_SEND_DATA knows which lingering connection has sent all its output, and
 * closes one. */
static void
on_poke(void *context, unsigned times)
{
	struct clients	*all = context;
	struct client	*c;

	(void)times;
	if (all->stages->stage == STAGE_SEND_DATA &&
	    (c = clients_find_lingering(all)) != NULL) {
		stats_count(STATS_CONNECTIONS_EVICTED);
		clients_wake(c, OUTCOME_CANCELLED);
	}
	if (evictable_in(all->home) != NULL)
		report_room(all);
}

/* After accepting was paused: asks the stages to report any connection that can
 * make room. */
static void
on_pause(const struct clients *all)
{
	static const enum stage	 stages[] = {
		STAGE_READ_REQUEST, STAGE_SEND_DATA
	};
	struct stages		*s;

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		s = all->stages->by_stage[stages[i]]->stages;
		mailbox_flag_send(&s->poke, s->mailbox);
	}
}

static bool
ask_to_evict(struct clients *all)
{
	const struct clients	*there = evictable_in(all);

	if (there != NULL)
		mailbox_flag_send(&there->stages->need_room,
		    there->stages->mailbox);
	return there != NULL;
}

void
stages_join(struct clients *all, enum stage stage,
    struct clients *const *by_stage, struct mailbox *mailbox)
{
	struct stages	*s = mem_zero(sizeof(*s));

	s->stage = stage;
	s->clients = all;
	s->by_stage = by_stage;
	s->mailbox = mailbox;
	mailbox_flag_init(&s->need_room, on_need_room, all);
	mailbox_flag_init(&s->room_freed, on_room_freed,
	    by_stage[STAGE_ACCEPT]);
	mailbox_flag_init(&s->poke, on_poke, all);
	s->recheck_timer = evloop_timer(all->loop, recheck_clients, s);
	evloop_set_ctx(all->loop, s);
	all->home = by_stage[STAGE_ACCEPT];
	all->wait = wait_in_stage;
	all->runs = 1U << stage;
	all->on_ready = on_ready;
	all->on_wait = on_wait;
	all->on_pause = on_pause;
	all->evict = ask_to_evict;
	all->can_evict = can_evict;
	/* Another stage watches only connections that it keeps. */
	if (stage != STAGE_READ_REQUEST)
		all->read_event = EVLOOP_READ;
	all->stages = s;
}

void
stages_free(struct clients **ap)
{
	struct stages	*s = (*ap)->stages;

	acceptor_free(*ap);
	evloop_unwatch(&s->recheck_timer);
	clients_free(ap);
	free(s);
}

void
stages_end(struct clients *all)
{
	all->stages->ending = true;
	clients_end(all);
}
