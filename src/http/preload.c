/*
 * preload: notes what has come of a request, and asks for variants.
 */
#include "http/conn.h"
#include "http/preload.h"
#include "http/namespace.h"
#include "http/log/refusal.h"
#include "http/variants/variant.h"

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
note_response(const struct client_kind *kind, const struct conn *c)
{
	struct preload		*p = (struct preload *)(uintptr_t)kind;
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
	p->reason = refusal_reason(r, r->response.status);
	p->bytes = r->body.sent;
	p->truncated = r->body.next < r->body.end;
	if (r->response.status == 200 && path != NULL)
		add_variant_requests(p, r->info.variants);
}

void
preload_init(struct preload *p)
{
	p->kind.request_ended = note_response;
	p->kind.trusted = p->kind.no_files = true;
}
