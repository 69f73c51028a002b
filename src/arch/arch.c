/*
 * arch: what follows from a conf and its architecture.
 */
#include "arch/arch.h"
#include "conf/divide.h"
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
