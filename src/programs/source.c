/*
 * source: descriptor and watch together.
 */
#include "lib/io.h"
#include "programs/source.h"

void
source_add(struct source *s, struct evloop *loop, int fd,
    void (*on_event)(void *), void *context)
{
	s->fd = fd;
	s->watch = evloop_watch(loop, fd, on_event, context);
}

void
source_watch(struct source *s, struct evloop *loop, int fd,
    void (*on_readable)(void *), void *context)
{
	source_add(s, loop, fd, on_readable, context);
	evloop_set(s->watch, EVLOOP_READ);
}

void
source_close(struct source *s)
{
	evloop_unwatch(&s->watch);
	io_close(&s->fd);
}
