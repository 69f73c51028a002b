/*
 * environment: makes the meta-variables of a request.
 *
 * A client chooses values, and what stands behind HTTP_ in names; all other
 * names are here.
 */
#include <arpa/inet.h>

#include <string.h>

#include "http/log/log_escape.h"
#include "http/peer.h"
#include "http/programs/environment.h"
#include "http/programs/run.h"
#include "http/rules.h"
#include "lib/sockaddr.h"
#include "proto/credentials.h"

static void
add_pair(struct buf *to, struct str name, struct str value)
{
	char	*at;

	buf_reserve(to, name.len + value.len + 2);
	at = to->at + to->len;
	memcpy(at, name.at, name.len);
	at[name.len] = '=';
	if (value.len > 0)
		memcpy(at + name.len + 1, value.at, value.len);
	at[name.len + 1 + value.len] = '\0';
	to->len += name.len + value.len + 2;
}

/* Inline, so that the length of a literal is a constant. */
static inline void
add_text(struct buf *to, const char *name, struct str value)
{
	add_pair(to, str_of(name), value);
}

static inline void
add_string(struct buf *to, const char *name, const char *value)
{
	add_text(to, name, str_of(value));
}

static void
add_number(struct buf *to, const char *name, uint64_t n)
{
	char	text[LOG_NUMBER_MAX];

	add_text(to, name, (struct str){ text,
	    (size_t)(log_escape_number(n, text) - text) });
}

/*
 * Fields of the request: HTTP_*
 */

/* Fields that have a variable of their own, or are about this connection. */
static const char *const dropped_fields[] = {
	"Content-Length", "Content-Type", "Connection", "Keep-Alive", "Proxy",
	"TE", "Trailer", "Transfer-Encoding", "Upgrade"
};

/* Whether a field becomes a variable.  Without a name of other bytes than
 * letters, digits and dashes no two fields have one variable. */
static bool
is_passed(const struct run *run, struct str name)
{
	const struct str	proxy = STR("Proxy-");
	struct str		start = { name.at, proxy.len };

	for (size_t i = 0; i < name.len; i++)
		if (((name.at[i] | 0x20) < 'a' || (name.at[i] | 0x20) > 'z') &&
		    strchr("0123456789-", name.at[i]) == NULL)
			return false;
	if (str_is_among(name, dropped_fields,
	    sizeof(dropped_fields) / sizeof(dropped_fields[0])))
		return false;
	if (name.len >= proxy.len && str_same_nocase(start, proxy))
		return false;
	return run->program->authorization ||
	    !str_same_nocase(name, STR("Authorization"));
}

/* Whether a field of that name stands before a line. */
static bool
is_repeated(const struct conn *c, struct str name)
{
	struct str	other, value;
	uint32_t	at = 0;

	while (parse_next_line(&c->request->parse, c->input, &at, &other,
	    &value) && other.at < name.at)
		if (str_same_nocase(other, name))
			return true;
	return false;
}

/* Adds the values of all lines of a name from one on. */
static void
add_values(const struct conn *c, struct str name, uint32_t at, struct buf *to)
{
	const char	*between = str_same_nocase(name, STR("Cookie")) ?
			    "; " : ", ";
	struct str	 other, value;

	while (parse_next_line(&c->request->parse, c->input, &at, &other,
	    &value)) {
		if (!str_same_nocase(other, name))
			continue;
		buf_adds(to, between);
		buf_add(to, value.at, value.len);
	}
}

static void
add_field(const struct conn *c, struct str name, struct str value,
    uint32_t behind, struct buf *to)
{
	char	byte;

	buf_adds(to, "HTTP_");
	for (size_t i = 0; i < name.len; i++) {
		byte = name.at[i];
		buf_addc(to, byte == '-' ? '_' : byte >= 'a' && byte <= 'z' ?
		    (char)(byte & ~0x20) : byte);
	}
	buf_addc(to, '=');
	buf_add(to, value.at, value.len);
	add_values(c, name, behind, to);
	buf_addc(to, '\0');
}

static void
add_fields(const struct conn *c, struct buf *to)
{
	struct str	name, value;
	uint32_t	at = 0;

	while (parse_next_line(&c->request->parse, c->input, &at, &name,
	    &value))
		if (is_passed(c->request->run, name) && !is_repeated(c, name))
			add_field(c, name, value, at, to);
}

/*
 * All others
 */

/* The parts of a value, which is terminated behind them. */
static void
add_parts(struct buf *to, const char *name, struct str first,
    struct str second, struct str third)
{
	add_pair(to, str_of(name), first);
	to->len--;
	buf_add(to, second.at, second.len);
	buf_add(to, third.at, third.len);
	buf_addc(to, '\0');
}

/* The directory of the site, which is told if it has a name, and the path
 * behind the script in there. */
static void
add_root(const struct conn *c, const char *path, size_t len, struct str info,
    struct buf *to)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules = r->path->rules;
	const char		*root = rules->action->root;
	struct str		 host = { NULL, 0 }, directory;
	size_t			 skip;

	if (root == NULL)
		root = rules_root(rules, (struct str){ path, len }, &skip);
	if (root == NULL || root[0] != '/')
		return;
	if (rules->action->by_host)
		host = (struct str){ r->path->name, r->path->len -
		    rules_raw(r->path).len };
	directory = str_of(root);
	add_parts(to, "DOCUMENT_ROOT", directory, host, STR(""));
	if (directory.len + host.len == 1)
		directory.len = 0;
	if (info.len > 0)
		add_parts(to, "PATH_TRANSLATED", directory, host, info);
}

/* The names of the path: of the script, and behind it. */
static void
add_paths(const struct conn *c, struct buf *to)
{
	const struct run	*run = c->request->run;
	const char		*in = run->program->directory;
	char			 path[JOB_PATH_MAX];
	size_t			 len = rules_decode(c->request->path, path);
	struct str		 script = { path, run->script_len };
	struct str		 index = str_of(run->index);
	struct str		 info = { path + run->script_len,
				    len - run->script_len };

	if (!run->authorizes)
		add_parts(to, "SCRIPT_NAME", script, index, STR(""));
	add_parts(to, "DOCUMENT_URI", script, index, info);
	if (run->authorizes)		/* FastCGI 1.0, section 6.3 */
		info.len = 0;
	if (info.len > 0)
		add_text(to, "PATH_INFO", info);
	add_root(c, path, len, info, to);
	if (run->file != NULL)
		add_parts(to, "SCRIPT_FILENAME", in == NULL ? STR("") :
		    str_of(in), in == NULL ? STR("") : STR("/"),
		    str_of(run->file));
}

/* Both are unknown where a request is explained. */
static const struct wait_addresses *
get_ends(const struct conn *c)
{
	static const struct wait_addresses	unknown;

	return c->session->ends != NULL ? c->session->ends : &unknown;
}

/* The port that the client's own connection comes from: a proxy has others. */
static in_port_t
get_client_port(const struct conn *c)
{
	const struct session	*s = c->session;

	return s->is_proxy || conf_listener(c->http->conf,
	    s->listener)->proxy ? 0 :
	    sockaddr_port(&get_ends(c)->peer);
}

static void
add_client(const struct conn *c, struct buf *to)
{
	const struct request	*r = c->request;
	struct credentials	 who;
	char			 addr[LOG_ADDR_MAX];

	log_escape_addr(c->session, addr);
	add_string(to, "REMOTE_ADDR", addr);
	if (get_client_port(c) != 0)
		add_number(to, "REMOTE_PORT", get_client_port(c));
	if ((r->auth.user & REQUEST_USER_PASSWORD) == 0 ||
	    !credentials_read(parse_field(&r->parse, c->input,
	    FIELD_AUTHORIZATION), &who))
		return;
	add_string(to, "AUTH_TYPE", "Basic");
	add_text(to, "REMOTE_USER", who.user);
	credentials_forget(&who);
}

/* inet_ntop(3) prints an address of four bytes, which most requests have. */
static void
write_v4(const char *bytes, char text[INET6_ADDRSTRLEN])
{
	for (int i = 0; i < 4; i++) {
		text = log_escape_number((unsigned char)bytes[i], text);
		*text++ = i < 3 ? '.' : '\0';
	}
}

/* The address that the client has reached, in the form of REMOTE_ADDR. */
static void
add_own_addr(const struct sockaddr_storage *own, struct buf *to)
{
	struct str	bytes = sockaddr_bytes(own);
	struct in6_addr	v6;
	char		text[INET6_ADDRSTRLEN] = "";

	if (bytes.len == sizeof(v6)) {
		memcpy(&v6, bytes.at, sizeof(v6));
		if (IN6_IS_ADDR_V4MAPPED(&v6))
			str_skip(&bytes, 12);
	}
	if (bytes.len == 4)
		write_v4(bytes.at, text);
	else if (bytes.len > 0)
		inet_ntop(AF_INET6, bytes.at, text, sizeof(text));
	if (text[0] != '\0')
		add_string(to, "SERVER_ADDR", text);
}

/* A conf may leave the choice of a port to the system, and a Unix socket has
 * none: that of the scheme stands in. */
static in_port_t
get_own_port(const struct conn *c)
{
	in_port_t	port = sockaddr_port(&get_ends(c)->own);

	if (port == 0)
		port = sockaddr_port(&conf_listener(c->http->conf,
		    c->session->listener)->addr);
	return port != 0 ? port : 80;
}

/* The host that was asked for, in lower case, as programs compare it. */
static void
add_host(const struct conn *c, struct buf *to)
{
	const struct request	*r = c->request;
	struct str		 host = parse_host_name(&r->parse, c->input);
	char			 byte;

	if (host.len == 0)
		host = str_of(r->site->names.at[0]);
	buf_adds(to, "SERVER_NAME=");
	for (size_t i = 0; i < host.len; i++) {
		byte = host.at[i];
		buf_addc(to, byte >= 'A' && byte <= 'Z' ? (char)(byte | 0x20) :
		    byte);
	}
	buf_addc(to, '\0');
}

static void
add_server(const struct conn *c, struct buf *to)
{
	const struct request	*r = c->request;

	add_host(c, to);
	add_own_addr(&get_ends(c)->own, to);
	add_number(to, "SERVER_PORT", get_own_port(c));
	add_string(to, "SERVER_SOFTWARE", c->http->server);
	add_string(to, "SERVER_PROTOCOL", r->parse.minor == 0 ? "HTTP/1.0" :
	    "HTTP/1.1");
	add_string(to, "GATEWAY_INTERFACE", "CGI/1.1");
	/* A PHP that is a file of the directory must not run by its own URL. */
	if (r->run->program->directory == NULL)
		add_string(to, "REDIRECT_STATUS", "200");
}

/* The scheme by which the client has asked: a proxy that is trusted knows. */
static void
add_scheme(const struct conn *c, struct buf *to)
{
	struct str	scheme, host;

	if (!peer_get_origin(c, &scheme, &host) || scheme.len == 0)
		scheme = STR("http");
	add_text(to, "REQUEST_SCHEME", scheme);
	if (str_same(scheme, STR("https")))
		add_string(to, "HTTPS", "on");
}

/* The method as sent; but that of a request that a program has redirected is
 * not in its request line. */
static struct str
get_method(const struct conn *c)
{
	const struct request	*r = c->request;
	struct str		 line = parse_str(c->input,
				    r->parse.request_line);

	return r->parse.method == METHOD_GET ? STR("GET") :
	    r->parse.method == METHOD_HEAD ? STR("HEAD") :
	    str_cut(&line, ' ');
}

/* The target, without the host that may stand in it. */
static void
add_target(const struct conn *c, struct buf *to)
{
	const struct parse	*p = &c->request->parse;
	struct str		 query = parse_str(c->input, p->query);
	struct str		 target = parse_str(c->input, p->target);

	if (p->absolute)
		str_skip(&target, p->path.at - p->target.at);
	add_text(to, "REQUEST_METHOD", get_method(c));
	add_text(to, "REQUEST_URI", target);
	add_text(to, "QUERY_STRING", query);
}

/* An authorizer gets no body; SCGI has a length always. */
static bool
has_length(const struct parse *p, const struct run *run)
{
	if (run->authorizes)
		return false;
	return p->content_length != -1 || (p->chunked && !run->body.comes) ||
	    run->program->protocol == CONF_SCGI;
}

/* Programs alone ask for the type of a body. */
static void
add_body(const struct conn *c, struct buf *to)
{
	const struct parse	*p = &c->request->parse;
	const struct run	*run = c->request->run;
	struct str		 name, value;
	uint32_t		 at = 0;

	if (has_length(p, run))
		add_number(to, "CONTENT_LENGTH", (uint64_t)(run->body.comes ?
		    p->content_length : run->body.length));
	while (parse_next_line(&c->request->parse, c->input, &at, &name,
	    &value))
		if (str_same_nocase(name, STR("Content-Type"))) {
			add_text(to, "CONTENT_TYPE", value);
			return;
		}
}

static void
drop_text(struct buf *from, struct str name)
{
	size_t	at = 0, size;

	while (at < from->len) {
		size = strlen(from->at + at) + 1;
		if (strncmp(from->at + at, name.at, name.len) != 0 ||
		    from->at[at + name.len] != '=') {
			at += size;
			continue;
		}
		from->len -= size;
		memmove(from->at + at, from->at + at + size, from->len - at);
		explicit_bzero(from->at + from->len, size);
	}
}

/* Adds what authorizers have said of the request; the last one counts. */
static void
add_authorized(const struct buf *variables, struct buf *to)
{
	struct str	rest = { variables->at, variables->len };
	struct str	text, name;

	while (rest.len > 0) {
		text = name = str_cut(&rest, '\0');
		drop_text(to, str_cut(&name, '='));
		buf_add(to, text.at, text.len);
		buf_addc(to, '\0');
	}
}

/* The conf's own word counts. */
static void
add_own(const struct conf_program *program, struct buf *to)
{
	const struct conf_pair	*pair;

	for (size_t i = 0; i < program->variables.n; i++) {
		pair = &program->variables.at[i];
		drop_text(to, str_of(pair->name));
		add_string(to, pair->name, pair->value);
	}
}

void
environment_add(const struct conn *c, struct buf *to)
{
	add_target(c, to);
	add_paths(c, to);
	add_body(c, to);
	add_client(c, to);
	add_scheme(c, to);
	add_server(c, to);
	add_fields(c, to);
	add_authorized(&c->request->run->authorized.variables, to);
	if (c->request->run->program->protocol != CONF_CGI)
		add_own(c->request->run->program, to);
}
