/*
 * layer: reads a few bytes ahead, as a layer of records does.
 */
#include <sys/param.h>

#include <stdlib.h>

#include "lib/mem.h"
#include "t/layer.h"

#define AHEAD		3	/* bytes of one read */

/* Calls per wait of the layer's own: of a READ for input, of a READ for output,
 * of a WRITE. */
#define READS_PER_WAIT		4
#define READS_PER_WRITE_WAIT	32
#define WRITES_PER_WAIT		1021

#define SINGLE_WRITES	65536	/* of one byte; larger ones save time */
#define PIECE_MAX	4099	/* bytes of these */

struct layer {
	struct net	 net;		/* first: casts rely on it */
	char		 in[AHEAD];	/* read, and not yet given */
	size_t		 at, len;	/* the rest of it */
	unsigned	 reads, writes;	/* calls so far */
};

const struct client_kind	layer_kind = { .no_files = true };

/* A wait that is not for the net uncorks, or ends the output. */
static void
shape_output(struct net_sock *s, const struct wait *w)
{
	struct wait	shape = { .kind = WAIT_TIME, .flags = w->flags };

	net_perform_sock(s, &shape);
}

static void
pass_result(struct wait *w, const struct wait *below)
{
	w->outcome = below->outcome;
	w->error = below->error;
	w->n = below->n;
}

/* Returns NET_DONE if there is a byte, or else the outcome is set. */
static enum net_state
read_ahead(struct layer *l, struct net_sock *s, struct wait *w)
{
	struct wait	below = *w;
	enum net_state	state;

	below.room = l->in;
	below.size = sizeof(l->in);
	below.deadline = 1;		/* net_perform_layer() looks at it */
	state = net_perform_sock(s, &below);
	if (state != NET_DONE)
		return state;
	pass_result(w, &below);
	l->at = 0;
	l->len = below.n > 0 ? (size_t)below.n : 0;
	return NET_DONE;
}

/* Whether to wait first, and for what. */
static enum net_state
stall_read(struct layer *l, const struct wait *w)
{
	if (w->deadline == 0 || ++l->reads % READS_PER_WAIT != 0)
		return NET_DONE;
	return l->reads % READS_PER_WRITE_WAIT == 0 ? NET_WRITE : NET_READ;
}

/* Input that is read ahead makes no descriptor ready, but nearly always output
 * can be sent: so the layer waits for that. */
static enum net_state
perform_read(struct layer *l, struct net_sock *s, struct wait *w)
{
	enum net_state	state;

	shape_output(s, w);
	state = l->len == 0 ? stall_read(l, w) :
	    (w->flags & WAIT_LATER) != 0 ? NET_WRITE : NET_DONE;
	if (state == NET_DONE && l->len == 0)
		state = read_ahead(l, s, w);
	if (state != NET_DONE || l->len == 0)
		return state;
	*w->room = (char)(l->in[l->at++] ^ LAYER_KEY);
	l->len--;
	w->n = 1;
	w->outcome = OUTCOME_READY;
	return NET_DONE;
}

/* Encodes what is to be written next. */
static size_t
encode(const struct layer *l, const struct wait *w, char out[PIECE_MAX])
{
	const struct iovec	*first = w->iov;
	const char		*from;
	size_t			 n;

	while (first->iov_len == 0)
		first++;
	from = first->iov_base;
	n = l->writes < SINGLE_WRITES ? 1 : MIN(first->iov_len, PIECE_MAX);
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(from[i] ^ LAYER_KEY);
	return n;
}

static enum net_state
perform_write(struct layer *l, struct net_sock *s, struct wait *w)
{
	struct wait	below = *w;
	char		piece[PIECE_MAX];
	struct iovec	iov = { .iov_base = piece };
	enum net_state	state;

	if ((w->flags & WAIT_LATER) == 0) {
		if (++l->writes % WRITES_PER_WAIT == 0)
			return NET_WRITE;
		iov.iov_len = below.size = encode(l, w, piece);
		below.iov = &iov;
		below.niov = 1;
	}
	state = net_perform_sock(s, &below);
	if (state == NET_DONE)
		pass_result(w, &below);
	return state;
}

static enum net_state
perform(struct net *net, struct net_sock *s, struct wait *w)
{
	struct layer	*l = (struct layer *)net;

	if (w->kind == WAIT_SEND)
		abort();		/* not of a layer_kind */
	return w->kind == WAIT_READ ? perform_read(l, s, w) :
	    w->kind == WAIT_WRITE ? perform_write(l, s, w) :
	    net_perform_sock(s, w);
}

static void
end_layer(struct net *net, struct net_sock *s, unsigned flags)
{
	net_close_sock(s, flags);
	free(net);
}

struct net *
layer_new(void)
{
	struct layer	*l = mem_zero(sizeof(*l));

	l->net = (struct net){ .perform = perform, .close = end_layer };
	return &l->net;
}
