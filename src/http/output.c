/*
 * output: a queue of pieces to be sent.
 */
#include <sys/uio.h>

#include <stdlib.h>
#include <string.h>

#include "http/output.h"
#include "lib/compiler.h"
#include "lib/mem.h"
#include "lib/need.h"

void
output_init(struct output *o)
{
	o->scratch_size = OUTPUT_SCRATCH;
}

void
output_add(struct output *o, const struct piece *p)
{
	*output_put(o, p->at, p->len) = *p;
}

static void
release_memory(void *owner, void *object)
{
	(void)owner;
	free(object);
}

void
output_detach_scratch(struct piece *p)
{
	p->object = mem_copy(p->at, p->len);
	p->at = p->object;
	p->release = release_memory;
}

struct piece
output_copy(struct output *o, const void *bytes, size_t len)
{
	struct piece	p = { .at = bytes, .len = len };

	if (len <= output_scratch_left(o)) {
		p.at = memcpy(o->scratch + o->scratch_used, bytes, len);
		o->scratch_used += len;
	} else
		output_detach_scratch(&p);
	return p;
}

/* The last piece, if it is in scratch and ends at that address; or NULL. */
static struct piece *
find_last_before(struct output *o, const char *at)
{
	struct piece	*last;

	if (o->n == 0)
		return NULL;
	last = &o->pieces[o->first + o->n - 1];
	return last->release == NULL && last->at + last->len == at ?
	    last : NULL;
}

static COLD void
write_detached(struct output *o, const void *bytes, size_t len)
{
	struct piece	p = output_copy(o, bytes, len);

	output_add(o, &p);
}

void
output_write(struct output *o, const void *bytes, size_t len)
{
	char		*to = o->scratch + o->scratch_used;
	struct piece	*last = find_last_before(o, to);

	if (len > output_scratch_left(o)) {
		write_detached(o, bytes, len);
		return;
	}
	memcpy(to, bytes, len);
	o->scratch_used += len;
	if (last == NULL) {
		output_put(o, to, len);
		return;
	}
	last->len += len;
	o->bytes += len;
}

static bool
is_file(const struct piece *p)
{
	return p->at == NULL;
}

struct piece
output_file(const struct output *o, size_t most)
{
	const struct piece	*p = output_first(o), *end = p + o->n;
	struct piece		 all = *p;

	need(o->n > 0 && is_file(p));
	while (++p < end && is_file(p) && p->file == all.file &&
	    p->offset == all.offset + (off_t)all.len)
		all.len += p->len;
	if (all.len > most)
		all.len = most;
	return all;
}

int
output_gather(const struct output *o, struct iovec *iov, int n, size_t most,
    bool *file)
{
	const struct piece	*p = output_first(o);
	int			 i;

	*file = false;
	for (i = 0; i < n && i < (int)o->n && most > 0; i++, p++) {
		*file = is_file(p);
		if (*file)
			break;
		iov[i].iov_base = (void *)(uintptr_t)p->at;
		iov[i].iov_len = p->len < most ? p->len : most;
		most -= iov[i].iov_len;
	}
	return i;
}

static void
release_piece(struct piece *p)
{
	if (p->release != NULL)
		p->release(p->owner, p->object);
}

/* Makes all room free again when no piece is left. */
static void
rewind_if_empty(struct output *o)
{
	if (o->n == 0)
		o->first = 0, o->scratch_used = 0;
}

void
output_advance(struct output *o, size_t sent)
{
	struct piece	*p;

	need(sent <= o->bytes);
	o->bytes -= sent;
	while (o->n > 0) {
		p = &o->pieces[o->first];
		if (sent < p->len) {
			if (is_file(p))
				p->offset += (off_t)sent;
			else
				p->at += sent;
			p->len -= sent;
			break;
		}
		sent -= p->len;
		release_piece(p);
		o->first++;
		o->n--;
	}
	rewind_if_empty(o);
}

size_t
output_unsend(struct output *o, size_t most)
{
	struct piece	*p;
	size_t		 n = 0;

	while (o->n > 0) {
		p = &o->pieces[o->first + o->n - 1];
		if (n + p->len > most)
			break;
		n += p->len;
		release_piece(p);
		o->n--;
	}
	o->bytes -= n;
	rewind_if_empty(o);
	return n;
}

/* Whether a piece lasts for this iteration only. */
static bool
is_temporary(const struct piece *p)
{
	return p->release == NULL;
}

static size_t
count_temporary(const struct output *o)
{
	const struct piece	*p = output_first(o), *end = p + o->n;
	size_t			 n = 0;

	for (; p < end; p++)
		if (is_temporary(p))
			n += p->len;
	return n;
}

struct output *
output_keep(struct output *o)
{
	size_t		 temporary = count_temporary(o);
	struct output	*own = mem_get(offsetof(struct output, scratch) +
			    temporary);
	struct piece	*p;

	own->first = own->n = 0;
	own->bytes = own->scratch_used = 0;
	own->scratch_size = temporary;
	own->kept = true;
	for (unsigned i = 0; i < o->n; i++) {
		p = &o->pieces[o->first + i];
		if (is_temporary(p))
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
		release_piece(&o->pieces[o->first + i]);
	o->n = 0;
	o->bytes = 0;
	rewind_if_empty(o);
}

void
output_free(struct output *o)
{
	need(o->kept);
	output_drop(o);
	free(o);
}
