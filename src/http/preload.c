/*
 * preload: a transport that gives a request and drops the response.
 */
#include <sys/uio.h>

#include "http/conn.h"
#include "http/preload.h"
#include "http/namespace.h"
#include "http/reply.h"
#include "http/variant.h"
#include "stats/stats.h"

static ssize_t
give_request(void *context, int fd, void *to, size_t size)
{
	struct preload	*p = context;
	size_t		 n = buf_take(&p->request, to, size);

	(void)fd;
	stats_add(STATS_BYTES_IN, -(uint64_t)n);	/* not received */
	return (ssize_t)n;
}

/* Drops the response, which is in memory now.  The bytes are subtracted, as
 * send_step() counts them as sent. */
static ssize_t
discard_response(void *context, int fd, const struct iovec *iov, int n,
    bool more)
{
	ssize_t	all = 0;

	(void)context;
	(void)fd;
	(void)more;
	for (int i = 0; i < n; i++)
		all += (ssize_t)iov[i].iov_len;
	stats_add(STATS_BYTES, -(uint64_t)all);
	return all;
}

static void
ignore_call(void *context, int fd)
{
	(void)context;
	(void)fd;
}

static void
end_preload(void *context, int fd)
{
	struct preload	*p = context;

	(void)fd;
	p->on_done(p);
}

static void
add_variant_requests(struct preload *p, uint32_t variants)
{
	const char	*coding;

	while ((coding = variant_next_coding(&variants)) != NULL) {
		buf_add(&p->request, p->variant_request.at,
		    p->variant_request.len);
		buf_addf(&p->request, "Accept-Encoding: %s\r\n\r\n", coding);
	}
}

static void
note_response(void *context, const struct conn *c)
{
	struct preload		*p = context;
	const struct request	*r = c->request;
	const struct path	*path = r->path;

	if (p->status != 0) {
		if (path != NULL && namespace_is_variant(path->namespace) &&
		    r->response.status == 200)
			buf_addf(&p->codings, " %s",
			    namespace_get(path->namespace)->coding);
		return;
	}
	p->status = r->response.status;
	p->reason = reply_reason(r, r->response.status);
	p->bytes = r->body.sent;
	p->truncated = r->body.next < r->body.end;
	if (r->response.status == 200 && path != NULL)
		add_variant_requests(p, r->info.variants);
}

const struct transport preload_transport = {
	.recv = give_request,
	.send = discard_response,
	.shutdown = ignore_call,
	.close = end_preload,
	.request_ended = note_response,
	.trusted = true,
};
