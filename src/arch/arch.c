/*
 * arch: what follows from a conf and its architecture.
 */
#include "arch/arch.h"
#include "conf/divide.h"
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

/* Threads cannot be started when main serves.  In mp the number of processes is
 * that of clients, however busy they are. */
bool
arch_check(const struct conf *conf, struct buf *errors)
{
	const struct arch	*a = arch_of(conf);

	if (conf->workers_max == CONF_WORKERS_FIXED || (!a->threaded &&
	    !a->limitations[ARCH_LIMITED_CLIENTS]))
		return true;
	conf_where(conf, NULL, "workers", CONF_WHERE_ALL, errors);
	buf_addf(errors, ": architecture %s has a fixed number of workers: "
	    "leave \"max\" out, or write architecture amped or sped\n",
	    a->name);
	return false;
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
	return arch_of(conf)->threaded ?
	    1 + arch_of(conf)->threads * conf_workers(conf) : 1;
}

bool
arch_one_client(const struct conf *conf)
{
	return arch_of(conf)->limitations[ARCH_LIMITED_CLIENTS] &&
	    arch_mains(conf) > 1;
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
		if (a->limitations[i])
			log_warnx("architecture %s, workers %u: %s", a->name,
			    n, texts[i]);
	if (a->limitations[ARCH_LIMITED_CLIENTS] &&
	    conf->limits.connections > n)
		log_warnx("limits { connections %lld } cannot be reached: "
		    "workers is %u, and each has one connection",
		    (long long)conf->limits.connections, n);
}
