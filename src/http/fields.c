/*
 * fields: writes response heads, field by field.
 *
 * Must not decide what is answered.
 */
#include <string.h>
#include <strings.h>

#include "http/conn.h"
#include "http/fields.h"
#include "http/limits/client_limits.h"
#include "http/namespace.h"
#include "http/programs/run.h"
#include "http/rules.h"
#include "http/tag.h"
#include "http/variants/language.h"
#include "lib/compiler.h"
#include "lib/hash.h"
#include "proto/status.h"

/* Date follows the status line at once, at the same place in each head of
 * status 200, where the header cache rewrites it. */
#define STATUS_LINE	"HTTP/1.1 200 OK\r\nDate: "
_Static_assert(sizeof(STATUS_LINE) - 1 == FIELDS_DATE_AT, "");

/* A head is padded by blanks behind the value of this field, which belong to no
 * value (RFC 9112, section 5) and are not seen. */
#define SERVER		"\r\nServer: "
#define SERVER_AT	(FIELDS_DATE_AT + DATE_LENGTH + sizeof(SERVER) - 1)

#define METHOD_NAME(method)	#method
#define VARY		"Vary: %s\r\n"
/* A busy server may be asked again after so many seconds. */
#define RETRY_AFTER	"Retry-After: 5\r\n"

static const char *const connection_fields[PATHNAME_HEADS] = {
	"", "Connection: close\r\n", "Connection: keep-alive\r\n"
};

void
fields_add_allow(struct conn *c)
{
	buf_adds(&c->http->work,
	    "Allow: " FIELDS_METHODS(METHOD_NAME, ", ") "\r\n");
}

/* The manager of a program knows when the next request may find room. */
static void
add_retry_after(const struct request *r, struct buf *b)
{
	if (r->run != NULL && r->run->retry_after != 0)
		buf_addf(b, "Retry-After: %u\r\n",
		    (unsigned)r->run->retry_after);
	else
		buf_adds(b, RETRY_AFTER);
}

/* Adds fields that belong to a status. */
static COLD void
add_status_fields(struct conn *c, int status)
{
	struct buf		*b = &c->http->work;

	if (status == 405)
		fields_add_allow(c);
	else if (status == 401)
		buf_addf(b, "WWW-Authenticate: Basic realm=\"%s\", "
		    "charset=\"UTF-8\"\r\n", c->request->auth.guard->realm);
	else if (status == 429)
		buf_addf(b, "Retry-After: %d\r\n",
		    client_limits_retry_after(c));
	else if (status == 406)
		buf_addf(b, VARY, "Accept-Encoding");
	else if (status == 503)
		add_retry_after(c->request, b);
	else if (status == 416)
		buf_addf(b, "Content-Range: bytes */%lld\r\n",
		    (long long)c->request->page.size);
}

/* Adds the value of Date, and what follows it in each head. */
static void
add_common(struct conn *c)
{
	struct buf	*b = &c->http->work;

	buf_add(b, c->http->date.text, DATE_LENGTH);
	buf_adds(b, SERVER);
	buf_adds(b, c->http->server);
	buf_adds(b, "\r\n");
	buf_adds(b, connection_fields[c->request->response.head_kind]);
}

void
fields_begin(struct conn *c, int status)
{
	struct buf	*b = &c->http->work;

	b->len = 0;
	if (status == 200)
		buf_add(b, STATUS_LINE, FIELDS_DATE_AT);
	else
		buf_addf(b, "HTTP/1.1 %d %s\r\nDate: ", status,
		    status_reason(status));
	add_common(c);
	if (status >= 400)
		add_status_fields(c, status);
}

void
fields_begin_answer(struct conn *c, int status, struct str reason)
{
	struct buf	*b = &c->http->work;

	b->len = 0;
	buf_adds(b, "HTTP/1.1 ");
	buf_add_number(b, (uint64_t)status);
	buf_addc(b, ' ');
	buf_add(b, reason.at, reason.len);
	buf_adds(b, "\r\nDate: ");
	add_common(c);
}

void
fields_end(struct conn *c)
{
	buf_adds(&c->http->work, "\r\n");
}

static void
add_media_type(struct buf *b, const struct conf_rules *rules, const char *type)
{
	const char	*charset = rules_charset(rules, type);

	buf_adds(b, type);
	if (charset != NULL)
		buf_addf(b, "; charset=%s", charset);
}

void
fields_add_type(struct conn *c, const struct conf_rules *rules,
    const char *type)
{
	struct buf	*b = &c->http->work;

	buf_adds(b, "Content-Type: ");
	add_media_type(b, rules, type);
	buf_adds(b, "\r\n");
	if (rules == NULL || rules->nosniff)
		buf_adds(b, "X-Content-Type-Options: nosniff\r\n");
}

/* Adds the conf's fields of a file that blocks files have some for, too. */
static COLD void
add_lines_of_blocks(struct buf *b, const struct request *r)
{
	const struct conf_rules	*rules = r->path->rules;
	const struct conf_site	*site = r->site;
	const char		*line = rules->field_lines;
	size_t			 len;

	for (; *line != '\0'; line += len) {
		len = strcspn(line, "\n") + 1;
		if (!rules_has_field(site, r->info.blocks, (struct str){ line,
		    strcspn(line, ":") }, true))
			buf_add(b, line, len);
	}
	for (size_t i = 0; i < site->nfiles; i++)
		if ((site->files[i].fields.bit & r->info.blocks) != 0)
			buf_adds(b, site->files[i].fields.lines);
}

void
fields_add_validators(struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules = r->path->rules;
	const struct namespace	*kind = namespace_get(r->path->namespace);
	const char		*vary = kind->vary(r);
	struct buf		*b = &c->http->work;
	char			 etag[TAG_MAX], date[DATE_LENGTH];
	int64_t			 age;

	tag_write(r, etag);
	if (vary != NULL)
		buf_addf(b, VARY, vary);
	if (!kind->undated) {
		date_format((time_t)r->file->version.mtime, date);
		buf_adds(b, "Last-Modified: ");
		buf_add(b, date, sizeof(date));
		buf_adds(b, "\r\n");
	}
	buf_addf(b, "ETag: %s\r\n", etag);
	age = r->info.blocks == 0 ? rules_max_age(rules, r->info.type) :
	    rules_file_max_age(r->site, r->info.blocks, rules, r->info.type);
	if (age != -1)
		buf_addf(b, "Cache-Control: max-age=%lld\r\n",
		    (long long)age);
	if (r->info.blocks == 0)
		buf_adds(b, rules->field_lines);
	else
		add_lines_of_blocks(b, r);
}

void
fields_add_always(struct conn *c)
{
	const struct conf_rules	*rules = rules_of(c->request);

	if (rules != NULL)
		buf_adds(&c->http->work, rules->always_lines);
}

static void
add_coding(struct buf *b, const struct request *r)
{
	const struct namespace *kind = namespace_get(r->path->namespace);
	const char	*coding = kind->encoded ? kind->coding : NULL;

	if (coding != NULL)
		buf_addf(b, "Content-Encoding: %s\r\n", coding);
}

/* Whether the conf sets Content-Language itself, and so knows better. */
static bool
has_own_language(const struct request *r)
{
	static const char	 name[] = "Content-Language:";
	const struct conf_rules	*rules = r->path->rules;

	for (const char *line = rules->field_lines; *line != '\0';
	    line += strcspn(line, "\n") + 1)
		if (strncasecmp(line, name, strlen(name)) == 0)
			return true;
	return r->info.blocks != 0 && rules_has_field(r->site, r->info.blocks,
	    STR("Content-Language"), false);
}

static void
add_language(struct buf *b, const struct request *r)
{
	const char	*language = language_of(r->path);

	if (language != NULL && !has_own_language(r))
		buf_addf(b, "Content-Language: %s\r\n", language);
}

void
fields_add_content(struct conn *c, int64_t length)
{
	const struct request	*r = c->request;

	fields_add_type(c, r->path->rules, r->info.type);
	add_coding(&c->http->work, r);
	add_language(&c->http->work, r);
	buf_addf(&c->http->work, "Content-Length: %lld\r\n",
	    (long long)length);
}

void
fields_add_range(struct conn *c)
{
	const struct request	*r = c->request;

	fields_add_content(c, r->body.end - r->body.next);
	buf_addf(&c->http->work,
	    "Content-Range: bytes %lld-%lld/%lld\r\n",
	    (long long)r->body.next, (long long)r->body.end - 1,
	    (long long)r->file->version.size);
}

void
fields_add_ranges(struct conn *c, const struct cond_result *result)
{
	struct request		*r = c->request;
	struct http_loop	*http = c->http;
	uint64_t		 n = http->boundary.count++;
	struct buf		 fields = { 0 };

	/* Content-Encoding is about the parts, not the multipart around
	 * them. */
	buf_adds(&fields, "Content-Type: ");
	add_media_type(&fields, r->path->rules, r->info.type);
	buf_adds(&fields, "\r\n");
	add_coding(&fields, r);
	add_language(&fields, r);
	r->body.multipart = multipart_new(result, buf_string(&fields),
	    r->file->version.size,
	    hash_bytes(&http->boundary.key, 0, &n, sizeof(n)));
	buf_free(&fields);
	buf_addf(&http->work, "Content-Type: multipart/byteranges; "
	    "boundary=%s\r\nContent-Length: %lld\r\n",
	    r->body.multipart->boundary, (long long)r->body.multipart->length);
}

void
fields_pad(struct conn *c)
{
	struct buf	*b = &c->http->work;
	size_t		 slack = -b->len % HEADER_ALIGNMENT;
	size_t		 at = SERVER_AT + strlen(c->http->server);

	buf_reserve(b, slack);
	memmove(b->at + at + slack, b->at + at, b->len - at);
	memset(b->at + at, ' ', slack);
	b->len += slack;
}
