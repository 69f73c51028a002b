/*
 * output: the queue of pieces.
 */
#include <sys/uio.h>

#include <stdlib.h>
#include <string.h>

#include "http/output.h"
#include "lib/mem.h"
#include "lib/need.h"

bool
output_room(const struct output *o, unsigned pieces)
{
	return o->first + o->n + pieces <= OUTPUT_PIECES;
}

void
output_add(struct output *o, const struct piece *p)
{
	need(output_room(o, 1));
	o->pieces[o->first + o->n++] = *p;
	o->bytes += p->len;
}

static void
release_memory(void *owner, void *what)
{
	(void)owner;
	free(what);
}

void
output_own(struct piece *p)
{
	if (p->at == NULL || p->release != NULL)
		return;
	p->what = mem_copy(p->at, p->len);
	p->at = p->what;
	p->release = release_memory;
}

struct piece
output_copy(struct output *o, const void *bytes, size_t len)
{
	struct piece	p = { .at = bytes, .len = len };

	if (len <= OUTPUT_SCRATCH - o->scratch_used) {
		p.at = memcpy(o->scratch + o->scratch_used, bytes, len);
		o->scratch_used += len;
	} else
		output_own(&p);
	return p;
}

int
output_gather(const struct output *o, struct iovec *iov, int n, size_t most)
{
	const struct piece	*p = &o->pieces[o->first];
	int			 i;

	for (i = 0; i < n && i < (int)o->n && most > 0; i++, p++) {
		iov[i].iov_base = (void *)(uintptr_t)p->at;
		iov[i].iov_len = p->len < most ? p->len : most;
		most -= iov[i].iov_len;
	}
	return i;
}

static void
release(struct piece *p)
{
	if (p->release != NULL)
		p->release(p->owner, p->what);
}

/* Nothing left: all room is free again. */
static void
rewind_if_empty(struct output *o)
{
	if (o->n == 0)
		o->first = 0, o->scratch_used = 0;
}

void
output_sent(struct output *o, size_t sent)
{
	struct piece	*p;

	need(sent <= o->bytes);
	o->bytes -= sent;
	while (o->n > 0) {
		p = &o->pieces[o->first];
		if (sent < p->len) {
			p->at += sent;
			p->len -= sent;
			break;
		}
		sent -= p->len;
		release(p);
		o->first++;
		o->n--;
	}
	rewind_if_empty(o);
}

size_t
output_take_back(struct output *o, void (*whose)(void *, void *))
{
	size_t	n = 0;

	while (o->n > 0 && o->pieces[o->first + o->n - 1].release == whose) {
		o->n--;
		n += o->pieces[o->first + o->n].len;
		release(&o->pieces[o->first + o->n]);
	}
	o->bytes -= n;
	rewind_if_empty(o);
	return n;
}

struct output *
output_keep(struct output *o)
{
	struct output	*own = mem_get(sizeof(*own));
	struct piece	*p;

	own->first = own->n = 0;
	own->bytes = own->scratch_used = 0;
	for (unsigned i = 0; i < o->n; i++) {
		p = &o->pieces[o->first + i];
		if (p->release == NULL)		/* in scratch */
			*p = output_copy(own, p->at, p->len);
		output_add(own, p);
	}
	o->n = 0;
	o->bytes = 0;
	rewind_if_empty(o);
	return own;
}

void
output_drop(struct output *o)
{
	for (unsigned i = 0; i < o->n; i++)
		release(&o->pieces[o->first + i]);
	o->n = 0;
	o->bytes = 0;
	rewind_if_empty(o);
}
