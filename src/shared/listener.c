/*
 * listener: binds sockets, sets their options, and explains failures.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#ifdef __linux__
#include <linux/filter.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/sockaddr.h"
#include "shared/listener.h"

#define BIND_TIMEOUT	500	/* ms to wait for addresses in use */
#define BIND_PAUSE	10	/* ms */

static bool
has_same_port(const struct conf_address *a, const struct conf_address *b)
{
	return sockaddr_port(&a->addr) == sockaddr_port(&b->addr);
}

/* Returns our own listener on the same port, which is in the way then. */
static const char *
find_same_port(const struct conf_address *a, const struct listeners *before)
{
	const struct conf_address	*b;

	for (size_t i = 0; before != NULL && i < before->n; i++) {
		b = conf_listener(before->conf, before->at[i].number);
		if (has_same_port(a, b) && sockaddr_port(&a->addr) != 0)
			return b->text;
	}
	return NULL;
}

static bool
is_unix(const struct conf_address *a)
{
	return a->addr.ss_family == AF_UNIX;
}

static const char *
get_path(const struct conf_address *a)
{
	const void	*sun = &a->addr;

	return ((const struct sockaddr_un *)sun)->sun_path;
}

static void
explain_unix(const struct conf_address *a)
{
	if (errno == EADDRINUSE)
		log_errorx("cannot listen on %s: another program does; stop "
		    "it, or choose another name", a->text);
	else if (errno == EEXIST)
		log_errorx("cannot listen on %s: the file is no socket; remove "
		    "it, or choose another name", a->text);
	else
		log_error("cannot listen on %s", a->text);
}

static void
explain_failure(const struct conf_address *a, const struct listeners *before)
{
	const char	*own;

	if (is_unix(a)) {
		explain_unix(a);
		return;
	}
	own = find_same_port(a, before);
	switch (errno) {
	case EADDRINUSE:
		if (own != NULL) {
			log_errorx("cannot listen on %s while this server does "
			    "on %s: that needs a restart", a->text, own);
			break;
		}
		log_errorx("cannot listen on %s: another program does "
		    "(ss -ltnp shows which); stop it, or choose another "
		    "address", a->text);
		break;
	case EACCES:
	case EPERM:
		log_errorx("cannot listen on %s: that port is root's; start as "
		    "root, or with the capability CAP_NET_BIND_SERVICE, or "
		    "choose a port from 1024 up", a->text);
		break;
	case EADDRNOTAVAIL:
		log_errorx("cannot listen on %s: this machine does not have "
		    "that address", a->text);
		break;
	default:
		log_error("cannot listen on %s", a->text);
		break;
	}
}

/* A socket without the option serves as well, so a failure is a warning. */
static void
set_option(int fd, int level, int option, int64_t value, const char *directive)
{
	int	n = (int)value;

	if (setsockopt(fd, level, option, &n, sizeof(n)) == -1)
		log_warn("cannot set transport { %s }: serving without it",
		    directive);
}

/* Accepted sockets inherit these options. */
static void
set_transport(int fd, int family, const struct conf *conf)
{
	if (conf->transport.buffer != 0)
		set_option(fd, SOL_SOCKET, SO_SNDBUF, conf->transport.buffer,
		    "buffer");
	if (family == AF_UNIX)
		return;
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, conf->transport.nodelay,
	    "nodelay");
#ifdef TCP_DEFER_ACCEPT
	set_option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT,
	    (conf->transport.defer + 999) / 1000, "defer");
#endif
}

static int
bind_one(const struct conf *conf, const struct conf_address *a)
{
	int	on = 1, fd;

	fd = socket(a->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	set_transport(fd, a->addr.ss_family, conf);
	if (a->addr.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&a->addr, a->len) == 0 &&
	    listen(fd, (int)conf->transport.backlog) == 0)
		return fd;
	on = errno;
	close(fd);
	errno = on;
	return -1;
}

/* Retries while the address is in use: a draining main closes its sockets a
 * moment later (src/loop/acceptor.c).  All addresses share *left (ms). */
static int
bind_retrying(const struct conf *conf, const struct conf_address *a, int *left)
{
	int	fd;

	while ((fd = bind_one(conf, a)) == -1 && errno == EADDRINUSE &&
	    *left > 0) {
		usleep(BIND_PAUSE * 1000);
		*left -= BIND_PAUSE;
	}
	return fd;
}

static struct unix_socket_access
get_access(const struct conf_address *a)
{
	return (struct unix_socket_access){ (mode_t)a->mode, a->owner,
	    a->group };
}

/* Makes a socket in the file system.  Returns -1 with errno: EEXIST if the file
 * is no socket, EADDRINUSE if another process listens there. */
static int
make_file(const struct conf *conf, const struct conf_address *a,
    struct listener *l)
{
	const struct unix_socket_access	 access = get_access(a);
	const char			*file = get_path(a);
	int				 fd;

	errno = EEXIST;
	if (!unix_socket_find(file, &l->file) && errno != ENOENT)
		return -1;
	if (l->file.ino != 0 && unix_socket_is_live(file)) {
		errno = EADDRINUSE;
		return -1;
	}
	fd = unix_socket_listen(file, &access, (int)conf->transport.backlog,
	    &l->file);
	if (fd != -1)
		set_transport(fd, AF_UNIX, conf);
	l->made = fd != -1;
	return fd;
}

/* Whether the IPv6 half of "*" may be missing: there is no IPv6. */
static bool
is_dispensable(const struct conf_address *a, size_t bound)
{
	return bound > 0 && a->addr.ss_family == AF_INET6 &&
	    a->text[0] == '*' && (errno == EAFNOSUPPORT ||
	    errno == EADDRNOTAVAIL);
}

static bool
is_same(const struct conf_address *a, const struct conf_address *b)
{
	return a->len == b->len && memcmp(&a->addr, &b->addr, a->len) == 0;
}

/* Returns another descriptor of a socket, with the options of this conf. */
static int
take_over(const struct conf *conf, int family, int sock)
{
	int	fd = fcntl(sock, F_DUPFD_CLOEXEC, 3);

	if (fd != -1 && io_nonblock(fd) == -1)
		io_close(&fd);
	if (fd != -1) {
		set_transport(fd, family, conf);
		listen(fd, (int)conf->transport.backlog);
	}
	return fd;
}

/* Returns another descriptor of the present socket of an address; -1 with errno
 * 0: there is none. */
static int
reuse_one(const struct conf *conf, const struct conf_address *a,
    const struct listeners *before, struct listener *l)
{
	errno = 0;
	for (size_t i = 0; before != NULL && i < before->n; i++) {
		if (!is_same(a, conf_listener(before->conf,
		    before->at[i].number)))
			continue;
		l->file = before->at[i].file;
		l->made = before->at[i].made;
		return take_over(conf, a->addr.ss_family, before->at[i].fd);
	}
	return -1;
}

/* Returns a socket's address; len is 0 if it has none. */
static struct conf_address
get_address(int fd)
{
	struct conf_address	a = { .len = sizeof(a.addr) };

	if (getsockname(fd, (struct sockaddr *)&a.addr, &a.len) == -1)
		a.len = 0;
	return a;
}

static bool
is_same_host(const struct conf_address *a, const struct conf_address *b)
{
	const void	*p = &a->addr, *q = &b->addr;
	struct str	 host = sockaddr_bytes(p);

	return a->len > 0 && host.len > 0 &&
	    str_same(host, sockaddr_bytes(q)) &&
	    (a->addr.ss_family == AF_INET ||
	    ((const struct sockaddr_in6 *)p)->sin6_scope_id ==
	    ((const struct sockaddr_in6 *)q)->sin6_scope_id);
}

/* Whether two addresses are the same one. */
static bool
is_same_place(const struct conf_address *a, const struct conf_address *b)
{
	return is_unix(a) || is_unix(b) ? is_unix(a) && is_unix(b) &&
	    strcmp(get_path(a), get_path(b)) == 0 :
	    is_same_host(a, b) && has_same_port(a, b);
}

/* Returns the number of the conf's listener for that address, or the number of
 * listeners. */
static size_t
find_wanted(const struct conf *conf, const struct conf_address *own)
{
	const struct conf_address	*a;
	size_t				 i, all = conf_listener_count(conf);

	for (i = 0; i < all; i++) {
		a = conf_listener(conf, i);
		if (is_same_place(own, a))
			break;
	}
	return i;
}

/* Whether a socket of [::] without IPV6_V6ONLY accepts for 0.0.0.0 too. */
static bool
is_dual_stack(int fd, const struct conf_address *own,
    const struct conf_address *a)
{
	int		only = 1;
	socklen_t	len = sizeof(only);

	return own->addr.ss_family == AF_INET6 &&
	    a->addr.ss_family == AF_INET && has_same_port(own, a) &&
	    sockaddr_is_any(&own->addr) && sockaddr_is_any(&a->addr) &&
	    getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len) == 0 &&
	    only == 0;
}

enum fitness {
	UNFIT,
	SAME,				/* bound to this address */
	FREE,				/* for port 0: no listener wants it */
	BOTH,				/* bound to [::], accepts for 0.0.0.0 */
	SHARED				/* BOTH, but [::] has a listener */
};

static enum fitness
get_fitness(const struct conf *conf, size_t number, int fd)
{
	const struct conf_address	*a = conf_listener(conf, number);
	struct conf_address		 own = get_address(fd);
	size_t				 who = find_wanted(conf, &own);

	if (who == number)
		return SAME;
	if (is_dual_stack(fd, &own, a))
		return who < conf_listener_count(conf) ? SHARED : BOTH;
	return sockaddr_port(&a->addr) == 0 && is_same_host(&own, a) &&
	    who == conf_listener_count(conf) ? FREE : UNFIT;
}

/* Returns another descriptor of a passed socket; -1 with errno 0: there is
 * none; with EALREADY: the socket of another listener serves this address. */
static int
take_passed(const struct conf *conf, size_t number,
    const struct listeners *before, struct listener *l)
{
	const struct conf_address	*a = conf_listener(conf, number);
	enum fitness			 fit;

	errno = 0;
	for (size_t i = 0; before != NULL && i < before->npassed; i++) {
		fit = get_fitness(conf, number, before->passed[i]);
		if (fit == UNFIT)
			continue;
		if (fit == SHARED) {
			errno = EALREADY;
			return -1;
		}
		if (is_unix(a))
			unix_socket_find(get_path(a), &l->file);
		return take_over(conf, a->addr.ss_family, before->passed[i]);
	}
	return -1;
}

/* Uses a present socket, or a passed one, or binds one; -1 with errno. */
static int
open_one(const struct conf *conf, size_t number,
    const struct listeners *before, int *left, struct listener *l)
{
	const struct conf_address	*a = conf_listener(conf, number);
	int				 fd;

	*l = (struct listener){ .number = number };
	fd = reuse_one(conf, a, before, l);
	if (fd == -1 && errno == 0)
		fd = take_passed(conf, number, before, l);
	if (fd == -1 && errno == 0)
		fd = is_unix(a) ? make_file(conf, a, l) :
		    bind_retrying(conf, a, left);
	return l->fd = fd;
}

/* Removes the file of a socket that is not an earlier generation's. */
static void
remove_made(const struct conf *conf, const struct listener *l,
    const struct listeners *before)
{
	if (l->made && (before == NULL ||
	    !listener_has(before->at, before->n, l->fd)))
		unix_socket_remove(get_path(conf_listener(conf, l->number)),
		    l->file);
}

struct listener *
listener_open(const struct conf *conf, const struct listeners *before,
    size_t *n)
{
	const struct conf_address	*a;
	struct listener			*l;
	size_t				 all = conf_listener_count(conf);
	bool				 failed = false;
	int				 fd, left = BIND_TIMEOUT;

	l = mem_array(all + 1, sizeof(*l));
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		a = conf_listener(conf, i);
		fd = open_one(conf, i, before, &left, &l[*n]);
		if (fd == -1 && (errno == EALREADY || is_dispensable(a, *n)))
			continue;
		if (fd == -1) {
			explain_failure(a, before);
			failed = true;
		} else
			++*n;
	}
	if (failed) {
		for (size_t i = 0; i < *n; i++)
			remove_made(conf, &l[i], before);
		listener_close(&l, *n);
		*n = 0;
	}
	return l;
}

bool
listener_is_fit(int fd)
{
	struct conf_address	own = get_address(fd);
	int			listens = 0;
	socklen_t		len = sizeof(listens);

	return own.len > 0 && (own.addr.ss_family == AF_INET ||
	    own.addr.ss_family == AF_INET6 || (is_unix(&own) &&
	    get_path(&own)[0] == '/')) && getsockopt(fd, SOL_SOCKET,
	    SO_ACCEPTCONN, &listens, &len) == 0 && listens != 0;
}

bool
listener_has(const struct listener *l, size_t n, int fd)
{
	struct conf_address	own = get_address(fd), other;

	for (size_t i = 0; i < n; i++) {
		other = get_address(l[i].fd);
		if (is_same_place(&own, &other))
			return true;
	}
	return false;
}

void
listener_close(struct listener **lp, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close((*lp)[i].fd);
	mem_drop(lp);
}

const char *
listener_file(const struct conf *conf, const struct listener *l)
{
	const struct conf_address	*a = conf_listener(conf, l->number);

	return is_unix(a) ? get_path(a) : NULL;
}

void
listener_set_access(const struct conf *conf, const struct listener *l)
{
	const struct conf_address	*a = conf_listener(conf, l->number);
	const struct unix_socket_access	 access = get_access(a);

	if (is_unix(a) &&
	    unix_socket_set_access(get_path(a), l->file, &access) == -1)
		log_warn("cannot set mode and owner of %s", a->text);
}

void
listener_url(const struct listener *l, char *url, size_t size)
{
	struct conf_address	a = get_address(l->fd);
	char			host[NI_MAXHOST], port[NI_MAXSERV];

	if (a.len > 0 && is_unix(&a)) {
		snprintf(url, size, "unix:%s", get_path(&a));
		return;
	}
	if (a.len == 0 ||
	    getnameinfo((struct sockaddr *)&a.addr, a.len, host, sizeof(host),
	    port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		snprintf(url, size, "an unknown address");
		return;
	}
	snprintf(url, size, a.addr.ss_family == AF_INET6 ? "http://[%s]:%s/" :
	    "http://%s:%s/", host, port);
}

#ifdef __linux__
#define TCP_FLAGS_AT	13	/* of flags in a TCP header, RFC 9293 */
#define SYN_OR_ACK	0x12
#define SYN_ALONE	0x02

/* The filter sees a segment from its TCP header on.  Segments of a handshake
 * under way have an ACK, and pass. */
void
listener_block_new(const struct listener *l)
{
	static struct sock_filter	code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, TCP_FLAGS_AT),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYN_OR_ACK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYN_ALONE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog		program = {
		.len = sizeof(code) / sizeof(code[0]), .filter = code };

	/* A failure does no harm: the socket is closed next. */
	setsockopt(l->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
	    sizeof(program));
}

bool
listener_is_blocked(const struct listener *l)
{
	socklen_t	len = 0;	/* 0 asks for the filter's length */

	return getsockopt(l->fd, SOL_SOCKET, SO_GET_FILTER, NULL, &len) == 0 &&
	    len > 0;
}
#else
void
listener_block_new(const struct listener *l)
{
	(void)l;
}

bool
listener_is_blocked(const struct listener *l)
{
	(void)l;
	return false;
}
#endif
