/*
 * arch: the architectures by number.
 */
#include "arch/arch.h"
#include "conf_portion.h"
#include "lib/need.h"

static const struct arch *const archs[] = {
	[ARCHITECTURE_AMPED] = &arch_amped,
	[ARCHITECTURE_SPED] = &arch_sped,
	[ARCHITECTURE_MT] = &arch_mt,
	[ARCHITECTURE_PIPELINED] = &arch_pipelined,
};

const struct arch *
arch_of(const struct conf *conf)
{
	need(conf->architecture >= 0 &&
	    conf->architecture < ARCHITECTURE_COUNT);
	return archs[conf->architecture];
}

void
arch_choose(struct conf *conf, int64_t architecture)
{
	if (architecture != -1)
		conf->architecture = architecture;
	conf_workers_unsaid(conf, arch_of(conf)->workers);
}

unsigned
arch_mains(const struct conf *conf)
{
	return arch_of(conf)->inside ? 1 : conf_workers(conf);
}

unsigned
arch_workers(const struct conf *conf)
{
	return arch_of(conf)->inside ? conf_workers(conf) : 1;
}

unsigned
arch_threads(const struct conf *conf)
{
	return arch_of(conf)->inside ?
	    1 + arch_of(conf)->threads * conf_workers(conf) : 1;
}
