/*
 * multipart: the body of a response with several ranges.
 */
#include <stdio.h>

#include "lib/mem.h"
#include "lib/need.h"
#include "proto/multipart.h"

static void
add_lead(struct parts *p, const char *fields,
    const struct byte_range *range, int64_t size)
{
	buf_addf(&p->text, "%s--%s\r\n%s"
	    "Content-Range: bytes %lld-%lld/%lld\r\n\r\n",
	    p->text.len > 0 ? "\r\n" : "", p->boundary, fields,
	    (long long)range->first,
	    (long long)(range->first + range->length - 1), (long long)size);
}

struct parts *
parts_new(const struct cond_result *a, const char *fields, int64_t size,
    uint64_t boundary)
{
	struct parts	*p = mem_zero(sizeof(*p));

	p->n = a->n;
	p->due = true;
	snprintf(p->boundary, sizeof(p->boundary), "%016llx",
	    (unsigned long long)boundary);
	for (unsigned i = 0; i < a->n; i++) {
		p->range[i] = a->range[i];
		p->length += a->range[i].length;
		add_lead(p, fields, &a->range[i], size);
		p->lead[i + 1] = (uint32_t)p->text.len;
	}
	buf_addf(&p->text, "\r\n--%s--\r\n", p->boundary);
	p->lead[p->n + 1] = (uint32_t)p->text.len;
	p->length += (int64_t)p->text.len;
	return p;
}

void
parts_free(struct parts **pp)
{
	if (*pp == NULL)
		return;
	buf_free(&(*pp)->text);
	mem_drop(pp);
}

bool
parts_lead(struct parts *p, struct str *lead)
{
	if (!p->due)
		return false;
	p->due = false;
	lead->at = p->text.at + p->lead[p->at] + p->skip;
	lead->len = p->lead[p->at + 1] - p->lead[p->at] - p->skip;
	p->skip = 0;
	return true;
}

int64_t
parts_seek(struct parts *p, int64_t at, int64_t *next)
{
	const struct byte_range	*range = p->range;
	int64_t				 lead;

	for (p->at = 0;; p->at++, range++) {
		lead = (int64_t)(p->lead[p->at + 1] - p->lead[p->at]);
		p->due = at < lead;
		if (p->due || p->at == p->n)
			break;
		at -= lead;
		if (at < range->length)
			break;
		at -= range->length;
	}
	p->skip = p->due ? (uint32_t)at : 0;
	if (p->at == p->n)
		return *next = 0;	/* nothing of the file any more */
	*next = range->first + (p->due ? 0 : at);
	return range->first + range->length;
}

bool
parts_next(struct parts *p)
{
	need(p->at < p->n && !p->due);
	p->due = true;
	return ++p->at < p->n;
}
