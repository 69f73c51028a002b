/*
 * Fuzz target of proto/forwarded: whatever a client has written into a list,
 * the hop that a proxy adds behind it is the client, or the list is refused.
 */
#include <sys/socket.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/need.h"
#include "proto/forwarded.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define ADDED		",for=192.0.2.1;proto=https"
#define ADDED_FOR	",192.0.2.1"

static bool
trusts(const void *context, const struct forwarded_hop *hop)
{
	(void)context;
	return hop->family == AF_INET && hop->addr[0] == 10;
}

/* The client's bytes and the proxy's, owned by the caller, without end. */
static struct str
make_line(const uint8_t *data, size_t size, struct str added)
{
	char	*line = malloc(size + added.len);

	need(line != NULL);
	if (size > 0)
		memcpy(line, data, size);
	memcpy(line + size, added.at, added.len);
	return (struct str){ line, size + added.len };
}

static void
need_added(const struct forwarded *f)
{
	static const uint8_t	added[4] = { 192, 0, 2, 1 };

	need(f->behind == 1 && f->client.family == AF_INET);
	need(memcmp(f->client.addr, added, sizeof(added)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct forwarded	f = { .trusts = trusts }, g = f, alone = f;
	struct str		line = make_line(data, size, STR(ADDED));
	struct str		list = make_line(data, size, STR(ADDED_FOR));

	if (forwarded_add(&f, line)) {
		need_added(&f);
		need(str_same(f.scheme, STR("https")) && f.host.at == NULL);
		line.len = size;
		need(forwarded_add(&alone, line));
	}
	if (forwarded_add_for(&g, list))
		need_added(&g);
	else
		need(g.n > FORWARDED_HOPS_MAX);
	free((void *)(uintptr_t)line.at);
	free((void *)(uintptr_t)list.at);
	return 0;
}
