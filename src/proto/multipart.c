/*
 * multipart: the body of a response with several ranges.
 */
#include <stdio.h>

#include "lib/mem.h"
#include "lib/need.h"
#include "proto/multipart.h"

static void
add_part_header(struct multipart *p, const char *fields,
    const struct byte_range *range, int64_t size)
{
	buf_addf(&p->text, "%s--%s\r\n%s"
	    "Content-Range: bytes %lld-%lld/%lld\r\n\r\n",
	    p->text.len > 0 ? "\r\n" : "", p->boundary, fields,
	    (long long)range->first,
	    (long long)(range->first + range->length - 1), (long long)size);
}

struct multipart *
multipart_new(const struct cond_result *a, const char *fields, int64_t size,
    uint64_t boundary)
{
	struct multipart	*p = mem_zero(sizeof(*p));

	p->n = a->n;
	p->header_due = true;
	snprintf(p->boundary, sizeof(p->boundary), "%016llx",
	    (unsigned long long)boundary);
	for (unsigned i = 0; i < a->n; i++) {
		p->range[i] = a->range[i];
		p->length += a->range[i].length;
		add_part_header(p, fields, &a->range[i], size);
		p->header_at[i + 1] = (uint32_t)p->text.len;
	}
	buf_addf(&p->text, "\r\n--%s--\r\n", p->boundary);
	p->header_at[p->n + 1] = (uint32_t)p->text.len;
	p->length += (int64_t)p->text.len;
	return p;
}

void
multipart_free(struct multipart **pp)
{
	if (*pp == NULL)
		return;
	buf_free(&(*pp)->text);
	mem_drop(pp);
}

bool
multipart_header(struct multipart *p, struct str *lead)
{
	if (!p->header_due)
		return false;
	p->header_due = false;
	lead->at = p->text.at + p->header_at[p->current] + p->header_skip;
	lead->len = p->header_at[p->current + 1] - p->header_at[p->current] -
		    p->header_skip;
	p->header_skip = 0;
	return true;
}

int64_t
multipart_seek(struct multipart *p, int64_t at, int64_t *next)
{
	const struct byte_range	*range = p->range;
	int64_t			 lead;

	for (p->current = 0;; p->current++, range++) {
		lead = (int64_t)(p->header_at[p->current + 1] -
				 p->header_at[p->current]);
		p->header_due = at < lead;
		if (p->header_due || p->current == p->n)
			break;
		at -= lead;
		if (at < range->length)
			break;
		at -= range->length;
	}
	p->header_skip = p->header_due ? (uint32_t)at : 0;
	if (p->current == p->n)
		return *next = 0;	/* the end of the body */
	*next = range->first + (p->header_due ? 0 : at);
	return range->first + range->length;
}

bool
multipart_next(struct multipart *p)
{
	need(p->current < p->n && !p->header_due);
	p->header_due = true;
	return ++p->current < p->n;
}
