/*
 * stats_page: answers with a report (report.h), in the form that the query asks
 * for, else in one that the client accepts.
 *
 * A report is of this moment: conditions and ranges do not apply.
 */
#include "http/fields.h"
#include "http/reply.h"
#include "http/rules.h"
#include "http/stats_page.h"
#include "proto/accept.h"
#include "stats/report.h"

/* Finds a form in the query: ?json, or ?json= of tools that cannot leave out
 * the sign. */
static bool
find_form_by_query(struct str query, enum report_form *form)
{
	struct str	pair;

	while (query.len > 0) {
		pair = str_cut(&query, '&');
		if (report_find_form(str_cut(&pair, '='), form))
			return true;
	}
	return false;
}

/* The form that the client accepts with the greatest weight. */
static enum report_form
find_form_by_accept(struct conn *c)
{
	enum report_form	best = REPORT_HTML;
	struct str		accept;
	int			most = 0, weight;

	c->http->work.len = 0;
	accept = conn_field_list(c, FIELD_ACCEPT);
	for (int i = 0; i < REPORT_FORM_COUNT; i++) {
		weight = accept_weight(accept,
		    str_of(report_media((enum report_form)i)));
		if (weight <= most)
			continue;
		most = weight;
		best = (enum report_form)i;
	}
	return best;
}

static void
make_head(struct conn *c, enum report_form form, size_t length)
{
	fields_begin(c, reply_why(c, WHY_STATS_PAGE));
	fields_add_type(c, rules_of(c->request), report_type(form));
	buf_addf(&c->http->work, "Cache-Control: no-store\r\n"
	    "Vary: Accept\r\n"
	    "Content-Security-Policy: default-src 'none'; "
	    "style-src 'unsafe-inline'\r\n"
	    "Content-Length: %zu\r\n", length);
	fields_add_always(c);
	fields_end(c);
}

enum go
stats_page_reply(struct conn *c)
{
	const struct parse	*p = &c->request->parse;
	enum report_form	 form;
	struct buf		 text = { 0 };
	size_t			 length;

	if (!find_form_by_query(parse_str(c->input, p->query), &form))
		form = find_form_by_accept(c);
	report_write(&text, form);
	length = text.len;
	make_head(c, form, length);
	if (p->method == METHOD_HEAD)
		length = 0;
	buf_add(&c->http->work, text.at, length);
	buf_free(&text);
	return reply_send_work(c, 200, length);
}
