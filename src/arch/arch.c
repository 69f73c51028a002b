/*
 * arch: what follows from a conf and its architecture.
 */
#include "arch/arch.h"
#include "conf/divide.h"
#include "conf/strategies.h"
#include "conf/where.h"
#include "lib/buf.h"
#include "lib/log.h"
#include "lib/need.h"

const struct arch *
arch_of(const struct conf *conf)
{
	need(conf->arch != NULL);
	return conf->arch;
}

unsigned
arch_mains(const struct conf *conf)
{
	return arch_of(conf)->threaded ? 1 : conf_workers_max(conf);
}

unsigned
arch_mains_least(const struct conf *conf)
{
	return arch_of(conf)->threaded ? 1 : conf_workers(conf);
}

unsigned
arch_workers(const struct conf *conf)
{
	return arch_of(conf)->threaded ? conf_workers(conf) : 1;
}

unsigned
arch_threads(const struct conf *conf)
{
	unsigned	accepting = conf->spawn != SPAWN_POOL;

	return arch_of(conf)->threaded ? 1 + accepting +
	    arch_of(conf)->threads * conf_workers(conf) : 1;
}

bool
arch_one_client(const struct conf *conf)
{
	return arch_of(conf)->limitations[ARCH_LIMITED_CLIENTS] &&
	    arch_mains(conf) > 1;
}

static const char *
describe_disk(const struct arch *a)
{
	if (a->helpers)
		return "a helper reads it, and only its clients wait";
	return a->disk_threads > 1 ? "a disk thread reads it" :
	    "the worker waits for the disk";
}

void
arch_print(const struct conf *conf, FILE *f)
{
	static const char *const spawns[] = {
		[SPAWN_POOL] = "threads that stay",
		[SPAWN_SESSION] = "a thread starts for each connection",
		[SPAWN_REQUEST] = "a thread starts for each request",
	};
	static const char *const residencies[] = {
#define X(id, name) [RESIDENCY_##id] = name,
		CONF_RESIDENCIES(X)
#undef X
	};
	const struct arch	*a = arch_of(conf);
	long long		 small = (long long)conf->cache.small;

	fprintf(f, "\n# architecture %s: %s\n", a->name, a->help);
	if (a->spawns)
		fprintf(f, "# spawn: %s\n", spawns[conf->spawn]);
	fprintf(f, "# io: %s\n", conf->io == IO_SYNCHRONOUS ?
	    "a worker waits in recv, send and sendfile" :
	    "a loop waits until a socket is ready");
	fprintf(f, "# file of up to %lld bytes: a copy in memory, sent with "
	    "its head\n", small);
	fprintf(f, "# larger file, in memory (residency %s): from a mapping, "
	    "later by sendfile\n", residencies[conf->cache.residency]);
	fprintf(f, "# file that is not in memory: %s\n", describe_disk(a));
}

static void
add_misfit(const struct conf *conf, const char *directive, const char *why,
    struct buf *to)
{
	(void)conf_where(conf, NULL, directive, 0, to);
	buf_addf(to, ": architecture %s %s\n", arch_of(conf)->name, why);
}

/* Threads of a pool cannot be started when main serves.  In mp the number of
 * processes is that of clients, however busy they are. */
static bool
may_scale(const struct arch *a)
{
	return !a->threaded && !a->limitations[ARCH_LIMITED_CLIENTS];
}

bool
arch_check(const struct conf *conf, struct buf *errors)
{
	bool	fits = conf->workers_max == CONF_WORKERS_FIXED ||
		    may_scale(arch_of(conf));

	if (!fits) {
		conf_where(conf, NULL, "workers", CONF_WHERE_ALL, errors);
		buf_addf(errors, ": architecture %s has a fixed number of "
		    "workers: leave \"max\" out, or write architecture amped "
		    "or sped\n", arch_of(conf)->name);
	}
	if (conf->io == IO_SYNCHRONOUS &&
	    !arch_of(conf)->limitations[ARCH_LIMITED_CLIENTS]) {
		add_misfit(conf, "io", "has many clients in one loop, which "
		    "cannot wait for one of them: mp and mt can", errors);
		fits = false;
	}
	if (conf->spawn != SPAWN_POOL && !arch_of(conf)->spawns) {
		add_misfit(conf, "spawn", "starts no threads for clients: mt "
		    "does", errors);
		fits = false;
	}
	return fits;
}

/* With spawn request only a connection that has a request needs a thread. */
static bool
has_limitation(const struct conf *conf, int limitation)
{
	return arch_of(conf)->limitations[limitation] &&
	    (limitation != ARCH_LIMITED_CLIENTS ||
	    conf->spawn != SPAWN_REQUEST);
}

void
arch_warn(const struct conf *conf)
{
	static const char *const texts[] = {
#define X(id, text) [ARCH_LIMITED_##id] = text,
		ARCH_LIMITATIONS(X)
#undef X
	};
	const struct arch	*a = arch_of(conf);
	unsigned		 n = conf_workers(conf);

	for (int i = 0; i < ARCH_LIMITATION_COUNT; i++)
		if (has_limitation(conf, i))
			log_warnx("architecture %s, workers %u: %s", a->name,
			    n, texts[i]);
	if (has_limitation(conf, ARCH_LIMITED_CLIENTS) &&
	    conf->limits.connections > n)
		log_warnx("limits { connections %lld } cannot be reached: "
		    "workers is %u, and each has one connection",
		    (long long)conf->limits.connections, n);
}
