/*
 * load: an internal client whose net gives the request and drops the response.
 */
#include <errno.h>
#include <stdlib.h>

#include "admin/load.h"
#include "admin/target.h"
#include "lib/buf.h"
#include "lib/mem.h"
#include "stats/stats.h"

struct loading {
	struct net	 net;		/* first: casts rely on it */
	struct preload	 preload;
	struct load	 load;
	uint64_t	 taken;		/* bytes of the response */
};

/* Acts as a client that has gone, so that the machine ends the response. */
static void
refuse_more(struct wait *w)
{
	w->n = -1;
	w->error = EPIPE;
}

/* Gives the request, and drops the response, whose bytes are in memory then.
 * The machine has counted these bytes as received and as sent. */
static enum net_state
perform_load(struct net *net, struct net_sock *sock, struct wait *w)
{
	struct loading	*l = (struct loading *)net;

	(void)sock;
	if (w->kind == WAIT_READ) {
		w->n = (ssize_t)buf_take(&l->preload.request, w->room, w->size);
		stats_add(STATS_BYTES_IN, -(uint64_t)w->n);
	} else if (w->kind == WAIT_WRITE && (w->flags & WAIT_LATER) != 0)
		return NET_WRITE;
	else if (w->kind == WAIT_WRITE && l->load.most != 0 &&
	    l->taken >= l->load.most)
		refuse_more(w);
	else if (w->kind == WAIT_WRITE) {
		w->n = (ssize_t)w->size;
		l->taken += w->size;
		stats_add(STATS_BYTES, -(uint64_t)w->n);
	} else
		return NET_NONE;
	w->outcome = OUTCOME_READY;
	return NET_DONE;
}

static void
end_load(struct net *net, struct net_sock *sock, unsigned flags)
{
	struct loading	*l = (struct loading *)net;
	struct preload	*p = &l->preload;

	(void)sock;
	(void)flags;
	l->load.ended(l->load.context, p);
	preload_end(p);
	free(l);
}

static void
write_request(struct loading *l, const struct url *url)
{
	struct buf	 host = { 0 }, field = { 0 };
	struct preload	*p = &l->preload;
	char		*fields[1];
	bool		 has_field = l->load.coding != NULL;

	if (has_field)
		preload_add_field(&field, l->load.coding);
	buf_string(&field);
	fields[0] = field.at;
	target_host(l->load.conf, url, &host);
	target_request(url, buf_string(&host), fields, has_field, &p->request);
	if (l->load.all_variants)
		buf_add(&p->variant_request, p->request.at,
		    p->request.len - 2);	/* without the empty line */
	buf_free(&host);
	buf_free(&field);
}

static struct loading *
new_loading(const struct load *load)
{
	struct loading	*l = mem_zero(sizeof(*l));

	l->load = *load;
	l->net = (struct net){ .perform = perform_load, .close = end_load };
	preload_init(&l->preload);
	l->preload.kind.no_programs = load->no_programs;
	return l;
}

static void
begin_loading(struct loading *l, size_t listener)
{
	clients_add_internal(l->load.clients, l->load.fd, &l->net,
	    &l->preload.kind, listener);
}

void
load_begin(const struct load *load, const struct url *url, size_t listener)
{
	struct loading	*l = new_loading(load);

	write_request(l, url);
	begin_loading(l, listener);
}

bool
load_begin_hint(const struct load *load, struct http_loop *http)
{
	struct loading	*l = new_loading(load);
	size_t		 listener;

	if (!preload_take_hint(&l->preload, http, &listener)) {
		free(l);
		return false;
	}
	begin_loading(l, listener);
	return true;
}
