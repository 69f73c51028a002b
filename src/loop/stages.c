/*
 * stages: hands clients on.
 */
#include <stddef.h>

#include "lib/counter.h"
#include "lib/mem.h"
#include "loop/acceptor.h"
#include "loop/clients_private.h"
#include "loop/stages.h"
#include "stats/stats.h"

#define LOOK	1000	/* ms until those are seen who have come quietly */

struct stages {				/* as one of them sees it */
	enum stage		 stage;		/* its own */
	struct clients		*clients;
	struct clients *const	*all;
	struct mailbox		*queue;
	struct flag_msg		 crowded;	/* to it: make room */
	struct flag_msg		 eased;		/* from it: there may be some */
	bool			 ending;
	/* Who reads requests: */
	size_t			 away;		/* watched, but elsewhere */
	unsigned		 called;	/* so many of those */
	atomic_bool		 eager;		/* there are some */
	struct watch		*look;		/* for those who are back, */
	bool			 looks;		/* ... after some time */
	struct flag_msg		 stir;		/* to it: look at once */
};

struct clients *
stages_host(struct clients *all)
{
	return all->stages == NULL ? all : all->stages->all[STAGE_ACCEPT];
}

static struct stages *
home_of(const struct client *c)
{
	return c->all->stages->all[STAGE_READ_REQUEST]->stages;
}

static bool
reads(const struct stages *s)
{
	return s->stage == STAGE_READ_REQUEST;
}

/*
 * Who reads requests
 */

/* So many have called whom it has handed on: they are not to lie there. */
static void
call(struct stages *s, int more)
{
	s->called = (unsigned)((int)s->called + more);
	if ((s->called > 0) != s->eager)
		atomic_store(&s->eager, s->called > 0);
}

static void
leaves(struct stages *s, struct client *c)
{
	c->away = true;
	c->called = c->called || c->saw_eof;
	if (c->called)
		call(s, 1);
	s->away++;
	if (!s->looks)
		evloop_arm(s->look, s->clients->clock->ms + LOOK);
	s->looks = true;
}

static void
returns(struct stages *s, struct client *c)
{
	c->away = false;
	s->away--;
	if (c->called)
		call(s, -1);
}

/* Those that lie there are taken at the end of this turn. */
static void
look(void *context)
{
	struct stages	*s = context;

	s->looks = s->away > 0;
	if (s->looks)
		evloop_arm(s->look, s->clients->clock->ms + LOOK);
}

/* One that is watched, wherever it is.  Its end is told once, and stands behind
 * whatever is still to be read. */
static void
ready(void *context)
{
	struct client	*c = context;

	if (evloop_saw_eof(c))
		c->saw_eof = true;
	if (!c->away)
		clients_wake(c, OUTCOME_READY);
	else if (!c->called) {
		c->called = true;
		call(evloop_ctx(c), 1);
	}
}

/*
 * On the way
 */

static struct client *
client_of(struct mail *place)
{
	return (struct client *)((char *)place -
	    offsetof(struct client, mail));
}

static void
arrive(struct mail *place)
{
	struct client	*c = client_of(place);
	struct stages	*here = c->all->stages;

	if (here->ending) {
		clients_close(c);
		return;
	}
	if (reads(here) && c->away)
		returns(here, c);
	clients_run(c);
}

static void
put(struct client *c, const struct stages *from, const struct stages *to,
    void (*take)(struct mail *))
{
	c->mail.deliver = take;
	mailbox_post_late(from->queue, to->queue, &c->mail);
}

/* On its way to where it is watched, or ends, it has come by who reads
 * requests, and is not watched there any more. */
static void
release(struct mail *place)
{
	struct client	*c = client_of(place);
	struct stages	*home = home_of(c);

	if (home->ending) {
		clients_close(c);
		return;
	}
	returns(home, c);
	c->watched = c->called = c->saw_eof = false;
	evloop_move(c, c->all->loop);
	put(c, home, c->all->stages, arrive);
}

/* Somebody waits for those that return. */
static bool
is_awaited(const struct stages *home)
{
	return atomic_load(&home->eager) || home->clients->draining ||
	    stages_host(home->clients)->paused;
}

/* Who has nothing to do there need not wake it. */
static void
go_home(struct client *c, const struct stages *from, const struct stages *home)
{
	if (!machine_rests(c->peer) || is_awaited(home)) {
		put(c, from, home, arrive);
		return;
	}
	c->mail.deliver = arrive;
	mailbox_post_quiet(home->queue, &c->mail);
	if (is_awaited(home))		/* since just now */
		mailbox_wake(home->queue);
}

/* It waits for nothing, and from here on it is the other thread's. */
static void
hand_on(struct client *c, struct clients *to)
{
	struct stages	*from = c->all->stages, *home = home_of(c);
	bool		 over = to->stages->stage == STAGE_ACCEPT;

	clients_unlist(c);
	machine_move(c->peer, to->http);
	c->all = to;
	if (c->watched && from == home) {
		c->watched = !over;
		if (!over)
			leaves(home, c);
	}
	if (!c->watched)
		evloop_move(c, to->loop);
	if (c->watched && over)
		put(c, from, home, release);
	else if (c->watched && to->stages == home)
		go_home(c, from, home);
	else
		put(c, from, to->stages, arrive);
}

/* Others cannot wait for what is watched by who reads requests. */
static void
settle(struct client *c, const struct wait *w)
{
	const struct stages	*here = c->all->stages;

	if (reads(here))
		c->watched = clients_read_event(c) == EVLOOP_EDGE &&
		    w->kind == WAIT_READ;
	if (!c->watched || reads(here))
		clients_wait(c, w);
	else if (w->kind == WAIT_READ || w->kind == WAIT_WRITE) {
		/* A deadline of what it waited for before is over. */
		clients_unlist(c);
		put(c, here, home_of(c), release);
	} else
		clients_file(c, w);
}

static bool
is_unread(const struct client *c)
{
	return c->called || c->saw_eof;
}

void
stages_run(struct client *c)
{
	const struct stages	*here = c->all->stages;
	enum stage		 next;
	const struct wait	*w;

	for (;;) {
		next = here->stage;
		w = machine_run_stage(c->peer, &next);
		if (next != here->stage) {
			hand_on(c, here->all[next]);
			return;
		}
		if (!reads(here) || !is_unread(c) || w->kind != WAIT_READ)
			break;
		c->called = false;
		machine_wake(c->peer, OUTCOME_READY);
	}
	settle(c, w);
}

/*
 * Room
 */

void
stages_ease(struct clients *all)
{
	const struct clients	*host = stages_host(all);

	if (host->paused && !host->draining)
		mailbox_flag_send(&all->stages->eased, host->stages->queue);
}

/* Who waits outside may come in. */
static void
heed_ease(void *context, unsigned times)
{
	struct clients	*all = context;

	(void)times;
	if (all->paused && !all->draining)
		acceptor_set_open(all, true);
}

static void
heed_crowd(void *context, unsigned times)
{
	while (times-- > 0 && clients_evict(context))
		continue;
}

/* The stage that has idle clients, which can make room for others; NULL: there
 * are none, or as many have been asked to already, and have not gone yet. */
static const struct clients *
roomy(const struct clients *all)
{
	const struct clients	*reads = all->stages->all[STAGE_READ_REQUEST];
	size_t			 count = tally_read_size(&all->count);
	size_t			 over = count > all->limit ?
				    count - all->limit : 0;

	return tally_read_size(&reads->list_len[TIMEOUT_IDLE]) > over ?
	    reads : NULL;
}

bool
stages_can_make_room(const struct clients *all)
{
	return roomy(all) != NULL;
}

/* The doors are closed.  By now this stage has seen who lay there; and whoever
 * came to wait here before it was told, may have found the doors open still.
 * Of those that linger only this stage knows who has taken all of a response:
 * one that has makes room when it ends. */
static void
heed_stir(void *context, unsigned times)
{
	struct clients	*all = context;
	struct client	*c;

	(void)times;
	if (all->stages->stage == STAGE_SEND_DATA &&
	    (c = clients_find_lingering(all)) != NULL) {
		stats_count(STATS_MADE_ROOM);
		clients_wake(c, OUTCOME_CANCELLED);
	}
	if (roomy(stages_host(all)) != NULL)
		stages_ease(all);
}

void
stages_stir(const struct clients *all)
{
	static const enum stage	 who[] = {
		STAGE_READ_REQUEST, STAGE_SEND_DATA
	};
	struct stages		*s;

	for (size_t i = 0; i < sizeof(who) / sizeof(who[0]); i++) {
		s = all->stages->all[who[i]]->stages;
		mailbox_flag_send(&s->stir, s->queue);
	}
}

bool
stages_make_room(const struct clients *all)
{
	const struct clients	*there = roomy(all);

	if (there != NULL)
		mailbox_flag_send(
		    &there->stages->crowded, there->stages->queue);
	return there != NULL;
}

void
stages_join(struct clients *all, enum stage stage,
    struct clients *const *others, struct mailbox *queue)
{
	struct stages	*s = mem_zero(sizeof(*s));

	s->stage = stage;
	s->clients = all;
	s->all = others;
	s->queue = queue;
	mailbox_flag_init(&s->crowded, heed_crowd, all);
	mailbox_flag_init(&s->eased, heed_ease, others[STAGE_ACCEPT]);
	mailbox_flag_init(&s->stir, heed_stir, all);
	s->look = evloop_timer(all->loop, look, s);
	evloop_set_ctx(all->loop, s);
	all->on_ready = ready;
	/* Others lend what they watch to nobody. */
	if (stage != STAGE_READ_REQUEST)
		all->read_event = EVLOOP_READ;
	all->stages = s;
}

void
stages_leave(struct clients *all)
{
	evloop_unwatch(&all->stages->look);
	mem_drop(&all->stages);
}

void
stages_end(struct clients *all)
{
	all->stages->ending = true;
	clients_end(all);
}
